//! What differs between two states, and which they may be.
//!
//! What must not be here: how it is found.

use super::{SourceFile, Span};
use serde::{Deserialize, Serialize};

/// What the present state is compared with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Other {
    /// Work like that of the page.
    Work(Work),
    /// A text that a person gave: a dump of a running Envoy, a bootstrap, a snapshot, a link that holds one, or resources.
    Text(String),
}

/// Files, and how to compile them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Work {
    /// The files.
    pub files: Vec<SourceFile>,
    /// The dialect, if the person or an example names one.
    #[serde(default)]
    pub dialect: Option<String>,
    /// Whether it is read as that dialect whatever is written in the files.
    #[serde(default)]
    pub chosen: bool,
    /// Options, as a snapshot has them, or in the words of the command line.
    #[serde(default)]
    pub options: Option<serde_json::Value>,
    /// The gateway that is to be shown, if the person chose one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gateway: Option<String>,
}

/// What differs. The page has types of its own for changes, which read what the core writes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Comparison<C = Vec<Change>, R = Option<Requests>> {
    /// What the present state was compared with, in a few words.
    pub with: String,
    /// Of resources.
    pub resources: C,
    /// Of what Envoy gets.
    pub envoy: C,
    /// Of what becomes of requests; nothing where that is not asked.
    #[serde(default)]
    pub requests: R,
    /// What a running Envoy refused, or is not known of it.
    pub notes: Vec<String>,
}

/// One thing that differs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// `added`, `removed`, `changed`, `renamed` or `moved`.
    pub change: String,
    /// What it is.
    pub kind: String,
    /// Its name, now where both have it.
    pub name: String,
    /// Its name or place before, where that is another.
    pub was: Option<String>,
    /// What more is to be said of that.
    #[serde(default)]
    pub note: Option<String>,
    /// The fields that differ.
    pub fields: Vec<FieldChange>,
    /// What made it before.
    pub before: Vec<From>,
    /// What makes it now.
    pub after: Vec<From>,
}

/// A field that differs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FieldChange {
    /// Its path.
    pub path: String,
    /// Its value before.
    pub before: Option<String>,
    /// Its value now.
    pub after: Option<String>,
    /// What made it before.
    pub before_from: Option<From>,
    /// What makes it now.
    pub after_from: Option<From>,
}

/// Where something comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct From {
    /// The line.
    #[serde(flatten)]
    pub span: Option<Span>,
}

/// Requests that become something else, as `chancery_core::compare::Requests` tells them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Requests {
    /// What changes, and for which requests.
    pub changes: Vec<RequestChange>,
    /// How many requests went through both sides.
    pub compared: usize,
    /// What was not decided, in sentences.
    pub limits: Vec<String>,
}

/// Requests that change in the same way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RequestChange {
    /// Which they are, in words.
    pub requests: String,
    /// What differs.
    pub differences: Vec<Difference>,
    /// One of them.
    pub witness: Witness,
    /// What became of it.
    pub before: Answered,
    /// What becomes of it now.
    pub after: Answered,
}

/// Something that differs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// What.
    pub what: String,
    /// Before.
    pub before: Option<String>,
    /// Now.
    pub after: Option<String>,
    /// What made it before.
    pub before_from: Option<From>,
    /// What makes it now.
    pub after_from: Option<From>,
}

/// What becomes of a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answered {
    /// In words.
    pub told: String,
    /// What makes it so.
    pub origins: Vec<From>,
}

/// A request that changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Witness {
    /// Its method.
    pub method: String,
    /// Its URL.
    pub url: String,
    /// Its headers.
    pub headers: Vec<(String, String)>,
    /// The port that it comes in at now.
    pub port_after: Option<u32>,
    /// Whether the connection is TLS.
    pub tls: bool,
    /// The server's name in the TLS handshake.
    pub sni: Option<String>,
    /// Where it comes from, where that matters.
    pub source: Option<String>,
    /// Whether the client shows a certificate.
    pub client_certificate: bool,
}
