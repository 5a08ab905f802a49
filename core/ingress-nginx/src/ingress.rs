//! Reads an Ingress as the controller does.
//!
//! Does not decide whether the controller serves the Ingress; see `source`.

use super::annotations::Annotations;
use super::cluster::{AdmittedObject, uid_of};
use super::options::Options;
use alloc::format;
use alloc::vec::Vec;
use chancery_base::diagnostic::time;
use chancery_base::ir::nginx::PathType;
use chancery_base::resource::{ObjectId, Origin, Sourced};
use chancery_kubernetes::cursor::Cursor;
use chancery_text::Str;

#[derive(Clone, Debug)]
pub struct Ingress {
    pub object: ObjectId,
    pub namespace: Str,
    pub name: Str,
    pub uid: Str,
    /// The origin of the whole object.
    pub origin: Origin,
    /// The time of creation, in seconds since 1970.
    pub created: i64,
    pub annotations: Annotations,
    /// `ingressClassName`, even if it is empty.
    pub class: Option<Sourced<Str>>,
    /// `defaultBackend`, even without a Service.
    pub default_backend: Option<Backend>,
    pub tls: Vec<Tls>,
    pub rules: Vec<Rule>,
}

/// An entry of `tls`.
#[derive(Clone, Debug)]
pub struct Tls {
    /// The name of the Secret, or an empty string.
    pub secret: Sourced<Str>,
    pub hosts: Vec<Sourced<Str>>,
}

#[derive(Clone, Debug)]
pub struct Rule {
    /// `_` if the rule has no host.
    pub host: Sourced<Str>,
    /// `None` without `http`.
    pub paths: Option<Vec<Path>>,
}

#[derive(Clone, Debug)]
pub struct Path {
    /// `/` if the Ingress leaves the path empty.
    pub path: Sourced<Str>,
    /// Whether the Ingress sets the path.
    pub is_written: bool,
    /// `Prefix` for every `pathType` except `Exact`.
    pub path_type: PathType,
    /// Whether `pathType` is `ImplementationSpecific`.
    pub is_implementation_specific: bool,
    /// `pathType`, verbatim.
    pub written_type: Str,
    pub backend: Backend,
}

/// The target of a path, or of requests that match no path.
#[derive(Clone, Debug)]
pub struct Backend {
    /// `None` for an object of another kind.
    pub service: Option<ServiceRef>,
    pub origin: Origin,
}

/// A Service and one of its ports.
#[derive(Clone, Debug)]
pub struct ServiceRef {
    pub name: Sourced<Str>,
    /// The number or name of the port; empty if the Ingress sets neither.
    pub port: Sourced<Str>,
    /// Whether the port is a number.
    pub is_number: bool,
}

impl ServiceRef {
    /// Returns the name of the upstream for an Ingress of a namespace.
    pub fn upstream(&self, namespace: &str) -> Str {
        match self.port.is_empty() {
            true => format!("{namespace}-INVALID").into(),
            false => format!("{namespace}-{}-{}", self.name.value, self.port.value).into(),
        }
    }

    /// Returns the name that the controller looks up. The name is empty if the Ingress sets no port.
    pub fn lookup_name(&self) -> &str {
        if self.port.is_empty() { "" } else { &self.name.value }
    }
}

/// The host that the controller uses for rules without a host.
pub const ANY_HOST: Str = Str::new_static("_");

/// The assumed creation time of the input's first Ingress: 2024-01-01, in seconds since 1970. Each later Ingress in the input is a minute younger.
const FIRST_CREATED: i64 = 1_704_067_200;

impl Ingress {
    /// Reads an Ingress. `place` is its index among the Ingresses of the input.
    pub fn read(held: &AdmittedObject<'_>, options: &Options, place: usize) -> Self {
        let root = held.root();
        let spec = root.field("spec");
        let class = spec.field("ingressClassName");
        let created = time::parse(root.at("metadata.creationTimestamp").str());
        Self {
            object: held.object.id,
            namespace: Str::new(held.namespace()),
            name: Str::new(held.name()),
            uid: uid_of(held.object),
            origin: root.origin(),
            created: created.unwrap_or(FIRST_CREATED + 60 * place as i64),
            annotations: Annotations::at(root.at("metadata.annotations"), &options.annotations_prefix, options.validates),
            class: class.some_str().map(|text| Sourced::new(Str::new(text), class.origin())),
            default_backend: spec.field("defaultBackend").some().map(backend),
            tls: spec.field("tls").items().map(tls).collect(),
            rules: spec.field("rules").items().map(rule).collect(),
        }
    }

    /// Returns `NAMESPACE/NAME`.
    pub fn key(&self) -> Str {
        format!("{}/{}", self.namespace, self.name).into()
    }

    /// Returns all paths, each with its host.
    pub fn paths(&self) -> impl Iterator<Item = (&Sourced<Str>, &Path)> {
        self.rules.iter().flat_map(|rule| rule.paths.iter().flatten().map(|path| (&rule.host, path)))
    }

    /// Returns the Service of the default backend, if any.
    pub fn default_service(&self) -> Option<&ServiceRef> {
        self.default_backend.as_ref()?.service.as_ref()
    }
}

fn sourced(at: Cursor<'_>) -> Sourced<Str> {
    Sourced::new(Str::new(at.str()), at.origin())
}

fn tls(at: Cursor<'_>) -> Tls {
    Tls { secret: sourced(at.field("secretName")), hosts: at.field("hosts").texts() }
}

fn rule(at: Cursor<'_>) -> Rule {
    let host = at.field("host");
    let host = if host.str().is_empty() { Sourced::new(ANY_HOST, at.origin()) } else { sourced(host) };
    Rule { host, paths: at.field("http").some().map(|http| http.field("paths").items().map(path).collect()) }
}

fn path(at: Cursor<'_>) -> Path {
    let written = at.field("path");
    let is_written = !written.str().is_empty();
    let path = if is_written { sourced(written) } else { Sourced::new(Str::new_static("/"), at.origin()) };
    let written_type = at.field("pathType").str();
    let path_type = if written_type == "Exact" { PathType::Exact } else { PathType::Prefix };
    Path {
        path,
        is_written,
        path_type,
        is_implementation_specific: written_type == "ImplementationSpecific",
        written_type: Str::new(written_type),
        backend: backend(at.field("backend")),
    }
}

fn backend(at: Cursor<'_>) -> Backend {
    let service = at.field("service").some().map(|service| {
        let (name, number) = (service.at("port.name"), service.at("port.number"));
        let is_number = number.int().is_some_and(|number| number > 0);
        let port = match is_number {
            true => Sourced::new(chancery_base::ir::nginx::port_text(number.int().unwrap_or_default()), number.origin()),
            false => sourced(name),
        };
        ServiceRef { name: sourced(service.field("name")), port, is_number }
    });
    Backend { service, origin: at.origin() }
}
