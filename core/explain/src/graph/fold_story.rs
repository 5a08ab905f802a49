//! Folds a large story: joins rules and services by host, then by namespace, then by kind, until few enough boxes remain. Does not fold the graph of
//! Envoy's parts; see `fold`.

use super::fold::edges;
use super::{Graph, GraphNode, NodeKind, Relation};
use alloc::borrow::ToOwned;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_text::Str;
use core::mem;
use hashbrown::{HashMap, HashSet};

/// Groups of up to this many nodes are not joined by host.
const FEW: usize = 3;

/// Groups of up to this many nodes where requests arrive are not joined, unless these would be more than a quarter of all nodes.
const FEW_ENTRIES: usize = 12;

/// At most this many nodes with problems stay apart, and at most a quarter of all nodes.
const WRONG: usize = 24;

/// The columns of a story that requests pass.
const LISTENER: u8 = 0;
const HOST: u8 = 1;
const RULE: u8 = 2;
const SERVICE: u8 = 3;

/// How far nodes are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Host,
    Namespace,
    Kind,
}

const LEVELS: [Level; 3] = [Level::Host, Level::Namespace, Level::Kind];

/// What joined nodes share.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Group {
    lane: Option<u8>,
    kind: String,
    /// The host or the namespace.
    of: String,
    idle: bool,
}

impl Group {
    fn id(&self) -> String {
        let lane = self.lane.map_or_else(|| "support".into(), |lane| lane.to_string());
        let state = if self.idle { "/unused" } else { "" };
        format!("group:{lane}:{}/{}{state}", self.kind, self.of)
    }

    /// Its name with the number of nodes, and what they have in common on a second line.
    fn label(&self, count: u32) -> String {
        let name = format!("{}: {count}", plural(&self.kind));
        let idle = if self.idle { "without effect" } else { "" };
        // A resource's label starts with its kind.
        let of = self.of.split_once(' ').map_or(self.of.as_str(), |(_, name)| name);
        let of = of.strip_suffix(".default").unwrap_or(of);
        let of = if of.is_empty() || of == "default" { String::new() } else { format!("of {of}") };
        let second: Vec<&str> = [of.as_str(), idle].into_iter().filter(|text| !text.is_empty()).collect();
        if second.is_empty() { name } else { format!("{name}\n{}", second.join(" \u{b7} ")) }
    }
}

/// Returns the plural of a kind.
fn plural(kind: &str) -> String {
    match kind.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'o', 'u'])) {
        Some(stem) => format!("{stem}ies"),
        None if kind.ends_with(['s', 'x']) => format!("{kind}es"),
        None => format!("{kind}s"),
    }
}

impl Graph {
    /// If there are more than `most` nodes, joins nodes until at most this many remain, if possible. Nodes with problems stay apart, as do the nodes
    /// in `keep`, and the groups and nodes in `open`. Returns how many nodes were joined.
    pub fn fold_story(&mut self, most: usize, open: &[String], keep: &[String]) -> usize {
        if self.nodes.len() <= most {
            return 0;
        }
        let hosts = self.hosts();
        let stays = self.staying(most, open, keep);
        // An opened group must not change the level, or its nodes would be joined at the next one.
        let fits = |level: &Level| {
            let groups = self.groups(*level, most, &hosts, &stays, &[]);
            let joined = groups.iter().flatten().count();
            let remaining: BTreeSet<&Group> = groups.iter().flatten().collect();
            self.nodes.len() - joined + remaining.len() <= most
        };
        let level = LEVELS.iter().copied().find(fits).unwrap_or(Level::Kind);
        let groups = self.groups(level, most, &hosts, &stays, open);
        self.join(groups)
    }

    /// The nodes that are not joined.
    fn staying(&self, most: usize, open: &[String], keep: &[String]) -> Vec<bool> {
        let most_wrong = WRONG.min(most / 4);
        let named: HashSet<&str> = open.iter().chain(keep).map(String::as_str).collect();
        let mut wrong = 0;
        let stays = |node: &GraphNode| {
            wrong += usize::from(node.is_wrong());
            (node.is_wrong() && wrong <= most_wrong) || named.contains(node.id.as_str())
        };
        self.nodes.iter().map(stays).collect()
    }

