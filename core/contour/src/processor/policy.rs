//! Processes policies that several kinds share (Contour `internal/dag/policy.go`): timeouts, retries, health checks, load balancing, rate limits,
//! cookies, CORS, addresses.

use super::condition;
use super::header::{self, Variables};
use super::record::Record;
use crate::model::{
    ClusterTimeouts, CookieRewrite, CorsPolicy, HealthCheckTimes, HttpHealthCheck, IpFilter, LocalRateLimit, MatchType, RateLimitDescriptor,
    RateLimitEntry, RateLimitPolicy, RetryPolicy, RouteTimeouts, SlowStart, Timeout,
};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::diagnostic::Reported;
use chancery_base::ir;
use chancery_base::resource::{Rule, Sourced};
use chancery_base::schema::{duration, go_quoted};
use chancery_kubernetes::cursor::Cursor;
use chancery_kubernetes::go;
use chancery_kubernetes::reason::Reason;
use chancery_text::Str;
use core::time::Duration;

/// A timeout as Contour parses it (Contour `internal/timeout`).
pub fn timeout(text: &str) -> Result<Timeout, Reason> {
    match text {
        "" => Ok(Timeout::Default),
        "infinity" | "infinite" => Ok(Timeout::Disabled),
        _ => match duration::read(text) {
            Ok(0) => Ok(Timeout::Default),
            Ok(nanoseconds) => Ok(Timeout::After(go::as_duration(nanoseconds))),
            Err(why) => Err(format!("unable to parse timeout string {}: {why}", go_quoted(text)).into()),
        },
    }
}

fn sourced_timeout(at: Cursor<'_>) -> Result<Sourced<Timeout>, Reason> {
    Ok(Sourced::new(timeout(at.str())?, at.origin()))
}

/// The timeouts of a route and of its clusters.
pub fn timeouts(at: Cursor<'_>, connect: Sourced<Duration>) -> Result<(RouteTimeouts, ClusterTimeouts), Reason> {
    let read = |field: &str, name: &str| sourced_timeout(at.field(field)).map_err(|why| format!("error parsing {name} timeout: {why}"));
    let route = RouteTimeouts { response: read("response", "response")?, idle_stream: read("idle", "idle")? };
    Ok((route, ClusterTimeouts { idle_connection: read("idleConnection", "idle connection")?, connect }))
}

pub fn retry(at: Cursor<'_>) -> Option<Sourced<RetryPolicy>> {
    at.some()?;
    let count = at.field("count");
    let num_retries = match count.int().unwrap_or_default() {
        -1 => 0,
        0 | 1 => 1,
        other => other as u32,
    };
    let conditions = at.field("retryOn");
    let retry_on = if conditions.has_items() { conditions.joined(",") } else { "5xx".to_string() };
    let per_try = at.field("perTryTimeout");
    let per_try_timeout = match duration::read(per_try.str()) {
        Ok(0) | Err(_) => Timeout::Default,
        Ok(nanoseconds) => Timeout::After(go::as_duration(nanoseconds)),
    };
    let policy = RetryPolicy {
        retry_on: Sourced::new(retry_on.into(), conditions.origin()),
        status_codes: at.field("retriableStatusCodes").items().filter_map(Cursor::u32).collect(),
        num_retries: Sourced::new(num_retries, count.origin()),
        per_try: Sourced::new(per_try_timeout, per_try.origin()),
    };
    Some(Sourced::new(policy, at.origin()))
}

fn seconds(at: Cursor<'_>) -> Sourced<Duration> {
    Sourced::new(Duration::from_secs(u64::try_from(at.int().unwrap_or_default()).unwrap_or_default()), at.origin())
}

fn number(at: Cursor<'_>) -> Sourced<u32> {
    at.u32().unwrap_or_else(|| Sourced::new(0, at.origin()))
}

fn health_times(at: Cursor<'_>) -> HealthCheckTimes {
    HealthCheckTimes {
        interval: seconds(at.field("intervalSeconds")),
        timeout: seconds(at.field("timeoutSeconds")),
        unhealthy_threshold: number(at.field("unhealthyThresholdCount")),
        healthy_threshold: number(at.field("healthyThresholdCount")),
    }
}

