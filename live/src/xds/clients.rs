//! Who is connected, and what each has accepted and rejected.
//!
//! An Envoy is a node id; it may have several streams, one of them for each type. What must not be here: the protocol.

use super::blame::{Blamed, blame};
use super::snapshot::Snapshot;
use super::stream::Verdict;
use crate::event::{EnvoyState, Event, Events};
use crate::lock;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// The most characters of a message that is kept of an Envoy.
const LONGEST_MESSAGE: usize = 4096;
/// The most resources that one rejection names.
const MOST_BLAMED: usize = 16;

/// What an Envoy says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Node {
    /// `node.id`
    pub id: String,
    /// `node.cluster`
    pub cluster: String,
    /// Its version, as it says.
    pub agent: String,
}

/// What an Envoy has of one type.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Acceptance {
    /// The version that it was sent last.
    pub sent: String,
    /// The version that it accepted last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted: Option<String>,
    /// What it rejected last, until it accepts something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rejected: Option<Rejection>,
}

/// What an Envoy rejected.
#[derive(Clone, Debug, Serialize)]
pub struct Rejection {
    /// The version.
    pub version: String,
    /// What it says.
    pub message: String,
    /// The resources that it names, with what made them.
    pub resources: Vec<Blamed>,
}

/// An Envoy.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Client {
    /// What it says of itself.
    #[serde(flatten)]
    pub node: Node,
    /// Its gateway, where it has one.
    pub gateway: Option<String>,
    /// How many streams it has open.
    pub streams: usize,
    /// By the URL of the type.
    pub types: BTreeMap<String, Acceptance>,
}

/// Who is connected.
#[derive(Clone, Debug, Default)]
pub struct Clients {
    clients: Arc<Mutex<BTreeMap<String, Client>>>,
    events: Events,
}

impl Clients {
    /// Nobody yet.
    #[must_use]
    pub fn new(events: Events) -> Self {
        Self { clients: Arc::default(), events }
    }

    /// Where events go.
    #[must_use]
    pub fn events(&self) -> &Events {
        &self.events
    }

    /// All that are connected.
    #[must_use]
    pub fn all(&self) -> Vec<Client> {
        lock(&self.clients).values().cloned().collect()
    }

    /// A stream was opened. It is closed when what is returned is dropped.
    #[must_use]
    pub fn open(&self, node: &Node, gateway: Option<&str>) -> Connected {
        let is_first = {
            let mut clients = lock(&self.clients);
            let client = clients.entry(node.id.clone()).or_default();
            client.node = node.clone();
            client.gateway = gateway.map(str::to_owned);
            client.streams += 1;
            client.streams == 1
        };
        if is_first {
            self.events.tell(Event::Envoy { id: node.id.clone(), state: EnvoyState::Connected, gateway: gateway.map(str::to_owned) });
        }
        Connected { clients: self.clone(), id: node.id.clone() }
    }

    /// It was sent something.
    pub fn sent(&self, id: &str, type_url: &str, version: &str) {
        if let Some(client) = lock(&self.clients).get_mut(id) {
            version.clone_into(&mut client.types.entry(type_url.to_owned()).or_default().sent);
        }
    }

    /// It has another gateway now.
    pub fn moved(&self, id: &str, gateway: Option<&str>) {
        if let Some(client) = lock(&self.clients).get_mut(id) {
            client.gateway = gateway.map(str::to_owned);
        }
    }

    /// It answered.
    pub fn answered(&self, id: &str, verdict: &Verdict, snapshot: &Snapshot) {
        let (r#type, gateway, version) = (verdict.type_url.to_string(), snapshot.gateway.to_string(), verdict.version.clone());
        let Some(message) = &verdict.rejected else {
            if let Some(client) = lock(&self.clients).get_mut(id) {
                let acceptance = client.types.entry(r#type.clone()).or_default();
                acceptance.accepted = Some(version.clone());
                acceptance.rejected = None;
            }
            let after_ms = verdict.after.as_millis() as u64;
            return self.events.tell(Event::Accepted { id: id.into(), r#type, version, after_ms, gateway });
        };
        let message: String = message.chars().take(LONGEST_MESSAGE).collect();
        let resources = blame(verdict, &message, snapshot, MOST_BLAMED);
        if let Some(client) = lock(&self.clients).get_mut(id) {
            let rejected = Rejection { version: version.clone(), message: message.clone(), resources: resources.clone() };
            client.types.entry(r#type.clone()).or_default().rejected = Some(rejected);
        }
        for Blamed { resource, places } in resources {
            let (r#type, message, gateway, version) = (r#type.clone(), message.clone(), gateway.clone(), version.clone());
            self.events.tell(Event::Rejected { id: id.into(), r#type, resource, message, places, gateway, version });
        }
    }

    fn close(&self, id: &str) {
        let mut clients = lock(&self.clients);
        let Some(client) = clients.get_mut(id) else { return };
        client.streams = client.streams.saturating_sub(1);
        if client.streams > 0 {
            return;
        }
        let gateway = client.gateway.clone();
        clients.remove(id);
        drop(clients);
        self.events.tell(Event::Envoy { id: id.into(), state: EnvoyState::Gone, gateway });
    }
}

/// An open stream of an Envoy.
#[derive(Debug)]
pub struct Connected {
    clients: Clients,
    id: String,
}

impl Drop for Connected {
    fn drop(&mut self) {
        self.clients.close(&self.id);
    }
}
