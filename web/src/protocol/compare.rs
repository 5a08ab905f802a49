//! The result of comparing two states.

use super::{SourceFile, Span};
use serde::{Deserialize, Serialize};

/// The state to compare the current work with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Other {
    Work(Work),
    /// A pasted text: the dump of a running Envoy, a bootstrap, a snapshot, a link to a snapshot, or resources.
    Text(String),
}

/// Files and how to compile them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Work {
    pub files: Vec<SourceFile>,
    /// The dialect, if the user or an example chose one.
    #[serde(default)]
    pub dialect: Option<String>,
    /// Whether the user chose the dialect, so that detection does not apply.
    #[serde(default)]
    pub chosen: bool,
    /// The options of a snapshot, or a string of command line options.
    #[serde(default)]
    pub options: Option<serde_json::Value>,
    /// The gateway to show, if the user chose one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gateway: Option<String>,
}

/// The differences. The page has its own types for changes, which read the core's JSON.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Comparison<C = Vec<Change>, R = Option<Requests>> {
    /// A short name of the other state.
    pub with: String,
    /// Changed resources.
    pub resources: C,
    /// Changed parts of Envoy's configuration.
    pub envoy: C,
    /// Changed results of requests. Missing if they were not compared.
    #[serde(default)]
    pub requests: R,
    /// Resources that a running Envoy rejected, and unknown facts about that Envoy.
    pub notes: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// `added`, `removed`, `changed`, `renamed` or `moved`.
    pub change: String,
    /// The kind of the changed part.
    pub kind: String,
    /// The name, after the change if both states have the part.
    pub name: String,
    /// The earlier name or place, if it differs.
    pub was: Option<String>,
    /// An explanation of the change.
    #[serde(default)]
    pub note: Option<String>,
    pub fields: Vec<FieldChange>,
    /// The lines that produced it before.
    pub before: Vec<From>,
    /// The lines that produce it now.
    pub after: Vec<From>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FieldChange {
    pub path: String,
    pub before: Option<String>,
    pub after: Option<String>,
    /// The line that produced the value before.
    pub before_from: Option<From>,
    /// The line that produces the value now.
    pub after_from: Option<From>,
}

/// The source of a value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct From {
    #[serde(flatten)]
    pub span: Option<Span>,
}

/// Requests with a different result, as `chancery_core::compare::Requests` writes them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Requests {
    pub changes: Vec<RequestChange>,
    /// How many requests were simulated on both sides.
    pub compared: usize,
    /// Cases that the comparison does not decide, one sentence each.
    pub limits: Vec<String>,
}

/// Requests that change in the same way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RequestChange {
    /// A description of the requests.
    pub requests: String,
    pub differences: Vec<Difference>,
    /// An example request.
    pub witness: Witness,
    /// The result before.
    pub before: Answered,
    /// The result now.
    pub after: Answered,
}

/// One difference of the results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// The differing property.
    pub what: String,
    pub before: Option<String>,
    pub after: Option<String>,
    /// The line that produced it before.
    pub before_from: Option<From>,
    /// The line that produces it now.
    pub after_from: Option<From>,
}

/// The result of a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answered {
    /// The result in words.
    pub summary: String,
    /// The lines that cause it.
    pub origins: Vec<From>,
}

/// A request whose result changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Witness {
    pub method: String,
    pub url: String,
    pub headers: Vec<(String, String)>,
    /// The listener's port now.
    pub port_after: Option<u32>,
    pub tls: bool,
    /// The server name in the TLS handshake.
    pub sni: Option<String>,
    /// The client's address, if it matters.
    pub source: Option<String>,
    /// Whether the client sends a certificate.
    pub client_certificate: bool,
}
