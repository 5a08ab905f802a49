//! Writes clusters with all their settings. Does not choose destinations; see `translate`.

use super::endpoint::load_assignment;
use super::load_balancer::{self, hash_policies};
use super::metadata::write_metadata;
use super::proto::{Setting as _, any, bytes, derived, duration, empty, extension, flag, fraction_percent, message, one, percent, seconds};
use super::{credential, health, tls};
use crate::model::{AddressType, AppProtocol, ClusterTraffic, Destination, DestinationSetting, Metadata, Traffic};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_text::Str;

const BUFFER_LIMIT: i64 = 32_768;
const HTTP_OPTIONS: &str = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";
const STREAM_WINDOW: i64 = 65_536;
const CONNECTION_WINDOW: i64 = 1_048_576;

/// How a cluster finds its endpoints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum EndpointType {
    Dns,
    #[default]
    Static,
    DynamicResolver,
}

impl EndpointType {
    /// The first backend decides.
    pub(crate) fn of(settings: &[&DestinationSetting]) -> Self {
        match settings.first() {
            Some(first) if first.is_dynamic_resolver => Self::DynamicResolver,
            Some(first) if first.address_type == Some(AddressType::Fqdn) => Self::Dns,
            _ => Self::Static,
        }
    }
}

/// The parts of a cluster.
#[derive(Clone, Default)]
pub(crate) struct ClusterArgs<'a> {
    pub(crate) name: &'a str,
    pub(crate) settings: Vec<&'a DestinationSetting>,
    pub(crate) socket: Option<Tree>,
    pub(crate) endpoint_type: EndpointType,
    pub(crate) traffic: Option<&'a ClusterTraffic>,
    pub(crate) route_hostname: Tree,
    /// A ClientTrafficPolicy's `http1`.
    pub(crate) http1: Tree,
    pub(crate) metrics: Tree,
    pub(crate) use_client_protocol: bool,
    pub(crate) ip_family: Str,
    pub(crate) metadata: Option<&'a Metadata>,
    pub(crate) stat_name: Tree,
    pub(crate) health_check_log: Tree,
    /// The cluster is a route's, whose hash and longest stream are the route's own.
    pub(crate) is_route: bool,
}

impl<'a> ClusterArgs<'a> {
    /// Those of a destination.
    pub(crate) fn of(destination: &'a Destination, traffic: Option<&'a ClusterTraffic>) -> Self {
        let settings: Vec<&DestinationSetting> = destination.settings.iter().collect();
        Self {
            name: &destination.name,
            endpoint_type: EndpointType::of(&settings),
            settings,
            traffic,
            metadata: destination.metadata.as_ref(),
            ..Self::default()
        }
    }

    /// Those of a service that filters ask.
    pub(crate) fn of_service(destination: &'a Destination, traffic: Option<&'a Traffic>) -> Self {
        let args = Self::of(destination, traffic.map(|traffic| &traffic.cluster));
        // A service is never found by the request's host.
        let is_dns = args.settings.first().is_some_and(|first| first.address_type == Some(AddressType::Fqdn));
        Self { endpoint_type: if is_dns { EndpointType::Dns } else { EndpointType::Static }, ..args }
    }
}

/// A cluster, its endpoints if the stream gives them, and secrets that it needs.
pub(crate) struct BuiltCluster {
    pub(crate) cluster: Tree,
    pub(crate) endpoints: Option<Tree>,
    pub(crate) secrets: Vec<Tree>,
}

/// The family of addresses that several backends need together; empty if no backend says.
pub(crate) fn ip_family(settings: &[DestinationSetting]) -> Str {
    if let [only] = settings {
        return only.ip_family.clone();
    }
    let has = |family: &str| settings.iter().any(|setting| setting.ip_family == family);
    match (has("DualStack"), has("IPv4"), has("IPv6")) {
        (true, ..) | (_, true, true) => Str::new_static("DualStack"),
        (_, true, _) => Str::new_static("IPv4"),
        (_, _, true) => Str::new_static("IPv6"),
        _ => Str::default(),
    }
}

/// The address types of DNS queries.
pub(crate) fn lookup_family(ip_family: &str, dns: &Tree) -> Tree {
    let wanted = dns.get("lookupFamily");
    let own = match wanted.text() {
        "IPv4" => Some("V4_ONLY"),
        "IPv6" => Some("V6_ONLY"),
        "IPv6Preferred" => Some("AUTO"),
        "IPv4AndIPv6" => Some("ALL"),
        "" => None,
        _ => Some("V4_PREFERRED"),
    };
    match ip_family {
        "IPv4" => "V4_ONLY".into(),
        "IPv6" => "V6_ONLY".into(),
        "DualStack" => own.map_or_else(|| "ALL".into(), |own| derived(own, wanted)),
        _ => own.map_or_else(|| "V4_PREFERRED".into(), |own| derived(own, wanted)),
    }
}

