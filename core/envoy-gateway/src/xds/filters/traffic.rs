//! Filters for the flow of requests: faults, buffers, bandwidth, compression, gRPC, and limits that each Envoy counts itself.

use super::rate_limit::{self, cidr_action, header_option, match_action, query_action};
use super::{HttpFilters, disabled, set_config};
use crate::model::{HttpListener, HttpRoute, LocalRateLimit, RateLimitRule, Traffic};
use crate::xds::proto::{Setting as _, any, derived, duration, empty, extension, list, message, of_hundred, of_million};
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use chancery_base::ir::Tree;

const FAULT: &str = "envoy.filters.http.fault";
const FAULT_KIND: &str = "envoy.extensions.filters.http.fault.v3.HTTPFault";
const BUFFER: &str = "envoy.filters.http.buffer";
const BANDWIDTH_KIND: &str = "envoy.extensions.filters.http.bandwidth_limit.v3.BandwidthLimit";
const LOCAL: &str = "envoy.filters.http.local_ratelimit";
const LOCAL_KIND: &str = "envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit";

fn traffics(listener: &HttpListener) -> impl Iterator<Item = &Traffic> {
    listener.routes.iter().filter_map(|route| route.traffic.as_deref())
}

fn bandwidth_name(direction: &str) -> String {
    format!("envoy.filters.http.bandwidth_limit/{direction}")
}

fn compressor_name(kind: &Tree) -> String {
    format!("envoy.filters.http.compressor.{}", kind.text().to_ascii_lowercase())
}

pub(super) fn add_filters(filters: &mut HttpFilters, listener: &HttpListener) -> Result<(), String> {
    let grpc = &listener.client.grpc;
    if grpc.get("enableGRPCWeb").bool() {
        filters.add(
            extension("envoy.filters.http.grpc_web", "envoy.extensions.filters.http.grpc_web.v3.GrpcWeb", empty())
                .or_from(grpc.get("enableGRPCWeb").origin),
        );
    }
    if grpc.get("enableGRPCStats").bool() {
        let config = message! { "emit_filter_state": true, "stats_for_all_methods": true };
        let kind = "envoy.extensions.filters.http.grpc_stats.v3.FilterConfig";
        filters.add(extension("envoy.filters.http.grpc_stats", kind, config).or_from(grpc.get("enableGRPCStats").origin));
    }
    if traffics(listener).any(|of| !of.fault_injection.is_null()) {
        filters.add(extension(FAULT, FAULT_KIND, empty()));
    }
    if let Some(of) = traffics(listener).find_map(|of| of.request_buffer.some()) {
        let kind = "envoy.extensions.filters.http.buffer.v3.Buffer";
        filters.add(disabled(extension(BUFFER, kind, buffer(of)?)).or_from(of.origin));
    }
    for direction in ["request", "response"] {
        if traffics(listener).any(|of| !of.bandwidth_limit.get(direction).is_null()) {
            let config = message! { "stat_prefix": "http_bandwidth_limiter" };
            filters.add(disabled(extension(&bandwidth_name(direction), BANDWIDTH_KIND, config)));
        }
    }
    for of in traffics(listener).filter_map(|of| of.compression.as_ref()).flatten() {
        filters.add(disabled(compressor(of)).or_from(of.origin));
    }
    if traffics(listener).any(|of| of.rate_limit.as_ref().is_some_and(|of| of.local.is_some())) {
        let config = message! { "stat_prefix": "http_local_rate_limiter", "max_dynamic_descriptors": 10_000_i64 };
        filters.add(extension(LOCAL, LOCAL_KIND, config));
    }
    Ok(())
}

