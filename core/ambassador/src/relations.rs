//! Lists the reference fields of Ambassador's kinds, for graphs and ledgers. References by matching (a Host's Mappings, a Listener's Hosts) are in
//! the IR.

use super::model::service::Authority;
use crate::config::{Config, Resource};
use alloc::vec::Vec;
use chancery_base::compilation::{Absent, Relation};
use chancery_base::resource::{ObjectId, ResourceKey};
use chancery_text::{Node, Str, Value};
use core::net::IpAddr;

/// How a field of Ambassador's names another object.
#[derive(Clone, Copy, PartialEq)]
enum NameForm {
    /// `[scheme://]name[.namespace][:port]`.
    Service,
    /// `name` or `name.namespace` of a Secret.
    Secret,
    /// An object with `name` and perhaps `namespace`.
    Reference(&'static str),
    /// The name of an object of a kind, in whatever namespace.
    Named(&'static str),
}

/// Kind, field, relation, form.
const FIELDS: &[(&str, &[&str], &str, NameForm)] = &[
    ("Mapping", &["service"], "service", NameForm::Service),
    ("Mapping", &["tls"], "tls", NameForm::Named("TLSContext")),
    ("Mapping", &["resolver"], "resolver", NameForm::Named("Resolver")),
    ("TCPMapping", &["service"], "service", NameForm::Service),
    ("TCPMapping", &["tls"], "tls", NameForm::Named("TLSContext")),
    ("TCPMapping", &["resolver"], "resolver", NameForm::Named("Resolver")),
    ("Host", &["tlsSecret"], "secret", NameForm::Reference("Secret")),
    ("Host", &["tlsContext"], "tls", NameForm::Reference("TLSContext")),
    ("Host", &["tls", "caSecret"], "secret", NameForm::Secret),
    ("Host", &["tls", "ca_secret"], "secret", NameForm::Secret),
    ("Host", &["acmeProvider", "privateKeySecret"], "secret", NameForm::Reference("Secret")),
    ("TLSContext", &["secret"], "secret", NameForm::Secret),
    ("TLSContext", &["ca_secret"], "secret", NameForm::Secret),
    ("TLSContext", &["crl_secret"], "secret", NameForm::Secret),
    ("AuthService", &["auth_service"], "service", NameForm::Service),
    ("AuthService", &["tls"], "tls", NameForm::Named("TLSContext")),
    ("RateLimitService", &["service"], "service", NameForm::Service),
    ("RateLimitService", &["tls"], "tls", NameForm::Named("TLSContext")),
    ("TracingService", &["service"], "service", NameForm::Service),
    ("LogService", &["service"], "service", NameForm::Service),
    ("DevPortal", &["service"], "service", NameForm::Service),
    ("Module", &["config", "resolver"], "resolver", NameForm::Named("Resolver")),
    ("Module", &["config", "server", "secret"], "secret", NameForm::Secret),
    ("Module", &["config", "client", "secret"], "secret", NameForm::Secret),
    ("Module", &["config", "upstream", "secret"], "secret", NameForm::Secret),
];

/// All references by field, in the order of the configuration.
pub fn relations(config: &Config) -> Vec<Relation> {
    let mut out = Vec::with_capacity(config.resources().count());
    for resource in config.resources().filter(|resource| resource.object != ObjectId::BUILT_IN) {
        for (_, path, relation, form) in FIELDS.iter().filter(|(kind, ..)| resource.kind == *kind) {
            if let Some(node) = resource.spec.at(path) {
                add(config, resource, node, relation, *form, &mut out);
            }
        }
        if let Some(groups) = resource.get("auth_services").and_then(Node::as_array) {
            groups.iter().for_each(|node| add(config, resource, node, "service", NameForm::Service, &mut out));
        }
    }
    out
}

fn add(config: &Config, resource: &Resource, node: &Node, relation: &'static str, form: NameForm, out: &mut Vec<Relation>) {
    let here = &resource.namespace;
    let name_and_namespace = |text: &str| match text.split_once('.') {
        Some((name, namespace)) => (Str::new(name), Str::new(namespace.split('.').next().unwrap_or_default())),
        None => (Str::new(text), here.clone()),
    };
    let (kind, name, namespace, written) = match (form, &node.value) {
        (NameForm::Service, Value::String(text)) => {
            let rest = text.split_once("://").map_or(text.as_str(), |(_, rest)| rest);
            let Some(host) = Authority::parse(rest).ok().and_then(|authority| authority.host) else { return };
            if host.parse::<IpAddr>().is_ok() {
                return;
            }
            let (name, namespace) = name_and_namespace(&host);
            ("Service", name, namespace, text.clone())
        }
        (NameForm::Secret, Value::String(text)) => {
            let (name, namespace) = name_and_namespace(text);
            ("Secret", name, namespace, text.clone())
        }
        (NameForm::Named(kind), Value::String(text)) => (kind, text.clone(), here.clone(), text.clone()),
        (NameForm::Reference(kind), Value::Object(_)) => {
            let text = |key: &str| node.get(key).and_then(Node::as_str).filter(|text| !text.is_empty());
            let Some(name) = text("name") else { return };
            let namespace = text("namespace").map_or_else(|| here.clone(), Str::new);
            (kind, Str::new(name), namespace, Str::new(name))
        }
        _ => return,
    };
    if name.is_empty() {
        return;
    }
    let group = if matches!(kind, "Service" | "Secret") { "" } else { super::kinds::GROUP };
    let to = ResourceKey::new(group, kind, namespace, name);
    let absent = match kind {
        "Service" => Absent::Assumed("not in the input; Envoy asks DNS for it"),
        "Secret" if config.assumes(&to) => Absent::Assumed("not in the input; it is assumed to exist"),
        // Built-in resolvers of the controller and `tls: true` are not missing.
        "Resolver" if matches!(&*to.name, "kubernetes-service" | "endpoint" | "consul") => Absent::Nothing,
        _ if matches!(&*written, "true" | "false") => Absent::Nothing,
        _ => Absent::Hole,
    };
    let anywhere = matches!(kind, "TLSContext" | "Resolver");
    out.push(Relation { from: resource.object, at: resource.origin(node), relation, to, written, anywhere, optional: false, absent });
}
