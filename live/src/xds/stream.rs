//! One discovery stream: requests and snapshots come in, responses go out.
//!
//! It is a state machine for both protocols that neither waits nor sends; the caller passes the time in. It decides the
//! order. On a stream with several types, a resource goes out before resources that refer to it. Each step waits until
//! the client has answered the step before; removals come last. A client that does not answer delays the rest for
//! [`PATIENCE`] only.

use super::message::{Protocol, Request, Response, Verdict};
use super::snapshot::{Resources, Snapshot, is_whole, place_in_order};
use super::subscription::{Difference, SentVersion, Subscription, WILDCARD};
use chancery_core::backend::envoy::v3::{Encoded, Fingerprint};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long an unanswered response delays later ones.
pub const PATIENCE: Duration = Duration::from_secs(1);

/// The most types of one stream.
const MOST_TYPES: usize = 64;

#[derive(Debug)]
struct Sent {
    at: Instant,
    version: String,
    resources: Arc<[Arc<Encoded>]>,
    removed: Vec<Arc<str>>,
}

impl Sent {
    fn names(&self) -> Vec<Arc<str>> {
        self.resources.iter().map(|of| Arc::from(of.name.as_str())).chain(self.removed.iter().cloned()).collect()
    }
}

/// One type on the stream.
#[derive(Debug, Default)]
struct Kind {
    subscription: Subscription,
    /// The unanswered response, with its nonce.
    open: Option<(String, Sent)>,
    /// The nonce of the last response.
    last: String,
    /// Whether the client requested something new, which is answered at once.
    asked: bool,
    /// State of the world: the resources that the client has, if a response implies that all others are removed.
    held: BTreeMap<Arc<str>, Arc<Encoded>>,
    /// When the client's resources were last confirmed.
    heard: Option<Instant>,
}

/// A stream.
#[derive(Debug)]
pub struct Stream {
    protocol: Protocol,
    /// Whether it carries several types.
    aggregated: bool,
    kinds: BTreeMap<(usize, Arc<str>), Kind>,
    nonces: u64,
    /// How long the client keeps resources without a heartbeat.
    ttl: Option<Duration>,
}

impl Stream {
    #[must_use]
    pub fn new(protocol: Protocol, aggregated: bool) -> Self {
        Self { protocol, aggregated, kinds: BTreeMap::new(), nonces: 0, ttl: None }
    }

    /// Sets how long the client keeps resources without a heartbeat.
    #[must_use]
    pub fn with_ttl(mut self, ttl: Option<Duration>) -> Self {
        self.ttl = ttl;
        self
    }

    /// Reads a request. Returns the client's verdict on a response, if it answers one.
    pub fn request(&mut self, request: &Request, now: Instant) -> Option<Verdict> {
        let key = (place_in_order(&request.type_url), Arc::<str>::from(request.type_url.as_str()));
        if !request.nonce.is_empty() {
            // The nonce identifies the response, whatever type the request names.
            let answered = self.kinds.iter().find(|(_, kind)| kind.open.as_ref().is_some_and(|(nonce, _)| *nonce == request.nonce));
            if let Some(answered) = answered.map(|(key, _)| key.clone()) {
                let verdict = self.answered(&answered, request, now);
                if answered == key {
                    self.subscribe(key, request);
                }
                return verdict;
            }
            let is_last = self.kinds.get(&key).is_some_and(|kind| kind.last == request.nonce);
            if self.protocol == Protocol::Sotw && !is_last {
                return None;
            }
        }
        self.subscribe(key, request);
        None
    }

    fn answered(&mut self, key: &(usize, Arc<str>), request: &Request, now: Instant) -> Option<Verdict> {
        let (_, sent) = self.kinds.get_mut(key)?.open.take()?;
        Some(Verdict {
            type_url: key.1.clone(),
            names: if request.error.is_some() { sent.names() } else { Vec::new() },
            version: sent.version,
            after: now.saturating_duration_since(sent.at),
            rejected: request.error.clone(),
        })
    }

