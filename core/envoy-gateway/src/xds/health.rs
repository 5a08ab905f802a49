//! Writes what a cluster learns of its endpoints: health checks, outliers, and requests that are refused early.

use super::proto::{Setting as _, derived, duration, empty, extension, list, message, one, percent};
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::ir::Tree;

/// Active health checks; null if there are none.
pub(crate) fn checks(of: &Tree, route_hostname: &Tree, log: &Tree) -> Tree {
    let Some(active) = of.get("active").some() else { return Tree::NULL };
    let mut check = message! {
        "timeout": duration(active.get("timeout")),
        "interval": duration(active.get("interval")),
        "initial_jitter": duration(active.get("initialJitter")),
        "unhealthy_threshold": active.get("unhealthyThreshold").clone(),
        "healthy_threshold": active.get("healthyThreshold").clone(),
    };
    match active.get("type").text() {
        "HTTP" if !active.get("http").is_null() => check.set("http_health_check", http(active.get("http"), route_hostname)),
        "TCP" if !active.get("tcp").is_null() => {
            let tcp = active.get("tcp");
            let mut own = empty();
            own.set("send", payload(tcp.get("send")));
            own.set("receive", tcp.get("receive").some().map(|of| one(payload(of))).unwrap_or_default());
            check.set("tcp_health_check", own.or_from(tcp.origin));
        }
        "GRPC" => {
            let mut own = empty();
            own.set("service_name", active.at(&["grpc", "service"]).clone());
            check.set("grpc_health_check", own.or_from(active.get("type").origin));
        }
        _ => {}
    }
    let own = active.get("healthCheckLog");
    let log = if own.is_null() { log } else { own };
    log_events(&mut check, log);
    one(check.or_from(active.origin))
}

/// Which events of checks are logged, and where: {matches, sinks}.
fn log_events(check: &mut Tree, log: &Tree) {
    if log.is_null() {
        return;
    }
    let matches = log.get("matches");
    let wanted = |kind: &str| match matches.items() {
        [] => derived(true, log),
        items => items.iter().find(|item| item.is(kind)).map(|item| derived(true, item)).unwrap_or_default(),
    };
    check.set("always_log_health_check_failures", wanted("Failure"));
    check.set("always_log_health_check_success", wanted("Success"));
    let kind = "envoy.extensions.health_check.event_sinks.file.v3.HealthCheckEventFileSink";
    let sink = |path: Tree| extension("envoy.health_check.event_sinks.file", kind, message! { "event_log_path": path });
    let sinks = match log.get("sinks").items() {
        [] => alloc::vec![sink("/dev/stdout".into())],
        items => items
            .iter()
            .filter(|item| !item.get("file").is_null())
            .map(|item| sink(item.at(&["file", "path"]).clone()).or_from(item.origin))
            .collect(),
    };
    check.set("event_logger", list(sinks));
}

fn http(of: &Tree, route_hostname: &Tree) -> Tree {
    let host = of.get("hostname");
    let method = of.get("method");
    let upper = method.text().to_ascii_uppercase();
    let known = ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"].contains(&upper.as_str());
    let expected = of.get("expectedStatuses");
    let receive = of.get("expectedResponse").some().map(|of| one(payload(of)));
    message! {
        "host": if host.text().is_empty() { route_hostname.clone() } else { host.clone() },
        "path": of.get("path").clone(),
        "method": if known { derived(upper, method) } else { Tree::NULL },
        "expected_statuses": if expected.items().is_empty() { one(message! { "start": 200_i64, "end": 201_i64 }) } else { ranges(expected) },
        "retriable_statuses": ranges(of.get("retriableStatuses")),
        "receive": receive,
        "send": payload(of.get("requestBody")),
    }
    .or_from(of.origin)
}

/// Statuses as ranges, those that follow each other in one.
fn ranges(of: &Tree) -> Tree {
    let mut statuses: Vec<&Tree> = of.items().iter().collect();
    statuses.sort_by_key(|status| status.int());
    statuses.dedup_by_key(|status| status.int());
    let mut found: Vec<(i64, i64, &Tree)> = Vec::new();
    for status in statuses {
        match found.last_mut() {
            Some((_, end, _)) if *end == status.int() => *end += 1,
            _ => found.push((status.int(), status.int().saturating_add(1), status)),
        }
    }
    list(found.into_iter().map(|(start, end, from)| message! { "start": derived(start, from), "end": derived(end, from) }).collect())
}

fn payload(of: &Tree) -> Tree {
    if of.is_null() {
        return Tree::NULL;
    }
    let (text, binary) = (of.get("text"), of.get("binary"));
    match of.get("type").text() {
        "Text" if !text.text().is_empty() => {
            let hex: String = super::tls::hex(text.text().as_bytes());
            message! { "text": derived(hex, text) }
        }
        "Binary" if !binary.text().is_empty() => message! { "binary": binary.clone() },
        _ => empty(),
    }
    .or_from(of.origin)
}

