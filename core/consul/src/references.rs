//! Lists the references of documents: services with proxies, protocols, gateways, certificates, JWT providers; and documents that would satisfy
//! them. Does not decide whether they are assumed; see `compilation::Assumptions`.

use super::admission;
use super::bexpr::{Expression, Operator};
use super::documents::{self, GROUP, What, key, what};
use super::entry::{Entry, Kind};
use super::graph::named_providers;
use super::instance::Instance;
use super::registration;
use super::schema::{Leniency, decode};
use super::state::DATACENTER;
use super::validate::{is_set, normalise};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::compilation::ReferencedObject;
use chancery_base::ir::Tree;
use chancery_base::resource::{Object, ObjectId, Objects, nearest};
use chancery_kubernetes::references::{CERTIFICATE, address_of};
use chancery_kubernetes::status::{list, number, object, text};
use chancery_text::{Node, NodeId, Str, Value};

/// Kinds that are interchangeable in a reference.
type Kinds = &'static [(&'static str, &'static str)];

const SERVICES: Kinds = &[("", "service"), ("", "catalog")];
/// Without service-defaults, proxy-defaults define the protocol.
const PROTOCOLS: Kinds = &[("", "proxy-defaults"), (GROUP, "ProxyDefaults")];
const RESOLVERS: Kinds = &[("", "service-resolver"), (GROUP, "ServiceResolver")];
const MESHES: Kinds = &[("", "mesh"), (GROUP, "Mesh")];
const CERTIFICATES: Kinds = &[("", "inline-certificate")];
const PROVIDERS: Kinds = &[("", "jwt-provider"), (GROUP, "JWTProvider")];
const GATEWAYS: Kinds = &[("", "api-gateway")];

/// A placeholder key set for tokens, in base64.
const KEYS_OF_TOKENS: &str = "eyJrZXlzIjpbeyJrdHkiOiJvY3QiLCJhbGciOiJIUzI1NiIsImtpZCI6ImFzc3VtZWQiLCJrIjoiWVhOemRXMWxaQSJ9XX0=";

/// Returns the references of the documents.
pub(super) fn referenced_objects(objects: &Objects) -> Vec<ReferencedObject> {
    let mut collector = ReferenceCollector::of(objects);
    let entries = core::mem::take(&mut collector.entries);
    if collector.instances.is_empty() {
        collector.proxies(&entries);
    }
    entries.iter().for_each(|entry| collector.entry(entry));
    collector.protocols(&entries);
    let instances = core::mem::take(&mut collector.instances);
    instances.iter().for_each(|instance| collector.instance(instance));
    collector.out
}

/// The place of a reference.
type ReferenceSite = (ObjectId, NodeId);

/// The content of the documents, and their references.
#[derive(Default)]
struct ReferenceCollector {
    entries: Vec<Entry>,
    instances: Vec<Instance>,
    /// Names of services with instances, each with its datacenter, and of gateways.
    services: BTreeSet<(Str, Str)>,
    /// Conditions of subsets on instances, by service.
    subsets: BTreeMap<Str, Vec<(Str, Expression)>>,
    out: Vec<ReferencedObject>,
}

fn read_entry(object: &Object, kind: Kind) -> Option<Entry> {
    let root = documents::read_words(object);
    let mut tree = decode(&admission::entry(&root, kind), kind.shape(), object.id, Leniency::Entry).tree;
    normalise(kind, &mut tree).ok()?;
    Some(Entry { kind, name: tree.get("Name").str(), tree, key: None, object: object.id })
}

