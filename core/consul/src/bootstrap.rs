//! Writes an Envoy's bootstrap, as `consul connect envoy -bootstrap` does.

use super::go;
use super::instance::Instance;
use super::lenient::{Reader, find};
use super::names::{self, DEFAULT};
use super::validate::is_set;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::ir::{self, EndpointAddress, Plain, Tree};
use chancery_base::resource::Sourced;
use chancery_text::{self, Limits, Str};

/// The bootstrap of an Envoy that gets everything else in one file: its identity, and the server for certificates.
pub(super) fn start(instance: &Instance) -> ir::Bootstrap {
    let socket = |(host, port): (&str, i64)| EndpointAddress::socket(host, u16::try_from(port).unwrap_or_default());
    ir::Bootstrap {
        node_cluster: instance.destination(),
        node_id: instance.id.clone(),
        admin: Some(ir::Admin { address: Sourced::built_in(socket(ADMIN)), access_log_path: Str::new_static("/dev/null") }),
        xds_cluster: Some(ir::XdsCluster {
            name: Str::new_static(AGENT_CLUSTER),
            assignment_name: Str::new_static(AGENT_CLUSTER),
            address: socket(AGENT),
            connect_timeout: core::time::Duration::from_secs(1),
        }),
        ..ir::Bootstrap::default()
    }
}

/// The address of Envoy's admin interface.
const ADMIN: (&str, i64) = ("127.0.0.1", 19000);
/// The address of the agent.
const AGENT: (&str, i64) = ("127.0.0.1", 8502);
const AGENT_CLUSTER: &str = "local_agent";
const SELF: &str = "self_admin";

macro_rules! object {
    ($($name:literal : $value:expr),* $(,)?) => {
        Tree::object([$(($name, Tree::from($value))),*])
    };
}

fn empty() -> Tree {
    Tree { value: Plain::Object(chancery_base::ir::Fields::default()), origin: None }
}

fn one(item: Tree) -> Tree {
    Vec::from([item]).into()
}

fn socket(host: impl Into<Tree>, port: i64) -> Tree {
    object! { "socket_address": object! { "address": host.into(), "port_value": port } }
}

/// Parses a comma-separated list of JSON values in opaque configuration.
fn values(json: &Tree) -> Vec<Tree> {
    if json.text().is_empty() {
        return Vec::new();
    }
    let root = chancery_text::parse(&format!("[{}]", json.text()), &Limits::default()).root;
    root.map(|root| Tree::of(&root, &|_| json.origin).items().to_vec()).unwrap_or_default()
}

/// A cluster of one endpoint.
fn cluster(name: &str, address: Tree) -> Tree {
    let endpoint = object! { "endpoint": object! { "address": address } };
    object! {
        "name": name,
        "type": "STATIC",
        "loadAssignment": object! { "clusterName": name, "endpoints": one(object! { "lbEndpoints": one(endpoint) }) },
    }
}

/// A part of a cluster's name that becomes a label.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Hash,
    Subset,
    Service,
    Namespace,
    Partition,
    Datacenter,
    Kind,
    Domain,
    Target,
    FullTarget,
}

/// The labels of clusters, in order; those that are also deprecated are marked.
const PARTS: [(&str, Part, bool); 10] = [
    ("custom_hash", Part::Hash, true),
    ("service_subset", Part::Subset, true),
    ("service", Part::Service, true),
    ("namespace", Part::Namespace, true),
    ("partition", Part::Partition, false),
    ("datacenter", Part::Datacenter, true),
    ("routing_type", Part::Kind, true),
    ("trust_domain", Part::Domain, true),
    ("target", Part::Target, true),
    ("full_target", Part::FullTarget, true),
];

/// A segment of a name; the searched one is in a group.
fn segment(wanted: bool) -> &'static str {
    if wanted { "([^.]+)" } else { "[^.]+" }
}

