//! Compares what two sides, usually of different controllers, do with the same requests: before and after a migration.
//!
//! The requests are made from the conditions of both sides. Each is simulated on both sides, and each difference becomes a row, grouped by its
//! cause. Does not simulate requests; see `answers`. Does not render.

mod accept;
mod access;
mod causes;
mod conditions;
mod difference;
mod requests;
mod snippets;
mod surroundings;

pub use accept::AcceptedChange;
pub use causes::{CAUSES, Cause, cause};
pub use surroundings::surroundings;

use crate::OriginView;
use crate::answers::{AnswerEnding, Aspect, GatewayAnswer, OpenGateways, Respondents};
use alloc::borrow::ToOwned as _;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use chancery_base::executor::{self, Executor, Work};
use chancery_envoy::simulate::{ANY_PASSWORD, Request, WrittenRequest};
use chancery_nginx::simulate::message::DEFAULT_CLIENT;
use conditions::Conditions;
use difference::{Found, differences, kind};
use requests::{Asked, Base, Variant, bases, name_of, request_words};

/// The differences between two sides.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct MigrationDiff {
    /// How many requests were tried on both sides.
    pub compared: usize,
    /// How many of them are treated alike in every compared aspect.
    pub same: usize,
    /// Hosts, each with the number of requests that are treated alike.
    pub same_hosts: Vec<SameHost>,
    /// Differences, by cause.
    pub causes: Vec<CauseGroup>,
    /// The parts that were not compared, in sentences.
    pub not_compared: Vec<String>,
    /// Accepted changes that cover no difference.
    pub unused: Vec<AcceptedChange>,
}

/// A host whose requests were compared.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct SameHost {
    pub host: String,
    pub same: usize,
    pub compared: usize,
}

/// Differences with the same cause.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct CauseGroup {
    /// The cause's name, which accepted changes refer to.
    pub rule: &'static str,
    pub title: &'static str,
    pub why: &'static str,
    /// The change that removes the differences.
    pub fix: &'static str,
    /// How many requests differ for this cause.
    pub requests: usize,
    pub rows: Vec<MigrationRow>,
}

/// Requests with the same difference.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct MigrationRow {
    /// The whole as a sentence about the first request.
    pub sentence: String,
    /// The difference: `answer`, or an aspect.
    pub what: String,
    pub before: SideAnswer,
    pub after: SideAnswer,
    pub because: String,
    pub fix: String,
    /// The first requests.
    pub requests: Vec<MigrationRequest>,
    /// How many more there are.
    pub more: usize,
    /// Why the difference is accepted, if it is.
    pub accepted: Option<String>,
}

/// One side's answer.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct SideAnswer {
    /// The value that differs.
    pub value: String,
    /// How the request ends; `None` if no request shows the difference.
    pub ending: Option<AnswerEnding>,
    pub status: Option<u32>,
    pub location: Option<String>,
    /// How the request ends, in words.
    pub answer: String,
    /// The rule that matches the request.
    pub rule: Option<String>,
    /// The lines that cause it.
    pub lines: Vec<OriginView>,
}

/// A request.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct MigrationRequest {
    /// As words: `GET https://shop.example.com/api`.
    pub words: String,
    #[serde(flatten)]
    pub written: WrittenRequest,
}

impl MigrationDiff {
    /// Returns all rows that are not accepted.
    pub fn open(&self) -> impl Iterator<Item = &MigrationRow> {
        self.causes.iter().flat_map(|cause| &cause.rows).filter(|row| row.accepted.is_none())
    }
}

/// At most this many requests of one row are named.
const MOST_REQUESTS: usize = 8;
/// The usual limit of combinations of host and path. Each is tried with several requests.
pub const MOST_COMBINATIONS: usize = 25_000;

/// Compares two sides. Tries at most `most` combinations of host and path, and says so if there are more.
#[must_use]
pub fn compare_migration(
    before: &Respondents<'_>,
    after: &Respondents<'_>,
    accepted: &[AcceptedChange],
    most: usize,
    executor: &dyn Executor,
) -> MigrationDiff {
    let mut conditions = Conditions::default();
    conditions.add(before);
    conditions.add(after);
    conditions.finish();
    let mut all = bases(&conditions);
    let mut limits = conditions.limits.clone();
    if all.len() > most {
        all.truncate(most);
        limits.insert(format!("Only requests of the first {} combinations of host and path were tried.", all.len()));
    }
    let size = all.len().div_ceil(executor.threads().max(1) * 4).max(1);
    let work = all.chunks(size).map(|chunk| -> Work<'_, Rows> {
        Box::new(move || {
            let mut part = Collector::new(before, after, accepted);
            part.ask(chunk);
            part.rows
        })
    });
    let parts = executor::all(executor, work.collect());
    let mut rows = Rows::default();
    parts.into_iter().for_each(|part| rows.merge(part));
    rows.add_gaps(&conditions, accepted);
    rows.finish(before, after, accepted, limits)
}

