//! HTTP filters.

use super::{HeaderMutations, Origins, SecretReference, StatusCode, StringMatch};
use crate::resource::Sourced;
use alloc::vec::Vec;
use chancery_text::Str;
use core::time::Duration;

/// One HTTP filter.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct HttpFilter {
    /// Envoy's name for the instance, e.g. `envoy.filters.http.cors`.
    pub name: Str,
    /// What it does.
    pub kind: HttpFilterKind,
    /// What made it.
    pub origins: Origins,
}

/// What an HTTP filter does.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum HttpFilterKind {
    /// CORS; the policy is on the routes.
    Cors,
    /// gRPC-Web.
    GrpcWeb,
    /// gRPC over HTTP/1.1.
    GrpcHttp1Bridge,
    /// Statistics by gRPC method.
    GrpcStats(GrpcStats),
    /// Lua scripts.
    Lua(LuaScripts),
    /// Compression of responses.
    Compressor(Compressor),
    /// Requests are buffered, up to this many bytes.
    Buffer(Sourced<u32>),
    /// Allowed and denied addresses; `None`: only where routes say so.
    Rbac(Option<Rbac>),
    /// External authorization.
    ExtAuthz(ExtAuthz),
    /// Rate limiting by a service.
    RateLimit(RateLimitService),
    /// Rate limiting within the proxy.
    LocalRateLimit(LocalRateLimit),
    /// Tokens are checked; routes say which.
    Jwt(Vec<Sourced<JwtProvider>>),
    /// Answers health checks on a path.
    HealthCheck {
        /// The path.
        path: Str,
    },
    /// Forwards; always last.
    Router {
        /// A span of its own for each upstream request.
        start_child_span: Option<Sourced<bool>>,
        /// No `x-envoy-*` headers.
        suppress_envoy_headers: Option<Sourced<bool>>,
    },
}

/// Statistics by gRPC method.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct GrpcStats {
    /// Which methods.
    pub methods: GrpcStatsMethods,
    /// Time of upstreams too.
    pub upstream: Sourced<bool>,
    /// They are kept for access logs.
    pub filter_state: bool,
}

/// Which gRPC methods have statistics of their own.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum GrpcStatsMethods {
    /// Envoy's default: none.
    Unsaid,
    /// All, or none.
    All(Sourced<bool>),
    /// Services with their methods.
    These(Vec<Sourced<(Str, Vec<Str>)>>),
}

/// How responses are compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub enum Compression {
    /// gzip
    #[default]
    Gzip,
    /// Brotli
    Brotli,
    /// Zstandard
    Zstd,
}

/// Compression of responses. Levels and windows are those of gzip.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Compressor {
    /// The algorithm.
    pub compression: Sourced<Compression>,
    /// Envoy's name for the instance of the library.
    pub library: Str,
    /// 1 to 9.
    pub memory_level: Option<Sourced<u32>>,
    /// Envoy's enum name.
    pub compression_level: Option<Sourced<Str>>,
    /// Envoy's enum name.
    pub compression_strategy: Option<Sourced<Str>>,
    /// 9 to 15.
    pub window_bits: Option<Sourced<u32>>,
    /// Bytes.
    pub min_content_length: Option<Sourced<u32>>,
    /// Media types; empty: Envoy's list.
    pub content_types: Vec<Sourced<Str>>,
    /// Not for responses with an `etag`.
    pub disable_on_etag: Option<Sourced<bool>>,
    /// Upstreams do not see `accept-encoding`.
    pub remove_accept_encoding: Option<Sourced<bool>>,
}

/// Role based access control, by address.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Rbac {
    /// What happens to those listed.
    pub action: RbacAction,
    /// Name of the policy.
    pub policy: Str,
    /// Who is listed.
    pub principals: Vec<Sourced<IpRange>>,
}

/// What happens to those listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub enum RbacAction {
    /// Only they pass.
    Allow,
    /// They do not pass.
    Deny,
}

/// A range of addresses.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct IpRange {
    /// Which address of the request.
    pub source: IpSource,
    /// Address.
    pub address: Str,
    /// Bits that count.
    pub prefix_length: u32,
}

/// Which address of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub enum IpSource {
    /// The client's, from `x-forwarded-for` where that is trusted.
    Remote,
    /// The connection's.
    Peer,
}

/// External authorization.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct ExtAuthz {
    /// How the service is asked.
    pub transport: AuthorizationTransport,
    /// Its cluster.
    pub cluster: Sourced<Str>,
    /// Time for an answer; zero is off; `None` leaves Envoy's default.
    pub timeout: Option<Sourced<Duration>>,
    /// The client's certificate is sent along.
    pub include_peer_certificate: bool,
    /// The route is chosen again afterwards.
    pub clear_route_cache: bool,
    /// The body sent along.
    pub body: Option<Sourced<Body>>,
    /// Requests pass when the service fails.
    pub failure_mode_allow: Option<Sourced<bool>>,
    /// HTTP status when the service fails.
    pub status_on_error: Option<Sourced<StatusCode>>,
}

