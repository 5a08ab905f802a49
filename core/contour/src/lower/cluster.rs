//! Lowers clusters (Contour `internal/envoy/v3/cluster.go`, `healthcheck.go`). Does not name them; see `name`.

use super::merged::{Entry, Named};
use super::tls::{certificate, h2};
use super::{Lowering, name, timeout};
use crate::model::{
    CircuitBreakers, Cluster, DnsCluster, ExtensionCluster, HealthCheckTimes, HttpHealthCheck, Jwks, Route, Routes, SlowStart, TcpProxy, Timeout,
};
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use chancery_base::diagnostic::{Diagnostic, Place, codes};
use chancery_base::ir::{
    Certificate, CircuitBreaker, ClusterDiscovery, Delivery, DnsFamily, DnsKind, Endpoint, HealthCheck, HealthChecker, LbPolicy, Priority,
    UpstreamHttp,
};
use chancery_base::resource::{Origin, Rule, Sourced};
use chancery_text::Str;
use core::time::Duration;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
const CHECK_TIMEOUT: Duration = Duration::from_secs(2);
const CHECK_INTERVAL: Duration = Duration::from_secs(10);
const UNHEALTHY_THRESHOLD: u32 = 3;
const HEALTHY_THRESHOLD: u32 = 2;
const CHECK_HOST: &str = "contour-envoy-healthcheck";

