//! Adds the parts of an Application Gateway to the graph, from listeners to addresses. Does not add input objects; see `build`.

use super::build::Builder;
use super::{NodeKind, Relation, Rule};
use crate::app_gateway::PartIndex;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::ir::appgw::{Gateway, Listener, Part, PathMap, Pool, Reference, Rule as RoutingRule};
use chancery_base::resource::Origin;

/// An edge of a rule: its path, its makers, its pool and its redirect.
struct RuleEdge<'a> {
    path: String,
    /// The host, unless the rule is for all hosts.
    conditions: Vec<String>,
    origin: Option<Origin>,
    pool: &'a Option<Reference>,
    redirect: &'a Option<Reference>,
}

impl Builder<'_> {
    /// Adds the parts from listeners to addresses.
    pub fn app_gateway(&mut self, gateway: &Gateway) {
        let Some(properties) = &gateway.properties else { return };
        for pool in properties.pools.iter().flatten() {
            self.pool(pool);
        }
        let parts = PartIndex::of(properties);
        for rule in properties.rules.iter().flatten() {
            if let Some(listener) = parts.listeners.get(&rule.properties.listener) {
                self.routing(&parts, listener, rule);
            }
        }
    }

    fn pool(&mut self, pool: &Part<Pool>) {
        let id = self.scoped(format!("cluster:{}", pool.name));
        let at = self.node(&id, NodeKind::Cluster, || pool.name.to_string());
        self.made(pool.origin.as_slice(), at);
        let addresses: Vec<_> = pool.properties.addresses.iter().flatten().filter_map(|of| of.ip.as_ref().or(of.fqdn.as_ref())).collect();
        if addresses.is_empty() {
            let id = self.scoped(format!("missing:endpoint/{}", pool.name));
            let missing = self.missing(&id, "no addresses".into(), format!("nothing is known to serve {}", pool.name));
            self.edge(at, missing, Relation::Forwards, "", None);
        }
        for address in addresses {
            let id = self.scoped(format!("endpoint:{}", address.value));
            let to = self.node(&id, NodeKind::Endpoint, || address.value.to_string());
            self.edge(at, to, Relation::Forwards, "", None);
            self.made(address.origin.as_slice(), to);
        }
    }

    /// Adds a listener with its conditions and the targets of its rule.
    fn routing(&mut self, parts: &PartIndex<'_>, listener: &Part<Listener>, rule: &Part<RoutingRule>) {
        let of = &listener.properties;
        let port = parts.ports.get(&of.port).and_then(|port| port.properties.port).map_or_else(String::new, |port| port.value.to_string());
        let protocol = of.protocol.as_ref().map(|protocol| protocol.value.to_uppercase()).unwrap_or_default();
        let id = self.scoped(format!("listener:{port}"));
        let entry = self.node(&id, NodeKind::Listener, || format!("{protocol}\nport {port}"));
        let chain = self.scoped(format!("listener:{port}/chain:{}", listener.name));
        let chain = self.node(&chain, NodeKind::FilterChain, || listener.name.to_string());
        self.edge(entry, chain, Relation::Forwards, "", None);
        self.made(listener.origin.as_slice(), chain);
        let hosts: Vec<&str> = of.hosts().map(|host| host.value.as_str()).collect();
        let host = self.scoped(format!("listener:{port}/{}", listener.name));
        let host = self.node(&host, NodeKind::VirtualHost, || if hosts.is_empty() { "*".into() } else { hosts.join(", ") });
        self.edge(chain, host, Relation::Forwards, "", None);
        let conditions: Vec<String> = (!hosts.is_empty()).then(|| hosts.join(", ")).into_iter().collect();
        for leads in leads(parts, rule, &conditions) {
            self.leads(parts, host, &listener.name, &leads);
        }
    }

    fn leads(&mut self, parts: &PartIndex<'_>, host: usize, listener: &str, leads: &RuleEdge<'_>) {
        let id = self.scoped(format!("route:{} {listener}", leads.path));
        let id = self.free(id);
        let action = leads.redirect.as_ref().map(|_| "redirects".to_string());
        let label = action.iter().fold(leads.path.clone(), |path, action| format!("{path}\n{action}"));
        let at = self.node(&id, NodeKind::Route, || label);
        let pool = parts.pools.get(leads.pool).filter(|_| action.is_none());
        let shares = pool.map(|pool| (pool.name.as_str().into(), 100)).into_iter().collect();
        self.rule(at, Rule { path: leads.path.as_str().into(), conditions: leads.conditions.clone(), action, takes: 100, shares, ..Rule::default() });
        self.edge(host, at, Relation::Forwards, "", None);
        self.made(leads.origin.as_slice(), at);
        let to = pool.and_then(|pool| self.find(&self.scoped(format!("cluster:{}", pool.name))));
        if let Some(to) = to {
            self.edge(at, to, Relation::Forwards, "", None);
        }
    }
}

/// Returns the edges of a rule, path by path.
fn leads<'a>(parts: &PartIndex<'a>, rule: &'a Part<RoutingRule>, conditions: &[String]) -> Vec<RuleEdge<'a>> {
    let conditions = || conditions.to_vec();
    let of = &rule.properties;
    let Some(map) = parts.path_maps.get(&of.path_map) else {
        return Vec::from([RuleEdge { path: "/*".into(), conditions: conditions(), origin: rule.origin, pool: &of.pool, redirect: &of.redirect }]);
    };
    let map_of: &PathMap = &map.properties;
    let paths = map_of.rules.iter().flatten().flat_map(|rule| {
        let of = &rule.properties;
        of.paths.iter().flatten().map(move |path| RuleEdge {
            path: path.value.to_string(),
            conditions: conditions(),
            origin: path.origin.or(rule.origin),
            pool: &of.pool,
            redirect: &of.redirect,
        })
    });
    let default =
        RuleEdge { path: "/*".into(), conditions: conditions(), origin: map.origin, pool: &map_of.default_pool, redirect: &map_of.default_redirect };
    paths.chain([default]).collect()
}
