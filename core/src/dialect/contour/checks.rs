//! Checks over the whole that only Contour's kinds need.
//!
//! What must not be here: what one resource's own rules find while it is processed; checks that every dialect needs (`crate::check`).

use crate::compilation::SideRef;
use crate::diagnostic::{Diagnostic, Place, Severity, codes};
use crate::text::Node;
use alloc::vec::Vec;

/// Routes of an HTTPProxy whose conditions are those of a later one, which takes all their requests.
pub fn same_conditions(side: SideRef<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for object in side.objects().iter().filter(|object| !object.broken && *object.key.kind == *"HTTPProxy") {
        let routes = object.root.at(&["spec", "routes"]).and_then(Node::as_array).map(Vec::as_slice).unwrap_or_default();
        let conditions = |route: &Node| route.get("conditions").and_then(Node::as_array).cloned().unwrap_or_default();
        for (at, route) in routes.iter().enumerate() {
            let Some(later) = routes.iter().skip(at + 1).find(|later| conditions(later) == conditions(route)) else { continue };
            let message = "a later route has the same conditions, and takes all requests of this one";
            let mut finding = Diagnostic::new(&codes::ROUTE_CONFLICT, message, Place::value(object.id, route.id))
                .about(object.key.clone())
                .related(Place::value(object.id, later.id), "this route takes them")
                .help("give them different conditions, or join them into one route with several services");
            finding.severity = Severity::Warning;
            found.push(finding);
        }
    }
    found
}
