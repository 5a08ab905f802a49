//! Converts flags and file to the `spec` of a ContourConfiguration (Contour `cmd/contour/servecontext.go`, `convertToContourConfigurationSpec`):
//! their own defaults, their precedence, and renamed fields.

use super::access_log::DEFAULT_JSON_FIELDS;
use super::defaults::{Plain, empty, from, get, put};
use super::flags::{self, Flags};
use super::overlay::{is_empty, tidy};
use alloc::vec::Vec;
use chancery_text::{Node, NodeId, Object, Str, Value};

/// A setting of flags and file.
struct Row {
    /// Its path in a ContourConfiguration.
    path: &'static str,
    /// Its path in the file; empty if the file has no such setting.
    file: &'static str,
    /// Its flag; empty if there is none.
    flag: &'static str,
    default: Plain,
}

const fn row(path: &'static str, file: &'static str, flag: &'static str, default: Plain) -> Row {
    Row { path, file, flag, default }
}

use Plain::{Bool, Empty, Int, Nothing, Text, Texts};

const ROWS: &[Row] = &[
    row("ingress", "", "", Empty),
    row("ingress.statusAddress", "ingress-status-address", "ingress-status-address", Nothing),
    row("debug.address", "", "debug-http-address", Text("127.0.0.1")),
    row("debug.port", "", "debug-http-port", Int(6060)),
    row("health.address", "", "health-address", Text("0.0.0.0")),
    row("health.port", "", "health-port", Int(8000)),
    row("metrics.address", "", "http-address", Text("0.0.0.0")),
    row("metrics.port", "", "http-port", Int(8000)),
    row("envoy.listener.useProxyProtocol", "", "use-proxy-protocol", Bool(false)),
    row("envoy.listener.disableAllowChunkedLength", "disableAllowChunkedLength", "", Bool(false)),
    row("envoy.listener.disableMergeSlashes", "disableMergeSlashes", "", Bool(false)),
    row("envoy.listener.serverHeaderTransformation", "serverHeaderTransformation", "", Text("overwrite")),
    row("envoy.listener.connectionBalancer", "listener.connectionBalancer", "", Nothing),
    row("envoy.listener.per-connection-buffer-limit-bytes", "listener.per-connection-buffer-limit-bytes", "", Nothing),
    row("envoy.listener.maxRequestsPerConnection", "listener.maxRequestsPerConnection", "", Nothing),
    row("envoy.listener.maxRequestsPerIOCycle", "listener.maxRequestsPerIOCycle", "", Nothing),
    row("envoy.listener.httpMaxConcurrentStreams", "listener.httpMaxConcurrentStreams", "", Nothing),
    row("envoy.listener.maxConnectionsPerListener", "listener.maxConnectionsPerListener", "", Nothing),
    row("envoy.listener.maxConnectionsToAcceptPerSocketEvent", "listener.maxConnectionsToAcceptPerSocketEvent", "", Nothing),
    row("envoy.listener.socketOptions", "listener.socketOptions", "", Empty),
    row("envoy.listener.tls", "", "", Empty),
    row("envoy.listener.tls.minimumProtocolVersion", "tls.minimumProtocolVersion", "", Nothing),
    row("envoy.listener.tls.maximumProtocolVersion", "tls.maximumProtocolVersion", "", Nothing),
    row("envoy.listener.tls.cipherSuites", "tls.cipherSuites", "", Nothing),
    row("envoy.listener.tls.ecdhCurves", "tls.ecdhCurves", "", Nothing),
    row("envoy.listener.tls.fingerprint", "tls.fingerprint", "", Nothing),
    row("envoy.service.name", "envoy-service-name", "envoy-service-name", Text("envoy")),
    row("envoy.service.namespace", "envoy-service-namespace", "envoy-service-namespace", Text("projectcontour")),
    row("envoy.http.address", "", "envoy-service-http-address", Text("0.0.0.0")),
    row("envoy.http.port", "", "envoy-service-http-port", Int(8080)),
    row("envoy.http.accessLog", "", "envoy-http-access-log", Text("/dev/stdout")),
    row("envoy.https.address", "", "envoy-service-https-address", Text("0.0.0.0")),
    row("envoy.https.port", "", "envoy-service-https-port", Int(8443)),
    row("envoy.https.accessLog", "", "envoy-https-access-log", Text("/dev/stdout")),
    row("envoy.health.address", "", "stats-address", Text("0.0.0.0")),
    row("envoy.health.port", "", "stats-port", Int(8002)),
    row("envoy.metrics.address", "", "stats-address", Text("0.0.0.0")),
    row("envoy.metrics.port", "", "stats-port", Int(8002)),
    row("envoy.logging.accessLogFormat", "accesslog-format", "accesslog-format", Text("envoy")),
    row("envoy.logging.accessLogFormatString", "accesslog-format-string", "", Nothing),
    row("envoy.logging.accessLogJSONFields", "json-fields", "", Texts(DEFAULT_JSON_FIELDS)),
    row("envoy.logging.accessLogLevel", "accesslog-level", "", Text("info")),
    row("envoy.timeouts", "", "", Empty),
    row("envoy.timeouts.requestTimeout", "timeouts.requestTimeout", "", Nothing),
    row("envoy.timeouts.connectionIdleTimeout", "timeouts.connectionIdleTimeout", "", Text("60s")),
    row("envoy.timeouts.streamIdleTimeout", "timeouts.streamIdleTimeout", "", Nothing),
    row("envoy.timeouts.maxConnectionDuration", "timeouts.maxConnectionDuration", "", Nothing),
    row("envoy.timeouts.delayedCloseTimeout", "timeouts.delayedCloseTimeout", "", Nothing),
    row("envoy.timeouts.connectionShutdownGracePeriod", "timeouts.connectionShutdownGracePeriod", "", Nothing),
    row("envoy.timeouts.connectTimeout", "timeouts.connectTimeout", "", Text("2s")),
    row("envoy.cluster.dnsLookupFamily", "cluster.dnsLookupFamily", "", Text("auto")),
    row("envoy.cluster.maxRequestsPerConnection", "cluster.maxRequestsPerConnection", "", Nothing),
    row("envoy.cluster.per-connection-buffer-limit-bytes", "cluster.per-connection-buffer-limit-bytes", "", Nothing),
    row("envoy.cluster.circuitBreakers", "cluster.circuitBreakers", "", Nothing),
    row("envoy.cluster.upstreamTLS", "cluster.upstreamTLS", "", Empty),
    row("envoy.network.numTrustedHops", "network.numTrustedHops", "", Int(0)),
    row("envoy.network.adminPort", "network.adminPort", "", Int(9001)),
    row("envoy.network.stripTrailingHostDot", "network.stripTrailingHostDot", "", Bool(false)),
    row("envoy.omEnforcedHealth", "omEnforcedHealthListener", "", Nothing),
    row("envoy.runtimeSettings", "runtime-settings", "", Nothing),
    row("gateway", "gateway", "", Nothing),
    row("httpproxy.disablePermitInsecure", "disablePermitInsecure", "", Bool(false)),
    row("enableExternalNameService", "enableExternalNameService", "", Bool(false)),
    row("policy.requestHeaders", "policy.requestHeaders", "", Empty),
    row("policy.responseHeaders", "policy.responseHeaders", "", Empty),
    row("policy.applyToIngress", "policy.applyToIngress", "", Bool(false)),
    row("featureFlags", "featureFlags", "", Nothing),
    row("xdsServer.address", "", "xds-address", Text("127.0.0.1")),
    row("xdsServer.port", "", "xds-port", Int(8001)),
    row("xdsServer.tls.insecure", "", "insecure", Bool(false)),
    row("xdsServer.tls.caFile", "", "contour-cafile", Nothing),
    row("xdsServer.tls.certFile", "", "contour-cert-file", Nothing),
    row("xdsServer.tls.keyFile", "", "contour-key-file", Nothing),
];

