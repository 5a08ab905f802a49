//! What the steps work on.
//!
//! What must not be here: the steps.

use super::draft::{Backends, Draft, ListenerConfig};
use crate::dialect::ingress::brownfield::{Existing, Targets};
use crate::dialect::ingress::death::Died;
use crate::dialect::ingress::events::Recorder;
use crate::dialect::ingress::model::Ingress;
use crate::dialect::ingress::names::{ListenerId, Names, PartKind};
use crate::dialect::ingress::source::Source;
use crate::ir::appgw::{Gateway, Part, Pool, Probe, Properties, Redirect, Reference, Settings};
use crate::resource::{Origin, Sourced};
use crate::text::Str;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// What the builder works on.
pub struct Builder<'b, 'c> {
    pub(super) source: &'b Source<'c>,
    pub(super) names: &'b Names,
    pub(super) ingresses: &'b [Ingress<'c>],
    /// Targets that are left alone, if the gateway is shared.
    pub(super) targets: Option<&'b Targets>,
    pub(super) istio: bool,
    pub(super) recorder: &'b mut Recorder,
    pub(super) gateway: Gateway,
    pub(super) backends: Backends,
    /// Probes by name, and redirects by id.
    pub(super) probes: BTreeMap<Str, Part<Probe>>,
    pub(super) settings: BTreeMap<Str, Part<Settings>>,
    pub(super) pools: BTreeMap<Str, Part<Pool>>,
    pub(super) redirects: BTreeMap<Str, Part<Redirect>>,
    /// What each listener is to do, and which listener of the gateway does it.
    pub(super) configs: BTreeMap<ListenerId, ListenerConfig>,
    pub(super) found: BTreeMap<ListenerId, (Str, Str)>,
    pub(super) path_maps: BTreeMap<ListenerId, Draft>,
}

/// What is given to the builder.
pub struct BuilderInput<'b, 'c> {
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

impl Builder<'_, '_> {
    /// What the gateway is made of, as it stands.
    pub(super) fn properties(&mut self) -> &mut Properties {
        self.gateway.properties.get_or_insert_default()
    }

    /// What others own of the gateway as it stands, if it is shared.
    pub(super) fn existing(&mut self) -> Result<Option<Existing>, Died> {
        let Some(targets) = self.targets else { return Ok(None) };
        Existing::find(self.properties(), targets).map(Some)
    }

    pub(super) fn reference(&self, kind: PartKind, name: &str, origin: impl Into<Option<Origin>>) -> Reference {
        Sourced::new(self.names.id(kind, name), origin).into()
    }
}

/// Those of a list that others own.
pub(super) fn kept<T: Clone>(list: &Option<Vec<Part<T>>>, owned: impl Fn(&Str) -> bool) -> Vec<Part<T>> {
    list.iter().flatten().filter(|part| owned(&part.name)).cloned().collect()
}

/// A value that the controller has built in.
pub(super) fn own<T>(value: T) -> Option<Sourced<T>> {
    Some(Sourced::built_in(value))
}

/// A word that the controller has built in.
pub(super) fn word(text: &'static str) -> Option<Sourced<Str>> {
    own(Str::new_static(text))
}