/// The pattern that finds a part in a cluster's metric name.
fn pattern(prefix: &str, part: Part) -> String {
    let of = |other: Part| segment(part == other);
    let target = format!(
        "(?:{}~)?(?:{}\\.)?{}\\.{}\\.(?:{}\\.)?{}",
        of(Part::Hash),
        of(Part::Subset),
        of(Part::Service),
        of(Part::Namespace),
        of(Part::Partition),
        of(Part::Datacenter)
    );
    let internal = matches!(part, Part::Partition | Part::Datacenter);
    let kind = if internal { "internal[^.]*" } else { of(Part::Kind) };
    let (target, rest) = match part {
        Part::Target => (format!("({target})"), format!("\\.{kind}\\.[^.]+")),
        Part::FullTarget => (format!("({target}\\.{kind}\\.[^.]+)"), String::new()),
        _ => (target, format!("\\.{kind}\\.{}", of(Part::Domain))),
    };
    format!("^cluster\\.{prefix}({target}{rest}\\.consul\\.)")
}

/// The rules that derive labels from metric names.
fn labels() -> Vec<Tree> {
    let tag = |name: String, regex: String| object! { "tag_name": name, "regex": regex };
    let mut out = Vec::new();
    for (name, part, _) in PARTS {
        if part == Part::Kind {
            let peer = "^cluster\\.([^.]+\\.(?:[^.]+\\.)?([^.]+)\\.external\\.[^.]+\\.consul\\.)";
            out.push(tag("consul.destination.peer".into(), peer.into()));
        }
        out.push(tag(format!("consul.destination.{name}"), pattern("(?:passthrough~)?", part)));
    }
    for (name, kind, at) in
        [("service", "(?:_peered)?", 0), ("datacenter", "", 3), ("peer", "_peered", 4), ("namespace", "(?:_peered)?", 1), ("partition", "", 2)]
    {
        let of = |other: i32| segment(other == at);
        let inner = if at == 4 {
            format!("{}(?:\\.{})?\\.{}", of(0), of(1), of(4))
        } else {
            format!("{}(?:\\.{})?(?:\\.{})?\\.{}", of(0), of(1), of(2), of(3))
        };
        out.push(tag(format!("consul.upstream.{name}"), format!("^(?:tcp|http)\\.upstream{kind}\\.({inner}\\.)")));
    }
    for (name, part, _) in PARTS.into_iter().filter(|(_, _, deprecated)| *deprecated) {
        out.push(tag(format!("consul.{name}"), pattern("", part)));
    }
    out
}

/// The fixed labels: configured ones, and the origin of the metrics.
fn fixed(config: &Tree, service: &str, datacenter: &str) -> (Vec<Tree>, Vec<Tree>) {
    let tags = find(config, "envoy_stats_tags", "");
    let given: Vec<&Tree> = if tags.text().is_empty() { tags.items().iter().collect() } else { Vec::from([tags]) };
    let mut names = Vec::new();
    let mut own = Vec::new();
    for tag in given {
        let (name, value) = tag.text().split_once('=').unwrap_or((tag.text(), "1"));
        let name = name.to_lowercase();
        own.push(object! { "tag_name": name.as_str(), "fixed_value": value }.or_from(tag.origin));
        names.push(name);
    }
    let defaults = [
        ("local_cluster", service),
        ("consul.source.service", service),
        ("consul.source.namespace", DEFAULT),
        ("consul.source.partition", DEFAULT),
        ("consul.source.datacenter", datacenter),
    ];
    let rest = defaults.into_iter().filter(|(name, value)| !value.is_empty() && !names.iter().any(|given| given == name));
    (own, rest.map(|(name, value)| object! { "tag_name": name, "fixed_value": value }).collect())
}

fn sink(name: &str, kind: &str, url: &Tree) -> Option<Tree> {
    let parsed = go::Url::parse(url.text()).ok()?;
    let address = match parsed.scheme {
        "udp" => socket(parsed.hostname(), parsed.port()?.parse().ok()?),
        "unix" => object! { "pipe": object! { "path": parsed.path } },
        _ => return None,
    };
    let config = object! { "@type": format!("type.googleapis.com/envoy.config.metrics.v3.{kind}"), "address": address };
    Some(object! { "name": format!("envoy.stat_sinks.{name}"), "typedConfig": config }.or_from(url.origin))
}

