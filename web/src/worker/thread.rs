//! What belongs to a selection, in the page's words.
//!
//! What must not be here: finding it out; that is `chancery_core::explain::Thread`.

use crate::protocol::{Doc, ResourceRef, Span, Target, Thread};
use crate::worker::common::span;
use crate::worker::tree::Tree;
use chancery_core::backend::OutputMap;
use chancery_core::compilation::{Compilation, SideRef};
use chancery_core::explain::{OriginView, Lineage, describe, get};
use chancery_core::text::to_json;
use std::collections::BTreeMap;

/// Documents by which there are.
pub type Trees = BTreeMap<Doc, Tree>;

/// The place in its own document that was selected.
fn own_place(target: &Target, doc: Doc, tree: &Tree) -> Option<String> {
    match target {
        Target::Place { doc: its, pointer } if *its == doc => Some(pointer.clone()),
        Target::Row { doc: its, node } if *its == doc => Some(tree.pointer(*node)),
        _ => None,
    }
}

/// The places of a document that belong to a target: the one that was chosen in it, or all of its thread. The document need not be there as a tree.
pub fn places(target: &Target, core: &Lineage, compilation: &Compilation, doc: Doc, tree: Option<&Tree>, map: &OutputMap) -> Vec<String> {
    let own = match (target, tree) {
        (Target::Place { doc: its, pointer }, None) if *its == doc => Some(pointer.clone()),
        (_, tree) => tree.and_then(|tree| own_place(target, doc, tree)),
    };
    own.map_or_else(|| core.places(compilation, map), |own| Vec::from([own]))
}

/// All but the rows.
pub fn told(target: &Target, of: &Lineage, side: SideRef<'_>, trees: &Trees) -> Thread {
    let compilation = side.compilation;
    let positions = compilation.positions();
    let resources = of.resources(compilation).into_iter();
    let resources: Vec<ResourceRef> = resources
        .map(|of| ResourceRef { kind: of.kind.to_string(), name: of.name.to_string(), namespace: of.namespace.map(|name| name.to_string()) })
        .collect();
    let fields = of.fields(compilation);
    let names: Vec<String> = resources.iter().map(ToString::to_string).collect();
    let (mut title, mut told) = (names.join(", "), Vec::new());
    if let [field] = &fields[..] {
        title = format!("{field} of {title}");
    }
    let place = [Doc::Envoy, Doc::Ir, Doc::Config].into_iter().find_map(|doc| {
        let tree = trees.get(&doc)?;
        Some((tree, own_place(target, doc, tree)?))
    });
    if let Some((tree, pointer)) = place {
        title = describe(tree.root(), &pointer).join(" › ");
        if let Some(made) = tree.map().lookup(&pointer) {
            if made.pointer != pointer {
                told.push(format!(
                    "It is part of {}.",
                    describe(tree.root(), &made.pointer).last().cloned().unwrap_or_else(|| "the document".into())
                ));
            }
            for origin in made.origins {
                let why = OriginView::of(*origin, side, &positions).why;
                if !told.contains(&why) {
                    told.push(why);
                }
            }
        }
        if told.is_empty() {
            told.push("No resource decides this: the controller always writes it.".into());
        }
    } else if of.is_empty() {
        title = "No resource here".into();
    }
    let mut spans: Vec<Span> = of.spans(&positions).iter().map(span).collect();
    // For a line that made nothing by itself, the whole resource is shown; the line stays selected.
    if let Target::Line { file, line } = target
        && !of.is_empty()
        && !spans.iter().any(|span| span.file == *file && span.line <= *line && *line <= span.end_line)
    {
        spans.insert(0, Span { file: file.clone(), line: *line, end_line: *line, ..Span::default() });
    }
    Thread { title, told, spans, resources, ..Thread::default() }
}

/// Places that are shown for one line.
const MOST_MADE: usize = 4;

/// What the fields of a line make in a document, a place each, with its value where that is short.
pub fn makes(of: &Lineage, compilation: &Compilation, tree: &Tree) -> Vec<String> {
    if of.fields(compilation).is_empty() {
        return Vec::new();
    }
    let places = of.places(compilation, tree.map());
    let told = |pointer: &String| {
        let names = describe(tree.root(), pointer);
        let near = names.get(names.len().saturating_sub(2)..).unwrap_or_default().join(" › ");
        let value = get(tree.root(), pointer).map(|value| to_json(value, false)).filter(|value| value.len() <= 80);
        value.map_or(near.clone(), |value| format!("{near}: {value}"))
    };
    let mut out: Vec<String> = places.iter().take(MOST_MADE).map(told).collect();
    if places.len() > MOST_MADE {
        out.push(format!("and {} more places", places.len() - MOST_MADE));
    }
    out
}

/// How many places the fields of a line make, where what Envoy gets is not there as a tree to name them.
pub fn counts(of: &Lineage, compilation: &Compilation, map: &OutputMap) -> Option<String> {
    if of.fields(compilation).is_empty() {
        return None;
    }
    match of.places(compilation, map).len() {
        0 => None,
        1 => Some("1 place (the Envoy view shows it)".into()),
        places => Some(format!("{places} places (the Envoy view shows them)")),
    }
}
