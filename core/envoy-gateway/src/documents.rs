//! Writes the documents of Envoy Gateway and the API server: statuses and refusals.
//!
//! Does not decide what is in them; see `translate` and `cluster`.

use super::cluster::{Admitted, Verdict};
use super::context::{GatewayContext, Listener, Translator};
use super::settings::{Infra, Settings};
use super::status::{Conditions, PolicyStatus, Reference};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::compilation::StatusOf;
use chancery_kubernetes::status::{list, number, object, text};
use chancery_text::{Node, Str, Value};
use core::net::IpAddr;

/// The most addresses in the status of a Gateway.
const MOST_ADDRESSES: usize = 16;

/// Returns the statuses of all objects of a class.
pub(crate) fn statuses(t: &Translator<'_>) -> Vec<StatusOf> {
    let controller = &t.settings.controller;
    let mut out = Vec::new();
    for gateway in t.gateways.iter().chain(&t.failed) {
        out.push(status_of(gateway.object, gateway_status(t, gateway)));
    }
    for (place, set) in t.listener_sets.iter().enumerate() {
        let own = t.gateways.iter().flat_map(|gateway| &gateway.listeners).filter(|listener| listener.set == Some(place));
        let generation = set.object.generation();
        let listeners: Vec<Node> = own.map(|listener| listener_status(listener, generation)).collect();
        let mut fields = Vec::new();
        fields.push(("conditions", set.conditions.node(generation)));
        if set.attached && !listeners.is_empty() {
            fields.push(("listeners", list(listeners)));
        }
        out.push(status_of(set.object, object(fields)));
    }
    for of in &t.routes {
        out.push(shared_status_of(of.object, of.status(controller)));
    }
    let resources = t.resources;
    let backends = resources.backends.iter().copied();
    let proxies = resources.envoy_proxies.values().copied().chain(resources.envoy_proxy_for_class);
    let mut seen = alloc::collections::BTreeSet::new();
    for backend in backends {
        let Some(status) = t.policies.get(&backend.id()).filter(|_| seen.insert(backend.id())) else { continue };
        let conditions = status.ancestors.first().map_or_else(Conditions::default, |(_, conditions)| conditions.clone());
        out.push(status_of(backend, object(alloc::vec![("conditions", conditions.node(backend.generation()))])));
    }
    for proxy in proxies {
        let Some(status) = t.policies.get(&proxy.id()).filter(|_| seen.insert(proxy.id())) else { continue };
        out.push(status_of(proxy, proxy_status(status, proxy.generation())));
    }
    let policies = [
        &resources.backend_tls_policies,
        &resources.client_traffic_policies,
        &resources.backend_traffic_policies,
        &resources.security_policies,
        &resources.envoy_extension_policies,
        &resources.envoy_patch_policies,
    ];
    for policy in policies.into_iter().flatten() {
        if let Some(mut status) = t.policies.get(&policy.id()).filter(|status| !status.ancestors.is_empty()).cloned() {
            status.truncate();
            out.push(status_of(policy, status.node(controller, policy.generation())));
        }
    }
    out
}

/// Returns the status of an object.
pub(crate) fn status_of(of: &Admitted<'_>, status: Node) -> StatusOf {
    shared_status_of(of, Arc::new(status))
}

fn shared_status_of(of: &Admitted<'_>, status: Arc<Node>) -> StatusOf {
    StatusOf { kind: Str::new_static(of.kind.name()), namespace: of.namespace().clone(), name: of.name().clone(), status }
}

/// Joins the statuses that several classes write of the same object: of an EnvoyProxy, all ancestors stay; of others, the last one stays.
pub(crate) fn merge(statuses: Vec<StatusOf>) -> Vec<StatusOf> {
    let mut out: Vec<StatusOf> = Vec::new();
    for next in statuses {
        let known = out.last_mut().filter(|last| (&last.kind, &last.namespace, &last.name) == (&next.kind, &next.namespace, &next.name));
        let Some(known) = known else {
            out.push(next);
            continue;
        };
        known.status = match (known.status.get("ancestors"), next.status.get("ancestors")) {
            (Some(one), Some(other)) if next.kind == "EnvoyProxy" => {
                let items = |of: &Node| match &of.value {
                    Value::Array(items) => items.to_vec(),
                    _ => Vec::new(),
                };
                Arc::new(object(alloc::vec![("ancestors", list([items(one), items(other)].concat()))]))
            }
            _ => next.status,
        };
    }
    out
}

