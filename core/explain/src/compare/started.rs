//! What an Envoy was started with is no drift: the listener of a bootstrap that no server sends, the cluster by which it reaches its server.
//!
//! What must not be here: what a server sends.

use super::{Change, ChangeKind};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::compilation::GatewayRef;
use chancery_envoy::config::EnvoyConfig;
use chancery_envoy::emit::resources;

/// Listeners that only a bootstrap of the controller has: no server sends them.
pub(super) fn bootstrap_only(gateway: GatewayRef<'_>) -> BTreeSet<String> {
    let sent = resources(gateway.ir, &chancery_envoy::Options::default());
    let is_sent = |name: &str| sent.listeners.iter().any(|listener| listener.name == name);
    let all = EnvoyConfig::of(gateway.ir).listeners;
    all.into_iter().map(|placed| placed.message.name).filter(|name| !is_sent(name)).collect()
}

/// What an Envoy has of its own bootstrap: how it reaches the server, among others.
pub(super) fn started_with(running: &EnvoyConfig) -> BTreeSet<String> {
    let is_static = |pointer: &str| pointer.contains("/static_");
    let clusters = running.clusters.iter().filter(|placed| is_static(&placed.pointer)).map(|placed| &placed.message.name);
    let listeners = running.listeners.iter().filter(|placed| is_static(&placed.pointer)).map(|placed| &placed.message.name);
    clusters.chain(listeners).cloned().collect()
}

/// Whether a server sent something of what an Envoy has.
pub(super) fn is_served(running: &EnvoyConfig) -> bool {
    let pointers = running.listeners.iter().map(|placed| &placed.pointer).chain(running.clusters.iter().map(|placed| &placed.pointer));
    pointers.into_iter().any(|pointer| pointer.contains("/dynamic_"))
}

/// Leaves out what became so of these, and of what stands in them.
pub(super) fn leave_out(changes: &mut Vec<Change>, change: ChangeKind, names: &BTreeSet<String>) {
    changes.retain(|of| of.change != change || !names.iter().any(|name| is_of(&of.name, name)));
}

/// Whether a part is the one of this name, or stands in it. A part is called `NAME in WHAT HOLDS IT, ...`; another name may begin like this one.
fn is_of(part: &str, name: &str) -> bool {
    let inside = part.split_once(" in ").map_or(part, |(_, inside)| inside);
    part == name || part.starts_with(&format!("{name}, ")) || inside.split(", ").any(|one| one == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_belongs_to_what_has_its_name_and_to_nothing_that_begins_like_it() {
        for part in ["listener-ready", "listener-ready, filter chain 0", "route /ready in listener-ready", "/x in virtual host v, listener-ready"] {
            assert!(is_of(part, "listener-ready"), "{part}");
        }
        for part in ["listener-ready-for-shop", "listener-ready-2, filter chain 0", "route / in listener-ready-2", "not-listener-ready"] {
            assert!(!is_of(part, "listener-ready"), "{part}");
        }
    }
}
