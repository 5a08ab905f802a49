//! The policies that count for a route. Does not choose them; see the dialects.

use crate::resource::{ObjectId, Origin};
use alloc::string::String;
use alloc::vec::Vec;
use chancery_text::Str;

/// A route of a gateway, as a simulation found it.
#[derive(Clone, Copy, Debug)]
pub struct ChosenRoute<'r> {
    /// The name of the virtual host in Envoy's configuration. Empty if the connection is not HTTP.
    pub virtual_host: &'r str,
    /// The origins of the route. If the connection is not HTTP, those of the filter chain and all its parts.
    pub route: &'r [Origin],
    /// The origins of the listener.
    pub listener: &'r [Origin],
    /// Whether the connection uses TLS.
    pub is_tls: bool,
}

/// A policy that counts for a route.
#[derive(Clone, Debug, PartialEq)]
pub struct EffectivePolicy {
    pub object: ObjectId,
    /// What the policy is for, as in "rule `admin` of HTTPRoute shop".
    pub target: String,
    /// The fields of the policy that count, each with its place.
    pub settings: Vec<(Str, Origin)>,
    /// Whether the controller refused the policy as invalid. It replaces other policies even so.
    pub is_refused: bool,
    /// Whether a policy that is closer to the route is merged into it.
    pub is_merged: bool,
    /// The policies of the same kind that would count without this one, nearest first.
    pub replaced: Vec<EffectivePolicy>,
}
