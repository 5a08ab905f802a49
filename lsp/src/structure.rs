//! Answers requests about the text's structure: folding, selection ranges and links. Does not know dialects.

use crate::context::{Answer, Context, DocumentId, parameters};
use chancery_core::resource::Object;
use chancery_core::text::{NodeId, TextRange};
use lsp_types::Position;
use serde::Deserialize;
use serde_json::{Value, json};

/// # Errors
///
/// Never.
pub fn folding(context: &Context, params: Value) -> Answer {
    let uri = params["textDocument"]["uri"].as_str().unwrap_or_default();
    let Some((analysis, source)) = context.source(uri) else { return Ok(Value::Null) };
    let text = analysis.text(source);
    let mut out: Vec<(u32, u32)> = Vec::new();
    for object in analysis.objects_of(source).filter(|object| object.parent.is_none()) {
        let spans = &object.document.spans;
        for id in (0..spans.len() as u32).map(NodeId) {
            let Some(span) = spans.get(id) else { continue };
            let whole = span.whole().shifted(object.source.offset);
            let written = whole.slice(text).trim_end();
            let range = analysis.range_of(source, whole.start as usize..whole.start as usize + written.len(), context.client.encoding);
            if range.end.line > range.start.line {
                out.push((range.start.line, range.end.line));
            }
        }
    }
    out.sort_unstable_by_key(|(start, end)| (*start, std::cmp::Reverse(*end)));
    // The outermost range of a line folds it.
    out.dedup_by_key(|(start, _)| *start);
    Ok(out.into_iter().map(|(start, end)| json!({ "startLine": start, "endLine": end, "kind": "region" })).collect())
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Selection {
    text_document: DocumentId,
    positions: Vec<Position>,
}

/// # Errors
///
/// The parameters are invalid.
pub fn selection(context: &Context, params: Value) -> Answer {
    let asked: Selection = parameters(params)?;
    let Some((analysis, source)) = context.source(&asked.text_document.uri) else { return Ok(Value::Null) };
    let text = analysis.text(source);
    let one = |at: &Position| {
        let offset = analysis.lines(source).map_or(0, |lines| lines.offset(text, *at, context.client.encoding)) as u32;
        let here = |object: &&Object| {
            object.value_range(object.root.id).is_some_and(|range| range.start <= offset && offset <= range.end) && object.parent.is_none()
        };
        let mut ranges: Vec<TextRange> = Vec::new();
        if let Some(object) = analysis.objects_of(source).find(here) {
            let shift = object.source.offset;
            let spans = &object.document.spans;
            let holds = |range: TextRange| range.start <= offset && offset <= range.end;
            for id in (0..spans.len() as u32).map(NodeId) {
                let Some(span) = spans.get(id) else { continue };
                ranges.extend(
                    [span.whole(), span.key, span.value]
                        .map(|range| range.shifted(shift))
                        .into_iter()
                        .filter(|range| holds(*range) && !range.is_empty()),
                );
            }
        }
        ranges.push(TextRange::new(0, text.len() as u32));
        // From the outside in; ranges that do not nest are left out.
        ranges.sort_by_key(|range| (std::cmp::Reverse(range.len()), range.start));
        ranges.dedup();
        let mut nested: Vec<TextRange> = Vec::new();
        for range in ranges {
            if nested.last().is_none_or(|outer| outer.covers(range)) {
                nested.push(range);
            }
        }
        let shown = |range: &TextRange| analysis.range_of(source, range.start as usize..range.end as usize, context.client.encoding);
        nested.iter().fold(Value::Null, |parent, range| {
            let mut one = json!({ "range": shown(range) });
            if !parent.is_null() {
                one["parent"] = parent;
            }
            one
        })
    };
    Ok(asked.positions.iter().map(one).collect())
}

/// Links every reference to its object.
///
/// # Errors
///
/// Never.
pub fn links(context: &Context, params: Value) -> Answer {
    let uri = params["textDocument"]["uri"].as_str().unwrap_or_default();
    let Some((analysis, source)) = context.source(uri) else { return Ok(Value::Null) };
    let names = analysis.names();
    let link = |place: &chancery_core::explain::NamePlace| {
        let definition = names.places(&place.named).find(|place| place.is_definition)?;
        let target = format!("{}#L{}", crate::uri::uri_of(analysis.path(definition.span.source)?), definition.span.line);
        Some(
            json!({ "range": context.range(analysis, &place.span), "target": target, "tooltip": format!("Open {}:{}", definition.span.file, definition.span.line) }),
        )
    };
    Ok(names.references_in(source).filter_map(link).collect())
}
