//! Finds objects that Contour visits in random order, if the last one visited replaces the others: its result may change with every update.
//!
//! Source of behaviour: Contour `internal/dag/{ingress_processor,gatewayapi_processor}.go` range over maps of Ingresses, TLSRoutes and TCPRoutes.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::compilation::SideRef;
use chancery_base::diagnostic::{Diagnostic, Place, codes};
use chancery_base::resource::Object;
use chancery_kubernetes::known::{all_at, is_read};
use chancery_text::{Node, to_json};
use hashbrown::HashMap;

/// The annotation that names the namespace of an Ingress's Secrets.
const SECRET_NAMESPACE: &str = "projectcontour.io/tls-cert-namespace";

/// Something that one object decides. Decisions with the same subject and Gateway exclude each other.
struct Decision<'o> {
    object: &'o Object,
    /// The node of the decision.
    node: &'o Node,
    /// The Gateway of the decision, as namespace and name; empty for Ingresses.
    gateway: String,
    /// What is decided, as a phrase.
    subject: String,
    /// The decided value.
    value: String,
}

/// Finds decisions that several objects make differently.
pub fn random_winners(side: SideRef<'_>) -> Vec<Diagnostic> {
    let mut first: HashMap<(String, String), Decision<'_>> = HashMap::new();
    let mut found = Vec::new();
    for object in side.objects().iter().filter(|object| is_read(side, object)) {
        let decisions = match &*object.key.kind {
            "Ingress" => of_ingress(object),
            "TLSRoute" | "TCPRoute" => of_stream_route(object),
            _ => continue,
        };
        for decision in decisions {
            let key = (decision.gateway.clone(), decision.subject.clone());
            match first.get(&key) {
                Some(other) if other.object.id != object.id && other.value != decision.value => found.push(finding(&decision, other)),
                Some(_) => {}
                None => {
                    first.insert(key, decision);
                }
            }
        }
    }
    found
}

fn finding(of: &Decision<'_>, other: &Decision<'_>) -> Diagnostic {
    let (kind, key) = (&of.object.key.kind, &other.object.key);
    let message =
        format!("{} comes from this {kind} or from {kind} {}: Contour visits {kind}s in random order, and uses the last", of.subject, key.name);
    Diagnostic::new(&codes::RANDOM_WINNER, message, Place::value(of.object.id, of.node.id))
        .about(of.object.key.clone())
        .related(Place::value(other.object.id, other.node.id), "the other one")
        .help(format!("keep it in one {kind}; the result may change with every update until then"))
}

/// The backends of an Ingress's paths, and the certificates of its hosts.
fn of_ingress(object: &Object) -> Vec<Decision<'_>> {
    let text = |node: Option<&Node>| node.and_then(Node::as_str).unwrap_or_default().into();
    let namespace = object.key.namespace.as_deref().unwrap_or_default();
    let mut all = Vec::new();
    for rule in all_at(&object.root, &["spec", "rules", "*"]) {
        let host: String = text(rule.get("host"));
        for path in all_at(rule, &["http", "paths", "*"]) {
            let Some(backend) = path.get("backend") else { continue };
            let (at, form): (String, String) = (text(path.get("path")), text(path.get("pathType")));
            let form = if form.is_empty() { "ImplementationSpecific".into() } else { form };
            let subject =
                format!("the service for `{}{}` ({form})", if host.is_empty() { "*" } else { &host }, if at.is_empty() { "/" } else { &at });
            let node = path.get("path").unwrap_or(path);
            all.push(Decision { object, node, gateway: String::new(), subject, value: format!("{namespace} {}", to_json(backend, false)) });
        }
    }
    let secrets = object.root.at(&["metadata", "annotations", SECRET_NAMESPACE]).and_then(Node::as_str).unwrap_or(namespace);
    for tls in all_at(&object.root, &["spec", "tls", "*"]) {
        let Some(secret) = tls.get("secretName") else { continue };
        let value = format!("{secrets} {}", to_json(secret, false));
        let hosts = all_at(tls, &["hosts", "*"]).into_iter().filter_map(|host| Some((host, host.as_str()?)));
        let decision =
            |(node, host)| Decision { object, node, gateway: String::new(), subject: format!("the certificate for `{host}`"), value: value.clone() };
        all.extend(hosts.map(decision));
    }
    all
}

/// The backends of a route's hosts, or of its listener.
fn of_stream_route(object: &Object) -> Vec<Decision<'_>> {
    let Some(rules) = object.root.at(&["spec", "rules"]) else { return Vec::new() };
    let namespace = object.key.namespace.as_deref().unwrap_or_default();
    let value = format!("{namespace} {}", to_json(rules, false));
    let mut all = Vec::new();
    for parent in all_at(&object.root, &["spec", "parentRefs", "*"]) {
        let Some(section) = parent.get("sectionName").and_then(Node::as_str) else { continue };
        let hosts = all_at(&object.root, &["spec", "hostnames", "*"]);
        let named = hosts.iter().filter_map(|host| Some((*host, format!("the service for `{}` at the listener `{section}`", host.as_str()?))));
        let whole = Some((parent, format!("the service of the listener `{section}`"))).filter(|_| hosts.is_empty());
        let of = parent.get("namespace").and_then(Node::as_str).unwrap_or(namespace);
        let gateway = format!("{of}/{}", parent.get("name").and_then(Node::as_str).unwrap_or_default());
        let decision = |(node, subject)| Decision { object, node, gateway: gateway.clone(), subject, value: value.clone() };
        all.extend(named.chain(whole).map(decision));
    }
    all
}
