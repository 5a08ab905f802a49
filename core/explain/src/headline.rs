//! Describes what happens to a request in one line, in the user's terms: `90% cart:8080, 10% cart-next:8080, as /1`. Does not list the steps; see
//! `route`.

use super::graph::{TRANSPORT, id_of};
use super::{Graph, GraphNode, NodeKind, Relation, RouteReport, ServiceShare};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_envoy::config::ByPointer;
use chancery_envoy::emit::pb;
use chancery_envoy::simulate::{Ending, Outcome, Request, Simulation, percent};
use chancery_text::Str;
use hashbrown::HashMap;
use pb::matcher::string_matcher::MatchPattern;

/// Numbers of the columns of a story.
const HOST: u8 = 1;
const RULE: u8 = 2;
const SERVICE: u8 = 3;

/// Returns where requests like this one go: clusters by name, each with its share in percent, the largest first. Chance may divide the requests
/// among several routes.
#[must_use]
pub fn shares(simulation: &Simulation) -> Vec<(String, f64)> {
    let mut out = Vec::<(String, f64)>::new();
    let mut add = |name: &str, share: f64| match out.iter_mut().find(|(known, _)| *known == name) {
        Some((_, known)) => *known += share,
        None => out.push((name.to_string(), share)),
    };
    let taken = simulation.route.as_ref().map(|route| route.index);
    for share in &simulation.shares {
        let Some(route) = &share.route else { continue };
        match &share.clusters[..] {
            [one] if taken != Some(route.index) => add(one, share.percent),
            many if taken != Some(route.index) => many.iter().for_each(|name| add(name, share.percent / many.len() as f64)),
            _ => simulation.clusters.iter().for_each(|cluster| add(&cluster.name, share.percent * cluster.percent / 100.0)),
        }
    }
    if simulation.shares.is_empty() {
        simulation.clusters.iter().for_each(|cluster| add(&cluster.name, cluster.percent));
    }
    out.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    out
}

/// Returns the line for the first gateway. `story` provides the user's names of clusters.
pub(super) fn headline(report: &RouteReport, request: &Request, story: &Graph) -> String {
    let simulation = &report.simulation;
    let is_closed_by_filter = simulation.places.iter().any(|place| place.of == "filter");
    if request.tls && matches!(simulation.outcome, Outcome::Reset | Outcome::NoFilterChain) && !is_closed_by_filter {
        return no_tls(report);
    }
    if simulation.outcome != Outcome::Forward {
        let why = simulation.why.as_ref().filter(|_| simulation.outcome != Outcome::Redirect);
        // The reason may include the answer already.
        let has_answer = |why: &&String| match simulation.status {
            Some(status) => why.contains(&format!("answers {status}")),
            None => why.contains("Envoy closes"),
        };
        if let Some(why) = why.filter(has_answer) {
            return why.trim_end_matches('.').to_string();
        }
        let why = why.map(|why| format!(": {}", why.trim_end_matches('.'))).unwrap_or_default();
        return format!("{}{why}", Ending::of(simulation).summary());
    }
    let mut all: Vec<(String, f64)> = Vec::new();
    for (cluster, share) in shares(simulation) {
        match split_services(story, &cluster) {
            Some(services) => all.extend(services.into_iter().map(|(name, part)| (name, share * f64::from(part) / 100.0))),
            None if is_original_destination(simulation, &cluster) => all.push(("the address that the client connects to".into(), share)),
            None => all.push((service_name(story, &cluster), share)),
        }
    }
    all.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    let one = |(name, share): &(String, f64)| if all.len() > 1 { format!("{}% {name}", percent(*share)) } else { name.clone() };
    let to = all.iter().map(one).collect::<Vec<_>>().join(", ");
    let path = simulation.upstream.as_ref().map(|upstream| upstream.path.as_str()).filter(|path| *path != request.path);
    path.map_or_else(|| to.clone(), |path| format!("{to}, as {path}"))
}

/// Whether a cluster forwards a connection to the address that it was for.
fn is_original_destination(simulation: &Simulation, cluster: &str) -> bool {
    simulation.upstream_clusters.iter().any(|of| of.name == cluster && of.discovery == "ORIGINAL_DST")
}

/// Explains why a TLS connection ends here, and what to do about it.
fn no_tls(report: &RouteReport) -> String {
    let simulation = &report.simulation;
    let port = simulation.connection.as_ref().and_then(|connection| connection.address.rsplit_once(':')).map_or("this port", |(_, port)| port);
    match simulation.outcome {
        Outcome::Reset => format!("Envoy closes the connection: port {port} has no TLS. Ask with http://, or give the host a certificate"),
        _ if !report.hosts.is_empty() && report.hosts.iter().filter(|host| host.tls).all(|host| host.passthrough) => {
            format!("Envoy closes the connection: port {port} passes TLS through, and no route has this host. Add a route for it")
        }
        _ => {
            format!("Envoy closes the connection: port {port} has no TLS for this host. Give the host a certificate, or ask for a host that has one")
        }
    }
}

