//! Holds the open documents. Does not compile them; see `folder`.

use crate::client::Client;
use crate::text::apply;
use crate::uri::path_of;
use lsp_types::TextDocumentContentChangeEvent;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An open document.
#[derive(Clone, Debug)]
pub struct Document {
    pub uri: String,
    /// The file, if it is one.
    pub path: Option<PathBuf>,
    pub version: i64,
    pub text: Arc<str>,
}

/// All open documents, by URI.
#[derive(Clone, Debug, Default)]
pub struct Documents {
    all: BTreeMap<String, Document>,
}

impl Documents {
    pub fn open(&mut self, uri: &str, version: i64, text: &str) {
        let document = Document { uri: uri.into(), path: path_of(uri), version, text: text.into() };
        self.all.insert(uri.into(), document);
    }

    /// Applies changes to an open document. Returns whether it is open.
    pub fn change(&mut self, uri: &str, version: i64, changes: Vec<TextDocumentContentChangeEvent>, client: &Client) -> bool {
        let Some(document) = self.all.get_mut(uri) else { return false };
        document.text = apply(&document.text, changes, client.encoding);
        document.version = version;
        true
    }

    pub fn close(&mut self, uri: &str) {
        self.all.remove(uri);
    }

    #[must_use]
    pub fn get(&self, uri: &str) -> Option<&Document> {
        self.all.get(uri)
    }

    /// The open document of a file.
    #[must_use]
    pub fn of_path(&self, path: &Path) -> Option<&Document> {
        self.all.values().find(|document| document.path.as_deref() == Some(path))
    }

    pub fn iter(&self) -> impl Iterator<Item = &Document> {
        self.all.values()
    }
}
