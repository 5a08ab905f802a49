//! Explains why a route is tried before others that would match the same request, by the ordering rules of its controller.
//!
//! Does not order routes; see the dialects.

use super::TracedGateway;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::compilation::OrderRule;
use chancery_base::resource::{Object, ObjectId};
use chancery_envoy::emit::pb;
use chancery_envoy::simulate::Simulation;
use chancery_text::Node;
use core::cmp::Ordering;
use pb::matcher::string_matcher::MatchPattern;
use pb::route::header_matcher::HeaderMatchSpecifier;
use pb::route::query_parameter_matcher::QueryParameterMatchSpecifier;
use pb::route::route_match::PathSpecifier;
use pb::route::{RouteConfiguration, RouteMatch};

/// Why the matched route is tried before another one.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct RoutePrecedence {
    /// The number of the other route in the virtual host, from 0.
    pub over: usize,
    /// The rule that decides, as a clause: `a longer path comes first`.
    pub because: String,
}

/// A route with the object that made it.
struct Made<'a> {
    matcher: &'a RouteMatch,
    object: Option<&'a Object>,
    /// Where the object's text makes it.
    offset: Option<u32>,
}

/// Returns why the matched route is tried before the later routes that would match too. Leaves out routes whose order no rule explains.
pub(super) fn reasons(simulation: &Simulation, gateway: &TracedGateway<'_>) -> Vec<RoutePrecedence> {
    let rules = (gateway.side.dialect().hints.route_order)(&gateway.side.compilation.objects);
    if simulation.shadowed.is_empty() || rules.is_empty() {
        return Vec::new();
    }
    let Some(host) = simulation.places.iter().find(|place| place.of == "virtual_host") else { return Vec::new() };
    let tables = gateway.config.route_tables();
    let Some((table, of)) = tables.iter().find(|(pointer, _)| host.pointer.starts_with(&format!("{pointer}/virtual_hosts/"))) else {
        return Vec::new();
    };
    let made = |index: usize| made(gateway, table, of, &host.pointer, index);
    let Some(winner) = simulation.route.as_ref().and_then(|route| made(route.index)) else { return Vec::new() };
    let reason = |over: usize| Some(RoutePrecedence { over, because: why(rules, &winner, &made(over)?)? });
    simulation.shadowed.iter().filter_map(|other| reason(other.index)).collect()
}

fn made<'a>(gateway: &TracedGateway<'a>, table: &str, of: &'a RouteConfiguration, host: &str, index: usize) -> Option<Made<'a>> {
    let place: usize = host.strip_prefix(table)?.strip_prefix("/virtual_hosts/")?.parse().ok()?;
    let matcher = of.virtual_hosts.get(place)?.routes.get(index)?.r#match.as_ref()?;
    let all = gateway.map.descendants(&format!("{host}/routes/{index}"));
    let origin = all.iter().flat_map(|made| made.origins).find(|origin| origin.object() != ObjectId::BUILT_IN);
    let objects = &gateway.side.compilation.objects;
    let object = origin.and_then(|origin| objects.iter().find(|object| object.id == origin.object()));
    let offset = object.zip(origin).and_then(|(object, origin)| Some(object.value_range(origin.node())?.start));
    Some(Made { matcher, object, offset })
}

/// Returns the first rule that distinguishes two routes, if it puts the first before the second.
fn why(rules: &[OrderRule], first: &Made<'_>, second: &Made<'_>) -> Option<String> {
    let (order, because) = rules.iter().map(|rule| compare(rule, first, second)).find(|(order, _)| order.is_ne())?;
    (order == Ordering::Less).then_some(because)
}

