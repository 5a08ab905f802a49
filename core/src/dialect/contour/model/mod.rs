//! What only Contour means: its graph of listeners, virtual hosts and routes (Contour `internal/dag/dag.go`), before names of clusters and
//! Envoy's defaults are worked out.
//!
//! Values that mean the same in every dialect are the IR's own. Processors make the graph, each from one kind of input, in Contour's order;
//! `lower` makes the IR of it.
//!
//! What must not be here: how objects are read, and Envoy's fields.

mod secret;
mod service;

pub use secret::{Material, MaterialKind};
pub use service::{CircuitBreakers, Port, Service};

use crate::ir;
use crate::resource::{Origin, Sourced};
use crate::text::Str;
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

/// Everything that Contour serves.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Listeners by name.
    pub listeners: BTreeMap<Str, Listener>,
    /// What ExtensionServices stand for, by cluster name.
    pub extensions: BTreeMap<Str, Arc<ExtensionCluster>>,
    /// Whether listeners come from a Gateway.
    pub dynamic_listeners: bool,
}

/// A port that Envoy listens on.
#[derive(Clone, Debug, Default)]
pub struct Listener {
    /// `ingress_http`, or a Gateway's `http-80`.
    pub name: Str,
    /// `http`, `https` or `tcp`.
    pub protocol: Str,
    /// IP address.
    pub address: Sourced<Str>,
    /// Port of the container.
    pub port: Sourced<u32>,
    /// Name of the table of routes; a prefix of it on secure listeners.
    pub route_config: Str,
    /// Name of the table of the fallback certificate's hosts.
    pub fallback_route_config: Str,
    /// Hosts without TLS, by name.
    pub hosts: BTreeMap<Str, VirtualHost>,
    /// Hosts with TLS, by name.
    pub secure_hosts: BTreeMap<Str, SecureVirtualHost>,
    /// The whole port forwards TCP.
    pub tcp_proxy: Option<TcpProxy>,
    /// Every route may upgrade to websockets.
    pub enable_websockets: bool,
    /// What made it.
    pub origins: Vec<Origin>,
}

/// A host.
#[derive(Clone, Debug, Default)]
pub struct VirtualHost {
    /// Its name; `*` for all.
    pub name: Sourced<Str>,
    /// CORS.
    pub cors: Option<Sourced<CorsPolicy>>,
    /// Rate limits of all its routes.
    pub rate_limit: Option<Sourced<RateLimitPolicy>>,
    /// Addresses that may pass, or may not.
    pub ip_filter: Option<IpFilter>,
    /// Routes by what they match: the last one wins.
    pub routes: BTreeMap<Conditions, Arc<Route>>,
    /// What made it.
    pub origins: Vec<Origin>,
}

impl VirtualHost {
    /// Adds a route, in place of one that matches the same.
    pub fn add(&mut self, route: Arc<Route>) {
        self.routes.insert(route.conditions.clone(), route);
    }
}

/// A host with TLS.
#[derive(Clone, Debug, Default)]
pub struct SecureVirtualHost {
    /// What every host has.
    pub host: VirtualHost,
    /// Lowest TLS version, `1.2`.
    pub min_tls: Option<Sourced<Str>>,
    /// Highest TLS version, `1.3`.
    pub max_tls: Option<Sourced<Str>>,
    /// Its certificate.
    pub secret: Option<Sourced<Arc<Material>>>,
    /// The certificate for clients that send no server name.
    pub fallback: Option<Sourced<Arc<Material>>>,
    /// TCP is forwarded instead of HTTP.
    pub tcp_proxy: Option<TcpProxy>,
    /// How clients' certificates are checked.
    pub client_validation: Option<Sourced<PeerValidation>>,
    /// Who is asked whether a request may pass.
    pub authorization: Option<Sourced<Authorization>>,
    /// Who issues tokens.
    pub jwt_providers: Vec<Sourced<JwtProvider>>,
}

/// Which path a route takes. The order is that of `Ord`, not Envoy's.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PathCondition {
    /// Starts with.
    Prefix(Str),
    /// Starts with, at the end of a segment.
    Segment(Str),
    /// Is.
    Exact(Str),
    /// Matches; as the user wrote it.
    Regex(Str),
}

