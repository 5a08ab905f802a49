//! Processes GRPCRoutes.

use super::context::{Attachment, GatewayListener};
use crate::model::RouteTimeouts;
use alloc::vec::Vec;
use chancery_base::resource::{Rule, Sourced};
use chancery_text::Str;

impl<'a> Attachment<'_, 'a> {
    /// Adds a GRPCRoute's routes to hosts of a listener.
    pub(super) fn grpc(&mut self, listener: &GatewayListener<'a>, hosts: &[Sourced<Str>]) {
        let rules = self.route.spec().field("rules");
        let mut dropped = Vec::new();
        for (index, rule) in rules.items().enumerate() {
            let matches = self.grpc_matches(rule);
            let filters = self.rule_filters(rule);
            let Some(backends) = self.backends(rule, listener) else { continue };
            let routes = self.routes(rule, index, matches, filters, &RouteTimeouts::default(), Some(&backends));
            if let Err(winner) = self.add(listener, hosts, &routes) {
                dropped.push((rule.origin(), winner));
            }
        }
        self.report_dropped(&dropped, rules);
    }
}

/// The protocol of a gRPC upstream: its own, or HTTP/2 with or without TLS, as the listener has it.
pub(super) fn protocol(own: Sourced<Str>, listener: &GatewayListener<'_>) -> Sourced<Str> {
    let protocol = match listener.protocol {
        "HTTP" => "h2c",
        "HTTPS" => "h2",
        _ => "",
    };
    if own.value.trim().is_empty() { Sourced::new(Str::new_static(protocol), listener.origin()).by(Rule::Listener) } else { own }
}
