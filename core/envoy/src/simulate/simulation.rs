//! The result of a simulation as plain data. Its field names are a contract, since programs read them.

use super::Request;
use super::percent;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// What happens to a request.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Simulation {
    pub outcome: Outcome,
    /// As a sentence, if the outcome alone does not explain it.
    pub why: Option<String>,
    pub listener: Option<String>,
    /// The filter chain: its name, or its number in the listener.
    pub filter_chain: Option<String>,
    pub virtual_host: Option<String>,
    pub route: Option<RouteRef>,
    /// The targets, each with its share.
    pub clusters: Vec<ClusterShare>,
    /// Decisions of others, in the order in which Envoy needs them: the outcome assumes that all of them hold.
    pub conditions: Vec<Condition>,
    /// Status of a response that Envoy makes itself.
    pub status: Option<u32>,
    /// `grpc-status` of such a response: gRPC clients get it with the status 200.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grpc_status: Option<u32>,
    /// `Location` of a redirect.
    pub location: Option<String>,
    /// Body of a response that Envoy makes itself.
    pub body: Option<String>,
    /// The request as the upstream receives it.
    pub upstream: Option<Upstream>,
    /// How long the upstream may take to answer, as in `15s`; `0s` means no limit.
    pub timeout: Option<String>,
    /// The routes that were tried, in order; the matching one is the last. Routes that the index rules out are included only if all routes were
    /// requested.
    pub tried: Vec<TriedRoute>,
    /// Later routes that would also match the request.
    pub shadowed: Vec<RouteRef>,
    /// If no route matches: routes of wider virtual hosts that would. Envoy does not try them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub wider: Vec<WiderRoute>,
    /// The shares of routes that divide such requests at random, if no route matches all of them and all tried routes were requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shares: Vec<RouteShare>,
    pub connection: Option<Connection>,
    /// The virtual host and how it was found.
    pub host: Option<HostChoice>,
    /// The request as the routes saw it, after Envoy's own changes.
    pub seen: Option<RoutedRequest>,
    /// HTTP filters in the order in which they run.
    pub filters: Vec<FilterStep>,
    /// Further settings of the route.
    pub settings: Vec<Setting>,
    /// The clusters that the request may go to.
    pub upstream_clusters: Vec<ClusterView>,
    /// Response headers that are added and removed.
    pub response_headers: Vec<HeaderChange>,
    /// Notes on uncertain parts of the result.
    pub notes: Vec<String>,
    /// The credential that the client lacks, if Envoy answers because of it.
    #[serde(skip)]
    pub lacks: Option<Credential>,
    /// The places of the result's parts in the configuration.
    #[serde(skip)]
    pub places: Vec<Place>,
}

/// A client's credential: a header or a query parameter, with a placeholder for the secret part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credential {
    /// The name of the header or parameter.
    pub name: String,
    pub value: String,
    /// Whether it is a query parameter.
    pub in_query: bool,
}

impl Credential {
    /// Adds it to a request.
    pub fn add_to(&self, request: &mut Request) {
        if self.in_query {
            let mark = if request.path.contains('?') { '&' } else { '?' };
            request.path.push_str(&format!("{mark}{}={}", self.name, self.value));
        } else {
            request.headers.add(&self.name, &self.value);
        }
    }

    /// Creates a credential in a header.
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
    /// Envoy answers itself.
    DirectResponse,
    /// The connection is closed.
    Reset,
    /// No listener has the port.
    #[default]
    NoListener,
    /// No filter chain matches the connection, and Envoy closes it.
    NoFilterChain,
    /// No virtual host has the name: 404.
    NoVirtualHost,
    /// No route matches: 404.
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

/// A decision that does not depend on the request alone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Condition {
    /// The HTTP filter that decides, or `tls` for the handshake.
    pub filter: String,
    /// What must hold, as the rest of a sentence that begins with "if": `extension/auth/users allows it`.
    pub wants: String,
    /// The cluster of the queried service.
    pub cluster: Option<String>,
    /// The status of the answer if it does not hold; `None` if the service chooses it, or if the connection is closed.
    pub otherwise: Option<u32>,
    /// What the queried service learns of the request, as a sentence, if that is less than everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<String>,
    /// The path that the service is asked for over HTTP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_path: Option<String>,
    /// Whether a request passes if the service does not answer.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub fails_open: bool,
}

