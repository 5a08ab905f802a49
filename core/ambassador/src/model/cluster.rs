//! Models IRCluster: a target of requests, with Emissary's name for it.
//!
//! Source of the behaviour: Emissary `python/ambassador/ir/ircluster.py`, `ir/ir.py` (name collisions).

use super::breakers::Breakers;
use super::mapping::{LbHash, LbSettings};
use super::notices::{ControllerNotice, Identity};
use super::resolver::Targets;
use super::service::Authority;
use super::tls::ContextId;
use super::{HttpMapping, Model, TcpMapping};
use crate::spec;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use chancery_base::diagnostic::{Code, codes};
use chancery_base::ir::{Endpoint, HealthCheck, Origins};
use chancery_base::resource::{Also, Origin, Rule, Sourced};
use chancery_text::Str;

/// A cluster, with values that are known only after all clusters exist.
#[derive(Clone, Debug)]
pub struct ClusterEntry {
    /// The first request's definition; shared between compiles.
    pub cluster: Arc<Cluster>,
    /// The name that Envoy gets.
    pub envoy_name: Str,
    /// Further endpoints, of services that share the work of the first.
    pub more: Vec<Sourced<Endpoint>>,
    /// The resources that request it.
    pub origins: Origins,
}

impl core::ops::Deref for ClusterEntry {
    type Target = Cluster;
    fn deref(&self) -> &Cluster {
        &self.cluster
    }
}

/// IRCluster.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// Its long name.
    pub name: Str,
    /// Further origins of its name, except the service.
    pub name_also: Also,
    /// Name in statistics.
    pub stats_name: Sourced<Str>,
    /// How endpoints are found.
    pub targets: Targets,
    /// `strict_dns` or `logical_dns`, for DNS clusters.
    pub dns_type: Option<Sourced<Str>>,
    /// IPv4 is used; `None`: the Module decides.
    pub enable_ipv4: Option<Sourced<bool>>,
    /// IPv6 is used; `None`: the Module decides.
    pub enable_ipv6: Option<Sourced<bool>>,
    /// Load balancing algorithm.
    pub lb_policy: Sourced<Str>,
    /// Milliseconds.
    pub connect_timeout_ms: Sourced<i64>,
    /// Milliseconds; `None`: the Module decides.
    pub idle_timeout_ms: Option<Sourced<i64>>,
    /// Milliseconds; `None`: the Module decides.
    pub max_connection_lifetime_ms: Option<Sourced<i64>>,
    /// Own keepalive; `None`: the Module's.
    pub keepalive: Option<Sourced<Box<spec::KeepAlive>>>,
    /// Limits.
    pub breakers: Option<Breakers>,
    /// gRPC, so HTTP/2.
    pub grpc: Option<Sourced<bool>>,
    /// TLS to it.
    pub tls: Option<Sourced<ContextId>>,
    /// DNS decides how long an answer holds.
    pub respect_dns_ttl: Option<Sourced<bool>>,
    /// Active health checks.
    pub health_checks: Vec<Sourced<HealthCheck>>,
}

impl Cluster {
    /// Whether it depends only on its Mapping and the environment.
    fn stands_alone(&self) -> bool {
        matches!(self.targets, Targets::Name(_))
    }
}

/// A Mapping that requests a cluster.
#[derive(Clone, Debug)]
pub(super) struct Ask {
    /// The cluster's number.
    pub(super) cluster: u32,
    pub(super) origin: Option<Origin>,
    pub(super) mapping: Arc<HttpMapping>,
    /// Part of the cluster's name.
    pub(super) marker: Option<Str>,
    /// It needs the TLS context without a certificate, which must be created.
    pub(super) without_certificate: bool,
    /// Its definition of the cluster, if it is valid as long as the Mapping is.
    pub(super) made: Option<Arc<Cluster>>,
}

/// A request for a cluster.
pub struct ClusterRequest<'m> {
    /// The requesting resource: its errors and namespace.
    pub identity: &'m Identity,
    /// Namespace of bare names.
    pub namespace: &'m str,
    /// `[scheme://]host[:port]`.
    pub service: &'m Sourced<Str>,
    /// As [`HttpMapping::port_from`].
    pub port_from: Option<Origin>,
    /// Part of the name, e.g. `shadow`.
    pub marker: Option<Str>,
    /// The resolver's name; `None`: the Module's.
    pub resolver: Option<&'m str>,
    /// Name of a TLS context.
    pub tls: Option<&'m Sourced<Str>>,
    /// Part of the name when TLS is originated.
    pub host_rewrite: Option<&'m Sourced<Str>>,
    /// The other settings, in a Mapping's form.
    pub settings: Settings<'m>,
}

