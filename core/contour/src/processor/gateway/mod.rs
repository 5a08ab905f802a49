//! Processes Gateway API (Contour `internal/dag/gatewayapi_processor.go`): one Gateway, which the configuration names, and its routes. For
//! behaviour that all controllers share, see `chancery_kubernetes::gateway_api`.

pub mod ports;

mod backend;
mod context;
mod fault;
mod filter;
mod grpc;
mod http;
mod kind;
mod listener;
mod matches;
mod route;
mod stream;

use super::Processing;
use crate::cluster::Admitted;
use crate::kinds::Kind;
use alloc::format;
use alloc::vec::Vec;
use chancery_base::resource::Origin;
use chancery_kubernetes::gateway_api::status::{self, Conditions, GatewayStatus, ParentStatus};
use chancery_kubernetes::gateway_api::{attachment, hostname};
use chancery_text::Str;
use context::{Attachment, Gateway, GatewayListener, RouteOutcomes};
use fault::Faults;
use kind::RouteKind;

impl<'a> Processing<'a> {
    /// Reads the Gateway and its routes.
    pub(super) fn gateways(&mut self) {
        let Some(object) = self.source.gateway() else { return };
        let class = object.spec().field("gatewayClassName").str();
        let Some(class) = self.source.cluster.get(Kind::GatewayClass, "", class) else { return };
        let mut status = GatewayStatus::default();
        let mut found = RouteOutcomes::default();
        let mut gateway = Gateway::new(self.source, object, class);
        gateway.unassigned = !self.is_address_assigned(object);
        gateway.listeners = self.gateway_listeners(&gateway, &mut status, &mut found.faults);
        for kind in RouteKind::ALL {
            for route in kind.routes(self.source) {
                self.gateway_route(&gateway, kind, route, &mut status, &mut found);
            }
        }
        finish(&gateway, &mut status, &mut found.faults);
        self.found.extend(found.faults.into_found());
        let (namespace, name) = gateway.full_name();
        self.statuses.set("Gateway", namespace, name, status.node());
        for ((namespace, name), (kind, status)) in found.routes {
            self.statuses.set(kind, &namespace, &name, status);
        }
        for ((namespace, name), status) in found.policies {
            self.statuses.set("BackendTLSPolicy", &namespace, &name, status);
        }
    }

    fn gateway_route(
        &mut self,
        gateway: &Gateway<'a>,
        kind: RouteKind,
        route: &'a Admitted<'a>,
        status: &mut GatewayStatus,
        found: &mut RouteOutcomes,
    ) {
        let (namespace, name) = gateway.full_name();
        let mut parents = Vec::new();
        for parent in route.spec().field("parentRefs").items().filter(|parent| attachment::is_to_gateway(*parent, namespace, name)) {
            let mut conditions = Conditions::default();
            if gateway.unassigned {
                conditions.add("Accepted", false, "InvalidGateway", "Invalid Gateway");
            } else {
                let mut attachment = Attachment { processing: self, gateway, kind, route, parent, conditions, found };
                attachment.attach(status);
                conditions = attachment.conditions;
            }
            parents.push(ParentStatus { parent, conditions });
        }
        if !parents.is_empty() {
            let node = status::route(&parents, gateway.controller, gateway.full_name(), route.root().at("status.parents"));
            found.routes.insert(route.full_name(), (kind.name(), node));
        }
    }
}

/// Adds the conditions of the Gateway itself, after those of its listeners.
fn finish(gateway: &Gateway<'_>, status: &mut GatewayStatus, faults: &mut Faults) {
    status.conditions.add("Accepted", true, "Accepted", "Gateway is accepted");
    if gateway.unassigned {
        let message = "None of the addresses in Spec.Addresses have been assigned to the Gateway";
        status.conditions.add("Programmed", false, "AddressNotAssigned", message);
        faults.add(gateway.object, "Programmed", "AddressNotAssigned", message, gateway.object.spec().field("addresses").origin());
    } else if status.listeners.values().any(|listener| listener.conditions.denies("Programmed")) {
        status.conditions.add("Programmed", false, "ListenersNotValid", "Listeners are not valid");
    } else {
        status.conditions.add("Programmed", true, "Programmed", "Valid Gateway");
    }
}

impl<'w, 'a> Attachment<'w, 'a> {
    /// Attaches the route to the listeners that its parent means and that let it in.
    fn attach(&mut self, status: &mut GatewayStatus) {
        let gateway = self.gateway;
        let listeners = self.listeners(status);
        if listeners.is_empty() {
            self.resolve_references();
        }
        let is_allowed = |name: &Str| listeners.iter().any(|listener| listener.name == *name);
        let others = gateway.listeners.iter().filter(|listener| !listener.hostname.value.is_empty() && !is_allowed(&listener.name));
        let others: Vec<Str> = others.map(|listener| listener.hostname.value.clone()).collect();
        let mut has_hosts = false;
        for listener in listeners {
            if self.kind == RouteKind::Tcp {
                self.tcp(listener);
                continue;
            }
            let spec = self.route.spec();
            let (hosts, faults) = hostname::intersection(spec.field("hostnames"), &listener.hostname, &others);
            for fault in faults {
                self.unresolved("Degraded", fault.value, fault.origin.unwrap_or_else(Origin::built_in));
            }
            if hosts.is_empty() {
                continue;
            }
            has_hosts = true;
            match self.kind {
                RouteKind::Http => self.http(listener, &hosts),
                RouteKind::Grpc => self.grpc(listener, &hosts),
                RouteKind::Tls | RouteKind::Tcp => self.tls(listener, &hosts),
            }
        }
        if self.kind != RouteKind::Tcp && !has_hosts {
            let message = "No intersecting hostnames were found between the listener and the route.";
            if !self.conditions.has("Accepted") {
                self.refused("NoMatchingListenerHostname", message, self.parent.origin());
            }
        }
        self.conditions.add_missing("ResolvedRefs", true, "ResolvedRefs", "References resolved");
        self.conditions.add_missing("Accepted", true, "Accepted", format!("Accepted {}", self.kind.name()));
    }

    /// The listeners that the parent means and that let the route in; the others that would are counted too.
    fn listeners(&mut self, status: &mut GatewayStatus) -> Vec<&'w GatewayListener<'a>> {
        let gateway = self.gateway;
        let (mut any_ready, mut allowed) = (false, Vec::new());
        for listener in &gateway.listeners {
            if !attachment::is_to_listener(self.parent, &listener.name, listener.port) {
                continue;
            }
            any_ready |= listener.ready;
            let is_kind = listener.kinds.contains(&self.kind);
            if !is_kind || !self.processing.lets_in(gateway, listener, self.route.namespace()) {
                continue;
            }
            if let Some(status) = status.listeners.get_mut(&listener.name) {
                status.attached_routes += 1;
            }
            if listener.ready {
                allowed.push(listener);
            }
        }
        if !any_ready {
            self.refused("NoMatchingParent", "No listeners match this parent ref", self.parent.origin());
        } else if allowed.is_empty() {
            let message = "No listeners included by this parent ref allowed this attachment.";
            self.refused("NotAllowedByListeners", message, self.parent.origin());
        }
        allowed
    }
}
