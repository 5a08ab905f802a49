//! The report on requests that change: plain data, grouped by how they change. Field names are a contract: programs read them.
//!
//! What must not be here: finding them.

use super::difference::Relevance;
use super::place::{OTHER_THAN, scheme_of};
use crate::OriginView;
use alloc::borrow::ToOwned;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_envoy::simulate::{ClusterShare, Outcome, Request, RouteRef, Simulation};
use core::cmp::Reverse;

/// Requests that two configurations treat differently.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Requests {
    /// What changes, and for which requests.
    pub changes: Vec<RequestChange>,
    /// How many requests went through both sides.
    pub compared: usize,
    /// Whether all parts of the space of requests that could differ were looked at.
    pub complete: bool,
    /// What was not decided, in sentences.
    pub limits: Vec<String>,
}

impl Requests {
    /// Whether no request is treated differently.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }
}

/// Requests that change in the same way.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct RequestChange {
    /// Which they are, in words: `shop.example.com/api/*`.
    pub requests: String,
    /// What differs.
    pub differences: Vec<Difference>,
    /// One of them.
    pub witness: Witness,
    /// What becomes of the witness on the first side.
    pub before: Answer,
    /// What becomes of it on the second side.
    pub after: Answer,
    /// Where they are.
    pub places: Vec<RequestPlace>,
    /// How many more places there are.
    pub more_places: usize,
}

/// Something that differs.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Difference {
    /// What: `outcome`, `timeout`, `clusters`, `upstream path`, `request header NAME`..., or a field of Envoy as
    /// `route.retry_policy.num_retries`.
    pub what: String,
    /// On the first side.
    pub before: Option<String>,
    /// On the second side.
    pub after: Option<String>,
    /// What made it on the first side.
    pub before_from: Option<OriginView>,
    /// What made it on the second side.
    pub after_from: Option<OriginView>,
}

/// A request that changes.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Witness {
    /// As a command.
    pub curl: String,
    /// Its method.
    pub method: String,
    /// Its URL.
    pub url: String,
    /// Its headers.
    pub headers: Vec<(String, String)>,
    /// The port that it comes in at on the first side.
    pub port_before: Option<u32>,
    /// The port that it comes in at on the second side.
    pub port_after: Option<u32>,
    /// Whether the connection is TLS.
    pub tls: bool,
    /// The server's name in the TLS handshake.
    pub sni: Option<String>,
    /// Protocols that the handshake offers.
    pub alpn: Vec<String>,
    /// Whether the client shows a certificate.
    pub client_certificate: bool,
    /// Where it comes from, where that matters.
    pub source: Option<String>,
    /// What chance gives, where that matters.
    pub seed: Option<u64>,
}

/// What becomes of the witness on one side.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Answer {
    /// In words.
    pub told: String,
    /// How it ends.
    pub outcome: Outcome,
    /// Status of a response that Envoy makes itself.
    pub status: Option<u32>,
    /// `Location` of a redirect.
    pub location: Option<String>,
    /// Name of the listener.
    pub listener: Option<String>,
    /// Name of the virtual host.
    pub virtual_host: Option<String>,
    /// The route.
    pub route: Option<RouteRef>,
    /// Where it goes.
    pub clusters: Vec<ClusterShare>,
    /// The host that the upstream gets.
    pub upstream_authority: Option<String>,
    /// The path that the upstream gets.
    pub upstream_path: Option<String>,
    /// How long the upstream has.
    pub timeout: Option<String>,
    /// Where the most exact that takes it stands in Envoy's configuration: route, virtual host, filter chain or listener.
    pub pointer: Option<String>,
    /// What made that.
    pub origins: Vec<OriginView>,
}

/// Requests of one place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct RequestPlace {
    /// The scheme of their URLs, where only that of one changes: `https`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheme: Option<String>,
    /// Hosts, as domains of virtual hosts; none where every host is meant.
    pub hosts: Vec<String>,
    /// Paths: `/api/*`, `/exact`, `~ REGEX`; none where every path is meant.
    pub path: Option<String>,
    /// What else they have, as of the route that takes them.
    pub conditions: Vec<String>,
    /// The port that they come in at on the first side.
    pub port_before: Option<u32>,
    /// The port that they come in at on the second side.
    pub port_after: Option<u32>,
    /// What takes them on the first side: a JSON pointer.
    pub before: Option<String>,
    /// What takes them on the second side.
    pub after: Option<String>,
}

/// At most this many places are given of one change.
const MOST_PLACES: usize = 100;

