//! Says what to do instead of a key of the ConfigMap that is not converted.
//!
//! Keys with an annotation of the same meaning have the remedy of the annotation; see `table`.

use super::table::verdict;

/// Returns what to do instead of a key of the ConfigMap.
pub(super) fn remedy(key: &str) -> &'static str {
    let annotation = match key {
        "enable-owasp-modsecurity-crs" => "enable-owasp-core-rules",
        "location-snippet" => "configuration-snippet",
        key => key,
    };
    match key {
        "allow-backend-server-header" => "Envoy leaves the header Server of services unchanged",
        "app-root" => "write a rule with RequestRedirect for the path `/` of each host",
        "bind-address-ipv4" | "bind-address-ipv6" => "write `addresses` in the Gateway",
        "block-cidrs" => "write `authorization` with `clientCIDRs` in a SecurityPolicy for the Gateway",
        "block-referers" | "block-user-agents" => "write `authorization` with `headers` in a SecurityPolicy, or a rule that answers 403",
        "client-body-timeout" => "write `timeout.http.requestReceivedTimeout` in the ClientTrafficPolicies",
        "compute-full-forwarded-for" => "Envoy always adds to X-Forwarded-For if it believes the header",
        "debug-connections" => "write `logging.level` in the EnvoyProxy",
        "default-type" => "set Content-Type in the service",
        "enable-ocsp" => "Envoy does not fetch OCSP responses; put them into the Secret of the certificate",
        "forwarded-for-header" | "forwarded-for-proxy-protocol-header" => {
            "write `clientIPDetection.customHeader` in the ClientTrafficPolicies, and let only your proxies reach the gateway: it believes this header of every client"
        }
        "forwarded-host-header" => "Envoy routes by the host of the request",
        "http2-max-requests" | "keep-alive-requests" => "write `connection.maxRequestsPerConnection` in the ClientTrafficPolicies",
        "large-client-header-buffers" | "http2-max-field-size" | "http2-max-header-size" => {
            "Envoy accepts 60 KiB of headers; another limit needs an EnvoyPatchPolicy"
        }
        "limit-conn-status-code" => "Envoy closes connections above the limit without an answer",
        "limit-conn-zone-variable" => "Envoy counts connections of a whole listener",
        "limit-req-status-code" => "Envoy answers 429",
        "proxy-protocol-header-timeout" => "Envoy has one timeout for all steps before TLS",
        "proxy-ssl-location-only" => "each route has its own TLS settings anyway",
        "ssl-dh-param" => "Envoy uses elliptic curves only",
        "ssl-early-data" => "Envoy accepts no early data over TCP",
        "ssl-ecdh-curve" => "write `tls.ecdhCurves` in the ClientTrafficPolicies",
        "ssl-reject-handshake" => "a Gateway closes connections for hosts without a listener anyway",
        "ssl-session-ticket-key" => "Envoy makes its own keys; write `tls.session.resumption` in the ClientTrafficPolicies",
        "skip-access-log-urls" => "write `telemetry.accessLog` with `matches` in the EnvoyProxy",
        "use-geoip2" | "geoip2-autoreload-in-minutes" => "write `geoIP` in the EnvoyProxy, or look the address up in the service",
        "http-snippet" | "main-snippet" => "nginx directives have no counterpart; write policies for the Gateway",
        key if key.contains("gzip") || key.contains("brotli") => "write `compressor` in the BackendTrafficPolicy",
        key if key.contains("opentelemetry") || key.starts_with("otel-") || key.starts_with("otlp-") => "write `telemetry.tracing` in the EnvoyProxy",
        key if key.contains("access-log") || key.contains("syslog") || key.starts_with("log-format-") => {
            "write `telemetry.accessLog` in the EnvoyProxy"
        }
        key if key.starts_with("proxy-stream-") => "write a BackendTrafficPolicy for the TCPRoute or UDPRoute",
        key if key.starts_with("nginx-status-") => "Envoy has its own admin interface and metrics",
        _ => verdict(annotation).map_or("nginx's setting has no counterpart; test the requests that depend on it", |found| found.words),
    }
}

#[cfg(test)]
mod tests {
    use super::remedy;
    use chancery_base::ir::nginx::globals::KEYS;

    #[test]
    fn keys_have_remedies() {
        let known = super::super::reports::KNOWN_KEYS;
        for key in KEYS.iter().filter(|key| !known.contains(&key.name)) {
            assert!(!remedy(key.name).starts_with("nginx's setting"), "{}", key.name);
        }
    }
}
