//! Follows an Application Gateway in Azure: reads it, compares it with the inputs, and changes it if the user allows
//! that.
//!
//! | module | what it holds |
//! |---|---|
//! | [`id`] | the id of the gateway |
//! | [`credentials`] | tokens, and where they come from |
//! | [`transport`] | one request by HTTP, and its answer |
//! | [`trouble`] | failures, sorted by their remedy |
//! | [`operation`] | long-running operations, as a state machine without a clock |
//! | [`metrics`] | counters for `/metrics` |
//! | [`client`] | the required requests of Azure Resource Manager (ARM) |
//! | [`source`] | the current gateway, as a source |
//! | [`plan`] | the document for Azure, and its differences from the current gateway |
//! | [`certificates`] | certificates of Secrets, in the form that ARM accepts |
//! | [`apply`] | decides whether and when to send the document, and sends it |
//!
//! Only [`apply`] sends changes to Azure. No token, secret or key appears in an error, an event or a log line.

pub mod answer;
pub mod apply;
pub mod certificates;
pub mod client;
pub mod credentials;
pub mod id;
pub mod metrics;
pub mod operation;
pub mod plan;
pub mod source;
pub mod transport;
pub mod trouble;

use std::time::Duration;

/// Pauses and time limits.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// The pause between two requests about an operation, if ARM names none.
    pub poll: Duration,
    /// The pause before an unreadable gateway is read again (AGIC: 10 s).
    pub reread: Duration,
    /// The first pause after a failed change (AGIC: 5 s). It doubles, up to a minute.
    pub after_failure: Duration,
    /// The shortest time between two changes (AGIC: 1 s).
    pub spacing: Duration,
    /// The longest duration of an operation.
    pub patience: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            poll: Duration::from_secs(10),
            reread: Duration::from_secs(10),
            after_failure: Duration::from_secs(5),
            spacing: Duration::from_secs(1),
            patience: Duration::from_secs(60 * 60),
        }
    }
}