impl PathCondition {
    /// The path, prefix or expression.
    pub fn text(&self) -> &Str {
        match self {
            PathCondition::Prefix(text) | PathCondition::Segment(text) | PathCondition::Exact(text) | PathCondition::Regex(text) => text,
        }
    }

    /// Whether it is a prefix of either kind.
    pub fn is_prefix(&self) -> bool {
        matches!(self, PathCondition::Prefix(_) | PathCondition::Segment(_))
    }
}

/// How a text is matched, in the order of the names that Contour sorts by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MatchType {
    /// Contains.
    Contains,
    /// Is.
    Exact,
    /// Starts with.
    Prefix,
    /// Is there.
    Present,
    /// Matches as a whole.
    Regex,
    /// Ends with.
    Suffix,
}

impl MatchType {
    /// Contour's word.
    pub fn name(self) -> &'static str {
        match self {
            MatchType::Contains => "contains",
            MatchType::Exact => "exact",
            MatchType::Prefix => "prefix",
            MatchType::Present => "present",
            MatchType::Regex => "regex",
            MatchType::Suffix => "suffix",
        }
    }
}

/// A condition on a header.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HeaderCondition {
    /// Name as written.
    pub name: Str,
    /// What is compared.
    pub value: Str,
    /// How.
    pub match_type: MatchType,
    /// It must not be so.
    pub invert: bool,
    /// ASCII case does not count.
    pub ignore_case: bool,
    /// An absent header is an empty one.
    pub missing_as_empty: bool,
    /// Where it is written.
    pub origin: Sourced<()>,
}

/// A condition on a query parameter.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct QueryCondition {
    /// Name.
    pub name: Str,
    /// What is compared.
    pub value: Str,
    /// How.
    pub match_type: MatchType,
    /// ASCII case does not count.
    pub ignore_case: bool,
    /// Where it is written.
    pub origin: Sourced<()>,
}

/// Which requests a route takes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Conditions {
    /// By path.
    pub path: Sourced<PathCondition>,
    /// By headers.
    pub headers: Vec<HeaderCondition>,
    /// By query parameters.
    pub queries: Vec<QueryCondition>,
}

/// A route.
#[derive(Clone, Debug)]
pub struct Route {
    /// Which requests it takes.
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
    /// It may upgrade to websockets.
    pub websocket: Option<Sourced<()>>,
    /// Timeouts.
    pub timeouts: RouteTimeouts,
    /// Retries.
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
    /// Rate limits.
    pub rate_limit: Option<Sourced<RateLimitPolicy>>,
    /// The virtual host's global rate limits do not count.
    pub ignore_host_rate_limits: Option<Sourced<()>>,
    /// What a request is hashed by, with whether it ends the list.
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
    /// What made it; the first is the main one.
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

/// A timeout as Contour reads one (`internal/timeout`): absent and `0` leave Envoy's default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Timeout {
    /// Envoy's own.
    #[default]
    Default,
    /// None at all (`infinity`).
    Disabled,
    /// This long.
    After(Duration),
}

/// Timeouts of a route.
#[derive(Clone, Debug, Default)]
pub struct RouteTimeouts {
    /// For the whole response.
    pub response: Sourced<Timeout>,
    /// Without anything on the stream.
    pub idle_stream: Sourced<Timeout>,
}

/// Timeouts of a cluster.
#[derive(Clone, Debug, Default)]
pub struct ClusterTimeouts {
    /// Idle connections are closed.
    pub idle_connection: Sourced<Timeout>,
    /// For connecting; zero leaves Contour's default.
    pub connect: Sourced<Duration>,
}

/// Retries.
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
    /// What this expression matches is removed.
    RemovePrefixRegex(Str),
}

/// A copy of requests.
#[derive(Clone, Debug)]
pub struct Mirror {
    /// Where to.
    pub cluster: Arc<Cluster>,
    /// Per cent.
    pub weight: Sourced<i64>,
}

/// Changes of headers; names are canonical, values escaped.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeadersPolicy {
    /// `Host` becomes this.
    pub host_rewrite: Option<Sourced<Str>>,
    /// `Host` becomes the value of this header.
    pub host_rewrite_header: Option<Sourced<Str>>,
    /// Added to what is there.
    pub add: BTreeMap<Str, Sourced<Str>>,
    /// In place of what is there.
    pub set: BTreeMap<Str, Sourced<Str>>,
    /// Removed, in order.
    pub remove: Vec<Sourced<Str>>,
}

