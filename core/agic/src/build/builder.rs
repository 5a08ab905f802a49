//! What the steps work on.
//!
//! What must not be here: the steps.

use super::draft::Wanted;
use super::found::Found;
use super::memory::Memory;
use super::path_maps::Group;
use super::share::{Given, Share};
use crate::brownfield::{Existing, Targets};
use crate::death::Died;
use crate::events::Recorder;
use crate::names::{Names, PartKind};
use crate::source::Source;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::appgw::{Gateway, Parts, Properties, Reference};
use chancery_base::resource::{Origin, Sourced};
use chancery_text::Str;
use hashbrown::HashSet;

/// What the builder works on.
pub struct Builder<'b, 'c> {
    pub(super) source: &'b Source<'c>,
    pub(super) names: &'b Names,
    /// What each Ingress asks for, in the order of Ingresses.
    pub(super) shares: &'b [Arc<Share>],
    /// Targets that are left alone, if the gateway is shared.
    pub(super) targets: Option<&'b Targets>,
    pub(super) istio: bool,
    pub(super) recorder: &'b mut Recorder,
    pub(super) memory: &'b mut Memory,
    pub(super) gateway: Gateway,
    /// The ids of redirects.
    pub(super) redirects: HashSet<Str>,
    /// What each listener is to do, in the order of listeners, and which listener of the gateway does it.
    pub(super) wanted: Vec<Arc<Wanted>>,
    pub(super) found: Found,
    /// The addresses of rules that take every host, where no rule is another's.
    pub(super) without_hosts: Option<HashSet<usize>>,
    /// The path maps, in the order of their listeners.
    pub(super) path_maps: Vec<Group>,
}

/// What is given to the builder.
pub struct BuilderInput<'b, 'c> {
    /// The cluster.
    pub source: &'b Source<'c>,
    /// The names of parts.
    pub names: &'b Names,
    /// What each Ingress that counts asks for.
    pub shares: &'b [Arc<Share>],
    /// Targets that are left alone, if the gateway is shared.
    pub targets: Option<&'b Targets>,
    /// Whether Istio's objects are read.
    pub istio: bool,
    /// Where events go.
    pub recorder: &'b mut Recorder,
    /// What earlier compiles made.
    pub memory: &'b mut Memory,
}

impl<'c> Builder<'_, 'c> {
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

    /// What shares are made with.
    pub(super) fn given(&self) -> Given<'_, 'c> {
        self.memory.shares.given(self.source, self.names)
    }
}

/// Those of a list that others own.
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
