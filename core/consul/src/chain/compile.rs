//! Compiles a chain from config entries.

use super::{Chain, Node, NodeKind, Request, Resolver, Route, Set, Split, Target, Tenancy, hash, target_id};
use crate::entry::Kind;
use crate::go::quote;
use crate::lenient::Reader;
use crate::names::{DEFAULT, TRUST_DOMAIN};
use crate::validate::{has_subset, is_hash_based, is_http, is_set, rounded};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::ir::{Plain, Tree};
use chancery_base::resource::Sourced;
use chancery_kubernetes::reason::Reason;
use chancery_text::Str;

/// The maximum depth of splitters, and the maximum number of shares and routes.
const DEPTH: usize = 128;
const MOST: usize = 20_000;

/// The default timeout of resolvers: 5 seconds.
const CONNECT_TIMEOUT: i64 = 5_000_000_000;

/// Compiles the chain of a service.
///
/// # Errors
///
/// The entries contradict each other.
pub fn compile(set: &Set<'_>, request: &Request) -> Result<Chain, Reason> {
    let mut compiler = Compiler {
        set,
        request,
        plain: !request.protocol.is_empty() && !is_http(&request.protocol),
        advanced: false,
        customised: Customised::default(),
        protocol: Str::default(),
        nodes: BTreeMap::new(),
        targets: BTreeMap::new(),
        kept: BTreeSet::new(),
        resolved: BTreeMap::new(),
    };
    let start = compiler.assemble()?;
    compiler.reject_cycles(&start)?;
    compiler.flatten()?;
    compiler.remove_unreachable(&start);
    compiler.finish(start)
}

#[derive(Default)]
struct Customised {
    mesh_gateway: bool,
    protocol: bool,
    connect_timeout: bool,
}

struct Compiler<'a> {
    set: &'a Set<'a>,
    request: &'a Request,
    /// Whether the proxy uses no HTTP: then routers and splitters are ignored.
    plain: bool,
    advanced: bool,
    customised: Customised,
    protocol: Str,
    nodes: BTreeMap<String, Node>,
    targets: BTreeMap<String, Target>,
    kept: BTreeSet<String>,
    /// Nodes of resolvers by their targets.
    resolved: BTreeMap<String, String>,
}

/// The target of a redirect, failover, split or route; empty fields keep the current value.
#[derive(Default)]
struct To {
    service: Str,
    subset: Str,
    within: Tenancy,
    datacenter: Str,
    peer: Str,
}

impl To {
    fn of(tree: &Tree) -> Self {
        let text = |field| tree.get(field).str();
        Self { service: text("Service"), subset: text("ServiceSubset"), datacenter: text("Datacenter"), peer: text("Peer"), ..Self::default() }
    }
}

fn dotted(service: &str) -> String {
    format!("{service}.{DEFAULT}.{DEFAULT}")
}