/// The settings from flags and file.
pub fn spec(flags: &Flags, file: &Node) -> Node {
    let mut spec = empty();
    for row in ROWS {
        let flag = flags.get(row.flag).map(|value| given(value, row.default));
        let default = || row.default.node();
        let written = || Some(row.file).filter(|path| !path.is_empty()).and_then(|path| get(file, path)).cloned();
        // An explicitly empty value removes the default.
        let value = flag.or_else(written).or_else(default).filter(|value| value.as_str() != Some(""));
        if let Some(value) = value.filter(|value| is_known_word(row.path, value)) {
            put(&mut spec, row.path, value);
        }
    }
    lists(&mut spec, flags, file);
    for (path, field) in [("metrics", "contour"), ("envoy.metrics", "envoy")] {
        if let Some(metrics) = file.at(&["metrics", field]) {
            metrics_server(&mut spec, path, metrics);
        }
    }
    if let Some(algorithm) = get(file, "compression.algorithm").filter(|algorithm| !is_empty(algorithm)) {
        put(&mut spec, "envoy.listener.compression.algorithm", algorithm.clone());
    }
    for (path, field) in [("envoy.clientCertificate", "tls.clientCertificate"), ("httpproxy.fallbackCertificate", "tls.fallbackCertificate")] {
        if let Some(certificate) = get(file, field).filter(|certificate| certificate.get("name").is_some_and(|name| !is_empty(name))) {
            put(&mut spec, path, certificate.clone());
        }
    }
    services(&mut spec, file);
    tidy(&mut spec);
    spec
}

