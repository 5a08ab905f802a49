//! What becomes of a request, as plain data. Field names are a contract: programs read them.
//!
//! What must not be here: how it is found out.

use super::Request;
use super::percent;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// What becomes of a request.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Simulation {
    /// How it ends.
    pub outcome: Outcome,
    /// In a sentence, where the outcome alone does not say it.
    pub why: Option<String>,
    /// Name of the listener.
    pub listener: Option<String>,
    /// The filter chain: its name, or its number in the listener.
    pub filter_chain: Option<String>,
    /// Name of the virtual host.
    pub virtual_host: Option<String>,
    /// The route.
    pub route: Option<RouteRef>,
    /// Where the request goes, and with what share.
    pub clusters: Vec<ClusterShare>,
    /// What others decide, in the order in which they are asked: the outcome is what follows if all of it holds.
    pub conditions: Vec<Condition>,
    /// Status of a response that Envoy makes itself.
    pub status: Option<u32>,
    /// `grpc-status` of such a response: clients of gRPC get it with the status 200.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grpc_status: Option<u32>,
    /// `Location` of a redirect.
    pub location: Option<String>,
    /// Body of a response that Envoy makes itself.
    pub body: Option<String>,
    /// The request as the upstream gets it.
    pub upstream: Option<Upstream>,
    /// How long the upstream has to answer, as in `15s`; `0s` is without end.
    pub timeout: Option<String>,
    /// The routes that were tried, in order, the one that was taken last. Routes that an index rules out unseen are in it only where
    /// all were asked for.
    pub tried: Vec<TriedRoute>,
    /// Routes after the one that was taken that would have taken the request too.
    pub shadowed: Vec<RouteRef>,
    /// The routes that share such requests by chance, where one does not take them all and all that was tried is asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shares: Vec<RouteShare>,
    /// The connection.
    pub connection: Option<Connection>,
    /// The virtual host and how it was found.
    pub host: Option<HostChoice>,
    /// The request as the routes saw it, after Envoy's own changes.
    pub seen: Option<RoutedRequest>,
    /// HTTP filters in the order in which they run.
    pub filters: Vec<FilterStep>,
    /// What the route says besides.
    pub settings: Vec<Setting>,
    /// The clusters that the request may go to.
    pub upstream_clusters: Vec<ClusterView>,
    /// Response headers that are added and removed.
    pub response_headers: Vec<HeaderChange>,
    /// What is not certain.
    pub notes: Vec<String>,
    /// What the client would have to show, where Envoy answers because it did not.
    #[serde(skip)]
    pub lacks: Option<Credential>,
    /// Where in the configuration the parts of this answer are.
    #[serde(skip)]
    pub places: Vec<Place>,
}

/// What a client shows to be let in: a header, or a parameter of the query, with a placeholder for what is secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credential {
    /// The header or the parameter.
    pub name: String,
    /// Its value.
    pub value: String,
    /// Whether it is a parameter.
    pub in_query: bool,
}

impl Credential {
    /// Shows it with a request.
    pub fn add_to(&self, request: &mut Request) {
        if self.in_query {
            let mark = if request.path.contains('?') { '&' } else { '?' };
            request.path.push_str(&format!("{mark}{}={}", self.name, self.value));
        } else {
            request.headers.add(&self.name, &self.value);
        }
    }

    /// A header.
    pub(super) fn header(name: &str, value: impl Into<String>) -> Self {
        Self { name: name.into(), value: value.into(), in_query: false }
    }
}

/// How a request ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It goes to a cluster.
    Forward,
    /// Envoy redirects it.
    Redirect,
    /// Envoy answers by itself.
    DirectResponse,
    /// The connection is closed.
    Reset,
    /// Nothing listens there.
    #[default]
    NoListener,
    /// No filter chain takes the connection, which is closed.
    NoFilterChain,
    /// No virtual host has the name: 404.
    NoVirtualHost,
    /// No route takes it: 404.
    NoRoute,
}

impl Outcome {
    /// The word in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::Redirect => "redirect",
            Self::DirectResponse => "direct_response",
            Self::Reset => "reset",
            Self::NoListener => "no_listener",
            Self::NoFilterChain => "no_filter_chain",
            Self::NoVirtualHost => "no_virtual_host",
            Self::NoRoute => "no_route",
        }
    }
}

/// Something that others than the request decide.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Condition {
    /// The HTTP filter that asks, or `tls` for the handshake.
    pub filter: String,
    /// What must hold, as the rest of a sentence that begins with "if": `extension/auth/users allows it`.
    pub wants: String,
    /// The cluster that is asked.
    pub cluster: Option<String>,
    /// The status of the answer where it does not hold; none where whoever is asked chooses it, or where the connection is closed.
    pub otherwise: Option<u32>,
}

/// A route of a virtual host.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RouteRef {
    /// Its number in the virtual host, from 0.
    pub index: usize,
    /// Its name.
    pub name: String,
    /// Its path matcher, as in `prefix /a/`.
    pub path: String,
}

/// A route's share of the requests that only chance tells apart.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RouteShare {
    /// How many of them, in percent.
    pub percent: f64,
    /// The route; none for the share that no route takes.
    pub route: Option<RouteRef>,
    /// The clusters that it may forward to.
    pub clusters: Vec<String>,
}

impl RouteShare {
    /// The share in words, as in `90 % take route 2, prefix /a/, to cluster_a`.
    #[must_use]
    pub fn words(&self) -> String {
        let to = if self.clusters.is_empty() { String::new() } else { format!(", to {}", self.clusters.join(" or ")) };
        let share = percent(self.percent);
        match &self.route {
            Some(route) => format!("{share} % take route {}, {}{to}", route.index, route.path),
            None => format!("{share} % match no route"),
        }
    }
}

