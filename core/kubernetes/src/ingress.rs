//! Reads Ingresses and IngressClasses of all versions in one form, and checks them like the API server.
//!
//! Source of behaviour: `k8s.io/kubernetes/pkg/apis/networking` (conversion and validation).

use super::{nearest_node, refused};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::diagnostic::{Findings, Reported, codes};
use chancery_base::resource::Object;
use chancery_base::schema::names;
use chancery_text::{Node, NodeId, Str, Value};

/// Whether this is an Ingress of Kubernetes (Knative has a kind of the same name).
pub fn is_ingress(group: &str, kind: &str) -> bool {
    kind == "Ingress" && matches!(group, "networking.k8s.io" | "extensions")
}

/// A string with its node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Text<'a> {
    pub text: &'a str,
    pub node: NodeId,
}

/// The `spec` of an Ingress of any version.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ingress<'a> {
    /// `ingressClassName`.
    pub class: Option<Text<'a>>,
    /// `defaultBackend`, or `backend` before v1.
    pub default_backend: Option<Backend<'a>>,
    /// `tls`.
    pub tls: Vec<Tls<'a>>,
    /// `rules`.
    pub rules: Vec<Rule<'a>>,
}

/// An item of `tls`.
#[derive(Clone, Debug, PartialEq)]
pub struct Tls<'a> {
    pub node: NodeId,
    /// `hosts`.
    pub hosts: Vec<Text<'a>>,
    /// `secretName`, unless empty.
    pub secret: Option<Text<'a>>,
}

/// An item of `rules`.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule<'a> {
    pub node: NodeId,
    /// `host`, unless empty.
    pub host: Option<Text<'a>>,
    /// `http.paths`.
    pub paths: Vec<Path<'a>>,
}

/// An item of `paths`.
#[derive(Clone, Debug, PartialEq)]
pub struct Path<'a> {
    pub node: NodeId,
    /// `path`, unless empty.
    pub path: Option<Text<'a>>,
    /// `pathType`.
    pub path_type: Option<Text<'a>>,
    /// `backend`.
    pub backend: Option<Backend<'a>>,
}

/// The target of a rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Backend<'a> {
    pub node: NodeId,
    /// The Service's name, unless empty.
    pub service: Option<Text<'a>>,
    /// The Service's port.
    pub port: Option<BackendPort<'a>>,
}

/// A port of a Service.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BackendPort<'a> {
    pub value: PortValue<'a>,
    pub node: NodeId,
}

/// A port by number or by name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PortValue<'a> {
    Number(i64),
    Name(&'a str),
}

impl<'a> Ingress<'a> {
    /// Reads an Ingress and omits invalid parts.
    pub fn read(root: &'a Node) -> Self {
        let Some(spec) = root.get("spec") else { return Self::default() };
        Self {
            class: text(spec, "ingressClassName"),
            default_backend: spec.get("defaultBackend").or_else(|| spec.get("backend")).and_then(backend),
            tls: items(spec, "tls").iter().map(tls).collect(),
            rules: items(spec, "rules").iter().map(rule).collect(),
        }
    }
}

fn text<'a>(holder: &'a Node, key: &str) -> Option<Text<'a>> {
    let node = holder.get(key)?;
    node.as_str().filter(|text| !text.is_empty()).map(|text| Text { text, node: node.id })
}

fn items<'a>(holder: &'a Node, key: &str) -> &'a [Node] {
    holder.get(key).and_then(Node::as_array).map_or(&[], Vec::as_slice)
}

fn tls(node: &Node) -> Tls<'_> {
    let hosts = items(node, "hosts").iter().filter_map(|host| Some(Text { text: host.as_str()?, node: host.id }));
    Tls { node: node.id, hosts: hosts.collect(), secret: text(node, "secretName") }
}

fn rule(node: &Node) -> Rule<'_> {
    let paths = node.get("http").map_or(&[][..], |http| items(http, "paths"));
    Rule { node: node.id, host: text(node, "host"), paths: paths.iter().map(path).collect() }
}

fn path(node: &Node) -> Path<'_> {
    Path { node: node.id, path: text(node, "path"), path_type: text(node, "pathType"), backend: node.get("backend").and_then(backend) }
}

fn backend(node: &Node) -> Option<Backend<'_>> {
    node.as_object()?;
    if let Some(service) = node.get("service") {
        let port = service.get("port");
        let number = port.and_then(|port| port.get("number"));
        let port = match number.and_then(|number| Some((number, number.as_i64()?))).filter(|(_, number)| *number != 0) {
            Some((node, number)) => Some(BackendPort { value: PortValue::Number(number), node: node.id }),
            None => port.and_then(|port| text(port, "name")).map(|name| BackendPort { value: PortValue::Name(name.text), node: name.node }),
        };
        return Some(Backend { node: node.id, service: text(service, "name"), port });
    }
    let port = node.get("servicePort").and_then(|port| {
        let value = match &port.value {
            Value::Int(number) => PortValue::Number(*number),
            Value::String(name) => PortValue::Name(name),
            _ => return None,
        };
        Some(BackendPort { value, node: port.id })
    });
    Some(Backend { node: node.id, service: text(node, "serviceName"), port })
}

