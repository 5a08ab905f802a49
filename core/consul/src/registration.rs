//! Creates services and proxies from registrations, and validates them. Does not merge config entries; see `service`.

mod file;

use super::go::{self, Errors};
use super::instance::{Address, Check, Health, Instance, Node};
use super::schema::{Fault, Leniency, decode, registration};
use super::validate::{Verdict, is_set, refuse};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::ir::{Fields, Plain, Tree};
use chancery_base::resource::{ObjectId, Sourced};
use chancery_kubernetes::reason::Reason;
use chancery_text::{self, Str};

/// The agent's own node.
pub(crate) const NODE: &str = "node1";
/// The address of the agent's node.
pub(crate) const LOCAL: &str = "127.0.0.1";
/// The service of all servers.
pub(crate) const SERVERS: &str = "consul";
/// The range of sidecar ports.
const PORTS: (i64, i64) = (21000, 21255);

/// The result of a registration: the service, and its sidecar.
pub(crate) struct Registered {
    /// In the order of registration.
    pub(crate) instances: Vec<Instance>,
    /// Why it is refused.
    pub(crate) verdict: Verdict,
    /// Invalid keys and values.
    pub(crate) faults: Vec<Fault>,
}

pub(crate) fn agent(datacenter: &str) -> Node {
    let tagged = ["lan", "lan_ipv4", "wan", "wan_ipv4"].into_iter().map(|name| (Str::new_static(name), Str::new_static(LOCAL)));
    Node {
        name: Str::new_static(NODE),
        address: Str::new_static(LOCAL),
        datacenter: Str::new(datacenter),
        tagged: tagged.collect(),
        ..Node::default()
    }
}

/// The agent itself as a server in the catalog.
pub(crate) fn server(datacenter: &str) -> Instance {
    let name = Str::new_static(SERVERS);
    Instance { node: agent(datacenter), id: name.clone(), service: name, port: 8300, local: true, ..Instance::default() }
}

/// Reads a service definition, in HCL or not. `used` returns whether a service of the agent uses a port.
pub(crate) fn service(root: &chancery_text::Node, hcl: bool, object: ObjectId, datacenter: &str, used: Used<'_>) -> Registered {
    let empty = chancery_text::Node::synthesised(chancery_text::Value::Null);
    let read = decode(root.get("service").unwrap_or(&empty), &registration::DEFINITION, object, Leniency::Definition { hcl });
    let mut faults = read.unfit;
    faults.extend(read.unknown.into_iter().map(|fault| Fault { text: format!("invalid config key {}", go::quote(&fault.text)), ..fault }));
    let (instances, verdict) = match definition(&read.tree, datacenter, used, object) {
        Ok(instances) => (instances, Ok(())),
        Err(why) => (Vec::new(), Err(why)),
    };
    Registered { instances, verdict, faults }
}

/// Whether a service of the agent uses a port.
pub(crate) type Used<'a> = &'a dyn Fn(i64) -> bool;

fn definition(tree: &Tree, datacenter: &str, used: Used<'_>, object: ObjectId) -> Result<Vec<Instance>, Reason> {
    refuse(tree.get("Service").text().is_empty(), || "Missing service name".into())?;
    let name = tree.get("Service").str();
    let id = if is_set(tree.get("ID")) { tree.get("ID").str() } else { name.clone() };
    file::definition(tree)?;
    let status = checks(tree);
    let mut instance = agent_instance(node_service(tree, id.clone()), datacenter, object);
    instance.native = tree.at(&["Connect", "Native"]).bool();
    instance.checks = status.clone();
    instance.probes = probes(tree);
    let sidecar = tree.at(&["Connect"]).find("SidecarService");
    validate(&instance, sidecar, true)?;
    let own = instance.port;
    let used = |port| port == own || used(port);
    let sidecar = match sidecar {
        Some(definition) => {
            let mut sidecar = agent_instance(sidecar_of(definition, &instance.tree, &used)?, datacenter, object);
            sidecar.checks = checks(definition);
            if sidecar.checks.is_empty() {
                sidecar.checks = status;
            }
            validate(&sidecar, None, true)?;
            Some(sidecar)
        }
        None => None,
    };
    for tagged in [Some(&instance), sidecar.as_ref()].into_iter().flatten() {
        file::tagged_addresses(&tagged.tagged)?;
    }
    Ok([Some(instance), sidecar].into_iter().flatten().collect())
}

