//! Replays logged requests in one or two configurations: which requests would be answered differently, how many, and since when; which logged answers
//! the configuration does not explain; and which routes no request reached.
//!
//! Equal requests are simulated once. The memory is bounded: at most [`MOST_CACHED`] requests are remembered, and everything else is counted by
//! change.
//!
//! Does not open files; see the CLI. Does not read log lines; see [`log`]. Does not simulate; see `compare` and `request_test`.

mod answers;
mod json_log;
mod log;
mod logged_request;
mod privacy;

pub use answers::ReplayGateways;
pub use json_log::{is_har, read_har};
pub use log::{FORMATS as LOG_FORMATS, LogFormat, names as log_format_names};
pub use logged_request::LoggedRequest;

use crate::compare::Difference;
use crate::coverage::{Coverage, CoveredPart, PartId, PartKind};
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use answers::{Evaluated, Expected};
use chancery_envoy::simulate::Request;
use hashbrown::HashMap;

/// At most this many distinct requests are remembered.
const MOST_CACHED: usize = 1 << 18;
/// At most this many changes are reported one by one.
const MOST_CHANGES: usize = 2_000;
/// At most this many numbers of unreadable lines are reported.
const MOST_LINES: usize = 3;

/// What a log does not say about its requests.
#[derive(Clone, Debug, Default)]
pub struct ReplayOptions {
    /// The host of requests without one.
    pub host: Option<String>,
    /// Whether requests without a scheme use https; by default, they do if the gateway has TLS.
    pub https: Option<bool>,
    /// Show examples with query values and whole paths.
    pub show_personal_data: bool,
}

/// Requests with the same change.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct ReplayedChange {
    pub requests: u64,
    /// The time of its first and last request, as the log writes it.
    pub first: Option<String>,
    pub last: Option<String>,
    /// One of the requests, without personal data.
    pub example: String,
    pub before: String,
    pub after: String,
    /// The differences, with lines. Empty if a side is not an Envoy.
    pub differences: Vec<Difference>,
}

/// Requests whose logged answer is not the answer of the configuration.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Disagreement {
    pub requests: u64,
    pub first: Option<String>,
    pub last: Option<String>,
    pub example: String,
    /// What the configuration says.
    pub expected: String,
    /// What the log says.
    pub logged: String,
}

/// The result of a replay.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct ReplayReport {
    /// All requests that were read.
    pub requests: u64,
    /// Lines that are not requests, with the numbers of the first ones.
    pub unreadable: u64,
    pub unreadable_lines: Vec<u64>,
    /// Requests without a host, which cannot be replayed.
    pub without_host: u64,
    /// How many requests were simulated. Equal requests are simulated once.
    pub simulated: u64,
    pub first: Option<String>,
    pub last: Option<String>,
    /// Requests that would be answered differently, by change, most requests first. Empty with one configuration.
    pub changed: u64,
    pub changes: Vec<ReplayedChange>,
    /// Changes that are counted but not listed.
    pub more_changes: u64,
    /// Requests whose logged answer differs from the answer of the (first) configuration.
    pub unexplained: u64,
    pub disagreements: Vec<Disagreement>,
    /// Requests whose route depends on a header that the log does not have, by header.
    pub undecided: BTreeMap<String, u64>,
    /// Rules, redirects and own answers of the (second) configuration that no request reached.
    pub unused: Vec<CoveredPart>,
}

/// A simulated request.
struct Cached {
    count: u64,
    reached: Box<[PartId]>,
    /// Its change in [`Replay::changes`].
    change: Option<usize>,
    expected: usize,
    undecided: Box<[String]>,
}

/// A group of requests in the report.
struct Group<T> {
    by_key: HashMap<String, usize>,
    all: Vec<T>,
}

impl<T> Default for Group<T> {
    fn default() -> Self {
        Self { by_key: HashMap::new(), all: Vec::new() }
    }
}

impl<T> Group<T> {
    fn find(&mut self, key: &str, make: impl FnOnce() -> T) -> usize {
        if let Some(at) = self.by_key.get(key) {
            return *at;
        }
        self.by_key.insert(key.to_owned(), self.all.len());
        self.all.push(make());
        self.all.len() - 1
    }
}