/// The key of a row: rank of the cause, aspect, values, acceptance.
type RowKey = (usize, Option<Aspect>, String, Option<usize>);

#[derive(Default)]
struct Rows {
    rows: BTreeMap<RowKey, Row>,
    hosts: BTreeMap<String, (usize, usize)>,
    /// Requests by cause.
    counts: BTreeMap<usize, usize>,
    used: BTreeSet<usize>,
    /// Conditions and locations of snippets that requests reached, by host.
    reached: BTreeSet<(String, String)>,
    /// Uncertain parts, each with its first request, and how many there are.
    notes: BTreeMap<String, (String, usize)>,
}

struct Row {
    found: Found,
    answers: [GatewayAnswer; 2],
    requests: Vec<Asked>,
    more: usize,
}

impl Rows {
    fn merge(&mut self, other: Self) {
        for (key, row) in other.rows {
            match self.rows.get_mut(&key) {
                None => drop(self.rows.insert(key, row)),
                Some(known) => {
                    known.more += row.more;
                    for asked in row.requests {
                        if known.requests.len() < MOST_REQUESTS { known.requests.push(asked) } else { known.more += 1 }
                    }
                }
            }
        }
        for (host, (same, all)) in other.hosts {
            let known = self.hosts.entry(host).or_default();
            *known = (known.0 + same, known.1 + all);
        }
        for (cause, count) in other.counts {
            *self.counts.entry(cause).or_default() += count;
        }
        self.used.extend(other.used);
        self.reached.extend(other.reached);
        for (note, (words, count)) in other.notes {
            self.note(note, words, count);
        }
    }

    /// Adds parts of the configurations that no request reached: they may deny requests that were not tried.
    fn add_gaps(&mut self, conditions: &Conditions, accepted: &[AcceptedChange]) {
        let of_hosts = conditions.hosts.iter().flat_map(|(pattern, host)| host.expected.iter().map(move |part| (name_of(pattern), part.clone())));
        let missed = of_hosts.filter(|part| !self.reached.contains(part)).map(|(host, part)| {
            let words = format!("no tried request to {host} reaches `{part}` of a snippet");
            (host, words)
        });
        let gaps: Vec<(String, String)> = missed.chain(conditions.gaps.iter().map(|gap| ("*".to_owned(), gap.clone()))).collect();
        let rank = CAUSES.iter().position(|cause| cause.name == causes::NOT_EVALUATED.name).unwrap_or_default();
        for (host, before) in gaps {
            let by = accepted.iter().position(|of| of.covers(causes::NOT_EVALUATED.name, &host, "/", None));
            self.used.extend(by);
            let found = Found {
                cause: causes::NOT_EVALUATED,
                aspect: None,
                key: before.clone(),
                before,
                after: "not compared".to_owned(),
                places: [None, None],
            };
            let key = (rank, None, found.key.clone(), by);
            self.rows.insert(key, Row { found, answers: Default::default(), requests: Vec::new(), more: 0 });
        }
    }

    fn note(&mut self, note: String, words: String, count: usize) {
        match self.notes.get_mut(&note) {
            None => drop(self.notes.insert(note, (words, count))),
            Some(known) => {
                known.1 += count;
                if words < known.0 {
                    known.0 = words;
                }
            }
        }
    }

    fn finish(self, before: &Respondents<'_>, after: &Respondents<'_>, accepted: &[AcceptedChange], limits: BTreeSet<String>) -> MigrationDiff {
        let mut out = MigrationDiff::default();
        for (host, (same, compared)) in self.hosts {
            out.same += same;
            out.compared += compared;
            out.same_hosts.push(SameHost { host, same, compared });
        }
        for ((rank, _, _, accepted_by), row) in self.rows {
            let Some(cause) = CAUSES.get(rank) else { continue };
            let group = match out.causes.last_mut() {
                Some(last) if last.rule == cause.name => last,
                _ => {
                    let requests = self.counts.get(&rank).copied().unwrap_or_default();
                    out.causes.push(CauseGroup { rule: cause.name, title: cause.title, why: cause.why, fix: cause.fix, requests, rows: Vec::new() });
                    let Some(last) = out.causes.last_mut() else { continue };
                    last
                }
            };
            let reason = accepted_by.and_then(|at| accepted.get(at)).map(|of| of.reason.clone());
            group.rows.push(row.finish(before, after, reason));
        }
        out.unused = accepted.iter().enumerate().filter(|(at, _)| !self.used.contains(at)).map(|(_, of)| of.clone()).collect();
        out.not_compared = not_compared(before, after);
        out.not_compared.extend(limits);
        let more = self.notes.len().saturating_sub(MOST_NOTES);
        out.not_compared.extend(self.notes.into_iter().take(MOST_NOTES).map(|(note, (words, count))| match count {
            1 => format!("{words}: {note}."),
            _ => format!("{words} and {} more: {note}.", count - 1),
        }));
        if more > 0 {
            out.not_compared.push(format!("{more} more parts are uncertain."));
        }
        out
    }
}

