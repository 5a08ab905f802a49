//! Reads and checks Services like the API server.
//!
//! Source of behaviour: `k8s.io/kubernetes/pkg/apis/core/validation` (ValidateService) and `pkg/apis/core/v1/defaults.go`.

use super::report::Report;
use super::{metadata, nearest_node, refused};
use alloc::format;
use alloc::vec::Vec;
use chancery_base::diagnostic::{Findings, Reported, codes};
use chancery_base::resource::Object;
use chancery_base::schema::names;
use chancery_text::{Node, NodeId, Str, Value};

/// One port of a Service, with defaults.
#[derive(Clone, Debug, PartialEq)]
pub struct Port {
    /// `port`.
    pub port: u16,
    /// `name`, if set.
    pub name: Option<Str>,
    /// `targetPort`: a number or a name; defaults to `port`.
    pub target: Str,
    pub node: NodeId,
    /// The node of `port`.
    pub number_node: NodeId,
}

/// The ports of a Service without impossible ones.
pub fn ports(service: &Node) -> Vec<Port> {
    let items = service.at(&["spec", "ports"]).and_then(Node::as_array).map_or(&[][..], Vec::as_slice);
    items.iter().filter_map(port).collect()
}

fn port(node: &Node) -> Option<Port> {
    let written = node.get("port")?;
    let number = written.as_i64().and_then(|port| u16::try_from(port).ok())?;
    let name = node.get("name").and_then(Node::as_str).filter(|name| !name.is_empty()).map(Str::new);
    let target = match node.get("targetPort").map(|target| &target.value) {
        Some(Value::String(name)) if !name.is_empty() => name.clone(),
        Some(Value::Int(target)) if *target != 0 => Str::from(format!("{target}")),
        _ => Str::from(format!("{number}")),
    };
    Some(Port { port: number, name, target, node: node.id, number_node: written.id })
}

/// Checks a Service beyond its metadata, as the API server does.
pub fn check(object: &Object, sink: &mut Findings) -> Result<(), Reported> {
    let before = sink.len();
    let root = &*object.root;
    let spec = root.get("spec");
    let text = |field: &str| spec.and_then(|spec| spec.get(field)).and_then(Node::as_str).unwrap_or_default();
    let service_type = text("type");
    let ports = spec.and_then(|spec| spec.get("ports"));
    let items = ports.and_then(Node::as_array).map_or(&[][..], Vec::as_slice);
    if items.is_empty() && service_type != "ExternalName" && text("clusterIP") != "None" {
        let node = nearest_node(root, &["spec", "ports"]);
        let finding = refused(&codes::INVALID_SERVICE, object, node, "a Service needs at least one port");
        sink.report(finding.help("only headless Services (`clusterIP: None`) and Services of type ExternalName need no port"));
    }
    if !matches!(service_type, "" | "ClusterIP" | "NodePort" | "LoadBalancer" | "ExternalName") {
        let node = nearest_node(root, &["spec", "type"]);
        let message = format!("`{service_type}` is not a type of Service");
        sink.report(refused(&codes::INVALID_SERVICE, object, node, message));
    }
    if service_type == "ExternalName" && text("externalName").is_empty() {
        let node = nearest_node(root, &["spec"]);
        sink.report(refused(&codes::INVALID_SERVICE, object, node, "a Service of type ExternalName needs `externalName`"));
    }
    for (at, item) in items.iter().enumerate() {
        check_port(object, item, items, at, sink);
    }
    for entry in spec.and_then(|spec| spec.get("selector")).and_then(Node::as_object).into_iter().flatten() {
        metadata::label(&entry.key, &entry.value, &mut Report::new("Service", object, sink));
    }
    sink.since(before)
}

fn check_port(object: &Object, item: &Node, all: &[Node], at: usize, sink: &mut Findings) {
    let mut refuse = |node: NodeId, message: alloc::string::String| {
        sink.report(refused(&codes::INVALID_SERVICE, object, node, message));
    };
    match item.get("port") {
        Some(port) => match port.as_i64() {
            Some(1..=65535) => {}
            Some(number) => refuse(port.id, format!("{number} is not a port: ports go from 1 to 65535")),
            None => refuse(port.id, format!("`port` must be a number, but this is a YAML {}", port.kind_name())),
        },
        None => refuse(item.id, "the port has no `port`".into()),
    }
    let name = item.get("name").and_then(Node::as_str).unwrap_or_default();
    if name.is_empty() && all.len() > 1 {
        refuse(item.id, "a Service with several ports must name each".into());
    }
    if !name.is_empty() {
        let node = item.get("name").map_or(item.id, |name| name.id);
        if !names::label(name).is_empty() {
            refuse(node, format!("`{name}` cannot be the name of a port"));
        }
        if all[..at].iter().any(|other| other.get("name").and_then(Node::as_str) == Some(name)) {
            refuse(node, format!("duplicate port name `{name}`"));
        }
    }
    let protocol = item.get("protocol");
    if let Some(wrong) = protocol.and_then(Node::as_str).filter(|protocol| !matches!(*protocol, "TCP" | "UDP" | "SCTP")) {
        refuse(protocol.map_or(item.id, |protocol| protocol.id), format!("`{wrong}` is not a protocol of a Service: use TCP, UDP or SCTP"));
    }
    if let Some(target) = item.get("targetPort").filter(|target| !matches!(target.value, Value::String(_) | Value::Int(_) | Value::Null)) {
        refuse(target.id, format!("`targetPort` must be a number or a name, but this is a YAML {}", target.kind_name()));
    }
}
