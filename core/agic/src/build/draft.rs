//! What the steps leave for one another: uses of Services, what listeners are to do, paths that wait for the others of their listener.
//!
//! What must not be here: the steps.

use super::share::name_of;
use crate::cluster::Name;
use crate::fault::Fault;
use crate::names::ListenerId;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::appgw::{Derived, Part, PathRule, Reference};
use chancery_base::resource::{Also, Origin, Sourced};
use chancery_text::Str;

/// A use of a Service.
#[derive(Clone, Debug)]
pub(super) struct Use {
    /// The rule and the path, by their places; `None` for the default backend.
    pub(super) at: Option<(usize, usize)>,
    /// Namespace and name of the Service.
    pub(super) service: Name,
    /// The port as the Ingress writes it.
    pub(super) port: Str,
    /// The port of its pods.
    pub(super) resolved: i64,
    /// What is wrong with the port, and where.
    pub(super) fault: Option<(Fault, Origin)>,
    /// Where the backend is written, with all that it says.
    pub(super) origin: Origin,
    /// Where its port is written.
    pub(super) port_origin: Origin,
    /// Where the ports of the Service and of its endpoints are written that it leads to.
    pub(super) ports: Also,
    /// The name of its probe.
    pub(super) probe: Str,
    /// The name of its settings.
    pub(super) settings: Str,
    /// The name of its pool; the default one where no endpoint has its port.
    pub(super) pool: Str,
}

impl Use {
    /// What follows from the port.
    pub(super) fn by_port<T>(&self, value: T) -> Derived<T> {
        Derived { sourced: Sourced::new(value, self.port_origin), also: self.ports.clone() }
    }

    /// `NAMESPACE-NAME`, as names of parts have it.
    pub(super) fn full_name(&self) -> String {
        name_of(&self.service, '-')
    }

    /// `NAMESPACE/NAME`, as events have it.
    pub(super) fn key(&self) -> String {
        name_of(&self.service, '/')
    }
}

/// What a listener is to do.
#[derive(Clone, Debug)]
pub struct ListenerConfig {
    /// Whether it speaks TLS.
    pub(crate) is_https: bool,
    /// The certificate, by name.
    pub(crate) certificate: Option<Sourced<Str>>,
    /// The redirect that leads to it, by name.
    pub(crate) redirect: Option<Sourced<Str>>,
    /// Further settings of TLS, by name.
    pub(crate) profile: Option<Sourced<Str>>,
    /// A policy of the firewall, by id.
    pub(crate) policy: Option<Sourced<Str>>,
    /// What asks for it.
    pub(crate) origin: Origin,
}

/// A listener that an Ingress wants, and what it is to do.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The listener.
    pub(crate) id: Arc<ListenerId>,
    /// What it is to do.
    pub(crate) config: ListenerConfig,
}

/// What takes all paths that no path rule takes: a pool with its settings, and rewrites.
#[derive(Clone, Debug, Default)]
pub(super) struct Defaults {
    pub(super) backend: Option<(Reference, Reference)>,
    pub(super) rewrites: Option<Reference>,
}

/// The paths of a rule for one of its listeners, before they meet those of others.
#[derive(Clone, Debug)]
pub struct Paths {
    /// The listener.
    pub id: Arc<ListenerId>,
    /// The rule, by its place; `None` for an Ingress without rules, whose default backend takes the place of what was there.
    pub rule: Option<usize>,
    /// What asks for them.
    pub(super) origin: Origin,
    /// The redirect that takes the place of all backends, if the gateway has it.
    pub(super) redirect: Option<Reference>,
    pub(super) defaults: Defaults,
    pub(super) rules: Vec<Part<PathRule>>,
}