impl RequestPlace {
    /// The requests in words.
    #[must_use]
    pub fn words(&self) -> String {
        let scheme = self.scheme.as_ref().map(|scheme| format!("{scheme}://")).unwrap_or_default();
        let hosts = match self.hosts.as_slice() {
            [] => String::new(),
            [one] => format!("{scheme}{one}"),
            [first, second] => format!("{scheme}{{{first},{second}}}"),
            [first, rest @ ..] => format!("{scheme}{{{first} and {} more}}", rest.len()),
        };
        let mut out = match (&self.path, hosts.is_empty()) {
            (None, true) => {
                let scheme = self.scheme.as_ref().map(|scheme| format!(" {scheme}")).unwrap_or_default();
                let port = self.port_before.or(self.port_after).map(|port| format!(" on port {port}")).unwrap_or_default();
                format!("all{scheme}{port}")
            }
            (None, false) => hosts,
            (Some(path), _) if path.starts_with('~') => format!("{hosts} {path}"),
            (Some(path), _) => format!("{hosts}{path}"),
        };
        for condition in &self.conditions {
            out.push_str(", ");
            out.push_str(condition);
        }
        out
    }
}

/// Places in words, the first few.
pub(in crate::compare) fn words(places: &[RequestPlace], more: usize) -> String {
    let mut all: Vec<String> = places.iter().map(RequestPlace::words).collect();
    let mut seen = BTreeSet::new();
    all.retain(|words| seen.insert(words.clone()));
    const MOST: usize = 3;
    let rest = all.len().saturating_sub(MOST) + more;
    all.truncate(MOST);
    let all = all.join("; ");
    if rest == 0 { all } else { format!("{all}; and {rest} more") }
}

/// A change as it is found.
pub(super) struct FoundChange {
    /// What it has in common with others of its group.
    pub(super) key: String,
    /// Where the request goes on both sides, if it is forwarded and where it ends is what differs.
    pub(super) reached: [Option<String>; 2],
    pub(super) place: RequestPlace,
    pub(super) weight: Weight,
}

/// Which of several changes is reported first, and by which of several requests.
#[derive(Clone, Copy)]
pub(super) struct Weight {
    pub(super) changes: u8,
    pub(super) relevance: Relevance,
}

/// Requests that change in the same way.
struct Group {
    change: RequestChange,
    weight: Weight,
    seen: BTreeSet<RequestPlace>,
    /// Where all of them go on both sides.
    reached: [BTreeSet<String>; 2],
    /// Where the request goes that the report shows.
    shown: [Option<String>; 2],
}

/// At most this many places are named where other requests of a group go.
const MOST_REACHED: usize = 3;

impl Group {
    /// The change, with where other requests go than the one that it shows.
    fn finish(mut self) -> RequestChange {
        if let Some(outcome) = self.change.differences.iter_mut().find(|of| of.what == "outcome") {
            for ((words, shown), reached) in [&mut outcome.before, &mut outcome.after].into_iter().zip(&self.shown).zip(&self.reached) {
                let (Some(words), Some(shown)) = (words, shown) else { continue };
                let others: Vec<&str> = reached.iter().filter(|of| *of != shown).map(String::as_str).collect();
                let (few, more) = others.split_at(others.len().min(MOST_REACHED));
                match (few.is_empty(), more.len()) {
                    (true, _) => {}
                    (_, 0) => words.push_str(&format!("; others go to {}", few.join(", "))),
                    (_, more) => words.push_str(&format!("; others go to {} and {more} more", few.join(", "))),
                }
            }
        }
        merge(&mut self.change.places);
        self.change.requests = words(&self.change.places, self.change.more_places);
        self.change
    }
}

/// Makes one place of two that differ by their scheme alone, and takes back what a place leaves out where another place has it.
pub(in crate::compare) fn merge(places: &mut Vec<RequestPlace>) {
    let mut merged: Vec<RequestPlace> = Vec::new();
    for place in core::mem::take(places) {
        let is_twin = |of: &&mut RequestPlace| {
            of.scheme.is_some()
                && of.scheme != place.scheme
                && (&of.hosts, &of.path, &of.conditions) == (&place.hosts, &place.path, &place.conditions)
        };
        match merged.iter_mut().find(is_twin).filter(|_| place.scheme.is_some() && place.path.is_some()) {
            Some(twin) => twin.scheme = None,
            None => merged.push(place),
        }
    }
    let has = |of: &RequestPlace, path: &str, all: &[RequestPlace]| {
        let is_it = |other: &RequestPlace| {
            let is_plain = other.conditions.iter().all(|words| words.starts_with(OTHER_THAN));
            other.path.as_deref() == Some(path) && is_plain && other.hosts == of.hosts && (other.scheme.is_none() || other.scheme == of.scheme)
        };
        all.iter().any(is_it)
    };
    *places = merged.clone();
    for place in places.iter_mut() {
        let of = place.clone();
        place.conditions.retain(|words| words.strip_prefix(OTHER_THAN).is_none_or(|path| !has(&of, path, &merged)));
    }
}

