//! Emits `Cluster`.

use super::base::{config_source, duration, percent, text};
use super::endpoint::{load_assignment, load_assignment_of};
use super::hcm::{header_key_format, is_known};
use super::health_check::health_check;
use super::route_action::priority;
use super::tls::upstream_socket;
use super::{Context, pb};
use alloc::borrow::ToOwned;
use chancery_base::ir::{CircuitBreaker, Cluster, ClusterDiscovery, DnsFamily, DnsKind, LbPolicy, Locality, SlowStart, TcpKeepalive, UpstreamHttp};
use chancery_base::output_map::Trace;
use chancery_base::resource::Sourced;
use pb::cluster::cluster::{ClusterDiscoveryType, DiscoveryType, DnsLookupFamily, EdsClusterConfig, LbPolicy as Policy};

/// The key of a cluster's HTTP options.
pub(super) const HTTP_OPTIONS: &str = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";

pub(super) fn cluster(cluster: &Cluster, cx: &Context<'_>, t: &mut Trace) -> pb::cluster::Cluster {
    t.here(&cluster.origins);
    let mut out = pb::cluster::Cluster {
        name: text(t.joined("name", &cluster.name, &cluster.name_also)),
        alt_stat_name: t.optional("alt_stat_name", &cluster.alt_stat_name).map(text).unwrap_or_default(),
        connect_timeout: Some(duration(t.field("connect_timeout", &cluster.connect_timeout))),
        lb_policy: lb_policy(&cluster.lb_policy, t),
        dns_lookup_family: cluster.dns_family.as_ref().map(|family| dns_family(family, t)).unwrap_or_default(),
        // With several health checks Envoy requires names, but its API has no field for them.
        health_checks: t.sourced_list("health_checks", cluster.health_checks.iter().take(1), |of, t| health_check(of, cx, t)),
        circuit_breakers: circuit_breakers(cluster, t),
        common_lb_config: cluster.healthy_panic_threshold.as_ref().map(|of| {
            t.at("common_lb_config", |t| pb::cluster::cluster::CommonLbConfig {
                healthy_panic_threshold: Some(percent(*t.field("healthy_panic_threshold", of))),
                ..Default::default()
            })
        }),
        ignore_health_on_host_removal: t.optional("ignore_health_on_host_removal", &cluster.ignore_health_on_removal).is_some(),
        per_connection_buffer_limit_bytes: t.optional("per_connection_buffer_limit_bytes", &cluster.per_connection_buffer_limit).copied(),
        lb_config: cluster.slow_start.as_ref().and_then(|of| lb_config(*cluster.lb_policy, of, t)),
        transport_socket: t.within("transport_socket", &cluster.tls, |tls, t| upstream_socket(tls, cx, t)),
        upstream_connection_options: cluster.keepalive.as_ref().map(|of| connection_options(of, t)),
        ..Default::default()
    };
    let respect_dns_ttl = cluster.respect_dns_ttl.as_ref().filter(|respect| respect.value);
    discovery(cluster, respect_dns_ttl.is_some() && !cx.spelling.dns_ttl_on_cluster, cx, &mut out, t);
    if let Some(respect) = respect_dns_ttl {
        dns_ttl(respect, cx, &mut out, t);
    }
    http_options(&cluster.http, cx, &mut out, t);
    out
}

fn lb_policy(policy: &Sourced<LbPolicy>, t: &mut Trace) -> i32 {
    let out = match policy.value {
        LbPolicy::RoundRobin => return Policy::RoundRobin as i32,
        LbPolicy::LeastRequest => Policy::LeastRequest,
        LbPolicy::RingHash => Policy::RingHash,
        LbPolicy::Maglev => Policy::Maglev,
        LbPolicy::Random => Policy::Random,
    };
    t.field("lb_policy", policy);
    out as i32
}

/// Only two load balancing algorithms support slow start.
fn lb_config(policy: LbPolicy, of: &Sourced<SlowStart>, t: &mut Trace) -> Option<pb::cluster::cluster::LbConfig> {
    use pb::cluster::cluster::{LbConfig, LeastRequestLbConfig, RoundRobinLbConfig};
    let mut config = |name: &str| {
        t.at(name, |t| {
            t.at("slow_start_config", |t| {
                t.here(of.origin);
                Some(slow_start(of, t))
            })
        })
    };
    match policy {
        LbPolicy::RoundRobin => Some(LbConfig::RoundRobinLbConfig(RoundRobinLbConfig { slow_start_config: config("round_robin_lb_config") })),
        LbPolicy::LeastRequest => {
            Some(LbConfig::LeastRequestLbConfig(LeastRequestLbConfig { slow_start_config: config("least_request_lb_config"), ..Default::default() }))
        }
        LbPolicy::RingHash | LbPolicy::Maglev | LbPolicy::Random => None,
    }
}

