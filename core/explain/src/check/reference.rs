//! Reports references to missing objects, or to objects of the wrong kind, that no earlier stage reported.
//!
//! The dialects list the fields that refer.

use super::whole::Whole;
use crate::ResourceRef;
use crate::relation::{Absence, Reference, references};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::compilation::{Assumptions, Compilation, Missing, State, Why};
use chancery_base::diagnostic::{Diagnostic, Place, Related, Severity, codes};
use chancery_base::resource::{Installers, Object, ObjectId, Objects, makes_secret, nearest};
use chancery_text::Str;
use hashbrown::{HashMap, HashSet};

pub(super) fn check(whole: &mut Whole<'_>) {
    let side = whole.side;
    let references = whole.references.clone();
    let is_read = |from: ObjectId| !side.objects().is_assumed(from) && !matches!(side.side.ledger.get(from), State::Ignored(Why::NotCovered, _));
    let missing: Vec<_> = references.iter().filter(|reference| reference.to.is_err() && is_read(reference.from)).collect();
    if missing.is_empty() {
        return;
    }
    let reported: HashSet<(ObjectId, u32)> = side.diagnostics().filter_map(|finding| place(&finding.place)).collect();
    let mut by_name: HashMap<(&Str, Option<&Str>), &Object> = HashMap::new();
    let mut names: HashMap<(&Str, Option<&Str>), Vec<&str>> = HashMap::new();
    let mut namespaces: BTreeSet<&str> = BTreeSet::new();
    // The Services of each name.
    let mut elsewhere: HashMap<&Str, Vec<&Object>> = HashMap::new();
    for object in side.objects().iter().filter(|object| !object.broken) {
        by_name.entry((&object.key.name, object.key.namespace.as_ref())).or_insert(object);
        names.entry((&object.key.kind, object.key.namespace.as_ref())).or_default().push(&object.key.name);
        namespaces.extend(object.key.namespace.as_deref());
        if *object.key.kind == *"Service" {
            elsewhere.entry(&object.key.name).or_default().push(object);
        }
    }
    for reference in missing {
        let Err(absence) = &reference.to else { continue };
        let key = &reference.key;
        let near = names.get(&(&key.kind, key.namespace.as_ref())).and_then(|names| nearest(&key.name, names.iter().copied()));
        // An optional reference is reported only if a Service with a similar name exists.
        let is_misspelt = near.is_some() && *key.kind == *"Service";
        let at = Place::origin(reference.at);
        let is_reported = place(&at).is_some_and(|place| reported.contains(&place)) || whole.wrong.contains(&reference.from);
        let other = by_name.get(&(&key.name, key.namespace.as_ref())).filter(|object| object.key.kind != key.kind && object.id != reference.from);
        let other = other.filter(|object| is_likely(&object.key.kind, &key.kind, absence));
        // A Certificate usually has the name of the Secret that it makes.
        let other = other.filter(|object| *key.kind != *"Secret" || !makes_secret(&object.key));
        let elsewhere = elsewhere.get(&key.name).filter(|_| *key.kind == *"Service" && key.namespace.is_some() && other.is_none());
        let elsewhere = elsewhere.and_then(|all| all.first()).filter(|object| object.key.namespace.is_some());
        // The last part of a name may be a namespace or a DNS domain.
        let is_namespace = |name: &str| namespaces.contains(name) || nearest(name, namespaces.iter().copied()).is_some();
        let elsewhere = elsewhere.filter(|_| !absence.assumed || key.namespace.as_deref().is_some_and(is_namespace));
        let is_fine = absence.assumed && !is_misspelt && other.is_none() && elsewhere.is_none();
        if is_fine || is_reported || is_address(&key.name) {
            continue;
        }
        let whose = key
            .namespace
            .as_ref()
            .filter(|namespace| !namespace.is_empty())
            .map(|namespace| format!(" in the namespace {namespace}"))
            .unwrap_or_default();
        let finding = match other {
            Some(other) => {
                let message = format!("`{}` is a {}, but this must name a {}", key.name, other.key.kind, key.kind);
                Diagnostic::new(&codes::WRONG_KIND_REFERENCE, message, at).related(chancery_kubernetes::at_name(other), "the object with this name")
            }
            None => {
                let message = format!("no {} `{}`{whose} is in the input", key.kind, key.name);
                let finding = Diagnostic::new(&codes::DANGLING_REFERENCE, message, at);
                match elsewhere {
                    Some(elsewhere) => finding.related(chancery_kubernetes::at_name(elsewhere), "one exists in another namespace"),
                    None => finding,
                }
            }
        };
        let finding = match side.objects().get(reference.from) {
            Some(object) => finding.about(object.key.clone()),
            None => finding,
        };
        let qualified = elsewhere.and_then(|object| Some(format!("{}.{}", object.key.name, object.key.namespace.as_ref()?)));
        let meant = near.map(Into::into).or(qualified);
        let help = meant.map_or_else(|| "add it to the input, or correct the name".into(), |meant: String| format!("did you mean `{meant}`?"));
        whole.report(finding.help(help));
    }
}