/// A Mapping's settings for its cluster; other resources have fewer.
#[derive(Default)]
pub struct Settings<'m> {
    tag: Option<&'m Sourced<Str>>,
    breakers: Option<&'m Breakers>,
    load_balancer: Option<&'m Sourced<LbSettings>>,
    dns_type: Option<&'m Sourced<Str>>,
    enable_ipv4: Option<&'m Sourced<bool>>,
    enable_ipv6: Option<&'m Sourced<bool>>,
    grpc: Option<Sourced<bool>>,
    keepalive: Option<&'m Sourced<Box<spec::KeepAlive>>>,
    connect_timeout_ms: Option<&'m Sourced<i64>>,
    idle_timeout_ms: Option<&'m Sourced<i64>>,
    max_connection_lifetime_ms: Option<&'m Sourced<i64>>,
    stats_name: Option<&'m Sourced<Str>>,
    respect_dns_ttl: Option<&'m Sourced<bool>>,
    health_checks: Option<&'m Sourced<Vec<Sourced<spec::HealthCheck>>>>,
}

impl<'m> ClusterRequest<'m> {
    /// The cluster of a Mapping.
    pub fn by_mapping(mapping: &'m HttpMapping, marker: Option<Str>) -> Self {
        let spec = &mapping.spec;
        Self {
            identity: &mapping.identity,
            namespace: &mapping.namespace,
            service: &mapping.service,
            port_from: mapping.port_from,
            marker,
            resolver: Some(&mapping.resolver.value),
            tls: spec.tls.as_ref(),
            host_rewrite: spec.host_rewrite.as_ref(),
            settings: Settings {
                tag: spec.cluster_tag.as_ref(),
                breakers: mapping.breakers.as_ref(),
                load_balancer: mapping.load_balancer.as_ref(),
                dns_type: spec.dns_type.as_ref(),
                enable_ipv4: spec.enable_ipv4.as_ref(),
                enable_ipv6: spec.enable_ipv6.as_ref(),
                grpc: spec.grpc,
                keepalive: spec.keepalive.as_ref(),
                connect_timeout_ms: spec.connect_timeout_ms.as_ref(),
                idle_timeout_ms: spec.cluster_idle_timeout_ms.as_ref(),
                max_connection_lifetime_ms: spec.cluster_max_connection_lifetime_ms.as_ref(),
                stats_name: spec.stats_name.as_ref(),
                respect_dns_ttl: spec.respect_dns_ttl.as_ref(),
                health_checks: spec.health_checks.as_ref(),
            },
        }
    }

    /// The cluster of a TCPMapping. Its `stats_name` has no effect in the reference.
    pub fn by_tcp_mapping(mapping: &'m TcpMapping) -> Self {
        let spec = &mapping.spec;
        Self {
            identity: &mapping.identity,
            namespace: &mapping.namespace,
            service: &mapping.service,
            port_from: None,
            marker: spec.cluster_tag.as_ref().map(|tag| tag.value.clone()).filter(|tag| !tag.is_empty()),
            resolver: Some(&mapping.resolver.value),
            tls: spec.tls.as_ref(),
            host_rewrite: None,
            settings: Settings {
                tag: spec.cluster_tag.as_ref(),
                breakers: mapping.breakers.as_ref(),
                enable_ipv4: spec.enable_ipv4.as_ref(),
                enable_ipv6: spec.enable_ipv6.as_ref(),
                ..Settings::default()
            },
        }
    }

    /// The cluster of a service that the gateway itself calls (authentication, rate limits, tracing, logs).
    pub fn by_service(identity: &'m Identity, namespace: &'m str, service: &'m Sourced<Str>, asked: ServiceSettings<'m>) -> Self {
        let ServiceSettings { marker, tls, grpc, stats_name, breakers } = asked;
        let settings = Settings { grpc, stats_name, breakers, ..Settings::default() };
        Self { identity, namespace, service, port_from: None, marker: marker.map(Str::new_static), resolver: None, tls, host_rewrite: None, settings }
    }
}

