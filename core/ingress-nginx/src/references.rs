//! Lists the missing objects that Ingresses refer to, each with an object that satisfies the reference.
//!
//! Does not decide whether an object is assumed; see `compilation::Assumptions`.

use super::annotations::PREFIX;
use super::annotations::forms::Url;
use super::options::Options;
use super::relations::{FIELDS, relations};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::vec::Vec;
use chancery_base::compilation::{ReferencedObject, Relation};
use chancery_base::resource::{Object, Objects, Origin, ResourceKey};
use chancery_kubernetes::references::{FieldReference, cluster_name, endpoints, field_references, missing_objects, named, of_kubernetes};
use chancery_kubernetes::status::{list, number, object, text};
use chancery_text::{Node, Str};

/// Returns the missing objects that Ingresses, ConfigMaps and flags refer to, and endpoints for referenced Services without endpoints.
pub fn referenced_objects(objects: &Objects, options: &Options) -> Vec<ReferencedObject> {
    let mut asked = field_references(objects.all(), &[FIELDS]);
    let mut all = missing_objects(&asked, &objects.keys(), |key, asked| of_kubernetes(key, asked).or_else(|| assumed_class(key, options)));
    asked.extend(stream_services(objects, options));
    asked.extend(default_service(objects, options));
    all.extend(endpoints(&asked, objects));
    all.extend(authentication_services(objects, options));
    all.extend(annotated_objects(objects));
    all.extend(default_certificate(objects, options));
    all.extend(missing_default_service(objects, options));
    all
}

/// Returns references to the Services of TCP and UDP, which ConfigMaps list.
fn stream_services<'o>(objects: &'o Objects, options: &Options) -> Vec<FieldReference<'o>> {
    let is_list = |object: &&Object| {
        let key = || format!("{}/{}", object.key.namespace.as_deref().unwrap_or("default"), object.key.name);
        object.key.kind == "ConfigMap" && !object.broken && [&options.tcp_services, &options.udp_services].iter().any(|named| **named == *key())
    };
    let mut out = Vec::new();
    for by in objects.all().filter(is_list) {
        for entry in by.root.get("data").and_then(Node::as_object).into_iter().flatten() {
            // `NAMESPACE/NAME:PORT`, optionally followed by the use of PROXY headers.
            let Some((namespace, name)) = entry.value.as_str().and_then(|text| text.split(':').next()?.split_once('/')) else { continue };
            let key = ResourceKey::new("", "Service", Str::new(namespace), name);
            out.push(FieldReference { by, relation: "stream", path: "", at: entry.value.id, key, holder: &by.root });
        }
    }
    out
}

/// Returns the key of the Service of `--default-backend-service`.
fn default_service_key(options: &Options) -> Option<ResourceKey> {
    let (namespace, name) = options.default_backend.split_once('/')?;
    Some(ResourceKey::new("", "Service", Str::new(namespace), name))
}

/// Returns a reference to the Service of `--default-backend-service`. The Service refers to itself, because no object has the flag.
fn default_service<'o>(objects: &'o Objects, options: &Options) -> Option<FieldReference<'o>> {
    let key = default_service_key(options)?;
    let by = objects.all().find(|object| object.key == key && !object.broken)?;
    Some(FieldReference { by, relation: "default-backend", path: "", at: by.root.at(&["metadata", "name"])?.id, key, holder: &by.root })
}

/// Returns the Service of `--default-backend-service` if it is missing. The first Ingress refers to the Service.
fn missing_default_service(objects: &Objects, options: &Options) -> Option<ReferencedObject> {
    let key = default_service_key(options)?;
    if objects.keys().contains(&key) {
        return None;
    }
    let mut ingresses = objects.iter().filter(|object| !object.broken && !object.assumed && object.key.kind == "Ingress");
    let at = ingresses.find_map(|object| Some(Origin::field(object.id, object.root.get("spec")?.id)))?;
    let made = of_kubernetes(&key, &[])?;
    Some(assumed(at, key, "--default-backend-service", made))
}

/// Returns the missing Services that `auth-url` and the ConfigMap's `global-auth-url` name as a cluster host, with the ports of the URLs. The
/// Services need no endpoints, because nginx sends its request to the Service itself.
fn authentication_services(objects: &Objects, options: &Options) -> Vec<ReferencedObject> {
    let mut found: BTreeMap<ResourceKey, (Origin, BTreeSet<i64>)> = BTreeMap::new();
    let written = |object: &Object| -> Option<Node> {
        let is_own = || format!("{}/{}", object.key.namespace.as_deref().unwrap_or_default(), object.key.name) == options.config_map.as_str();
        match object.key.kind.as_str() {
            "Ingress" => object.root.at(&["metadata", "annotations"])?.get(&format!("{PREFIX}/auth-url")).cloned(),
            "ConfigMap" if is_own() => object.root.at(&["data", "global-auth-url"]).cloned(),
            _ => None,
        }
    };
    for object in objects.iter().filter(|object| !object.broken) {
        let Some((node, url)) = written(object).and_then(|node| Some((node.id, Url::absolute(node.as_str()?).ok()?))) else { continue };
        let Some((name, namespace)) = cluster_name(url.host_name()) else { continue };
        let default = if url.scheme == "https" { 443 } else { 80 };
        let port = url.host.rsplit_once(':').and_then(|(_, port)| port.parse().ok()).unwrap_or(default);
        let key = ResourceKey::new("", "Service", Str::new(namespace), name);
        found.entry(key).or_insert_with(|| (Origin::field(object.id, node), BTreeSet::new())).1.insert(port);
    }
    let there = objects.keys();
    let missing = found.into_iter().filter(|(key, _)| !there.contains(key));
    let one = |(key, (at, ports)): (ResourceKey, (Origin, BTreeSet<i64>))| {
        let several = ports.len() > 1;
        let port = |port: i64| {
            let name = several.then(|| ("name", text(&format!("port-{port}"))));
            object(name.into_iter().chain([("port", number(port))]).collect())
        };
        let ports = list(ports.into_iter().map(port).collect());
        let made = named(&key, "v1", alloc::vec![("spec", object(alloc::vec![("ports", ports)]))]);
        assumed(at, key, "auth-url", made)
    };
    missing.map(one).collect()
}