/// An IngressClass's `controller`.
pub fn class_controller(root: &Node) -> Option<&str> {
    root.at(&["spec", "controller"])?.as_str()
}

/// Checks an Ingress beyond its metadata, as the API server does.
pub fn check(object: &Object, sink: &mut Findings) -> Result<(), Reported> {
    let before = sink.len();
    let root = &*object.root;
    let is_v1 = object.api_version == "networking.k8s.io/v1";
    let ingress = Ingress::read(root);
    let mut refuse = |node: NodeId, message: String, help: Option<&str>| {
        let finding = refused(&codes::INVALID_INGRESS, object, node, message);
        sink.report(match help {
            Some(help) => finding.help(help),
            None => finding,
        });
    };
    let annotation = root.at(&["metadata", "annotations", "kubernetes.io/ingress.class"]);
    if let (Some(annotation), Some(class)) = (annotation, &ingress.class)
        && annotation.as_str() != Some(class.text)
    {
        let message =
            format!("`kubernetes.io/ingress.class` and `spec.ingressClassName` (`{}`) differ: a new Ingress with both is refused", class.text);
        refuse(annotation.id, message, Some("leave the annotation out: the field replaced it in Kubernetes 1.18"));
    }
    if ingress.default_backend.is_none() && ingress.rules.is_empty() {
        let node = nearest_node(root, &["spec", "rules"]);
        refuse(node, "an Ingress needs rules or a default backend".into(), None);
    }
    for host in ingress.tls.iter().flat_map(|tls| &tls.hosts).chain(ingress.rules.iter().filter_map(|rule| rule.host.as_ref())) {
        let name = host.text.strip_prefix("*.").unwrap_or(host.text);
        if !names::subdomain(name).is_empty() {
            let help = "a host is a DNS name in lower case, perhaps with `*.` before it; leave it out to mean every host";
            refuse(host.node, format!("`{}` is not a host name", host.text), Some(help));
        }
    }
    let mut check_backend = |holder: NodeId, backend: &Option<Backend<'_>>, node: Option<&Node>| {
        let Some(backend) = backend else { return refuse(holder, "the path has no backend".into(), None) };
        let has_resource = node.is_some_and(|node| node.get("resource").is_some());
        match (&backend.service, &backend.port) {
            _ if has_resource => {}
            (None, _) => refuse(backend.node, "the backend names no Service".into(), Some("write `service: {name: ..., port: {number: ...}}`")),
            (Some(_), None) => refuse(backend.node, "the backend names no port".into(), Some("write `port: {number: ...}` or `port: {name: ...}`")),
            (Some(_), Some(port)) => {
                if let PortValue::Number(number) = port.value
                    && !(1..=65535).contains(&number)
                {
                    refuse(port.node, format!("{number} is not a port: ports go from 1 to 65535"), None);
                }
            }
        }
    };
    if let Some(backend) = &ingress.default_backend {
        let node = root.get("spec").and_then(|spec| spec.get("defaultBackend").or_else(|| spec.get("backend")));
        check_backend(backend.node, &Some(backend.clone()), node);
    }
    let written = root.at(&["spec"]).map_or(&[][..], |spec| items(spec, "rules"));
    for (rule, rule_node) in ingress.rules.iter().zip(written) {
        let paths = rule_node.get("http").map_or(&[][..], |http| items(http, "paths"));
        for (path, node) in rule.paths.iter().zip(paths) {
            check_backend(path.node, &path.backend, node.get("backend"));
        }
    }
    for path in ingress.rules.iter().flat_map(|rule| &rule.paths) {
        match path.path_type {
            None if is_v1 => {
                let help = "write `pathType: Prefix`, or Exact or ImplementationSpecific";
                refuse(path.node, "the path has no `pathType`".into(), Some(help));
            }
            Some(path_type) if !matches!(path_type.text, "Exact" | "Prefix" | "ImplementationSpecific") => {
                let help = "the types are Exact, Prefix and ImplementationSpecific";
                refuse(path_type.node, format!("`{}` is not a path type", path_type.text), Some(help));
            }
            _ => {}
        }
        let absolute = path.path.is_some_and(|path| path.text.starts_with('/'));
        match (path.path, path.path_type.map(|path_type| path_type.text)) {
            (Some(text), _) if !absolute => refuse(text.node, format!("the path `{}` does not begin with `/`", text.text), None),
            (None, Some("Exact" | "Prefix")) => refuse(path.node, "a path of this type needs `path`".into(), None),
            _ => {}
        }
    }
    sink.since(before)
}

/// The regular expression for a rule's wildcard host: the star matches one label.
pub fn wildcard_regex(host: &str) -> Option<Str> {
    let rest = host.strip_prefix("*.")?;
    Some(Str::from(format!("^[a-z0-9]([-a-z0-9]*[a-z0-9])?\\.{}$", rest.replace('.', "\\."))))
}
