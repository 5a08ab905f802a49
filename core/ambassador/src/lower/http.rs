//! Lowers the common parts of a listener's HTTP connection managers.
//!
//! Source of the behaviour: Emissary `python/ambassador/envoy/v3/v3listener.py` (`base_http_config`, `access_log`).

use super::Lowering;
use crate::model::ambassador::Ambassador;
use crate::model::log_service::LOG_NAME;
use crate::model::{Listener, tracing::Driver};
use crate::spec;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::diagnostic::{Diagnostic, Place, codes};
use chancery_base::ir::{
    AccessLog, AccessLogFormat, AccessLogSink, CodecType, FileAccessLog, GrpcAccessLog, GrpcAccessLogKind, HeaderKeyFormat, Http1Options,
    HttpConnectionManager, Json, Tracing, TracingTag, TracingTagValue,
};
use chancery_base::resource::{Origin, Sourced};
use chancery_base::substitution;
use chancery_text::{Node, Str, Value};
use core::time::Duration;

/// The common parts of a listener's HTTP connection managers.
pub(super) struct BaseHttp {
    /// A manager without routes.
    pub manager: HttpConnectionManager,
}

/// The reference's text format.
const TEXT_FORMAT: &str = concat!(
    r#"ACCESS [%START_TIME%] "%REQ(:METHOD)% %REQ(X-ENVOY-ORIGINAL-PATH?:PATH)% %PROTOCOL%" %RESPONSE_CODE% %RESPONSE_FLAGS% "#,
    r#"%BYTES_RECEIVED% %BYTES_SENT% %DURATION% %RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)% "%REQ(X-FORWARDED-FOR)%" "#,
    r#""%REQ(USER-AGENT)%" "%REQ(X-REQUEST-ID)%" "%REQ(:AUTHORITY)%" "%UPSTREAM_HOST%""#
);

/// The reference's JSON format.
const JSON_FORMAT: [(&str, &str); 22] = [
    ("start_time", "%START_TIME%"),
    ("method", "%REQ(:METHOD)%"),
    ("path", "%REQ(X-ENVOY-ORIGINAL-PATH?:PATH)%"),
    ("protocol", "%PROTOCOL%"),
    ("response_code", "%RESPONSE_CODE%"),
    ("response_flags", "%RESPONSE_FLAGS%"),
    ("bytes_received", "%BYTES_RECEIVED%"),
    ("bytes_sent", "%BYTES_SENT%"),
    ("duration", "%DURATION%"),
    ("upstream_service_time", "%RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)%"),
    ("x_forwarded_for", "%REQ(X-FORWARDED-FOR)%"),
    ("user_agent", "%REQ(USER-AGENT)%"),
    ("request_id", "%REQ(X-REQUEST-ID)%"),
    ("authority", "%REQ(:AUTHORITY)%"),
    ("upstream_host", "%UPSTREAM_HOST%"),
    ("upstream_cluster", "%UPSTREAM_CLUSTER%"),
    ("upstream_local_address", "%UPSTREAM_LOCAL_ADDRESS%"),
    ("downstream_local_address", "%DOWNSTREAM_LOCAL_ADDRESS%"),
    ("downstream_remote_address", "%DOWNSTREAM_REMOTE_ADDRESS%"),
    ("requested_server_name", "%REQUESTED_SERVER_NAME%"),
    ("istio_policy_status", "%DYNAMIC_METADATA(istio.mixer:status)%"),
    ("upstream_transport_failure_reason", "%UPSTREAM_TRANSPORT_FAILURE_REASON%"),
];