/// The cache of a dynamic resolver.
pub(crate) fn dns_cache(ip_family: &str, traffic: Option<&ClusterTraffic>) -> Tree {
    let none = ClusterTraffic::default();
    let traffic = traffic.unwrap_or(&none);
    let family = lookup_family(ip_family, &traffic.dns);
    let rate = traffic.dns.get("dnsRefreshRate");
    let nanos = super::proto::nanos(rate).filter(|nanos| *nanos > 0).unwrap_or(30 * super::proto::SECOND);
    let suffix = if traffic.dns.is_null() || traffic.dns_name.is_empty() { "default" } else { traffic.dns_name.as_str() };
    let name = format!("envoy-gateway-dfp-cache-{}-{}ms-{suffix}", family.text().to_ascii_lowercase(), nanos / 1_000_000);
    message! {
        "name": name,
        "dns_lookup_family": family,
        "dns_refresh_rate": derived(super::proto::proto_duration(nanos), rate),
    }
}

/// What is true of the backends of a cluster together.
struct Requirements {
    auto_http: bool,
    http2: bool,
    force_http1: bool,
    auto_sni: bool,
}

impl Requirements {
    fn of(args: &ClusterArgs<'_>) -> Self {
        let settings = &args.settings;
        let http2 = settings.iter().any(|of| matches!(of.protocol, AppProtocol::Grpc | AppProtocol::Http2));
        // A backend of TCP counts from its place on, one with TLS does not undo it.
        let auto_http = !settings.is_empty() && settings.iter().all(|of| of.protocol != AppProtocol::Tcp && of.tls.is_some());
        let tls = || settings.iter().filter_map(|of| of.tls.as_ref());
        let literal = tls().any(|tls| tls.sni.some().is_some());
        let from_endpoint = tls().any(|tls| tls.sni.is_null() && tls.auto_sni_from_endpoint_hostname);
        let force_http1 = settings.iter().any(|of| of.force_http1);
        Self { auto_http, http2, force_http1, auto_sni: !literal && auto_http && !from_endpoint }
    }
}

/// Builds a cluster.
pub(crate) fn build(args: &ClusterArgs<'_>) -> BuiltCluster {
    const NONE: &Tree = &Tree::NULL;
    let no_traffic = ClusterTraffic::default();
    let traffic = args.traffic.unwrap_or(&no_traffic);
    let needs = Requirements::of(args);
    let family = lookup_family(&args.ip_family, &traffic.dns);
    let panic = traffic.health_check.get("panicThreshold");
    let panic = if panic.is_null() || panic.int() == 50 {
        empty()
    } else {
        message! { "healthy_panic_threshold": percent(panic) }
    };
    let limit = traffic.connection.get("bufferLimit");
    let timeout = traffic.timeout.at(&["tcp", "connectTimeout"]);
    let mut cluster = message! {
        "name": args.name,
        "alt_stat_name": args.stat_name.clone(),
        "dns_lookup_family": family.clone(),
        "common_lb_config": panic,
        "per_connection_buffer_limit_bytes": if limit.is_null() { BUFFER_LIMIT.into() } else { bytes(limit) },
        "preconnect_policy": preconnect(traffic.connection.get("preconnect")),
        "metadata": write_metadata(args.metadata),
        "ignore_health_on_host_removal": true,
        "connect_timeout": if timeout.is_null() { "10s".into() } else { duration(timeout) },
        "track_cluster_stats": track(&args.metrics),
    };
    sockets(&mut cluster, args, traffic, &needs);
    let (options, secrets) = http_options(args, traffic, &needs);
    if !options.is_null() {
        // The reference sends nothing of options that break a rule of Envoy's.
        let options = match broken_keepalive(&options) {
            Some(pings) => empty().or_from(pings.origin),
            None => any(HTTP_OPTIONS, options),
        };
        cluster.set("typed_extension_protocol_options", Tree::object([(HTTP_OPTIONS, options)]));
    }
    cluster.set("load_balancing_policy", load_balancer::policy(&traffic.load_balancer, &args.settings));
    cluster.set("health_checks", health::checks(&traffic.health_check, &args.route_hostname, &args.health_check_log));
    cluster.set("outlier_detection", health::outliers(traffic.health_check.get("passive")));
    cluster.set("circuit_breakers", breakers(&traffic.circuit_breaker));
    cluster.set("upstream_connection_options", keepalive(&traffic.tcp_keepalive));
    let endpoints = load_assignment(args.name, &args.settings, traffic);
    let mut given = None;
    match args.endpoint_type {
        EndpointType::DynamicResolver => {
            let config = message! { "dns_cache_config": dns_cache(&args.ip_family, args.traffic) };
            let kind = "envoy.extensions.clusters.dynamic_forward_proxy.v3.ClusterConfig";
            cluster.set("cluster_type", extension("envoy.clusters.dynamic_forward_proxy", kind, config));
            cluster.set("load_balancing_policy", load_balancer::provided());
        }
        EndpointType::Static => {
            cluster.set("type", "EDS".into());
            cluster.set("eds_cluster_config", message! { "service_name": args.name, "eds_config": super::proto::ads() });
            given = Some(endpoints);
        }
        EndpointType::Dns => {
            let dns = if traffic.dns.is_null() { NONE } else { &traffic.dns };
            let (rate, ttl) = (dns.get("dnsRefreshRate"), dns.get("respectDnsTtl"));
            let config = message! {
                "dns_refresh_rate": if rate.is_null() { "30s".into() } else { duration(rate) },
                "respect_dns_ttl": if ttl.is_null() { true.into() } else { ttl.clone() },
                "dns_lookup_family": family,
            };
            cluster.set("cluster_type", extension("envoy.cluster.dns", "envoy.extensions.clusters.dns.v3.DnsCluster", config));
            cluster.set("load_assignment", endpoints);
        }
    }
    let origin = args.settings.iter().find_map(|setting| setting.origin).or(args.metadata.and_then(|of| of.origin));
    BuiltCluster { cluster: cluster.or_from(origin), endpoints: given.map(|endpoints| endpoints.or_from(origin)), secrets }
}

