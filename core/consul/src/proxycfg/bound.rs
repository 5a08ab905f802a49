//! Binds routes to listeners of API gateways, and writes their statuses.

use crate::chain::{self, Request, Set};
use crate::entry::{Entry, Kind};
use crate::go::quote;
use crate::state::State;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_kubernetes::reason::Reason;
use chancery_text::Str;

/// A condition: its type, status, reason and message, and the resource that it concerns.
fn condition(kind: &str, status: bool, reason: &str, message: impl Into<String>, resource: [&str; 3]) -> Tree {
    Tree::object([
        ("Type", Tree::from(kind)),
        ("Status", if status { "True" } else { "False" }.into()),
        ("Reason", reason.into()),
        ("Message", message.into().into()),
        ("Resource", Tree::object(["Kind", "Name", "SectionName"].into_iter().zip(resource.map(Tree::from)))),
    ])
}

/// The resource of a condition about the whole.
const WHOLE: [&str; 3] = ["", "", ""];

/// A status from conditions; the last one of a type for each resource wins.
fn status(conditions: Vec<Tree>) -> Tree {
    let key = |condition: &Tree| {
        let resource = ["Kind", "Name", "SectionName"].map(|field| condition.at(&["Resource", field]).str());
        (condition.get("Type").str(), resource)
    };
    let mut kept: Vec<Tree> = Vec::new();
    for condition in conditions {
        match kept.iter_mut().find(|other| key(other) == key(&condition)) {
            Some(other) => *other = condition,
            None => kept.push(condition),
        }
    }
    kept.sort_by_key(key);
    Tree::object([("Conditions", Tree::from(kept))])
}

/// The hosts of a route that a listener accepts.
pub(crate) fn hosts(route: &Tree, listener: &Tree) -> Vec<Str> {
    let own = listener.get("Hostname").str();
    let own = if own.is_empty() { Str::new_static("*") } else { own };
    let all = route.get("Hostnames").items();
    if all.is_empty() {
        return Vec::from([own]);
    }
    let wild = own.contains('*');
    let rest = own.strip_prefix('*').unwrap_or(&own);
    let rest = rest.strip_prefix('.').unwrap_or(rest);
    let fits = |host: &&Tree| if wild { host.text().ends_with(rest) } else { host.text() == rest };
    all.iter().filter(fits).map(Tree::str).collect()
}

/// A gateway while routes are bound.
struct Gateway {
    entry: Arc<Entry>,
    accepted: bool,
    listeners: Vec<Listener>,
    conditions: Vec<Tree>,
}

struct Listener {
    tree: Tree,
    routes: Vec<Tree>,
    certificates: Vec<Tree>,
}

fn gateway(state: &State, entry: &Arc<Entry>) -> Gateway {
    let name = &entry.name;
    let mut conditions = Vec::new();
    let mut missing = Vec::new();
    let mut listeners = Vec::new();
    for listener in entry.tree.get("Listeners").items() {
        let section = ["api-gateway", name, listener.get("Name").text()];
        conditions.push(condition("ResolvedRefs", true, "ResolvedRefs", "resolved refs", section));
        let mut found = Vec::new();
        for reference in listener.at(&["TLS", "Certificates"]).items() {
            let certificate = reference.get("Name").str();
            if state.entries.contains_key(&(Kind::InlineCertificate, certificate.clone())) {
                found.push(reference.clone());
            } else {
                let message = format!("certificate {} not found", quote(&certificate));
                missing.push(condition("ResolvedRefs", false, "InvalidCertificateRef", message, section));
            }
        }
        listeners.push(Listener { tree: listener.clone(), routes: Vec::new(), certificates: found });
    }
    let accepted = missing.is_empty();
    conditions.extend(missing);
    conditions.push(if accepted {
        condition("Accepted", true, "Accepted", "gateway is valid", WHOLE)
    } else {
        condition("Accepted", false, "InvalidCertificates", "gateway references invalid certificates", WHOLE)
    });
    Gateway { entry: entry.clone(), accepted, listeners, conditions }
}

