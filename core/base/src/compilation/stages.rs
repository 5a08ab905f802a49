//! What a dialect's own stages leave behind for views: what is loaded, what refers to what, and key material.
//!
//! What must not be here: what the stages of any dialect are.

use super::{Relation, SideRef};
use crate::ir::SecretReference;
use crate::resource::{ObjectId, Objects, Rule};
use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_text::{Node, Str};
use core::any::Any;
use core::fmt::Debug;

/// The values of a dialect's own stages. Views ask for what every dialect has; who knows the dialect gets its own type back by
/// [`downcast_ref`](core::any::Any).
pub trait Stages: Any + Debug + Send + Sync {
    /// The configuration as loaded, for people, by kind or key. Key material is redacted.
    fn loaded(&self, _: &Objects) -> Vec<(Str, Vec<Loaded>)> {
        Vec::new()
    }

    /// Which fields refer to which objects.
    fn relations(&self, _: &Objects) -> Vec<Relation> {
        Vec::new()
    }

    /// Whether gateways would be sent something else without an object, for a dialect that finds it out with less than a compile; `None` where it does
    /// not. Only gateways of `_readers`, which refer to it directly or not, are made again; `_budget` is how many of them may be, and what is left of it.
    fn is_needed(&self, _: SideRef<'_>, _: ObjectId, _readers: &BTreeSet<ObjectId>, _budget: &mut usize) -> Option<bool> {
        None
    }

    /// The data that a certificate's reference names; `None` where there is none.
    fn key_material(&self, _: &Objects, _: &SecretReference) -> Option<Vec<u8>> {
        None
    }

    /// What the cluster itself issues for a reference while it runs, so that no input has it; `None` where it issues nothing.
    fn issued(&self, _: &SecretReference) -> Option<Issued> {
        None
    }
}

/// A certificate that the authority of a cluster issues while it runs. A host may issue one in its place, of an authority of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issued {
    /// The trust domain of the authority.
    pub authority: Str,
    /// The URI that the certificate is for; `None` for the authority's own.
    pub identity: Option<Str>,
}

/// The stages of a side whose values were taken out.
#[derive(Debug)]
pub(super) struct Taken;

impl Stages for Taken {}

/// What is loaded under one name.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The name.
    pub name: Str,
    /// The input object that it was read from.
    pub object: ObjectId,
    /// By which rule it comes from there.
    pub rule: Rule,
    /// What was written, with the numbers of the object's nodes.
    pub written: Arc<Node>,
    /// What is loaded. Key material is redacted.
    pub shown: Node,
}