fn slow_start(of: &SlowStart, t: &mut Trace) -> pb::cluster::cluster::SlowStartConfig {
    pb::cluster::cluster::SlowStartConfig {
        slow_start_window: Some(duration(t.field("slow_start_window", &of.window))),
        aggression: Some(pb::base::RuntimeDouble { default_value: *t.field("aggression", &of.aggression), runtime_key: text(&of.aggression_key) }),
        min_weight_percent: Some(percent(*t.field("min_weight_percent", &of.min_weight_percent))),
    }
}

fn dns_family(family: &Sourced<DnsFamily>, t: &mut Trace) -> i32 {
    let out = match family.value {
        DnsFamily::Auto => return DnsLookupFamily::Auto as i32,
        DnsFamily::V4Only => DnsLookupFamily::V4Only,
        DnsFamily::V6Only => DnsLookupFamily::V6Only,
        DnsFamily::All => DnsLookupFamily::All,
    };
    t.field("dns_lookup_family", family);
    out as i32
}

fn discovery(cluster: &Cluster, cluster_type: bool, cx: &Context<'_>, out: &mut pb::cluster::Cluster, t: &mut Trace) {
    let named = |name: &str, t: &mut Trace| t.name_all(name, cluster.name.origin, cluster.assignment_also.as_ref().unwrap_or(&cluster.name_also));
    let kind = match &cluster.discovery {
        ClusterDiscovery::Dns { kind, assignment_name, endpoints } => {
            out.load_assignment = Some(t.at("load_assignment", |t| {
                named("cluster_name", t);
                load_assignment_of(assignment_name, endpoints, t)
            }));
            if !cluster_type {
                t.field("type", kind);
            }
            match kind.value {
                DnsKind::Strict => DiscoveryType::StrictDns,
                DnsKind::Logical => DiscoveryType::LogicalDns,
            }
        }
        ClusterDiscovery::Static { assignment_name, endpoints } => {
            out.load_assignment = Some(t.at("load_assignment", |t| {
                named("cluster_name", t);
                load_assignment_of(assignment_name, endpoints, t)
            }));
            DiscoveryType::Static
        }
        ClusterDiscovery::Eds { service_name, localities, in_bootstrap } if cx.stands_alone || cx.in_bootstrap && *in_bootstrap => {
            out.load_assignment = Some(t.at("load_assignment", |t| {
                named("cluster_name", t);
                load_assignment(service_name, localities, t)
            }));
            if are_addresses(localities) { DiscoveryType::Static } else { t.own("type", DiscoveryType::StrictDns) }
        }
        ClusterDiscovery::Eds { service_name, .. } => {
            t.at("eds_cluster_config", |t| named("service_name", t));
            out.eds_cluster_config =
                Some(t.own("eds_cluster_config", EdsClusterConfig { service_name: text(service_name), eds_config: Some(config_source(cx)) }));
            t.own("type", DiscoveryType::Eds)
        }
    };
    out.cluster_discovery_type = Some(ClusterDiscoveryType::Type(kind as i32));
}

/// Current Envoy configures DNS settings only in its DNS extension, which then defines the cluster.
fn dns_ttl(respect: &Sourced<bool>, cx: &Context<'_>, out: &mut pb::cluster::Cluster, t: &mut Trace) {
    if cx.spelling.dns_ttl_on_cluster {
        out.respect_dns_ttl = *t.field("respect_dns_ttl", respect);
        return;
    }
    use pb::cluster::cluster::CustomClusterType;
    let all_addresses_in_single_endpoint = match out.cluster_discovery_type {
        Some(ClusterDiscoveryType::Type(kind)) if kind == DiscoveryType::StrictDns as i32 => false,
        Some(ClusterDiscoveryType::Type(kind)) if kind == DiscoveryType::LogicalDns as i32 => true,
        _ => return,
    };
    let config = pb::dns_cluster::DnsCluster {
        respect_dns_ttl: respect.value,
        dns_lookup_family: match DnsLookupFamily::try_from(out.dns_lookup_family) {
            Ok(DnsLookupFamily::V4Only) => pb::dns_family::DnsLookupFamily::V4Only,
            Ok(DnsLookupFamily::V6Only) => pb::dns_family::DnsLookupFamily::V6Only,
            Ok(DnsLookupFamily::All) => pb::dns_family::DnsLookupFamily::All,
            _ => pb::dns_family::DnsLookupFamily::Auto,
        } as i32,
        all_addresses_in_single_endpoint,
        ..Default::default()
    };
    t.at("cluster_type", |t| t.at("typed_config", |t| t.field("respect_dns_ttl", respect)));
    out.cluster_discovery_type = Some(ClusterDiscoveryType::ClusterType(CustomClusterType {
        name: "envoy.clusters.dns".to_owned(),
        typed_config: Some(pb::Any::pack(config)),
    }));
}

fn are_addresses(localities: &[Locality]) -> bool {
    localities.iter().flat_map(|locality| &locality.endpoints).all(|endpoint| endpoint.address.is_resolved())
}

