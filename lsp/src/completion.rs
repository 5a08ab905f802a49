//! Answers `textDocument/completion`: fields, values, names of existing objects, and whole objects.
//!
//! Reads the text that the client has now. Does not choose completions; see `chancery_core::explain`.

use crate::context::{Answer, AtPosition, Context, parameters};
use crate::text::Lines;
use crate::uri::path_of;
use chancery_core::compilation::Dialect;
use chancery_core::dialect;
use chancery_core::explain::{Completion, complete as complete_text, completions, object_snippets};
use serde_json::{Value, json};

/// # Errors
///
/// The parameters are invalid.
pub fn complete(context: &Context, params: Value) -> Answer {
    let at: AtPosition = parameters(params)?;
    if context.is_template {
        return Ok(Value::Null);
    }
    let uri = &at.text_document.uri;
    let Some(document) = context.documents.get(uri) else { return Ok(Value::Null) };
    let lines = Lines::new(&document.text);
    let encoding = context.client.encoding;
    let offset = lines.offset(&document.text, at.position, encoding) as u32;
    let is_input = path_of(uri).is_some_and(|path| context.analysis.as_deref().is_some_and(|analysis| analysis.source(&path).is_some()));
    // A new file may become any dialect's.
    let detected = context.analysis.as_deref().filter(|_| is_input).map(crate::analysis::Analysis::dialects).unwrap_or_default();
    let dialects: Vec<&'static Dialect> = if detected.is_empty() { dialect::ALL.to_vec() } else { detected };
    let found = match context.analysis.as_deref() {
        Some(analysis) => complete_text(&analysis.compilation, &dialects, &document.text, offset),
        None => completions(&dialects, &document.text, offset),
    };
    let end = lines.line(&document.text, at.position.line).map_or(offset as usize, |line| line.end);
    let from = found.from as usize;
    // A completion replaces the rest of the word.
    let rest = document.text.get(offset as usize..end).unwrap_or_default();
    let to = offset as usize + rest.find([' ', ',', '}', ']', '#']).unwrap_or(rest.len());
    let insert = lines.range(&document.text, from..offset as usize, encoding);
    let replace = lines.range(&document.text, from..to, encoding);
    let mut items: Vec<Value> = found.items.iter().enumerate().map(|(order, item)| shown(order, item, insert, replace)).collect();
    if context.client.snippets && is_start_of_object(&document.text, offset) {
        let whole = lines.range(&document.text, start_of_word(&document.text, offset) as usize..offset as usize, encoding);
        items.extend(object_snippets(&dialects).iter().map(|snippet| {
            let mut item = shown(0, snippet, whole, whole);
            item["insertTextFormat"] = json!(2);
            item["sortText"] = json!(format!("1{}", snippet.label));
            item
        }));
    }
    Ok(json!({ "isIncomplete": false, "items": items }))
}

fn shown(order: usize, of: &Completion, insert: lsp_types::Range, replace: lsp_types::Range) -> Value {
    let kind = match of.sort {
        "kind" => 7,
        "field" => 5,
        "snippet" => 15,
        "name" => 18,
        _ => 12,
    };
    let mut item = json!({
        "label": of.label,
        "kind": kind,
        "sortText": format!("0{order:04}"),
        "filterText": of.label,
        "textEdit": { "range": if of.sort == "name" || of.sort == "value" { replace } else { insert }, "newText": of.insert },
    });
    if !of.detail.is_empty() {
        item["detail"] = of.detail.clone().into();
    }
    if !of.doc.is_empty() {
        item["documentation"] = json!({ "kind": "markdown", "value": of.doc });
    }
    item
}

/// Where the value before an offset begins.
fn start_of_word(text: &str, offset: u32) -> u32 {
    let before = text.get(..offset as usize).unwrap_or_default();
    let word = before.rsplit([' ', '\n', '\t', '{', '[', ',', '"', '\'']).next().unwrap_or_default();
    offset - word.len() as u32
}

/// Whether a new object may begin here: only a word is before the cursor in its document.
fn is_start_of_object(text: &str, offset: u32) -> bool {
    let Some(before) = text.get(..offset as usize) else { return false };
    let begin = before.rfind("\n---").map_or(0, |at| at + 4);
    let document = before.get(begin..).unwrap_or_default().trim_start_matches("---");
    let written = document.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).count();
    let after = text.get(offset as usize..).unwrap_or_default();
    let rest = after.split("\n---").next().unwrap_or_default();
    written <= 1 && !document.contains(':') && rest.trim().is_empty()
}
