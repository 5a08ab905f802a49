//! Decides whether a route matches a request, and reports the first matcher that does not.
//!
//! Follows Envoy's `RouteEntryImplBase::matchRoute` in `source/common/router/config_impl.cc` and its matchers. All matchers must match, so their
//! order is free: the path comes first, since it is the most helpful to report.
//!
//! Does not choose among routes; see `run`.

use super::path::{split, without_query};
use super::request::Headers;
use super::simulation::{FRACTION, Failed};
use super::start_line::Start;
use super::table::Patterns;
use crate::emit::pb;
use alloc::borrow::{Cow, ToOwned};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use pb::matcher::{StringMatcher, string_matcher::MatchPattern};
use pb::route::route_match::PathSpecifier;
use pb::route::{HeaderMatcher, QueryParameterMatcher, RouteMatch};

/// The request as matchers see it.
pub(super) struct Subject<'a> {
    pub(super) start: Start<'a>,
    pub(super) headers: &'a Headers,
    pub(super) tls: bool,
    pub(super) client_certificate: bool,
    /// Whether matchers ignore everything after a `;` in the path.
    pub(super) ignore_path_parameters: bool,
    pub(super) seed: Option<u64>,
    pub(super) runtime: &'a alloc::collections::BTreeMap<String, pb::Value>,
    pub(super) patterns: &'a Patterns<'a>,
}

impl<'a> Subject<'a> {
    /// All values of a header.
    fn header<'s>(&'s self, name: &'s str) -> Vec<&'s str> {
        self.start.header(name).map_or_else(|| self.headers.all(name).collect(), |value| Vec::from([value]))
    }

    /// The path that path matchers see.
    pub(super) fn bare_path(&self) -> &'a str {
        let path = without_query(self.start.path);
        if self.ignore_path_parameters { path.split(';').next().unwrap_or_default() } else { path }
    }
}

/// The result of a matching route.
#[derive(Default)]
pub(super) struct MatchOdds {
    /// The probability in percent, if the match is random.
    pub(super) odds: Option<f64>,
}

/// The result of a check: the probability, or the failed matcher.
type Checked<T> = Result<T, Failed>;

fn no(matcher: impl Into<String>, expected: impl Into<String>, seen: Option<String>) -> Failed {
    Failed { matcher: matcher.into(), expected: expected.into(), seen }
}

/// Checks whether a route matches the request. Properties that only an Envoy knows (dynamic metadata, filter state, extensions) are assumed to be
/// empty, and added to `unknown`.
pub(super) fn check(of: &RouteMatch, subject: &Subject<'_>, unknown: &mut Vec<String>) -> Checked<MatchOdds> {
    path(of, subject.bare_path(), subject.start.method, subject.patterns)?;
    if of.grpc.is_some() && !is_grpc(subject) {
        return Err(no("grpc", GRPC, subject.headers.first("content-type").map(ToOwned::to_owned)));
    }
    for matcher in &of.headers {
        header(matcher, subject)?;
    }
    if !of.query_parameters.is_empty() {
        for matcher in &of.query_parameters {
            query_parameter(matcher, subject)?;
        }
    }
    for matcher in &of.cookies {
        cookie(matcher, subject)?;
    }
    tls_context(of, subject)?;
    for matcher in &of.dynamic_metadata {
        unknown.push(format!("dynamic metadata of {} is not known before filters run; it is assumed to be empty", matcher.filter));
        if !matcher.invert {
            return Err(no("dynamic_metadata", matcher.filter.clone(), None));
        }
    }
    if let Some(matcher) = of.filter_state.first() {
        unknown.push(format!("filter state {} is not known before filters run; it is assumed to be missing", matcher.key));
        return Err(no("filter_state", matcher.key.clone(), None));
    }
    fraction(of, subject)
}

/// A condition of a route other than its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchCondition {
    /// Its place below the matcher: `headers/0`.
    pub field: String,
    /// The matched property, as in [`Failed`].
    pub matcher: String,
    /// The expected value, as in [`Failed`].
    pub expected: String,
}

/// Returns the conditions of a route except its path, in the order of [`check`].
#[must_use]
pub fn conditions_of(of: &RouteMatch) -> Vec<MatchCondition> {
    let mut out = Vec::new();
    let mut add = |field: String, matcher: String, expected: String| out.push(MatchCondition { field, matcher, expected });
    if of.grpc.is_some() {
        add("grpc".into(), "grpc".into(), GRPC.into());
    }
    for (at, matcher) in of.headers.iter().enumerate() {
        add(format!("headers/{at}"), header_name(matcher), header_wants(matcher));
    }
    for (at, matcher) in of.query_parameters.iter().enumerate() {
        add(format!("query_parameters/{at}"), format!("query parameter {}", matcher.name), query_wants(matcher));
    }
    for (at, matcher) in of.cookies.iter().enumerate() {
        add(format!("cookies/{at}"), format!("cookie {}", matcher.name), cookie_wants(matcher));
    }
    if let Some(wants) = &of.tls_context {
        let all = [("presented", wants.presented), ("validated", wants.validated)];
        for (name, wanted) in all.into_iter().filter_map(|(name, wanted)| Some((name, wanted?))) {
            add(format!("tls_context/{name}"), format!("tls_context.{name}"), certificate_words(wanted).into());
        }
    }
    out
}

