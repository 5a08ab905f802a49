//! Lists the references of Ambassador's objects (resolvers, TLSContexts, and the Services and endpoints that resolvers look up), and builds the
//! required objects. A Service for DNS is not listed: it may be anywhere. Secrets have their own rules; see `fetch`. Does not decide whether
//! objects are assumed; see `compilation::Assumptions`.

use super::kinds::GROUP;
use super::model::service::Authority;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::vec::Vec;
use chancery_base::compilation::ReferencedObject;
use chancery_base::resource::{Object, Objects, ResourceKey};
use chancery_kubernetes::references::{FieldReference, endpoints, named};
use chancery_kubernetes::relations::{Form, Referring};
use chancery_kubernetes::status::{list, number, object, text};
use chancery_text::{Node, Str};
use core::net::IpAddr;

/// The kinds that are treated as one kind.
type Kinds = &'static [(&'static str, &'static str)];

const CONTEXTS: Kinds = &[(GROUP, "TLSContext")];
const RESOLVERS: Kinds = &[(GROUP, "KubernetesServiceResolver"), (GROUP, "KubernetesEndpointResolver"), (GROUP, "ConsulResolver")];
const SERVICES: Kinds = &[("", "Service")];

/// Where Ingresses name Services.
const BACKENDS: &[Referring] = &[Referring {
    kind: "Ingress",
    path: "spec.rules.*.http.paths.*.backend.service.name",
    relation: "service",
    to: ("", "Service"),
    form: Form::Name,
}];

/// The resolvers that always exist, and whether they look endpoints up.
const BUILT_IN: [(&str, bool); 5] =
    [("kubernetes-service", false), ("endpoint", true), ("kubernetes-endpoint", true), ("consul", false), ("consul-endpoint", false)];

/// The references of the objects.
pub(super) fn referenced_objects(objects: &Objects, namespace: &str) -> Vec<ReferencedObject> {
    let own: Vec<&Object> = objects.all().filter(|object| !object.broken && *object.key.group == *GROUP).collect();
    let given: BTreeSet<&str> =
        own.iter().filter_map(|object| field(object, "tlsSecret")?.get("name").and(field(object, "tlsContext")?.get("name")?.as_str())).collect();
    let mut out: Vec<ReferencedObject> = own.iter().filter_map(|object| context(object, &given)).filter(|wanted| !is_known(&own, wanted)).collect();
    out.extend(own.iter().filter_map(|object| resolver(object)).filter(|wanted| !is_known(&own, wanted)));
    out.extend(services(&own, objects, namespace));
    out.extend(named_ports(objects));
    out
}

/// The Services whose ports Ingresses name: the port's number is looked up in them.
fn named_ports(objects: &Objects) -> Vec<ReferencedObject> {
    let mut asked = chancery_kubernetes::references::field_references(objects.all(), &[BACKENDS]);
    asked.retain(|one| one.ports().any(|port| port.parse::<i64>().is_err()));
    chancery_kubernetes::references::missing_objects(&asked, &objects.keys(), chancery_kubernetes::references::of_kubernetes)
}

/// Whether any namespace has an object of this name: TLSContexts and resolvers are looked up by name alone.
fn is_known(own: &[&Object], wanted: &ReferencedObject) -> bool {
    let is_one = |object: &&&Object| wanted.kinds.iter().any(|(_, kind)| object.key.kind == *kind) && object.key.name == wanted.key.name;
    own.iter().any(|object| is_one(&object))
}

/// A field of an object in its `spec` or, in an annotation, at the top level.
fn field<'o>(object: &'o Object, name: &str) -> Option<&'o Node> {
    object.root.get("spec").unwrap_or(&object.root).get(name)
}

fn one(object: &Object, at: &Node, kind: &str, kinds: Kinds, spec: Vec<(&str, Node)>) -> Option<ReferencedObject> {
    let name = at.as_str().filter(|name| !name.is_empty() && !matches!(*name, "true" | "false"))?;
    let key = ResourceKey::new(GROUP, kind, object.key.namespace.clone().unwrap_or_default(), name);
    let notice = format!("the {key} is not in the input; it is assumed to exist");
    let made = named(&key, "v3alpha1", Vec::from([("spec", self::object(spec))]));
    Some(ReferencedObject { from: object.id, at: at.id, key, kinds, object: made, notice: Some(notice), asks: true })
}

/// The TLSContext that a field names, with a certificate in a Secret of the same name; without one if a Host sets its own.
fn context(object: &Object, given: &BTreeSet<&str>) -> Option<ReferencedObject> {
    let at = match &*object.key.kind {
        "Mapping" | "TCPMapping" | "AuthService" | "RateLimitService" => field(object, "tls")?,
        "Host" => field(object, "tlsContext")?.get("name")?,
        _ => return None,
    };
    let name = at.as_str()?;
    let secret = Some(("secret", text(name))).filter(|_| !given.contains(name));
    one(object, at, "TLSContext", CONTEXTS, secret.into_iter().collect())
}

