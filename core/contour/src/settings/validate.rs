//! Validates Contour's configuration with its messages: file and flags (Contour `pkg/config/parameters.go`, `Validate`), and the effective settings
//! (Contour `apis/projectcontour/v1alpha1/contourconfig_helpers.go`, `Validate`). Does not repeat the ContourConfiguration's schema.

use super::access_log;
use super::defaults::{CIPHERS, get};
use super::overlay::is_empty;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use chancery_base::schema::{duration, go_quoted};
use chancery_kubernetes::reason::Reason;
use chancery_text::{Node, Value};

/// An error and its node.
#[derive(Clone, Debug)]
pub struct Fault<'a> {
    /// Contour's words.
    pub error: String,
    /// Where it is written.
    pub node: Option<&'a Node>,
}

type Verdict<'a> = Result<(), Fault<'a>>;

fn refuse<'a>(node: Option<&'a Node>, error: impl Into<String>) -> Verdict<'a> {
    Err(Fault { error: error.into(), node })
}

fn at<'a>(node: &'a Node, error: Result<(), Reason>) -> Verdict<'a> {
    error.map_err(|error| Fault { error: error.into(), node: Some(node) })
}

/// Adds a prefix to an error.
fn within<'a>(words: &str, verdict: Verdict<'a>) -> Verdict<'a> {
    verdict.map_err(|fault| Fault { error: format!("{words}{}", fault.error), ..fault })
}

fn text<'a>(root: &'a Node, path: &str) -> (Option<&'a Node>, &'a str) {
    let node = get(root, path);
    (node, node.and_then(Node::as_str).unwrap_or_default())
}

fn items<'a>(root: &'a Node, path: &str) -> &'a [Node] {
    get(root, path).and_then(Node::as_array).map_or(&[], Vec::as_slice)
}

/// Refuses values other than these; an absent value is refused only if `needed`.
fn one_of<'a>(root: &'a Node, path: &str, allowed: &[&str], what: &str) -> Verdict<'a> {
    match text(root, path) {
        (Some(node), value) if !allowed.contains(&value) => refuse(Some(node), format!("{what} {}", go_quoted(value))),
        _ => Ok(()),
    }
}

const DNS_FAMILIES: &[&str] = &["auto", "v4", "v6", "all"];
const LOG_FORMATS: &[&str] = &["envoy", "json"];
const LOG_LEVELS: &[&str] = &["disabled", "error", "critical", "info"];
const CURVES: &[&str] = &["X25519", "P-256", "P-384", "P-521", "X25519MLKEM768", "MLKEM1024"];

/// Further ciphers that Envoy supports; see [`CIPHERS`].
const OTHER_CIPHERS: &[&str] = &[
    "ECDHE-ECDSA-AES128-SHA",
    "ECDHE-RSA-AES128-SHA",
    "AES128-GCM-SHA256",
    "AES128-SHA",
    "ECDHE-ECDSA-AES256-SHA",
    "ECDHE-RSA-AES256-SHA",
    "AES256-GCM-SHA384",
    "AES256-SHA",
];

fn is_cipher(written: &str) -> bool {
    let known = |cipher: &str| {
        let mut defaults = CIPHERS.iter().flat_map(|group| group.trim_matches(['[', ']']).split('|'));
        OTHER_CIPHERS.contains(&cipher) || defaults.any(|known| known == cipher)
    };
    match written.strip_prefix('[').filter(|rest| rest.ends_with(']')) {
        Some(_) => written.trim_matches(['[', ']']).split('|').all(known),
        None => known(written),
    }
}

