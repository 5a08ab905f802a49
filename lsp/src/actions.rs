//! Answers `textDocument/codeAction`: fixes, the missing ReferenceGrant, suppressions, request tests and conversions.
//!
//! Does not decide what is certain; see `chancery_core::explain`.

use crate::analysis::Analysis;
use crate::context::{Answer, Context, DocumentId, parameters};
use crate::diagnostics::findings_at;
use crate::uri::{path_of, uri_of};
use crate::virtual_documents;
use chancery_core::explain::{
    EditView, Finding, FixView, RequestTests, missing_grant, sample_for_object, suppression, try_request, without_overlaps,
};
use chancery_core::resource::{Object, SourceId};
use chancery_core::simulate::SavedRequest;
use chancery_workspace::disk;
use lsp_types::Range;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The reason that the user must replace.
const REASON: &str = "REASON";
/// At most this many suppressions are offered at one place.
const MOST_SUPPRESSIONS: usize = 5;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Asked {
    text_document: DocumentId,
    range: Range,
    #[serde(default)]
    context: Value,
}

/// What the user sees of a set of actions.
struct Actions<'c> {
    context: &'c Context,
    analysis: &'c Analysis,
    uri: &'c str,
    /// The client's diagnostics at the range.
    shown: Vec<Value>,
    out: Vec<Value>,
}

/// # Errors
///
/// The parameters are invalid.
pub fn actions(context: &Context, params: Value) -> Answer {
    let asked: Asked = parameters(params)?;
    let uri = &asked.text_document.uri;
    let Some((analysis, source)) = context.source(uri) else { return Ok(Value::Null) };
    let Some(lines) = analysis.lines(source) else { return Ok(Value::Null) };
    let offset = |at| lines.offset(analysis.text(source), at, context.client.encoding) as u32;
    let range = offset(asked.range.start)..offset(asked.range.end);
    let only: Option<Vec<String>> =
        asked.context["only"].as_array().map(|all| all.iter().filter_map(|kind| kind.as_str().map(String::from)).collect());
    let wants = |kind: &str| only.as_ref().is_none_or(|only| only.iter().any(|wanted| kind == wanted || kind.starts_with(&format!("{wanted}."))));
    let shown = asked.context["diagnostics"].as_array().cloned().unwrap_or_default();
    let mut actions = Actions { context, analysis, uri, shown, out: Vec::new() };
    let object = object_at(analysis, source, range.start);
    if wants("quickfix") {
        actions.fixes(source, range.clone());
        actions.grants(source, range.clone());
        actions.suppressions(source, range, object);
    }
    if wants("source.fixAll.chancery") && only.is_some() {
        actions.fix_document(source);
    }
    if let Some(object) = object.filter(|_| wants("refactor")) {
        actions.test(object);
        actions.conversion(object);
    }
    Ok(actions.out.into())
}

/// The innermost object at an offset.
fn object_at(analysis: &Analysis, source: SourceId, offset: u32) -> Option<&Object> {
    let here = |object: &&Object| object.value_range(object.root.id).is_some_and(|range| range.start <= offset && offset <= range.end);
    analysis.objects_of(source).filter(here).last()
}

/// The edits of several changes, which may overlap.
fn edits_of<'f>(fixes: impl Iterator<Item = &'f FixView>) -> Vec<&'f EditView> {
    without_overlaps(fixes.collect()).into_iter().flat_map(FixView::edits).collect()
}

