//! Virtual hosts and routes.

use super::{HeaderMatch, HeaderMutations, HeaderName, Json, LocalRateLimit, Origins, Rbac, Regex, StatusCode, StringMatch};
use crate::resource::{Also, Sourced};
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_text::Str;
use core::time::Duration;

/// A table of virtual hosts, inline in its listener or served by RDS.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct RouteConfiguration {
    /// Its name, unique in the gateway.
    pub name: Str,
    /// In the order of the controller.
    pub virtual_hosts: Vec<VirtualHost>,
    /// `ignore_port_in_host_matching`.
    pub ignore_port_in_host: bool,
    /// Headers changed for all its routes.
    pub request_headers: HeaderMutations,
    /// It is asked for by name, but nothing is served under it.
    pub absent: bool,
}

/// The routes of one set of domains.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct VirtualHost {
    /// Unique in its table.
    pub name: Str,
    /// Exact, `*.suffix`, `prefix.*` or `*`.
    pub domains: Vec<Sourced<Str>>,
    /// First match wins. Shared where several listeners have the same routes, and with earlier compiles.
    pub routes: Arc<Vec<Arc<Route>>>,
    /// Headers added to responses.
    pub response_headers: HeaderMutations,
    /// Configuration of HTTP filters for its routes, by filter name.
    pub per_filter: Vec<(Str, Sourced<PerFilter>)>,
    /// Rate limit descriptors.
    pub rate_limits: Vec<Sourced<RateLimitDescriptor>>,
    /// What made it.
    pub origins: Origins,
}

/// One route.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Route {
    /// Empty where the controller gives none.
    pub name: Str,
    /// Which requests it takes.
    pub matcher: RouteMatch,
    /// What happens to them.
    pub action: RouteAction,
    /// Request headers added and removed.
    pub request_headers: HeaderMutations,
    /// Response headers added and removed.
    pub response_headers: HeaderMutations,
    /// Configuration of HTTP filters for this route, by filter name.
    pub per_filter: Vec<(Str, Sourced<PerFilter>)>,
    /// `metadata.filter_metadata`.
    pub metadata: Vec<(Str, Json)>,
    /// The resources that made it; the first is the main one.
    pub origins: Origins,
}

/// Which requests a route takes: all that is set must match.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct RouteMatch {
    /// The path.
    pub path: Sourced<PathMatch>,
    /// What else the path was joined from.
    #[serde(skip)]
    pub path_also: Also,
    /// `None` leaves Envoy's default, which is case-sensitive.
    pub case_sensitive: Option<Sourced<bool>>,
    /// Headers, `:authority` and `:method` included.
    pub headers: Vec<Sourced<HeaderMatch>>,
    /// Query parameters.
    pub query: Vec<Sourced<QueryMatch>>,
    /// The share of requests that it takes.
    pub fraction: Option<RuntimeFraction>,
    /// gRPC requests only.
    pub grpc: bool,
}

/// How the path is matched.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum PathMatch {
    /// Starts with.
    Prefix(Str),
    /// Is.
    Exact(Str),
    /// The whole path matches.
    Regex(Regex),
    /// Starts with, at a segment's end.
    PathSeparatedPrefix(Str),
}

impl Default for PathMatch {
    fn default() -> Self {
        PathMatch::Prefix(Str::new_static("/"))
    }
}

/// One query parameter matcher.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct QueryMatch {
    /// Parameter name.
    pub name: Str,
    /// Its value.
    pub value: StringMatch,
    /// ASCII case does not count.
    pub ignore_case: bool,
}

/// A share of requests, changeable at run time.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct RuntimeFraction {
    /// Out of 100.
    pub percent: Sourced<u32>,
    /// What else it was computed from: the shares of others.
    #[serde(skip)]
    pub percent_also: Also,
    /// Runtime key that overrides it, if any.
    pub runtime_key: Option<Str>,
}

/// What happens to a request.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum RouteAction {
    /// It goes to a cluster.
    Forward(Arc<Forward>),
    /// The client is sent elsewhere.
    Redirect(Box<Redirect>),
    /// Envoy answers.
    Respond(DirectResponse),
}

impl Default for RouteAction {
    fn default() -> Self {
        RouteAction::Respond(DirectResponse { status: Sourced::built_in(StatusCode::NOT_FOUND), body: None })
    }
}

