//! Finds values that the API server accepts but a controller does not know. The dialects list the fields and values.

use alloc::vec::Vec;
use chancery_base::compilation::{SideRef, State, Why};
use chancery_base::diagnostic::{Diagnostic, Known, Place};
use chancery_base::resource::Object;
use chancery_text::{Node, Value};

/// A field of a kind, from the object's root; `*` matches every member of a list or object.
pub type Field = (&'static str, &'static [&'static str], Known);

/// The unknown values of these fields.
pub fn unknown_values(side: SideRef<'_>, fields: &[Field]) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for object in side.objects().iter().filter(|object| is_read(side, object)) {
        for (_, path, known) in fields.iter().filter(|(kind, ..)| *kind == &*object.key.kind) {
            for node in all_at(&object.root, path) {
                let Some(text) = node.as_str() else { continue };
                let finding = known.judge(side.dialect().controller, text, Place::value(object.id, node.id));
                found.extend(finding.map(|finding| finding.about(object.key.clone())));
            }
        }
    }
    found
}

/// Whether a controller reads an object at all.
pub fn is_read(side: SideRef<'_>, object: &Object) -> bool {
    let state = side.side.ledger.get(object.id);
    !object.broken
        && !object.assumed
        && !matches!(state, State::Invalid(..) | State::Ignored(Why::OtherController | Why::NotWatched | Why::UnknownKind | Why::NotCovered, _))
}

/// The nodes at a path; `*` matches every member.
pub fn all_at<'n>(root: &'n Node, path: &[&str]) -> Vec<&'n Node> {
    let mut at = Vec::from([root]);
    for step in path {
        at = at.into_iter().flat_map(|node| members(node, step)).collect();
    }
    at
}

fn members<'n>(node: &'n Node, step: &str) -> Vec<&'n Node> {
    match &node.value {
        Value::Array(items) if step == "*" => items.iter().collect(),
        Value::Object(fields) if step == "*" => fields.iter().map(|entry| &entry.value).collect(),
        _ => node.get(step).into_iter().collect(),
    }
}