/// The checks of a definition; a check without a status passes.
fn checks(tree: &Tree) -> Vec<Check> {
    let all = tree.find("Check").into_iter().chain(tree.get("Checks").items());
    let check = |(at, check): (usize, &Tree)| Check {
        id: Str::from(format!("service:{at}")),
        name: check.get("Name").str(),
        status: status(check.get("Status")),
        service: Str::default(),
    };
    all.enumerate().map(check).collect()
}

/// The checks that use HTTP or gRPC.
fn probes(tree: &Tree) -> Vec<Tree> {
    let all = tree.find("Check").into_iter().chain(tree.get("Checks").items());
    all.filter(|check| is_set(check.get("HTTP")) || is_set(check.get("GRPC"))).cloned().collect()
}

fn status(of: &Tree) -> Sourced<Health> {
    let status = match of.text() {
        "critical" => Health::Critical,
        "warning" => Health::Warning,
        _ => Health::Passing,
    };
    Sourced::new(status, of.origin)
}

/// A definition in the catalog's form.
fn node_service(tree: &Tree, id: Str) -> Tree {
    let mut out = tree.clone();
    for field in ["Check", "Checks", "Token"] {
        out.take(field);
    }
    // An unknown kind is treated as a typical service.
    if !KINDS.contains(&tree.get("Kind").text()) {
        out.take("Kind");
    }
    // An unset weight is one.
    if let Some(weights) = out.get_mut("Weights") {
        for field in ["Passing", "Warning"] {
            if weights.find(field).is_none() {
                weights.set(field, Tree::from(1_i64));
            }
        }
    }
    let native = tree.at(&["Connect", "Native"]).clone();
    out.take("Connect");
    out.set("Connect", Tree::object([("Native", native)]));
    out.set("ID", Tree::from(id).or_from(tree.get("Service").origin));
    for upstream in out.get_mut("Proxy").and_then(|proxy| proxy.get_mut("Upstreams")).into_iter().flat_map(Tree::items_mut) {
        if !is_set(upstream.get("DestinationType")) {
            upstream.set("DestinationType", "service".into());
        }
    }
    out
}

fn sidecar_of(definition: &Tree, parent: &Tree, used: Used<'_>) -> Result<Tree, Reason> {
    let (name, id) = (parent.get("Service").text(), parent.get("ID").text());
    let from = definition.origin;
    let mut out = node_service(definition, Str::from(format!("{id}-sidecar-proxy")));
    for field in ["Meta", "Tags", "Address"] {
        if !is_set(out.get(field)) {
            out.take(field);
            out.set(field, parent.get(field).clone());
        }
    }
    let default = |tree: &mut Tree, field: &str, value: Tree| {
        if !is_set(tree.get(field)) {
            tree.set(field, value.or_from(from));
        }
    };
    default(&mut out, "Kind", "connect-proxy".into());
    default(&mut out, "Service", format!("{name}-sidecar-proxy").into());
    if !is_set(out.get("Port")) {
        let port = (PORTS.0..=PORTS.1).find(|port| !used(*port));
        let port =
            port.ok_or_else(|| format!("no port provided for sidecar_service and none left in the configured range [{}, {}]", PORTS.0, PORTS.1))?;
        out.set("Port", Tree::from(port).or_from(from));
    }
    let mut proxy = out.take("Proxy").unwrap_or(Tree { value: Plain::Object(Fields::default()), origin: from });
    default(&mut proxy, "DestinationServiceName", parent.get("Service").clone());
    default(&mut proxy, "DestinationServiceID", parent.get("ID").clone());
    let has_address = is_set(proxy.get("LocalServiceAddress")) && proxy.get("LocalServicePort").int() >= 1;
    if !has_address && !is_set(proxy.get("LocalServiceSocketPath")) {
        if is_set(parent.get("SocketPath")) {
            proxy.set("LocalServiceSocketPath", parent.get("SocketPath").clone());
        } else {
            default(&mut proxy, "LocalServiceAddress", LOCAL.into());
            if proxy.get("LocalServicePort").int() < 1 {
                proxy.set("LocalServicePort", parent.get("Port").clone());
            }
        }
    }
    out.set("Proxy", proxy);
    Ok(out)
}