/// Compares two routes by one rule: `Less` if the first comes first. The clause then states why.
fn compare(rule: &OrderRule, a: &Made<'_>, b: &Made<'_>) -> (Ordering, String) {
    let more = |count: fn(&RouteMatch) -> usize, what: &str| {
        let (a, b) = (count(a.matcher), count(b.matcher));
        (b.cmp(&a), format!("more {what} come first ({a}, not {b})"))
    };
    match rule {
        OrderRule::LargerField(field) => {
            let value = |of: &Made<'_>| of.object.and_then(|object| object.root.at(&["spec", field]).and_then(Node::as_i64)).unwrap_or_default();
            (value(b).cmp(&value(a)), format!("a larger `{field}` comes first ({}, not {})", value(a), value(b)))
        }
        OrderRule::PathKind => {
            let (of_a, of_b) = (path(a.matcher), path(b.matcher));
            (of_a.rank.cmp(&of_b.rank), format!("{} comes before {}", of_a.kind, of_b.kind))
        }
        OrderRule::LongerPath => {
            let (of_a, of_b) = (path(a.matcher), path(b.matcher));
            (of_b.length().cmp(&of_a.length()), format!("a longer path comes first (`{}`, not `{}`)", of_a.text, of_b.text))
        }
        OrderRule::Method => (has_method(b.matcher).cmp(&has_method(a.matcher)), "a route with a method comes first".into()),
        OrderRule::Headers => {
            let has_any =
                |of: &Made<'_>| of.matcher.headers.iter().any(|header| ![":authority", "x-forwarded-proto"].contains(&header.name.as_str()));
            // Which of two routes with conditions comes first depends on their lengths.
            let order = has_any(b).cmp(&has_any(a));
            (order, "a route with conditions on headers comes first".into())
        }
        OrderRule::MoreHeaders => more(|of| of.headers.len(), "conditions on headers"),
        OrderRule::MoreOtherHeaders => more(|of| of.headers.iter().filter(|header| header.name != ":method").count(), "conditions on headers"),
        OrderRule::MoreExactHeaders => more(exact_headers, "exact conditions on headers"),
        OrderRule::MoreCookies => more(|of| of.cookies.len(), "conditions on cookies"),
        OrderRule::MoreExactCookies => more(exact_cookies, "exact conditions on cookies"),
        OrderRule::MoreQueryParameters => more(|of| of.query_parameters.len(), "conditions on query parameters"),
        OrderRule::MoreExactQueryParameters => more(exact_parameters, "exact conditions on query parameters"),
        OrderRule::Age => {
            let created = |of: &Made<'_>| {
                of.object.and_then(|object| object.root.at(&["metadata", "creationTimestamp"]).and_then(Node::as_str).map(String::from))
            };
            let (of_a, of_b) = (created(a).unwrap_or_default(), created(b).unwrap_or_default());
            let since = |time: &str| if time.is_empty() { "no time".into() } else { String::from(time) };
            (of_a.cmp(&of_b), format!("the older object comes first ({}, not {})", since(&of_a), since(&of_b)))
        }
        OrderRule::Name => {
            let name = |of: &Made<'_>| of.object.map(|object| (object.key.namespace.clone(), object.key.name.clone()));
            (name(a).cmp(&name(b)), "of objects with the same age, the first by namespace and name comes first".into())
        }
        OrderRule::Place => (place(a, b), "the object lists it later".into()),
        OrderRule::PlaceIn(kinds) => {
            let is_of = |of: &Made<'_>| of.object.is_some_and(|object| kinds.contains(&object.key.kind.as_str()));
            (if is_of(a) && is_of(b) { place(a, b) } else { Ordering::Equal }, "the object lists it later".into())
        }
    }
}

/// Compares the places of two routes of the same object.
fn place(a: &Made<'_>, b: &Made<'_>) -> Ordering {
    let is_same = a.object.map(|object| object.id) == b.object.map(|object| object.id);
    if is_same { a.offset.cmp(&b.offset) } else { Ordering::Equal }
}

/// A matcher of paths.
struct Path<'a> {
    rank: u8,
    kind: &'static str,
    text: &'a str,
}

impl Path<'_> {
    fn length(&self) -> usize {
        if self.kind == PREFIX && self.text == "/" { 0 } else { self.text.chars().count() }
    }
}

const PREFIX: &str = "a prefix";

fn path(of: &RouteMatch) -> Path<'_> {
    match &of.path_specifier {
        Some(PathSpecifier::Path(text)) => Path { rank: 0, kind: "an exact path", text },
        Some(PathSpecifier::SafeRegex(regex)) => Path { rank: 1, kind: "a regular expression", text: &regex.regex },
        Some(PathSpecifier::Prefix(text) | PathSpecifier::PathSeparatedPrefix(text)) => Path { rank: 2, kind: PREFIX, text },
        Some(PathSpecifier::ConnectMatcher(_) | PathSpecifier::PathMatchPolicy(_)) | None => {
            Path { rank: 2, kind: "a route without a path", text: "" }
        }
    }
}

fn has_method(of: &RouteMatch) -> bool {
    of.headers.iter().any(|header| header.name == ":method")
}

fn is_exact(pattern: Option<&MatchPattern>) -> bool {
    matches!(pattern, Some(MatchPattern::Exact(_)))
}

fn exact_headers(of: &RouteMatch) -> usize {
    let is_exact_header = |specifier: Option<&HeaderMatchSpecifier>| match specifier {
        Some(HeaderMatchSpecifier::StringMatch(text)) => is_exact(text.match_pattern.as_ref()),
        Some(HeaderMatchSpecifier::ExactMatch(_)) => true,
        _ => false,
    };
    of.headers.iter().filter(|header| is_exact_header(header.header_match_specifier.as_ref())).count()
}

fn exact_cookies(of: &RouteMatch) -> usize {
    of.cookies.iter().filter(|cookie| is_exact(cookie.string_match.as_ref().and_then(|text| text.match_pattern.as_ref()))).count()
}

fn exact_parameters(of: &RouteMatch) -> usize {
    let is_exact_parameter = |specifier: Option<&QueryParameterMatchSpecifier>| match specifier {
        Some(QueryParameterMatchSpecifier::StringMatch(text)) => is_exact(text.match_pattern.as_ref()),
        _ => false,
    };
    of.query_parameters.iter().filter(|parameter| is_exact_parameter(parameter.query_parameter_match_specifier.as_ref())).count()
}