    fn subscribe(&mut self, key: (usize, Arc<str>), request: &Request) {
        if self.kinds.len() >= MOST_TYPES && !self.kinds.contains_key(&key) {
            return;
        }
        let is_first = !self.kinds.contains_key(&key);
        let whole = is_whole(&key.1);
        let kind = self.kinds.entry(key).or_default();
        match self.protocol {
            Protocol::Sotw => kind.subscribe_sotw(request, whole),
            Protocol::Delta => kind.subscribe_delta(request, is_first, whole),
        }
    }

    /// Returns the responses to send now, in this order.
    pub fn pump(&mut self, snapshot: &Snapshot, now: Instant) -> Vec<Response> {
        let mut out = Vec::new();
        let mut keys: Vec<(usize, Arc<str>)> = self.kinds.keys().cloned().collect();
        let mut settled = true;
        for key in &keys {
            let waits = self.aggregated && self.is_waiting(key.0, now);
            settled &= self.add(key, snapshot, waits, now, &mut out);
        }
        // Removals come after all new resources were accepted: first resources that refer to others, then the others.
        if !self.aggregated || (settled && !self.is_waiting(usize::MAX, now)) {
            keys.sort_by_key(|(place, _)| [2, 3, 0, 1].get(*place).copied().unwrap_or(*place));
            for key in &keys {
                self.remove(key, snapshot, now, &mut out);
            }
        }
        out.iter_mut().for_each(|response| response.is_delta = self.protocol == Protocol::Delta);
        if let Some(ttl) = self.ttl {
            out.iter_mut().for_each(|response| response.ttl = Some(ttl));
            keys.iter().for_each(|key| self.keep(key, snapshot, ttl, now, &mut out));
        }
        out
    }

    /// Confirms the client's resources of a type, if half of their time is over. The answer is not waited for.
    fn keep(&mut self, (place, url): &(usize, Arc<str>), snapshot: &Snapshot, ttl: Duration, now: Instant, out: &mut Vec<Response>) {
        let Some(kind) = self.kinds.get_mut(&(*place, url.clone())) else { return };
        let is_due = kind.heard.is_some_and(|heard| now.saturating_duration_since(heard) >= ttl / 2);
        if !is_due || kind.open.is_some() {
            return;
        }
        kind.heard = Some(now);
        let none = Arc::default();
        let known = snapshot.get(url).unwrap_or(&none);
        let has = |of: &&Arc<Encoded>| kind.subscription.sent_version(&of.name) == Some(SentVersion::Has(of.version));
        let resources: Arc<[Arc<Encoded>]> = known.by_name.values().filter(has).cloned().collect();
        if resources.is_empty() {
            return;
        }
        self.nonces += 1;
        let nonce = format!("{:x}", self.nonces);
        kind.last.clone_from(&nonce);
        let (type_url, version, is_delta) = (url.clone(), known.version.clone(), self.protocol == Protocol::Delta);
        out.push(Response { type_url, nonce, version, resources, removed: Vec::new(), ttl: Some(ttl), is_delta, heartbeat: true, whole: None });
    }

    /// Whether the client has accepted everything that it requests from a snapshot.
    #[must_use]
    pub fn is_settled(&self, snapshot: &Snapshot) -> bool {
        let none = Arc::default();
        let is_settled = |((_, url), kind): (&(usize, Arc<str>), &Kind)| {
            let difference = kind.subscription.difference(snapshot.get(url).unwrap_or(&none));
            kind.open.is_none() && difference.changed.is_empty() && !difference.removes
        };
        !self.kinds.is_empty() && self.kinds.iter().all(is_settled)
    }

    /// Whether a response of an earlier type is unanswered.
    fn is_waiting(&self, place: usize, now: Instant) -> bool {
        self.kinds.iter().filter(|((of, _), _)| *of < place).any(|(_, kind)| kind.is_waiting(now))
    }

    /// Returns when to pump again without an event: when the time for an unanswered response ends, or a heartbeat is due.
    #[must_use]
    pub fn wake(&self, now: Instant) -> Option<Instant> {
        let answers = self.kinds.values().filter_map(|kind| kind.open.as_ref()).map(|(_, sent)| sent.at + PATIENCE);
        let heard = self.kinds.values().filter(|kind| kind.open.is_none()).filter_map(|kind| kind.heard);
        let keeps = self.ttl.into_iter().flat_map(|ttl| heard.clone().map(move |heard| heard + ttl / 2));
        answers.chain(keeps).filter(|at| *at > now).min()
    }

