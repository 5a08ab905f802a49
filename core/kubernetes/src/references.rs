//! Builds the Kubernetes objects that references require: a Service with its ports, a Secret with its keys, a Service's endpoints. Does not decide
//! whether they are assumed (see `compilation::Assumptions`), and does not know any dialect's fields.

use super::endpoints;
use super::relations::{Form, Referring, key_of, walk};
use super::service;
use super::status::{list, number, object, text};
use alloc::borrow::ToOwned as _;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::compilation::ReferencedObject;
use chancery_base::resource::{Object, ObjectId, Objects, ResourceKey};
use chancery_text::{Node, NodeId, Str, Value};
use hashbrown::{HashMap, HashSet};

/// The placeholder certificate of an assumed Secret or ConfigMap, so that Envoy accepts the result. Its key was discarded.
pub const CERTIFICATE: &str = include_str!("assumed.crt");

/// A reference from a field to another object.
pub struct FieldReference<'o> {
    /// The referring object.
    pub by: &'o Object,
    /// The purpose.
    pub relation: &'static str,
    /// The path of the field, as in [`Referring`]. Empty if no list of fields has it.
    pub path: &'static str,
    /// The node that names the object.
    pub at: NodeId,
    /// The referenced object.
    pub key: ResourceKey,
    /// Further details: the parent of the name, or the whole reference.
    pub holder: &'o Node,
}

/// All references of these fields, in the order of the objects.
pub fn field_references<'o>(objects: impl Iterator<Item = &'o Object>, fields: &[&[Referring]]) -> Vec<FieldReference<'o>> {
    let mut out = Vec::new();
    for object in objects.filter(|object| !object.broken) {
        for field in fields.iter().copied().flatten().filter(|field| field.kind == object.key.kind.as_str()) {
            walk(&object.root, &object.root, field.path, &mut |holder, node| {
                let Some((mut key, at)) = key_of(object, field, node) else { return };
                if let Form::Cluster = field.form {
                    key.namespace = None;
                }
                let holder = if let Form::Reference | Form::AnyKind = field.form { node } else { holder };
                out.push(FieldReference { by: object, relation: field.relation, path: field.path, at: at.id, key, holder });
            });
        }
    }
    out
}

impl FieldReference<'_> {
    /// The referenced ports, by number or name.
    pub fn ports(&self) -> impl Iterator<Item = Str> {
        ["port", "healthPort", "servicePort"].into_iter().filter_map(|field| port(self.holder.get(field)?))
    }
}

fn port(node: &Node) -> Option<Str> {
    match &node.value {
        Value::Int(1..=65535) => Some(format!("{}", node.as_i64()?).into()),
        Value::String(name) if !name.is_empty() => Some(name.clone()),
        Value::Object(_) => port(node.get("number").or_else(|| node.get("name"))?),
        _ => None,
    }
}

