//! Derives the conditions of routes other than the path: methods, headers, query parameters, cookies, certificates. Each is a dimension with the
//! values that its matchers distinguish.
//!
//! Does not derive paths; see `paths`.

use super::budget::Budget;
use alloc::borrow::ToOwned;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::re2::RegexError;
use chancery_base::re2::engine::Regex;
use chancery_base::re2::language::{Language, TextShape, texts};
use chancery_envoy::emit::pb;
use chancery_envoy::simulate::string_words;
use pb::matcher::{StringMatcher, string_matcher::MatchPattern};
use pb::route::header_matcher::HeaderMatchSpecifier;
use pb::route::query_parameter_matcher::QueryParameterMatchSpecifier;
use pb::route::{HeaderMatcher, RouteMatch, route_match::PathSpecifier};

/// A property of requests that routes match.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Dimension {
    Method,
    Authority,
    Header(String),
    Query(String),
    Cookie(String),
    ClientCertificate,
}

/// A condition on a string.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct TextMatch {
    how: MatchKind,
    text: String,
    any_case: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum MatchKind {
    Exact,
    Prefix,
    Suffix,
    Contains,
    Regex,
}

/// One value for each dimension: the request's properties except its path.
pub(super) type Choice = BTreeMap<Dimension, Option<String>>;

/// At most this many combinations are tried for one path.
const MOST_TOGETHER: usize = 256;
/// At most this many matchers of one dimension are combined.
const MOST_MATCHERS: usize = 16;
/// At most this many combined states are visited for one dimension.
const MOST_STATES: usize = 2_000;
/// Characters of values, the most natural ones first.
const ALPHABET: &[u8] = b"xabcdefghijklmnopqrstuvwyz0123456789-_.~ABCDEFGHIJKLMNOPQRSTUVWXYZ/:,;=!$'()*+@^|";
/// Methods that Envoy accepts, the most common ones first.
const METHODS: [&str; 10] = ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "CONNECT", "TRACE", "PROPFIND"];

impl TextMatch {
    fn of(of: &StringMatcher) -> Option<Self> {
        let (how, text) = match of.match_pattern.as_ref()? {
            MatchPattern::Exact(text) => (MatchKind::Exact, text),
            MatchPattern::Prefix(text) => (MatchKind::Prefix, text),
            MatchPattern::Suffix(text) => (MatchKind::Suffix, text),
            MatchPattern::Contains(text) => (MatchKind::Contains, text),
            MatchPattern::SafeRegex(regex) => (MatchKind::Regex, &regex.regex),
            MatchPattern::Custom(_) => return None,
        };
        Some(Self { how, text: text.clone(), any_case: of.ignore_case && how != MatchKind::Regex })
    }

    fn new(how: MatchKind, text: &str) -> Self {
        Self { how, text: text.to_owned(), any_case: false }
    }

    /// Returns the condition in RE2 syntax.
    fn regex(&self) -> String {
        let text = regex_syntax::escape(&self.text);
        let flags = if self.any_case { "(?i)" } else { "" };
        match self.how {
            MatchKind::Exact => format!("{flags}{text}"),
            MatchKind::Prefix => format!("{flags}{text}(?s:.*)"),
            MatchKind::Suffix => format!("{flags}(?s:.*){text}"),
            MatchKind::Contains => format!("{flags}(?s:.*){text}(?s:.*)"),
            MatchKind::Regex => self.text.clone(),
        }
    }

    fn language(&self) -> Result<Language, RegexError> {
        if self.how == MatchKind::Regex { Language::regex(&self.text) } else { Language::plain(&self.regex()) }
    }
}

/// The matchers of one dimension.
#[derive(Default)]
struct DimensionMatches {
    text_match: BTreeSet<TextMatch>,
    /// Literal values to try.
    values: BTreeSet<String>,
}