impl Lowering<'_, '_> {
    pub(super) fn base_http(&mut self, listener: &Listener) -> BaseHttp {
        let model = self.model;
        let module = &model.ambassador;
        let settings = &module.settings;
        let on = &module.identity;
        let mut access_logs = self.log_services();
        access_logs.extend(self.file_log());
        let or_default = |value: &Option<Sourced<bool>>, default: bool| Some((*value).unwrap_or_else(|| Sourced::built_in(default)));
        let tracing = model.tracing.as_ref();
        let streams = listener.max_concurrent_streams.as_ref();
        let depth = listener.l7_depth.filter(|depth| depth.value > 0);
        let server_name = settings.server_name.clone().unwrap_or_else(|| Sourced::built_in("envoy".into()));
        let manager = HttpConnectionManager {
            stat_prefix: listener.stats_prefix.clone(),
            codec: listener.is_udp().then_some(CodecType::Http3),
            access_logs,
            filters: self.http_filters(),
            normalize_path: Some(Sourced::built_in(true)),
            merge_slashes: Ambassador::flag(settings.merge_slashes.as_ref()),
            reject_escaped_slashes: Ambassador::flag(settings.reject_requests_with_escaped_slashes.as_ref()),
            strip_matching_host_port: Ambassador::flag(settings.strip_matching_host_port.as_ref()),
            use_remote_address: or_default(&settings.use_remote_address, true),
            xff_num_trusted_hops: depth.and_then(|depth| self.unsigned(&depth, "l7Depth", &listener.identity).ok()),
            server_name: Some(server_name),
            idle_timeout: self.listener_idle_timeout(),
            headers_with_underscores: self.underscores(),
            max_request_headers_kb: self.max_request_headers(),
            http1: Http1Options {
                accept_http_10: or_default(&settings.enable_http10, false),
                allow_chunked_length: settings.allow_chunked_length,
                header_key_format: self.header_key_format(),
            },
            max_concurrent_streams: streams.and_then(|streams| self.unsigned(streams, "http2MaxConcurrentStreams", &listener.identity).ok()),
            http3: listener.http3,
            preserve_external_request_id: or_default(&settings.preserve_external_request_id, false),
            generate_request_id: tracing.map(|tracing| Sourced::new(true, tracing.identity.origin)),
            forward_client_cert: settings.forward_client_cert_details.clone(),
            client_cert_details: module.client_cert_details.clone(),
            tracing: tracing.map(|tracing| Sourced::new(tracing_of(&tracing.spec), tracing.identity.origin)),
            origins: listener.identity.origin.into_iter().chain(on.origin).collect(),
            ..HttpConnectionManager::default()
        };
        BaseHttp { manager }
    }

    pub(super) fn listener_idle_timeout(&mut self) -> Option<Sourced<Duration>> {
        let module = &self.model.ambassador;
        let timeout = module.settings.listener_idle_timeout_ms.as_ref().filter(|ms| ms.value != 0)?;
        self.milliseconds(timeout, "listener_idle_timeout_ms", &module.identity).ok()
    }

    pub(super) fn max_request_headers(&mut self) -> Option<Sourced<u32>> {
        let module = &self.model.ambassador;
        let written = module.settings.max_request_headers_kb.as_ref().filter(|kb| kb.value != 0)?;
        if !(1..=8192).contains(&written.value) {
            self.refuse("max_request_headers_kb must be from 1 to 8192", &module.identity, written.origin);
            return None;
        }
        self.unsigned(written, "max_request_headers_kb", &module.identity).ok()
    }

    fn underscores(&mut self) -> Option<Sourced<Str>> {
        let module = &self.model.ambassador;
        let action = module.settings.headers_with_underscores_action.clone()?;
        if !["ALLOW", "REJECT_REQUEST", "DROP_HEADER"].contains(&action.value.as_str()) {
            let message = format!("headers_with_underscores_action `{}` is not one of ALLOW, REJECT_REQUEST, DROP_HEADER", action.value);
            self.refuse(message, &module.identity, action.origin);
            return None;
        }
        Some(action)
    }

    /// `proper_case`. The other form, `header_case_overrides`, uses a field that Envoy's v3 API no longer has.
    fn header_key_format(&mut self) -> Option<Sourced<HeaderKeyFormat>> {
        let module = &self.model.ambassador;
        let proper = module.settings.proper_case.filter(|on| on.value);
        if let Some(overrides) = &module.settings.header_case_overrides {
            let list = overrides.value.as_array().map(alloc::vec::Vec::as_slice);
            let overall = |this: &mut Self, message: &str| {
                this.findings.report(Diagnostic::new(&codes::WRONG_MODULE_VALUE, message, Place::origin(overrides.origin)));
            };
            match list {
                _ if proper.is_some() => overall(
                    self,
                    "Only one of 'proper_case' or 'header_case_overrides' fields may be set on the Ambassador module. Honoring proper_case and ignoring header_case_overrides.",
                ),
                None => overall(self, "Ambassador module config 'header_case_overrides' must be an array"),
                Some([]) => {}
                Some(items) => {
                    if items.iter().any(|item| item.as_str().is_none()) {
                        overall(self, "Skipping non-string header in 'header_case_overrides'");
                    }
                    if items.iter().any(|item| item.as_str().is_some()) {
                        let message = "header_case_overrides becomes a field that Envoy no longer has";
                        self.refuse(message, &module.identity, overrides.origin);
                    }
                }
            }
        }
        proper.map(|on| Sourced::new(HeaderKeyFormat::ProperCaseWords, on.origin))
    }

