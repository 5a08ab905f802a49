//! Validates access log formats and their fields (Contour `apis/projectcontour/v1alpha1/accesslog.go`).

use alloc::format;
use alloc::string::String;
use chancery_kubernetes::reason::Reason;
use core::fmt::Write as _;

/// The default fields of a JSON log.
pub const DEFAULT_JSON_FIELDS: &[&str] = &[
    "@timestamp",
    "authority",
    "bytes_received",
    "bytes_sent",
    "downstream_local_address",
    "downstream_remote_address",
    "duration",
    "method",
    "path",
    "protocol",
    "request_id",
    "requested_server_name",
    "response_code",
    "response_flags",
    "uber_trace_id",
    "upstream_cluster",
    "upstream_host",
    "upstream_local_address",
    "upstream_service_time",
    "user_agent",
    "x_forwarded_for",
    "grpc_status",
    "grpc_status_number",
];

/// The formats of known field names.
pub const JSON_FIELDS: &[(&str, &str)] = &[
    ("@timestamp", "%START_TIME%"),
    ("ts", "%START_TIME%"),
    ("authority", "%REQ(:AUTHORITY)%"),
    ("method", "%REQ(:METHOD)%"),
    ("path", "%REQ(X-ENVOY-ORIGINAL-PATH?:PATH)%"),
    ("request_id", "%REQ(X-REQUEST-ID)%"),
    ("uber_trace_id", "%REQ(UBER-TRACE-ID)%"),
    ("upstream_service_time", "%RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)%"),
    ("user_agent", "%REQ(USER-AGENT)%"),
    ("x_forwarded_for", "%REQ(X-FORWARDED-FOR)%"),
    ("x_trace_id", "%REQ(X-TRACE-ID)%"),
    ("tls_ja3_fingerprint", "%TLS_JA3_FINGERPRINT%"),
    ("tls_ja4_fingerprint", "%TLS_JA4_FINGERPRINT%"),
    ("contour_config_kind", "%METADATA(ROUTE:envoy.access_loggers.file:io.projectcontour.kind)%"),
    ("contour_config_namespace", "%METADATA(ROUTE:envoy.access_loggers.file:io.projectcontour.namespace)%"),
    ("contour_config_name", "%METADATA(ROUTE:envoy.access_loggers.file:io.projectcontour.name)%"),
];

/// Operators without arguments.
const SIMPLE: &[&str] = &[
    "BYTES_RECEIVED",
    "BYTES_SENT",
    "CONNECTION_ID",
    "CONNECTION_TERMINATION_DETAILS",
    "DOWNSTREAM_DIRECT_REMOTE_ADDRESS",
    "DOWNSTREAM_DIRECT_REMOTE_ADDRESS_WITHOUT_PORT",
    "DOWNSTREAM_DIRECT_REMOTE_PORT",
    "DOWNSTREAM_HEADER_BYTES_RECEIVED",
    "DOWNSTREAM_HEADER_BYTES_SENT",
    "DOWNSTREAM_LOCAL_ADDRESS",
    "DOWNSTREAM_LOCAL_ADDRESS_WITHOUT_PORT",
    "DOWNSTREAM_LOCAL_PORT",
    "DOWNSTREAM_LOCAL_SUBJECT",
    "DOWNSTREAM_LOCAL_URI_SAN",
    "DOWNSTREAM_PEER_CERT",
    "DOWNSTREAM_PEER_CERT_V_END",
    "DOWNSTREAM_PEER_CERT_V_START",
    "DOWNSTREAM_PEER_FINGERPRINT_1",
    "DOWNSTREAM_PEER_FINGERPRINT_256",
    "DOWNSTREAM_PEER_ISSUER",
    "DOWNSTREAM_PEER_SERIAL",
    "DOWNSTREAM_PEER_SUBJECT",
    "DOWNSTREAM_PEER_URI_SAN",
    "DOWNSTREAM_REMOTE_ADDRESS",
    "DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT",
    "DOWNSTREAM_REMOTE_PORT",
    "DOWNSTREAM_TLS_CIPHER",
    "DOWNSTREAM_TLS_SESSION_ID",
    "DOWNSTREAM_TLS_VERSION",
    "DOWNSTREAM_WIRE_BYTES_RECEIVED",
    "DOWNSTREAM_WIRE_BYTES_SENT",
    "DURATION",
    "FILTER_CHAIN_NAME",
    "GRPC_STATUS",
    "GRPC_STATUS_NUMBER",
    "HOSTNAME",
    "LOCAL_REPLY_BODY",
    "PROTOCOL",
    "REQUEST_HEADERS_BYTES",
    "REQUESTED_SERVER_NAME",
    "REQUEST_DURATION",
    "REQUEST_TX_DURATION",
    "RESPONSE_CODE",
    "RESPONSE_CODE_DETAILS",
    "RESPONSE_DURATION",
    "RESPONSE_FLAGS",
    "RESPONSE_HEADERS_BYTES",
    "RESPONSE_TRAILERS_BYTES",
    "RESPONSE_TX_DURATION",
    "ROUTE_NAME",
    "START_TIME",
    "TLS_JA3_FINGERPRINT",
    "TLS_JA4_FINGERPRINT",
    "UPSTREAM_CLUSTER",
    "UPSTREAM_FILTER_STATE",
    "UPSTREAM_HEADER_BYTES_RECEIVED",
    "UPSTREAM_HEADER_BYTES_SENT",
    "UPSTREAM_HOST",
    "UPSTREAM_LOCAL_ADDRESS",
    "UPSTREAM_LOCAL_ADDRESS_WITHOUT_PORT",
    "UPSTREAM_LOCAL_PORT",
    "UPSTREAM_PEER_CERT",
    "UPSTREAM_PEER_CERT_V_END",
    "UPSTREAM_PEER_CERT_V_START",
    "UPSTREAM_PEER_ISSUER",
    "UPSTREAM_PEER_SUBJECT",
    "UPSTREAM_PROTOCOL",
    "UPSTREAM_REMOTE_ADDRESS",
    "UPSTREAM_REMOTE_ADDRESS_WITHOUT_PORT",
    "UPSTREAM_REMOTE_PORT",
    "UPSTREAM_REQUEST_ATTEMPT_COUNT",
    "UPSTREAM_TLS_CIPHER",
    "UPSTREAM_TLS_SESSION_ID",
    "UPSTREAM_TLS_VERSION",
    "UPSTREAM_TRANSPORT_FAILURE_REASON",
    "UPSTREAM_WIRE_BYTES_RECEIVED",
    "UPSTREAM_WIRE_BYTES_SENT",
    "VIRTUAL_CLUSTER_NAME",
];

