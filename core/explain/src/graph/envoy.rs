//! Adds Envoy's parts to the graph, from listeners to addresses. Does not add input objects; see `build`.

use super::build::Builder;
use super::{NodeKind, Relation, Rule};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::{
    Certificate, CertificateSource, Cluster, ClusterDiscovery, FilterChain, Forward, HeaderName, Ir, Listener, NetworkFilter, PathMatch, Route,
    RouteAction, SecretReference, StringMatch, UpstreamClusters, ValidationContext, VirtualHost,
};
use chancery_base::resource::Sourced;
use chancery_text::Str;
use hashbrown::{HashMap, HashSet};

/// Nodes that several listeners share.
struct SharedNodes<'a> {
    /// Names of clusters.
    clusters: HashSet<&'a Str>,
    /// Nodes of routes, by the address of the route: several hosts may share a route.
    routes: HashMap<usize, usize>,
}

impl Builder<'_> {
    pub fn listeners(&mut self, ir: &Ir) {
        let clusters = ir.clusters.iter().chain(&ir.delivery.bootstrap.clusters).map(|cluster| &cluster.name.value).collect();
        let mut seen = SharedNodes { clusters, routes: HashMap::new() };
        for listener in &ir.listeners {
            let id = self.scoped(format!("listener:{}", listener.name.value));
            let address = &listener.address;
            let at = self.node(&id, NodeKind::Listener, || format!("{}\n{}:{}", listener.name.value, address.address.value, address.port.value));
            self.made(&listener.origins, at);
            for (number, chain) in listener.chains.iter().enumerate() {
                self.chain(at, &id, listener, (number, chain), &mut seen);
            }
        }
    }

    fn chain(&mut self, from: usize, outer: &str, listener: &Listener, (number, chain): (usize, &FilterChain), seen: &mut SharedNodes<'_>) {
        let name = if chain.name.is_empty() { number.to_string() } else { chain.name.to_string() };
        let id = self.free(format!("{outer}/chain:{name}"));
        let at = self.node(&id, NodeKind::FilterChain, || chain_label(chain));
        self.edge(from, at, Relation::Forwards, "", None);
        self.made(&chain.origins, at);
        self.selects(&listener.origins, &chain.origins, "host");
        if let Some(tls) = &chain.tls {
            self.secrets(at, &tls.certificates, tls.validation.as_ref());
        }
        for filter in &chain.filters {
            match filter {
                NetworkFilter::Http(manager) => {
                    for host in &manager.routes.virtual_hosts {
                        self.virtual_host(at, &id, listener, host, seen);
                    }
                }
                NetworkFilter::Tcp(proxy) => {
                    for cluster in &proxy.clusters {
                        self.forward(at, &cluster.name.value, seen);
                    }
                }
            }
        }
    }

    fn virtual_host(&mut self, from: usize, outer: &str, listener: &Listener, host: &VirtualHost, seen: &mut SharedNodes<'_>) {
        let id = self.free(format!("{outer}/{}", host.name));
        let at = self.node(&id, NodeKind::VirtualHost, || {
            let domains: Vec<&str> = host.domains.iter().map(|domain| domain.value.as_str()).collect();
            if domains.is_empty() { host.name.to_string() } else { domains.join(", ") }
        });
        self.edge(from, at, Relation::Forwards, "", None);
        self.made(&host.origins, at);
        self.selects(&listener.origins, &host.origins, "host");
        for route in host.routes.iter() {
            let key = Arc::as_ptr(route).addr();
            let to = match seen.routes.get(&key) {
                Some(to) => *to,
                None => {
                    let to = self.route(route, seen);
                    seen.routes.insert(key, to);
                    to
                }
            };
            self.edge(at, to, Relation::Forwards, "", None);
            self.selects(&host.origins, &route.origins, "mapping");
        }
    }

    fn route(&mut self, route: &Route, seen: &SharedNodes<'_>) -> usize {
        let path = path_label(route);
        let id = match self.maker(&route.origins) {
            _ if !route.name.is_empty() => format!("route:{}", route.name),
            Some(maker) => format!("route:{path} {maker}"),
            None => format!("route:{path}"),
        };
        let id = self.free(self.scoped(id));
        let rule = rule_of(route, path.as_str().into());
        let at = self.node(&id, NodeKind::Route, || route_label(route, path));
        self.rule(at, rule);
        self.made(&route.origins, at);
        for cluster in clusters_of(route) {
            self.forward(at, cluster, seen);
        }
        at
    }

    /// Adds an edge to a cluster, which may be missing.
    fn forward(&mut self, from: usize, cluster: &Str, seen: &SharedNodes<'_>) {
        let id = self.scoped(format!("cluster:{cluster}"));
        let to = match self.find(&id) {
            Some(to) => to,
            // The node is filled when clusters are added; this only reserves its index.
            None if seen.clusters.contains(cluster) => self.node(&id, NodeKind::Cluster, || cluster.to_string()),
            None => self.missing(&format!("missing:{id}"), format!("cluster {cluster}"), "Envoy gets no such cluster".into()),
        };
        self.edge(from, to, Relation::Forwards, "", None);
    }

    /// Adds clusters and their addresses.
    pub fn clusters(&mut self, ir: &Ir) {
        let served = |cluster: &Arc<Cluster>| matches!(&cluster.discovery, ClusterDiscovery::Eds { localities, .. } if !localities.is_empty());
        // If no cluster has endpoints, the input leaves them out.
        let has_endpoints = ir.clusters.iter().any(served);
        for cluster in ir.clusters.iter().chain(&ir.delivery.bootstrap.clusters) {
            let id = self.scoped(format!("cluster:{}", cluster.name.value));
            let at = self.node(&id, NodeKind::Cluster, || cluster.name.value.to_string());
            self.made(&cluster.origins, at);
            if let Some(tls) = &cluster.tls {
                self.secrets(at, &tls.certificates, tls.validation.as_ref());
            }
            self.endpoints(at, cluster, has_endpoints);
        }
    }

    fn endpoints(&mut self, from: usize, cluster: &Cluster, has_endpoints: bool) {
        let (endpoints, how): (Vec<_>, _) = match &cluster.discovery {
            ClusterDiscovery::Dns { endpoints, .. } => (endpoints.iter().collect(), "from DNS"),
            ClusterDiscovery::Eds { localities, .. } => (localities.iter().flat_map(|locality| &locality.endpoints).collect(), "served by EDS"),
            ClusterDiscovery::Static { endpoints, .. } => (endpoints.iter().collect(), "fixed"),
        };
        let none = endpoints.is_empty();
        for endpoint in endpoints {
            let address = &endpoint.value.address;
            let id = self.scoped(format!("endpoint:{address}"));
            let at = self.node(&id, NodeKind::Endpoint, || format!("{address}\n{how}"));
            self.edge(from, at, Relation::Forwards, "", None);
            self.made(endpoint.origin.as_slice(), at);
        }
        if none {
            let name = &cluster.name.value;
            let assumed = matches!(cluster.discovery, ClusterDiscovery::Eds { .. }) && !has_endpoints;
            let (label, reason) = if assumed {
                ("endpoints", "not in the input; served by EDS".into())
            } else {
                ("no endpoints", format!("nothing is known to serve {name}"))
            };
            let id = self.scoped(format!("missing:endpoint/{name}"));
            let at = self.missing(&id, label.into(), reason);
            if assumed {
                self.assume(at);
            }
            self.edge(from, at, Relation::Forwards, "", None);
        }
    }

    fn secrets(&mut self, from: usize, certificates: &[Sourced<Certificate>], validation: Option<&Sourced<ValidationContext>>) {
        let certificates = certificates.iter().flat_map(|of| [&of.value.chain, &of.value.key]).map(|part| (part, "certificate"));
        let validation = validation.into_iter().flat_map(|of| [&of.value.trusted_ca, &of.value.crl]).map(|part| (part, "validation"));
        for (part, label) in certificates.chain(validation) {
            let Some(part) = part else { continue };
            let CertificateSource::Secret(SecretReference { namespace, name, .. }) = &part.value else { continue };
            let id = self.scoped(format!("secret:{namespace}/{name}"));
            let at = self.node(&id, NodeKind::Secret, || format!("{namespace}/{name}"));
            self.edge(from, at, Relation::Uses, label, None);
        }
    }
}

