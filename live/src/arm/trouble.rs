//! Sorts failures of Azure by their remedy. Messages have no tokens or secrets: whoever creates a failure removes them.

use super::transport::Answer;
use serde_json::Value;
use std::fmt;
use std::time::Duration;

/// What can be done about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Somebody changed the gateway meanwhile: it is to be read again (412).
    Changed,
    /// Another operation is under way (409).
    Busy,
    /// There were too many requests (429).
    Throttled,
    /// The credentials are wrong, or do not suffice (401, 403).
    Denied,
    /// There is no such gateway (404).
    Missing,
    /// Azure does not take what was sent.
    Refused,
    /// Azure does not answer, or cannot for now.
    Unavailable,
}

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// What can be done about it.
    pub kind: Kind,
    /// In one sentence.
    pub message: String,
    /// How long Azure wants us to wait.
    pub retry_after: Option<Duration>,
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// The longest text of an error that is passed on.
const LONGEST: usize = 1000;

impl Trouble {
    /// Of a kind.
    #[must_use]
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), retry_after: None }
    }

    /// By the answer to a request.
    #[must_use]
    pub fn of(what: &str, answer: &Answer) -> Self {
        let kind = match answer.status {
            401 | 403 => Kind::Denied,
            404 => Kind::Missing,
            409 => Kind::Busy,
            412 => Kind::Changed,
            429 => Kind::Throttled,
            500.. => Kind::Unavailable,
            _ => Kind::Refused,
        };
        let said = words(&answer.json()).map(|words| format!(": {words}")).unwrap_or_default();
        Self { kind, message: format!("{what}: Azure answers {}{said}", answer.status), retry_after: answer.retry_after }
    }
}

/// What a body says of an error: its code and its message, and the first of its details.
#[must_use]
pub fn words(body: &Value) -> Option<String> {
    // Azure Resource Manager has `error.code`, its login has `error` and `error_description`.
    let (code, message) = match &body["error"] {
        Value::Object(error) => (error.get("code")?.as_str()?, error.get("message").and_then(Value::as_str).unwrap_or_default()),
        Value::String(code) => (code.as_str(), body["error_description"].as_str().unwrap_or_default()),
        _ => return None,
    };
    let detail = body["error"]["details"][0]["message"].as_str().filter(|detail| *detail != message);
    let detail = detail.map(|detail| format!(" ({detail})")).unwrap_or_default();
    let text = format!("{code}: {message}{detail}").replace(['\r', '\n'], " ");
    Some(match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}\u{2026}", &text[..at]),
        None => text,
    })
}
