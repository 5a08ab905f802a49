//! Describes common parts of Envoy's configuration in words: filters, retries, keepalive. Returns nothing for a part with a field that it does not
//! describe, so that no setting is lost. Does not compare; see `fields`.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_text::{Node, Value, series, to_json};

/// Controllers write the largest number where only descriptors limit.
const UNLIMITED: &str = "4294967295";

/// Describes the value at a path; `None` if JSON is the better description.
pub(super) fn phrase(path: &str, node: &Node) -> Option<String> {
    let (before, last) = path.rsplit_once('.').unwrap_or(("", path));
    match last {
        "retry_policy" => retries(node),
        "upstream_connection_options" => connection(node),
        "typed_extension_protocol_options" => protocol(node),
        _ if before.ends_with("typed_per_filter_config") || path.contains("typed_per_filter_config.") => typed(node),
        _ if path.ends_with(']') && path.contains("http_filters[") => filter(node),
        _ => None,
    }
}

/// A filter in the chain.
fn filter(node: &Node) -> Option<String> {
    has_only(node, &["name", "typed_config", "disabled", "is_optional"])?;
    let does = typed(node.get("typed_config")?)?;
    Some(if is_true(node.get("disabled")) { format!("{does}; off unless a route turns it on") } else { does })
}

/// A filter's configuration with its type.
fn typed(node: &Node) -> Option<String> {
    let (_, kind) = node.get("@type")?.as_str()?.rsplit_once('/')?;
    match kind {
        "envoy.config.route.v3.FilterConfig" => filter_config(node),
        "envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit" => local_limit(node),
        "envoy.extensions.filters.http.ratelimit.v3.RateLimit" => limit_service(node),
        "envoy.extensions.filters.http.rbac.v3.RBAC" => rbac(node),
        "envoy.extensions.filters.http.rbac.v3.RBACPerRoute" => {
            has_only(node, &["@type", "rbac"])?;
            node.get("rbac").map_or_else(|| Some("no rules".to_string()), rbac)
        }
        "envoy.extensions.filters.http.jwt_authn.v3.PerRouteConfig" => {
            has_only(node, &["@type", "disabled", "requirement_name"])?;
            if is_true(node.get("disabled")) {
                return Some("requires no token".to_string());
            }
            Some(format!("requires the token of `{}`", node.get("requirement_name")?.as_str()?))
        }
        "envoy.extensions.filters.http.ext_authz.v3.ExtAuthz" => ext_authz(node),
        "envoy.extensions.filters.http.ext_authz.v3.ExtAuthzPerRoute" => {
            has_only(node, &["@type", "disabled", "check_settings"])?;
            if is_true(node.get("disabled")) {
                return Some("does not ask the authorization service".to_string());
            }
            node.get("check_settings").is_none_or(is_empty).then(|| "asks the authorization service".to_string())
        }
        "envoy.extensions.filters.http.cors.v3.Cors" => has_only(node, &["@type"]).map(|()| "nothing by itself".to_string()),
        "envoy.extensions.filters.http.cors.v3.CorsPolicy" => cors(node),
        "envoy.extensions.filters.http.buffer.v3.Buffer" => buffer(node),
        "envoy.extensions.filters.http.buffer.v3.BufferPerRoute" => {
            has_only(node, &["@type", "disabled", "buffer"])?;
            if is_true(node.get("disabled")) { Some("does not limit the body".to_string()) } else { buffer(node.get("buffer")?) }
        }
        "envoy.extensions.filters.http.compressor.v3.Compressor" => compressor(node),
        "envoy.extensions.filters.http.compressor.v3.CompressorPerRoute" => {
            has_only(node, &["@type", "disabled", "overrides"])?;
            if is_true(node.get("disabled")) {
                return Some("does not compress".to_string());
            }
            let overrides = node.get("overrides")?;
            has_only(overrides, &["response_direction_config"])?;
            overrides.get("response_direction_config").is_none_or(is_empty).then(|| "compresses responses".to_string())
        }
        "envoy.extensions.filters.http.fault.v3.HTTPFault" => fault(node),
        _ => None,
    }
}