/// A health check by TCP.
pub fn tcp_health(at: Cursor<'_>) -> Option<Sourced<HealthCheckTimes>> {
    at.some().map(|at| Sourced::new(health_times(at), at.origin()))
}

/// A health check by HTTP.
pub fn http_health(at: Cursor<'_>) -> Result<Option<Sourced<HttpHealthCheck>>, Reason> {
    let Some(at) = at.some() else { return Ok(None) };
    let mut expected_statuses = Vec::new();
    for range in at.field("expectedStatuses").items() {
        let (start, end) = (range.field("start").int().unwrap_or_default(), range.field("end").int().unwrap_or_default());
        if !(100..=599).contains(&start) {
            return Err("invalid expected status range: start must be in the range [100, 599]".into());
        }
        if !(101..=600).contains(&end) {
            return Err("invalid expected status range: end must be in the range [101, 600]".into());
        }
        expected_statuses.push(Sourced::new((start, end), range.origin()).whole());
    }
    let text = |field: &str| Sourced::new(Str::new(at.field(field).str()), at.field(field).origin());
    let check = HttpHealthCheck { path: text("path"), host: text("host"), times: health_times(at), expected_statuses };
    Ok(Some(Sourced::new(check, at.origin())))
}

/// The strategy of load balancing that Contour knows; empty for the default.
pub fn lb_strategy(at: Cursor<'_>) -> Sourced<Str> {
    let strategy = at.field("strategy");
    let known = matches!(strategy.str(), "WeightedLeastRequest" | "Random" | "Cookie" | "RequestHash");
    Sourced::new(if known { strategy.str().into() } else { Str::default() }, strategy.origin())
}

/// Hash policies, with whether each ends the list.
pub type HashPolicies = Vec<Sourced<(ir::HashPolicy, bool)>>;

/// The hash policies of requests, and the load balancing strategy.
pub fn hash_policies(at: Cursor<'_>, record: &mut Record) -> (HashPolicies, Sourced<Str>) {
    let strategy = lb_strategy(at);
    match strategy.value.as_str() {
        "Cookie" => {
            let name = Str::new_static("X-Contour-Session-Affinity");
            let cookie = ir::HashPolicy::Cookie { name, path: Some(Str::new_static("/")), ttl: Some(Duration::ZERO) };
            (alloc::vec![Sourced::new((cookie, false), strategy.origin)], strategy)
        }
        "RequestHash" => {
            let policies = request_hash_policies(at.field("requestHashPolicies"), record);
            if policies.is_empty() {
                let message = "ignoring invalid request hash policy options, setting load balancer strategy to default RoundRobin".to_string();
                record.warning("SpecError", "IgnoredField", message, at.origin());
                return (policies, strategy.map(|_| Str::new_static("RoundRobin")));
            }
            (policies, strategy)
        }
        _ => (Vec::new(), strategy),
    }
}

fn request_hash_policies(at: Cursor<'_>, record: &mut Record) -> HashPolicies {
    let mut policies = Vec::new();
    let (mut source_ip, mut headers, mut queries) = (false, BTreeSet::new(), BTreeSet::new());
    for item in at.items() {
        let mut ignore = |why: String| record.warning("SpecError", "IgnoredField", format!("ignoring invalid {why}"), item.origin());
        let hash_source_ip = item.field("hashSourceIP").is_true();
        let (header, query) = (item.field("headerHashOptions"), item.field("queryParameterHashOptions"));
        if u8::from(hash_source_ip) + u8::from(header.exists()) + u8::from(query.exists()) != 1 {
            let which = "hashSourceIP or headerHashOptions or queryParameterHashOptions";
            ignore(format!("request hash policy, must set exactly one of {which}"));
            continue;
        }
        let policy = if hash_source_ip {
            if source_ip {
                ignore("request hash policy, hashSourceIP specified multiple times".to_string());
                continue;
            }
            source_ip = true;
            ir::HashPolicy::SourceIp(true)
        } else if header.exists() {
            let name = header::canonical(header.field("headerName").str());
            if let Some(why) = header::name_error(&name) {
                ignore(format!("header hash policy options with invalid header name {}: {why}", go_quoted(&name)));
                continue;
            }
            if !headers.insert(name.clone()) {
                ignore(format!("header hash policy options with duplicated header name {name}"));
                continue;
            }
            let Ok(name) = ir::HeaderName::new(name) else { continue };
            ir::HashPolicy::Header(name)
        } else {
            let name = Str::from(query.field("parameterName").str().to_lowercase());
            if name.is_empty() {
                ignore("query parameter hash policy options with an invalid empty query parameter name".to_string());
                continue;
            }
            if !queries.insert(name.clone()) {
                ignore(format!("query parameter hash policy options with duplicated query parameter name {name}"));
                continue;
            }
            ir::HashPolicy::Query(name)
        };
        policies.push(Sourced::new((policy, item.field("terminal").is_true()), item.origin()).whole());
    }
    policies
}

