//! The documents of an input: config entries, service definitions, and nodes of the catalog. Does not validate them; see `reading`.

use super::entry::Kind;
use alloc::borrow::Cow;
use alloc::vec::Vec;
use chancery_base::diagnostic::Findings;
use chancery_base::read::{DocumentCache, Identify, ReadOptions, Shape, read};
use chancery_base::resource::{Inputs, Object, ObjectId, Objects, REDACTED, ResourceKey};
use chancery_text::{Node, NodeId, Str, Value};

/// The type of a document.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum What {
    /// A config entry; an unknown kind is kept as its name.
    Entry(Result<Kind, Str>),
    Service,
    /// A registration in the catalog.
    Catalog,
    /// The agent's own data.
    Agent,
    /// The certificate of a service.
    Leaf,
    /// The CA certificates.
    Roots,
    /// A Kubernetes object that another controller reads.
    Foreign,
    /// None of these.
    Nothing,
}

/// The kind of the document with the agent's own data.
const AGENT: &str = "consul-agent";
/// The kind of a document with the certificate of a service.
const LEAF: &str = "consul-leaf";
/// The kind of the document with the CA certificates.
const ROOTS: &str = "consul-roots";

/// The API group of Consul's resources in Kubernetes.
pub(crate) const GROUP: &str = "consul.hashicorp.com";

/// The group of a Kubernetes object; `None` for Consul's own documents.
pub(crate) fn group(root: &Node) -> Option<&str> {
    let version = root.get("apiVersion")?.as_str()?;
    Some(version.split_once('/').map_or("", |(group, _)| group))
}

/// An object as Consul reads it: `y` and `n` are strings there, not truth values.
pub(crate) fn read_words(object: &Object) -> Cow<'_, Node> {
    fn is_word(object: &Object, node: &Node) -> Option<Str> {
        let Value::Bool(_) = node.value else { return None };
        let text = object.document.spans.get(node.id)?.value.slice(object.text.as_deref()?);
        matches!(text, "y" | "Y" | "n" | "N").then(|| Str::new(text))
    }
    fn any(object: &Object, node: &Node) -> bool {
        match &node.value {
            Value::Object(fields) => fields.iter().any(|entry| any(object, &entry.value)),
            Value::Array(items) => items.iter().any(|item| any(object, item)),
            _ => is_word(object, node).is_some(),
        }
    }
    fn all(object: &Object, node: &Node) -> Node {
        let value = match &node.value {
            Value::Object(fields) => Value::Object(fields.iter().map(|entry| (entry.key.clone(), all(object, &entry.value))).collect()),
            Value::Array(items) => Value::Array(items.iter().map(|item| all(object, item)).collect()),
            other => is_word(object, node).map_or_else(|| other.clone(), Value::String),
        };
        Node { id: node.id, value }
    }
    if any(object, &object.root) { Cow::Owned(all(object, &object.root)) } else { Cow::Borrowed(&object.root) }
}

/// The value at a key in any case; an exact match is preferred.
pub(crate) fn any_case<'a>(root: &'a Node, key: &str) -> Option<&'a Node> {
    let object = root.as_object()?;
    root.get(key).or_else(|| object.iter().find(|entry| entry.key.eq_ignore_ascii_case(key)).map(|entry| &entry.value))
}

fn text_at(root: &Node, path: &[&str]) -> Str {
    let found = path.iter().try_fold(root, |node, key| any_case(node, key));
    found.and_then(Node::as_str).map(Str::new).unwrap_or_default()
}

/// Kinds of the group `consul.hashicorp.com` that are not config entries: programs in the cluster read them (consul-k8s
/// `control-plane/api/v1alpha1`).
pub(crate) const OTHER_KINDS: &[&str] = &[
    "GatewayClassConfig",
    "GatewayPolicy",
    "MeshService",
    "PeeringAcceptor",
    "PeeringDialer",
    "Registration",
    "RouteAuthFilter",
    "RouteExtProc",
    "RouteRetryFilter",
    "RouteTimeoutFilter",
];

