//! How a request ends, in the terms of a user's expectation; and saved requests with their expected end. Does not simulate; see `run`.

use super::simulation::{ClusterShare, Outcome, Simulation};
use super::{Gateway, WrittenRequest};
use alloc::borrow::ToOwned;
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
    /// `Host` as the upstream receives it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authority: Option<String>,
    /// Path and query as the upstream receives them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

impl Ending {
    #[must_use]
    pub fn of(simulation: &Simulation) -> Self {
        Self {
            outcome: simulation.outcome,
            status: simulation.status,
            location: simulation.location.clone(),
            clusters: simulation.clusters.clone(),
            authority: simulation.upstream.as_ref().map(|upstream| upstream.authority.clone()),
            path: simulation.upstream.as_ref().map(|upstream| upstream.path.clone()),
        }
    }

    /// Describes the end as the end of a sentence: `goes to cluster_shop as /v2/`.
    #[must_use]
    pub fn summary(&self) -> String {
        let status = self.status.map(|status| format!(" {status}")).unwrap_or_default();
        match self.outcome {
            Outcome::Forward => {
                let one = |share: &ClusterShare| match self.clusters.len() {
                    1 => share.name.clone(),
                    _ => format!("{} ({}%)", share.name, percent(share.percent)),
                };
                let to = self.clusters.iter().map(one).collect::<Vec<_>>().join(", ");
                let path = self.path.as_ref().map(|path| format!(" as {path}")).unwrap_or_default();
                format!("goes to {to}{path}")
            }
            Outcome::Redirect => format!("is redirected{status} to {}", self.location.as_deref().unwrap_or_default()),
            Outcome::DirectResponse => format!("is answered{status} by Envoy itself"),
            Outcome::NoRoute => format!("matches no route: Envoy answers{status}"),
            Outcome::NoVirtualHost => format!("matches no virtual host: Envoy answers{status}"),
            Outcome::Reset => "fails: Envoy closes the connection".to_owned(),
            Outcome::NoFilterChain => "matches no filter chain: Envoy closes the connection".to_owned(),
            Outcome::NoListener => "has no listener".to_owned(),
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

impl SavedRequest {
    /// Simulates the request and compares the result.
    #[must_use]
    pub fn judge(&self, gateway: &Gateway<'_>) -> Verdict {
        let expected = self.expected.summary();
        match self.request.read() {
            Ok(request) => {
                let ending = Ending::of(&gateway.simulate(&request));
                Verdict { holds: ending == self.expected, expected, now: ending.summary(), ending: Some(ending) }
            }
            Err(why) => Verdict { holds: false, expected, now: why, ending: None },
        }
    }
}
