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
use std::time::Duration;
use tokio::sync::watch;

/// The most characters of a message that is kept of an Envoy.
const LONGEST_MESSAGE: usize = 4096;
/// The most resources that one rejection names.
const MOST_BLAMED: usize = 16;

/// Rejections that come within this time are told together.
const TOGETHER: Duration = Duration::from_millis(100);

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

/// What Envoys reject now, by the name of the input that made it: a sentence with the Envoy, the resource and its message.
pub type Rejected = Arc<BTreeMap<String, String>>;

/// Who is connected.
#[derive(Clone, Debug, Default)]
pub struct Clients {
    clients: Arc<Mutex<BTreeMap<String, Client>>>,
    /// Counts how often something was rejected, or rejected no longer.
    rejections: watch::Sender<u64>,
    events: Events,
}

impl Clients {
    /// Nobody yet.
    #[must_use]
    pub fn new(events: Events) -> Self {
        Self { events, ..Self::default() }
    }

    /// What Envoys reject now.
    #[must_use]
    pub fn rejected(&self) -> Rejected {
        let clients = lock(&self.clients);
        let mut now: BTreeMap<String, String> = BTreeMap::new();
        for client in clients.values() {
            for rejection in client.types.values().filter_map(|of| of.rejected.as_ref()) {
                for Blamed { resource, places } in &rejection.resources {
                    let sentence = || format!("the Envoy {} rejects {resource}: {}", client.node.id, self.events.scrubbed(&rejection.message));
                    for place in places.iter().filter(|place| !now.contains_key(&place.file)).collect::<Vec<_>>() {
                        now.insert(place.file.clone(), sentence());
                    }
                }
            }
        }
        Arc::new(now)
    }

    /// Tells what Envoys reject, now and from now on. What a thousand of them say at once is told once.
    pub async fn tell_rejected(&self, out: watch::Sender<Rejected>) {
        let mut changes = self.rejections.subscribe();
        loop {
            let now = self.rejected();
            out.send_if_modified(|known| (*known != now).then(|| *known = now).is_some());
            if changes.changed().await.is_err() {
                return;
            }
            tokio::time::sleep(TOGETHER).await;
        }
    }

    /// Something was rejected, or is rejected no longer.
    fn rejections_changed(&self) {
        self.rejections.send_modify(|count| *count += 1);
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
            let mut was_rejected = false;
            if let Some(client) = lock(&self.clients).get_mut(id) {
                let acceptance = client.types.entry(r#type.clone()).or_default();
                acceptance.accepted = Some(version.clone());
                was_rejected = acceptance.rejected.take().is_some();
            }
            if was_rejected {
                self.rejections_changed();
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
        self.rejections_changed();
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
        let rejected = client.types.values().any(|of| of.rejected.is_some());
        clients.remove(id);
        drop(clients);
        if rejected {
            self.rejections_changed();
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Place;
    use crate::xds::snapshot::Blame;

    struct OneInput;

    impl Blame for OneInput {
        fn places(&self, _: &str, name: &str, _: Option<&str>) -> Vec<Place> {
            vec![Place { file: format!("Mapping.getambassador.io/default/{name}"), line: 1, column: 1, object: String::new(), field: String::new() }]
        }
    }

    #[tokio::test]
    async fn what_envoys_reject_is_known_by_input_until_it_is_accepted_or_they_are_gone() {
        let clients = Clients::default();
        let inputs = || clients.rejected().keys().cloned().collect::<Vec<_>>();
        let (out, mut told) = watch::channel(Rejected::default());
        let telling = clients.clone();
        tokio::spawn(async move { telling.tell_rejected(out).await });
        let mut snapshot = Snapshot::new("g");
        snapshot.blame = Some(Arc::new(OneInput));
        let verdict = |rejected: Option<&str>| Verdict {
            type_url: "t".into(),
            version: "1".into(),
            names: vec!["a".into(), "b".into()],
            after: Duration::ZERO,
            rejected: rejected.map(str::to_owned),
        };
        let node = |id: &str| Node { id: id.into(), ..Node::default() };
        let (one, other) = (clients.open(&node("one"), Some("g")), clients.open(&node("other"), Some("g")));
        clients.answered("one", &verdict(Some("a: bad")), &snapshot);
        assert_eq!(inputs(), ["Mapping.getambassador.io/default/a"]);
        assert_eq!(clients.rejected().values().next().map(String::as_str), Some("the Envoy one rejects a: a: bad"));
        assert!(told.wait_for(|told| told.len() == 1).await.is_ok());
        clients.answered("other", &verdict(Some("b: bad")), &snapshot);
        assert_eq!(inputs().len(), 2);
        clients.answered("one", &verdict(None), &snapshot);
        assert_eq!(inputs(), ["Mapping.getambassador.io/default/b"], "what is accepted is rejected no longer");
        drop(other);
        assert!(inputs().is_empty(), "an Envoy that is gone rejects nothing");
        assert!(told.wait_for(|told| told.is_empty()).await.is_ok());
        drop(one);
    }
}