/// The cluster settings of a service that the gateway calls.
#[derive(Default)]
pub struct ServiceSettings<'m> {
    /// Part of the name, e.g. `extauth`.
    pub marker: Option<&'static str>,
    /// Name of a TLS context.
    pub tls: Option<&'m Sourced<Str>>,
    /// gRPC, so HTTP/2.
    pub grpc: Option<Sourced<bool>>,
    /// Name in statistics.
    pub stats_name: Option<&'m Sourced<Str>>,
    /// Limits.
    pub breakers: Option<&'m Breakers>,
}

/// The parts of a cluster that its name determines.
pub(super) struct Named {
    name: String,
    host: String,
    port: u16,
    service: String,
    tls: Option<Sourced<ContextId>>,
    lb_policy: Sourced<Str>,
    problems: Vec<(&'static Code, String, Option<Origin>)>,
}

impl Model<'_> {
    /// Adds a cluster, or finds the one of that name: the first definition wins. Returns its key.
    pub(super) fn add_cluster(&mut self, wanted: ClusterRequest<'_>) -> Str {
        let named = self.name_cluster(&wanted);
        let (origin, name) = (wanted.service.origin.or(wanted.identity.origin), Str::from(named.name.as_str()));
        self.post_problems(&named, origin);
        let at = self.clusters.number(&name);
        if !self.clusters.is_there(at) {
            let cluster = Arc::new(self.define_cluster(&wanted, named));
            self.clusters.define(at, &cluster);
        }
        self.clusters.ask(at, origin);
        name
    }

    /// The cluster of a Mapping. Says whether the answer holds for as long as the Mapping does.
    pub(super) fn ask_cluster(&mut self, mapping: &Arc<HttpMapping>, marker: Option<Str>) -> (Ask, Str, bool) {
        let origin = mapping.service.origin.or(mapping.identity.origin);
        let wanted = ClusterRequest::by_mapping(mapping, marker.clone());
        let named = self.name_cluster(&wanted);
        let steady = named.problems.is_empty();
        let without_certificate = named.tls.as_ref().is_some_and(|tls| self.context(tls.value).is_null);
        self.post_problems(&named, origin);
        let name = Str::from(named.name.as_str());
        let mut ask = Ask { cluster: self.clusters.number(&name), origin, mapping: mapping.clone(), marker, without_certificate, made: None };
        self.enter_ask(&mut ask, Some(named));
        (ask, name, steady)
    }

    /// Asks for a cluster, and defines it if it is not defined in this compile.
    pub(super) fn enter_ask(&mut self, ask: &mut Ask, named: Option<Named>) {
        if ask.without_certificate {
            self.null_context();
        }
        if !self.clusters.is_there(ask.cluster) {
            if let Some(made) = &ask.made {
                self.clusters.define(ask.cluster, made);
            } else {
                let wanted = ClusterRequest::by_mapping(&ask.mapping, ask.marker.clone());
                let named = named.unwrap_or_else(|| self.name_cluster(&wanted));
                let before = self.notices.reports();
                let cluster = Arc::new(self.define_cluster(&wanted, named));
                self.clusters.define(ask.cluster, &cluster);
                ask.made = Some(cluster).filter(|cluster| cluster.stands_alone() && self.notices.reports() == before);
            }
        }
        self.clusters.ask(ask.cluster, ask.origin);
    }

    fn post_problems(&mut self, named: &Named, origin: Option<Origin>) {
        for (code, message, place) in &named.problems {
            let identity = Identity::cluster(&named.name.as_str().into(), origin);
            self.notices.error(&identity, ControllerNotice::new(code, message.as_str(), *place));
        }
    }