/// Changes of one cookie's attributes.
#[derive(Clone, Debug)]
pub struct CookieRewrite {
    /// The cookie.
    pub name: Str,
    /// `Path`.
    pub path: Option<Sourced<Str>>,
    /// `Domain`.
    pub domain: Option<Sourced<Str>>,
    /// `Secure`.
    pub secure: Option<Sourced<bool>>,
    /// `SameSite`.
    pub same_site: Option<Sourced<Str>>,
}

/// CORS.
#[derive(Clone, Debug, Default)]
pub struct CorsPolicy {
    /// `Access-Control-Allow-Credentials`.
    pub allow_credentials: Sourced<bool>,
    /// Origins: exact, or an expression.
    pub allow_origin: Vec<Sourced<(MatchType, Str)>>,
    /// Methods.
    pub allow_methods: Vec<Sourced<Str>>,
    /// Headers.
    pub allow_headers: Vec<Sourced<Str>>,
    /// Headers.
    pub expose_headers: Vec<Sourced<Str>>,
    /// How long an answer may be kept.
    pub max_age: Sourced<Timeout>,
    /// `Access-Control-Allow-Private-Network`.
    pub allow_private_network: Sourced<bool>,
}

/// Rate limits.
#[derive(Clone, Debug, Default)]
pub struct RateLimitPolicy {
    /// Within each Envoy.
    pub local: Option<Sourced<LocalRateLimit>>,
    /// By a service: descriptors.
    pub global: Option<Sourced<Vec<RateLimitDescriptor>>>,
}

/// A token bucket within each Envoy.
#[derive(Clone, Debug)]
pub struct LocalRateLimit {
    /// Size of the bucket.
    pub max_tokens: Sourced<u32>,
    /// Added at each fill.
    pub tokens_per_fill: Sourced<u32>,
    /// Time between fills.
    pub fill_interval: Sourced<Duration>,
    /// Status of refusals; 0 leaves Envoy's 429.
    pub status: Sourced<u32>,
    /// Headers of refusals, by canonical name.
    pub response_headers: BTreeMap<Str, Sourced<Str>>,
}

/// One descriptor.
#[derive(Clone, Debug)]
pub struct RateLimitDescriptor {
    /// Its entries.
    pub entries: Vec<Sourced<RateLimitEntry>>,
}

/// One entry of a descriptor.
#[derive(Clone, Debug)]
pub enum RateLimitEntry {
    /// A fixed value; an empty key is `generic_key`.
    GenericKey {
        /// Key.
        key: Str,
        /// Value.
        value: Str,
    },
    /// A header's value.
    RequestHeader {
        /// Header.
        header: Str,
        /// Descriptor key.
        key: Str,
    },
    /// A fixed value, if headers match.
    HeaderValueMatch {
        /// What must match.
        headers: Vec<HeaderCondition>,
        /// Or must not.
        expect_match: bool,
        /// Value.
        value: Str,
    },
    /// The client's address.
    RemoteAddress,
}

/// Envoy answers.
#[derive(Clone, Debug)]
pub struct DirectResponse {
    /// HTTP status.
    pub status: Sourced<u32>,
    /// Body; may be empty.
    pub body: Sourced<Str>,
}