pub fn rate_limit(at: Cursor<'_>) -> Result<Option<Sourced<RateLimitPolicy>>, Reason> {
    let (local, global) = (at.field("local"), at.field("global"));
    if !at.exists() || (!local.exists() && !global.field("descriptors").has_items()) {
        return Ok(None);
    }
    let policy = RateLimitPolicy { local: local_rate_limit(local)?, global: global_rate_limit(global)? };
    Ok(Some(Sourced::new(policy, at.origin())))
}

fn local_rate_limit(at: Cursor<'_>) -> Result<Option<Sourced<LocalRateLimit>>, Reason> {
    let Some(at) = at.some() else { return Ok(None) };
    let requests = number(at.field("requests"));
    if requests.value == 0 {
        return Err("invalid requests value 0 in local rate limit policy".into());
    }
    let unit = at.field("unit");
    let interval = match unit.str() {
        "second" => 1,
        "minute" => 60,
        "hour" => 3600,
        other => return Err(format!("invalid unit {} in local rate limit policy", go_quoted(other)).into()),
    };
    let mut response_headers = BTreeMap::new();
    for entry in at.field("responseHeadersToAdd").items() {
        let key = header::canonical(entry.field("name").str());
        if response_headers.contains_key(&key) {
            return Err(format!("duplicate header addition: {}", go_quoted(&key)).into());
        }
        if let Some(why) = header::name_error(&key) {
            return Err(format!("invalid header name {}: {why}", go_quoted(&key)).into());
        }
        let value = header::escape(entry.field("value").str(), &Variables::default());
        response_headers.insert(key, Sourced::new(value, entry.field("value").origin()));
    }
    let burst = at.field("burst").int().unwrap_or_default() as u32;
    let limit = LocalRateLimit {
        max_tokens: Sourced::new(requests.value.wrapping_add(burst), at.origin()).by(Rule::Derived).whole(),
        tokens_per_fill: requests,
        fill_interval: Sourced::new(Duration::from_secs(interval), unit.origin()),
        status: number(at.field("responseStatusCode")),
        response_headers,
    };
    Ok(Some(Sourced::new(limit, at.origin())))
}

/// Rate limits by a service.
pub fn global_rate_limit(at: Cursor<'_>) -> Result<Option<Sourced<Vec<RateLimitDescriptor>>>, Reason> {
    let Some(at) = at.some().filter(|at| !at.field("disabled").is_true()) else { return Ok(None) };
    let mut descriptors = Vec::new();
    for descriptor in at.field("descriptors").items() {
        let mut entries = Vec::new();
        for entry in descriptor.field("entries").items() {
            let before = entries.len();
            if let Some(at) = entry.field("genericKey").some() {
                let made = RateLimitEntry::GenericKey { key: at.field("key").str().into(), value: at.field("value").str().into() };
                entries.push(Sourced::new(made, at.origin()).whole());
            }
            if let Some(at) = entry.field("requestHeader").some() {
                let made = RateLimitEntry::RequestHeader { header: at.field("headerName").str().into(), key: at.field("descriptorKey").str().into() };
                entries.push(Sourced::new(made, at.origin()).whole());
            }
            if let Some(at) = entry.field("requestHeaderValueMatch").some() {
                let headers = at.field("headers").items().filter_map(condition::header).collect();
                let expect_match = at.field("expectMatch").is_true();
                let made = RateLimitEntry::HeaderValueMatch { headers, expect_match, value: at.field("value").str().into() };
                entries.push(Sourced::new(made, at.origin()).whole());
            }
            if let Some(at) = entry.field("remoteAddress").some() {
                entries.push(Sourced::new(RateLimitEntry::RemoteAddress, at.origin()));
            }
            if entries.len() != before + 1 {
                return Err("rate limit descriptor entry must have exactly one field set".into());
            }
        }
        descriptors.push(RateLimitDescriptor { entries });
    }
    Ok(Some(Sourced::new(descriptors, at.origin())))
}

