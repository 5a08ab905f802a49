//! What routes ask of a request besides its path: methods, headers, query parameters, cookies, certificates. Each is a dimension
//! with the values that its matchers tell apart.
//!
//! What must not be here: paths.

use super::work::Work;
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

/// What routes look at.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Dimension {
    Method,
    Authority,
    Header(String),
    Query(String),
    Cookie(String),
    ClientCertificate,
}

/// What a matcher wants of a text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct TextMatch {
    how: How,
    text: String,
    any_case: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum How {
    Exact,
    Prefix,
    Suffix,
    Contains,
    Regex,
}

/// One value for each dimension: what a request has besides its path.
pub(super) type Choice = BTreeMap<Dimension, Option<String>>;

/// At most this many combinations are tried for one path.
const MOST_TOGETHER: usize = 256;
/// At most this many matchers of one dimension are combined.
const MOST_MATCHERS: usize = 16;
/// At most this many combined states are visited for one dimension.
const MOST_STATES: usize = 2_000;
/// Characters of values, those first that people would write.
const ALPHABET: &[u8] = b"xabcdefghijklmnopqrstuvwyz0123456789-_.~ABCDEFGHIJKLMNOPQRSTUVWXYZ/:,;=!$'()*+@^|";
/// Methods that Envoy takes, those first that people would use.
const METHODS: [&str; 10] = ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "CONNECT", "TRACE", "PROPFIND"];

impl TextMatch {
    fn of(of: &StringMatcher) -> Option<Self> {
        let (how, text) = match of.match_pattern.as_ref()? {
            MatchPattern::Exact(text) => (How::Exact, text),
            MatchPattern::Prefix(text) => (How::Prefix, text),
            MatchPattern::Suffix(text) => (How::Suffix, text),
            MatchPattern::Contains(text) => (How::Contains, text),
            MatchPattern::SafeRegex(regex) => (How::Regex, &regex.regex),
            MatchPattern::Custom(_) => return None,
        };
        Some(Self { how, text: text.clone(), any_case: of.ignore_case && how != How::Regex })
    }

    fn new(how: How, text: &str) -> Self {
        Self { how, text: text.to_owned(), any_case: false }
    }

    /// In the words of RE2.
    fn regex(&self) -> String {
        let text = regex_syntax::escape(&self.text);
        let flags = if self.any_case { "(?i)" } else { "" };
        match self.how {
            How::Exact => format!("{flags}{text}"),
            How::Prefix => format!("{flags}{text}(?s:.*)"),
            How::Suffix => format!("{flags}(?s:.*){text}"),
            How::Contains => format!("{flags}(?s:.*){text}(?s:.*)"),
            How::Regex => self.text.clone(),
        }
    }

    fn language(&self) -> Result<Language, RegexError> {
        if self.how == How::Regex { Language::regex(&self.text) } else { Language::plain(&self.regex()) }
    }
}

/// What matchers of one dimension ask for.
#[derive(Default)]
struct DimensionMatches {
    wanted: BTreeSet<TextMatch>,
    /// Values that are tried as they are.
    values: BTreeSet<String>,
}

/// The dimensions of some matchers.
fn dimensions<'a>(matchers: impl Iterator<Item = &'a RouteMatch>, work: &mut Work<'_, '_>) -> BTreeMap<Dimension, DimensionMatches> {
    let mut out: BTreeMap<Dimension, DimensionMatches> = BTreeMap::new();
    for of in matchers {
        for header in &of.headers {
            let dimension = match header.name.to_ascii_lowercase().as_str() {
                ":method" => Dimension::Method,
                ":authority" | "host" => Dimension::Authority,
                ":scheme" => continue,
                ":path" => {
                    work.limits
                        .insert("Matchers of the pseudo-header :path were tried only with paths that were tried for another reason.".to_owned());
                    continue;
                }
                name => Dimension::Header(name.to_owned()),
            };
            let asked = out.entry(dimension).or_default();
            match &header.header_match_specifier {
                Some(HeaderMatchSpecifier::ExactMatch(text)) => drop(asked.wanted.insert(TextMatch::new(How::Exact, text))),
                Some(HeaderMatchSpecifier::PrefixMatch(text)) => drop(asked.wanted.insert(TextMatch::new(How::Prefix, text))),
                Some(HeaderMatchSpecifier::SuffixMatch(text)) => drop(asked.wanted.insert(TextMatch::new(How::Suffix, text))),
                Some(HeaderMatchSpecifier::ContainsMatch(text)) => drop(asked.wanted.insert(TextMatch::new(How::Contains, text))),
                Some(HeaderMatchSpecifier::SafeRegexMatch(regex)) => drop(asked.wanted.insert(TextMatch::new(How::Regex, &regex.regex))),
                Some(HeaderMatchSpecifier::StringMatch(matcher)) => asked.wanted.extend(TextMatch::of(matcher)),
                Some(HeaderMatchSpecifier::RangeMatch(range)) => {
                    let edges = [range.start.checked_sub(1), Some(range.start), range.end.checked_sub(1), Some(range.end)];
                    asked.values.extend(edges.into_iter().flatten().map(|edge| edge.to_string()));
                }
                Some(HeaderMatchSpecifier::PresentMatch(_)) | None => {}
            }
        }
        for parameter in &of.query_parameters {
            let asked = out.entry(Dimension::Query(parameter.name.clone())).or_default();
            if let Some(QueryParameterMatchSpecifier::StringMatch(matcher)) = &parameter.query_parameter_match_specifier {
                asked.wanted.extend(TextMatch::of(matcher));
            }
        }
        for cookie in &of.cookies {
            let asked = out.entry(Dimension::Cookie(cookie.name.clone())).or_default();
            asked.wanted.extend(cookie.string_match.as_ref().and_then(TextMatch::of));
        }
        if of.grpc.is_some() {
            out.entry(Dimension::Header("content-type".to_owned())).or_default().values.insert("application/grpc".to_owned());
        }
        if of.tls_context.is_some() {
            out.entry(Dimension::ClientCertificate).or_default();
        }
        if matches!(of.path_specifier, Some(PathSpecifier::ConnectMatcher(_))) {
            out.entry(Dimension::Method).or_default().wanted.insert(TextMatch::new(How::Exact, "CONNECT"));
        }
        if !of.dynamic_metadata.is_empty() || !of.filter_state.is_empty() {
            work.limits.insert("Dynamic metadata and filter state, which filters set, were assumed to be empty.".to_owned());
        }
        if matches!(of.path_specifier, Some(PathSpecifier::PathMatchPolicy(_))) {
            work.limits.insert("Routes whose path is matched by an extension were assumed to match nothing.".to_owned());
        }
    }
    out
}

