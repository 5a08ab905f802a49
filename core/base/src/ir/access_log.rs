//! Access logs.

use super::Json;
use crate::resource::Sourced;
use alloc::vec::Vec;
use chancery_text::Str;
use core::time::Duration;

/// One access log.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct AccessLog {
    /// Envoy's extension name, e.g. `envoy.access_loggers.file`.
    pub name: Str,
    /// What is logged; `None`: everything.
    pub filter: Option<Sourced<AccessLogFilter>>,
    /// Where it goes.
    pub sink: AccessLogSink,
}

/// What is logged.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum AccessLogFilter {
    /// Responses of this status or a higher one, and those with any response flag.
    Failures {
        /// HTTP status.
        status: u32,
        /// Runtime key that overrides it.
        runtime_key: Str,
    },
}

/// Where an access log goes.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum AccessLogSink {
    /// A file.
    File(FileAccessLog),
    /// A service that speaks ALS.
    Grpc(GrpcAccessLog),
}

/// A log in a file.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct FileAccessLog {
    /// Path that the proxy sees.
    pub path: Sourced<Str>,
    /// What is written; `None`: Envoy's own line.
    pub format: Option<Sourced<AccessLogFormat>>,
    /// Members without a value are left out.
    pub omit_empty: bool,
    /// Commands that must be declared to Envoy.
    pub formatters: Vec<Sourced<Formatter>>,
}

/// What is written.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum AccessLogFormat {
    /// A line with Envoy's `%COMMANDS%`.
    Text(Str),
    /// JSON whose values are all text.
    Json(Vec<(Str, Json)>),
    /// JSON that keeps numbers and booleans.
    TypedJson(Vec<(Str, Json)>),
}

/// A set of `%COMMANDS%` that Envoy has as an extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub enum Formatter {
    /// `%METADATA(...)%`
    Metadata,
    /// `%REQ_WITHOUT_QUERY(...)%`
    ReqWithoutQuery,
}

/// A log sent to a service.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct GrpcAccessLog {
    /// What is logged.
    pub kind: GrpcAccessLogKind,
    /// Cluster of the service.
    pub cluster: Sourced<Str>,
    /// Name sent along.
    pub log_name: Sourced<Str>,
    /// Longest time between two flushes.
    pub flush_interval: Sourced<Duration>,
    /// Bytes that cause a flush.
    pub buffer_bytes: Sourced<u32>,
    /// Request headers logged.
    pub request_headers: Vec<Sourced<Str>>,
    /// Response headers logged.
    pub response_headers: Vec<Sourced<Str>>,
    /// Response trailers logged.
    pub response_trailers: Vec<Sourced<Str>>,
}

/// What a gRPC access log logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub enum GrpcAccessLogKind {
    /// HTTP requests.
    Http,
    /// TCP connections.
    Tcp,
}
