//! The routes as the page lists them: twins for http and https joined, Services by the user's names, numbers within the user's own rules.
//!
//! What must not be here: the routes themselves.

use crate::protocol::Which;
use crate::worker::configs::Configs;
use chancery_core::compilation::{Compilation, GatewayId, NamedGateway};
use chancery_core::explain::{Graph, RouteRow, ServiceNames, routes, routes_of_app_gateway, row_of_app_gateway_takes};
use chancery_core::simulate::Gateway;
use serde::Serialize;
use std::collections::{HashMap, HashSet};

/// The condition by which twins differ.
const TRANSPORT: &str = "x-forwarded-proto is";

/// A row of the page, with the gateway that it is of.
#[derive(Serialize)]
pub struct Listed {
    #[serde(flatten)]
    row: RouteRow,
    /// What distinguishes it from all others.
    key: String,
    /// What its gateway is called, where there are several.
    of: Option<String>,
    /// Its gateway, unless it is the one that is shown.
    gateway: Option<Which>,
}

fn key(dialect: &str, id: &GatewayId, pointer: &str) -> String {
    format!("{dialect} {} {pointer}", id.as_str())
}

/// The rows of all gateways, in the order of the gateways. `story` names clusters as the user does.
pub fn all(compilation: &Compilation, shown: (usize, usize), story: &Graph) -> Vec<Listed> {
    let (mut out, names) = (Vec::new(), ServiceNames::of(story));
    for (side_at, side) in compilation.sides().enumerate() {
        for (at, gateway) in side.side.gateways.iter().enumerate() {
            let (dialect, id) = (side.dialect().name, &gateway.id);
            let envoy = side.gateways().find(|of| of.id == id);
            let rows = match envoy {
                Some(gateway) => listed(routes(gateway), &names),
                None => side.app_gateways().find(|of| of.named.id == id).map(|of| in_words(routes_of_app_gateway(of), &names)).unwrap_or_default(),
            };
            let of = NamedGateway { of: side, id }.label();
            let which = || Which { dialect: dialect.into(), id: id.to_string() };
            out.extend(rows.into_iter().map(|row| Listed {
                key: key(dialect, id, &row.pointer),
                of: of.clone(),
                gateway: (shown != (side_at, at)).then(which),
                row,
            }));
        }
    }
    out
}

/// The keys of the rows whose path takes a request.
pub fn taking(compilation: &Compilation, configs: &mut Configs, host: Option<&str>, path: &str) -> Vec<String> {
    let of_envoys = compilation.gateways().flat_map(|of| {
        let config = configs.of(of.ir);
        let pointers = Gateway::new(&config).routes_for(host, path).into_iter();
        pointers.map(|pointer| key(of.side.dialect.name, of.id, &pointer)).collect::<Vec<_>>()
    });
    let of_others = compilation.app_gateways().flat_map(|of| {
        let rows = routes_of_app_gateway(of).into_iter().filter(|row| row_of_app_gateway_takes(row, host, path));
        rows.map(|row| key(of.named.of.dialect().name, of.named.id, &row.pointer)).collect::<Vec<_>>()
    });
    of_envoys.chain(of_others).collect()
}

/// The rows of an Application Gateway: its Services by name, and its listeners, whose own names are hashes, by protocol and port.
fn in_words(rows: Vec<RouteRow>, names: &ServiceNames<'_>) -> Vec<RouteRow> {
    let words = |row: RouteRow| {
        let service = row.upstreams.first().map(|pool| (names.name(pool), pool));
        let told = match service {
            Some((service, pool)) if service != pool.as_str() => format!("to {service}, at {}", row.told),
            _ => row.told,
        };
        let port = row.address.trim_start_matches(':');
        RouteRow { told, listener: row.chain.to_uppercase().into(), address: format!("port {port}"), chain: String::new(), ..row }
    };
    rows.into_iter().map(words).collect()
}

/// The rows of an Envoy.
fn listed(rows: Vec<RouteRow>, names: &ServiceNames<'_>) -> Vec<RouteRow> {
    let mut out: Vec<RouteRow> = Vec::new();
    // By where their virtual host is: the number of the last rule, and the number of each route.
    let mut numbers: HashMap<String, (u32, HashMap<u32, u32>)> = HashMap::new();
    for mut row in rows {
        // The heading names the host.
        let hosts: Vec<String> = row.domains.iter().map(|domain| format!(":authority is {domain}")).collect();
        row.conditions.retain(|condition| !hosts.contains(condition));
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
        row.told = by_service(&row, names);
        out.push(row);
    }
    out
}

/// What a route does, with Services for clusters: each part of the sentence ends with one.
fn by_service(row: &RouteRow, names: &ServiceNames<'_>) -> String {
    let clusters: HashSet<&str> = row.upstreams.iter().map(|cluster| cluster.as_str()).collect();
    let parts = row.told.split(", ").map(|part| match part.rsplit_once(' ') {
        Some((before, cluster)) if clusters.contains(cluster) => format!("{before} {}", names.name(cluster)),
        _ => part.to_string(),
    });
    parts.collect::<Vec<_>>().join(", ")
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