/// What makes endpoints that fail rest for a while; null if nothing does.
pub(crate) fn outliers(of: &Tree) -> Tree {
    if of.is_null() {
        return Tree::NULL;
    }
    let ejected = of.get("maxEjectionPercent");
    let gateway = of.get("consecutiveGatewayErrors");
    let share = of.get("failurePercentageThreshold");
    let all = |when: &Tree| if when.is_null() { Tree::NULL } else { derived(100_i64, when) };
    message! {
        "base_ejection_time": duration(of.get("baseEjectionTime")),
        "interval": duration(of.get("interval")),
        "split_external_local_origin_errors": of.get("splitExternalLocalOriginErrors").clone(),
        "max_ejection_percent": if ejected.int() > 0 { ejected.clone() } else { Tree::NULL },
        "consecutive_local_origin_failure": of.get("consecutiveLocalOriginFailures").clone(),
        "consecutive_5xx": of.get("consecutive5XxErrors").clone(),
        "enforcing_consecutive_gateway_failure": all(gateway),
        "consecutive_gateway_failure": gateway.clone(),
        "failure_percentage_threshold": share.clone(),
        "enforcing_failure_percentage": all(share),
        "always_eject_one_host": of.get("alwaysEjectOneEndpoint").clone(),
    }
    .or_from(of.origin)
}

const GRPC_STATUSES: [&str; 17] = [
    "Ok",
    "Cancelled",
    "Unknown",
    "InvalidArgument",
    "DeadlineExceeded",
    "NotFound",
    "AlreadyExists",
    "PermissionDenied",
    "ResourceExhausted",
    "FailedPrecondition",
    "Aborted",
    "OutOfRange",
    "Unimplemented",
    "Internal",
    "Unavailable",
    "DataLoss",
    "Unauthenticated",
];

/// The filter that refuses requests while many fail.
pub(crate) fn admission_control(of: &Tree) -> Tree {
    let runtime = |value: &Tree| {
        if value.is_null() {
            Tree::NULL
        } else {
            message! { "default_value": percent(value) }
        }
    };
    let number = |value: &Tree| {
        if value.is_null() {
            Tree::NULL
        } else {
            message! { "default_value": value.clone() }
        }
    };
    let criteria = of.get("successCriteria");
    let http = criteria.at(&["http", "statusCodes"]).items();
    let http = http.iter().map(|code| message! { "start": code.clone(), "end": derived(code.int().saturating_add(1), code) });
    let http: Vec<Tree> = http.collect();
    let has_grpc = !criteria.at(&["grpc", "statusCodes"]).items().is_empty();
    let grpc = criteria.at(&["grpc", "statusCodes"]).items().iter().filter_map(|status| {
        let code = GRPC_STATUSES.iter().position(|name| status.is(name))?;
        Some(derived(code, status))
    });
    let mut success = empty();
    success.set(
        "http_criteria",
        if http.is_empty() {
            Tree::NULL
        } else {
            message! { "http_success_status": list(http) }
        },
    );
    if has_grpc {
        let mut own = empty();
        own.set("grpc_success_status", list(grpc.collect()));
        success.set("grpc_criteria", own);
    }
    let config = message! {
        "enabled": message! { "default_value": true },
        "sampling_window": duration(of.get("samplingWindow")),
        "sr_threshold": runtime(of.get("minSuccessRate")),
        "aggression": number(of.get("rejectionAggression")),
        "rps_threshold": number(of.get("minRequestRate")),
        "max_rejection_probability": runtime(of.get("maxRejectionPercent")),
        "success_criteria": success.or_from(criteria.origin),
    };
    let kind = "envoy.extensions.filters.http.admission_control.v3.AdmissionControl";
    extension("envoy.filters.http.admission_control", kind, config).or_from(of.origin)
}

/// The name of an endpoint for health checks; null if the check or the route names the host.
pub(crate) fn endpoint_config(of: &Tree, hostname: &Tree) -> Tree {
    let Some(active) = of.get("active").some() else { return Tree::NULL };
    let own = active.at(&["http", "hostname"]);
    let is_named = active.get("type").is("HTTP") && !matches!(own.text(), "" | "*");
    let hostname = if is_named || hostname.text().is_empty() { Tree::NULL } else { hostname.clone() };
    let port = active.at(&["overrides", "port"]);
    if hostname.is_null() && active.get("overrides").is_null() {
        return Tree::NULL;
    }
    message! { "hostname": hostname, "port_value": port.clone() }
}
