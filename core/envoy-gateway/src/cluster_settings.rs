//! Settings of clusters, in policies and beside backends of services. Does not apply them.

use super::model::{ClusterTraffic, Traffic};
use super::xds::proto::{Setting as _, nanos};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::ir::{Plain, Tree};
use chancery_base::resource::Sourced;
use chancery_text::Str;

/// The largest table that Envoy accepts.
const LARGEST_TABLE: i64 = 5_000_011;
const SMALLEST_WINDOW: i64 = 65_535;
const LARGEST_WINDOW: i64 = 2_147_483_647;

/// Returns the settings of clusters among those of a policy, as they are written.
pub(crate) fn cluster(spec: &Tree, dns_name: &str) -> ClusterTraffic {
    let field = |name: &str| spec.get(name).clone();
    ClusterTraffic {
        load_balancer: field("loadBalancer"),
        proxy_protocol: field("proxyProtocol"),
        health_check: field("healthCheck"),
        admission_control: field("admissionControl"),
        circuit_breaker: field("circuitBreaker"),
        timeout: field("timeout"),
        tcp_keepalive: field("tcpKeepalive"),
        connection: field("connection"),
        http2: field("http2"),
        dns: field("dns"),
        dns_name: if spec.get("dns").is_null() { Str::default() } else { Str::new(dns_name) },
    }
}

/// Reads settings of a service that Envoy asks (`backendSettings`).
pub(crate) fn traffic_features(spec: &Tree) -> Result<Option<Traffic>, String> {
    connection(spec)?;
    load_balancer(spec)?;
    http2(spec)?;
    let retry = retry(spec.get("retry"))?;
    let traffic = Traffic { cluster: cluster(spec, ""), retry, ..Traffic::default() };
    if traffic == Traffic::default() {
        return Ok(None);
    }
    Ok(Some(Traffic { origin: spec.origin, ..traffic }))
}

/// Checks buffers.
pub(crate) fn connection(spec: &Tree) -> Result<(), String> {
    let limit = spec.at(&["connection", "bufferLimit"]);
    if limit.is_null() {
        return Ok(());
    }
    match limit.quantity() {
        None => Err(format!("invalid BufferLimit value {}", quantity_text(limit))),
        Some(bytes) if !(0..=i64::from(u32::MAX)).contains(&bytes) => Err(format!("BufferLimit value {} is out of range", quantity_text(limit))),
        Some(_) => Ok(()),
    }
}

/// Checks load balancing.
pub(crate) fn load_balancer(spec: &Tree) -> Result<(), String> {
    let balancer = spec.get("loadBalancer");
    let size = balancer.at(&["consistentHash", "tableSize"]);
    let is_wrong = balancer.get("type").is("ConsistentHash") && !size.is_null() && (size.int() > LARGEST_TABLE || !is_prime(size.int()));
    if is_wrong { Err(format!("ConsistentHash: invalid TableSize value {}", size.int())) } else { Ok(()) }
}

fn is_prime(number: i64) -> bool {
    number > 1 && (2..).take_while(|divisor| divisor * divisor <= number).all(|divisor| number % divisor != 0)
}

/// Checks HTTP/2.
pub(crate) fn http2(spec: &Tree) -> Result<(), String> {
    let http2 = spec.get("http2");
    let mut errors = Vec::new();
    for (field, name) in [("initialStreamWindowSize", "InitialStreamWindowSize"), ("initialConnectionWindowSize", "InitialConnectionWindowSize")] {
        let size = http2.get(field);
        if size.is_null() {
            continue;
        }
        let text = quantity_text(size);
        match size.quantity() {
            None => errors.push(format!("invalid {name} value {text}")),
            Some(bytes) if !(SMALLEST_WINDOW..=LARGEST_WINDOW).contains(&bytes) => {
                errors.push(format!("{name} value {text} is out of range, must be between {SMALLEST_WINDOW} and {LARGEST_WINDOW}"));
            }
            Some(_) => {}
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(errors.join("\n")) }
}

/// Checks retries, and sorts what they are for.
pub(crate) fn retry(written: &Tree) -> Result<Tree, String> {
    if written.is_null() {
        return Ok(Tree::NULL);
    }
    let back_off = written.at(&["perRetry", "backOff"]);
    let (base, most) = (nanos(back_off.get("baseInterval")), nanos(back_off.get("maxInterval")));
    if base == Some(0) {
        return Err("baseInterval cannot be set to 0s".into());
    }
    if let Some(most) = most {
        if most == 0 {
            return Err("maxInterval cannot be set to 0s".into());
        }
        if base.is_some_and(|base| base > most) {
            return Err("maxInterval cannot be less than baseInterval".into());
        }
    }
    let mut out = written.clone();
    if let Some(on) = out.get_mut("retryOn") {
        if let Some(codes) = on.get_mut("httpStatusCodes") {
            sort(codes, |a, b| a.int().cmp(&b.int()));
        }
        if let Some(triggers) = on.get_mut("triggers") {
            sort(triggers, |a, b| a.text().cmp(b.text()));
        }
    }
    Ok(out)
}

fn sort(list: &mut Tree, order: impl Fn(&Tree, &Tree) -> core::cmp::Ordering) {
    if let Plain::List(items) = &mut list.value {
        items.sort_by(&order);
        items.dedup_by(|a, b| a.value == b.value);
    }
}

/// Returns a quantity as it is written.
pub(crate) fn quantity_text(of: &Tree) -> String {
    match &of.value {
        Plain::Int(value) | Plain::Selected(Sourced { value, .. }) => format!("{value}"),
        Plain::Float(value) => format!("{value}"),
        _ => String::from(of.text()),
    }
}