fn track(metrics: &Tree) -> Tree {
    let (endpoint, sizes) = (flag(metrics.get("enablePerEndpointStats")), flag(metrics.get("enableRequestResponseSizesStats")));
    if endpoint.is_null() && sizes.is_null() {
        return Tree::NULL;
    }
    message! { "per_endpoint_stats": endpoint, "request_response_sizes": sizes }
}

fn preconnect(of: &Tree) -> Tree {
    let ratio = |name: &str| {
        let percent = of.get(name);
        Tree::from(percent.find_int().map(|value| 0.01 * value as f64)).or_from(percent.origin)
    };
    let (each, predictive) = (ratio("perEndpointPercent"), ratio("predictivePercent"));
    if each.is_null() && predictive.is_null() {
        return Tree::NULL;
    }
    message! { "per_upstream_preconnect_ratio": each, "predictive_preconnect_ratio": predictive }
}

fn sockets(cluster: &mut Tree, args: &ClusterArgs<'_>, traffic: &ClusterTraffic, needs: &Requirements) {
    let is_dynamic = args.endpoint_type == EndpointType::DynamicResolver;
    let has_protocol = !traffic.proxy_protocol.is_null();
    if has_protocol {
        cluster.set("transport_socket", proxy_protocol(&traffic.proxy_protocol, args.socket.clone(), needs.auto_http));
    } else if let Some(socket) = &args.socket {
        cluster.set("transport_socket", socket.clone());
    }
    let mut matches = Vec::new();
    for (at, setting) in args.settings.iter().enumerate() {
        let Some(of) = &setting.tls else { continue };
        let mut socket = tls::upstream(of, needs.auto_sni, is_dynamic);
        if has_protocol {
            socket = proxy_protocol(&traffic.proxy_protocol, Some(socket), needs.auto_http);
        }
        if is_dynamic {
            cluster.set("transport_socket", socket);
            continue;
        }
        let name = format!("{}/tls/{at}", args.name);
        matches.push(message! { "name": name.as_str(), "match": message! { "name": name.as_str() }, "transport_socket": socket }.or_from(of.origin));
    }
    cluster.set("transport_socket_matches", super::proto::list(matches));
    if needs.auto_http && cluster.get("transport_socket").is_null() && !has_protocol {
        cluster.set("transport_socket", tls::dummy());
    }
}