impl Actions<'_> {
    /// The client's diagnostics of a finding.
    fn diagnostics_of(&self, finding: &Finding) -> Vec<Value> {
        let range = finding.span.as_ref().map(|span| json!(self.context.range(self.analysis, span)));
        let is_it = |one: &&Value| one["code"] == finding.code && range.as_ref().is_some_and(|range| one["range"] == *range);
        self.shown.iter().filter(is_it).cloned().collect()
    }

    fn fixes(&mut self, source: SourceId, range: std::ops::Range<u32>) {
        let analysis = self.analysis;
        let mut codes: Vec<&'static str> = Vec::new();
        for finding in findings_at(analysis, source, range) {
            let Some(fix) = &finding.fix else { continue };
            let edit = self.context.workspace_edit(analysis, fix.edits());
            let diagnostics = self.diagnostics_of(finding);
            let title = capitalised(&fix.message);
            self.out.push(json!({ "title": title, "kind": "quickfix", "isPreferred": true, "edit": edit, "diagnostics": diagnostics }));
            if !codes.contains(&finding.code) {
                codes.push(finding.code);
            }
        }
        for code in codes {
            let same = analysis.findings.iter().filter(|finding| finding.code == code).filter_map(|finding| finding.fix.as_ref());
            let count = same.clone().count();
            if count > 1 {
                let edit = self.context.workspace_edit(analysis, edits_of(same));
                let title = format!("Fix all {count} of `{code}` in the workspace");
                self.out.push(json!({ "title": title, "kind": "quickfix", "edit": edit }));
            }
        }
    }

    fn fix_document(&mut self, source: SourceId) {
        let here = |finding: &&Finding| finding.span.as_ref().is_some_and(|span| span.source == source);
        let edits = edits_of(self.analysis.findings.iter().filter(here).filter_map(|finding| finding.fix.as_ref()));
        if !edits.is_empty() {
            let edit = self.context.workspace_edit(self.analysis, edits);
            self.out.push(json!({ "title": "Apply all certain fixes of this file", "kind": "source.fixAll.chancery", "edit": edit }));
        }
    }

    fn grants(&mut self, source: SourceId, range: std::ops::Range<u32>) {
        let analysis = self.analysis;
        for place in analysis.names().references_in(source).filter(|place| place.span.offset <= range.end && range.start <= place.span.end_offset) {
            let Some(grant) = missing_grant(&analysis.compilation, place) else { continue };
            let edit = self.append(source, &grant);
            self.out.push(json!({ "title": "Add the missing ReferenceGrant", "kind": "quickfix", "edit": edit }));
        }
    }

    /// Adds a document at the end of a file.
    fn append(&self, source: SourceId, document: &str) -> Value {
        let text = self.analysis.text(source);
        let line = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let begin = if text.is_empty() || text.ends_with('\n') { "" } else { line };
        let written = format!("{begin}---{line}{}", document.replace('\n', line));
        let positions = self.analysis.positions();
        let span = positions.span(source, chancery_core::text::TextRange::empty(text.len() as u32));
        self.context.workspace_edit(self.analysis, span.map(|span| EditView { replacement: written, span }).iter())
    }

    fn suppressions(&mut self, source: SourceId, range: std::ops::Range<u32>, object: Option<&Object>) {
        let analysis = self.analysis;
        let mut codes: Vec<&str> = Vec::new();
        for finding in findings_at(analysis, source, range) {
            let at = finding.span.as_ref().and_then(|span| object_at(analysis, source, span.offset));
            let Some(object) = at.or(object).filter(|_| !codes.contains(&finding.code) && codes.len() < MOST_SUPPRESSIONS) else { continue };
            codes.push(finding.code);
            if let Some(change) = suppression(&analysis.compilation, &analysis.positions(), object.id, finding.code, REASON) {
                let title = format!("Suppress `{}` here with a reason", finding.code);
                let edit = self.context.workspace_edit(analysis, change.edits());
                let diagnostics = self.diagnostics_of(finding);
                self.out.push(json!({ "title": title, "kind": "quickfix", "edit": edit, "diagnostics": diagnostics }));
            }
        }
    }

    fn test(&mut self, object: &Object) {
        if !self.context.client.creates_files
            || self.analysis.rows().of(object).next().is_none()
            || self.analysis.compilation.nginxes().next().is_some()
        {
            return;
        }
        let title = format!("Add a request test for {} {}", object.key.kind, object.key.name);
        let data = json!({ "uri": self.uri, "test": object.id.index(), "name": object.key.name });
        self.out.push(json!({ "title": title, "kind": "refactor", "data": data }));
    }

    fn conversion(&mut self, object: &Object) {
        if !self.context.client.commands {
            return;
        }
        let conversions = [
            ("Mapping", "httpproxy", "an HTTPProxy"),
            ("HTTPProxy", "gateway", "Gateway API objects"),
            ("Ingress", "gateway", "Gateway API objects"),
        ];
        for (_, what, name) in conversions.into_iter().filter(|(kind, ..)| object.key.kind == *kind) {
            let file = format!("{}/{}", object.key.namespace.as_deref().unwrap_or("default"), object.key.name);
            let uri = virtual_documents::uri_for(self.uri, what, &format!("{}/{file}", object.key.kind));
            let title = format!("Convert to {name}");
            let command = json!({ "title": title, "command": "chancery.openDocument", "arguments": [uri] });
            self.out.push(json!({ "title": title, "kind": "refactor", "command": command }));
        }
    }
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().collect::<String>() + letters.as_str()).unwrap_or_default()
}

