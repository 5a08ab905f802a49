//! Processes listeners (Contour `internal/dag/listener_processor.go`).

use super::Processing;
use super::gateway::ports;
use crate::model::Listener;
use chancery_base::resource::{Rule, Sourced};
use chancery_kubernetes::cursor::Cursor;
use chancery_text::Str;

impl Processing<'_> {
    /// Adds the Gateway's listeners, or Contour's two default listeners without a Gateway.
    pub(super) fn listeners(&mut self) {
        let Some(gateway) = self.source.gateway() else { return self.static_listeners() };
        self.graph.dynamic_listeners = true;
        for port in ports::validate(gateway.spec().field("listeners")).ports {
            let at = self.source.settings.at(if port.protocol == "https" { "envoy.https.address" } else { "envoy.http.address" });
            let listener = Listener {
                name: port.name,
                protocol: Str::new_static(port.protocol),
                address: Sourced::new(Str::new(at.str()), at.origin()).by(Rule::Module),
                port: Sourced::new(port.container_port, port.origin).by(Rule::Derived),
                enable_websockets: true,
                origins: alloc::vec![port.origin],
                ..Listener::default()
            };
            self.graph.listeners.insert(listener.name.clone(), listener);
        }
    }

    fn static_listeners(&mut self) {
        let listeners = [
            ("ingress_http", "http", "envoy.http", 8080, "ingress_http", ""),
            ("ingress_https", "https", "envoy.https", 8443, "https", "ingress_fallbackcert"),
        ];
        for (name, protocol, path, default, route_config, fallback_route_config) in listeners {
            let at = self.source.settings.at(path);
            let listener = Listener {
                name: Str::new_static(name),
                protocol: Str::new_static(protocol),
                address: Sourced::new(Str::new(at.field("address").str()), at.field("address").origin()).by(Rule::Module),
                port: port(at.field("port"), default),
                route_config: Str::new_static(route_config),
                fallback_route_config: Str::new_static(fallback_route_config),
                ..Listener::default()
            };
            self.graph.listeners.insert(listener.name.clone(), listener);
        }
    }
}

fn port(at: Cursor<'_>, default: u32) -> Sourced<u32> {
    let port = at.int().and_then(|port| u32::try_from(port).ok()).filter(|port| *port > 0);
    Sourced::new(port.unwrap_or(default), at.origin()).by(Rule::Module)
}
