//! Answers logged requests with one or two gateways. Does not count; see the parent module.

use super::LoggedRequest;
use crate::compare::{ChangedRequest, Difference, RequestComparer, Side, SideSource};
use crate::coverage::{EnvoyParts, PartId};
use crate::request_test::{TestAnswer, TestedGateway, TestedKind, Tester};
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_envoy::config::{EnvoyConfig, chains_of};
use chancery_envoy::simulate::{Gateway, Outcome, Request, Simulation, conditions_of, is_own, is_tls};

/// The gateways of a replay: one, or the one before and the one after a change.
pub struct ReplayGateways<'a> {
    before: Option<ReplaySide<'a>>,
    after: ReplaySide<'a>,
    /// Indexes, if both are Envoys.
    envoys: Option<[Gateway<'a>; 2]>,
}

/// One gateway of a replay.
struct ReplaySide<'a> {
    /// If it is an Envoy.
    envoy: Option<(Side<'a>, &'a EnvoyParts)>,
    answer: AnswerOf<'a>,
}

type AnswerOf<'a> = Box<dyn Fn(&Request) -> TestAnswer + 'a>;

impl<'a> ReplaySide<'a> {
    fn of<'c: 'a>(tester: &'a Tester<'c>) -> Result<Self, String> {
        let names = || tester.gateways.iter().map(TestedGateway::name).collect::<Vec<_>>().join(", ");
        let gateway = match tester.gateways.as_slice() {
            [] => return Err("no gateway runs".into()),
            [gateway] => gateway,
            _ => return Err(format!("there are several gateways ({}): name one with --gateway", names())),
        };
        let envoy = match &gateway.kind {
            TestedKind::Envoy { gateway, config, map, parts, .. } => {
                let source = SideSource { gateway: *gateway, positions: tester.positions, map };
                Some((Side { config, source: Some(source) }, parts))
            }
            TestedKind::Nginx { .. } | TestedKind::AppGateway { .. } => None,
        };
        Ok(Self { envoy, answer: Box::new(|request| gateway.answer(request, tester.positions)) })
    }

    fn config(&self) -> Option<&'a EnvoyConfig> {
        self.envoy.as_ref().map(|(side, _)| side.config)
    }
}

impl<'a> ReplayGateways<'a> {
    /// Prepares gateways.
    ///
    /// # Errors
    ///
    /// If an input does not have exactly one gateway.
    pub fn new<'o: 'a, 'n: 'a>(before: Option<&'a Tester<'o>>, after: &'a Tester<'n>) -> Result<Self, String> {
        let before = before.map(ReplaySide::of).transpose()?;
        let after = ReplaySide::of(after)?;
        let envoys = match (before.as_ref().unwrap_or(&after).config(), after.config()) {
            (Some(old), Some(new)) => Some([Gateway::new(old), Gateway::new(new)]),
            _ => None,
        };
        Ok(Self { before, after, envoys })
    }

    pub(super) fn answers(&self) -> Answers<'_, 'a> {
        let first = self.before.as_ref().unwrap_or(&self.after);
        let configs: Vec<&EnvoyConfig> = [first, &self.after].into_iter().filter_map(ReplaySide::config).collect();
        let kind = match (&self.envoys, &first.envoy, &self.after.envoy) {
            (Some(indexes), Some((before, _)), Some((after, parts))) => {
                AnswerKind::Envoys { comparer: Box::new(RequestComparer::new([*before, *after], indexes)), parts, compares: self.before.is_some() }
            }
            _ => AnswerKind::Others { before: self.before.as_ref().map(|of| &of.answer), after: &self.after.answer },
        };
        let any_tls = configs.iter().any(|config| has_tls(config));
        let tls = [first, &self.after].map(|of| of.config().is_none_or(has_tls));
        Answers { kind, reads: Reads::of(&configs), has_tls: any_tls, tls }
    }
}

/// Whether a listener for clients uses TLS.
fn has_tls(config: &EnvoyConfig) -> bool {
    config.listeners.iter().filter(|listener| !is_own(&listener.message)).flat_map(chains_of).any(|(_, chain)| is_tls(chain))
}

/// The properties of requests that routes read.
#[derive(Default)]
struct Reads {
    headers: BTreeSet<String>,
    query: bool,
    /// Whether the gateway may read any header, as far as known.
    any_header: bool,
}