fn proxy_protocol(of: &Tree, inner: Option<Tree>, auto_http: bool) -> Tree {
    let version = of.get("version");
    let inner = inner.unwrap_or_else(|| match auto_http {
        true => tls::dummy(),
        false => extension("envoy.transport_sockets.raw_buffer", "envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer", empty()),
    });
    let config = match version.text() {
        "V1" | "V2" => message! { "version": version.clone() },
        _ => Tree::NULL,
    };
    let kind = "envoy.extensions.transport_sockets.proxy_protocol.v3.ProxyProtocolUpstreamTransport";
    extension("envoy.transport_sockets.upstream_proxy_protocol", kind, message! { "config": config, "transport_socket": inner }).or_from(of.origin)
}

fn breakers(of: &Tree) -> Tree {
    let retries = of.get("maxParallelRetries");
    let budget = of.get("retryBudget");
    let concurrency = budget.get("minRetryConcurrency");
    let budget = match budget.some() {
        Some(budget) => {
            let concurrency = if concurrency.is_null() || concurrency.int() == 3 { Tree::NULL } else { concurrency.clone() };
            message! { "budget_percent": fraction_percent(budget.get("percent")), "min_retry_concurrency": concurrency }.or_from(budget.origin)
        }
        None => Tree::NULL,
    };
    let threshold = message! {
        "max_connections": of.get("maxConnections").clone(),
        "max_pending_requests": of.get("maxPendingRequests").clone(),
        "max_requests": of.get("maxParallelRequests").clone(),
        "max_retries": if retries.is_null() { 1024_i64.into() } else { retries.clone() },
        "retry_budget": budget,
    };
    let each = of.at(&["perEndpoint", "maxConnections"]);
    let each = if each.is_null() { Tree::NULL } else { one(message! { "max_connections": each.clone() }) };
    message! { "thresholds": one(threshold), "per_host_thresholds": each }.or_from(of.origin)
}

fn keepalive(of: &Tree) -> Tree {
    if of.is_null() {
        return Tree::NULL;
    }
    let probes = message! {
        "keepalive_probes": of.get("probes").clone(),
        "keepalive_time": seconds(of.get("idleTime")),
        "keepalive_interval": seconds(of.get("interval")),
    };
    message! { "tcp_keepalive": if probes.fields().is_empty() { empty() } else { probes } }.or_from(of.origin)
}

/// Writes a policy's HTTP/1 settings, for both sides of the proxy.
pub(crate) fn http1_options(of: &Tree) -> Tree {
    let mut options = empty();
    options.set("enable_trailers", flag(of.get("enableTrailers")));
    if of.get("preserveHeaderCase").bool() {
        let kind = "envoy.extensions.http.header_formatters.preserve_case.v3.PreserveCaseFormatterConfig";
        options.set(
            "header_key_format",
            derived(message! { "stateful_formatter": extension("preserve_case", kind, empty()) }, of.get("preserveHeaderCase")),
        );
    }
    if let Some(old) = of.get("http10").some() {
        options.set("accept_http_10", derived(true, old));
        options.set("default_host_for_http_10", super::proto::copied(old.get("defaultHost")));
    }
    options
}

/// Writes a policy's HTTP/2 settings.
pub(crate) fn http2_options(of: &Tree, streams: Option<i64>) -> Tree {
    let or = |value: &Tree, default: i64| if value.is_null() { Tree::from(default) } else { bytes(value) };
    let concurrent = of.get("maxConcurrentStreams");
    let invalid = of.get("onInvalidMessage");
    let reset = match invalid.text() {
        "TerminateStream" => derived(true, invalid),
        "TerminateConnection" => derived(false, invalid),
        _ => Tree::NULL,
    };
    let jitter = of.at(&["connectionKeepalive", "intervalJitter"]);
    let keepalive = of.get("connectionKeepalive").some().map(|alive| {
        let mut settings = empty();
        settings.set("interval", duration(alive.get("interval")));
        settings.set("timeout", duration(alive.get("timeout")));
        settings.set("interval_jitter", if jitter.is_null() { Tree::NULL } else { percent(jitter) });
        settings.set("connection_idle_interval", duration(alive.get("idleInterval")));
        settings.or_from(alive.origin)
    });
    message! {
        "max_concurrent_streams": if concurrent.is_null() { Tree::from(streams) } else { concurrent.clone() },
        "initial_stream_window_size": or(of.get("initialStreamWindowSize"), STREAM_WINDOW),
        "initial_connection_window_size": or(of.get("initialConnectionWindowSize"), CONNECTION_WINDOW),
        "override_stream_error_on_invalid_http_message": reset,
        "connection_keepalive": keepalive,
    }
    .or_from(of.origin)
}

