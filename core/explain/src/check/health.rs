//! Reports settings of active health checks that do less than they seem to: thresholds that a status bypasses, and weights of routes.
//!
//! Source of behaviour: Envoy `source/extensions/health_checkers/common/health_checker_base_impl.cc` (`setUnhealthy`) counts failures only if there
//! is no response, or if its status is in `retriable_statuses`; `source/common/router` chooses a weighted cluster before it looks at health.

use super::whole::Whole;
use alloc::format;
use alloc::vec::Vec;
use chancery_base::diagnostic::codes;
use chancery_base::ir::{HealthChecker, Tree, UpstreamClusters};
use chancery_base::resource::Origin;
use chancery_text::Node;
use hashbrown::{HashMap, HashSet};

pub(super) fn check(whole: &mut Whole<'_>) {
    thresholds(whole);
    weights(whole);
}

/// Reports thresholds of HTTP checks that the user wrote.
fn thresholds(whole: &mut Whole<'_>) {
    let mut found: Vec<(i64, Option<Origin>, bool)> = Vec::new();
    for check in whole.ir.clusters.iter().flat_map(|cluster| &cluster.health_checks) {
        if let HealthChecker::Http { .. } = check.value.checker {
            let threshold = &check.value.unhealthy_threshold;
            found.push((threshold.value.into(), threshold.origin, false));
        }
    }
    for cluster in &whole.ir.delivery.verbatim.clusters {
        for check in cluster.get("health_checks").items() {
            let http = check.get("http_health_check");
            if !http.is_null() && http.get("retriable_statuses").items().is_empty() {
                let threshold = check.get("unhealthy_threshold");
                found.push((threshold.int(), threshold.origin, true));
            }
        }
    }
    let mut seen = HashSet::new();
    for (threshold, origin, is_verbatim) in found {
        // Any other number is a default.
        let is_written = || whole.node(origin).and_then(Node::as_i64) == Some(threshold);
        if threshold < 2 || !seen.insert(origin) || !is_written() {
            continue;
        }
        let message = format!(
            "one response with an unexpected status makes an endpoint unhealthy at once: only tries without a response count up to {threshold}"
        );
        let finding = whole.finding(&codes::THRESHOLD_BYPASSED, origin, message);
        let is_envoy_gateway = is_verbatim && whole.side.dialect().name == "envoy-gateway";
        whole.report(if is_envoy_gateway { finding.help("list the statuses that should count in `http.retriableStatuses`") } else { finding });
    }
}

/// Reports health checks of clusters that share a route by weight.
fn weights(whole: &mut Whole<'_>) {
    let mut places: HashSet<Option<Origin>> = HashSet::new();
    let lowered = |name| whole.clusters.get(name).and_then(|cluster| cluster.health_checks.first()).map(|check| check.origin);
    for (_, forward) in whole.forwards() {
        let UpstreamClusters::Weighted(all) = &forward.clusters else { continue };
        let used: Vec<_> = all.iter().filter(|cluster| cluster.weight.value > 0).collect();
        if used.len() > 1 {
            places.extend(used.iter().find_map(|cluster| lowered(&cluster.name.value)));
        }
    }
    let verbatim = &whole.ir.delivery.verbatim;
    let with_check = verbatim.clusters.iter().filter_map(|cluster| {
        let check = cluster.get("health_checks").items().first()?;
        Some((cluster.get("name").text(), check.origin))
    });
    let checks: HashMap<&str, Option<Origin>> = with_check.collect();
    if !checks.is_empty() {
        verbatim.listeners.iter().chain(&verbatim.routes).for_each(|tree| collect(tree, &checks, &mut places));
    }
    let mut places: Vec<Option<Origin>> = places.into_iter().filter(|origin| whole.object(*origin).is_some()).collect();
    places.sort_unstable();
    for origin in places {
        let message = "the weights of the route do not depend on health: a service gets its share of the requests even if all its endpoints fail \
                       this check";
        let finding = whole.finding(&codes::WEIGHTS_IGNORE_HEALTH, origin, message);
        whole.report(finding.help("use one service with all endpoints if requests should move to healthy endpoints"));
    }
}

/// Collects the checks of clusters that share a route by weight.
fn collect(tree: &Tree, checks: &HashMap<&str, Option<Origin>>, places: &mut HashSet<Option<Origin>>) {
    let weighted = tree.get("weighted_clusters").get("clusters").items();
    let used: Vec<&Tree> = weighted.iter().filter(|cluster| cluster.get("weight").int() > 0).collect();
    if used.len() > 1 {
        places.extend(used.iter().find_map(|cluster| checks.get(cluster.get("name").text())));
    }
    tree.fields().iter().for_each(|(_, value)| collect(value, checks, places));
    tree.items().iter().for_each(|value| collect(value, checks, places));
}