/// Validates the file before and after flags are merged.
pub fn file<'a>(file: &'a Node, access_log_format: Option<&'a Node>) -> Verdict<'a> {
    one_of(file, "cluster.dnsLookupFamily", DNS_FAMILIES, "invalid cluster DNS lookup family")?;
    if let Some(gateway) = file.get("gateway")
        && ["name", "namespace"].iter().any(|field| text(gateway, &format!("gatewayRef.{field}")).1.is_empty())
    {
        return refuse(Some(gateway), "invalid Gateway parameters specified: gateway ref namespace and name must be provided");
    }
    if let Some(format) = access_log_format.or_else(|| file.get("accesslog-format"))
        && !LOG_FORMATS.contains(&format.as_str().unwrap_or_default())
    {
        return refuse(Some(format), format!("invalid access log format {}", go_quoted(format.as_str().unwrap_or_default())));
    }
    json_fields(items(file, "json-fields"))?;
    one_of(file, "accesslog-level", LOG_LEVELS, "invalid access log level")?;
    log_format(file, "accesslog-format-string")?;
    one_of(file, "compression.algorithm", &["", "brotli", "disabled", "gzip", "zstd"], "invalid compression type:")?;
    if let Some(tls) = file.get("tls") {
        within("invalid TLS fallback certificate: ", both_names(tls, "fallbackCertificate"))?;
        within("invalid TLS client certificate: ", both_names(tls, "clientCertificate"))?;
        within("invalid TLS Protocol Parameters: ", protocol(tls))?;
    }
    timeouts(file)?;
    for field in ["policy.requestHeaders", "policy.responseHeaders"] {
        headers(file, field)?;
    }
    for version in items(file, "default-http-versions") {
        let name = version.as_str().unwrap_or_default().to_lowercase();
        if !matches!(&*name, "http/1.1" | "http/2") {
            return refuse(Some(version), format!("invalid HTTP version {}", go_quoted(&name)));
        }
    }
    for server in ["contour", "envoy"] {
        within(&format!("metrics.{server}: "), metrics_server(file.at(&["metrics", server])))?;
    }
    if let Some(tracing) = file.get("tracing") {
        if text(tracing, "extensionService").1.is_empty() {
            return refuse(Some(tracing), "tracing.extensionService must be defined");
        }
        custom_tags(tracing)?;
    }
    for (path, what) in [
        ("cluster.maxRequestsPerConnection", "max connections per request value 0 set on cluster"),
        ("cluster.per-connection-buffer-limit-bytes", "per connections buffer limit bytes value 0 set on cluster"),
    ] {
        at_least_one(file, path, what)?;
    }
    if let Some(tls) = get(file, "cluster.upstreamTLS") {
        protocol(tls)?;
    }
    listener(file)
}

fn at_least_one<'a>(root: &'a Node, path: &str, what: &str) -> Verdict<'a> {
    match get(root, path) {
        Some(node) if node.as_i64() == Some(0) => refuse(Some(node), format!("invalid {what}, minimum value is 1")),
        _ => Ok(()),
    }
}

fn listener(file: &Node) -> Verdict<'_> {
    let (node, balancer) = text(file, "listener.connectionBalancer");
    if !matches!(balancer, "" | "exact") {
        let quoted = go_quoted(balancer);
        let error = format!("invalid listener connection balancer value {quoted}, only 'exact' connection balancing is supported for now");
        return refuse(node, error);
    }
    for (path, what) in [
        ("listener.maxRequestsPerConnection", "max connections per request value 0 set on listener"),
        ("listener.per-connection-buffer-limit-bytes", "per connections buffer limit bytes value 0 set on listener"),
        ("listener.maxRequestsPerIOCycle", "max connections per IO cycle value 0 set on listener"),
        ("listener.httpMaxConcurrentStreams", "max HTTP/2 concurrent streams value 0 set on listener"),
        ("listener.maxConnectionsPerListener", "max connections per listener value 0 set on listener"),
    ] {
        at_least_one(file, path, what)?;
    }
    if let Some(node) = get(file, "listener.maxConnectionsToAcceptPerSocketEvent").filter(|node| node.as_i64() == Some(0)) {
        return refuse(Some(node), "max-connections-to-accept-per-socket-event must be greater than 0");
    }
    for (field, what) in [("tos", "IPv4 TOS"), ("trafficClass", "IPv6 TrafficClass")] {
        if let Some(node) = get(file, &format!("listener.socketOptions.{field}"))
            && let Some(value) = node.as_i64().filter(|value| !(0..=255).contains(value))
        {
            return refuse(Some(node), format!("invalid listener {what} value {value}, must be in the range 0-255"));
        }
    }
    Ok(())
}

fn json_fields(fields: &[Node]) -> Verdict<'_> {
    fields.iter().try_for_each(|field| at(field, access_log::check_json_field(field.as_str().unwrap_or_default())))
}

fn log_format<'a>(root: &'a Node, path: &str) -> Verdict<'a> {
    match get(root, path) {
        Some(node) => at(node, access_log::check_text(node.as_str().unwrap_or_default())),
        None => Ok(()),
    }
}

