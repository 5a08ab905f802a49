//! Translates the matches of rules: which requests a route is for.

use super::super::model::{HttpRoute, StringMatch, StringMatchKind};
use super::super::value::text;
use super::error::RouteError;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::resource::{Origin, Sourced};
use chancery_kubernetes::cursor::Cursor;
use chancery_text::Str;

/// A match of a rule, with the cookies of a match of an HTTPRouteFilter.
#[derive(Clone, Copy)]
pub(super) struct Combination<'a> {
    pub(super) at: Option<Cursor<'a>>,
    cookies: Option<Cursor<'a>>,
}

/// Combines the matches of a rule with those of its filter.
pub(super) fn combine<'a>(matches: &[Cursor<'a>], of_filter: &[Cursor<'a>]) -> Vec<Combination<'a>> {
    if of_filter.is_empty() {
        return matches.iter().map(|at| Combination { at: Some(*at), cookies: None }).collect();
    }
    let base: Vec<Option<Cursor<'a>>> = if matches.is_empty() { Vec::from([None]) } else { matches.iter().copied().map(Some).collect() };
    let with = |at: Option<Cursor<'a>>| of_filter.iter().map(move |of| Combination { at, cookies: Some(of.field("cookies")) });
    base.into_iter().flat_map(with).collect()
}

/// Returns a comparison.
pub(super) fn string_match(name: Sourced<Str>, kind: StringMatchKind, value: Sourced<Str>) -> StringMatch {
    StringMatch { name, kind, value, invert: Sourced::default() }
}

/// Adds the match of an HTTPRoute to a route.
pub(super) fn http(of: &Combination<'_>, route: &mut HttpRoute) -> Result<(), RouteError> {
    if let Some(at) = of.at {
        let path = at.field("path");
        if path.exists() {
            let kind = match path.field("type").str() {
                "Exact" => StringMatchKind::Exact,
                "RegularExpression" => {
                    expression(path.field("value"))?;
                    StringMatchKind::Regex
                }
                _ => StringMatchKind::Prefix,
            };
            route.path = Some(string_match(Sourced::default(), kind, text(path.field("value"))));
        }
        route.headers = named(at.field("headers"))?;
        route.query = named(at.field("queryParams"))?;
        let method = at.field("method");
        if method.exists() {
            route.headers.push(string_match(Sourced::new(Str::new_static(":method"), method.origin()), StringMatchKind::Exact, text(method)));
        }
    }
    route.cookies = cookies(of)?;
    Ok(())
}

/// Adds the match of a GRPCRoute to a route.
pub(super) fn grpc(of: &Combination<'_>, route: &mut HttpRoute) -> Result<(), RouteError> {
    const ANY_SERVICE: &str = r"(?i)\.?[a-z_][a-z_0-9]*(\.[a-z_][a-z_0-9]*)*";
    const ANY_METHOD: &str = "[A-Za-z_][A-Za-z_0-9]*";
    if let Some(at) = of.at {
        route.headers = named(at.field("headers"))?;
        let call = at.field("method");
        let (service, method) = (call.field("service"), call.field("method"));
        let origin = call.origin();
        let path = |kind: StringMatchKind, value: String| Some(string_match(Sourced::default(), kind, Sourced::new(Str::from(value), origin)));
        let is_expression = call.field("type").str() == "RegularExpression";
        if is_expression {
            service.some().map_or(Ok(()), expression)?;
            method.some().map_or(Ok(()), expression)?;
        }
        match (service.some_str(), method.some_str()) {
            (Some(service), Some(method)) if is_expression => route.path = path(StringMatchKind::Regex, format!("/{service}/{method}")),
            (None, Some(method)) if is_expression => route.path = path(StringMatchKind::Regex, format!("/{ANY_SERVICE}/{method}")),
            (Some(service), None) if is_expression => route.path = path(StringMatchKind::Regex, format!("/{service}/{ANY_METHOD}")),
            (Some(service), Some(method)) => route.path = path(StringMatchKind::Exact, format!("/{service}/{method}")),
            (None, Some(name)) => {
                let value = Sourced::new(Str::from(format!("/{name}")), method.origin());
                let header = Sourced::new(Str::new_static(":path"), method.origin());
                route.headers.push(string_match(header, StringMatchKind::Suffix, value));
            }
            (Some(service), None) => route.path = path(StringMatchKind::Prefix, format!("/{service}")),
            (None, None) => {}
        }
    }
    route.cookies = cookies(of)?;
    Ok(())
}

fn named(list: Cursor<'_>) -> Result<Vec<StringMatch>, RouteError> {
    let one = |item: Cursor<'_>| {
        let kind = match item.field("type").str() {
            "RegularExpression" => {
                expression(item.field("value"))?;
                StringMatchKind::Regex
            }
            _ => StringMatchKind::Exact,
        };
        Ok(string_match(text(item.field("name")), kind, text(item.field("value"))))
    };
    list.items().map(one).collect()
}

fn cookies(of: &Combination<'_>) -> Result<Vec<StringMatch>, RouteError> {
    of.cookies.map_or(Ok(Vec::new()), named)
}

/// Checks a regular expression.
fn expression(at: Cursor<'_>) -> Result<(), RouteError> {
    chancery_kubernetes::regexp::check(at.str()).map_err(|words| {
        let message = format!("regex {} is invalid: error parsing regexp: {words}", chancery_base::schema::go_quoted(at.str()));
        RouteError::new("UnsupportedValue", message)
    })
}

/// Returns the matches of a preflight request for a method.
pub(super) fn preflight(headers: &[StringMatch], origin: Origin) -> Vec<StringMatch> {
    let mut all: Vec<StringMatch> = headers.iter().filter(|header| *header.name.value != *":method").cloned().collect();
    let sourced = |text: &'static str| Sourced::new(Str::new_static(text), origin);
    all.push(string_match(sourced(":method"), StringMatchKind::Exact, sourced("OPTIONS")));
    all.push(string_match(sourced("origin"), StringMatchKind::Regex, sourced(".*")));
    all.push(string_match(sourced("access-control-request-method"), StringMatchKind::Regex, sourced(".*")));
    all
}
