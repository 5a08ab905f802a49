//! Defines the report on changed requests: plain data, grouped by change. Its field names are a contract, since programs read them.
//!
//! Does not find changes; see `behaviour`.

use super::both::scheme_of;
use super::difference::Relevance;
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
    pub changes: Vec<RequestChange>,
    /// How many requests were simulated on both sides.
    pub compared: usize,
    /// Whether every class of requests that could differ was tried.
    pub complete: bool,
    /// Undecided parts, in sentences.
    pub limits: Vec<String>,
}

impl Requests {
    /// Whether no request is treated differently.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }
}

/// Requests with the same change.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct RequestChange {
    /// A phrase for the requests: `shop.example.com/api/*`.
    pub requests: String,
    pub differences: Vec<Difference>,
    /// One of the requests.
    pub witness: Witness,
    /// What happens to the witness on the first side.
    pub before: Answer,
    /// What happens to it on the second side.
    pub after: Answer,
    pub places: Vec<RequestPlace>,
    /// How many more places there are.
    pub more_places: usize,
}

/// One difference.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Difference {
    /// `outcome`, `timeout`, `clusters`, `upstream path`, `request header NAME`..., or an Envoy field as `route.retry_policy.num_retries`.
    pub what: String,
    /// On the first side.
    pub before: Option<String>,
    /// On the second side.
    pub after: Option<String>,
    /// Its origin on the first side.
    pub before_from: Option<OriginView>,
    /// Its origin on the second side.
    pub after_from: Option<OriginView>,
}

/// A request that is treated differently.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Witness {
    /// As a command.
    pub curl: String,
    pub method: String,
    pub url: String,
    pub headers: Vec<(String, String)>,
    /// The port on the first side.
    pub port_before: Option<u32>,
    /// The port on the second side.
    pub port_after: Option<u32>,
    pub tls: bool,
    /// The server name of the TLS handshake.
    pub sni: Option<String>,
    /// Protocols that the handshake offers.
    pub alpn: Vec<String>,
    /// Whether the client has a certificate.
    pub client_certificate: bool,
    /// The client's address, if it matters.
    pub source: Option<String>,
    /// The random number, if it matters.
    pub seed: Option<u64>,
}

/// What happens to the witness on one side.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Answer {
    /// As the end of a sentence.
    pub summary: String,
    pub outcome: Outcome,
    /// Status of a response that Envoy makes itself.
    pub status: Option<u32>,
    /// `Location` of a redirect.
    pub location: Option<String>,
    pub listener: Option<String>,
    pub virtual_host: Option<String>,
    pub route: Option<RouteRef>,
    pub clusters: Vec<ClusterShare>,
    /// The host that the upstream receives.
    pub upstream_authority: Option<String>,
    /// The path that the upstream receives.
    pub upstream_path: Option<String>,
    /// How long the upstream may take.
    pub timeout: Option<String>,
    /// The place of the most specific part in Envoy's configuration that handles it: route, virtual host, filter chain or listener.
    pub pointer: Option<String>,
    /// The origins of that part.
    pub origins: Vec<OriginView>,
}

/// Requests of one place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct RequestPlace {
    /// The scheme of their URLs, if only one scheme is affected: `https`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheme: Option<String>,
    /// Hosts, as domains of virtual hosts; empty for every host.
    pub hosts: Vec<String>,
    /// Paths: `/api/*`, `/exact`, `~ REGEX`; `None` for every path.
    pub path: Option<String>,
    /// Further conditions, from the route that matches them.
    pub conditions: Vec<String>,
    /// The port on the first side.
    pub port_before: Option<u32>,
    /// The port on the second side.
    pub port_after: Option<u32>,
    /// The part that handles them on the first side, as a JSON pointer.
    pub before: Option<String>,
    /// The part that handles them on the second side.
    pub after: Option<String>,
}

/// The start of a condition that excludes requests.
pub(super) const OTHER_THAN: &str = "other than ";

/// At most this many places are listed for one change.
const MOST_PLACES: usize = 100;

impl RequestPlace {
    /// Describes the requests as a phrase.
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

/// Describes the first few places.
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

/// A change before it is grouped.
pub(super) struct FoundChange {
    /// The key that all changes of its group share.
    pub(super) key: String,
    /// The targets on both sides, if the request is forwarded and only its target differs.
    pub(super) reached: [Option<String>; 2],
    pub(super) place: RequestPlace,
    pub(super) weight: Weight,
}

/// The order of changes in the report, and of requests in a change.
#[derive(Clone, Copy)]
pub(super) struct Weight {
    pub(super) changes: u8,
    pub(super) relevance: Relevance,
}

/// Requests with the same change.
struct Group {
    change: RequestChange,
    weight: Weight,
    seen: BTreeSet<RequestPlace>,
    /// All targets on both sides.
    reached: [BTreeSet<String>; 2],
    /// The targets of the request that the report shows.
    shown: [Option<String>; 2],
}

/// At most this many other targets of a group are named.
const MOST_REACHED: usize = 3;

impl Group {
    /// Finishes the change, and names the targets of requests that it does not show.
    fn finish(mut self) -> RequestChange {
        if let Some(outcome) = self.change.differences.iter_mut().find(|of| of.what == "outcome") {
            for ((words, shown), reached) in [&mut outcome.before, &mut outcome.after].into_iter().zip(&self.shown).zip(&self.reached) {
                let (Some(words), Some(shown)) = (words, shown) else { continue };
                let others: Vec<&str> = reached.iter().filter(|of| *of != shown).map(String::as_str).collect();
                let (few, more) = others.split_at(others.len().min(MOST_REACHED));
                match (few.is_empty(), more.len()) {
                    (true, _) => {}
                    (_, 0) => words.push_str(&format!("; others of these requests go to {}", few.join(", "))),
                    (_, more) => words.push_str(&format!("; others of these requests go to {} and {more} more", few.join(", "))),
                }
            }
        }
        merge(&mut self.change.places);
        self.change.requests = words(&self.change.places, self.change.more_places);
        self.change
    }
}

/// Joins places that differ only in their scheme, and removes exclusions that another place covers.
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
            let is_wider = other.conditions.iter().all(|words| words.starts_with(OTHER_THAN) || of.conditions.contains(words));
            other.path.as_deref() == Some(path) && is_wider && other.hosts == of.hosts && (other.scheme.is_none() || other.scheme == of.scheme)
        };
        all.iter().any(is_it)
    };
    *places = merged.clone();
    for place in places.iter_mut() {
        let of = place.clone();
        place.conditions.retain(|words| words.strip_prefix(OTHER_THAN).is_none_or(|path| !has(&of, path, &merged)));
    }
}

/// The changes so far, by their keys.
#[derive(Default)]
pub(super) struct Groups {
    by_key: BTreeMap<String, usize>,
    changes: Vec<Group>,
}

impl Groups {
    /// Adds a change to its group. `make` builds the report from a request; the most relevant request of the group is kept.
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

    /// Sorts changes: written and severe ones first, then in the order of the configuration.
    pub(super) fn finish(mut self) -> Vec<RequestChange> {
        self.changes.sort_by_key(|group| (!group.weight.relevance.is_written(), group.weight.changes, Reverse(group.weight.relevance)));
        self.changes.into_iter().map(Group::finish).collect()
    }
}

impl Witness {
    /// Describes a request and its ports on both sides.
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

/// Returns a command that sends the request to `$GATEWAY`.
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
    // The server name of the handshake is the host of the URL.
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

/// Describes what happens to a request. `reached` is its target.
pub(super) fn describe_result(simulation: &Simulation, reached: &str) -> String {
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
