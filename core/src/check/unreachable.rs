//! Routes that no request can reach: another takes all that they would take.
//!
//! It is proved, not guessed: a route covers another when each of its matchers is implied by one of the other's. What cannot be decided
//! (overlapping expressions, unions of several routes) is not reported.
//!
//! What must not be here: one request at a time, which is [`simulate`]'s.

use super::whole::{Whole, tables, written};
use crate::backend::envoy::v3::{self, pb};
use crate::diagnostic::{Place, codes};
use crate::explain::ResourceRef;
use crate::ir::{Ir, Json};
use crate::order::Gather as _;
use crate::re2::language::Language;
use crate::re2::{
    RegexError,
    engine::{Regex, literal_prefix},
};
use crate::resource::Origin;
use crate::simulate;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ptr;
use hashbrown::{HashMap, HashSet};
use pb::matcher::{StringMatcher, string_matcher::MatchPattern};
use pb::route::header_matcher::HeaderMatchSpecifier;
use pb::route::route_match::PathSpecifier;
use pb::route::{HeaderMatcher, RouteMatch};

/// Values of the runtime, as the configuration has them.
type Runtime = BTreeMap<String, pb::Value>;

/// Each route is compared with at most this many earlier routes that begin alike.
const MOST: usize = 64;

/// A route in the order of its virtual host: how it is matched, and who made it.
type Ordered<'a> = (&'a RouteMatch, Option<Origin>);