fn chain_label(chain: &FilterChain) -> String {
    let names = chain.matcher.iter().flat_map(|matcher| &matcher.server_names).map(|name| name.value.as_str()).collect::<Vec<_>>().join(", ");
    let transport = if chain.tls.is_some() { "TLS" } else { "plain text" };
    if names.is_empty() { format!("{transport}\nall connections") } else { format!("{transport}\n{names}") }
}

/// Returns the path, and on a second line the other conditions and the action.
fn route_label(route: &Route, path: String) -> String {
    let mut more: Vec<String> = match &route.action {
        RouteAction::Forward(_) => Vec::new(),
        RouteAction::Redirect(_) => Vec::from(["redirects".into()]),
        RouteAction::Respond(answer) => Vec::from([format!("answers {}", answer.status.value)]),
    };
    // The host comes last, since most routes of a virtual host share it.
    let (hosts, others): (Vec<_>, Vec<_>) = route.matcher.headers.iter().partition(|header| header.value.name == HeaderName::AUTHORITY);
    for header in others.into_iter().chain(hosts) {
        let name = header.value.name.strip_prefix(':').unwrap_or(&header.value.name);
        more.push(matched(name, &header.value.value, header.value.invert));
    }
    more.extend(route.matcher.query.iter().map(|query| matched(&format!("?{}", query.value.name), &query.value.value, false)));
    if more.is_empty() { path } else { format!("{path}\n{}", more.join(", ")) }
}

