//! The answer to one request to Azure. Does not send requests; see `transport`.

use serde_json::Value;
use std::time::Duration;

/// An answer of Azure.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    pub status: u16,
    pub retry_after: Option<Duration>,
    /// The URL for the state of an operation.
    pub operation: Option<String>,
    /// The URL for the outcome of an operation.
    pub location: Option<String>,
    pub body: Vec<u8>,
}

impl Answer {
    /// Returns the body as JSON, or null if it is not JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}
