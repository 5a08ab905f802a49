//! An Application Gateway in Azure: it is read, compared with the inputs, and changed if the user allows that.
//!
//! | module | what it holds |
//! |---|---|
//! | [`id`] | which gateway |
//! | [`credentials`] | who asks: tokens, and where they come from |
//! | [`transport`] | one request by HTTP, and its answer |
//! | [`trouble`] | what went wrong, by what can be done about it |
//! | [`operation`] | operations that take long, as a state machine without a clock |
//! | [`metrics`] | what is counted of all this |
//! | [`client`] | the requests of Azure Resource Manager (ARM) that are needed |
//! | [`source`] | the gateway as it is, as a source |
//! | [`plan`] | what would be sent, and how it differs from the gateway as it is |
//! | [`certificates`] | certificates of Secrets, in the form that ARM takes |
//! | [`apply`] | whether to send it, and when again: a state machine, and what carries it out |
//!
//! Nothing is sent to Azure unless [`apply`] runs. No token, secret or key appears in an error, an event or a log line.

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

/// How long to wait for what.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Between two questions about an operation, where ARM does not say.
    pub poll: Duration,
    /// Before a gateway that could not be read is read again (AGIC: 10 s).
    pub reread: Duration,
    /// After a change that failed (AGIC: 5 s), at first; it doubles, up to a minute.
    pub after_failure: Duration,
    /// The least time between two changes (AGIC: 1 s).
    pub spacing: Duration,
    /// How long an operation may take.
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
