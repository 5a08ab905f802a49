//! Turns the graph into a story: the user's resources in the order in which a request meets them. Listener, Host, rule, Service, and below them the
//! objects that support these.
//!
//! A rule is a path with its conditions in one virtual host. Envoy may get several routes for it, for http and https or for each share of the
//! traffic; the story shows one rule with shares. Each node of a story knows the nodes that it represents.
//!
//! Does not show Envoy's view; that is the graph that the story is made from.

use super::{Edge, Graph, GraphNode, NodeKind, Relation, ServiceShare};
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use chancery_text::Str;
use hashbrown::HashMap;

/// The conditions and the target of a route.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rule {
    /// The path, as `/cart/*`.
    pub path: Str,
    /// Other conditions, as phrases. Leaves out the host, and the header that only distinguishes http from https.
    pub conditions: Vec<String>,
    /// The action instead of forwarding, as a phrase.
    pub action: Option<String>,
    /// The transport that it is for, if it matters: the routes of one rule differ in it.
    pub transport: Str,
    /// The percentage of its matching requests that the route handles.
    pub takes: u32,
    /// Clusters by name, each with its share in percent.
    pub shares: Vec<(Str, u32)>,
    /// The fields that it comes from, if they are in lists.
    pub fields: Vec<String>,
}

/// Numbers of the columns.
const LISTENER: u8 = 0;
const HOST: u8 = 1;
const RULE: u8 = 2;
const SERVICE: u8 = 3;

/// Supporting nodes are joined with at most this many rules of one resource.
const MOST_USERS: usize = 3;

/// Returns the story of a whole graph. `built_in` includes rules that the controller adds by itself.
#[must_use]
pub fn story(whole: &Graph, built_in: bool) -> Graph {
    let mut teller = StoryBuilder::new(whole, built_in);
    teller.keep();
    teller.hosts();
    teller.connections();
    teller.callers();
    teller.support();
    teller.finish()
}

/// A rule while its routes are collected.
struct Gathered {
    routes: Vec<usize>,
    makers: Vec<usize>,
    path: Str,
    conditions: Vec<String>,
    actions: Vec<String>,
    /// Services, each with its share in percent.
    targets: Vec<(usize, u32)>,
    /// The percentage of requests that remain for later routes, by virtual host and transport.
    remaining: Vec<(usize, Str, u32)>,
    /// The fields that its routes come from, if they are in lists.
    fields: Vec<String>,
}

/// The length of the path to the innermost list item that contains both fields.
fn shared_item(field: &str, other: &str) -> usize {
    let common = field.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
    field.get(..common).and_then(|common| common.rfind(']')).map_or(0, |at| at + 1)
}

/// A service of a cluster that divides its requests: its node, its share in percent, and its endpoints.
type Split = (usize, u32, Vec<usize>);

struct StoryBuilder<'a> {
    whole: &'a Graph,
    built_in: bool,
    /// The resources that make each node.
    makers: Vec<Vec<usize>>,
    /// The nodes that each node forwards requests to.
    next: Vec<Vec<usize>>,
    /// The services that each resource names.
    services: Vec<Vec<usize>>,
    /// The services of clusters: one, or several that divide the requests.
    split: HashMap<usize, Vec<Split>>,
    /// The resources that another resource of their kind refers to.
    included: BTreeSet<usize>,
    /// The column of each node; `None` for nodes that no request passes.
    lane: Vec<Option<u8>>,
    kept: Vec<bool>,
    /// The other nodes that each node represents.
    members: Vec<BTreeSet<usize>>,
    rules: Vec<Gathered>,
    known: HashMap<(String, Str, Vec<String>), usize>,
    rules_of: Vec<Vec<usize>>,
    /// Edges between nodes of the whole graph. Rules are numbered after these nodes.
    lines: BTreeMap<(usize, usize), (Relation, Option<u32>)>,
}

