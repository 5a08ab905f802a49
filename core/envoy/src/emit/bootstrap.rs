//! Emits `Bootstrap` without listeners and clusters, and the clusters that only a bootstrap has.

use super::access_log::{FILE_LOG, access_log};
use super::base::{duration, endpoint_address, grpc_api, json_value, socket, text};
use super::endpoint::load_assignment_of;
use super::{Context, pb, secret, tracing, verbatim};
use alloc::borrow::ToOwned;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use chancery_base::ir::{Admin, Cluster, ConfigSource, Endpoint, Ir, RuntimeLayer, SocketProtocol, StatsSink, XdsCluster};
use chancery_base::output_map::Trace;
use chancery_base::resource::Sourced;
use pb::Any;
use pb::bootstrap::bootstrap::DynamicResources;
use pb::cluster::cluster::{ClusterDiscoveryType, DiscoveryType};

/// Without `static_resources`.
pub(super) fn frame(ir: &Ir, cx: &Context<'_>, t: &mut Trace) -> pb::bootstrap::Bootstrap {
    let of = &ir.delivery.bootstrap;
    let mut out = pb::bootstrap::Bootstrap {
        node: Some(t.own("node", pb::base::Node { id: text(&of.node_id), cluster: text(&of.node_cluster), ..Default::default() })),
        admin: of.admin.as_ref().map(|of| t.at("admin", |t| admin(of, t))),
        layered_runtime: layered_runtime(ir, t),
        dynamic_resources: needed_server(ir, cx)
            .filter(|_| *cx.source == ConfigSource::Aggregated)
            .map(|server| t.own("dynamic_resources", dynamic_resources(server))),
        stats_sinks: t.sourced_list("stats_sinks", &of.stats_sinks, |sink, _| stats_sink(sink)),
        stats_config: stats_config(ir, t),
        stats_flush_interval: t.optional("stats_flush_interval", &of.stats_flush_interval).map(duration),
        ..Default::default()
    };
    if cx.spelling.tracer_in_bootstrap
        && let Some(tracer) = &of.tracer
    {
        let http = t.at("tracing", |t| {
            t.at("http", |t| {
                t.here(tracer.origin);
                tracing::tracer(tracer, t)
            })
        });
        out.tracing = http.map(|http| pb::trace::Tracing { http: Some(http) });
    }
    out
}

fn admin(admin: &Admin, t: &mut Trace) -> pb::bootstrap::Admin {
    t.here(chancery_base::resource::Origin::built_in());
    t.at("address", |t| t.at("socket_address", |t| t.field("port_value", &admin.address)));
    let log = pb::file_log::FileAccessLog { path: text(&admin.access_log_path), ..Default::default() };
    pb::bootstrap::Admin {
        address: Some(endpoint_address(&admin.address)),
        access_log: if admin.access_log_path.is_empty() { Vec::new() } else { vec![access_log(FILE_LOG, Any::pack(log))] },
        ..Default::default()
    }
}

/// The bootstrap's own layers, and above them the layers that the management server would serve.
fn layered_runtime(ir: &Ir, t: &mut Trace) -> Option<pb::bootstrap::LayeredRuntime> {
    use pb::bootstrap::runtime_layer::LayerSpecifier;
    if ir.delivery.bootstrap.runtime.is_empty() && ir.delivery.runtimes.is_empty() {
        return None;
    }
    Some(t.at("layered_runtime", |t| pb::bootstrap::LayeredRuntime {
        layers: t.list("layers", ir.delivery.bootstrap.runtime.iter().chain(&ir.delivery.runtimes), |layer, t| pb::bootstrap::RuntimeLayer {
            name: text(&layer.name),
            layer_specifier: Some(LayerSpecifier::StaticLayer(t.at("static_layer", |t| runtime_values(layer, t)))),
        }),
    }))
}

fn runtime_values(layer: &RuntimeLayer, t: &mut Trace) -> pb::Struct {
    pb::Struct { fields: layer.values.iter().map(|(name, value)| (text(name), json_value(t.field(name, value)))).collect() }
}

/// A layer as RTDS serves it.
pub(super) fn runtime(layer: &RuntimeLayer, t: &mut Trace) -> pb::runtime::Runtime {
    pb::runtime::Runtime { name: text(&layer.name), layer: Some(t.at("layer", |t| runtime_values(layer, t))) }
}

