//! Reports data that a live source cannot get: Consul's API does not provide it, though an agent knows it.

use super::codes;
use super::entry::Kind;
use super::findings::finding;
use super::state::State;
use super::validate::is_set;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::diagnostic::{Diagnostic, join_alike};
use chancery_base::ir::Tree;
use chancery_base::resource::{ObjectId, Objects};
use chancery_text::Str;

/// Returns the missing data that a proxy needs.
pub(super) fn missing(state: &State, objects: &Objects) -> Vec<Diagnostic> {
    // Without a live agent, the documents are complete.
    if state.agent.is_none() {
        return Vec::new();
    }
    let mut all = Missing { state, objects, found: Vec::new() };
    all.exposed_checks();
    all.exports();
    all.virtual_addresses();
    join_alike(all.found)
}

struct Missing<'a> {
    state: &'a State,
    objects: &'a Objects,
    found: Vec<Diagnostic>,
}

impl Missing<'_> {
    fn report(&mut self, message: String, at: &Tree, object: Option<ObjectId>, help: Option<String>) {
        self.found.push(finding(self.objects, &codes::NOT_IN_CONSUL_API, message, at, object, help));
    }

    fn exposed_checks(&mut self) {
        let state = self.state;
        for proxy in state.here().filter(|instance| instance.kind == "connect-proxy") {
            let checks = proxy.proxy.at(&["Expose", "Checks"]);
            if checks.bool() {
                let message = format!("Consul's API does not say the paths of the checks of `{}`: none is exposed", proxy.destination());
                self.report(message, checks, proxy.object, Some("list the paths in `Paths`".to_string()));
            }
        }
    }

    /// Exports to peers: proxies would have to trust the peers' CAs, and a mesh gateway has a certificate for HTTP.
    fn exports(&mut self) {
        let state = self.state;
        for entry in state.of_kind(Kind::ExportedServices) {
            for service in entry.tree.get("Services").items() {
                let name = service.get("Name");
                if service.get("Consumers").items().iter().any(|consumer| is_set(consumer.get("Peer"))) {
                    let to = if name.is("*") { "any service".to_string() } else { format!("`{}`", name.text()) };
                    let message =
                        format!("Consul's API gives neither the authorities of peers nor certificates of mesh gateways: no peer can call {to}");
                    self.report(message, name, Some(entry.object), None);
                }
            }
        }
    }

    /// Virtual addresses of services without a proxy, which only the catalog has.
    fn virtual_addresses(&mut self) {
        let state = self.state;
        if !state.here().any(|instance| instance.proxy.get("Mode").is("transparent")) {
            return;
        }
        let mut reported: BTreeSet<Str> = BTreeSet::new();
        for entry in [Kind::ServiceRouter, Kind::ServiceSplitter, Kind::ServiceResolver].into_iter().flat_map(|kind| state.of_kind(kind)) {
            if state.has_chain(&entry.name) && !state.virtual_ips.contains_key(&entry.name) && reported.insert(entry.name.clone()) {
                let message = format!(
                    "Consul's API does not give the virtual address of `{}`, which has no proxy: transparent proxies do not find it",
                    entry.name
                );
                let help = "name it among the upstreams of its callers".to_string();
                self.report(message, entry.tree.get("Name"), Some(entry.object), Some(help));
            }
        }
    }
}
