//! Checks gateways: those without an entry, entries without a gateway, and missing services.

use super::Mesh;
use crate::codes;
use crate::entry::{Entry, Kind};
use crate::proxycfg::{hosts, refusal};
use crate::validate::is_set;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::diagnostic::{Place, codes as shared};
use chancery_base::ir::Tree;
use chancery_base::resource::nearest;
use chancery_text::Str;

/// Kinds of entries that are for a gateway.
pub(super) const KINDS: [Kind; 3] = [Kind::IngressGateway, Kind::TerminatingGateway, Kind::ApiGateway];

pub(super) fn check(mesh: &mut Mesh<'_>) {
    let state = mesh.state;
    let mut reported: BTreeSet<(Kind, Str)> = BTreeSet::new();
    for instance in state.here() {
        let Some(kind) = KINDS.into_iter().find(|kind| kind.name() == instance.kind) else { continue };
        let key = (kind, instance.service.clone());
        if !state.entries.contains_key(&key) && reported.insert(key) {
            let at = instance.tree.get("Service");
            match mesh.refused(&[kind], &instance.service) {
                Some((why, place)) => {
                    mesh.report(&codes::GATEWAY_WITHOUT_ENTRY, format!("{why}, so the gateway does nothing"), at, instance.object);
                    mesh.relate(place, "this entry was refused");
                }
                None => {
                    let message = format!("there is no {} `{}`, so the gateway does nothing", kind.name(), instance.service);
                    mesh.report(&codes::GATEWAY_WITHOUT_ENTRY, message, at, instance.object);
                }
            }
        }
    }
    for kind in KINDS {
        for entry in mesh.entries(kind) {
            if !state.here().any(|instance| instance.kind == kind.name() && instance.service == entry.name) {
                let message = format!("no {} `{}` is registered, so this has no effect", kind.name(), entry.name);
                mesh.report(&codes::ENTRY_WITHOUT_GATEWAY, message, entry.tree.get("Name"), Some(entry.object));
            }
        }
    }
    for entry in mesh.entries(Kind::IngressGateway) {
        for listener in entry.tree.get("Listeners").items() {
            listener.get("Services").items().iter().for_each(|service| known(mesh, entry, service));
        }
    }
    for entry in mesh.entries(Kind::TerminatingGateway) {
        let services = entry.tree.get("Services").items();
        for service in services.iter().filter(|service| !state.here().any(|instance| service.get("Name").is(&instance.service))) {
            let name = service.get("Name").str();
            if name != "*" && !is_set(state.tree(Kind::ServiceDefaults, &name).get("Destination")) {
                missing(mesh, entry, service);
            }
        }
        services.iter().for_each(|service| cleartext(mesh, entry, service));
    }
    for entry in [Kind::HttpRoute, Kind::TcpRoute].into_iter().flat_map(|kind| mesh.entries(kind)).collect::<Vec<_>>() {
        let rules = entry.tree.get("Rules").items().iter().flat_map(|rule| rule.get("Services").items());
        rules.chain(entry.tree.get("Services").items()).for_each(|service| known(mesh, entry, service));
        entry.tree.get("Parents").items().iter().for_each(|parent| attached(mesh, entry, parent));
    }
    for entry in mesh.entries(Kind::ExportedServices) {
        for service in entry.tree.get("Services").items() {
            let name = service.get("Name").str();
            if name != "*" && !mesh.is_served(&name) {
                let message = format!("`{name}` is exported, and has no instances");
                let help = mesh.intended_service(&name);
                mesh.report_with(&codes::EXPORT_WITHOUT_SERVICE, message, service.get("Name"), Some(entry.object), help);
            }
        }
    }
}

