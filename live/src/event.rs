//! Defines events, as JSON objects that other programs read, one per line; and the timeline that keeps them.
//!
//! The form of each event is a contract.

use crate::lock;
use chancery_core::redact::Redactor;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::sync::broadcast;

/// The most events of the timeline.
const KEPT: usize = 2000;

/// A server of `chancery serve`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Server {
    /// For Envoys.
    Xds,
    /// For the page, the API and metrics.
    Diagnostics,
    /// Snapshots of the inputs.
    Snapshots,
    /// Snapshots without key material.
    PublicSnapshots,
    /// Readiness checks.
    Ready,
    /// The webhook that reviews objects.
    Admission,
}

impl Server {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Server::Xds => "xds",
            Server::Diagnostics => "diagnostics",
            Server::Snapshots => "snapshots",
            Server::PublicSnapshots => "public-snapshots",
            Server::Ready => "ready",
            Server::Admission => "admission",
        }
    }
}

/// The state of a source, or of a kind of resources in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SourceState {
    /// The source has reported everything that it holds.
    Synced,
    /// The source has nothing of this kind: its CRD is not installed, or the folder does not exist.
    Missing,
    /// The folder exists and holds no resources.
    Empty,
    /// Permissions are missing.
    Forbidden,
    /// The source cannot be read now.
    Error,
}

impl SourceState {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            SourceState::Synced => "synced",
            SourceState::Missing => "missing",
            SourceState::Empty => "empty",
            SourceState::Forbidden => "forbidden",
            SourceState::Error => "error",
        }
    }
}

/// Whether an Envoy is connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EnvoyState {
    /// Its first stream was opened.
    Connected,
    /// Its last stream was closed.
    Gone,
}

/// A place in an input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The name of the input.
    pub file: String,
    /// Its line, from 1.
    pub line: u32,
    /// Its column, from 1.
    pub column: u32,
    /// The resource, as `Mapping/quote in default`.
    pub object: String,
    /// Its field, as `spec.timeout_ms`; empty for the whole resource.
    pub field: String,
}

/// Why places are blamed for a rejection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// These fields changed since the last accepted version.
    Changed,
    /// The message of Envoy names what these fields made.
    Named,
    /// These places made the resource. Nothing more is known.
    Made,
}

impl Basis {
    /// Says why, after a place or before a list of places.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Basis::Changed => "changed since the last accepted version",
            Basis::Named => "named by the message of Envoy",
            Basis::Made => "made the resource",
        }
    }
}

/// A finding that a build added or removed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FindingLine {
    pub code: String,
    pub severity: Cow<'static, str>,
    pub message: String,
    /// The input; empty for none.
    pub file: String,
    /// Its line, from 1; 0 for none.
    pub line: u32,
}

/// A part of an Application Gateway that differs from the wanted configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedPart {
    /// `added`, `changed` or `removed`.
    pub change: Cow<'static, str>,
    pub kind: String,
    pub name: String,
    /// Describes its owner.
    pub owner: String,
    /// Describes the fields that differ.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<String>,
    /// The places that make it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<Place>,
}

