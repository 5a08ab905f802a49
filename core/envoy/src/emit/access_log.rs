//! `AccessLog`: files, and services that speak ALS.

use super::base::{V3, duration, grpc_service, inline, json_object, strings, text};
use super::{Context, pb};
use alloc::vec::Vec;
use chancery_base::ir::{AccessLog, AccessLogFilter, AccessLogFormat, AccessLogSink, FileAccessLog, Formatter, GrpcAccessLog, GrpcAccessLogKind};
use chancery_base::output_map::Trace;
use chancery_base::resource::Sourced;
use pb::Any;
use pb::base::{SubstitutionFormatString, substitution_format_string::Format};
use pb::file_log::file_access_log::AccessLogFormat as FileFormat;
use pb::grpc_log::{CommonGrpcAccessLogConfig, HttpGrpcAccessLogConfig, TcpGrpcAccessLogConfig};

pub(super) const FILE_LOG: &str = "envoy.access_loggers.file";

pub(super) fn access_logs(name: &str, logs: &[Sourced<AccessLog>], cx: &Context<'_>, t: &mut Trace) -> Vec<pb::access_log::AccessLog> {
    t.sourced_list(name, logs, |log, t| {
        let config = t.at("typed_config", |t| match &log.sink {
            AccessLogSink::File(file) => Any::pack(file_log(file, cx, t)),
            AccessLogSink::Grpc(service) => grpc_log(service, t),
        });
        pb::access_log::AccessLog { filter: t.within("filter", &log.filter, |of, _| filter(of)), ..access_log(&log.name, config) }
    })
}

pub(super) fn access_log(name: &str, config: Any) -> pb::access_log::AccessLog {
    pb::access_log::AccessLog {
        name: name.into(),
        config_type: Some(pb::access_log::access_log::ConfigType::TypedConfig(config)),
        ..Default::default()
    }
}

fn file_log(file: &FileAccessLog, cx: &Context<'_>, t: &mut Trace) -> pb::file_log::FileAccessLog {
    let format = file.format.as_ref().map(|written| {
        let (name, format) = match (&written.value, cx.spelling.file_log_json_format) {
            (AccessLogFormat::Json(fields), true) => ("json_format", FileFormat::JsonFormat(json_object(fields))),
            (AccessLogFormat::TypedJson(fields), true) => ("typed_json_format", FileFormat::TypedJsonFormat(json_object(fields))),
            (AccessLogFormat::Json(fields) | AccessLogFormat::TypedJson(fields), false) => {
                ("log_format", substitution(Format::JsonFormat(json_object(fields)), file, t))
            }
            (AccessLogFormat::Text(line), _) => ("log_format", substitution(Format::TextFormatSource(inline(line)), file, t)),
        };
        t.field(name, written);
        format
    });
    pb::file_log::FileAccessLog { path: text(t.field("path", &file.path)), access_log_format: format }
}

fn substitution(format: Format, file: &FileAccessLog, t: &mut Trace) -> FileFormat {
    let formatters = t.at("log_format", |t| t.sourced_list("formatters", &file.formatters, |of, _| formatter(*of)));
    FileFormat::LogFormat(SubstitutionFormatString { format: Some(format), omit_empty_values: file.omit_empty, formatters, ..Default::default() })
}

fn formatter(of: Formatter) -> pb::base::TypedExtensionConfig {
    let (name, config) = match of {
        Formatter::Metadata => ("envoy.formatter.metadata", Any::pack(pb::formatter::metadata::v3::Metadata::default())),
        Formatter::ReqWithoutQuery => {
            ("envoy.formatter.req_without_query", Any::pack(pb::formatter::req_without_query::v3::ReqWithoutQuery::default()))
        }
    };
    pb::base::TypedExtensionConfig { name: name.into(), typed_config: Some(config) }
}

fn filter(of: &AccessLogFilter) -> pb::access_log::AccessLogFilter {
    use pb::access_log::access_log_filter::FilterSpecifier;
    use pb::access_log::{ComparisonFilter, OrFilter, ResponseFlagFilter, StatusCodeFilter, comparison_filter::Op};
    let alone = |specifier| pb::access_log::AccessLogFilter { filter_specifier: Some(specifier) };
    let AccessLogFilter::Failures { status, runtime_key } = of;
    let value = pb::base::RuntimeUInt32 { default_value: *status, runtime_key: text(runtime_key) };
    let by_status = StatusCodeFilter { comparison: Some(ComparisonFilter { op: Op::Ge as i32, value: Some(value) }) };
    let filters = [alone(FilterSpecifier::StatusCodeFilter(by_status)), alone(FilterSpecifier::ResponseFlagFilter(ResponseFlagFilter::default()))];
    alone(FilterSpecifier::OrFilter(OrFilter { filters: filters.into() }))
}

fn grpc_log(service: &GrpcAccessLog, t: &mut Trace) -> Any {
    let common_config = t.at("common_config", |t| {
        t.at("grpc_service", |t| t.at("envoy_grpc", |t| t.field("cluster_name", &service.cluster)));
        CommonGrpcAccessLogConfig {
            log_name: text(t.field("log_name", &service.log_name)),
            grpc_service: Some(grpc_service(&service.cluster, None, None)),
            transport_api_version: t.own("transport_api_version", V3),
            buffer_flush_interval: Some(duration(t.field("buffer_flush_interval", &service.flush_interval))),
            buffer_size_bytes: Some(*t.field("buffer_size_bytes", &service.buffer_bytes)),
            ..Default::default()
        }
    });
    match service.kind {
        GrpcAccessLogKind::Http => Any::pack(HttpGrpcAccessLogConfig {
            common_config: Some(common_config),
            additional_request_headers_to_log: strings("additional_request_headers_to_log", &service.request_headers, t),
            additional_response_headers_to_log: strings("additional_response_headers_to_log", &service.response_headers, t),
            additional_response_trailers_to_log: strings("additional_response_trailers_to_log", &service.response_trailers, t),
        }),
        GrpcAccessLogKind::Tcp => Any::pack(TcpGrpcAccessLogConfig { common_config: Some(common_config) }),
    }
}