/// A listener that forwards a path to Envoy's own admin interface.
fn admin_listener(bind: &Tree, name: &str, matches: Tree, rewrite: &str) -> Option<Tree> {
    let (host, port) = go::split_host_port(bind.text())?;
    let through = object! { "match": matches, "route": object! { "cluster": SELF, "prefix_rewrite": rewrite } };
    let nothing = object! { "match": object! { "prefix": "/" }, "direct_response": object! { "status": 404_i64 } };
    let host_of = object! { "name": SELF, "domains": one("*".into()), "routes": Tree::from(Vec::from([through, nothing])) };
    let router = object! {
        "name": "envoy.filters.http.router",
        "typedConfig": object! { "@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router" },
    };
    let manager = object! {
        "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
        "stat_prefix": name,
        "codec_type": "HTTP1",
        "route_config": object! { "name": "self_admin_route", "virtual_hosts": one(host_of) },
        "http_filters": one(router),
    };
    let filter = object! { "name": "envoy.filters.network.http_connection_manager", "typedConfig": manager };
    let listener = object! {
        "name": format!("{name}_listener"),
        "address": socket(host, port.parse().ok()?),
        "filter_chains": one(object! { "filters": one(filter) }),
    };
    Some(listener.or_from(bind.origin))
}

/// Returns the values in a proxy's configuration that make `consul connect envoy` fail, each with its key and the message.
pub(super) fn refused(config: &Tree) -> Vec<(&'static str, &Tree, String)> {
    let of = |key: &str| Some(find(config, key, "")).filter(|value| !value.text().is_empty());
    let mut out = Vec::new();
    // A custom template may leave these out.
    if of("envoy_bootstrap_json_tpl").is_none() {
        let lists = ["envoy_extra_stats_sinks_json", "envoy_extra_static_clusters_json", "envoy_extra_static_listeners_json"];
        let keys = lists.into_iter().map(|key| (key, true)).chain(["envoy_stats_config_json", "envoy_tracing_json"].map(|key| (key, false)));
        for (key, is_list) in keys {
            let Some(value) = of(key) else { continue };
            let text = if is_list { format!("[{}]", value.text()) } else { value.text().to_string() };
            // The reader would accept YAML too.
            if let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(&text) {
                out.push((key, value, format!("it is not JSON: {error}")));
            }
        }
    }
    for (key, sink) in [("envoy_statsd_url", "envoy.statsd"), ("envoy_dogstatsd_url", "envoy.dog_statsd")] {
        // A variable is resolved where Envoy runs.
        let Some(value) = of(key).filter(|value| !value.text().starts_with('$')) else { continue };
        match go::Url::parse(value.text()) {
            Ok(url) if ["udp", "unix"].contains(&url.scheme) => {}
            Ok(url) => out.push((key, value, format!("unsupported address protocol {} for {sink} sink", go::quote(url.scheme)))),
            Err(_) => out.push((key, value, format!("failed to parse {sink} sink address {}", go::quote(value.text())))),
        }
    }
    for (key, name) in [("envoy_prometheus_bind_addr", "envoy_prometheus_metrics"), ("envoy_stats_bind_addr", "envoy_metrics")] {
        if let Some(value) = of(key).filter(|value| go::split_host_port(value.text()).is_none()) {
            out.push((key, value, format!("invalid {name} bind address")));
        }
    }
    out
}

