//! Compares Envoy's configuration part by part: listeners, filter chains, tables, virtual hosts, routes, clusters, endpoints, certificates, each
//! without the parts inside it. Equal parts are not divided further.
//!
//! Does not compare resources; see `resources`.

use super::fields::{OmittedFields, differences, tree};
use super::order::{common_ends, rising};
use super::{Change, ChangeKind, FieldChange, Side, renames};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_envoy::config::{EnvoyConfig, Placed, chains_of, managers_of};
use chancery_envoy::emit::pb;
use chancery_envoy_api::any::AnyMessage;
use chancery_envoy_api::json;
use chancery_text::{Value, to_json};
use hashbrown::HashSet;
use pb::hcm::http_connection_manager::RouteSpecifier;

/// The inner parts that are left out of a part. A table may be inline or requested by name; its content is compared separately.
const INNER: OmittedFields = &[
    ("envoy.config.listener.v3.Listener", "filter_chains"),
    ("envoy.config.listener.v3.Listener", "default_filter_chain"),
    ("envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", "rds"),
    ("envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", "route_config"),
    ("envoy.config.route.v3.RouteConfiguration", "virtual_hosts"),
    ("envoy.config.route.v3.VirtualHost", "routes"),
];

/// A part of Envoy's configuration.
struct Part<'a> {
    kind: &'static str,
    /// The enclosing part.
    scope: String,
    name: String,
    pointer: String,
    /// The message, including inner parts.
    message: &'a dyn AnyMessage,
    /// The message of a route.
    route: Option<&'a pb::route::Route>,
}

impl Part<'_> {
    fn same(&self, other: &Self) -> bool {
        // Most routes are equal, which is decided without serialising them.
        if self.route.is_some() && self.route == other.route {
            return true;
        }
        match self.kind {
            "route" | "cluster" | "endpoints" | "secret" => self.message.equals(other.message),
            // The remaining messages contain parts that are compared separately.
            _ => self.text() == other.text(),
        }
    }

    /// Returns the matcher of a route.
    fn matcher(&self) -> Option<&pb::route::RouteMatch> {
        self.route?.r#match.as_ref()
    }

    /// Returns the content without the name, to find the part under another name.
    fn nameless(&self) -> String {
        let mut tree = tree(self.message, INNER);
        if let Value::Object(members) = &mut tree.value {
            for name in ["name", "stat_prefix", "alt_stat_name", "cluster_name"] {
                members.remove(name);
            }
        }
        to_json(&tree, false)
    }

    fn text(&self) -> String {
        json::to_string_with(self.message, &json::Style::COMPACT.without(INNER))
    }

    fn title(&self) -> String {
        if self.scope.is_empty() { self.name.clone() } else { format!("{} in {}", self.name, self.scope) }
    }
}