/// Changes of cookies.
pub fn cookies(at: Cursor<'_>) -> Result<Vec<Sourced<CookieRewrite>>, Reason> {
    let mut names = BTreeSet::new();
    let mut rewrites = Vec::new();
    for item in at.items() {
        let name = Str::new(item.field("name").str());
        if !names.insert(name.clone()) {
            return Err(format!("duplicate cookie rewrite rule for cookie {}", go_quoted(&name)).into());
        }
        let value = |field: &str| item.field(field).some().map(|at| Sourced::new(Str::new(at.field("value").str()), at.origin()));
        let rewrite = CookieRewrite {
            path: value("pathRewrite"),
            domain: value("domainRewrite"),
            secure: item.field("secure").bool(),
            same_site: item.field("sameSite").some().map(|at| Sourced::new(Str::new(at.str()), at.origin())),
            name,
        };
        if rewrite.path.is_none() && rewrite.domain.is_none() && rewrite.secure.is_none() && rewrite.same_site.is_none() {
            return Err(format!("no attributes rewritten for cookie {}", go_quoted(&rewrite.name)).into());
        }
        rewrites.push(Sourced::new(rewrite, item.origin()).whole());
    }
    Ok(rewrites)
}

pub fn cors(at: Cursor<'_>) -> Result<Option<Sourced<CorsPolicy>>, Reason> {
    let Some(at) = at.some() else { return Ok(None) };
    let origins = at.field("allowOrigin");
    if origins.is_empty() {
        return Err("invalid allowed origin configuration with length 0".into());
    }
    let mut allow_origin = Vec::new();
    for origin in origins.items() {
        let written = origin.str();
        let match_type = if written == "*" || is_web_origin(written) {
            MatchType::Exact
        } else if go::check_regex(written).is_ok() {
            MatchType::Regex
        } else {
            let why = "allowed origin is invalid exact match and invalid regex match";
            return Err(format!("invalid allowed origin {}: {why}", go_quoted(written)).into());
        };
        allow_origin.push(Sourced::new((match_type, Str::new(written)), origin.origin()));
    }
    let allow_methods = at.field("allowMethods").texts();
    if allow_methods.is_empty() {
        return Err("invalid allowed methods configuration with length 0".into());
    }
    let max_age = at.field("maxAge");
    let age = match max_age.str() {
        "" => Timeout::Default,
        text => match duration::read(text) {
            Ok(0) => Timeout::Disabled,
            Ok(nanoseconds) if nanoseconds < 0 => return Err(format!("invalid max age value {}", go_quoted(text)).into()),
            Ok(nanoseconds) => Timeout::After(go::as_duration(nanoseconds)),
            Err(why) => return Err(format!("unable to parse timeout string {}: {why}", go_quoted(text)).into()),
        },
    };
    let truth = |field: &str| Sourced::new(at.field(field).is_true(), at.field(field).origin());
    let policy = CorsPolicy {
        allow_credentials: truth("allowCredentials"),
        allow_origin,
        allow_methods,
        allow_headers: at.field("allowHeaders").texts(),
        expose_headers: at.field("exposeHeaders").texts(),
        max_age: Sourced::new(age, max_age.origin()),
        allow_private_network: truth("allowPrivateNetwork"),
    };
    Ok(Some(Sourced::new(policy, at.origin())))
}