fn circuit_breakers(cluster: &Cluster, t: &mut Trace) -> Option<pb::cluster::CircuitBreakers> {
    let per_host = cluster.per_host_circuit_breaker.as_ref();
    if cluster.circuit_breakers.is_empty() && per_host.is_none() {
        return None;
    }
    Some(t.at("circuit_breakers", |t| pb::cluster::CircuitBreakers {
        thresholds: t.sourced_list("thresholds", &cluster.circuit_breakers, thresholds),
        per_host_thresholds: t.list("per_host_thresholds", per_host, |of, t| {
            t.here(of.origin);
            pb::cluster::circuit_breakers::Thresholds { max_connections: of.value, track_remaining: true, ..Default::default() }
        }),
    }))
}

fn thresholds(of: &CircuitBreaker, t: &mut Trace) -> pb::cluster::circuit_breakers::Thresholds {
    pb::cluster::circuit_breakers::Thresholds {
        priority: priority(&of.priority, t),
        max_connections: t.optional("max_connections", &of.max_connections).copied(),
        max_pending_requests: t.optional("max_pending_requests", &of.max_pending_requests).copied(),
        max_requests: t.optional("max_requests", &of.max_requests).copied(),
        max_retries: t.optional("max_retries", &of.max_retries).copied(),
        track_remaining: of.track_remaining,
        ..Default::default()
    }
}

fn connection_options(keepalive: &Sourced<TcpKeepalive>, t: &mut Trace) -> pb::cluster::UpstreamConnectionOptions {
    let tcp_keepalive = t.at("upstream_connection_options", |t| {
        t.at("tcp_keepalive", |t| {
            t.here(keepalive.origin);
            pb::base::TcpKeepalive {
                keepalive_probes: t.optional("keepalive_probes", &keepalive.probes).copied(),
                keepalive_time: t.optional("keepalive_time", &keepalive.time).copied(),
                keepalive_interval: t.optional("keepalive_interval", &keepalive.interval).copied(),
            }
        })
    });
    pb::cluster::UpstreamConnectionOptions { tcp_keepalive: Some(tcp_keepalive), ..Default::default() }
}

fn http_options(http: &UpstreamHttp, cx: &Context<'_>, out: &mut pb::cluster::Cluster, t: &mut Trace) {
    if cx.spelling.http_options_on_cluster {
        out.common_http_protocol_options = common_http_options(http, t);
        out.http_protocol_options = http1_options(http, "http_protocol_options", t);
        out.http2_protocol_options = http2_options(http, "http2_protocol_options", t);
        return;
    }
    use pb::upstream_http::http_protocol_options::{ExplicitHttpConfig, UpstreamProtocolOptions, explicit_http_config::ProtocolConfig};
    let options = t.at("typed_extension_protocol_options", |t| {
        t.at(HTTP_OPTIONS, |t| {
            let common = common_http_options(http, t);
            let protocol = t.at("explicit_http_config", |t| match http2_options(http, "http2_protocol_options", t) {
                Some(options) => Some(ProtocolConfig::Http2ProtocolOptions(options)),
                None => {
                    t.optional("http_protocol_options", &http.http1);
                    let options = http1_options(http, "http_protocol_options", t);
                    options.or_else(|| http.http1.as_ref().map(|_| Default::default())).map(ProtocolConfig::HttpProtocolOptions)
                }
            });
            if common.is_none() && protocol.is_none() {
                return None;
            }
            let protocol = protocol.unwrap_or_else(|| ProtocolConfig::HttpProtocolOptions(Default::default()));
            Some(pb::upstream_http::HttpProtocolOptions {
                common_http_protocol_options: common,
                upstream_protocol_options: Some(UpstreamProtocolOptions::ExplicitHttpConfig(ExplicitHttpConfig { protocol_config: Some(protocol) })),
                ..Default::default()
            })
        })
    });
    out.typed_extension_protocol_options = options.into_iter().map(|of| (HTTP_OPTIONS.to_owned(), pb::Any::pack(of))).collect();
}

fn common_http_options(http: &UpstreamHttp, t: &mut Trace) -> Option<pb::base::HttpProtocolOptions> {
    if http.idle_timeout.is_none() && http.max_connection_duration.is_none() && http.max_requests_per_connection.is_none() {
        return None;
    }
    Some(t.at("common_http_protocol_options", |t| pb::base::HttpProtocolOptions {
        idle_timeout: t.optional("idle_timeout", &http.idle_timeout).map(duration),
        max_connection_duration: t.optional("max_connection_duration", &http.max_connection_duration).map(duration),
        max_requests_per_connection: t.optional("max_requests_per_connection", &http.max_requests_per_connection).copied(),
        ..Default::default()
    }))
}

fn http2_options(http: &UpstreamHttp, name: &str, t: &mut Trace) -> Option<pb::base::Http2ProtocolOptions> {
    t.optional(name, &http.http2).map(|()| Default::default())
}

fn http1_options(http: &UpstreamHttp, name: &str, t: &mut Trace) -> Option<pb::base::Http1ProtocolOptions> {
    let format = http.header_key_format.as_ref().filter(|format| is_known(format))?;
    Some(t.at(name, |t| pb::base::Http1ProtocolOptions { header_key_format: Some(header_key_format(format, t)), ..Default::default() }))
}
