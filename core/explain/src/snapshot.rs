//! Defines a snapshot: inputs, options and versions in one file, which gives the same result wherever it is opened.
//!
//! It is JSON. Its format has its own version; a newer format is refused rather than half understood. Key material is replaced by stand-ins unless
//! the user keeps it. Does not read or write files.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::compilation::{Compilation, Options};
use chancery_base::redact::RedactionMap;
use chancery_base::resource::{Input, Inputs};
use chancery_envoy::simulate::SavedRequest;
use chancery_text::Str;
use serde::{Deserialize, Serialize};

/// The version of the format that is written; this and earlier versions are read.
pub const VERSION: u32 = 1;

/// Everything that a result depends on.
///
/// ```
/// use chancery_base::compilation::Options;
/// use chancery_compile::compile;
/// use chancery_base::resource::Inputs;
/// use chancery_explain::Snapshot;
///
/// let inputs = Inputs::one("quote.yaml", "\
/// apiVersion: getambassador.io/v3alpha1
/// kind: Mapping
/// metadata: {name: quote}
/// spec: {hostname: \"*\", prefix: /quote/, service: quote, timout_ms: 9000}
/// ");
/// let compilation = compile(&inputs, &Options::default(), &[&chancery_ambassador::DIALECT]);
///
/// let written = Snapshot::new(&compilation, &Options::default(), &[], false).write();
/// let read = Snapshot::read(&written).expect("a written snapshot can be read");
/// assert_eq!(read.inputs().inputs[0].name, "quote.yaml");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Snapshot {
    /// The version of the format. It is the first member and identifies a snapshot.
    chancery_snapshot: u32,
    /// The version of Chancery that made it.
    pub made_by: Str,
    /// Whether key material was replaced by stand-ins.
    pub redacted: bool,
    pub options: Options,
    inputs: Vec<SnapshotInput>,
    /// Saved requests and their results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    requests: Vec<SavedRequest>,
}

/// One input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SnapshotInput {
    name: Str,
    text: String,
    /// Bytes that were not UTF-8: their place in the text, and in the bytes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    not_utf8: Vec<(u32, usize)>,
    /// Whether it came from an API server.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    stored: bool,
}

/// Describes the place of a JSON error without quoting it, since it may be secret.
fn place_of(error: &serde_json::Error) -> String {
    let what = match error.classify() {
        serde_json::error::Category::Eof => "it ends too early",
        serde_json::error::Category::Syntax => "this is not JSON",
        _ => "this has no place in it",
    };
    format!("{what}, at line {} column {}", error.line(), error.column())
}

/// Returns the inputs with stand-ins of the same form in place of key material.
pub fn with_stand_ins(inputs: &Inputs) -> Inputs {
    let one = |input: &Input| Input { name: input.name.clone(), text: RedactionMap::new(&input.text).with_stand_ins(&input.text).into() };
    Inputs { inputs: inputs.inputs.iter().map(one).collect(), stored: inputs.stored.clone() }
}

fn only_dialect(compilation: &Compilation) -> Option<Str> {
    match &compilation.sides[..] {
        [only] => Some(Str::new_static(only.dialect.name)),
        _ => None,
    }
}

impl Snapshot {
    /// Creates the snapshot of a compilation and its options. `not_utf8` has the places of each input that were not UTF-8, from
    /// [`Input::from_bytes`].
    #[must_use]
    pub fn new(compilation: &Compilation, options: &Options, not_utf8: &[Vec<(u32, usize)>], with_secrets: bool) -> Self {
        let texts = if with_secrets { compilation.inputs.clone() } else { with_stand_ins(&compilation.inputs) };
        let given = if with_secrets { options.clone() } else { options.with_stand_ins() };
        let stored = texts.stored;
        let text = |(at, input): (usize, Input)| SnapshotInput {
            stored: stored.contains(&input.name),
            name: input.name,
            text: input.text.to_string(),
            not_utf8: not_utf8.get(at).cloned().unwrap_or_default(),
        };
        Self {
            chancery_snapshot: VERSION,
            made_by: Str::new_static(env!("CARGO_PKG_VERSION")),
            redacted: !with_secrets,
            // The dialect was detected; a newer version might detect another. With several dialects, all are kept.
            options: match options.dialect.clone().or_else(|| only_dialect(compilation)) {
                Some(dialect) => given.in_dialect(dialect),
                None => given,
            },
            inputs: texts.inputs.into_iter().enumerate().map(text).collect(),
            requests: Vec::new(),
        }
    }

    /// Adds requests; their credentials are left out if key material is.
    #[must_use]
    pub fn with_requests(mut self, requests: &[SavedRequest]) -> Self {
        self.requests = requests.to_vec();
        if self.redacted {
            self.requests.iter_mut().for_each(|saved| saved.request = saved.request.without_credentials());
        }
        self
    }

    /// Whether a text is a snapshot, of any version.
    #[must_use]
    pub fn is_one(text: &str) -> bool {
        text.trim_start().strip_prefix('{').is_some_and(|rest| rest.trim_start().starts_with("\"chancery_snapshot\""))
    }

    /// Reads a snapshot.
    ///
    /// # Errors
    ///
    /// Why it cannot be read, as the end of a sentence that names it.
    pub fn read(text: &str) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Head {
            chancery_snapshot: u32,
            #[serde(default)]
            made_by: Str,
        }
        let head: Head = serde_json::from_str(text).map_err(|error| format!("is no whole snapshot: {}", place_of(&error)))?;
        if head.chancery_snapshot > VERSION {
            let by = if head.made_by.is_empty() { String::new() } else { format!(" by Chancery {}", head.made_by) };
            let version = head.chancery_snapshot;
            return Err(format!(
                "was made{by} in version {version} of the format, and this one reads up to {VERSION}; open it with a newer Chancery"
            ));
        }
        serde_json::from_str(text).map_err(|error| format!("is no snapshot as this version writes them: {}", place_of(&error)))
    }

    /// Writes indented JSON, for readers.
    #[must_use]
    pub fn write(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Writes JSON without spaces.
    #[must_use]
    pub(super) fn write_small(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    #[must_use]
    pub fn inputs(&self) -> Inputs {
        let stored = self.inputs.iter().filter(|text| text.stored).map(|text| text.name.clone()).collect::<BTreeSet<_>>().into();
        Inputs { inputs: self.inputs.iter().map(|text| Input { name: text.name.clone(), text: text.text.as_str().into() }).collect(), stored }
    }

    /// Returns the places of each text that were not UTF-8.
    pub fn not_utf8(&self) -> impl Iterator<Item = &[(u32, usize)]> {
        self.inputs.iter().map(|text| text.not_utf8.as_slice())
    }
    /// Returns saved requests and their results.
    #[must_use]
    pub fn requests(&self) -> &[SavedRequest] {
        &self.requests
    }
}
