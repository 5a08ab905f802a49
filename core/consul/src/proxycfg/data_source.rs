//! The interface to the sources of data, as the manager uses it.

use super::same;
use super::source::Source;
use super::topic::{Reads, Topic, changed};
use super::watch::{Reply, Watch};
use crate::state::State;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_text::Str;
use hashbrown::HashMap;

/// Matches an event to its watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CorrelationId(pub(super) u32);

/// The first or a changed reply to a watch.
#[derive(Clone, Debug)]
pub struct Event {
    pub id: CorrelationId,
    pub reply: Arc<Reply>,
}

/// Receives the events of data sources.
pub type Sender = Vec<Event>;

/// A source of replies to watches.
pub trait DataSource {
    /// Starts to send replies: immediately if the reply is known, and whenever it changes.
    fn notify(&mut self, request: &Watch, id: CorrelationId, sender: &mut Sender);
    /// Stops sending replies.
    fn cancel(&mut self, id: CorrelationId);
}

/// A data source whose catalog can be replaced.
pub trait Refill: DataSource {
    /// Replaces the state of the own cluster. Sends events to watches whose reply changed; returns the changed topics.
    fn replace(&mut self, home: Arc<State>, sender: &mut Sender) -> BTreeSet<Topic>;
}

/// A data source with complete catalogs, as inputs provide them: every watch has a reply.
#[derive(Debug)]
pub struct Catalog {
    home: Arc<State>,
    peers: Arc<BTreeMap<Str, State>>,
    default_deny: bool,
    watched: HashMap<CorrelationId, Watched>,
    /// The watches that depend on a topic.
    readers: HashMap<Topic, BTreeSet<CorrelationId>>,
    counts: Counts,
}

/// Counts of reevaluated watches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Watches that were evaluated again, because one of their topics changed.
    pub woken: usize,
    /// Those of them whose reply is unchanged, so that no event is sent.
    pub dropped: usize,
}

#[derive(Debug)]
struct Watched {
    request: Watch,
    topics: BTreeSet<Topic>,
    reply: Arc<Reply>,
}

impl Catalog {
    pub fn new(home: Arc<State>, peers: Arc<BTreeMap<Str, State>>, default_deny: bool) -> Self {
        Self { home, peers, default_deny, watched: HashMap::new(), readers: HashMap::new(), counts: Counts::default() }
    }

    fn refill(&mut self, home: Arc<State>, sender: &mut Sender) -> BTreeSet<Topic> {
        let topics = changed(&self.home, &home);
        self.home = home;
        let woken: BTreeSet<CorrelationId> = topics.iter().filter_map(|topic| self.readers.get(topic)).flatten().copied().collect();
        for id in woken {
            self.counts.woken += 1;
            let Some(before) = self.watched.get(&id) else { continue };
            let (request, known) = (before.request.clone(), before.reply.clone());
            let (reply, read) = self.answer(&request);
            let is_same = same::reply(&known, &reply);
            let reply = if is_same { known } else { Arc::new(reply) };
            self.keep(id, Watched { request, topics: read, reply: reply.clone() });
            if is_same {
                self.counts.dropped += 1;
            } else {
                sender.push(Event { id, reply });
            }
        }
        topics
    }

    pub fn counts(&self) -> Counts {
        self.counts
    }

    fn answer(&self, request: &Watch) -> (Reply, BTreeSet<Topic>) {
        let reads = Reads::default();
        let source = Source { home: &self.home, peers: &self.peers, default_deny: self.default_deny };
        let reply = source.answer(request, &reads);
        (reply, reads.into_topics())
    }

    fn keep(&mut self, id: CorrelationId, watched: Watched) {
        let none = BTreeSet::new();
        let before = self.watched.get(&id).map_or(&none, |before| &before.topics);
        for topic in before.difference(&watched.topics) {
            forget(&mut self.readers, topic, id);
        }
        for topic in watched.topics.difference(before) {
            self.readers.entry(topic.clone()).or_default().insert(id);
        }
        self.watched.insert(id, watched);
    }
}

fn forget(readers: &mut HashMap<Topic, BTreeSet<CorrelationId>>, topic: &Topic, id: CorrelationId) {
    if let Some(ids) = readers.get_mut(topic) {
        ids.remove(&id);
        if ids.is_empty() {
            readers.remove(topic);
        }
    }
}

impl DataSource for Catalog {
    fn notify(&mut self, request: &Watch, id: CorrelationId, sender: &mut Sender) {
        let (reply, topics) = self.answer(request);
        let reply = Arc::new(reply);
        sender.push(Event { id, reply: reply.clone() });
        self.keep(id, Watched { request: request.clone(), topics, reply });
    }

    fn cancel(&mut self, id: CorrelationId) {
        let Some(gone) = self.watched.remove(&id) else { return };
        gone.topics.iter().for_each(|topic| forget(&mut self.readers, topic, id));
    }
}

impl Refill for Catalog {
    fn replace(&mut self, home: Arc<State>, sender: &mut Sender) -> BTreeSet<Topic> {
        self.refill(home, sender)
    }
}

/// A data source over the catalog of a live agent, which blocking queries fill. Data that was not read yet has no reply, so the proxies that need
/// it are incomplete.
#[derive(Debug)]
pub struct Mirror {
    catalog: Catalog,
    /// Watches without a reply.
    waiting: BTreeMap<CorrelationId, Watch>,
}

impl Mirror {
    pub fn new(catalog: Catalog) -> Self {
        Self { catalog, waiting: BTreeMap::new() }
    }

    /// Whether a part of the data was not read yet.
    fn is_missing(&self, watch: &Watch) -> bool {
        matches!(watch, Watch::Leaf(_) | Watch::Roots) && matches!(self.catalog.answer(watch).0, Reply::Certificate { given: false })
    }
}

impl DataSource for Mirror {
    fn notify(&mut self, request: &Watch, id: CorrelationId, sender: &mut Sender) {
        if self.is_missing(request) {
            self.waiting.insert(id, request.clone());
        } else {
            self.catalog.notify(request, id, sender);
        }
    }

    fn cancel(&mut self, id: CorrelationId) {
        self.waiting.remove(&id);
        self.catalog.cancel(id);
    }
}

impl Refill for Mirror {
    fn replace(&mut self, home: Arc<State>, sender: &mut Sender) -> BTreeSet<Topic> {
        let topics = self.catalog.refill(home, sender);
        for (id, watch) in core::mem::take(&mut self.waiting) {
            self.notify(&watch, id, sender);
        }
        topics
    }
}
