//! Models access policies: CORS, rate limits, addresses, authorization, tokens.

use super::{DnsCluster, ExtensionCluster, HeaderCondition, MatchType, Material, Timeout};
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir;
use chancery_base::resource::Sourced;
use chancery_text::Str;
use core::time::Duration;

#[derive(Clone, Debug, Default)]
pub struct CorsPolicy {
    /// `Access-Control-Allow-Credentials`.
    pub allow_credentials: Sourced<bool>,
    /// Origins: exact, or an expression.
    pub allow_origin: Vec<Sourced<(MatchType, Str)>>,
    pub allow_methods: Vec<Sourced<Str>>,
    pub allow_headers: Vec<Sourced<Str>>,
    pub expose_headers: Vec<Sourced<Str>>,
    /// How long an answer may be kept.
    pub max_age: Sourced<Timeout>,
    /// `Access-Control-Allow-Private-Network`.
    pub allow_private_network: Sourced<bool>,
}

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

#[derive(Clone, Debug)]
pub struct RateLimitDescriptor {
    pub entries: Vec<Sourced<RateLimitEntry>>,
}

/// One entry of a descriptor.
#[derive(Clone, Debug)]
pub enum RateLimitEntry {
    /// A fixed value; an empty key is `generic_key`.
    GenericKey { key: Str, value: Str },
    /// A header's value.
    RequestHeader {
        header: Str,
        /// Descriptor key.
        key: Str,
    },
    /// A fixed value, if headers match.
    HeaderValueMatch {
        /// The header conditions.
        headers: Vec<HeaderCondition>,
        /// Or must not.
        expect_match: bool,
        value: Str,
    },
    /// The client's address.
    RemoteAddress,
}

/// Addresses that may pass, or may not.
#[derive(Clone, Debug)]
pub struct IpFilter {
    /// Only they pass; else they do not.
    pub allow: bool,
    /// Which.
    pub rules: Vec<Sourced<ir::IpRange>>,
}

/// An authorization service.
#[derive(Clone, Debug)]
pub struct Authorization {
    /// By HTTP; else by gRPC.
    pub http: bool,
    /// Headers sent along.
    pub allowed_request_headers: Vec<Sourced<HeaderNameMatch>>,
    /// Headers of its response that are forwarded upstream.
    pub allowed_upstream_headers: Vec<Sourced<HeaderNameMatch>>,
    /// Put before the path.
    pub path_prefix: Sourced<Str>,
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
    /// The compared value.
    pub value: Str,
    /// Ignores ASCII case.
    pub ignore_case: bool,
}

/// How much of a request's body is sent along.
#[derive(Clone, Debug)]
pub struct AuthorizationBody {
    pub max_bytes: Sourced<u32>,
    /// Sends a truncated body.
    pub allow_partial: Sourced<bool>,
    /// As bytes instead of text.
    pub pack_as_bytes: Sourced<bool>,
}

/// Who issues tokens.
#[derive(Clone, Debug)]
pub struct JwtProvider {
    pub name: Sourced<Str>,
    /// Issuer; may be empty.
    pub issuer: Sourced<Str>,
    pub audiences: Vec<Sourced<Str>>,
    /// Where its keys are.
    pub jwks: Jwks,
    /// Forwards the token upstream.
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
        cluster: Arc<DnsCluster>,
    },
    /// A key of a Secret.
    Local(Sourced<Arc<Material>>, Str),
}
