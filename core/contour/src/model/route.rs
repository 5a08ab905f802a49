//! Models a route: how its requests are handled.

use super::{Cluster, Conditions, CookieRewrite, HeadersPolicy, IpFilter, RateLimitPolicy, RouteTimeouts, Timeout};
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir;
use chancery_base::resource::{Also, Origin, Sourced};
use chancery_text::Str;

#[derive(Clone, Debug)]
pub struct Route {
    /// Which requests match.
    pub conditions: Conditions,
    /// Its place among routes that are otherwise equal: lower first (Gateway API).
    pub priority: u8,
    /// Where to.
    pub clusters: Vec<Arc<Cluster>>,
    /// Without TLS it redirects to https.
    pub https_upgrade: Option<Sourced<()>>,
    /// Authorization is off for it.
    pub auth_disabled: Option<Sourced<()>>,
    /// Values for the authorization service.
    pub auth_context: BTreeMap<Str, Sourced<Str>>,
    /// Allows upgrades to websockets.
    pub websocket: Option<Sourced<()>>,
    pub timeouts: RouteTimeouts,
    pub retry: Option<Sourced<RetryPolicy>>,
    /// How the path is rewritten.
    pub rewrite: Option<Sourced<PathRewrite>>,
    /// Copies of requests.
    pub mirrors: Vec<Mirror>,
    /// Changes of request headers.
    pub request_headers: Option<HeadersPolicy>,
    /// Changes of response headers.
    pub response_headers: Option<HeadersPolicy>,
    /// Changes of cookies.
    pub cookies: Vec<Sourced<CookieRewrite>>,
    pub rate_limit: Option<Sourced<RateLimitPolicy>>,
    /// Ignores the virtual host's global rate limits.
    pub ignore_host_rate_limits: Option<Sourced<()>>,
    /// Hash policies, each with whether it ends the list.
    pub hash_policies: Vec<Sourced<(ir::HashPolicy, bool)>>,
    /// Envoy answers.
    pub direct_response: Option<Sourced<DirectResponse>>,
    /// The client is sent elsewhere.
    pub redirect: Option<Sourced<Redirect>>,
    /// Name of the provider of tokens; `None`: no token is needed.
    pub jwt_provider: Option<Sourced<Str>>,
    /// Envoy follows redirects.
    pub internal_redirect: Option<Sourced<InternalRedirect>>,
    /// Addresses that may pass, or may not.
    pub ip_filter: Option<IpFilter>,
    /// Kind, namespace and name that it names in its metadata.
    pub source: (Str, Str, Str),
    /// The resources that produced it; the first is the main one.
    pub origins: Vec<Origin>,
}

impl Route {
    /// A route that does nothing yet.
    pub fn new(conditions: Conditions) -> Self {
        Self {
            conditions,
            priority: 0,
            clusters: Vec::new(),
            https_upgrade: None,
            auth_disabled: None,
            auth_context: BTreeMap::new(),
            websocket: None,
            timeouts: RouteTimeouts::default(),
            retry: None,
            rewrite: None,
            mirrors: Vec::new(),
            request_headers: None,
            response_headers: None,
            cookies: Vec::new(),
            rate_limit: None,
            ignore_host_rate_limits: None,
            hash_policies: Vec::new(),
            direct_response: None,
            redirect: None,
            jwt_provider: None,
            internal_redirect: None,
            ip_filter: None,
            source: Default::default(),
            origins: Vec::new(),
        }
    }
}

#[derive(Clone, Debug)]
pub struct RetryPolicy {
    /// Envoy's condition names, comma separated.
    pub retry_on: Sourced<Str>,
    /// Statuses for `retriable-status-codes`.
    pub status_codes: Vec<Sourced<u32>>,
    /// How often.
    pub num_retries: Sourced<u32>,
    /// For one try.
    pub per_try: Sourced<Timeout>,
}

/// How a path is rewritten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathRewrite {
    /// The matched prefix is replaced.
    Prefix(Str),
    /// The whole path is replaced.
    Full(Str),
    /// Removes the match of this expression, with its further origins.
    RemovePrefixRegex(Str, Also),
}

/// A copy of requests.
#[derive(Clone, Debug)]
pub struct Mirror {
    /// Where to.
    pub cluster: Arc<Cluster>,
    /// Per cent.
    pub weight: Sourced<i64>,
}

/// Envoy answers.
#[derive(Clone, Debug)]
pub struct DirectResponse {
    /// HTTP status.
    pub status: Sourced<u32>,
    /// Body; may be empty.
    pub body: Sourced<Str>,
}

/// A redirect of the client; empty or 0 keeps the request's value.
#[derive(Clone, Debug, Default)]
pub struct Redirect {
    /// Host.
    pub hostname: Sourced<Str>,
    pub scheme: Sourced<Str>,
    pub port: Sourced<u32>,
    /// HTTP status.
    pub status: Sourced<u32>,
    pub path: Option<Sourced<PathRewrite>>,
}

/// Envoy follows redirects of upstreams.
#[derive(Clone, Debug)]
pub struct InternalRedirect {
    /// How many.
    pub max: Sourced<u32>,
    /// Which statuses.
    pub codes: Vec<Sourced<u32>>,
    /// `Always`, `SafeOnly` or `Never`.
    pub cross_scheme: Sourced<Str>,
    /// Not twice to the same route.
    pub deny_repeated_route: Sourced<bool>,
}
