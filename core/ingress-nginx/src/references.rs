//! Lists the objects that Ingresses refer to, and objects that would satisfy them. Does not decide whether anything is assumed; see `compilation::Assumptions`.

use super::annotations::PREFIX;
use super::annotations::forms::Url;
use super::names::cluster_name;
use super::options::Options;
use super::relations::FIELDS;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::vec::Vec;
use chancery_base::compilation::ReferencedObject;
use chancery_base::resource::{Objects, ResourceKey};
use chancery_kubernetes::references::{endpoints, field_references, missing_objects, named, of_kubernetes};
use chancery_kubernetes::status::{list, number, object, text};
use chancery_text::{Node, Str};

/// Returns the referenced objects.
pub fn referenced_objects(objects: &Objects, options: &Options) -> Vec<ReferencedObject> {
    let asked = field_references(objects.all(), &[FIELDS]);
    let mut all = missing_objects(&asked, &objects.keys(), |key, asked| of_kubernetes(key, asked).or_else(|| class(key, options)));
    all.extend(endpoints(&asked, objects));
    all.extend(authentication_services(objects));
    all
}

/// The missing Services that `auth-url` names as a host of the cluster. nginx sends its question to the Service, so they need no endpoints.
fn authentication_services(objects: &Objects) -> Vec<ReferencedObject> {
    let mut known: BTreeSet<ResourceKey> = BTreeSet::new();
    let mut out = Vec::new();
    for ingress in objects.iter().filter(|object| !object.broken && object.key.kind == "Ingress") {
        let written = ingress.root.at(&["metadata", "annotations"]).and_then(|all| all.get(&format!("{PREFIX}/auth-url")));
        let Some((node, url)) = written.and_then(|node| Some((node, Url::absolute(node.as_str()?).ok()?))) else { continue };
        let Some(name) = cluster_name(url.host_name()) else { continue };
        let key = ResourceKey::new("", "Service", Str::new(name.1), name.0);
        if objects.keys().contains(&key) || !known.insert(key.clone()) {
            continue;
        }
        let port = object(alloc::vec![("port", number(80))]);
        let made = named(&key, "v1", alloc::vec![("spec", object(alloc::vec![("ports", list(alloc::vec![port]))]))]);
        let notice = Some(format!("the {key} of `auth-url` is not in the input; it is assumed to exist"));
        out.push(ReferencedObject { from: ingress.id, at: node.id, key, kinds: &[("", "Service")], object: made, notice, asks: true });
    }
    out
}

/// Usual names of classes that belong to other controllers.
const OTHER_CLASSES: [&str; 16] = [
    "alb",
    "ambassador",
    "apisix",
    "azure-application-gateway",
    "cilium",
    "contour",
    "gce",
    "gce-internal",
    "haproxy",
    "higress",
    "istio",
    "kong",
    "openshift-default",
    "skipper",
    "tailscale",
    "traefik",
];

/// A missing class is taken for the controller's own, unless its name is that of another controller.
fn class(key: &ResourceKey, options: &Options) -> Option<Node> {
    if key.kind != "IngressClass" || OTHER_CLASSES.contains(&key.name.as_str()) {
        return None;
    }
    Some(named(key, "v1", alloc::vec![("spec", object(alloc::vec![("controller", text(&options.controller_class))]))]))
}
