//! The ARM document of a gateway as text, and where in it each origin went.

use crate::backend::output_map::{OutputMap, Trace};
use crate::ir::appgw::wire::{Branch, Tree};
use crate::ir::appgw::{Document, Gateway, document, tree};
use crate::resource::{ObjectId, Origin};
use crate::text::{Node, Value, to_json};
use alloc::string::String;
use alloc::vec::Vec;

/// The document as JSON.
#[must_use]
pub fn text(gateway: &Gateway, which: Document, pretty: bool) -> String {
    to_json(&document(gateway, which), pretty)
}

/// Where in the document each origin went.
#[must_use]
pub fn output_map(gateway: &Gateway, which: Document) -> OutputMap {
    let mut trace = Trace::on();
    walk(&tree(gateway, which), &mut trace);
    OutputMap::new(trace.finish(), Vec::new())
}

fn walk(tree: &Tree, trace: &mut Trace) {
    trace.here(tree.origin);
    trace.here(&tree.also.0);
    match &tree.value {
        Branch::List(items) => items.iter().enumerate().for_each(|(at, item)| trace.item(at, |trace| walk(item, trace))),
        Branch::Fields(fields) => fields.iter().for_each(|(key, value)| trace.at(key, |trace| walk(value, trace))),
        Branch::Kept(kept, object) => walk_kept(kept, *object, trace),
        Branch::Flag(_) | Branch::Number(_) | Branch::Text(_) => {}
    }
}

/// What was kept as it was read: each value comes from where it was written. It is as deep as the reader lets documents be.
fn walk_kept(kept: &Node, object: ObjectId, trace: &mut Trace) {
    if kept.id.is_some() && object != ObjectId::BUILT_IN {
        trace.here(Origin::field(object, kept.id));
    }
    match &kept.value {
        Value::Array(items) => items.iter().enumerate().for_each(|(at, item)| trace.item(at, |trace| walk_kept(item, object, trace))),
        Value::Object(fields) => fields.iter().for_each(|entry| trace.at(&entry.key, |trace| walk_kept(&entry.value, object, trace))),
        _ => {}
    }
}

#[cfg(test)]
mod tests;
