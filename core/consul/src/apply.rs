//! Applies documents in order, as an agent does: each is refused, or stored and visible to later ones. The result is in `state`.

use super::agent::Agent;
use super::codes;
use super::documents::{What, assumed, each, key};
use super::entry::{Entry, Kind};
use super::go::quote;
use super::graph;
use super::instance::{Instance, VIRTUAL};
use super::material;
use super::reading::{self, Document};
use super::refusal;
use super::state::State;
use super::validate::Verdict;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::diagnostic::{Diagnostic, Place};
use chancery_base::resource::{Content, Object, ObjectId, Objects};
use chancery_text::{NodeId, Str};
use core::cell::RefCell;

/// Entries that refer to each other in a chain, written in reverse order, need one round per link. Real chains have three or four; the limit bounds
/// the time for hostile inputs.
const MOST_ROUNDS: usize = 32;

/// The documents of the previous compile, so that unchanged ones need not be read again.
#[derive(Default)]
pub(crate) struct Applied {
    agent: Option<Agent>,
    /// By the number of the object.
    documents: Vec<Option<Read>>,
    /// The numbers of the objects that had config entries, in order.
    entries: Vec<ObjectId>,
}

/// A document that was read.
struct Read {
    content: Arc<Content>,
    assumed: bool,
    document: Document,
    /// The ports whose use was queried, with the answers.
    ports: Vec<(i64, bool)>,
    /// The registered instances, each with its virtual IP.
    registered: Vec<(Option<Str>, Arc<Instance>)>,
    /// Whether its entry is consistent with earlier ones.
    verdict: Option<Verdict>,
}

impl Applied {
    /// Returns an object's previous result, if the object is unchanged.
    fn take(&mut self, object: &Object, used: impl Fn(i64) -> bool) -> Option<Read> {
        let known = self.documents.get_mut(object.id.index()?)?.take()?;
        let is_same = Arc::ptr_eq(&known.content, &object.content) && known.assumed == object.assumed;
        (is_same && known.ports.iter().all(|(port, answer)| used(*port) == *answer)).then_some(known)
    }

    fn keep(&mut self, id: ObjectId, read: Read) {
        let Some(at) = id.index() else { return };
        if self.documents.len() <= at {
            self.documents.resize_with(at + 1, || None);
        }
        if let Some(slot) = self.documents.get_mut(at) {
            *slot = Some(read);
        }
    }
}

/// Returns why a Kubernetes resource is refused whose entry duplicates that of another namespace (consul-k8s,
/// `control-plane/api/common/configentry_webhook.go`). The first one is kept.
fn twin(before: &Object, object: &Object, entry: &Entry) -> Option<String> {
    let is_other = reading::is_resource(before) && reading::is_resource(object) && before.key.namespace != object.key.namespace;
    (is_other && !before.assumed && !object.assumed && !object.stored).then(|| {
        let kind = entry.kind.resource().to_ascii_lowercase();
        let name = quote(&entry.name);
        format!("{kind} resource with name {name} is already defined \u{2013} all {kind} resources must have unique names across namespaces")
    })
}

impl State {
    /// Returns the state after all documents.
    pub(crate) fn of(objects: &Objects, datacenter: &str) -> Self {
        Self::with(objects, datacenter, &mut Applied::default())
    }

    /// The same, with a cache.
    pub(crate) fn with(objects: &Objects, datacenter: &str, memory: &mut Applied) -> Self {
        let agent = Agent::of(objects);
        if memory.agent != agent {
            *memory = Applied { agent: agent.clone(), ..Applied::default() };
        }
        let datacenter = agent.as_ref().map(|agent| agent.datacenter.clone()).filter(|name| !name.is_empty()).unwrap_or_else(|| Str::new(datacenter));
        let mut state = State { datacenter, agent, certificates: material::documents(objects), ..State::default() };
        // Assumed documents must not affect written ones: entries come before them, and instances after them, so that written ones keep their
        // ports.
        let is_entry = |what: &What| matches!(what, What::Entry(_));
        let before = assumed(objects).filter(|(_, _, what)| is_entry(what));
        let after = assumed(objects).filter(|(_, _, what)| !is_entry(what));
        let mut past = core::mem::take(memory);
        memory.agent = past.agent.take();
        let mut entries = Entries { before: core::mem::take(&mut past.entries), now: Vec::new(), are_same: true };
        let mut waiting = Vec::new();
        // `consul config write` takes one entry from one file, and nothing says in which order a person writes several files.
        let mut sources = objects.iter().map(|object| object.source.source);
        let has_files = sources.next().is_some_and(|first| sources.any(|other| other != first));
        for (id, object, what) in before.chain(each(objects)).chain(after) {
            let mut read = state.read(object, what, &mut past);
            state.diagnostics.extend(read.document.findings.iter().cloned());
            let mut replaced = state.register_all(&mut read);
            if let Some(entry) = &read.document.entry {
                let before = state.entries.get(&(entry.kind, entry.name.clone())).map(|before| before.object);
                if let Some(why) = before.and_then(|before| twin(objects.get(before)?, object, entry)) {
                    let name = object.root.at(&["metadata", "name"]).map_or_else(NodeId::default, |name| name.id);
                    state.diagnostics.report(reading::refused(object, name, why));
                    memory.keep(id, read);
                    continue;
                }
                let known = read.verdict.take();
                let known = if entries.next(id, entry, known.is_some()) { known } else { None };
                let is_retried = has_files || reading::is_resource(object);
                read.verdict = state.take_entry(object, entry, known, is_retried);
                let is_taken = !read.verdict.as_ref().is_some_and(Result::is_err);
                replaced.extend(before.filter(|_| is_taken));
                let may_fit_later = is_retried && !is_taken;
                waiting.extend(may_fit_later.then(|| (object, entry.clone())));
            }
            state.overwritten(objects, object, replaced);
            memory.keep(id, read);
        }
        memory.entries = entries.now;
        state.settle(waiting);
        super::proxycfg::bind(&mut state);
        state.tag_terminating();
        state
    }

