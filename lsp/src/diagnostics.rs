//! Reports findings as diagnostics, pushed or on request. Findings that another finding causes are folded into it.
//!
//! Does not create findings; see `chancery_core::explain::findings`.

use crate::analysis::Analysis;
use crate::client::Client;
use crate::context::{Answer, Context};
use crate::documents::Documents;
use crate::uri::uri_of;
use chancery_core::diagnostic::Severity;
use chancery_core::explain::{Finding, FoldedFinding, fold, tag_of};
use chancery_core::resource::SourceId;
use lsp_server::{Message, Notification};
use serde_json::{Value, json};
use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

/// Codes of errors that every YAML language server reports too.
const OF_YAML: [&str; 3] = ["syntax", "duplicate-key", "bad-anchor"];
/// The documentation of codes.
const PAGES: &str = "https://github.com/chancery-dev/chancery/blob/main";
/// The hint on Helm templates.
const TEMPLATE: &str =
    "This file is a template of a Helm chart. Run `helm template` and open the output, or set `render = true` for `chancery check`";

/// The diagnostics that the client has.
#[derive(Default)]
pub struct Published {
    /// By folder and file, a hash of each list.
    files: BTreeMap<usize, BTreeMap<PathBuf, u64>>,
    templates: BTreeSet<PathBuf>,
}

impl Published {
    /// Returns messages for the files whose diagnostics changed.
    pub fn publish(&mut self, folder: usize, analysis: &Analysis, client: &Client, documents: &Documents) -> Vec<Message> {
        let known = self.files.entry(folder).or_default();
        let now = by_file(analysis, client);
        let mut messages = Vec::new();
        for path in known.keys().filter(|path| !now.contains_key(*path)).cloned().collect::<Vec<_>>() {
            known.remove(&path);
            messages.push(message(&path, &[], documents));
        }
        for (path, list) in &now {
            let hash = hash_of(list);
            if known.get(path) != Some(&hash) {
                known.insert(path.clone(), hash);
                messages.push(message(path, list, documents));
            }
        }
        messages
    }

    /// Publishes all diagnostics again with the next compile.
    pub fn force(&mut self) {
        self.files.values_mut().flat_map(BTreeMap::values_mut).for_each(|hash| *hash = 0);
    }

    /// Returns messages that remove the diagnostics of a folder.
    pub fn forget(&mut self, folder: usize) -> Vec<Message> {
        let files = self.files.remove(&folder).unwrap_or_default();
        files.keys().map(|path| message(path, &[], &Documents::default())).collect()
    }

    /// Returns a hint for a template that is opened for the first time.
    pub fn hint_of_template(&mut self, path: &Path, is_template: bool) -> Option<Message> {
        if !is_template || !self.templates.insert(path.to_owned()) {
            return None;
        }
        Some(message(path, &[template_hint()], &Documents::default()))
    }
}

fn template_hint() -> Value {
    let start = json!({ "line": 0, "character": 0 });
    json!({ "range": { "start": start, "end": start }, "severity": 4, "source": "chancery", "code": "template", "message": TEMPLATE })
}

fn hash_of(list: &[Value]) -> u64 {
    let mut hasher = DefaultHasher::new();
    list.iter().for_each(|one| one.to_string().hash(&mut hasher));
    // Zero marks a list that must be sent again.
    hasher.finish().max(1)
}

fn message(path: &Path, list: &[Value], documents: &Documents) -> Message {
    let open = documents.of_path(path);
    let uri = open.map_or_else(|| uri_of(path), |document| document.uri.clone());
    let params = json!({ "uri": uri, "version": open.map(|document| document.version), "diagnostics": list });
    Notification::new("textDocument/publishDiagnostics".into(), params).into()
}

/// The diagnostics of all files that have some.
fn by_file(analysis: &Analysis, client: &Client) -> BTreeMap<PathBuf, Vec<Value>> {
    let mut out: BTreeMap<PathBuf, Vec<Value>> = BTreeMap::new();
    for folded in fold(&analysis.findings) {
        // A finding about the whole input belongs to the first file.
        let source = folded.finding.span.as_ref().map_or(SourceId(0), |span| span.source);
        let Some(path) = analysis.path(source) else { continue };
        if client.settings.yaml_errors.0 || !OF_YAML.contains(&folded.finding.code) {
            out.entry(path.to_owned()).or_default().push(diagnostic(&folded, analysis, client));
        }
    }
    out
}

