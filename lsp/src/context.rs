//! Gives a request what it needs: the compile of its folder, its place in the input, and conversions to the client's terms.
//!
//! Does not answer; see the modules named after requests.

use crate::analysis::Analysis;
use crate::client::Client;
use crate::documents::Documents;
use crate::uri::{path_of, uri_of};
use chancery_core::explain::{EditView, Span};
use chancery_core::resource::SourceId;
use chancery_workspace::Settings;
use lsp_types::{Position, Range};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A request that cannot be answered, as one sentence.
#[derive(Debug)]
pub struct Refused(pub String);

impl<T: Into<String>> From<T> for Refused {
    fn from(text: T) -> Self {
        Refused(text.into())
    }
}

/// The answer of a request.
pub type Answer = Result<Value, Refused>;

/// What a request reads. It does not change while the request is answered.
#[derive(Clone)]
pub struct Context {
    pub client: Arc<Client>,
    /// The compile of the document's folder, or of the first folder.
    pub analysis: Option<Arc<Analysis>>,
    /// The compiles of all folders.
    pub all: Vec<Arc<Analysis>>,
    pub documents: Arc<Documents>,
    /// The settings of the document's folder.
    pub settings: Arc<Settings>,
    /// Whether the document is a template of a Helm chart.
    pub is_template: bool,
}

/// A place in a document, as requests name it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AtPosition {
    pub text_document: DocumentId,
    pub position: Position,
}

#[derive(Debug, Deserialize)]
pub struct DocumentId {
    pub uri: String,
}

/// A place in the input.
pub struct Spot<'c> {
    pub analysis: &'c Analysis,
    pub source: SourceId,
    pub offset: u32,
}

/// Reads the parameters of a request.
pub fn parameters<T: for<'de> Deserialize<'de>>(params: Value) -> Result<T, Refused> {
    serde_json::from_value(params).map_err(|error| Refused(format!("The parameters are invalid: {error}")))
}

impl Context {
    /// The compile and the input of a document.
    #[must_use]
    pub fn source(&self, uri: &str) -> Option<(&Analysis, SourceId)> {
        let analysis = self.analysis.as_deref()?;
        Some((analysis, analysis.source(&path_of(uri)?)?))
    }

    /// The place of a position.
    #[must_use]
    pub fn spot(&self, at: &AtPosition) -> Option<Spot<'_>> {
        let (analysis, source) = self.source(&at.text_document.uri)?;
        let offset = analysis.lines(source)?.offset(analysis.text(source), at.position, self.client.encoding);
        Some(Spot { analysis, source, offset: offset as u32 })
    }

    /// A range of the compiled text.
    #[must_use]
    pub fn range(&self, analysis: &Analysis, span: &Span) -> Range {
        analysis.range(span, self.client.encoding)
    }

    /// The location of a place.
    #[must_use]
    pub fn location(&self, analysis: &Analysis, span: &Span) -> Option<Value> {
        Some(json!({ "uri": uri_of(analysis.path(span.source)?), "range": self.range(analysis, span) }))
    }

    /// A Markdown link to a place, such as `gateway.yaml:3`.
    #[must_use]
    pub fn link(&self, analysis: &Analysis, span: &Span) -> String {
        let shown = format!("{}:{}", span.file, span.line);
        match analysis.path(span.source) {
            Some(path) => format!("[{}]({}#L{})", escaped(&shown), uri_of(path), span.line),
            None => escaped(&shown),
        }
    }

    /// An edit of the workspace.
    #[must_use]
    pub fn workspace_edit<'e>(&self, analysis: &Analysis, edits: impl IntoIterator<Item = &'e EditView>) -> Value {
        let mut by_path: BTreeMap<PathBuf, Vec<Value>> = BTreeMap::new();
        for edit in edits {
            let Some(path) = analysis.path(edit.span.source) else { continue };
            let one = json!({ "range": self.range(analysis, &edit.span), "newText": edit.replacement });
            by_path.entry(path.to_owned()).or_default().push(one);
        }
        if self.client.creates_files {
            let changes = by_path.into_iter().map(|(path, edits)| json!({ "textDocument": self.versioned(&path), "edits": edits }));
            return json!({ "documentChanges": changes.collect::<Vec<_>>() });
        }
        let changes: Map<String, Value> = by_path.into_iter().map(|(path, edits)| (uri_of(&path), edits.into())).collect();
        json!({ "changes": changes })
    }

    /// A document with its version, if it is open.
    #[must_use]
    pub fn versioned(&self, path: &Path) -> Value {
        let open = self.documents.of_path(path);
        let uri = open.map_or_else(|| uri_of(path), |document| document.uri.clone());
        json!({ "uri": uri, "version": open.map(|document| document.version) })
    }
}

/// Escapes text for Markdown.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '|' | '!' => out.extend(['\\', c]),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// Writes text as code in Markdown, whatever it contains.
#[must_use]
pub fn code(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
}
