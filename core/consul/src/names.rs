//! Composed names: of SNI, certificates, clusters and listeners.

use super::go;
use super::instance::Instance;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_text::Str;
use core::fmt;

/// The only namespace and partition outside of Enterprise.
pub(crate) const DEFAULT: &str = "default";

/// The trust domain; the reference generates a random one for each cluster.
pub(crate) const TRUST_DOMAIN: &str = "11111111-2222-3333-4444-555555555555.consul";

/// The trust domain of a peer.
pub(crate) const PEER_TRUST_DOMAIN: &str = "22222222-3333-4444-5555-666666666666.consul";

/// The server name of a service, or of a subset of it.
pub(crate) fn service_sni(service: &str, subset: &str, datacenter: &str, trust_domain: &str) -> String {
    if subset.is_empty() {
        format!("{service}.{DEFAULT}.{datacenter}.internal.{trust_domain}")
    } else {
        format!("{subset}.{service}.{DEFAULT}.{datacenter}.internal.{trust_domain}")
    }
}

/// Returns the readable name of the service of a cluster: `orders`, or `orders (v1)` for a subset; with the place if it is elsewhere. Failover
/// targets of a cluster are numbered.
pub(crate) fn cluster_label(cluster: &str) -> Option<String> {
    if let Some((number, all)) = cluster.strip_prefix("failover-target~").and_then(|rest| rest.split_once('~')) {
        let all = cluster_label(all)?;
        return Some(if number == "0" { format!("{all} first") } else { format!("{all} failover {number}") });
    }
    // The prefix for overrides of a proxy, and for peers.
    if let Some((_, name)) = cluster.split_once('~') {
        return cluster_label(name);
    }
    let (target, local) = match cluster.split_once(".internal.") {
        Some((target, _)) => (target, true),
        None => (cluster.split_once(".external.")?.0, false),
    };
    let parts: Vec<&str> = target.split('.').collect();
    match parts.as_slice() {
        [service, namespace, _] if local && *namespace == DEFAULT => Some((*service).into()),
        [subset, service, namespace, _] if local && *namespace == DEFAULT => Some(format!("{service} ({subset})")),
        [service, namespace, _, peer] if !local && *namespace == DEFAULT => Some(format!("{service} of {peer}")),
        _ => None,
    }
}

/// The server name of the gateways of a datacenter.
pub(crate) fn gateway_sni(datacenter: &str, trust_domain: &str) -> String {
    format!("{datacenter}.internal.{trust_domain}")
}

/// The server name of a prepared query.
pub(crate) fn query_sni(query: &str, datacenter: &str, trust_domain: &str) -> String {
    format!("{query}.{DEFAULT}.{datacenter}.query.{trust_domain}")
}

/// A peer's server name for a service of this cluster.
pub(crate) fn peered_sni(service: &str, peer: &str, trust_domain: &str) -> String {
    format!("{service}.{DEFAULT}.{DEFAULT}.{peer}.external.{trust_domain}")
}

/// The server name of the servers, for peers.
pub(crate) fn peering_server(datacenter: &str, trust_domain: &str) -> String {
    format!("server.{datacenter}.peering.{trust_domain}")
}

/// The server name of one server, or of any, for federation.
pub(crate) fn server_sni(node: Option<&str>, datacenter: &str) -> String {
    match node {
        Some(node) => format!("{node}.server.{datacenter}.consul"),
        None => format!("server.{datacenter}.consul"),
    }
}

/// The identity of a service.
pub(crate) fn spiffe_service(service: &str, datacenter: &str, trust_domain: &str) -> String {
    format!("spiffe://{trust_domain}/ns/{DEFAULT}/dc/{datacenter}/svc/{}", go::path_escape(service))
}

/// The identity of a mesh gateway.
pub(crate) fn spiffe_gateway(datacenter: &str, trust_domain: &str) -> String {
    format!("spiffe://{trust_domain}/gateway/mesh/dc/{datacenter}")
}

/// The identity of a proxy.
pub(crate) fn identity(proxy: &Instance) -> Str {
    let datacenter = &proxy.node.datacenter;
    Str::from(match proxy.kind.as_str() {
        "mesh-gateway" => spiffe_gateway(datacenter, TRUST_DOMAIN),
        _ => spiffe_service(&proxy.destination(), datacenter, TRUST_DOMAIN),
    })
}

/// An upstream: a service and its place.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UpstreamId {
    /// Whether it is a prepared query.
    pub query: bool,
    /// The name of the service or query.
    pub name: Str,
    /// Another datacenter; empty for the proxy's own.
    pub datacenter: Str,
    /// The peer; empty for this cluster.
    pub peer: Str,
}

impl UpstreamId {
    /// A service of this cluster.
    pub fn service(name: &Str) -> Self {
        Self { name: name.clone(), ..Self::default() }
    }

    /// The wildcard upstream.
    pub fn wildcard() -> Self {
        Self { name: Str::new_static("*"), ..Self::default() }
    }
}

/// As Envoy's resources name it.
impl fmt::Display for UpstreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.query {
            f.write_str("prepared_query:")?;
        }
        f.write_str(&self.name)?;
        match (self.peer.is_empty(), self.datacenter.is_empty()) {
            (false, _) => write!(f, "?peer={}", self.peer),
            (true, false) => write!(f, "?dc={}", self.datacenter),
            (true, true) => Ok(()),
        }
    }
}

/// The socket of a telemetry collector.
pub(crate) fn collector_socket(folder: &str, proxy: &str) -> String {
    use base64::Engine as _;
    use sha1::Digest as _;
    let digest = sha1::Sha1::digest(format!("{DEFAULT}_{proxy}").as_bytes());
    let name = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(digest);
    format!("{}/{name}.sock", folder.trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cluster_label_is_its_service() {
        assert_eq!(cluster_label(&service_sni("orders", "", "dc1", TRUST_DOMAIN)).as_deref(), Some("orders"));
        assert_eq!(cluster_label(&service_sni("orders", "v1", "dc1", TRUST_DOMAIN)).as_deref(), Some("orders (v1)"));
        assert_eq!(cluster_label(&peered_sni("orders", "west", TRUST_DOMAIN)).as_deref(), Some("orders of west"));
        let orders = service_sni("orders", "", "dc1", TRUST_DOMAIN);
        assert_eq!(cluster_label(&format!("failover-target~0~{orders}")).as_deref(), Some("orders first"));
        assert_eq!(cluster_label(&format!("failover-target~1~c225dc1c~{orders}")).as_deref(), Some("orders failover 1"));
        for other in ["local_app", "original-destination", &gateway_sni("dc1", TRUST_DOMAIN)] {
            assert_eq!(cluster_label(other), None);
        }
    }
}