/// The header that Envoy uses to distinguish http from https on one port.
pub(crate) const TRANSPORT: &str = "x-forwarded-proto";

/// Converts a route to a rule of a story.
fn rule_of(route: &Route, path: Str) -> Rule {
    let mut rule = Rule { path, takes: 100, ..Rule::default() };
    for header in route.matcher.headers.iter().map(|header| &header.value) {
        match &*header.name {
            TRANSPORT => rule.transport = matched("", &header.value, header.invert).into(),
            ":authority" => {}
            name => rule.conditions.push(matched(name.strip_prefix(':').unwrap_or(name), &header.value, header.invert)),
        }
    }
    rule.conditions.extend(route.matcher.query.iter().map(|query| matched(&format!("?{}", query.value.name), &query.value.value, false)));
    if route.matcher.grpc {
        rule.conditions.push("gRPC".into());
    }
    if let Some(fraction) = &route.matcher.fraction {
        rule.takes = fraction.percent.value.min(100);
    }
    match &route.action {
        RouteAction::Forward(forward) => {
            rule.shares = match &forward.clusters {
                UpstreamClusters::One(name) => Vec::from([(name.value.clone(), 100)]),
                UpstreamClusters::Weighted(all) => {
                    let total = all.iter().map(|cluster| u64::from(cluster.weight.value)).sum::<u64>().max(1);
                    let share = |weight: u32| u32::try_from((u64::from(weight) * 100 + total / 2) / total).unwrap_or(100);
                    all.iter().map(|cluster| (cluster.name.value.clone(), share(cluster.weight.value))).collect()
                }
            };
        }
        RouteAction::Redirect(_) => rule.action = Some("redirects".into()),
        RouteAction::Respond(answer) => rule.action = Some(format!("answers {}", answer.status.value)),
    }
    rule
}

fn matched(name: &str, value: &StringMatch, invert: bool) -> String {
    let not = if invert { "not " } else { "" };
    match value {
        StringMatch::Exact(value) => format!("{not}{name} {value}"),
        StringMatch::Prefix(value) => format!("{not}{name} {value}*"),
        StringMatch::Suffix(value) => format!("{not}{name} *{value}"),
        StringMatch::Contains(value) => format!("{not}{name} *{value}*"),
        StringMatch::Regex(regex) => format!("{not}{name} ~ {}", regex.regex),
        StringMatch::Present => format!("{not}{name}"),
    }
}

fn path_label(route: &Route) -> String {
    match &route.matcher.path.value {
        PathMatch::Prefix(path) | PathMatch::PathSeparatedPrefix(path) => format!("{path}*"),
        PathMatch::Exact(path) => path.to_string(),
        PathMatch::Regex(regex) => format!("~ {}", regex.regex),
    }
}

fn clusters_of(route: &Route) -> Vec<&Str> {
    let RouteAction::Forward(forward) = &route.action else { return Vec::new() };
    let Forward { clusters, mirrors, .. } = &**forward;
    let mut names: Vec<&Str> = match clusters {
        UpstreamClusters::One(name) => Vec::from([&name.value]),
        UpstreamClusters::Weighted(all) => all.iter().map(|cluster| &cluster.name.value).collect(),
    };
    names.extend(mirrors.iter().map(|mirror| &mirror.value.cluster.value));
    names
}
