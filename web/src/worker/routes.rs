//! The routes as the page lists them: twins for http and https joined, Services by the user's names, numbers within the user's own rules.
//!
//! What must not be here: the routes themselves.

use chancery_core::explain::{Graph, RouteRow, service_name};
use std::collections::HashMap;

/// The condition by which twins differ.
const TRANSPORT: &str = "x-forwarded-proto is";

/// The rows of the page. `story` names clusters as the user does.
pub fn listed(rows: Vec<RouteRow>, story: &Graph) -> Vec<RouteRow> {
    let mut out: Vec<RouteRow> = Vec::new();
    // By where their virtual host is: the number of the last rule, and the number of each route.
    let mut numbers: HashMap<String, (u32, HashMap<u32, u32>)> = HashMap::new();
    for row in rows {
        let host = row.pointer.rsplit_once("/routes/").map_or_else(|| row.pointer.clone(), |(host, _)| host.to_string());
        let (last, known) = numbers.entry(host.clone()).or_default();
        if let Some(before) = out.last_mut().filter(|before| before.pointer.starts_with(&format!("{host}/routes/")) && are_twins(before, &row)) {
            before.conditions.retain(|condition| !condition.starts_with(TRANSPORT));
            known.insert(row.order, before.order);
            continue;
        }
        let number = if row.made_by.is_empty() { 0 } else { *last + 1 };
        *last = (*last).max(number);
        known.insert(row.order, number);
        let shadowed_by = row.shadowed_by.map(|by| known.get(&by).copied().unwrap_or_default());
        let mut row = RouteRow { order: number, shadowed_by, ..row };
        // The heading names the host.
        let hosts: Vec<String> = row.domains.iter().map(|domain| format!(":authority is {domain}")).collect();
        row.conditions.retain(|condition| !hosts.contains(condition));
        for cluster in &row.upstreams {
            row.told = row.told.replace(cluster.as_str(), &service_name(story, cluster));
        }
        out.push(row);
    }
    out
}

/// Whether two routes are one rule, once for https and once for http.
fn are_twins(first: &RouteRow, second: &RouteRow) -> bool {
    let others = |row: &RouteRow| row.conditions.iter().filter(|condition| !condition.starts_with(TRANSPORT)).cloned().collect::<Vec<_>>();
    let differ = first.conditions != second.conditions;
    differ
        && others(first) == others(second)
        && first.path == second.path
        && first.action == second.action
        && first.upstreams == second.upstreams
        && first.policies == second.policies
        && first.made_by == second.made_by
}