/// Whether a string is exactly `scheme://host[:port]` for Go's `url.Parse`.
/// The first entry of `allowOrigin` that is neither an origin nor a regular expression, if any.
pub fn invalid_origin(cors: Cursor<'_>) -> Option<Cursor<'_>> {
    let is_valid = |written: &str| written == "*" || is_web_origin(written) || go::check_regex(written).is_ok();
    cors.field("allowOrigin").items().find(|origin| !is_valid(origin.str()))
}

fn is_web_origin(text: &str) -> bool {
    let Some((scheme, host)) = text.split_once("://") else { return false };
    let scheme_fits = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'+' | b'-' | b'.'));
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if !host.ends_with(']') => (name, port),
        _ => (host, ""),
    };
    let name_fits = match name.strip_prefix('[') {
        Some(rest) => rest.ends_with(']') && !rest.contains(['/', '?', '#']),
        None => !name.contains([':', '/', '?', '#', '@', '%', '[', ']', '\\', '^', '`', '{', '|', '}', ' ', '<', '>', '"']),
    };
    scheme_fits && !host.is_empty() && name_fits && name.bytes().all(|byte| byte > 0x20 && byte != 0x7f) && port.bytes().all(|b| b.is_ascii_digit())
}

/// Why a list of addresses is invalid: already reported, with Contour's message for the caller.
pub struct InvalidAddresses {
    /// It was reported.
    pub reported: Reported,
    /// Contour's words.
    pub why: String,
}

/// Addresses that may pass, or may not.
pub fn ip_filter(allow: Cursor<'_>, deny: Cursor<'_>, record: &mut Record) -> Result<Option<IpFilter>, InvalidAddresses> {
    let (is_allow, rules) = match (allow.has_items(), deny.has_items()) {
        (true, true) => {
            let message = "cannot specify both `ipAllowPolicy` and `ipDenyPolicy`".to_string();
            let reported = record.error("IPFilterError", "IncompatibleIPAddressFilters", message, deny.origin());
            return Err(InvalidAddresses { reported, why: "invalid ip filter".to_string() });
        }
        (true, false) => (true, allow),
        (false, true) => (false, deny),
        (false, false) => return Ok(None),
    };
    let mut filter = IpFilter { allow: is_allow, rules: Vec::new() };
    let mut last = Ok(());
    for rule in rules.items() {
        let written = rule.field("cidr").str();
        let complete = match (written.contains('/'), written.contains(':')) {
            (true, _) => written.to_string(),
            (false, true) => format!("{written}/128"),
            (false, false) => format!("{written}/32"),
        };
        match go::parse_cidr(&complete) {
            Ok((address, prefix_length)) => {
                let source = if rule.field("source").str() == "Remote" { ir::IpSource::Remote } else { ir::IpSource::Peer };
                let range = ir::IpRange { source, address: address.to_string().into(), prefix_length };
                filter.rules.push(Sourced::new(range, rule.origin()).whole());
                last = Ok(());
            }
            Err(why) => {
                let message = format!("{written} failed to parse: {why}");
                let reported = record.error("IPFilterError", "InvalidCIDR", message, rule.field("cidr").origin());
                last = Err(InvalidAddresses { reported, why: why.into() });
            }
        }
    }
    last.map(|()| Some(filter))
}

/// New endpoints get their share slowly.
pub fn slow_start(at: Cursor<'_>) -> Result<Option<Sourced<SlowStart>>, Reason> {
    let Some(at) = at.some() else { return Ok(None) };
    let window = at.field("window");
    let nanoseconds = duration::read(window.str()).map_err(|why| format!("error parsing window: {why}"))?;
    let aggression = at.field("aggression");
    let value = match aggression.str() {
        "" => 1.0,
        text => text.parse().map_err(|_| format!("error parsing aggression: \"{text}\" is not a decimal number"))?,
    };
    let policy = SlowStart {
        window: Sourced::new(go::as_duration(nanoseconds), window.origin()),
        aggression: Sourced::new(value, aggression.origin()),
        min_weight_percent: number(at.field("minWeightPercent")),
    };
    Ok(Some(Sourced::new(policy, at.origin())))
}
