//! The state that the builder's steps share. The steps are in the other modules.

use super::draft::{Group, RequestedListener};
use super::listeners_by_id::ListenersById;
use super::memory::Memory;
use super::share::{Share, ShareInput};
use crate::brownfield::{Existing, Targets};
use crate::crash::ControllerCrash;
use crate::events::Recorder;
use crate::names::{Names, PartKind};
use crate::source::Source;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::appgw::{Gateway, Parts, Properties, Reference};
use chancery_base::resource::{Origin, Sourced};
use chancery_text::Str;
use hashbrown::HashSet;

/// The state of the builder.
pub struct Builder<'b, 'c> {
    pub(super) source: &'b Source<'c>,
    pub(super) names: &'b Names,
    /// The parts that each Ingress requests, in the order of Ingresses.
    pub(super) shares: &'b [Arc<Share>],
    /// Prohibited targets, if the gateway is shared.
    pub(super) targets: Option<&'b Targets>,
    pub(super) istio: bool,
    pub(super) recorder: &'b mut Recorder,
    pub(super) memory: &'b mut Memory,
    pub(super) gateway: Gateway,
    /// The ids of redirects.
    pub(super) redirects: HashSet<Str>,
    /// The configuration of each listener, in the order of listeners, and the matching listener of the gateway.
    pub(super) wanted: Vec<Arc<RequestedListener>>,
    pub(super) found: ListenersById,
    /// The addresses of rules for every host, if others own no rule.
    pub(super) without_hosts: Option<HashSet<usize>>,
    /// The path maps, in the order of their listeners.
    pub(super) path_maps: Vec<Group>,
}

/// The input of the builder.
pub struct BuilderInput<'b, 'c> {
    pub source: &'b Source<'c>,
    pub names: &'b Names,
    /// The parts that each effective Ingress requests.
    pub shares: &'b [Arc<Share>],
    /// Prohibited targets, if the gateway is shared.
    pub targets: Option<&'b Targets>,
    /// Whether Istio's objects are read.
    pub istio: bool,
    /// Receives events.
    pub recorder: &'b mut Recorder,
    /// The results of earlier compiles.
    pub memory: &'b mut Memory,
}

impl<'c> Builder<'_, 'c> {
    /// Returns the current properties of the gateway.
    pub(super) fn properties(&mut self) -> &mut Properties {
        self.gateway.properties.get_or_insert_default()
    }

    /// Returns the parts of the current gateway that others own, if it is shared.
    pub(super) fn existing(&mut self) -> Result<Option<Existing>, ControllerCrash> {
        let Some(targets) = self.targets else { return Ok(None) };
        Existing::find(self.properties(), targets).map(Some)
    }

    pub(super) fn reference(&self, kind: PartKind, name: &str, origin: impl Into<Option<Origin>>) -> Reference {
        Sourced::new(self.names.id(kind, name), origin).into()
    }

    /// Returns the input for making shares.
    pub(super) fn given(&self) -> ShareInput<'_, 'c> {
        self.memory.shares.given(self.source, self.names)
    }
}

/// Returns the parts of a list that others own.
pub(super) fn kept<T>(list: &Option<Parts<T>>, owned: impl Fn(&Str) -> bool) -> Parts<T> {
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
