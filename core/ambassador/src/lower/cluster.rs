//! Lowers clusters.
//!
//! Source of the behaviour: Emissary `python/ambassador/envoy/v3/v3cluster.py`.

use super::Lowering;
use super::Memory;
use crate::model::resolver::Targets;
use crate::model::{Cluster, ClusterEntry, Identity};
use alloc::sync::Arc;
use chancery_base::ir::{
    CircuitBreaker, ClusterDiscovery, DnsFamily, DnsKind, Endpoint, HealthCheck, HealthChecker, LbPolicy, Locality, Priority, TcpKeepalive,
    UpstreamHttp,
};
use chancery_base::resource::{Rule, Sourced};
use chancery_text::Str;

use alloc::vec::Vec;

impl Lowering<'_, '_> {
    pub(super) fn clusters(&mut self, memory: &mut Memory) -> Vec<Arc<chancery_base::ir::Cluster>> {
        let mut out = Vec::with_capacity(self.model.clusters.numbers());
        for (number, cluster) in self.model.clusters.iter() {
            if let Some(known) = memory.cluster(number, cluster) {
                out.push(known.clone());
                continue;
            }
            let before = self.findings.reports();
            let lowered = Arc::new(self.cluster(cluster));
            // Certificates and further endpoints may change without the cluster itself.
            let alone = cluster.tls.as_ref().is_none_or(|tls| self.model.context(tls.value).is_null) && cluster.more.is_empty();
            memory.keep_cluster(number, cluster, Some(&lowered).filter(|_| alone && self.findings.reports() == before));
            out.push(lowered);
        }
        out
    }

    fn cluster(&mut self, cluster: &ClusterEntry) -> chancery_base::ir::Cluster {
        let origin = cluster.origins.first().copied();
        let identity = Identity::cluster(&cluster.name, origin);
        let on = &identity;
        let discovery = discovery(cluster);
        let timeout = self.milliseconds(&cluster.connect_timeout_ms, "connect_timeout_ms", on);
        let timeout = timeout.ok().filter(|timeout| {
            let usable = !timeout.value.is_zero();
            if !usable {
                self.refuse("connect_timeout_ms must be more than 0", on, timeout.origin);
            }
            usable
        });
        chancery_base::ir::Cluster {
            name: Sourced::new(cluster.envoy_name.clone(), origin.map(|origin| origin.by(Rule::Derived))),
            name_also: cluster.name_also.clone(),
            alt_stat_name: Some(cluster.stats_name.clone()).filter(|name| !name.value.is_empty()),
            discovery,
            lb_policy: cluster.lb_policy.clone().map(|policy| lb_policy(&policy)),
            connect_timeout: timeout.unwrap_or_else(|| Sourced::built_in(core::time::Duration::from_secs(3))),
            dns_family: Some(self.dns_family(cluster)),
            respect_dns_ttl: cluster.respect_dns_ttl.filter(|on| on.value),
            circuit_breakers: self.circuit_breakers(cluster, on),
            http: self.upstream_http(cluster, on),
            tls: cluster.tls.as_ref().and_then(|tls| self.upstream_tls(tls)),
            keepalive: self.keepalive(cluster, on),
            health_checks: self.health_checks(cluster, on),
            origins: cluster.origins.clone(),
            ..chancery_base::ir::Cluster::default()
        }
    }

    /// The health checks that Envoy accepts: one, and gRPC only with HTTP/2.
    fn health_checks(&mut self, cluster: &Cluster, on: &Identity) -> Vec<Sourced<HealthCheck>> {
        let http2 = cluster.grpc.is_some_and(|grpc| grpc.value);
        let mut checks = Vec::new();
        for check in &cluster.health_checks {
            if matches!(check.value.checker, HealthChecker::Grpc { .. }) && !http2 {
                self.refuse("a health check by gRPC needs a Mapping with `grpc: true`", on, check.origin);
            } else if checks.is_empty() {
                checks.push(check.clone());
            } else {
                self.refuse("a cluster can have only one health check", on, check.origin);
            }
        }
        checks
    }

    fn dns_family(&self, cluster: &Cluster) -> Sourced<DnsFamily> {
        let module = &self.model.ambassador.settings;
        let flag = |own: &Option<Sourced<bool>>, module: &Option<Sourced<bool>>, default: bool| {
            own.or(*module).unwrap_or_else(|| Sourced::built_in(default))
        };
        let v6 = flag(&cluster.enable_ipv6, &module.enable_ipv6, false);
        let v4 = flag(&cluster.enable_ipv4, &module.enable_ipv4, true);
        match (v6.value, v4.value) {
            (true, true) => Sourced::new(DnsFamily::Auto, v6.origin),
            (true, false) => Sourced::new(DnsFamily::V6Only, v6.origin),
            (false, _) => Sourced::new(DnsFamily::V4Only, v6.origin),
        }
    }

