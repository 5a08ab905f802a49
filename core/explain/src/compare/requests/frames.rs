//! Compares settings that apply to all requests of a listener, a filter chain, a connection manager, a route table or a virtual host. Does not
//! compare single requests; see `behaviour`.

use super::super::fields::{OmittedFields, tree};
use super::both::Both;
use super::difference::FieldDifference;
use super::idle_filters::{self, Users};
use super::protection;
use super::reach::clusters_of;
use super::report::RequestPlace;
use super::residue::residue;
use super::work::Work;
use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_envoy::emit::pb;
use chancery_envoy_api::any::AnyMessage;
use chancery_text::{Node, Value};
use core::mem;
use pb::base::HeaderValueOption;
use pb::hcm::HttpConnectionManager;
use pb::listener::{FilterChain, filter::ConfigType};
use pb::route::weighted_cluster::ClusterWeight;
use pb::route::{Route, RouteAction, RouteConfiguration, WeightedCluster, route::Action, route_action::ClusterSpecifier};
use pb::tcp_proxy::TcpProxy;

/// Visits all strings that a message contains as values, except in some of its fields.
fn names_in(message: &dyn AnyMessage, without: OmittedFields, names: &mut dyn FnMut(&str)) {
    let whole = tree(message, without);
    let mut open: Vec<&Node> = Vec::from([&whole]);
    while let Some(node) = open.pop() {
        match &node.value {
            Value::Object(members) => open.extend(members.iter().map(|entry| &entry.value)),
            Value::Array(items) => open.extend(items.iter()),
            _ => node.as_str().into_iter().for_each(&mut *names),
        }
    }
}

/// Whether the routes or filters of a filter chain contain any of these cluster names.
pub(super) fn mentions(of: &FilterChain, table: Option<&RouteConfiguration>, names: &BTreeSet<&str>) -> bool {
    let routes = table.into_iter().flat_map(|table| &table.virtual_hosts).flat_map(|host| &host.routes);
    let mut found = routes.flat_map(clusters_of).any(|name| names.contains(name));
    names_in(of, MANAGER, &mut |name| found |= names.contains(name));
    found
}

/// A message to compare as a whole: its name, both sides, the fields to leave out, and its place.
pub(super) struct Frame<'m> {
    pub(super) what: &'m str,
    pub(super) sides: [&'m dyn AnyMessage; 2],
    pub(super) without: OmittedFields,
    pub(super) pointers: [String; 2],
}

/// Adds the differing settings of two messages, as a change of all their requests.
pub(super) fn compare_settings(work: &mut Work<'_, '_>, frame: Frame<'_>, place: RequestPlace, both: &Both) {
    let mut met = differing_fields(work, &frame);
    met.extend(differing_clusters(work, &frame));
    if !met.is_empty() {
        let simulations = work.simulate(both);
        work.add(met, place, both, &simulations);
    }
}

/// The differing settings of a filter that does nothing by itself, with the domains that use it.
pub(super) struct IdleChange {
    pub(super) met: Vec<FieldDifference>,
    pub(super) domains: Vec<String>,
}

