//! Writes how a cluster spreads requests. Does not choose among clusters; see `route`.

use super::proto::{Setting as _, derived, duration, empty, extension, list, message, nanos, one, percent};
use crate::model::DestinationSetting;
use alloc::format;
use alloc::vec::Vec;
use chancery_base::ir::Tree;

const POLICIES: &str = "envoy.load_balancing_policies";

fn only(name: &str, message: &str, config: Tree) -> Tree {
    let kind = format!("envoy.extensions.load_balancing_policies.{name}.v3.{message}");
    one(message! { "typed_extension_config": extension(&format!("{POLICIES}.{name}"), &kind, config) })
}

fn policies(list: Tree) -> Tree {
    message! { "policies": list }
}

/// The cluster itself chooses.
pub(crate) fn provided() -> Tree {
    policies(only("cluster_provided", "ClusterProvided", empty()))
}

/// The policy that these settings ask for.
pub(crate) fn policy(of: &Tree, settings: &[&DestinationSetting]) -> Tree {
    if !of.get("endpointOverride").is_null() {
        return override_host(of);
    }
    let kind = of.get("type");
    let locality = locality(of, settings);
    let slow = || slow_start(of);
    let found = match kind.text() {
        "" | "LeastRequest" => only("least_request", "LeastRequest", message! { "locality_lb_config": locality, "slow_start_config": slow() }),
        "RoundRobin" => only("round_robin", "RoundRobin", message! { "locality_lb_config": locality, "slow_start_config": slow() }),
        "Random" => only("random", "Random", message! { "locality_lb_config": locality }),
        "ConsistentHash" => {
            let weighted = !of.at(&["zoneAware", "weightedZones"]).items().is_empty();
            let mut config = empty();
            config.set("table_size", of.at(&["consistentHash", "tableSize"]).clone());
            config.set("locality_weighted_lb_config", if weighted { empty() } else { Tree::NULL });
            only("maglev", "Maglev", config)
        }
        "BackendUtilization" => return by_utilization(of).or_from(kind.origin),
        _ => return Tree::NULL,
    };
    policies(found).or_from(kind.origin)
}

fn slow_start(of: &Tree) -> Tree {
    let window = of.at(&["slowStart", "window"]);
    if window.is_null() {
        Tree::NULL
    } else {
        message! { "slow_start_window": duration(window) }
    }
}

fn locality(of: &Tree, settings: &[&DestinationSetting]) -> Tree {
    let mut prefer = of.at(&["zoneAware", "preferLocal"]);
    if prefer.is_null()
        && let [only] = settings
    {
        prefer = &only.prefer_local;
    }
    if prefer.is_null() {
        return message! { "locality_weighted_lb_config": empty() };
    }
    let least = prefer.get("minEndpointsThreshold");
    let enabled = prefer.get("percentageEnabled");
    let force = prefer.get("force").some().map(|force| {
        let least = force.get("minEndpointsInZoneThreshold");
        message! { "min_size": if least.is_null() { 1_i64.into() } else { least.clone() } }.or_from(force.origin)
    });
    let config = message! {
        "min_cluster_size": if least.is_null() { 6_i64.into() } else { least.clone() },
        "routing_enabled": if enabled.is_null() { Tree::NULL } else { percent(enabled) },
        "force_local_zone": force,
    };
    message! { "zone_aware_lb_config": config.or_from(prefer.origin) }
}

