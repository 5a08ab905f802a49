//! The graph: resources and what they refer to, and on to what Envoy gets.
//!
//! Edges by field come from the dialect, edges by matching and the Envoy half from the IR's origins. What is referred to and not there is
//! a node too, with the reason. Nodes stand in the order of the text, then of the IR; nothing depends on hashes.
//!
//! What must not be here: drawing.

use super::relation::references;
use super::{OriginView, Positions, ResourceRef, Span, ledger};
use crate::compile::Compilation;
use crate::ir::{Forward, NetworkFilter, PathMatch, Route, RouteAction, UpstreamClusters, VirtualHost};
use crate::resource::{ObjectId, Origin};
use crate::text::Str;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use hashbrown::{HashMap, HashSet};

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeKind {
    /// An input object.
    Resource,
    /// What is referred to and not there.
    Missing,
    /// An Envoy listener.
    Listener,
    /// A virtual host.
    VirtualHost,
    /// A route.
    Route,
    /// A cluster.
    Cluster,
}

/// A node.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct GraphNode {
    /// Unique in the graph, and the same for the same input.
    pub id: String,
    /// What it is.
    pub kind: NodeKind,
    /// What to write on it.
    pub label: String,
    /// The resource, of input objects and what is missing.
    pub resource: Option<ResourceRef>,
    /// What became of it (`emitted`...), of input objects.
    pub state: Option<&'static str>,
    /// Why it is not there.
    pub reason: Option<String>,
    /// Where it stands.
    #[serde(flatten)]
    pub span: Option<Span>,
}

/// What an edge says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// A field names the other.
    Refers,
    /// An annotation holds the other.
    Holds,
    /// A Listener or Host takes the other in.
    Selects,
    /// A resource makes a part of Envoy's configuration.
    Makes,
    /// Envoy hands requests on.
    Forwards,
}

/// An edge.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Edge {
    /// A node's id.
    pub from: String,
    /// A node's id.
    pub to: String,
    /// What it says.
    pub relation: Relation,
    /// What for: `service`, `secret`...
    pub label: &'static str,
    /// The field that refers.
    pub at: Option<OriginView>,
}

/// Nodes and edges.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Graph {
    /// In the order of the text, then of the IR.
    pub nodes: Vec<GraphNode>,
    /// By the node that they start from.
    pub edges: Vec<Edge>,
}

/// The graph of a compilation.
pub fn graph(compilation: &Compilation, positions: &Positions<'_>) -> Graph {
    let mut builder = Builder { compilation, positions, graph: Graph::default(), ids: HashMap::new(), known: HashSet::new(), drawn: HashSet::new() };
    builder.resources();
    builder.references();
    builder.listeners();
    builder.clusters();
    let order: HashMap<&str, usize> = builder.graph.nodes.iter().enumerate().map(|(at, node)| (node.id.as_str(), at)).collect();
    let place = |id: &str| order.get(id).copied().unwrap_or(usize::MAX);
    let mut edges = core::mem::take(&mut builder.graph.edges);
    edges.sort_by_key(|edge| (place(&edge.from), edge.relation, place(&edge.to)));
    edges.retain(|edge| place(&edge.to) != usize::MAX);
    drop(order);
    builder.graph.edges = edges;
    builder.graph
}

struct Builder<'a> {
    compilation: &'a Compilation,
    positions: &'a Positions<'a>,
    graph: Graph,
    ids: HashMap<ObjectId, String>,
    known: HashSet<String>,
    drawn: HashSet<(String, String, Relation)>,
}

fn id_of(resource: &ResourceRef) -> String {
    match &resource.namespace {
        Some(namespace) => format!("{}/{}/{namespace}", resource.kind, resource.name),
        None => format!("{}/{}", resource.kind, resource.name),
    }
}