/// Adds the differing settings of two connection managers as a change of all their requests. Returns the changes of filters that concern only some
/// hosts.
pub(super) fn compare_managers(
    work: &mut Work<'_, '_>,
    managers: [&HttpConnectionManager; 2],
    tables: [Option<&RouteConfiguration>; 2],
    pointers: [String; 2],
    place: RequestPlace,
    both: &Both,
) -> Vec<IdleChange> {
    const WHAT: &str = "http_connection_manager";
    let [before, after] = managers;
    let idle = if tables.iter().all(Option::is_some) { idle_filters::names(managers) } else { BTreeSet::new() };
    let frame = Frame { what: WHAT, sides: [before, after], without: MANAGER, pointers: pointers.clone() };
    let mut of_filters: BTreeMap<&str, Vec<FieldDifference>> = BTreeMap::new();
    let mut met = Vec::new();
    for of in differing_fields(work, &frame) {
        match idle_filters::of_field(&of.what, &idle) {
            Some(name) => of_filters.entry(name).or_default().push(of),
            None => met.push(of),
        }
    }
    for name in &idle {
        if let [Some(first), Some(second)] = managers.map(|manager| idle_filters::named(manager, name)) {
            let frame = Frame { what: WHAT, sides: [first, second], without: &[], pointers: pointers.clone() };
            let clusters = differing_clusters(work, &frame);
            if !clusters.is_empty() {
                of_filters.entry(name).or_default().extend(clusters);
            }
        }
    }
    let mut changes = Vec::new();
    for (name, of_filter) in of_filters {
        let users = match tables {
            [Some(old), Some(new)] => idle_filters::users(name, [old, new]),
            _ => Users::AllRequests,
        };
        match users {
            Users::NoRequest => {}
            Users::AllRequests => met.extend(of_filter),
            Users::Domains(domains) => changes.push(IdleChange { met: of_filter, domains }),
        }
    }
    let busy = [before, after].map(|manager| idle_filters::without(manager, &idle));
    met.extend(differing_clusters(work, &Frame { sides: [&busy[0], &busy[1]], ..frame }));
    if met.iter().any(|of| of.what.starts_with("http_connection_manager.http_filters")) {
        let trees = [before, after].map(|message| tree(message, MANAGER));
        met.extend(protection::by_managers(trees.each_ref(), &pointers));
    }
    if !met.is_empty() {
        let simulations = work.simulate(both);
        work.add(met, place, both, &simulations);
    }
    changes
}

/// Returns the fields in which two messages differ.
fn differing_fields(work: &Work<'_, '_>, frame: &Frame<'_>) -> Vec<FieldDifference> {
    let Frame { what, sides: [before, after], without, pointers } = frame;
    let same = |a: &str, b: &str| work.same_cluster(a, b);
    let found = residue(*before, *after, without, &same).into_iter();
    found
        .map(|of| FieldDifference {
            what: format!("{what}.{}", of.path),
            before: of.before,
            after: of.after,
            alike: None,
            pointers: [Some(format!("{}{}", pointers[0], of.pointers[0])), Some(format!("{}{}", pointers[1], of.pointers[1]))],
        })
        .collect()
}

/// Returns the clusters that filters and mirrors of both sides use under one name, but with different content.
fn differing_clusters(work: &mut Work<'_, '_>, frame: &Frame<'_>) -> Vec<FieldDifference> {
    let Frame { what, sides: [before, after], without, pointers } = frame;
    if work.changed.is_empty() {
        return Vec::new();
    }
    let changed = |message: &dyn AnyMessage| {
        let mut used = BTreeSet::new();
        names_in(message, without, &mut |name| {
            if work.changed.contains(name) {
                used.insert(name.to_string());
            }
        });
        used
    };
    let shared: Vec<String> = changed(*before).intersection(&changed(*after)).cloned().collect();
    let difference = |name: &String| FieldDifference {
        what: format!("{what}: cluster {name}"),
        before: Some(work.reach(0, name)),
        after: Some(work.reach(1, name)),
        alike: None,
        pointers: pointers.clone().map(Some),
    };
    shared.iter().map(difference).collect()
}

/// For a listener: its chains, and the fields that select connections.
pub(super) const LISTENER: OmittedFields = &[
    ("envoy.config.listener.v3.Listener", "filter_chains"),
    ("envoy.config.listener.v3.Listener", "default_filter_chain"),
    ("envoy.config.listener.v3.Listener", "address"),
    ("envoy.config.listener.v3.Listener", "additional_addresses"),
    ("envoy.config.listener.v3.Listener", "traffic_direction"),
];

/// For a connection manager: its tables.
pub(super) const MANAGER: OmittedFields = &[
    ("envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", "rds"),
    ("envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", "route_config"),
];

/// For a table: its hosts.
pub(super) const TABLE: OmittedFields =
    &[("envoy.config.route.v3.RouteConfiguration", "virtual_hosts"), ("envoy.config.route.v3.RouteConfiguration", "vhds")];

/// For a virtual host: its routes, and the fields that select requests.
pub(super) const HOST: OmittedFields = &[("envoy.config.route.v3.VirtualHost", "routes"), ("envoy.config.route.v3.VirtualHost", "domains")];

/// A request over TLS is not redirected to TLS.
pub(super) const HOST_OVER_TLS: OmittedFields = &[
    ("envoy.config.route.v3.VirtualHost", "routes"),
    ("envoy.config.route.v3.VirtualHost", "domains"),
    ("envoy.config.route.v3.VirtualHost", "require_tls"),
];