    /// Reads a document.
    fn read(&self, object: &Object, what: What, past: &mut Applied) -> Read {
        if let Some(known) = past.take(object, |port| self.instances.uses(port)) {
            return known;
        }
        let ports = RefCell::new(Vec::new());
        let used = |port| {
            let answer = self.instances.uses(port);
            ports.borrow_mut().push((port, answer));
            answer
        };
        let document = reading::read(object, what, &self.datacenter, &used);
        let content = object.content.clone();
        Read { content, assumed: object.assumed, document, ports: ports.into_inner(), registered: Vec::new(), verdict: None }
    }

    /// Stores an entry, or reports why not; a known verdict is reused if nothing before it changed. An entry that is retried may become consistent
    /// later, so it is not reported yet.
    fn take_entry(&mut self, object: &Object, entry: &Arc<Entry>, known: Option<Verdict>, is_retried: bool) -> Option<Verdict> {
        if reading::is_stored(object) {
            self.insert(entry);
            return None;
        }
        let verdict = known.unwrap_or_else(|| graph::validate(self, entry));
        match &verdict {
            Ok(()) => self.insert(entry),
            Err(why) if !is_retried => {
                let finding = reading::refused(object, NodeId::default(), why.clone());
                let finding = refusal::explain(self, entry, &String::from(why.clone()), finding);
                self.diagnostics.report(finding);
            }
            Err(_) => {}
        }
        Some(verdict)
    }

    /// Stores entries whose order in the text does not matter, each as soon as it is consistent with the others. Entries of Kubernetes are such: their
    /// controller retries them.
    fn settle(&mut self, mut waiting: Vec<(&Object, Arc<Entry>)>) {
        for _ in 0..MOST_ROUNDS {
            let before = waiting.len();
            waiting.retain(|(_, entry)| self.store(entry).is_err());
            if waiting.is_empty() || waiting.len() == before {
                break;
            }
        }
        for (object, entry) in waiting {
            if let Err(why) = self.store(&entry) {
                let finding = reading::refused(object, NodeId::default(), why.clone());
                let finding = refusal::explain(self, &entry, &String::from(why), finding);
                self.diagnostics.report(finding);
            }
        }
    }

    /// Stores an entry if it is consistent with the stored ones.
    fn store(&mut self, entry: &Arc<Entry>) -> Verdict {
        graph::validate(self, entry)?;
        self.insert(entry);
        Ok(())
    }

    fn insert(&mut self, entry: &Arc<Entry>) {
        let (kind, name) = (entry.kind, entry.name.clone());
        match kind {
            Kind::ServiceDefaults | Kind::ServiceRouter | Kind::ServiceSplitter | Kind::ServiceResolver => self.assign(&name),
            Kind::ServiceIntentions if !name.contains('*') => self.assign(&name),
            Kind::TerminatingGateway => {
                self.wildcards.retain(|(gateway, _)| *gateway != name);
                for service in entry.tree.get("Services").items().iter().map(|service| service.get("Name").str()) {
                    if service == "*" {
                        self.assign_wildcard();
                    } else {
                        self.assign(&service);
                    }
                }
            }
            _ => {}
        }
        let key = (kind, name);
        self.leading.replace(self.entries.get(&key).map(|before| &**before), entry);
        self.entries.insert(key, entry.clone());
    }

    /// Gives a service its virtual IP.
    fn assign(&mut self, service: &Str) {
        // A live agent has assigned them itself.
        if self.agent.is_some() || service.is_empty() || self.virtual_ips.contains_key(service) {
            return;
        }
        let number = self.virtual_ips.len() + 1;
        let ip = format!("240.{}.{}.{}", (number >> 16) & 255, (number >> 8) & 255, number & 255);
        self.virtual_ips.insert(service.clone(), Str::from(ip));
    }

    /// Typical services that are behind a wildcard of a terminating gateway.
    fn assign_wildcard(&mut self) {
        let typical: Vec<Str> = self.here().filter(|instance| instance.kind.is_empty()).map(|instance| instance.service.clone()).collect();
        typical.iter().filter(|service| *service != "consul").for_each(|service| self.assign(service));
    }

