//! Finds listeners with conflicting protocols, hosts or ports.

use super::super::context::{Listener, ListenerId, Translator};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_text::Str;

type SetName = (Str, Str);

/// Whether a listener takes part in checks of conflicts.
fn counts(listener: &Listener<'_>) -> bool {
    listener.spec_valid || !listener.has_invalid_condition()
}

/// Listeners on a port that differ by encryption or layer exclude each other.
fn group(protocol: &str) -> &str {
    match protocol {
        "HTTPS" | "TLS" => "https/tls",
        other => other,
    }
}

fn display(t: &Translator<'_>, id: ListenerId) -> String {
    let listener = t.listener(id);
    match &listener.set_name {
        Some((namespace, name)) => format!("{namespace}/{name}/{}", listener.name),
        None => format!("{}/{}", t.gateways[id.gateway].object.path(), listener.name),
    }
}

fn conflict(t: &mut Translator<'_>, id: ListenerId, reason: &str, message: &str) {
    let listener = t.listener_mut(id);
    listener.set("Conflicted", true, reason, message);
    if listener.is_from_listener_set() {
        listener.set("Accepted", false, reason, message);
        listener.set("Programmed", false, reason, message);
    }
    if reason == "ProtocolConflict" {
        listener.protocol_conflicted = true;
    }
}

/// Checks that the listeners of a port have compatible protocols.
pub(super) fn protocols(t: &mut Translator<'_>) {
    let everything = t.listener_ids();
    for gateway in 0..t.gateways.len() {
        let of: Vec<ListenerId> = everything.iter().copied().filter(|id| id.gateway == gateway).collect();
        protocols_by_port(t, &of);
    }
    if t.merge_gateways {
        protocols_by_port(t, &everything);
    }
}

fn protocols_by_port(t: &mut Translator<'_>, ids: &[ListenerId]) {
    let mut ports: BTreeMap<i64, Vec<ListenerId>> = BTreeMap::new();
    for id in ids {
        let listener = t.listener(*id);
        if counts(listener) && matches!(listener.protocol.as_str(), "HTTP" | "HTTPS" | "TLS" | "TCP" | "UDP") {
            ports.entry(listener.port).or_default().push(*id);
        }
    }
    for ids in ports.into_values() {
        port_protocols(t, &ids);
    }
}

fn port_protocols(t: &mut Translator<'_>, ids: &[ListenerId]) {
    let protocol = |t: &Translator<'_>, id: ListenerId| Str::new(group(&t.listener(id).protocol));
    let ids: Vec<ListenerId> = ids.iter().copied().filter(|id| *protocol(t, *id) != *"UDP").collect();
    let (mut every, mut of_gateways, mut of_sets, mut torn) =
        (BTreeSet::new(), BTreeSet::new(), BTreeMap::<SetName, BTreeSet<Str>>::new(), BTreeSet::<SetName>::new());
    for id in &ids {
        let own = protocol(t, *id);
        every.insert(own.clone());
        match &t.listener(*id).set_name {
            None => {
                of_gateways.insert(own);
            }
            Some(set) => {
                let protocols = of_sets.entry(set.clone()).or_default();
                protocols.insert(own);
                if protocols.len() > 1 {
                    torn.insert(set.clone());
                }
            }
        }
    }
    if every.len() <= 1 {
        return;
    }
    let mut names: Vec<String> = ids.iter().map(|id| display(t, *id)).collect();
    names.sort();
    let message = format!("All listeners for a given port must use a compatible protocol, conflicting listeners: {}", names.join(", "));
    if of_gateways.len() > 1 {
        ids.iter().for_each(|id| conflict(t, *id, "ProtocolConflict", &message));
        return;
    }
    if t.settings.version.is_1_8() && is_open_before_1_9(t, &ids) {
        let message = "All listeners for a given port must use a compatible protocol";
        ids.iter().for_each(|id| conflict(t, *id, "ProtocolConflict", message));
        return;
    }
    let mut winner = of_gateways.iter().next().cloned();
    for id in ids {
        let own = protocol(t, id);
        if of_gateways.is_empty() && t.listener(id).set_name.as_ref().is_some_and(|set| torn.contains(set)) {
            conflict(t, id, "ProtocolConflict", &message);
            continue;
        }
        match &winner {
            Some(winner) if *winner != own => conflict(t, id, "ProtocolConflict", &message),
            Some(_) => {}
            None => winner = Some(own),
        }
    }
}