fn both_names<'a>(tls: &'a Node, field: &str) -> Verdict<'a> {
    let part = |part: &str| text(tls, &format!("{field}.{part}")).1.trim();
    match (part("namespace").is_empty(), part("name").is_empty()) {
        (true, false) => refuse(tls.get(field), "namespace must be defined"),
        (false, true) => refuse(tls.get(field), "name must be defined"),
        _ => Ok(()),
    }
}

/// TLS as the file's rules have it.
fn protocol(tls: &Node) -> Verdict<'_> {
    within("invalid TLS cipher suites: ", all_of(tls, "cipherSuites", is_cipher, "invalid cipher suites"))?;
    within("invalid ECDH curves: ", all_of(tls, "ecdhCurves", |curve| CURVES.contains(&curve), "invalid ECDH curves"))?;
    versions(tls)
}

fn versions(tls: &Node) -> Verdict<'_> {
    let version = |field: &str, tip: &str, default: &'static str| match text(tls, field) {
        (_, "") => Ok(default),
        (_, "1.2") => Ok("1.2"),
        (_, "1.3") => Ok("1.3"),
        (node, other) => Err(Fault { error: format!("invalid TLS {tip} protocol version: {}", go_quoted(other)), node }),
    };
    let low = version("minimumProtocolVersion", "minimum", "1.2")?;
    let high = version("maximumProtocolVersion", "maximum", "1.3")?;
    if high < low {
        return refuse(tls.get("minimumProtocolVersion"), "the minimum TLS protocol version is greater than the maximum TLS protocol version");
    }
    Ok(())
}

fn timeouts(file: &Node) -> Verdict<'_> {
    for (field, what) in [
        ("requestTimeout", "invalid request timeout"),
        ("connectionIdleTimeout", "connection idle timeout"),
        ("streamIdleTimeout", "stream idle timeout"),
        ("maxConnectionDuration", "max connection duration"),
        ("delayedCloseTimeout", "delayed close timeout"),
        ("connectionShutdownGracePeriod", "connection shutdown grace period"),
        ("connectTimeout", "connect timeout"),
    ] {
        let (node, value) = text(file, &format!("timeouts.{field}"));
        let is_word = value.is_empty() || (matches!(value, "infinity" | "infinite") && field != "connectTimeout");
        if let (Err(error), false) = (duration::read(value), is_word) {
            return refuse(node, format!("{what} {}: {error}", go_quoted(value)));
        }
    }
    Ok(())
}

fn headers<'a>(file: &'a Node, field: &str) -> Verdict<'a> {
    let check = |node: &'a Node, name: &str| {
        let is_valid = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        let rule = "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is \
                    '[-A-Za-z0-9]+')";
        if is_valid { Ok(()) } else { refuse(Some(node), format!("invalid header name {}: [{rule}]", go_quoted(name))) }
    };
    let set = get(file, &format!("{field}.set")).and_then(Node::as_object);
    set.into_iter().flatten().try_for_each(|entry| check(&entry.value, &entry.key))?;
    items(file, &format!("{field}.remove")).iter().try_for_each(|name| check(name, name.as_str().unwrap_or_default()))
}

fn metrics_server(server: Option<&Node>) -> Verdict<'_> {
    let Some(server) = server else { return Ok(()) };
    let has = |field: &str| server.get(field).is_some_and(|value| !is_empty(value));
    if has("certFile") != has("keyFile") {
        let error = "you must supply at least server-certificate-path and server-key-path or none of them";
        return refuse(server.get("certFile").or_else(|| server.get("keyFile")), error);
    }
    if has("caFile") && !has("certFile") {
        let error = "you must supply also server-certificate-path and server-key-path if setting ca-certificate-path";
        return refuse(server.get("caFile"), error);
    }
    Ok(())
}

fn custom_tags(tracing: &Node) -> Verdict<'_> {
    let tags = items(tracing, "customTags");
    for (at, tag) in tags.iter().enumerate() {
        let name = text(tag, "tagName").1;
        if name.is_empty() {
            return refuse(Some(tag), "tracing.customTag.tagName must be defined");
        }
        if tags.iter().take(at).any(|other| text(other, "tagName").1 == name) {
            return refuse(tag.get("tagName"), format!("tagName {name} is duplicate"));
        }
        if text(tag, "literal").1.is_empty() == text(tag, "requestHeaderName").1.is_empty() {
            return refuse(Some(tag), "must set exactly one of Literal or RequestHeaderName");
        }
    }
    Ok(())
}