/// Operators that require arguments, except `START_TIME`.
const COMPLEX: &[&str] = &["ENVIRONMENT", "METADATA", "REQ", "REQ_WITHOUT_QUERY", "RESP", "START_TIME", "TRAILER"];

/// One `%OPERATOR(ARGUMENTS):LENGTH%` of a format; all but the first part may be empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Operator<'a> {
    /// All of it.
    pub whole: &'a str,
    /// Between the percent signs.
    pub inner: &'a str,
    /// Its name; empty for a percent sign that begins no operator.
    pub name: &'a str,
    /// The text in brackets, with the rest.
    pub arguments: &'a str,
    /// The length to cut to, with its colon.
    pub length: &'a str,
}

impl core::fmt::Display for Operator<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Operator { whole, inner, name, arguments, length } = self;
        write!(f, "[{whole} {inner} {name} {arguments} {length}]")
    }
}

/// The operators of a format, in order.
pub fn operators(format: &str) -> impl Iterator<Item = Operator<'_>> {
    let mut rest = format;
    core::iter::from_fn(move || {
        rest = rest.get(rest.find('%')?..)?;
        let operator = operator(rest).unwrap_or(Operator { whole: rest.get(..1)?, ..Operator::default() });
        rest = rest.get(operator.whole.len()..)?;
        Some(operator)
    })
}

/// The operator at the start of a text that begins with a percent sign.
fn operator(text: &str) -> Option<Operator<'_>> {
    let after = text.get(1..)?;
    let is_name = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let name = after.get(..after.find(|c| !is_name(c))?).filter(|name| !name.is_empty())?;
    let tail = after.get(name.len()..)?;
    let (arguments, length) = match tail.strip_prefix('(') {
        None => ("", ""),
        Some(inside) => {
            let close = inside.find(')').filter(|close| *close > 0)?;
            let behind = inside.get(close + 1..)?;
            let digits = behind.strip_prefix(':').map_or(0, |digits| digits.len() - digits.trim_start_matches(|c: char| c.is_ascii_digit()).len());
            let length = if digits > 0 { behind.get(..digits + 1)? } else { "" };
            (tail.get(..close + 2 + length.len())?, length)
        }
    };
    let end = name.len() + arguments.len();
    after.get(end..)?.starts_with('%').then_some(())?;
    Some(Operator { whole: text.get(..end + 2)?, inner: after.get(..=end)?, name, arguments, length })
}

/// Validates the operators of a format.
fn check(format: &str) -> Result<(), Reason> {
    for operator in operators(format) {
        let (simple, complex) = (SIMPLE.contains(&operator.name), COMPLEX.contains(&operator.name));
        let mut error = format!("invalid Envoy format: {operator}");
        let _ = match operator.name {
            "" => Ok(()),
            name if !simple && !complex => write!(error, ", invalid Envoy operator: {name}"),
            name if complex && name != "START_TIME" && operator.arguments.is_empty() => write!(error, ", arguments required for operator: {name}"),
            name if name == "START_TIME" && !operator.length.is_empty() => write!(error, ", operator {name} cannot have truncation length"),
            _ => continue,
        };
        return Err(error.into());
    }
    Ok(())
}

/// Validates a text format.
pub fn check_text(format: &str) -> Result<(), Reason> {
    if format.is_empty() {
        return Ok(());
    }
    check(format).map_err(|error| format!("invalid access log format: {error}"))?;
    if format.ends_with('\n') { Ok(()) } else { Err("invalid access log format: must end in newline".into()) }
}

/// A field of a JSON log: its name and the format of its value; `None` if Contour does not know the name.
pub fn json_field(field: &str) -> (&str, Option<String>) {
    if let Some((name, format)) = field.split_once('=') {
        return (name, Some(format.into()));
    }
    let upper = field.to_ascii_uppercase();
    let known = JSON_FIELDS.iter().find(|(name, _)| *name == field).map(|(_, format)| (*format).into());
    (field, known.or_else(|| SIMPLE.contains(&&*upper).then(|| format!("%{upper}%"))))
}

/// Validates a field of a JSON log.
pub fn check_json_field(field: &str) -> Result<(), Reason> {
    match json_field(field) {
        (name, None) => Err(format!("invalid JSON log field name {name}").into()),
        (name, Some(format)) if format.is_empty() => Err(format!("invalid JSON log field name {name}").into()),
        (_, Some(format)) => check(&format).map_err(|error| format!("invalid JSON field: {error}").into()),
    }
}
