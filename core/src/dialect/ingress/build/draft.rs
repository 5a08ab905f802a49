//! What the steps leave for one another: uses of Services, what listeners are to do, path maps that are being put together.
//!
//! What must not be here: the steps.

use crate::dialect::ingress::cluster::Name;
use crate::dialect::ingress::fault::Fault;
use crate::ir::appgw::{Derived, Part, PathMap, PathRule};
use crate::resource::{Also, Origin, Sourced};
use crate::text::Str;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// A use of a Service.
#[derive(Clone, Debug)]
pub(super) struct Use {
    /// The Ingress, by its place.
    pub(super) ingress: usize,
    /// The rule and the path, by their places; `None` for the default backend.
    pub(super) at: Option<(usize, usize)>,
    /// Namespace and name of the Service.
    pub(super) service: Name,
    /// The port as the Ingress writes it.
    pub(super) port: Str,
    /// The port of its pods.
    pub(super) resolved: i64,
    /// What is wrong with the port.
    pub(super) fault: Option<Fault>,
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
        format!("{}-{}", self.service.0, self.service.1)
    }

    /// `NAMESPACE/NAME`, as events have it.
    pub(super) fn key(&self) -> String {
        format!("{}/{}", self.service.0, self.service.1)
    }
}

/// All uses, in the order of Ingresses, rules and paths.
#[derive(Clone, Debug, Default)]
pub(super) struct Backends {
    pub(super) uses: Vec<Use>,
    /// For each Ingress the use of its default backend, and for each rule that of its first path.
    pub(super) places: Vec<(Option<usize>, Vec<usize>)>,
}

impl Backends {
    /// The use of an Ingress's default backend.
    pub(super) fn default_of(&self, ingress: usize) -> Option<&Use> {
        self.uses.get(self.places.get(ingress)?.0?)
    }

    /// The use of a path.
    pub(super) fn of_path(&self, ingress: usize, rule: usize, path: usize) -> Option<&Use> {
        self.uses.get(self.places.get(ingress)?.1.get(rule)? + path)
    }
}

/// What a listener is to do.
#[derive(Clone, Debug)]
pub(in crate::dialect::ingress) struct ListenerConfig {
    /// Whether it speaks TLS.
    pub(in crate::dialect::ingress) is_https: bool,
    /// The certificate, by name.
    pub(in crate::dialect::ingress) certificate: Option<Sourced<Str>>,
    /// The redirect that leads to it, by name.
    pub(in crate::dialect::ingress) redirect: Option<Sourced<Str>>,
    /// Further settings of TLS, by name.
    pub(in crate::dialect::ingress) profile: Option<Sourced<Str>>,
    /// A policy of the firewall, by id.
    pub(in crate::dialect::ingress) policy: Option<Sourced<Str>>,
    /// What asks for it.
    pub(in crate::dialect::ingress) origin: Origin,
}

/// A path map that is being put together.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    /// The map; without path rules it becomes a basic rule.
    pub(super) map: Part<PathMap>,
    /// Paths that are taken.
    pub(super) taken: BTreeSet<Str>,
}

impl Draft {
    /// Its path rules.
    pub(super) fn rules(&self) -> &[Part<PathRule>] {
        self.map.properties.rules.as_deref().unwrap_or_default()
    }
}