impl Compiler<'_> {
    fn record_protocol(&mut self, service: &Str) -> Result<(), Reason> {
        let protocol = match self.set.get(Kind::ServiceDefaults, service) {
            Some(defaults) => defaults.tree.get("Protocol").str(),
            None => Reader::of(self.set.global().get("Config")).text("protocol", ""),
        };
        let protocol = if protocol.is_empty() { Str::new_static("tcp") } else { Str::from(protocol.to_lowercase()) };
        if self.protocol.is_empty() {
            self.protocol = protocol;
        } else if self.protocol != protocol {
            return Err(format!(
                "discovery chain {} uses inconsistent protocols; service {} has {} which is not {}",
                quote(&self.request.service),
                quote(service),
                quote(&protocol),
                quote(&self.protocol)
            )
            .into());
        }
        Ok(())
    }

    fn target(&mut self, to: To) -> String {
        let datacenter = match (to.peer.is_empty(), to.datacenter.is_empty()) {
            (false, _) => Str::default(),
            (true, true) => self.request.datacenter.clone(),
            (true, false) => to.datacenter,
        };
        let id = target_id(&to.subset, &to.service, &to.within, &datacenter, &to.peer);
        if !self.targets.contains_key(&id) {
            let mut target =
                Target { id: id.clone(), service: to.service, subset: to.subset, within: to.within, datacenter, peer: to.peer, ..Target::default() };
            if target.peer.is_empty() {
                target.sni = Str::from(target.server_name(TRUST_DOMAIN));
                target.name = target.sni.clone();
            }
            self.targets.insert(id.clone(), target);
        }
        id
    }

    fn rewritten(&mut self, id: &str, to: To) -> String {
        let from = self.targets.get(id).cloned().unwrap_or_default();
        let mut new = To { service: from.service, subset: from.subset, within: from.within, datacenter: from.datacenter, peer: to.peer };
        if !to.service.is_empty() && to.service != new.service {
            new.service = to.service;
            new.subset = Str::default();
        }
        if !to.subset.is_empty() {
            new.subset = to.subset;
        }
        if !to.datacenter.is_empty() {
            new.datacenter = to.datacenter;
        }
        self.target(new)
    }

    fn target_service(&mut self, service: &Str) -> String {
        self.target(To { service: service.clone(), ..To::default() })
    }

    fn assemble(&mut self) -> Result<String, Reason> {
        let service = self.request.service.clone();
        let router = self.set.get(Kind::ServiceRouter, &service).cloned();
        let router = match router {
            Some(_) if self.plain => {
                self.customised.protocol = true;
                None
            }
            router => router,
        };
        let Some(router) = router else {
            let target = self.target_service(&service);
            return self.splitter_or_resolver(target);
        };
        self.advanced = true;
        self.record_protocol(&service)?;
        let mut routes = Vec::new();
        for route in router.tree.get("Routes").items() {
            let destination = route.get("Destination");
            let mut to = To::of(destination);
            (to.datacenter, to.peer) = Default::default();
            if to.service.is_empty() {
                to.service = service.clone();
            }
            let said = |field: &str| Some(destination.get(field).str()).filter(|name| !name.is_empty());
            if let Some(namespace) = said("Namespace") {
                to.within.namespace = namespace;
            }
            if let Some(partition) = said("Partition") {
                to.within.partition = partition;
            }
            let whole = to.subset.is_empty();
            let target = self.target(to);
            let next = if whole { self.splitter_or_resolver(target)? } else { self.resolver(target, false)?.key() };
            routes.push(Route { definition: route.clone(), next });
        }
        let target = self.target_service(&service);
        let next = self.splitter_or_resolver(target)?;
        let origin = router.tree.origin;
        let matches = Tree::object([("HTTP", Tree::object([("PathPrefix", Tree::from("/").or_from(origin))]))]);
        let destination = [("Service", Tree::from(&service)), ("Namespace", DEFAULT.into()), ("Partition", DEFAULT.into())];
        let definition = Tree::object([("Match", matches), ("Destination", Tree::object(destination))]).or_from(origin);
        routes.push(Route { definition, next });
        let node = Node { name: dotted(&service), kind: NodeKind::Router(routes), load_balancer: None };
        let key = node.key();
        self.nodes.insert(key.clone(), node);
        Ok(key)
    }

    fn splitter_or_resolver(&mut self, target: String) -> Result<String, Reason> {
        let service = self.targets.get(&target).map(|target| target.service.clone()).unwrap_or_default();
        match self.splitter(&service, 0)? {
            Some(key) => Ok(key),
            None => Ok(self.resolver(target, false)?.key()),
        }
    }

    fn splitter(&mut self, service: &Str, depth: usize) -> Result<Option<String>, Reason> {
        let mut node = Node { name: dotted(service), kind: NodeKind::Splitter(Vec::new()), load_balancer: None };
        let key = node.key();
        if self.nodes.contains_key(&key) {
            return Ok(Some(key));
        }
        let Some(splitter) = self.set.get(Kind::ServiceSplitter, service).cloned() else { return Ok(None) };
        if self.plain {
            self.customised.protocol = true;
            return Ok(None);
        }
        if depth > DEPTH {
            return Err(format!("splitters are nested more than {DEPTH} deep").into());
        }
        self.nodes.insert(key.clone(), node.clone());
        let mut splits = Vec::new();
        for split in splitter.tree.get("Splits").items() {
            let (to, subset) = (split.get("Service").str(), split.get("ServiceSubset").str());
            let to = if to.is_empty() { service.clone() } else { to };
            let mut split = Split { definition: split.clone(), weight: split.get("Weight").float(), next: String::new() };
            let inner = if to != *service && subset.is_empty() { self.splitter(&to, depth + 1)? } else { None };
            split.next = match inner {
                Some(next) => next,
                None => {
                    let target = self.target(To { service: to, subset, ..To::default() });
                    let resolver = self.resolver(target, false)?;
                    if node.load_balancer.is_none() {
                        node.load_balancer = resolver.load_balancer.clone().filter(is_hash_based);
                    }
                    resolver.key()
                }
            };
            splits.push(split);
        }
        node.kind = NodeKind::Splitter(splits);
        self.nodes.insert(key.clone(), node);
        self.advanced = true;
        Ok(Some(key))
    }

    /// Follows redirects and default subsets. Returns the target, or the key of an existing resolver node.
    fn redirected(&mut self, mut id: String) -> Result<Result<String, String>, Reason> {
        let mut history: Vec<String> = Vec::new();
        loop {
            if let Some(key) = self.resolved.get(&id) {
                return Ok(Err(key.clone()));
            }
            let target = self.targets.get(&id).cloned().unwrap_or_default();
            if target.peer.is_empty() {
                self.record_protocol(&target.service)?;
            }
            let circle = history.contains(&id);
            history.push(id.clone());
            if circle {
                return Err(format!("detected circular resolver redirect: [{}]", history.join(" -> ")).into());
            }
            let tree = self.set.tree(Kind::ServiceResolver, &target.service);
            if let Some(redirect) = tree.find("Redirect") {
                let to = To::of(redirect);
                let new = self.rewritten(&id, to);
                if new != id {
                    id = new;
                    continue;
                }
            }
            let default = self.set.tree(Kind::ServiceResolver, &target.service).get("DefaultSubset").str();
            if target.subset.is_empty() && !default.is_empty() {
                id = self.rewritten(&id, To { subset: default, ..To::default() });
                continue;
            }
            return Ok(Ok(id));
        }
    }

    fn resolver(&mut self, target: String, for_failover: bool) -> Result<Node, Reason> {
        let id = match self.redirected(target)? {
            Ok(id) => id,
            Err(key) => return self.nodes.get(&key).cloned().ok_or_else(|| "a node is missing".into()),
        };
        let service = self.targets.get(&id).map(|target| target.service.clone()).unwrap_or_default();
        let entry = self.set.get(Kind::ServiceResolver, &service).cloned();
        let tree = entry.as_ref().map_or(Tree::NULL, |entry| entry.tree.clone());
        let connect_timeout = self.settle(&id, &tree)?;
        let mut resolver = Resolver {
            default: is_default(&tree),
            connect_timeout,
            request_timeout: tree.get("RequestTimeout").number(),
            target: id.clone(),
            failover: Vec::new(),
        };
        self.kept.insert(id.clone());
        let load_balancer = tree.find("LoadBalancer").cloned();
        let mut node = Node { name: id.clone(), kind: NodeKind::Resolver(resolver.clone()), load_balancer };
        if for_failover {
            return Ok(node);
        }
        self.resolved.insert(id.clone(), node.key());
        self.nodes.insert(node.key(), node.clone());
        for target in self.failover(&id, &tree) {
            if let NodeKind::Resolver(other) = self.resolver(target, true)?.kind {
                resolver.failover.push(other.target);
            }
        }
        node.kind = NodeKind::Resolver(resolver);
        self.nodes.insert(node.key(), node.clone());
        Ok(node)
    }

    /// Sets the fields of a target from its entries. Returns the connect timeout.
    fn settle(&mut self, id: &str, tree: &Tree) -> Result<Sourced<i64>, Reason> {
        let Some(target) = self.targets.get_mut(id) else { return Ok(CONNECT_TIMEOUT.into()) };
        if !target.subset.is_empty() && !has_subset(tree, &target.subset) {
            return Err(format!("service {} does not have a subset named {}", quote(&target.service), quote(&target.subset)).into());
        }
        let own = tree.get("ConnectTimeout").number();
        let mut timeout = Sourced::new(if *own < 1 { CONNECT_TIMEOUT } else { *own }, own.origin.or(tree.origin));
        if self.request.connect_timeout > 0 && *timeout != self.request.connect_timeout {
            timeout.value = self.request.connect_timeout;
            self.customised.connect_timeout = true;
        }
        target.connect_timeout = timeout;
        target.definition = tree.get("Subsets").get(&target.subset).clone();
        target.filter = target.definition.get("Filter").str();
        target.only_passing = target.definition.get("OnlyPassing").flag();
        let defaults = self.set.tree(Kind::ServiceDefaults, &target.service);
        if let Some(sni) = defaults.find("ExternalSNI").filter(|sni| is_set(sni)) {
            target.sni = sni.str();
            target.external = true;
            for (field, what) in [("Redirect", "redirects"), ("Subsets", "subsets"), ("Failover", "failover")] {
                if tree.find(field).is_some_and(|value| field == "Redirect" || is_set(value)) {
                    let service = quote(&target.service);
                    return Err(format!("service {service} has an external SNI set; cannot define {what} for external services").into());
                }
            }
            target.mesh_gateway = Str::default();
            return Ok(timeout);
        }
        let global = self.set.global();
        target.mesh_gateway = defaults.at(&["MeshGateway", "Mode"]).str();
        if target.mesh_gateway.is_empty() {
            target.mesh_gateway = global.at(&["MeshGateway", "Mode"]).str();
        }
        let directly = |tree: &Tree| tree.at(&["TransparentProxy", "DialedDirectly"]).bool();
        target.dialed_directly = directly(defaults) || directly(global);
        if !self.request.mesh_gateway.is_empty() && target.mesh_gateway != self.request.mesh_gateway {
            target.mesh_gateway = self.request.mesh_gateway.clone();
            self.customised.mesh_gateway = true;
        }
        Ok(timeout)
    }

    /// The targets for failover.
    fn failover(&mut self, id: &str, tree: &Tree) -> Vec<String> {
        let subset = self.targets.get(id).map(|target| target.subset.clone()).unwrap_or_default();
        let all = tree.get("Failover");
        let Some(failover) = all.find(&subset).or_else(|| all.find("*")) else { return Vec::new() };
        let (datacenters, targets) = (failover.get("Datacenters").items(), failover.get("Targets").items());
        let own = |datacenter: Str| To { datacenter, peer: Str::default(), ..To::of(failover) };
        let to: Vec<To> = if !datacenters.is_empty() {
            datacenters.iter().map(|datacenter| own(datacenter.str())).collect()
        } else if !targets.is_empty() {
            targets.iter().map(To::of).collect()
        } else {
            Vec::from([own(Str::default())])
        };
        let ids: Vec<String> = to.into_iter().map(|to| self.rewritten(id, to)).collect();
        ids.into_iter().filter(|other| other != id).collect()
    }

    fn next_of(&self, key: &str) -> Vec<String> {
        match self.nodes.get(key).map(|node| &node.kind) {
            Some(NodeKind::Router(routes)) => routes.iter().map(|route| route.next.clone()).collect(),
            Some(NodeKind::Splitter(splits)) => splits.iter().map(|split| split.next.clone()).collect(),
            Some(NodeKind::Resolver(_)) | None => Vec::new(),
        }
    }

    /// Reports splitters that lead back to themselves.
    fn reject_cycles(&self, start: &str) -> Result<(), Reason> {
        // `None` marks the end of a node's successors.
        let mut todo = Vec::from([Some(String::from(start))]);
        let mut path: Vec<String> = Vec::new();
        let mut done = BTreeSet::new();
        while let Some(current) = todo.pop() {
            let Some(current) = current else {
                done.extend(path.pop());
                continue;
            };
            let circle = path.contains(&current);
            if !circle && done.contains(&current) {
                continue;
            }
            path.push(current.clone());
            if circle {
                return Err(format!("detected circular reference: [{}]", path.join(" -> ")).into());
            }
            todo.push(None);
            todo.extend(self.next_of(&current).into_iter().map(Some));
        }
        Ok(())
    }

    /// Replaces nested splitters by their shares.
    fn flatten(&mut self) -> Result<(), Reason> {
        let keys: Vec<String> = self.nodes.keys().cloned().collect();
        loop {
            let mut changed = false;
            for key in &keys {
                let Some(NodeKind::Splitter(splits)) = self.nodes.get(key).map(|node| &node.kind) else { continue };
                let mut flat = Vec::new();
                let mut nested = false;
                for split in splits {
                    let Some(NodeKind::Splitter(inner)) = self.nodes.get(&split.next).map(|node| &node.kind) else {
                        flat.push(split.clone());
                        continue;
                    };
                    nested = true;
                    flat.extend(inner.iter().map(|inner| Split {
                        definition: merged(&inner.definition, &split.definition),
                        // Weights are 32 bits wide.
                        weight: rounded(f64::from(split.weight as f32 * inner.weight as f32 / 100.0)),
                        next: inner.next.clone(),
                    }));
                    if flat.len() > MOST {
                        return Err(format!("there are more than {MOST} shares in one splitter").into());
                    }
                }
                if nested {
                    changed = true;
                    if let Some(node) = self.nodes.get_mut(key) {
                        node.kind = NodeKind::Splitter(flat);
                    }
                }
            }
            if !changed {
                return Ok(());
            }
        }
    }

    /// Removes unreachable nodes.
    fn remove_unreachable(&mut self, start: &str) {
        let mut reached = BTreeSet::new();
        let mut todo = Vec::from([String::from(start)]);
        while let Some(key) = todo.pop() {
            if !reached.contains(&key) {
                todo.extend(self.next_of(&key));
                reached.insert(key);
            }
        }
        self.nodes.retain(|key, _| reached.contains(key));
        let kept = &self.kept;
        self.targets.retain(|id, _| kept.contains(id));
    }

    fn finish(mut self, start: String) -> Result<Chain, Reason> {
        let request = self.request;
        if self.advanced && !is_http(&self.protocol) {
            return Err(format!(
                "discovery chain {} uses a protocol {} that does not permit advanced routing or splitting behavior",
                quote(&request.service),
                quote(&self.protocol)
            )
            .into());
        }
        if !request.protocol.is_empty() && request.protocol != self.protocol {
            self.protocol = request.protocol.clone();
            self.customised.protocol = true;
        }
        let custom = &self.customised;
        let hash = if custom.mesh_gateway || custom.protocol || custom.connect_timeout {
            hash::of(
                if custom.mesh_gateway { &request.mesh_gateway } else { "" },
                if custom.protocol { &request.protocol } else { "" },
                if custom.connect_timeout { request.connect_timeout } else { 0 },
            )
        } else {
            String::new()
        };
        let defaults = self.set.tree(Kind::ServiceDefaults, &request.service);
        let extensions = [self.set.global(), defaults].into_iter().flat_map(|of| of.get("EnvoyExtensions").items()).cloned().collect();
        let default = match self.nodes.get(&start).map(|node| &node.kind) {
            Some(NodeKind::Resolver(resolver)) => {
                resolver.default && self.targets.get(&resolver.target).is_some_and(|target| target.service == request.service)
            }
            _ => false,
        };
        Ok(Chain {
            service: request.service.clone(),
            datacenter: request.datacenter.clone(),
            hash,
            default,
            protocol: self.protocol,
            meta: defaults.get("Meta").clone(),
            extensions,
            start,
            nodes: self.nodes,
            targets: self.targets,
            virtual_ip: None,
        })
    }
}