    /// The host of each node: of a host itself, of the rules that it leads to, and of the services of only one host.
    fn hosts(&self) -> Vec<Option<Str>> {
        let at: HashMap<&str, usize> = self.nodes.iter().enumerate().map(|(at, node)| (node.id.as_str(), at)).collect();
        let name = |node: &GraphNode| Str::from(node.label.lines().next().unwrap_or_default());
        let mut hosts: Vec<Option<Str>> = self.nodes.iter().map(|node| (node.lane == Some(HOST)).then(|| name(node))).collect();
        let mut several: HashSet<usize> = HashSet::new();
        for (from, to) in [(HOST, RULE), (RULE, SERVICE)] {
            for edge in self.edges.iter().filter(|edge| edge.relation == Relation::Forwards) {
                let (Some(start), Some(end)) = (at.get(edge.from.as_str()), at.get(edge.to.as_str())) else { continue };
                let lane = |at: &usize| self.nodes.get(*at).and_then(|node| node.lane);
                if (lane(start), lane(end)) != (Some(from), Some(to)) {
                    continue;
                }
                let host = hosts.get(*start).cloned().flatten();
                if let Some(known) = hosts.get_mut(*end) {
                    match known {
                        Some(known) if Some(&*known) != host.as_ref() => drop(several.insert(*end)),
                        _ => *known = host,
                    }
                }
            }
        }
        for at in several {
            hosts.get_mut(at).into_iter().for_each(|host| *host = None);
        }
        hosts
    }

    /// The group of each node that is joined at a level.
    fn groups(&self, level: Level, most: usize, hosts: &[Option<Str>], stays: &[bool], open: &[String]) -> Vec<Option<Group>> {
        let group = |((node, host), stays): ((&GraphNode, &Option<Str>), &bool)| {
            let resource = node.resource.as_ref();
            let kind = match (resource, node.kind) {
                (Some(resource), _) => resource.kind.to_string(),
                (None, NodeKind::Route) => "rule".to_owned(),
                (None, kind) => kind.name().replace('_', " "),
            };
            let namespace = || resource.and_then(|resource| resource.namespace.as_ref()).map(ToString::to_string).unwrap_or_default();
            let of = match (level, node.lane) {
                (Level::Host, Some(HOST)) => return None,
                (Level::Host, Some(RULE | SERVICE)) => host.as_ref().map_or_else(namespace, ToString::to_string),
                (Level::Host | Level::Namespace, _) => namespace(),
                (Level::Kind, _) => String::new(),
            };
            let idle = matches!(node.state, Some("ignored" | "shadowed" | "invalid"));
            let group = Group { lane: node.lane, kind, of, idle };
            (!stays && !open.contains(&group.id())).then_some(group)
        };
        let mut groups: Vec<Option<Group>> = self.nodes.iter().zip(hosts).zip(stays).map(group).collect();
        let mut sizes: BTreeMap<Group, usize> = BTreeMap::new();
        groups.iter().flatten().for_each(|group| *sizes.entry(group.clone()).or_default() += 1);
        let few = |of: &Group| match (of.lane, level) {
            (Some(LISTENER), _) => FEW_ENTRIES.min(most / 4),
            (_, Level::Host) => FEW,
            _ => 1,
        };
        for group in &mut groups {
            if group.as_ref().is_some_and(|of| sizes.get(of).is_some_and(|size| *size <= few(of))) {
                *group = None;
            }
        }
        groups
    }

