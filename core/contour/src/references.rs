//! Lists the references of Contour's objects, and builds the objects that they require. Does not decide whether they are assumed.

use super::ownership::CONTROLLER;
use super::relations::{FIELDS, certificate_namespace};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::vec::Vec;
use chancery_base::compilation::ReferencedObject;
use chancery_base::resource::{Objects, ResourceKey};
use chancery_kubernetes::gateway_api;
use chancery_kubernetes::gateway_api::owners::Owners;
use chancery_kubernetes::gateway_api::references::Needed;
use chancery_kubernetes::references::{FieldReference, endpoints, field_references, missing_objects, named, of_kubernetes};
use chancery_kubernetes::status::{list, number, object, text};
use chancery_text::Node;
use core::cell::OnceCell;

/// The placeholder name of permissions, which no field refers to by name.
const PERMISSION: &str = "assumed";

/// The references of the objects.
pub fn referenced_objects(objects: &Objects) -> Vec<ReferencedObject> {
    let owners = Owners::of(objects.all(), CONTROLLER);
    let mut asked = field_references(objects.all().filter(|object| owners.other(object).is_none()), &[FIELDS, gateway_api::relations::FIELDS]);
    asked.iter_mut().filter(|one| one.relation == "secret").for_each(|one| {
        let written = one.holder.get("secretName").and_then(Node::as_str).unwrap_or_default();
        if let Some(namespace) = certificate_namespace(one.by, written) {
            one.key.namespace = Some(namespace);
        }
    });
    let listeners = OnceCell::new();
    let mut all = missing_objects(&asked, &objects.keys(), |key, asked| {
        let gateway = || gateway_api::references::of_gateway_api(key, asked, CONTROLLER, listeners.get_or_init(|| needed(objects)));
        of_kubernetes(key, asked).or_else(gateway).or_else(|| extension_service(key)).or_else(|| proxy(key, asked))
    });
    all.extend(endpoints(&asked, objects));
    all.extend(gateway_api::references::namespaces(&asked, objects));
    all.extend(permissions(&asked, objects));
    all
}

/// The listeners that a Gateway needs for services other than routes.
fn needed(objects: &Objects) -> Vec<Needed> {
    let specs = || {
        objects.iter().filter(|object| !object.broken && ["HTTPProxy", "Ingress"].contains(&&*object.key.kind)).filter_map(|of| of.root.get("spec"))
    };
    let is_secure = |spec: &Node| spec.get("tls").or_else(|| spec.at(&["virtualhost", "tls"])).is_some();
    let http: Option<Needed> = specs().next().map(|_| ("http", &["HTTP"][..], 80));
    let https: Option<Needed> = specs().any(is_secure).then_some(("https", &["projectcontour.io/https", "HTTPS", "TLS"], 443));
    http.into_iter().chain(https).collect()
}

/// An ExtensionService with a Service of the same name.
fn extension_service(key: &ResourceKey) -> Option<Node> {
    if key.kind != "ExtensionService" {
        return None;
    }
    let service = object(alloc::vec![("name", text(&key.name)), ("port", number(80))]);
    Some(named(key, "v1alpha1", alloc::vec![("spec", object(alloc::vec![("services", list(alloc::vec![service]))]))]))
}

/// An HTTPProxy that answers all requests. One for connections must forward them.
fn proxy(key: &ResourceKey, asked: &[&FieldReference<'_>]) -> Option<Node> {
    if key.kind != "HTTPProxy" || asked.iter().any(|one| one.by.root.at(&["spec", "tcpproxy"]).is_some()) {
        return None;
    }
    let answer = object(alloc::vec![("directResponsePolicy", object(alloc::vec![("statusCode", number(503))]))]);
    Some(named(key, "v1", alloc::vec![("spec", object(alloc::vec![("routes", list(alloc::vec![answer]))]))]))
}

/// Permissions to use objects of other namespaces, if the input lacks the objects.
fn permissions(asked: &[FieldReference<'_>], objects: &Objects) -> Vec<ReferencedObject> {
    let written: BTreeSet<&ResourceKey> = objects.iter().map(|object| &object.key).collect();
    let is_elsewhere =
        |one: &&FieldReference<'_>| one.key.namespace != one.by.key.namespace && !written.contains(&one.key) && one.key.group.is_empty();
    asked.iter().filter(is_elsewhere).filter_map(permission).collect()
}

fn permission(asked: &FieldReference<'_>) -> Option<ReferencedObject> {
    let here = asked.by.key.namespace.as_ref()?;
    let namespace = asked.key.namespace.clone()?;
    let is_secret = asked.key.kind == "Secret";
    let (group, kind, version, spec) = match asked.by.key.group.as_str() {
        gateway_api::GROUP => {
            let from = [("group", gateway_api::GROUP), ("kind", &*asked.by.key.kind), ("namespace", &**here)];
            let to = [("group", ""), ("kind", &*asked.key.kind), ("name", &*asked.key.name)];
            let one = |fields: [(&'static str, &str); 3]| list(alloc::vec![object(fields.map(|(name, value)| (name, text(value))).into())]);
            (gateway_api::GROUP, "ReferenceGrant", "v1beta1", object(alloc::vec![("from", one(from)), ("to", one(to))]))
        }
        _ if is_secret => {
            let targets = list(alloc::vec![text("*")]);
            let delegation = object(alloc::vec![("secretName", text(&asked.key.name)), ("targetNamespaces", targets)]);
            let spec = object(alloc::vec![("delegations", list(alloc::vec![delegation]))]);
            ("projectcontour.io", "TLSCertificateDelegation", "v1", spec)
        }
        _ => return None,
    };
    let key = ResourceKey::new(group, kind, namespace, PERMISSION);
    let kinds: &[(&str, &str)] = match kind {
        "ReferenceGrant" => &[(gateway_api::GROUP, "ReferenceGrant")],
        _ => &[("projectcontour.io", "TLSCertificateDelegation")],
    };
    let message = format!("no {kind} is in the input; the {} is assumed to be permitted in other namespaces", asked.key);
    let object = named(&key, version, alloc::vec![("spec", spec)]);
    Some(ReferencedObject { from: asked.by.id, at: asked.at, key, kinds, object, notice: Some(message), asks: true })
}