pub(super) fn chain(of: &FilterChain) -> FilterChain {
    let mut frame = of.clone();
    frame.filter_chain_match = None;
    for filter in &mut frame.filters {
        let Some(ConfigType::TypedConfig(config)) = &filter.config_type else { continue };
        if config.is::<HttpConnectionManager>() {
            // Compared separately.
            filter.config_type = None;
        } else if let Some(proxy) = config.downcast_ref::<TcpProxy>() {
            let bare = TcpProxy { cluster_specifier: None, stat_prefix: String::new(), access_log: Vec::new(), ..proxy.clone() };
            filter.config_type = Some(ConfigType::TypedConfig(pb::Any::pack(bare)));
        }
    }
    frame
}

/// Returns a route without the fields that a simulation already reports.
pub(super) fn route(of: &Route) -> Route {
    let mut bare = of.clone();
    bare.r#match = None;
    bare.request_headers_to_add = Vec::new();
    bare.request_headers_to_remove = Vec::new();
    bare.response_headers_to_add = Vec::new();
    bare.response_headers_to_remove = Vec::new();
    match &mut bare.action {
        Some(Action::Route(action)) => **action = rest_of(action),
        Some(Action::Redirect(_) | Action::DirectResponse(_)) => bare.action = None,
        _ => {}
    }
    bare
}

fn rest_of(action: &RouteAction) -> RouteAction {
    RouteAction {
        cluster_specifier: settings_of_shares(action),
        host_rewrite_specifier: None,
        prefix_rewrite: String::new(),
        regex_rewrite: None,
        timeout: None,
        ..action.clone()
    }
}

/// Returns a route with the header changes of its only share: they apply to each request of the route. A route with several shares, or one that
/// removes a header that the share adds, is returned unchanged.
pub(super) fn with_headers_of_only_share(route: &Route) -> Cow<'_, Route> {
    let as_it_is = Cow::Borrowed(route);
    let Some(Action::Route(action)) = &route.action else { return as_it_is };
    let Some(ClusterSpecifier::WeightedClusters(all)) = &action.cluster_specifier else { return as_it_is };
    let [share] = all.clusters.as_slice() else { return as_it_is };
    let removes = |removed: &[String], name: &str| removed.iter().any(|removed| removed.eq_ignore_ascii_case(name));
    let undoes = |removed: &[String], added: &[HeaderValueOption]| added.iter().flat_map(|of| &of.header).any(|header| removes(removed, &header.key));
    if undoes(&route.request_headers_to_remove, &share.request_headers_to_add)
        || undoes(&route.response_headers_to_remove, &share.response_headers_to_add)
    {
        return as_it_is;
    }
    let (mut whole, mut share) = (route.clone(), share.clone());
    whole.request_headers_to_add.splice(0..0, mem::take(&mut share.request_headers_to_add));
    whole.request_headers_to_remove.splice(0..0, mem::take(&mut share.request_headers_to_remove));
    whole.response_headers_to_add.splice(0..0, mem::take(&mut share.response_headers_to_add));
    whole.response_headers_to_remove.splice(0..0, mem::take(&mut share.response_headers_to_remove));
    let action = RouteAction {
        cluster_specifier: Some(ClusterSpecifier::WeightedClusters(WeightedCluster { clusters: Vec::from([share]), ..all.clone() })),
        ..(**action).clone()
    };
    whole.action = Some(Action::Route(action.into()));
    Cow::Owned(whole)
}

/// Returns the settings of each share except its target.
fn settings_of_shares(action: &RouteAction) -> Option<ClusterSpecifier> {
    let Some(ClusterSpecifier::WeightedClusters(all)) = &action.cluster_specifier else { return None };
    let bare = |of: &ClusterWeight| ClusterWeight { name: String::new(), weight: None, ..of.clone() };
    let clusters: Vec<ClusterWeight> = all.clusters.iter().map(bare).collect();
    let says = clusters.iter().any(|of| *of != ClusterWeight::default());
    says.then(|| ClusterSpecifier::WeightedClusters(WeightedCluster { clusters, ..WeightedCluster::default() }))
}