/// A route of a virtual host.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RouteRef {
    /// Its number in the virtual host, from 0.
    pub index: usize,
    pub name: String,
    /// Its path matcher, as in `prefix /a/`.
    pub path: String,
}

/// A route of a virtual host that is not used for a request.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct WiderRoute {
    /// The domain of its virtual host that contains the request's host, as in `*.example.com`.
    pub domain: String,
    pub route: RouteRef,
}

impl WiderRoute {
    /// Says why the route is not used.
    pub fn words(&self) -> String {
        let host = if self.domain == "*" { "every host".to_owned() } else { self.domain.clone() };
        format!("the route {} for {host} would match, but Envoy tries only the routes of the most specific host", self.route.path)
    }
}

/// A route's share of the requests that only chance distinguishes.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RouteShare {
    /// In percent.
    pub percent: f64,
    /// The route; `None` for the share that no route matches.
    pub route: Option<RouteRef>,
    /// The clusters that it may forward to.
    pub clusters: Vec<String>,
}

impl RouteShare {
    /// Describes the share, as in `90 % match route 2, prefix /a/, to cluster_a`.
    #[must_use]
    pub fn words(&self) -> String {
        let to = if self.clusters.is_empty() { String::new() } else { format!(", to {}", self.clusters.join(" or ")) };
        let share = percent(self.percent);
        match &self.route {
            Some(route) => format!("{share}% match route {}, {}{to}", route.index, route.path),
            None => format!("{share}% match no route"),
        }
    }
}

/// A cluster's share of requests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClusterShare {
    pub name: String,
    /// Its weight; 100 if it is the only one.
    pub weight: u32,
    /// The share in percent.
    pub percent: f64,
}

/// The request as the upstream receives it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Upstream {
    pub method: String,
    /// `Host`, or `:authority`.
    pub authority: String,
    /// Path and query.
    pub path: String,
    /// Headers that the configuration adds or sets.
    pub headers_added: Vec<HeaderChange>,
    /// Headers that the configuration removes, if the request has them.
    pub headers_removed: Vec<String>,
    /// Headers that Envoy itself adds or sets; values that vary are written as `<...>`.
    pub headers_by_envoy: Vec<HeaderChange>,
}

/// A header that is added, set or removed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct HeaderChange {
    pub name: String,
    /// `None` for a removed header.
    pub value: Option<String>,
    /// `add`, `set` or `remove`.
    pub action: &'static str,
    /// Where it is configured: `cluster`, `route`, `virtual_host`, `route_configuration`, `envoy`.
    pub level: &'static str,
}

/// A route that was tried.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TriedRoute {
    /// Its number in the virtual host.
    pub index: usize,
    pub name: String,
    /// Its path matcher, as in `prefix /a/`.
    pub path: String,
    /// Whether it matches the request.
    pub matched: bool,
    /// The matcher that does not match.
    pub failed: Option<Failed>,
    /// The probability in percent, for a route that matches a fraction of requests.
    pub odds: Option<f64>,
}

/// A matcher that does not match the request.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Failed {
    /// The matched property: `prefix`, `path`, `safe_regex`, `header x-name`, `query parameter name`...
    pub matcher: String,
    /// The expected value.
    pub expected: String,
    /// The actual value; `None` if it is missing.
    pub seen: Option<String>,
}

/// The matcher of routes for one scheme.
const SCHEME: &str = "header x-forwarded-proto";

/// The name of a check that fails only by chance.
pub(super) const FRACTION: &str = "runtime_fraction";

/// The name of a check that fails because another filter chain wins.
pub(super) const PRECEDENCE: &str = "precedence";