/// The pings that are asked for without a limit of time for the answer, if any.
fn broken_keepalive(options: &Tree) -> Option<&Tree> {
    let configs = ["explicit_http_config", "auto_config", "use_downstream_protocol_config"].into_iter();
    let mut pings = configs.map(|config| options.at(&[config, "http2_protocol_options", "connection_keepalive"]));
    pings.find(|pings| !pings.is_null() && pings.get("timeout").is_null())
}

/// Options of HTTP towards backends; null if there are none. And secrets that they need.
fn http_options(args: &ClusterArgs<'_>, traffic: &ClusterTraffic, needs: &Requirements) -> (Tree, Vec<Tree>) {
    let time = traffic.timeout.get("http");
    let mut common = empty();
    common.set("idle_timeout", duration(time.get("connectionIdleTimeout")));
    common.set("max_connection_duration", duration(time.get("maxConnectionDuration")));
    if !args.is_route {
        common.set("max_stream_duration", duration(time.get("maxStreamDuration")));
    }
    common.set("max_requests_per_connection", traffic.circuit_breaker.get("maxRequestsPerConnection").clone());
    let has_common = !common.fields().is_empty();
    let http1 = &args.http1;
    let has_http1 = http1.get("enableTrailers").bool() || http1.get("preserveHeaderCase").bool() || !http1.get("http10").is_null();
    let injection = args.settings.first().and_then(|of| of.filters.as_ref()?.credential_injection.as_ref());
    let has_filters = injection.is_some() || !traffic.admission_control.is_null();
    let hashes = if args.is_route { Vec::new() } else { hash_policies(&traffic.load_balancer) };
    let is_needed = args.use_client_protocol
        || needs.auto_http
        || has_common
        || has_http1
        || needs.http2
        || has_filters
        || needs.auto_sni
        || needs.force_http1
        || !hashes.is_empty();
    if !is_needed {
        return (Tree::NULL, Vec::new());
    }
    let mut options = empty();
    options.set("hash_policy", super::proto::list(hashes));
    options.set("common_http_protocol_options", if has_common { common } else { Tree::NULL });
    let (first, second) = (http1_options(http1), http2_options(&traffic.http2, None));
    let both = |first: Tree, second: Tree| message! { "http_protocol_options": first, "http2_protocol_options": second };
    if args.use_client_protocol {
        options.set("use_downstream_protocol_config", both(first, second));
    } else if needs.force_http1 {
        options.set("explicit_http_config", message! { "http_protocol_options": first });
    } else if needs.http2 {
        options.set("explicit_http_config", message! { "http2_protocol_options": second });
    } else if has_http1 {
        options.set("explicit_http_config", message! { "http_protocol_options": first });
    } else if needs.auto_http {
        options.set("auto_config", both(first, second));
    } else {
        options.set("explicit_http_config", message! { "http_protocol_options": empty() });
    }
    if args.endpoint_type == EndpointType::DynamicResolver {
        options.set("upstream_http_protocol_options", message! { "auto_sni": true, "auto_san_validation": true });
    } else if needs.auto_sni {
        options.set("upstream_http_protocol_options", message! { "auto_sni": true });
    }
    let mut secrets = Vec::new();
    if has_filters {
        let mut filters = Vec::new();
        if let Some(of) = injection {
            filters.push(credential::filter(of));
            secrets.push(credential::secret(of));
        }
        if !traffic.admission_control.is_null() {
            filters.push(health::admission_control(&traffic.admission_control));
        }
        let kind = "envoy.extensions.filters.http.upstream_codec.v3.UpstreamCodec";
        filters.push(extension("envoy.extensions.filters.http.upstream_codec.v3.UpstreamCodec", kind, empty()));
        options.set("http_filters", super::proto::list(filters));
    }
    (options, secrets)
}

/// The cluster of listeners without routes.
pub(crate) fn empty_cluster() -> Tree {
    message! { "name": "EmptyCluster", "type": "STATIC" }
}

/// The cluster of a server of secrets.
pub(crate) fn sds_cluster(url: &str) -> Tree {
    let name: String = tls::sds_cluster_name(url);
    let pipe = message! { "pipe": message! { "path": url.strip_prefix("unix://").unwrap_or(url) } };
    let endpoint = message! { "endpoint": message! { "address": pipe } };
    message! {
        "name": name.as_str(),
        "type": "STATIC",
        "load_assignment": message! { "cluster_name": name.as_str(), "endpoints": one(message! { "lb_endpoints": one(endpoint) }) },
        "connect_timeout": "10s",
        "http2_protocol_options": empty(),
    }
}
