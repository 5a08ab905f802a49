//! Builds the graph: nodes of the input, references by field, and findings. Does not add Envoy's parts; see `envoy`.

use super::path::cycles;
use super::{Edge, Graph, GraphNode, NodeKind, Relation, Rule, ServiceShare};
use crate::relation::{Absence, references};
use crate::{OriginView, Positions, ResourceRef, count_clusters, count_routes, ledger};
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::compilation::{CallEffect, CallEnd, Compilation, Options};
use chancery_base::diagnostic::Severity;
use chancery_base::resource::{Object, ObjectId, Origin};
use chancery_text::{NodeId, Str};
use hashbrown::{HashMap, HashSet};

/// Returns the graph of a compilation: each resource once, and the parts of each gateway. If there are several gateways, the ids of their parts
/// begin with the gateway's name.
///
/// ```
/// use chancery_base::compilation::Options;
/// use chancery_compile::compile;
/// use chancery_base::resource::Inputs;
/// use chancery_explain::graph;
///
/// let inputs = Inputs::one("quote.yaml", "\
/// apiVersion: getambassador.io/v3alpha1
/// kind: Mapping
/// metadata: {name: quote}
/// spec: {hostname: \"*\", prefix: /quote/, service: quote, timout_ms: 9000}
/// ");
/// let compilation = compile(&inputs, &Options::default(), &[&chancery_ambassador::DIALECT]);
///
/// let graph = graph(&compilation, &compilation.positions());
/// let cluster = graph.nodes.iter().find(|node| node.label == "cluster_quote_default").expect("the Mapping's cluster");
/// assert!(graph.edges.iter().any(|edge| edge.from == "Mapping/quote/default" && edge.to == cluster.id));
/// ```
pub fn graph(compilation: &Compilation, positions: &Positions<'_>) -> Graph {
    // An estimate that covers most of the nodes.
    let parts = compilation.gateways().map(|gateway| count_routes(gateway) + 2 * count_clusters(gateway)).sum::<usize>();
    let many = compilation.objects.len() + parts;
    let mut builder = Builder {
        compilation,
        positions,
        graph: Graph { nodes: Vec::with_capacity(many), ..Graph::default() },
        ids: HashMap::new(),
        known: HashMap::new(),
        taken: HashMap::new(),
        drawn: HashSet::new(),
        edges: Vec::with_capacity(2 * many),
        references_of: HashMap::new(),
        scope: None,
    };
    builder.resources();
    builder.distinguish_labels();
    builder.findings();
    builder.references();
    builder.calls();
    builder.created();
    for gateway in compilation.gateways() {
        builder.scope = gateway.label().map(Str::from);
        builder.listeners(gateway.ir);
        builder.clusters(gateway.ir);
        builder.add_verbatim(&gateway.ir.delivery.verbatim, gateway.of().dialect().cluster_label);
    }
    for gateway in compilation.app_gateways() {
        builder.scope = gateway.named.label().map(Str::from);
        builder.app_gateway(gateway.parts);
    }
    for of in compilation.nginxes() {
        builder.scope = of.named.label().map(Str::from);
        builder.nginx(of.nginx);
    }
    let mut graph = builder.finish();
    graph.nginxes = compilation.nginxes().map(|of| of.named.label().map(Str::from)).collect();
    graph.app_gateways = compilation.app_gateways().map(|gateway| gateway.named.label().map(Str::from)).collect();
    graph
}

/// An edge that refers to its ends by index.
struct IndexedEdge {
    from: usize,
    to: usize,
    relation: Relation,
    label: &'static str,
    at: Option<Box<OriginView>>,
    terms: Box<[String]>,
    weight: Option<Str>,
}

/// Returns the field with the weight of a reference: inside the same object as the referring field, or inside the referring object itself.
fn weight_field(object: &Object, referring: NodeId) -> Option<Str> {
    let spans = &object.document.spans;
    let is_weight = |field: &str| field.rsplit('.').next().is_some_and(|key| key.eq_ignore_ascii_case("weight"));
    let weight_in = |parent: NodeId| {
        let leaves = object.leaves(parent).into_iter().filter(|leaf| spans.get(*leaf).is_some_and(|span| span.parent == parent));
        leaves.map(|leaf| object.path(leaf).to_string()).find(|field| is_weight(field))
    };
    weight_in(referring).or_else(|| weight_in(spans.get(referring)?.parent)).map(Str::from)
}

pub(super) struct Builder<'a> {
    pub compilation: &'a Compilation,
    positions: &'a Positions<'a>,
    graph: Graph,
    ids: HashMap<ObjectId, usize>,
    known: HashMap<Str, usize>,
    /// How many nodes requested the same id.
    taken: HashMap<String, u32>,
    drawn: HashSet<(usize, usize, Relation)>,
    edges: Vec<IndexedEdge>,
    /// The edges to Services, by the resource that refers.
    references_of: HashMap<usize, Vec<usize>>,
    /// The gateway whose parts are being added, if there are several gateways.
    scope: Option<Str>,
}