/// Settings with fixed words. Contour ignores other words, so the default applies.
const WORDS: &[(&str, &[&str])] = &[("envoy.listener.serverHeaderTransformation", &["overwrite", "append_if_absent", "pass_through"])];

fn is_known_word(path: &str, value: &Node) -> bool {
    let words = WORDS.iter().find(|(known, _)| *known == path);
    words.is_none_or(|(_, words)| value.as_str().is_some_and(|value| words.contains(&value)))
}

/// The value of a flag, of the type that its default has.
fn given(value: &Str, like: Plain) -> Node {
    let value = match like {
        Plain::Bool(_) => Value::Bool(flags::is_true(value)),
        Plain::Int(_) => Value::Int(value.parse::<f64>().map_or(0, |number| number as i64)),
        _ => Value::String(value.clone()),
    };
    from(NodeId::GIVEN, value)
}

fn lists(spec: &mut Node, flags: &Flags, file: &Node) {
    let texts = |items: Vec<Str>| from(NodeId::GIVEN, Value::Array(items.into_iter().map(|item| from(NodeId::GIVEN, Value::String(item))).collect()));
    if let Some(classes) = flags.get("ingress-class-name").filter(|classes| !classes.is_empty()) {
        put(spec, "ingress.classNames", texts(classes.split(',').map(Str::new).collect()));
    }
    let roots = flags.namespaces("root-namespaces");
    if !roots.is_empty() {
        put(spec, "httpproxy.rootNamespaces", texts(roots));
    }
    if let Some(Node { id, value: Value::Array(items) }) = get(file, "default-http-versions") {
        let versions = items.iter().filter_map(|item| Some(from(item.id, Value::String(item.as_str()?.to_ascii_uppercase().into()))));
        put(spec, "envoy.defaultHTTPVersions", from(*id, Value::Array(versions.collect())));
    }
}

/// Metrics are the exception: here the file beats the flags.
fn metrics_server(spec: &mut Node, path: &str, metrics: &Node) {
    let said = |field: &str| metrics.get(field).filter(|value| !is_empty(value));
    for field in ["address", "port"] {
        if let Some(value) = said(field).filter(|value| value.as_i64().is_none_or(|port| port > 0)) {
            put(spec, &alloc::format!("{path}.{field}"), value.clone());
        }
    }
    if said("certFile").is_some() && said("keyFile").is_some() {
        for field in ["certFile", "keyFile", "caFile"] {
            if let Some(value) = said(field) {
                put(spec, &alloc::format!("{path}.tls.{field}"), value.clone());
            }
        }
    }
}

/// Services that are named `NAMESPACE/NAME` in the file, and by two fields in a ContourConfiguration.
fn services(spec: &mut Node, file: &Node) {
    for (field, reference, flags) in [
        ("tracing", "extensionService", &[][..]),
        ("rateLimitService", "extensionService", &["failOpen", "enableXRateLimitHeaders", "enableResourceExhaustedCode"]),
        ("globalExtAuth", "extensionRef", &[]),
    ] {
        let Some(Node { id, value: Value::Object(fields) }) = file.get(field) else { continue };
        let mut fields: Object = fields.clone();
        let service = fields.remove("extensionService");
        let named = service.as_ref().and_then(Node::as_str).unwrap_or_default();
        if named.is_empty() && field != "tracing" {
            continue;
        }
        let (namespace, name) = named.split_once('/').unwrap_or(("", named));
        let namespace = if namespace.is_empty() { "default" } else { namespace };
        let node = service.as_ref().map_or(*id, |service| service.id);
        let part = |part: &str| from(node, Value::String(Str::new(part)));
        let names: Object = [("name", part(name)), ("namespace", part(namespace))].into_iter().collect();
        fields.insert(reference, from(node, Value::Object(names)));
        for flag in flags {
            if !fields.contains_key(flag) {
                fields.insert(*flag, Node::synthesised(Value::Bool(false)));
            }
        }
        put(spec, field, from(*id, Value::Object(fields)));
    }
}