/// Checks that a route belongs to a listener of an existing API gateway.
fn attached(mesh: &mut Mesh<'_>, route: &Entry, parent: &Tree) {
    let (name, section) = (parent.get("Name"), parent.get("SectionName"));
    let wrong = match mesh.state.entries.get(&(Kind::ApiGateway, name.str())) {
        None => {
            let near = nearest(name.text(), mesh.state.of_kind(Kind::ApiGateway).map(|gateway| gateway.name.as_str()));
            Some((format!("there is no api-gateway `{}`, so the route belongs to none", name.text()), name, near.map(Str::new)))
        }
        Some(gateway) if is_set(section) => {
            let listeners: Vec<Str> = gateway.tree.get("Listeners").items().iter().map(|listener| listener.get("Name").str()).collect();
            let near = nearest(section.text(), listeners.iter().map(Str::as_str)).map(Str::new);
            let message = format!("the api-gateway `{}` has no listener `{}`, so the route belongs to none", name.text(), section.text());
            (!listeners.iter().any(|listener| section.is(listener))).then_some((message, section, near))
        }
        Some(_) => None,
    };
    if let Some((message, at, near)) = wrong {
        let help = near.map(|near| format!("did you mean `{near}`?"));
        mesh.report_with(&codes::ROUTE_WITHOUT_GATEWAY, message, at, Some(route.object), help);
    } else if let Some(words) = refusal(mesh.state, route, parent) {
        let message = format!("the api-gateway `{}` does not accept the route: {words}", name.text());
        let help = how_to_bind(mesh, route, parent);
        mesh.report_with(&codes::ROUTE_NOT_BOUND, message, parent, Some(route.object), help);
    }
}

/// Returns what a route needs so that a gateway accepts it.
fn how_to_bind(mesh: &Mesh<'_>, route: &Entry, parent: &Tree) -> Option<String> {
    let protocol = if route.kind == Kind::HttpRoute { "http" } else { "tcp" };
    let section = parent.get("SectionName");
    let all = mesh.state.tree(Kind::ApiGateway, parent.get("Name").text()).get("Listeners").items();
    let meant: Vec<&Tree> = all.iter().filter(|listener| !is_set(section) || section.is(listener.get("Name").text())).collect();
    if !meant.iter().any(|listener| listener.get("Protocol").is(protocol)) {
        let others: Vec<&str> = all.iter().filter(|of| of.get("Protocol").is(protocol)).map(|of| of.get("Name").text()).collect();
        return Some(match others.first() {
            Some(other) => format!("name a listener whose `Protocol` is `{protocol}`, such as `{other}`"),
            None => format!("give the gateway a listener whose `Protocol` is `{protocol}`, and name it"),
        });
    }
    if route.kind == Kind::HttpRoute && meant.iter().all(|listener| hosts(&route.tree, listener).is_empty()) {
        let taken: BTreeSet<&str> = meant.iter().map(|listener| listener.get("Hostname").text()).collect();
        let taken: Vec<&str> = taken.into_iter().collect();
        return Some(format!("name a host in `Hostnames` that the listener matches (`{}`), or leave `Hostnames` out", taken.join("`, `")));
    }
    let accepted = route.tree.at(&["Status", "Conditions"]).items().iter().find(|condition| condition.get("Type").is("Accepted"))?;
    let speaks = format!("every service of the route must speak `{protocol}`: set `Protocol` in its service-defaults");
    (accepted.get("Status").is("False") && accepted.get("Reason").is("InvalidDiscoveryChain")).then_some(speaks)
}

/// The port where servers expect TLS.
const TLS_PORT: i64 = 443;

/// Reports services at port 443 that get cleartext. A terminating gateway uses TLS only if the service has a `CAFile`
/// (agent/xds/clusters.go, `makeTerminatingGatewayClusters`).
fn cleartext(mesh: &mut Mesh<'_>, entry: &Entry, service: &Tree) {
    if is_set(service.get("CAFile")) {
        return;
    }
    let name = service.get("Name").str();
    let Some(instance) = mesh.state.instances.of_service(&name).find(|instance| instance.tree.get("Port").int() == TLS_PORT) else { return };
    let message = format!("`{}` sends cleartext to port {TLS_PORT} of `{name}`, because the service has no `CAFile`", entry.name);
    let port = instance.tree.get("Port").origin.map(Place::origin);
    let help = "set `CAFile` to the CA of the service's certificate, and `SNI` to its name; or register the port that serves cleartext".into();
    mesh.report_with(&shared::CLEARTEXT_TO_TLS_PORT, message, service.get("Name"), Some(entry.object), Some(help));
    if let Some(port) = port {
        mesh.relate(port, "port 443 is registered here");
    }
}

fn known(mesh: &mut Mesh<'_>, entry: &Entry, service: &Tree) {
    let name = service.get("Name").str();
    if name != "*" && !mesh.is_served(&name) {
        missing(mesh, entry, service);
    }
}

fn missing(mesh: &mut Mesh<'_>, entry: &Entry, service: &Tree) {
    let name = service.get("Name").str();
    let message = format!("the gateway serves `{name}`, which has no instances");
    let help = mesh.intended_service(&name);
    mesh.report_with(&codes::GATEWAY_WITHOUT_SERVICE, message, service.get("Name"), Some(entry.object), help);
}
