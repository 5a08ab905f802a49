//! Collects the ReferenceGrants that permit something. Does not judge references; see `Resources::permits`.

use super::super::cluster::Admitted;
use super::super::kinds::{GATEWAY_API, GROUP};
use super::Loader;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_text::Str;

/// The kinds of targets that each kind of policies may have.
const TARGETS: [(&str, &[&str]); 4] = [
    ("ClientTrafficPolicy", &["Gateway", "ListenerSet"]),
    ("BackendTrafficPolicy", &["Gateway", "ListenerSet", "HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute", "UDPRoute"]),
    ("EnvoyExtensionPolicy", &["Gateway", "ListenerSet", "HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute", "UDPRoute"]),
    ("SecurityPolicy", &["Gateway", "ListenerSet", "HTTPRoute", "GRPCRoute", "TCPRoute"]),
];

impl<'a> Loader<'a, '_> {
    /// Adds the first grant that permits a reference, by kind and namespace alone. Returns whether there is one.
    pub(super) fn grant(&mut self, kind: &str, namespace: &str, to: &str, there: &str, name: &str) -> bool {
        let permits = |grant: &&Admitted<'_>| {
            let spec = grant.spec();
            let is_from = spec.field("from").items().any(|from| from.field("kind").str() == kind && from.field("namespace").str() == namespace);
            let is_to = spec.field("to").items().any(|entry| {
                let named = entry.field("name").str();
                entry.field("kind").str() == to && (named.is_empty() || named == name)
            });
            *grant.namespace() == *there && is_from && is_to
        };
        match self.all_grants.iter().copied().find(permits) {
            Some(grant) => {
                self.add_grant(grant);
                true
            }
            None => false,
        }
    }

    fn add_grant(&mut self, grant: &'a Admitted<'a>) {
        if !self.out.grants.iter().any(|known| known.id() == grant.id()) {
            self.out.grants.push(grant);
        }
    }

    /// The same, or the provider's words if nothing permits the reference.
    pub(super) fn permitted(&mut self, kind: &str, namespace: &str, to: &str, there: &str, name: &str) -> Result<(), String> {
        if there == namespace || self.grant(kind, namespace, to, there, name) {
            return Ok(());
        }
        Err(format!("no matching ReferenceGrants found: from {kind}/{namespace} to {to}/{there}"))
    }

    /// Adds grants that let policies have targets in other namespaces.
    pub(super) fn policy_target_grants(&mut self) {
        let lists = [
            &self.out.gateways,
            &self.out.listener_sets,
            &self.out.http_routes,
            &self.out.grpc_routes,
            &self.out.tls_routes,
            &self.out.tcp_routes,
            &self.out.udp_routes,
        ];
        let targets: BTreeSet<Str> = lists.iter().flat_map(|list| list.iter().map(|object| object.namespace().clone())).collect();
        let policies =
            [&self.out.client_traffic_policies, &self.out.backend_traffic_policies, &self.out.envoy_extension_policies, &self.out.security_policies];
        let from: Vec<BTreeSet<Str>> = policies.iter().map(|list| list.iter().map(|policy| policy.namespace().clone()).collect()).collect();
        for grant in self.all_grants.clone() {
            if !targets.contains(grant.namespace()) {
                continue;
            }
            let spec = grant.spec();
            let permits = spec.field("from").items().any(|entry| {
                let Some(at) = TARGETS.iter().position(|(kind, _)| *kind == entry.field("kind").str()) else { return false };
                let is_from = entry.field("group").str() == GROUP && from[at].contains(entry.field("namespace").str());
                is_from
                    && spec.field("to").items().any(|to| to.field("group").str() == GATEWAY_API && TARGETS[at].1.contains(&to.field("kind").str()))
            });
            if permits {
                self.add_grant(grant);
            }
        }
    }
}