fn agent_instance(tree: Tree, datacenter: &str, object: ObjectId) -> Instance {
    let mut instance = instance(tree, agent(datacenter), Some(object));
    instance.local = true;
    instance.weights = Some(instance.weights.unwrap_or((1, 1)));
    let family = go::ip(&instance.address).map(|family| if family == 4 { "ipv4" } else { "ipv6" });
    for name in family.into_iter().flat_map(|family| [format!("lan_{family}"), format!("wan_{family}")]) {
        if !instance.tagged.contains_key(name.as_str()) {
            let (address, port) = (instance.address.clone(), instance.port);
            instance.tag(&name, &address, port);
        }
    }
    instance
}

/// Creates an instance from its fields.
fn instance(tree: Tree, node: Node, object: Option<ObjectId>) -> Instance {
    let address = |tree: &Tree| Address { address: tree.get("Address").str(), port: tree.get("Port").int() };
    let tagged: BTreeMap<Str, Address> = tree.get("TaggedAddresses").fields().iter().map(|(name, of)| (name.clone(), address(of))).collect();
    Instance {
        node,
        kind: tree.get("Kind").str(),
        id: tree.get("ID").str(),
        service: tree.get("Service").str(),
        address: tree.get("Address").str(),
        port: tree.get("Port").int(),
        tagged,
        weights: tree.find("Weights").map(|weights| (weights.get("Passing").int(), weights.get("Warning").int())),
        native: tree.at(&["Connect", "Native"]).bool(),
        proxy: tree.get("Proxy").clone(),
        object,
        tree,
        ..Instance::default()
    }
}

/// Reads a registration in the catalog.
pub(crate) fn catalog(root: &chancery_text::Node, object: ObjectId, datacenter: &str) -> Registered {
    let read = decode(root, &registration::CATALOG, object, Leniency::Catalog);
    let mut faults = read.unfit;
    faults.extend(read.unknown.into_iter().map(|fault| Fault { text: format!("json: unknown field {}", go::quote(&fault.text)), ..fault }));
    let tree = read.tree;
    let verdict = node_is_valid(&tree);
    let map = |field: &str| tree.get(field).fields().iter().map(|(key, value)| (key.clone(), value.str())).collect::<BTreeMap<_, _>>();
    let other = tree.get("Datacenter").str();
    let node = Node {
        name: tree.get("Node").str(),
        address: tree.get("Address").str(),
        datacenter: if other.is_empty() { Str::new(datacenter) } else { other },
        tagged: map("TaggedAddresses"),
        meta: tree.get("NodeMeta").clone(),
        peer: tree.get("PeerName").str(),
    };
    let Some(service) = tree.find("Service").filter(|_| verdict.is_ok()) else {
        return Registered { instances: Vec::new(), verdict, faults };
    };
    let mut service = service.clone();
    if !is_set(service.get("ID")) {
        service.set("ID", service.get("Service").clone());
    }
    let mut instance = instance(service, node, Some(object));
    let of_it = |check: &&Tree| [instance.id.as_str(), ""].contains(&check.get("ServiceID").text());
    let checks = tree.find("Check").into_iter().chain(tree.get("Checks").items()).filter(of_it);
    let check = |check: &Tree| Check {
        id: check.get("CheckID").str(),
        name: check.get("Name").str(),
        status: status(check.get("Status")),
        service: check.get("ServiceID").str(),
    };
    instance.checks = checks.map(check).collect();
    // Invalid weights are ignored.
    instance.weights = instance.weights.filter(|weights| file::are_weights(*weights).is_ok());
    let nameless = instance.service.is_empty() && !instance.id.is_empty();
    let verdict = validate(&instance, None, false)
        .and_then(|()| refuse(nameless, || "Must provide service name (Service.Service) when service ID is provided".into()))
        .and_then(|()| has_address(&instance))
        .and_then(|()| file::meta(&instance.tree));
    let instances = if verdict.is_ok() { Vec::from([instance]) } else { Vec::new() };
    Registered { instances, verdict, faults }
}

