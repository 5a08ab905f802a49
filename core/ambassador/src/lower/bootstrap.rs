//! Lowers the bootstrap: node, admin, runtime, the management server, tracing, statistics.
//!
//! Source of the behaviour: Emissary `python/ambassador/envoy/v3/v3bootstrap.py`, `v3admin.py`, `v3runtime.py`, `v3tracing.py`.

use super::Lowering;
use super::http::json;
use crate::model::tracing::Driver;
use crate::spec::TraceConfig;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use chancery_base::diagnostic::{Diagnostic, Place, codes};
use chancery_base::ir::{Admin, Bootstrap, Cluster, EndpointAddress, Json, RuntimeLayer, StatsSink, Tracer, TracerConfig, XdsCluster};
use chancery_base::resource::{Origin, Rule, Sourced};
use chancery_text::{Str, Value};
use core::net::IpAddr;
use core::time::Duration;

/// The port of the admin interface.
const ADMIN_PORT: u16 = 8001;
/// The port of the management server.
const XDS_PORT: u16 = 8003;
const STATSD_PORT: u16 = 8125;

/// Runtime flags that the Module may set, and whether they are whole numbers or booleans.
pub const RUNTIME_FLAGS: [(&str, bool); 4] = [
    ("http.max_requests_per_io_cycle", true),
    ("overload.premature_reset_min_stream_lifetime_seconds", true),
    ("overload.premature_reset_total_stream_count", true),
    ("envoy.restart_features.send_goaway_for_premature_rst_streams", false),
];

impl Lowering<'_, '_> {
    pub(super) fn bootstrap(&mut self, clusters: &[Arc<Cluster>]) -> Bootstrap {
        let model = self.model;
        let options = model.options;
        let admin_port = model.ambassador.settings.admin_port.as_ref();
        let admin_port = admin_port.and_then(|port| self.port(port, "admin_port", &model.ambassador.identity).ok());
        let admin_port = admin_port.unwrap_or_else(|| Sourced::built_in(ADMIN_PORT));
        // The bootstrap names the tracing and logging services, so it contains their clusters. They are also served.
        let mut own: Vec<&Str> = model.tracing.iter().map(|tracing| &tracing.cluster).collect();
        own.extend(model.log_services.values().map(|log| &log.cluster));
        let named = own.iter().map(|key| model.envoy_name(key));
        let own_clusters = named.filter_map(|name| clusters.iter().find(|cluster| cluster.name.value == name).cloned()).collect();
        Bootstrap {
            node_cluster: format!("{}-{}", options.node_id(), options.ambassador_namespace).into(),
            node_id: "test-id".into(),
            admin: Some(Admin {
                address: admin_port.map(|port| EndpointAddress::socket("127.0.0.1", port)),
                access_log_path: "/tmp/admin_access_log".into(),
            }),
            runtime: vec![self.runtime()],
            pod_files: Vec::new(),
            xds_cluster: Some(XdsCluster {
                name: "xds_cluster".into(),
                assignment_name: "cluster_127_0_0_1_8003".into(),
                address: EndpointAddress::socket("127.0.0.1", XDS_PORT),
                connect_timeout: Duration::from_secs(1),
            }),
            clusters: own_clusters,
            tracer: self.tracer(),
            stats_sinks: self.stats_sinks(),
            stats_flush_interval: self.flush_interval(),
            stats_tags: self.stats_tags(),
        }
    }

    fn runtime(&self) -> RuntimeLayer {
        let mut values = vec![(Str::new_static("re2.max_program_size.error_level"), Sourced::built_in(Json::Number(200.0)))];
        if let Some(flags) = &self.model.ambassador.settings.runtime_flags {
            for (name, whole) in RUNTIME_FLAGS {
                let Some(flag) = flags.value.get(name) else { continue };
                let usable = match &flag.value.value {
                    Value::Int(number) => whole && *number > 0,
                    Value::Bool(on) => !whole && *on,
                    _ => false,
                };
                if usable {
                    values.push((Str::new_static(name), Sourced::new(json(&flag.value), flag.origin)));
                }
            }
        }
        RuntimeLayer { name: "static_layer".into(), values }
    }

    fn tracer(&self) -> Option<Sourced<Tracer>> {
        let tracing = self.model.tracing.as_ref()?;
        let cluster = self.model.envoy_name(&tracing.cluster);
        let config: TraceConfig = tracing.spec.config.clone().map(|config| config.value).unwrap_or_default();
        let text = |value: Option<Sourced<Str>>, default: &'static str| {
            value.filter(|value| !value.value.is_empty()).unwrap_or_else(|| Sourced::built_in(Str::new_static(default)))
        };
        let (name, config) = match tracing.driver.value {
            Driver::Zipkin => (
                "envoy.zipkin",
                TracerConfig::Zipkin {
                    cluster,
                    endpoint: text(config.collector_endpoint, "/api/v2/spans"),
                    version: text(config.collector_endpoint_version, "HTTP_JSON"),
                    hostname: config.collector_hostname,
                    trace_id_128bit: Some(config.trace_id_128bit.unwrap_or_else(|| Sourced::built_in(true))),
                    shared_span_context: config.shared_span_context,
                },
            ),
            Driver::Datadog => ("envoy.tracers.datadog", TracerConfig::Datadog { cluster, service_name: text(config.service_name, "ambassador") }),
            Driver::OpenTelemetry => (
                "envoy.opentelemetry",
                TracerConfig::OpenTelemetry { cluster, authority: None, timeout: None, service_name: text(config.service_name, "ambassador") },
            ),
        };
        Some(Sourced::new(Tracer { name: name.into(), config }, tracing.identity.origin))
    }

    /// Envoy requires an address here; the controller resolves a name at startup, which is unknown here.
    fn stats_sinks(&mut self) -> Vec<Sourced<StatsSink>> {
        let options = self.model.options;
        let Some(address) = options.statsd_address() else { return Vec::new() };
        if address.parse::<IpAddr>().is_err() {
            let message = format!("statistics are left out: the controller asks DNS for `{address}` when it starts");
            self.findings.report(Diagnostic::new(&codes::UNRESOLVED_HOST, message, Place::Whole));
            return Vec::new();
        }
        let sink = StatsSink { dogstatsd: options.dogstatsd(), address, port: STATSD_PORT };
        vec![Sourced::new(sink, Origin::built_in().by(Rule::Environment))]
    }

    fn flush_interval(&self) -> Option<Sourced<Duration>> {
        let options = self.model.options;
        options.statsd_address()?;
        let seconds = options.variable("STATSD_FLUSH_INTERVAL").and_then(|text| text.parse().ok()).filter(|seconds| *seconds > 0).unwrap_or(1);
        Some(Sourced::new(Duration::from_secs(seconds), Origin::built_in().by(Rule::Environment)))
    }

    fn stats_tags(&self) -> Vec<(Str, Sourced<Str>)> {
        let options = self.model.options;
        let id = options.variable("DD_ENTITY_ID").filter(|_| options.statsd_address().is_some() && options.dogstatsd());
        let tag = |id: &str| (Str::new_static("dd.internal.entity_id"), Sourced::new(Str::from(id), Origin::built_in().by(Rule::Environment)));
        id.map(tag).into_iter().collect()
    }
}
