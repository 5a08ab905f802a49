//! Defines virtual hosts and routes.

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
    /// Unique in the gateway.
    pub name: Str,
    /// In the controller's order.
    pub virtual_hosts: Vec<VirtualHost>,
    /// `ignore_port_in_host_matching`.
    pub ignore_port_in_host: bool,
    /// Header changes for all its routes.
    pub request_headers: HeaderMutations,
    /// Referenced by name, but not served.
    pub absent: bool,
}

/// The routes of one set of domains.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct VirtualHost {
    /// Unique in its table.
    pub name: Str,
    /// Exact, `*.suffix`, `prefix.*` or `*`.
    pub domains: Vec<Sourced<Str>>,
    /// The first match wins. Listeners with the same routes and earlier compiles share the list.
    pub routes: Arc<Vec<Arc<Route>>>,
    /// Headers added to responses.
    pub response_headers: HeaderMutations,
    /// HTTP filter settings for its routes, by filter name.
    pub per_filter: Vec<(Str, Sourced<PerFilter>)>,
    pub rate_limits: Vec<Sourced<RateLimitDescriptor>>,
    /// The resources that produced it.
    pub origins: Origins,
}

#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Route {
    /// Empty if the controller sets no name.
    pub name: Str,
    /// Which requests match.
    pub matcher: RouteMatch,
    /// How matched requests are handled.
    pub action: RouteAction,
    /// Request headers added and removed.
    pub request_headers: HeaderMutations,
    /// Response headers added and removed.
    pub response_headers: HeaderMutations,
    /// HTTP filter settings for this route, by filter name.
    pub per_filter: Vec<(Str, Sourced<PerFilter>)>,
    /// `metadata.filter_metadata`.
    pub metadata: Vec<(Str, Json)>,
    /// The resources that produced it; the first is the main one.
    pub origins: Origins,
}

/// Which requests match a route: all set conditions must hold.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct RouteMatch {
    pub path: Sourced<PathMatch>,
    /// Further origins of the path.
    #[serde(skip)]
    pub path_also: Also,
    /// `None` is Envoy's default, which is case-sensitive.
    pub case_sensitive: Option<Sourced<bool>>,
    /// Headers, including `:authority` and `:method`.
    pub headers: Vec<Sourced<HeaderMatch>>,
    pub query: Vec<Sourced<QueryMatch>>,
    /// The share of requests that match.
    pub fraction: Option<RuntimeFraction>,
    /// Matches only gRPC requests.
    pub grpc: bool,
}

#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum PathMatch {
    /// Starts with.
    Prefix(Str),
    /// Equals.
    Exact(Str),
    /// Matches the whole path.
    Regex(Regex),
    /// Starts with, at the end of a segment.
    PathSeparatedPrefix(Str),
}

impl Default for PathMatch {
    fn default() -> Self {
        PathMatch::Prefix(Str::new_static("/"))
    }
}

#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct QueryMatch {
    pub name: Str,
    pub value: StringMatch,
    /// Ignores ASCII case.
    pub ignore_case: bool,
}

/// A share of requests that can change at run time.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct RuntimeFraction {
    /// Out of 100.
    pub percent: Sourced<u32>,
    /// Further origins: the other routes' shares.
    #[serde(skip)]
    pub percent_also: Also,
    /// A runtime key that overrides the share.
    pub runtime_key: Option<Str>,
}

/// How a request is handled.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum RouteAction {
    Forward(Arc<Forward>),
    /// Redirects the client.
    Redirect(Box<Redirect>),
    /// Envoy responds itself.
    Respond(DirectResponse),
}

impl Default for RouteAction {
    fn default() -> Self {
        RouteAction::Respond(DirectResponse { status: Sourced::built_in(StatusCode::NOT_FOUND), body: None })
    }
}