fn by_utilization(of: &Tree) -> Tree {
    let own = of.get("backendUtilization");
    let period = |name: &str| {
        let period = own.get(name);
        if nanos(period).is_some_and(|nanos| nanos > 0) { duration(period) } else { Tree::NULL }
    };
    let penalty = own.get("errorUtilizationPenaltyPercent");
    let mut config = empty();
    config.set("blackout_period", period("blackoutPeriod"));
    config.set("weight_expiration_period", period("weightExpirationPeriod"));
    config.set("weight_update_period", period("weightUpdatePeriod"));
    if nanos(of.at(&["slowStart", "window"])).is_some_and(|nanos| nanos > 0) {
        config.set("slow_start_config", slow_start(of));
    }
    // The reference divides in single precision.
    let share = penalty.find_int().map(|value| f64::from(value as f32 / 100.0));
    config.set("error_utilization_penalty", Tree::from(share).or_from(penalty.origin));
    config.set("metric_names_for_computing_utilization", list(own.get("metricNamesForComputingUtilization").items().to_vec()));
    if let Some(report) = own.get("outOfBand").some() {
        config.set("enable_oob_load_report", derived(true, report));
        config.set("oob_reporting_period", duration(report.get("reportingPeriod")));
        let (port, authority) = (report.get("port"), report.get("authority"));
        if !port.is_null() || !authority.is_null() {
            config.set("oob_reporting_config", message! { "port_value": port.clone(), "authority": authority.clone() });
        }
    }
    let weighted = policies(only("client_side_weighted_round_robin", "ClientSideWeightedRoundRobin", config));
    if of.at(&["zoneAware", "weightedZones"]).items().is_empty() {
        return weighted;
    }
    policies(only("wrr_locality", "WrrLocality", message! { "endpoint_picking_policy": weighted }))
}

fn override_host(of: &Tree) -> Tree {
    let own = of.get("endpointOverride");
    let sources = own.get("extractFrom").items().iter().map(|source| {
        let header = source.get("header");
        if header.is_null() { empty() } else { message! { "header": header.clone() }.or_from(source.origin) }
    });
    let fallback = match of.get("type").text() {
        "RoundRobin" => policies(only("round_robin", "RoundRobin", empty())),
        "Random" => policies(only("random", "Random", empty())),
        "ConsistentHash" => policies(only("maglev", "Maglev", empty())),
        "BackendUtilization" => by_utilization(of),
        _ => policies(only("least_request", "LeastRequest", empty())),
    };
    let config = message! { "override_host_sources": list(sources.collect()), "fallback_policy": fallback.or_from(of.get("type").origin) };
    policies(only("override_host", "OverrideHost", config)).or_from(own.origin)
}

/// The inputs of a consistent hash.
pub(crate) fn hash_policies(of: &Tree) -> Vec<Tree> {
    if !of.get("type").is("ConsistentHash") {
        return Vec::new();
    }
    let hash = of.get("consistentHash");
    let header = |header: &Tree| message! { "header": message! { "header_name": header.get("name").clone() } }.or_from(header.origin);
    match hash.get("type").text() {
        "SourceIP" => {
            let kind = hash.get("type");
            Vec::from([message! { "connection_properties": message! { "source_ip": derived(true, kind) } }.or_from(kind.origin)])
        }
        "Header" => Vec::from([header(hash.get("header"))]),
        "Headers" => hash.get("headers").items().iter().map(header).collect(),
        "Cookie" => {
            let cookie = hash.get("cookie");
            let attributes = cookie.get("attributes").fields().iter();
            let attributes = attributes.map(|(name, value)| message! { "name": derived(name, value), "value": value.clone() });
            let own = message! { "name": cookie.get("name").clone(), "ttl": duration(cookie.get("ttl")), "attributes": list(attributes.collect()) };
            Vec::from([message! { "cookie": own.or_from(cookie.origin) }])
        }
        "QueryParams" => {
            let of = |query: &Tree| message! { "query_parameter": message! { "name": query.get("name").clone() } }.or_from(query.origin);
            hash.get("queryParams").items().iter().map(of).collect()
        }
        _ => Vec::new(),
    }
}

/// What connections are spread by.
pub(crate) fn tcp_hash_policy(of: &Tree) -> Tree {
    let is_source = of.get("type").is("ConsistentHash") && of.at(&["consistentHash", "type"]).is("SourceIP");
    if is_source { one(message! { "source_ip": empty() }).or_from(of.at(&["consistentHash", "type"]).origin) } else { Tree::NULL }
}
