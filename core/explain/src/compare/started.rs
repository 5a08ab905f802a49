//! Identifies the parts of an Envoy's bootstrap that no server sends, such as the cluster of its configuration server: these are not drift.

use super::{Change, ChangeKind};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::compilation::GatewayRef;
use chancery_envoy::config::EnvoyConfig;
use chancery_envoy::emit::resources;

/// Returns listeners that only the controller's bootstrap contains.
pub(super) fn bootstrap_only(gateway: GatewayRef<'_>) -> BTreeSet<String> {
    let sent = resources(gateway.ir, &chancery_envoy::Options::default());
    let is_sent = |name: &str| sent.listeners.iter().any(|listener| listener.name == name);
    let all = EnvoyConfig::of(gateway.ir).listeners;
    all.into_iter().map(|placed| placed.message.name).filter(|name| !is_sent(name)).collect()
}

/// Returns the parts of an Envoy's own bootstrap, including the way to its server.
pub(super) fn started_with(running: &EnvoyConfig) -> BTreeSet<String> {
    let is_static = |pointer: &str| pointer.contains("/static_");
    let clusters = running.clusters.iter().filter(|placed| is_static(&placed.pointer)).map(|placed| &placed.message.name);
    let listeners = running.listeners.iter().filter(|placed| is_static(&placed.pointer)).map(|placed| &placed.message.name);
    clusters.chain(listeners).cloned().collect()
}

/// Whether a server sent any part of an Envoy's configuration.
pub(super) fn is_served(running: &EnvoyConfig) -> bool {
    let pointers = running.listeners.iter().map(|placed| &placed.pointer).chain(running.clusters.iter().map(|placed| &placed.pointer));
    pointers.into_iter().any(|pointer| pointer.contains("/dynamic_"))
}

/// Removes changes of one kind for these parts and for the parts inside them.
pub(super) fn remove_changes(changes: &mut Vec<Change>, change: ChangeKind, names: &BTreeSet<String>) {
    changes.retain(|of| of.change != change || !names.iter().any(|name| is_of(&of.name, name)));
}

/// Whether a part has this name or is inside the part with this name. A part is called `NAME in OUTER PART, ...`; another name may begin like this
/// one.
fn is_of(part: &str, name: &str) -> bool {
    let inside = part.split_once(" in ").map_or(part, |(_, inside)| inside);
    part == name || part.starts_with(&format!("{name}, ")) || inside.split(", ").any(|one| one == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_of_matches_whole_names_only() {
        for part in ["listener-ready", "listener-ready, filter chain 0", "route /ready in listener-ready", "/x in virtual host v, listener-ready"] {
            assert!(is_of(part, "listener-ready"), "{part}");
        }
        for part in ["listener-ready-for-shop", "listener-ready-2, filter chain 0", "route / in listener-ready-2", "not-listener-ready"] {
            assert!(!is_of(part, "listener-ready"), "{part}");
        }
    }
}
