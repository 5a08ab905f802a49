//! A request's way through the gateway, step by step.
//!
//! What must not be here: what was asked; `chancery_core::simulate` has requests, and what was expected of them.

use super::Span;
use chancery_core::simulate::Ending;
use serde::{Deserialize, Serialize};

/// What becomes of a request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Way {
    /// How it ends.
    pub ending: Ending,
    /// The same in words.
    pub told: String,
    /// The same in the user's words: Services with their ports, and shares.
    #[serde(default)]
    pub headline: String,
    /// The boxes of the graph's story that the request passes.
    #[serde(default)]
    pub nodes: Vec<String>,
    /// Whether an upstream or a redirect has it, rather than an error.
    pub good: bool,
    /// The steps, in the order in which Envoy takes them.
    pub steps: Vec<Step>,
    /// Where no route takes it: hosts that are served, nearest first, as URLs begin.
    #[serde(default)]
    pub hosts: Vec<String>,
    /// Where no route takes it: resources that want its host and are not served.
    #[serde(default)]
    pub wanting: Vec<Wanting>,
    /// Where the route makes Envoy answer with an error: what was found in the resources that made the route.
    #[serde(default)]
    pub reasons: Vec<Reason>,
    /// What is not certain.
    pub notes: Vec<String>,
    /// The gateways that it goes on to, one after the other.
    #[serde(default)]
    pub then: Vec<Hop>,
}

/// A gateway on a request's way, after the first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Hop {
    /// The gateway.
    pub gateway: String,
    /// What becomes of the request there.
    pub told: String,
    /// Whether it goes on from there.
    pub good: bool,
    /// The steps there; nothing in them leads to a place, as another gateway is shown.
    pub steps: Vec<Step>,
}

/// A resource that wants the host of a request, and is not served.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Wanting {
    /// The resource.
    pub resource: String,
    /// What became of it.
    pub state: String,
    /// Why, in sentences.
    pub why: Vec<String>,
    /// Where it stands.
    pub span: Option<Span>,
}

/// Why a route makes Envoy answer with an error.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reason {
    /// `error` or `warning`.
    pub severity: String,
    /// One sentence.
    pub message: String,
    /// Where it stands.
    pub span: Option<Span>,
}

/// A step of the way.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// What it is, as in `Listener`.
    pub what: String,
    /// Its name.
    pub name: String,
    /// Whether the way ends here in vain.
    pub lost: bool,
    /// Where it stands in the bootstrap.
    pub pointer: Option<String>,
    /// The lines that made it.
    pub spans: Vec<Span>,
    /// What there is to say, a sentence each.
    pub told: Vec<String>,
    /// What was tried here, in order; the one that was taken last.
    pub tried: Vec<Tried>,
    /// The request as the upstream gets it, line by line.
    pub sent: Vec<Sent>,
    /// What else is set, by name.
    pub settings: Vec<(String, String)>,
}

/// Something that was tried: a filter chain or a route.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tried {
    /// What it is called.
    pub name: String,
    /// Whether it was taken.
    pub taken: bool,
    /// What ruled it out, as in `header x-version`; empty where the name says it already.
    pub matcher: String,
    /// What it wanted.
    pub expected: String,
    /// What it saw; nothing where there was nothing.
    pub seen: Option<String>,
    /// Whether only its path was ruled out, as of most routes.
    pub far: bool,
    /// Where it stands in the bootstrap.
    pub pointer: Option<String>,
    /// The line that made it.
    pub span: Option<Span>,
}

/// A line of the request as the upstream gets it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sent {
    /// The line.
    pub line: String,
    /// `+` for what is added, `-` for what is taken away, else empty.
    pub sign: String,
    /// Who does it.
    pub by: String,
}
