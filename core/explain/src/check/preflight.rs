//! Reports routes with a CORS policy whose conditions no preflight request meets.
//!
//! Browsers send a preflight request (Fetch standard, "CORS-preflight fetch") as OPTIONS, without the headers, cookies and tokens of the actual
//! request. Envoy chooses the route before the CORS filter reads the route's policy. So a condition on another method or on such a header leaves
//! the preflight request without a route.

use super::whole::{Whole, tables, written};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::diagnostic::codes;
use chancery_base::ir::{HeaderMatch, PathMatch, PerFilter, Route, RouteAction, StringMatch};
use chancery_base::re2::engine::Regex;
use chancery_base::resource::Sourced;
use chancery_text::Str;
use hashbrown::HashSet;

/// Headers of a preflight request whose values are unknown here, so a request may meet a condition on them.
const SENT: [&str; 8] = ["host", "origin", "user-agent", "accept", "referer", "x-forwarded-proto", "x-forwarded-for", "x-forwarded-host"];

/// Prefixes of further headers of this kind.
const SENT_PREFIXES: [&str; 4] = [":", "access-control-request-", "accept-", "sec-"];

pub(super) fn check(whole: &mut Whole<'_>) {
    let mut seen: HashSet<usize> = HashSet::new();
    let mut found = Vec::new();
    for host in tables(whole.ir).flat_map(|table| &table.virtual_hosts) {
        if !seen.insert(Arc::as_ptr(&host.routes).addr()) {
            continue;
        }
        for route in host.routes.iter().filter(|route| has_policy(route)) {
            let Some(header) = route.matcher.headers.iter().find(|header| !may_be_met(&header.value)) else { continue };
            let answers = |other: &Route| {
                covers(&other.matcher.path.value, &route.matcher.path.value) && other.matcher.headers.iter().all(|header| may_be_met(&header.value))
            };
            if !host.routes.iter().any(|other| answers(other)) {
                found.push((header.origin.or_else(|| written(&route.origins)), message(header)));
            }
        }
    }
    for (origin, (message, help)) in found {
        if whole.object(origin).is_some() {
            let finding = whole.finding(&codes::UNREACHABLE_PREFLIGHT, origin, message).help(help);
            whole.report(finding);
        }
    }
}

/// Whether a route has a CORS policy.
fn has_policy(route: &Route) -> bool {
    let forwards = matches!(&route.action, RouteAction::Forward(forward) if forward.cors.is_some());
    forwards || route.per_filter.iter().any(|(_, filter)| matches!(filter.value, PerFilter::Cors(_)))
}

/// Whether a preflight request may meet a condition.
fn may_be_met(header: &HeaderMatch) -> bool {
    let name = header.name.to_ascii_lowercase();
    if name == ":method" {
        let is_met = match &header.value {
            StringMatch::Exact(method) => *method == *"OPTIONS",
            StringMatch::Prefix(text) => "OPTIONS".starts_with(&**text),
            StringMatch::Suffix(text) => "OPTIONS".ends_with(&**text),
            StringMatch::Contains(text) => "OPTIONS".contains(&**text),
            StringMatch::Regex(regex) => Regex::new(&regex.regex).map_or(true, |regex| regex.is_full_match("OPTIONS")),
            StringMatch::Present => true,
        };
        return is_met != header.invert;
    }
    header.invert || SENT.contains(&name.as_str()) || SENT_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// Whether a path condition matches every path that another one matches. Regular expressions are compared as strings.
fn covers(outer: &PathMatch, inner: &PathMatch) -> bool {
    let begin = |path: &PathMatch| -> Option<Str> {
        match path {
            PathMatch::Prefix(text) | PathMatch::PathSeparatedPrefix(text) | PathMatch::Exact(text) => Some(text.clone()),
            PathMatch::Regex(_) => None,
        }
    };
    if outer == inner {
        return true;
    }
    match (outer, begin(inner)) {
        (PathMatch::Prefix(outer), _) if *outer == *"/" => true,
        (PathMatch::Prefix(outer) | PathMatch::PathSeparatedPrefix(outer), Some(inner)) => inner.starts_with(&**outer),
        _ => false,
    }
}

fn message(header: &Sourced<HeaderMatch>) -> (String, String) {
    let name = &header.value.name;
    if **name == *":method" {
        let message =
            "browsers send a CORS preflight request as OPTIONS, which this route does not match: it gets 404, and the browser refuses the request";
        return (message.into(), "let the method be OPTIONS too, or add a route for OPTIONS with the same CORS policy".into());
    }
    let message =
        format!("a CORS preflight request never has the header `{name}`, so it gets 404, and browsers refuse the request that would follow");
    (message, format!("add a route without the condition on `{name}` for OPTIONS, with the same CORS policy"))
}