impl Reads {
    fn of(configs: &[&EnvoyConfig]) -> Self {
        let mut out = Self { any_header: configs.is_empty(), query: configs.is_empty(), ..Self::default() };
        for (_, table) in configs.iter().flat_map(|config| config.route_tables()) {
            for matcher in table.virtual_hosts.iter().flat_map(|host| &host.routes).filter_map(|route| route.r#match.as_ref()) {
                out.query |= !matcher.query_parameters.is_empty();
                out.headers.extend(conditions_of(matcher).iter().filter_map(|of| of.matcher.strip_prefix("header ").map(ToOwned::to_owned)));
                if !matcher.cookies.is_empty() {
                    out.headers.insert("cookie".into());
                }
                if matcher.grpc.is_some() {
                    out.headers.insert("content-type".into());
                }
            }
        }
        out
    }
}

/// Answers requests.
pub(super) struct Answers<'w, 'a> {
    kind: AnswerKind<'w, 'a>,
    reads: Reads,
    has_tls: bool,
    /// Whether each side has TLS.
    tls: [bool; 2],
}

enum AnswerKind<'w, 'a> {
    Envoys { comparer: Box<RequestComparer<'w, 'a>>, parts: &'w EnvoyParts, compares: bool },
    Others { before: Option<&'w AnswerOf<'a>>, after: &'w AnswerOf<'a> },
}

/// A change of one request.
pub(super) struct FoundChange {
    pub(super) key: String,
    pub(super) before: String,
    pub(super) after: String,
    pub(super) differences: Vec<Difference>,
}

/// What happens to a request.
pub(super) struct Evaluated {
    pub(super) change: Option<FoundChange>,
    /// The answer of the (first) gateway.
    pub(super) expected: Expected,
    /// The parts of the (second) gateway that it reaches.
    pub(super) reached: BTreeSet<PartId>,
    /// Headers that decide about it and are not in the log.
    pub(super) undecided: BTreeSet<String>,
}

/// The answer that a log should have.
pub(super) struct Expected {
    /// Equal for requests with the same answer.
    pub(super) key: String,
    pub(super) words: String,
    answer: ExpectedAnswer,
}

#[derive(Clone, Copy)]
enum ExpectedAnswer {
    /// The upstream answers, or fails.
    Upstream,
    /// The gateway answers with this status.
    Status(u16),
    /// There is no answer, and so no line.
    Nothing,
}

/// Envoy's flags for failures of the upstream: the request was routed.
const ROUTED: [&str; 11] = ["UF", "UH", "UO", "UC", "UT", "URX", "LR", "UR", "DC", "NC", "UAEX"];

impl Expected {
    /// Describes the logged answer, if it contradicts this one.
    pub(super) fn contradicts(&self, logged: &LoggedRequest<'_>) -> Option<String> {
        let status = logged.status?;
        let flags = logged.flags.as_deref().unwrap_or_default();
        let has_flag = |flag: &str| flags.split(',').any(|of| of == flag);
        let by_upstream = logged.upstream.as_ref().map(|upstream| !upstream.is_empty());
        let contradicts = match self.answer {
            ExpectedAnswer::Nothing => true,
            ExpectedAnswer::Status(expected) => status != expected || by_upstream == Some(true),
            // Without an upstream and without a failure of it, the gateway answered by itself.
            ExpectedAnswer::Upstream => {
                has_flag("NR")
                    || by_upstream == Some(false) && matches!(status, 301 | 302 | 307 | 308 | 404) && !ROUTED.iter().any(|flag| has_flag(flag))
            }
        };
        contradicts.then(|| {
            let flags = if flags.is_empty() { String::new() } else { format!(" {flags}") };
            let by = match by_upstream {
                Some(true) => " from the upstream",
                Some(false) => " from the gateway",
                None => "",
            };
            format!("{status}{flags}{by}")
        })
    }

    fn of(simulation: &Simulation, words: String) -> Self {
        let status = || simulation.status.and_then(|status| u16::try_from(status).ok()).unwrap_or_default();
        let answer = match simulation.outcome {
            Outcome::Forward => ExpectedAnswer::Upstream,
            Outcome::Redirect | Outcome::DirectResponse | Outcome::NoRoute | Outcome::NoVirtualHost => ExpectedAnswer::Status(status()),
            Outcome::Reset | Outcome::NoListener | Outcome::NoFilterChain => ExpectedAnswer::Nothing,
        };
        let place = simulation.places.iter().find(|place| place.of == "route").map(|place| place.pointer.clone()).unwrap_or_default();
        Self { key: format!("{} {} {place}", simulation.outcome.name(), status()), words, answer }
    }
}

impl Answers<'_, '_> {
    pub(super) fn has_tls(&self) -> bool {
        self.has_tls
    }

    pub(super) fn reads_query(&self) -> bool {
        self.reads.query
    }

    pub(super) fn reads_header(&self, name: &str) -> bool {
        // Browsers and proxies add these to every request; no route of a known gateway depends on them alone.
        self.reads.headers.contains(name) || self.reads.any_header && !matches!(name, "user-agent" | "referer" | "x-forwarded-for" | "x-request-id")
    }