/// Returns the missing objects that annotations name: Secrets, ConfigMaps with headers, and Services for errors. Leaves out objects that the
/// controller works without.
fn annotated_objects(objects: &Objects) -> Vec<ReferencedObject> {
    let there = objects.keys();
    let mut known: BTreeSet<ResourceKey> = BTreeSet::new();
    let mut out = Vec::new();
    for relation in relations(objects) {
        let is_it = |(known, named): &(&str, &str)| *known == relation.relation && (*named != "custom-headers" || is_custom(objects, &relation));
        let annotation = ASSUMED_RELATIONS.iter().find(|of| is_it(of)).map(|(_, annotation)| *annotation);
        let (Some(annotation), Some(at)) = (annotation, relation.at) else { continue };
        // The controller finds a ConfigMap only by its namespace, and reads Services only in the Ingress's namespace.
        let is_found = match relation.to.kind.as_str() {
            "ConfigMap" => relation.written.contains('/'),
            "Service" => !relation.written.contains('/'),
            _ => true,
        };
        if !is_found || there.contains(&relation.to) || !known.insert(relation.to.clone()) {
            continue;
        }
        // The headers of a missing ConfigMap are unknown.
        let made = if relation.to.kind == "ConfigMap" { Some(named(&relation.to, "v1", Vec::new())) } else { of_kubernetes(&relation.to, &[]) };
        if let Some(made) = made {
            out.push(assumed(at, relation.to, annotation, made));
        }
    }
    out
}

/// Returns the Secret of `--default-ssl-certificate` if it is missing. The first Ingress with TLS and without its own Secret refers to the default
/// Secret, otherwise the first Ingress.
fn default_certificate(objects: &Objects, options: &Options) -> Option<ReferencedObject> {
    let (namespace, name) = options.default_certificate.split_once('/')?;
    let key = ResourceKey::new("", "Secret", Str::new(namespace), name);
    if objects.keys().contains(&key) {
        return None;
    }
    let ingresses = || objects.iter().filter(|object| !object.broken && !object.assumed && object.key.kind == "Ingress");
    let entry = |object: &Object| {
        let mut entries = object.root.at(&["spec", "tls"])?.as_array()?.iter();
        entries.find(|entry| entry.get("secretName").is_none()).map(|entry| Origin::field(object.id, entry.id))
    };
    let first = || ingresses().find_map(|object| Some(Origin::field(object.id, object.root.get("spec")?.id)));
    let made = of_kubernetes(&key, &[])?;
    Some(assumed(ingresses().find_map(entry).or_else(first)?, key, "--default-ssl-certificate", made))
}

/// Whether the annotation of a relation to headers is `custom-headers`.
fn is_custom(objects: &Objects, relation: &Relation) -> bool {
    let node = || objects.get(relation.from)?.root.at(&["metadata", "annotations"])?.get(&format!("{PREFIX}/custom-headers"));
    node().is_some_and(|node| relation.at.is_some_and(|at| at.node() == node.id))
}

/// The relations to objects that Chancery can assume, each with its annotation.
const ASSUMED_RELATIONS: [(&str, &str); 6] = [
    ("password-secret", "auth-secret"),
    ("client-ca", "auth-tls-secret"),
    ("upstream-tls", "proxy-ssl-secret"),
    ("headers", "custom-headers"),
    ("headers", "auth-proxy-set-headers"),
    ("default-backend", "default-backend"),
];

fn assumed(at: Origin, key: ResourceKey, annotation: &str, object: Node) -> ReferencedObject {
    let kinds: &[(&str, &str)] = match key.kind.as_str() {
        "Secret" => &[("", "Secret")],
        "ConfigMap" => &[("", "ConfigMap")],
        _ => &[("", "Service")],
    };
    let notice = Some(format!("the {key} of `{annotation}` is not in the input; it is assumed to exist"));
    ReferencedObject { from: at.object(), at: at.node(), key, kinds, object, notice, asks: true }
}

/// Usual names of classes of other controllers.
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

/// Returns a class of the controller for a missing IngressClass, unless another controller usually has the name.
fn assumed_class(key: &ResourceKey, options: &Options) -> Option<Node> {
    if key.kind != "IngressClass" || OTHER_CLASSES.contains(&key.name.as_str()) {
        return None;
    }
    Some(named(key, "v1", alloc::vec![("spec", object(alloc::vec![("controller", text(&options.controller_class))]))]))
}
