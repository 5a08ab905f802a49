//! Writes access logs of listeners, routes and calls to backends. Does not find collectors; see `translate`.

use super::cluster::ClusterArgs;
use super::proto::{copied, derived, empty, extension, list, message, one};
use super::resources::ResourceBuilder;
use super::tracing::initial_metadata;
use crate::model::{AccessLogs, Traffic};
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_text::Str;

const FILE: &str = "envoy.access_loggers.file";
const FILE_KIND: &str = "envoy.extensions.access_loggers.file.v3.FileAccessLog";
const WITHOUT_QUERY: &str = "%REQ_WITHOUT_QUERY";

/// Whose log it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogPlace {
    Listener,
    Route,
    Upstream,
}

impl LogPlace {
    /// Whether a log of this type is for here. Without a type, it is for listeners and routes.
    fn takes(self, kind: &Tree) -> bool {
        match self {
            _ if kind.is_null() => self != Self::Upstream,
            Self::Listener => kind.is("Listener"),
            Self::Route => kind.is("Route"),
            Self::Upstream => kind.is("Upstream"),
        }
    }
}

/// The default fields of a log in JSON.
const FIELDS: [(&str, &str); 24] = [
    (":authority", "%REQ(:AUTHORITY)%"),
    ("bytes_received", "%BYTES_RECEIVED%"),
    ("bytes_sent", "%BYTES_SENT%"),
    ("connection_termination_details", "%CONNECTION_TERMINATION_DETAILS%"),
    ("downstream_local_address", "%DOWNSTREAM_LOCAL_ADDRESS%"),
    ("downstream_remote_address", "%DOWNSTREAM_REMOTE_ADDRESS%"),
    ("duration", "%DURATION%"),
    ("method", "%REQ(:METHOD)%"),
    ("protocol", "%PROTOCOL%"),
    ("requested_server_name", "%REQUESTED_SERVER_NAME%"),
    ("response_code", "%RESPONSE_CODE%"),
    ("response_code_details", "%RESPONSE_CODE_DETAILS%"),
    ("response_flags", "%RESPONSE_FLAGS%"),
    ("route_name", "%ROUTE_NAME%"),
    ("start_time", "%START_TIME%"),
    ("upstream_cluster", "%UPSTREAM_CLUSTER%"),
    ("upstream_host", "%UPSTREAM_HOST%"),
    ("upstream_local_address", "%UPSTREAM_LOCAL_ADDRESS%"),
    ("upstream_transport_failure_reason", "%UPSTREAM_TRANSPORT_FAILURE_REASON%"),
    ("user-agent", "%REQ(USER-AGENT)%"),
    ("x-envoy-origin-path", "%REQ(X-ENVOY-ORIGINAL-PATH?:PATH)%"),
    ("x-envoy-upstream-service-time", "%RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)%"),
    ("x-forwarded-for", "%REQ(X-FORWARDED-FOR)%"),
    ("x-request-id", "%REQ(X-REQUEST-ID)%"),
];

fn usual_fields() -> Vec<(Str, Tree)> {
    FIELDS.iter().map(|(name, value)| (Str::new_static(name), Tree::from(*value))).collect()
}

/// What formats need that hide queries.
fn formatters<'t>(mut texts: impl Iterator<Item = &'t Tree>) -> Tree {
    match texts.find(|text| text.text().contains(WITHOUT_QUERY)) {
        Some(text) => {
            let kind = "envoy.extensions.formatter.req_without_query.v3.ReqWithoutQuery";
            one(extension("envoy.formatter.req_without_query", kind, empty())).or_from(text.origin)
        }
        None => Tree::NULL,
    }
}

/// Which requests are logged. A listener's log of no type is for connections that no chain takes.
fn filter(expressions: &[Tree], only_unmatched: bool) -> Tree {
    let kind = "envoy.extensions.access_loggers.filters.cel.v3.ExpressionFilter";
    let cel = |of: &Tree| {
        let config = extension("envoy.access_loggers.extension_filters.cel", kind, message! { "expression": of.clone() });
        message! { "extension_filter": config }.or_from(of.origin)
    };
    let mut all: Vec<Tree> = expressions.iter().map(cel).collect();
    if only_unmatched {
        all.push(message! { "response_flag_filter": message! { "flags": one("NR".into()) } });
    }
    match all.len() {
        0 => Tree::NULL,
        1 => all.pop().unwrap_or_default(),
        _ => message! { "and_filter": message! { "filters": list(all) } },
    }
}

fn attributes(of: &[(Str, Tree)], with_pod: bool) -> Tree {
    let pair = |name: Tree, value: Tree| message! { "key": name, "value": message! { "string_value": value } };
    let mut all = Vec::new();
    if with_pod {
        all.push(pair("k8s.namespace.name".into(), "%ENVIRONMENT(ENVOY_POD_NAMESPACE)%".into()));
        all.push(pair("k8s.pod.name".into(), "%ENVIRONMENT(ENVOY_POD_NAME)%".into()));
    }
    all.extend(of.iter().map(|(name, value)| pair(derived(name, value), value.clone()).or_from(value.origin)));
    if all.is_empty() {
        empty()
    } else {
        message! { "values": list(all) }
    }
}