/// Validates the effective settings.
pub fn spec(root: &Node) -> Verdict<'_> {
    within("invalid contour configuration: ", one_port(root, "health", "metrics"))?;
    within("invalid envoy configuration: ", one_port(root, "envoy.health", "envoy.metrics"))?;
    within("invalid envoy configuration: ", overload_port(root))?;
    one_of(root, "envoy.logging.accessLogFormat", LOG_FORMATS, "invalid access log format")?;
    json_fields(items(root, "envoy.logging.accessLogJSONFields"))?;
    log_format(root, "envoy.logging.accessLogFormatString")?;
    all_of(root, "envoy.defaultHTTPVersions", |version| matches!(version, "HTTP/1.1" | "HTTP/2"), "invalid HTTP versions")?;
    one_of(root, "envoy.cluster.dnsLookupFamily", DNS_FAMILIES, "invalid cluster dns family type")?;
    if let Some(tls) = get(root, "envoy.listener.tls") {
        versions(tls)?;
        all_of(tls, "cipherSuites", is_cipher, "invalid cipher suites")?;
        all_of(tls, "ecdhCurves", |curve| CURVES.contains(&curve), "invalid ECDH curves")?;
    }
    if let Some(gateway) = root.get("gateway")
        && ["name", "namespace"].iter().any(|field| text(gateway, &format!("gatewayRef.{field}")).1.is_empty())
    {
        return refuse(Some(gateway), "invalid gateway configuration: gateway ref namespace and name must be specified");
    }
    root.get("tracing").map_or(Ok(()), tracing)
}

fn tracing(tracing: &Node) -> Verdict<'_> {
    if tracing.get("extensionService").is_none() {
        return refuse(Some(tracing), "tracing.extensionService must be defined");
    }
    for (field, what) in [("overallSampling", ""), ("clientSampling", "client "), ("randomSampling", "random ")] {
        if let Some(node) = tracing.get(field)
            && let Some(rate) = node.as_str().filter(|rate| rate.parse::<f64>().is_err())
        {
            let error = format!("invalid tracing {what}sampling: strconv.ParseFloat: parsing {}: invalid syntax", go_quoted(rate));
            return refuse(Some(node), error);
        }
    }
    custom_tags(tracing)
}

/// Refuses a list with invalid items, and names them all.
fn all_of<'a>(root: &'a Node, path: &str, allowed: impl Fn(&str) -> bool, what: &str) -> Verdict<'a> {
    let refused: Vec<&Node> = items(root, path).iter().filter(|item| !allowed(item.as_str().unwrap_or_default())).collect();
    let named: Vec<String> = refused.iter().map(|item| go_quoted(item.as_str().unwrap_or_default())).collect();
    match refused.first() {
        Some(first) => refuse(Some(first), format!("{what} [{}]", named.join(" "))),
        None => Ok(()),
    }
}

fn endpoint(root: &Node, path: &str) -> Option<(String, Value)> {
    let server = get(root, path)?;
    Some((text(server, "address").1.to_string(), server.get("port").map_or(Value::Int(0), |port| port.value.clone())))
}

fn one_port<'a>(root: &'a Node, health: &str, metrics: &str) -> Verdict<'a> {
    let tls = get(root, &format!("{metrics}.tls"));
    if tls.is_some() && endpoint(root, health).is_some() && endpoint(root, health) == endpoint(root, metrics) {
        return refuse(tls, "cannot use single port for health over HTTP and metrics over HTTPS");
    }
    Ok(())
}

fn overload_port(root: &Node) -> Verdict<'_> {
    let overload = endpoint(root, "envoy.omEnforcedHealth");
    let node = get(root, "envoy.omEnforcedHealth");
    for (path, what) in [("envoy.health", "health checks"), ("envoy.metrics", "metrics")] {
        if overload.is_some() && overload == endpoint(root, path) {
            return refuse(node, format!("cannot use the same port for {what} and overload-manager enforced health checks"));
        }
    }
    Ok(())
}
