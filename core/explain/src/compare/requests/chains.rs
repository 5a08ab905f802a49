//! Decides whether listeners and their filter chains are equal on both sides. Does not report how they differ; see `frames`.

use super::super::fields::OmittedFields;
use alloc::vec::Vec;
use chancery_envoy::emit::pb;
use chancery_envoy_api::json;
use pb::hcm::{HttpConnectionManager, http_connection_manager::RouteSpecifier};
use pb::listener::{Filter, FilterChain, Listener, filter::ConfigType};
use pb::route::RouteConfiguration;

pub(super) fn chains(listener: &Listener) -> impl Iterator<Item = &FilterChain> {
    listener.filter_chains.iter().chain(&listener.default_filter_chain)
}

/// Whether two listeners are equal.
pub(super) fn are_same_listeners(one: &Listener, other: &Listener) -> bool {
    let bare = |of: &Listener| Listener { filter_chains: Vec::new(), default_filter_chain: None, ..of.clone() };
    let count = |of: &Listener| (of.filter_chains.len(), of.default_filter_chain.is_some());
    let mut pairs = chains(one).zip(chains(other));
    count(one) == count(other) && bare(one) == bare(other) && pairs.all(|(one, other)| are_same_chains(one, other))
}

/// Whether two filter chains are equal. Their route tables are compared route by route, up to the first difference.
pub(super) fn are_same_chains(one: &FilterChain, other: &FilterChain) -> bool {
    let bare = |of: &FilterChain| FilterChain { filters: Vec::new(), ..of.clone() };
    let mut pairs = one.filters.iter().zip(&other.filters);
    one.filters.len() == other.filters.len() && bare(one) == bare(other) && pairs.all(|(one, other)| are_same_filters(one, other))
}

fn are_same_filters(one: &Filter, other: &Filter) -> bool {
    const TABLE: OmittedFields = &[("envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", "route_config")];
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

/// Returns the inline route table of a connection manager.
fn table_in(of: &HttpConnectionManager) -> Option<&RouteConfiguration> {
    match &of.route_specifier {
        Some(RouteSpecifier::RouteConfig(table)) => Some(table),
        _ => None,
    }
}
