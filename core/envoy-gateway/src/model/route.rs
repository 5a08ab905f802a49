//! Holds routes of requests, and what their filters do.

use super::{Destination, Extensions, Metadata, Security, Traffic};
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_base::resource::{Origin, Sourced};
use chancery_text::Str;

/// How a text is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum StringMatchKind {
    #[default]
    Exact,
    Prefix,
    Suffix,
    Regex,
    /// Each value counts by itself (rate limits).
    Distinct,
}

/// A comparison of a header, query parameter, cookie, path or other text.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct StringMatch {
    /// The header, parameter or cookie; empty for a path and for other texts.
    pub(crate) name: Sourced<Str>,
    pub(crate) kind: StringMatchKind,
    pub(crate) value: Sourced<Str>,
    pub(crate) invert: bool,
}

/// A route of requests.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct HttpRoute {
    /// `httproute/NS/NAME/rule/N/match/M/HOST`
    pub(crate) name: Str,
    /// The name in statistics; `Tree::NULL` if unset.
    pub(crate) stat_name: Tree,
    pub(crate) hostname: Sourced<Str>,
    /// The route is a GRPCRoute.
    pub(crate) is_http2: bool,
    pub(crate) path: Option<StringMatch>,
    pub(crate) headers: Vec<StringMatch>,
    pub(crate) query: Vec<StringMatch>,
    pub(crate) cookies: Vec<StringMatch>,
    pub(crate) add_request_headers: Vec<AddHeader>,
    pub(crate) remove_request_headers: Vec<Sourced<Str>>,
    pub(crate) add_response_headers: Vec<AddHeader>,
    pub(crate) remove_response_headers: Vec<Sourced<Str>>,
    pub(crate) direct_response: Option<DirectResponse>,
    pub(crate) redirect: Option<Redirect>,
    pub(crate) mirrors: Vec<Mirror>,
    pub(crate) destination: Option<Destination>,
    pub(crate) rewrite: Option<UrlRewrite>,
    pub(crate) credential_injection: Option<CredentialInjection>,
    /// Features of a BackendTrafficPolicy.
    pub(crate) traffic: Option<Traffic>,
    /// Features of a SecurityPolicy, and of an HTTPRouteFilter or ExternalAuth filter.
    pub(crate) security: Option<Security>,
    /// Features of an EnvoyExtensionPolicy.
    pub(crate) extensions: Option<Extensions>,
    /// `BackendTrafficPolicy.spec.useClientProtocol`
    pub(crate) use_client_protocol: Tree,
    pub(crate) metadata: Metadata,
    /// {cookie: {name, ttl} | header: {name}}
    pub(crate) session_persistence: Tree,
    /// The rule's own timeout, as a duration in text.
    pub(crate) timeout: Tree,
    /// The rule's own retry, in the words of a BackendTrafficPolicy's `retry`.
    pub(crate) retry: Tree,
    /// The rule's own CORS filter.
    pub(crate) cors: Option<Cors>,
    /// The rule.
    pub(crate) origin: Option<Origin>,
}

/// A header that is set or added.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct AddHeader {
    pub(crate) name: Sourced<Str>,
    pub(crate) values: Vec<Sourced<Str>>,
    /// Added to values that are there, instead of replacing them.
    pub(crate) append: bool,
    pub(crate) if_absent: bool,
}

/// An answer that Envoy gives itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct DirectResponse {
    pub(crate) status: Sourced<i64>,
    pub(crate) content_type: Tree,
    pub(crate) body: Tree,
    pub(crate) add_headers: Vec<AddHeader>,
}

/// A redirect. `Tree::NULL` keeps that part of the request.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Redirect {
    pub(crate) scheme: Tree,
    pub(crate) hostname: Tree,
    pub(crate) path: PathModifier,
    pub(crate) port: Tree,
    pub(crate) status: Tree,
    pub(crate) origin: Option<Origin>,
}

/// A new path. At most one of the fields is set.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PathModifier {
    pub(crate) full: Tree,
    pub(crate) prefix: Tree,
    /// Pattern and substitution.
    pub(crate) regex: Option<(Tree, Tree)>,
}

/// A new host. At most one of the fields is set.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct HostModifier {
    pub(crate) name: Tree,
    /// The header whose value becomes the host.
    pub(crate) header: Tree,
    /// The host of the chosen backend.
    pub(crate) backend: Tree,
    /// Pattern and substitution, by the path.
    pub(crate) path_regex: Option<(Tree, Tree)>,
}

/// New path and host.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct UrlRewrite {
    pub(crate) path: PathModifier,
    pub(crate) host: HostModifier,
    pub(crate) append_x_forwarded_host: Tree,
    pub(crate) origin: Option<Origin>,
}

/// A copy of requests.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Mirror {
    pub(crate) destination: Destination,
    /// The percentage of requests; all if unset.
    pub(crate) percentage: Tree,
    pub(crate) origin: Option<Origin>,
}

/// A credential that Envoy puts into requests.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CredentialInjection {
    pub(crate) name: Str,
    pub(crate) header: Tree,
    pub(crate) overwrite: Tree,
    /// `secret:NS/NAME/credential`
    pub(crate) credential: Tree,
    pub(crate) origin: Option<Origin>,
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