/// Returns the status of a class.
pub(crate) fn class_status(class: &Admitted<'_>, conditions: &Conditions) -> StatusOf {
    status_of(class, object(alloc::vec![("conditions", conditions.node(class.generation()))]))
}

fn proxy_status(status: &PolicyStatus, generation: i64) -> Node {
    let ancestor = |(reference, conditions): &(Reference, Conditions)| {
        object(alloc::vec![("ancestorRef", reference.node()), ("conditions", conditions.node(generation))])
    };
    object(alloc::vec![("ancestors", list(status.ancestors.iter().map(ancestor).collect()))])
}

fn listener_status(listener: &Listener<'_>, generation: i64) -> Node {
    let kind = |(group, kind): &(Str, Str)| object(alloc::vec![("group", text(group)), ("kind", text(kind))]);
    let status = &listener.status;
    let mut fields = alloc::vec![
        ("attachedRoutes", number(status.attached_routes)),
        ("conditions", status.conditions.node(generation)),
        ("name", text(&listener.name)),
    ];
    if !status.supported_kinds.is_empty() || !listener.is_from_listener_set() {
        fields.push(("supportedKinds", list(status.supported_kinds.iter().map(kind).collect())));
    }
    object(fields)
}

fn gateway_status(t: &Translator<'_>, gateway: &GatewayContext<'_>) -> Node {
    let generation = gateway.object.generation();
    let mut conditions = gateway.conditions.clone();
    let own: Vec<&Listener<'_>> = gateway.listeners.iter().filter(|listener| !listener.is_from_listener_set()).collect();
    let mut fields = Vec::new();
    if !gateway.is_refused() {
        accept(&own, &mut conditions);
        if conditions.is("Accepted", true) || conditions.is("Accepted", false) {
            let addresses = program(t.settings, gateway, &mut conditions);
            if !addresses.is_empty() {
                fields.push(("addresses", list(addresses.iter().map(address).collect())));
            }
        }
    }
    if gateway.attached_listener_sets > 0 {
        fields.push(("attachedListenerSets", number(gateway.attached_listener_sets)));
    }
    fields.push(("conditions", conditions.node(generation)));
    if !own.is_empty() {
        fields.push(("listeners", list(own.into_iter().map(|listener| listener_status(listener, generation)).collect())));
    }
    object(fields)
}