const GRPC: &str = "content-type application/grpc";

/// Describes a path matcher as `prefix /a/`.
pub fn path_words(of: &RouteMatch) -> String {
    let (name, value) = path_parts(of);
    if value.is_empty() { name.to_owned() } else { format!("{name} {value}") }
}

fn path_parts(of: &RouteMatch) -> (&'static str, &str) {
    match &of.path_specifier {
        Some(PathSpecifier::Prefix(prefix)) => ("prefix", prefix),
        Some(PathSpecifier::Path(path)) => ("path", path),
        Some(PathSpecifier::PathSeparatedPrefix(prefix)) => ("path_separated_prefix", prefix),
        Some(PathSpecifier::SafeRegex(regex)) => ("safe_regex", &regex.regex),
        Some(PathSpecifier::ConnectMatcher(_)) => ("connect_matcher", ""),
        Some(PathSpecifier::PathMatchPolicy(policy)) => ("path_match_policy", &policy.name),
        None => ("path", ""),
    }
}

/// Whether a route's path matcher accepts a path.
pub(super) fn path_matches(of: &RouteMatch, bare_path: &str, patterns: &Patterns<'_>) -> bool {
    path(of, bare_path, "GET", patterns).is_ok()
}

fn path(of: &RouteMatch, seen: &str, method: &str, patterns: &Patterns<'_>) -> Checked<()> {
    let any_case = of.case_sensitive == Some(false);
    let (name, wanted) = path_parts(of);
    let begins = |wanted: &str| match seen.get(..wanted.len()) {
        Some(start) => {
            if any_case {
                start.eq_ignore_ascii_case(wanted)
            } else {
                start == wanted
            }
        }
        None => false,
    };
    let taken = match &of.path_specifier {
        Some(PathSpecifier::Prefix(prefix)) => begins(prefix),
        Some(PathSpecifier::Path(path)) => seen.len() == path.len() && begins(path),
        Some(PathSpecifier::PathSeparatedPrefix(prefix)) => {
            begins(prefix) && seen.get(prefix.len()..).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        }
        Some(PathSpecifier::SafeRegex(regex)) => match patterns.is_full_match(&regex.regex, seen) {
            Ok(taken) => taken,
            Err(why) => return Err(no(name, format!("{wanted} (which cannot be evaluated: {why})"), Some(seen.to_owned()))),
        },
        Some(PathSpecifier::ConnectMatcher(_)) => {
            return if method == "CONNECT" { Ok(()) } else { Err(no(name, "method CONNECT", Some(method.to_owned()))) };
        }
        Some(PathSpecifier::PathMatchPolicy(policy)) => {
            return Err(no(name, format!("{}, an extension that is not simulated", policy.name), Some(seen.to_owned())));
        }
        None => false,
    };
    if taken { Ok(()) } else { Err(no(name, wanted, Some(seen.to_owned()))) }
}

fn is_grpc(subject: &Subject<'_>) -> bool {
    let kind = subject.headers.first("content-type").unwrap_or_default();
    kind.strip_prefix("application/grpc").is_some_and(|rest| rest.is_empty() || rest.starts_with('+'))
}

/// Whether a string matcher accepts a string.
fn string(of: &StringMatcher, text: &str, patterns: &Patterns<'_>) -> bool {
    let fold = |text: &str| if of.ignore_case { Cow::Owned(text.to_ascii_lowercase()) } else { Cow::<str>::Owned(text.to_owned()) };
    match &of.match_pattern {
        Some(MatchPattern::Exact(exact)) => {
            if of.ignore_case {
                text.eq_ignore_ascii_case(exact)
            } else {
                text == exact
            }
        }
        Some(MatchPattern::Prefix(prefix)) => fold(text).starts_with(&*fold(prefix)),
        Some(MatchPattern::Suffix(suffix)) => fold(text).ends_with(&*fold(suffix)),
        Some(MatchPattern::Contains(part)) => fold(text).contains(&*fold(part)),
        Some(MatchPattern::SafeRegex(regex)) => patterns.is_full_match(&regex.regex, text).unwrap_or(false),
        Some(MatchPattern::Custom(_)) | None => false,
    }
}