    /// Simulates a request. `known` says whether the log has a header.
    pub(super) fn evaluate(&mut self, request: &Request, known: &dyn Fn(&str) -> bool) -> Evaluated {
        let tls = self.tls;
        match &mut self.kind {
            AnswerKind::Envoys { comparer, parts, compares } => {
                let mut asked = request.clone();
                let mut simulations = simulate(comparer, &asked, tls);
                // The log does not have credentials: clients are assumed to show them.
                for _ in 0..2 {
                    let Some(lacks) = simulations.iter().find_map(|of| of.lacks.clone()) else { break };
                    lacks.add_to(&mut asked);
                    simulations = simulate(comparer, &asked, tls);
                }
                let changed = if *compares { comparer.compare(&simulations) } else { None };
                let words = comparer.describe(0, &simulations[0]);
                Evaluated {
                    change: changed.map(|ChangedRequest { key, differences, before, after }| FoundChange {
                        key,
                        differences,
                        before: before.summary,
                        after: after.summary,
                    }),
                    reached: parts.reached(&simulations[1]),
                    undecided: simulations.iter().flat_map(|of| unknown_headers(of, known)).collect(),
                    expected: Expected::of(&simulations[0], words),
                }
            }
            AnswerKind::Others { before, after } => {
                let new = after(request);
                let old = before.map(|before| before(request));
                let first = old.as_ref().unwrap_or(&new);
                let change = old.as_ref().and_then(|old| {
                    let key = of_others(&old.report, &new.report)?;
                    Some(FoundChange { key, before: old.summary(), after: new.summary(), differences: Vec::new() })
                });
                let report = &first.report;
                let outcome: Outcome = serde_json::from_value(report["outcome"].clone()).unwrap_or_default();
                let simulation =
                    Simulation { outcome, status: report["status"].as_u64().and_then(|status| u32::try_from(status).ok()), ..Simulation::default() };
                let mut expected = Expected::of(&simulation, first.summary());
                expected.key = expected.words.clone();
                Evaluated { change, expected, reached: new.reached, undecided: BTreeSet::new() }
            }
        }
    }
}

/// Simulates a request on both sides. Where a side has no TLS, a proxy before it has ended TLS.
fn simulate(comparer: &RequestComparer<'_, '_>, request: &Request, tls: [bool; 2]) -> [Simulation; 2] {
    let behind_proxy = || {
        let mut plain = request.clone();
        plain.tls = false;
        plain.sni = None;
        plain.add_header("x-forwarded-proto", "https");
        plain
    };
    match tls {
        [true, true] => comparer.simulate(request),
        _ if !request.tls => comparer.simulate(request),
        [false, false] => comparer.simulate(&behind_proxy()),
        [first, _] => {
            let ([one, _], [_, other]) = if first {
                (comparer.simulate(request), comparer.simulate(&behind_proxy()))
            } else {
                (comparer.simulate(&behind_proxy()), comparer.simulate(request))
            };
            [one, other]
        }
    }
}

/// Returns headers that decided about a request, and that the log does not have.
fn unknown_headers<'s>(of: &'s Simulation, known: &dyn Fn(&str) -> bool) -> Vec<String> {
    let failed = of.tried.iter().filter_map(|tried| tried.failed.as_ref()).filter(|failed| failed.seen.is_none());
    let names = failed.filter_map(|failed| match failed.matcher.split_once(' ') {
        Some(("header", name)) => Some(name),
        Some(("cookie", _)) => Some("cookie"),
        _ if failed.matcher == "grpc" => Some("content-type"),
        _ => None,
    });
    names.filter(|name| !name.starts_with(':') && *name != "x-forwarded-proto" && !known(name)).map(ToString::to_string).collect()
}

/// Compares the answers of two gateways if one is not an Envoy: how the request ends, and the request that the upstream receives.
fn of_others(before: &serde_json::Value, after: &serde_json::Value) -> Option<String> {
    let end = |of: &serde_json::Value| format!("{} {} {}", of["outcome"], of["status"], of["location"]);
    let upstream = |of: &serde_json::Value| format!("{} {}", of["upstream"]["authority"], of["upstream"]["path"]);
    let names =
        |of: &serde_json::Value| of["clusters"].as_array().map(|all| all.iter().map(|of| of["name"].to_string()).collect::<Vec<_>>().join(" "));
    let is_forwarded = before["outcome"] == "forward" && after["outcome"] == "forward";
    let is_same = if is_forwarded { upstream(before) == upstream(after) && names(before) == names(after) } else { end(before) == end(after) };
    (!is_same).then(|| format!("{} {:?}\u{1}{} {:?}", before["outcome"], names(before), after["outcome"], names(after)))
}
