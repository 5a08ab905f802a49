//! An Ingress, of any version or kind.

use super::super::annotations::Annotations;
use super::super::cluster::AdmittedObject;
use super::super::kinds::Kind;
use alloc::format;
use alloc::vec::Vec;
use chancery_base::resource::{ObjectId, Origin, Sourced};
use chancery_kubernetes::cursor::Cursor;
use chancery_text::{Str, Value};
use core::cmp::Ordering;

#[derive(Clone, Debug)]
pub struct Ingress {
    pub object: ObjectId,
    pub namespace: Str,
    pub name: Str,
    /// The whole Ingress.
    pub origin: Origin,
    pub annotations: Annotations,
    /// `ingressClassName`, even if it is empty.
    pub class: Option<Sourced<Str>>,
    /// The target of requests that no rule matches.
    pub default_backend: Option<Backend>,
    pub tls: Vec<Tls>,
    pub rules: Vec<Rule>,
    /// The addresses in its status.
    pub addresses: Vec<Str>,
}

/// A certificate of an Ingress.
#[derive(Clone, Debug)]
pub struct Tls {
    /// The Secret; empty if none is named.
    pub secret: Sourced<Str>,
    pub hosts: Vec<Sourced<Str>>,
    /// The item.
    pub origin: Origin,
}

/// A rule of an Ingress.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The host; empty for all.
    pub host: Sourced<Str>,
    /// Its paths, if it has `http`.
    pub http: Option<Http>,
    /// The item.
    pub origin: Origin,
}

/// The `http` of a rule.
#[derive(Clone, Debug)]
pub struct Http {
    /// Whether `paths` is written.
    pub has_paths: bool,
    pub paths: Vec<Path>,
}

/// A path of a rule.
#[derive(Clone, Debug)]
pub struct Path {
    /// The written value.
    pub path: Sourced<Str>,
    pub path_type: PathType,
    pub backend: Backend,
    /// The item.
    pub origin: Origin,
}

/// How a path is matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathType {
    /// Exactly.
    Exact,
    /// As a prefix.
    Prefix,
    /// As the controller likes, or unset.
    Unspecified,
}

/// The target of requests.
#[derive(Clone, Debug)]
pub struct Backend {
    /// The Service; `None` for an object of another kind, which the controller cannot use.
    pub service: Option<ServiceRef>,
    pub origin: Origin,
}

/// A Service and one of its ports.
#[derive(Clone, Debug)]
pub struct ServiceRef {
    pub name: Sourced<Str>,
    pub port: ServicePortRef,
}

/// A port by name or number.
#[derive(Clone, Debug)]
pub struct ServicePortRef {
    /// Its name; empty if it is given by number.
    pub name: Str,
    /// Its number; 0 if none is written.
    pub number: i64,
    pub origin: Origin,
}

impl ServicePortRef {
    /// The name, or else the number.
    pub fn text(&self) -> Str {
        if self.name.is_empty() { format!("{}", self.number).into() } else { self.name.clone() }
    }
}

impl Rule {
    /// Its paths; none without `http`.
    pub fn paths(&self) -> &[Path] {
        self.http.as_ref().map_or(&[], |http| &http.paths)
    }
}

impl Path {
    /// Whether it matches everything: the gateway has no path rule for `/` alone.
    pub fn is_catch_all(&self) -> bool {
        matches!(self.path.as_str(), "" | "/" | "/*")
    }
}

impl Ingress {
    /// Reads an Ingress or a MultiClusterIngress.
    pub fn read(held: &AdmittedObject<'_>, kind: Kind) -> Self {
        let root = held.root();
        let spec = if kind == Kind::MultiClusterIngress { root.at("spec.template") } else { root.field("spec") };
        let is_old = kind == Kind::OldIngress;
        let default_backend = spec.field(if is_old { "backend" } else { "defaultBackend" }).some();
        let class = spec.field("ingressClassName");
        let addresses = root.at("status.loadBalancer.ingress").items();
        Self {
            object: held.object.id,
            namespace: held.namespace().clone(),
            name: held.name().clone(),
            origin: root.origin(),
            annotations: Annotations::at(root.at("metadata.annotations")),
            class: class.some_str().map(|text| Sourced::new(Str::new(text), class.origin())),
            default_backend: default_backend.map(|at| backend(at, is_old)),
            tls: spec.field("tls").items().map(tls).collect(),
            rules: spec.field("rules").items().map(|at| rule(at, is_old)).collect(),
            addresses: addresses.map(|at| Str::new(at.field("ip").str())).collect(),
        }
    }

    /// Whether any of its rules has `http`.
    pub fn has_http(&self) -> bool {
        self.rules.iter().any(|rule| rule.http.is_some())
    }

    /// `NAMESPACE/NAME`, which is also the sort key of Ingresses.
    pub fn key(&self) -> Str {
        format!("{}/{}", self.namespace, self.name).into()
    }

    /// Compares two Ingresses by their keys as strings.
    pub fn in_order(&self, other: &Self) -> Ordering {
        if self.namespace == other.namespace {
            return self.name.cmp(&other.name);
        }
        let bytes = |of: &Self| -> Vec<u8> { of.namespace.bytes().chain(core::iter::once(b'/')).chain(of.name.bytes()).collect() };
        bytes(self).cmp(&bytes(other))
    }
}

fn sourced(at: Cursor<'_>) -> Sourced<Str> {
    Sourced::new(Str::new(at.str()), at.origin())
}

fn tls(at: Cursor<'_>) -> Tls {
    Tls { secret: sourced(at.field("secretName")), hosts: at.field("hosts").texts(), origin: at.origin() }
}

fn rule(at: Cursor<'_>, is_old: bool) -> Rule {
    let http = at.field("http").some().map(|http| {
        let paths = http.field("paths");
        Http { has_paths: paths.exists(), paths: paths.items().map(|at| path(at, is_old)).collect() }
    });
    Rule { host: sourced(at.field("host")), http, origin: at.origin() }
}

fn path(at: Cursor<'_>, is_old: bool) -> Path {
    let path_type = match at.field("pathType").str() {
        "Exact" => PathType::Exact,
        "Prefix" => PathType::Prefix,
        _ => PathType::Unspecified,
    };
    Path { path: sourced(at.field("path")), path_type, backend: backend(at.field("backend"), is_old), origin: at.origin() }
}

fn backend(at: Cursor<'_>, is_old: bool) -> Backend {
    let service = if is_old {
        let (name, port) = (at.field("serviceName"), at.field("servicePort"));
        let by_name = matches!(port.node().map(|node| &node.value), Some(Value::String(_)));
        let is_written = !name.str().is_empty() || by_name || port.int().is_some_and(|number| number != 0);
        is_written.then(|| {
            let port = ServicePortRef { name: Str::new(port.str()), number: port.int().unwrap_or_default(), origin: port.origin() };
            ServiceRef { name: sourced(name), port }
        })
    } else {
        at.field("service").some().map(|service| {
            let port = service.field("port");
            let (name, number) = (port.field("name"), port.field("number"));
            let origin = if name.str().is_empty() { number.origin() } else { name.origin() };
            let port = ServicePortRef { name: Str::new(name.str()), number: number.int().unwrap_or_default(), origin };
            ServiceRef { name: sourced(service.field("name")), port }
        })
    };
    Backend { service, origin: at.origin() }
}
