//! What happens, as objects that other programs read, one a line; and the timeline of what happened.
//!
//! The form of each event is a contract. What must not be here: what is done about it.

use crate::lock;
use chancery_core::redact::Redactor;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::sync::broadcast;

/// How many events the timeline keeps.
const KEPT: usize = 2000;

/// What a server answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Server {
    /// Envoys.
    Xds,
    /// The page, the API, metrics.
    Diagnostics,
    /// Snapshots for people who may see everything.
    Snapshots,
    /// Snapshots, redacted.
    PublicSnapshots,
    /// Whether we are ready.
    Ready,
}

impl Server {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Server::Xds => "xds",
            Server::Diagnostics => "diagnostics",
            Server::Snapshots => "snapshots",
            Server::PublicSnapshots => "public-snapshots",
            Server::Ready => "ready",
        }
    }
}

/// How a source is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SourceState {
    /// All that it holds is known.
    Synced,
    /// There is nothing of this kind: its CRD is not installed, the folder does not exist.
    Missing,
    /// We may not read it.
    Forbidden,
    /// It cannot be read for now.
    Error,
}

impl SourceState {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            SourceState::Synced => "synced",
            SourceState::Missing => "missing",
            SourceState::Forbidden => "forbidden",
            SourceState::Error => "error",
        }
    }
}

/// Whether an Envoy is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EnvoyState {
    /// Its first stream was opened.
    Connected,
    /// Its last stream was closed.
    Gone,
}

/// Where something stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The input.
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

/// A finding that came or went with a build.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FindingLine {
    /// Its code.
    pub code: String,
    /// How bad it is.
    pub severity: Cow<'static, str>,
    /// The sentence.
    pub message: String,
    /// The input; empty for none.
    pub file: String,
    /// Its line, from 1; 0 for none.
    pub line: u32,
}

/// A part of an Application Gateway that is not as it is wanted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedPart {
    /// `added`, `changed` or `removed`.
    pub change: Cow<'static, str>,
    /// What it is.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Who owns it, in words.
    pub owner: String,
    /// The fields that differ, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<String>,
    /// What makes it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<Place>,
}

/// What happens.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// A server takes connections.
    Listening {
        /// Which.
        server: Server,
        /// Where.
        address: String,
    },
    /// A source, or a kind of resources in it, is in another state.
    Source {
        /// The kind, or the source's name.
        kind: String,
        /// How it is.
        state: SourceState,
        /// More of it, for people.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        detail: Option<String>,
        /// The source that it belongs to.
        source: String,
    },
    /// The inputs were compiled.
    Build {
        /// A hash of what all gateways' Envoys are to have.
        version: String,
        /// How long it took.
        took_ms: u64,
        /// How many inputs there are.
        inputs: usize,
        /// How many resources changed, by list.
        changed: BTreeMap<String, usize>,
        /// How many errors were found.
        errors: usize,
        /// How many changes of inputs went into it.
        changes: u64,
        /// Names of the inputs that changed, at most 100.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        edited: Vec<String>,
        /// Findings that were not there before.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        found: Vec<FindingLine>,
        /// Findings that are there no longer.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        mended: Vec<FindingLine>,
        /// Names of the resources that changed, by list.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        resources: BTreeMap<String, Vec<String>>,
        /// Requests that are treated otherwise than before, in words.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        requests: Vec<String>,
    },
    /// An Envoy came or went.
    Envoy {
        /// Its node id.
        id: String,
        /// Whether it is there.
        state: EnvoyState,
        /// Its gateway, where it has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        gateway: Option<String>,
    },
    /// An Envoy connected that belongs to no gateway. It gets nothing.
    UnknownNode {
        /// Its node id.
        id: String,
        /// Its `node.cluster`.
        cluster: String,
        /// What it could be.
        detail: String,
    },
    /// An Envoy accepted what it was sent.
    Accepted {
        /// Its node id.
        id: String,
        /// The URL of the type.
        r#type: String,
        /// The version of the type's resources.
        version: String,
        /// How long it took since it was sent.
        after_ms: u64,
        /// Its gateway.
        gateway: String,
    },
    /// An Envoy rejected what it was sent, and keeps what it had.
    Rejected {
        /// Its node id.
        id: String,
        /// The URL of the type.
        r#type: String,
        /// The resource that it names.
        resource: String,
        /// What it says.
        message: String,
        /// What made the resource.
        places: Vec<Place>,
        /// Its gateway.
        gateway: String,
        /// The version that it was sent.
        version: String,
    },
    /// The one Envoy that a change went to rejects it; the others keep what they have.
    Held {
        /// The gateway.
        gateway: String,
        /// The version that is held.
        version: String,
    },
    /// The Envoys of a gateway lose all their listeners at once: they take no more requests.
    Emptied {
        /// The gateway.
        gateway: String,
        /// How many listeners it had.
        listeners: usize,
    },
    /// A resource is not sent, as Envoy would refuse it.
    Withheld {
        /// The URL of the type.
        r#type: String,
        /// The resource.
        resource: String,
        /// What is wrong.
        message: String,
        /// What made it.
        places: Vec<Place>,
        /// Its gateway.
        gateway: String,
    },
    /// How an Application Gateway differs from what is wanted. Nothing is sent by that.
    Planned {
        /// The gateway.
        gateway: String,
        /// A hash of what is wanted.
        version: String,
        /// Whether it is known how the gateway is; otherwise all that is wanted is listed.
        compared: bool,
        /// How many parts are added, changed, and removed.
        added: usize,
        /// Parts that are changed.
        changed: usize,
        /// Parts that are removed.
        removed: usize,
        /// Parts that stay as they are because others own them.
        kept: usize,
        /// The parts, at most 100.
        parts: Vec<PlannedPart>,
    },
    /// An Application Gateway is read from Azure, and no input is for it.
    Unplanned {
        /// The gateway.
        gateway: String,
        /// What that means, and what an input needs.
        message: String,
    },
    /// An Application Gateway was changed.
    Applied {
        /// The gateway.
        gateway: String,
        /// A hash of what it is now.
        version: String,
        /// How long Azure took.
        took_ms: u64,
        /// How many parts were added, changed or removed.
        parts: usize,
    },
    /// An Application Gateway could not be changed. It is tried again.
    ApplyFailed {
        /// The gateway.
        gateway: String,
        /// Why.
        message: String,
        /// When it is tried again.
        retry_ms: u64,
    },
    /// An Application Gateway is not changed until a person allows it.
    ApplyHeld {
        /// The gateway.
        gateway: String,
        /// Why, and how it is allowed.
        message: String,
    },
}