/// Returns the type of a document, and its name.
pub(crate) fn what(root: &Node) -> (What, Str) {
    if let Some(group) = group(root) {
        let kind = text_at(root, &["kind"]);
        let is_other = group != GROUP || OTHER_KINDS.contains(&&*kind);
        let what = if is_other { What::Foreign } else { What::Entry(Kind::of_resource(&kind).ok_or(kind)) };
        return (what, text_at(root, &["metadata", "name"]));
    }
    if any_case(root, "Node").is_some() && any_case(root, "Kind").is_none() {
        return (What::Catalog, text_at(root, &["Service", "Service"]));
    }
    let kind = text_at(root, &["Kind"]);
    // A document that declares itself an entry is one, even if it also has a service, and is then refused as a whole.
    if Kind::named(&kind).is_none() && root.get("service").is_some_and(|service| service.as_object().is_some()) {
        return (What::Service, text_at(root, &["service", "name"]));
    }
    if kind.is_empty() {
        return (What::Nothing, Str::default());
    }
    let name = text_at(root, &["Name"]);
    match &*kind {
        AGENT => return (What::Agent, text_at(root, &["Datacenter"])),
        LEAF => return (What::Leaf, name),
        ROOTS => return (What::Roots, name),
        _ => {}
    }
    (What::Entry(Kind::named(&kind).ok_or(kind)), name)
}

/// A key with a name, outside of Kubernetes.
pub(crate) fn key(kind: &str, name: &Str) -> ResourceKey {
    ResourceKey { group: Str::default(), kind: Str::new(kind), namespace: None, name: name.clone() }
}

/// How documents are identified.
pub(crate) static IDENTIFY: Identify = Identify { parts: definitions, key: key_of, apart: registration_identity, secrets, is_own };

/// Splits an agent's file into its definitions: the services if there are several (a list at `service`, or anything at `services`), and the entries
/// at `config_entries.bootstrap`. `services` of other programs (Compose) are maps by name.
fn definitions(root: &Node) -> Option<Vec<Node>> {
    let fields = root.as_object().filter(|_| group(root).is_none())?;
    let is_definition = |node: &&Node| any_case(node, "name").is_some_and(|name| name.as_str().is_some());
    let mut found = Vec::new();
    for field in fields {
        match (&*field.key, &field.value.value) {
            ("service" | "services", Value::Array(all)) if !all.is_empty() && all.iter().all(|one| is_definition(&one)) => found.extend(all),
            ("services", Value::Object(_)) if is_definition(&&field.value) => found.push(&field.value),
            ("service", Value::Object(_)) => found.push(&field.value),
            _ => {}
        }
    }
    let entries = bootstrap(root);
    let is_alone = root.get("services").is_none() && root.get("service").is_some_and(|service| service.as_object().is_some());
    if entries.is_empty() && (is_alone || found.is_empty()) {
        return None;
    }
    let alone = |definition: &Node| {
        let fields = [(Str::new_static("service"), definition.clone())].into_iter().collect();
        Node { id: definition.id, value: Value::Object(fields) }
    };
    Some(found.into_iter().map(alone).chain(entries.into_iter().cloned()).collect())
}

/// The entries that an agent's file adds to an empty cluster.
fn bootstrap(root: &Node) -> Vec<&Node> {
    let Some(entries) = root.get("config_entries").and_then(|entries| any_case(entries, "bootstrap")) else { return Vec::new() };
    let all = if let Value::Array(all) = &entries.value { all.iter().collect() } else { Vec::from([entries]) };
    all.into_iter().filter(|entry| any_case(entry, "kind").is_some_and(|kind| kind.as_str().is_some())).collect()
}

fn key_of(root: &Node) -> ResourceKey {
    let (what, name) = what(root);
    match &what {
        What::Entry(Ok(kind)) => key(kind.name(), &name),
        What::Entry(Err(kind)) => key(kind, &name),
        What::Service => key("service", &name),
        What::Catalog => key("catalog", &name),
        What::Agent => key("agent", &name),
        What::Leaf => key("leaf", &name),
        What::Roots => key("roots", &name),
        What::Foreign | What::Nothing => key("", &name),
    }
}