pub(super) fn compare(before: &Side<'_>, after: &Side<'_>) -> Vec<Change> {
    // Renamed hosts are reported once; all other parts are compared as if the hosts already had their new names.
    let renames = renames::find(before, after);
    let config = (!renames.names.is_empty()).then(|| renames::renamed(before.config, &renames.names));
    let before = &Side { config: config.as_ref().unwrap_or(before.config), source: before.source };
    let equal = Equal::of(before.config, after.config);
    let (old, new) = (parts(before.config, &equal), parts(after.config, &equal));
    let mut pairs = pair(&old, &new);
    let mut changes = renames.changes;
    let (mut left, mut right): (Vec<&Part<'_>>, Vec<&Part<'_>>) = (Vec::new(), Vec::new());
    let (taken_old, taken_new): (BTreeSet<usize>, BTreeSet<usize>) = pairs.iter().copied().unzip();
    left.extend(old.iter().enumerate().filter(|(at, _)| !taken_old.contains(at)).map(|(_, part)| part));
    right.extend(new.iter().enumerate().filter(|(at, _)| !taken_new.contains(at)).map(|(_, part)| part));
    for (a, b) in pairs.iter().map(|(a, b)| (&old[*a], &new[*b])).filter(|(a, b)| !a.same(b)) {
        changes.push(change(ChangeKind::Changed, Some(a), Some(b), before, after));
    }
    pairs.retain(|(a, _)| old[*a].kind == "route");
    for (a, b) in reordered(&pairs, &old) {
        let mut moved = change(ChangeKind::Moved, Some(&old[a]), Some(&new[b]), before, after);
        moved.fields.clear();
        moved.was = Some("another place among its routes".into());
        changes.push(moved);
    }
    // Parts that are equal except for their name or enclosing part.
    let mut bodies: BTreeMap<(&str, String), Vec<&Part<'_>>> = BTreeMap::new();
    for part in left.iter().rev() {
        bodies.entry((part.kind, part.nameless())).or_default().push(part);
    }
    let mut found: BTreeSet<&str> = BTreeSet::new();
    for part in right {
        match bodies.get_mut(&(part.kind, part.nameless())).and_then(Vec::pop) {
            Some(known) => {
                found.insert(known.pointer.as_str());
                let kind = if known.name == part.name { ChangeKind::Moved } else { ChangeKind::Renamed };
                let mut change = change(kind, Some(known), Some(part), before, after);
                change.was = Some(known.title());
                change.fields.clear();
                changes.push(change);
            }
            None => changes.push(change(ChangeKind::Added, None, Some(part), before, after)),
        }
    }
    changes.extend(
        left.into_iter()
            .filter(|part| !found.contains(part.pointer.as_str()))
            .map(|part| change(ChangeKind::Removed, Some(part), None, before, after)),
    );
    let rank = |kind: &str| KINDS.iter().position(|known| *known == kind);
    changes.sort_by(|a, b| (rank(&a.kind), &a.name, a.change).cmp(&(rank(&b.kind), &b.name, b.change)));
    // Chains that match different connections may have equal content.
    changes.dedup_by(|a, b| (a.change, &a.kind, &a.name, &a.was, &a.fields) == (b.change, &b.kind, &b.name, &b.was, &b.fields));
    changes
}

/// In the order of a request.
const KINDS: [&str; 10] = ["bootstrap", "listener", "filter chain", "route table", "virtual host", "host", "route", "cluster", "endpoints", "secret"];

fn change(kind: ChangeKind, old: Option<&Part<'_>>, new: Option<&Part<'_>>, before: &Side<'_>, after: &Side<'_>) -> Change {
    let origins = |part: Option<&Part<'_>>, side: &Side<'_>| match (part, &side.source) {
        (Some(part), Some(source)) => source.origins(&part.pointer),
        _ => Vec::new(),
    };
    let part = new.or(old);
    let mut fields = Vec::new();
    // Key material is compared but never shown.
    if let (Some(old), Some(new), true) = (old, new, part.is_some_and(|part| part.kind != "secret")) {
        let (a, b) = (tree(old.message, INNER), tree(new.message, INNER));
        fields.extend(differences(&a, &b).iter().map(|found| {
            let from = |part: &Part<'_>, side: &Side<'_>, pointer: &str| {
                let source = side.source.as_ref()?;
                source.origins(&format!("{}{pointer}", part.pointer)).into_iter().next()
            };
            let [inner_old, inner_new] = &found.pointers;
            FieldChange { before_from: from(old, before, inner_old), after_from: from(new, after, inner_new), ..found.described_change() }
        }));
    }
    Change {
        change: kind,
        kind: part.map_or("", |part| part.kind).into(),
        name: part.map(Part::title).unwrap_or_default(),
        was: None,
        note: None,
        fields,
        before: origins(old, before),
        after: origins(new, after),
    }
}

