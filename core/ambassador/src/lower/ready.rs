//! Creates the listener for readiness probes.
//!
//! Source of the behaviour: Emissary `python/ambassador/envoy/v3/v3ready.py`.

use super::Lowering;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use chancery_base::ir::{
    Address, FilterChain, FilterChainMatch, HttpConnectionManager, HttpFilter, HttpFilterKind, Listener, NetworkFilter, RouteConfiguration,
};
use chancery_base::resource::{Origin, Rule, Sourced};

impl Lowering<'_, '_> {
    pub(super) fn ready_listener(&mut self) -> Listener {
        let options = self.model.options;
        let environment = Origin::built_in().by(Rule::Environment);
        let address = options.ready_address();
        let port = options.ready_port();
        let log = if options.ready_log() { self.file_log() } else { None };
        let health = HttpFilter {
            name: "envoy.filters.http.health_check".into(),
            kind: HttpFilterKind::HealthCheck { path: "/ready".into() },
            origins: Vec::new(),
        };
        let router = HttpFilterKind::Router { start_child_span: None, suppress_envoy_headers: None };
        let router = HttpFilter { name: "envoy.filters.http.router".into(), kind: router, origins: Vec::new() };
        let manager = HttpConnectionManager {
            stat_prefix: Sourced::built_in("ready_http".into()),
            routes: RouteConfiguration { name: "local_route".into(), ..RouteConfiguration::default() },
            filters: vec![Arc::new(health), Arc::new(router)],
            access_logs: log.into_iter().collect(),
            max_request_headers_kb: self.max_request_headers(),
            idle_timeout: self.listener_idle_timeout(),
            ..HttpConnectionManager::default()
        };
        let limit = self.model.ambassador.settings.buffer_limit_bytes.filter(|limit| limit.value != 0);
        let on = self.model.ambassador.identity.clone();
        Listener {
            name: Sourced::built_in(format!("ambassador-listener-ready-{address}-{port}").into()),
            address: Address { address: Sourced::built_in(address), port: Sourced::new(port, environment), ..Address::default() },
            filters: Vec::new(),
            chains: vec![FilterChain {
                name: "".into(),
                matcher: Some(FilterChainMatch::default()),
                tls: None,
                filters: vec![NetworkFilter::Http(Arc::new(manager))],
                origins: Vec::new(),
            }],
            per_connection_buffer_limit: limit.and_then(|limit| self.unsigned(&limit, "buffer_limit_bytes", &on).ok()),
            in_bootstrap: true,
            ..Listener::default()
        }
    }
}
