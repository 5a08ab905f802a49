//! Answers `textDocument/hover`: what a field means, its default, and what the line produces; for an object's name, what happened to the object.
//!
//! Does not determine it; see `chancery_core::explain`.

use crate::analysis::Analysis;
use crate::context::{Answer, AtPosition, Context, Spot, code, escaped, parameters};
use chancery_core::explain::{Hover, Lineage, Named, hover as describe_field, made_by_line};
use serde_json::{Value, json};

/// At most this many places are listed.
const MOST_PLACES: usize = 5;

/// # Errors
///
/// The parameters are invalid.
pub fn hover(context: &Context, params: Value) -> Answer {
    let at: AtPosition = parameters(params)?;
    let Some(spot) = context.spot(&at) else { return Ok(Value::Null) };
    let analysis = spot.analysis;
    if let Some(place) = analysis.names().at(spot.source, spot.offset).next() {
        let text = of_name(context, &spot, place);
        return Ok(json!({ "contents": { "kind": "markdown", "value": analysis.redacted(&text) }, "range": context.range(analysis, &place.span) }));
    }
    let positions = analysis.positions();
    let Some(found) = describe_field(&analysis.compilation, &positions, spot.source, spot.offset) else { return Ok(Value::Null) };
    let mut text = of_field(&found);
    text.push_str(&of_line(context, &spot));
    Ok(json!({ "contents": { "kind": "markdown", "value": analysis.redacted(&text) }, "range": context.range(analysis, &found.span) }))
}

/// What a field means.
fn of_field(found: &Hover) -> String {
    let mut text = format!("**{}** · {}\n\n{}", code(&found.title), escaped(&found.takes), found.doc);
    if !found.values.is_empty() {
        let values: Vec<String> = found.values.iter().map(|value| code(value)).collect();
        text.push_str(&format!("\n\nValues: {}", values.join(", ")));
    }
    if let Some(default) = &found.default {
        text.push_str(&format!("\n\nDefault: {}", code(default)));
    }
    text
}

/// What the line produces, and who else decides it.
fn of_line(context: &Context, spot: &Spot<'_>) -> String {
    let analysis = spot.analysis;
    let positions = analysis.positions();
    let line =
        analysis.lines(spot.source).map_or(0, |lines| lines.position(analysis.text(spot.source), spot.offset as usize, Default::default()).line) + 1;
    let mut text = String::new();
    if analysis.is_large() {
        let Some(thread) = Lineage::of_fields(&analysis.compilation, spot.source, line) else { return text };
        let count: usize = analysis.maps().iter().map(|map| thread.places(&analysis.compilation, map).len()).sum();
        if count > 0 && !thread.fields(&analysis.compilation).is_empty() {
            text.push_str(&format!("\n\nProduces {count} {} of the configuration", if count == 1 { "value" } else { "values" }));
        }
        return text;
    }
    let maps: Vec<_> = analysis.documents().iter().map(|document| &document.viewed.map).collect();
    let Some(thread) = Lineage::of_line(&analysis.compilation, spot.source, line, &maps) else { return text };
    let mut places = Vec::new();
    for document in analysis.documents() {
        let Some(gateway) = analysis.gateway_of(document) else { continue };
        for made in made_by_line(&thread, &analysis.compilation, &document.viewed.root, &document.viewed.map) {
            let mut others: Vec<String> = Vec::new();
            for origin in made.origins_elsewhere(gateway.of, &positions, &document.viewed.map, &thread) {
                if let Some(span) = &origin.span {
                    others.push(format!("{} ({})", escaped(&origin.why), context.link(analysis, span)));
                }
            }
            let others = if others.is_empty() { String::new() } else { format!(" — also from {}", others.join(", ")) };
            let place = format!("- {}{others}", code(&made.text));
            if !places.contains(&place) {
                places.push(place);
            }
        }
    }
    if !places.is_empty() {
        let more = places.len().saturating_sub(MOST_PLACES);
        places.truncate(MOST_PLACES);
        text.push_str(&format!("\n\nProduces:\n{}", places.join("\n")));
        if more > 0 {
            text.push_str(&format!("\n- and {more} more"));
        }
    }
    text
}

/// Describes what happened to the object with a name.
fn of_name(context: &Context, spot: &Spot<'_>, place: &chancery_core::explain::NamePlace) -> String {
    let analysis = spot.analysis;
    let object = match &place.named {
        Named::Object(id) => analysis.compilation.objects.get(*id),
        Named::Part(id, _, name) => {
            let object = analysis.compilation.objects.get(*id);
            let of = object.map(|object| format!(" of {} {}", escaped(&object.key.kind), code(&object.key.name))).unwrap_or_default();
            return format!("**{}**{of}{}", code(name), defined_at(context, analysis, place));
        }
        Named::Absent(key) => {
            let namespace = key.namespace.as_deref().filter(|name| !name.is_empty()).map(|name| format!(" in {}", code(name))).unwrap_or_default();
            return format!("**{} {}**{namespace}\n\nNot in this workspace", escaped(&key.kind), code(&key.name));
        }
    };
    let Some(object) = object else { return String::new() };
    let namespace = object.key.namespace.as_deref().filter(|name| !name.is_empty()).map(|name| format!(" in {}", code(name))).unwrap_or_default();
    let mut text = format!("**{} {}**{namespace}", escaped(&object.key.kind), code(&object.key.name));
    if let Some(row) = analysis.ledger().get(&object.id) {
        text.push_str(&format!("\n\n{}{}", escaped(row.state), escaped(&row.outcome())));
    }
    text.push_str(&defined_at(context, analysis, place));
    let references = analysis.names().places(&place.named).filter(|place| !place.is_definition).count();
    if references > 0 {
        text.push_str(&format!("\n\n{references} {}", if references == 1 { "reference" } else { "references" }));
    }
    text
}

fn defined_at(context: &Context, analysis: &Analysis, place: &chancery_core::explain::NamePlace) -> String {
    if place.is_definition {
        return String::new();
    }
    let definition = analysis.names().places(&place.named).find(|place| place.is_definition);
    definition.map(|definition| format!("\n\nDefined at {}", context.link(analysis, &definition.span))).unwrap_or_default()
}
