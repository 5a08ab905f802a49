//! Orders routes by specificity, since Envoy uses the first match (Contour `internal/sorter/sorter.go`).

use crate::model::{HeaderCondition, MatchType, PathCondition, QueryCondition, Route};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cmp::{Ordering, Reverse};

/// A route with its conditions in order.
pub(super) struct Ordered<'a> {
    pub(super) route: &'a Arc<Route>,
    pub(super) headers: Vec<&'a HeaderCondition>,
    pub(super) queries: Vec<&'a QueryCondition>,
}

/// Routes in the order in which Envoy tries them.
pub(super) fn ordered<'a>(routes: impl IntoIterator<Item = &'a Arc<Route>>) -> Vec<Ordered<'a>> {
    let order = |route: &'a Arc<Route>| {
        let mut headers: Vec<&HeaderCondition> = route.conditions.headers.iter().collect();
        headers.sort_by(|a, b| by_header(a, b));
        let mut queries: Vec<&QueryCondition> = route.conditions.queries.iter().collect();
        queries.sort_by(|a, b| by_query(a, b));
        Ordered { route, headers, queries }
    };
    let mut routes: Vec<Ordered<'a>> = routes.into_iter().map(order).collect();
    routes.sort_by(by_route);
    routes
}

/// Exact, expression, prefix; then the longer path; then the later in the alphabet. The length of exact paths is ignored.
fn by_route(a: &Ordered<'_>, b: &Ordered<'_>) -> Ordering {
    let rank = |path: &PathCondition| match path {
        PathCondition::Exact(_) => 0,
        PathCondition::Regex(_) => 1,
        PathCondition::Prefix(_) | PathCondition::Segment(_) => 2,
    };
    let key = |of: &Ordered<'_>| {
        let path = &of.route.conditions.path.value;
        let length = if rank(path) == 0 { 0 } else { path.text().len() };
        (rank(path), Reverse(length))
    };
    let (first, second) = (&a.route.conditions.path.value, &b.route.conditions.path.value);
    let by_segment = |path: &PathCondition| !matches!(path, PathCondition::Segment(_));
    key(a)
        .cmp(&key(b))
        .then_with(|| second.text().cmp(first.text()))
        .then_with(|| by_segment(first).cmp(&by_segment(second)))
        .then_with(|| by_conditions(a, b))
}

/// Routes with a method, more headers, or more query parameters come first.
fn by_conditions(a: &Ordered<'_>, b: &Ordered<'_>) -> Ordering {
    let is_method = |header: &&&HeaderCondition| header.name == ":method";
    let others = |of: &Ordered<'_>| of.headers.iter().filter(|header| !is_method(header)).count();
    let key = |of: &Ordered<'_>| {
        let method = of.headers.iter().any(|header| header.name == ":method");
        (!method, Reverse(others(of)), Reverse(of.queries.len()), of.route.priority)
    };
    let headers = |of: &Ordered<'_>| of.headers.iter().filter(|header| header.name != ":method").copied().cloned().collect::<Vec<_>>();
    key(a).cmp(&key(b)).then_with(|| each(&headers(a), &headers(b), by_header)).then_with(|| each(&a.queries, &b.queries, |a, b| by_query(a, b)))
}

fn each<T>(a: &[T], b: &[T], compare: impl Fn(&T, &T) -> Ordering) -> Ordering {
    a.iter().zip(b).map(|(a, b)| compare(a, b)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

fn by_header(a: &HeaderCondition, b: &HeaderCondition) -> Ordering {
    let rank = |of: &HeaderCondition| match of.match_type {
        MatchType::Exact => 0,
        MatchType::Regex => 1,
        MatchType::Contains => 2,
        MatchType::Present => 3,
        MatchType::Prefix | MatchType::Suffix => 4,
    };
    let value = |of: &HeaderCondition| if of.match_type == MatchType::Present { "".into() } else { of.value.clone() };
    a.name.cmp(&b.name).then_with(|| rank(a).cmp(&rank(b))).then_with(|| value(a).cmp(&value(b))).then_with(|| a.invert.cmp(&b.invert))
}

fn by_query(a: &QueryCondition, b: &QueryCondition) -> Ordering {
    let rank = |of: &QueryCondition| match of.match_type {
        MatchType::Exact => 0,
        MatchType::Regex => 1,
        MatchType::Prefix => 2,
        MatchType::Suffix => 3,
        MatchType::Contains => 4,
        MatchType::Present => 5,
    };
    a.name.cmp(&b.name).then_with(|| rank(a).cmp(&rank(b))).then_with(|| a.value.cmp(&b.value)).then_with(|| a.ignore_case.cmp(&b.ignore_case))
}
