//! Adds the objects that an input refers to but lacks, as far as the options allow.
//!
//! Every dialect finds them like all other objects. The requirements of several fields are merged. Does not know the fields (see the dialects) or
//! decide when an object is assumed (see `compilation::Assumptions`).

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::compilation::{Assumptions, Dialect, Missing, Options, ReferencedObject};
use chancery_base::diagnostic::{Diagnostic, Place, codes, join_alike};
use chancery_base::read::{AssumedObject, DocumentCache, ReadOptions};
use chancery_base::resource::{Installers, ObjectId, Objects, ResourceKey, nearest, provided_secrets};
use chancery_text::{Entry, Node, Value};

/// Adds the objects that are assumed to exist, and notices about them; many alike notices are joined.
pub(super) fn assume(
    objects: &mut Objects,
    dialects: &[&'static Dialect],
    options: &Options,
    reading: &ReadOptions,
    documents: &mut DocumentCache,
) -> Vec<Diagnostic> {
    let assumptions = Assumptions::of(options);
    let mut notices = Vec::new();
    documents.add_assumed(objects, reading, |objects| {
        if assumptions.is_error() { Vec::new() } else { next(objects, dialects, options, &assumptions, &mut notices) }
    });
    join_alike(notices)
}

/// The missing objects that the current objects refer to.
fn next(
    objects: &Objects,
    dialects: &[&'static Dialect],
    options: &Options,
    assumptions: &Assumptions,
    notices: &mut Vec<Diagnostic>,
) -> Vec<AssumedObject> {
    let there = objects.keys();
    let mut by_key: BTreeMap<ResourceKey, Vec<ReferencedObject>> = BTreeMap::new();
    for wanted in dialects.iter().flat_map(|dialect| (dialect.references)(objects, options)).filter(|wanted| !there.contains(&wanted.key)) {
        by_key.entry(wanted.key.clone()).or_default().push(wanted);
    }
    let provided = if assumptions.assumes_provided() { provided_secrets(objects.iter()) } else { BTreeMap::new() };
    // A whole cluster has all Services.
    let is_partial = assumptions.for_other_kinds() != Missing::Error;
    let installers = if is_partial { Installers::of(objects.iter()) } else { Installers::default() };
    let assumed: BTreeSet<&ResourceKey> = objects.assumed().map(|object| &object.key).collect();
    // One decision per kind, except for Secrets that are generated from other objects. An object that refers to its own kind is no sign that the
    // input contains all of them.
    let mut kinds: BTreeMap<Kinds, bool> = BTreeMap::new();
    let mut referring: BTreeMap<Kinds, BTreeSet<ObjectId>> = BTreeMap::new();
    for one in by_key.values().flatten() {
        referring.entry(one.kinds).or_default().insert(one.from);
    }
    let names: BTreeMap<Kinds, BTreeSet<&str>> = referring.iter().map(|(kinds, from)| (*kinds, names_of(objects, kinds, from))).collect();
    by_key.retain(|key, wanted| {
        if let Some(maker) = provided.get(key).and_then(|id| objects.get(*id)) {
            wanted.iter_mut().for_each(|one| one.notice = Some(format!("the {key} is not in the input; {} makes it", maker.key)));
            return true;
        }
        if is_service(key)
            && let Some(maker) = installers.maker_of(key)
        {
            wanted.iter_mut().for_each(|one| one.notice = Some(format!("the {key} is not in the input; {maker}")));
            return true;
        }
        // The endpoints of an assumed Service, even if other Services have endpoints in the input.
        if is_partial && is_endpoints(key) && assumed.contains(&ResourceKey { group: "".into(), kind: "Service".into(), ..key.clone() }) {
            return true;
        }
        let Some(first) = wanted.first() else { return false };
        let none = BTreeSet::new();
        let from = referring.get(first.kinds).unwrap_or(&none);
        let is_misspelt = || {
            assumptions.for_other_kinds() == Missing::Auto
                && names.get(first.kinds).is_some_and(|names| nearest(&key.name, names.iter().copied()).is_some())
        };
        *kinds.entry(first.kinds).or_insert_with(|| assumptions.assumes(key, first.kinds, objects, from)) && !is_misspelt()
    });
    by_key.into_values().filter_map(|wanted| made(objects, wanted, notices)).collect()
}

fn is_service(key: &ResourceKey) -> bool {
    key.group.is_empty() && key.kind == "Service"
}

fn is_endpoints(key: &ResourceKey) -> bool {
    matches!((&*key.group, &*key.kind), ("", "Endpoints") | ("discovery.k8s.io", "EndpointSlice"))
}

/// The kinds that are treated as one kind.
type Kinds = &'static [(&'static str, &'static str)];

/// The names of objects of these kinds that refer to objects of the same kinds.
fn names_of<'o>(objects: &'o Objects, kinds: Kinds, from: &BTreeSet<ObjectId>) -> BTreeSet<&'o str> {
    let of_kind = |key: &ResourceKey| kinds.iter().any(|(group, kind)| key.group == *group && key.kind == *kind);
    from.iter().filter_map(|id| objects.get(*id)).filter(|object| !object.assumed && of_kind(&object.key)).map(|object| &*object.key.name).collect()
}

/// Builds the object that satisfies all these references.
fn made(objects: &Objects, wanted: Vec<ReferencedObject>, notices: &mut Vec<Diagnostic>) -> Option<AssumedObject> {
    let first = wanted.first()?;
    let from = objects.get(first.from)?;
    let (source, range) = (from.source, from.document.spans.get(first.at)?.value);
    let said: BTreeSet<&String> = wanted.iter().filter_map(|one| one.notice.as_ref()).collect();
    if let Some(message) = said.first() {
        let is_secret = first.key.group.is_empty() && first.key.kind == "Secret";
        let code = if is_secret { &codes::ASSUMED_SECRET } else { &codes::ASSUMED_OBJECT };
        let notice = Diagnostic::new(code, (*message).clone(), Place::value(first.from, first.at)).about(from.key.clone());
        notices.push(notice);
    }
    let asks = wanted.iter().any(|one| one.asks);
    let root = wanted.into_iter().map(|one| one.object).reduce(laid_together)?;
    Some(AssumedObject { root, source, range, asks })
}

/// Merges two trees: objects field by field, lists by concatenation.
fn laid_together(one: Node, other: Node) -> Node {
    let value = match (one.value, other.value) {
        (Value::Object(mut one), Value::Object(other)) => {
            for Entry { key, value } in other {
                let value = match one.remove(&key) {
                    Some(known) => laid_together(known, value),
                    None => value,
                };
                one.insert(key, value);
            }
            Value::Object(one)
        }
        (Value::Array(mut one), Value::Array(other)) => {
            for item in other {
                if !one.contains(&item) {
                    one.push(item);
                }
            }
            Value::Array(one)
        }
        (one, _) => one,
    };
    Node::synthesised(value)
}
