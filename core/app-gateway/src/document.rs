//! Writes the ARM document of a gateway, with a cache of its parts, and records where in it each origin went.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::executor::{self, Executor, Sequential};
use chancery_base::ir::appgw::wire::{Branch, Tree};
use chancery_base::ir::appgw::{AnyPart, Document, Gateway, Split, node, split, tree};
use chancery_base::output_map::{OutputMap, Trace};
use chancery_base::resource::{ObjectId, Origin};
use chancery_base::rope::Rope;
use chancery_text::{Node, Str, Value, to_json, to_json_within};
use hashbrown::HashMap;

/// The document as JSON.
#[must_use]
pub fn text(gateway: &Gateway, which: Document, pretty: bool) -> String {
    emit(gateway, which, pretty, &Sequential, &mut Emitted::default()).text()
}

/// The last written text of each part, list by list, in their order.
#[derive(Default)]
pub struct Emitted {
    pretty: bool,
    lists: BTreeMap<&'static str, Vec<WrittenPart>>,
}

/// A part, identified by its address while it is held here, and its text.
type WrittenPart = (Arc<dyn AnyPart>, Arc<str>);
/// A part, and its text if it is cached.
type FoundPart = (Arc<dyn AnyPart>, Option<Arc<str>>);

/// The depth of a part in the document.
const DEPTH: usize = 3;

/// Writes the document as JSON. Unchanged parts are taken from the cache.
#[must_use]
pub fn emit(gateway: &Gateway, which: Document, pretty: bool, executor: &dyn Executor, emitted: &mut Emitted) -> Rope {
    if emitted.pretty != pretty {
        *emitted = Emitted { pretty, ..Emitted::default() };
    }
    let Split { frame, lists } = split(gateway, which);
    let mut before = core::mem::take(&mut emitted.lists);
    for (name, parts) in lists {
        let written = written_parts(parts, before.remove(name).unwrap_or_default(), pretty, executor);
        emitted.lists.insert(name, written);
    }
    let mut out = Out { rope: Rope::new(), pretty };
    let Branch::Fields(fields) = frame.value else { return out.rope };
    out.object(0, fields, |out, key, value| match value.value {
        Branch::Fields(properties) if key == "properties" => out.object(1, properties, |out, key, value| match emitted.lists.get(key) {
            Some(parts) => out.list(parts.iter().map(|(_, text)| text.clone())),
            None => out.value(2, value),
        }),
        _ => out.value(1, value),
    });
    out.rope
}

/// Returns parts sorted by name, with their texts. Most parts keep their position; others are found by address, and new ones are written.
fn written_parts(mut parts: Vec<Arc<dyn AnyPart>>, before: Vec<WrittenPart>, pretty: bool, executor: &dyn Executor) -> Vec<WrittenPart> {
    put_in_order(&mut parts, &before);
    let mut before: Vec<FoundPart> = before.into_iter().map(|(part, text)| (part, Some(text))).collect();
    let mut out: Vec<FoundPart> = Vec::with_capacity(parts.len());
    let mut by_address: Option<HashMap<usize, usize>> = None;
    for (at, part) in parts.into_iter().enumerate() {
        let is_there = before.get(at).is_some_and(|(known, _)| address(known) == address(&part));
        let place = is_there.then_some(at).or_else(|| {
            let all = by_address.get_or_insert_with(|| before.iter().enumerate().map(|(at, (part, _))| (address(part), at)).collect());
            all.get(&address(&part)).copied()
        });
        let text = place.and_then(|place| before.get_mut(place)).and_then(|(_, text)| text.take());
        out.push((part, text));
    }
    let new: Vec<&Arc<dyn AnyPart>> = out.iter().filter(|(_, text)| text.is_none()).map(|(part, _)| part).collect();
    let written = executor::map(executor, &new, |part| Arc::<str>::from(to_json_within(&node(part.tree()), pretty.then_some(DEPTH * 2))));
    let mut written = written.into_iter();
    out.into_iter().filter_map(|(part, text)| Some((part, text.or_else(|| written.next())?))).collect()
}

/// Sorts parts by name. Neighbours that were neighbours before are not compared by name.
fn put_in_order(parts: &mut [Arc<dyn AnyPart>], before: &[WrittenPart]) {
    let stood = |at: usize, part: &Arc<dyn AnyPart>| before.get(at).is_some_and(|(known, _)| address(known) == address(part));
    let mut one_stood = parts.first().is_some_and(|part| stood(0, part));
    let is_in_order = parts.windows(2).enumerate().all(|(at, pair)| {
        let [one, other] = pair else { return true };
        let other_stood = stood(at + 1, other);
        let both_stood = core::mem::replace(&mut one_stood, other_stood) && other_stood;
        both_stood || one.name() <= other.name()
    });
    if !is_in_order {
        parts.sort_by(|one, other| one.name().cmp(other.name()));
    }
}

fn address(part: &Arc<dyn AnyPart>) -> usize {
    Arc::as_ptr(part).cast::<()>().addr()
}

/// A document that is being written.
struct Out {
    rope: Rope,
    pretty: bool,
}

impl Out {
    fn line(&mut self, depth: usize) {
        if self.pretty {
            self.rope.append(|text| {
                text.push('\n');
                text.extend(core::iter::repeat_n(' ', depth * 2));
            });
        }
    }

    /// Writes an object at a depth; `write` writes its values.
    fn object(&mut self, depth: usize, fields: Vec<(Str, Tree)>, mut write: impl FnMut(&mut Self, &str, Tree)) {
        if fields.is_empty() {
            return self.rope.push_str("{}");
        }
        self.rope.push_str("{");
        for (at, (key, value)) in fields.into_iter().enumerate() {
            if at > 0 {
                self.rope.push_str(",");
            }
            self.line(depth + 1);
            self.rope.push_str(&to_json(&Node::given(&key), false));
            self.rope.push_str(if self.pretty { ": " } else { ":" });
            write(self, &key, value);
        }
        self.line(depth);
        self.rope.push_str("}");
    }

    /// Writes a list of parts.
    fn list(&mut self, parts: impl Iterator<Item = Arc<str>>) {
        self.rope.push_str("[");
        for (at, part) in parts.enumerate() {
            if at > 0 {
                self.rope.push_str(",");
            }
            self.line(DEPTH);
            self.rope.push_shared(part);
        }
        self.line(DEPTH - 1);
        self.rope.push_str("]");
    }

    fn value(&mut self, depth: usize, value: Tree) {
        let text = to_json_within(&node(value), self.pretty.then_some(depth * 2));
        self.rope.push_str(&text);
    }
}

/// Returns the place of each origin in the document.
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
        Branch::Kept(kept, object) => walk_verbatim(kept, *object, trace),
        Branch::Flag(_) | Branch::Number(_) | Branch::Text(_) => {}
    }
}

/// Records the origins of values that were kept verbatim: each comes from its place in the input. Readers limit the depth of documents.
fn walk_verbatim(kept: &Node, object: ObjectId, trace: &mut Trace) {
    if kept.id.is_some() && object != ObjectId::BUILT_IN {
        trace.here(Origin::field(object, kept.id));
    }
    match &kept.value {
        Value::Array(items) => items.iter().enumerate().for_each(|(at, item)| trace.item(at, |trace| walk_verbatim(item, object, trace))),
        Value::Object(fields) => fields.iter().for_each(|entry| trace.at(&entry.key, |trace| walk_verbatim(&entry.value, object, trace))),
        _ => {}
    }
}

#[cfg(test)]
mod tests;
