//! Names that Envoy Gateway makes up: of Services, listeners, routes and destinations.

use super::cluster::Admitted;
use super::context::RouteContext;
use alloc::format;
use alloc::string::String;
use sha2::{Digest as _, Sha256};

/// The longest part of an object's name in the name of its infrastructure.
const LONGEST: usize = 48;

/// Returns the name of the Service and Deployment of a Gateway (`NAMESPACE/NAME`) or of a merged class.
pub(crate) fn infra(name: &str) -> String {
    let digest = Sha256::digest(name.as_bytes());
    let hash: String = digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    let readable = name.replace('/', "-");
    let cut = match readable.get(..LONGEST) {
        Some(cut) if readable.len() > LONGEST => cut.strip_suffix('-').unwrap_or(cut),
        _ => &readable,
    };
    format!("envoy-{cut}-{hash}")
}

/// Returns the name of the routes of a match; without the host.
pub(crate) fn route(route: &RouteContext<'_>, rule: usize, matched: i64) -> String {
    format!("{}rule/{rule}/match/{matched}", route.prefix())
}

/// Returns the name of a route of connections.
pub(crate) fn stream_route(route: &RouteContext<'_>) -> String {
    format!("{}/{}", route.kind.lower(), route.object.path())
}

/// Returns the name of the destination of a rule; -1 if the route has only one.
pub(crate) fn destination(route: &RouteContext<'_>, rule: i64) -> String {
    format!("{}rule/{rule}", route.prefix())
}

/// Returns the name of a backend of a destination; -1 if it has only one.
pub(crate) fn setting(destination: &str, backend: i64) -> String {
    format!("{destination}/backend/{backend}")
}

/// Returns the name of what a policy or filter configures.
pub(crate) fn config(object: &Admitted<'_>) -> String {
    format!("{}/{}", object.kind.name().to_lowercase(), object.path())
}