impl<'a> StoryBuilder<'a> {
    fn new(whole: &'a Graph, built_in: bool) -> Self {
        let at: HashMap<&str, usize> = whole.nodes.iter().enumerate().map(|(at, node)| (node.id.as_str(), at)).collect();
        let count = whole.nodes.len();
        let none = || vec![Vec::new(); count];
        let (mut makers, mut next, mut services) = (none(), none(), none());
        let mut included = BTreeSet::new();
        let kind = |at: usize| whole.nodes[at].resource.as_ref().map(|of| of.kind.as_str());
        for edge in &whole.edges {
            let (Some(from), Some(to)) = (at.get(edge.from.as_str()), at.get(edge.to.as_str())) else { continue };
            match edge.relation {
                Relation::Makes => makers[*to].push(*from),
                Relation::Forwards => next[*from].push(*to),
                Relation::Refers if kind(*from) == kind(*to) => drop(included.insert(*to)),
                Relation::Refers if whole.nodes[*to].resource.as_ref().is_some_and(|of| of.kind == "Service") => services[*from].push(*to),
                _ => {}
            }
        }
        let get = |id: &Str| at.get(id.as_str()).copied();
        let part = |of: &ServiceShare| Some((get(&of.service)?, of.percent, of.endpoints.iter().filter_map(get).collect()));
        let split = whole.cluster_services.iter().filter_map(|(cluster, services)| Some((get(cluster)?, services.iter().filter_map(part).collect())));
        let split = split.collect();
        Self {
            whole,
            built_in,
            makers,
            next,
            services,
            split,
            included,
            lane: vec![None; count],
            kept: vec![false; count],
            members: vec![BTreeSet::new(); count],
            rules: Vec::new(),
            known: HashMap::new(),
            rules_of: none(),
            lines: BTreeMap::new(),
        }
    }

