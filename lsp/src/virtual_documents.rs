//! Answers with virtual documents: a part of the gateway's configuration, the documentation of a code, a converted object.
//!
//! An address names a file of the workspace, which decides the folder. Does not choose parts; see `navigation`.

use crate::analysis::{Analysis, ShownDocument};
use crate::context::{Answer, Context};
use crate::uri::{decoded, encoded};
use chancery_core::dialect;
use chancery_core::explain::get;
use chancery_core::text::{Node, Value as Tree, to_yaml};
use serde_json::{Value, json};

/// The scheme of virtual documents.
pub const SCHEME: &str = "chancery";

/// The address of a part of a gateway's document: `chancery:/GATEWAY/PART.yaml?FILE#POINTER`.
#[must_use]
pub fn uri(file: &str, document: &ShownDocument, part: &str) -> String {
    let query = encoded(&json!({ "file": file, "side": document.side, "gateway": document.id, "part": part }).to_string(), b"");
    let name = part.trim_start_matches('/').replace('/', ".");
    let name = if name.is_empty() { "gateway" } else { &name };
    format!("{SCHEME}:/{}/{}.yaml?{query}", encoded(&document.id, b"-._"), encoded(name, b"-._"))
}

/// The address of a document that a function writes.
#[must_use]
pub fn uri_for(file: &str, what: &str, name: &str) -> String {
    let query = encoded(&json!({ "file": file, "what": what, "name": name }).to_string(), b"");
    let ending = if what == "code" { "md" } else { "yaml" };
    format!("{SCHEME}:/{what}/{}.{ending}?{query}", encoded(name, b"-._"))
}

fn query(uri: &str) -> Option<Value> {
    let (_, query) = uri.strip_prefix(SCHEME)?.split_once('?')?;
    serde_json::from_str(&decoded(query.split('#').next()?)?).ok()
}

/// The file that an address belongs to.
#[must_use]
pub fn file_of(uri: &str) -> Option<String> {
    Some(query(uri)?["file"].as_str()?.to_string())
}

/// The whole resource that a place belongs to, as a pointer: a listener, a route table's virtual host, a cluster.
#[must_use]
pub fn part_of(pointer: &str) -> String {
    let steps: Vec<&str> = pointer.split('/').skip(1).collect();
    let named = steps.iter().position(|step| step.parse::<usize>().is_ok());
    let last = named.map_or(steps.len().min(1), |at| at + 1);
    steps.get(..last).unwrap_or_default().iter().map(|step| format!("/{step}")).collect()
}

/// The line of a place in the YAML of a part, from 0.
#[must_use]
pub fn line_of(root: &Node, part: &str, pointer: &str) -> u32 {
    let Some(node) = get(root, part) else { return 0 };
    let rest = pointer.strip_prefix(part).unwrap_or_default();
    line_in(node, rest.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~")).collect::<Vec<_>>().as_slice())
}

/// Counts the lines before a place as YAML writes them.
fn line_in(node: &Node, steps: &[String]) -> u32 {
    let Some((step, rest)) = steps.split_first() else { return 0 };
    let mut before = 0;
    let lines = |node: &Node| to_yaml(node).lines().count() as u32;
    match &node.value {
        Tree::Object(all) => {
            for entry in all.iter() {
                let opens = matches!(&entry.value.value, Tree::Object(of) if !of.is_empty())
                    || matches!(&entry.value.value, Tree::Array(of) if !of.is_empty());
                if entry.key == step.as_str() {
                    return before + if rest.is_empty() || !opens { 0 } else { 1 + line_in(&entry.value, rest) };
                }
                before += if opens { 1 + lines(&entry.value) } else { lines(&entry.value).max(1) };
            }
            before
        }
        Tree::Array(all) => {
            let at = step.parse::<usize>().unwrap_or_default();
            before += all.iter().take(at).map(|item| lines(item).max(1)).sum::<u32>();
            before + all.get(at).map_or(0, |item| line_in(item, rest))
        }
        _ => 0,
    }
}

/// Answers with the text of a virtual document.
///
/// # Errors
///
/// The document does not exist any more.
pub fn content(context: &Context, params: Value) -> Answer {
    let uri = params["uri"].as_str().or_else(|| params["textDocument"]["uri"].as_str()).unwrap_or_default();
    let Some(query) = query(uri) else { return Err(format!("There is no document {uri}").into()) };
    let name = query["name"].as_str().unwrap_or_default();
    if query["what"] == "code" {
        let code = dialect::code(name).ok_or_else(|| format!("There is no code `{name}`"))?;
        return Ok(json!({ "text": code.page }));
    }
    let Some(analysis) = context.analysis.as_deref() else { return Err("The workspace is not compiled yet".into()) };
    let text = match query["what"].as_str() {
        Some(what) => crate::conversion::converted(analysis, what, name)?,
        None => part(analysis, &query)?,
    };
    Ok(json!({ "text": analysis.redacted(&text) }))
}

fn part(analysis: &Analysis, query: &Value) -> Result<String, String> {
    let (side, id) = (query["side"].as_u64().unwrap_or_default(), query["gateway"].as_str().unwrap_or_default());
    let document = analysis.documents().iter().find(|document| document.side as u64 == side && document.id == id);
    let document = document.ok_or_else(|| format!("There is no gateway `{id}` any more"))?;
    let node = get(&document.viewed.root, query["part"].as_str().unwrap_or_default()).ok_or("The gateway has no such part any more")?;
    Ok(to_yaml(node))
}