/// The bootstrap of a proxy.
pub(crate) fn bootstrap(instance: &Instance) -> Tree {
    let config = instance.proxy.get("Config");
    let service = instance.destination();
    let template = find(config, "envoy_bootstrap_json_tpl", "");
    if !template.text().is_empty() {
        return from_template(template, instance, &service);
    }
    let statics = Statics::of(instance, config);
    let mut agent = cluster(AGENT_CLUSTER, socket(AGENT.0, AGENT.1));
    agent.set("ignore_health_on_host_removal", false.into());
    agent.set("connect_timeout", "1s".into());
    agent.set("http2_protocol_options", empty());
    let clusters: Vec<Tree> = [agent].into_iter().chain(statics.clusters).collect();
    let mut resources = object! { "clusters": Tree::from(clusters) };
    if !statics.listeners.is_empty() {
        resources.set("listeners", statics.listeners.into());
    }
    let metadata = object! { "namespace": DEFAULT, "partition": DEFAULT };
    let layer = object! { "name": "base", "static_layer": object! { "re2.max_program_size.error_level": 1_048_576_i64 } };
    let mut out = object! {
        "admin": admin(instance.proxy.get("AccessLogs")),
        "node": object! { "cluster": &service, "id": &instance.id, "metadata": metadata },
        "layered_runtime": object! { "layers": one(layer) },
        "static_resources": resources,
        "stats_config": stats(config, &service, &instance.node.datacenter),
        "dynamic_resources": dynamic(),
    };
    if !statics.sinks.is_empty() {
        out.set("stats_sinks", statics.sinks.into());
    }
    let interval = Reader::of(config).text("envoy_stats_flush_interval", "");
    if !interval.is_empty() {
        out.set("stats_flush_interval", interval.into());
    }
    if let Some(tracing) = values(find(config, "envoy_tracing_json", "")).pop() {
        out.set("tracing", tracing);
    }
    out
}

/// The static part of the bootstrap.
struct Statics {
    clusters: Vec<Tree>,
    listeners: Vec<Tree>,
    sinks: Vec<Tree>,
}

impl Statics {
    fn of(instance: &Instance, config: &Tree) -> Self {
        let of = |name: &str| find(config, name, "");
        let mut sinks: Vec<Tree> = sink("statsd", "StatsdSink", of("envoy_statsd_url")).into_iter().collect();
        sinks.extend(sink("dog_statsd", "DogStatsdSink", of("envoy_dogstatsd_url")));
        sinks.extend(values(of("envoy_extra_stats_sinks_json")));
        let mut clusters = values(of("envoy_extra_static_clusters_json"));
        let mut listeners = values(of("envoy_extra_static_listeners_json"));
        let path = |path: &str| object! { "path": path };
        for (bind, name, matches, rewrite) in [
            ("envoy_prometheus_bind_addr", "envoy_prometheus_metrics", path("/metrics"), "/stats/prometheus"),
            ("envoy_stats_bind_addr", "envoy_metrics", object! { "prefix": "/stats" }, "/stats"),
            ("envoy_ready_bind_addr", "envoy_ready", path("/ready"), "/ready"),
        ] {
            let Some(listener) = admin_listener(of(bind), name, matches, rewrite) else { continue };
            listeners.push(listener);
            if !clusters.iter().any(|cluster| cluster.get("name").is(SELF)) {
                let mut own = cluster(SELF, socket(ADMIN.0, ADMIN.1));
                own.set("ignore_health_on_host_removal", false.into());
                own.set("connect_timeout", "5s".into());
                own.set("http_protocol_options", empty());
                clusters.push(own);
            }
        }
        let folder = of("envoy_telemetry_collector_bind_socket_dir");
        if is_set(folder) {
            const LOOPBACK: &str = "consul_telemetry_collector_loopback";
            let service = object! {
                "@type": "type.googleapis.com/envoy.config.metrics.v3.MetricsServiceConfig",
                "transport_api_version": "V3",
                "grpc_service": object! { "envoy_grpc": object! { "cluster_name": LOOPBACK } },
                "emit_tags_as_labels": true,
            };
            sinks.push(object! { "name": "envoy.stat_sinks.metrics_service", "typed_config": service }.or_from(folder.origin));
            let pipe = object! { "pipe": object! { "path": names::collector_socket(folder.text(), &instance.id) } };
            let mut own = cluster(LOOPBACK, pipe);
            own.set("http2_protocol_options", empty());
            clusters.push(own.or_from(folder.origin));
        }
        Self { clusters, listeners, sinks }
    }
}