/// The values of a dimension: none, one for every way in which its matchers can match together, perhaps the empty one, and one that none of them
/// takes.
fn values(dimension: &Dimension, asked: &DimensionMatches, work: &mut Work<'_, '_>) -> Vec<Option<String>> {
    let mut out: Vec<Option<String>> = Vec::from([None]);
    match dimension {
        Dimension::Method => {
            let regexes: Vec<Regex> = asked.wanted.iter().filter_map(|wanted| Regex::new(&wanted.regex()).ok()).collect();
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
    let exact = asked.wanted.iter().all(|wanted| wanted.how == How::Exact && !wanted.any_case);
    if exact {
        out.extend(asked.wanted.iter().map(|wanted| Some(wanted.text.clone())));
        let other = ["x", "other", "another", "none-of-them"].into_iter().find(|other| asked.wanted.iter().all(|wanted| wanted.text != *other));
        out.extend(other.map(|other| Some(other.to_owned())));
    } else {
        let mut languages: Vec<Language> = Vec::new();
        for wanted in asked.wanted.iter().take(MOST_MATCHERS) {
            match wanted.language() {
                Ok(language) => languages.push(language),
                Err(why) => drop(work.limits.insert(format!("The regular expression {} was not analysed: {why}.", wanted.text))),
            }
        }
        let mut budget = work.states.min(MOST_STATES);
        let before = budget;
        let found =
            texts(&mut languages.iter_mut().collect::<Vec<_>>(), &TextShape { begin: "", alphabet: ALPHABET, double_slashes: true }, &mut budget);
        work.states -= before - budget;
        if !found.complete || asked.wanted.len() > MOST_MATCHERS {
            work.cut("Where many matchers look at one header or parameter, not every combination was tried.");
        }
        out.extend(found.found.into_values().map(Some));
    }
    out.extend(asked.values.iter().cloned().map(Some));
    // Every request has an authority.
    out.retain(|value| *dimension != Dimension::Authority || value.as_ref().is_none_or(|value| !value.is_empty()));
    out
}

/// What requests of one path may have besides: every combination, or, where there are too many, each value by itself, and what each route,
/// and each two of them, ask for.
pub(super) fn choices(matchers: &[&RouteMatch], work: &mut Work<'_, '_>) -> Vec<Choice> {
    let dimensions = dimensions(matchers.iter().copied(), work);
    let axes: Vec<(Dimension, Vec<Option<String>>)> = dimensions
        .iter()
        .map(|(dimension, asked)| {
            let values = values(dimension, asked, work);
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
    work.cut(format!("Where routes of one path distinguish more than {MOST_TOGETHER} combinations of headers and parameters, not all were tried."));
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

/// What one matcher asks for: of each of its dimensions a value that is there.
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
                    Some(HeaderMatchSpecifier::ExactMatch(text)) => Some(TextMatch::new(How::Exact, text)),
                    Some(HeaderMatchSpecifier::SafeRegexMatch(regex)) => Some(TextMatch::new(How::Regex, &regex.regex)),
                    _ => None,
                })
                .collect(),
        };
        let regexes: Vec<Regex> = texts.iter().filter_map(|wanted| Regex::new(&wanted.regex()).ok()).collect();
        let fits = |value: &&Option<String>| value.as_ref().is_some_and(|value| regexes.iter().all(|regex| regex.is_full_match(value)));
        if let Some(value) = values.iter().find(fits).filter(|_| !regexes.is_empty()) {
            choice.insert(dimension.clone(), value.clone());
        }
    }
    choice
}

/// What a header must be, in words.
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

/// The domain that a header's matcher asks for, if it is one of the host's name.
fn domain(of: &HeaderMatcher) -> Option<String> {
    if of.name != ":authority" || of.invert_match {
        return None;
    }
    let words = header_words(of);
    let domain = words.strip_prefix("exact ").map(ToOwned::to_owned);
    domain.or_else(|| Some(format!("{}*", words.strip_prefix("prefix ")?))).or_else(|| Some(format!("*{}", words.strip_prefix("suffix ")?)))
}

/// The hosts that a route asks for by itself, as domains.
pub(super) fn domains(of: &RouteMatch) -> Vec<String> {
    of.headers.iter().filter_map(domain).collect()
}

/// What a route asks for besides its path and its hosts ([`domains`]), in words.
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
