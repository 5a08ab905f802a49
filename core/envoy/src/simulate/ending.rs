//! How a request ends, in the terms of a user's expectation; and saved requests with their expected end. Does not simulate; see `run`.

use super::WrittenRequest;
use super::simulation::{ClusterShare, Outcome, Simulation};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// How a request ends.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Ending {
    pub outcome: Outcome,
    /// Status of a response that Envoy makes itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u32>,
    /// `Location` of a redirect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// The targets, each with its share.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clusters: Vec<ClusterShare>,
    /// If chance divides such requests among several routes: the share of each route.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shares: Vec<RouteShareEnding>,
    /// `Host` as the upstream receives it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authority: Option<String>,
    /// Path and query as the upstream receives them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The gateway that ends the request, if it is not the first on its way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// The shares that another gateway ends, if the others are forwarded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<LostShare>,
}

/// The part of requests that a later gateway does not forward.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LostShare {
    /// In percent.
    pub percent: f64,
    /// The gateway.
    pub at: String,
    /// The status of its answer. Missing if it closes the connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u32>,
}

/// The part of requests that one of several routes gets by chance.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RouteShareEnding {
    /// In percent.
    pub percent: f64,
    /// The clusters that the route may forward to; none for requests that no route matches.
    pub clusters: Vec<String>,
}

impl Ending {
    #[must_use]
    pub fn of(simulation: &Simulation) -> Self {
        Self {
            outcome: simulation.outcome,
            status: simulation.status,
            location: simulation.location.clone(),
            clusters: simulation.clusters.clone(),
            shares: simulation.shares.iter().map(|share| RouteShareEnding { percent: share.percent, clusters: share.clusters.clone() }).collect(),
            at: None,
            lost: Vec::new(),
            authority: simulation.upstream.as_ref().map(|upstream| upstream.authority.clone()),
            path: simulation.upstream.as_ref().map(|upstream| upstream.path.clone()),
        }
    }

    /// Describes the end as the end of a sentence: `goes to cluster_shop as /v2/`.
    #[must_use]
    pub fn summary(&self) -> String {
        self.summary_at("Envoy")
    }

    /// Describes the end in a gateway of another kind. `server` is the name of the program.
    #[must_use]
    pub fn summary_at(&self, server: &str) -> String {
        let at = self.at.as_ref().map(|at| format!(" ({at})")).unwrap_or_default();
        let status = self.status.map(|status| format!(" {status}")).unwrap_or_default();
        match self.outcome {
            Outcome::Forward => {
                let one = |share: &ClusterShare| match self.clusters.len() {
                    1 => share.name.clone(),
                    _ => format!("{} ({}%)", share.name, percent(share.percent)),
                };
                let of_chance = |share: &RouteShareEnding| {
                    let to = if share.clusters.is_empty() { "no route".into() } else { share.clusters.join(" or ") };
                    format!("{to} ({}%)", percent(share.percent))
                };
                let to: Vec<String> =
                    if self.shares.is_empty() { self.clusters.iter().map(one).collect() } else { self.shares.iter().map(of_chance).collect() };
                let to = to.join(", ");
                let path = self.path.as_ref().map(|path| format!(" as {path}")).unwrap_or_default();
                let lost = |of: &LostShare| {
                    let end = of.status.map_or_else(|| "lose their connection".to_string(), |status| format!("get {status}"));
                    format!(", but {}% {end} at {}", percent(of.percent), of.at)
                };
                format!("goes to {to}{path}{}", self.lost.iter().map(lost).collect::<String>())
            }
            Outcome::Redirect => format!("is redirected{status} to {}", self.location.as_deref().unwrap_or_default()),
            Outcome::DirectResponse => format!("is answered{status} by {server} itself{at}"),
            Outcome::NoRoute => format!("matches no route: {server} answers{status}{at}"),
            Outcome::NoVirtualHost => format!("matches no virtual host: {server} answers{status}{at}"),
            Outcome::Reset => format!("fails: {server} closes the connection{at}"),
            Outcome::NoFilterChain => format!("matches no filter chain: {server} closes the connection{at}"),
            Outcome::NoListener => format!("has no listener{at}"),
        }
    }
}

/// Formats a share with at most two decimals; a positive share is never shown as 0.
#[must_use]
pub fn percent(of: f64) -> String {
    if of > 0.0 && of < 0.005 {
        return "<0.01".into();
    }
    let text = format!("{of:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// A saved request with its expected end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedRequest {
    pub request: WrittenRequest,
    /// How it ended when it was saved, or how it should end.
    pub expected: Ending,
}

/// The result of a saved request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// Whether it ends as expected.
    pub holds: bool,
    /// The expected end, as a phrase.
    pub expected: String,
    /// The actual end, as a phrase, or why it is not a request.
    pub now: String,
    /// The actual end; `None` if it is not a request.
    pub ending: Option<Ending>,
}