/// The id, the node and the address of a registration.
fn registration_identity(root: &Node) -> Vec<Str> {
    match what(root).0 {
        What::Service => [["service", "id"], ["service", "address"]].map(|path| text_at(root, &path)).into(),
        What::Catalog => {
            let own = [["Service", "ID"], ["Service", "Address"]].map(|path| text_at(root, &path));
            own.into_iter().chain([text_at(root, &["Node"])]).collect()
        }
        _ => Vec::new(),
    }
}

/// The key material in a document: of certificates, and the tokens of registrations.
fn secrets(root: &mut Node) -> Vec<(NodeId, Str)> {
    let taken = match what(root).0 {
        What::Entry(Ok(Kind::InlineCertificate)) => take(root, &["PrivateKey", "private_key"]),
        What::Leaf => take(root, &["PrivateKeyPEM"]),
        What::Service => member(root, "service").and_then(|service| take(service, &["token"])),
        _ => None,
    };
    taken.into_iter().collect()
}

/// Whether it is only a registration: those have tokens, and metadata with similar names. A token that is not a string is a mistake, after which
/// nothing can be excluded.
fn is_own(root: &Node) -> bool {
    fn has_odd_token(node: &Node) -> bool {
        match &node.value {
            Value::Object(object) => {
                object.iter().any(|entry| entry.key.eq_ignore_ascii_case("token") && entry.value.as_str().is_none() || has_odd_token(&entry.value))
            }
            Value::Array(items) => items.iter().any(has_odd_token),
            _ => false,
        }
    }
    if has_odd_token(root) {
        return false;
    }
    let only = |keys: &[&str]| root.as_object().is_some_and(|object| object.iter().all(|entry| keys.contains(&entry.key.as_str())));
    match what(root).0 {
        What::Service => only(&["service"]),
        What::Catalog => only(&["Node", "Address", "Datacenter", "TaggedAddresses", "NodeMeta", "Service", "Check", "Checks", "SkipNodeUpdate"]),
        _ => false,
    }
}

fn member<'a>(root: &'a mut Node, name: &str) -> Option<&'a mut Node> {
    if let Value::Object(object) = &mut root.value { object.get_mut(name) } else { None }
}

/// How documents are read.
pub(crate) fn read_options() -> ReadOptions {
    ReadOptions { shape: Shape::Plain, identify: Some(&IDENTIFY), ..ReadOptions::default() }
}

/// Reads the documents of another input than the compiled one.
pub(crate) fn load(inputs: &Inputs) -> (Objects, Findings) {
    read(inputs, &read_options(), &mut DocumentCache::default())
}

/// Removes the string at the first of these keys, in any case, from an object.
fn take(root: &mut Node, keys: &[&str]) -> Option<(NodeId, Str)> {
    let Value::Object(object) = &mut root.value else { return None };
    let is_key = |name: &&Str| keys.iter().any(|key| name.eq_ignore_ascii_case(key));
    let names: Vec<Str> = object.iter().map(|entry| entry.key.clone()).collect();
    let node = object.get_mut(names.iter().find(is_key)?)?;
    let Value::String(text) = &mut node.value else { return None };
    Some((node.id, core::mem::replace(text, Str::new_static(REDACTED))))
}

/// All objects with their types.
pub(crate) fn each(objects: &Objects) -> impl Iterator<Item = (ObjectId, &Object, What)> {
    objects.iter().filter(|object| !object.broken).map(|object| (object.id, object, what(&object.root).0))
}

