//! References that lead nowhere, or to an object of another kind, and that nobody complained of.
//!
//! What must not be here: which fields refer (dialects), and what is wrong with what is there.

use super::whole::Whole;
use crate::diagnostic::{Diagnostic, Place, codes};
use crate::explain::relation::references;
use crate::resource::{Object, ObjectId};
use crate::text::Str;
use alloc::format;
use alloc::string::String;
use hashbrown::{HashMap, HashSet};

pub(super) fn check(whole: &mut Whole<'_>) {
    let compilation = whole.compilation;
    let is_missing = |reference: &crate::explain::relation::Reference| reference.to.is_err();
    let missing: alloc::vec::Vec<_> = references(compilation).into_iter().filter(is_missing).collect();
    if missing.is_empty() {
        return;
    }
    let told: HashSet<(ObjectId, u32)> = compilation.diagnostics.iter().filter_map(|finding| place(&finding.place)).collect();
    let mut by_name: HashMap<(&Str, Option<&Str>), &Object> = HashMap::new();
    // Where Services are among the input, those that are not can be told of.
    let mut has_services: HashSet<Option<&Str>> = HashSet::new();
    for object in compilation.objects.iter().filter(|object| !object.broken) {
        by_name.entry((&object.key.name, object.key.namespace.as_ref())).or_insert(object);
        if *object.key.kind == *"Service" {
            has_services.insert(object.key.namespace.as_ref());
        }
    }
    for reference in &missing {
        let Err(absence) = &reference.to else { continue };
        let key = &reference.key;
        let known = absence.assumed && !(*key.kind == *"Service" && has_services.contains(&key.namespace.as_ref()));
        let at = Place::origin(reference.at);
        let is_told = place(&at).is_some_and(|place| told.contains(&place)) || whole.wrong.contains(&reference.from);
        if known || is_told || is_address(&key.name) {
            continue;
        }
        let other = by_name.get(&(&key.name, key.namespace.as_ref())).filter(|object| object.key.kind != key.kind && object.id != reference.from);
        let whose = key.namespace.as_ref().map(|namespace| format!(" in the namespace {namespace}")).unwrap_or_default();
        let finding = match other.filter(|object| is_likely(&object.key.kind, &key.kind)) {
            Some(other) => {
                let message = format!("`{}` is a {}, but a {} is meant here", key.name, other.key.kind, key.kind);
                Diagnostic::new(&codes::WRONG_KIND_REFERENCE, message, at).related(crate::dialect::kubernetes::at_name(other), "what has the name")
            }
            None => {
                let message = format!("there is no {} `{}`{whose} among the input", key.kind, key.name);
                Diagnostic::new(&codes::DANGLING_REFERENCE, message, at)
            }
        };
        let finding = match compilation.objects.get(reference.from) {
            Some(object) => finding.about(object.key.clone()),
            None => finding,
        };
        whole.tell(finding.help(String::from("add it to the input, or mend the name")));
    }
}

fn place(of: &Place) -> Option<(ObjectId, u32)> {
    match of {
        Place::Node { object, node, .. } => Some((*object, node.0)),
        _ => None,
    }
}

/// Whether a name is an address or the machine itself, which no Service is.
fn is_address(name: &str) -> bool {
    name == "localhost" || name.contains(':') || name.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

/// Whether an object of one kind can be taken for one of another: what serves is named like its Service, what is configured is not.
fn is_likely(kind: &str, wanted: &str) -> bool {
    match wanted {
        "Service" => matches!(kind, "Deployment" | "Pod" | "StatefulSet" | "DaemonSet" | "ExtensionService" | "ReplicaSet" | "ExternalName"),
        "Secret" => matches!(kind, "ConfigMap" | "Certificate" | "SealedSecret" | "ExternalSecret" | "TLSContext"),
        _ => true,
    }
}
