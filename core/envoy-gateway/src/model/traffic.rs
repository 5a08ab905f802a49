//! Defines the settings of requests from a BackendTrafficPolicy, or for a service that Envoy calls itself.

use super::{AddHeader, CidrMatch, Redirect, StringMatch};
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_base::resource::Origin;
use chancery_text::Str;

/// Settings of clusters, in the words of `ClusterSettings`. `Tree::NULL` is unset.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ClusterTraffic {
    pub(crate) load_balancer: Tree,
    pub(crate) proxy_protocol: Tree,
    pub(crate) health_check: Tree,
    pub(crate) admission_control: Tree,
    pub(crate) circuit_breaker: Tree,
    pub(crate) timeout: Tree,
    pub(crate) tcp_keepalive: Tree,
    pub(crate) connection: Tree,
    pub(crate) http2: Tree,
    pub(crate) dns: Tree,
    /// Tells apart the DNS caches of policies; empty for settings that no policy holds.
    pub(crate) dns_name: Str,
}

/// Settings of routes and their clusters. `Tree::NULL` is unset.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Traffic {
    pub(crate) cluster: ClusterTraffic,
    pub(crate) rate_limit: Option<RateLimit>,
    pub(crate) bandwidth_limit: Tree,
    pub(crate) fault_injection: Tree,
    pub(crate) retry: Tree,
    /// Name of the policy and its rules.
    pub(crate) response_override: Option<(Str, Vec<ResponseOverrideRule>)>,
    /// Items {type, chooseFirst, minContentLength}; `None` if unset.
    pub(crate) compression: Option<Vec<Tree>>,
    /// Items {type, connect}; `None` if unset, so that WebSocket is on.
    pub(crate) http_upgrade: Option<Vec<Tree>>,
    pub(crate) telemetry: Tree,
    pub(crate) request_buffer: Tree,
    /// The policy.
    pub(crate) origin: Option<Origin>,
}

/// Limits of requests.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RateLimit {
    pub(crate) global: Option<Vec<RateLimitRule>>,
    pub(crate) local: Option<LocalRateLimit>,
}

/// Limits that each Envoy counts itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LocalRateLimit {
    /// {requests, unit}
    pub(crate) default: Tree,
    pub(crate) rules: Vec<RateLimitRule>,
    pub(crate) default_x_rate_limit: Tree,
}

/// One limit.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RateLimitRule {
    pub(crate) headers: Vec<StringMatch>,
    pub(crate) path: Option<StringMatch>,
    pub(crate) methods: Vec<StringMatch>,
    pub(crate) cidr: Option<CidrMatch>,
    pub(crate) query: Vec<StringMatch>,
    /// {requests, unit, fromMetadata: {namespace, key}}
    pub(crate) limit: Tree,
    /// {number | format}
    pub(crate) request_cost: Tree,
    pub(crate) response_cost: Tree,
    pub(crate) shared: Tree,
    pub(crate) shadow_mode: Tree,
    pub(crate) x_rate_limit: Tree,
    pub(crate) name: Str,
    pub(crate) origin: Option<Origin>,
}

impl RateLimitRule {
    /// Whether it is for some requests only.
    pub(crate) fn has_match(&self) -> bool {
        !self.headers.is_empty() || self.path.is_some() || !self.methods.is_empty() || self.cidr.is_some() || !self.query.is_empty()
    }
}

/// A response of Envoy instead of the backend's response.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ResponseOverrideRule {
    pub(crate) name: Str,
    /// Items {type, value | range: {start, end}}.
    pub(crate) statuses: Vec<Tree>,
    pub(crate) headers: Vec<StringMatch>,
    /// {contentType, body, statusCode}; `body` is text.
    pub(crate) response: Tree,
    pub(crate) add_headers: Vec<AddHeader>,
    pub(crate) redirect: Option<Redirect>,
    /// `Backend`, `Local`, or unset.
    pub(crate) source: Tree,
    pub(crate) origin: Option<Origin>,
}