/// Collects the dimensions of some matchers.
fn dimensions<'a>(matchers: impl Iterator<Item = &'a RouteMatch>, budget: &mut Budget) -> BTreeMap<Dimension, DimensionMatches> {
    let mut out: BTreeMap<Dimension, DimensionMatches> = BTreeMap::new();
    for of in matchers {
        for header in &of.headers {
            let dimension = match header.name.to_ascii_lowercase().as_str() {
                ":method" => Dimension::Method,
                ":authority" | "host" => Dimension::Authority,
                ":scheme" => continue,
                ":path" => {
                    budget
                        .limits
                        .insert("Matchers of the pseudo-header :path were tried only with paths that were tried for another reason.".to_owned());
                    continue;
                }
                name => Dimension::Header(name.to_owned()),
            };
            let matches = out.entry(dimension).or_default();
            match &header.header_match_specifier {
                Some(HeaderMatchSpecifier::ExactMatch(text)) => drop(matches.text_match.insert(TextMatch::new(MatchKind::Exact, text))),
                Some(HeaderMatchSpecifier::PrefixMatch(text)) => drop(matches.text_match.insert(TextMatch::new(MatchKind::Prefix, text))),
                Some(HeaderMatchSpecifier::SuffixMatch(text)) => drop(matches.text_match.insert(TextMatch::new(MatchKind::Suffix, text))),
                Some(HeaderMatchSpecifier::ContainsMatch(text)) => drop(matches.text_match.insert(TextMatch::new(MatchKind::Contains, text))),
                Some(HeaderMatchSpecifier::SafeRegexMatch(regex)) => drop(matches.text_match.insert(TextMatch::new(MatchKind::Regex, &regex.regex))),
                Some(HeaderMatchSpecifier::StringMatch(matcher)) => matches.text_match.extend(TextMatch::of(matcher)),
                Some(HeaderMatchSpecifier::RangeMatch(range)) => {
                    let edges = [range.start.checked_sub(1), Some(range.start), range.end.checked_sub(1), Some(range.end)];
                    matches.values.extend(edges.into_iter().flatten().map(|edge| edge.to_string()));
                }
                Some(HeaderMatchSpecifier::PresentMatch(_)) | None => {}
            }
        }
        for parameter in &of.query_parameters {
            let matches = out.entry(Dimension::Query(parameter.name.clone())).or_default();
            if let Some(QueryParameterMatchSpecifier::StringMatch(matcher)) = &parameter.query_parameter_match_specifier {
                matches.text_match.extend(TextMatch::of(matcher));
            }
        }
        for cookie in &of.cookies {
            let matches = out.entry(Dimension::Cookie(cookie.name.clone())).or_default();
            matches.text_match.extend(cookie.string_match.as_ref().and_then(TextMatch::of));
        }
        if of.grpc.is_some() {
            out.entry(Dimension::Header("content-type".to_owned())).or_default().values.insert("application/grpc".to_owned());
        }
        if of.tls_context.is_some() {
            out.entry(Dimension::ClientCertificate).or_default();
        }
        if matches!(of.path_specifier, Some(PathSpecifier::ConnectMatcher(_))) {
            out.entry(Dimension::Method).or_default().text_match.insert(TextMatch::new(MatchKind::Exact, "CONNECT"));
        }
        if !of.dynamic_metadata.is_empty() || !of.filter_state.is_empty() {
            budget.limits.insert("Dynamic metadata and filter state, which filters set, were assumed to be empty.".to_owned());
        }
        if matches!(of.path_specifier, Some(PathSpecifier::PathMatchPolicy(_))) {
            budget.limits.insert("Routes whose path is matched by an extension were assumed to match nothing.".to_owned());
        }
    }
    out
}

/// Returns the values of a dimension: absent, one for every way in which its matchers can match together, possibly the empty string, and one that
/// none of them matches.
fn values(dimension: &Dimension, matches: &DimensionMatches, budget: &mut Budget) -> Vec<Option<String>> {
    let mut out: Vec<Option<String>> = Vec::from([None]);
    match dimension {
        Dimension::Method => {
            let regexes: Vec<Regex> = matches.text_match.iter().filter_map(|text_match| Regex::new(&text_match.regex()).ok()).collect();
            let mut seen = BTreeSet::new();
            for method in METHODS {
                let ways: Vec<bool> = regexes.iter().map(|regex| regex.is_full_match(method)).collect();
                if seen.insert(ways) && method != "GET" {
                    out.push(Some(method.to_owned()));
                }
            }
            return out;
        }
        Dimension::ClientCertificate => return Vec::from([None, Some(String::new())]),
        _ => {}
    }
    let exact = matches.text_match.iter().all(|text_match| text_match.how == MatchKind::Exact && !text_match.any_case);
    if exact {
        out.extend(matches.text_match.iter().map(|text_match| Some(text_match.text.clone())));
        let other =
            ["x", "other", "another", "none-of-them"].into_iter().find(|other| matches.text_match.iter().all(|text_match| text_match.text != *other));
        out.extend(other.map(|other| Some(other.to_owned())));
    } else {
        let mut languages: Vec<Language> = Vec::new();
        for text_match in matches.text_match.iter().take(MOST_MATCHERS) {
            match text_match.language() {
                Ok(language) => languages.push(language),
                Err(why) => drop(budget.limits.insert(format!("The regular expression {} was not analysed: {why}.", text_match.text))),
            }
        }
        let mut states = budget.states.min(MOST_STATES);
        let before = states;
        let found =
            texts(&mut languages.iter_mut().collect::<Vec<_>>(), &TextShape { begin: "", alphabet: ALPHABET, double_slashes: true }, &mut states);
        budget.states -= before - states;
        if !found.complete || matches.text_match.len() > MOST_MATCHERS {
            budget.cut("If many matchers apply to one header or parameter, not every combination was tried.");
        }
        out.extend(found.found.into_values().map(Some));
    }
    out.extend(matches.values.iter().cloned().map(Some));
    // Every request has an authority.
    out.retain(|value| *dimension != Dimension::Authority || value.as_ref().is_none_or(|value| !value.is_empty()));
    out
}

