//! Compares host names of listeners and routes.

use super::super::context::{ListenerId, Translator};
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use chancery_base::resource::{Origin, Sourced};
use chancery_kubernetes::cursor::Cursor;
use chancery_text::Str;

/// Returns the hosts of a route at a listener, sorted: the intersection of both host lists.
pub(crate) fn compute(t: &Translator<'_>, hostnames: Cursor<'_>, id: ListenerId) -> Vec<Sourced<Str>> {
    let listener = t.listener(id);
    let own = listener.hostname.as_deref().unwrap_or_default();
    let own_origin = listener.at.field("hostname").origin();
    if hostnames.is_empty() {
        return Vec::from([match own {
            "" => Sourced::new(Str::new_static("*"), hostnames.origin()),
            own => Sourced::new(Str::new(own), own_origin),
        }]);
    }
    let mut hosts: Vec<Sourced<Str>> = Vec::new();
    let mut insert = |host: &str, origin: Origin| {
        if !hosts.iter().any(|known| *known.value == *host) {
            hosts.push(Sourced::new(Str::new(host), origin));
        }
    };
    for item in hostnames.items() {
        let host = item.str();
        match (own.starts_with('*'), host.starts_with('*')) {
            _ if own.is_empty() || own == host => insert(host, item.origin()),
            (true, true) => {
                if wildcard_covers(host, own) {
                    insert(own, own_origin);
                }
                if wildcard_covers(own, host) {
                    insert(host, item.origin());
                }
            }
            (true, false) if wildcard_covers(own, host) => insert(host, item.origin()),
            (false, true) if wildcard_covers(host, own) => insert(own, own_origin),
            _ => {}
        }
    }
    // Another listener of the port takes its own host.
    let others = t.gateways[id.gateway].listeners.iter().enumerate();
    let taken: BTreeSet<&Str> =
        others.filter(|(at, other)| *at != id.listener && other.port == listener.port).filter_map(|(_, other)| other.hostname.as_ref()).collect();
    hosts.retain(|host| !taken.contains(&host.value));
    hosts.sort_by(|a, b| a.value.cmp(&b.value));
    hosts
}

/// Whether `wildcard`, which begins with `*`, covers a host. A wildcard does not cover itself.
fn wildcard_covers(wildcard: &str, host: &str) -> bool {
    let suffix = wildcard.strip_prefix('*').unwrap_or(wildcard);
    match host.strip_prefix('*') {
        None => host.strip_suffix(suffix).is_some_and(|rest| !rest.is_empty()),
        Some(host) => host.strip_suffix(suffix).is_some_and(|rest| rest.starts_with('.')),
    }
}

/// Whether two listeners of a port could get connections for the same host; no host means all.
pub(crate) fn overlap(one: Option<&str>, other: Option<&str>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => covers(one, other) || covers(other, one),
        _ => true,
    }
}

/// Whether `other` is the same host, or a wildcard with exactly one label more.
fn covers(this: &str, other: &str) -> bool {
    let is_wildcard = |host: &str| host.len() > 1 && host.starts_with('*');
    if is_wildcard(other) && !is_wildcard(this) {
        let suffix = other.get(1..).unwrap_or_default();
        return this.strip_suffix(suffix).is_some_and(|rest| !rest.contains('.'));
    }
    this == other
}