/// Changes so far, by their keys.
#[derive(Default)]
pub(super) struct Groups {
    by_key: BTreeMap<String, usize>,
    changes: Vec<Group>,
}

impl Groups {
    /// Adds to the group of a change, which `make` tells by a request. The request that tells the most of it stays.
    pub(super) fn add(&mut self, found: FoundChange, make: impl FnOnce() -> RequestChange) {
        let FoundChange { key, reached, place, weight } = found;
        let group = match self.by_key.get(&key).copied().and_then(|at| self.changes.get_mut(at)) {
            Some(group) => {
                if weight.relevance > group.weight.relevance {
                    let old = core::mem::replace(&mut group.change, make());
                    (group.change.places, group.change.more_places) = (old.places, old.more_places);
                    (group.weight, group.shown) = (weight, reached.clone());
                }
                group
            }
            None => {
                self.by_key.insert(key, self.changes.len());
                self.changes.push(Group { change: make(), weight, seen: BTreeSet::new(), reached: Default::default(), shown: reached.clone() });
                let Some(last) = self.changes.last_mut() else { return };
                last
            }
        };
        for (known, reached) in group.reached.iter_mut().zip(reached) {
            known.extend(reached);
        }
        if group.seen.insert(place.clone()) {
            let change = &mut group.change;
            if change.places.len() < MOST_PLACES { change.places.push(place) } else { change.more_places += 1 }
        }
    }

    /// What is written by somebody and grave comes first; of the same weight, in the order of the configuration.
    pub(super) fn finish(mut self) -> Vec<RequestChange> {
        self.changes.sort_by_key(|group| (!group.weight.relevance.is_written(), group.weight.changes, Reverse(group.weight.relevance)));
        self.changes.into_iter().map(Group::finish).collect()
    }
}

impl Witness {
    /// A request, and the ports that it comes in at on both sides.
    pub(in crate::compare) fn of(request: &Request, ports: [Option<u32>; 2]) -> Self {
        let [port_before, port_after] = ports;
        let url = format!("{}://{}{}", scheme_of(request), request.authority, request.path);
        let headers: Vec<(String, String)> = request.headers.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        Self {
            curl: curl(request, &url, &headers, port_after.or(port_before)),
            method: request.method.clone(),
            url,
            headers,
            port_before,
            port_after,
            tls: request.tls,
            sni: request.sni.clone(),
            alpn: request.alpn.clone(),
            client_certificate: request.client_certificate,
            source: request.source.map(|source| source.to_string()),
            seed: request.seed,
        }
    }
}

/// A command that sends the request to `$GATEWAY`.
fn curl(request: &Request, url: &str, headers: &[(String, String)], port: Option<u32>) -> String {
    let quoted = |text: &str| shlex::try_quote(text).map(|text| text.into_owned()).unwrap_or_else(|_| "''".to_owned());
    let mut out = "curl".to_owned();
    if request.method != "GET" {
        out.push_str(&format!(" -X {}", quoted(&request.method)));
    }
    for (name, value) in headers {
        let header = if value.is_empty() { format!("{name};") } else { format!("{name}: {value}") };
        out.push_str(&format!(" -H {}", quoted(&header)));
    }
    let host = chancery_envoy::simulate::host_of(&request.authority);
    // What the handshake names is the URL's host.
    let other = request.sni.as_deref().filter(|sni| request.tls && *sni != host);
    let url = match other {
        Some(sni) => {
            out.push_str(&format!(" -H {}", quoted(&format!("host: {}", request.authority))));
            format!("https://{sni}{}", request.path)
        }
        None => url.to_owned(),
    };
    if let Some(port) = port {
        out.push_str(&format!(" --connect-to ::$GATEWAY:{port}"));
    }
    if request.tls {
        out.push_str(" -k");
    }
    out.push_str(&format!(" {}", quoted(&url)));
    out
}

/// What becomes of a request in words. `reached` is where it goes.
pub(super) fn told(simulation: &Simulation, reached: &str) -> String {
    match simulation.outcome {
        Outcome::Forward => format!("goes to {reached}"),
        Outcome::Redirect => {
            format!("is redirected ({}) to {}", simulation.status.unwrap_or_default(), simulation.location.as_deref().unwrap_or_default())
        }
        Outcome::DirectResponse => format!("is answered {}", simulation.status.unwrap_or_default()),
        Outcome::NoVirtualHost => "is answered 404: no virtual host has its host".to_owned(),
        Outcome::NoRoute => "is answered 404: no route matches it".to_owned(),
        Outcome::NoListener => "finds no listener".to_owned(),
        Outcome::NoFilterChain => "fails: no filter chain matches the connection".to_owned(),
        Outcome::Reset => format!("fails: {}", simulation.why.as_deref().unwrap_or_default()),
    }
}