/// All assumed objects with their types.
pub(crate) fn assumed(objects: &Objects) -> impl Iterator<Item = (ObjectId, &Object, What)> {
    objects.assumed().map(|object| (object.id, object, what(&object.root).0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<Str> {
        let (objects, findings) = load(&Inputs::one("agent.hcl", text));
        assert!(findings.is_empty(), "{findings:?}");
        objects.iter().map(|object| object.key.name.clone()).collect()
    }

    #[test]
    fn a_file_may_define_several_services() {
        let two = "service {\n  name = \"web\"\n  token = \"t-1\"\n}\nservice {\n  name = \"api\"\n}\n";
        assert_eq!(names(two), ["web", "api"]);
        assert_eq!(names("services {\n  name = \"web\"\n}\n"), ["web"]);
        assert_eq!(names("{\"services\": [{\"name\": \"web\"}, {\"name\": \"api\"}]}"), ["web", "api"]);
        assert_eq!(names("service = { name = \"web\" }\nservices = [{ name = \"api\" }]\n"), ["web", "api"]);
        let (objects, _) = load(&Inputs::one("agent.hcl", two));
        assert!(objects.iter().all(|object| !alloc::format!("{:?}", object.root).contains("t-1")), "tokens are taken out");
    }

    #[test]
    fn the_entries_of_an_agents_file_are_entries() {
        let file = "config_entries {\n  bootstrap {\n    kind = \"proxy-defaults\"\n    name = \"global\"\n  }\n}\n";
        assert_eq!(names(file), ["global"]);
        assert_eq!(names(&alloc::format!("service {{\n  name = \"web\"\n}}\n{file}")), ["web", "global"]);
        assert_eq!(names("{\"config_entries\": {\"bootstrap\": [{\"Kind\": \"mesh\"}, {\"Kind\": \"jwt-provider\", \"Name\": \"a\"}]}}"), ["", "a"]);
    }

    #[test]
    fn entry_with_service_is_an_entry() {
        let both = "Kind = \"service-router\"\nName = \"web\"\nservice {\n  name = \"web\"\n}\n";
        let (objects, _) = load(&Inputs::one("agent.hcl", both));
        assert_eq!(objects.iter().map(|object| what(&object.root)).collect::<Vec<_>>(), [(What::Entry(Ok(Kind::ServiceRouter)), "web".into())]);
    }

    #[test]
    fn document_type_ignores_file_name() {
        let json = "{\"service\": {\"name\": \"web\", \"port\": 80}}";
        let hcl = "service {\n  name = \"web\"\n  port = 80\n}\n";
        for (name, text) in [("agent.hcl", json), ("agent.json", json), ("agent.hcl", hcl), ("agent.json", hcl)] {
            let (objects, findings) = load(&Inputs::one(name, text));
            let names: Vec<Str> = objects.iter().map(|object| object.key.name.clone()).collect();
            assert!(names == ["web"] && findings.is_empty(), "{name}: {names:?} {findings:?}");
        }
    }

    #[test]
    fn malformed_splits_are_reported() {
        let splits: alloc::string::String = (0..1_000).map(|at| alloc::format!("- {{Weight: 0.1, Service: s{at}}}\n")).collect();
        let http = "Kind: proxy-defaults\nName: global\nConfig: {protocol: http}\n---\n";
        let state = |text: &str| {
            let (objects, findings) = load(&Inputs::one("in.yaml", text));
            (crate::state::State::of(&objects, "dc1"), findings)
        };
        let (many, found) = state(&alloc::format!("{http}Kind: service-splitter\nName: web\nSplits:\n{splits}"));
        assert!(found.is_empty() && many.diagnostics.is_empty() && many.entries.len() == 2, "{:?}", many.diagnostics);
        let (short, _) = state(&alloc::format!("{http}Kind: service-splitter\nName: web\nSplits:\n{}", splits.replacen("0.1", "0.2", 7)));
        assert_eq!(short.entries.len(), 1, "shares that come to 100.7 are refused");
        let (binary, found) = state("\u{0}\u{1}ELF\u{2}\u{7f}: \u{3}");
        assert!(binary.entries.is_empty() && !found.is_empty());
    }

    #[test]
    fn services_of_compose_are_no_definitions() {
        let compose = "services:\n  web: {image: nginx}\n  name: {image: nginx}\n";
        let (objects, _) = load(&Inputs::one("compose.yaml", compose));
        assert!(objects.iter().all(|object| what(&object.root).0 == What::Nothing));
    }
}