    /// Learns the virtual IPs that an instance has in the catalog.
    fn learn(&mut self, instance: &Instance) {
        if instance.node.datacenter != self.datacenter || !instance.node.peer.is_empty() {
            return;
        }
        for (name, address) in &instance.tagged {
            let Some(rest) = name.strip_prefix(VIRTUAL) else { continue };
            let service = rest.strip_prefix(':').map_or_else(|| instance.destination(), Str::new);
            self.virtual_ips.insert(service, address.address.clone());
        }
    }

    /// The terminating gateways with a wildcard.
    fn with_wildcard(&self) -> Vec<Str> {
        let is_wild = |entry: &&Arc<Entry>| entry.tree.get("Services").items().iter().any(|service| service.get("Name").is("*"));
        self.of_kind(Kind::TerminatingGateway).filter(is_wild).map(|entry| entry.name.clone()).collect()
    }

    /// Registers the instances of a document. Returns the objects that they replace.
    fn register_all(&mut self, read: &mut Read) -> BTreeSet<ObjectId> {
        let before = core::mem::take(&mut read.registered);
        let mut before = before.into_iter();
        let mut replaced = BTreeSet::new();
        for instance in &read.document.instances {
            let known = self.instances.same(instance).and_then(|known| known.object);
            read.registered.push(self.register(instance, before.next()));
            replaced.extend(known);
        }
        replaced
    }

    /// Reports that a document replaces others.
    fn overwritten(&mut self, objects: &Objects, later: &Object, replaced: BTreeSet<ObjectId>) {
        let earlier = replaced.into_iter().filter(|earlier| *earlier != later.id).filter_map(|earlier| objects.get(earlier));
        for earlier in earlier.filter(|earlier| !earlier.assumed && !later.assumed) {
            self.diagnostics.report(chancery_kubernetes::overwritten(earlier, later));
        }
    }

    /// Registers an instance; `known` is its previous registration, with the virtual IP.
    fn register(&mut self, instance: &Instance, known: Option<(Option<Str>, Arc<Instance>)>) -> (Option<Str>, Arc<Instance>) {
        if self.agent.is_some() {
            self.learn(instance);
        }
        let is_here = instance.node.datacenter == self.datacenter && instance.node.peer.is_empty();
        let mut ip = None;
        if is_here {
            if instance.kind == "connect-proxy" || instance.native {
                let destination = instance.destination();
                self.assign(&destination);
                ip = self.virtual_ips.get(&destination).cloned();
            }
            let gateways = if instance.kind.is_empty() { self.with_wildcard() } else { Vec::new() };
            if !gateways.is_empty() {
                self.assign(&instance.service);
            }
            // The registration order in a live agent is unknown.
            if self.agent.is_none() {
                self.wildcards.extend(gateways.into_iter().map(|gateway| (gateway, instance.service.clone())));
            }
        }
        let registered = match known.filter(|(known, _)| *known == ip) {
            Some((_, known)) => known,
            None => {
                let mut registered = instance.clone();
                registered.local |= is_here && self.agent.as_ref().is_some_and(|agent| registered.node.name == agent.node);
                if let Some(ip) = &ip {
                    let port = registered.port;
                    registered.tag(VIRTUAL, ip, port);
                }
                Arc::new(registered)
            }
        };
        self.instances.put(registered.clone());
        (ip, registered)
    }

    /// Terminating gateways announce the virtual IPs of their services.
    fn tag_terminating(&mut self) {
        let gateways: Vec<Arc<Instance>> = self.instances.of_kind("terminating-gateway").cloned().collect();
        for gateway in gateways {
            let mut instance = (*gateway).clone();
            for service in self.behind(&instance.service) {
                if let Some(ip) = self.virtual_ips.get(&service).cloned() {
                    instance.tag(&format!("{VIRTUAL}:{service}"), &ip, 0);
                }
            }
            self.instances.put(Arc::new(instance));
        }
    }
}

/// The config entries of documents, in order, compared with those of the previous compile.
struct Entries {
    before: Vec<ObjectId>,
    now: Vec<ObjectId>,
    /// Whether all entries so far are unchanged, and therefore still consistent.
    are_same: bool,
}

impl Entries {
    /// Adds the next entry. Returns whether all entries so far are unchanged.
    fn next(&mut self, id: ObjectId, entry: &Entry, is_known: bool) -> bool {
        // The effect of a wildcard export depends on the registered services.
        let is_wild = entry.kind == Kind::ExportedServices && entry.tree.get("Services").items().iter().any(|service| service.get("Name").is("*"));
        self.are_same &= is_known && !is_wild && self.before.get(self.now.len()) == Some(&id);
        self.now.push(id);
        self.are_same
    }
}

/// An error about a proxy, at what registered it.
pub(super) fn proxy_finding(instance: &Instance, message: &str, place: Option<Place>) -> Diagnostic {
    let whole = instance.object.map(|object| Place::value(object, NodeId::default()));
    let place = place.or(whole).unwrap_or(Place::Whole);
    let message = format!("{}: {message}", quote(&instance.id));
    Diagnostic::new(&codes::PROXY_WITHOUT_CONFIGURATION, message, place).about(key("xds", &instance.id))
}