pub(super) fn configure(out: &mut Tree, route: &HttpRoute, listener: &HttpListener) -> Result<(), String> {
    let Some(of) = &route.traffic else { return Ok(()) };
    for direction in ["request", "response"] {
        if let Some(limit) = of.bandwidth_limit.get(direction).some() {
            set_config(out, &bandwidth_name(direction), bandwidth(limit, direction));
        }
    }
    if let Some(compression) = of.compression.as_ref().filter(|all| !all.is_empty()) {
        compress(out, compression);
    }
    if let Some(of) = of.fault_injection.some() {
        set_config(out, FAULT, any(FAULT_KIND, fault(of)).or_from(of.origin));
    }
    if let Some(of) = of.request_buffer.some() {
        let config = any("envoy.extensions.filters.http.buffer.v3.BufferPerRoute", message! { "buffer": buffer(of)? });
        set_config(out, BUFFER, config.or_from(of.origin));
    }
    if let Some(local) = of.rate_limit.as_ref().and_then(|of| of.local.as_ref())
        && !out.get("route").is_null()
    {
        let config = local_limit(local, listener.client.headers.get("disableRateLimitHeaders"));
        set_config(out, LOCAL, any(LOCAL_KIND, config).or_from(local.default.origin));
    }
    Ok(())
}

fn fault(of: &Tree) -> Tree {
    let (delay, abort) = (of.get("delay"), of.get("abort"));
    let share = |of: &Tree| if of.get("percentage").is_null() { Tree::NULL } else { of_million(of.get("percentage")) };
    let mut out = empty();
    if !delay.is_null() {
        out.set("delay", message! { "percentage": share(delay), "fixed_delay": duration(delay.get("fixedDelay")) }.or_from(delay.origin));
    }
    if !abort.is_null() {
        let grpc = abort.get("grpcStatus");
        let http = if grpc.is_null() { abort.get("httpStatus").clone() } else { Tree::NULL };
        out.set("abort", message! { "percentage": share(abort), "http_status": http, "grpc_status": grpc.clone() }.or_from(abort.origin));
    }
    out
}

fn buffer(of: &Tree) -> Result<Tree, String> {
    let limit = of.get("limit");
    let Some(bytes) = limit.quantity() else { return Err(format!("invalid Limit value {}", limit.text())) };
    if !(0..=i64::from(u32::MAX)).contains(&bytes) {
        return Err(format!("limit value {} is out of range, must be between 0 and {}", limit.text(), u32::MAX));
    }
    Ok(message! { "max_request_bytes": derived(bytes, limit) })
}

/// Kibibytes for each second.
fn bandwidth(of: &Tree, direction: &str) -> Tree {
    let trailers = of.get("responseTrailers");
    let is_response = direction == "response";
    let config = message! {
        "stat_prefix": "http_bandwidth_limiter",
        "enable_mode": if is_response { "RESPONSE" } else { "REQUEST" },
        "limit_kbps": of.get("limitKibps").clone(),
        "enable_response_trailers": if is_response && !trailers.is_null() { derived(true, trailers) } else { Tree::NULL },
        "response_trailer_prefix": if is_response { trailers.get("prefix").clone() } else { Tree::NULL },
    };
    any(BANDWIDTH_KIND, config).or_from(of.origin)
}

fn compressor(of: &Tree) -> Tree {
    let kind = of.get("type");
    let library = match kind.text() {
        "Brotli" => extension("envoy.compression.brotli.compressor", "envoy.extensions.compression.brotli.compressor.v3.Brotli", empty()),
        "Zstd" => extension("envoy.compression.zstd.compressor", "envoy.extensions.compression.zstd.compressor.v3.Zstd", empty()),
        _ => extension("envoy.compression.gzip.compressor", "envoy.extensions.compression.gzip.compressor.v3.Gzip", empty()),
    };
    let least = of.get("minContentLength");
    let response = least.some().map(|_| message! { "common_config": message! { "min_content_length": least.clone() } }.or_from(least.origin));
    let config = message! {
        "compressor_library": library.or_from(kind.origin),
        "choose_first": super::proto::flag(of.get("chooseFirst")),
        "response_direction_config": response,
    };
    extension(&compressor_name(kind), "envoy.extensions.filters.http.compressor.v3.Compressor", config)
}

fn compress(out: &mut Tree, all: &[Tree]) {
    for of in all {
        let config = message! { "overrides": message! { "response_direction_config": empty() } };
        let config = any("envoy.extensions.filters.http.compressor.v3.CompressorPerRoute", config);
        set_config(out, &compressor_name(of.get("type")), config.or_from(of.origin));
    }
    const FIELD: &str = "request_headers_to_remove";
    if !out.get(FIELD).items().iter().any(|name| name.is("accept-encoding")) {
        let mut names = out.get(FIELD).items().to_vec();
        names.push(Tree::from("accept-encoding").or_from(all.first().and_then(|of| of.origin)));
        out.set(FIELD, names.into());
    }
}