impl Lowering<'_> {
    /// All clusters by name; the first of several with one name wins.
    pub(super) fn clusters(&mut self) -> Vec<Arc<chancery_base::ir::Cluster>> {
        let mut out: Vec<Arc<chancery_base::ir::Cluster>> = self.clusters_of_hosts();
        let graph = self.graph;
        let mut others: Vec<Arc<chancery_base::ir::Cluster>> = Vec::new();
        for extension in graph.extensions.values() {
            others.push(Arc::new(self.extension(extension)));
        }
        let hosts = graph.listeners.values().flat_map(|listener| listener.secure_hosts.values());
        for provider in hosts.flat_map(|host| &host.jwt_providers) {
            if let Jwks::Remote { cluster, .. } = &provider.jwks {
                others.extend(self.dns_cluster(cluster, name::dns_cluster(cluster)).map(Arc::new));
            }
        }
        if !others.is_empty() {
            out.extend(others);
            out.sort_by(|a, b| a.name.value.cmp(&b.name.value));
            out.dedup_by(|later, first| later.name.value == first.name.value);
        }
        out
    }

    /// The clusters of all hosts by name; the first of several with one name wins. Clusters of unchanged hosts are not visited.
    fn clusters_of_hosts(&mut self) -> Vec<Arc<chancery_base::ir::Cluster>> {
        let of_tcp = |proxy: &TcpProxy| Arc::new(in_order(proxy.clusters.iter().map(named).collect()));
        let mut lists: Vec<Arc<Vec<Named>>> = Vec::new();
        for listener in self.graph.listeners.values() {
            lists.extend(listener.tcp_proxy.iter().map(of_tcp));
            lists.extend(listener.hosts.values().map(|host| self.memory.names(&host.routes)));
            for host in listener.secure_hosts.values() {
                lists.push(self.memory.names(&host.host.routes));
                lists.extend(host.tcp_proxy.iter().map(of_tcp));
            }
        }
        let mut merged = self.memory.merge(lists);
        let certified = merged.firsts().find(|entry| entry.shows_certificate);
        self.client_certificate = certified.and_then(|entry| entry.of.client_certificate.as_ref()).map(certificate);
        let mut out = Vec::new();
        for entry in merged.firsts() {
            if entry.lowered.is_none() {
                entry.lowered = self.memory.cluster(&entry.of);
            }
            out.push(match &entry.lowered {
                Some(known) => known.clone(),
                None => self.lowered_cluster(entry),
            });
        }
        self.memory.merged = merged;
        out
    }

    /// Lowers a cluster; the result is cached if it has no finding.
    fn lowered_cluster(&mut self, entry: &mut Entry) -> Arc<chancery_base::ir::Cluster> {
        let before = self.findings.reports();
        let lowered = Arc::new(self.cluster(&entry.of, entry.name.clone()));
        if self.findings.reports() == before {
            self.memory.keep_cluster(&entry.of, &lowered);
            entry.lowered = Some(lowered.clone());
        }
        lowered
    }

    fn cluster(&mut self, of: &Cluster, name: Str) -> chancery_base::ir::Cluster {
        let origin = of.origins.first().copied();
        let derived = origin.map(|origin| origin.by(Rule::Derived));
        let service = &*of.upstream;
        let dns_family = dns_family(&of.dns_family);
        let discovery = if service.external_name.value.is_empty() {
            let localities = self.endpoints_of_service(service);
            ClusterDiscovery::Eds { service_name: name::assignment(service), in_bootstrap: self.are_written(&localities), localities }
        } else {
            let (port, health) = (service.port.port, service.health_port.port);
            let health_check_port = Some(health).filter(|health| *health != port && *health != 0);
            let endpoint = Endpoint { health_check_port, ..Endpoint::new(service.external_name.value.clone(), port) };
            ClusterDiscovery::Dns {
                kind: dns_kind(&dns_family),
                assignment_name: name::assignment(service),
                endpoints: vec![Sourced::new(endpoint, service.external_name.origin)],
            }
        };
        let is_h2 = matches!(of.protocol.value.as_str(), "h2" | "h2c");
        let alpn = Some(h2(&of.protocol)).filter(|_| of.protocol.value == "h2");
        let tls = matches!(of.protocol.value.as_str(), "tls" | "h2").then(|| {
            let tls = self.upstream_tls(of.validation.as_ref(), &of.sni, of.client_certificate.as_ref(), of.upstream_tls.as_deref(), alpn);
            Sourced::new(Box::new(tls), of.protocol.origin)
        });
        let health_checks = self.health_checks(of);
        let checked = of.http_health.as_ref().map(|of| of.origin).or_else(|| of.tcp_health.as_ref().map(|of| of.origin));
        let lb_policy = lb_policy(&of.lb_policy);
        chancery_base::ir::Cluster {
            name: Sourced::new(name, derived),
            name_also: name::cluster_also(of),
            assignment_also: Some(name::assignment_also(of)),
            alt_stat_name: Some(Sourced::new(name::statistics(service), derived)),
            discovery,
            dns_family: Some(dns_family),
            connect_timeout: connect_timeout(of.timeouts.connect),
            circuit_breakers: circuit_breakers(&service.circuit_breakers),
            per_host_circuit_breaker: per_host(&service.circuit_breakers),
            http: UpstreamHttp {
                http2: is_h2.then(|| Sourced::new((), of.protocol.origin)),
                idle_timeout: idle_timeout(&of.timeouts.idle_connection),
                max_requests_per_connection: of.max_requests_per_connection,
                ..UpstreamHttp::default()
            },
            tls,
            health_checks,
            ignore_health_on_removal: checked.map(|origin| Sourced::new((), origin)),
            healthy_panic_threshold: Some(Sourced::built_in(0.0)),
            slow_start: of.slow_start.as_ref().map(|of| Sourced::new(slow_start(of), of.origin)),
            per_connection_buffer_limit: of.per_connection_buffer_limit.filter(|limit| limit.value > 0),
            lb_policy,
            origins: of.origins.clone(),
            ..chancery_base::ir::Cluster::default()
        }
    }

    fn extension(&mut self, of: &ExtensionCluster) -> chancery_base::ir::Cluster {
        let origin = of.origins.first().copied();
        let derived = origin.map(|origin| origin.by(Rule::Derived));
        let secure = of.protocol.value == "h2";
        let tls = secure.then(|| {
            let alpn = Some(h2(&of.protocol));
            let certificate = of.client_certificate.as_ref();
            let mut tls = self.upstream_tls(of.validation.as_ref(), &of.sni, certificate, of.upstream_tls.as_deref(), alpn);
            tls.certificates.iter_mut().for_each(await_certificate);
            if let Some(certificate) = certificate.filter(|_| self.client_certificate.is_none()) {
                self.never_served(certificate.origin);
            }
            Sourced::new(Box::new(tls), of.protocol.origin)
        });
        let explicit = |protocols: &[&str]| protocols.contains(&of.protocol.value.as_str()).then(|| Sourced::new((), of.protocol.origin));
        let localities = self.endpoints_of_extension(of);
        chancery_base::ir::Cluster {
            name: Sourced::new(of.name.clone(), derived),
            alt_stat_name: Some(Sourced::new(of.name.replace('/', "_").into(), derived)),
            discovery: ClusterDiscovery::Eds { service_name: of.name.clone(), in_bootstrap: self.are_written(&localities), localities },
            connect_timeout: connect_timeout(of.cluster_timeouts.connect),
            circuit_breakers: circuit_breakers(&of.circuit_breakers),
            per_host_circuit_breaker: per_host(&of.circuit_breakers),
            http: UpstreamHttp {
                http2: explicit(&["h2", "h2c"]),
                http1: explicit(&["http/1.1"]),
                idle_timeout: idle_timeout(&of.cluster_timeouts.idle_connection),
                ..UpstreamHttp::default()
            },
            tls,
            healthy_panic_threshold: Some(Sourced::built_in(0.0)),
            lb_policy: lb_policy(&of.lb_policy),
            origins: of.origins.clone(),
            ..chancery_base::ir::Cluster::default()
        }
    }

    fn never_served(&mut self, origin: Option<Origin>) {
        let message = "no route needs the client certificate, so Contour does not serve it: connections to ExtensionServices fail";
        let help = "Envoy waits for the certificate; Contour serves it as soon as an HTTPProxy or an Ingress has a route to a Service";
        let _ = self.findings.report(Diagnostic::new(&codes::REFUSED_BY_ENVOY, message, Place::origin(origin)).help(help));
    }

    fn dns_cluster(&mut self, of: &DnsCluster, name: Str) -> Option<chancery_base::ir::Cluster> {
        let origin = of.origins.first().copied();
        let dns_family = dns_family(&of.dns_family);
        let endpoint = Sourced::new(Endpoint::new(of.address.value.clone(), self.port(of.port)?.value), of.address.origin);
        let tls = (of.scheme.value == "https").then(|| {
            let tls = self.upstream_tls(of.validation.as_ref(), &of.address, None, of.upstream_tls.as_deref(), None);
            Sourced::new(Box::new(tls), of.scheme.origin)
        });
        Some(chancery_base::ir::Cluster {
            name: Sourced::new(name.clone(), origin.map(|origin| origin.by(Rule::Derived))),
            discovery: ClusterDiscovery::Dns { kind: dns_kind(&dns_family), assignment_name: name, endpoints: vec![endpoint] },
            dns_family: Some(dns_family),
            connect_timeout: Sourced::built_in(CONNECT_TIMEOUT),
            healthy_panic_threshold: Some(Sourced::built_in(0.0)),
            tls,
            origins: of.origins.clone(),
            ..chancery_base::ir::Cluster::default()
        })
    }

    fn health_checks(&mut self, of: &Cluster) -> Vec<Sourced<HealthCheck>> {
        if let Some(http) = &of.http_health {
            let is_h2 = matches!(of.protocol.value.as_str(), "h2" | "h2c");
            let checker = HealthChecker::Http {
                http2: is_h2.then(|| Sourced::new((), of.protocol.origin)),
                path: http.path.clone(),
                host: Some(if http.host.value.is_empty() { Sourced::built_in(CHECK_HOST.into()) } else { http.host.clone() }),
                headers: Default::default(),
                expected_statuses: self.statuses(http),
            };
            vec![Sourced::new(health_check(&http.times, checker), http.origin)]
        } else if let Some(tcp) = &of.tcp_health {
            vec![Sourced::new(health_check(tcp, HealthChecker::Tcp), tcp.origin)]
        } else {
            Vec::new()
        }
    }

    /// Drops ranges whose end is before their start.
    fn statuses(&mut self, of: &HttpHealthCheck) -> Vec<Sourced<(i64, i64)>> {
        let (usable, reversed): (Vec<_>, Vec<_>) = of.expected_statuses.iter().copied().partition(|range| range.value.0 < range.value.1);
        for range in reversed {
            self.refuse("a range of expected statuses must end after it begins", range.origin);
        }
        usable
    }
}