    fn define_cluster(&mut self, wanted: &ClusterRequest<'_>, named: Named) -> Cluster {
        let settings = &wanted.settings;
        let resolver = wanted.resolver.map_or_else(|| self.ambassador.resolver().value, Str::from);
        let mut targets = self.resolve(&resolver, &named.host, wanted.namespace, named.port, wanted.service);
        if let (Targets::Name(endpoint), Some(port)) = (&mut targets, wanted.port_from) {
            endpoint.port_origins = Also(wanted.service.origin.into_iter().chain([port]).collect());
        }
        let health_checks = match (settings.health_checks, &targets) {
            (Some(checks), Targets::Eds { .. }) => self.health_checks(checks, wanted.identity),
            (Some(checks), Targets::Name(_)) => {
                drop(self.health_checks(checks, wanted.identity));
                let message = "health_checks have no effect with the KubernetesServiceResolver";
                let post = ControllerNotice::new(&codes::FIELD_WITHOUT_EFFECT, message, checks.origin).help("set `resolver: endpoint`");
                self.notices.notice(wanted.identity, post);
                Vec::new()
            }
            (None, _) => Vec::new(),
        };
        let derived = wanted.service.origin.map(|origin| origin.by(Rule::Derived));
        let stats_name = settings.stats_name.filter(|name| !name.value.is_empty()).cloned();
        Cluster {
            name_also: name_also(wanted, &named),
            name: named.name.into(),
            stats_name: stats_name.unwrap_or_else(|| Sourced::new(safe(&named.service).into(), derived)),
            targets,
            dns_type: settings.dns_type.cloned(),
            enable_ipv4: settings.enable_ipv4.cloned(),
            enable_ipv6: settings.enable_ipv6.cloned(),
            lb_policy: named.lb_policy,
            connect_timeout_ms: settings.connect_timeout_ms.cloned().unwrap_or_else(|| Sourced::built_in(3000)),
            idle_timeout_ms: settings.idle_timeout_ms.cloned(),
            max_connection_lifetime_ms: settings.max_connection_lifetime_ms.cloned(),
            keepalive: settings.keepalive.cloned(),
            breakers: settings.breakers.cloned(),
            grpc: settings.grpc,
            tls: named.tls,
            respect_dns_ttl: settings.respect_dns_ttl.cloned(),
            health_checks,
        }
    }

    /// Adds the endpoints of another service, if its settings equal the first's.
    pub(super) fn merge_cluster(&mut self, first: &str, wanted: ClusterRequest<'_>) {
        let named = self.name_cluster(&wanted);
        let resolver = self.ambassador.resolver().value;
        let targets = self.resolve(&resolver, &named.host, wanted.namespace, named.port, wanted.service);
        let Some(cluster) = self.clusters.get_mut(first) else { return };
        let same = cluster.lb_policy == named.lb_policy
            && cluster.tls.as_ref().map(|tls| tls.value) == named.tls.as_ref().map(|tls| tls.value)
            && cluster.grpc.as_ref().is_some_and(|on| on.value) == wanted.settings.grpc.as_ref().is_some_and(|on| on.value);
        if !same {
            let identity = Identity::cluster(&first.into(), wanted.identity.origin);
            let message = format!("cannot merge cluster {}: it differs in more than its service", named.name);
            self.notices.error(&identity, ControllerNotice::new(&codes::AUTH_CONFLICT, message, wanted.service.origin));
            return;
        }
        match targets {
            Targets::Name(endpoint) => cluster.more.push(Sourced::new(endpoint, wanted.service.origin)),
            Targets::Eds { endpoints, .. } => cluster.more.extend(endpoints),
        }
        self.clusters.share(first, wanted.service.origin);
    }

