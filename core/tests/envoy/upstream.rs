//! Builds clusters that use every feature of the IR.

use crate::rich::{certificate, ms, mutations, origin, parameters, s, secret, st, str};
use chancery_core::ir::*;
use chancery_core::resource::Sourced;
use std::sync::Arc;

pub fn cluster(name: &str, discovery: ClusterDiscovery) -> Cluster {
    Cluster {
        name: st(name),
        alt_stat_name: Some(st("alt")),
        discovery,
        lb_policy: s(LbPolicy::RoundRobin),
        connect_timeout: ms(3000),
        dns_family: Some(s(DnsFamily::V4Only)),
        origins: vec![origin(8)],
        ..Cluster::default()
    }
}

pub fn endpoint(address: &str, port: u16) -> Sourced<Endpoint> {
    s(Endpoint::new(str(address), port))
}

pub fn dns(kind: DnsKind, name: &str) -> ClusterDiscovery {
    ClusterDiscovery::Dns { kind: s(kind), assignment_name: str(name), endpoints: vec![endpoint("localhost", 80)] }
}

pub fn clusters() -> Vec<Arc<Cluster>> {
    let upstream = UpstreamTls {
        certificates: vec![certificate("client")],
        validation: Some(s(ValidationContext {
            trusted_ca: Some(secret("upstream-ca", SecretPart::Key(str("ca.crt")))),
            subject_names: vec![st("up.example")],
            ..ValidationContext::default()
        })),
        parameters: parameters(),
        alpn: vec![st("h2")],
        sni: Some(st("up.example")),
    };
    let check = |checker| s(HealthCheck { timeout: ms(3000), interval: ms(5000), healthy_threshold: s(1), unhealthy_threshold: s(2), checker });
    let eds = ClusterDiscovery::Eds {
        in_bootstrap: false,
        service_name: str("k8s/default/eds/80"),
        localities: vec![
            Locality { weight: Some(s(2)), endpoints: vec![endpoint("10.0.0.1", 8080)] },
            Locality { weight: Some(s(1)), endpoints: vec![s(Endpoint { health_check_port: Some(8081), ..Endpoint::new(str("10.0.0.2"), 8080) })] },
        ],
    };
    let fixed = ClusterDiscovery::Static { assignment_name: str("fixed"), endpoints: vec![endpoint("127.0.0.1", 8080)] };
    [
        Cluster {
            circuit_breakers: vec![
                s(CircuitBreaker {
                    priority: s(Priority::Default),
                    max_connections: Some(s(1)),
                    max_pending_requests: Some(s(2)),
                    max_requests: Some(s(3)),
                    max_retries: Some(s(4)),
                    track_remaining: true,
                }),
                s(CircuitBreaker { priority: s(Priority::High), max_connections: Some(s(5)), ..CircuitBreaker::default() }),
            ],
            per_host_circuit_breaker: Some(s(Some(6))),
            healthy_panic_threshold: Some(s(0.0)),
            per_connection_buffer_limit: Some(s(32768)),
            slow_start: Some(s(SlowStart { window: ms(3000), aggression: s(1.5), aggression_key: str("slow"), min_weight_percent: s(10.0) })),
            http: UpstreamHttp {
                http2: Some(s(())),
                idle_timeout: Some(ms(1000)),
                max_connection_duration: Some(ms(2000)),
                ..UpstreamHttp::default()
            },
            tls: Some(s(Box::new(upstream))),
            keepalive: Some(s(TcpKeepalive { probes: Some(s(1)), time: Some(s(2)), interval: Some(s(3)) })),
            lb_policy: s(LbPolicy::LeastRequest),
            ..cluster("dns", dns(DnsKind::Strict, "dns"))
        },
        Cluster {
            health_checks: vec![
                check(HealthChecker::Http {
                    http2: None,
                    path: st("/healthz"),
                    host: Some(st("h.example")),
                    headers: mutations(),
                    expected_statuses: vec![s((200, 300))],
                }),
                check(HealthChecker::Grpc { service_name: st("one too many"), authority: None }),
            ],
            http: UpstreamHttp { header_key_format: Some(s(HeaderKeyFormat::ProperCaseWords)), ..UpstreamHttp::default() },
            lb_policy: s(LbPolicy::RingHash),
            ignore_health_on_removal: Some(s(())),
            ..cluster("eds", eds)
        },
        Cluster {
            health_checks: vec![check(HealthChecker::Grpc { service_name: st("p.S"), authority: Some(st("a.example")) })],
            lb_policy: s(LbPolicy::Maglev),
            http: UpstreamHttp { http2: Some(s(())), idle_timeout: Some(ms(1)), max_requests_per_connection: Some(s(7)), ..UpstreamHttp::default() },
            ..cluster("fixed", fixed)
        },
        Cluster {
            health_checks: vec![check(HealthChecker::Tcp)],
            lb_policy: s(LbPolicy::Random),
            dns_family: Some(s(DnsFamily::Auto)),
            respect_dns_ttl: Some(s(true)),
            http: UpstreamHttp { header_key_format: Some(s(HeaderKeyFormat::Custom(vec![(str("x-a"), str("X-A"))]))), ..UpstreamHttp::default() },
            ..cluster("logical", dns(DnsKind::Logical, "logical"))
        },
    ]
    .map(Arc::new)
    .into()
}