/// Returns the key that matches routes of both sides.
type Key<'k> = &'k dyn Fn(&Part<'_>) -> String;

/// Matches the parts of both sides, by index.
fn pair(old: &[Part<'_>], new: &[Part<'_>]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let mut named: BTreeMap<(&str, &str, &str), Vec<usize>> = BTreeMap::new();
    for (at, part) in new.iter().enumerate().rev().filter(|(_, part)| part.kind != "route") {
        named.entry((part.kind, &part.scope, &part.name)).or_default().push(at);
    }
    for (at, part) in old.iter().enumerate().filter(|(_, part)| part.kind != "route") {
        pairs.extend(named.get_mut(&(part.kind, &part.scope, &part.name)).and_then(Vec::pop).map(|other| (at, other)));
    }
    // Matches routes: first equal routes at the start and end of both lists, then equal routes elsewhere, then routes with the same requests, or
    // with shares of the same requests.
    let (mut open_old, mut open_new): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    let mut others = routes_by_host(new);
    for (host, routes) in routes_by_host(old) {
        let other = others.remove(host).unwrap_or_default();
        let (head, tail) = common_ends(&routes, &other, |a, b| old[*a].same(&new[*b]));
        let (end, other_end) = (routes.len() - tail, other.len() - tail);
        pairs.extend(routes[..head].iter().copied().zip(other[..head].iter().copied()));
        pairs.extend(routes[end..].iter().copied().zip(other[other_end..].iter().copied()));
        open_old.extend(&routes[head..end]);
        open_new.extend(&other[head..other_end]);
    }
    open_new.extend(others.into_values().flatten());
    let text = |matcher: &pb::route::RouteMatch| json::to_string_with(matcher, &json::Style::COMPACT);
    let matched = |part: &Part<'_>| part.matcher().map(text).unwrap_or_default();
    // Another share of the same requests.
    let shared = |part: &Part<'_>| {
        let whole = part.matcher().cloned().map(|matcher| pb::route::RouteMatch { runtime_fraction: None, ..matcher });
        whole.as_ref().map(text).unwrap_or_default()
    };
    let keys: [Key<'_>; 3] = [&|part| part.text(), &matched, &shared];
    for key in keys {
        let mut known: BTreeMap<(&str, String), Vec<usize>> = BTreeMap::new();
        for at in open_new.iter().rev() {
            known.entry((&new[*at].scope, key(&new[*at]))).or_default().push(*at);
        }
        let mut taken = BTreeSet::new();
        open_old.retain(|at| match known.get_mut(&(old[*at].scope.as_str(), key(&old[*at]))).and_then(Vec::pop) {
            Some(other) => {
                taken.insert(other);
                pairs.push((*at, other));
                false
            }
            None => true,
        });
        open_new.retain(|at| !taken.contains(at));
    }
    pairs.sort();
    pairs
}

/// Indexes of routes by their virtual host.
fn routes_by_host<'p>(parts: &'p [Part<'_>]) -> BTreeMap<&'p str, Vec<usize>> {
    let mut hosts: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, part) in parts.iter().enumerate().filter(|(_, part)| part.kind == "route") {
        hosts.entry(&part.scope).or_default().push(at);
    }
    hosts
}

/// Returns the pairs of routes that changed their order: all except the longest run in order.
fn reordered(pairs: &[(usize, usize)], old: &[Part<'_>]) -> Vec<(usize, usize)> {
    let mut out = Vec::new();
    for group in pairs.chunk_by(|a, b| old[a.0].scope == old[b.0].scope) {
        let kept: BTreeSet<usize> = rising(group).into_iter().map(|(at, _)| at).collect();
        out.extend(group.iter().filter(|(at, _)| !kept.contains(at)));
    }
    out
}

/// Names of parts that are equal on both sides.
struct Equal<'c> {
    listeners: HashSet<&'c str>,
    clusters: HashSet<&'c str>,
}

impl<'c> Equal<'c> {
    fn of(a: &EnvoyConfig, b: &'c EnvoyConfig) -> Self {
        // Listeners that request tables by name also need equal tables, which are compared separately.
        let old: BTreeMap<&str, _> = a.listeners.iter().map(|of| (of.message.name.as_str(), of)).collect();
        // The comparison of tables stops at the first differing route, without serialising.
        let is_same =
            |old: &Placed<pb::listener::Listener>, of: &Placed<pb::listener::Listener>| tables(old).eq(tables(of)) && old.message == of.message;
        let listeners = b.listeners.iter().filter(|of| old.get(of.message.name.as_str()).is_some_and(|old| is_same(old, of)));
        let listeners = listeners.map(|of| of.message.name.as_str()).collect();
        let mut clusters = b.clusters.shared_with(&a.clusters);
        let old: BTreeMap<&str, _> = a.clusters.without(&clusters).map(|of| (of.message.name.as_str(), &of.message)).collect();
        let same = b.clusters.without(&clusters).filter(|of| old.get(of.message.name.as_str()).is_some_and(|old| **old == of.message));
        clusters.extend(same.map(|of| of.message.name.as_str()).collect::<Vec<_>>());
        Self { listeners, clusters }
    }
}

/// Returns the route tables inside a listener.
fn tables(of: &Placed<pb::listener::Listener>) -> impl Iterator<Item = &pb::route::RouteConfiguration> {
    chains_of(of).flat_map(|(_, chain)| managers_of(chain)).filter_map(|(_, manager)| match &manager.route_specifier {
        Some(RouteSpecifier::RouteConfig(table)) => Some(table),
        _ => None,
    })
}

fn parts<'a>(config: &'a EnvoyConfig, equal: &Equal<'_>) -> Vec<Part<'a>> {
    let mut out = Vec::new();
    if let Some(settings) = &config.settings {
        out.push(part("bootstrap", "", "settings", settings.pointer.clone(), &settings.message));
    }
    for listener in config.listeners.iter().filter(|of| !equal.listeners.contains(of.message.name.as_str())) {
        let message = &listener.message;
        let name = message.name.clone();
        out.push(part("listener", "", &name, listener.pointer.clone(), message));
        for (at, (pointer, chain)) in chains_of(listener).enumerate() {
            filter_chain(&name, at, pointer, chain, &mut out);
        }
    }
    for table in &config.routes {
        route_table(&table.message.name, table.pointer.clone(), &table.message, &mut out);
    }
    for cluster in config.clusters.without(&equal.clusters) {
        out.push(part("cluster", "", &cluster.message.name, cluster.pointer.clone(), &cluster.message));
    }
    for endpoints in &config.endpoints {
        out.push(part("endpoints", "", &endpoints.message.cluster_name, endpoints.pointer.clone(), &endpoints.message));
    }
    for secret in &config.secrets {
        out.push(part("secret", "", &secret.message.name, secret.pointer.clone(), &secret.message));
    }
    out
}

fn part<'a>(kind: &'static str, scope: &str, name: &str, pointer: String, message: &'a dyn AnyMessage) -> Part<'a> {
    Part { kind, scope: scope.into(), name: name.into(), pointer, message, route: None }
}

fn filter_chain<'a>(listener: &str, at: usize, pointer: String, chain: &'a pb::listener::FilterChain, out: &mut Vec<Part<'a>>) {
    let servers = chain.filter_chain_match.iter().flat_map(|found| &found.server_names).map(String::as_str).collect::<Vec<_>>().join(", ");
    let name = match (chain.name.as_str(), servers.is_empty()) {
        ("", false) => servers,
        ("", true) => at.to_string(),
        (name, true) => name.into(),
        (name, false) => format!("{name} ({servers})"),
    };
    for (number, manager) in managers_of(chain) {
        if let Some(RouteSpecifier::RouteConfig(table)) = &manager.route_specifier {
            let pointer = format!("{pointer}/filters/{number}/typed_config/route_config");
            route_table(&format!("{listener}, {name}"), pointer, table, out);
        }
    }
    out.push(part("filter chain", listener, &name, pointer, chain));
}