/// Forwarding with all its settings.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Forward {
    pub clusters: UpstreamClusters,
    /// Timeout of the whole response; zero disables it; `None` is Envoy's 15 s.
    pub timeout: Option<Sourced<Duration>>,
    /// Idle timeout of the stream; zero disables it.
    pub idle_timeout: Option<Sourced<Duration>>,
    /// Which circuit breaker limits the request.
    pub priority: Option<Sourced<Priority>>,
    /// How the path is rewritten.
    pub path_rewrite: Option<Sourced<PathRewrite>>,
    /// How the host is rewritten.
    pub host_rewrite: Option<Sourced<HostRewrite>>,
    /// Hash policies for ring hash and Maglev.
    pub hash_policies: Vec<Sourced<HashBy>>,
    pub cors: Option<Sourced<Box<Cors>>>,
    pub retry: Option<Sourced<Box<RetryPolicy>>>,
    /// Mirrors of requests.
    pub mirrors: Vec<Sourced<MirrorPolicy>>,
    pub rate_limits: Vec<Sourced<RateLimitDescriptor>>,
    /// Protocols that a connection may upgrade to.
    pub upgrades: Vec<Sourced<Str>>,
    /// The proxy follows redirects of upstreams.
    pub internal_redirect: Option<Sourced<Box<InternalRedirect>>>,
}

/// How the proxy follows redirects of upstreams.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct InternalRedirect {
    /// The maximum number for one request; `None` is Envoy's 1.
    pub max: Option<Sourced<u32>>,
    /// The followed statuses; empty: 302.
    pub codes: Vec<Sourced<u32>>,
    /// Follows redirects from http to https and back.
    pub cross_scheme: Option<Sourced<bool>>,
    /// Does not follow redirects from https to http.
    pub only_safe_schemes: Option<Sourced<bool>>,
    /// Does not follow redirects to an earlier route of the request.
    pub not_to_previous_routes: Option<Sourced<bool>>,
}

/// The clusters that a route forwards to.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum UpstreamClusters {
    One(Sourced<Str>),
    /// Several clusters by weight.
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
    pub name: Sourced<Str>,
    /// The share of the sum of weights.
    pub weight: Sourced<u32>,
    /// Further origins: the weights of other clusters.
    #[serde(skip)]
    pub weight_also: Also,
    /// Header changes of requests to it.
    pub request_headers: HeaderMutations,
    /// Header changes of its responses.
    pub response_headers: HeaderMutations,
    /// How the host is rewritten.
    pub host_rewrite: Option<Sourced<Str>>,
    /// HTTP filter settings for its requests, by filter name.
    pub per_filter: Vec<(Str, Sourced<PerFilter>)>,
}

/// Which circuit breaker thresholds limit a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub enum Priority {
    /// `DEFAULT`
    #[default]
    Default,
    /// `HIGH`
    High,
}

/// How the path is rewritten before forwarding.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum PathRewrite {
    /// Replaces the matched prefix (or whole path).
    Prefix(Str),
    /// Replaces by a regular expression.
    Regex(Box<RegexRewrite>),
}

#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct RegexRewrite {
    /// The replaced pattern.
    pub pattern: Regex,
    /// Further origins of the pattern.
    #[serde(skip)]
    pub pattern_also: Also,
    /// The replacement; `\1` is the first group.
    pub substitution: Str,
}

/// How `:authority` is rewritten before forwarding.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum HostRewrite {
    /// A fixed value.
    Literal(Str),
    /// The host name of the endpoint, or (false) explicitly not.
    Auto(bool),
    /// The value of this header.
    Header(HeaderName),
    /// A fixed value together with `auto_host_rewrite`: the last field on the wire wins, which is `auto`.
    LiteralAndAuto(Str, bool),
}

/// A hash policy of a request.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct HashBy {
    pub policy: HashPolicy,
    /// If this policy gives a hash, later policies are ignored.
    pub terminal: bool,
}

/// The input of a request's hash.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub enum HashPolicy {
    /// A cookie. Envoy sets it if it has a time to live.
    Cookie {
        name: Str,
        path: Option<Str>,
        /// Time to live.
        ttl: Option<Duration>,
    },
    /// The value of a header.
    Header(HeaderName),
    /// The client's address, or (false) explicitly not.
    SourceIp(bool),
    /// The value of a query parameter.
    Query(Str),
}

