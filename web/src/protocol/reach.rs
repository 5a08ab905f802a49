//! Why requests do not reach a rule, as `chancery_core::explain::WhyNot` writes it.

use super::{Fix, ResourceRef, Span};
use chancery_core::simulate::WrittenRequest;
use serde::{Deserialize, Serialize};

/// Why requests do not reach a resource.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reach {
    pub of: String,
    /// The result for the resource and its problems, one sentence each.
    pub summary: Vec<String>,
    pub cases: Vec<ReachCase>,
    /// Its part in the request on the screen, or the condition that keeps the request from it.
    #[serde(default)]
    pub request: Vec<Contribution>,
    /// A tested edit that makes more requests reach it.
    #[serde(default)]
    pub fix: Option<Fix>,
}

/// What a resource does for a request, or why it does nothing, as `chancery_core::explain::Contribution` writes it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Contribution {
    pub holds: bool,
    pub summary: String,
    pub expected: Option<String>,
    pub actual: Option<String>,
    pub span: Option<Span>,
}

/// A rule and a request for it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReachCase {
    /// How the rule matches.
    pub rule: String,
    /// A JSON pointer into the bootstrap.
    pub pointer: String,
    pub gateway: String,
    /// The nearest request.
    pub request: Option<WrittenRequest>,
    /// Whether the rule matches that request.
    pub reached: bool,
    /// The explanation, one sentence each.
    pub summary: Vec<String>,
    /// The resource whose rule matches the request instead.
    pub winner: Option<ResourceRef>,
    /// The place of that resource.
    pub span: Option<Span>,
}