/// Whether a resolver is not configured.
fn is_default(tree: &Tree) -> bool {
    let texts = ["DefaultSubset", "Subsets", "Failover", "ConnectTimeout", "RequestTimeout"];
    let given = ["Redirect", "LoadBalancer", "PrioritizeByLocality"];
    !texts.iter().any(|field| is_set(tree.get(field))) && !given.iter().any(|field| tree.find(field).is_some())
}

/// Merges a share inside another share: its own headers, and the outer ones.
fn merged(inner: &Tree, outer: &Tree) -> Tree {
    let mut merged = inner.clone();
    // In requests the inner headers override the outer ones, in responses the other way round.
    merged.set("RequestHeaders", headers(outer.get("RequestHeaders"), inner.get("RequestHeaders")));
    merged.set("ResponseHeaders", headers(inner.get("ResponseHeaders"), outer.get("ResponseHeaders")));
    merged
}

fn headers(base: &Tree, over: &Tree) -> Tree {
    let nothing = |tree: &Tree| !["Add", "Set", "Remove"].iter().any(|field| is_set(tree.get(field)));
    if nothing(base) {
        return over.clone();
    }
    let mut merged = base.clone();
    for field in ["Add", "Set"] {
        for (name, value) in over.get(field).fields() {
            match merged.get_mut(field) {
                Some(map) => map.set(name, value.clone()),
                None => merged.set(field, Tree::object([(name.clone(), value.clone())])),
            }
        }
    }
    let before = base.get("Remove").items();
    for name in over.get("Remove").items() {
        if !before.iter().any(|other| other.text() == name.text()) {
            match merged.get_mut("Remove") {
                Some(list) => list.push(name.clone()),
                None => merged.set("Remove", Tree { value: Plain::List(Vec::from([name.clone()]).into()), origin: name.origin }),
            }
        }
    }
    merged
}