    /// Sends the new resources of a type, unless they must wait. Returns whether none are left.
    fn add(&mut self, key: &(usize, Arc<str>), snapshot: &Snapshot, waits: bool, now: Instant, out: &mut Vec<Response>) -> bool {
        let none = Arc::default();
        let resources = snapshot.get(&key.1).unwrap_or(&none).clone();
        let nonce = self.nonces + 1;
        let (protocol, aggregated) = (self.protocol, self.aggregated);
        let Some(kind) = self.kinds.get_mut(key) else { return true };
        let difference = kind.subscription.difference(&resources);
        let whole = protocol == Protocol::Sotw && is_whole(&key.1);
        let first = !kind.subscription.answered && kind.subscription.wants_any() && (whole || protocol == Protocol::Delta);
        let news = match protocol {
            Protocol::Sotw => !difference.changed.is_empty() || (kind.asked && whole && !difference.gone.is_empty()),
            Protocol::Delta => !difference.changed.is_empty() || difference.gone.iter().any(|name| !kind.had(name)),
        };
        if !first && !news {
            kind.asked = false;
            return true;
        }
        if !first && !kind.asked && (waits || kind.is_waiting(now)) {
            return false;
        }
        kind.asked = false;
        let mut difference = difference;
        if aggregated && protocol == Protocol::Delta {
            let kind = &*kind;
            difference.gone.retain(|name| !kind.had(name));
        }
        let response = if whole { kind.whole(&resources, aggregated && !first) } else { kind.partial(&resources, difference, protocol) };
        out.push(kind.send(response, &resources, &key.1, nonce, now));
        self.nonces = nonce;
        true
    }

    /// Removes deleted resources.
    fn remove(&mut self, key: &(usize, Arc<str>), snapshot: &Snapshot, now: Instant, out: &mut Vec<Response>) {
        let none = Arc::default();
        let resources = snapshot.get(&key.1).unwrap_or(&none).clone();
        let nonce = self.nonces + 1;
        let (protocol, patient) = (self.protocol, self.aggregated);
        let Some(kind) = self.kinds.get_mut(key) else { return };
        let difference = kind.subscription.difference(&resources);
        if !difference.removes || !difference.changed.is_empty() || (patient && kind.is_waiting(now)) {
            return;
        }
        let response = match protocol {
            Protocol::Sotw if is_whole(&key.1) => kind.whole(&resources, false),
            // The protocol cannot express it. The client stops requesting the resource by itself.
            Protocol::Sotw => return kind.subscription.note(&resources, &[], &difference.gone),
            Protocol::Delta => kind.partial(&resources, difference, protocol),
        };
        out.push(kind.send(response, &resources, &key.1, nonce, now));
        self.nonces = nonce;
    }
}

/// The version, the resources, and the names of removed resources.
type Content = (String, Vec<Arc<Encoded>>, Vec<Arc<str>>);

impl Kind {
    /// Whether a response is unanswered, and still waited for.
    fn is_waiting(&self, now: Instant) -> bool {
        self.open.as_ref().is_some_and(|(_, sent)| now.saturating_duration_since(sent.at) < PATIENCE)
    }

    fn had(&self, name: &str) -> bool {
        matches!(self.subscription.sent_version(name), Some(SentVersion::Has(_)))
    }

    fn subscribe_sotw(&mut self, request: &Request, whole: bool) {
        let subscription = &mut self.subscription;
        if request.nonce.is_empty() {
            // A client that starts again has no resources of this stream.
            let explicit = subscription.explicit && !request.names.is_empty();
            *subscription = Subscription::default();
            subscription.explicit = explicit;
            self.held.clear();
            self.asked = true;
        }
        let known = subscription.names.len();
        let had_all = subscription.wildcard;
        if request.names.is_empty() && !subscription.explicit {
            subscription.set_wildcard(whole);
        } else {
            subscription.set_names(request.names.iter().map(|name| Arc::from(name.as_str())));
        }
        self.asked |= subscription.names.len() > known || subscription.wildcard && !had_all;
        let wanted = &self.subscription;
        self.held.retain(|name, _| wanted.wants(name));
    }

