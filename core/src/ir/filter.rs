//! HTTP filters.

use super::{Origins, StringMatch};
use crate::resource::Sourced;
use crate::text::Str;
use alloc::vec::Vec;
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
    /// A Lua script.
    Lua(Sourced<Str>),
    /// Compression of responses.
    Compressor(Compressor),
    /// Requests are buffered, up to so many bytes.
    Buffer(Sourced<u32>),
    /// Allowed and denied addresses.
    Rbac(Rbac),
    /// External authorization.
    ExtAuthz(ExtAuthz),
    /// Rate limiting by a service.
    RateLimit(RateLimitService),
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
}

/// Which gRPC methods have statistics of their own.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum GrpcStatsMethods {
    /// All, or none.
    All(Sourced<bool>),
    /// Services with their methods.
    These(Vec<Sourced<(Str, Vec<Str>)>>),
}

/// Gzip compression of responses.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Compressor {
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
    /// Time for an answer.
    pub timeout: Sourced<Duration>,
    /// The route is chosen anew afterwards.
    pub clear_route_cache: bool,
    /// The body sent along.
    pub body: Option<Sourced<Body>>,
    /// Requests pass when the service fails.
    pub failure_mode_allow: Option<Sourced<bool>>,
    /// HTTP status when the service fails.
    pub status_on_error: Option<Sourced<u32>>,
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
        allowed_request_headers: Vec<Sourced<StringMatch>>,
        /// Headers of its answer that go on to client or upstream.
        allowed_response_headers: Vec<Sourced<StringMatch>>,
        /// Headers added to what is sent.
        headers_to_add: Vec<Sourced<(Str, Str)>>,
    },
    /// By gRPC, v3.
    Grpc,
}

/// How much of a request's body is sent along.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Body {
    /// Bytes.
    pub max_bytes: Option<Sourced<u32>>,
    /// What fits is sent, else the request is refused.
    pub allow_partial: Option<Sourced<bool>>,
}

/// Rate limiting by a service.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct RateLimitService {
    /// Domain asked for.
    pub domain: Sourced<Str>,
    /// Its cluster.
    pub cluster: Sourced<Str>,
    /// Time for an answer.
    pub timeout: Sourced<Duration>,
    /// Requests are refused when the service fails.
    pub failure_mode_deny: Sourced<bool>,
    /// gRPC clients get RESOURCE_EXHAUSTED.
    pub resource_exhausted: Sourced<bool>,
}
