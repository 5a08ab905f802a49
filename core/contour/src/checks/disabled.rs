//! Lists the fields that have no effect until a finding is fixed. Does not create findings.
//!
//! Source of behaviour: Contour `internal/dag/{httpproxy_processor,gatewayapi_processor}.go`.

use alloc::vec::Vec;
use chancery_base::compilation::Problem;
use chancery_base::diagnostic::{Code, Place, codes};
use chancery_base::resource::Object;
use chancery_kubernetes::known::all_at;
use chancery_text::{Node, NodeId};

/// Findings about a backend that Contour does not find, or must not use.
const WITHOUT_BACKEND: [&Code; 2] = [&codes::UNRESOLVED_SERVICE, &codes::REFERENCE_NOT_PERMITTED];

/// Where kinds refer to Services: the route, and its list.
const BACKENDS: [(&[&str], &str); 4] =
    [(&["spec", "routes", "*"], "services"), (&["spec", "tcpproxy"], "services"), (&["spec", "rules", "*"], "backendRefs"), (&["spec"], "services")];

/// Fields of a route that only describe its clusters.
const OF_CLUSTERS: [&str; 2] = ["healthCheckPolicy", "loadBalancerPolicy"];

/// The fields of an object that have no effect until a finding about it is fixed.
pub fn disabled_fields(of: &Problem<'_>) -> Vec<NodeId> {
    let Problem { finding, object, .. } = *of;
    let Place::Node { node, .. } = finding.place else { return Vec::new() };
    if *object.key.kind == *"Gateway" {
        let is_about_listeners = object.root.at(&["spec", "listeners"]).is_some_and(|listeners| listeners.id == node);
        let opens_none = *finding.code == codes::NO_LISTENER || *finding.code == codes::INVALID_VALUE && is_about_listeners;
        let ports = all_at(&object.root, &["spec", "listeners", "*", "port"]);
        return if opens_none { ports.into_iter().map(|port| port.id).collect() } else { Vec::new() };
    }
    if WITHOUT_BACKEND.contains(&finding.code) { of_backend(object, node) } else { Vec::new() }
}

/// The other fields of a backend, and the fields of its route that only describe clusters if it is the only one.
fn of_backend(object: &Object, node: NodeId) -> Vec<NodeId> {
    for (routes, list) in BACKENDS {
        for route in all_at(&object.root, routes) {
            let backends = route.get(list).and_then(Node::as_array).map(Vec::as_slice).unwrap_or_default();
            let own = |backend: &&Node| backend.id == node || object.leaves(backend.id).contains(&node);
            let Some(backend) = backends.iter().find(own) else { continue };
            let mut fields = object.leaves(backend.id);
            if backends.len() == 1 {
                let policies = OF_CLUSTERS.iter().filter_map(|name| route.get(name));
                fields.extend(policies.flat_map(|policy| object.leaves(policy.id)));
            }
            return fields;
        }
    }
    Vec::new()
}
