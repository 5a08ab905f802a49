//! Documents one after the other, as an agent takes them: each is refused, or stored and counts for those after it.
//!
//! What must not be here: what is stored (`state`), and what proxies see of it.

use super::admission::{self, VERSION};
use super::agent::Agent;
use super::codes;
use super::documents::{self, What, any_case, assumed, each, group, key};
use super::entry::{Entry, Kind};
use super::go::quote;
use super::instance::{Instance, VIRTUAL};
use super::schema::{Fault, Manner, decode};
use super::state::State;
use super::validate::{Verdict, normalise, refuse, validate};
use super::{graph, registration};
use crate::diagnostic::{Code, Diagnostic, Place, codes as shared};
use crate::ir::Tree;
use crate::resource::{Object, ObjectId, Objects, nearest};
use crate::text::{Node, NodeId, Str};
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// Entries that refer to each other in a chain, written in reverse, take a round for each link. Chains of people have three or four; the
/// limit bounds the time that a hostile input takes.
const MOST_ROUNDS: usize = 32;

impl State {
    /// What the documents leave.
    pub(crate) fn of(objects: &Objects, datacenter: &str) -> Self {
        let agent = Agent::of(objects);
        let datacenter = agent.as_ref().map(|agent| agent.datacenter.clone()).filter(|name| !name.is_empty()).unwrap_or_else(|| Str::new(datacenter));
        let mut state = State { datacenter, agent, ..State::default() };
        // What is assumed counts for all that is written: entries before them, and instances after, so that written ones keep their ports.
        let is_entry = |what: &What| matches!(what, What::Entry(_));
        let before = assumed(objects).filter(|(_, _, what)| is_entry(what));
        let after = assumed(objects).filter(|(_, _, what)| !is_entry(what));
        let mut waiting = Vec::new();
        for (id, object, what) in before.chain(each(objects)).chain(after) {
            match what {
                What::Entry(Ok(kind)) => waiting.extend(state.entry(object, id, kind).map(|entry| (object, entry))),
                What::Entry(Err(kind)) => {
                    state.unknown_kind(object, &kind);
                }
                What::Service => state.service(object, id),
                What::Catalog => state.catalog(object, id),
                What::Agent | What::Leaf | What::Roots | What::Foreign => {}
                What::Nothing => {
                    let help = "a config entry has a `Kind`, a service definition a `service`, a registration in the catalog a `Node`";
                    let place = Place::value(id, object.root.id);
                    let finding = Diagnostic::new(&shared::INCOMPLETE_OBJECT, "the document does not say what it is", place);
                    state.diagnostics.report(finding.about(object.key.clone()).help(help));
                }
            }
        }
        state.settle(waiting);
        super::proxycfg::bind(&mut state);
        state.tag_terminating();
        state
    }

