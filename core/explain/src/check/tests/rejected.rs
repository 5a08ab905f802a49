//! Configuration that Envoy rejects.

use super::{GATEWAY, Policy, Severity, Vec, format, found, found_alone, mapping};

#[test]
fn rejected_authorization_service_and_tls_are_reported() {
    let auth = |fields: &str| {
        let spec = format!("spec: {{auth_service: auth, proto: http, {fields}}}");
        let text = format!("{}{}", GATEWAY, mapping("''"));
        let text = format!("{text}---\napiVersion: getambassador.io/v3alpha1\nkind: AuthService\nmetadata: {{name: auth}}\n{spec}\n");
        found_alone(&text).into_iter().filter(|(_, severity)| *severity == Severity::Error).map(|(code, _)| code).collect::<Vec<_>>()
    };
    assert_eq!(auth("path_prefix: /a, add_auth_headers: {x-a: '%PROTOCOL%'}"), [""; 0]);
    assert_eq!(auth("path_prefix: a"), ["refused-by-envoy"]);
    assert_eq!(auth("add_auth_headers: {host: a}"), ["protected-header"]);
    assert_eq!(auth("add_auth_headers: {x-a: '100%'}"), ["refused-by-envoy"]);
    let tls = |fields: &str| {
        let secure = GATEWAY.replace("protocol: HTTP,", "protocol: HTTPS,");
        let host = secure.replace("requestPolicy", &format!("tlsSecret: {{name: t}}, tls: {{{fields}}}, requestPolicy"));
        let text = format!("{host}{}", mapping("''"));
        found_alone(&text).contains(&("refused-by-envoy", Severity::Error))
    };
    assert!(!tls("cipher_suites: [ECDHE-RSA-AES128-GCM-SHA256], ecdh_curves: [P-256]"));
    assert!(tls("cipher_suites: [TLS_AES_128_GCM_SHA256]") && tls("ecdh_curves: [P256]"));
}

#[test]
fn invalid_header_values_are_reported_everywhere() {
    for (value, refused) in [("100%", true), ("%REQ()%", true), ("100%%", false), ("%REQ(x-user)%", false)] {
        for field in ["add_request_headers", "add_response_headers"] {
            let spec = format!("spec: {{hostname: '*', prefix: /a/, service: a, {field}: {{x-a: {{value: '{value}'}}}}}}");
            let text = format!("apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {{name: shop}}\n{spec}\n");
            let reported = found(&text, Policy::default()).contains(&("refused-by-envoy", Severity::Error));
            assert_eq!(reported, refused, "{field} {value}");
        }
    }
}
