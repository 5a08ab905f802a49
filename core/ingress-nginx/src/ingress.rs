//! An Ingress as the controller reads it.
//!
//! Does not decide whether it is effective; see `source`.

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

/// An Ingress.
#[derive(Clone, Debug)]
pub struct Ingress {
    /// The object.
    pub object: ObjectId,
    /// Its namespace.
    pub namespace: Str,
    /// Its name.
    pub name: Str,
    /// Its UID.
    pub uid: Str,
    /// The whole of it.
    pub origin: Origin,
    /// When it was created: seconds since 1970.
    pub created: i64,
    /// Its annotations.
    pub annotations: Annotations,
    /// `ingressClassName`, even if it is empty.
    pub class: Option<Sourced<Str>>,
    /// `defaultBackend`, even without a Service.
    pub default_backend: Option<Backend>,
    /// Certificates.
    pub tls: Vec<Tls>,
    /// Which requests go where.
    pub rules: Vec<Rule>,
}

/// A certificate of an Ingress.
#[derive(Clone, Debug)]
pub struct Tls {
    /// The Secret; empty if none is named.
    pub secret: Sourced<Str>,
    /// The hosts that it is for.
    pub hosts: Vec<Sourced<Str>>,
}

/// A rule of an Ingress.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The host; `_` for all.
    pub host: Sourced<Str>,
    /// Its paths; `None` without `http`.
    pub paths: Option<Vec<Path>>,
}

/// A path of a rule.
#[derive(Clone, Debug)]
pub struct Path {
    /// The written path; `/` if it is empty.
    pub path: Sourced<Str>,
    /// It is written.
    pub is_written: bool,
    /// How it is meant.
    pub path_type: PathType,
    /// Its type leaves that to the controller.
    pub is_own_type: bool,
    /// The written type.
    pub written_type: Str,
    /// Where requests go.
    pub backend: Backend,
}

/// Where requests go.
#[derive(Clone, Debug)]
pub struct Backend {
    /// The Service; `None` for an object of another kind.
    pub service: Option<ServiceRef>,
    /// Where it is written.
    pub origin: Origin,
}

/// A Service and a port of it.
#[derive(Clone, Debug)]
pub struct ServiceRef {
    /// Its name.
    pub name: Sourced<Str>,
    /// Its port, by number or name; empty if neither is written.
    pub port: Sourced<Str>,
    /// The port is a number.
    pub is_number: bool,
}

impl ServiceRef {
    /// The name of the upstream.
    pub fn upstream(&self, namespace: &str) -> Str {
        match self.port.is_empty() {
            true => format!("{namespace}-INVALID").into(),
            false => format!("{namespace}-{}-{}", self.name.value, self.port.value).into(),
        }
    }

    /// The name that the controller looks the Service up by.
    pub fn looked_up(&self) -> &str {
        if self.port.is_empty() { "" } else { &self.name.value }
    }
}

/// The host of rules without one.
pub const ANY_HOST: Str = Str::new_static("_");

/// When an Ingress without a time was created: 2024-01-01, and a minute later for each Ingress before it in the input.
const FIRST_CREATED: i64 = 1_704_067_200;

impl Ingress {
    /// Reads an Ingress. `place` is its place among the Ingresses of the input.
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

    /// `NAMESPACE/NAME`
    pub fn key(&self) -> Str {
        format!("{}/{}", self.namespace, self.name).into()
    }

    /// All paths with a Service, with their hosts.
    pub fn paths(&self) -> impl Iterator<Item = (&Sourced<Str>, &Path)> {
        self.rules.iter().flat_map(|rule| rule.paths.iter().flatten().map(|path| (&rule.host, path)))
    }

    /// The Service of its default backend.
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
        is_own_type: written_type == "ImplementationSpecific",
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