    /// Stores entries that the controller of Kubernetes tries again until Consul takes them: their order in the text does not count.
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
                self.report(object, NodeId::default(), why);
            }
        }
    }

    /// An error at a node, or at the whole.
    fn report(&mut self, object: &Object, node: NodeId, message: impl Into<String>) {
        let node = if node.is_some() { node } else { object.root.id };
        let is_entry = matches!(documents::what(&object.root).0, What::Entry(_));
        let code = if is_entry { &codes::ENTRY_REFUSED } else { &codes::REGISTRATION_REFUSED };
        let finding = Diagnostic::new(code, message, Place::value(object.id, node));
        self.diagnostics.report(finding.about(object.key.clone()));
    }

    fn faults(&mut self, object: &Object, unfit: Vec<Fault>, unknown: Vec<Fault>) {
        for fault in unfit {
            let finding = Diagnostic::new(&shared::WRONG_TYPE, fault.text, Place::value(object.id, fault.node));
            self.diagnostics.report(finding.about(object.key.clone()));
        }
        for fault in unknown {
            let message = format!("there is no field `{}`: the whole entry is refused", fault.text);
            self.unknown_field(object, &codes::UNKNOWN_ENTRY_FIELD, message, fault.node, fault.meant);
        }
    }

    fn unread(&mut self, object: &Object, fault: &Fault) {
        let message = format!("there is no field `{}` that Chancery reads: it has no effect on what is served", fault.text);
        self.unknown_field(object, &shared::UNKNOWN_FIELD, message, fault.node, fault.meant);
    }

    fn unknown_field(&mut self, object: &Object, code: &'static Code, message: String, node: NodeId, meant: Option<&str>) {
        let mut finding = Diagnostic::new(code, message, Place::key(object.id, node));
        if let Some(meant) = meant {
            finding = finding.help(format!("`{meant}` is probably meant"));
        }
        self.diagnostics.report(finding.about(object.key.clone()));
    }

    fn unknown_kind(&mut self, object: &Object, kind: &Str) {
        let at = ["kind", "Kind"].into_iter().find_map(|key| any_case(&object.root, key)).map_or(object.root.id, |node| node.id);
        let finding = Diagnostic::new(&codes::UNKNOWN_ENTRY_KIND, format!("invalid config entry kind: {kind}"), Place::value(object.id, at));
        let names = if group(&object.root).is_some() {
            Kind::resources().map(Kind::resource).collect::<Vec<_>>()
        } else {
            Kind::ALL.iter().map(|kind| kind.name()).collect()
        };
        let meant = nearest(kind, names).map(|meant| format!("`{meant}` is probably meant"));
        let finding = finding.about(object.key.clone());
        self.diagnostics.report(match meant {
            Some(meant) => finding.help(meant),
            None => finding,
        });
    }

    /// Reports what an API server drops of a resource, and why it refuses it; the config entry, unless it does.
    fn admit(&mut self, object: &Object, root: &Node, kind: Kind) -> Option<Node> {
        let version = root
            .get("apiVersion")
            .filter(|version| version.as_str().and_then(|text| text.rsplit_once('/')).is_some_and(|(_, version)| version != VERSION));
        if let Some(version) = version {
            let message = format!("there is no `{}`: the version is {VERSION}", version.as_str().unwrap_or_default());
            self.diagnostics
                .report(Diagnostic::new(&shared::UNSUPPORTED_VERSION, message, Place::value(object.id, version.id)).about(object.key.clone()));
            return None;
        }
        let admitted = admission::admit(root, kind);
        for dropped in admitted.dropped {
            let message = if dropped.of_others {
                format!("there is no field `{}` in the version of Consul that Chancery follows: it has no effect on what is served", dropped.path)
            } else {
                format!("there is no field `{}`: Kubernetes drops it", dropped.path)
            };
            self.unknown_field(object, &shared::UNKNOWN_FIELD, message, dropped.node, dropped.meant.as_deref());
        }
        let is_taken = admitted.refused.is_empty();
        for (code, why, node) in admitted.refused {
            self.diagnostics.report(Diagnostic::new(code, why, Place::value(object.id, node)).about(object.key.clone()));
        }
        is_taken.then_some(admitted.entry)
    }

    /// Takes an entry; one of Kubernetes that Consul does not take yet is given back.
    fn entry(&mut self, object: &Object, id: ObjectId, kind: Kind) -> Option<Arc<Entry>> {
        let root = documents::read_words(object);
        let is_resource = group(&object.root).is_some();
        let written = if is_resource { Cow::Owned(self.admit(object, &root, kind)?) } else { Cow::Borrowed(&*root) };
        let read = decode(&written, kind.shape(), id, Manner::Entry);
        let mut unknown = read.unknown;
        // What an agent stores it has taken.
        let stored = object.stored && group(&object.root).is_none();
        if stored {
            core::mem::take(&mut unknown).into_iter().for_each(|fault| self.unread(object, &fault));
        }
        if !read.unfit.is_empty() || !unknown.is_empty() {
            self.faults(object, read.unfit, unknown);
            return None;
        }
        let mut tree = read.tree;
        let secret = object.secrets.first().map(|(_, secret)| secret.clone());
        let key_text = secret.as_ref().map_or("", |secret| secret.expose().as_str());
        // An assumed certificate has no key.
        let is_valid = |tree: &_| if object.assumed || stored { Ok(()) } else { validate(kind, tree, key_text) };
        let nameless = |tree: &Tree| !stored && kind != Kind::Mesh && tree.get("Name").text().is_empty();
        let verdict = normalise(kind, &mut tree).and_then(|()| is_valid(&tree));
        let verdict = verdict.and_then(|()| refuse(nameless(&tree), || "Name is required".into()));
        if let Err(why) = verdict {
            self.report(object, NodeId::default(), why);
            return None;
        }
        let entry = Arc::new(Entry { kind, name: tree.get("Name").str(), tree, key: secret, object: id });
        if stored {
            self.insert(&entry);
        } else if let Err(why) = self.store(&entry) {
            if is_resource {
                return Some(entry);
            }
            self.report(object, NodeId::default(), why);
        }
        None
    }

    /// Stores an entry that fits to what is stored.
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
        self.entries.insert((kind, name), entry.clone());
    }

    /// Gives a service its virtual IP.
    fn assign(&mut self, service: &Str) {
        // An agent that is there has given them out itself.
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

    fn service(&mut self, object: &Object, id: ObjectId) {
        let datacenter = self.datacenter.clone();
        let registered = registration::service(&documents::read_words(object), id, &datacenter, &|port| self.instances.uses(port));
        if !registered.faults.is_empty() {
            for fault in registered.faults {
                self.report(object, fault.node, fault.text);
            }
            return;
        }
        // An assumed gateway listens at every address.
        let has_address = || if object.assumed { Ok(()) } else { registered.instances.first().map_or(Ok(()), registration::has_address) };
        if let Err(why) = registered.verdict.and_then(|()| has_address()) {
            return self.report(object, NodeId::default(), why);
        }
        registered.instances.into_iter().for_each(|instance| self.register(instance));
    }

    fn catalog(&mut self, object: &Object, id: ObjectId) {
        let datacenter = self.datacenter.clone();
        let registered = registration::catalog(&documents::read_words(object), id, &datacenter);
        // What an agent stores it has taken.
        if !registered.faults.is_empty() && !object.stored {
            for fault in registered.faults {
                self.report(object, fault.node, fault.text);
            }
            return;
        }
        if let Err(why) = registered.verdict {
            return self.report(object, NodeId::default(), why);
        }
        for mut instance in registered.instances {
            let is_here = |agent: &Agent| instance.node.peer.is_empty() && instance.node.name == agent.node;
            instance.local = instance.node.datacenter == self.datacenter && self.agent.as_ref().is_some_and(is_here);
            self.register(instance);
        }
    }

    fn register(&mut self, mut instance: Instance) {
        if self.agent.is_some() {
            self.learn(&instance);
        }
        if instance.node.datacenter == self.datacenter && instance.node.peer.is_empty() {
            if instance.kind == "connect-proxy" || instance.native {
                let destination = instance.destination();
                self.assign(&destination);
                if let Some(ip) = self.virtual_ips.get(&destination).cloned() {
                    let port = instance.port;
                    instance.tag(VIRTUAL, &ip, port);
                }
            }
            let gateways = if instance.kind.is_empty() { self.with_wildcard() } else { Vec::new() };
            if !gateways.is_empty() {
                self.assign(&instance.service);
            }
            // In which order an agent that is there was told is not known.
            if self.agent.is_none() {
                self.wildcards.extend(gateways.into_iter().map(|gateway| (gateway, instance.service.clone())));
            }
        }
        self.instances.put(instance);
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

    /// The terminating gateways that all services are behind.
    fn with_wildcard(&self) -> Vec<Str> {
        let is_wild = |entry: &&Arc<Entry>| entry.tree.get("Services").items().iter().any(|service| service.get("Name").is("*"));
        self.of_kind(Kind::TerminatingGateway).filter(is_wild).map(|entry| entry.name.clone()).collect()
    }

    /// Terminating gateways tell the virtual IPs of the services behind them.
    fn tag_terminating(&mut self) {
        for at in 0..self.instances.len() {
            let Some(instance) = self.instances.get(at).filter(|instance| instance.kind == "terminating-gateway") else { continue };
            let mut instance = (**instance).clone();
            for service in self.behind(&instance.service) {
                if let Some(ip) = self.virtual_ips.get(&service).cloned() {
                    instance.tag(&format!("{VIRTUAL}:{service}"), &ip, 0);
                }
            }
            self.instances.put(instance);
        }
    }

    /// An error about an instance, at what registered it.
    pub(crate) fn report_proxy(&mut self, instance: &Instance, message: &str, place: Option<Place>) {
        let whole = instance.object.map(|object| Place::value(object, NodeId::default()));
        let place = place.or(whole).unwrap_or(Place::Whole);
        let message = format!("{}: {message}", quote(&instance.id));
        self.diagnostics.report(Diagnostic::new(&codes::PROXY_WITHOUT_CONFIGURATION, message, place).about(key("xds", &instance.id)));
    }
}