    fn circuit_breakers(&mut self, cluster: &Cluster, on: &Identity) -> Vec<Sourced<CircuitBreaker>> {
        let mut out = Vec::new();
        for breaker in cluster.breakers.iter().flat_map(|breakers| &breakers.value) {
            let spec = &breaker.value.spec;
            let priority = match &spec.priority {
                Some(priority) if priority.value.eq_ignore_ascii_case("high") => Sourced::new(Priority::High, priority.origin),
                Some(priority) => Sourced::new(Priority::Default, priority.origin),
                None => Sourced::new(Priority::Default, breaker.origin.map(|origin| origin.by(Rule::Default))),
            };
            let mut number = |value: &Option<Sourced<i64>>, field: &str| value.as_ref().and_then(|value| self.unsigned(value, field, on).ok());
            let value = CircuitBreaker {
                priority,
                max_connections: number(&spec.max_connections, "max_connections"),
                max_pending_requests: number(&spec.max_pending_requests, "max_pending_requests"),
                max_requests: number(&spec.max_requests, "max_requests"),
                max_retries: number(&spec.max_retries, "max_retries"),
                track_remaining: false,
            };
            out.push(Sourced::new(value, breaker.origin));
        }
        out
    }

    fn upstream_http(&mut self, cluster: &Cluster, on: &Identity) -> UpstreamHttp {
        let module = &self.model.ambassador.settings;
        let nonzero = |own: &Option<Sourced<i64>>, module: &Option<Sourced<i64>>| {
            let own = (*own).filter(|ms| ms.value != 0);
            own.or_else(|| (*module).filter(|ms| ms.value != 0))
        };
        let idle = nonzero(&cluster.idle_timeout_ms, &module.cluster_idle_timeout_ms);
        let lifetime = nonzero(&cluster.max_connection_lifetime_ms, &module.cluster_max_connection_lifetime_ms);
        UpstreamHttp {
            http2: cluster.grpc.filter(|grpc| grpc.value).map(|grpc| grpc.map(|_| ())),
            idle_timeout: idle.and_then(|ms| self.milliseconds(&ms, "cluster_idle_timeout_ms", on).ok()),
            max_connection_duration: lifetime.and_then(|ms| self.milliseconds(&ms, "cluster_max_connection_lifetime_ms", on).ok()),
            ..UpstreamHttp::default()
        }
    }

    fn keepalive(&mut self, cluster: &Cluster, on: &Identity) -> Option<Sourced<TcpKeepalive>> {
        let module = &self.model.ambassador;
        // With an error on the Module, the reference no longer looks at it here.
        let default = module.settings.keepalive.clone().filter(|_| !module.errored);
        let keepalive = cluster.keepalive.clone().or(default)?;
        let mut number = |value: &Option<Sourced<i64>>, field: &str| value.as_ref().and_then(|value| self.unsigned(value, field, on).ok());
        let value = TcpKeepalive {
            probes: number(&keepalive.value.probes, "probes"),
            time: number(&keepalive.value.time, "time"),
            interval: number(&keepalive.value.interval, "interval"),
        };
        Some(Sourced::new(value, keepalive.origin))
    }
}

fn discovery(cluster: &ClusterEntry) -> ClusterDiscovery {
    match &cluster.targets {
        Targets::Eds { path, endpoints } => ClusterDiscovery::Eds {
            service_name: path.clone(),
            localities: Locality::alone(endpoints.iter().chain(&cluster.more).cloned().collect()),
            in_bootstrap: false,
        },
        Targets::Name(endpoint) => {
            let kind = match &cluster.dns_type {
                Some(written) if written.value.eq_ignore_ascii_case("logical_dns") => Sourced::new(DnsKind::Logical, written.origin),
                Some(written) => Sourced::new(DnsKind::Strict, written.origin),
                None => Sourced::built_in(DnsKind::Strict),
            };
            let first: Sourced<Endpoint> = Sourced::new(endpoint.clone(), cluster.origins.first().copied());
            let endpoints = core::iter::once(first).chain(cluster.more.iter().cloned()).collect();
            ClusterDiscovery::Dns { kind, assignment_name: cluster.envoy_name.clone(), endpoints }
        }
    }
}

fn lb_policy(policy: &Str) -> LbPolicy {
    match policy.as_str() {
        "least_request" => LbPolicy::LeastRequest,
        "ring_hash" => LbPolicy::RingHash,
        "maglev" => LbPolicy::Maglev,
        _ => LbPolicy::RoundRobin,
    }
}