/// At most this many notes of simulations are shown.
const MOST_NOTES: usize = 40;

/// The note about requests that one side checks and the other cannot.
const BEHIND_PASSWORD: &str =
    "the second side answers 500 instead of asking for a password, so answers to requests with a password were not compared";

/// Returns what no request shows.
fn not_compared(before: &Respondents<'_>, after: &Respondents<'_>) -> Vec<String> {
    let mut out = Vec::from([
        "Contents of Secrets, and responses of services and of authentication services: services are assumed to answer 200.".to_owned(),
        "Bodies without `Content-Length`, which a limit by this header does not cover.".to_owned(),
        "Compression, buffers, logs, metrics and connection limits towards services; ciphers, idle timeouts of clients, load balancing, attributes \
         of cookies."
            .to_owned(),
        "The Secret with the passwords, and the headers that go to an authentication service and come from it.".to_owned(),
        "The authorities that sign certificates of clients and of services.".to_owned(),
        "Names in certificates that are not in the input: Envoy Gateway offers no HTTP/2 to listeners whose certificates have a name in common."
            .to_owned(),
        "TCP and UDP services.".to_owned(),
        "Limits that several paths share, and headers of services that a gateway hides.".to_owned(),
        "Headers of answers that a gateway gives itself, such as redirects and errors, except `Location`.".to_owned(),
        "Response timeouts are compared as numbers. nginx limits the pause between two reads; a route timeout of Envoy limits the whole response."
            .to_owned(),
        "Paths, headers and values that neither side names, except the variants that were tried.".to_owned(),
        "Whether the gateways accept their configurations; `chancery check` reports parts that they reject.".to_owned(),
    ]);
    for side in [before, after] {
        if side.kind() == "Application Gateway" {
            out.push("Headers, certificates, retries and limits of Application Gateway; its answers follow Azure's documentation.".to_owned());
        }
        if side.len() > 1 {
            out.push(format!("One side runs {} gateways: each request goes to the one that serves it.", side.len()));
        }
    }
    out
}

impl Row {
    fn finish(self, before: &Respondents<'_>, after: &Respondents<'_>, accepted: Option<String>) -> MigrationRow {
        let Self { found, answers, requests, more } = self;
        let first = requests.first();
        let words = first.map(|asked| request_words(&asked.request)).unwrap_or_default();
        let variant =
            first.map(|asked| asked.variant.words()).filter(|words| !words.is_empty()).map(|words| format!(" ({words})")).unwrap_or_default();
        let is_gap = found.cause.name == causes::NOT_EVALUATED.name;
        let because = match &found.aspect {
            None if !is_gap => because(&answers, before.kind(), after.kind()),
            _ => found.cause.why.trim_end_matches('.').to_owned(),
        };
        let what = match &found.aspect {
            Some(aspect) => aspect.label(),
            None if is_gap => "not evaluated".to_owned(),
            None => "answer".to_owned(),
        };
        let sentence = match &found.aspect {
            None if requests.is_empty() => found.before.clone(),
            None if is_gap => format!("`{words}`{variant}: {}", found.before),
            None => format!(
                "`{words}`{variant}: was {}, will be {}, because {because}",
                quoted(&answers[0], &found.before),
                quoted(&answers[1], &found.after)
            ),
            Some(aspect) => {
                let was = if aspect.is_plural() { "were" } else { "was" };
                format!("`{words}`{variant}: {what} {was} `{}`, will be `{}`", found.before, found.after)
            }
        };
        let [old, new] = &answers;
        let [old_place, new_place] = &found.places;
        let side = |answer: &GatewayAnswer, value: &str, place: &Option<crate::answers::PartPlace>, of: &Respondents<'_>| {
            let own = answer.place.as_ref().map(|place| of.lines(place)).unwrap_or_default();
            let lines = place.as_ref().map(|place| of.lines(place)).filter(|lines| !lines.is_empty()).unwrap_or(own);
            SideAnswer {
                value: value.to_owned(),
                ending: first.map(|_| answer.ending),
                status: answer.status,
                location: answer.location.clone(),
                answer: answer.words(),
                rule: answer.rule.clone(),
                lines,
            }
        };
        MigrationRow {
            sentence,
            before: side(old, &found.before, old_place, before),
            after: side(new, &found.after, new_place, after),
            what,
            because,
            fix: found.cause.fix.to_owned(),
            requests: requests
                .iter()
                .map(|asked| MigrationRequest { words: request_words(&asked.request), written: written(&asked.request) })
                .collect(),
            more,
            accepted,
        }
    }
}