    fn log_services(&mut self) -> Vec<Sourced<AccessLog>> {
        let model = self.model;
        let mut out = Vec::new();
        for log in model.log_services.values() {
            let service = log.spec.service.as_ref().and_then(|service| service.origin);
            let seconds = log.spec.flush_interval_time.unwrap_or_else(|| Sourced::built_in(1));
            let bytes = log.spec.flush_interval_byte_size.unwrap_or_else(|| Sourced::built_in(16384));
            let Ok(flush) = self.milliseconds(&seconds.map(|s| s.saturating_mul(1000)), "flush_interval_time", &log.identity) else {
                continue;
            };
            let flush = Some(flush).filter(|flush| !flush.value.is_zero()).unwrap_or_else(|| {
                self.refuse("flush_interval_time must be more than 0", &log.identity, seconds.origin);
                Sourced::built_in(Duration::from_secs(1))
            });
            let Ok(buffer_bytes) = self.unsigned(&bytes, "flush_interval_byte_size", &log.identity) else { continue };
            let headers: Vec<_> = log.spec.driver_config.iter().flat_map(|c| &c.value.additional_log_headers).flat_map(|h| &h.value).collect();
            let names = |during: fn(&spec::AdditionalLogHeader) -> &Option<Sourced<bool>>| {
                let wanted = headers.iter().filter(|header| during(&header.value).as_ref().is_none_or(|on| on.value));
                wanted.filter_map(|header| header.value.header_name.clone()).collect::<Vec<_>>()
            };
            let sink = AccessLogSink::Grpc(GrpcAccessLog {
                kind: if log.http { GrpcAccessLogKind::Http } else { GrpcAccessLogKind::Tcp },
                cluster: Sourced::new(model.envoy_name(&log.cluster), service),
                log_name: Sourced::built_in(LOG_NAME.into()),
                flush_interval: flush,
                buffer_bytes,
                request_headers: names(|header| &header.during_request),
                response_headers: names(|header| &header.during_response),
                response_trailers: names(|header| &header.during_trailer),
            });
            let name = if log.http { "envoy.access_loggers.http_grpc" } else { "envoy.access_loggers.tcp_grpc" };
            out.push(Sourced::new(AccessLog { name: name.into(), filter: None, sink }, log.identity.origin));
        }
        out
    }