/// Whether version 1.8 finds no winner: several listeners are the Gateway's own, or protocols above TCP differ.
fn is_open_before_1_9(t: &Translator<'_>, ids: &[ListenerId]) -> bool {
    let own = ids.iter().filter(|id| t.listener(**id).set_name.is_none()).count();
    let above: BTreeSet<&str> = ids.iter().map(|id| group(&t.listener(*id).protocol)).filter(|protocol| *protocol != "TCP").collect();
    own > 1 || above.len() > 1
}

/// Checks that the listeners of a port have different hosts. A Gateway's own listener wins over a ListenerSet's.
pub(super) fn hostnames(t: &mut Translator<'_>) {
    let everything = t.listener_ids();
    for gateway in 0..t.gateways.len() {
        let mut ports: BTreeMap<i64, BTreeMap<Str, Vec<ListenerId>>> = BTreeMap::new();
        for id in everything.iter().copied().filter(|id| id.gateway == gateway) {
            let listener = t.listener(id);
            if matches!(listener.protocol.as_str(), "UDP" | "TCP") || !counts(listener) || listener.protocol_conflicted {
                continue;
            }
            let host = listener.hostname.clone().unwrap_or_default();
            ports.entry(listener.port).or_default().entry(host).or_default().push(id);
        }
        for ids in ports.into_values().flat_map(BTreeMap::into_values).filter(|ids| ids.len() > 1) {
            same_host(t, &ids);
        }
    }
}

fn same_host(t: &mut Translator<'_>, ids: &[ListenerId]) {
    let is_own = |t: &Translator<'_>, id: ListenerId| !t.listener(id).is_from_listener_set();
    let own = ids.iter().filter(|id| is_own(t, **id)).count();
    let mut sets: BTreeMap<SetName, usize> = BTreeMap::new();
    for set in ids.iter().filter_map(|id| t.listener(*id).set_name.clone()) {
        *sets.entry(set).or_default() += 1;
    }
    let is_torn = sets.values().any(|count| *count > 1);
    let winner = match own {
        0 if is_torn => None,
        0 => ids.first().copied(),
        1 => ids.iter().copied().find(|id| is_own(t, *id)),
        _ => None,
    };
    let mut names: Vec<String> = ids.iter().map(|id| display(t, *id)).collect();
    names.sort();
    let message = format!("All listeners for a given port must use a unique hostname, conflicting listeners: {}", names.join(", "));
    for id in ids.iter().copied().filter(|id| Some(*id) != winner) {
        conflict(t, id, "HostnameConflict", &message);
    }
}

/// Checks that a port has only one listener for connections of a protocol.
pub(super) fn layer4(t: &mut Translator<'_>, protocol: &str) {
    let everything = t.listener_ids();
    for gateway in 0..t.gateways.len() {
        let mut taken = BTreeSet::new();
        for id in everything.iter().copied().filter(|id| id.gateway == gateway) {
            let listener = t.listener(id);
            if *listener.protocol == *protocol && counts(listener) && !taken.insert(listener.port) {
                let message = format!("Only one {protocol} listener is allowed in a given port");
                t.listener_mut(id).set("Conflicted", true, "ProtocolConflict", message);
            }
        }
    }
}

/// Checks that no two listeners of merged Gateways are the same.
pub(super) fn merged(t: &mut Translator<'_>) {
    let mut taken = BTreeSet::new();
    for id in t.listener_ids() {
        let listener = t.listener(id);
        if !counts(listener) {
            continue;
        }
        let key = (listener.protocol.clone(), listener.hostname.clone().unwrap_or_default(), listener.port);
        if !taken.insert(key) {
            let message = "Port, protocol and hostname tuple must be unique for every listener";
            t.listener_mut(id).set("Conflicted", true, "HostnameConflict", message);
        }
    }
}
