//! Describes a selection in the page's form. Does not compute it; see `chancery_core::explain::Thread`.

use crate::protocol::{Doc, EditableSort, EditableValue, ResourceRef, SelectionDetails, Span, Target};
use crate::worker::common::span;
use crate::worker::tree::Tree;
use chancery_core::backend::OutputMap;
use chancery_core::compilation::{Compilation, SideRef};
use chancery_core::explain::{self, Lineage, OriginView, describe, editable_values, made_by_line};
use std::collections::BTreeMap;

/// The documents that were built.
pub type Trees = BTreeMap<Doc, Tree>;

/// The selected place in its own document.
fn own_place(target: &Target, doc: Doc, tree: &Tree) -> Option<String> {
    match target {
        Target::Place { doc: its, pointer } if *its == doc => Some(pointer.clone()),
        Target::Row { doc: its, node } if *its == doc => Some(tree.pointer(*node)),
        _ => None,
    }
}

/// The places of a document that belong to a target: the selected place itself, or all places of its thread. Does not need the document's tree.
pub fn places(target: &Target, core: &Lineage, compilation: &Compilation, doc: Doc, tree: Option<&Tree>, map: &OutputMap) -> Vec<String> {
    let own = match (target, tree) {
        (Target::Place { doc: its, pointer }, None) if *its == doc => Some(pointer.clone()),
        (_, tree) => tree.and_then(|tree| own_place(target, doc, tree)),
    };
    own.map_or_else(|| core.places(compilation, map), |own| Vec::from([own]))
}

/// Everything except the rows.
pub fn describe_selection(target: &Target, of: &Lineage, side: SideRef<'_>, trees: &Trees) -> SelectionDetails {
    let compilation = side.compilation;
    let positions = compilation.positions();
    let found = of.resources(compilation);
    let object = side.objects().iter().find(|object| found.contains(&explain::ResourceRef::from(&object.key)));
    let values = object.map(|object| editable_values(object, &positions).iter().map(editable).collect()).unwrap_or_default();
    let resources: Vec<ResourceRef> = found
        .into_iter()
        .map(|of| ResourceRef { kind: of.kind.to_string(), name: of.name.to_string(), namespace: of.namespace.map(|name| name.to_string()) })
        .collect();
    let fields = of.fields(compilation);
    let names: Vec<String> = resources.iter().map(ToString::to_string).collect();
    let (mut title, mut facts) = (names.join(", "), Vec::new());
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
                facts.push(format!(
                    "It is part of {}.",
                    describe(tree.root(), &made.pointer).last().cloned().unwrap_or_else(|| "the document".into())
                ));
            }
            for origin in made.origins {
                let why = OriginView::of(*origin, side, &positions).why;
                if !facts.contains(&why) {
                    facts.push(why);
                }
            }
        }
        if facts.is_empty() {
            facts.push("No resource decides this: the controller always adds it.".into());
        }
    } else if of.is_empty() {
        title = "No resource here".into();
    }
    let mut spans: Vec<Span> = of.spans(&positions).iter().map(span).collect();
    // If a line produced nothing itself, shows the whole resource. The line stays selected.
    if let Target::Line { file, line } = target
        && !of.is_empty()
        && !spans.iter().any(|span| span.file == *file && span.line <= *line && *line <= span.end_line)
    {
        spans.insert(0, Span { file: file.clone(), line: *line, end_line: *line, ..Span::default() });
    }
    SelectionDetails { title, facts, spans, resources, values, ..SelectionDetails::default() }
}

/// A value that the page may change, in the page's form.
fn editable(of: &explain::EditableValue) -> EditableValue {
    let sort = match of.sort {
        explain::EditableSort::Number => EditableSort::Number,
        explain::EditableSort::Duration => EditableSort::Duration,
        explain::EditableSort::Switch => EditableSort::Switch,
    };
    EditableValue { path: of.path.clone(), sort, value: of.value.clone(), quote: of.quote.clone(), span: span(&of.span) }
}

/// The largest number of places to show for one line.
const MOST_MADE: usize = 4;

/// The places that the fields of a line produce in a document, with short values.
pub fn makes(of: &Lineage, compilation: &Compilation, tree: &Tree) -> Vec<String> {
    if of.fields(compilation).is_empty() {
        return Vec::new();
    }
    let places = made_by_line(of, compilation, tree.root(), tree.map());
    let mut out: Vec<String> = places.iter().take(MOST_MADE).map(|made| made.text.clone()).collect();
    if places.len() > MOST_MADE {
        out.push(format!("and {} more places", places.len() - MOST_MADE));
    }
    out
}

/// The number of places that the fields of a line produce, for documents without a tree.
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