fn admin(logs: &Tree) -> Tree {
    let mut out = object! { "address": socket(ADMIN.0, ADMIN.1) };
    let log = super::xds::admin_log(logs);
    if log.is_null() {
        out.set("access_log_path", "/dev/null".into());
    } else {
        out.set("access_log", log);
    }
    out
}

fn stats(config: &Tree, service: &Str, datacenter: &Str) -> Tree {
    if let Some(own) = values(find(config, "envoy_stats_config_json", "")).pop() {
        return own;
    }
    let (own, rest) = fixed(config, service, datacenter);
    let tags: Vec<Tree> = own.into_iter().chain(labels()).chain(rest).collect();
    object! { "stats_tags": Tree::from(tags), "use_all_default_tags": true }
}

fn dynamic() -> Tree {
    let by_ads = || object! { "ads": empty(), "initial_fetch_timeout": "0s", "resource_api_version": "V3" };
    let token = object! { "key": "x-consul-token", "value": "" };
    let service = object! { "initial_metadata": one(token), "envoy_grpc": object! { "cluster_name": AGENT_CLUSTER } };
    let ads = object! { "api_type": "DELTA_GRPC", "transport_api_version": "V3", "grpc_services": service };
    object! { "lds_config": by_ads(), "cds_config": by_ads(), "ads_config": ads }
}

/// A bootstrap from a user's template: fields are inserted, and nothing else is interpreted.
fn from_template(template: &Tree, instance: &Instance, service: &Str) -> Tree {
    let mut rest = template.text();
    let mut out = String::new();
    while let Some((before, after)) = rest.split_once("{{") {
        out.push_str(before);
        let Some((field, after)) = after.split_once("}}") else { break };
        let value = match field.trim_matches(|c: char| c.is_whitespace() || c == '-') {
            ".AdminBindAddress" => ADMIN.0.to_string(),
            ".AdminBindPort" => ADMIN.1.to_string(),
            ".AdminAccessLogPath" => "/dev/null".to_string(),
            ".ProxyCluster" | ".ProxySourceService" => service.to_string(),
            ".ProxyID" => instance.id.to_string(),
            ".LocalAgentClusterName" => AGENT_CLUSTER.to_string(),
            ".AgentAddress" => AGENT.0.to_string(),
            ".AgentPort" => AGENT.1.to_string(),
            ".Datacenter" => instance.node.datacenter.to_string(),
            _ => String::new(),
        };
        out.push_str(&value);
        rest = after;
    }
    out.push_str(rest);
    let root = chancery_text::parse(&out, &Limits::default()).root;
    root.map(|root| Tree::of(&root, &|_| template.origin)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_find_the_parts_of_a_name() {
        let name = "cluster.f8f8f8f8~v2.pong.default.dc2.internal.e5b08d03.consul.bind_errors";
        let found =
            |part: Part| chancery_base::re2::engine::Finder::new(&pattern("(?:passthrough~)?", part)).expect("is one").replace_all(name, "<\\2>");
        assert_eq!(found(Part::Hash), "<f8f8f8f8>bind_errors");
        assert_eq!(found(Part::Subset), "<v2>bind_errors");
        assert_eq!(found(Part::Target), "<f8f8f8f8~v2.pong.default.dc2>bind_errors");
    }

    #[test]
    fn a_template_is_filled_in() {
        let instance = Instance { id: "web-sidecar-proxy".into(), ..Instance::default() };
        let out = from_template(&Tree::from("{\"node\":{\"id\":\"{{ .ProxyID }}\",\"port\":{{.AdminBindPort}}}}"), &instance, &"web".into());
        assert_eq!(out.at(&["node", "id"]).text(), "web-sidecar-proxy");
        assert_eq!(out.at(&["node", "port"]).int(), 19000);
    }
}