/// A bucket that fills with this limit.
fn bucket(of: &Tree) -> Tree {
    let seconds: i64 = match of.get("unit").text() {
        "Second" => 1,
        "Minute" => 60,
        "Hour" => 3600,
        "Day" => 86_400,
        "Week" => 604_800,
        "Month" => 2_592_000,
        "Year" => 31_536_000,
        _ => 0,
    };
    let requests = of.get("requests");
    message! {
        "max_tokens": requests.clone(),
        "tokens_per_fill": requests.clone(),
        "fill_interval": derived(format!("{seconds}s"), of.get("unit")),
    }
    .or_from(of.origin)
}

fn local_limit(of: &LocalRateLimit, no_headers: &Tree) -> Tree {
    let always = || message! { "default_value": of_hundred(100) };
    let (mut limits, mut descriptors) = (Vec::new(), Vec::new());
    for (at, rule) in of.rules.iter().enumerate() {
        let methods = if rule.methods.is_empty() { alloc::vec![None] } else { rule.methods.iter().map(Some).collect() };
        for method in methods {
            let (actions, entries) = local_actions(rule, at, method);
            limits.push(message! { "actions": list(actions), "x_ratelimit_option": header_option(&rule.x_rate_limit) }.or_from(rule.origin));
            let descriptor = message! {
                "entries": list(entries),
                "token_bucket": bucket(&rule.limit),
                "shadow_mode": super::proto::flag(&rule.shadow_mode),
            };
            descriptors.push(descriptor.or_from(rule.origin));
        }
    }
    let off = of.default_x_rate_limit.is("Off") || no_headers.bool();
    message! {
        "stat_prefix": "http_local_rate_limiter",
        "token_bucket": bucket(&of.default),
        "filter_enabled": always(),
        "filter_enforced": always(),
        "enable_x_ratelimit_headers": if off { derived("OFF", if no_headers.bool() { no_headers } else { &of.default_x_rate_limit }) } else { "DRAFT_VERSION_03".into() },
        "descriptors": list(descriptors),
        "always_consume_default_token_bucket": false,
        "rate_limits": list(limits),
    }
}

fn local_actions(rule: &RateLimitRule, at: usize, method: Option<&crate::model::StringMatch>) -> (Vec<Tree>, Vec<Tree>) {
    let (mut actions, mut entries) = (Vec::new(), Vec::new());
    let mut push = |action: Tree, key: String, value: Option<Tree>| {
        actions.push(action);
        entries.push(message! { "key": key, "value": value });
    };
    for (number, of) in rule.headers.iter().enumerate() {
        let key = rate_limit::match_key(at, &number.to_string());
        let value = (of.kind != crate::model::StringMatchKind::Distinct).then(|| Tree::from(key.as_str()));
        push(match_action(&key, of, &of.name.value), key.clone(), value);
    }
    if let Some(of) = method {
        let key = format!("rule-{at}-method");
        push(match_action(&key, of, ":method"), key.clone(), Some(key.as_str().into()));
    }
    if let Some(of) = &rule.path {
        let key = format!("rule-{at}-path");
        push(match_action(&key, of, ":path"), key.clone(), Some(key.as_str().into()));
    }
    if let Some(of) = &rule.cidr {
        let key = format!("rule-{at}-masked-remote-address");
        push(cidr_action(&key, of, false), key, Some(rate_limit::cidr_value(of)));
        if of.distinct {
            let key = format!("rule-{at}-remote-address");
            push(cidr_action(&key, of, true), key, None);
        }
    }
    for (number, of) in rule.query.iter().enumerate() {
        let key = rate_limit::match_key(at, &(rule.headers.len() + number).to_string());
        let value = (of.kind != crate::model::StringMatchKind::Distinct).then(|| Tree::from(key.as_str()));
        push(query_action(&key, of), key.clone(), value);
    }
    (actions, entries)
}
