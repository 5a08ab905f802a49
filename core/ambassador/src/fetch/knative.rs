//! Generates Mappings from Knative's Ingresses.
//!
//! Source of behaviour: Emissary `fetch/knative.py`.

use super::emit::{Emitter, Synthesised, made, made_text};
use super::findings;
use super::ingress::{annotation, id_of};
use super::role::Role;
use super::verdict::Applied;
use super::visible::{VisibleObjects, ignore};
use alloc::format;
use alloc::vec::Vec;
use chancery_base::compilation::Why;
use chancery_base::diagnostic::Findings;
use chancery_text::{self, Node, NodeId, Str, Value};

const CLASS: &str = "ambassador.ingress.networking.knative.dev";
const CLASS_ANNOTATION: &str = "networking.knative.dev/ingress.class";

pub(super) fn emit(seen: &VisibleObjects<'_>, emitter: &mut Emitter<'_>) {
    for applied in seen.of(Role::KnativeIngress) {
        let object = applied.object;
        let class = annotation(object, CLASS_ANNOTATION);
        if class.is_some_and(|class| !class.eq_ignore_ascii_case(CLASS)) {
            emitter.sink.report(findings::class_not_ours(object, class, true));
            ignore(emitter.ledger, object.id, Why::OtherController, "not a class of this controller");
            continue;
        }
        if id_of(object) != emitter.options.ambassador_id {
            emitter.sink.report(findings::other_id(object.id, object.key.clone(), object.root.id, emitter.options));
            ignore(emitter.ledger, object.id, Why::OtherController, "another ambassador_id");
            continue;
        }
        emitter.used(object.id);
        let mut count = 1;
        for (rule_at, rule) in items(object.root.get("spec"), "rules").iter().enumerate() {
            let splits = splits(applied, rule, emitter.sink);
            let hosts = items(Some(rule), "hosts");
            let pairs = hosts.iter().flat_map(|host| splits.iter().map(move |split| (host, split)));
            for (at, (host, split)) in pairs.enumerate() {
                let mut spec: chancery_text::Object =
                    [("ambassador_id", made_text(rule.id, id_of(object))), ("host", host.clone())].into_iter().collect();
                for entry in split {
                    spec.insert(entry.key.clone(), entry.value.clone());
                }
                let name = format!("{}-{rule_at}-{at}", object.key.name).into();
                let labels = crate::config::labels_of(object.root.at(&["metadata", "labels"]));
                let made = Synthesised::new("Mapping", name, labels, made(rule.id, Value::Object(spec)));
                emitter.synthesised(object, made, count);
                count += 1;
            }
        }
    }
}

fn items<'a>(holder: Option<&'a Node>, key: &str) -> &'a [Node] {
    holder.and_then(|holder| holder.get(key)).and_then(Node::as_array).map_or(&[], Vec::as_slice)
}

/// The Mapping fields of each split of a rule's paths.
fn splits(applied: &Applied<'_>, rule: &Node, sink: &mut Findings) -> Vec<chancery_text::Object> {
    let namespace = applied.object.key.namespace.as_deref().unwrap_or_default();
    let mut specs = Vec::new();
    for path in items(rule.get("http"), "paths") {
        let global = path.get("appendHeaders").and_then(Node::as_object);
        let timeout = timeout(applied, path, sink);
        let (prefix, prefix_node) = text(path, "path").unwrap_or(("/", path.id));
        for split in items(Some(path), "splits") {
            let Some((service, _)) = text(split, "serviceName") else { continue };
            let namespace = text(split, "serviceNamespace").map_or(namespace, |(namespace, _)| namespace);
            let port = split.get("servicePort").map(|port| &port.value);
            let port = match port {
                Some(Value::String(port)) => port.clone(),
                Some(Value::Int(port)) => Str::from(format!("{port}")),
                _ => Str::new_static("80"),
            };
            let own = split.get("appendHeaders").and_then(Node::as_object);
            let mut headers = global.cloned().unwrap_or_default();
            for entry in own.into_iter().flatten() {
                headers.insert(entry.key.clone(), entry.value.clone());
            }
            let weight = split.get("percent").cloned().unwrap_or_else(|| made(split.id, Value::Int(100)));
            let fields = [
                ("service", made_text(split.id, format!("{service}.{namespace}:{port}"))),
                ("add_request_headers", made(split.id, Value::Object(headers))),
                ("weight", weight),
                ("prefix", made_text(prefix_node, prefix)),
                ("timeout_ms", made(timeout.1, Value::Int(timeout.0))),
            ];
            specs.push(fields.into_iter().collect());
        }
    }
    specs
}

fn text<'a>(holder: &'a Node, key: &str) -> Option<(&'a str, NodeId)> {
    let node = holder.get(key)?;
    node.as_str().filter(|text| !text.is_empty()).map(|text| (text, node.id))
}

/// A path's timeout in milliseconds [default: 15 seconds].
fn timeout(applied: &Applied<'_>, path: &Node, sink: &mut Findings) -> (i64, NodeId) {
    let Some((text, node)) = text(path, "timeout") else { return (15_000, path.id) };
    match milliseconds(text) {
        Some(timeout) => (timeout, node),
        None => {
            sink.report(findings::bad_timeout(applied, node, text));
            (15_000, node)
        }
    }
}

/// A duration as Go writes it (`48h0m0s`, `1.5s`) in whole milliseconds.
fn milliseconds(text: &str) -> Option<i64> {
    let (negative, mut rest) = match text.strip_prefix(['-', '+']) {
        Some(rest) => (text.starts_with('-'), rest),
        None => (false, text),
    };
    if rest == "0" {
        return Some(0);
    }
    let mut total = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let length = rest.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(rest.len());
        total += number
            * match &rest[..length] {
                "h" => 3_600_000.0,
                "m" => 60_000.0,
                "s" => 1_000.0,
                "ms" => 1.0,
                "us" | "µs" | "μs" => 0.001,
                "ns" => 0.000_001,
                _ => return None,
            };
        rest = &rest[length..];
    }
    (!text.is_empty() && text != "-" && text != "+").then_some(if negative { -(total as i64) } else { total as i64 })
}