/// Returns the user's name of a cluster: the Service with its port, or the address. Falls back to the name of the cluster.
#[must_use]
pub fn service_name(story: &Graph, cluster: &str) -> String {
    let of = story.nodes.iter().find(|node| node.lane == Some(SERVICE) && clusters_of(node).any(|name| name == cluster));
    of.map_or_else(|| cluster.to_string(), node_label)
}

/// Returns the services of a cluster that divides its requests, each with its share in percent.
fn split_services(story: &Graph, cluster: &str) -> Option<Vec<(String, u32)>> {
    let of_cluster = |id: &Str| id.rsplit_once("cluster:").is_some_and(|(_, name)| name == cluster);
    let (_, services) = story.cluster_services.iter().find(|(id, services)| of_cluster(id) && services.len() > 1)?;
    let name = |id: &Str| story.nodes.iter().find(|node| node.id == *id).map(node_label);
    services.iter().map(|of| Some((name(&of.service)?, of.percent))).collect()
}

/// An index of the user's names of all clusters in a story, for callers that need many names.
#[derive(Debug)]
pub struct ServiceNames<'s> {
    nodes: HashMap<&'s str, &'s GraphNode>,
    /// The services of clusters that divide their requests.
    splits: HashMap<&'s str, String>,
}

impl<'s> ServiceNames<'s> {
    /// Builds the index of a story.
    #[must_use]
    pub fn of(story: &'s Graph) -> Self {
        let mut names = HashMap::new();
        for node in story.nodes.iter().filter(|node| node.lane == Some(SERVICE)) {
            for cluster in clusters_of(node) {
                names.entry(cluster).or_insert(node);
            }
        }
        let divided = |(id, _): &'s (Str, Vec<ServiceShare>)| {
            let (_, cluster) = id.rsplit_once("cluster:")?;
            let services = split_services(story, cluster)?;
            Some((cluster, services.iter().map(|(name, percent)| format!("{percent}% {name}")).collect::<Vec<_>>().join(", ")))
        };
        Self { nodes: names, splits: story.cluster_services.iter().filter_map(divided).collect() }
    }

    /// Returns the name of one cluster, as [`service_name`] does.
    #[must_use]
    pub fn name(&self, cluster: &str) -> String {
        match self.splits.get(cluster) {
            Some(services) => services.clone(),
            None => self.nodes.get(cluster).map_or_else(|| cluster.to_string(), |node| node_label(node)),
        }
    }
}

/// Returns the readable name of a Service's node.
fn node_label(node: &GraphNode) -> String {
    match &node.resource {
        Some(resource) if !node.label.starts_with(&format!("{}:", resource.name)) => resource.name.to_string(),
        _ => node.label.lines().next().unwrap_or_default().to_string(),
    }
}

/// Returns the names of the clusters that a node represents.
fn clusters_of(node: &GraphNode) -> impl Iterator<Item = &str> {
    node.stands_for.iter().filter_map(|id| Some(id.rsplit_once("cluster:")?.1))
}

/// Returns the ids of the story nodes that a request passes.
#[must_use]
pub fn story_path(report: &RouteReport, parts: &ByPointer<'_>, story: &Graph) -> Vec<String> {
    let simulation = &report.simulation;
    let made = |of: &str| {
        let origins = report.origins.iter().filter(|origin| origin.of == of).filter_map(|origin| origin.origin.resource.clone());
        origins.map(|resource| id_of(&resource)).collect::<BTreeSet<_>>()
    };
    let clusters = shares(simulation);
    let route = simulation.route.as_ref().map(|route| route.path.clone()).unwrap_or_default();
    let path = route.rsplit(' ').next().unwrap_or_default().to_string();
    let (listener, host, rule) = (made("listener"), made("virtual_host"), made("route"));
    let is = |node: &GraphNode, of: &BTreeSet<String>| {
        node.resource.as_ref().is_some_and(|resource| of.contains(&id_of(resource))) || node.stands_for.iter().any(|id| of.contains(id.as_str()))
    };
    // Rules of one resource may have the same path and differ in other conditions.
    let of_path = |node: &GraphNode| {
        node.kind == NodeKind::Route && is(node, &rule) && node.label.lines().next().is_some_and(|of| of.trim_end_matches('*').ends_with(&path))
    };
    let is_virtual_host = |node: &GraphNode| {
        let name = simulation.virtual_host.as_ref().filter(|_| node.kind == NodeKind::VirtualHost);
        name.is_some_and(|name| node.id.strip_suffix(name.as_str()).is_some_and(|outer| outer.ends_with('/')))
    };
    let asked = matched_conditions(simulation, parts);
    let asks_it = |node: &GraphNode| node.rule.as_ref().is_some_and(|rule| has_conditions(&rule.conditions, &asked));
    let is_told_apart = story.nodes.iter().any(|node| node.lane == Some(RULE) && of_path(node) && asks_it(node));
    let passes = |node: &&GraphNode| match node.lane {
        Some(SERVICE) => clusters.iter().any(|(cluster, _)| clusters_of(node).any(|name| name == cluster)),
        Some(RULE) => of_path(node) && (asks_it(node) || !is_told_apart),
        Some(HOST) => is(node, &host) || is_virtual_host(node),
        Some(_) => is(node, &listener) || simulation.listener.as_ref().is_some_and(|name| node.id.ends_with(&format!("listener:{name}"))),
        None => false,
    };
    story.nodes.iter().filter(passes).map(|node| node.id.to_string()).collect()
}

