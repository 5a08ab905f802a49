//! Determines which routes certainly match all requests of another route.
//!
//! It proves this: a route covers another if each of its matchers is implied by a matcher of the other. Cases that cannot be decided (overlapping
//! expressions, unions of several routes) are treated as not covered.
//!
//! Does not match single requests (see [`simulate`]) and does not report; see `unreachable` and `shares`.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::ir::{Ir, Json};
use chancery_base::re2::language::Language;
use chancery_base::re2::{
    RegexError,
    engine::{Regex, literal_prefix},
};
use chancery_envoy::emit::pb;
use chancery_envoy::simulate;
use hashbrown::HashMap;
use pb::matcher::{StringMatcher, string_matcher::MatchPattern};
use pb::route::header_matcher::HeaderMatchSpecifier;
use pb::route::route_match::PathSpecifier;
use pb::route::{HeaderMatcher, RouteMatch};

/// Values of Envoy's runtime from the configuration.
pub(super) type Runtime = BTreeMap<String, pb::Value>;

/// Each route is compared with at most this many earlier routes that have the same prefix.
const MOST: usize = 64;

/// Whether earlier routes cover a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cover {
    /// The route at this index matches all its requests.
    By(usize),
    /// No earlier route is known to match all its requests.
    Nothing,
    /// Too many earlier routes would have to be compared.
    Undecided,
}

/// Determines for each route whether an earlier one matches all its requests.
pub(super) fn covered<'a>(routes: impl IntoIterator<Item = &'a RouteMatch>, runtime: &Runtime) -> Vec<Cover> {
    let mut earlier: HashMap<&str, Vec<(usize, &RouteMatch)>> = HashMap::default();
    let mut lengths = BTreeSet::new();
    let mut out = Vec::new();
    for (index, of) in routes.into_iter().enumerate() {
        let begin = begins(of);
        let mut before = lengths.range(..=begin.len()).filter_map(|length| earlier.get(begin.get(..*length)?)).flatten();
        let by = before.by_ref().take(MOST).find(|(_, other)| covers(other, of, runtime));
        out.push(match by {
            Some((other, _)) => Cover::By(*other),
            None if before.next().is_some() => Cover::Undecided,
            None => Cover::Nothing,
        });
        earlier.entry(begin).or_default().push((index, of));
        lengths.insert(begin.len());
    }
    out
}

/// Returns the prefix of every path that a route matches, in its original case.
fn begins(of: &RouteMatch) -> &str {
    match &of.path_specifier {
        _ if of.case_sensitive == Some(false) => "",
        Some(PathSpecifier::Prefix(path) | PathSpecifier::Path(path) | PathSpecifier::PathSeparatedPrefix(path)) => path,
        Some(PathSpecifier::SafeRegex(regex)) => literal_prefix(&regex.regex),
        Some(PathSpecifier::ConnectMatcher(_) | PathSpecifier::PathMatchPolicy(_)) | None => "",
    }
}

/// Whether `a` matches every request that `b` matches.
fn covers(a: &RouteMatch, b: &RouteMatch, runtime: &Runtime) -> bool {
    covers_path(a, b)
        && a.headers.iter().all(|implied| b.headers.iter().any(|given| implies_header(given, implied)))
        && a.query_parameters.iter().all(|implied| b.query_parameters.contains(implied))
        && a.cookies.iter().all(|implied| b.cookies.contains(implied))
        && a.dynamic_metadata.iter().all(|implied| b.dynamic_metadata.contains(implied))
        && a.filter_state.iter().all(|implied| b.filter_state.contains(implied))
        && (a.grpc.is_none() || b.grpc.is_some())
        && (a.tls_context.is_none() || a.tls_context == b.tls_context)
        && a.runtime_fraction.as_ref().is_none_or(|fraction| is_all(fraction, runtime))
}

/// Whether a fraction is 100 %.
fn is_all(of: &pb::base::RuntimeFractionalPercent, runtime: &Runtime) -> bool {
    let (numerator, denominator) = simulate::fraction(of, runtime);
    numerator >= denominator
}

fn covers_path(a: &RouteMatch, b: &RouteMatch) -> bool {
    use PathSpecifier::{Path, PathSeparatedPrefix, Prefix, SafeRegex};
    let (Some(of_a), Some(of_b)) = (&a.path_specifier, &b.path_specifier) else { return false };
    let is_expression = |of: &PathSpecifier| matches!(of, SafeRegex(_));
    let (a_any, b_any) = (a.case_sensitive == Some(false), b.case_sensitive == Some(false) && !is_expression(of_b));
    // A matcher that ignores case matches more paths, unless the text has no letters.
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

/// Whether an expression certainly matches everything that the other matches.
fn holds(regex: &str, other: Result<Language, RegexError>) -> bool {
    let Ok(mut other) = other else { return false };
    Language::regex(regex).is_ok_and(|mut one| one.relation(&mut other).first_holds)
}

/// Whether an expression matches every path.
fn takes_all(regex: &str) -> bool {
    matches!(regex, ".*" | "/.*" | "^.*$" | "^/.*$" | "^/.*" | "^.*")
}

/// Whether every request that meets `given` also meets `implied`.
fn implies_header(given: &HeaderMatcher, implied: &HeaderMatcher) -> bool {
    if given == implied {
        return true;
    }
    if !given.name.eq_ignore_ascii_case(&implied.name) || given.invert_match || implied.invert_match || given.treat_missing_header_as_empty {
        return false;
    }
    let is_positive = !matches!(given.header_match_specifier, Some(HeaderMatchSpecifier::PresentMatch(false)));
    match (&given.header_match_specifier, &implied.header_match_specifier) {
        (_, Some(HeaderMatchSpecifier::PresentMatch(true)) | None) => is_positive,
        (Some(HeaderMatchSpecifier::StringMatch(given)), Some(HeaderMatchSpecifier::StringMatch(implied))) => implies_text(given, implied),
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

/// Whether `implied` matches every string that `given` matches.
fn implies_text(given: &StringMatcher, implied: &StringMatcher) -> bool {
    if implied.ignore_case || given.ignore_case {
        return false;
    }
    match (&given.match_pattern, &implied.match_pattern) {
        (Some(MatchPattern::Exact(given) | MatchPattern::Prefix(given)), Some(MatchPattern::Prefix(implied))) => given.starts_with(implied.as_str()),
        (Some(MatchPattern::Exact(given) | MatchPattern::Suffix(given)), Some(MatchPattern::Suffix(implied))) => given.ends_with(implied.as_str()),
        (
            Some(MatchPattern::Exact(given) | MatchPattern::Prefix(given) | MatchPattern::Suffix(given) | MatchPattern::Contains(given)),
            Some(MatchPattern::Contains(implied)),
        ) => given.contains(implied.as_str()),
        (Some(MatchPattern::Exact(given)), Some(MatchPattern::SafeRegex(regex))) => {
            Regex::new(&regex.regex).is_ok_and(|regex| regex.is_full_match(given))
        }
        _ => false,
    }
}

/// Returns the numeric runtime values, by key; upper layers override lower ones.
pub(super) fn runtime(ir: &Ir) -> Runtime {
    let layers = ir.delivery.bootstrap.runtime.iter().chain(&ir.delivery.runtimes);
    let numbers = layers.flat_map(|layer| &layer.values).filter_map(|(key, value)| match value.value {
        Json::Number(number) => Some((key.to_string(), pb::Value { kind: Some(pb::value::Kind::NumberValue(number)) })),
        _ => None,
    });
    numbers.collect()
}
