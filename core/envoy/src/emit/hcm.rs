//! Emits `HttpConnectionManager` without its route table.

use super::access_log::access_logs;
use super::base::{config_source, duration, named, percent, strings, text};
use super::http_filter::http_filter;
use super::{Context, pb, tracing};
use chancery_base::ir::{
    ClientCertDetails, CodecType, HeaderKeyFormat, Http1Options, HttpConnectionManager, HttpFilterKind, Tracing, TracingTag, TracingTagValue,
};
use chancery_base::output_map::Trace;
use chancery_base::resource::Sourced;
use chancery_text::Str;
use pb::base::http_protocol_options::HeadersWithUnderscoresAction;
use pb::hcm::http_connection_manager as parts;

/// Without `route_config` or `rds`.
pub(super) fn connection_manager(manager: &HttpConnectionManager, cx: &Context<'_>, t: &mut Trace) -> pb::hcm::HttpConnectionManager {
    t.here(&manager.origins);
    let flag = |name: &str, value: &Option<Sourced<bool>>, t: &mut Trace| value.as_ref().is_some_and(|value| *t.implicit(name, value));
    pb::hcm::HttpConnectionManager {
        codec_type: manager.codec.map(|codec| codec_type(codec, t)).unwrap_or_default(),
        stat_prefix: text(t.implicit("stat_prefix", &manager.stat_prefix)),
        http_filters: t.list("http_filters", &manager.filters, |filter, t| http_filter(filter, cx, t)),
        access_log: access_logs("access_log", &manager.access_logs, cx, t),
        normalize_path: t.optional("normalize_path", &manager.normalize_path).copied(),
        merge_slashes: flag("merge_slashes", &manager.merge_slashes, t),
        path_with_escaped_slashes_action: escaped_slashes(manager, t),
        strip_matching_host_port: flag("strip_matching_host_port", &manager.strip_matching_host_port, t),
        strip_trailing_host_dot: flag("strip_trailing_host_dot", &manager.strip_trailing_host_dot, t),
        use_remote_address: t.optional("use_remote_address", &manager.use_remote_address).copied(),
        xff_num_trusted_hops: manager.xff_num_trusted_hops.as_ref().map(|n| *t.implicit("xff_num_trusted_hops", n)).unwrap_or_default(),
        server_name: t.optional("server_name", &manager.server_name).map(text).unwrap_or_default(),
        server_header_transformation: manager
            .server_header_transformation
            .as_ref()
            .and_then(|of| named("server_header_transformation", of, parts::ServerHeaderTransformation::from_str_name, t))
            .unwrap_or_default(),
        common_http_protocol_options: common_options(manager, t),
        request_timeout: t.optional("request_timeout", &manager.request_timeout).map(duration),
        stream_idle_timeout: t.optional("stream_idle_timeout", &manager.stream_idle_timeout).map(duration),
        drain_timeout: t.optional("drain_timeout", &manager.drain_timeout).map(duration),
        delayed_close_timeout: t.optional("delayed_close_timeout", &manager.delayed_close_timeout).map(duration),
        upgrade_configs: strings("upgrade_configs", &manager.upgrades, t)
            .into_iter()
            .map(|upgrade_type| parts::UpgradeConfig { upgrade_type, ..Default::default() })
            .collect(),
        max_request_headers_kb: t.optional("max_request_headers_kb", &manager.max_request_headers_kb).copied(),
        http_protocol_options: http1_options(&manager.http1, t),
        http2_protocol_options: manager.max_concurrent_streams.as_ref().map(|streams| {
            t.at("http2_protocol_options", |t| pb::base::Http2ProtocolOptions {
                max_concurrent_streams: Some(*t.field("max_concurrent_streams", streams)),
                ..Default::default()
            })
        }),
        http3_protocol_options: manager.http3.then(Default::default),
        preserve_external_request_id: flag("preserve_external_request_id", &manager.preserve_external_request_id, t),
        generate_request_id: t.optional("generate_request_id", &manager.generate_request_id).copied(),
        forward_client_cert_details: manager.forward_client_cert.as_ref().map(|mode| forward_client_cert(mode, t)).unwrap_or_default(),
        set_current_client_cert_details: t
            .within("set_current_client_cert_details", &manager.client_cert_details, |details, _| client_cert_details(details)),
        tracing: t.within("tracing", &manager.tracing, |of, t| tracing_options(of, manager, cx, t)),
        ..Default::default()
    }
}

/// Requests routes over RDS under this name.
pub(super) fn rds(name: &Str, cx: &Context<'_>) -> parts::RouteSpecifier {
    parts::RouteSpecifier::Rds(pb::hcm::Rds { route_config_name: text(name), config_source: Some(config_source(cx)) })
}

fn codec_type(codec: CodecType, t: &mut Trace) -> i32 {
    match codec {
        CodecType::Auto => parts::CodecType::Auto as i32,
        CodecType::Http1 => t.own("codec_type", parts::CodecType::Http1 as i32),
        CodecType::Http2 => t.own("codec_type", parts::CodecType::Http2 as i32),
        CodecType::Http3 => t.own("codec_type", parts::CodecType::Http3 as i32),
    }
}

fn escaped_slashes(manager: &HttpConnectionManager, t: &mut Trace) -> i32 {
    match &manager.reject_escaped_slashes {
        Some(reject) if reject.value => {
            t.field("path_with_escaped_slashes_action", reject);
            parts::PathWithEscapedSlashesAction::RejectRequest as i32
        }
        _ => parts::PathWithEscapedSlashesAction::ImplementationSpecificDefault as i32,
    }
}

