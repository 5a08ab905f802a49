//! Defines HTTP filters.

use super::{HeaderMutations, Origins, SecretReference, StatusCode, StringMatch};
use crate::resource::Sourced;
use alloc::vec::Vec;
use chancery_text::Str;
use core::time::Duration;

#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct HttpFilter {
    /// Envoy's name for the instance, e.g. `envoy.filters.http.cors`.
    pub name: Str,
    pub kind: HttpFilterKind,
    /// The field that requests it.
    pub origins: Origins,
}

/// The behaviour of an HTTP filter.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum HttpFilterKind {
    /// CORS; the routes hold the policy.
    Cors,
    GrpcWeb,
    /// gRPC over HTTP/1.1.
    GrpcHttp1Bridge,
    /// Statistics by gRPC method.
    GrpcStats(GrpcStats),
    /// Lua scripts.
    Lua(LuaScripts),
    Compressor(Compressor),
    /// Buffers requests up to this many bytes.
    Buffer(Sourced<u32>),
    /// Allowed and denied addresses; `None`: only routes restrict addresses.
    Rbac(Option<Rbac>),
    ExtAuthz(ExtAuthz),
    /// Rate limiting by a service.
    RateLimit(RateLimitService),
    /// Rate limiting within the proxy.
    LocalRateLimit(LocalRateLimit),
    /// Verifies tokens; routes select the provider.
    Jwt(Vec<Sourced<JwtProvider>>),
    /// Answers health checks on a path.
    HealthCheck {
        path: Str,
    },
    /// Forwards requests; always the last filter.
    Router {
        /// Creates a separate span for each upstream request.
        start_child_span: Option<Sourced<bool>>,
        /// Omits `x-envoy-*` headers.
        suppress_envoy_headers: Option<Sourced<bool>>,
    },
}

#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct GrpcStats {
    /// Which methods are recorded.
    pub methods: GrpcStatsMethods,
    /// Records the upstream's time too.
    pub upstream: Sourced<bool>,
    /// Keeps the statistics for access logs.
    pub filter_state: bool,
}

/// Which gRPC methods have their own statistics.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum GrpcStatsMethods {
    /// Envoy's default: none.
    Unsaid,
    /// All, or none.
    All(Sourced<bool>),
    /// These services with their methods.
    These(Vec<Sourced<(Str, Vec<Str>)>>),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub enum Compression {
    #[default]
    Gzip,
    Brotli,
    Zstd,
}

/// Compression of responses. Levels and windows apply to gzip.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Compressor {
    pub compression: Sourced<Compression>,
    /// Envoy's name for the library instance.
    pub library: Str,
    pub memory_level: Option<Sourced<u32>>,
    /// Envoy's enum name.
    pub compression_level: Option<Sourced<Str>>,
    /// Envoy's enum name.
    pub compression_strategy: Option<Sourced<Str>>,
    pub window_bits: Option<Sourced<u32>>,
    pub min_content_length: Option<Sourced<u32>>,
    /// Media types; empty: Envoy's list.
    pub content_types: Vec<Sourced<Str>>,
    /// Skips responses with an `etag`.
    pub disable_on_etag: Option<Sourced<bool>>,
    /// Removes `accept-encoding` before forwarding.
    pub remove_accept_encoding: Option<Sourced<bool>>,
}

/// Role-based access control by address.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Rbac {
    pub action: RbacAction,
    /// The policy's name.
    pub policy: Str,
    /// The listed addresses.
    pub principals: Vec<Sourced<IpRange>>,
}

/// How listed addresses are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub enum RbacAction {
    /// Only listed addresses pass.
    Allow,
    /// Listed addresses are refused.
    Deny,
}

/// A range of addresses.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct IpRange {
    /// Which address of the request is compared.
    pub source: IpSource,
    pub address: Str,
    /// The number of compared bits.
    pub prefix_length: u32,
}

/// Which address of a request is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub enum IpSource {
    /// The client's, from `x-forwarded-for` if the proxy trusts it.
    Remote,
    /// The connection's.
    Peer,
}

/// External authorization.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct ExtAuthz {
    /// The protocol of the service.
    pub transport: AuthorizationTransport,
    pub cluster: Sourced<Str>,
    /// The maximum time for a response; zero disables it; `None` is Envoy's default.
    pub timeout: Option<Sourced<Duration>>,
    /// Sends the client's certificate.
    pub include_peer_certificate: bool,
    /// Selects the route again afterwards.
    pub clear_route_cache: bool,
    /// The part of the body that is sent.
    pub body: Option<Sourced<Body>>,
    /// Lets requests pass if the service fails.
    pub failure_mode_allow: Option<Sourced<bool>>,
    /// The HTTP status if the service fails.
    pub status_on_error: Option<Sourced<StatusCode>>,
}