    fn join(&mut self, groups: Vec<Option<Group>>) -> usize {
        let mut places: HashMap<Group, usize> = HashMap::new();
        let mut renamed: HashMap<Str, Str> = HashMap::new();
        let mut nodes: Vec<GraphNode> = Vec::new();
        let mut named: Vec<(usize, Group)> = Vec::new();
        let mut joined = 0;
        for (node, group) in mem::take(&mut self.nodes).into_iter().zip(groups) {
            let Some(group) = group else {
                nodes.push(node);
                continue;
            };
            let at = *places.entry(group.clone()).or_insert_with(|| {
                let mut into = GraphNode::new(group.id(), node.kind, String::new());
                (into.folded, into.lane, into.gateway) = (Some(0), node.lane, node.gateway.clone());
                into.resource = node.resource.clone();
                nodes.push(into);
                named.push((nodes.len() - 1, group));
                nodes.len() - 1
            });
            let Some(into) = nodes.get_mut(at) else { continue };
            into.errors += node.errors;
            into.warnings += node.warnings;
            into.folded = into.folded.map(|count| count + 1);
            into.state = if into.folded == Some(1) { node.state } else { into.state.filter(|state| node.state == Some(state)) };
            into.stands_for.extend(node.stands_for);
            into.stands_for.push(node.id.clone());
            renamed.insert(node.id, into.id.clone());
            joined += 1;
        }
        for (at, group) in named {
            if let Some(node) = nodes.get_mut(at) {
                node.label = group.label(node.folded.unwrap_or_default());
                // The group's kind shows its icon; no single resource gives it a name.
                if let Some(resource) = &mut node.resource {
                    resource.name = Str::default();
                }
            }
        }
        self.nodes = nodes;
        self.edges = edges(mem::take(&mut self.edges), &renamed);
        self.cycles.retain(|cycle| cycle.iter().all(|id| !renamed.contains_key(id)));
        joined
    }
}

#[cfg(test)]
mod tests {
    use super::plural;
    use crate::overview;
    use alloc::format;
    use alloc::string::{String, ToString};
    use alloc::vec::Vec;
    use chancery_base::compilation::Options;
    use chancery_base::resource::Inputs;
    use chancery_compile::Compiler;

    fn mappings(hosts: usize, each: usize) -> String {
        let mut text = String::from(
            "apiVersion: getambassador.io/v3alpha1\nkind: Listener\nmetadata: {name: http}\nspec: {port: 8080, protocol: HTTP, securityModel: XFP, hostBinding: {namespace: {from: ALL}}}\n",
        );
        for host in 0..hosts {
            text.push_str(&format!(
                "---\napiVersion: getambassador.io/v3alpha1\nkind: Host\nmetadata: {{name: h{host}}}\nspec: {{hostname: h{host}.example.com, requestPolicy: {{insecure: {{action: Route}}}}}}\n"
            ));
            for at in 0..each {
                text.push_str(&format!(
                    "---\napiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {{name: m{host}-{at}}}\nspec: {{hostname: h{host}.example.com, prefix: /{at}/, service: s{host}-{at}}}\n"
                ));
            }
        }
        text
    }

    #[test]
    fn large_story_is_joined_by_host_then_namespace() {
        let compilation = Compiler::new(crate::testing::ALL).compile(&Inputs::one("a.yaml", mappings(3, 40)), &Options::default());
        let whole = overview(&compilation, &compilation.positions());
        let kept: Vec<String> = whole.nodes.iter().filter(|node| node.label.starts_with("/7/")).map(|node| node.id.to_string()).collect();
        let mut by_host = whole.clone();
        assert!(by_host.fold_story(50, &[], &kept) > 200);
        assert!(by_host.nodes.len() <= 50, "{}", by_host.nodes.len());
        let labels: Vec<&str> = by_host.nodes.iter().map(|node| node.label.as_str()).collect();
        assert!(labels.iter().any(|label| label.starts_with("Mappings: 39\nof h0")), "{labels:?}");
        assert!(kept.iter().all(|id| by_host.nodes.iter().any(|node| node.id == *id)), "the request's path stays open");
        let group = by_host.nodes.iter().find(|node| node.label.starts_with("Mappings")).expect("a group").id.to_string();
        let mut opened = whole.clone();
        opened.fold_story(50, core::slice::from_ref(&group), &kept);
        assert!(opened.nodes.len() > by_host.nodes.len() && !opened.nodes.iter().any(|node| node.id == group));
        let mut small = whole.clone();
        small.fold_story(8, &[], &[]);
        assert!(small.nodes.len() <= 10, "{:?}", small.nodes.iter().map(|node| &node.label).collect::<Vec<_>>());
        assert_eq!(whole.clone().fold_story(whole.nodes.len(), &[], &[]), 0);
    }

    #[test]
    fn plural_follows_the_last_letter() {
        assert_eq!(["Mapping", "HTTPProxy", "Gateway", "Ingress"].map(plural), ["Mappings", "HTTPProxies", "Gateways", "Ingresses"]);
    }
}
