//! Settings that apply to all that a listener, a filter chain, a connection manager, a table of routes or a virtual host takes.
//!
//! What must not be here: what single requests meet.

use super::super::fields::{Without, tree};
use super::difference::FieldDifference;
use super::reach::clusters_of;
use super::report::RequestPlace;
use super::residue::residue;
use super::work::{Both, Work};
use alloc::borrow::Cow;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_envoy::emit::pb;
use chancery_envoy_api::any::AnyMessage;
use chancery_envoy_api::json;
use chancery_text::{Node, Value};
use core::mem;
use pb::base::HeaderValueOption;
use pb::hcm::{HttpConnectionManager, http_connection_manager::RouteSpecifier};
use pb::listener::{Filter, FilterChain, Listener, filter::ConfigType};
use pb::route::weighted_cluster::ClusterWeight;
use pb::route::{Route, RouteAction, RouteConfiguration, WeightedCluster, route::Action, route_action::ClusterSpecifier};
use pb::tcp_proxy::TcpProxy;

/// The strings that stand in a message as values, but for some of its fields.
fn names_in(message: &dyn AnyMessage, without: Without, names: &mut dyn FnMut(&str)) {
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

/// Whether a filter chain says any of these names of clusters: in its routes, or in its filters.
pub(super) fn mentions(of: &FilterChain, table: Option<&RouteConfiguration>, names: &BTreeSet<&str>) -> bool {
    let routes = table.into_iter().flat_map(|table| &table.virtual_hosts).flat_map(|host| &host.routes);
    let mut found = routes.flat_map(clusters_of).any(|name| names.contains(name));
    names_in(of, MANAGER, &mut |name| found |= names.contains(name));
    found
}

/// What is compared as a whole: its name, the message on both sides, what is not looked at in it, and where it stands.
pub(super) struct Frame<'m> {
    pub(super) what: &'m str,
    pub(super) sides: [&'m dyn AnyMessage; 2],
    pub(super) without: Without,
    pub(super) pointers: [String; 2],
}

/// Adds the settings in which two messages differ, as a change of all the requests that come there.
pub(super) fn show(work: &mut Work<'_, '_>, frame: Frame<'_>, place: RequestPlace, both: &Both) {
    let Frame { what, sides: [before, after], without, pointers } = frame;
    let same = |a: &str, b: &str| work.same_cluster(a, b);
    let mut met: Vec<FieldDifference> = residue(before, after, without, &same)
        .into_iter()
        .map(|of| FieldDifference {
            what: format!("{what}.{}", of.path),
            before: of.before,
            after: of.after,
            alike: None,
            pointers: [Some(format!("{}{}", pointers[0], of.pointer)), Some(format!("{}{}", pointers[1], of.pointer))],
        })
        .collect();
    // Clusters that filters and mirrors of both sides use, under the same name, and which are others now.
    let changed = |message: &dyn AnyMessage| {
        let mut used = BTreeSet::new();
        if !work.changed.is_empty() {
            names_in(message, without, &mut |name| {
                if work.changed.contains(name) {
                    used.insert(name.to_string());
                }
            });
        }
        used
    };
    for name in changed(before).intersection(&changed(after)) {
        let (first, second) = (work.reach(0, name), work.reach(1, name));
        met.push(FieldDifference {
            what: format!("{what}: cluster {name}"),
            before: Some(first),
            after: Some(second),
            alike: None,
            pointers: pointers.clone().map(Some),
        });
    }
    if !met.is_empty() {
        let simulations = work.simulate(both);
        work.add(met, place, both, &simulations);
    }
}

/// Of a listener: its chains, and what tells who comes to it.
pub(super) const LISTENER: Without = &[
    ("envoy.config.listener.v3.Listener", "filter_chains"),
    ("envoy.config.listener.v3.Listener", "default_filter_chain"),
    ("envoy.config.listener.v3.Listener", "address"),
    ("envoy.config.listener.v3.Listener", "additional_addresses"),
    ("envoy.config.listener.v3.Listener", "traffic_direction"),
];

/// Of a connection manager: its tables.
pub(super) const MANAGER: Without = &[
    ("envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", "rds"),
    ("envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", "route_config"),
];

/// Of a table: its hosts.
pub(super) const TABLE: Without =
    &[("envoy.config.route.v3.RouteConfiguration", "virtual_hosts"), ("envoy.config.route.v3.RouteConfiguration", "vhds")];

/// Of a virtual host: its routes, and who comes to it.
pub(super) const HOST: Without = &[("envoy.config.route.v3.VirtualHost", "routes"), ("envoy.config.route.v3.VirtualHost", "domains")];

/// A request over TLS is not redirected to TLS.
pub(super) const HOST_OVER_TLS: Without = &[
    ("envoy.config.route.v3.VirtualHost", "routes"),
    ("envoy.config.route.v3.VirtualHost", "domains"),
    ("envoy.config.route.v3.VirtualHost", "require_tls"),
];

/// The filter chains of a listener.
pub(super) fn chains(listener: &Listener) -> impl Iterator<Item = &FilterChain> {
    listener.filter_chains.iter().chain(&listener.default_filter_chain)
}

/// Whether two listeners are the same.
pub(super) fn are_same_listeners(one: &Listener, other: &Listener) -> bool {
    let bare = |of: &Listener| Listener { filter_chains: Vec::new(), default_filter_chain: None, ..of.clone() };
    let count = |of: &Listener| (of.filter_chains.len(), of.default_filter_chain.is_some());
    let mut pairs = chains(one).zip(chains(other));
    count(one) == count(other) && bare(one) == bare(other) && pairs.all(|(one, other)| are_same_chains(one, other))
}

/// Whether two filter chains are the same. Tables of routes in them are compared route by route, up to the first that differs.
pub(super) fn are_same_chains(one: &FilterChain, other: &FilterChain) -> bool {
    let bare = |of: &FilterChain| FilterChain { filters: Vec::new(), ..of.clone() };
    let mut pairs = one.filters.iter().zip(&other.filters);
    one.filters.len() == other.filters.len() && bare(one) == bare(other) && pairs.all(|(one, other)| are_same_filters(one, other))
}

fn are_same_filters(one: &Filter, other: &Filter) -> bool {
    const TABLE: Without = &[("envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", "route_config")];
    let (Some(first), Some(second)) = (manager(one), manager(other)) else { return one == other };
    let rest = |of: &HttpConnectionManager| json::to_string_with(of, &json::Style::COMPACT.without(TABLE));
    one.name == other.name && rest(first) == rest(second) && table_in(first) == table_in(second)
}

fn manager(of: &Filter) -> Option<&HttpConnectionManager> {
    match &of.config_type {
        Some(ConfigType::TypedConfig(config)) => config.downcast_ref(),
        _ => None,
    }
}

/// The table of routes that is written in a connection manager.
fn table_in(of: &HttpConnectionManager) -> Option<&RouteConfiguration> {
    match &of.route_specifier {
        Some(RouteSpecifier::RouteConfig(table)) => Some(table),
        _ => None,
    }
}

pub(super) fn chain(of: &FilterChain) -> FilterChain {
    let mut frame = of.clone();
    frame.filter_chain_match = None;
    for filter in &mut frame.filters {
        let Some(ConfigType::TypedConfig(config)) = &filter.config_type else { continue };
        if config.is::<HttpConnectionManager>() {
            // Compared by itself.
            filter.config_type = None;
        } else if let Some(proxy) = config.downcast_ref::<TcpProxy>() {
            let bare = TcpProxy { cluster_specifier: None, stat_prefix: String::new(), access_log: Vec::new(), ..proxy.clone() };
            filter.config_type = Some(ConfigType::TypedConfig(pb::Any::pack(bare)));
        }
    }
    frame
}

/// What a route says besides what a simulation tells of it.
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

/// A route whose requests all go to one share of it, with what the share does to headers: it happens to each request of the route. As the route is
/// where there are several shares, or where the route removes a header that the share adds.
pub(super) fn with_headers_of_its_only_share(route: &Route) -> Cow<'_, Route> {
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

/// What a route says of each share of its requests, besides where it goes.
fn settings_of_shares(action: &RouteAction) -> Option<ClusterSpecifier> {
    let Some(ClusterSpecifier::WeightedClusters(all)) = &action.cluster_specifier else { return None };
    let bare = |of: &ClusterWeight| ClusterWeight { name: String::new(), weight: None, ..of.clone() };
    let clusters: Vec<ClusterWeight> = all.clusters.iter().map(bare).collect();
    let says = clusters.iter().any(|of| *of != ClusterWeight::default());
    says.then(|| ClusterSpecifier::WeightedClusters(WeightedCluster { clusters, ..WeightedCluster::default() }))
}
