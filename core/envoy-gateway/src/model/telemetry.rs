//! Defines logs, traces, and the listener for readiness checks.

use super::{Destination, Traffic};
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_base::resource::Origin;
use chancery_text::Str;

/// The listener that Kubernetes asks whether Envoy is ready.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ReadyListener {
    /// `IPv4`, `IPv6` or `DualStack`.
    pub(crate) ip_family: Str,
    pub(crate) address: Str,
    pub(crate) port: i64,
    pub(crate) path: Str,
}

/// Access logs, by where they go.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct AccessLogs {
    pub(crate) text: Vec<TextLog>,
    pub(crate) json: Vec<JsonLog>,
    pub(crate) als: Vec<AlsLog>,
    pub(crate) open_telemetry: Vec<OpenTelemetryLog>,
}

/// A file of lines.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TextLog {
    /// Valid CEL expressions; at least one must be true.
    pub(crate) matches: Vec<Tree>,
    /// `Tree::NULL` for the default.
    pub(crate) format: Tree,
    pub(crate) path: Tree,
    /// `Listener`, `Route`, `Upstream` or unset.
    pub(crate) kind: Tree,
    pub(crate) origin: Option<Origin>,
}

/// A file of JSON objects.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct JsonLog {
    pub(crate) matches: Vec<Tree>,
    /// Keys and values, sorted by key.
    pub(crate) fields: Vec<(Str, Tree)>,
    pub(crate) path: Tree,
    pub(crate) kind: Tree,
    pub(crate) origin: Option<Origin>,
}

/// A gRPC service for access logs.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct AlsLog {
    pub(crate) matches: Vec<Tree>,
    pub(crate) log_name: Tree,
    pub(crate) destination: Destination,
    pub(crate) traffic: Option<Traffic>,
    /// `HTTP` or `TCP`.
    pub(crate) service: Tree,
    pub(crate) text: Tree,
    pub(crate) attributes: Vec<(Str, Tree)>,
    /// {requestHeaders, responseHeaders, responseTrailers}
    pub(crate) http: Tree,
    pub(crate) kind: Tree,
    pub(crate) origin: Option<Origin>,
}

/// A collector of OpenTelemetry.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct OpenTelemetryLog {
    pub(crate) matches: Vec<Tree>,
    pub(crate) authority: Tree,
    pub(crate) text: Tree,
    pub(crate) attributes: Vec<(Str, Tree)>,
    pub(crate) resource_attributes: Vec<(Str, Tree)>,
    /// Items {name, value}.
    pub(crate) headers: Vec<Tree>,
    pub(crate) destination: Destination,
    pub(crate) traffic: Option<Traffic>,
    pub(crate) kind: Tree,
    pub(crate) origin: Option<Origin>,
}

/// Where traces go.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Tracing {
    pub(crate) service_name: Tree,
    pub(crate) authority: Tree,
    /// In percent.
    pub(crate) sampling_rate: Tree,
    pub(crate) client_sampling_rate: Tree,
    pub(crate) overall_sampling_rate: Tree,
    /// Name and tag in EnvoyProxy's words ({type, literal | environment | requestHeader}), sorted by name.
    pub(crate) custom_tags: Vec<(Str, Tree)>,
    /// Name and text with commands, sorted by name.
    pub(crate) tags: Vec<(Str, Tree)>,
    pub(crate) resource_attributes: Vec<(Str, Tree)>,
    pub(crate) destination: Destination,
    pub(crate) traffic: Option<Traffic>,
    /// `EnvoyProxy.spec.telemetry.tracing.provider`
    pub(crate) provider: Tree,
    /// Items {name, value}.
    pub(crate) headers: Vec<Tree>,
    /// {server, client}
    pub(crate) span_name: Tree,
    pub(crate) origin: Option<Origin>,
}
