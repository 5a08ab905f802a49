//! Describes how a cluster finds unhealthy endpoints: the requests of health checks, and the failures of responses. Simulates neither.

use super::action::seconds;
use crate::emit::pb;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use pb::base::HealthCheck;
use pb::base::health_check::HealthChecker;
use pb::cluster::Cluster;
use pb::endpoint::LbEndpoint;
use pb::endpoint::lb_endpoint::HostIdentifier;

/// Describes a health check. `own_hosts`: hosts that endpoints set for their checks; they come first. The rules for hosts and statuses follow Envoy's `source/extensions/health_checkers/http/health_checker_impl.cc`.
pub(super) fn check(of: &HealthCheck, cluster: &Cluster, own_hosts: &BTreeSet<&str>) -> String {
    let every = of.interval.as_ref().map(|interval| format!(" every {}", seconds(interval))).unwrap_or_default();
    let failures = of.unhealthy_threshold.unwrap_or(1);
    let tries = if failures == 1 { "one try".into() } else { format!("{failures} tries") };
    let own = own_hosts.iter().copied().collect::<Vec<_>>().join(" or ");
    let host = |given: &str| match given {
        _ if !own.is_empty() => own.clone(),
        "" if cluster.name.is_empty() => "the cluster's name".to_string(),
        "" => format!("{} (the cluster's name)", cluster.name),
        given => given.to_string(),
    };
    match &of.health_checker {
        Some(HealthChecker::HttpHealthCheck(http)) => {
            let method = match http.method().as_str_name() {
                "METHOD_UNSPECIFIED" => "GET",
                name => name,
            };
            let expected: Vec<String> = http.expected_statuses.iter().map(|range| statuses(range.start, range.end)).collect();
            let expected = if expected.is_empty() { "200".to_string() } else { expected.join(", ") };
            let other = if http.retriable_statuses.is_empty() { "at once with another status" } else { "at once with most other statuses" };
            format!(
                "{method} {} with the host {}{every}: healthy with {expected}, unhealthy {other}, or after {tries} without a response",
                http.path,
                host(&http.host)
            )
        }
        Some(HealthChecker::GrpcHealthCheck(grpc)) => {
            let service = if grpc.service_name.is_empty() { String::new() } else { format!(" of {}", grpc.service_name) };
            format!("gRPC health check{service} with the host {}{every}: unhealthy after {tries}", host(&grpc.authority))
        }
        Some(HealthChecker::TcpHealthCheck(_)) => format!("TCP connection{every}: unhealthy after {tries}"),
        Some(HealthChecker::CustomHealthCheck(custom)) => format!("{}{every}: unhealthy after {tries}", custom.name),
        None => format!("no checker{every}"),
    }
}

/// Returns the hosts that endpoints set for their health checks.
pub(super) fn own_hosts<'e>(endpoints: impl Iterator<Item = &'e LbEndpoint>) -> BTreeSet<&'e str> {
    let host = |of: &'e LbEndpoint| match of.host_identifier.as_ref()? {
        HostIdentifier::Endpoint(endpoint) => Some(endpoint.health_check_config.as_ref()?.hostname.as_str()),
        HostIdentifier::EndpointName(_) => None,
    };
    endpoints.filter_map(host).filter(|host| !host.is_empty()).collect()
}

/// Describes which failures of responses end the use of an endpoint, and for how long.
pub(super) fn outliers(of: &pb::cluster::OutlierDetection) -> Option<String> {
    let mut signs: Vec<String> = Vec::new();
    let mut sign = |enforced: u32, count: u32, words: &str| {
        if enforced > 0 {
            signs.push(format!("{count} {words} in a row"));
        }
    };
    sign(of.enforcing_consecutive_5xx.unwrap_or(100), of.consecutive_5xx.unwrap_or(5), "responses with 5xx");
    sign(of.enforcing_consecutive_gateway_failure.unwrap_or(0), of.consecutive_gateway_failure.unwrap_or(5), "responses with 502, 503 or 504");
    if of.split_external_local_origin_errors {
        sign(of.enforcing_consecutive_local_origin_failure.unwrap_or(100), of.consecutive_local_origin_failure.unwrap_or(5), "failed connections");
    }
    let time = of.base_ejection_time.as_ref().map_or_else(|| "30s".to_string(), seconds);
    let most = of.max_ejection_percent.unwrap_or(10);
    (!signs.is_empty()).then(|| format!("an endpoint is not used for {time} after {}; at most {most}% of the endpoints", signs.join(", or ")))
}

/// Describes a range of statuses. `end` is exclusive.
fn statuses(start: i64, end: i64) -> String {
    if end <= start + 1 { start.to_string() } else { format!("{start} to {}", end - 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_host_is_the_name_of_the_cluster() {
        let http = pb::base::health_check::HttpHealthCheck { path: "/healthz".into(), ..Default::default() };
        let of = HealthCheck {
            health_checker: Some(HealthChecker::HttpHealthCheck(http)),
            unhealthy_threshold: Some(3),
            interval: Some(pb::Duration { seconds: 5, nanos: 0 }),
            ..HealthCheck::default()
        };
        let cluster = Cluster { name: "shop".into(), ..Cluster::default() };
        assert_eq!(
            check(&of, &cluster, &BTreeSet::new()),
            "GET /healthz with the host shop (the cluster's name) every 5s: healthy with 200, unhealthy at once with another status, or after 3 \
             tries without a response"
        );
        let own = check(&of, &cluster, &BTreeSet::from(["shop.example.com"]));
        assert!(own.starts_with("GET /healthz with the host shop.example.com every 5s"), "{own}");
    }

    #[test]
    fn disabled_signs_of_outliers_are_not_named() {
        let of = pb::cluster::OutlierDetection { enforcing_consecutive_5xx: Some(0), ..Default::default() };
        assert_eq!(outliers(&of), None);
        let of = pb::cluster::OutlierDetection { consecutive_5xx: Some(2), ..Default::default() };
        assert_eq!(
            outliers(&of).as_deref(),
            Some("an endpoint is not used for 30s after 2 responses with 5xx in a row; at most 10% of the endpoints")
        );
    }
}