/// Adds a suggestion to findings about missing objects if an object with a similar name exists.
pub(super) fn nearest_names(compilation: &mut Compilation) {
    let objects = &compilation.objects;
    let mut names: HashMap<(&Str, Option<&Str>), Vec<&str>> = HashMap::new();
    for object in objects.iter().filter(|object| !object.broken) {
        names.entry((&object.key.kind, object.key.namespace.as_ref())).or_default().push(&object.key.name);
    }
    let mut meant: HashMap<(ObjectId, u32), String> = HashMap::new();
    let is_missing = |reference: &Reference| reference.to.as_ref().is_err_and(|absence| !absence.assumed);
    for reference in compilation.sides().flat_map(references).filter(is_missing) {
        let key = &reference.key;
        let near = names.get(&(&key.kind, key.namespace.as_ref())).and_then(|names| nearest(&key.name, names.iter().copied()));
        if let (Some(near), Some(at)) = (near, place(&Place::origin(reference.at))) {
            meant.insert(at, near.to_string());
        }
    }
    if meant.is_empty() {
        return;
    }
    let all = compilation.sides.iter_mut().flat_map(|side| &mut side.diagnostics);
    let unhelped = all.filter(|finding| finding.help.is_none() && finding.fix.is_none());
    for finding in unhelped.filter(|finding| finding.severity != Severity::Notice) {
        if let Some(near) = place(&finding.place).and_then(|at| meant.get(&at)) {
            finding.help = Some(format!("did you mean `{near}`?"));
        }
    }
}

/// Names the refused HTTPProxy that includes an orphan: the orphan is served once that one is accepted.
pub(super) fn refused_parents(compilation: &mut Compilation) {
    let is_orphaned = |finding: &Diagnostic| finding.code == &codes::ORPHANED_PROXY && finding.related.is_empty();
    if !compilation.all_diagnostics().any(is_orphaned) {
        return;
    }
    let mut parents: HashMap<ObjectId, (Place, String)> = HashMap::new();
    for (side, reference) in compilation.sides().flat_map(|side| references(side).into_iter().map(move |reference| (side, reference))) {
        let (Ok(child), Some(parent)) = (&reference.to, side.objects().get(reference.from)) else { continue };
        if parent.key.kind == reference.key.kind && matches!(side.side.ledger.get(parent.id), State::Invalid(_)) {
            let help = format!("{} includes it, and was refused: see the finding about that one", ResourceRef::from(&parent.key));
            parents.entry(*child).or_insert_with(|| (Place::origin(reference.at), help));
        }
    }
    let all = compilation.sides.iter_mut().flat_map(|side| &mut side.diagnostics);
    for finding in all.filter(|finding| is_orphaned(finding)) {
        if let Some((place, help)) = finding.place.object().and_then(|orphan| parents.get(&orphan)) {
            finding.related.push(Related { place: place.clone(), message: "this HTTPProxy was refused, so its includes have no effect".into() });
            finding.help = Some(help.clone());
        }
    }
}

