//! Checks the whole compilation for problems of Contour's kinds. Does not report what processors find in a single resource, or what every dialect
//! needs; see `chancery_explain::check`.

mod annotations;
mod disabled;
mod includes;
mod known;
mod limits;
mod random;
#[cfg(test)]
mod route_conflicts;
#[cfg(test)]
mod tests;
mod unused;

pub use annotations::annotations;
pub use disabled::disabled_fields;
pub use includes::repeated_prefixes;
pub use known::values;
pub use limits::replaced_limits;
pub use random::random_winners;
pub use unused::fields;

use super::lower::OWN_LISTENERS;
use super::ownership;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::compilation::{SideRef, State, Why};
use chancery_base::diagnostic::{Diagnostic, Place, Severity, codes};
use chancery_base::ir::ClusterDiscovery;
use chancery_base::resource::Object;
use chancery_kubernetes::{at_name, endpoints};
use chancery_text::{Node, to_json};
use hashbrown::{HashMap, HashSet};

/// Kinds that need a port, ordered by how helpful their finding is.
const ASKING: [&str; 7] = ["Gateway", "HTTPProxy", "Ingress", "HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute"];

/// Finds objects that expect requests while Envoy listens nowhere: Contour opens a port only if it serves something there.
pub fn nothing_served(side: SideRef<'_>) -> Vec<Diagnostic> {
    if side.irs().flat_map(|ir| &ir.listeners).any(|listener| !OWN_LISTENERS.contains(&&*listener.name.value)) {
        return Vec::new();
    }
    let is_ours = |object: &&Object| {
        let state = side.side.ledger.get(object.id);
        !object.broken && !object.assumed && !matches!(state, State::Ignored(Why::OtherController | Why::NotWatched | Why::NotCovered, _))
    };
    let first = |kind: &&str| side.objects().iter().filter(is_ours).find(|object| object.key.kind == **kind);
    let Some(first) = ASKING.iter().find_map(first) else { return Vec::new() };
    let message = "Envoy opens no port for requests: Contour opens one only for routes, HTTPProxies and Ingresses that it serves";
    let mut finding = Diagnostic::new(&codes::NO_LISTENER, message, at_name(first)).about(first.key.clone());
    // A Gateway alone is valid: the rest may be elsewhere.
    let asks = |of: &Object| ASKING[1..].contains(&&*of.key.kind) && !matches!(side.side.ledger.get(of.id), State::Ignored(Why::NotCovered, _));
    let is_alone = first.key.kind == "Gateway" && !side.objects().iter().any(asks);
    let says_more = side.diagnostics().any(|finding| finding.severity != Severity::Notice);
    finding.severity = if is_alone && !says_more { Severity::Notice } else { Severity::Warning };
    let is_detached = matches!(side.side.ledger.get(first.id), State::Ignored(_, why) if *why == ownership::NO_PARENT);
    Vec::from([finding.help(match (is_alone, says_more) {
        _ if is_detached => "name the Gateway at which the route is served in `parentRefs`",
        (true, false) => "give the rest of the configuration as well, to see what it does",
        (_, true) => "see the other findings, and `chancery ledger`, for why it serves none",
        (false, false) => "`chancery ledger` says why it serves none",
    })])
}

/// Finds routes of an HTTPProxy that never match because a later route has the same conditions.
pub fn same_conditions(side: SideRef<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for object in side.objects().iter().filter(|object| !object.broken && *object.key.kind == *"HTTPProxy") {
        let routes = object.root.at(&["spec", "routes"]).and_then(Node::as_array).map(Vec::as_slice).unwrap_or_default();
        let conditions =
            |route: &Node| route.get("conditions").filter(|of| of.as_array().is_some_and(|all| !all.is_empty())).map(|of| to_json(of, false));
        let mut nearest: HashMap<Option<String>, &Node> = HashMap::new();
        let mut pairs: Vec<(&Node, &Node)> = Vec::new();
        for route in routes.iter().rev() {
            pairs.extend(nearest.insert(conditions(route), route).map(|later| (route, later)));
        }
        for (route, later) in pairs.into_iter().rev() {
            let message = "a later route has the same conditions, and takes all requests of this one";
            let mut finding = Diagnostic::new(&codes::ROUTE_CONFLICT, message, Place::value(object.id, route.id))
                .about(object.key.clone())
                .related(Place::value(object.id, later.id), "this route matches them")
                .help("give them different conditions, or join them into one route with several services");
            finding.severity = Severity::Warning;
            found.push(finding);
        }
    }
    found
}

/// Finds Services that receive requests but have no known endpoints: Envoy cannot forward these requests.
pub fn no_endpoints(side: SideRef<'_>) -> Vec<Diagnostic> {
    let clusters = side.irs().flat_map(|ir| &ir.clusters);
    let empty = clusters.filter_map(|cluster| match &cluster.discovery {
        ClusterDiscovery::Eds { service_name, localities, .. } if localities.iter().all(|locality| locality.endpoints.is_empty()) => {
            Some((cluster, service_name))
        }
        _ => None,
    });
    let is_old = |object: &&Object| *object.key.kind == *"Endpoints";
    let old: HashMap<_, &Object> = side.objects().iter().filter(is_old).filter_map(|object| Some((endpoints::service_of(object)?, object))).collect();
    let mut reported = HashSet::new();
    let mut found = Vec::new();
    for (cluster, service) in empty {
        if !reported.insert(service) {
            continue;
        }
        let origin = cluster.name.origin;
        let message = format!("`{service}` has no endpoints: Envoy cannot forward requests to it");
        let mut finding = Diagnostic::new(&codes::NO_ENDPOINTS, message, Place::origin(origin));
        finding.resource = origin.and_then(|origin| side.objects().get(origin.object())).map(|object| object.key.clone());
        // `NAMESPACE/NAME`, and the port's name if it has one.
        let mut parts = service.split('/');
        let name = (parts.next(), parts.next().unwrap_or_default());
        found.push(match old.get(&name) {
            Some(old) => finding
                .related(at_name(old), "these endpoints are not read")
                .help("Contour reads EndpointSlices. A cluster generates them from Endpoints; a file must contain them"),
            None => finding.help("start a pod that the Service selects, or add an EndpointSlice to the input"),
        });
    }
    found
}
