//! Finds HTTPS listeners of a port whose hosts or certificates overlap, so that HTTP/2 connections could reach the wrong listener.

use super::super::context::{Listener, ListenerId, Translator};
use super::super::model::Certificate;
use super::hosts::overlap;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

const KIND: &str = "OverlappingTLSConfig";

/// Marks overlapping listeners of each Gateway; of all Gateways if they are merged.
pub(super) fn check(t: &mut Translator<'_>) {
    let https = |t: &Translator<'_>, gateway: usize| -> Vec<ListenerId> {
        let listeners = t.gateways[gateway].listeners.iter().enumerate().filter(|(_, listener)| *listener.protocol == *"HTTPS");
        listeners.map(|(listener, _)| ListenerId { gateway, listener }).collect()
    };
    let groups: Vec<Vec<ListenerId>> = (0..t.gateways.len()).map(|gateway| https(t, gateway)).collect();
    let groups = if t.merge_gateways { Vec::from([groups.concat()]) } else { groups };
    for group in groups {
        hostnames(t, &group);
        opaque_certificates(t, &group);
        certificates(t, &group);
    }
}

/// Pairs listeners that overlap: each with the first partner that is found, and what overlaps.
fn pairs<O>(t: &Translator<'_>, group: &[ListenerId], overlaps: impl Fn(ListenerId, ListenerId) -> Option<(O, O)>) -> Vec<Option<(ListenerId, O, O)>>
where
    O: Clone,
{
    let mut found: Vec<Option<(ListenerId, O, O)>> = alloc::vec![None; group.len()];
    let is_usable = |at: usize| !t.listener(group[at]).has_invalid_condition();
    for one in 0..group.len() {
        if found[one].is_some() || !is_usable(one) {
            continue;
        }
        for other in one + 1..group.len() {
            let is_same_port = t.listener(group[one]).port == t.listener(group[other]).port;
            if found[other].is_some() || !is_usable(other) || !is_same_port {
                continue;
            }
            if let Some((a, b)) = overlaps(group[one], group[other]) {
                found[one] = Some((group[other], a.clone(), b.clone()));
                found[other] = Some((group[one], b, a));
            }
        }
    }
    found
}

/// Returns the words for the listener of a partner.
fn partner(t: &Translator<'_>, own: ListenerId, other: ListenerId) -> String {
    let name = &t.listener(other).name;
    let is_same = t.gateways[own.gateway].name() == t.gateways[other.gateway].name();
    if is_same { format!("listener {name}") } else { format!("listener {name} of gateway {}", t.gateways[other.gateway].object.name()) }
}

fn hostnames(t: &mut Translator<'_>, group: &[ListenerId]) {
    let host = |t: &Translator<'_>, id: ListenerId| t.listener(id).hostname.clone();
    let found = pairs(t, group, |one, other| {
        let (a, b) = (host(t, one), host(t, other));
        overlap(a.as_deref(), b.as_deref()).then(|| (a.unwrap_or_default(), b.unwrap_or_default()))
    });
    for (id, found) in group.iter().zip(found) {
        let Some((other, own, theirs)) = found else { continue };
        let message = format!("The hostname {own} overlaps with the hostname {theirs} in {}.", partner(t, *id, other));
        t.listener_mut(*id).set(KIND, true, "OverlappingHostnames", message);
    }
}

/// Listeners beside one with a certificate whose names are unknown.
fn opaque_certificates(t: &mut Translator<'_>, group: &[ListenerId]) {
    let mut counts: BTreeMap<i64, usize> = BTreeMap::new();
    let mut opaque: BTreeMap<i64, Vec<ListenerId>> = BTreeMap::new();
    for id in group.iter().filter(|id| !t.listener(**id).has_invalid_condition()) {
        let listener = t.listener(*id);
        *counts.entry(listener.port).or_default() += 1;
        if listener.has_sds_certificate {
            opaque.entry(listener.port).or_default().push(*id);
        }
    }
    for id in group {
        let listener = t.listener(*id);
        if listener.has_invalid_condition() || counts.get(&listener.port).is_none_or(|count| *count < 2) {
            continue;
        }
        let clashes = |other: &ListenerId| {
            let hostname = t.listener(*other).hostname.as_deref();
            other == id || hostname.is_none() || listener.dns_names.iter().any(|name| overlap(hostname, Some(name)))
        };
        if opaque.get(&listener.port).is_some_and(|others| others.iter().any(clashes)) {
            let message = "HTTP/2 is disabled by default because one or more HTTPS listeners on this port use an SDS-backed certificate whose DNS \
                           names cannot be inspected. Configure ALPN explicitly with ClientTrafficPolicy to override this default.";
            t.listener_mut(*id).set(KIND, true, "SDSCertificateOpaque", message);
            mark(t, *id);
        }
    }
}

fn certificates(t: &mut Translator<'_>, group: &[ListenerId]) {
    let found = pairs(t, group, |one, other| {
        let (ours, theirs) = (&t.listener(one).dns_names, &t.listener(other).dns_names);
        let overlapping = ours.iter().find_map(|a| theirs.iter().find(|b| overlap(Some(a), Some(b))).map(|b| (a.clone(), b.clone())));
        // Both names are in the certificate, even if only one is known of an assumed Secret.
        let shared = || has_same_certificate(t.listener(one), t.listener(other)).then(|| Some((ours.first()?.clone(), theirs.first()?.clone())));
        overlapping.or_else(|| shared().flatten())
    });
    for (id, found) in group.iter().zip(found) {
        let Some((other, own, theirs)) = found else { continue };
        let message = format!(
            "The certificate SAN {own} overlaps with the certificate SAN {theirs} in {}. ALPN will default to HTTP/1.1 to prevent HTTP/2 connection \
             coalescing, unless explicitly configured via ClientTrafficPolicy",
            partner(t, *id, other)
        );
        t.listener_mut(*id).set(KIND, true, "OverlappingCertificates", message);
        mark(t, *id);
    }
}

/// Whether two listeners have a certificate in common. Unknown Secrets with the same name in several namespaces are usually copies of one certificate.
fn has_same_certificate(one: &Listener<'_>, other: &Listener<'_>) -> bool {
    fn name(of: &Certificate) -> Option<&str> {
        of.name.rsplit('/').next()
    }
    let is_same = |a: &Certificate, b: &Certificate| a.name == b.name || a.is_assumed && b.is_assumed && name(a) == name(b);
    one.certificates.iter().any(|certificate| other.certificates.iter().any(|known| is_same(certificate, known)))
}

fn mark(t: &mut Translator<'_>, id: ListenerId) {
    let key = t.ir_key(t.gateways[id.gateway].object);
    let name = t.listener(id).ir_name.clone();
    if let Some(listener) = t.xds.get_mut(&key).and_then(|xds| xds.http.iter_mut().find(|listener| listener.core.name == name)) {
        listener.tls_overlaps = true;
    }
}