/// Returns the ids of the parts of a whole graph that the nodes of a story's path represent, and of the parts between them.
#[must_use]
pub fn parts_on_path(whole: &Graph, story: &Graph, path: &[String]) -> Vec<String> {
    let passed = story.nodes.iter().filter(|node| path.iter().any(|id| *id == node.id));
    let represented: BTreeSet<&str> = passed.flat_map(|node| core::iter::once(&node.id).chain(&node.stands_for)).map(|id| id.as_str()).collect();
    let mut lit: BTreeSet<&str> = whole.nodes.iter().map(|node| node.id.as_str()).filter(|id| represented.contains(id)).collect();
    // A filter chain and a virtual host may be between a listener and a route.
    for _ in 0..2 {
        let forwards = || whole.edges.iter().filter(|edge| edge.relation == Relation::Forwards);
        let after: BTreeSet<&str> = forwards().filter(|edge| lit.contains(edge.from.as_str())).map(|edge| edge.to.as_str()).collect();
        let between = forwards().filter(|edge| lit.contains(edge.to.as_str())).map(|edge| edge.from.as_str()).filter(|id| after.contains(id));
        let between: Vec<&str> = between.collect();
        lit.extend(between);
    }
    lit.into_iter().map(String::from).collect()
}

/// Returns the conditions of the matched route except host, path and transport: names, each with its required value.
fn matched_conditions<'c>(simulation: &Simulation, parts: &ByPointer<'c>) -> Vec<(String, Option<&'c str>)> {
    use pb::route::{header_matcher::HeaderMatchSpecifier, query_parameter_matcher::QueryParameterMatchSpecifier};
    let host = simulation.places.iter().find(|place| place.of == "virtual_host");
    let route = host.zip(simulation.route.as_ref()).map(|(host, route)| format!("{}/routes/{}", host.pointer, route.index));
    let Some(asks) = route.and_then(|pointer| parts.route(&pointer)?.r#match.as_ref()) else { return Vec::new() };
    let exact = |of: &'c pb::matcher::StringMatcher| match of.match_pattern.as_ref()? {
        MatchPattern::Exact(text) => Some(text.as_str()),
        _ => None,
    };
    let headers = asks.headers.iter().filter(|of| !matches!(of.name.as_str(), TRANSPORT | ":authority")).map(|of| {
        let value = match of.header_match_specifier.as_ref() {
            Some(HeaderMatchSpecifier::StringMatch(text)) => exact(text),
            _ => None,
        };
        (of.name.trim_start_matches(':').to_string(), value)
    });
    let queries = asks.query_parameters.iter().map(|of| {
        let value = match of.query_parameter_match_specifier.as_ref() {
            Some(QueryParameterMatchSpecifier::StringMatch(text)) => exact(text),
            _ => None,
        };
        (format!("?{}", of.name), value)
    });
    headers.chain(queries).chain(asks.grpc.as_ref().map(|_| ("gRPC".to_string(), None))).collect()
}

/// Whether the phrases of a rule's conditions are these conditions.
fn has_conditions(conditions: &[String], asked: &[(String, Option<&str>)]) -> bool {
    let fits = |(words, (name, value)): (&String, &(String, Option<&str>))| {
        let rest = words.trim_start_matches("not ").strip_prefix(name.as_str());
        rest.is_some_and(|rest| value.is_none_or(|value| rest.strip_prefix(' ') == Some(value)))
    };
    conditions.len() == asked.len() && conditions.iter().zip(asked).all(fits)
}