impl ReferenceCollector {
    fn of(objects: &Objects) -> Self {
        let mut collector = Self::default();
        for object in objects.all().filter(|object| !object.broken) {
            match what(&object.root).0 {
                What::Entry(Ok(kind)) => collector.entries.extend(read_entry(object, kind)),
                What::Service => {
                    let root = documents::read_words(object);
                    collector.instances.extend(registration::service(&root, object.document.hcl, object.id, DATACENTER, &|_| false).instances);
                }
                What::Catalog => {
                    let root = documents::read_words(object);
                    collector.instances.extend(registration::catalog(&root, object.id, DATACENTER).instances);
                }
                _ => {}
            }
        }
        collector.services = collector.instances.iter().map(|instance| (instance.service.clone(), instance.node.datacenter.clone())).collect();
        for entry in collector.entries.iter().filter(|entry| entry.kind == Kind::ServiceResolver) {
            let subsets = entry.tree.get("Subsets").fields().iter();
            let read = subsets.filter_map(|(name, of)| Some((name.clone(), Expression::parse(of.get("Filter").text()).ok()?)));
            collector.subsets.insert(entry.name.clone(), read.collect());
        }
        collector
    }

    fn add(&mut self, (from, at): ReferenceSite, kind: &str, name: &str, kinds: Kinds, document: Node, notice: Option<String>) {
        self.out.push(ReferencedObject { from, at, key: key(kind, &Str::new(name)), kinds, object: document, notice, asks: true });
    }

    /// Adds a reference to an entry that a field names.
    fn named(&mut self, from: ObjectId, named: &Tree, kind: Kind, kinds: Kinds, fields: Vec<(&str, Node)>) {
        let name = named.text();
        if name.is_empty() || name == "*" {
            return;
        }
        let notice = format!("the {} `{name}` is not in the input; it is assumed to exist", kind.name());
        let head = [("Kind", text(kind.name())), ("Name", text(name))];
        let document = object(head.into_iter().chain(fields).collect());
        self.add((from, node(named)), kind.name(), name, kinds, document, Some(notice));
    }

    /// Adds a reference to a service in the agent's datacenter, or in another one.
    fn service(&mut self, from: ObjectId, named: &Tree, datacenter: &str, name: &Str) {
        let datacenter = if datacenter.is_empty() { DATACENTER } else { datacenter };
        if name.is_empty() || name == "*" || self.services.contains(&(name.clone(), Str::new(datacenter))) {
            return;
        }
        let at = (from, node(named));
        let place = if datacenter == DATACENTER { String::new() } else { format!(" in the datacenter `{datacenter}`") };
        let notice = format!("the service `{name}`{place} is not in the input; it is assumed to have an instance with a sidecar");
        self.instances(at, name, datacenter, 0, notice);
    }

    /// The subsets of a service with the conditions on their instances; one unnamed subset if it has none.
    fn chosen(&self, name: &Str) -> Vec<(Str, Vec<(String, String)>)> {
        let chosen: Vec<_> = self.subsets.get(name).into_iter().flatten().map(|(subset, filter)| (subset.clone(), conditions(filter))).collect();
        if chosen.is_empty() { Vec::from([(Str::default(), Vec::new())]) } else { chosen }
    }

    /// Adds instances with sidecars in the catalog: one for each subset from this number on.
    fn instances(&mut self, at: ReferenceSite, name: &Str, datacenter: &str, first: usize, notice: String) {
        for (number, (subset, conditions)) in self.chosen(name).iter().enumerate().skip(first) {
            let id = if subset.is_empty() { String::from(name.as_str()) } else { format!("{name}-{subset}") };
            let proxy = format!("{id}-sidecar-proxy");
            let said = (number == 0).then(|| notice.clone());
            // Only the first one has the name in references; the others are not referred to.
            let other =
                |name: &str| if number == 0 && datacenter == DATACENTER { String::from(name) } else { format!("{name} {datacenter} {number}") };
            self.add(at, "catalog", &other(name), SERVICES, instance(name, &id, datacenter, conditions, None), said);
            let sidecar = instance(&format!("{name}-sidecar-proxy"), &proxy, datacenter, conditions, Some((name, &id)));
            self.add(at, "catalog", &other(&format!("{name}-sidecar-proxy")), SERVICES, sidecar, None);
        }
    }

