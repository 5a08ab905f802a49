//! Holds what the client said at its start: capabilities and settings. Does not answer; see `server`.

use crate::text::Encoding;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// What the client can do.
#[derive(Clone, Debug, Default)]
pub struct Client {
    pub encoding: Encoding,
    /// Whether edits may create files.
    pub creates_files: bool,
    /// Whether completions may have places to fill in.
    pub snippets: bool,
    /// Whether document symbols may be nested.
    pub nested_symbols: bool,
    /// Whether the server may ask to be told of changed files.
    pub watches_files: bool,
    /// Whether the server may ask for settings.
    pub configuration: bool,
    /// Whether the client asks for diagnostics, instead of receiving them.
    pub pulls: bool,
    /// Whether the client asks again for hints, lenses and diagnostics.
    pub refreshes_hints: bool,
    pub refreshes_lenses: bool,
    pub refreshes_diagnostics: bool,
    /// Whether the client carries out the commands of lenses, such as `chancery.tryRequest`.
    pub commands: bool,
    pub settings: ClientSettings,
}

/// The settings of the client, which override `chancery.toml`.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(default, rename_all = "camelCase")]
pub struct ClientSettings {
    /// The configuration language; empty to detect it.
    pub dialect: String,
    /// Options of `chancery compile` by name.
    pub options: BTreeMap<String, Value>,
    /// Patterns of files to leave out.
    pub exclude: Vec<String>,
    /// The severity of findings by code.
    pub severities: BTreeMap<String, String>,
    pub inlay_hints: HintSettings,
    pub code_lens: LensSettings,
    pub yaml_errors: YamlErrors,
}

/// Which hints are shown.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(default, rename_all = "camelCase")]
pub struct HintSettings {
    /// Where a route sends requests, with shares.
    pub upstreams: bool,
    /// The timeout that applies.
    pub timeouts: bool,
    /// The route that matches the requests instead.
    pub shadowed: bool,
    /// How many other objects an object is attached to.
    pub attached: bool,
}

impl Default for HintSettings {
    fn default() -> Self {
        Self { upstreams: true, timeouts: true, shadowed: true, attached: true }
    }
}

/// Whether lenses are shown.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(default, rename_all = "camelCase")]
pub struct LensSettings {
    pub enabled: bool,
}

impl Default for LensSettings {
    fn default() -> Self {
        Self { enabled: true }
    }
}

/// Whether errors are reported that every YAML language server reports too.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(transparent)]
pub struct YamlErrors(pub bool);

impl Default for YamlErrors {
    fn default() -> Self {
        Self(true)
    }
}

/// Reads a nested field.
fn at<'v>(value: &'v Value, path: &str) -> &'v Value {
    path.split('.').fold(value, |value, step| &value[step])
}

impl Client {
    /// Reads the parameters of `initialize`.
    #[must_use]
    pub fn new(params: &Value) -> Self {
        let capabilities = &params["capabilities"];
        let has = |path: &str| at(capabilities, path).as_bool() == Some(true);
        let encodings = at(capabilities, "general.positionEncodings").as_array().cloned().unwrap_or_default();
        let encodings: Vec<String> = encodings.iter().filter_map(Value::as_str).map(String::from).collect();
        let operations = at(capabilities, "workspace.workspaceEdit.resourceOperations").as_array().cloned().unwrap_or_default();
        let options = &params["initializationOptions"];
        let publishes = at(capabilities, "textDocument.publishDiagnostics").is_object();
        let pulls = at(capabilities, "textDocument.diagnostic").is_object();
        Self {
            encoding: Encoding::choose(&encodings),
            creates_files: has("workspace.workspaceEdit.documentChanges") && operations.iter().any(|one| one == "create"),
            snippets: has("textDocument.completion.completionItem.snippetSupport"),
            nested_symbols: has("textDocument.documentSymbol.hierarchicalDocumentSymbolSupport"),
            watches_files: has("workspace.didChangeWatchedFiles.dynamicRegistration"),
            configuration: has("workspace.configuration"),
            // A client that can do both receives them: then all files are covered, not only the open ones.
            pulls: pulls && (!publishes || options["pullDiagnostics"] == true),
            refreshes_hints: has("workspace.inlayHint.refreshSupport"),
            refreshes_lenses: has("workspace.codeLens.refreshSupport"),
            refreshes_diagnostics: has("workspace.diagnostics.refreshSupport"),
            commands: options["commands"] == true,
            settings: ClientSettings::read(&options["settings"]).unwrap_or_default(),
        }
    }
}

impl ClientSettings {
    /// Reads settings; `None` if there are none.
    #[must_use]
    pub fn read(value: &Value) -> Option<Self> {
        if value.is_null() {
            return None;
        }
        serde_json::from_value(value.clone()).ok()
    }
}
