//! Reads Envoy's own configuration as an input: a bootstrap, a `/config_dump` or an xDS response becomes one gateway, whose values know their lines.
//!
//! Does not interpret the configuration; see `chancery_envoy`. Does not compare it with sources.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::compilation::{Answers, Dialect, Draft, Gateway, GatewayId, Hints, Outcome, Stages, State, Task};
use chancery_base::ir::{Fields, Ir, Plain, Tree, Verbatim};
use chancery_base::read::{Identify, ReadOptions, Shape};
use chancery_base::resource::{ObjectId, Origin, ResourceKey, Rule};
use chancery_text::{Node, Str, Value};

/// The kind of objects with Envoy's configuration.
const KIND: &str = "EnvoyConfiguration";

/// Fields of a bootstrap, a dump and an xDS response, in Envoy's two spellings.
const MARKS: [&str; 5] = ["static_resources", "staticResources", "configs", "dynamic_resources", "dynamicResources"];

/// Reads Envoy's configuration. It is not in the list of dialects: no controller reads such files.
pub static ENVOY: Dialect = Dialect {
    name: "envoy",
    controller: "Envoy",
    claims: &[],
    read_options: |_| ReadOptions { shape: Shape::Plain, identify: Some(&IDENTIFY), ..ReadOptions::default() },
    kinds: Vec::new,
    listing: Vec::new,
    foreign_kinds: &[],
    reads: |key| key.kind == KIND,
    references: |_, _| Vec::new(),
    options: &[],
    defaults: &[],
    hints: Hints::only(|_| "it contains no resource of Envoy"),
    annotations: &[],
    codes: &[],
    outputs: &[],
    checks: &[],
    memory: || Box::new(()),
    compile: open,
    cluster_label: |_| None,
    setting_changes: |_, _| Vec::new(),
};

static IDENTIFY: Identify = Identify { parts: |_| None, key, apart: |_| Vec::new(), secrets: |_| Vec::new(), is_own: |_| true };

fn key(root: &Node) -> ResourceKey {
    let id = root.at(&["node", "id"]).and_then(Node::as_str).unwrap_or("envoy");
    ResourceKey { group: Str::default(), kind: Str::new_static(KIND), namespace: None, name: Str::new(id) }
}

/// Whether a text is Envoy's configuration.
#[must_use]
pub fn is_envoy_config(text: &str) -> bool {
    let is_json = text.trim_start().starts_with('{');
    let is_response = || text.contains("\"resources\"") && text.contains("type.googleapis.com/envoy.config.");
    let has = |mark: &&str| match is_json {
        true => text.contains(&*alloc::format!("\"{mark}\"")),
        false => text.lines().any(|line| line.strip_prefix(*mark).is_some_and(|rest| rest.starts_with(':'))),
    };
    MARKS.iter().any(has) && !text.contains("apiVersion") || (is_json && is_response())
}

#[derive(Debug)]
struct NoStages;

impl Stages for NoStages {}

fn open(task: Task<'_>) -> Draft {
    let mut gateways = Vec::new();
    for object in task.objects.iter().filter(|object| !object.broken) {
        let mut found = Verbatim::default();
        collect(&object.root, object.id, &mut found);
        task.ledger.set(object.id, State::Loaded);
        let mut ir = Ir::default();
        ir.delivery.verbatim = found;
        gateways.push(Gateway { id: GatewayId::named("envoy", &object.key.name), owner: None, outcome: Outcome::Runs(Arc::new(ir)) });
    }
    Draft { stages: Arc::new(NoStages), answers: Answers::default(), gateways }
}

/// Collects the resources of a bootstrap, a dump or a response.
fn collect(root: &Node, object: ObjectId, out: &mut Verbatim) {
    let list = |path: &[&str]| root.at(path).and_then(Node::as_array).into_iter().flatten();
    for resources in ["static_resources", "staticResources"] {
        out.listeners.extend(list(&[resources, "listeners"]).map(|node| Arc::new(tree(node, object))));
        out.clusters.extend(list(&[resources, "clusters"]).map(|node| Arc::new(tree(node, object))));
    }
    for node in list(&["resources"]) {
        by_type(node, object, out);
    }
    for config in list(&["configs"]) {
        for entry in config.as_object().into_iter().flatten() {
            if &*entry.key == "bootstrap" {
                collect(&entry.value, object, out);
            }
            for item in entry.value.as_array().into_iter().flatten() {
                held(item, object, out);
            }
        }
    }
}