/// The management server, if any resource is requested from it.
fn needed_server<'a>(ir: &'a Ir, cx: &Context<'_>) -> Option<&'a XdsCluster> {
    let is_needed = || !cx.stands_alone || !secret::all_given(ir, cx) || verbatim::requests_secrets(&ir.delivery.verbatim, cx);
    ir.delivery.bootstrap.xds_cluster.as_ref().filter(|_| is_needed())
}

fn dynamic_resources(server: &XdsCluster) -> DynamicResources {
    DynamicResources { ads_config: Some(grpc_api(&server.name, None)), ..Default::default() }
}

fn stats_sink(sink: &StatsSink) -> pb::metrics::StatsSink {
    use pb::metrics::{DogStatsdSink, StatsdSink, dog_statsd_sink::DogStatsdSpecifier, statsd_sink::StatsdSpecifier};
    let address = socket(&sink.address, sink.port, SocketProtocol::Udp);
    let (name, config) = if sink.dogstatsd {
        let specifier = Some(DogStatsdSpecifier::Address(address));
        ("envoy.stat_sinks.dog_statsd", Any::pack(DogStatsdSink { dog_statsd_specifier: specifier, ..Default::default() }))
    } else {
        let specifier = Some(StatsdSpecifier::Address(address));
        ("envoy.stat_sinks.statsd", Any::pack(StatsdSink { statsd_specifier: specifier, ..Default::default() }))
    };
    pb::metrics::StatsSink { name: name.to_owned(), config_type: Some(pb::metrics::stats_sink::ConfigType::TypedConfig(config)) }
}

fn stats_config(ir: &Ir, t: &mut Trace) -> Option<pb::metrics::StatsConfig> {
    use pb::metrics::{TagSpecifier, tag_specifier::TagValue};
    if ir.delivery.bootstrap.stats_tags.is_empty() {
        return None;
    }
    Some(t.at("stats_config", |t| pb::metrics::StatsConfig {
        stats_tags: t.list("stats_tags", &ir.delivery.bootstrap.stats_tags, |(name, value), t| {
            t.here(value.origin);
            TagSpecifier { tag_name: text(name), tag_value: Some(TagValue::FixedValue(text(value))) }
        }),
        ..Default::default()
    }))
}

/// The clusters that only a bootstrap has, one per name.
pub(super) fn own_clusters(ir: &Ir) -> Vec<&Arc<Cluster>> {
    let mut own: Vec<&Arc<Cluster>> = Vec::new();
    for cluster in &ir.delivery.bootstrap.clusters {
        let same = |other: &&Arc<Cluster>| other.name == cluster.name;
        if !ir.clusters.iter().any(|other| same(&other)) && !own.iter().any(same) {
            own.push(cluster);
        }
    }
    own
}

/// The cluster of the management server, if the document requests anything from it.
pub(super) fn server_cluster(ir: &Ir, cx: &Context<'_>, t: &mut Trace) -> Option<pb::cluster::Cluster> {
    use pb::upstream_http::http_protocol_options::{ExplicitHttpConfig, UpstreamProtocolOptions, explicit_http_config::ProtocolConfig};
    let server = needed_server(ir, cx)?;
    t.here(chancery_base::resource::Origin::built_in());
    let endpoint = Sourced::built_in(Endpoint::from(server.address.clone()));
    let kind = if server.address.is_resolved() { DiscoveryType::Static } else { DiscoveryType::StrictDns };
    let http2 = pb::upstream_http::HttpProtocolOptions {
        upstream_protocol_options: Some(UpstreamProtocolOptions::ExplicitHttpConfig(ExplicitHttpConfig {
            protocol_config: Some(ProtocolConfig::Http2ProtocolOptions(Default::default())),
        })),
        ..Default::default()
    };
    Some(pb::cluster::Cluster {
        name: text(&server.name),
        connect_timeout: Some(duration(&server.connect_timeout)),
        load_assignment: Some(load_assignment_of(&server.assignment_name, &[endpoint], &mut Trace::off())),
        cluster_discovery_type: Some(ClusterDiscoveryType::Type(kind as i32)),
        typed_extension_protocol_options: [(super::cluster::HTTP_OPTIONS.to_owned(), Any::pack(http2))].into(),
        ..Default::default()
    })
}