    /// Adds proxies that show the effect of entries if none is registered: a sidecar of each service with settings or intentions, and a client of
    /// services with a chain.
    fn proxies(&mut self, entries: &[Entry]) {
        let is_gateway =
            |kind: Kind| matches!(kind, Kind::IngressGateway | Kind::TerminatingGateway | Kind::ApiGateway | Kind::HttpRoute | Kind::TcpRoute);
        if entries.iter().any(|entry| is_gateway(entry.kind)) {
            return;
        }
        let named = || entries.iter().filter(|entry| !entry.name.is_empty() && entry.name != "*");
        for entry in named().filter(|entry| matches!(entry.kind, Kind::ServiceDefaults | Kind::ServiceIntentions)) {
            // The agent's service belongs to the first subset, without the subset's conditions on nodes.
            let first = self.chosen(&entry.name).into_iter().next().map(|(_, conditions)| conditions).unwrap_or_default();
            let is_of_node = first.iter().any(|(path, _)| path.starts_with("Node."));
            if is_of_node || !self.services.insert((entry.name.clone(), Str::new_static(DATACENTER))) {
                continue;
            }
            let notice = format!("the service `{}` is not in the input; it is assumed to run here with a sidecar", entry.name);
            self.local(entry, &entry.name, Vec::new(), &first, notice);
            self.instances((entry.object, node(entry.tree.get("Name"))), &entry.name, DATACENTER, 1, String::new());
        }
        let is_chain = |kind: Kind| matches!(kind, Kind::ServiceRouter | Kind::ServiceSplitter | Kind::ServiceResolver);
        let called: Vec<&Entry> = named().filter(|entry| is_chain(entry.kind)).collect();
        let names: BTreeSet<&Str> = called.iter().map(|entry| &entry.name).collect();
        let client = if named().any(|entry| entry.name == "client") { "assumed-client" } else { "client" };
        let Some(first) = called.first() else {
            let holds_for_all = |kind: Kind| matches!(kind, Kind::ProxyDefaults | Kind::Mesh | Kind::ServiceIntentions);
            if let Some(first) = entries.iter().find(|entry| holds_for_all(entry.kind)).filter(|_| self.out.is_empty()) {
                let notice = format!("the input registers no service; the service `{client}` is assumed, to show the settings for all services");
                self.local(first, client, Vec::new(), &[], notice);
            }
            return;
        };
        let upstreams = names.iter().take(MOST_UPSTREAMS).zip(FIRST_UPSTREAM..);
        let upstreams = upstreams.map(|(name, port)| object(Vec::from([("destination_name", text(name)), ("local_bind_port", number(port))])));
        let notice = format!("nothing is registered in the input; a service `{client}` is assumed that calls the services with chains");
        self.local(first, client, upstreams.collect(), &[], notice);
    }

    /// A service of the agent with a sidecar, which meets a subset's conditions.
    fn local(&mut self, entry: &Entry, name: &str, upstreams: Vec<Node>, conditions: &[(String, String)], notice: String) {
        let proxy = object(Vec::from([("upstreams", list(upstreams))]));
        let sidecar = object(Vec::from([("sidecar_service", object(Vec::from([("proxy", proxy)])))]));
        let mut fields = Vec::from([("name", text(name)), ("port", number(8080)), ("connect", sidecar)]);
        let (meta, tags) = (meta_of(conditions, "Service.Meta."), tags_of(conditions));
        if !meta.is_empty() {
            fields.push(("meta", object(meta)));
        }
        if !tags.is_empty() {
            fields.push(("tags", list(tags)));
        }
        let service = object(fields);
        let document = object(Vec::from([("service", service)]));
        self.add((entry.object, node(entry.tree.get("Name"))), "service", name, SERVICES, document, Some(notice));
    }

    fn reach(&mut self, from: ObjectId, named: &Tree) {
        self.service(from, named, "", &named.str());
    }

    /// Adds the gateway that an entry is for: the agent's own, so that it has an Envoy.
    fn gateway(&mut self, entry: &Entry) {
        let kind = entry.kind.name();
        let (name, named) = (&entry.name, entry.tree.get("Name"));
        if self.services.contains(&(name.clone(), Str::new_static(DATACENTER))) {
            return;
        }
        let fields = Vec::from([("kind", text(kind)), ("name", text(name)), ("port", number(8443)), ("address", text(ANYWHERE))]);
        let document = object(Vec::from([("service", object(fields))]));
        let notice = format!("no {kind} `{name}` is registered in the input; one is assumed");
        self.add((entry.object, node(named)), "service", name, SERVICES, document, Some(notice));
    }

