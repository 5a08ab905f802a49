//! The result of a simulated request, step by step. Does not define requests and expectations; see `chancery_core::simulate`.

use super::Span;
use chancery_core::simulate::{Ending, WrittenRequest};
use serde::{Deserialize, Serialize};

/// The result of a request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Way {
    pub ending: Ending,
    /// The verdict on the whole way, in the user's terms: Services with ports and shares.
    #[serde(default)]
    pub headline: String,
    /// The status of a response that a gateway makes itself.
    #[serde(default)]
    pub status: Option<u32>,
    /// The gateway that receives the request, if it is not the shown gateway.
    #[serde(default)]
    pub gateway: Option<String>,
    /// The boxes of the graph's overview that the request passes.
    #[serde(default)]
    pub nodes: Vec<String>,
    /// The boxes of Envoy's parts that the request passes.
    #[serde(default)]
    pub parts: Vec<String>,
    /// Whether it reaches an upstream or a redirect, and not an error.
    pub good: bool,
    /// The steps in Envoy's order.
    pub steps: Vec<Step>,
    /// If no route matches: the nearest served hosts, as the beginning of a URL.
    #[serde(default)]
    pub hosts: Vec<String>,
    /// If no route matches: resources for the host that are not served.
    #[serde(default)]
    pub wanting: Vec<Wanting>,
    /// If the route returns an error: the findings of the resources that produced the route.
    #[serde(default)]
    pub reasons: Vec<Reason>,
    /// Uncertain parts of the result.
    pub notes: Vec<String>,
    /// The next gateways on the request's way.
    #[serde(default)]
    pub then: Vec<Hop>,
}

/// A gateway on the request's way, after the first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Hop {
    pub gateway: String,
    /// The result at this gateway.
    pub result: String,
    /// Whether the request continues from there.
    pub good: bool,
    /// The steps at this gateway. They have no pointers, because the page shows another gateway.
    pub steps: Vec<Step>,
}

/// A resource for the host of a request that is not served.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Wanting {
    pub resource: String,
    /// The result for the resource.
    pub state: String,
    /// The reasons, one sentence each.
    pub why: Vec<String>,
    pub span: Option<Span>,
}

/// A finding that explains why a route returns an error.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reason {
    /// `error` or `warning`.
    pub severity: String,
    pub message: String,
    pub span: Option<Span>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The kind of step, for example `Listener`.
    pub what: String,
    pub name: String,
    /// Whether the request fails here.
    pub lost: bool,
    /// A JSON pointer into the bootstrap.
    pub pointer: Option<String>,
    /// The box of the graph's overview that shows this step.
    #[serde(default)]
    pub node: Option<String>,
    /// The lines that produced the part.
    pub spans: Vec<Span>,
    /// The explanation, one sentence each.
    pub facts: Vec<String>,
    /// The candidates in order. The matching candidate is the last.
    pub tried: Vec<Tried>,
    /// The request that the upstream receives, line by line.
    pub sent: Vec<Sent>,
    /// Other settings, by name.
    pub settings: Vec<(String, String)>,
}

/// A filter chain or a route that was tried.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tried {
    /// Its number in the list of routes; 0 for routes that the controller adds itself.
    #[serde(default)]
    pub number: u32,
    pub name: String,
    /// Whether it matched.
    pub taken: bool,
    /// The condition that did not match, for example `header x-version`. Empty if the name contains it.
    pub matcher: String,
    /// The expected value.
    pub expected: String,
    /// The actual value, if any.
    pub seen: Option<String>,
    /// Whether only the path did not match.
    pub far: bool,
    /// A JSON pointer into the bootstrap.
    pub pointer: Option<String>,
    /// The line that produced it.
    pub span: Option<Span>,
}

/// A line of the request that the upstream receives.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sent {
    pub line: String,
    /// `+` for an added line, `-` for a removed line, otherwise empty.
    pub sign: String,
    /// The part that changes the line.
    pub by: String,
}

/// A service that a proxy of a mesh reaches, as `chancery_core::explain::MeshDestination` writes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Destination {
    pub name: String,
    pub request: WrittenRequest,
}