pub fn string_words(of: &StringMatcher) -> String {
    let words = match &of.match_pattern {
        Some(MatchPattern::Exact(text)) => format!("exact {text}"),
        Some(MatchPattern::Prefix(text)) => format!("prefix {text}"),
        Some(MatchPattern::Suffix(text)) => format!("suffix {text}"),
        Some(MatchPattern::Contains(text)) => format!("contains {text}"),
        Some(MatchPattern::SafeRegex(regex)) => format!("regex {}", regex.regex),
        Some(MatchPattern::Custom(extension)) => format!("{}, an extension that is not simulated", extension.name),
        None => "nothing".to_string(),
    };
    if of.ignore_case { format!("{words} in any case") } else { words }
}

/// Describes the condition of a header, without its name.
fn header_wants(of: &HeaderMatcher) -> String {
    use pb::route::header_matcher::HeaderMatchSpecifier as Wants;
    let wants = match &of.header_match_specifier {
        Some(Wants::PresentMatch(false)) => "absent".to_owned(),
        Some(Wants::PresentMatch(true)) | None => "present".to_owned(),
        Some(Wants::ExactMatch(exact)) => format!("exact {exact}"),
        Some(Wants::PrefixMatch(prefix)) => format!("prefix {prefix}"),
        Some(Wants::SuffixMatch(suffix)) => format!("suffix {suffix}"),
        Some(Wants::ContainsMatch(part)) => format!("contains {part}"),
        Some(Wants::SafeRegexMatch(regex)) => format!("regex {}", regex.regex),
        Some(Wants::RangeMatch(range)) => format!("a number from {} to below {}", range.start, range.end),
        Some(Wants::StringMatch(matcher)) => string_words(matcher),
    };
    if of.invert_match { format!("not {wants}") } else { wants }
}

/// Describes a header and its condition.
pub(super) fn header_words(of: &HeaderMatcher) -> String {
    format!("{} {}", of.name, header_wants(of))
}

/// For repeated headers, Envoy 1.40 checks each value, and one match is enough.
pub(super) fn header(of: &HeaderMatcher, subject: &Subject<'_>) -> Checked<()> {
    use pb::route::header_matcher::HeaderMatchSpecifier as Wants;
    let name = of.name.to_ascii_lowercase();
    let mut values = subject.header(&name);
    let is_there = !values.is_empty();
    if !is_there && of.treat_missing_header_as_empty {
        values.push("");
    }
    let any = |test: &dyn Fn(&str) -> bool| values.iter().any(|value| test(value));
    let patterns = subject.patterns;
    let taken = match &of.header_match_specifier {
        Some(Wants::PresentMatch(present)) => values.is_empty() != *present,
        None => !values.is_empty(),
        Some(Wants::ExactMatch(exact)) => any(&|value| exact.is_empty() || value == exact),
        Some(Wants::PrefixMatch(prefix)) => any(&|value| value.starts_with(prefix.as_str())),
        Some(Wants::SuffixMatch(suffix)) => any(&|value| value.ends_with(suffix.as_str())),
        Some(Wants::ContainsMatch(part)) => any(&|value| value.contains(part.as_str())),
        Some(Wants::SafeRegexMatch(regex)) => any(&|value| patterns.is_full_match(&regex.regex, value).unwrap_or(false)),
        Some(Wants::RangeMatch(range)) => {
            any(&|value: &str| value.trim().parse::<i64>().is_ok_and(|number| range.start <= number && number < range.end))
        }
        Some(Wants::StringMatch(matcher)) => any(&|value| string(matcher, value, patterns)),
    };
    let by_presence = matches!(of.header_match_specifier, Some(Wants::PresentMatch(_)) | None);
    // A missing header matches nothing, inverted or not, unless the matcher checks for presence.
    let taken = if values.is_empty() && !by_presence { false } else { taken != of.invert_match };
    if taken {
        return Ok(());
    }
    Err(no(header_name(of), header_wants(of), is_there.then(|| values.join(", "))))
}

fn header_name(of: &HeaderMatcher) -> String {
    format!("header {}", of.name.to_ascii_lowercase())
}

/// Query parameters as Envoy reads them: not decoded.
pub(super) fn parameter<'p>(path: &'p str, name: &str) -> Option<&'p str> {
    let query = split(path).1.strip_prefix('?')?;
    query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, ""))).find(|(key, _)| *key == name).map(|(_, value)| value)
}

