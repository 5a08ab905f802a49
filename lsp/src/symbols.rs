//! Answers with the objects of a document and of the workspace. Does not read fields; see `hover`.

use crate::analysis::Analysis;
use crate::context::{Answer, Context};
use crate::uri::uri_of;
use chancery_core::resource::Object;
use chancery_core::text::{Node, NodeId, Value as Tree};
use serde_json::{Value, json};

/// At most this many objects of the workspace are listed.
const MOST: usize = 1_000;
/// Fields up to this depth are listed below their object.
const DEPTH: usize = 4;

/// The symbol kinds of the protocol.
const OBJECT: u8 = 19;
const FIELD: u8 = 8;
const LIST: u8 = 18;
const TEXT: u8 = 15;

/// # Errors
///
/// Never.
pub fn of_document(context: &Context, params: Value) -> Answer {
    let uri = params["textDocument"]["uri"].as_str().unwrap_or_default();
    let Some((analysis, source)) = context.source(uri) else { return Ok(Value::Null) };
    let nested = context.client.nested_symbols;
    let symbols = analysis.objects_of(source).filter(|object| object.parent.is_none()).filter_map(|object| {
        let whole = object.value_range(object.root.id)?;
        let range = analysis.range_of(source, whole.start as usize..whole.end as usize, context.client.encoding);
        let name = name_of(object);
        let detail = object.key.namespace.as_deref().unwrap_or_default();
        if !nested {
            return Some(json!({ "name": name, "kind": OBJECT, "containerName": detail, "location": { "uri": uri, "range": range } }));
        }
        let span = analysis.positions().object(object.id)?;
        let children: Vec<Value> = object.root.get("spec").map(|spec| fields(context, analysis, object, spec, DEPTH)).unwrap_or_default();
        Some(json!({ "name": name, "detail": detail, "kind": OBJECT, "range": range, "selectionRange": context.range(analysis, &span), "children": children }))
    });
    Ok(symbols.collect())
}

fn name_of(object: &Object) -> String {
    let name = if object.key.name.is_empty() { "without a name" } else { &object.key.name };
    format!("{} {name}", if object.key.kind.is_empty() { "object" } else { &object.key.kind })
}

/// The fields of a node as symbols.
fn fields(context: &Context, analysis: &Analysis, object: &Object, node: &Node, depth: usize) -> Vec<Value> {
    if depth == 0 {
        return Vec::new();
    }
    let symbol = |name: String, id: NodeId, value: &Node| {
        let span = object.document.spans.get(id)?;
        let shift = object.source.offset;
        let whole = span.whole().shifted(shift);
        let own = if span.key.is_empty() { whole } else { span.key.shifted(shift) };
        let range =
            |of: chancery_core::text::TextRange| analysis.range_of(object.source.source, of.start as usize..of.end as usize, context.client.encoding);
        let kind = match &value.value {
            Tree::Object(_) => FIELD,
            Tree::Array(_) => LIST,
            _ => TEXT,
        };
        let children = fields(context, analysis, object, value, depth - 1);
        Some(json!({ "name": name, "kind": kind, "range": range(whole), "selectionRange": range(own), "children": children }))
    };
    match &node.value {
        Tree::Object(all) => all.iter().filter_map(|entry| symbol(entry.key.to_string(), entry.value.id, &entry.value)).collect(),
        Tree::Array(all) => all.iter().enumerate().filter_map(|(at, item)| symbol(item_name(at, item), item.id, item)).collect(),
        _ => Vec::new(),
    }
}

/// An item's name, or its number.
fn item_name(at: usize, item: &Node) -> String {
    let name = ["name", "host", "prefix", "path"].iter().find_map(|field| item.get(field)?.as_str());
    name.filter(|name| !name.is_empty()).map_or_else(|| format!("[{at}]"), String::from)
}

/// # Errors
///
/// Never.
pub fn of_workspace(context: &Context, params: Value) -> Answer {
    let query = params["query"].as_str().unwrap_or_default().to_lowercase();
    let words: Vec<&str> = query.split_whitespace().collect();
    let mut out = Vec::new();
    for analysis in &context.all {
        let positions = analysis.positions();
        for object in analysis.compilation.objects.iter() {
            let name = name_of(object);
            let namespace = object.key.namespace.as_deref().unwrap_or_default();
            let text = format!("{name} {namespace}").to_lowercase();
            if !words.iter().all(|word| text.contains(word)) {
                continue;
            }
            let Some(span) = positions.object(object.id) else { continue };
            let Some(path) = analysis.path(span.source) else { continue };
            let location = json!({ "uri": uri_of(path), "range": context.range(analysis, &span) });
            out.push(json!({ "name": name, "kind": OBJECT, "containerName": namespace, "location": location }));
            if out.len() == MOST {
                return Ok(out.into());
            }
        }
    }
    Ok(out.into())
}