/// Of each route the one before it that takes all of its requests, by their places.
fn covered(routes: &[Ordered<'_>], runtime: &Runtime) -> Vec<Option<usize>> {
    let mut earlier: HashMap<&str, Vec<usize>> = HashMap::default();
    let mut lengths = BTreeSet::new();
    let mut out = Vec::new();
    for (index, (of, _)) in routes.iter().enumerate() {
        let begin = begins(of);
        let before = lengths.range(..=begin.len()).filter_map(|length| earlier.get(begin.get(..*length)?)).flatten().take(MOST);
        let mut before = before.copied().filter(|other| routes.get(*other).is_some_and(|(other, _)| covers(other, of, runtime)));
        out.push(before.next());
        earlier.entry(begin).or_default().push(index);
        lengths.insert(begin.len());
    }
    out
}

/// What every path that a route takes begins with, in the case that is written.
fn begins(of: &RouteMatch) -> &str {
    match &of.path_specifier {
        _ if of.case_sensitive == Some(false) => "",
        Some(PathSpecifier::Prefix(path) | PathSpecifier::Path(path) | PathSpecifier::PathSeparatedPrefix(path)) => path,
        Some(PathSpecifier::SafeRegex(regex)) => literal_prefix(&regex.regex),
        Some(PathSpecifier::ConnectMatcher(_) | PathSpecifier::PathMatchPolicy(_)) | None => "",
    }
}

/// Whether each request that `b` takes is one that `a` takes.
fn covers(a: &RouteMatch, b: &RouteMatch, runtime: &Runtime) -> bool {
    covers_path(a, b)
        && a.headers.iter().all(|wanted| b.headers.iter().any(|given| implies_header(given, wanted)))
        && a.query_parameters.iter().all(|wanted| b.query_parameters.contains(wanted))
        && a.cookies.iter().all(|wanted| b.cookies.contains(wanted))
        && a.dynamic_metadata.iter().all(|wanted| b.dynamic_metadata.contains(wanted))
        && a.filter_state.iter().all(|wanted| b.filter_state.contains(wanted))
        && (a.grpc.is_none() || b.grpc.is_some())
        && (a.tls_context.is_none() || a.tls_context == b.tls_context)
        && a.runtime_fraction.as_ref().is_none_or(|fraction| is_all(fraction, runtime))
}

/// Whether a fraction is all.
fn is_all(of: &pb::base::RuntimeFractionalPercent, runtime: &Runtime) -> bool {
    let (numerator, denominator) = simulate::fraction(of, runtime);
    numerator >= denominator
}

fn covers_path(a: &RouteMatch, b: &RouteMatch) -> bool {
    use PathSpecifier::{Path, PathSeparatedPrefix, Prefix, SafeRegex};
    let (Some(of_a), Some(of_b)) = (&a.path_specifier, &b.path_specifier) else { return false };
    let is_expression = |of: &PathSpecifier| matches!(of, SafeRegex(_));
    let (a_any, b_any) = (a.case_sensitive == Some(false), b.case_sensitive == Some(false) && !is_expression(of_b));
    // What ignores case takes more than what does not, unless there is no case.
    let has_case = |text: &str| text.bytes().any(|byte| byte.is_ascii_alphabetic());
    let fold = |text: &str| if a_any { text.to_ascii_lowercase() } else { text.into() };
    let below = |prefix: &str, text: &str| (a_any || !b_any || !has_case(prefix)) && fold(text).starts_with(&fold(prefix));
    let separated =
        |prefix: &str, text: &str| below(prefix, text) && text.get(prefix.len()..).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    match (of_a, of_b) {
        (Prefix(a), Prefix(b) | Path(b) | PathSeparatedPrefix(b)) => below(a, b),
        (Prefix(a), SafeRegex(b)) => a == "/" || literal_prefix(&b.regex).starts_with(a.as_str()),
        (PathSeparatedPrefix(a), PathSeparatedPrefix(b) | Path(b)) => separated(a, b),
        (PathSeparatedPrefix(a), Prefix(b)) => separated(a, b) && b.len() > a.len(),
        (Path(a), Path(b)) => below(a, b) && a.len() == b.len(),
        (SafeRegex(a), SafeRegex(b)) => a.regex == b.regex || takes_all(&a.regex) || holds(&a.regex, Language::regex(&b.regex)),
        (SafeRegex(a), Path(b)) if !b_any => takes_all(&a.regex) || Regex::new(&a.regex).is_ok_and(|regex| regex.is_full_match(b)),
        (SafeRegex(a), Prefix(b) | PathSeparatedPrefix(b)) if !b_any => takes_all(&a.regex) || holds(&a.regex, Language::prefix(b)),
        (SafeRegex(a), Prefix(_) | PathSeparatedPrefix(_) | Path(_)) => takes_all(&a.regex),
        (PathSpecifier::ConnectMatcher(_), PathSpecifier::ConnectMatcher(_)) => true,
        _ => false,
    }
}

/// Whether an expression certainly takes all that the other takes.
fn holds(regex: &str, other: Result<Language, RegexError>) -> bool {
    let Ok(mut other) = other else { return false };
    Language::regex(regex).is_ok_and(|mut one| one.relation(&mut other).first_holds)
}

/// Whether an expression takes every path.
fn takes_all(regex: &str) -> bool {
    matches!(regex, ".*" | "/.*" | "^.*$" | "^/.*$" | "^/.*" | "^.*")
}

/// Whether a request for which `given` holds is one for which `wanted` holds.
fn implies_header(given: &HeaderMatcher, wanted: &HeaderMatcher) -> bool {
    if given == wanted {
        return true;
    }
    if !given.name.eq_ignore_ascii_case(&wanted.name) || given.invert_match || wanted.invert_match || given.treat_missing_header_as_empty {
        return false;
    }
    let is_positive = !matches!(given.header_match_specifier, Some(HeaderMatchSpecifier::PresentMatch(false)));
    match (&given.header_match_specifier, &wanted.header_match_specifier) {
        (_, Some(HeaderMatchSpecifier::PresentMatch(true)) | None) => is_positive,
        (Some(HeaderMatchSpecifier::StringMatch(given)), Some(HeaderMatchSpecifier::StringMatch(wanted))) => implies_text(given, wanted),
        (Some(HeaderMatchSpecifier::StringMatch(given)), Some(HeaderMatchSpecifier::SafeRegexMatch(regex))) => {
            exact(given).is_some_and(|text| Regex::new(&regex.regex).is_ok_and(|regex| regex.is_full_match(text)))
        }
        _ => false,
    }
}

fn exact(of: &StringMatcher) -> Option<&str> {
    match &of.match_pattern {
        Some(MatchPattern::Exact(text)) if !of.ignore_case => Some(text),
        _ => None,
    }
}

/// Whether a text that the one takes is taken by the other.
fn implies_text(given: &StringMatcher, wanted: &StringMatcher) -> bool {
    if wanted.ignore_case || given.ignore_case {
        return false;
    }
    match (&given.match_pattern, &wanted.match_pattern) {
        (Some(MatchPattern::Exact(given) | MatchPattern::Prefix(given)), Some(MatchPattern::Prefix(wanted))) => given.starts_with(wanted.as_str()),
        (Some(MatchPattern::Exact(given) | MatchPattern::Suffix(given)), Some(MatchPattern::Suffix(wanted))) => given.ends_with(wanted.as_str()),
        (
            Some(MatchPattern::Exact(given) | MatchPattern::Prefix(given) | MatchPattern::Suffix(given) | MatchPattern::Contains(given)),
            Some(MatchPattern::Contains(wanted)),
        ) => given.contains(wanted.as_str()),
        (Some(MatchPattern::Exact(given)), Some(MatchPattern::SafeRegex(regex))) => {
            Regex::new(&regex.regex).is_ok_and(|regex| regex.is_full_match(given))
        }
        _ => false,
    }
}

/// Tells of resources none of whose routes can be reached.
pub(super) fn check(whole: &mut Whole<'_>) {
    let ir = whole.ir;
    let runtime = runtime(ir);
    let matchers: HashMap<usize, RouteMatch> =
        whole.routes.iter().map(|route| (ptr::from_ref(*route).addr(), v3::route_matcher(ir, &route.matcher))).collect();
    let mut seen = HashSet::new();
    // How many routes each place of the input makes, how many of them are covered, and by whom.
    let mut made: BTreeMap<Origin, (usize, usize, Option<Origin>)> = BTreeMap::new();
    for host in tables(ir).flat_map(|table| &table.virtual_hosts).filter(|host| seen.insert(Arc::as_ptr(&host.routes).addr())) {
        let ordered = host.routes.iter().filter_map(|route| Some((matchers.get(&Arc::as_ptr(route).addr())?, written(&route.origins))));
        let ordered: Vec<Ordered<'_>> = ordered.collect();
        for ((_, origin), by) in ordered.iter().zip(covered(&ordered, &runtime)) {
            let Some(origin) = origin else { continue };
            let (all, hidden, whose) = made.entry(*origin).or_default();
            *all += 1;
            let by = by.and_then(|by| ordered.get(by)?.1).filter(|by| by.object() != origin.object());
            *hidden += usize::from(by.is_some());
            *whose = whose.or(by);
        }
    }
    for (origin, (all, hidden, by)) in made {
        let Some(other) = whole.key(by).filter(|_| all == hidden) else { continue };
        let message =
            format!("no request reaches this: {} comes before it in every virtual host and takes all of its requests", ResourceRef::from(other));
        let finding = whole.finding(&codes::UNREACHABLE_ROUTE, Some(origin), message);
        whole.report(finding.related(Place::origin(by), "this one takes them"));
    }
}

/// Numbers of the runtime, by key; upper layers over lower ones.
fn runtime(ir: &Ir) -> Runtime {
    let layers = ir.delivery.bootstrap.runtime.iter().chain(&ir.delivery.runtimes);
    let numbers = layers.flat_map(|layer| &layer.values).filter_map(|(key, value)| match value.value {
        Json::Number(number) => Some((key.to_string(), pb::Value { kind: Some(pb::value::Kind::NumberValue(number)) })),
        _ => None,
    });
    numbers.gathered()
}