/// The client is sent elsewhere; what is empty or 0 stays.
#[derive(Clone, Debug, Default)]
pub struct Redirect {
    /// Host.
    pub hostname: Sourced<Str>,
    /// Scheme.
    pub scheme: Sourced<Str>,
    /// Port.
    pub port: Sourced<u32>,
    /// HTTP status.
    pub status: Sourced<u32>,
    /// Path.
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

/// Addresses that may pass, or may not.
#[derive(Clone, Debug)]
pub struct IpFilter {
    /// Only they pass; else they do not.
    pub allow: bool,
    /// Which.
    pub rules: Vec<Sourced<ir::IpRange>>,
}

/// TCP forwarded.
#[derive(Clone, Debug, Default)]
pub struct TcpProxy {
    /// Where to.
    pub clusters: Vec<Arc<Cluster>>,
    /// What made it.
    pub origins: Vec<Origin>,
}

/// Where requests go.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// The Service.
    pub upstream: Arc<Service>,
    /// Share of requests.
    pub weight: Sourced<u32>,
    /// `h2`, `h2c`, `tls` or empty.
    pub protocol: Sourced<Str>,
    /// How the upstream's certificate is checked.
    pub validation: Option<Sourced<PeerValidation>>,
    /// `WeightedLeastRequest`, `Random`, `Cookie`, `RequestHash` or empty.
    pub lb_policy: Sourced<Str>,
    /// Health check by HTTP.
    pub http_health: Option<Sourced<HttpHealthCheck>>,
    /// Health check by TCP.
    pub tcp_health: Option<Sourced<HealthCheckTimes>>,
    /// Changes of request headers.
    pub request_headers: Option<HeadersPolicy>,
    /// Changes of response headers.
    pub response_headers: Option<HeadersPolicy>,
    /// Changes of cookies.
    pub cookies: Vec<Sourced<CookieRewrite>>,
    /// Server name sent; may be empty.
    pub sni: Sourced<Str>,
    /// `auto`, `v4`, `v6`, `all`; empty for `auto`.
    pub dns_family: Sourced<Str>,
    /// Certificate shown.
    pub client_certificate: Option<Sourced<Arc<Material>>>,
    /// Timeouts.
    pub timeouts: ClusterTimeouts,
    /// New endpoints get their share slowly.
    pub slow_start: Option<Sourced<SlowStart>>,
    /// Requests on one connection.
    pub max_requests_per_connection: Option<Sourced<u32>>,
    /// Bytes.
    pub per_connection_buffer_limit: Option<Sourced<u32>>,
    /// TLS versions and ciphers.
    pub upstream_tls: Option<Arc<UpstreamTls>>,
    /// What made it; the first is the main one.
    pub origins: Vec<Origin>,
}

/// How often and how long health is checked; zero leaves Contour's default.
#[derive(Clone, Debug, Default)]
pub struct HealthCheckTimes {
    /// Between two checks.
    pub interval: Sourced<Duration>,
    /// For an answer.
    pub timeout: Sourced<Duration>,
    /// Failures until unhealthy.
    pub unhealthy_threshold: Sourced<u32>,
    /// Successes until healthy.
    pub healthy_threshold: Sourced<u32>,
}

/// A health check by HTTP.
#[derive(Clone, Debug, Default)]
pub struct HttpHealthCheck {
    /// Path.
    pub path: Sourced<Str>,
    /// Host; empty for Contour's own.
    pub host: Sourced<Str>,
    /// When.
    pub times: HealthCheckTimes,
    /// Half-open ranges of healthy statuses.
    pub expected_statuses: Vec<Sourced<(i64, i64)>>,
}

/// New endpoints get their share slowly.
#[derive(Clone, Debug)]
pub struct SlowStart {
    /// How long.
    pub window: Sourced<Duration>,
    /// How fast.
    pub aggression: Sourced<f64>,
    /// Share at the beginning.
    pub min_weight_percent: Sourced<u32>,
}

/// TLS versions and ciphers towards upstreams.
#[derive(Clone, Debug, Default)]
pub struct UpstreamTls {
    /// Lowest version, `1.2`.
    pub min: Sourced<Str>,
    /// Highest version, `1.3`.
    pub max: Sourced<Str>,
    /// Ciphers up to TLS 1.2.
    pub ciphers: Vec<Sourced<Str>>,
    /// Curves.
    pub curves: Vec<Sourced<Str>>,
}

/// How a peer's certificate is checked.
#[derive(Clone, Debug, Default)]
pub struct PeerValidation {
    /// Authorities trusted.
    pub ca: Vec<Sourced<Arc<Material>>>,
    /// Names that it must have one of.
    pub subject_names: Vec<Sourced<Str>>,
    /// It is not checked at all.
    pub skip: Sourced<bool>,
    /// What of it goes into `x-forwarded-client-cert`.
    pub forward: Option<Sourced<ir::ClientCertDetails>>,
    /// Revoked certificates.
    pub crl: Option<Sourced<Arc<Material>>>,
    /// Only the leaf is looked up among them.
    pub only_leaf_crl: Sourced<bool>,
    /// Clients need not show one.
    pub optional: Sourced<bool>,
}

