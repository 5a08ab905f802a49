//! Finds the gateway's addresses for statuses (Contour `cmd/contour/ingressstatus.go`, `internal/k8s/statusaddress.go`).

use super::Processing;
use crate::cluster::Admitted;
use crate::kinds::Kind;
use crate::status::{list, object, text};
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_kubernetes::cursor::Cursor;
use chancery_text::{Node, Object, Value};
use core::net::IpAddr;

/// One address: IP, or host name.
struct Address {
    is_ip: bool,
    value: alloc::string::String,
}

impl Address {
    /// The name of its type in Gateway API.
    fn kind(&self) -> &'static str {
        if self.is_ip { "IPAddress" } else { "Hostname" }
    }
}

impl Processing<'_> {
    /// Whether a Gateway requests no address, or has one of the requested ones.
    pub(super) fn is_address_assigned(&self, gateway: &Admitted<'_>) -> bool {
        let (spec, root) = (gateway.spec(), gateway.root());
        let (wanted, assigned) = (spec.field("addresses"), root.at("status.addresses"));
        let ours = self.gateway_addresses();
        let is_assigned = |wanted: Cursor<'_>| {
            let (kind, value) = (kind(wanted), wanted.field("value").str());
            let before = || assigned.items().any(|assigned| self::kind(assigned) == kind && assigned.field("value").str() == value);
            if ours.is_empty() { before() } else { ours.iter().any(|address| address.kind() == kind && address.value == value) }
        };
        wanted.is_empty() || wanted.items().any(is_assigned)
    }

    /// Writes the addresses into the statuses of everything that Contour serves.
    pub(super) fn addresses(&mut self) {
        let addresses = self.gateway_addresses();
        if addresses.is_empty() {
            return self.proxy_statuses(&object(Vec::new()));
        }
        let ingress = addresses.iter().map(|address| object(alloc::vec![(if address.is_ip { "ip" } else { "hostname" }, text(&address.value))]));
        let balancer = object(alloc::vec![("ingress", list(ingress.collect()))]);
        let source = self.source;
        self.proxy_statuses(&balancer);
        for ingress in source.ingresses.iter() {
            self.set_field("Ingress", (ingress.namespace(), ingress.name()), "loadBalancer", balancer.clone());
        }
        let gateway = source.settings.at("gateway.gatewayRef");
        let (namespace, name) = (gateway.field("namespace").str(), gateway.field("name").str());
        if source.get(Kind::Gateway, namespace, name).is_some() {
            let entry = |address: &Address| object(alloc::vec![("type", text(address.kind())), ("value", text(&address.value))]);
            self.set_field("Gateway", (namespace, name), "addresses", list(addresses.iter().map(entry).collect()));
        }
    }

    /// The statuses of all HTTPProxies, which clients reach by this balancer.
    fn proxy_statuses(&mut self, balancer: &Node) {
        let mut all = self.memory.valid_statuses(&self.source.proxies, balancer);
        for ((namespace, name), condition) in self.proxies.iter() {
            let place = all.binary_search_by(|of| (&of.namespace, &of.name).cmp(&(namespace, name)));
            if let Some(of) = place.ok().and_then(|at| all.get_mut(at)) {
                of.status = Arc::new(condition.proxy_status(balancer));
            }
        }
        self.statuses.set_proxies(all);
    }

    fn set_field(&mut self, kind: &str, (namespace, name): (&str, &str), field: &str, value: Node) {
        let status = match self.statuses.get_mut(kind, namespace, name) {
            Some(status) => status,
            None => {
                self.statuses.set(kind, namespace, name, Node::synthesised(Value::Object(Object::new())));
                let Some(status) = self.statuses.get_mut(kind, namespace, name) else { return };
                status
            }
        };
        if let Value::Object(object) = &mut status.value {
            match object.get_mut(field) {
                Some(known) => *known = value,
                None => {
                    object.insert(field, value);
                }
            }
        }
    }

    /// The administrator's addresses, or else those of Envoy's Service.
    fn gateway_addresses(&self) -> Vec<Address> {
        let written = self.source.settings.at("ingress.statusAddress").str();
        if !written.is_empty() {
            let items = written.split(',').map(str::trim).filter(|item| !item.is_empty());
            return items.map(|item| Address { is_ip: item.parse::<IpAddr>().is_ok(), value: item.into() }).collect();
        }
        let service = self.source.settings.at("envoy.service");
        let (namespace, name) = (service.field("namespace").str(), service.field("name").str());
        let mut found =
            self.source.all(Kind::Service).filter(|object| *object.name() == name && (namespace.is_empty() || *object.namespace() == namespace));
        let Some(service) = found.next() else { return Vec::new() };
        let mut addresses = Vec::new();
        for item in service.root().at("status.loadBalancer.ingress").items() {
            for (field, is_ip) in [("ip", true), ("hostname", false)] {
                let value = item.field(field).str();
                if !value.is_empty() {
                    addresses.push(Address { is_ip, value: value.into() });
                }
            }
        }
        addresses
    }
}

/// The kind of an address in Gateway API.
fn kind(at: Cursor<'_>) -> &str {
    at.field("type").some_str().unwrap_or("IPAddress")
}