impl Failed {
    /// Explains the failure as a sentence if the request lacks nothing; else `None`.
    pub fn reason(&self) -> Option<String> {
        match (self.matcher.as_str(), &self.seen) {
            (PRECEDENCE, Some(other)) => Some(format!("{other} is more specific")),
            (SCHEME, Some(seen)) if self.expected == "exact https" => Some(format!("only for HTTPS; this request is {}", seen.to_uppercase())),
            (FRACTION, None) => Some(format!("it matches {}", self.expected)),
            (FRACTION, Some(seed)) => Some(format!("it matches {}, and not the one of {seed}", self.expected)),
            _ => None,
        }
    }
}

/// How the connection was accepted.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Connection {
    /// Address and port that the listener is bound to.
    pub address: String,
    /// Why this listener, if the request does not name the port.
    pub why: Option<String>,
    /// TLS or not, as the listener sees it.
    pub transport_protocol: String,
    /// The server name of the handshake.
    pub server_name: Option<String>,
    /// Filter chains, and the criterion that ruled each one out.
    pub chains: Vec<TriedChain>,
    /// Limits and timeouts of the matching chain for connections.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<Setting>,
}

/// A filter chain that was tried.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TriedChain {
    /// Its name, or its number in the listener.
    pub name: String,
    /// Its criteria.
    pub criteria: Vec<String>,
    /// Whether it matches the connection.
    pub matched: bool,
    /// The criterion that ruled it out, in Envoy's order.
    pub failed: Option<Failed>,
}

/// How the virtual host was found.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct HostChoice {
    /// The host name that Envoy looked up.
    pub looked_for: String,
    /// The domain that matches.
    pub domain: Option<String>,
    /// `exact`, `suffix`, `prefix` or `any`; `None` if no domain matches.
    pub by: Option<&'static str>,
    /// How many virtual hosts there are.
    pub of: usize,
    /// How many routes it has.
    pub routes: usize,
}

/// The request as the routes saw it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RoutedRequest {
    /// The host, after ports and dots were removed.
    pub authority: String,
    /// The normalised path.
    pub path: String,
    /// The changes to them, in order.
    pub changes: Vec<String>,
    /// `x-forwarded-proto`.
    pub forwarded_proto: String,
    /// The client for authorization, rate limits and logs, if the request or the configuration names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_address: Option<ClientAddress>,
}

/// The address that Envoy uses as the client's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ClientAddress {
    /// Missing if it is that of the connection, and the request does not name it.
    pub address: Option<String>,
    /// Where it is from, as in `from X-Forwarded-For, with 1 trusted hop`.
    pub from: String,
}

impl ClientAddress {
    /// The address and its source, as one clause.
    #[must_use]
    pub fn words(&self) -> String {
        match &self.address {
            Some(address) => format!("client address {address}: {}", self.from),
            None => format!("client address: {}", self.from),
        }
    }
}

/// An HTTP filter.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FilterStep {
    pub name: String,
    /// Whether it runs for this request.
    pub enabled: bool,
    /// What it does with this request: `passes`, `asks`, `answers`, `disabled`, `not_reached`.
    pub verdict: &'static str,
    /// The same as a phrase.
    pub does: Option<String>,
}

/// A setting of the route.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Setting {
    /// Envoy's field, as in `retry_policy`.
    pub name: String,
    /// As a phrase.
    pub value: String,
}

/// A cluster.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ClusterView {
    pub name: String,
    /// Whether it exists.
    pub known: bool,
    /// How its endpoints are found.
    pub discovery: String,
    /// The known endpoints.
    pub endpoints: Vec<String>,
    /// How an endpoint is chosen.
    pub load_balancing: String,
    /// TLS towards it.
    pub tls: Option<String>,
    /// The limits that are set.
    pub circuit_breakers: Vec<String>,
    /// Further settings.
    pub settings: Vec<Setting>,
}

/// The place of a part.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The part: `listener`, `filter_chain`, `virtual_host`, `route`, `cluster NAME`, `tried N`, `shadowed N`, `wider N`.
    pub of: String,
    /// JSON pointer into the document.
    pub pointer: String,
}