/// A route's switch for a filter.
fn filter_config(node: &Node) -> Option<String> {
    has_only(node, &["@type", "config", "disabled", "is_optional"])?;
    if is_true(node.get("disabled")) {
        return Some("off".to_string());
    }
    match node.get("config") {
        Some(config) if !is_empty(config) => typed(config),
        _ => Some("on".to_string()),
    }
}

/// `on 5xx, up to 3 times, each try at most 2s`.
fn retries(node: &Node) -> Option<String> {
    has_only(
        node,
        &[
            "retry_on",
            "num_retries",
            "per_try_timeout",
            "retriable_status_codes",
            "retry_back_off",
            "retry_host_predicate",
            "host_selection_retry_max_attempts",
        ],
    )?;
    let mut words = format!("on {}", node.get("retry_on")?.as_str()?.replace(',', ", "));
    if let Some(codes) = node.get("retriable_status_codes").and_then(Node::as_array) {
        words.push_str(&format!(", also on {}", codes.iter().map(scalar).collect::<Vec<_>>().join(", ")));
    }
    words.push_str(&format!(", up to {}", times(node.get("num_retries"))));
    if let Some(timeout) = node.get("per_try_timeout") {
        words.push_str(&format!(", each try at most {}", scalar(timeout)));
    }
    if let Some(pause) = node.get("retry_back_off") {
        has_only(pause, &["base_interval", "max_interval"])?;
        words.push_str(&format!(", with pauses from {}", scalar(pause.get("base_interval")?)));
        pause.get("max_interval").iter().for_each(|most| words.push_str(&format!(" to {}", scalar(most))));
    }
    for predicate in node.get("retry_host_predicate").and_then(Node::as_array).into_iter().flatten() {
        match predicate.get("name")?.as_str()? {
            "envoy.retry_host_predicates.previous_hosts" => words.push_str(", at other hosts"),
            _ => return None,
        }
    }
    if let Some(attempts) = node.get("host_selection_retry_max_attempts") {
        words.push_str(&format!(", with {} attempts to find one", scalar(attempts)));
    }
    Some(words)
}

fn times(number: Option<&Node>) -> String {
    match number.map(scalar).as_deref() {
        None | Some("1") => "1 time".to_string(),
        Some(number) => format!("{number} times"),
    }
}

