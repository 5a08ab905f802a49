//! Defines access logs.

use super::Json;
use crate::resource::Sourced;
use alloc::vec::Vec;
use chancery_text::Str;
use core::time::Duration;

#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct AccessLog {
    /// Envoy's extension name, e.g. `envoy.access_loggers.file`.
    pub name: Str,
    /// Which entries are logged; `None`: all.
    pub filter: Option<Sourced<AccessLogFilter>>,
    /// The destination.
    pub sink: AccessLogSink,
}

/// Which entries are logged.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum AccessLogFilter {
    /// Responses with at least this status, and responses with any response flag.
    Failures {
        /// HTTP status.
        status: u32,
        /// Runtime key that overrides the status.
        runtime_key: Str,
    },
}

/// The destination of an access log.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum AccessLogSink {
    File(FileAccessLog),
    /// A service that implements ALS.
    Grpc(GrpcAccessLog),
}

#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct FileAccessLog {
    /// The path inside the proxy.
    pub path: Sourced<Str>,
    /// The format; `None`: Envoy's default line.
    pub format: Option<Sourced<AccessLogFormat>>,
    /// Omits members without a value.
    pub omit_empty: bool,
    /// Commands that must be declared to Envoy.
    pub formatters: Vec<Sourced<Formatter>>,
}

/// The format of entries.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum AccessLogFormat {
    /// A line with Envoy's `%COMMANDS%`.
    Text(Str),
    /// JSON whose values are all strings.
    Json(Vec<(Str, Json)>),
    /// JSON that keeps numbers and booleans.
    TypedJson(Vec<(Str, Json)>),
}

/// A set of `%COMMANDS%` from an Envoy extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub enum Formatter {
    /// `%METADATA(...)%`
    Metadata,
    /// `%REQ_WITHOUT_QUERY(...)%`
    ReqWithoutQuery,
}

/// A log sent to a gRPC service.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct GrpcAccessLog {
    pub kind: GrpcAccessLogKind,
    /// The service's cluster.
    pub cluster: Sourced<Str>,
    /// The log name sent to the service.
    pub log_name: Sourced<Str>,
    /// The maximum time between two flushes.
    pub flush_interval: Sourced<Duration>,
    /// The number of bytes that triggers a flush.
    pub buffer_bytes: Sourced<u32>,
    /// Logged request headers.
    pub request_headers: Vec<Sourced<Str>>,
    /// Logged response headers.
    pub response_headers: Vec<Sourced<Str>>,
    /// Logged response trailers.
    pub response_trailers: Vec<Sourced<Str>>,
}

/// What a gRPC access log records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub enum GrpcAccessLogKind {
    Http,
    Tcp,
}