/// A cluster's share of requests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClusterShare {
    /// The cluster.
    pub name: String,
    /// Its weight; 100 where it is the only one.
    pub weight: u32,
    /// The share in percent.
    pub percent: f64,
}

/// The request as the upstream gets it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Upstream {
    /// Its method.
    pub method: String,
    /// `Host`, or `:authority`.
    pub authority: String,
    /// Path and query.
    pub path: String,
    /// Headers that the configuration adds or sets.
    pub headers_added: Vec<HeaderChange>,
    /// Headers that the configuration takes away, where the request has them.
    pub headers_removed: Vec<String>,
    /// Headers that Envoy itself adds or sets; values that differ each time are written as `<...>`.
    pub headers_by_envoy: Vec<HeaderChange>,
}

/// A header that is added, set or removed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct HeaderChange {
    /// Name.
    pub name: String,
    /// Value; none for one that is removed.
    pub value: Option<String>,
    /// What is done: `add`, `set`, `remove`.
    pub action: &'static str,
    /// Where it is configured: `cluster`, `route`, `virtual_host`, `route_configuration`, `envoy`.
    pub level: &'static str,
}

/// A route that was tried.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TriedRoute {
    /// Its number in the virtual host.
    pub index: usize,
    /// Its name.
    pub name: String,
    /// Its path matcher, as in `prefix /a/`.
    pub path: String,
    /// Whether it takes the request.
    pub matched: bool,
    /// The matcher that does not.
    pub failed: Option<Failed>,
    /// The odds in percent, for a route that takes a fraction of requests.
    pub odds: Option<f64>,
}

/// A matcher that does not take the request.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Failed {
    /// What it looks at: `prefix`, `path`, `safe_regex`, `header x-name`, `query parameter name`...
    pub matcher: String,
    /// What it wants.
    pub expected: String,
    /// What it saw; none where there was nothing.
    pub seen: Option<String>,
}

/// What a check names that chance alone fails.
pub(super) const FRACTION: &str = "runtime_fraction";

/// What a check names that another filter chain wins.
pub(super) const PRECEDENCE: &str = "precedence";

impl Failed {
    /// Why it does not take the request where it asks for nothing that the request lacks, as a sentence.
    pub fn told(&self) -> Option<String> {
        match (self.matcher.as_str(), &self.seen) {
            (PRECEDENCE, Some(other)) => Some(format!("{other} is more specific")),
            (FRACTION, None) => Some(format!("it takes {}", self.expected)),
            (FRACTION, Some(seed)) => Some(format!("it takes {}, and not the one of {seed}", self.expected)),
            _ => None,
        }
    }
}

/// How the connection was taken.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Connection {
    /// Address and port that the listener is bound to.
    pub address: String,
    /// Why this listener, where the request does not say the port.
    pub why: Option<String>,
    /// TLS or not, as the listener sees it.
    pub transport_protocol: String,
    /// The server's name.
    pub server_name: Option<String>,
    /// Filter chains and what ruled them out.
    pub chains: Vec<TriedChain>,
}

/// A filter chain that was tried.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TriedChain {
    /// Its name, or its number in the listener.
    pub name: String,
    /// What it wants.
    pub criteria: Vec<String>,
    /// Whether it takes the connection.
    pub matched: bool,
    /// The criterion that ruled it out, in Envoy's order.
    pub failed: Option<Failed>,
}

/// How the virtual host was found.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct HostChoice {
    /// The host that was looked for.
    pub looked_for: String,
    /// The domain that has it.
    pub domain: Option<String>,
    /// `exact`, `suffix`, `prefix`, `any`; none where there is no such host.
    pub by: Option<&'static str>,
    /// How many virtual hosts there are.
    pub of: usize,
    /// How many routes it has.
    pub routes: usize,
}

/// The request as the routes saw it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RoutedRequest {
    /// The host, after ports and dots were stripped.
    pub authority: String,
    /// The path, after it was normalised.
    pub path: String,
    /// What changed them, in order.
    pub changes: Vec<String>,
    /// `x-forwarded-proto`.
    pub forwarded_proto: String,
}

/// An HTTP filter.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FilterStep {
    /// Its name.
    pub name: String,
    /// Whether it runs for this request.
    pub enabled: bool,
    /// What it does with this request: `passes`, `asks`, `answers`, `disabled`, `not_reached`.
    pub verdict: &'static str,
    /// What it does, in words.
    pub does: Option<String>,
}

/// Something that the route says.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Setting {
    /// Envoy's field, as in `retry_policy`.
    pub name: String,
    /// In words.
    pub value: String,
}

/// A cluster.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ClusterView {
    /// Its name.
    pub name: String,
    /// Whether there is one.
    pub known: bool,
    /// How its endpoints are found.
    pub discovery: String,
    /// The endpoints that are known.
    pub endpoints: Vec<String>,
    /// How one of them is chosen.
    pub load_balancing: String,
    /// TLS towards it.
    pub tls: Option<String>,
    /// Limits, as far as they are set.
    pub circuit_breakers: Vec<String>,
    /// What else it says.
    pub settings: Vec<Setting>,
}

/// Where something stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Place {
    /// What: `listener`, `filter_chain`, `virtual_host`, `route`, `cluster NAME`, `tried N`, `shadowed N`.
    pub of: String,
    /// JSON pointer into the document.
    pub pointer: String,
}