fn named(cluster: &Arc<Cluster>) -> Named {
    (name::cluster(cluster), cluster.clone())
}

/// The clusters of routes by name; the first of several with one name wins. `name` returns known names.
pub(super) fn clusters_of(routes: &Routes, name: impl Fn(&Arc<Cluster>) -> Option<Str>) -> Vec<Named> {
    let of_route = |route: &Arc<Route>| {
        let mirrors = route.mirrors.iter().map(|mirror| &mirror.cluster);
        let named = |cluster: &Arc<Cluster>| name(cluster).map_or_else(|| named(cluster), |name| (name, cluster.clone()));
        route.clusters.iter().chain(mirrors).map(named).collect::<Vec<_>>()
    };
    in_order(routes.iter().flat_map(of_route).collect())
}

/// Clusters by name; the first of several with one name wins.
fn in_order(mut clusters: Vec<Named>) -> Vec<Named> {
    clusters.sort_by(|a, b| a.0.cmp(&b.0));
    clusters.dedup_by(|later, first| later.0 == first.0);
    clusters
}

/// Marks a certificate as served on demand: Contour serves the certificates of routes' clusters, but not those of ExtensionServices.
fn await_certificate(certificate: &mut Sourced<Certificate>) {
    if let Delivery::Named(name) = &certificate.value.delivery {
        certificate.value.delivery = Delivery::Awaited(name.clone());
    }
}