    fn entry(&mut self, entry: &Entry) {
        let (from, tree) = (entry.object, &entry.tree);
        match entry.kind {
            Kind::ServiceRouter | Kind::ServiceSplitter | Kind::ServiceResolver => self.targets(entry),
            Kind::ServiceIntentions => {
                self.reach(from, tree.get("Name"));
                let sources = tree.get("Sources").items().iter();
                sources.filter(|source| !elsewhere(source)).for_each(|source| self.reach(from, source.get("Name")));
                self.providers(from, tree);
            }
            Kind::ServiceDefaults | Kind::ProxyDefaults => {
                let upstreams = tree.at(&["UpstreamConfig", "Overrides"]).items().iter();
                upstreams.filter(|upstream| !elsewhere(upstream)).for_each(|upstream| self.reach(from, upstream.get("Name")));
                self.mesh(from, tree.get("MutualTLSMode"));
            }
            Kind::IngressGateway => {
                let listeners = tree.get("Listeners").items().iter();
                listeners.flat_map(|listener| listener.get("Services").items()).for_each(|service| self.reach(from, service.get("Name")));
                self.gateway(entry);
            }
            Kind::TerminatingGateway => {
                tree.get("Services").items().iter().for_each(|service| self.reach(from, service.get("Name")));
                self.gateway(entry);
            }
            Kind::ExportedServices => tree.get("Services").items().iter().for_each(|service| self.reach(from, service.get("Name"))),
            Kind::ApiGateway => {
                let listeners = tree.get("Listeners").items().iter();
                for certificate in listeners.flat_map(|listener| listener.at(&["TLS", "Certificates"]).items()) {
                    let fields = Vec::from([("Certificate", text(CERTIFICATE))]);
                    self.named(from, certificate.get("Name"), Kind::InlineCertificate, CERTIFICATES, fields);
                }
                self.gateway(entry);
            }
            Kind::HttpRoute | Kind::TcpRoute => self.route(entry),
            _ => {}
        }
    }

    /// Adds the targets of routers, splitters and resolvers.
    fn targets(&mut self, entry: &Entry) {
        if entry.kind == Kind::ServiceResolver && !is_set(entry.tree.get("Redirect")) {
            self.reach(entry.object, entry.tree.get("Name"));
        }
        for target in entry.targets().into_iter().filter(|target| is_set(target) && !elsewhere(target)) {
            let named = if is_set(target.get("Service")) { target.get("Service") } else { entry.tree.get("Name") };
            let datacenters: Vec<Str> = target.get("Datacenters").items().iter().map(Tree::str).collect();
            let datacenters = if datacenters.is_empty() { Vec::from([target.get("Datacenter").str()]) } else { datacenters };
            datacenters.iter().for_each(|datacenter| self.service(entry.object, named, datacenter, &named.str()));
            self.subset(entry.object, &named.str(), target.get("ServiceSubset"));
        }
        if matches!(entry.kind, Kind::ServiceRouter | Kind::ServiceSplitter) {
            // Requests that no route matches go to the service itself.
            self.reach(entry.object, entry.tree.get("Name"));
        }
    }

    fn route(&mut self, entry: &Entry) {
        let tree = &entry.tree;
        let rules = tree.get("Rules").items().iter().flat_map(|rule| rule.get("Services").items());
        rules.chain(tree.get("Services").items()).for_each(|service| self.reach(entry.object, service.get("Name")));
        let protocol = if entry.kind == Kind::HttpRoute { "http" } else { "tcp" };
        for parent in tree.get("Parents").items() {
            let section = parent.get("SectionName").text();
            let name = if section.is_empty() { protocol } else { section };
            let listener = object(Vec::from([("Name", text(name)), ("Port", number(8080)), ("Protocol", text(protocol))]));
            self.named(entry.object, parent.get("Name"), Kind::ApiGateway, GATEWAYS, Vec::from([("Listeners", list(Vec::from([listener])))]));
        }
    }

