//! The messages of a discovery stream, in a form that both variants of the protocol share. Does not encode them; see `wire`.

use super::snapshot::Resources;
use chancery_core::backend::envoy::v3::Encoded;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// The variant of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// State of the world.
    Sotw,
    /// Only what changes.
    Delta,
}

/// A request of a client.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The URL of the type.
    pub type_url: String,
    /// The nonce of the response that it answers; empty for none.
    pub nonce: String,
    /// Why it rejects that response.
    pub error: Option<String>,
    /// State of the world: all requested names.
    pub names: Vec<String>,
    /// Delta: names that are requested from now on.
    pub subscribe: Vec<String>,
    /// Delta: names that are no longer requested.
    pub unsubscribe: Vec<String>,
    /// Delta: the versions that the client has already, by name.
    pub initial: BTreeMap<String, String>,
}

/// A response to a client.
#[derive(Clone, Debug)]
pub struct Response {
    /// The URL of the type.
    pub type_url: Arc<str>,
    /// Unique on the stream.
    pub nonce: String,
    /// The version of all resources of the type.
    pub version: String,
    /// Resources.
    pub resources: Arc<[Arc<Encoded>]>,
    /// Delta: names of removed resources.
    pub removed: Vec<Arc<str>>,
    /// How long the client keeps the resources without a heartbeat.
    pub ttl: Option<Duration>,
    /// Whether it is a response of the delta variant.
    pub is_delta: bool,
    /// Whether it only confirms resources: it names them without content, so that the client keeps them.
    pub heartbeat: bool,
    /// The set whose resources these are, if these are all of them.
    pub whole: Option<Arc<Resources>>,
}

/// The answer of a client to a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The URL of the type.
    pub type_url: Arc<str>,
    /// The version that it was sent.
    pub version: String,
    /// The names of the resources in the response, if it was rejected.
    pub names: Vec<Arc<str>>,
    /// The time from the response to the answer.
    pub after: Duration,
    /// Why it was rejected; `None` if it was accepted.
    pub rejected: Option<String>,
}