/// Adds to findings about missing objects that the object is in the input, and was refused.
pub(super) fn refused_targets(compilation: &mut Compilation) {
    let objects = &compilation.objects;
    let path = |place: &Place| path(objects, place);
    // Where references to refused objects are written, by the object with the reference.
    let mut refused: HashMap<ObjectId, Vec<(String, &Object)>> = HashMap::new();
    for (side, reference) in compilation.sides().flat_map(|side| references(side).into_iter().map(move |reference| (side, reference))) {
        let Some(target) = reference.to.as_ref().ok().and_then(|id| objects.get(*id)) else { continue };
        if let (State::Invalid(_), Some((from, at))) = (side.side.ledger.get(target.id), path(&Place::origin(reference.at))) {
            refused.entry(from).or_default().push((at, target));
        }
    }
    if refused.is_empty() {
        return;
    }
    let mut found: Vec<(ObjectId, String, &Object)> = Vec::new();
    for finding in compilation.all_diagnostics().filter(|finding| ABSENCES.contains(&finding.code.name)) {
        let Some((from, at)) = path(&finding.place) else { continue };
        let target = refused.get(&from).and_then(|all| all.iter().find(|(reference, _)| is_at(&at, reference) || is_at(reference, &at)));
        found.extend(target.map(|(_, target)| (from, at, *target)));
    }
    let said: HashMap<(ObjectId, String), (Place, String)> = found
        .into_iter()
        .map(|(from, at, target)| {
            let name = ResourceRef::from(&target.key);
            ((from, at), (chancery_kubernetes::at_name(target), format!("{name} is in the input, and was refused: see its finding")))
        })
        .collect();
    for finding in compilation.sides.iter_mut().flat_map(|side| &mut side.diagnostics).filter(|finding| ABSENCES.contains(&finding.code.name)) {
        let Some((place, help)) = path(&finding.place).and_then(|at| said.get(&at)) else { continue };
        if !finding.related.iter().any(|related| related.place.object() == place.object()) {
            finding.related.push(Related { place: place.clone(), message: "this object was refused".into() });
            finding.help = Some(help.clone());
        }
    }
}

/// Lowers findings about policies without a target if a Helm chart or an application in the input may create the target.
pub(super) fn installed_targets(compilation: &mut Compilation) {
    const CODE: &str = "policy-without-target";
    if !compilation.all_diagnostics().any(|finding| finding.code.name == CODE) {
        return;
    }
    let objects = &compilation.objects;
    let installers = Installers::of(objects.iter());
    let mut makers: HashMap<(ObjectId, String), String> = HashMap::new();
    for side in compilation.sides().filter(|side| Assumptions::of(&side.side.options).for_other_kinds() != Missing::Error) {
        for reference in references(side).into_iter().filter(|reference| reference.to.is_err()) {
            if let (Some(maker), Some(at)) = (installers.maker_of(&reference.key), path(objects, &Place::origin(reference.at))) {
                makers.insert(at, format!("the {} is not in the input; {maker}", reference.key));
            }
        }
    }
    let mut lowered: Vec<(ObjectId, String, String)> = Vec::new();
    for finding in compilation.all_diagnostics().filter(|finding| finding.code.name == CODE) {
        let Some((from, at)) = path(objects, &finding.place) else { continue };
        let found = makers.iter().find(|((other, reference), _)| *other == from && is_at(&at, reference));
        lowered.extend(found.map(|(_, message)| (from, at, message.clone())));
    }
    let said: HashMap<(ObjectId, String), String> = lowered.into_iter().map(|(from, at, message)| ((from, at), message)).collect();
    for finding in compilation.sides.iter_mut().flat_map(|side| &mut side.diagnostics).filter(|finding| finding.code.name == CODE) {
        if let Some(message) = path(&compilation.objects, &finding.place).and_then(|at| said.get(&at)) {
            finding.severity = Severity::Notice;
            finding.message.clone_from(message);
            finding.help = Some("render the chart to check the policy with its target".into());
        }
    }
}

/// The object and the path of a field.
fn path(objects: &Objects, place: &Place) -> Option<(ObjectId, String)> {
    let Place::Node { object, node, .. } = place else { return None };
    Some((*object, objects.get(*object)?.path(*node).to_string()))
}

