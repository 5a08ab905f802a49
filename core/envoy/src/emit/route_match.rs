//! Emits `RouteMatch`: the conditions of a route.

use super::Context;
use super::base::{regex, runtime_percent, string_matcher, text};
use super::pb;
use chancery_base::ir::{HeaderMatch, PathMatch, QueryMatch, RouteMatch, RuntimeFraction, StringMatch};
use chancery_base::output_map::Trace;
use pb::route::header_matcher::HeaderMatchSpecifier;
use pb::route::query_parameter_matcher::QueryParameterMatchSpecifier;
use pb::route::route_match::PathSpecifier;

pub(super) fn route_match(matcher: &RouteMatch, cx: &Context<'_>, t: &mut Trace) -> pb::route::RouteMatch {
    pb::route::RouteMatch {
        path_specifier: Some(path(matcher, cx, t)),
        case_sensitive: t.optional("case_sensitive", &matcher.case_sensitive).copied(),
        runtime_fraction: matcher.fraction.as_ref().map(|fraction| t.at("runtime_fraction", |t| runtime_fraction(fraction, t))),
        headers: t.sourced_list("headers", &matcher.headers, |header, _| header_matcher(header, cx)),
        query_parameters: t.sourced_list("query_parameters", &matcher.query, |query, _| query_parameter(query, cx)),
        grpc: matcher.grpc.then(Default::default),
        ..Default::default()
    }
}

fn path(matcher: &RouteMatch, cx: &Context<'_>, t: &mut Trace) -> PathSpecifier {
    let (name, specifier) = match &matcher.path.value {
        PathMatch::Prefix(prefix) => ("prefix", PathSpecifier::Prefix(text(prefix))),
        PathMatch::Exact(path) => ("path", PathSpecifier::Path(text(path))),
        PathMatch::Regex(expression) => ("safe_regex", PathSpecifier::SafeRegex(regex(expression, cx))),
        PathMatch::PathSeparatedPrefix(prefix) => ("path_separated_prefix", PathSpecifier::PathSeparatedPrefix(text(prefix))),
    };
    t.field(name, &matcher.path);
    t.at(name, |t| t.here(&matcher.path_also.0));
    specifier
}

fn runtime_fraction(fraction: &RuntimeFraction, t: &mut Trace) -> pb::base::RuntimeFractionalPercent {
    t.at("default_value", |t| {
        t.here(fraction.percent.origin);
        t.here(&fraction.percent_also.0);
    });
    runtime_percent(fraction.percent.value, fraction.runtime_key.as_ref())
}

pub(super) fn header_matcher(header: &HeaderMatch, cx: &Context<'_>) -> pb::route::HeaderMatcher {
    pb::route::HeaderMatcher {
        name: text(header.name.as_text()),
        invert_match: header.invert,
        treat_missing_header_as_empty: header.missing_as_empty,
        header_match_specifier: Some(header_specifier(header, cx)),
    }
}

fn header_specifier(header: &HeaderMatch, cx: &Context<'_>) -> HeaderMatchSpecifier {
    // The older fields cannot ignore case.
    if cx.spelling.header_match_fields && !header.ignore_case {
        match &header.value {
            StringMatch::Prefix(prefix) => return HeaderMatchSpecifier::PrefixMatch(text(prefix)),
            StringMatch::Suffix(suffix) => return HeaderMatchSpecifier::SuffixMatch(text(suffix)),
            StringMatch::Regex(expression) => return HeaderMatchSpecifier::SafeRegexMatch(regex(expression, cx)),
            StringMatch::Exact(_) | StringMatch::Contains(_) | StringMatch::Present => {}
        }
    }
    match string_matcher(&header.value, header.ignore_case, cx) {
        Some(matcher) => HeaderMatchSpecifier::StringMatch(matcher),
        None => HeaderMatchSpecifier::PresentMatch(true),
    }
}

fn query_parameter(query: &QueryMatch, cx: &Context<'_>) -> pb::route::QueryParameterMatcher {
    pb::route::QueryParameterMatcher {
        name: text(&query.name),
        query_parameter_match_specifier: Some(match string_matcher(&query.value, query.ignore_case, cx) {
            Some(matcher) => QueryParameterMatchSpecifier::StringMatch(matcher),
            None => QueryParameterMatchSpecifier::PresentMatch(true),
        }),
    }
}