/// Checks whether the services of a route use its protocol.
fn acceptance(state: &State, route: &Entry, protocol: &str) -> Vec<Tree> {
    let services = super::api_gateway::services_of(route.kind, &route.tree);
    if services.is_empty() {
        return Vec::from([condition("Accepted", false, "NoUpstreamServicesTargeted", "route must target at least one upstream service", WHOLE)]);
    }
    let of = |service: &Str| {
        let request = Request { service: service.clone(), datacenter: state.datacenter.clone(), ..Request::default() };
        match chain::compile(&Set::of(&state.entries), &request) {
            Ok(chain) if chain.protocol == protocol => condition("Accepted", true, "Accepted", "route is valid", WHOLE),
            Ok(_) => {
                let message = "route protocol does not match targeted service protocol";
                condition("Accepted", false, "InvalidDiscoveryChain", message, WHOLE)
            }
            Err(why) => condition("Accepted", false, "InvalidDiscoveryChain", why, WHOLE),
        }
    };
    services.iter().map(|id| of(&id.name)).collect()
}

/// Binds a route to the listeners that one of its parents names. The error says why none accepts it.
fn attach(gateway: &mut Gateway, route: &Entry, protocol: &str, accepted: bool, section: &str) -> Result<(), Reason> {
    let (to, name) = (gateway.entry.name.clone(), &route.name);
    if gateway.listeners.is_empty() {
        return Err("route cannot bind because gateway has no listeners".into());
    }
    let mut bound = false;
    let mut problem = None;
    for listener in &mut gateway.listeners {
        let own = listener.tree.get("Name").text();
        if !section.is_empty() && section != own {
            continue;
        }
        if !gateway.accepted {
            problem = Some(format!("failed to bind route to gateway {to}: gateway has not been accepted"));
        } else if !accepted {
            problem = Some(format!("failed to bind route to gateway {to}: route has not been accepted"));
        } else if route.kind == Kind::HttpRoute && hosts(&route.tree, &listener.tree).is_empty() {
            problem = Some(format!("failed to bind route to gateway {to}: listener {own} is does not have any hostnames that match the route"));
        } else if listener.tree.get("Protocol").is(protocol) {
            bound = true;
            let is_it = |other: &Tree| other.get("Kind").is(route.kind.name()) && other.get("Name").is(name);
            if !listener.routes.iter().any(is_it) {
                let reference = [("Kind", Tree::from(route.kind.name())), ("Name", name.into()), ("SectionName", "".into())];
                listener.routes.push(Tree::object(reference).or_from(route.tree.origin));
            }
        } else if !section.is_empty() {
            problem = Some(format!("failed to bind route {name} to gateway {to}: listener {own} is not a {protocol} listener"));
        }
    }
    match (bound, problem) {
        (_, Some(problem)) => Err(problem.into()),
        (true, None) => Ok(()),
        (false, None) => Err(format!("failed to bind route {name} to gateway {to} with listener '{section}'").into()),
    }
}

/// Returns Consul's message why an API gateway binds a route to none of the listeners that a parent names.
pub(crate) fn refusal(state: &State, route: &Entry, parent: &Tree) -> Option<String> {
    let [to, section] = ["Name", "SectionName"].map(|field| parent.get(field).text());
    let is_route = |other: &Tree| other.get("Kind").is(route.kind.name()) && other.get("Name").is(&route.name);
    let bound = state.tree(Kind::BoundApiGateway, to).get("Listeners").items().iter();
    let mut meant = bound.filter(|listener| section.is_empty() || listener.get("Name").is(section));
    // A status also reports listeners that reject the route while others accept it.
    if meant.any(|listener| listener.get("Routes").items().iter().any(is_route)) {
        return None;
    }
    let conditions = |of: &Tree| of.at(&["Status", "Conditions"]).items().to_vec();
    let fails = |condition: &Tree, kind: &str| condition.get("Type").is(kind) && condition.get("Status").is("False");
    let is_of_parent = |condition: &Tree| condition.at(&["Resource", "Name"]).is(to) && condition.at(&["Resource", "SectionName"]).is(section);
    let own = conditions(&route.tree);
    let mut words = own.iter().find(|condition| fails(condition, "Bound") && is_of_parent(condition))?.get("Message").text().to_string();
    // The reason of a rejected gateway is in other conditions.
    let of_gateway = conditions(state.tree(Kind::ApiGateway, to));
    let not_resolved = of_gateway.iter().find(|condition| fails(condition, "ResolvedRefs")).filter(|_| gateway_fails(&of_gateway));
    let why = not_resolved.or_else(|| own.iter().find(|condition| fails(condition, "Accepted")));
    if let Some(why) = why {
        words.push_str(": ");
        words.push_str(why.get("Message").text());
    }
    Some(words)
}