/// The resolver that a field names. Its kind is read off the name and its use: only endpoints can be balanced over.
fn resolver(object: &Object) -> Option<ReferencedObject> {
    let at = match &*object.key.kind {
        "Mapping" | "TCPMapping" => field(object, "resolver")?,
        "Module" => field(object, "config")?.get("resolver")?,
        _ => return None,
    };
    let name = at.as_str().filter(|name| BUILT_IN.iter().all(|(known, _)| known != name))?;
    let is_balanced = field(object, "load_balancer").is_some() || name.contains("endpoint");
    if name.contains("consul") {
        let fields = Vec::from([("address", text("consul-server.default.svc.cluster.local:8500")), ("datacenter", text("dc1"))]);
        return one(object, at, "ConsulResolver", RESOLVERS, fields);
    }
    one(object, at, if is_balanced { "KubernetesEndpointResolver" } else { "KubernetesServiceResolver" }, RESOLVERS, Vec::new())
}

/// The Services whose endpoints are looked up, with the referenced ports, and those endpoints.
fn services(own: &[&Object], objects: &Objects, ambassador_namespace: &str) -> Vec<ReferencedObject> {
    let mut looks_up: BTreeMap<&str, bool> = BUILT_IN.into_iter().collect();
    looks_up.extend(own.iter().filter(|object| object.key.kind.ends_with("Resolver")).map(|object| {
        let looks_up = *object.key.kind == *"KubernetesEndpointResolver";
        (&*object.key.name, looks_up)
    }));
    let module = own.iter().find(|object| *object.key.kind == *"Module" && *object.key.name == *"ambassador");
    let config = module.and_then(|module| field(module, "config"));
    let usual = config.and_then(|config| config.get("resolver")).and_then(Node::as_str);
    let is_own = config.and_then(|config| config.get("use_ambassador_namespace_for_service_resolution")).and_then(Node::as_bool) == Some(true);
    let mut asked: Vec<FieldReference<'_>> = Vec::new();
    let mut ports: BTreeMap<ResourceKey, BTreeSet<u16>> = BTreeMap::new();
    for object in own.iter().filter(|object| matches!(&*object.key.kind, "Mapping" | "TCPMapping")) {
        let resolver = field(object, "resolver").and_then(Node::as_str).or(usual);
        if resolver.is_none_or(|resolver| looks_up.get(resolver) != Some(&true)) {
            continue;
        }
        let Some((at, service)) = field(object, "service").and_then(|at| Some((at, at.as_str()?))) else { continue };
        let here = if is_own { ambassador_namespace } else { object.key.namespace.as_deref().unwrap_or(ambassador_namespace) };
        let secure = field(object, "tls").is_some_and(|tls| tls.as_bool() != Some(false));
        let Some((key, port)) = target(service, here, secure) else { continue };
        ports.entry(key.clone()).or_default().insert(port);
        asked.push(FieldReference { by: object, relation: "service", path: "", at: at.id, key, holder: at });
    }
    let mut out = endpoints(&asked, objects);
    for one in &asked {
        let Some(ports) = ports.remove(&one.key) else { continue };
        let several = ports.len() > 1;
        let port = |port: &u16| {
            let name = format!("port-{port}");
            object(Vec::from_iter(several.then(|| ("name", text(&name))).into_iter().chain([("port", number(i64::from(*port)))])))
        };
        let spec = object(Vec::from([("ports", list(ports.iter().map(port).collect()))]));
        let made = named(&one.key, "v1", Vec::from([("spec", spec)]));
        let notice = format!("the {} is not in the input; it is assumed to exist, with an endpoint", one.key);
        out.push(ReferencedObject {
            from: one.by.id,
            at: one.at,
            key: one.key.clone(),
            kinds: SERVICES,
            object: made,
            notice: Some(notice),
            asks: true,
        });
    }
    out
}

/// The Service and the port that a `service` field means.
fn target(service: &str, here: &str, secure: bool) -> Option<(ResourceKey, u16)> {
    let (scheme, rest) = service.split_once("://").unwrap_or(("", service));
    let authority = Authority::parse(rest).ok()?;
    let port = match authority.port_number().ok()? {
        0 if scheme == "https" || secure && scheme.is_empty() => 443,
        0 => 80,
        port => port,
    };
    let host = authority.host.filter(|host| host.parse::<IpAddr>().is_err())?;
    let (name, namespace) = host.split_once('.').map_or((&*host, here), |(name, rest)| (name, rest.split('.').next().unwrap_or(here)));
    Some((ResourceKey::new("", "Service", Str::new(namespace), name), port))
}