/// Returns a request as users write it.
fn written(request: &Request) -> WrittenRequest {
    let scheme = if request.tls { "https" } else { "http" };
    WrittenRequest {
        method: request.method.clone(),
        url: format!("{scheme}://{}{}", request.authority, request.path),
        headers: request.headers.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
        source: request.source.map(|address| address.to_string()),
        client_certificate: request.client_certificate,
        ..WrittenRequest::default()
    }
}

fn quoted(answer: &GatewayAnswer, words: &str) -> String {
    if answer.ending == AnswerEnding::NotAnswered { words.to_owned() } else { format!("`{words}`") }
}

/// Explains a different ending by the rules of both sides.
fn because(answers: &[GatewayAnswer; 2], before: &str, after: &str) -> String {
    let one = |answer: &GatewayAnswer, kind: &str| match (&answer.rule, &answer.why) {
        (Some(rule), None) => format!("{kind} matches it with `{rule}`"),
        (Some(rule), Some(why)) if answer.ending == AnswerEnding::Answered => format!("{kind} matches it with `{rule}` ({why})"),
        (Some(rule), Some(_)) => format!("{kind} matches it with `{rule}`"),
        (None, Some(why)) => format!("{kind} has no rule for it ({why})"),
        (None, None) => format!("{kind} has no rule for it"),
    };
    format!("{}, and {}", one(&answers[0], before), one(&answers[1], after))
}

/// The credentials that requests have. They are taken to be right.
#[derive(Clone, Copy, Default, PartialEq)]
struct Credentials {
    certificate: bool,
    password: bool,
}

impl Credentials {
    /// Adds the credentials that a side asks for. Returns whether there are new ones.
    fn add_wanted(&mut self, answers: &[GatewayAnswer; 2]) -> bool {
        let before = *self;
        self.certificate |= answers.iter().any(|answer| answer.wants_certificate);
        self.password |= answers.iter().any(|answer| answer.ending == AnswerEnding::Answered && answer.status == Some(401));
        *self != before
    }

    fn give(self, request: &mut Request) {
        request.client_certificate |= self.certificate;
        if self.password && request.headers.first("authorization").is_none() {
            request.headers.add("authorization", &format!("Basic {ANY_PASSWORD}"));
        }
    }
}

/// At most this many clients try all requests for a host and path.
const MOST_CLIENTS: usize = 3;

/// The name of a request header that a gateway sets itself. Other requests try headers about the way of a request.
fn owned_header(aspect: &Aspect) -> Option<&str> {
    let Aspect::RequestHeader(name) = aspect else { return None };
    let is_tried =
        name.starts_with("x-forwarded-") || name.starts_with("x-envoy-") || matches!(name.as_str(), "authorization" | "cookie" | "x-request-id");
    (!is_tried).then_some(name)
}

/// Asks both sides, and collects the differences.
struct Collector<'r, 'c> {
    before: &'r Respondents<'c>,
    after: &'r Respondents<'c>,
    accepted: &'r [AcceptedChange],
    rows: Rows,
}

impl<'r, 'c> Collector<'r, 'c> {
    fn new(before: &'r Respondents<'c>, after: &'r Respondents<'c>, accepted: &'r [AcceptedChange]) -> Self {
        Self { before, after, accepted, rows: Rows::default() }
    }

