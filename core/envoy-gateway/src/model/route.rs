//! Holds routes of requests.

use super::{AddHeader, Cors, CredentialInjection, Destination, Extensions, Metadata, Redirect, Security, StringMatch, Traffic, UrlRewrite};
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_base::resource::{Origin, Sourced};
use chancery_text::Str;

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
    pub(crate) direct_response: Option<Box<DirectResponse>>,
    pub(crate) redirect: Option<Box<Redirect>>,
    pub(crate) mirrors: Vec<Mirror>,
    pub(crate) destination: Option<Destination>,
    pub(crate) rewrite: Option<Box<UrlRewrite>>,
    pub(crate) credential_injection: Option<Box<CredentialInjection>>,
    /// Features of a BackendTrafficPolicy.
    pub(crate) traffic: Option<Arc<Traffic>>,
    /// Features of a SecurityPolicy, and of an HTTPRouteFilter or ExternalAuth filter.
    pub(crate) security: Option<Arc<Security>>,
    /// Features of an EnvoyExtensionPolicy.
    pub(crate) extensions: Option<Arc<Extensions>>,
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
    pub(crate) cors: Option<Box<Cors>>,
    /// The rule.
    pub(crate) origin: Option<Origin>,
}

/// An answer that Envoy gives itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct DirectResponse {
    pub(crate) status: Sourced<i64>,
    pub(crate) content_type: Tree,
    pub(crate) body: Tree,
    pub(crate) add_headers: Vec<AddHeader>,
}

/// A copy of requests.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Mirror {
    pub(crate) destination: Destination,
    /// The percentage of requests; all if unset.
    pub(crate) percentage: Tree,
    pub(crate) origin: Option<Origin>,
}
