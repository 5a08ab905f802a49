//! Adds nginx's parts to the graph, from the listener to the endpoints of upstreams. Does not add input objects; see `build`.

use super::build::Builder;
use super::{NodeKind, Relation, Rule};
use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;
use chancery_base::ir::nginx::{Location, Nginx, Server, Upstream};
use chancery_base::resource::Sourced;
use chancery_text::Str;

impl Builder<'_> {
    /// Adds all parts, from the listener to the endpoints.
    pub fn nginx(&mut self, nginx: &Nginx) {
        for upstream in &nginx.upstreams {
            self.upstream(upstream);
        }
        let id = self.scoped(format!("listener:{}", nginx.ports.http));
        let entry = self.node(&id, NodeKind::Listener, || format!("nginx\nports {}, {}", nginx.ports.http, nginx.ports.https));
        for server in &nginx.servers {
            self.nginx_server(nginx, entry, server);
        }
    }

    fn upstream(&mut self, upstream: &Upstream) {
        let name = &upstream.name.value;
        let id = self.scoped(format!("cluster:{name}"));
        let at = self.node(&id, NodeKind::Cluster, || name.to_string());
        let service = upstream.service.as_ref().and_then(|service| service.origin);
        self.made(upstream.name.origin.as_slice(), at);
        self.made(service.as_slice(), at);
        if upstream.endpoints.is_empty() {
            let id = self.scoped(format!("missing:endpoint/{name}"));
            let missing = self.missing(&id, "no endpoints".into(), format!("nothing is known to serve {name}"));
            self.edge(at, missing, Relation::Forwards, "", None);
        }
        for endpoint in &upstream.endpoints {
            let address = format!("{}:{}", endpoint.address.value, endpoint.port);
            let id = self.scoped(format!("endpoint:{address}"));
            let to = self.node(&id, NodeKind::Endpoint, || address);
            self.edge(at, to, Relation::Forwards, "", None);
            self.made(endpoint.address.origin.as_slice(), to);
        }
    }

    fn nginx_server(&mut self, nginx: &Nginx, entry: usize, server: &Server) {
        let host = &server.host.value;
        let id = self.scoped(format!("server:{host}"));
        let at = self.node(&id, NodeKind::VirtualHost, || if host == "_" { "*".into() } else { host.to_string() });
        self.edge(entry, at, Relation::Forwards, "", None);
        self.made(server.host.origin.as_slice(), at);
        for location in &server.locations {
            self.nginx_location(nginx, at, host, location);
        }
    }

    fn nginx_location(&mut self, nginx: &Nginx, host_at: usize, host: &str, location: &Location) {
        let path = &location.path.value;
        let id = self.scoped(format!("route:{path} {host} {}", location.path_type.name()));
        let id = self.free(id);
        let redirects = !location.settings.redirect.url.value.is_empty();
        let action = redirects.then(|| "redirects".to_string());
        let label = action.iter().fold(path.to_string(), |path, action| format!("{path}\n{action}"));
        let at = self.node(&id, NodeKind::Route, || label);
        let upstream = nginx.upstream(&location.upstream.value).filter(|_| !redirects);
        let names: Vec<_> = upstream.into_iter().flat_map(|upstream| core::iter::once(&upstream.name).chain(&upstream.alternatives)).collect();
        let shares = upstream.map(|upstream| shares(nginx, upstream)).unwrap_or_default();
        self.rule(at, Rule { path: path.as_str().into(), action, takes: 100, shares, ..Rule::default() });
        self.edge(host_at, at, Relation::Forwards, "", None);
        let origin = location.path.origin.or_else(|| location.ingress.as_ref()?.origin);
        self.made(origin.as_slice(), at);
        for name in names {
            if let Some(to) = self.find(&self.scoped(format!("cluster:{}", name.value))) {
                self.edge(at, to, Relation::Forwards, "", None);
            }
        }
    }
}

/// Returns the upstream and its canaries, each with its share in percent of the requests that no header decides.
fn shares(nginx: &Nginx, upstream: &Upstream) -> Vec<(Str, u32)> {
    let canary = |name: &Sourced<Str>| {
        let policy = &nginx.upstream(&name.value)?.policy;
        let total = policy.weight_total.value.max(0);
        Some((
            name.value.clone(),
            u32::try_from(policy.weight.value.saturating_mul(100) / if total == 0 { 100 } else { total }).unwrap_or_default().min(100),
        ))
    };
    let canaries: Vec<(Str, u32)> = upstream.alternatives.iter().filter_map(canary).collect();
    let rest = 100_u32.saturating_sub(canaries.iter().map(|(_, share)| share).sum());
    core::iter::once((upstream.name.value.clone(), rest)).chain(canaries).collect()
}
