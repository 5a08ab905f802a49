//! Requests that are lost because the routes that share them do not take all of them.
//!
//! What must not be here: what a controller does with weights, and routes that no request reaches (`unreachable`).

use super::whole::{Whole, tables, written};
use crate::diagnostic::{Severity, codes};
use crate::ir::{PathMatch, Route, RouteMatch};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::sync::Arc;
use hashbrown::{HashMap, HashSet};

/// Routes that share requests follow each other this closely: as many of those behind a route are looked at.
const NEAR: usize = 64;

pub(super) fn check(whole: &mut Whole<'_>) {
    let (ir, mut seen) = (whole.ir, HashSet::new());
    for host in tables(ir).flat_map(|table| &table.virtual_hosts).filter(|host| seen.insert(Arc::as_ptr(&host.routes).addr())) {
        let others = Unconditional::of(&host.routes);
        for (at, route) in host.routes.iter().enumerate() {
            let Some(percent) = share(&route.matcher).filter(|percent| *percent < 100) else { continue };
            let mut behind = host.routes.iter().skip(at + 1).take(NEAR);
            if behind.any(|other| takes_the_same(&route.matcher, &other.matcher)) || others.may_take_what_is_left(at, path(&route.matcher)) {
                continue;
            }
            let lost = 100 - percent;
            let message = format!("{lost} % of the requests for `{}` match no route: the weights add up to {percent}", path(&route.matcher));
            let mut finding = whole.finding(&codes::INVALID_WEIGHT, written(&route.origins), message);
            finding.severity = Severity::Warning;
            whole.report(finding.help("let the weights add up to 100, or leave one of them out: it takes the rest"));
        }
    }
}

/// Routes without further conditions, by their path or the beginning of it: the last of each. Where one stands behind, nothing is reported.
#[derive(Default)]
struct Unconditional<'a> {
    last: HashMap<&'a str, usize>,
    lengths: BTreeSet<usize>,
    /// The last one whose path is an expression: which paths it takes is not decided here.
    last_regex: Option<usize>,
}

impl<'a> Unconditional<'a> {
    fn of(routes: &'a [Arc<Route>]) -> Self {
        let mut found = Self::default();
        for (at, route) in routes.iter().enumerate() {
            let matcher = &route.matcher;
            let is_free =
                matcher.headers.is_empty() && matcher.query.is_empty() && !matcher.grpc && share(matcher).is_none_or(|percent| percent >= 100);
            if is_free && !matches!(matcher.path.value, PathMatch::Regex(_)) {
                found.last.insert(path(matcher), at);
                found.lengths.insert(path(matcher).len());
            } else if is_free {
                found.last_regex = Some(at);
            }
        }
        found
    }

    /// Whether a route behind `at` may take what is left of the requests for a path.
    fn may_take_what_is_left(&self, at: usize, path: &str) -> bool {
        let starts = self.lengths.range(..=path.len()).filter_map(|length| path.get(..*length));
        let is_behind = |last: usize| last > at;
        self.last_regex.is_some_and(is_behind) || starts.into_iter().any(|start| self.last.get(start).copied().is_some_and(is_behind))
    }
}

fn share(of: &RouteMatch) -> Option<u32> {
    of.fraction.as_ref().map(|fraction| fraction.percent.value)
}

fn path(of: &RouteMatch) -> &str {
    match &of.path.value {
        PathMatch::Prefix(path) | PathMatch::Exact(path) | PathMatch::PathSeparatedPrefix(path) => path,
        PathMatch::Regex(regex) => &regex.regex,
    }
}

/// Whether two routes take the same requests, but for the share.
fn takes_the_same(a: &RouteMatch, b: &RouteMatch) -> bool {
    a.path == b.path && a.headers == b.headers && a.query == b.query && a.grpc == b.grpc
}