/// An event.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// A server accepts connections.
    Listening {
        /// The server.
        server: Server,
        address: String,
    },
    /// The state of a source, or of a kind of resources in it, changed.
    Source {
        /// The kind, or the source's name.
        kind: String,
        state: SourceState,
        /// Details for the user.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        detail: Option<String>,
        /// The source that it belongs to.
        source: String,
    },
    /// The inputs were compiled.
    Build {
        /// A hash of the resources of all gateways.
        version: String,
        /// How long it took.
        took_ms: u64,
        /// The number of inputs.
        inputs: usize,
        /// The number of resources that changed, by list.
        changed: BTreeMap<String, usize>,
        /// The number of errors.
        errors: usize,
        /// The number of changes of inputs that it contains.
        changes: u64,
        /// Names of the inputs that were edited, at most 100.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        edited: Vec<String>,
        /// The number of new findings.
        #[serde(default)]
        found_count: usize,
        /// The number of findings that are fixed.
        #[serde(default, alias = "mended_count")]
        fixed_count: usize,
        /// New findings, at most 100.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        found: Vec<FindingLine>,
        /// Findings that are fixed, at most 100.
        #[serde(default, alias = "mended", skip_serializing_if = "Vec::is_empty")]
        fixed: Vec<FindingLine>,
        /// Names of the resources that changed, by list.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        resources: BTreeMap<String, Vec<String>>,
        /// Describes the requests that have another result than before.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        requests: Vec<String>,
    },
    /// An Envoy connected or left.
    Envoy {
        /// Its node id.
        id: String,
        /// Whether it is connected.
        state: EnvoyState,
        /// Its gateway, if it has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        gateway: Option<String>,
    },
    /// An Envoy without a gateway connected. It gets no resources.
    UnknownNode {
        /// Its node id.
        id: String,
        /// Its `node.cluster`.
        cluster: String,
        /// Says which gateways exist.
        detail: String,
    },
    /// An Envoy accepted a response.
    Accepted {
        /// Its node id.
        id: String,
        /// The URL of the type.
        r#type: String,
        /// The version of the type's resources.
        version: String,
        /// Milliseconds since the response was sent.
        after_ms: u64,
        /// Its gateway.
        gateway: String,
    },
    /// An Envoy rejected a response, and keeps its resources.
    Rejected {
        /// Its node id.
        id: String,
        /// The URL of the type.
        r#type: String,
        /// The resource that the message blames.
        resource: String,
        /// Envoy's message.
        message: String,
        /// Why the places are blamed.
        basis: Basis,
        /// The places that caused the rejection, or made the resource.
        places: Vec<Place>,
        /// Its gateway.
        gateway: String,
        /// The version that it was sent.
        version: String,
    },
    /// The Envoy that tries a change rejects it, so the others keep their resources.
    Held {
        /// The gateway.
        gateway: String,
        /// The version that the other Envoys do not get.
        version: String,
    },
    /// The Envoys of a gateway lose all listeners at once, and accept no more requests.
    Emptied {
        /// The gateway.
        gateway: String,
        /// The number of listeners that it had.
        listeners: usize,
    },
    /// A resource is not sent, because Envoy would reject it or because it cannot be encoded.
    Withheld {
        /// The URL of the type.
        r#type: String,
        /// The resource.
        resource: String,
        /// Says why, as a sentence after "because".
        message: String,
        /// The places that made it.
        places: Vec<Place>,
        /// Its gateway.
        gateway: String,
    },
    /// Reports how an Application Gateway differs from the wanted configuration. Nothing is sent.
    Planned {
        /// The gateway.
        gateway: String,
        /// A hash of the wanted configuration.
        version: String,
        /// Whether the present gateway is known. Otherwise every wanted part is listed.
        compared: bool,
        /// Parts that are added.
        added: usize,
        /// Parts that are changed.
        changed: usize,
        /// Parts that are removed.
        removed: usize,
        /// Parts that stay unchanged because others own them.
        kept: usize,
        /// The parts, at most 100.
        parts: Vec<PlannedPart>,
    },
    /// An Application Gateway is read from Azure, and no input configures it.
    Unplanned {
        /// The gateway.
        gateway: String,
        /// Says what that means, and what an input needs.
        message: String,
    },
    /// An Application Gateway was changed.
    Applied {
        /// The gateway.
        gateway: String,
        /// A hash of its configuration now.
        version: String,
        /// How long Azure took.
        took_ms: u64,
        /// The number of parts that were added, changed or removed.
        parts: usize,
    },
    /// An Application Gateway could not be changed. It is tried again.
    ApplyFailed {
        /// The gateway.
        gateway: String,
        /// Says why.
        message: String,
        /// Milliseconds until the next attempt.
        retry_ms: u64,
    },
    /// An Application Gateway is not changed until the user allows it.
    ApplyHeld {
        /// The gateway.
        gateway: String,
        /// Says why, and how to allow it.
        message: String,
    },
}