/// Says whether a Gateway is accepted, by its listeners.
fn accept(listeners: &[&Listener<'_>], conditions: &mut Conditions) {
    let mut refused: Vec<&str> =
        listeners.iter().filter(|listener| !listener.status.conditions.is("Accepted", true)).map(|listener| listener.name.as_str()).collect();
    refused.sort_unstable();
    let names = refused.join(", ");
    if refused.is_empty() {
        conditions.set("Accepted", true, "Accepted", "The Gateway has been scheduled by Envoy Gateway");
    } else if refused.len() < listeners.len() {
        conditions.set("Accepted", true, "ListenersNotValid", format!("Listeners not valid: {names}"));
    } else {
        conditions.set("Accepted", false, "ListenersNotValid", format!("No listeners are valid: {names}"));
    }
}

/// Whether an address is a host name, and the address.
type Address = (bool, Str);

fn address((is_hostname, value): &Address) -> Node {
    object(alloc::vec![("type", text(if *is_hostname { "Hostname" } else { "IPAddress" })), ("value", text(value))])
}

/// Says whether proxies serve a Gateway, and returns its addresses.
fn program(settings: &Settings, gateway: &GatewayContext<'_>, conditions: &mut Conditions) -> Vec<Address> {
    let written: Vec<Address> = gateway
        .object
        .spec()
        .field("addresses")
        .items()
        .map(|at| (at.field("type").str() == "Hostname", Str::new(at.field("value").str())))
        .collect();
    let unusable = "One or more Gateway addresses cannot be used";
    let Some(infra) = &settings.infra else {
        if written.is_empty() {
            conditions.set("Programmed", false, "AddressNotAssigned", "No addresses have been assigned to the Gateway");
        } else {
            conditions.set("Programmed", false, "AddressNotUsable", unusable);
        }
        return sorted(written);
    };
    let is_unusable = written.iter().any(|(is_hostname, _)| *is_hostname);
    let addresses = sorted(assigned(infra, gateway, &written));
    if is_unusable {
        conditions.set("Programmed", false, "AddressNotUsable", unusable);
    } else if addresses.is_empty() {
        conditions.set("Programmed", false, "AddressNotAssigned", "No addresses have been assigned to the Gateway");
    } else if addresses.len() > MOST_ADDRESSES {
        let count = addresses.len();
        let message = format!("Too many addresses ({count}) have been assigned to the Gateway; only the first 16 are included in the status.");
        conditions.set("Programmed", true, "Programmed", message);
        return addresses.into_iter().take(MOST_ADDRESSES).collect();
    } else if settings.infra_is_remote {
        conditions.set("Programmed", true, "Programmed", "Address assigned to the Gateway, remote infrastructure is available");
    } else if infra.available_replicas > 0 {
        let count = infra.available_replicas;
        conditions.set("Programmed", true, "Programmed", format!("Address assigned to the Gateway, {count}/{count} envoy replicas available"));
    } else {
        conditions.set("Programmed", false, "NoResources", "Envoy replicas unavailable");
    }
    addresses
}

/// IP addresses, then host names.
fn sorted(mut all: Vec<Address>) -> Vec<Address> {
    all.sort_by_key(|(is_hostname, _)| *is_hostname);
    all
}

/// Returns the addresses of the Service of the proxies.
fn assigned(infra: &Infra, gateway: &GatewayContext<'_>, written: &[Address]) -> Vec<Address> {
    if !written.is_empty() {
        return written.iter().filter(|(is_hostname, value)| !is_hostname && value.parse::<IpAddr>().is_ok()).cloned().collect();
    }
    let kind = gateway.proxy(&["provider", "kubernetes", "envoyService", "type"]).str();
    if !matches!(kind.as_str(), "" | "LoadBalancer") {
        return Vec::new();
    }
    let ip = (!infra.address.is_empty()).then(|| (false, infra.address.clone()));
    let hostname = (ip.is_none() && !infra.hostname.is_empty()).then(|| (true, infra.hostname.clone()));
    ip.into_iter().chain(hostname).collect()
}

/// Returns what the API server refused, or took without some fields.
pub(crate) fn admission(verdicts: &[Verdict]) -> Option<Node> {
    (!verdicts.is_empty()).then(|| list(verdicts.iter().map(verdict).collect()))
}

fn verdict(of: &Verdict) -> Node {
    let flag = |value: bool| Node::synthesised(Value::Bool(value));
    let texts = |all: &[String]| list(all.iter().map(|one| text(one)).collect());
    let is_refused = !of.errors.is_empty();
    let mut fields = alloc::vec![("apiVersion", text(&of.api_version))];
    if is_refused {
        fields.push(("errors", texts(&of.errors)));
    }
    fields.push(("kind", text(&of.key.kind)));
    if is_refused {
        let list = match of.errors.as_slice() {
            [only] => only.clone(),
            all => format!("[{}]", all.join(", ")),
        };
        let kind = if of.key.group.is_empty() { of.key.kind.clone() } else { Str::from(format!("{}.{}", of.key.kind, of.key.group)) };
        fields.push(("message", text(&format!("{kind} \"{}\" is invalid: {list}", of.key.name))));
    }
    fields.push(("name", text(&of.key.name)));
    fields.extend(of.key.namespace.as_ref().map(|namespace| ("namespace", text(namespace))));
    fields.push(("refused", flag(is_refused)));
    if !of.unknown.is_empty() {
        fields.push(("unknownFields", texts(&of.unknown)));
    }
    object(fields)
}
