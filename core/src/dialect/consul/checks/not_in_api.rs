//! What a live source cannot give: Consul's API has no question for it, though an agent knows it.
//!
//! What must not be here: what Consul would say.

use super::Mesh;
use crate::dialect::consul::codes;
use crate::dialect::consul::entry::Kind;
use crate::dialect::consul::validate::{is_http, says};
use crate::text::Str;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::ToString;

pub(super) fn check(mesh: &mut Mesh<'_>) {
    // Where documents are all that there is, what they hold is all that is known.
    if mesh.state.agent.is_some() {
        exposed_checks(mesh);
        certificates(mesh);
        virtual_addresses(mesh);
    }
}

fn exposed_checks(mesh: &mut Mesh<'_>) {
    let state = mesh.state;
    for proxy in state.here().filter(|instance| instance.kind == "connect-proxy") {
        let checks = proxy.proxy.at(&["Expose", "Checks"]);
        if checks.bool() {
            let message = format!("Consul's API does not say which paths the checks of `{}` ask for: none is exposed", proxy.destination());
            let help = "list the paths in `Paths`".to_string();
            mesh.report_with(&codes::NOT_IN_CONSUL_API, message, checks, proxy.object, Some(help));
        }
    }
}

/// Those of mesh gateways, which end the requests of peers where these are HTTP.
fn certificates(mesh: &mut Mesh<'_>) {
    if !mesh.state.here().any(|instance| instance.kind == "mesh-gateway") {
        return;
    }
    for entry in mesh.entries(Kind::ExportedServices) {
        for service in entry.tree.get("Services").items() {
            let name = service.get("Name");
            let to_peers = service.get("Consumers").items().iter().any(|consumer| says(consumer.get("Peer")));
            if to_peers && is_http(&mesh.protocol(name.text())) {
                let message = format!(
                    "Consul's API gives mesh gateways no certificate, which they need to hand requests of peers on to `{}`: these are not served",
                    name.text()
                );
                mesh.report(&codes::NOT_IN_CONSUL_API, message, name, Some(entry.object));
            }
        }
    }
}

/// Those of services without a proxy, at which the catalog would have them.
fn virtual_addresses(mesh: &mut Mesh<'_>) {
    if !mesh.state.here().any(|instance| instance.proxy.get("Mode").is("transparent")) {
        return;
    }
    let mut reported: BTreeSet<Str> = BTreeSet::new();
    let state = mesh.state;
    for entry in [Kind::ServiceRouter, Kind::ServiceSplitter, Kind::ServiceResolver].into_iter().flat_map(|kind| state.of_kind(kind)) {
        if mesh.has_chain(&entry.name) && !state.virtual_ips.contains_key(&entry.name) && reported.insert(entry.name.clone()) {
            let message =
                format!("Consul's API does not give the virtual address of `{}`, which has no proxy: transparent proxies do not find it", entry.name);
            let help = "name it among the upstreams of those who call it".to_string();
            mesh.report_with(&codes::NOT_IN_CONSUL_API, message, entry.tree.get("Name"), Some(entry.object), Some(help));
        }
    }
}
