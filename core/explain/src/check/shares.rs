//! Reports requests that are lost because the routes that share them cover less than 100 %.
//!
//! The dialects define the meaning of weights; `unreachable` reports unreachable routes.

use super::cover::{Cover, covered, runtime};
use super::whole::{Whole, tables, written};
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::diagnostic::{Severity, codes};
use chancery_base::ir::PathMatch;
use chancery_envoy::emit::{self, pb};
use chancery_envoy::simulate;
use hashbrown::HashSet;
use pb::route::RouteMatch;

pub(super) fn check(whole: &mut Whole<'_>) {
    let (ir, runtime, mut seen) = (whole.ir, runtime(whole.ir), HashSet::new());
    for host in tables(ir).flat_map(|table| &table.virtual_hosts).filter(|host| seen.insert(Arc::as_ptr(&host.routes).addr())) {
        if host.routes.iter().all(|route| route.matcher.fraction.is_none()) {
            continue;
        }
        // From last to first: each route needs a later route that matches the rest of its requests. If that later route also matches only a share,
        // it is checked itself.
        let (matchers, fractions): (Vec<RouteMatch>, Vec<_>) = host
            .routes
            .iter()
            .rev()
            .map(|route| {
                let mut matcher = emit::route_matcher(ir, &route.matcher);
                let fraction = matcher.runtime_fraction.take();
                (matcher, fraction)
            })
            .unzip();
        let mut regex_is_behind = false;
        for ((route, fraction), cover) in host.routes.iter().rev().zip(fractions).zip(covered(&matchers, &runtime)) {
            let (taken, all) = fraction.map_or((1, 1), |fraction| simulate::fraction(&fraction, &runtime));
            // The paths of an expression cannot always be determined.
            if taken < all && cover == Cover::Nothing && !regex_is_behind {
                let percent = taken as f64 * 100.0 / all as f64;
                let (path, rest) = (path(&route.matcher.path.value), 100.0 - percent);
                let message = format!("the weights for `{path}` add up to {percent}: no route is certain to take the other {rest}% of the requests");
                let mut finding = whole.finding(&codes::INVALID_WEIGHT, written(&route.origins), message);
                finding.severity = Severity::Warning;
                whole.report(finding.help("let the weights add up to 100, or leave one of them out: it takes the rest"));
            }
            regex_is_behind |= matches!(route.matcher.path.value, PathMatch::Regex(_));
        }
    }
}

fn path(of: &PathMatch) -> &str {
    match of {
        PathMatch::Prefix(path) | PathMatch::Exact(path) | PathMatch::PathSeparatedPrefix(path) => path,
        PathMatch::Regex(regex) => &regex.regex,
    }
}