impl Builder<'_> {
    fn node(&mut self, id: &str, kind: NodeKind, label: String) -> bool {
        let new = self.known.insert(id.to_string());
        if new {
            self.graph.nodes.push(GraphNode { id: id.to_string(), kind, label, resource: None, state: None, reason: None, span: None });
        }
        new
    }

    fn edge(&mut self, from: &str, to: &str, relation: Relation, label: &'static str, at: Option<OriginView>) {
        if from != to && self.drawn.insert((from.to_string(), to.to_string(), relation)) {
            self.graph.edges.push(Edge { from: from.to_string(), to: to.to_string(), relation, label, at });
        }
    }

    fn resources(&mut self) {
        for row in ledger(self.compilation, self.positions) {
            let mut id = id_of(&row.resource);
            let mut number = 2;
            while !self.known.insert(id.clone()) {
                id = format!("{}#{number}", id_of(&row.resource));
                number += 1;
            }
            self.ids.insert(row.object, id.clone());
            let (label, span) = (row.resource.to_string(), row.span);
            self.graph.nodes.push(GraphNode {
                id,
                kind: NodeKind::Resource,
                label,
                resource: Some(row.resource),
                state: Some(row.state),
                reason: None,
                span,
            });
        }
        for object in self.compilation.objects.iter() {
            if let Some((holder, _)) = object.parent
                && let (Some(from), Some(to)) = (self.ids.get(&holder).cloned(), self.ids.get(&object.id).cloned())
            {
                self.edge(&from, &to, Relation::Holds, "annotation", None);
            }
        }
    }

    fn references(&mut self) {
        for reference in references(self.compilation) {
            let Some(from) = self.ids.get(&reference.from).cloned() else { continue };
            let to = match reference.to {
                Ok(object) => self.ids.get(&object).cloned().unwrap_or_default(),
                Err(reason) => {
                    let resource = ResourceRef::from(&reference.key);
                    let id = format!("missing:{}", id_of(&resource));
                    if self.node(&id, NodeKind::Missing, resource.to_string())
                        && let Some(node) = self.graph.nodes.last_mut()
                    {
                        node.resource = Some(resource);
                        node.reason = Some(reason);
                    }
                    id
                }
            };
            let at = reference.at.map(|origin| OriginView::of(origin, self.compilation, self.positions));
            self.edge(&from, &to, Relation::Refers, reference.relation, at);
        }
    }

    fn made(&mut self, origins: &[Origin], to: &str) {
        for origin in origins {
            if let Some(from) = self.ids.get(&origin.object()).cloned() {
                self.edge(&from, to, Relation::Makes, "", None);
            }
        }
    }

    /// Each of the first selects each of the second.
    fn selects(&mut self, outer: &[Origin], inner: &[Origin], label: &'static str) {
        for (outer, inner) in outer.iter().flat_map(|outer| inner.iter().map(move |inner| (outer, inner))) {
            if let (Some(from), Some(to)) = (self.ids.get(&outer.object()).cloned(), self.ids.get(&inner.object()).cloned()) {
                self.edge(&from, &to, Relation::Selects, label, None);
            }
        }
    }

    fn listeners(&mut self) {
        let compilation = self.compilation;
        let mut routes: HashMap<usize, String> = HashMap::new();
        for listener in &compilation.ir.listeners {
            let id = format!("listener:{}", listener.name.value);
            let address = &listener.address;
            self.node(&id, NodeKind::Listener, format!("{}\n{}:{}", listener.name.value, address.address.value, address.port.value));
            self.made(&listener.origins, &id);
            for chain in &listener.chains {
                self.selects(&listener.origins, &chain.origins, "host");
                for filter in &chain.filters {
                    match filter {
                        NetworkFilter::Http(manager) => {
                            for host in &manager.routes.virtual_hosts {
                                self.virtual_host(&id, &listener.origins, host, &mut routes);
                            }
                        }
                        NetworkFilter::Tcp(proxy) => {
                            for cluster in &proxy.clusters {
                                self.edge(&id, &format!("cluster:{}", cluster.name.value), Relation::Forwards, "", None);
                            }
                        }
                    }
                }
            }
        }
    }

    fn virtual_host(&mut self, listener: &str, origins: &[Origin], host: &VirtualHost, routes: &mut HashMap<usize, String>) {
        let id = format!("{listener}/{}", host.name);
        let domains: Vec<&str> = host.domains.iter().map(|domain| domain.value.as_str()).collect();
        self.node(&id, NodeKind::VirtualHost, if domains.is_empty() { host.name.to_string() } else { domains.join(", ") });
        self.edge(listener, &id, Relation::Forwards, "", None);
        self.made(&host.origins, &id);
        self.selects(origins, &host.origins, "host");
        for route in &host.routes {
            let number = routes.len();
            let key = Arc::as_ptr(route).addr();
            let new = !routes.contains_key(&key);
            let to = routes.entry(key).or_insert_with(|| format!("route:{number}")).clone();
            if new {
                self.node(&to, NodeKind::Route, route_label(route));
                self.made(&route.origins, &to);
                for cluster in clusters_of(route) {
                    self.edge(&to, &format!("cluster:{cluster}"), Relation::Forwards, "", None);
                }
            }
            self.edge(&id, &to, Relation::Forwards, "", None);
            self.selects(&host.origins, &route.origins, "mapping");
        }
    }

    fn clusters(&mut self) {
        let compilation = self.compilation;
        for cluster in compilation.ir.clusters.iter().chain(&compilation.ir.bootstrap.clusters) {
            let id = format!("cluster:{}", cluster.name.value);
            self.node(&id, NodeKind::Cluster, cluster.name.value.to_string());
            self.made(&cluster.origins, &id);
        }
    }
}

fn route_label(route: &Route) -> String {
    let path = match &route.matcher.path.value {
        PathMatch::Prefix(path) | PathMatch::PathSeparatedPrefix(path) => format!("{path}*"),
        PathMatch::Exact(path) => path.to_string(),
        PathMatch::Regex(regex) => format!("~ {}", regex.regex),
    };
    match &route.action {
        RouteAction::Forward(_) => path,
        RouteAction::Redirect(_) => format!("{path}\nredirect"),
        RouteAction::Respond(answer) => format!("{path}\nanswers {}", answer.status.value),
    }
}

fn clusters_of(route: &Route) -> Vec<Str> {
    let RouteAction::Forward(forward) = &route.action else { return Vec::new() };
    let Forward { clusters, mirrors, .. } = &**forward;
    let mut names: Vec<Str> = match clusters {
        UpstreamClusters::One(name) => Vec::from([name.value.clone()]),
        UpstreamClusters::Weighted(all) => all.iter().map(|cluster| cluster.name.value.clone()).collect(),
    };
    names.extend(mirrors.iter().map(|mirror| mirror.value.cluster.value.clone()));
    names
}