/// A finding in the protocol's form.
fn diagnostic(folded: &FoldedFinding<'_>, analysis: &Analysis, client: &Client) -> Value {
    let finding = folded.finding;
    let range = finding.span.as_ref().map(|span| analysis.range(span, client.encoding)).unwrap_or_default();
    let place = |span: &chancery_core::explain::Span| {
        let path = analysis.path(span.source)?;
        Some(json!({ "uri": uri_of(path), "range": analysis.range(span, client.encoding) }))
    };
    let mut related: Vec<Value> = Vec::new();
    for one in &finding.related {
        if let Some(location) = one.span.as_ref().and_then(place) {
            related.push(json!({ "location": location, "message": one.message }));
        }
    }
    for consequence in &folded.consequences {
        if let Some(location) = consequence.span.as_ref().and_then(place) {
            related.push(json!({ "location": location, "message": format!("As a result: {}", consequence.message) }));
        }
    }
    let mut message = finding.message.clone();
    if let Some(help) = &finding.help {
        message.push_str(&format!("\nHelp: {help}"));
    }
    let mut out = json!({
        "range": range,
        "severity": match finding.level() { Severity::Error => 1, Severity::Warning => 2, Severity::Notice => 3 },
        "code": finding.code,
        "codeDescription": { "href": page_of(finding.code) },
        "source": "chancery",
        "message": message,
        "data": { "code": finding.code, "object": finding.object },
    });
    if !related.is_empty() {
        out["relatedInformation"] = related.into();
    }
    if let Some(tag) = tag_of(finding.code) {
        out["tags"] = json!([tag.number()]);
    }
    out
}

/// The address of a code's documentation.
#[must_use]
pub fn page_of(code: &str) -> String {
    use chancery_core::dialect::ALL;
    let owner = ALL.iter().find(|dialect| dialect.codes.iter().any(|own| own.name == code));
    let folder = match owner.map(|dialect| dialect.name) {
        None => "core/base/src/diagnostic",
        Some("ambassador") => "core/ambassador/src",
        Some("contour") => "core/contour/src",
        Some("consul") => "core/consul/src",
        Some("gateway" | "envoy-gateway") => "core/envoy-gateway/src",
        Some("ingress-nginx") => "core/ingress-nginx/src",
        Some(_) => "core/agic/src",
    };
    format!("{PAGES}/{folder}/pages/{code}.md")
}

/// The findings at a range of a document.
pub fn findings_at(analysis: &Analysis, source: SourceId, range: std::ops::Range<u32>) -> impl Iterator<Item = &Finding> {
    analysis.findings.iter().filter(move |finding| {
        finding.span.as_ref().is_some_and(|span| span.source == source && span.offset <= range.end && range.start <= span.end_offset)
    })
}

/// Answers `textDocument/diagnostic`.
///
/// # Errors
///
/// Never.
pub fn of_document(context: &Context, params: Value) -> Answer {
    if context.is_template {
        return Ok(json!({ "kind": "full", "items": [template_hint()] }));
    }
    let uri = params["textDocument"]["uri"].as_str().unwrap_or_default();
    let items =
        context.source(uri).and_then(|(analysis, source)| by_file(analysis, &context.client).remove(analysis.path(source)?)).unwrap_or_default();
    Ok(report(items, &params["previousResultId"]))
}

fn report(items: Vec<Value>, previous: &Value) -> Value {
    let id = format!("{:x}", hash_of(&items));
    if previous.as_str() == Some(&id) {
        return json!({ "kind": "unchanged", "resultId": id });
    }
    json!({ "kind": "full", "resultId": id, "items": items })
}

/// Answers `workspace/diagnostic`.
///
/// # Errors
///
/// Never.
pub fn of_workspace(context: &Context, params: Value) -> Answer {
    let known: BTreeMap<String, Value> = params["previousResultIds"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|one| Some((one["uri"].as_str()?.to_string(), one["value"].clone())))
        .collect();
    let mut items = Vec::new();
    for analysis in &context.all {
        let mut found = by_file(analysis, &context.client);
        for path in &analysis.paths {
            let uri = uri_of(path);
            let list = found.remove(path).unwrap_or_default();
            let previous = known.get(&uri).cloned().unwrap_or_default();
            if list.is_empty() && previous.is_null() {
                continue;
            }
            let mut one = report(list, &previous);
            one["uri"] = uri.into();
            one["version"] = Value::Null;
            items.push(one);
        }
    }
    Ok(json!({ "items": items }))
}