/// How an authorization service is asked.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum AuthorizationTransport {
    /// By HTTP.
    Http {
        /// Informative URI.
        uri: Str,
        /// Prefixed to the path.
        path_prefix: Option<Sourced<Str>>,
        /// Headers sent to it.
        allowed_request_headers: Vec<Sourced<NameMatch>>,
        /// Headers of its answer that go on to the upstream.
        allowed_upstream_headers: Vec<Sourced<NameMatch>>,
        /// Headers of its refusal that go on to the client; empty: all.
        allowed_client_headers: Vec<Sourced<NameMatch>>,
        /// Headers added to what is sent.
        headers_to_add: Vec<Sourced<(Str, Str)>>,
    },
    /// By gRPC, v3.
    Grpc {
        /// `:authority` sent to it; `None`: the cluster's name.
        authority: Option<Sourced<Str>>,
    },
}

/// Which header names are meant.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct NameMatch {
    /// The name.
    pub name: StringMatch,
    /// ASCII case does not count.
    pub ignore_case: bool,
}

/// How much of a request's body is sent along.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Body {
    /// Bytes.
    pub max_bytes: Option<Sourced<u32>>,
    /// What fits is sent, else the request is refused.
    pub allow_partial: Option<Sourced<bool>>,
    /// As bytes instead of text.
    pub pack_as_bytes: Option<Sourced<bool>>,
}

/// Rate limiting by a service.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct RateLimitService {
    /// Domain asked for.
    pub domain: Sourced<Str>,
    /// Its cluster.
    pub cluster: Sourced<Str>,
    /// `:authority` sent to it; `None`: the cluster's name.
    pub authority: Option<Sourced<Str>>,
    /// `internal`, `external` or `both`: whose requests count; `None` leaves Envoy's default.
    pub request_type: Option<Str>,
    /// Time for an answer; zero is off; `None` leaves Envoy's default.
    pub timeout: Option<Sourced<Duration>>,
    /// `x-ratelimit-*` headers are sent (draft version 03).
    pub x_ratelimit_headers: Option<Sourced<bool>>,
    /// Requests are refused when the service fails.
    pub failure_mode_deny: Sourced<bool>,
    /// gRPC clients get RESOURCE_EXHAUSTED.
    pub resource_exhausted: Sourced<bool>,
}

/// Lua scripts.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct LuaScripts {
    /// Run for every request.
    pub default: Option<Sourced<Str>>,
    /// Run where a route names them.
    pub named: Vec<(Str, Sourced<Str>)>,
}

/// Rate limiting within the proxy.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct LocalRateLimit {
    /// Prefix of statistics.
    pub stat_prefix: Str,
    /// Requests take a token each; `None`: nothing is limited.
    pub bucket: Option<TokenBucket>,
    /// HTTP status of refusals; `None` leaves Envoy's 429.
    pub status: Option<Sourced<StatusCode>>,
    /// Headers of refusals.
    pub response_headers: HeaderMutations,
}

/// Tokens that are taken and refilled.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct TokenBucket {
    /// Its size.
    pub max_tokens: Sourced<u32>,
    /// Added at each fill.
    pub tokens_per_fill: Sourced<u32>,
    /// Time between fills.
    pub fill_interval: Sourced<Duration>,
}

/// Who issues tokens.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct JwtProvider {
    /// Its name, by which routes ask for it.
    pub name: Sourced<Str>,
    /// `iss` of its tokens; `None`: any.
    pub issuer: Option<Sourced<Str>>,
    /// `aud` of which one must be there; empty: any.
    pub audiences: Vec<Sourced<Str>>,
    /// The token goes upstream.
    pub forward: Sourced<bool>,
    /// Where its keys are.
    pub jwks: Jwks,
}

/// Whether a text is a JSON Web Key Set with at least one key; Envoy refuses others (google/jwt_verify_lib, `src/jwks.cc`).
pub fn holds_keys(jwks: &str) -> bool {
    #[derive(serde::Deserialize)]
    struct Set {
        keys: Vec<serde::de::IgnoredAny>,
    }
    serde_json::from_str::<Set>(jwks).is_ok_and(|set| !set.keys.is_empty())
}

/// Where keys of tokens are.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum Jwks {
    /// Fetched.
    Remote {
        /// From here.
        uri: Sourced<Str>,
        /// The cluster.
        cluster: Sourced<Str>,
        /// Time for an answer.
        timeout: Sourced<Duration>,
        /// How long they are kept; `None` leaves Envoy's ten minutes.
        cache: Option<Sourced<Duration>>,
    },
    /// In place, without anything secret in them.
    Public(Sourced<Str>),
    /// In place, with keys that only the issuer should have.
    Secret(Sourced<SecretReference>),
}