/// A running replay.
pub struct Replay<'w, 'a> {
    gateways: answers::Answers<'w, 'a>,
    options: ReplayOptions,
    cache: HashMap<String, Cached>,
    /// Answers that requests of the first configuration get, by their words.
    expected: Group<Expected>,
    changes: Group<ReplayedChange>,
    disagreements: HashMap<(usize, Option<u16>, bool, Option<String>), Disagreement>,
    hits: HashMap<PartId, u64>,
    report: ReplayReport,
    line: u64,
    key: String,
}

impl<'w, 'a> Replay<'w, 'a> {
    #[must_use]
    pub fn new(gateways: &'w ReplayGateways<'a>, options: ReplayOptions) -> Self {
        Self {
            gateways: gateways.answers(),
            options,
            cache: HashMap::new(),
            expected: Group::default(),
            changes: Group::default(),
            disagreements: HashMap::new(),
            hits: HashMap::new(),
            report: ReplayReport::default(),
            line: 0,
            key: String::new(),
        }
    }

    /// Takes a line of a log.
    pub fn line(&mut self, format: &LogFormat, line: &str) {
        self.line += 1;
        if line.trim().is_empty() || line.starts_with('#') {
            return;
        }
        match format.read(line) {
            Some(logged) => self.take(&logged),
            None => self.unreadable(),
        }
    }

    /// Counts a line that is not a request.
    pub fn unreadable(&mut self) {
        self.report.unreadable += 1;
        if self.report.unreadable_lines.len() < MOST_LINES {
            self.report.unreadable_lines.push(self.line);
        }
    }

    /// Takes a request.
    pub fn take(&mut self, logged: &LoggedRequest<'_>) {
        let Some(path) = logged.path.as_deref() else { return self.unreadable() };
        let fallback = if logged.authority.is_none() { self.options.host.clone() } else { None };
        let Some(host) = logged.authority.as_deref().or(fallback.as_deref()) else {
            self.report.without_host += 1;
            return;
        };
        let method = logged.method.as_deref().unwrap_or("GET");
        let tls = match logged.scheme.as_deref() {
            Some(scheme) => scheme.eq_ignore_ascii_case("https"),
            None => self.options.https.unwrap_or(self.gateways.has_tls()),
        };
        let (bare, query) = path.split_once('?').unwrap_or((path, ""));
        let mut key = core::mem::take(&mut self.key);
        key.clear();
        for part in [method, if tls { "s" } else { "" }, host, bare, if self.gateways.reads_query() { query } else { "" }] {
            key.push_str(part);
            key.push('\0');
        }
        for (name, value) in logged.headers.iter().filter(|(name, _)| self.gateways.reads_header(name)) {
            key.push_str(name);
            key.push('\u{1}');
            key.push_str(value);
            key.push('\0');
        }
        if !self.cache.contains_key(key.as_str()) {
            let Some(cached) = self.simulate(logged, (method, tls, host, path)) else {
                self.key = key;
                return self.unreadable();
            };
            if self.cache.len() >= MOST_CACHED {
                self.flush();
            }
            self.cache.insert(key.clone(), cached);
        }
        self.count(&key, logged);
        self.key = key;
    }

    /// Simulates a request; `None` if it is not a request that a gateway would accept.
    fn simulate(&mut self, logged: &LoggedRequest<'_>, (method, tls, host, path): (&str, bool, &str, &str)) -> Option<Cached> {
        let slash = if path.starts_with('/') { "" } else { "/" };
        let scheme = if tls { "https" } else { "http" };
        let mut request = Request::new(method, &alloc::format!("{scheme}://{host}{slash}{path}")).ok()?;
        for (name, value) in logged.headers.iter().filter(|(name, _)| self.gateways.reads_header(name)) {
            request.add_header(name, value);
        }
        let known = |name: &str| logged.headers.iter().any(|(known, _)| known == name);
        let Evaluated { change, expected, reached, undecided } = self.gateways.evaluate(&request, &known);
        self.report.simulated += 1;
        let shown = self.options.show_personal_data;
        let example = || privacy::example(&request, shown);
        let words = expected.key.clone();
        let expected = self.expected.find(&words, || expected);
        let change = change.map(|change| {
            if self.changes.all.len() >= MOST_CHANGES && !self.changes.by_key.contains_key(&change.key) {
                return usize::MAX;
            }
            let make = || ReplayedChange {
                example: example(),
                before: privacy::words(&change.before, shown),
                after: privacy::words(&change.after, shown),
                differences: change.differences.into_iter().map(|of| privacy::difference(of, shown)).collect(),
                ..ReplayedChange::default()
            };
            self.changes.find(&change.key, make)
        });
        Some(Cached { count: 0, reached: reached.into_iter().collect(), change, expected, undecided: undecided.into_iter().collect() })
    }