fn route_table<'a>(name: &str, pointer: String, table: &'a pb::route::RouteConfiguration, out: &mut Vec<Part<'a>>) {
    for (at, host) in table.virtual_hosts.iter().enumerate() {
        let pointer = format!("{pointer}/virtual_hosts/{at}");
        let scope = format!("{}, {name}", host.name);
        for (at, route) in host.routes.iter().enumerate() {
            let pointer = format!("{pointer}/routes/{at}");
            out.push(Part { kind: "route", scope: scope.clone(), name: route_name(route), pointer, message: route, route: Some(route) });
        }
        out.push(part("virtual host", name, &host.name, pointer, host));
    }
    out.push(part("route table", "", name, pointer, table));
}

/// Names a route by its path, because its name is often missing.
fn route_name(route: &pb::route::Route) -> String {
    use pb::route::route_match::PathSpecifier;
    let path = match route.r#match.as_ref().and_then(|of| of.path_specifier.as_ref()) {
        Some(PathSpecifier::Prefix(path) | PathSpecifier::PathSeparatedPrefix(path)) => format!("{path}*"),
        Some(PathSpecifier::Path(path)) => path.clone(),
        Some(PathSpecifier::SafeRegex(regex)) => format!("~ {}", regex.regex),
        Some(PathSpecifier::ConnectMatcher(_)) => "CONNECT".into(),
        Some(PathSpecifier::PathMatchPolicy(_)) => "a template".into(),
        None => "any path".into(),
    };
    if route.name.is_empty() { path } else { format!("{} ({path})", route.name) }
}