/// Returns the property combinations for requests of one path: all combinations, or, if there are too many, each value by itself and the
/// requirements of each route and of each pair of routes.
pub(super) fn choices(matchers: &[&RouteMatch], budget: &mut Budget) -> Vec<Choice> {
    let dimensions = dimensions(matchers.iter().copied(), budget);
    let axes: Vec<(Dimension, Vec<Option<String>>)> = dimensions
        .iter()
        .map(|(dimension, matches)| {
            let values = values(dimension, matches, budget);
            (dimension.clone(), values)
        })
        .collect();
    let total = axes.iter().fold(1_usize, |total, (_, values)| total.saturating_mul(values.len().max(1)));
    let mut out = Vec::from([Choice::new()]);
    if total <= MOST_TOGETHER {
        for (dimension, values) in &axes {
            out = values.iter().flat_map(|value| out.iter().map(|choice| with(choice, dimension, value.clone()))).collect();
        }
        return out;
    }
    budget.cut(format!("If routes of one path distinguish more than {MOST_TOGETHER} combinations of headers and parameters, not all were tried."));
    let base: Choice = axes.iter().filter_map(|(dimension, values)| Some((dimension.clone(), values.first()?.clone()))).collect();
    let single = matchers.iter().map(|matcher| dimensions_of(matcher, &axes, &base)).collect::<Vec<_>>();
    let mut all: BTreeSet<Choice> = BTreeSet::from([base.clone()]);
    for first in &single {
        all.insert(first.clone());
        for second in &single {
            let mut both = first.clone();
            both.extend(
                second.iter().filter(|(dimension, value)| base.get(*dimension) != Some(*value)).map(|(key, value)| (key.clone(), value.clone())),
            );
            all.insert(both);
            if all.len() > 4 * MOST_TOGETHER {
                break;
            }
        }
    }
    for (dimension, values) in &axes {
        all.extend(values.iter().map(|value| with(&base, dimension, value.clone())));
    }
    all.into_iter().collect()
}

fn with(choice: &Choice, dimension: &Dimension, value: Option<String>) -> Choice {
    let mut choice = choice.clone();
    choice.insert(dimension.clone(), value);
    choice
}

