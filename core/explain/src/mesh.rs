//! Lists the services that a proxy of a mesh reaches through its own listeners, each with a request. Does not simulate the requests; see `verdict`.

use super::RouteRows;
use super::sample_request::request_for;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_envoy::config::{ByPointer, EnvoyConfig};
use chancery_envoy::emit::pb::base::TrafficDirection;
use chancery_envoy::simulate::WrittenRequest;

/// A service that a proxy reaches, and a request for it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct MeshDestination {
    pub name: String,
    pub request: WrittenRequest,
}

/// Returns a destination for each listener that a local service connects to. `rows` are the routes of the proxy.
#[must_use]
pub fn mesh_destinations(rows: RouteRows<'_>, config: &EnvoyConfig) -> Vec<MeshDestination> {
    let is_outbound = |name: &str| {
        let mut listeners = config.listeners.iter().map(|listener| &listener.message);
        listeners.any(|listener| listener.name == name && listener.traffic_direction == TrafficDirection::Outbound as i32)
    };
    let parts = ByPointer::of(config);
    let mut out: Vec<MeshDestination> = Vec::new();
    for row in rows.filter(|row| row.action == "forward") {
        let is_local = row.address.starts_with("127.") || row.address.starts_with("[::1]");
        let name = row.listener.strip_suffix(row.address.as_str()).and_then(|name| name.strip_suffix(':')).unwrap_or(&row.listener);
        if !is_local || out.iter().any(|known| known.name == name) || !is_outbound(&row.listener) {
            continue;
        }
        let Some(mut request) = request_for(&row, true, &parts) else { continue };
        // Any host is accepted: the service's name says what the user means.
        if row.domains.iter().all(|domain| domain.as_str() == "*")
            && name.chars().all(|of| of.is_ascii_alphanumeric() || matches!(of, '-' | '.'))
            && let Some((scheme, rest)) = request.url.split_once("://")
        {
            let path = rest.find('/').map_or("", |at| &rest[at..]);
            request.url = alloc::format!("{scheme}://{name}{path}");
        }
        out.push(MeshDestination { name: name.into(), request });
    }
    out
}