/// The logs for one place, or why there are none at all.
pub(crate) fn build(logs: Option<&AccessLogs>, place: LogPlace) -> Result<Vec<Tree>, String> {
    let Some(logs) = logs else { return Ok(Vec::new()) };
    let only_unmatched = |kind: &Tree| place == LogPlace::Listener && kind.is_null();
    let mut out = Vec::new();
    let mut push = |mut log: Tree, matches: &[Tree], kind: &Tree, origin| {
        log.set("filter", filter(matches, only_unmatched(kind)));
        out.push(log.or_from(origin));
    };
    for of in logs.text.iter().filter(|of| place.takes(&of.kind)) {
        if of.format.is_null() {
            return Err(String::from("text.Format is nil"));
        }
        let format = message! {
            "text_format_source": message! { "inline_string": of.format.clone() },
            "formatters": formatters(core::iter::once(&of.format)),
        };
        push(extension(FILE, FILE_KIND, message! { "path": of.path.clone(), "log_format": format }), &of.matches, &of.kind, of.origin);
    }
    for of in logs.json.iter().filter(|of| place.takes(&of.kind)) {
        let fields = if of.fields.is_empty() { usual_fields() } else { of.fields.clone() };
        let formatters = formatters(fields.iter().map(|(_, value)| value));
        let format = message! { "json_format": Tree::object(fields), "formatters": formatters };
        push(extension(FILE, FILE_KIND, message! { "path": of.path.clone(), "log_format": format }), &of.matches, &of.kind, of.origin);
    }
    for of in logs.als.iter().filter(|of| place.takes(&of.kind)) {
        let common = message! {
            "log_name": copied(&of.log_name),
            "grpc_service": message! { "envoy_grpc": message! { "cluster_name": &of.destination.name } },
            "transport_api_version": "V3",
        };
        let log = if of.service.is("TCP") {
            extension(
                "envoy.access_loggers.tcp_grpc",
                "envoy.extensions.access_loggers.grpc.v3.TcpGrpcAccessLogConfig",
                message! { "common_config": common },
            )
        } else {
            let names = |field: &str| list(of.http.get(field).items().to_vec());
            let config = message! {
                "common_config": common,
                "additional_request_headers_to_log": names("requestHeaders"),
                "additional_response_headers_to_log": names("responseHeaders"),
                "additional_response_trailers_to_log": names("responseTrailers"),
            };
            extension("envoy.access_loggers.http_grpc", "envoy.extensions.access_loggers.grpc.v3.HttpGrpcAccessLogConfig", config)
        };
        push(log, &of.matches, &of.kind, of.origin);
    }
    for of in logs.open_telemetry.iter().filter(|of| place.takes(&of.kind)) {
        let own = if of.attributes.is_empty() && of.text.text().is_empty() { usual_fields() } else { of.attributes.clone() };
        let service = message! {
            "envoy_grpc": message! { "cluster_name": &of.destination.name, "authority": copied(&of.authority) },
            "initial_metadata": initial_metadata(&of.headers),
        };
        let config = message! {
            "common_config": message! { "log_name": "otel_envoy_accesslog", "grpc_service": service, "transport_api_version": "V3" },
            "resource_attributes": attributes(&of.resource_attributes, false),
            "body": if of.text.text().is_empty() { Tree::NULL } else { message! { "string_value": of.text.clone() } },
            "attributes": attributes(&own, true),
            "formatters": formatters(core::iter::once(&of.text).chain(own.iter().map(|(_, value)| value))),
        };
        let kind = "envoy.extensions.access_loggers.open_telemetry.v3.OpenTelemetryAccessLogConfig";
        push(extension("envoy.access_loggers.open_telemetry", kind, config), &of.matches, &of.kind, of.origin);
    }
    Ok(out)
}

/// Adds the clusters of the services that logs go to.
pub(crate) fn add_clusters(resources: &mut ResourceBuilder, logs: Option<&AccessLogs>, metrics: &Tree, health_check_log: &Tree) {
    let Some(logs) = logs else { return };
    let cluster = |traffic: &Option<Traffic>| traffic.clone().map(|traffic| traffic.cluster);
    for of in &logs.als {
        let traffic = cluster(&of.traffic);
        let args = ClusterArgs { health_check_log: health_check_log.clone(), ..ClusterArgs::of(&of.destination, traffic.as_ref()) };
        resources.add_cluster(&args);
    }
    for of in &logs.open_telemetry {
        let traffic = cluster(&of.traffic);
        let args = ClusterArgs {
            health_check_log: health_check_log.clone(),
            metrics: metrics.clone(),
            ..ClusterArgs::of(&of.destination, traffic.as_ref())
        };
        resources.add_cluster(&args);
    }
}
