//! Checks over the whole that only Ambassador's kinds need.
//!
//! What must not be here: what one resource's own rules find; checks that every dialect needs (`crate::check`).

use super::defaults::taken_by;
use crate::compilation::{SideRef, State};
use crate::diagnostic::{Diagnostic, codes};
use crate::dialect::kubernetes::at_name;
use crate::resource::{Object, ObjectId, Origin};
use crate::text::{Node, Str};
use alloc::format;
use alloc::vec::Vec;
use hashbrown::HashMap;

fn hostname(object: &Object) -> Option<&str> {
    let root = &object.root;
    root.at(&["spec", "hostname"]).or_else(|| root.get("hostname")).and_then(Node::as_str)
}

/// Hosts, Mappings and TCPMappings that no request gets to.
pub fn unserved(side: SideRef<'_>) -> Vec<Diagnostic> {
    let taker = |object: &Object| taken_by(&object.key.kind);
    let in_use = |object: &&Object| !object.broken && matches!(side.side.ledger.get(object.id), State::Loaded | State::Undecided);
    let candidates: Vec<&Object> = side.objects().iter().filter(in_use).filter(|object| taker(object).is_some()).collect();
    let Some(first) = candidates.first() else { return Vec::new() };
    let is_written = |origin: &Origin| origin.object() != ObjectId::BUILT_IN;
    let listens = side.irs().flat_map(|ir| &ir.listeners).any(|listener| listener.origins.iter().any(is_written));
    if !listens {
        if side.objects().iter().any(|object| *object.key.kind == *"Listener") {
            return Vec::new();
        }
        let message = "there is no Listener in the input, so Envoy listens on no port for requests";
        let finding = Diagnostic::new(&codes::NO_LISTENER, message, at_name(first)).about(first.key.clone());
        return Vec::from([finding.help("add the Listener to the input, or one to the cluster if there is none")]);
    }
    let (served, with_problems) = (side.served(), side.with_problems());
    let mut found = Vec::new();
    let mut by_hostname: HashMap<(&Str, &str), &Object> = HashMap::new();
    for object in candidates.iter().filter(|object| served.contains(&object.id)) {
        if let Some(hostname) = hostname(object) {
            by_hostname.entry((&object.key.kind, hostname)).or_insert(object);
        }
    }
    for object in &candidates {
        if served.contains(&object.id) || with_problems.contains(&object.id) {
            continue;
        }
        let Some(taker) = taker(object) else { continue };
        let name = hostname(object);
        let twin = name.and_then(|name| by_hostname.get(&(&object.key.kind, name))).filter(|_| *object.key.kind == *"Host");
        let finding = match (twin, name) {
            (Some(twin), Some(name)) => {
                let message = format!("another {} has the hostname `{name}` too, and only that one counts", object.key.kind);
                Diagnostic::new(&codes::SHADOWED_HOST, message, at_name(object))
                    .related(at_name(twin), "this one counts")
                    .help("join them into one, or give them different hostnames")
            }
            (None, Some(name)) => {
                let message = format!("no {taker} takes it (its hostname is `{name}`), so no request gets there");
                Diagnostic::new(&codes::UNSERVED, message, at_name(object))
            }
            (_, None) => {
                let copies = object.root.at(&["spec", "shadow"]).and_then(Node::as_bool) == Some(true);
                let message = match copies {
                    true => "it gets copies only, and there is no other Mapping for the same requests".into(),
                    false => format!("no {taker} takes it, so no request gets there"),
                };
                Diagnostic::new(&codes::UNSERVED, message, at_name(object))
            }
        };
        found.push(finding.about(object.key.clone()));
    }
    found
}