/// Whether a gateway itself is not accepted.
fn gateway_fails(conditions: &[Tree]) -> bool {
    conditions.iter().any(|condition| condition.get("Type").is("Accepted") && condition.get("Status").is("False"))
}

/// Binds routes to gateways, and writes statuses.
pub(crate) fn bind(state: &mut State) {
    let of = |state: &State, kind: Kind| -> Vec<Arc<Entry>> { state.of_kind(kind).cloned().collect() };
    let mut gateways: Vec<Gateway> = of(state, Kind::ApiGateway).iter().map(|entry| gateway(state, entry)).collect();
    for (kind, protocol) in [(Kind::HttpRoute, "http"), (Kind::TcpRoute, "tcp")] {
        for route in of(state, kind) {
            let mut conditions = acceptance(state, &route, protocol);
            let accepted = conditions.last().is_some_and(|condition| condition.get("Status").is("True"));
            for parent in route.tree.get("Parents").items() {
                let [to, section] = ["Name", "SectionName"].map(|field| parent.get(field).text());
                let resource = [parent.get("Kind").text(), to, section];
                let found = gateways.iter_mut().find(|gateway| gateway.entry.name == to);
                conditions.push(match found.map(|gateway| attach(gateway, &route, protocol, accepted, section)) {
                    None => condition("Bound", false, "GatewayNotFound", "gateway was not found", resource),
                    Some(Ok(())) => condition("Bound", true, "Bound", "successfully bound route", resource),
                    Some(Err(why)) => condition("Bound", false, "FailedToBind", why, resource),
                });
            }
            write(state, &route, status(conditions));
        }
    }
    for gateway in gateways {
        finish(state, gateway);
    }
}

fn write(state: &mut State, entry: &Arc<Entry>, status: Tree) {
    let mut new = (**entry).clone();
    new.tree.take("Status");
    new.tree.set("Status", status);
    state.entries.insert((entry.kind, entry.name.clone()), Arc::new(new));
}

fn finish(state: &mut State, mut gateway: Gateway) {
    let name = gateway.entry.name.to_string();
    for listener in &gateway.listeners {
        let section = ["api-gateway", &name, listener.tree.get("Name").text()];
        gateway.conditions.push(if listener.tree.get("Protocol").is("tcp") && listener.routes.len() > 1 {
            let message = "TCP-based listeners currently only support binding a single route";
            condition("Conflicted", true, "RouteConflict", message, section)
        } else {
            condition("Conflicted", false, "NoConflict", "listener has no route conflicts", section)
        });
    }
    write(state, &gateway.entry, status(gateway.conditions));
    let some = |items: Vec<Tree>| if items.is_empty() { Tree::NULL } else { items.into() };
    let listeners = gateway.listeners.into_iter().map(|listener| {
        Tree::object([("Name", listener.tree.get("Name").clone()), ("Routes", some(listener.routes)), ("Certificates", some(listener.certificates))])
    });
    let tree = Tree::object([
        ("Kind", Tree::from(Kind::BoundApiGateway.name())),
        ("Name", (&gateway.entry.name).into()),
        ("Listeners", listeners.collect::<Vec<_>>().into()),
    ])
    .or_from(gateway.entry.tree.origin);
    let (kind, name, object) = (Kind::BoundApiGateway, gateway.entry.name.clone(), gateway.entry.object);
    let bound = Entry { kind, name: name.clone(), tree, key: None, object };
    state.entries.insert((kind, name), Arc::new(bound));
}
