//! Compares the resources of two inputs. Does not compare Envoy's configuration; see `parts`.

use super::fields::differences;
use super::{Change, ChangeKind, FieldChange, Written};
use crate::{OriginView, ResourceRef, describe_certificate};
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::resource::{Object, Origin, REDACTED, ResourceKey};
use chancery_text::{Node, NodeId, Str, base64, to_json};

/// Objects by key; objects with the same key are numbered in their order.
type ByKey<'a> = BTreeMap<(&'a ResourceKey, usize), &'a Object>;

fn by_key<'a>(of: &Written<'a>) -> ByKey<'a> {
    let mut seen: BTreeMap<&ResourceKey, usize> = BTreeMap::new();
    let mut all = BTreeMap::new();
    for object in of.of.compilation.objects.iter() {
        let number = seen.entry(&object.key).or_default();
        all.insert((&object.key, *number), object);
        *number += 1;
    }
    all
}

pub(super) fn compare(before: &Written<'_>, after: &Written<'_>) -> Vec<Change> {
    let (old, new) = (by_key(before), by_key(after));
    let mut changes = Vec::new();
    let (mut removed, mut added) = (Vec::new(), Vec::new());
    for (key, object) in &old {
        match new.get(key) {
            None => removed.push(*object),
            Some(other) if object.root == other.root && object.api_version == other.api_version && same_secrets(object, other) => {}
            Some(other) => changes.push(changed(object, other, before, after)),
        }
    }
    added.extend(new.iter().filter(|(key, _)| !old.contains_key(*key)).map(|(_, object)| *object));
    // Objects that are equal except for their name were renamed.
    let mut bodies: BTreeMap<(String, String), Vec<&Object>> = BTreeMap::new();
    for object in removed.iter().rev() {
        bodies.entry((object.key.kind.to_string(), body(object))).or_default().push(object);
    }
    let mut renamed: Vec<&Object> = Vec::new();
    for object in added {
        let known = bodies.get_mut(&(object.key.kind.to_string(), body(object))).filter(|_| object.secrets.is_empty()).and_then(Vec::pop);
        let mut change = simple(object, if known.is_some() { ChangeKind::Renamed } else { ChangeKind::Added });
        change.after = whole(object, after);
        if let Some(known) = known {
            change.was = Some(name(known));
            change.before = whole(known, before);
            renamed.push(known);
        }
        changes.push(change);
    }
    for object in removed {
        if !renamed.iter().any(|known| core::ptr::eq(*known, object)) {
            changes.push(Change { before: whole(object, before), ..simple(object, ChangeKind::Removed) });
        }
    }
    changes.sort_by(|a, b| (&a.kind, &a.name, a.change).cmp(&(&b.kind, &b.name, b.change)));
    changes
}

fn name(object: &Object) -> String {
    let resource = ResourceRef::from(&object.key);
    match &resource.namespace {
        Some(namespace) if !namespace.is_empty() => alloc::format!("{}.{namespace}", resource.name),
        _ => resource.name.to_string(),
    }
}

fn simple(object: &Object, change: ChangeKind) -> Change {
    let kind = if object.key.kind.is_empty() { "object".into() } else { object.key.kind.to_string() };
    Change { change, kind, name: name(object), was: None, note: None, fields: Vec::new(), before: Vec::new(), after: Vec::new() }
}

fn whole(object: &Object, of: &Written<'_>) -> Vec<OriginView> {
    Vec::from([view(object, object.root.id, of)])
}

fn view(object: &Object, node: NodeId, of: &Written<'_>) -> OriginView {
    OriginView::of(Origin::field(object.id, node), of.of, of.positions)
}

/// Returns the content without the name.
fn body(object: &Object) -> String {
    let mut root: Node = (*object.root).clone();
    if let chancery_text::Value::Object(members) = &mut root.value {
        members.remove("metadata");
    }
    to_json(&root, false)
}

/// Compares key material, but never shows it.
fn same_secrets(a: &Object, b: &Object) -> bool {
    a.secrets.len() == b.secrets.len() && a.secrets.iter().zip(&b.secrets).all(|((_, a), (_, b))| a == b)
}

/// Describes a value of a Secret without secrets: for certificates, their names and expiry.
fn describe_secret_value(value: &Str, is_packed: bool) -> String {
    let bytes = if is_packed { base64::decode(value) } else { Some(value.as_bytes().to_vec()) };
    bytes.and_then(|bytes| describe_certificate(&bytes)).unwrap_or_else(|| REDACTED.into())
}

fn changed(old: &Object, new: &Object, before: &Written<'_>, after: &Written<'_>) -> Change {
    let mut fields: Vec<FieldChange> = differences(&old.root, &new.root)
        .iter()
        .map(|found| FieldChange {
            before_from: found.before.map(|node| view(old, node.id, before)),
            after_from: found.after.map(|node| view(new, node.id, after)),
            ..found.change()
        })
        .collect();
    if !same_secrets(old, new) {
        for (node, value) in &new.secrets {
            let path = new.path(*node).to_string();
            let was = old.secrets.iter().find(|(at, _)| old.path(*at).to_string() == path);
            if was.is_some_and(|(_, was)| was != value) {
                let is_packed = !path.starts_with("stringData");
                let (old_words, new_words) =
                    (was.map(|(_, was)| describe_secret_value(was.expose(), is_packed)), Some(describe_secret_value(value.expose(), is_packed)));
                let (before_from, after_from) = (was.map(|(at, _)| view(old, *at, before)), Some(view(new, *node, after)));
                fields.push(FieldChange { path, before: old_words, after: new_words, before_from, after_from });
            }
        }
    }
    Change { fields, before: whole(old, before), after: whole(new, after), ..simple(new, ChangeKind::Changed) }
}