/// The protocol of an authorization service.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum AuthorizationTransport {
    Http {
        /// Informative URI.
        uri: Str,
        path_prefix: Option<Sourced<Str>>,
        /// Headers sent to the service.
        allowed_request_headers: Vec<Sourced<NameMatch>>,
        /// Headers of its response that are forwarded to the upstream.
        allowed_upstream_headers: Vec<Sourced<NameMatch>>,
        /// Headers of its refusal that are forwarded to the client; empty: all.
        allowed_client_headers: Vec<Sourced<NameMatch>>,
        /// Headers added to the request to the service.
        headers_to_add: Vec<Sourced<(Str, Str)>>,
    },
    /// gRPC, v3.
    Grpc {
        /// `:authority` sent to the service; `None`: the cluster's name.
        authority: Option<Sourced<Str>>,
    },
}

/// A pattern for header names.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct NameMatch {
    pub name: StringMatch,
    /// Ignores ASCII case.
    pub ignore_case: bool,
}

/// The part of a request's body that is sent.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Body {
    pub max_bytes: Option<Sourced<u32>>,
    /// Sends a truncated body; otherwise a larger body is refused.
    pub allow_partial: Option<Sourced<bool>>,
    /// Sends bytes instead of a string.
    pub pack_as_bytes: Option<Sourced<bool>>,
}

/// Rate limiting by a service.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct RateLimitService {
    /// The domain of the descriptors.
    pub domain: Sourced<Str>,
    pub cluster: Sourced<Str>,
    /// `:authority` sent to the service; `None`: the cluster's name.
    pub authority: Option<Sourced<Str>>,
    /// `internal`, `external` or `both`: which requests are limited; `None` is Envoy's default.
    pub request_type: Option<Str>,
    /// The maximum time for a response; zero disables it; `None` is Envoy's default.
    pub timeout: Option<Sourced<Duration>>,
    /// Sends `x-ratelimit-*` headers (draft version 03).
    pub x_ratelimit_headers: Option<Sourced<bool>>,
    /// Refuses requests if the service fails.
    pub failure_mode_deny: Sourced<bool>,
    /// gRPC clients get RESOURCE_EXHAUSTED.
    pub resource_exhausted: Sourced<bool>,
}

#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct LuaScripts {
    /// Runs for every request.
    pub default: Option<Sourced<Str>>,
    /// Runs if a route names the script.
    pub named: Vec<(Str, Sourced<Str>)>,
}

/// Rate limiting within the proxy.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct LocalRateLimit {
    /// Prefix of statistics.
    pub stat_prefix: Str,
    /// Each request needs a token; `None`: no limit.
    pub bucket: Option<TokenBucket>,
    /// HTTP status of refusals; `None` is Envoy's 429.
    pub status: Option<Sourced<StatusCode>>,
    /// Headers of refusals.
    pub response_headers: HeaderMutations,
}

#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct TokenBucket {
    pub max_tokens: Sourced<u32>,
    pub tokens_per_fill: Sourced<u32>,
    pub fill_interval: Sourced<Duration>,
}

/// An issuer of tokens.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct JwtProvider {
    /// The name that routes use.
    pub name: Sourced<Str>,
    /// The required `iss` of tokens; `None`: any.
    pub issuer: Option<Sourced<Str>>,
    /// The accepted values of `aud`; empty: any.
    pub audiences: Vec<Sourced<Str>>,
    /// Forwards the token to the upstream.
    pub forward: Sourced<bool>,
    /// The source of its keys.
    pub jwks: Jwks,
}

/// Whether a string is a JSON Web Key Set with at least one key; Envoy rejects others (google/jwt_verify_lib, `src/jwks.cc`).
pub fn holds_keys(jwks: &str) -> bool {
    #[derive(serde::Deserialize)]
    struct Set {
        keys: Vec<serde::de::IgnoredAny>,
    }
    serde_json::from_str::<Set>(jwks).is_ok_and(|set| !set.keys.is_empty())
}

/// The source of a provider's keys.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum Jwks {
    /// Fetched from a URI.
    Remote {
        /// From here.
        uri: Sourced<Str>,
        /// The URI's cluster.
        cluster: Sourced<Str>,
        /// The maximum time for a response.
        timeout: Sourced<Duration>,
        /// How long keys are cached; `None` is Envoy's ten minutes.
        cache: Option<Sourced<Duration>>,
    },
    /// Inline, without secret parts.
    Public(Sourced<Str>),
    /// Inline, with keys that only the issuer should have.
    Secret(Sourced<SecretReference>),
}