    fn ask(&mut self, chunk: &[Base<'_>]) {
        let gateways = [self.before.open(), self.after.open()];
        for base in chunk {
            let mut known: Vec<[String; 2]> = Vec::new();
            for client in base.clients() {
                let Some(mut plain) = base.plain().filter(|_| known.len() < MOST_CLIENTS) else { break };
                if client != DEFAULT_CLIENT {
                    plain = Asked { request: Request { source: Some(client), ..plain.request }, variant: Variant::Client };
                }
                let answers = gateways.each_ref().map(|gateway| gateway.answer(&plain.request));
                // Clients that both sides treat alike need not try everything again.
                let kinds = answers.each_ref().map(kind);
                if !known.contains(&kinds) {
                    known.push(kinds);
                    self.ask_all(base, &gateways, plain, answers);
                }
            }
        }
    }

    /// Asks for the plain request of a client, and for its variants.
    fn ask_all(&mut self, base: &Base<'_>, gateways: &[OpenGateways<'_>; 2], mut plain: Asked, mut answers: [GatewayAnswer; 2]) {
        let ask = |request: &Request| gateways.each_ref().map(|gateway| gateway.answer(request));
        self.add(&base.host, &plain, &answers, None);
        // All other requests have the credentials that either side asks for.
        let mut credentials = Credentials::default();
        while credentials.add_wanted(&answers) {
            credentials.give(&mut plain.request);
            let own = ask(&plain.request);
            self.add(&base.host, &plain, &own, Some(&answers));
            answers = own;
        }
        let is_moved = |answer: &GatewayAnswer| {
            answer.ending == AnswerEnding::Redirected && answer.location.as_deref().is_some_and(|location| location.starts_with("https://"))
        };
        let both_move = !base.tls && answers.iter().all(is_moved);
        let client = plain.request.source;
        // A list of clients is tried once.
        let variants = base.variants(both_move).into_iter().filter(|asked| asked.variant != Variant::Client || client == Some(DEFAULT_CLIENT));
        let set = answers.iter().flat_map(|answer| answer.facts.keys()).filter_map(owned_header);
        let names: BTreeSet<&str> = set.chain(base.owned_headers()).collect();
        let forged = base.forged(names.into_iter()).filter(|_| !both_move);
        for mut asked in variants.chain(forged) {
            if asked.variant != Variant::Client {
                asked.request.source = client;
            }
            credentials.give(&mut asked.request);
            let own = ask(&asked.request);
            self.add(&base.host, &asked, &own, Some(&answers));
        }
    }

    fn add(&mut self, host: &str, asked: &Asked, answers: &[GatewayAnswer; 2], plain: Option<&[GatewayAnswer; 2]>) {
        let [old, new] = answers;
        self.rows.reached.extend(answers.iter().flat_map(|answer| &answer.reached).map(|part| (host.to_owned(), part.clone())));
        for note in answers.iter().flat_map(|answer| &answer.notes).filter(|note| !note.starts_with("a share of ")) {
            self.rows.note(note.clone(), request_words(&asked.request), 1);
        }
        let is_answered = |answer: &GatewayAnswer, status: u32| answer.ending == AnswerEnding::Answered && answer.status == Some(status);
        if is_answered(old, 401) && is_answered(new, 500) {
            self.rows.note(BEHIND_PASSWORD.to_owned(), request_words(&asked.request), 1);
        }
        let knows = |aspect: &Aspect| self.before.knows(aspect) && self.after.knows(aspect);
        let found = differences(asked, old, new, plain, &knows);
        let counts = self.rows.hosts.entry(host.to_owned()).or_default();
        *counts = (counts.0 + usize::from(found.is_empty()), counts.1 + 1);
        let mut causes: BTreeSet<usize> = BTreeSet::new();
        for found in found {
            let rank = CAUSES.iter().position(|cause| cause.name == found.cause.name).unwrap_or_default();
            causes.insert(rank);
            let header = match &found.aspect {
                Some(Aspect::RequestHeader(name) | Aspect::ResponseHeader(name)) => Some(name.as_str()),
                _ => None,
            };
            let written = asked.request.authority.as_str();
            let covers = |of: &AcceptedChange| [host, written].iter().any(|host| of.covers(found.cause.name, host, &asked.request.path, header));
            let accepted = self.accepted.iter().position(covers);
            self.rows.used.extend(accepted);
            // What protects one host or path says nothing about others.
            let own = if found.cause.name == causes::LOST_PROTECTION.name {
                format!("{}\u{1}{host}\u{1}{}", found.key, old.why.as_deref().or(old.rule.as_deref()).unwrap_or_default())
            } else {
                found.key.clone()
            };
            let key = (rank, found.aspect.clone(), own, accepted);
            match self.rows.rows.get_mut(&key) {
                Some(row) if row.requests.len() < MOST_REQUESTS => row.requests.push(asked.clone()),
                Some(row) => row.more += 1,
                None => drop(self.rows.rows.insert(key, Row { found, answers: answers.clone(), requests: Vec::from([asked.clone()]), more: 0 })),
            }
        }
        for cause in causes {
            *self.rows.counts.entry(cause).or_default() += 1;
        }
    }
}

#[cfg(test)]
mod tests;
