//! Lists the requests: the capabilities, and the function that answers each. Does not run them; see `server`.

use crate::client::Client;
use crate::context::{Answer, Context};
use crate::{actions, completion, diagnostics, hierarchy, hints, hover, lenses, navigation, own, structure, symbols, virtual_documents};
use serde_json::{Value, json};

/// Answers a request.
type Handler = fn(&Context, Value) -> Answer;

/// Requests by method, whether an edit of their document makes them useless, and their handlers.
const HANDLERS: &[(&str, bool, Handler)] = &[
    ("textDocument/hover", true, hover::hover),
    ("textDocument/definition", true, navigation::definition),
    ("textDocument/typeDefinition", true, navigation::type_definition),
    ("textDocument/references", true, navigation::references),
    ("textDocument/documentHighlight", true, navigation::highlights),
    ("textDocument/prepareRename", true, navigation::prepare_rename),
    ("textDocument/rename", true, navigation::rename),
    ("textDocument/documentSymbol", true, symbols::of_document),
    ("workspace/symbol", false, symbols::of_workspace),
    ("textDocument/completion", false, completion::complete),
    ("textDocument/codeAction", true, actions::actions),
    ("codeAction/resolve", false, actions::resolve),
    ("textDocument/inlayHint", true, hints::hints),
    ("textDocument/codeLens", true, lenses::lenses),
    ("textDocument/foldingRange", true, structure::folding),
    ("textDocument/selectionRange", true, structure::selection),
    ("textDocument/documentLink", true, structure::links),
    ("textDocument/prepareCallHierarchy", true, hierarchy::prepare),
    ("callHierarchy/incomingCalls", false, hierarchy::incoming),
    ("callHierarchy/outgoingCalls", false, hierarchy::outgoing),
    ("textDocument/diagnostic", true, diagnostics::of_document),
    ("workspace/diagnostic", false, diagnostics::of_workspace),
    ("workspace/textDocumentContent", false, virtual_documents::content),
    ("chancery/content", false, virtual_documents::content),
    ("chancery/route", false, own::route),
    ("chancery/graph", false, own::graph),
    ("chancery/explain", false, own::explain),
    ("chancery/compile", false, own::compile),
    ("chancery/diff", false, own::diff),
    ("chancery/files", false, own::files),
];

/// Whether a method exists.
#[must_use]
pub fn is_known(method: &str) -> bool {
    HANDLERS.iter().any(|(known, ..)| *known == method)
}

/// Whether an edit of the document makes the request useless.
#[must_use]
pub fn is_about_text(method: &str) -> bool {
    HANDLERS.iter().any(|(known, is_about_text, _)| *known == method && *is_about_text)
}

/// Whether the request may read an earlier compile.
#[must_use]
pub fn may_be_old(method: &str) -> bool {
    method == "textDocument/completion"
}

/// Answers a request.
///
/// # Errors
///
/// Why there is no answer.
pub fn answer(context: &Context, method: &str, params: Value) -> Answer {
    match HANDLERS.iter().find(|(known, ..)| *known == method) {
        Some((.., handler)) => handler(context, params),
        None => Err(format!("There is no request `{method}`").into()),
    }
}

/// The document that a request is about.
#[must_use]
pub fn uri_of(params: &Value) -> Option<String> {
    let places = [&params["textDocument"]["uri"], &params["item"]["uri"], &params["data"]["uri"], &params["uri"]];
    let uri = places.into_iter().find_map(Value::as_str)?;
    // A virtual document belongs to the folder of its file.
    Some(virtual_documents::file_of(uri).unwrap_or_else(|| uri.to_string()))
}

/// What the server can do for a client.
#[must_use]
pub fn capabilities(client: &Client) -> Value {
    let mut all = json!({
        "positionEncoding": client.encoding.name(),
        "textDocumentSync": { "openClose": true, "change": 2, "save": { "includeText": false } },
        "hoverProvider": true,
        "definitionProvider": true,
        "typeDefinitionProvider": true,
        "referencesProvider": true,
        "documentHighlightProvider": true,
        "renameProvider": { "prepareProvider": true },
        "documentSymbolProvider": true,
        "workspaceSymbolProvider": true,
        "completionProvider": { "triggerCharacters": [":", " ", "-", "/", "."] },
        "codeActionProvider": { "codeActionKinds": ["quickfix", "refactor", "source.fixAll.chancery"], "resolveProvider": true },
        "inlayHintProvider": true,
        "codeLensProvider": { "resolveProvider": false },
        "foldingRangeProvider": true,
        "selectionRangeProvider": true,
        "documentLinkProvider": { "resolveProvider": false },
        "callHierarchyProvider": true,
        "workspace": {
            "workspaceFolders": { "supported": true, "changeNotifications": true },
            "textDocumentContent": { "schemes": [virtual_documents::SCHEME] },
        },
    });
    if client.pulls {
        all["diagnosticProvider"] = json!({ "identifier": "chancery", "interFileDependencies": true, "workspaceDiagnostics": true });
    }
    all
}