    fn subscribe_delta(&mut self, request: &Request, is_first: bool, whole: bool) {
        let subscription = &mut self.subscription;
        if is_first {
            subscription.set_wildcard(whole && request.subscribe.is_empty());
            for (name, version) in &request.initial {
                subscription.has(Arc::from(name.as_str()), parse_version(version));
            }
        }
        for name in &request.subscribe {
            if name == WILDCARD {
                self.asked |= !subscription.wildcard;
                subscription.set_wildcard(true);
                continue;
            }
            let name: Arc<str> = Arc::from(name.as_str());
            if !request.initial.contains_key(&*name) {
                subscription.again.insert(name.clone());
            }
            subscription.add(name);
            self.asked = true;
        }
        for name in &request.unsubscribe {
            if name == WILDCARD {
                subscription.set_wildcard(false);
            } else if subscription.names.remove(name.as_str()) && subscription.wildcard {
                // The wildcard still requests it, and the client expects it to be sent again.
                subscription.again.insert(Arc::from(name.as_str()));
            }
        }
        subscription.forget_unwanted();
    }

    /// State of the world: missing resources are treated as removed. With `keep`, removed resources that the client has
    /// stay for now.
    fn whole(&mut self, resources: &Arc<Resources>, keep: bool) -> Content {
        let mut all: BTreeMap<Arc<str>, Arc<Encoded>> = self.subscription.wanted(resources).map(|(name, of)| (name.clone(), of.clone())).collect();
        let mut version = resources.version.clone();
        let gone: Vec<Arc<str>> = self.held.keys().filter(|name| !all.contains_key(*name)).cloned().collect();
        if keep && !gone.is_empty() {
            version.push_str("-and-before");
            all.extend(gone.iter().filter_map(|name| Some((name.clone(), self.held.get(name)?.clone()))));
        }
        // Kept resources are in the list. All other removed resources are missing from it.
        let absent = self.subscription.names.iter().chain(&gone).filter(|name| !all.contains_key(*name));
        let absent: Vec<Arc<str>> = absent.cloned().collect();
        let list: Vec<Arc<Encoded>> = all.values().cloned().collect();
        self.held = all;
        self.subscription.note(resources, &list, &absent);
        (version, list, Vec::new())
    }

    /// Only changed resources.
    fn partial(&mut self, resources: &Arc<Resources>, difference: Difference, protocol: Protocol) -> Content {
        let Difference { changed, gone, .. } = difference;
        let gone = if protocol == Protocol::Delta { gone } else { Vec::new() };
        self.subscription.note(resources, &changed, &gone);
        (resources.version.clone(), changed, gone)
    }

    fn send(&mut self, content: Content, set: &Arc<Resources>, type_url: &Arc<str>, nonce: u64, now: Instant) -> Response {
        let (version, resources, removed) = content;
        let nonce = format!("{nonce:x}");
        let list = set.whole_list(&resources);
        let whole = list.is_some().then(|| set.clone());
        let resources: Arc<[Arc<Encoded>]> = list.unwrap_or_else(|| resources.into());
        self.last.clone_from(&nonce);
        self.open = Some((nonce.clone(), Sent { at: now, version: version.clone(), resources: resources.clone(), removed: removed.clone() }));
        self.heard = Some(now);
        Response { type_url: type_url.clone(), nonce, version, resources, removed, ttl: None, is_delta: false, heartbeat: false, whole }
    }
}

/// Parses a version. A foreign version equals none of ours.
fn parse_version(text: &str) -> Fingerprint {
    let mut out = Fingerprint::default();
    if text.len() == out.0.len() * 2 && text.is_ascii() {
        for (at, byte) in out.0.iter_mut().enumerate() {
            *byte = text.get(at * 2..at * 2 + 2).and_then(|digits| u8::from_str_radix(digits, 16).ok()).unwrap_or_default();
        }
    }
    out
}