/// Refuses unspecified addresses.
pub(crate) fn has_address(of: &Instance) -> Verdict {
    refuse(matches!(of.address.as_str(), "0.0.0.0" | "::" | "[::]"), || "Invalid service address".into())
}

fn node_is_valid(tree: &Tree) -> Verdict {
    refuse(!is_set(tree.get("Node")), || "Must provide node".into())?;
    refuse(!is_set(tree.get("Address")) && !tree.get("SkipNodeUpdate").bool(), || "Must provide address if SkipNodeUpdate is not set".into())
}

/// Checks an instance by itself.
fn validate(of: &Instance, sidecar: Option<&Tree>, by_agent: bool) -> Verdict {
    let mut errors = Errors::default();
    let proxy = &of.proxy;
    let nowhere = of.port == 0 && !is_set(of.tree.get("SocketPath"));
    if of.kind == "connect-proxy" {
        if nowhere && (by_agent || !is_set(of.tree.get("SocketPath"))) {
            errors.add("Port or SocketPath must be set for a connect-proxy");
        }
        self::proxy(of, &mut errors);
    }
    if is_gateway(&of.kind) {
        let kind = &of.kind;
        if of.port == 0 && !matches!(kind.as_str(), "ingress-gateway" | "api-gateway") {
            errors.add(format!("Port must be non-zero for a {kind}"));
        }
        if sidecar.is_some() {
            errors.add(format!("A {kind} cannot have a sidecar service defined"));
        }
        let fields =
            ["DestinationServiceName", "DestinationServiceID", "LocalServiceAddress", "LocalServicePort", "LocalServiceSocketPath", "Upstreams"];
        for field in fields.into_iter().filter(|field| is_set(proxy.get(field))) {
            let what = if field == "Upstreams" { String::from("The Proxy.Upstreams") } else { format!("The Proxy.{field}") };
            errors.add(format!("{what} configuration is invalid for a {kind}"));
        }
    }
    if let Some(sidecar) = sidecar {
        if is_set(sidecar.get("ID")) {
            errors.add("A SidecarService cannot specify an ID as this is managed by the agent");
        }
        if sidecar.at(&["Connect"]).find("SidecarService").is_some() {
            errors.add("A SidecarService cannot have a nested SidecarService");
        }
    }
    if of.native && nowhere {
        errors.add("Port or SocketPath must be set for a Connect native service.");
    }
    if !matches!(proxy.get("Mode").text(), "" | "direct" | "transparent") && by_agent {
        errors.add(format!("unsupported proxy mode: {}", go::quote(proxy.get("Mode").text())));
    }
    errors.result()
}

/// The kinds of an agent's services except typical ones.
const KINDS: [&str; 5] = ["connect-proxy", "mesh-gateway", "terminating-gateway", "ingress-gateway", "api-gateway"];

/// Whether a kind of service is a gateway.
pub(crate) fn is_gateway(kind: &str) -> bool {
    matches!(kind, "mesh-gateway" | "terminating-gateway" | "ingress-gateway" | "api-gateway")
}