fn health_check(times: &HealthCheckTimes, checker: HealthChecker) -> HealthCheck {
    let time = |of: Sourced<Duration>, default: Duration| if of.value.is_zero() { Sourced::new(default, defaulted(of.origin)) } else { of };
    let count = |of: Sourced<u32>, default: u32| if of.value == 0 { Sourced::new(default, defaulted(of.origin)) } else { of };
    HealthCheck {
        timeout: time(times.timeout, CHECK_TIMEOUT),
        interval: time(times.interval, CHECK_INTERVAL),
        healthy_threshold: count(times.healthy_threshold, HEALTHY_THRESHOLD),
        unhealthy_threshold: count(times.unhealthy_threshold, UNHEALTHY_THRESHOLD),
        checker,
    }
}

/// The origin of a default if a written value selects it.
fn defaulted(written: Option<Origin>) -> Option<Origin> {
    Some(written.map_or_else(Origin::built_in, |origin| origin.by(Rule::Default)))
}

fn connect_timeout(of: Sourced<Duration>) -> Sourced<Duration> {
    if of.value.is_zero() { Sourced::built_in(CONNECT_TIMEOUT) } else { of }
}

/// Here `infinity` is zero, which turns it off.
fn idle_timeout(of: &Sourced<Timeout>) -> Option<Sourced<Duration>> {
    timeout(of)
}

fn lb_policy(of: &Sourced<Str>) -> Sourced<LbPolicy> {
    let policy = match of.value.as_str() {
        "WeightedLeastRequest" => LbPolicy::LeastRequest,
        "Random" => LbPolicy::Random,
        "Cookie" | "RequestHash" => LbPolicy::RingHash,
        _ => LbPolicy::RoundRobin,
    };
    Sourced::new(policy, of.origin)
}

fn dns_family(of: &Sourced<Str>) -> Sourced<DnsFamily> {
    let family = match of.value.as_str() {
        "v4" => DnsFamily::V4Only,
        "v6" => DnsFamily::V6Only,
        "all" => DnsFamily::All,
        _ => DnsFamily::Auto,
    };
    Sourced::new(family, of.origin)
}

/// Both address families require logical DNS.
fn dns_kind(family: &Sourced<DnsFamily>) -> Sourced<DnsKind> {
    Sourced::new(if family.value == DnsFamily::All { DnsKind::Logical } else { DnsKind::Strict }, family.origin)
}

fn slow_start(of: &SlowStart) -> chancery_base::ir::SlowStart {
    chancery_base::ir::SlowStart {
        window: of.window,
        aggression: of.aggression,
        aggression_key: "contour.slowstart.aggression".into(),
        min_weight_percent: of.min_weight_percent.map(f64::from),
    }
}

/// The origin of the first limit; `None` if there is no limit.
fn limited(of: &CircuitBreakers) -> Option<Option<Origin>> {
    let all = [of.max_connections, of.max_pending_requests, of.max_requests, of.max_retries, of.per_host_max_connections];
    all.into_iter().find(|limit| limit.value > 0).map(|limit| limit.origin)
}

fn circuit_breakers(of: &CircuitBreakers) -> Vec<Sourced<CircuitBreaker>> {
    let set = |limit: Sourced<u32>| Some(limit).filter(|limit| limit.value > 0);
    let breaker = |origin| {
        let breaker = CircuitBreaker {
            priority: Sourced::built_in(Priority::Default),
            max_connections: set(of.max_connections),
            max_pending_requests: set(of.max_pending_requests),
            max_requests: set(of.max_requests),
            max_retries: set(of.max_retries),
            track_remaining: true,
        };
        Sourced::new(breaker, origin)
    };
    limited(of).map(breaker).into_iter().collect()
}

fn per_host(of: &CircuitBreakers) -> Option<Sourced<Option<u32>>> {
    let most = of.per_host_max_connections;
    let origin = limited(of)?;
    Some(Sourced::new(Some(most.value).filter(|most| *most > 0), if most.value > 0 { most.origin } else { origin }))
}