fn common_options(manager: &HttpConnectionManager, t: &mut Trace) -> Option<pb::base::HttpProtocolOptions> {
    if !manager.common_options_even_empty
        && manager.idle_timeout.is_none()
        && manager.headers_with_underscores.is_none()
        && manager.max_connection_duration.is_none()
        && manager.max_requests_per_connection.is_none()
    {
        return None;
    }
    Some(t.at("common_http_protocol_options", |t| {
        pb::base::HttpProtocolOptions {
            idle_timeout: t.optional("idle_timeout", &manager.idle_timeout).map(duration),
            max_connection_duration: t.optional("max_connection_duration", &manager.max_connection_duration).map(duration),
            max_requests_per_connection: t.optional("max_requests_per_connection", &manager.max_requests_per_connection).copied(),
            headers_with_underscores_action: manager
                .headers_with_underscores
                .as_ref()
                .and_then(|action| named("headers_with_underscores_action", action, HeadersWithUnderscoresAction::from_str_name, t))
                .unwrap_or_default(),
            ..Default::default()
        }
    }))
}

fn http1_options(options: &Http1Options, t: &mut Trace) -> Option<pb::base::Http1ProtocolOptions> {
    let format = options.header_key_format.as_ref().filter(|format| is_known(format));
    if options.accept_http_10.is_none() && options.allow_chunked_length.is_none() && format.is_none() {
        return None;
    }
    Some(t.at("http_protocol_options", |t| pb::base::Http1ProtocolOptions {
        accept_http_10: options.accept_http_10.as_ref().is_some_and(|accept| *t.implicit("accept_http_10", accept)),
        allow_chunked_length: options.allow_chunked_length.as_ref().is_some_and(|allow| *t.implicit("allow_chunked_length", allow)),
        header_key_format: format.map(|format| header_key_format(format, t)),
        ..Default::default()
    }))
}

/// Whether Envoy's current API supports the format.
pub(super) fn is_known(format: &HeaderKeyFormat) -> bool {
    match format {
        HeaderKeyFormat::ProperCaseWords => true,
        HeaderKeyFormat::Custom(_) => false,
    }
}

/// Only for known formats.
pub(super) fn header_key_format(format: &Sourced<HeaderKeyFormat>, t: &mut Trace) -> pb::base::http1_protocol_options::HeaderKeyFormat {
    use pb::base::http1_protocol_options::header_key_format::{HeaderFormat, ProperCaseWords};
    t.field("header_key_format", format);
    pb::base::http1_protocol_options::HeaderKeyFormat { header_format: Some(HeaderFormat::ProperCaseWords(ProperCaseWords {})) }
}

fn forward_client_cert(mode: &Sourced<Str>, t: &mut Trace) -> i32 {
    named("forward_client_cert_details", mode, parts::ForwardClientCertDetails::from_str_name, t).unwrap_or_default()
}

fn client_cert_details(details: &ClientCertDetails) -> parts::SetCurrentClientCertDetails {
    parts::SetCurrentClientCertDetails {
        subject: details.subject,
        cert: details.cert.unwrap_or_default(),
        chain: details.chain.unwrap_or_default(),
        dns: details.dns.unwrap_or_default(),
        uri: details.uri.unwrap_or_default(),
        ..Default::default()
    }
}

fn tracing_options(of: &Tracing, manager: &HttpConnectionManager, cx: &Context<'_>, t: &mut Trace) -> parts::Tracing {
    parts::Tracing {
        client_sampling: t.optional("client_sampling", &of.client_sampling).copied().map(percent),
        random_sampling: t.optional("random_sampling", &of.random_sampling).copied().map(percent),
        overall_sampling: t.optional("overall_sampling", &of.overall_sampling).copied().map(percent),
        max_path_tag_length: t.optional("max_path_tag_length", &of.max_path_tag_length).copied(),
        custom_tags: t.sourced_list("custom_tags", &of.tags, |tag, _| custom_tag(tag)),
        spawn_upstream_span: child_span(manager).filter(|_| !cx.spelling.child_span_on_router).map(|of| *t.field("spawn_upstream_span", of)),
        provider: cx.tracer.filter(|_| !cx.spelling.tracer_in_bootstrap).and_then(|tracer| {
            t.at("provider", |t| {
                t.here(tracer.origin);
                tracing::tracer(tracer, t)
            })
        }),
        ..Default::default()
    }
}

/// Returns the router's setting for its own spans.
fn child_span(manager: &HttpConnectionManager) -> Option<&Sourced<bool>> {
    manager.filters.iter().find_map(|filter| match &filter.kind {
        HttpFilterKind::Router { start_child_span, .. } => start_child_span.as_ref(),
        _ => None,
    })
}

fn custom_tag(tag: &TracingTag) -> pb::tracing::CustomTag {
    use pb::tracing::custom_tag::{Environment, Header, Literal, Type};
    let or_empty = |value: &Option<Str>| value.as_ref().map(text).unwrap_or_default();
    let value = match &tag.value {
        TracingTagValue::Literal(value) => Type::Literal(Literal { value: text(value) }),
        TracingTagValue::Environment(name, default) => Type::Environment(Environment { name: text(name), default_value: or_empty(default) }),
        TracingTagValue::RequestHeader(name, default) => Type::RequestHeader(Header { name: text(name), default_value: or_empty(default) }),
    };
    pb::tracing::CustomTag { tag: text(&tag.tag), r#type: Some(value) }
}