fn proxy(of: &Instance, errors: &mut Errors) {
    let proxy = &of.proxy;
    let destination = proxy.get("DestinationServiceName").text();
    if destination.trim().is_empty() {
        errors.add("Proxy.DestinationServiceName must be non-empty for Connect proxy services");
    }
    if destination == "*" {
        errors.add("Proxy.DestinationServiceName must not be a wildcard for Connect proxy services");
    }
    if of.native {
        errors.add("A Proxy cannot also be Connect Native, only typical services");
    }
    let folder = proxy.at(&["Config", "envoy_telemetry_collector_bind_socket_dir"]).text();
    if folder.len() > 70 {
        errors.add(format!("Proxy.Config: envoy_telemetry_collector_bind_socket_dir length {} exceeds max 70", folder.len()));
    }
    let (mut seen, mut bound) = (BTreeSet::new(), BTreeSet::new());
    for upstream in proxy.get("Upstreams").items() {
        if let Err(why) = self::upstream(upstream) {
            errors.add(why);
            continue;
        }
        let key = ["DestinationType", "DestinationPeer", "DestinationName", "Datacenter"].map(|field| upstream.get(field).str());
        if !seen.insert(key) {
            errors.add(format!("upstreams cannot contain duplicates of {}", upstream.get("DestinationName").text()));
            continue;
        }
        let address = bind_address(upstream);
        if !bound.insert(address.clone()) && !upstream.get("CentrallyConfigured").bool() {
            errors.add(format!(
                "upstreams cannot contain duplicates by local bind address and port or unix path; {} is specified twice",
                go::quote(&address)
            ));
        }
    }
    exposed(proxy, errors);
}

fn exposed(proxy: &Tree, errors: &mut Errors) {
    let mut ports = BTreeSet::new();
    for path in proxy.at(&["Expose", "Paths"]).items() {
        let port = path.get("ListenerPort").int();
        if !is_set(path.get("Path")) {
            errors.add("expose.paths: empty path exposed");
        }
        if !ports.insert(port) {
            errors.add("expose.paths: duplicate listener ports exposed");
        }
        if !(1..=65535).contains(&port) {
            errors.add(format!("expose.paths: invalid listener port: {port}"));
        }
        let protocol = path.get("Protocol").text().to_lowercase();
        if !matches!(protocol.as_str(), "" | "http" | "http2") {
            let path = path.get("Path").text();
            errors.add(format!("protocol '{protocol}' not supported for path: {path}, must be in: [http http2]"));
        }
    }
}

/// The local binding of an upstream: address and port, or a socket path.
pub(crate) fn bind_address(upstream: &Tree) -> String {
    if upstream.get("LocalBindPort").int() == 0 && is_set(upstream.get("LocalBindSocketPath")) && !is_set(upstream.get("LocalBindAddress")) {
        return upstream.get("LocalBindSocketPath").text().to_string();
    }
    let address = upstream.get("LocalBindAddress").text();
    let address = if address.is_empty() { LOCAL } else { address };
    format!("{address}:{}", upstream.get("LocalBindPort").int())
}

fn upstream(upstream: &Tree) -> Verdict {
    let kind = upstream.get("DestinationType").text();
    let known = matches!(kind, "" | "service" | "prepared_query");
    refuse(!known, || format!("unknown upstream destination type: {}", go::quote(kind)))?;
    let name = upstream.get("DestinationName").text();
    let central = upstream.get("CentrallyConfigured").bool();
    refuse(name.is_empty(), || "upstream destination name cannot be empty".into())?;
    refuse(name == "*" && !central, || "upstream destination name cannot be a wildcard".into())?;
    refuse(is_set(upstream.get("DestinationPeer")) && is_set(upstream.get("Datacenter")), || {
        "upstream cannot specify both destination peer and datacenter".into()
    })?;
    let (port, socket) = (is_set(upstream.get("LocalBindPort")), is_set(upstream.get("LocalBindSocketPath")));
    refuse(!port && !socket && !central, || "upstream local bind port or local socket path must be defined and nonzero".into())?;
    refuse(port && socket && !central, || "only one of upstream local bind port or local socket path can be defined and nonzero".into())
}