/// Answers `codeAction/resolve` with the edit of a request test.
///
/// # Errors
///
/// No request reaches the object.
pub fn resolve(context: &Context, mut action: Value) -> Answer {
    let Some(index) = action["data"]["test"].as_u64().and_then(|index| usize::try_from(index).ok()) else { return Ok(action) };
    let Some(analysis) = context.analysis.as_deref() else { return Ok(action) };
    let id = chancery_core::resource::ObjectId::from_index(index);
    let object = analysis.compilation.objects.get(id).filter(|object| action["data"]["name"] == object.key.name.as_str());
    let object = object.ok_or("The document changed")?;
    let file = action["data"]["uri"].as_str().and_then(path_of).ok_or("The document has no file")?;
    let positions = analysis.positions();
    let (request, _) = sample_for_object(&analysis.compilation, &positions, id).ok_or_else(|| format!("No request reaches {}", object.key.name))?;
    let trials = try_request(&analysis.compilation, &positions, &request, &mut analysis.emitted())?;
    let trial = trials.into_iter().next().ok_or("No gateway runs")?;
    let expected = trial.ending.ok_or("Tests need an Envoy or an Application Gateway")?;
    let mut text = RequestTests::write(&[SavedRequest { request, expected }]);
    if let Some(gateway) = &trial.gateway {
        text = text.replacen("\n  request:", &format!("\n  gateway: {gateway}\n  request:"), 1);
    }
    action["edit"] = add_test(&test_file(context, &file), &text);
    Ok(action)
}

/// The file of tests: the first that `chancery.toml` names, or one next to the input.
fn test_file(context: &Context, input: &Path) -> PathBuf {
    let named = context.settings.tests.iter().find(|pattern| !pattern.contains(['*', '?', '[']));
    match named {
        Some(named) => context.settings.folder().join(named),
        None => input.with_file_name(format!("{}.test.yaml", input.file_stem().map(|stem| stem.to_string_lossy()).unwrap_or_default())),
    }
}

/// An edit that adds tests to a file, which may not exist.
fn add_test(file: &Path, text: &str) -> Value {
    let uri = uri_of(file);
    let document = json!({ "uri": uri, "version": null });
    let insert = |line: usize, text: String| {
        let at = json!({ "line": line, "character": 0 });
        json!({ "textDocument": document, "edits": [{ "range": { "start": at, "end": at }, "newText": text }] })
    };
    match disk::read_to_string(file) {
        Ok(known) if RequestTests::is_one(&known) => {
            let items = text.strip_prefix("tests:\n").unwrap_or(text);
            // The list of the file may be indented.
            let indent = known.lines().skip_while(|line| !line.starts_with("tests:")).skip(1).find(|line| line.trim_start().starts_with('-'));
            let indent = indent.map_or(0, |line| line.len() - line.trim_start().len());
            let own = items.lines().next().map_or(0, |line| line.len() - line.trim_start().len());
            let pad = " ".repeat(indent.saturating_sub(own));
            let items: String = items.lines().map(|line| format!("{pad}{line}\n")).collect();
            let begin = if known.ends_with('\n') { "" } else { "\n" };
            json!({ "documentChanges": [insert(known.split('\n').count().saturating_sub(usize::from(known.ends_with('\n'))), format!("{begin}{items}"))] })
        }
        _ => json!({ "documentChanges": [{ "kind": "create", "uri": uri, "options": { "ignoreIfExists": true } }, insert(0, text.to_string())] }),
    }
}