/// Forwarding and all that belongs to it.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Forward {
    /// Where to.
    pub clusters: UpstreamClusters,
    /// Timeout of the whole response; zero is off; `None` leaves Envoy's 15 s.
    pub timeout: Option<Sourced<Duration>>,
    /// Idle timeout of the stream; zero is off.
    pub idle_timeout: Option<Sourced<Duration>>,
    /// Which circuit breaker counts.
    pub priority: Option<Sourced<Priority>>,
    /// How the path is rewritten.
    pub path_rewrite: Option<Sourced<PathRewrite>>,
    /// How the host is rewritten.
    pub host_rewrite: Option<Sourced<HostRewrite>>,
    /// Hash policies for ring hash and Maglev.
    pub hash_policies: Vec<Sourced<HashBy>>,
    /// CORS.
    pub cors: Option<Sourced<Box<Cors>>>,
    /// Retries.
    pub retry: Option<Sourced<Box<RetryPolicy>>>,
    /// Copies of requests.
    pub mirrors: Vec<Sourced<MirrorPolicy>>,
    /// Rate limit descriptors.
    pub rate_limits: Vec<Sourced<RateLimitDescriptor>>,
    /// Protocols that a connection may upgrade to.
    pub upgrades: Vec<Sourced<Str>>,
    /// The proxy follows redirects of upstreams.
    pub internal_redirect: Option<Sourced<Box<InternalRedirect>>>,
}

/// The proxy follows redirects of upstreams.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct InternalRedirect {
    /// How many for one request; `None` leaves Envoy's 1.
    pub max: Option<Sourced<u32>>,
    /// Of which statuses; empty: 302.
    pub codes: Vec<Sourced<u32>>,
    /// From http to https and back too.
    pub cross_scheme: Option<Sourced<bool>>,
    /// Not from https to http.
    pub only_safe_schemes: Option<Sourced<bool>>,
    /// Not to a route that the request took before.
    pub not_to_previous_routes: Option<Sourced<bool>>,
}

/// The clusters a route forwards to.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum UpstreamClusters {
    /// One.
    One(Sourced<Str>),
    /// Several by weight.
    Weighted(Vec<WeightedCluster>),
}

impl Default for UpstreamClusters {
    fn default() -> Self {
        UpstreamClusters::Weighted(Vec::new())
    }
}

/// A cluster with a weight.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct WeightedCluster {
    /// Cluster name.
    pub name: Sourced<Str>,
    /// Share of the sum of weights.
    pub weight: Sourced<u32>,
    /// Weights of other clusters from which this one was computed.
    #[serde(skip)]
    pub weight_also: Also,
    /// Headers of requests to it.
    pub request_headers: HeaderMutations,
    /// Headers of its responses.
    pub response_headers: HeaderMutations,
    /// How the host is rewritten.
    pub host_rewrite: Option<Sourced<Str>>,
    /// Configuration of HTTP filters for its requests, by filter name.
    pub per_filter: Vec<(Str, Sourced<PerFilter>)>,
}

/// Which circuit breaker thresholds a request counts against.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub enum Priority {
    /// `DEFAULT`
    #[default]
    Default,
    /// `HIGH`
    High,
}

/// How the path is rewritten before it is forwarded.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum PathRewrite {
    /// The matched prefix (or whole path) is replaced.
    Prefix(Str),
    /// By a regular expression.
    Regex(Box<RegexRewrite>),
}

/// A replacement by a regular expression.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct RegexRewrite {
    /// What is replaced.
    pub pattern: Regex,
    /// What the pattern was made of besides.
    #[serde(skip)]
    pub pattern_also: Also,
    /// With what; `\1` is the first group.
    pub substitution: Str,
}

/// How `:authority` is rewritten before forwarding.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum HostRewrite {
    /// To this.
    Literal(Str),
    /// To the host name of the endpoint, or (false) explicitly not.
    Auto(bool),
    /// To the value of this header.
    Header(HeaderName),
    /// To this, and `auto_host_rewrite` is sent too: the last one on the wire wins, which is `auto`.
    LiteralAndAuto(Str, bool),
}

/// What a request is hashed by, and whether more is asked afterwards.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct HashBy {
    /// What it is hashed by.
    pub policy: HashPolicy,
    /// Where this gives a hash, those behind it do not count.
    pub terminal: bool,
}

/// What a request is hashed by.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub enum HashPolicy {
    /// A cookie, set by Envoy where it has a time to live.
    Cookie {
        /// Its name.
        name: Str,
        /// Its path.
        path: Option<Str>,
        /// Its time to live.
        ttl: Option<Duration>,
    },
    /// A header's value.
    Header(HeaderName),
    /// The client's address, or (false) explicitly not.
    SourceIp(bool),
    /// A query parameter's value.
    Query(Str),
}