    /// Returns the rule of a route, if it is shown.
    fn rule(&self, route: usize) -> Option<&'a Rule> {
        self.whole.nodes[route].rule.as_deref().filter(|_| self.built_in || !self.makers[route].is_empty())
    }

    fn kind(&self, at: usize) -> NodeKind {
        self.whole.nodes[at].kind
    }

    fn of_kind(&self, kind: NodeKind) -> Vec<usize> {
        (0..self.whole.nodes.len()).filter(|at| self.kind(*at) == kind).collect()
    }

    /// Keeps all nodes that are not parts of Envoy.
    fn keep(&mut self) {
        for at in 0..self.whole.nodes.len() {
            let node = &self.whole.nodes[at];
            let is_envoy = node.kind.is_envoy() || (node.kind == NodeKind::Missing && node.resource.is_none());
            self.kept[at] = !is_envoy;
        }
    }

    /// Puts a node into a column; it represents the nodes in `stands_for`.
    fn place(&mut self, at: usize, lane: u8, stands_for: impl IntoIterator<Item = usize>) {
        self.kept[at] = true;
        self.lane[at] = Some(self.lane[at].map_or(lane, |known| known.min(lane)));
        self.members[at].extend(stands_for);
    }

    fn line(&mut self, from: usize, to: usize, share: Option<u32>) {
        if from != to {
            let line = self.lines.entry((from, to)).or_insert((Relation::Forwards, share));
            line.1 = line.1.max(share);
        }
    }

    /// Returns the story nodes for a part of Envoy's configuration: the resources that make it, or else the part itself.
    fn story_nodes(&self, at: usize) -> Vec<usize> {
        match self.makers[at].is_empty() {
            true => Vec::from([at]),
            false => self.makers[at].clone(),
        }
    }

    /// Adds the nodes from listeners to rules.
    fn hosts(&mut self) {
        for listener in self.of_kind(NodeKind::Listener) {
            let entries = self.story_nodes(listener);
            for chain in self.next[listener].clone() {
                // nginx has no filter chains.
                let is_direct = self.kind(chain) == NodeKind::VirtualHost;
                let hosts = if is_direct { Vec::from([chain]) } else { self.next[chain].clone() };
                for host in hosts.into_iter().filter(|at| self.whole.nodes[*at].kind == NodeKind::VirtualHost) {
                    if !self.next[host].iter().any(|route| self.rule(*route).is_some()) {
                        continue;
                    }
                    if is_direct {
                        entries.iter().for_each(|entry| self.place(*entry, LISTENER, [listener]));
                        self.place(host, HOST, []);
                        self.direct_host(&entries, host);
                        continue;
                    }
                    for entry in &entries {
                        self.place(*entry, LISTENER, [listener, chain]);
                    }
                    self.host(&entries, chain, host);
                }
            }
        }
    }

    /// Whether several resources of one kind make routes of a virtual host, and no resource includes the others: then none of them is its host.
    fn is_shared(&self, host: usize) -> bool {
        let makers = &self.makers[host];
        let kind = |at: &usize| self.whole.nodes[*at].resource.as_ref().map(|of| of.kind.as_str());
        let kinds: Vec<Option<&str>> = makers.iter().map(kind).collect();
        let is_other = |at: &usize| !makers.contains(at) && kinds.contains(&kind(at)) && !self.included.contains(at);
        self.next[host].iter().any(|route| self.makers[*route].iter().any(is_other))
    }

    /// Adds the lines to and from a virtual host that is shown itself.
    fn direct_host(&mut self, entries: &[usize], host: usize) {
        entries.iter().for_each(|entry| self.line(*entry, host, None));
        for route in self.next[host].clone() {
            let Some(rule) = self.rule(route) else { continue };
            let number = self.gather(host, route, rule);
            self.line(host, self.whole.nodes.len() + number, None);
        }
    }

    fn host(&mut self, entries: &[usize], chain: usize, host: usize) {
        if self.is_shared(host) {
            self.place(host, HOST, [chain]);
            return self.direct_host(entries, host);
        }
        let makers = self.makers[host].clone();
        for maker in &makers {
            self.place(*maker, HOST, [host, chain]);
            for entry in entries {
                self.line(*entry, *maker, None);
            }
        }
        let before = if makers.is_empty() { entries.to_vec() } else { makers };
        for route in self.next[host].clone() {
            let Some(rule) = self.rule(route) else { continue };
            let number = self.gather(host, route, rule);
            for from in &before {
                self.line(*from, self.whole.nodes.len() + number, None);
            }
        }
    }

    /// Adds a route to its rule.
    fn gather(&mut self, host: usize, route: usize, rule: &Rule) -> usize {
        let key = (self.whole.nodes[host].label.clone(), rule.path.clone(), rule.conditions.clone());
        let number = *self.known.entry(key).or_insert_with(|| {
            self.rules.push(Gathered {
                routes: Vec::new(),
                makers: Vec::new(),
                path: rule.path.clone(),
                conditions: rule.conditions.clone(),
                actions: Vec::new(),
                targets: Vec::new(),
                remaining: Vec::new(),
                fields: Vec::new(),
            });
            self.rules.len() - 1
        });
        let mut targets: Vec<(usize, u32)> = Vec::new();
        for (cluster, share) in &rule.shares {
            targets.extend(self.targets(route, cluster).into_iter().map(|(to, part)| (to, (share * part + 50) / 100)));
        }
        let makers = self.makers[route].clone();
        let gathered = &mut self.rules[number];
        let twin =
            gathered.remaining.iter().position(|(of, transport, _)| *of == host && *transport == rule.transport).unwrap_or(gathered.remaining.len());
        if twin == gathered.remaining.len() {
            gathered.remaining.push((host, rule.transport.clone(), 100));
        }
        let remaining = &mut gathered.remaining[twin].2;
        let taken = *remaining * rule.takes / 100;
        *remaining -= taken;
        for (to, share) in targets {
            let share = (taken * share + 50) / 100;
            match gathered.targets.iter_mut().find(|(known, _)| *known == to) {
                Some((_, known)) => *known = (*known).max(share),
                None => gathered.targets.push((to, share)),
            }
        }
        gathered.fields.extend(rule.fields.iter().filter(|field| !gathered.fields.contains(field)).cloned().collect::<Vec<_>>());
        gathered.actions.extend(rule.action.clone().filter(|action| !gathered.actions.contains(action)));
        if !gathered.routes.contains(&route) {
            gathered.routes.push(route);
        }
        for maker in makers {
            if !gathered.makers.contains(&maker) {
                gathered.makers.push(maker);
            }
            if !self.rules_of[maker].contains(&number) {
                self.rules_of[maker].push(number);
            }
        }
        number
    }

    /// Returns what a route sends to through a cluster, each with its share in percent: Services that its makers name, addresses, or the cluster
    /// itself.
    fn targets(&mut self, route: usize, cluster: &str) -> Vec<(usize, u32)> {
        let found = self.next[route].iter().copied().find(|at| self.whole.nodes[*at].label.lines().next() == Some(cluster));
        found.map(|at| self.upstream(at)).unwrap_or_default()
    }

    fn upstream(&mut self, cluster: usize) -> Vec<(usize, u32)> {
        if let Some(services) = self.split.get(&cluster).cloned() {
            return self.split_services(cluster, services);
        }
        let named: Vec<usize> = self.makers[cluster].iter().flat_map(|maker| self.services[*maker].iter().copied()).collect();
        let label = self.whole.nodes[cluster].label.replace('_', "-");
        let is_named = |at: &usize| {
            let name = self.whole.nodes[*at].resource.as_ref().map(|of| of.name.replace('_', "-"));
            name.is_some_and(|name| label.split('/').any(|part| part == name) || label.contains(&format!("-{name}-")))
        };
        let one = match named.len() {
            0 => None,
            1 => named.first().copied(),
            _ => named.iter().copied().filter(is_named).max_by_key(|at| self.whole.nodes[*at].label.len()),
        };
        let endpoints = self.next[cluster].clone();
        let out = match one {
            Some(service) => Vec::from([service]),
            None if self.readable_name(cluster).is_some() => Vec::from([cluster]),
            None if !endpoints.is_empty() && endpoints.iter().all(|at| self.kind(*at) == NodeKind::Endpoint) => endpoints.clone(),
            None => Vec::from([cluster]),
        };
        for at in &out {
            let own = endpoints.iter().copied().filter(|end| one.is_some() || end == at || *at == cluster);
            let stands_for: Vec<usize> = own.chain([cluster]).collect();
            self.place(*at, SERVICE, stands_for);
        }
        out.into_iter().map(|to| (to, 100)).collect()
    }

    /// Places the services of a cluster that divides its requests, and returns them with their shares.
    fn split_services(&mut self, cluster: usize, services: Vec<Split>) -> Vec<(usize, u32)> {
        for (service, _, endpoints) in &services {
            self.place(*service, SERVICE, endpoints.iter().copied().chain([cluster]));
        }
        services.into_iter().map(|(service, percent, _)| (service, percent)).collect()
    }

    /// Returns the readable name of a cluster whose own name is generated.
    fn readable_name(&self, cluster: usize) -> Option<&'a str> {
        self.whole.nodes[cluster].label.lines().nth(1).filter(|_| self.kind(cluster) == NodeKind::Cluster)
    }

    /// Adds connections that are forwarded as TCP, which no virtual host handles.
    fn connections(&mut self) {
        for listener in self.of_kind(NodeKind::Listener) {
            for chain in self.next[listener].clone() {
                let clusters: Vec<usize> =
                    self.next[chain].iter().copied().filter(|at| matches!(self.kind(*at), NodeKind::Cluster | NodeKind::Missing)).collect();
                let by: Vec<usize> = self.makers[chain].iter().copied().filter(|by| !self.makers[listener].contains(by)).collect();
                if clusters.is_empty() || by.is_empty() {
                    continue;
                }
                for entry in self.story_nodes(listener) {
                    self.place(entry, LISTENER, [listener, chain]);
                    by.iter().for_each(|by| self.line(entry, *by, None));
                }
                for by in by {
                    self.place(by, RULE, [chain]);
                    for cluster in &clusters {
                        for (to, _) in self.upstream(*cluster) {
                            self.line(by, to, None);
                        }
                    }
                }
            }
        }
    }

    /// Adds services that rules about calls name, with their listeners.
    fn callers(&mut self) {
        let at: HashMap<&str, usize> = self.whole.nodes.iter().enumerate().map(|(at, node)| (node.id.as_str(), at)).collect();
        let calls = self.whole.edges.iter().filter(|edge| edge.relation.call_effect().is_some());
        let ends: BTreeSet<usize> = calls.flat_map(|edge| [&edge.from, &edge.to]).filter_map(|id| at.get(id.as_str()).copied()).collect();
        if ends.is_empty() {
            return;
        }
        ends.iter().for_each(|end| self.place(*end, LISTENER, []));
        for listener in self.of_kind(NodeKind::Listener) {
            for maker in self.makers[listener].clone().into_iter().filter(|maker| ends.contains(maker)) {
                self.place(maker, LISTENER, [listener]);
            }
        }
    }

    /// Whether a resource is shown only by its rules.
    fn is_absorbed(&self, at: usize) -> bool {
        !self.rules_of[at].is_empty() && self.lane[at].is_none()
    }

    /// Adds references between the nodes that no request passes.
    fn support(&mut self) {
        // The rest of the work needs none of these, and with a large input they use as much memory as the rules.
        (self.makers, self.next, self.services, self.known) = Default::default();
        let count = self.whole.nodes.len();
        for number in 0..self.rules.len() {
            for (to, share) in self.rules[number].targets.clone() {
                self.line(count + number, to, Some(share));
            }
        }
        let at: HashMap<&str, usize> = self.whole.nodes.iter().enumerate().map(|(at, node)| (node.id.as_str(), at)).collect();
        for edge in &self.whole.edges {
            let is_call = edge.relation.call_effect().is_some();
            if !is_call && !matches!(edge.relation, Relation::Refers | Relation::Holds | Relation::Owns | Relation::Selects) {
                continue;
            }
            let (Some(from), Some(to)) = (at.get(edge.from.as_str()).copied(), at.get(edge.to.as_str()).copied()) else { continue };
            if !is_call && (self.is_absorbed(to) || self.lane[to] == Some(SERVICE) && !self.rules_of[from].is_empty()) {
                continue;
            }
            let users: Vec<usize> = match self.is_absorbed(from) {
                true => self.users_of(from, edge).into_iter().take(MOST_USERS).map(|number| count + number).collect(),
                false => Vec::from([from]),
            };
            for from in users {
                let line = self.lines.entry((from, to)).or_insert((edge.relation, None));
                // A rule about calls says more than a reference.
                if is_call && line.0 == Relation::Refers {
                    line.0 = edge.relation;
                }
            }
        }
        // A resource of a rule kind that makes no rule is shown in the column of rules.
        let kinds: BTreeSet<String> = (0..count).filter(|at| self.is_absorbed(*at)).filter_map(|at| self.kind_of_resource(at)).collect();
        for at in 0..count {
            let idle = matches!(self.whole.nodes[at].state, Some("invalid" | "ignored" | "shadowed"));
            if idle && self.lane[at].is_none() && self.rules_of[at].is_empty() && self.kind_of_resource(at).is_some_and(|kind| kinds.contains(&kind))
            {
                self.lane[at] = Some(RULE);
            }
        }
    }

    /// Returns the rules of a resource that a reference belongs to: the rules in the same item of a list as its field, or else all rules.
    fn users_of(&self, resource: usize, reference: &Edge) -> Vec<usize> {
        let rules = self.rules_of[resource].clone();
        let Some(path) = reference.at.as_ref().and_then(|at| at.path.as_deref()).filter(|_| rules.len() > 1) else { return rules };
        let score = |number: &usize| self.rules[*number].fields.iter().map(|field| shared_item(field, path)).max().unwrap_or_default();
        let best = rules.iter().map(score).max().unwrap_or_default();
        rules.into_iter().filter(|number| score(number) == best).collect()
    }

    fn kind_of_resource(&self, at: usize) -> Option<String> {
        self.whole.nodes[at].resource.as_ref().map(|of| of.kind.to_string())
    }

    fn finish(self) -> Graph {
        let count = self.whole.nodes.len();
        let mut out = Graph { cluster_services: self.whole.cluster_services.clone(), ..Graph::default() };
        out.nodes.reserve_exact(self.rules.len() + (0..count).filter(|at| self.kept[*at] && !self.is_absorbed(*at)).count());
        out.edges.reserve_exact(self.lines.len());
        for at in (0..count).filter(|at| self.kept[*at] && !self.is_absorbed(*at)) {
            let mut node = self.whole.nodes[at].clone();
            node.lane = self.lane[at];
            node.stands_for = core::iter::once(at).chain(self.members[at].iter().copied()).map(|at| self.whole.nodes[at].id.clone()).collect();
            if let (Some(SERVICE), Some(readable)) = (node.lane, self.readable_name(at)) {
                node.label = readable.to_string();
            }
            if node.lane == Some(SERVICE) {
                self.append_port(&mut node, &self.members[at]);
                // How Envoy finds its addresses is not part of a story.
                if node.is_assumed() {
                    node.reason = Some("not in the input".into());
                }
            }
            out.nodes.push(node);
        }
        out.nodes.extend(self.rules.iter().map(|rule| self.rule_node(rule)));
        let ids: BTreeSet<Str> = out.nodes.iter().map(|node| node.id.clone()).collect();
        let by = self.whole.edges.iter().filter(|edge| !edge.label.is_empty() || edge.at.is_some());
        let by: HashMap<(&str, &str), &Edge> = by.map(|edge| ((edge.from.as_str(), edge.to.as_str()), edge)).collect();
        let id =
            |at: usize| at.checked_sub(count).and_then(|number| self.rules.get(number)).map_or(at, |rule| rule.routes.first().copied().unwrap_or(at));
        for ((from, to), (relation, share)) in &self.lines {
            let (Some(of), Some(into)) = (self.whole.nodes.get(id(*from)), self.whole.nodes.get(id(*to))) else { continue };
            // The field of one resource that names the other.
            let mut froms = self.owners(*from).into_iter().map(|at| self.whole.nodes[at].id.as_str());
            let said = froms.find_map(|from| self.owners(*to).into_iter().find_map(|to| by.get(&(from, self.whole.nodes[to].id.as_str()))));
            if ids.contains(&of.id) && ids.contains(&into.id) {
                out.edges.push(Edge {
                    from: of.id.clone(),
                    to: into.id.clone(),
                    relation: *relation,
                    label: said.map_or("", |edge| edge.label),
                    at: said.and_then(|edge| edge.at.clone()),
                    terms: said.map(|edge| edge.terms.clone()).unwrap_or_default(),
                    share: share.filter(|share| *share < 100),
                    weight: said.and_then(|edge| edge.weight.clone()),
                });
            }
        }
        out.cycles = self.whole.cycles.iter().filter(|cycle| cycle.iter().all(|id| ids.contains(id))).cloned().collect();
        out
    }

    /// Returns the resources at an end of an edge.
    fn owners(&self, at: usize) -> Vec<usize> {
        match at.checked_sub(self.whole.nodes.len()) {
            Some(number) => self.rules.get(number).map(|rule| rule.makers.clone()).unwrap_or_default(),
            None => Vec::from([at]),
        }
    }

    /// Adds the port to the name of a Service, if all its requests go to one port.
    fn append_port(&self, node: &mut GraphNode, members: &BTreeSet<usize>) {
        let ends = members.iter().filter(|at| self.kind(**at) == NodeKind::Endpoint).filter_map(|at| self.whole.nodes[*at].label.lines().next());
        // Without a known address, the cluster's name may end with the Service and its port.
        let name = node.resource.as_ref().map(|of| of.name.to_string()).unwrap_or_default();
        let clusters = members.iter().filter(|at| self.kind(**at) == NodeKind::Cluster).map(|at| self.whole.nodes[*at].label.as_str());
        let behind = |label: &'a str| label.split('/').skip_while(|part| *part != name).nth(1).filter(|part| part.parse::<u16>().is_ok());
        let ports: BTreeSet<&str> = ends.filter_map(|end| end.rsplit_once(':')).map(|(_, port)| port).chain(clusters.filter_map(behind)).collect();
        if let (Some(resource), Some(port), 1) = (&node.resource, ports.first(), ports.len()) {
            node.label = format!("{}:{port}", resource.name);
        }
    }

    fn rule_node(&self, rule: &Gathered) -> GraphNode {
        let makers = || rule.makers.iter().map(|at| &self.whole.nodes[*at]);
        let first = makers().next();
        // Resources of several kinds may share a name.
        let mut names: Vec<&str> = Vec::new();
        for name in makers().filter_map(|node| node.resource.as_ref()).map(|of| of.name.as_str()) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let kind = first.and_then(|node| node.resource.as_ref()).map_or("built in", |of| of.kind.as_str());
        let mut notes = rule.conditions.clone();
        match (rule.targets.is_empty(), rule.actions.is_empty()) {
            (true, _) => notes.extend(rule.actions.clone()),
            (false, false) => notes.push(format!("http {}", rule.actions.join(", "))),
            (false, true) => {}
        }
        let id = rule.routes.first().map(|at| self.whole.nodes[*at].id.clone()).unwrap_or_default();
        let made: Vec<usize> = rule.routes.iter().chain(rule.makers.iter().filter(|at| self.is_absorbed(**at))).copied().collect();
        let own = || rule.makers.iter().filter(|at| self.is_absorbed(**at)).map(|at| &self.whole.nodes[*at]);
        GraphNode {
            resource: first.and_then(|node| node.resource.clone()),
            span: first.and_then(|node| node.span.clone()),
            errors: own().map(|node| node.errors).sum(),
            warnings: own().map(|node| node.warnings).sum(),
            lane: Some(RULE),
            rule: Some(Box::new(Rule { path: rule.path.clone(), conditions: rule.conditions.clone(), ..Rule::default() })),
            stands_for: made.into_iter().map(|at| self.whole.nodes[at].id.clone()).collect(),
            ..GraphNode::new(id, NodeKind::Route, format!("{}\n{kind} {}\n{}", rule.path, names.join(", "), notes.join(", ")))
        }
    }
}
