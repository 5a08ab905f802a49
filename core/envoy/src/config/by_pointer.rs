//! Indexes routes and filter chains by their JSON pointers.

use super::{EnvoyConfig, chains_of};
use crate::emit::pb;
use alloc::collections::BTreeMap;
use alloc::string::String;
use chancery_envoy_api::any::AnyMessage;
use chancery_envoy_api::json::{self, Style};
use chancery_text::{Limits, Node, Value, parse};
use pb::listener::FilterChain;
use pb::route::{Route, RouteConfiguration};

/// An index of an Envoy's routes and filter chains.
#[derive(Debug)]
pub struct ByPointer<'c> {
    chains: BTreeMap<String, &'c FilterChain>,
    tables: BTreeMap<String, &'c RouteConfiguration>,
}

impl<'c> ByPointer<'c> {
    /// Builds the index.
    #[must_use]
    pub fn of(config: &'c EnvoyConfig) -> Self {
        Self { chains: config.listeners.iter().flat_map(chains_of).collect(), tables: config.route_tables().into_iter().collect() }
    }

    /// Returns the filter chain at a pointer, or the one that encloses the pointer.
    #[must_use]
    pub fn chain(&self, pointer: &str) -> Option<&'c FilterChain> {
        let (chain, _) = pointer.split_once("/filters/").unwrap_or((pointer, ""));
        self.chains.get(chain).copied()
    }

    /// Returns the route at a pointer.
    #[must_use]
    pub fn route(&self, pointer: &str) -> Option<&'c Route> {
        let (table, within) = pointer.split_once("/virtual_hosts/")?;
        let (host, route) = within.split_once("/routes/")?;
        self.tables.get(table)?.virtual_hosts.get(host.parse::<usize>().ok()?)?.routes.get(route.parse::<usize>().ok()?)
    }
}

/// Converts a message to the tree of its JSON, without the fields that the style leaves out.
#[must_use]
pub fn tree_of(message: &dyn AnyMessage, style: &Style) -> Node {
    let text = json::to_string_with(message, style);
    let limits = Limits { max_nodes: u32::MAX, max_bytes: u32::MAX, ..Limits::default() };
    parse(&text, &limits).root.unwrap_or_else(|| Node::synthesised(Value::Null))
}