/// Whether a place is a reference, or in it.
fn is_at(place: &str, reference: &str) -> bool {
    place.strip_prefix(reference).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// Codes of findings that an object is missing, although it may only have been refused.
const ABSENCES: [&str; 5] = ["policy-without-target", "unattached-route", "unresolved-service", "invalid-include", "dangling-reference"];

/// Extends findings about missing Secrets: an existing but unusable Secret, one of that name in another namespace, or one with a similar name.
pub(super) fn secrets_elsewhere(compilation: &mut Compilation) {
    if !compilation.all_diagnostics().any(|finding| finding.code == &codes::SECRET_NOT_FOUND) {
        return;
    }
    let mut secrets: HashMap<&Str, &Object> = HashMap::new();
    for object in compilation.objects.iter().filter(|object| !object.broken && *object.key.kind == *"Secret" && object.key.namespace.is_some()) {
        secrets.entry(&object.key.name).or_insert(object);
    }
    let objects = &compilation.objects;
    let path = |place: &Place| path(objects, place);
    let mut found: HashMap<(ObjectId, String), (Place, &str, String)> = HashMap::new();
    let all = compilation.sides().flat_map(|side| references(side).into_iter().map(move |reference| (side, reference)));
    for (side, reference) in all.filter(|(_, reference)| *reference.key.kind == *"Secret") {
        let Some(at) = path(&Place::origin(reference.at)) else { continue };
        let said = match &reference.to {
            Ok(id) => objects.get(*id).filter(|object| !object.assumed).map(|secret| {
                let help = match side.side.ledger.get(secret.id) {
                    State::Invalid(_) => "the Secret exists, but Kubernetes refuses it: see its findings",
                    _ if at.1.contains("ca_secret") || at.1.contains("crl_secret") => "the Secret exists, but it lacks the required key",
                    _ => "the Secret exists, but a certificate needs its keys `tls.crt` and `tls.key`",
                };
                (secret, "this Secret", help.to_string())
            }),
            Err(_) => secrets.get(&reference.key.name).map_or_else(
                || {
                    let beside = secrets.values().filter(|secret| secret.key.namespace == reference.key.namespace);
                    let near = nearest(&reference.key.name, beside.map(|secret| secret.key.name.as_str()))?;
                    Some((*secrets.get(&Str::from(near))?, "this Secret", format!("did you mean `{near}`?")))
                },
                |secret| {
                    let namespace = secret.key.namespace.as_deref().unwrap_or_default();
                    let help = format!("one exists in the namespace {namespace}: add the namespace where the field allows it, or copy the Secret");
                    Some((*secret, "the Secret of another namespace", help))
                },
            ),
        };
        if let Some((secret, what, help)) = said {
            found.insert(at, (chancery_kubernetes::at_name(secret), what, help));
        }
    }
    for finding in compilation.sides.iter_mut().flat_map(|side| &mut side.diagnostics).filter(|finding| finding.code == &codes::SECRET_NOT_FOUND) {
        // The name may be in a field inside the place.
        let Some((object, field)) = path(&finding.place) else { continue };
        let whole = field.strip_suffix(".name").unwrap_or(&field).to_string();
        if let Some((at, what, help)) = found.get(&(object, field)).or_else(|| found.get(&(object, whole))) {
            finding.related.push(Related { place: at.clone(), message: (*what).into() });
            finding.help = Some(help.clone());
        }
    }
}

fn place(of: &Place) -> Option<(ObjectId, u32)> {
    match of {
        Place::Node { object, node, .. } => Some((*object, node.0)),
        _ => None,
    }
}

/// Whether a name is an address or the local host, which a Service cannot be.
fn is_address(name: &str) -> bool {
    name == "localhost" || name.contains(':') || name.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

/// Whether a missing object may be an object of another kind: a serving object is named like its Service, settings are not. If the absence is not a
/// problem, an object of the same name is unrelated.
fn is_likely(kind: &str, expected: &str, absence: &Absence) -> bool {
    match expected {
        "Service" => matches!(kind, "Deployment" | "Pod" | "StatefulSet" | "DaemonSet" | "ExtensionService" | "ReplicaSet" | "ExternalName"),
        "Secret" => matches!(kind, "ConfigMap" | "Certificate" | "SealedSecret" | "ExternalSecret" | "TLSContext"),
        _ => !absence.assumed,
    }
}