    fn name_cluster(&mut self, wanted: &ClusterRequest<'_>) -> Named {
        let mut problems = Vec::new();
        let origin = wanted.service.origin;
        let mut fields: Vec<String> = vec!["cluster".into()];
        fields.extend(wanted.marker.as_deref().map(ToString::to_string));
        fields.push(wanted.service.value.to_string());
        let mut service = wanted.service.value.as_str();
        let context_name = wanted.tls.filter(|name| !name.value.is_empty());
        let context = context_name.and_then(|name| {
            let id = self.context_named(&name.value);
            if id.is_none() {
                problems.push((&codes::UNKNOWN_TLS_CONTEXT, format!("Originate-TLS context {} is not defined", name.value), name.origin));
            }
            id.map(|id| Sourced::new(id, name.origin))
        });
        let mut tls = None;
        let starts = |prefix: &str| service.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix));
        if starts("https://") {
            service = &service[8..];
            tls = Some(context);
            fields.push("otls".into());
        } else if starts("http://") {
            service = &service[7..];
            if let (Some(context), Some(name)) = (&context, context_name) {
                let message = format!("Originate-TLS context {} being used even though service {service} lists HTTP", name.value);
                problems.push((&codes::TLS_OVER_HTTP, message, name.origin));
                tls = Some(Some(*context));
                fields.push("otls".into());
            }
        } else if let (Some(context), Some(name)) = (&context, context_name) {
            tls = Some(Some(*context));
            fields.push("otls".into());
            fields.push(name.value.to_string());
        }
        if let Some((scheme, rest)) = service.split_once("://") {
            let assumed = if tls.is_some() { "HTTPS" } else { "HTTP" };
            problems.push((&codes::MALFORMED_SERVICE, format!("service {service} has unknown scheme {scheme}, assuming {assumed}"), origin));
            service = rest;
        }
        if let Some(host) = wanted.host_rewrite.filter(|host| tls.is_some() && !host.value.is_empty()) {
            fields.push(format!("hr-{}", host.value));
        }
        let authority = Authority::parse(service).unwrap_or_default();
        if authority.has_rest {
            let message = format!("service {service} has extra URL components; ignoring everything but the host and port");
            problems.push((&codes::MALFORMED_SERVICE, message, origin));
        }
        fields.push(wanted.namespace.to_string());
        if authority.host.is_none() {
            problems.push((&codes::MALFORMED_SERVICE, format!("service {service} has no hostname and will be ignored; please re-configure"), origin));
        }
        let port = authority.port_number().unwrap_or_else(|problem| {
            let message = format!(
                "found invalid port for service {service}. Please specify a valid port between 0 and 65535 - {problem}. Service {service} cluster will be ignored, please re-configure"
            );
            problems.push((&codes::MALFORMED_SERVICE, message, origin));
            0
        });
        let port = if port != 0 {
            port
        } else if tls.is_some() {
            443
        } else {
            80
        };
        fields.extend(wanted.settings.breakers.iter().flat_map(|breakers| &breakers.value).map(|breaker| breaker.value.name.to_string()));
        let balancer = wanted.settings.load_balancer.cloned().or_else(|| self.ambassador.load_balancer.clone().map(|lb| lb.by(Rule::Module)));
        let lb_policy = match balancer {
            Some(balancer) if self.options.endpoints_enabled() => {
                fields.push(balancer_field(&balancer.value));
                balancer.map(|balancer| balancer.policy)
            }
            Some(_) => {
                problems.push((&codes::FIELD_WITHOUT_EFFECT, format!("{service}: endpoint routing is not enabled, falling back to None"), origin));
                Sourced::built_in("round_robin".into())
            }
            None => Sourced::built_in("round_robin".into()),
        };
        let tls = tls.map(|context| context.unwrap_or_else(|| Sourced::new(self.null_context(), origin)));
        Named {
            name: safe(&fields.join("_")),
            host: authority.host.unwrap_or_else(|| "unknown".into()),
            port,
            service: service.into(),
            tls,
            lb_policy,
            problems,
        }
    }

    /// Envoy's name for a cluster of this model.
    pub fn envoy_name(&self, key: &str) -> Str {
        let cluster = self.get_cluster(key);
        debug_assert!(cluster.is_some(), "no cluster {key}: every resource that is lowered has added its own");
        cluster.map_or_else(|| key.into(), |cluster| cluster.envoy_name.clone())
    }
}

/// The further origins that [`Model::name_cluster`] puts into a name.
fn name_also(wanted: &ClusterRequest<'_>, named: &Named) -> Also {
    let settings = &wanted.settings;
    let tls = [wanted.tls, wanted.host_rewrite].into_iter().filter(|_| named.tls.is_some()).flatten();
    let texts = settings.tag.into_iter().chain(tls).filter(|text| !text.value.is_empty()).map(|text| text.origin);
    let breakers = settings.breakers.iter().flat_map(|breakers| &breakers.value).map(|breaker| breaker.origin.map(Origin::whole));
    let balancer = settings.load_balancer.iter().map(|balancer| balancer.origin.map(Origin::whole));
    Also(texts.chain(breakers).chain(balancer).chain([wanted.port_from]).flatten().map(|origin| origin.by(Rule::Derived)).collect())
}

fn balancer_field(balancer: &LbSettings) -> String {
    let mut field = format!("er-{}", balancer.policy.to_lowercase());
    match &balancer.hash {
        Some(LbHash::Header(name)) => field.push_str(&format!("-hdr-{name}")),
        Some(LbHash::Cookie(cookie)) => field.push_str(&format!("-cookie-{}", cookie.name.clone().unwrap_or_default().value)),
        Some(LbHash::SourceIp(_)) => field.push_str("-srcip"),
        None => {}
    }
    field
}

/// Everything but ASCII letters, digits and `_` becomes `_`.
fn safe(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}