/// Returns a choice that meets one matcher's conditions.
fn dimensions_of(matcher: &RouteMatch, axes: &[(Dimension, Vec<Option<String>>)], base: &Choice) -> Choice {
    let mut choice = base.clone();
    let is = |name: &str, dimension: &Dimension| match dimension {
        Dimension::Header(of) => name.eq_ignore_ascii_case(of),
        Dimension::Method => name == ":method",
        Dimension::Authority => name == ":authority" || name.eq_ignore_ascii_case("host"),
        _ => false,
    };
    for (dimension, values) in axes {
        let texts: Vec<TextMatch> = match dimension {
            Dimension::Query(of) => {
                let own = matcher.query_parameters.iter().filter(|parameter| parameter.name == *of);
                own.filter_map(|of| match &of.query_parameter_match_specifier {
                    Some(QueryParameterMatchSpecifier::StringMatch(matcher)) => TextMatch::of(matcher),
                    _ => None,
                })
                .collect()
            }
            _ => matcher
                .headers
                .iter()
                .filter(|header| is(&header.name, dimension) && !header.invert_match)
                .filter_map(|header| match &header.header_match_specifier {
                    Some(HeaderMatchSpecifier::StringMatch(matcher)) => TextMatch::of(matcher),
                    Some(HeaderMatchSpecifier::ExactMatch(text)) => Some(TextMatch::new(MatchKind::Exact, text)),
                    Some(HeaderMatchSpecifier::SafeRegexMatch(regex)) => Some(TextMatch::new(MatchKind::Regex, &regex.regex)),
                    _ => None,
                })
                .collect(),
        };
        let regexes: Vec<Regex> = texts.iter().filter_map(|text_match| Regex::new(&text_match.regex()).ok()).collect();
        let fits = |value: &&Option<String>| value.as_ref().is_some_and(|value| regexes.iter().all(|regex| regex.is_full_match(value)));
        if let Some(value) = values.iter().find(fits).filter(|_| !regexes.is_empty()) {
            choice.insert(dimension.clone(), value.clone());
        }
    }
    choice
}

/// Describes the condition of a header.
fn header_words(of: &HeaderMatcher) -> String {
    match &of.header_match_specifier {
        Some(HeaderMatchSpecifier::StringMatch(matcher)) => string_words(matcher),
        Some(HeaderMatchSpecifier::ExactMatch(text)) => format!("exact {text}"),
        Some(HeaderMatchSpecifier::PrefixMatch(text)) => format!("prefix {text}"),
        Some(HeaderMatchSpecifier::SuffixMatch(text)) => format!("suffix {text}"),
        Some(HeaderMatchSpecifier::ContainsMatch(text)) => format!("contains {text}"),
        Some(HeaderMatchSpecifier::SafeRegexMatch(regex)) => format!("regex {}", regex.regex),
        Some(HeaderMatchSpecifier::RangeMatch(range)) => format!("from {} to below {}", range.start, range.end),
        Some(HeaderMatchSpecifier::PresentMatch(false)) => "absent".to_owned(),
        Some(HeaderMatchSpecifier::PresentMatch(true)) | None => "present".to_owned(),
    }
}

/// Returns the domain of a matcher on the host header.
fn domain(of: &HeaderMatcher) -> Option<String> {
    if of.name != ":authority" || of.invert_match {
        return None;
    }
    let words = header_words(of);
    let domain = words.strip_prefix("exact ").map(ToOwned::to_owned);
    domain.or_else(|| Some(format!("{}*", words.strip_prefix("prefix ")?))).or_else(|| Some(format!("*{}", words.strip_prefix("suffix ")?)))
}

/// Returns the hosts that a route requires, as domains.
pub(super) fn domains(of: &RouteMatch) -> Vec<String> {
    of.headers.iter().filter_map(domain).collect()
}

/// Describes a route's conditions except its path and its hosts ([`domains`]).
pub(super) fn words(of: &RouteMatch) -> Vec<String> {
    let mut out = Vec::new();
    for header in of.headers.iter().filter(|header| domain(header).is_none()) {
        let wants = header_words(header);
        let wants = wants.strip_prefix("exact ").unwrap_or(&wants);
        let not = if header.invert_match { "not " } else { "" };
        let name = header.name.as_str();
        out.push(if name == ":method" { format!("method {not}{wants}") } else { format!("header {name} {not}{wants}") });
    }
    for parameter in &of.query_parameters {
        let wants = match &parameter.query_parameter_match_specifier {
            Some(QueryParameterMatchSpecifier::StringMatch(matcher)) => string_words(matcher),
            Some(QueryParameterMatchSpecifier::PresentMatch(false)) => "absent".to_owned(),
            Some(QueryParameterMatchSpecifier::PresentMatch(true)) | None => "present".to_owned(),
        };
        out.push(format!("query {} {}", parameter.name, wants.strip_prefix("exact ").unwrap_or(&wants)));
    }
    for cookie in &of.cookies {
        let wants = cookie.string_match.as_ref().map(string_words).unwrap_or_default();
        let not = if cookie.invert_match { "not " } else { "" };
        out.push(format!("cookie {} {not}{}", cookie.name, wants.strip_prefix("exact ").unwrap_or(&wants)));
    }
    if of.grpc.is_some() {
        out.push("gRPC".to_owned());
    }
    if of.tls_context.is_some() {
        out.push("by client certificate".to_owned());
    }
    out
}
