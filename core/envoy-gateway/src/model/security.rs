//! Defines the effects of a SecurityPolicy on requests.

use super::{CidrMatch, Destination, StringMatch, Traffic};
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_base::resource::{Origin, Sourced};
use chancery_text::Str;

/// Features of a SecurityPolicy.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Security {
    pub(crate) cors: Option<Cors>,
    /// Shadow fraction ({numerator, denominator}) and further origins.
    pub(crate) csrf: Option<(Tree, Vec<StringMatch>)>,
    pub(crate) jwt: Option<Jwt>,
    pub(crate) oidc: Option<Oidc>,
    pub(crate) api_key_auth: Option<ApiKeyAuth>,
    pub(crate) basic_auth: Option<BasicAuth>,
    pub(crate) ext_auth: Option<ExtAuth>,
    pub(crate) authorization: Option<Authorization>,
    /// The policy.
    pub(crate) origin: Option<Origin>,
}

/// Tokens.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Jwt {
    pub(crate) allow_missing: Tree,
    pub(crate) allow_missing_or_failed: Tree,
    pub(crate) providers: Vec<JwtProvider>,
    pub(crate) origin: Option<Origin>,
}

/// An issuer of tokens.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct JwtProvider {
    /// The item of `spec.jwt.providers`.
    pub(crate) spec: Tree,
    pub(crate) remote: Option<RemoteJwks>,
    /// Keys that are written out; `Tree::NULL` if they are fetched.
    pub(crate) local: Tree,
}

/// Keys that Envoy fetches.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RemoteJwks {
    pub(crate) destination: Option<Destination>,
    pub(crate) traffic: Option<Traffic>,
    pub(crate) uri: Tree,
    pub(crate) cache_duration: Tree,
    pub(crate) failed_refetch_duration: Tree,
}

/// Sign-in by OpenID Connect.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Oidc {
    /// The filter's name: `securitypolicy/NS/NAME`.
    pub(crate) name: Str,
    pub(crate) destination: Option<Destination>,
    pub(crate) traffic: Option<Traffic>,
    pub(crate) authorization_endpoint: Tree,
    pub(crate) token_endpoint: Tree,
    pub(crate) end_session_endpoint: Tree,
    /// `spec.oidc`, for the fields that are copied.
    pub(crate) spec: Tree,
    pub(crate) client_id: Tree,
    /// `secret:NS/NAME/client-secret`
    pub(crate) client_secret: Tree,
    pub(crate) hmac_secret: Tree,
    pub(crate) scopes: Vec<Tree>,
    pub(crate) redirect_url: Tree,
    pub(crate) redirect_path: Tree,
    pub(crate) logout_path: Tree,
    /// Hash of the policy's UID.
    pub(crate) cookie_suffix: Str,
    pub(crate) origin: Option<Origin>,
}

/// Keys of clients.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ApiKeyAuth {
    /// Client and key.
    pub(crate) credentials: Vec<(Tree, Tree)>,
    /// `spec.apiKeyAuth`
    pub(crate) spec: Tree,
}

/// Users with passwords.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct BasicAuth {
    pub(crate) name: Str,
    /// `secret:NS/NAME/.htpasswd`
    pub(crate) users: Tree,
    pub(crate) forward_username_header: Tree,
    pub(crate) origin: Option<Origin>,
}

/// The settings of calls to an authorization service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ExtAuthProtocol {
    #[default]
    Grpc,
    Http,
}

/// A service that decides on requests.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ExtAuth {
    pub(crate) name: Str,
    pub(crate) protocol: ExtAuthProtocol,
    pub(crate) destination: Destination,
    pub(crate) authority: Tree,
    /// `http.path`
    pub(crate) path: Tree,
    pub(crate) path_override: Tree,
    pub(crate) headers_to_backend: Vec<Tree>,
    pub(crate) traffic: Option<Traffic>,
    pub(crate) headers_to_ext_auth: Vec<Tree>,
    /// {maxRequestBytes}
    pub(crate) body: Tree,
    pub(crate) timeout: Tree,
    pub(crate) fail_open: Tree,
    pub(crate) recompute_route: Tree,
    pub(crate) include_route_metadata: Tree,
    /// Name and value.
    pub(crate) context_extensions: Vec<(Tree, Tree)>,
    pub(crate) status_on_error: Tree,
    pub(crate) origin: Option<Origin>,
}

/// Who may do what.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Authorization {
    pub(crate) rules: Vec<AuthorizationRule>,
    /// `Allow` or `Deny`.
    pub(crate) default_action: Tree,
    pub(crate) origin: Option<Origin>,
}

/// A rule; the first matching rule decides.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct AuthorizationRule {
    pub(crate) name: Tree,
    pub(crate) action: Tree,
    /// `operation`: {methods, path}
    pub(crate) operation: Tree,
    pub(crate) principal: Principal,
    pub(crate) cel: Tree,
    pub(crate) origin: Option<Origin>,
}

/// Who a rule is for.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Principal {
    pub(crate) client_cidrs: Vec<CidrMatch>,
    /// `principal.jwt`
    pub(crate) jwt: Tree,
    /// Items of `principal.headers`.
    pub(crate) headers: Vec<Tree>,
    /// Items of `principal.clientIPGeoLocations`.
    pub(crate) geo: Vec<Tree>,
}

/// Cross-origin requests.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Cors {
    pub(crate) allow_origins: Vec<StringMatch>,
    pub(crate) allow_methods: Vec<Sourced<Str>>,
    pub(crate) allow_headers: Vec<Sourced<Str>>,
    pub(crate) expose_headers: Vec<Sourced<Str>>,
    /// A duration in text.
    pub(crate) max_age: Tree,
    pub(crate) allow_credentials: Tree,
    pub(crate) origin: Option<Origin>,
}