    /// Adds the entry that allows a mode of TLS.
    fn mesh(&mut self, from: ObjectId, mode: &Tree) {
        if mode.is("permissive") {
            let notice = "no mesh entry is in the input; it is assumed to allow permissive mutual TLS";
            let document = object(Vec::from([("Kind", text("mesh")), ("AllowEnablingPermissiveMutualTLS", Node::synthesised(Value::Bool(true)))]));
            self.add((from, node(mode)), "mesh", "", MESHES, document, Some(notice.into()));
        }
    }

    /// Adds the resolver that has a subset.
    fn subset(&mut self, from: ObjectId, name: &Str, subset: &Tree) {
        if is_set(subset) && !self.subsets.contains_key(name) {
            let kind = Kind::ServiceResolver.name();
            let notice = format!("no {kind} `{name}` is in the input; it is assumed to have the requested subsets");
            let subsets = object(Vec::from([(subset.text(), object(Vec::new()))]));
            let document = object(Vec::from([("Kind", text(kind)), ("Name", text(name)), ("Subsets", subsets)]));
            self.add((from, node(subset)), kind, name, RESOLVERS, document, Some(notice));
        }
    }

    fn providers(&mut self, from: ObjectId, tree: &Tree) {
        for name in named_providers(tree) {
            let keys = object(Vec::from([("Local", object(Vec::from([("JWKS", text(KEYS_OF_TOKENS))])))]));
            let named = Tree::from(&name).or_from(tree.get("Name").origin);
            self.named(from, &named, Kind::JwtProvider, PROVIDERS, Vec::from([("JSONWebKeySet", keys)]));
        }
    }

    fn instance(&mut self, instance: &Instance) {
        let Some(from) = instance.object else { return };
        for upstream in instance.proxy.get("Upstreams").items().iter().filter(|upstream| !is_set(upstream.get("DestinationPeer"))) {
            if !upstream.get("DestinationType").is("prepared_query") {
                let named = upstream.get("DestinationName");
                self.service(from, named, upstream.get("Datacenter").text(), &named.str());
            }
        }
        if instance.kind == "connect-proxy" {
            let named = instance.proxy.get("DestinationServiceName");
            self.service(from, named, &instance.node.datacenter, &named.str());
        }
    }

    /// Adds the protocols that services must use: the protocol of a gateway's listener, or HTTP if requests are distinguished.
    fn protocols(&mut self, entries: &[Entry]) {
        let mut open: Vec<(Str, Str, ReferenceSite)> = Vec::new();
        let http = Str::new_static("http");
        for entry in entries {
            let tree = &entry.tree;
            let at = |tree: &Tree| (entry.object, node(tree));
            match entry.kind {
                Kind::IngressGateway => {
                    for listener in tree.get("Listeners").items().iter().filter(|listener| !listener.get("Protocol").is("tcp")) {
                        let services = listener.get("Services").items().iter().map(|service| service.get("Name"));
                        open.extend(services.map(|name| (name.str(), listener.get("Protocol").str(), at(name))));
                    }
                }
                Kind::HttpRoute => {
                    let services = tree.get("Rules").items().iter().flat_map(|rule| rule.get("Services").items());
                    open.extend(services.map(|service| (service.get("Name").str(), http.clone(), at(service.get("Name")))));
                }
                Kind::ServiceRouter | Kind::ServiceSplitter => open.push((entry.name.clone(), http.clone(), at(tree.get("Name")))),
                Kind::ServiceIntentions if tree.get("Sources").items().iter().any(|source| is_set(source.get("Permissions"))) => {
                    open.push((entry.name.clone(), http.clone(), at(tree.get("Name"))));
                }
                _ => {}
            }
        }
        // Gateways first: their protocol is more specific.
        open.sort_by_key(|(_, protocol, _)| *protocol == "http");
        let defaults: BTreeSet<&str> = entries.iter().filter(|entry| entry.kind == Kind::ServiceDefaults).map(|entry| entry.name.as_str()).collect();
        let mut done = BTreeSet::new();
        let mut next = alloc::collections::VecDeque::from(open);
        while let Some((name, protocol, at)) = next.pop_front() {
            if name.is_empty() || name == "*" || !done.insert(name.clone()) {
                continue;
            }
            for entry in entries.iter().filter(|entry| entry.name == name && !matches!(entry.kind, Kind::IngressGateway | Kind::ServiceIntentions)) {
                let targets = entry.targets().into_iter().map(|target| target.get("Service")).filter(|service| is_set(service));
                next.extend(targets.map(|service| (service.str(), protocol.clone(), (entry.object, node(service)))));
            }
            // A written entry is used, even without a protocol.
            let is_misspelt = || defaults.len() <= MOST_NEAR && nearest(&name, defaults.iter().copied()).is_some();
            if defaults.contains(name.as_str()) || is_misspelt() {
                continue;
            }
            let kind = Kind::ServiceDefaults.name();
            let notice = format!("no {kind} `{name}` is in the input; it is assumed to set the protocol {protocol}");
            let document = object(Vec::from([("Kind", text(kind)), ("Name", text(&name)), ("Protocol", text(&protocol))]));
            self.add(at, kind, &name, PROTOCOLS, document, Some(notice));
        }
    }
}