/// Returns the id of a resource's node.
pub(crate) fn id_of(resource: &ResourceRef) -> String {
    match &resource.namespace {
        Some(namespace) => format!("{}/{}/{namespace}", resource.kind, resource.name),
        None => format!("{}/{}", resource.kind, resource.name),
    }
}

impl Builder<'_> {
    /// Returns the node with this id, and creates it if necessary.
    pub fn node(&mut self, id: &str, kind: NodeKind, label: impl FnOnce() -> String) -> usize {
        if let Some(at) = self.known.get(id) {
            return *at;
        }
        let (at, id) = (self.graph.nodes.len(), Str::from(id));
        self.known.insert(id.clone(), at);
        let gateway = self.scope.clone().filter(|_| kind.is_envoy());
        // Doubling a list needs three times its memory while it copies.
        if at == self.graph.nodes.capacity() {
            self.graph.nodes.reserve_exact(at / 8 + 8);
        }
        self.graph.nodes.push(GraphNode { gateway, ..GraphNode::new(id, kind, label()) });
        at
    }

    /// Sets the conditions of a route.
    pub fn rule(&mut self, at: usize, rule: Rule) {
        if let Some(node) = self.graph.nodes.get_mut(at) {
            node.rule = Some(Box::new(rule));
        }
    }

    /// Returns an id for a part of the current gateway.
    pub fn scoped(&self, id: String) -> String {
        match &self.scope {
            Some(gateway) => format!("{gateway}/{id}"),
            None => id,
        }
    }

    /// Returns an unused id.
    pub fn free(&mut self, id: String) -> String {
        if !self.known.contains_key(id.as_str()) {
            return id;
        }
        let number = self.taken.entry(id.clone()).or_insert(1);
        loop {
            *number += 1;
            let other = format!("{id}#{number}");
            if !self.known.contains_key(other.as_str()) {
                return other;
            }
        }
    }

    /// Adds a node for a part that is referenced but missing.
    pub fn missing(&mut self, id: &str, label: String, reason: String) -> usize {
        let at = self.node(id, NodeKind::Missing, || label);
        if let Some(node) = self.graph.nodes.get_mut(at) {
            node.reason = Some(reason);
        }
        at
    }

    /// Marks a missing node as left out of the input.
    pub fn assume(&mut self, at: usize) {
        if let Some(node) = self.graph.nodes.get_mut(at) {
            node.state = Some("assumed");
        }
    }

    pub fn find(&self, id: &str) -> Option<usize> {
        self.known.get(id).copied()
    }

    pub fn edge(&mut self, from: usize, to: usize, relation: Relation, label: &'static str, at: Option<Box<OriginView>>) {
        if from != to && self.drawn.insert((from, to, relation)) {
            self.edges.push(IndexedEdge { from, to, relation, label, at, terms: Box::default(), weight: None });
        }
    }

    /// Adds edges from the resources of these origins to a part of Envoy's configuration.
    pub fn made(&mut self, origins: &[Origin], to: usize) {
        for origin in origins {
            if let Some(from) = self.ids.get(&origin.object()).copied() {
                self.edge(from, to, Relation::Makes, "", None);
                self.add_field(*origin, to);
            }
        }
    }

    /// Adds the field of an origin to a route.
    fn add_field(&mut self, origin: Origin, route: usize) {
        let Some(rule) = self.graph.nodes.get_mut(route).and_then(|node| node.rule.as_mut()) else { return };
        let path = self.compilation.objects.get(origin.object()).map(|object| object.path(origin.node()).to_string());
        // Only the items of lists distinguish the rules of a resource.
        rule.fields.extend(path.filter(|path| path.contains('[')));
    }

    /// Returns the Service that a field inside one of these origins names.
    pub fn named_service(&self, origins: &[Origin]) -> Option<usize> {
        origins.iter().find_map(|origin| {
            let path = self.compilation.objects.get(origin.object())?.path(origin.node()).to_string();
            let inside = |field: &str| field.strip_prefix(path.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']));
            let edges = self.references_of.get(self.ids.get(&origin.object())?)?.iter().filter_map(|number| self.edges.get(*number));
            let mut named = edges.filter(|edge| edge.at.as_ref().and_then(|at| at.path.as_deref()).is_some_and(inside)).map(|edge| edge.to);
            named.next().filter(|_| !path.is_empty())
        })
    }

    /// Adds the services of a cluster: one, or several that it divides its requests among.
    pub fn split(&mut self, cluster: usize, services: Vec<(usize, i64, Vec<Str>)>) {
        let total = services.iter().map(|(_, weight, _)| *weight).sum::<i64>().max(1);
        let id = |at: usize| self.graph.nodes.get(at).map(|node| node.id.clone()).unwrap_or_default();
        let share = |(service, weight, endpoints): (usize, i64, Vec<Str>)| ServiceShare {
            service: id(service),
            percent: u32::try_from((weight.saturating_mul(100) + total / 2) / total).unwrap_or_default(),
            endpoints,
        };
        let entry = (id(cluster), services.into_iter().map(share).collect());
        self.graph.cluster_services.push(entry);
    }

    /// Returns the id of the first resource among these origins.
    pub fn maker(&self, origins: &[Origin]) -> Option<&str> {
        let at = origins.iter().find_map(|origin| self.ids.get(&origin.object()))?;
        self.graph.nodes.get(*at).map(|node| node.id.as_str())
    }

    /// Adds an edge from each resource of the first origins to each of the second.
    pub fn selects(&mut self, outer: &[Origin], inner: &[Origin], label: &'static str) {
        for (outer, inner) in outer.iter().flat_map(|outer| inner.iter().map(move |inner| (outer, inner))) {
            if let (Some(from), Some(to)) = (self.ids.get(&outer.object()).copied(), self.ids.get(&inner.object()).copied()) {
                self.edge(from, to, Relation::Selects, label, None);
            }
        }
    }

    fn resources(&mut self) {
        for row in ledger(self.compilation, self.positions) {
            // One controller may use an object that another ignores.
            if let Some(node) = self.ids.get(&row.object).and_then(|at| self.graph.nodes.get_mut(*at)) {
                if node.state.is_none_or(|state| state == "ignored") {
                    node.state = Some(row.state);
                }
                continue;
            }
            let id = self.free(id_of(&row.resource));
            let at = self.node(&id, NodeKind::Resource, || row.resource.to_string());
            self.ids.insert(row.object, at);
            if let Some(node) = self.graph.nodes.get_mut(at) {
                (node.resource, node.state, node.span) = (Some(row.resource.into()), Some(row.state), row.span.map(Box::new));
            }
        }
        for object in self.compilation.objects.iter() {
            if let Some((holder, _)) = object.parent
                && let (Some(from), Some(to)) = (self.ids.get(&holder).copied(), self.ids.get(&object.id).copied())
            {
                self.edge(from, to, Relation::Holds, "annotation", None);
            }
        }
    }

    /// Adds a second line to the labels of resources that share a name, to distinguish them.
    fn distinguish_labels(&mut self) {
        let identify = self.compilation.sides.iter().find_map(|side| (side.dialect.read_options)(&Options::default()).identify);
        let Some(identify) = identify else { return };
        let mut named: BTreeMap<String, Vec<(usize, Vec<Str>)>> = BTreeMap::new();
        for object in self.compilation.objects.iter().filter(|object| !object.broken) {
            if let Some(at) = self.ids.get(&object.id).copied() {
                named.entry(id_of(&ResourceRef::from(&object.key))).or_default().push((at, (identify.apart)(&object.root)));
            }
        }
        for alike in named.into_values().filter(|alike| alike.len() > 1) {
            let texts = |which: usize| alike.iter().map(move |(at, all)| (*at, all.get(which).cloned().unwrap_or_default()));
            let most = alike.iter().map(|(_, all)| all.len()).max().unwrap_or_default();
            let telling = (0..most).find(|which| texts(*which).map(|(_, text)| text).collect::<BTreeSet<_>>().len() > 1);
            for (at, text) in telling.into_iter().flat_map(texts).filter(|(_, text)| !text.is_empty()) {
                if let Some(node) = self.graph.nodes.get_mut(at) {
                    node.label = format!("{}\n{text}", node.label);
                }
            }
        }
    }

    fn findings(&mut self) {
        for found in self.compilation.all_diagnostics() {
            let Some(object) = found.place.object() else { continue };
            let Some(node) = self.ids.get(&object).and_then(|at| self.graph.nodes.get_mut(*at)) else { continue };
            match found.severity {
                Severity::Error => node.errors += 1,
                Severity::Warning => node.warnings += 1,
                Severity::Notice => {}
            }
        }
    }

    fn references(&mut self) {
        for (side, reference) in self.compilation.sides().flat_map(|side| references(side).into_iter().map(move |reference| (side, reference))) {
            let Some(from) = self.ids.get(&reference.from).copied() else { continue };
            let to = match reference.to {
                Ok(object) => self.ids.get(&object).copied(),
                Err(Absence { reason, assumed }) => {
                    let resource = ResourceRef::from(&reference.key);
                    let at = self.missing(&format!("missing:{}", id_of(&resource)), resource.to_string(), reason.into_owned());
                    if let Some(node) = self.graph.nodes.get_mut(at) {
                        node.resource = Some(resource.into());
                        node.state = assumed.then_some("assumed");
                    }
                    // Parts made from an assumed object get its assumed node as their maker.
                    if let Some(object) = self.compilation.objects.assumed().find(|object| object.key == reference.key) {
                        self.ids.insert(object.id, at);
                    }
                    Some(at)
                }
            };
            let weight = reference.at.and_then(|origin| weight_field(self.compilation.objects.get(origin.object())?, origin.node()));
            let at = reference.at.map(|origin| Box::new(OriginView::of(origin, side, self.positions)));
            if let Some(to) = to {
                let count = self.edges.len();
                self.edge(from, to, Relation::Refers, reference.relation, at);
                self.edges.iter_mut().skip(count).for_each(|edge| edge.weight.clone_from(&weight));
            }
        }
    }

    /// Adds the rules about calls between services. A rule about every service starts or ends at its own object.
    fn calls(&mut self) {
        let mut replaced: HashSet<(usize, usize)> = HashSet::new();
        for (side, rule) in self.compilation.sides().flat_map(|side| side.call_rules().into_iter().map(move |rule| (side, rule))) {
            let Some(own) = self.ids.get(&rule.object).copied() else { continue };
            let end = |end: &CallEnd| match end {
                CallEnd::Object(object) => self.ids.get(object).copied(),
                CallEnd::Unregistered(key) => self.find(&format!("missing:{}", id_of(&ResourceRef::from(key)))),
                CallEnd::Any => Some(own),
            };
            let (Some(from), Some(to)) = (end(&rule.from), end(&rule.to)) else { continue };
            let relation = match rule.effect {
                CallEffect::Allow => Relation::Allows,
                CallEffect::Deny => Relation::Denies,
                CallEffect::Conditions => Relation::Decides,
            };
            replaced.insert((own, from));
            if from != to && self.drawn.insert((from, to, relation)) {
                let at = rule.at.map(|origin| Box::new(OriginView::of(origin, side, self.positions)));
                self.edges.push(IndexedEdge { from, to, relation, label: "", at, terms: rule.terms.into(), weight: None });
            }
        }
        // A rule's reference to its caller would point back along the same way.
        self.edges.retain(|edge| edge.relation != Relation::Refers || !replaced.contains(&(edge.from, edge.to)));
        for (number, edge) in self.edges.iter().enumerate().filter(|(_, edge)| edge.relation == Relation::Refers) {
            let to = self.graph.nodes.get(edge.to).and_then(|node| node.resource.as_ref());
            if to.is_some_and(|resource| resource.kind == "Service") {
                self.references_of.entry(edge.from).or_default().push(number);
            }
        }
    }

    fn created(&mut self) {
        for created in self.compilation.sides.iter().flat_map(|side| side.answers.created.iter().flatten()) {
            let Some(owner) = self.ids.get(&created.owner).copied() else { continue };
            let resource = ResourceRef::from(&created.key);
            let id = self.free(id_of(&resource));
            let at = self.node(&id, NodeKind::Created, || resource.to_string());
            let gateway = self.graph.nodes.get(owner).and_then(|owner| owner.resource.as_ref()).map(|owner| {
                let namespace = owner.namespace.as_deref().unwrap_or_default();
                Str::from(format!("{namespace}/{}", owner.name))
            });
            if let Some(node) = self.graph.nodes.get_mut(at) {
                (node.resource, node.gateway) = (Some(resource.into()), gateway);
            }
            self.edge(owner, at, Relation::Owns, "owner", None);
        }
    }

    fn finish(self) -> Graph {
        let Self { mut graph, mut edges, known, taken, drawn, ids, .. } = self;
        // With a large input these need as much memory as the edges that are built next.
        drop((known, taken, drawn, ids));
        edges.sort_by_key(|edge| (edge.from, edge.relation, edge.to));
        let refers: Vec<(usize, usize)> = edges.iter().filter(|edge| edge.relation == Relation::Refers).map(|edge| (edge.from, edge.to)).collect();
        let id = |at: usize| graph.nodes.get(at).map(|node| node.id.clone()).unwrap_or_default();
        graph.cycles = cycles(graph.nodes.len(), &refers).into_iter().map(|cycle| cycle.into_iter().map(id).collect()).collect();
        graph.edges = edges
            .into_iter()
            .map(|edge| Edge {
                from: id(edge.from),
                to: id(edge.to),
                relation: edge.relation,
                label: edge.label,
                at: edge.at,
                terms: edge.terms,
                share: None,
                weight: edge.weight,
            })
            .collect();
        graph
    }
}
