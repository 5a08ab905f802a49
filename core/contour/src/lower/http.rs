//! Lowers connection managers (Contour `internal/envoy/v3/listener.go`, `httpConnectionManagerBuilder`).

use super::{Lowering, setting, setting_origin, timeout};
use crate::model::{Listener, SecureVirtualHost, Timeout};
use crate::processor::policy;
use alloc::vec;
use alloc::vec::Vec;
use chancery_base::ir::{
    CodecType, Http1Options, HttpConnectionManager, RouteConfiguration, Tracer, TracerConfig, Tracing, TracingTag, TracingTagValue,
};
use chancery_base::resource::{Origin, Sourced};
use chancery_kubernetes::cursor::Cursor;
use chancery_text::Str;

/// Whose requests a connection manager handles.
#[derive(Clone, Copy)]
pub(super) enum ManagerFor<'g> {
    /// All hosts without TLS.
    Plain,
    /// A host with TLS.
    Host(&'g SecureVirtualHost),
    /// Hosts with TLS and the fallback certificate; the first host's settings apply to all.
    Fallback(&'g SecureVirtualHost),
}

impl Lowering<'_> {
    pub(super) fn manager(
        &mut self,
        of: ManagerFor<'_>,
        listener: &Listener,
        routes: RouteConfiguration,
        origins: &[Origin],
    ) -> HttpConnectionManager {
        let filters = self.http_filters(of);
        let (log, forward) = match of {
            ManagerFor::Plain => ("envoy.http", None),
            ManagerFor::Host(host) | ManagerFor::Fallback(host) => {
                ("envoy.https", host.client_validation.as_ref().and_then(|validation| validation.forward.as_ref()))
            }
        };
        let time = |name: &str| self.timeout(name);
        let inverted = |path: &str| self.flag(path).map(|off| off.map(|off| !off));
        HttpConnectionManager {
            stat_prefix: Sourced::new(listener.name.clone(), listener.port.origin),
            codec: Some(if matches!(of, ManagerFor::Fallback(_)) { CodecType::Auto } else { self.codec() }),
            routes,
            filters,
            access_logs: self.access_logs(log),
            normalize_path: Some(Sourced::built_in(true)),
            merge_slashes: inverted("envoy.listener.disableMergeSlashes"),
            strip_trailing_host_dot: self.flag("envoy.network.stripTrailingHostDot"),
            use_remote_address: Some(Sourced::built_in(true)),
            xff_num_trusted_hops: self.number("envoy.network.numTrustedHops"),
            server_header_transformation: self.server_header(),
            common_options_even_empty: true,
            idle_timeout: timeout(&time("connectionIdleTimeout")),
            max_connection_duration: timeout(&time("maxConnectionDuration")).filter(|time| !time.value.is_zero()),
            max_requests_per_connection: self.number("envoy.listener.maxRequestsPerConnection"),
            request_timeout: timeout(&time("requestTimeout")),
            stream_idle_timeout: timeout(&time("streamIdleTimeout")),
            drain_timeout: timeout(&time("connectionShutdownGracePeriod")),
            delayed_close_timeout: timeout(&time("delayedCloseTimeout")),
            upgrades: if listener.enable_websockets { vec![Sourced::built_in("websocket".into())] } else { Vec::new() },
            http1: Http1Options {
                accept_http_10: Some(Sourced::built_in(true)),
                allow_chunked_length: inverted("envoy.listener.disableAllowChunkedLength"),
                header_key_format: None,
            },
            max_concurrent_streams: self.number("envoy.listener.httpMaxConcurrentStreams"),
            preserve_external_request_id: Some(Sourced::built_in(true)),
            forward_client_cert: forward.map(|of| Sourced::new("SANITIZE_SET".into(), of.origin)),
            client_cert_details: forward.cloned(),
            tracing: self.tracing(),
            origins: if origins.is_empty() { listener.port.origin.into_iter().collect() } else { origins.to_vec() },
            ..HttpConnectionManager::default()
        }
    }

    /// A timeout of Contour's configuration.
    fn timeout(&self, name: &str) -> Sourced<Timeout> {
        let at = self.at("envoy.timeouts").field(name);
        setting(policy::timeout(at.str()).unwrap_or_default(), at)
    }

    fn codec(&self) -> CodecType {
        let at = self.at("envoy.defaultHTTPVersions");
        let wants = |version: &str| at.items().any(|item| item.str() == version);
        match (wants("HTTP/1.1"), wants("HTTP/2")) {
            (true, false) => CodecType::Http1,
            (false, true) => CodecType::Http2,
            _ => CodecType::Auto,
        }
    }

    fn server_header(&self) -> Option<Sourced<Str>> {
        let at = self.at("envoy.listener.serverHeaderTransformation");
        let name = match at.str() {
            "append_if_absent" => "APPEND_IF_ABSENT",
            "pass_through" => "PASS_THROUGH",
            _ => return None,
        };
        Some(setting(Str::new_static(name), at))
    }

    fn tracing(&self) -> Option<Sourced<Tracing>> {
        let at = self.at("tracing").some()?;
        let percent = |name: &str| {
            let at = at.field(name);
            let written = at.int_or_string().and_then(|text| text.parse::<f64>().ok()).or_else(|| at.number());
            Some(setting(written.filter(|rate| *rate != 0.0).unwrap_or(100.0), at))
        };
        let mut tags = Vec::new();
        let pod = at.field("includePodDetail");
        if pod.some_bool().unwrap_or(true) {
            for (tag, variable) in [("podName", "HOSTNAME"), ("podNamespace", "CONTOUR_NAMESPACE")] {
                let value = TracingTagValue::Environment(Str::new_static(variable), None);
                tags.push(setting(TracingTag { tag: Str::new_static(tag), value }, pod));
            }
        }
        tags.extend(at.field("customTags").items().filter_map(custom_tag));
        let tracing = Tracing {
            client_sampling: percent("clientSampling"),
            random_sampling: percent("randomSampling"),
            overall_sampling: percent("overallSampling"),
            max_path_tag_length: Some(self.number("tracing.maxPathTagLength").unwrap_or_else(|| Sourced::built_in(256))),
            tags,
        };
        Some(setting(tracing, at))
    }

    /// Where spans are sent; it is the same for all.
    pub(super) fn tracer(&self) -> Option<Sourced<Tracer>> {
        let at = self.at("tracing").some()?;
        let service = self.extension_settings(at.field("extensionService"));
        let config = TracerConfig::OpenTelemetry {
            cluster: service.cluster.value,
            authority: Some(service.authority),
            timeout: timeout(&service.timeout),
            service_name: self.text("tracing.serviceName").unwrap_or_else(|| Sourced::built_in("contour".into())),
        };
        Some(Sourced::new(Tracer { name: "envoy.tracers.opentelemetry".into(), config }, setting_origin(at)))
    }
}

fn custom_tag(at: Cursor<'_>) -> Option<Sourced<TracingTag>> {
    let literal = at.field("literal").text().map(|text| TracingTagValue::Literal(text.value));
    let header = || at.field("requestHeaderName").text().map(|name| TracingTagValue::RequestHeader(name.value, None));
    let value = literal.or_else(header)?;
    Some(setting(TracingTag { tag: at.field("tagName").str().into(), value }, at))
}
