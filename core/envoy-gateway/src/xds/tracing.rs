//! Writes where traces go and what they carry. Does not find the collector; see `translate`.

use super::cluster::ClusterArgs;
use super::proto::{Setting as _, derived, extension, fraction, list, message, of_hundred, one, percent};
use crate::model::Tracing;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_text::Str;

/// Headers of calls to a collector, from items {name, value}.
pub(crate) fn initial_metadata(headers: &[Tree]) -> Tree {
    list(headers.iter().map(|of| message! { "key": of.get("name").clone(), "value": of.get("value").clone() }.or_from(of.origin)).collect())
}

/// The names of spans: of requests, and of calls to backends.
pub(crate) fn operations(of: &Tree) -> (Tree, Tree) {
    (super::proto::copied(of.get("client")), super::proto::copied(of.get("server")))
}

/// Tags by name; later ones replace those before them.
pub(crate) fn custom_tags(custom: &[(Str, Tree)], tags: &[(Str, Tree)]) -> Result<Tree, String> {
    let mut found: BTreeMap<Str, Tree> = BTreeMap::new();
    for (name, of) in custom {
        let kind = of.get("type");
        let tag = Tree::from(name).or_from(of.origin);
        let named = |of: &Tree| message! { "name": of.get("name").clone(), "default_value": super::proto::copied(of.get("defaultValue")) };
        let tag = match kind.text() {
            "Literal" => message! { "tag": tag, "literal": message! { "value": of.at(&["literal", "value"]).clone() } },
            "Environment" => message! { "tag": tag, "environment": named(of.get("environment")) },
            "RequestHeader" => message! { "tag": tag, "request_header": named(of.get("requestHeader")) },
            other => return Err(format!("unknown custom tag type: {other}")),
        };
        found.insert(name.clone(), tag.or_from(of.origin));
    }
    for (name, value) in tags {
        found.insert(name.clone(), message! { "tag": derived(name, value), "value": value.clone() }.or_from(value.origin));
    }
    Ok(list(found.into_values().collect()))
}

fn sampler(of: &Tree) -> Result<Tree, String> {
    const NAMES: &str = "envoy.tracers.opentelemetry.samplers";
    const KINDS: &str = "envoy.extensions.tracers.opentelemetry.samplers.v3";
    let kind = of.get("type");
    let always = || extension(&format!("{NAMES}.always_on"), &format!("{KINDS}.AlwaysOnSamplerConfig"), super::proto::empty());
    let ratio = |share: Tree| {
        let config = message! { "sampling_percentage": share };
        extension(&format!("{NAMES}.trace_id_ratio_based"), &format!("{KINDS}.TraceIdRatioBasedSamplerConfig"), config)
    };
    let parent = |wrapped: Tree| {
        let config = message! { "wrapped_sampler": wrapped };
        extension(&format!("{NAMES}.parent_based"), &format!("{KINDS}.ParentBasedSamplerConfig"), config)
    };
    let share = || match of.get("samplingPercentage").some() {
        Some(share) => fraction(share),
        None => of_hundred(100),
    };
    let found = match kind.text() {
        "" => return Ok(Tree::NULL),
        "AlwaysOn" => always(),
        "AlwaysOff" => ratio(of_hundred(0)),
        "TraceIdRatio" => ratio(share()),
        "ParentBasedAlwaysOn" => parent(always()),
        "ParentBasedAlwaysOff" => parent(ratio(of_hundred(0))),
        "ParentBasedTraceIdRatio" => parent(ratio(share())),
        other => return Err(format!("unknown sampler type: {other}")),
    };
    Ok(found.or_from(of.origin))
}

/// Tracing of requests, or why there is none.
pub(crate) fn build(of: &Tracing) -> Result<Tree, String> {
    let cluster = Tree::from(&of.destination.name).or_from(of.destination.origin);
    let provider = match of.provider.get("type").text() {
        "Datadog" => {
            let config = message! { "service_name": of.service_name.clone(), "collector_cluster": cluster };
            extension("envoy.tracers.datadog", "envoy.config.trace.v3.DatadogConfig", config)
        }
        "OpenTelemetry" => {
            let attributes: Vec<_> = of.resource_attributes.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
            let kind = "envoy.extensions.tracers.opentelemetry.resource_detectors.v3.StaticConfigResourceDetectorConfig";
            let name = "envoy.tracers.opentelemetry.resource_detectors.static_config";
            let detectors =
                if attributes.is_empty() { Tree::NULL } else { one(extension(name, kind, message! { "attributes": Tree::object(attributes) })) };
            let service = message! {
                "envoy_grpc": message! { "cluster_name": cluster, "authority": super::proto::copied(&of.authority) },
                "initial_metadata": initial_metadata(&of.headers),
            };
            let config = message! {
                "grpc_service": service,
                "service_name": of.service_name.clone(),
                "resource_detectors": detectors,
                "sampler": sampler(of.provider.at(&["openTelemetry", "sampler"]))?,
            };
            extension("envoy.tracers.opentelemetry", "envoy.config.trace.v3.OpenTelemetryConfig", config)
        }
        "Zipkin" => {
            let zipkin = of.provider.get("zipkin");
            let own = zipkin.get("disableSharedSpanContext");
            let config = message! {
                "collector_cluster": cluster,
                "collector_endpoint": "/api/v2/spans",
                "trace_id_128bit": super::proto::flag(zipkin.get("enable128BitTraceId")),
                "shared_span_context": derived(!own.bool(), own),
                "collector_endpoint_version": "HTTP_JSON",
            };
            extension("envoy.traces.zipkin", "envoy.config.trace.v3.ZipkinConfig", config)
        }
        other => return Err(format!("unknown tracing provider type: {other}")),
    };
    let or = |rate: &Tree, default: i64| {
        if rate.is_null() {
            message! { "value": default }
        } else {
            percent(rate)
        }
    };
    let has_sampler = !of.provider.at(&["openTelemetry", "sampler"]).is_null();
    let (operation, upstream) = operations(&of.span_name);
    let out = message! {
        "client_sampling": or(&of.client_sampling_rate, 0),
        "overall_sampling": or(&of.overall_sampling_rate, 100),
        "random_sampling": if has_sampler { message! { "value": 100_i64 } } else { percent(&of.sampling_rate) },
        "provider": provider.or_from(of.provider.origin),
        "custom_tags": custom_tags(&of.custom_tags, &of.tags)?,
        "spawn_upstream_span": true,
        "operation": operation,
        "upstream_operation": upstream,
    };
    Ok(out.or_from(of.origin))
}

/// The collector's cluster.
pub(crate) fn cluster<'a>(of: &'a Tracing, metrics: &Tree, log: &Tree) -> ClusterArgs<'a> {
    let mut args = ClusterArgs::of(&of.destination, of.traffic.as_ref().map(|traffic| &traffic.cluster));
    args.metrics = metrics.clone();
    args.health_check_log = log.clone();
    args
}