impl Event {
    /// Removes credentials. Names of objects and files stay.
    fn scrub(&mut self, redactor: &Redactor) {
        let scrub = |text: &mut String| {
            if let Cow::Owned(shown) = redactor.scrub(text) {
                *text = shown;
            }
        };
        match self {
            Event::Build { found, fixed, requests, .. } => {
                found.iter_mut().chain(fixed).for_each(|finding| scrub(&mut finding.message));
                requests.iter_mut().for_each(scrub);
            }
            Event::Rejected { message, .. } | Event::Withheld { message, .. } => scrub(message),
            Event::ApplyFailed { message, .. } | Event::ApplyHeld { message, .. } => scrub(message),
            Event::Planned { parts, .. } => parts.iter_mut().flat_map(|part| &mut part.fields).for_each(scrub),
            Event::Source { detail, .. } => detail.iter_mut().for_each(scrub),
            Event::UnknownNode { .. }
            | Event::Listening { .. }
            | Event::Envoy { .. }
            | Event::Accepted { .. }
            | Event::Held { .. }
            | Event::Emptied { .. } => {}
            Event::Applied { .. } | Event::Unplanned { .. } => {}
        }
    }
}

/// An event with its time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Dated {
    #[serde(flatten)]
    pub event: Event,
    /// Milliseconds since 1970.
    pub at_ms: u64,
}

/// Publishes events to listeners, and keeps them in the timeline.
#[derive(Clone, Debug)]
pub struct Events {
    kept: Arc<Mutex<VecDeque<Dated>>>,
    out: broadcast::Sender<Dated>,
    /// The credentials of the present inputs, and of those one build before.
    redactor: Arc<Mutex<[Redactor; 2]>>,
}

impl Default for Events {
    fn default() -> Self {
        Self { kept: Arc::default(), out: broadcast::channel(1024).0, redactor: Arc::default() }
    }
}

impl Events {
    /// Sets the key material and credentials of the present inputs, which no event may have.
    pub fn hold_back(&self, values: Redactor) {
        let mut redactor = lock(&self.redactor);
        redactor.rotate_right(1);
        redactor[0] = values;
    }

    /// Publishes an event without credentials.
    pub fn publish(&self, mut event: Event) {
        lock(&self.redactor).iter().for_each(|values| event.scrub(values));
        let at_ms = SystemTime::now().duration_since(UNIX_EPOCH).map(|since| since.as_millis() as u64).unwrap_or_default();
        let dated = Dated { event, at_ms };
        let mut kept = lock(&self.kept);
        if kept.len() >= KEPT {
            kept.pop_front();
        }
        kept.push_back(dated.clone());
        // There may be no listeners. Sent under the lock, so that all listeners get events in one order.
        let _ = self.out.send(dated);
    }

    /// Returns a text without credentials.
    #[must_use]
    pub fn scrubbed(&self, text: &str) -> String {
        lock(&self.redactor).iter().fold(text.to_owned(), |text, values| values.scrub(&text).into_owned())
    }

    /// Returns all events from now on. A slow listener loses the oldest.
    #[must_use]
    pub fn listen(&self) -> broadcast::Receiver<Dated> {
        self.out.subscribe()
    }

    /// Returns the timeline, the oldest event first, and all later events. No event is missing or in both.
    #[must_use]
    pub fn follow(&self) -> (Vec<Dated>, broadcast::Receiver<Dated>) {
        let kept = lock(&self.kept);
        (kept.iter().cloned().collect(), self.out.subscribe())
    }

    /// Returns the timeline, the oldest event first.
    #[must_use]
    pub fn timeline(&self) -> Vec<Dated> {
        lock(&self.kept).iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_hide_present_and_previous_credentials() {
        let events = Events::default();
        let rejected = |message: &str| Event::Rejected {
            id: "envoy".into(),
            r#type: "cluster".into(),
            resource: "quote".into(),
            message: message.into(),
            basis: Basis::Made,
            places: Vec::new(),
            gateway: "default/ambassador".into(),
            version: "1".into(),
        };
        events.hold_back(Redactor::new(["first-token-of-the-shop"]));
        events.hold_back(Redactor::new(["second-token-of-the-shop"]));
        events.publish(rejected("bad header: first-token-of-the-shop, second-token-of-the-shop"));
        let text = serde_json::to_string(&events.timeline()).expect("JSON");
        assert!(text.contains("bad header") && !text.contains("token-of-the-shop"), "{text}");
    }
}