/// Collects the resource of an entry of a dump.
fn held(item: &Node, object: ObjectId, out: &mut Verbatim) {
    let active = ["active_state", "activeState"].iter().find_map(|key| item.get(key)).unwrap_or(item);
    let get = |keys: &[&str]| keys.iter().find_map(|key| active.get(key)).map(|node| Arc::new(tree(node, object)));
    out.listeners.extend(get(&["listener"]));
    out.clusters.extend(get(&["cluster"]));
    out.routes.extend(get(&["route_config", "routeConfig"]));
    out.endpoints.extend(get(&["endpoint_config", "endpointConfig"]));
}

/// Collects a resource of a response by its type.
fn by_type(node: &Node, object: ObjectId, out: &mut Verbatim) {
    let resource =
        node.get("resource").filter(|_| node.get("@type").is_none_or(|of| of.as_str().is_some_and(|of| of.ends_with("Resource")))).unwrap_or(node);
    let name = resource.get("@type").and_then(Node::as_str).unwrap_or_default();
    let made = || Arc::new(tree(resource, object));
    match name.rsplit('.').next().unwrap_or_default() {
        "Listener" => out.listeners.push(made()),
        "Cluster" => out.clusters.push(made()),
        "RouteConfiguration" => out.routes.push(made()),
        "ClusterLoadAssignment" => out.endpoints.push(made()),
        _ => {}
    }
}

/// Converts a value. Every value knows its line. The type of a resource is not one of its fields.
fn tree(node: &Node, object: ObjectId) -> Tree {
    let mut made = convert(node, object);
    if let Plain::Object(Fields(fields)) = &mut made.value {
        fields.retain(|(key, _)| key != "@type");
    }
    made
}

fn convert(node: &Node, object: ObjectId) -> Tree {
    let value = match &node.value {
        Value::Null => Plain::Null,
        Value::Bool(flag) => Plain::Bool(*flag),
        Value::Int(number) => Plain::Int(*number),
        Value::Float(number) => Plain::Float(*number),
        Value::String(text) => Plain::String(text.clone()),
        Value::Array(items) => Plain::List(items.iter().map(|item| convert(item, object)).collect()),
        Value::Object(fields) => Plain::Object(Fields(fields.iter().map(|entry| (entry.key.clone(), convert(&entry.value, object))).collect())),
    };
    Tree { value, origin: Some(Origin::new(object, node.id, Rule::Field)) }
}

#[cfg(test)]
mod tests {
    use super::{ENVOY, is_envoy_config};
    use crate::Compiler;
    use chancery_base::compilation::Options;
    use chancery_base::resource::Inputs;

    const BOOTSTRAP: &str = r#"{"static_resources": {"listeners": [{"name": "http"}], "clusters": [{"name": "web"}]}}"#;
    const DUMP: &str = r#"{"configs": [{"dynamic_listeners": [{"active_state": {"listener": {"@type": "t", "name": "http"}}}]}, {"dynamic_active_clusters": [{"cluster": {"name": "web"}}]}]}"#;
    const RESPONSE: &str = r#"{"resources": [{"@type": "type.googleapis.com/envoy.config.listener.v3.Listener", "name": "http"}, {"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "web"}]}"#;

    #[test]
    fn envoy_configuration_becomes_a_gateway() {
        for text in [BOOTSTRAP, DUMP, RESPONSE] {
            assert!(is_envoy_config(text), "{text}");
            let compilation = Compiler::new(&[&ENVOY]).compile(&Inputs::one("envoy.json", text), &Options::default());
            let gateway = compilation.gateways().next().expect("a gateway");
            let found = &gateway.ir.delivery.verbatim;
            assert_eq!((found.listeners.len(), found.clusters.len()), (1, 1), "{text}");
            assert_eq!(found.listeners[0].get("name").text(), "http");
        }
        assert!(!is_envoy_config("apiVersion: v1\nkind: ConfigMap\n") && !is_envoy_config("static_resources"));
    }
}
