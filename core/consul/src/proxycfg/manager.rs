//! Manages the served proxies and their data: registers them, delivers events, and releases them.
//!
//! It never waits: events come in, snapshots and watches go out, and the data source decides when it replies. Proxies with equal watches share
//! them. The watches of each kind of proxy are in its machine.

use super::Proxy;
use super::data_source::{CorrelationId, DataSource, Event, Sender};
use super::mailbox::Mailbox;
use super::watch::{Reply, Watch};
use crate::instance::Instance;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_text::Str;
use hashbrown::HashMap;

/// All proxies.
#[derive(Debug, Default)]
pub struct Manager {
    proxies: BTreeMap<Str, Registered>,
    watches: HashMap<Watch, Shared>,
    by_id: HashMap<CorrelationId, Watch>,
    last: u32,
    /// Proxies with pending work.
    open: BTreeSet<Str>,
    /// Receives the events of data sources.
    pub inbox: Sender,
}

/// A proxy.
#[derive(Debug)]
struct Registered {
    instance: Arc<Instance>,
    proxy: Option<Proxy>,
    mail: Arc<Mailbox>,
    /// Undelivered replies.
    undelivered: Vec<(Watch, Arc<Reply>)>,
    /// Its current watches.
    watches: BTreeSet<Watch>,
}

/// A watch of one or several proxies.
#[derive(Debug)]
struct Shared {
    id: CorrelationId,
    reply: Option<Arc<Reply>>,
    proxies: BTreeSet<Str>,
}

/// A consistent view of a proxy's data.
#[derive(Clone, Debug)]
pub struct Snapshot<'a> {
    /// Its registration, with central configuration.
    pub instance: &'a Arc<Instance>,
    /// Its kind; `None` if it is not a proxy.
    pub proxy: Option<&'a Proxy>,
    pub mail: &'a Arc<Mailbox>,
}

impl Manager {
    /// Registers a proxy, or registers it again with other settings: replies that it has are kept.
    pub fn register(&mut self, id: &Str, instance: Arc<Instance>) {
        let proxy = Proxy::of(&instance);
        match self.proxies.get_mut(id) {
            Some(known) => (known.instance, known.proxy) = (instance, proxy),
            None => {
                let new = Registered { instance, proxy, mail: Arc::default(), undelivered: Vec::new(), watches: BTreeSet::new() };
                self.proxies.insert(id.clone(), new);
            }
        }
        self.open.insert(id.clone());
    }

    /// Releases a proxy: watches without other proxies end.
    pub fn deregister(&mut self, id: &Str, source: &mut dyn DataSource) {
        let Some(gone) = self.proxies.remove(id) else { return };
        self.open.remove(id);
        gone.watches.iter().for_each(|watch| self.leave(watch, id, source));
    }

    /// Processes all events and the resulting watches until nothing is pending. Returns the proxies whose data changed, and those that were
    /// registered.
    pub fn run(&mut self, source: &mut dyn DataSource) -> BTreeSet<Str> {
        let mut before: BTreeMap<Str, Arc<Mailbox>> = BTreeMap::new();
        let mut changed = self.open.clone();
        loop {
            for Event { id, reply } in core::mem::take(&mut self.inbox) {
                // The watch may have ended meanwhile.
                let Some((watch, shared)) = self.by_id.get(&id).and_then(|watch| Some((watch, self.watches.get_mut(watch)?))) else { continue };
                shared.reply = Some(reply.clone());
                for proxy in &shared.proxies {
                    self.proxies.get_mut(proxy).into_iter().for_each(|known| known.undelivered.push((watch.clone(), reply.clone())));
                    self.open.insert(proxy.clone());
                }
            }
            if self.open.is_empty() {
                break;
            }
            for id in core::mem::take(&mut self.open) {
                if let Some(known) = self.proxies.get(&id) {
                    before.entry(id.clone()).or_insert_with(|| known.mail.clone());
                }
                self.step(&id, source);
            }
        }
        for (id, before) in before {
            if self.proxies.get(&id).is_some_and(|now| !now.mail.is_same(&before)) {
                changed.insert(id);
            }
        }
        changed
    }

    /// Delivers a proxy's replies, and starts and ends its watches.
    fn step(&mut self, id: &Str, source: &mut dyn DataSource) {
        let Some(known) = self.proxies.get_mut(id) else { return };
        let undelivered = core::mem::take(&mut known.undelivered);
        let watch_set: BTreeSet<Watch> = match &known.proxy {
            Some(proxy) => Arc::make_mut(&mut known.mail).deliver(proxy.machine(), undelivered).watches().cloned().collect(),
            None => BTreeSet::new(),
        };
        let before = core::mem::replace(&mut known.watches, watch_set.clone());
        before.difference(&watch_set).for_each(|watch| self.leave(watch, id, source));
        watch_set.difference(&before).for_each(|watch| self.join(watch, id, source));
    }

    /// Adds a proxy to a watch.
    fn join(&mut self, watch: &Watch, proxy: &Str, source: &mut dyn DataSource) {
        if let Some(shared) = self.watches.get_mut(watch) {
            shared.proxies.insert(proxy.clone());
            if let (Some(reply), Some(known)) = (&shared.reply, self.proxies.get_mut(proxy)) {
                known.undelivered.push((watch.clone(), reply.clone()));
                self.open.insert(proxy.clone());
            }
            return;
        }
        self.last = self.last.wrapping_add(1);
        let id = CorrelationId(self.last);
        self.watches.insert(watch.clone(), Shared { id, reply: None, proxies: BTreeSet::from([proxy.clone()]) });
        self.by_id.insert(id, watch.clone());
        source.notify(watch, id, &mut self.inbox);
    }

    /// Removes a proxy from a watch.
    fn leave(&mut self, watch: &Watch, proxy: &Str, source: &mut dyn DataSource) {
        let Some(shared) = self.watches.get_mut(watch) else { return };
        shared.proxies.remove(proxy);
        if shared.proxies.is_empty() {
            let id = shared.id;
            self.watches.remove(watch);
            self.by_id.remove(&id);
            source.cancel(id);
        }
    }

    /// Returns the data of a proxy. It is complete once every watch has its reply.
    pub fn snapshot(&self, id: &Str) -> Option<Snapshot<'_>> {
        let known = self.proxies.get(id)?;
        Some(Snapshot { instance: &known.instance, proxy: known.proxy.as_ref(), mail: &known.mail })
    }

    /// The ids of the registered proxies.
    pub fn ids(&self) -> impl Iterator<Item = &Str> {
        self.proxies.keys()
    }

    /// The number of watches; shared watches count once.
    pub fn watch_count(&self) -> usize {
        self.watches.len()
    }
}
