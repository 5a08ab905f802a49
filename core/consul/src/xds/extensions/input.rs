//! The input of an extension, and lookups in listeners.

use crate::extension::argument;
use crate::go;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_base::resource::Sourced;
use chancery_kubernetes::reason::Reason;
use chancery_text::Str;

/// A service that the proxy calls, as its resources name it.
pub(super) struct Upstream {
    pub(super) service: Str,
    /// The start of the listener's name, and the name of the routes.
    pub(super) id: String,
    /// The names of its clusters.
    pub(super) clusters: BTreeSet<String>,
    /// The addresses of its filter chains in the transparent listener.
    pub(super) virtual_addresses: BTreeSet<String>,
    /// The extensions that the service itself applies to its callers.
    pub(super) extensions: Vec<Tree>,
}

/// The proxy as an extension sees it.
pub(super) struct ExtensionInput<'a> {
    pub(super) arguments: &'a Tree,
    pub(super) required: Sourced<bool>,
    pub(super) protocol: Str,
    pub(super) upstreams: &'a [Upstream],
}

impl ExtensionInput<'_> {
    /// Whether the proxy uses HTTP.
    pub(super) fn is_http(&self) -> bool {
        matches!(self.protocol.as_str(), "http" | "http2" | "grpc")
    }

    /// A cluster of a service that the proxy calls.
    pub(super) fn cluster_of(&self, service: &Tree) -> Result<&str, Reason> {
        let name = argument(service, "Name").text();
        let found = self.upstreams.iter().find(|upstream| upstream.service == name);
        let found = found.and_then(|upstream| upstream.clusters.first());
        found.map(String::as_str).ok_or_else(|| format!("no upstream definition found for service {}", go::quote(name)).into())
    }
}

/// Whether a listener is for incoming connections.
pub(super) fn is_inbound(listener: &Tree) -> bool {
    listener.get("name").text().split(':').next() == Some("public_listener")
}

/// The addresses that filter chains of a transparent listener match.
pub(super) fn ranges(chain: &Tree) -> impl Iterator<Item = &str> {
    chain.at(&["filter_chain_match", "prefix_ranges"]).items().iter().map(|range| range.get("address_prefix").text())
}

/// The cluster or the routes of a filter chain.
pub(super) fn leads_to(chain: &Tree) -> &str {
    chain.get("filters").items().last().map_or("", |filter| {
        let config = filter.get("typed_config");
        let (cluster, routes) = (config.get("cluster").text(), config.at(&["rds", "route_config_name"]).text());
        let hosts = config.at(&["route_config", "virtual_hosts"]).items();
        let inline = hosts.first().and_then(|host| host.get("routes").items().first()).map_or("", |route| route.at(&["route", "cluster"]).text());
        [cluster, routes, inline].into_iter().find(|name| !name.is_empty()).unwrap_or_default()
    })
}