    /// The log on the controller's standard output.
    pub(super) fn file_log(&mut self) -> Option<Sourced<AccessLog>> {
        let model = self.model;
        let settings = &model.ambassador.settings;
        let unreadable = settings.envoy_log_format.as_ref().and_then(|format| Some((unreadable_format(&format.value)?, format.origin)));
        if let Some((problem, origin)) = &unreadable {
            self.refuse(format!("Envoy cannot read this log format, and the default is used: {problem}"), &model.ambassador.identity, *origin);
        }
        let path = settings.envoy_log_path.clone().unwrap_or_else(|| Sourced::built_in("/dev/fd/1".into()));
        let written = settings.envoy_log_format.as_ref().filter(|_| unreadable.is_none());
        let kind = settings.envoy_log_type.as_ref().map_or("text", |kind| kind.value.as_str()).to_ascii_lowercase();
        let format = match kind.as_str() {
            "json" | "typed_json" => match written.map(|format| (&format.value.value, format.origin)) {
                Some((Value::Object(object), origin)) => {
                    let typed = kind == "typed_json";
                    let fields = object.iter().map(|entry| (entry.key.clone(), json(&entry.value))).collect();
                    Sourced::new(if typed { AccessLogFormat::TypedJson(fields) } else { AccessLogFormat::Json(fields) }, origin)
                }
                _ => {
                    let mut fields: Vec<(Str, Json)> =
                        JSON_FORMAT.iter().map(|(key, value)| (Str::new_static(key), Json::String(Str::new_static(value)))).collect();
                    if model.tracing.as_ref().is_some_and(|tracing| tracing.driver.value == Driver::Datadog) {
                        fields.push(("dd.trace_id".into(), Json::String("%REQ(X-DATADOG-TRACE-ID)%".into())));
                        fields.push(("dd.span_id".into(), Json::String("%REQ(X-DATADOG-PARENT-ID)%".into())));
                    }
                    Sourced::built_in(if kind == "json" { AccessLogFormat::Json(fields) } else { AccessLogFormat::TypedJson(fields) })
                }
            },
            _ => match written.and_then(|format| Some((format.value.as_str().filter(|text| !text.is_empty())?, format.origin))) {
                Some((text, origin)) => Sourced::new(AccessLogFormat::Text(format!("{text}\n").into()), origin),
                None => Sourced::built_in(AccessLogFormat::Text(format!("{TEXT_FORMAT}\n").into())),
            },
        };
        let origin = format.origin.or(Some(Origin::built_in()));
        let file = FileAccessLog { path, format: Some(format), ..FileAccessLog::default() };
        let log = AccessLog { name: "envoy.access_loggers.file".into(), filter: None, sink: AccessLogSink::File(file) };
        Some(Sourced::new(log, origin))
    }
}

/// Why Envoy rejects a log format.
fn unreadable_format(format: &Node) -> Option<String> {
    match &format.value {
        Value::String(text) => substitution::problem(text),
        Value::Object(object) => object.iter().find_map(|entry| unreadable_format(&entry.value)),
        Value::Array(items) => items.iter().find_map(unreadable_format),
        _ => None,
    }
}

fn tracing_of(spec: &spec::TracingService) -> Tracing {
    #[expect(clippy::cast_precision_loss, reason = "percentages are small")]
    let percent = |value: Option<&Sourced<i64>>| value.map(|value| Sourced::new(value.value as f64, value.origin));
    let sampling = spec.sampling.as_ref().map(|sampling| &sampling.value);
    let tags = spec.custom_tags.iter().flat_map(|tags| &tags.value).filter_map(|tag| {
        let text = |value: &Option<Sourced<Str>>| value.clone().unwrap_or_default().value;
        let optional = |value: &Option<Sourced<Str>>| value.clone().map(|value| value.value);
        let value = match (&tag.value.literal, &tag.value.environment, &tag.value.request_header) {
            (Some(literal), ..) => TracingTagValue::Literal(text(&literal.value.value)),
            (_, Some(from), _) => TracingTagValue::Environment(text(&from.value.name), optional(&from.value.default_value)),
            (_, _, Some(from)) => TracingTagValue::RequestHeader(text(&from.value.name), optional(&from.value.default_value)),
            (None, None, None) => return None,
        };
        Some(Sourced::new(TracingTag { tag: text(&tag.value.tag), value }, tag.origin))
    });
    Tracing {
        client_sampling: percent(sampling.and_then(|s| s.client.as_ref())),
        random_sampling: percent(sampling.and_then(|s| s.random.as_ref())),
        overall_sampling: percent(sampling.and_then(|s| s.overall.as_ref())),
        max_path_tag_length: None,
        tags: tags.collect(),
    }
}

/// Converts a value unchanged.
pub(super) fn json(node: &Node) -> Json {
    match &node.value {
        Value::Null => Json::Null,
        Value::Bool(value) => Json::Bool(*value),
        #[expect(clippy::cast_precision_loss, reason = "JSON numbers are doubles to protobuf")]
        Value::Int(value) => Json::Number(*value as f64),
        Value::Float(value) => Json::Number(*value),
        Value::String(text) => Json::String(text.clone()),
        Value::Array(items) => Json::Array(items.iter().map(json).collect()),
        Value::Object(object) => Json::Object(object.iter().map(|entry| (entry.key.clone(), json(&entry.value))).collect()),
    }
}