pub(super) fn query_parameter(of: &QueryParameterMatcher, subject: &Subject<'_>) -> Checked<()> {
    use pb::route::query_parameter_matcher::QueryParameterMatchSpecifier as Wants;
    let seen = parameter(subject.start.path, &of.name);
    let taken = match &of.query_parameter_match_specifier {
        Some(Wants::StringMatch(matcher)) => seen.is_some_and(|value| string(matcher, value, subject.patterns)),
        Some(Wants::PresentMatch(false)) => seen.is_none(),
        Some(Wants::PresentMatch(true)) | None => seen.is_some(),
    };
    if taken { Ok(()) } else { Err(no(format!("query parameter {}", of.name), query_wants(of), seen.map(ToOwned::to_owned))) }
}

fn query_wants(of: &QueryParameterMatcher) -> String {
    use pb::route::query_parameter_matcher::QueryParameterMatchSpecifier as Wants;
    match &of.query_parameter_match_specifier {
        Some(Wants::StringMatch(matcher)) => string_words(matcher),
        Some(Wants::PresentMatch(false)) => "absent".to_owned(),
        Some(Wants::PresentMatch(true)) | None => "present".to_owned(),
    }
}

fn cookie(of: &pb::route::CookieMatcher, subject: &Subject<'_>) -> Checked<()> {
    let pairs = subject.headers.all("cookie").flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let seen = pairs.into_iter().find(|(key, _)| *key == of.name).map(|(_, value)| value.trim_matches('"').to_owned());
    let taken = seen.as_ref().is_some_and(|value| of.string_match.as_ref().is_some_and(|matcher| string(matcher, value, subject.patterns)));
    if taken != of.invert_match {
        return Ok(());
    }
    Err(no(format!("cookie {}", of.name), cookie_wants(of), seen))
}

fn cookie_wants(of: &pb::route::CookieMatcher) -> String {
    let wants = of.string_match.as_ref().map(string_words).unwrap_or_default();
    if of.invert_match { format!("not {wants}") } else { wants }
}

fn certificate_words(is_there: bool) -> &'static str {
    if is_there { "a client certificate" } else { "no client certificate" }
}

fn tls_context(of: &RouteMatch, subject: &Subject<'_>) -> Checked<()> {
    let Some(wants) = &of.tls_context else { return Ok(()) };
    let certificate = subject.tls && subject.client_certificate;
    for (name, wanted) in [("tls_context.presented", wants.presented), ("tls_context.validated", wants.validated)] {
        if let Some(wanted) = wanted
            && wanted != certificate
        {
            return Err(no(name, certificate_words(wanted), Some(certificate_words(certificate).to_owned())));
        }
    }
    Ok(())
}

/// Numerator and denominator of a fraction. A number in the runtime overrides the default.
pub fn parts(of: &pb::base::RuntimeFractionalPercent, runtime: &alloc::collections::BTreeMap<String, pb::Value>) -> (u64, u64) {
    use pb::kind::fractional_percent::DenominatorType;
    let overruled = runtime.get(&of.runtime_key).filter(|_| !of.runtime_key.is_empty()).and_then(|value| match &value.kind {
        Some(pb::value::Kind::NumberValue(number)) if *number >= 0.0 => Some(*number as u64),
        _ => None,
    });
    let default = of.default_value.unwrap_or_default();
    let denominator = match default.denominator() {
        DenominatorType::Hundred => 100,
        DenominatorType::TenThousand => 10_000,
        DenominatorType::Million => 1_000_000,
    };
    // A number in the runtime is a percentage.
    overruled.map_or((default.numerator.into(), denominator), |percent| (percent, 100))
}

/// Returns the percentage of requests that a route matches at random.
pub(super) fn fraction_of(of: &RouteMatch, subject: &Subject<'_>) -> f64 {
    let Some(fraction) = &of.runtime_fraction else { return 100.0 };
    let (numerator, denominator) = parts(fraction, subject.runtime);
    (numerator as f64 * 100.0 / denominator as f64).min(100.0)
}

fn fraction(of: &RouteMatch, subject: &Subject<'_>) -> Checked<MatchOdds> {
    let Some(fraction) = &of.runtime_fraction else { return Ok(MatchOdds::default()) };
    let (numerator, denominator) = parts(fraction, subject.runtime);
    let odds = fraction_of(of, subject);
    // Without a seed, the more likely case.
    let taken = match subject.seed {
        Some(seed) => seed % denominator < numerator,
        None => numerator * 2 >= denominator,
    };
    if taken {
        return Ok(MatchOdds { odds: (numerator < denominator).then_some(odds) });
    }
    Err(no(FRACTION, format!("{odds}% of requests"), subject.seed.map(|seed| format!("seed {seed}"))))
}

/// Whether a matcher accepts a string.
pub fn string_matches(of: &StringMatcher, text: &str) -> bool {
    takes(of, text)
}

/// Whether a matcher accepts a string, compiling its expression only for this call.
pub(super) fn takes(of: &StringMatcher, text: &str) -> bool {
    string(of, text, &Patterns::default())
}