/// Every referenced object that does not exist, with the content that `make` builds from all its references.
pub fn missing_objects(
    asked: &[FieldReference<'_>],
    there: &HashSet<&ResourceKey>,
    make: impl Fn(&ResourceKey, &[&FieldReference<'_>]) -> Option<Node>,
) -> Vec<ReferencedObject> {
    let mut by_key: BTreeMap<&ResourceKey, Vec<&FieldReference<'_>>> = BTreeMap::new();
    asked.iter().filter(|one| !there.contains(&one.key)).for_each(|one| by_key.entry(&one.key).or_default().push(one));
    let one = |(key, asked): (&ResourceKey, Vec<&FieldReference<'_>>)| {
        let object = make(key, &asked)?;
        let first = asked.first()?;
        let kinds = KINDS.iter().find(|kinds| kinds.iter().any(|(group, kind)| key.group == *group && key.kind == *kind))?;
        Some(ReferencedObject { from: first.by.id, at: first.at, key: key.clone(), kinds, object, notice: Some(notice(key)), asks: true })
    };
    by_key.into_iter().filter_map(one).collect()
}

fn notice(key: &ResourceKey) -> String {
    format!("the {key} is not in the input; it is assumed to exist")
}

/// The kinds that can be assumed; kinds that replace each other are grouped.
const KINDS: &[&[(&str, &str)]] = &[
    &[("", "Service")],
    &[("", "Secret")],
    &[("", "ConfigMap")],
    &[("", "Namespace")],
    endpoints::KINDS,
    &[("networking.k8s.io", "IngressClass")],
    &[("gateway.networking.k8s.io", "Gateway")],
    &[("gateway.networking.k8s.io", "GatewayClass")],
    &[("gateway.networking.k8s.io", "ReferenceGrant")],
    &[("projectcontour.io", "ExtensionService")],
    &[("projectcontour.io", "HTTPProxy")],
    &[("projectcontour.io", "TLSCertificateDelegation")],
];

/// An object of this name with further fields.
pub fn named(key: &ResourceKey, version: &str, fields: Vec<(&str, Node)>) -> Node {
    let api_version = if key.group.is_empty() { version.to_owned() } else { format!("{}/{version}", key.group) };
    let namespace = key.namespace.as_ref().map(|namespace| ("namespace", text(namespace)));
    let metadata = object([("name", text(&key.name))].into_iter().chain(namespace).collect());
    let head = [("apiVersion", text(&api_version)), ("kind", text(&key.kind)), ("metadata", metadata)];
    object(head.into_iter().chain(fields).collect())
}

/// A Service, Secret or ConfigMap that satisfies all references.
pub fn of_kubernetes(key: &ResourceKey, asked: &[&FieldReference<'_>]) -> Option<Node> {
    match (key.group.as_str(), key.kind.as_str()) {
        ("", "Service") => {
            let ports: BTreeSet<Str> = asked.iter().flat_map(|one| one.ports()).collect();
            let ports: Vec<Node> = ports.iter().map(|port| service_port(port, ports.len() > 1)).collect();
            // A reference without a port uses the default port.
            let ports = if ports.is_empty() { alloc::vec![service_port("80", false)] } else { ports };
            Some(named(key, "v1", alloc::vec![("spec", object(alloc::vec![("ports", list(ports))]))]))
        }
        ("", "Secret") => {
            let values = ["tls.crt", "tls.key", "ca.crt", "crl.pem"].map(|name| (name, text(CERTIFICATE)));
            let keys = asked.iter().filter(|one| one.by.key.kind == "HTTPProxy").filter_map(|one| one.holder.get("key")?.as_str());
            let keys = keys.map(|name| (name, text(KEYS_OF_TOKENS)));
            Some(named(key, "v1", alloc::vec![("type", text("Opaque")), ("stringData", object(values.into_iter().chain(keys).collect()))]))
        }
        ("", "ConfigMap") => Some(named(key, "v1", alloc::vec![("data", object(alloc::vec![("ca.crt", text(CERTIFICATE))]))])),
        _ => None,
    }
}

/// A placeholder key for tokens.
pub const KEYS_OF_TOKENS: &str = r#"{"keys":[{"kty":"oct","alg":"HS256","kid":"assumed","k":"YXNzdW1lZA"}]}"#;

fn service_port(port: &str, several: bool) -> Node {
    let number_of = |name: &str| match name {
        "https" => 443,
        "http" => 80,
        _ => 8080,
    };
    let by_number = port.parse::<u16>().ok();
    let name = match by_number {
        Some(number) => several.then(|| format!("port-{number}")),
        None => Some(port.to_owned()),
    };
    let value = ("port", number(by_number.map_or_else(|| number_of(port), i64::from)));
    object(name.iter().map(|name| ("name", text(name))).chain([value]).collect())
}

/// The endpoints of existing, referenced Services without endpoints: `Endpoints` and `EndpointSlice` alike, each with one address.
pub fn endpoints(asked: &[FieldReference<'_>], objects: &Objects) -> Vec<ReferencedObject> {
    let services: HashMap<&ResourceKey, &Object> =
        objects.all().filter(|object| object.key.kind == "Service" && object.key.group.is_empty()).map(|object| (&object.key, object)).collect();
    let served: HashSet<(Option<&str>, &str)> = objects.all().filter_map(endpoints::service_of).collect();
    let mut written: Vec<&Str> = Vec::new();
    let mut first_written = None;
    let mut guessed: Vec<String> = Vec::new();
    let mut out: Vec<ReferencedObject> = Vec::new();
    let mut done: HashSet<&ResourceKey> = HashSet::new();
    for one in asked {
        let Some((key, service)) = services.get_key_value(&one.key).filter(|(key, _)| !done.contains(**key)) else { continue };
        let ports = service::ports(&service.root);
        if ports.is_empty() || service.root.at(&["spec", "externalName"]).is_some() {
            continue;
        }
        done.insert(*key);
        if served.contains(&(key.namespace.as_deref(), key.name.as_str())) {
            continue;
        }
        let ports: Vec<AssumedPort<'_>> = ports.iter().map(|port| AssumedPort { port, number: target_number(service, port, objects) }).collect();
        if !service.assumed {
            first_written.get_or_insert(out.len());
            written.push(&key.name);
            let unknown = ports.iter().filter(|of| of.number.is_none());
            guessed.extend(unknown.map(|of| format!("at port {}, as no pod in the input has a port `{}`", of.port.port, of.port.target)));
        }
        out.extend(behind((one.by.id, one.at), key, &ports));
    }
    // All assumed endpoints of written Services share one notice.
    let guessed = guessed.first().map(|first| format!(", {first}")).unwrap_or_default();
    let message = match written[..] {
        [] => return out,
        [name] => format!("the Service `{name}` has no endpoints in the input; it is assumed to have one{guessed}"),
        _ => format!("{} Services have no endpoints in the input; each is assumed to have one", written.len()),
    };
    if let Some(first) = first_written.and_then(|at| out.get_mut(at)) {
        first.notice = Some(message);
    }
    out
}

/// A port of assumed endpoints.
struct AssumedPort<'p> {
    port: &'p service::Port,
    /// The number that the pods have; `None` if the Service names a port that no pod in the input has.
    number: Option<u16>,
}

/// Kinds with containers, and the place of their pods.
const WORKLOADS: &[(&str, &[&str])] = &[
    ("Pod", &[]),
    ("Deployment", &["spec", "template"]),
    ("StatefulSet", &["spec", "template"]),
    ("DaemonSet", &["spec", "template"]),
    ("ReplicaSet", &["spec", "template"]),
];

/// Returns the number behind a Service's target port: a named port has the number that the containers of the Service's pods give it.
fn target_number(service: &Object, port: &service::Port, objects: &Objects) -> Option<u16> {
    if let Ok(number) = port.target.parse::<u16>() {
        return Some(number);
    }
    let selector = service.root.at(&["spec", "selector"])?.as_object()?;
    let pods = objects.all().filter(|object| object.key.namespace == service.key.namespace).filter_map(|object| {
        let (_, path) = WORKLOADS.iter().find(|(kind, _)| *object.key.kind == **kind)?;
        if path.is_empty() { Some(&*object.root) } else { object.root.at(path) }
    });
    let is_selected = |pod: &&Node| {
        let labels = pod.at(&["metadata", "labels"]).and_then(Node::as_object);
        !selector.is_empty()
            && selector.iter().all(|entry| labels.is_some_and(|labels| labels.get(&entry.key).and_then(Node::as_str) == entry.value.as_str()))
    };
    let containers = pods.filter(is_selected).filter_map(|pod| pod.at(&["spec", "containers"])?.as_array()).flatten();
    let mut ports = containers.filter_map(|container| container.get("ports")?.as_array()).flatten();
    let named = ports.find(|of| of.get("name").and_then(Node::as_str) == Some(port.target.as_str()))?;
    u16::try_from(named.get("containerPort")?.as_i64()?).ok()
}

fn behind((from, at): (ObjectId, NodeId), service: &ResourceKey, ports: &[AssumedPort<'_>]) -> [ReferencedObject; 2] {
    let address = address_of(service);
    let port = |AssumedPort { port, number: target }: &AssumedPort<'_>| {
        let target = target.unwrap_or(port.port);
        let name = port.name.as_ref().map(|name| ("name", text(name)));
        object(name.into_iter().chain([("port", number(target.into())), ("protocol", text("TCP"))]).collect())
    };
    let ports = list(ports.iter().map(port).collect());
    let key = |group: &str, kind: &str| ResourceKey { group: group.into(), kind: kind.into(), ..service.clone() };
    let kinds = endpoints::KINDS;
    let wanted = |key: ResourceKey, object: Node| ReferencedObject { from, at, key, kinds, object, notice: None, asks: false };
    let old = key("", "Endpoints");
    let subset = object(alloc::vec![("addresses", list(alloc::vec![object(alloc::vec![("ip", text(&address))])])), ("ports", ports.clone())]);
    let of_old = named(&old, "v1", alloc::vec![("subsets", list(alloc::vec![subset]))]);
    let slice = key("discovery.k8s.io", "EndpointSlice");
    let endpoint = object(alloc::vec![("addresses", list(alloc::vec![text(&address)]))]);
    let labels = object(alloc::vec![("kubernetes.io/service-name", text(&service.name))]);
    let mut of_slice = named(&slice, "v1", alloc::vec![("addressType", text("IPv4")), ("endpoints", list(alloc::vec![endpoint])), ("ports", ports)]);
    if let Value::Object(root) = &mut of_slice.value
        && let Some(Value::Object(metadata)) = root.get_mut("metadata").map(|node| &mut node.value)
    {
        metadata.insert("labels", labels);
    }
    [wanted(old, of_old), wanted(slice, of_slice)]
}

/// The name and namespace in a host of the cluster: `NAME.NAMESPACE.svc`, perhaps with the cluster's domain. `None` for other hosts.
pub fn cluster_name(host: &str) -> Option<(&str, &str)> {
    let name = host.strip_suffix(".svc.cluster.local").or_else(|| host.strip_suffix(".svc"))?;
    name.split_once('.')
}

/// An address of the reserved network 240.0.0.0/8, always the same for one Service. Comparisons tell Services apart by their addresses, so two
/// Services must not share one: of 1,000 Services, two do in 3 % of inputs.
pub fn address_of(service: &ResourceKey) -> String {
    let namespace = service.namespace.iter().flat_map(|namespace| namespace.bytes());
    let text = namespace.chain(*b"/").chain(service.name.bytes());
    // FNV-1a, which spreads short names well.
    let sum = text.fold(0x811c_9dc5_u32, |sum, byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    let [high, a, b, c] = sum.to_be_bytes();
    format!("240.{}.{}.{}", a ^ high, b, c)
}