impl Event {
    /// Takes out what no output may have. Names of objects and files stay.
    fn scrub(&mut self, redactor: &Redactor) {
        let scrub = |text: &mut String| {
            if let Cow::Owned(shown) = redactor.scrub(text) {
                *text = shown;
            }
        };
        match self {
            Event::Build { found, mended, requests, .. } => {
                found.iter_mut().chain(mended).for_each(|finding| scrub(&mut finding.message));
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

/// An event and when it was, in milliseconds since 1970.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Dated {
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
    /// When.
    pub at_ms: u64,
}

/// Where events go: to all who listen, and into the timeline.
#[derive(Clone, Debug)]
pub struct Events {
    kept: Arc<Mutex<VecDeque<Dated>>>,
    out: broadcast::Sender<Dated>,
    /// What no event may have: of the inputs as they are, and as they were one build before.
    redactor: Arc<Mutex<[Redactor; 2]>>,
}

impl Default for Events {
    fn default() -> Self {
        Self { kept: Arc::default(), out: broadcast::channel(1024).0, redactor: Arc::default() }
    }
}

impl Events {
    /// From now on no event has these values: the key material and credentials of the inputs as they are now.
    pub fn hold_back(&self, values: Redactor) {
        let mut redactor = lock(&self.redactor);
        redactor.rotate_right(1);
        redactor[0] = values;
    }

    /// Tells an event, without what no output may have.
    pub fn tell(&self, mut event: Event) {
        lock(&self.redactor).iter().for_each(|values| event.scrub(values));
        let at_ms = SystemTime::now().duration_since(UNIX_EPOCH).map(|since| since.as_millis() as u64).unwrap_or_default();
        let dated = Dated { event, at_ms };
        let mut kept = lock(&self.kept);
        if kept.len() >= KEPT {
            kept.pop_front();
        }
        kept.push_back(dated.clone());
        // Nobody need be listening. Under the lock, so that all hear of events in one order.
        let _ = self.out.send(dated);
    }

    /// A text without what no output may have.
    #[must_use]
    pub fn scrubbed(&self, text: &str) -> String {
        lock(&self.redactor).iter().fold(text.to_owned(), |text, values| values.scrub(&text).into_owned())
    }

    /// All events from now on. Who is too slow loses the oldest.
    #[must_use]
    pub fn listen(&self) -> broadcast::Receiver<Dated> {
        self.out.subscribe()
    }

    /// What the timeline has, the oldest first, and all events after that: none is missing between them, and none is in both.
    #[must_use]
    pub fn follow(&self) -> (Vec<Dated>, broadcast::Receiver<Dated>) {
        let kept = lock(&self.kept);
        (kept.iter().cloned().collect(), self.out.subscribe())
    }

    /// What the timeline has, the oldest first.
    #[must_use]
    pub fn timeline(&self) -> Vec<Dated> {
        lock(&self.kept).iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_event_has_a_credential_of_the_inputs_or_of_those_before() {
        let events = Events::default();
        let rejected = |message: &str| Event::Rejected {
            id: "envoy".into(),
            r#type: "cluster".into(),
            resource: "quote".into(),
            message: message.into(),
            places: Vec::new(),
            gateway: "default/ambassador".into(),
            version: "1".into(),
        };
        events.hold_back(Redactor::new(["first-token-of-the-shop"]));
        events.hold_back(Redactor::new(["second-token-of-the-shop"]));
        events.tell(rejected("bad header: first-token-of-the-shop, second-token-of-the-shop"));
        let text = serde_json::to_string(&events.timeline()).expect("JSON");
        assert!(text.contains("bad header") && !text.contains("token-of-the-shop"), "{text}");
    }
}
