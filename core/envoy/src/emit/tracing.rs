//! Emits tracers: `Tracing.Http` with the configuration of Zipkin, Datadog and OpenTelemetry.

use super::base::{duration, grpc_service, named, text};
use super::pb;
use chancery_base::ir::{Tracer, TracerConfig};
use chancery_base::output_map::Trace;
use pb::trace::tracing::{Http, http::ConfigType};
use pb::trace::zipkin_config::CollectorEndpointVersion;

/// Returns `None` if Envoy has no field for it: it lacks some versions of Zipkin's API.
pub(super) fn tracer(tracer: &Tracer, t: &mut Trace) -> Option<Http> {
    let config = t.at("typed_config", |t| config(&tracer.config, t))?;
    Some(Http { name: text(&tracer.name), config_type: Some(ConfigType::TypedConfig(config)) })
}

fn config(config: &TracerConfig, t: &mut Trace) -> Option<pb::Any> {
    Some(match config {
        TracerConfig::Zipkin { cluster, endpoint, version, hostname, trace_id_128bit, shared_span_context } => {
            pb::Any::pack(pb::trace::ZipkinConfig {
                collector_cluster: text(cluster),
                collector_endpoint: text(t.field("collector_endpoint", endpoint)),
                collector_endpoint_version: named("collector_endpoint_version", version, CollectorEndpointVersion::from_str_name, t)?,
                collector_hostname: t.optional("collector_hostname", hostname).map(text).unwrap_or_default(),
                trace_id_128bit: trace_id_128bit.as_ref().is_some_and(|flag| *t.implicit("trace_id_128bit", flag)),
                shared_span_context: t.optional("shared_span_context", shared_span_context).copied(),
                ..Default::default()
            })
        }
        TracerConfig::Datadog { cluster, service_name } => pb::Any::pack(pb::trace::DatadogConfig {
            collector_cluster: text(cluster),
            service_name: text(t.field("service_name", service_name)),
            ..Default::default()
        }),
        TracerConfig::OpenTelemetry { cluster, authority, timeout, service_name } => pb::Any::pack(pb::trace::OpenTelemetryConfig {
            grpc_service: Some(t.at("grpc_service", |t| {
                let timeout = t.optional("timeout", timeout).map(duration);
                let authority = t.at("envoy_grpc", |t| t.optional("authority", authority));
                grpc_service(cluster, authority, timeout)
            })),
            service_name: text(t.field("service_name", service_name)),
            ..Default::default()
        }),
    })
}
