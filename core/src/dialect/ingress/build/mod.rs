//! The config builder: from Ingresses to the parts of the gateway, from the leaves to the root, as one list of steps ([`STEPS`]).
//!
//! AGIC `pkg/appgw`. Each step changes the gateway as the steps before left it; what others own is asked of the gateway as it stands then.
//! Where the controller goes through a map in no order, this goes through Ingresses in their order, and the later counts.
//!
//! What must not be here: which Ingresses count; when the gateway is changed.

mod backends;
mod certificates;
mod defaults;
mod listeners;
mod path_maps;
mod pools;
mod priorities;
mod probes;
mod redirects;
mod rewrites;
mod rules;
mod settings;
mod tags;

pub(super) use backends::service_of;
pub(super) use listeners::{ListenerConfig, all_hosts, of_ingress as listeners_of, of_rule as listeners_of_rule};

use super::brownfield::{Existing, Targets};
use super::death::Died;
use super::events::Recorder;
use super::model::Ingress;
use super::names::{ListenerId, Names, PartKind};
use super::source::Source;
use crate::ir::appgw::{Gateway, Part, Pool, Probe, Properties, Redirect, Reference, Settings};
use crate::resource::{Origin, Sourced};
use crate::text::Str;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use backends::Backends;
use path_maps::Draft;

/// A step of the builder.
pub struct Step {
    /// What it makes.
    pub name: &'static str,
    run: fn(&mut Builder<'_, '_>) -> Result<(), Died>,
}

/// The steps, in order: each needs what those before have made.
pub const STEPS: &[Step] = &[
    Step { name: "backends", run: backends::resolve },
    Step { name: "probes", run: probes::make },
    Step { name: "HTTP settings", run: settings::make },
    Step { name: "backend pools", run: pools::make },
    Step { name: "certificates", run: certificates::make },
    Step { name: "listeners and ports", run: listeners::make },
    Step { name: "redirects", run: redirects::make },
    Step { name: "rewrites", run: rewrites::make },
    Step { name: "path maps", run: path_maps::make },
    Step { name: "routing rules", run: rules::make },
    Step { name: "priorities", run: priorities::fill },
    Step { name: "unused defaults", run: defaults::remove },
    Step { name: "tags", run: tags::set },
];

/// What the builder works on.
pub struct Builder<'b, 'c> {
    source: &'b Source<'c>,
    names: &'b Names,
    ingresses: &'b [Ingress<'c>],
    /// Targets that are left alone, if the gateway is shared.
    targets: Option<&'b Targets>,
    istio: bool,
    recorder: &'b mut Recorder,
    gateway: Gateway,
    backends: Backends,
    /// Probes by name, and redirects by id.
    probes: BTreeMap<Str, Part<Probe>>,
    settings: BTreeMap<Str, Part<Settings>>,
    pools: BTreeMap<Str, Part<Pool>>,
    redirects: BTreeMap<Str, Part<Redirect>>,
    /// What each listener is to do, and which listener of the gateway does it.
    configs: BTreeMap<ListenerId, ListenerConfig>,
    found: BTreeMap<ListenerId, (Str, Str)>,
    path_maps: BTreeMap<ListenerId, Draft>,
}

/// What is given to the builder.
pub struct Given<'b, 'c> {
    /// The cluster.
    pub source: &'b Source<'c>,
    /// The names of parts.
    pub names: &'b Names,
    /// The Ingresses that count.
    pub ingresses: &'b [Ingress<'c>],
    /// Targets that are left alone, if the gateway is shared.
    pub targets: Option<&'b Targets>,
    /// Whether Istio's objects are read.
    pub istio: bool,
    /// Where events go.
    pub recorder: &'b mut Recorder,
}

/// The gateway that Ingresses ask for, made of the gateway as it is.
///
/// # Errors
///
/// The controller dies.
pub fn build(given: Given<'_, '_>, gateway: Gateway) -> Result<Gateway, Died> {
    let Given { source, names, ingresses, targets, istio, recorder } = given;
    let mut builder = Builder {
        source,
        names,
        ingresses,
        targets,
        istio,
        recorder,
        gateway,
        backends: Backends::default(),
        probes: BTreeMap::new(),
        settings: BTreeMap::new(),
        pools: BTreeMap::new(),
        redirects: BTreeMap::new(),
        configs: BTreeMap::new(),
        found: BTreeMap::new(),
        path_maps: BTreeMap::new(),
    };
    for step in STEPS {
        (step.run)(&mut builder)?;
    }
    Ok(builder.gateway)
}

impl Builder<'_, '_> {
    /// What the gateway is made of, as it stands.
    fn properties(&mut self) -> &mut Properties {
        self.gateway.properties.get_or_insert_default()
    }

    /// What others own of the gateway as it stands, if it is shared.
    fn existing(&mut self) -> Result<Option<Existing>, Died> {
        let Some(targets) = self.targets else { return Ok(None) };
        Existing::find(self.properties(), targets).map(Some)
    }

    fn reference(&self, kind: PartKind, name: &str, origin: impl Into<Option<Origin>>) -> Reference {
        Reference { id: Sourced::new(self.names.id(kind, name), origin) }
    }
}

/// Those of a list that others own.
fn kept<T: Clone>(list: &Option<Vec<Part<T>>>, owned: impl Fn(&Str) -> bool) -> Vec<Part<T>> {
    list.iter().flatten().filter(|part| owned(&part.name)).cloned().collect()
}

/// A value that the controller has built in.
fn own<T>(value: T) -> Option<Sourced<T>> {
    Some(Sourced::built_in(value))
}

/// A word that the controller has built in.
fn word(text: &'static str) -> Option<Sourced<Str>> {
    own(Str::new_static(text))
}

#[cfg(test)]
mod tests;
