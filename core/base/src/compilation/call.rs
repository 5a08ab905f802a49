//! Defines rules about calls between the services of a mesh, and the rule that decides one request. Does not evaluate them; see the dialects.

use crate::resource::{ObjectId, Origin, ResourceKey};
use alloc::string::String;
use alloc::vec::Vec;

/// A rule about the calls of one service to another.
#[derive(Clone, Debug, PartialEq)]
pub struct CallRule {
    /// The object that contains the rule.
    pub object: ObjectId,
    /// The field that names the caller.
    pub at: Option<Origin>,
    pub from: CallEnd,
    pub to: CallEnd,
    pub effect: CallEffect,
    /// If conditions decide: each condition with its effect, in the order of evaluation.
    pub terms: Vec<String>,
}

/// A caller or a called service.
#[derive(Clone, Debug, PartialEq)]
pub enum CallEnd {
    /// The object that registers the service.
    Object(ObjectId),
    /// A service that the input does not register.
    Unregistered(ResourceKey),
    /// Every service.
    Any,
}

/// The effect of a rule about calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallEffect {
    Allow,
    Deny,
    /// Conditions decide each request.
    Conditions,
}

/// A request between two proxies of a mesh.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The id of the caller's proxy.
    pub from: &'a str,
    /// The id of the called proxy.
    pub to: &'a str,
    pub method: &'a str,
    /// The path without its query.
    pub path: &'a str,
}

/// The rule that decides a request.
#[derive(Clone, Debug, PartialEq)]
pub struct CallDecision {
    pub is_allowed: bool,
    /// The rule, for example `permission 2 of intention orders`. Missing if no rule applies.
    pub by: Option<String>,
    /// The decision and its reason, as one clause.
    pub why: String,
    /// The field that decides. Missing if no rule applies.
    pub at: Option<Origin>,
}