/// Cross-origin resource sharing.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Cors {
    /// Origins that are allowed.
    pub allow_origins: Vec<Sourced<StringMatch>>,
    /// `Access-Control-Allow-Methods`.
    pub allow_methods: Option<Sourced<Str>>,
    /// `Access-Control-Allow-Headers`.
    pub allow_headers: Option<Sourced<Str>>,
    /// `Access-Control-Expose-Headers`.
    pub expose_headers: Option<Sourced<Str>>,
    /// `Access-Control-Max-Age`, in seconds as text.
    pub max_age: Option<Sourced<Str>>,
    /// `Access-Control-Allow-Credentials`.
    pub allow_credentials: Option<Sourced<bool>>,
    /// Runtime key that can switch it off.
    pub runtime_key: Option<Str>,
    /// ASCII case of origins does not count.
    pub ignore_case: bool,
    /// `Access-Control-Allow-Private-Network`.
    pub allow_private_network: Option<Sourced<bool>>,
}

/// When and how often to try again.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct RetryPolicy {
    /// Envoy's condition names, comma separated.
    pub retry_on: Sourced<Str>,
    /// `None` leaves Envoy's 1.
    pub num_retries: Option<Sourced<u32>>,
    /// `None`: the route's timeout.
    pub per_try_timeout: Option<Sourced<Duration>>,
    /// Statuses for `retriable-status-codes`.
    pub status_codes: Vec<Sourced<u32>>,
}

/// A copy of requests.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct MirrorPolicy {
    /// Where to.
    pub cluster: Sourced<Str>,
    /// Which share, in per cent.
    pub percent: Sourced<u32>,
}

/// One descriptor that is asked of the rate limit service.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct RateLimitDescriptor {
    /// Which filter asks; 0 to 10; `None`: none is said, which is 0.
    pub stage: Option<u32>,
    /// What it is made of.
    pub actions: Vec<Sourced<RateLimitAction>>,
}

/// One entry of a descriptor.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum RateLimitAction {
    /// `source_cluster`
    SourceCluster,
    /// `destination_cluster`
    DestinationCluster,
    /// `remote_address`
    RemoteAddress,
    /// A fixed value.
    GenericKey {
        /// Descriptor key.
        key: Str,
        /// Descriptor value.
        value: Str,
    },
    /// A request header's value.
    RequestHeader {
        /// Descriptor key.
        key: Str,
        /// Header name.
        header: HeaderName,
    },
    /// A fixed value, if headers match.
    HeaderValueMatch {
        /// What must match.
        headers: Vec<HeaderMatch>,
        /// Or must not.
        expect_match: bool,
        /// Descriptor value.
        value: Str,
    },
}

/// The client is sent elsewhere.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Redirect {
    /// To https on the same host.
    pub https: Option<Sourced<bool>>,
    /// To this scheme.
    pub scheme: Option<Sourced<Str>>,
    /// To this port.
    pub port: Option<Sourced<u16>>,
    /// To this host.
    pub host: Option<Sourced<Str>>,
    /// To this path.
    pub path: Option<Sourced<RedirectPath>>,
    /// `None` leaves Envoy's 301.
    pub code: Option<Sourced<RedirectCode>>,
}

/// The path of a redirect.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum RedirectPath {
    /// This path.
    Full(Str),
    /// The matched prefix replaced.
    Prefix(Str),
    /// By a regular expression.
    Regex(RegexRewrite),
}

/// HTTP status of a redirect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub enum RedirectCode {
    /// 301
    MovedPermanently,
    /// 302
    Found,
    /// 303
    SeeOther,
    /// 307
    TemporaryRedirect,
    /// 308
    PermanentRedirect,
}

/// Envoy answers by itself.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct DirectResponse {
    /// HTTP status.
    pub status: Sourced<StatusCode>,
    /// Body as text.
    pub body: Option<Sourced<Str>>,
}

/// An HTTP filter's configuration for one route.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum PerFilter {
    /// External authorization is off.
    ExtAuthzDisabled,
    /// Values sent along to the authorization service.
    ExtAuthzContext(Vec<(Str, Sourced<Str>)>),
    /// CORS.
    Cors(Box<Cors>),
    /// Allowed and denied addresses.
    Rbac(Rbac),
    /// Rate limiting within the proxy.
    LocalRateLimit(LocalRateLimit),
    /// What becomes of the virtual host's rate limits.
    HostRateLimits(HostRateLimits),
    /// The provider of whom a token is required.
    Jwt(Str),
    /// A named Lua script is run.
    Lua {
        /// Its name.
        script: Str,
        /// What it is given.
        context: Vec<(Str, Json)>,
        /// Fields from which it was made besides the filter's own origin.
        #[serde(skip)]
        context_also: Also,
    },
}

/// What becomes of the virtual host's rate limits on a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub enum HostRateLimits {
    /// They count if the route has none.
    Override,
    /// They count too.
    Include,
    /// They do not count.
    Ignore,
}
