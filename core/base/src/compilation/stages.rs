//! Gives views access to the values of a dialect's stages: loaded objects, references, and key material.

use super::{Call, CallDecision, CallRule, ChosenRoute, EffectivePolicy, Relation, SideRef};
use crate::ir::SecretReference;
use crate::resource::{ObjectId, Objects, Rule};
use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_text::{Node, Str};
use core::any::Any;
use core::fmt::Debug;

/// The values of a dialect's stages. Views use the methods that every dialect has; code that knows the dialect gets the concrete type by
/// [`downcast_ref`](core::any::Any).
pub trait Stages: Any + Debug + Send + Sync {
    /// The loaded configuration by kind or key. Key material is redacted.
    fn loaded(&self, _: &Objects) -> Vec<(Str, Vec<Loaded>)> {
        Vec::new()
    }

    /// The references between objects.
    fn relations(&self, _: &Objects) -> Vec<Relation> {
        Vec::new()
    }

    /// The rules about calls between services.
    fn call_rules(&self, _: &Objects) -> Vec<CallRule> {
        Vec::new()
    }

    /// The rule that decides a request between two proxies. `None` if rules do not decide it, or depend on more than the request.
    fn decide_call(&self, _: Call<'_>) -> Option<CallDecision> {
        None
    }

    /// The policies that count for a route, by kind.
    fn policies(&self, _: &Objects, _: ChosenRoute<'_>) -> Vec<EffectivePolicy> {
        Vec::new()
    }

    /// Whether the gateways' configuration would change without an object, if the dialect can tell with less than a compile; `None` otherwise. Only
    /// gateways of `_readers`, which refer to the object directly or indirectly, are rebuilt; `_budget` limits their number and holds the
    /// remainder.
    fn is_needed(&self, _: SideRef<'_>, _: ObjectId, _readers: &BTreeSet<ObjectId>, _budget: &mut usize) -> Option<bool> {
        None
    }

    /// The data of a certificate's reference, if any.
    fn key_material(&self, _: &Objects, _: &SecretReference) -> Option<Vec<u8>> {
        None
    }

    /// The certificate that the cluster itself issues for a reference at run time, so that no input has it.
    fn issued(&self, _: &SecretReference) -> Option<Issued> {
        None
    }
}

/// A certificate that a cluster's CA issues at run time. A host may issue a replacement from its own CA.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issued {
    /// The CA's trust domain.
    pub authority: Str,
    /// The URI of the certificate; `None` for the CA's own certificate.
    pub identity: Option<Str>,
}

/// The stages of a side whose values were removed.
#[derive(Debug)]
pub(super) struct Taken;

impl Stages for Taken {}

/// An object loaded under one name.
#[derive(Clone, Debug)]
pub struct Loaded {
    pub name: Str,
    /// The source object.
    pub object: ObjectId,
    /// The rule that derived it from there.
    pub rule: Rule,
    /// The written value, with the object's node numbers.
    pub written: Arc<Node>,
    /// The loaded value. Key material is redacted.
    pub shown: Node,
}