/// The keepalive of connections to upstreams.
fn connection(node: &Node) -> Option<String> {
    has_only(node, &["tcp_keepalive"])?;
    let keepalive = node.get("tcp_keepalive")?;
    has_only(keepalive, &["keepalive_probes", "keepalive_time", "keepalive_interval"])?;
    let of = |key: &str, words: fn(String) -> String| keepalive.get(key).map(|value| words(scalar(value)));
    let parts = [
        of("keepalive_time", |value| format!("after {value}s without data")),
        of("keepalive_interval", |value| format!("every {value}s")),
        of("keepalive_probes", |value| format!("closed after {value} lost probes")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    Some(if parts.is_empty() { "TCP keepalive, with the system's times".to_string() } else { format!("TCP keepalive {}", parts.join(", ")) })
}

/// The protocol of connections to upstreams.
fn protocol(node: &Node) -> Option<String> {
    const OPTIONS: &str = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";
    has_only(node, &[OPTIONS])?;
    let of = node.get(OPTIONS)?;
    has_only(of, &["@type", "common_http_protocol_options", "explicit_http_config", "use_downstream_protocol_config", "auto_config"])?;
    let mut words = match (of.get("explicit_http_config"), of.get("use_downstream_protocol_config"), of.get("auto_config")) {
        (Some(explicit), None, None) => {
            has_only(explicit, &["http_protocol_options", "http2_protocol_options"])?;
            match (explicit.get("http_protocol_options"), explicit.get("http2_protocol_options")) {
                (Some(options), None) if is_empty(options) => "HTTP/1.1".to_string(),
                (None, Some(options)) if is_empty(options) => "HTTP/2".to_string(),
                _ => return None,
            }
        }
        (None, Some(options), None) if members(options).all(|(_, value)| is_empty(value)) => "the client's protocol".to_string(),
        (None, None, Some(options)) if members(options).all(|(_, value)| is_empty(value)) => "HTTP/2 or HTTP/1.1, as the upstream offers".to_string(),
        _ => return None,
    };
    if let Some(common) = of.get("common_http_protocol_options") {
        has_only(common, &["idle_timeout", "max_connection_duration", "max_requests_per_connection"])?;
        for (key, name) in [
            ("idle_timeout", "idle timeout"),
            ("max_connection_duration", "connections last at most"),
            ("max_requests_per_connection", "requests per connection:"),
        ] {
            common.get(key).iter().for_each(|value| words.push_str(&format!(", {name} {}", scalar(value))));
        }
    }
    Some(words)
}

/// The buckets of a local rate limit.
fn local_limit(node: &Node) -> Option<String> {
    has_only(
        node,
        &[
            "@type",
            "stat_prefix",
            "token_bucket",
            "filter_enabled",
            "filter_enforced",
            "descriptors",
            "rate_limits",
            "status",
            "enable_x_ratelimit_headers",
            "always_consume_default_token_bucket",
            "max_dynamic_descriptors",
        ],
    )?;
    [node.get("filter_enabled"), node.get("filter_enforced")].into_iter().flatten().all(is_always).then_some(())?;
    let Some(bucket) = node.get("token_bucket") else {
        return node.get("descriptors").is_none().then(|| "no limit by itself".to_string());
    };
    let mut limits = Vec::new();
    if scalar(bucket.get("max_tokens")?) != UNLIMITED {
        limits.push(capacity(bucket)?);
    }
    for descriptor in node.get("descriptors").and_then(Node::as_array).into_iter().flatten() {
        has_only(descriptor, &["entries", "token_bucket"])?;
        let entry = |of: &Node| {
            let key = of.get("key").and_then(Node::as_str).unwrap_or_default();
            of.get("value").and_then(Node::as_str).map_or_else(|| format!("each {key}"), |value| format!("{key} {value}"))
        };
        let entries: Vec<String> = descriptor.get("entries").and_then(Node::as_array).into_iter().flatten().map(entry).collect();
        limits.push(format!("{} for {}", capacity(descriptor.get("token_bucket")?)?, entries.join(" and ")));
    }
    let status = node.get("status").and_then(|status| status.get("code")).map(|code| format!("; answers {} to others", scalar(code)));
    Some(format!("{}{}", if limits.is_empty() { "no limit".to_string() } else { limits.join(", and ") }, status.unwrap_or_default()))
}

fn capacity(bucket: &Node) -> Option<String> {
    has_only(bucket, &["max_tokens", "tokens_per_fill", "fill_interval"])?;
    let most = scalar(bucket.get("max_tokens")?);
    let more = bucket.get("tokens_per_fill").map_or_else(|| "1".to_string(), scalar);
    let each = bucket.get("fill_interval").map(scalar).unwrap_or_default();
    let requests = if most == "1" { "request" } else { "requests" };
    Some(if most == more {
        format!("at most {most} {requests} every {each}")
    } else {
        format!("at most {most} {requests} at once, {more} more every {each}")
    })
}

/// Whether a fraction applies to all requests.
fn is_always(node: &Node) -> bool {
    let Some(value) = node.get("default_value") else { return false };
    let numerator = value.get("numerator").map(scalar);
    let denominator = value.get("denominator").and_then(Node::as_str).unwrap_or("HUNDRED");
    matches!((numerator.as_deref(), denominator), (Some("100"), "HUNDRED") | (Some("10000"), "TEN_THOUSAND") | (Some("1000000"), "MILLION"))
}

/// The service of a global rate limit.
fn limit_service(node: &Node) -> Option<String> {
    has_only(
        node,
        &[
            "@type",
            "domain",
            "timeout",
            "failure_mode_deny",
            "rate_limit_service",
            "enable_x_ratelimit_headers",
            "rate_limited_status",
            "stage",
            "disable_x_envoy_ratelimited_header",
        ],
    )?;
    let fails = if is_true(node.get("failure_mode_deny")) { "; refuses requests if the service fails" } else { "" };
    Some(format!("asks the rate limit service {}about domain {}{fails}", service_of(node.get("rate_limit_service")?)?, node.get("domain")?.as_str()?))
}

/// The service in a filter's `grpc_service`, followed by a space.
fn service_of(node: &Node) -> Option<String> {
    let service = node.get("grpc_service")?.get("envoy_grpc")?.get("cluster_name")?.as_str()?;
    Some(format!("{service} "))
}

fn ext_authz(node: &Node) -> Option<String> {
    let service = match (node.get("grpc_service"), node.get("http_service")) {
        (Some(_), _) => service_of(node)?,
        (_, Some(http)) => format!("{} ", http.get("server_uri")?.get("cluster")?.as_str()?),
        _ => return None,
    };
    let passes = if is_true(node.get("failure_mode_allow")) { "; lets requests pass if the service fails" } else { "" };
    Some(format!("asks the authorization service {}{passes}", service.trim_end()))
}

/// The rules for clients.
fn rbac(node: &Node) -> Option<String> {
    has_only(node, &["@type", "rules", "matcher", "stat_prefix", "rules_stat_prefix"])?;
    match (node.get("rules"), node.get("matcher")) {
        (None, None) => Some("no rules by itself".to_string()),
        (Some(rules), None) => {
            has_only(rules, &["action", "policies"])?;
            let policies: Vec<String> = rules.get("policies").into_iter().flat_map(members).map(|(name, _)| format!("`{name}`")).collect();
            let does = match rules.get("action").and_then(Node::as_str).unwrap_or("ALLOW") {
                "ALLOW" => "allows only the requests of",
                "DENY" => "denies the requests of",
                _ => return None,
            };
            Some(if policies.is_empty() {
                format!("{does} no policy")
            } else {
                format!("{does} {}", series(&policies.iter().map(String::as_str).collect::<Vec<_>>()))
            })
        }
        (None, Some(matcher)) => matching(matcher),
        _ => None,
    }
}

/// The rules of a matcher, in their order.
fn matching(node: &Node) -> Option<String> {
    has_only(node, &["matcher_list", "on_no_match"])?;
    let decision = |of: &Node| {
        let action = of.get("action")?.get("typed_config")?;
        match action.get("action").and_then(Node::as_str).unwrap_or("ALLOW") {
            "ALLOW" => Some("allows"),
            "DENY" => Some("denies"),
            _ => None,
        }
    };
    let mut parts = Vec::new();
    for of in node.get("matcher_list").and_then(|list| list.get("matchers")).and_then(Node::as_array).into_iter().flatten() {
        parts.push(format!("{} {}", decision(of.get("on_match")?)?, clients(of.get("predicate")?)?));
    }
    let rest = node.get("on_no_match").map_or(Some("denies"), decision)?;
    parts.push(if parts.is_empty() { format!("{rest} all requests") } else { format!("{rest} others") });
    Some(parts.join(", "))
}

/// The clients of a predicate that only concerns addresses.
fn clients(predicate: &Node) -> Option<String> {
    if let Some(any) = predicate.get("or_matcher") {
        let all: Option<Vec<String>> = any.get("predicate")?.as_array()?.iter().map(clients).collect();
        return Some(all?.join(" or "));
    }
    let single = predicate.get("single_predicate")?;
    let input = single.get("input")?.get("typed_config")?.get("@type")?.as_str()?;
    input.ends_with("SourceIPInput").then_some(())?;
    let ranges = single.get("custom_match")?.get("typed_config")?.get("cidr_ranges")?.as_array()?;
    let range = |of: &Node| Some(format!("{}/{}", of.get("address_prefix")?.as_str()?, of.get("prefix_len").map_or_else(|| "0".to_string(), scalar)));
    let ranges: Option<Vec<String>> = ranges.iter().map(range).collect();
    Some(format!("clients of {}", ranges?.join(", ")))
}

/// The browsers' rights.
fn cors(node: &Node) -> Option<String> {
    has_only(
        node,
        &[
            "@type",
            "allow_origin_string_match",
            "allow_methods",
            "allow_headers",
            "expose_headers",
            "max_age",
            "allow_credentials",
            "forward_not_matching_preflights",
        ],
    )?;
    let mut origins = Vec::new();
    for origin in node.get("allow_origin_string_match").and_then(Node::as_array).into_iter().flatten() {
        let (how, value) = members(origin).next()?;
        origins.push(match (how, value.as_str()) {
            ("exact", Some(text)) => text.to_string(),
            ("safe_regex", _) => format!("those that match `{}`", value.get("regex")?.as_str()?),
            (how, Some(text)) => format!("{how} {text}"),
            _ => return None,
        });
    }
    let mut words = format!("allows origins {}", if origins.is_empty() { "none".to_string() } else { origins.join(", ") });
    for (key, name) in
        [("allow_methods", "methods"), ("allow_headers", "headers"), ("expose_headers", "exposed headers"), ("max_age", "for seconds:")]
    {
        node.get(key).and_then(Node::as_str).iter().for_each(|value| words.push_str(&format!("; {name} {value}")));
    }
    if is_true(node.get("allow_credentials")) {
        words.push_str("; with credentials");
    }
    if node.get("forward_not_matching_preflights").is_some() {
        let does = if is_true(node.get("forward_not_matching_preflights")) { "forwards" } else { "answers" };
        words.push_str(&format!("; {does} preflights of other origins"));
    }
    Some(words)
}

fn buffer(node: &Node) -> Option<String> {
    has_only(node, &["@type", "max_request_bytes"])?;
    Some(format!("buffers requests up to {} bytes", scalar(node.get("max_request_bytes")?)))
}

fn compressor(node: &Node) -> Option<String> {
    has_only(node, &["@type", "compressor_library", "choose_first"])?;
    let library = node.get("compressor_library")?;
    let settings = library.get("typed_config")?;
    has_only(settings, &["@type"])?;
    let name = library.get("name")?.as_str()?.trim_end_matches(".compressor");
    Some(format!("compresses responses with {}", name.rsplit('.').next().unwrap_or(name)))
}

/// Injected delays and failures.
fn fault(node: &Node) -> Option<String> {
    has_only(node, &["@type", "delay", "abort"])?;
    let mut parts = Vec::new();
    if let Some(delay) = node.get("delay") {
        has_only(delay, &["fixed_delay", "percentage"])?;
        parts.push(format!("delays {} by {}", share(delay.get("percentage")?)?, scalar(delay.get("fixed_delay")?)));
    }
    if let Some(abort) = node.get("abort") {
        has_only(abort, &["http_status", "percentage"])?;
        parts.push(format!("answers {} to {}", scalar(abort.get("http_status")?), share(abort.get("percentage")?)?));
    }
    Some(if parts.is_empty() { "no fault by itself".to_string() } else { parts.join(", and ") })
}

/// `10% of the requests`.
fn share(node: &Node) -> Option<String> {
    let each: f64 = match node.get("denominator").and_then(Node::as_str).unwrap_or("HUNDRED") {
        "HUNDRED" => 1.0,
        "TEN_THOUSAND" => 100.0,
        "MILLION" => 10_000.0,
        _ => return None,
    };
    let numerator: f64 = node.get("numerator").map_or_else(|| "0".to_string(), scalar).parse().ok()?;
    Some(format!("{}% of the requests", numerator / each))
}

/// Returns `Some` if a message has no other fields than these.
fn has_only(node: &Node, known: &[&str]) -> Option<()> {
    members(node).all(|(key, _)| known.contains(&key)).then_some(())
}

fn members(node: &Node) -> impl Iterator<Item = (&str, &Node)> {
    node.as_object().into_iter().flatten().map(|entry| (entry.key.as_str(), &entry.value))
}

fn is_true(node: Option<&Node>) -> bool {
    node.is_some_and(|node| matches!(node.value, Value::Bool(true)))
}

fn is_empty(node: &Node) -> bool {
    members(node).next().is_none()
}

fn scalar(node: &Node) -> String {
    node.as_str().map_or_else(|| to_json(node, false), ToString::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(path: &str, text: &str) -> Option<String> {
        phrase(path, &chancery_text::parse(text, &chancery_text::Limits::default()).root.expect("a tree"))
    }

    /// A route's configuration of a filter, with its type's short name.
    fn per_filter(kind: &str, text: &str) -> Option<String> {
        let fields = if text.is_empty() { String::new() } else { format!(", {text}") };
        of("typed_per_filter_config.f", &format!("{{'@type': type.googleapis.com/envoy.extensions.filters.http.{kind}{fields}}}"))
    }

    #[test]
    fn common_filters_are_described() {
        let bucket = "token_bucket: {max_tokens: 10, tokens_per_fill: 10, fill_interval: 60s}";
        assert_eq!(per_filter("local_ratelimit.v3.LocalRateLimit", bucket).as_deref(), Some("at most 10 requests every 60s"));
        let range = "predicate: {single_predicate: {input: {typed_config: {'@type': x/network.v3.SourceIPInput}}, custom_match: {typed_config: {cidr_ranges: [{address_prefix: 10.0.0.0, prefix_len: 8}]}}}}";
        let rules = format!(
            "rbac: {{matcher: {{matcher_list: {{matchers: [{{{range}, on_match: {{action: {{typed_config: {{name: ALLOW}}}}}}}}]}}, on_no_match: {{action: {{typed_config: {{action: DENY}}}}}}}}}}"
        );
        assert_eq!(per_filter("rbac.v3.RBACPerRoute", &rules).as_deref(), Some("allows clients of 10.0.0.0/8, denies others"));
        assert_eq!(per_filter("rbac.v3.RBAC", "").as_deref(), Some("no rules by itself"));
        assert_eq!(per_filter("ext_authz.v3.ExtAuthzPerRoute", "check_settings: {}").as_deref(), Some("asks the authorization service"));
        let fault = "abort: {http_status: 503, percentage: {numerator: 25, denominator: TEN_THOUSAND}}";
        assert_eq!(per_filter("fault.v3.HTTPFault", fault).as_deref(), Some("answers 503 to 0.25% of the requests"));
    }

    #[test]
    fn retries_and_keepalive_are_described() {
        let retry = "{retry_on: '5xx,reset', num_retries: 2, per_try_timeout: 1s}";
        assert_eq!(of("route.retry_policy", retry).as_deref(), Some("on 5xx, reset, up to 2 times, each try at most 1s"));
        let keepalive = "{tcp_keepalive: {keepalive_time: 60, keepalive_probes: 3}}";
        let words = of("cluster.upstream_connection_options", keepalive);
        assert_eq!(words.as_deref(), Some("TCP keepalive after 60s without data, closed after 3 lost probes"));
    }

    #[test]
    fn unknown_field_leaves_json() {
        assert_eq!(of("route.retry_policy", "{retry_on: 5xx, rate_limited_retry_back_off: {}}"), None);
        assert_eq!(per_filter("lua.v3.LuaPerRoute", "name: a"), None);
    }
}