/// The port of an assumed client's first upstream, and its maximum number of upstreams.
const FIRST_UPSTREAM: i64 = 9191;
const MOST_UPSTREAMS: usize = 1000;

/// With more names, similar ones are not searched.
const MOST_NEAR: usize = 256;

/// The address of an assumed gateway of the agent.
const ANYWHERE: &str = "0.0.0.0";

/// The node of a value; the whole object if it was not written.
fn node(tree: &Tree) -> NodeId {
    tree.origin.map_or_else(NodeId::default, |origin| origin.node())
}

/// Whether the instances of a target are in a peer or a sameness group, and therefore unknown.
fn elsewhere(target: &Tree) -> bool {
    is_set(target.get("Peer")) || is_set(target.get("SamenessGroup"))
}

/// Returns the conditions of a subset on its instances, as far as they can be derived: paths with their values.
fn conditions(filter: &Expression) -> Vec<(String, String)> {
    match filter {
        Expression::And(one, two) => conditions(one).into_iter().chain(conditions(two)).collect(),
        Expression::Or(one, _) => conditions(one),
        Expression::Test { selector, operator: Operator::Equal | Operator::In, value } => Vec::from([(selector.join("."), value.clone())]),
        Expression::Test { .. } | Expression::All | Expression::Not(_) => Vec::new(),
    }
}

/// The metadata in conditions: names with values.
fn meta_of<'c>(conditions: &'c [(String, String)], prefix: &str) -> Vec<(&'c str, Node)> {
    conditions.iter().filter_map(|(path, value)| Some((path.strip_prefix(prefix)?, text(value)))).collect()
}

/// The tags in conditions.
fn tags_of(conditions: &[(String, String)]) -> Vec<Node> {
    conditions.iter().filter(|(path, _)| path == "Service.Tags").map(|(_, tag)| text(tag)).collect()
}

/// A registration in the catalog, on its own node. `before` is the proxied service and instance.
fn instance(service: &str, id: &str, datacenter: &str, conditions: &[(String, String)], before: Option<(&str, &str)>) -> Node {
    let mut fields = Vec::from([
        ("ID", text(id)),
        ("Service", text(service)),
        ("Port", number(if before.is_some() { 20000 } else { 8080 })),
        ("Meta", object(meta_of(conditions, "Service.Meta."))),
        ("Tags", list(tags_of(conditions))),
    ]);
    if let Some((name, of)) = before {
        fields.push(("Kind", text("connect-proxy")));
        fields.push(("Proxy", object(Vec::from([("DestinationServiceName", text(name)), ("DestinationServiceID", text(of))]))));
    }
    let name = before.map_or(id, |(_, of)| of);
    object(Vec::from([
        ("Node", text(&format!("assumed-{datacenter}-{name}"))),
        ("Address", text(&address_of(&key("service", &Str::new(name))))),
        ("Datacenter", text(datacenter)),
        ("NodeMeta", object(meta_of(conditions, "Node.Meta."))),
        ("Service", object(fields)),
    ]))
}