/// An ExtensionService.
#[derive(Clone, Debug)]
pub struct ExtensionCluster {
    /// `extension/NAMESPACE/NAME`.
    pub name: Str,
    /// Services with their weights.
    pub services: Vec<(Arc<Service>, Sourced<u32>)>,
    /// `h2`, `h2c` or `http/1.1`.
    pub protocol: Sourced<Str>,
    /// How its certificate is checked.
    pub validation: Option<Sourced<PeerValidation>>,
    /// Load balancing.
    pub lb_policy: Sourced<Str>,
    /// For an answer.
    pub timeouts: RouteTimeouts,
    /// For connections.
    pub cluster_timeouts: ClusterTimeouts,
    /// Server name sent; may be empty.
    pub sni: Sourced<Str>,
    /// Certificate shown.
    pub client_certificate: Option<Sourced<Arc<Material>>>,
    /// TLS versions and ciphers.
    pub upstream_tls: Option<Arc<UpstreamTls>>,
    /// Limits.
    pub circuit_breakers: CircuitBreakers,
    /// What made it.
    pub origins: Vec<Origin>,
}

/// Who is asked whether a request may pass.
#[derive(Clone, Debug)]
pub struct Authorization {
    /// By HTTP; else by gRPC.
    pub http: bool,
    /// Headers sent along.
    pub allowed_request_headers: Vec<Sourced<HeaderNameMatch>>,
    /// Headers of its answer that go upstream.
    pub allowed_upstream_headers: Vec<Sourced<HeaderNameMatch>>,
    /// Put before the path.
    pub path_prefix: Sourced<Str>,
    /// The service.
    pub service: Arc<ExtensionCluster>,
    /// For an answer.
    pub response_timeout: Sourced<Timeout>,
    /// Requests pass when it fails.
    pub fail_open: Sourced<bool>,
    /// The body sent along.
    pub body: Option<Sourced<AuthorizationBody>>,
}

/// Which header names are meant.
#[derive(Clone, Debug)]
pub struct HeaderNameMatch {
    /// How.
    pub match_type: MatchType,
    /// What.
    pub value: Str,
    /// ASCII case does not count.
    pub ignore_case: bool,
}

/// How much of a request's body is sent along.
#[derive(Clone, Debug)]
pub struct AuthorizationBody {
    /// Bytes.
    pub max_bytes: Sourced<u32>,
    /// What fits is sent.
    pub allow_partial: Sourced<bool>,
    /// As bytes instead of text.
    pub pack_as_bytes: Sourced<bool>,
}

/// Who issues tokens.
#[derive(Clone, Debug)]
pub struct JwtProvider {
    /// Its name.
    pub name: Sourced<Str>,
    /// Issuer; may be empty.
    pub issuer: Sourced<Str>,
    /// Audiences.
    pub audiences: Vec<Sourced<Str>>,
    /// Where its keys are.
    pub jwks: Jwks,
    /// The token goes upstream.
    pub forward: Sourced<bool>,
}

/// Where keys of tokens are.
#[derive(Clone, Debug)]
pub enum Jwks {
    /// Fetched.
    Remote {
        /// From here.
        uri: Sourced<Str>,
        /// For an answer.
        timeout: Sourced<Duration>,
        /// How long they are kept; `None` leaves Envoy's default.
        cache: Option<Sourced<Duration>>,
        /// The cluster.
        cluster: Arc<DnsCluster>,
    },
    /// A key of a Secret.
    Local(Sourced<Arc<Material>>, Str),
}

/// A cluster that is found by name.
#[derive(Clone, Debug)]
pub struct DnsCluster {
    /// Host name.
    pub address: Sourced<Str>,
    /// `http` or `https`.
    pub scheme: Sourced<Str>,
    /// Port.
    pub port: Sourced<u32>,
    /// `auto`, `v4`, `v6`, `all`.
    pub dns_family: Sourced<Str>,
    /// How its certificate is checked.
    pub validation: Option<Sourced<PeerValidation>>,
    /// TLS versions and ciphers.
    pub upstream_tls: Option<Arc<UpstreamTls>>,
    /// What made it.
    pub origins: Vec<Origin>,
}
