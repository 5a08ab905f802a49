//! Sorts failures of Azure by their remedy. Messages contain no tokens or secrets: the code that creates a failure
//! removes them.

use super::answer::Answer;
use serde_json::Value;
use std::fmt;
use std::time::Duration;

/// The kind of a failure, by its remedy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Another writer changed the gateway meanwhile, so it must be read again (412).
    Changed,
    /// Another operation is under way (409).
    Busy,
    /// Azure received too many requests (429).
    Throttled,
    /// The credentials are wrong or insufficient (401, 403).
    Denied,
    /// The gateway does not exist (404).
    Missing,
    /// Azure refuses the request.
    Refused,
    /// Azure does not answer, or cannot answer now.
    Unavailable,
}

/// A failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    pub kind: Kind,
    /// One sentence.
    pub message: String,
    /// The pause that Azure requests.
    pub retry_after: Option<Duration>,
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// The longest error message, in characters.
const LONGEST: usize = 1000;

impl Trouble {
    /// Creates a failure of this kind.
    #[must_use]
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), retry_after: None }
    }

    /// Interprets the answer to a request.
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

/// Returns the code and the message of an error body, and the first of its details.
#[must_use]
pub fn words(body: &Value) -> Option<String> {
    // Azure Resource Manager has `error.code`; its login has `error` and `error_description`.
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
