//! Answers requests about names: definition, references, highlights and rename; and the part of the gateway that a line produces.
//!
//! Does not find names; see `chancery_core::explain::Names`.

use crate::analysis::Analysis;
use crate::context::{Answer, AtPosition, Context, parameters};
use crate::virtual_documents;
use chancery_core::explain::{Lineage, NamePlace, Names, made_by_line};
use serde_json::{Value, json};

/// At most this many places of a document are offered.
const MOST_PLACES: usize = 20;

/// The names at a position.
fn named<'c>(context: &'c Context, at: &AtPosition) -> Option<(&'c Analysis, &'c Names, Vec<&'c NamePlace>)> {
    let spot = context.spot(at)?;
    let names = spot.analysis.names();
    let places: Vec<&NamePlace> = names.at(spot.source, spot.offset).collect();
    (!places.is_empty()).then_some((spot.analysis, names, places))
}

/// All places of the names at a position.
fn everywhere<'n>(names: &'n Names, places: &[&NamePlace]) -> Vec<&'n NamePlace> {
    let mut out: Vec<&NamePlace> = places.iter().flat_map(|place| names.places(&place.named)).collect();
    out.sort_by_key(|place| (place.span.source.0, place.span.offset));
    out.dedup_by(|a, b| a.span == b.span);
    out
}

/// # Errors
///
/// The parameters are invalid.
pub fn definition(context: &Context, params: Value) -> Answer {
    let at: AtPosition = parameters(params)?;
    let Some((analysis, names, places)) = named(context, &at) else { return Ok(Value::Null) };
    let all = everywhere(names, &places).into_iter().filter(|place| place.is_definition);
    Ok(all.filter_map(|place| context.location(analysis, &place.span)).collect())
}

/// # Errors
///
/// The parameters are invalid.
pub fn references(context: &Context, params: Value) -> Answer {
    let with_definition = params["context"]["includeDeclaration"] == true;
    let at: AtPosition = parameters(params)?;
    let Some((analysis, names, places)) = named(context, &at) else { return Ok(Value::Null) };
    let all = everywhere(names, &places).into_iter().filter(|place| with_definition || !place.is_definition);
    Ok(all.filter_map(|place| context.location(analysis, &place.span)).collect())
}

/// # Errors
///
/// The parameters are invalid.
pub fn highlights(context: &Context, params: Value) -> Answer {
    let at: AtPosition = parameters(params)?;
    let Some((analysis, names, places)) = named(context, &at) else { return Ok(Value::Null) };
    let Some(source) = places.first().map(|place| place.span.source) else { return Ok(Value::Null) };
    let here = everywhere(names, &places).into_iter().filter(|place| place.span.source == source);
    // A definition is written, a reference is read.
    Ok(here.map(|place| json!({ "range": context.range(analysis, &place.span), "kind": if place.is_definition { 3 } else { 2 } })).collect())
}

/// # Errors
///
/// The parameters are invalid, or the name cannot be changed here.
pub fn prepare_rename(context: &Context, params: Value) -> Answer {
    let at: AtPosition = parameters(params)?;
    let Some((analysis, names, places)) = named(context, &at) else { return Err("There is no name here that can be changed".into()) };
    let Some(first) = places.first() else { return Ok(Value::Null) };
    if !everywhere(names, &places).iter().any(|place| place.is_definition) {
        return Err("The input does not contain the object with this name".into());
    }
    let text = analysis.text(first.span.source).get(first.span.offset as usize..first.span.end_offset as usize).unwrap_or_default();
    Ok(json!({ "range": context.range(analysis, &first.span), "placeholder": text }))
}

/// # Errors
///
/// The parameters are invalid, or the new name is.
pub fn rename(context: &Context, params: Value) -> Answer {
    let new = params["newName"].as_str().unwrap_or_default().to_string();
    let at: AtPosition = parameters(params)?;
    let Some((analysis, names, places)) = named(context, &at) else { return Err("There is no name here that can be changed".into()) };
    let mut edits = Vec::new();
    // A field may also name an object that is elsewhere.
    let has_definition = |place: &&&NamePlace| names.places(&place.named).any(|place| place.is_definition);
    let known: Vec<&NamePlace> = places.iter().filter(has_definition).copied().collect();
    for place in if known.is_empty() { places } else { known } {
        for edit in names.rename(&place.named, &new, &analysis.compilation, &analysis.positions())? {
            if !edits.contains(&edit) {
                edits.push(edit);
            }
        }
    }
    Ok(context.workspace_edit(analysis, &edits))
}

/// Answers with the places that a line produces, in virtual documents.
///
/// # Errors
///
/// The parameters are invalid.
pub fn type_definition(context: &Context, params: Value) -> Answer {
    let at: AtPosition = parameters(params)?;
    let Some(spot) = context.spot(&at) else { return Ok(Value::Null) };
    let analysis = spot.analysis;
    let line = at.position.line + 1;
    let maps: Vec<_> = analysis.documents().iter().map(|document| &document.viewed.map).collect();
    let Some(thread) = Lineage::of_line(&analysis.compilation, spot.source, line, &maps) else { return Ok(Value::Null) };
    let mut out = Vec::new();
    for document in analysis.documents() {
        let (root, map) = (&document.viewed.root, &document.viewed.map);
        let mut pointers: Vec<String> = made_by_line(&thread, &analysis.compilation, root, map).into_iter().map(|made| made.pointer).collect();
        if pointers.is_empty() {
            pointers = thread.places(&analysis.compilation, map);
        }
        for pointer in pointers {
            let part = virtual_documents::part_of(&pointer);
            let uri = virtual_documents::uri(&at.text_document.uri, document, &part);
            let line = virtual_documents::line_of(root, &part, &pointer);
            let start = json!({ "line": line, "character": 0 });
            let one = json!({ "uri": uri, "range": { "start": start, "end": start } });
            if out.len() < MOST_PLACES && !out.contains(&one) {
                out.push(one);
            }
        }
    }
    Ok(out.into())
}