    /// Counts a request that is in the cache.
    fn count(&mut self, key: &str, logged: &LoggedRequest<'_>) {
        let Some(cached) = self.cache.get_mut(key) else { return };
        cached.count += 1;
        let time = logged.time.as_deref();
        self.report.requests += 1;
        see(&mut self.report.first, &mut self.report.last, time);
        if let Some(change) = cached.change {
            self.report.changed += 1;
            match self.changes.all.get_mut(change) {
                Some(change) => {
                    change.requests += 1;
                    see(&mut change.first, &mut change.last, time);
                }
                None => self.report.more_changes += 1,
            }
        }
        for name in &cached.undecided {
            match self.report.undecided.get_mut(name) {
                Some(count) => *count += 1,
                None => _ = self.report.undecided.insert(name.clone(), 1),
            }
        }
        let number = cached.expected;
        let Some(expected) = self.expected.all.get(number) else { return };
        let is_undecided = !cached.undecided.is_empty();
        let Some(words) = expected.contradicts(logged).filter(|_| !is_undecided) else { return };
        self.report.unexplained += 1;
        let by_gateway = logged.upstream.as_deref() == Some("");
        let flags = logged.flags.as_deref().map(ToString::to_string);
        let shown = self.options.show_personal_data;
        let disagreement = self.disagreements.entry((number, logged.status, by_gateway, flags)).or_insert_with(|| Disagreement {
            example: privacy::logged(logged, self.options.host.as_deref(), shown),
            expected: privacy::words(&expected.words, shown),
            logged: words,
            ..Disagreement::default()
        });
        disagreement.requests += 1;
        see(&mut disagreement.first, &mut disagreement.last, time);
    }

    /// Adds the cached requests to the counts, and forgets them.
    fn flush(&mut self) {
        for (_, cached) in self.cache.drain() {
            for part in cached.reached {
                *self.hits.entry(part).or_default() += cached.count;
            }
        }
    }

    /// Finishes the replay. `coverage` has the parts of the (second) configuration.
    #[must_use]
    pub fn finish(mut self, mut coverage: Coverage) -> ReplayReport {
        self.flush();
        let mut report = self.report;
        report.changes = self.changes.all;
        report.changes.sort_by(|one, other| other.requests.cmp(&one.requests).then_with(|| one.example.cmp(&other.example)));
        report.disagreements = self.disagreements.into_values().collect();
        let order = |of: &Disagreement| (core::cmp::Reverse(of.requests), of.example.clone(), of.logged.clone(), of.expected.clone());
        report.disagreements.sort_by_cached_key(order);
        coverage.count(&self.hits.into_iter().filter(|(_, count)| *count > 0).map(|(id, _)| id).collect());
        let is_route = |part: &&CoveredPart| matches!(part.kind, PartKind::Rule | PartKind::Redirect | PartKind::Answer);
        let unreached = coverage.sorted().into_iter().filter(|part| part.hits == 0 && part.unreachable.is_none());
        report.unused = unreached.filter(is_route).cloned().collect();
        report
    }
}

/// Keeps the time of the first and last request, as they come.
fn see(first: &mut Option<String>, last: &mut Option<String>, time: Option<&str>) {
    let Some(time) = time else { return };
    if first.is_none() {
        *first = Some(time.to_owned());
    }
    match last {
        Some(last) => {
            last.clear();
            last.push_str(time);
        }
        None => *last = Some(time.to_owned()),
    }
}

#[cfg(test)]
mod tests;
