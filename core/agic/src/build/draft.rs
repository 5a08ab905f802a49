//! The intermediate results of the builder's steps: uses of Services, listener configurations, and paths of each listener.
//!
//! Does not make them; see the modules of the steps.

use crate::cluster::Name;
use crate::fault::Fault;
use crate::names::ListenerId;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::appgw::{Derived, Part, PathMap, PathRule, Reference};
use chancery_base::resource::{Also, Origin, Sourced};
use chancery_text::Str;

/// A use of a Service.
#[derive(Clone, Debug)]
pub(super) struct Use {
    /// The indexes of the rule and the path; `None` for the default backend.
    pub(super) at: Option<(usize, usize)>,
    /// Namespace and name of the Service.
    pub(super) service: Name,
    /// The port as the Ingress writes it.
    pub(super) port: Str,
    /// The port of its pods.
    pub(super) resolved: i64,
    /// The fault of the port, and its place.
    pub(super) fault: Option<(Fault, Origin)>,
    /// The place of the backend.
    pub(super) origin: Origin,
    /// The place of its port.
    pub(super) port_origin: Origin,
    /// The places of the ports of the Service and its endpoints.
    pub(super) ports: Also,
    /// The name of its probe.
    pub(super) probe: Str,
    /// The name of its settings.
    pub(super) settings: Str,
    /// The name of its pool; the default pool if no endpoint has its port.
    pub(super) pool: Str,
}

impl Use {
    /// Returns a value that is derived from the port.
    pub(super) fn by_port<T>(&self, value: T) -> Derived<T> {
        Derived { sourced: Sourced::new(value, self.port_origin), also: self.ports.clone() }
    }

    /// `NAMESPACE-NAME`, for names of parts.
    pub(super) fn full_name(&self) -> String {
        name_of(&self.service, '-')
    }

    /// `NAMESPACE/NAME`, for events.
    pub(super) fn key(&self) -> String {
        name_of(&self.service, '/')
    }
}

/// The name of a Service, as parts and events write it.
fn name_of(service: &(Str, Str), between: char) -> String {
    alloc::format!("{}{between}{}", service.0, service.1)
}

/// The configuration of a listener.
#[derive(Clone, Debug)]
pub struct ListenerConfig {
    pub(crate) is_https: bool,
    /// The certificate, by name.
    pub(crate) certificate: Option<Sourced<Str>>,
    /// The redirect that leads to it, by name.
    pub(crate) redirect: Option<Sourced<Str>>,
    /// The TLS profile, by name.
    pub(crate) profile: Option<Sourced<Str>>,
    /// The firewall policy, by id.
    pub(crate) policy: Option<Sourced<Str>>,
    /// The place that requests it.
    pub(crate) origin: Origin,
}

/// A listener that an Ingress requests, with its configuration.
#[derive(Clone, Debug)]
pub struct RequestedListener {
    pub(crate) id: Arc<ListenerId>,
    pub(crate) config: ListenerConfig,
}

/// The default target of a path map: a pool with its settings, and rewrites.
#[derive(Clone, Debug, Default)]
pub(super) struct Defaults {
    pub(super) backend: Option<(Reference, Reference)>,
    pub(super) rewrites: Option<Reference>,
}

/// The paths of a rule for one of its listeners, before they are merged.
#[derive(Clone, Debug)]
pub struct Paths {
    pub id: Arc<ListenerId>,
    /// The index of the rule; `None` for an Ingress without rules, whose default backend replaces earlier defaults.
    pub rule: Option<usize>,
    /// The place that requests them.
    pub(super) origin: Origin,
    /// The redirect that replaces all backends, if the gateway has it.
    pub(super) redirect: Option<Reference>,
    pub(super) defaults: Defaults,
    pub(super) rules: Vec<Part<PathRule>>,
}

/// The path map of a listener; without path rules it becomes a basic rule.
#[derive(Clone, Debug)]
pub struct Group {
    pub id: Arc<ListenerId>,
    pub map: Arc<Part<PathMap>>,
    /// The merged paths, in the order of Ingresses and rules, each with the index of its Ingress.
    pub paths: Vec<(u32, Arc<Paths>)>,
}