/// Cross-origin resource sharing.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Cors {
    /// Allowed origins.
    pub allow_origins: Vec<Sourced<StringMatch>>,
    /// `Access-Control-Allow-Methods`.
    pub allow_methods: Option<Sourced<Str>>,
    /// `Access-Control-Allow-Headers`.
    pub allow_headers: Option<Sourced<Str>>,
    /// `Access-Control-Expose-Headers`.
    pub expose_headers: Option<Sourced<Str>>,
    /// `Access-Control-Max-Age`, in seconds as a string.
    pub max_age: Option<Sourced<Str>>,
    /// `Access-Control-Allow-Credentials`.
    pub allow_credentials: Option<Sourced<bool>>,
    /// A runtime key that can disable CORS.
    pub runtime_key: Option<Str>,
    /// Ignores the ASCII case of origins.
    pub ignore_case: bool,
    /// `Access-Control-Allow-Private-Network`.
    pub allow_private_network: Option<Sourced<bool>>,
}

/// When and how often requests are retried.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct RetryPolicy {
    /// Envoy's condition names, comma-separated.
    pub retry_on: Sourced<Str>,
    /// `None` is Envoy's 1.
    pub num_retries: Option<Sourced<u32>>,
    /// `None`: the route's timeout.
    pub per_try_timeout: Option<Sourced<Duration>>,
    /// Statuses for `retriable-status-codes`.
    pub status_codes: Vec<Sourced<u32>>,
}

/// A mirror of requests.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct MirrorPolicy {
    pub cluster: Sourced<Str>,
    /// The mirrored share in percent.
    pub percent: Sourced<u32>,
}

/// A descriptor sent to the rate limit service.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct RateLimitDescriptor {
    /// Which filter sends it, 0 to 10; `None`: not set, which means 0.
    pub stage: Option<u32>,
    /// The entries of the descriptor.
    pub actions: Vec<Sourced<RateLimitAction>>,
}

/// An entry of a descriptor.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum RateLimitAction {
    /// `source_cluster`
    SourceCluster,
    /// `destination_cluster`
    DestinationCluster,
    /// `remote_address`
    RemoteAddress,
    GenericKey {
        key: Str,
        value: Str,
    },
    /// The value of a request header.
    RequestHeader {
        key: Str,
        header: HeaderName,
    },
    /// A fixed value if headers match.
    HeaderValueMatch {
        /// The header conditions.
        headers: Vec<HeaderMatch>,
        /// Whether they must match or must not.
        expect_match: bool,
        value: Str,
    },
}

#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Redirect {
    /// To https on the same host.
    pub https: Option<Sourced<bool>>,
    pub scheme: Option<Sourced<Str>>,
    pub port: Option<Sourced<u16>>,
    pub host: Option<Sourced<Str>>,
    pub path: Option<Sourced<RedirectPath>>,
    /// `None` is Envoy's 301.
    pub code: Option<Sourced<RedirectCode>>,
}

#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum RedirectPath {
    Full(Str),
    /// Replaces the matched prefix.
    Prefix(Str),
    /// Replaces by a regular expression.
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

/// A response from Envoy itself.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct DirectResponse {
    pub status: Sourced<StatusCode>,
    /// The body as a string.
    pub body: Option<Sourced<Str>>,
}

/// HTTP filter settings for one route.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum PerFilter {
    /// Disables external authorization.
    ExtAuthzDisabled,
    /// Values sent to the authorization service.
    ExtAuthzContext(Vec<(Str, Sourced<Str>)>),
    Cors(Box<Cors>),
    /// Allowed and denied addresses.
    Rbac(Rbac),
    /// Rate limiting within the proxy.
    LocalRateLimit(LocalRateLimit),
    /// How the virtual host's rate limits are used.
    HostRateLimits(HostRateLimits),
    /// The provider of the required token.
    Jwt(Str),
    /// Runs a named Lua script.
    Lua {
        script: Str,
        /// Values passed to the script.
        context: Vec<(Str, Json)>,
        /// Further origins of the context.
        #[serde(skip)]
        context_also: Also,
    },
}

/// How a route uses the virtual host's rate limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub enum HostRateLimits {
    /// They apply if the route has none.
    Override,
    /// They apply too.
    Include,
    /// They do not apply.
    Ignore,
}
