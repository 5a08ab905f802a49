//! Why requests do not reach a rule, as `chancery_core::explain::WhyNot` tells it.
//!
//! What must not be here: finding it out.

use super::{Fix, ResourceRef, Span};
use chancery_core::simulate::WrittenRequest;
use serde::{Deserialize, Serialize};

/// What is known of a resource that requests may not reach.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reach {
    /// The resource.
    pub of: String,
    /// What became of it, and what is wrong with it, a sentence each.
    pub told: Vec<String>,
    /// Its rules, each with a request.
    pub cases: Vec<ReachCase>,
    /// A change of the text after which more requests reach it: that was tried.
    #[serde(default)]
    pub fix: Option<Fix>,
}

/// A rule, and a request that asks for it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReachCase {
    /// How it is matched.
    pub rule: String,
    /// Where it stands in the bootstrap.
    pub pointer: String,
    /// The gateway that has it.
    pub gateway: String,
    /// The nearest request.
    pub request: Option<WrittenRequest>,
    /// Whether it takes that request.
    pub reached: bool,
    /// What there is to say, a sentence each.
    pub told: Vec<String>,
    /// The resource whose rule takes the request instead.
    pub winner: Option<ResourceRef>,
    /// Where that stands.
    pub span: Option<Span>,
}
