//! Tests of Envoy's field rules. A real Envoy accepts and rejects the same values.

use chancery_envoy_api::deprecated::deprecated_fields;
use chancery_envoy_api::describe::Describe;
use chancery_envoy_api::envoy::config::bootstrap::v3::Bootstrap;
use chancery_envoy_api::envoy::config::cluster::v3::Cluster;
use chancery_envoy_api::envoy::config::route::v3::{RouteConfiguration, VirtualHost};
use chancery_envoy_api::envoy::extensions::filters::http::ext_authz::v3::HttpService;
use chancery_envoy_api::envoy::extensions::transport_sockets::tls::v3::{Secret, TlsParameters};
use chancery_envoy_api::json;
use chancery_envoy_api::rules::validate;

fn check<M: json::Readable>(text: &str, wanted: &[&str]) {
    let read = json::from_str::<M>(text).expect("JSON");
    assert_eq!(read.problems, [], "{text}");
    let found: Vec<String> = validate(&read.message).iter().map(ToString::to_string).collect();
    assert_eq!(found, wanted, "{text}");
}

fn route(text: &str, wanted: &[&str]) {
    let text = format!(r#"{{"name": "v", "domains": ["*"], "routes": [{text}]}}"#);
    let wanted: Vec<String> = wanted.iter().map(|w| format!("/routes/0{w}")).collect();
    check::<VirtualHost>(&text, &wanted.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn a_sample_breaks_no_rule() {
    check::<Bootstrap>(include_str!("../samples/bootstrap.json"), &[]);
}

#[test]
fn all_violations_are_found() {
    check::<RouteConfiguration>(
        r#"{"virtual_hosts": [{"routes": [{"match": {}}]}, {"name": "v", "domains": [""]}]}"#,
        &[
            "/virtual_hosts/0/routes/0/match: needs one of: prefix, path, safe_regex, connect_matcher, path_separated_prefix, path_match_policy",
            "/virtual_hosts/0/routes/0: needs one of: route, redirect, direct_response, filter_action, non_forwarding_action",
            "/virtual_hosts/0/name: must be at least 1 character long",
            "/virtual_hosts/0/domains: must be at least 1 item",
        ],
    );
}

#[test]
fn numbers() {
    let response = |status: u32| format!(r#"{{"match": {{"prefix": "/"}}, "direct_response": {{"status": {status}}}}}"#);
    let wanted = ["/direct_response/status: must be at least 200 and less than 600"];
    for (status, wanted) in [(199, &wanted[..]), (200, &[]), (599, &[]), (600, &wanted)] {
        route(&response(status), wanted);
    }
    check::<Cluster>(
        r#"{"name": "c", "common_lb_config": {"healthy_panic_threshold": {"value": 101}}}"#,
        &["/common_lb_config/healthy_panic_threshold/value: must be at least 0 and at most 100"],
    );
}

#[test]
fn durations() {
    check::<Cluster>(r#"{"name": "c", "connect_timeout": "0s"}"#, &["/connect_timeout: must be greater than 0s"]);
    check::<Cluster>(r#"{"name": "c"}"#, &[]);
    let retry =
        |policy: &str| format!(r#"{{"match": {{"prefix": "/"}}, "route": {{"cluster": "c", "retry_policy": {{"retry_back_off": {policy}}}}}}}"#);
    route(&retry("{}"), &["/route/retry_policy/retry_back_off/base_interval: is required"]);
}

#[test]
fn enums() {
    check::<Cluster>(r#"{"name": "c", "lb_policy": 4}"#, &["/lb_policy: must be a value of envoy.config.cluster.v3.Cluster.LbPolicy, but is 4"]);
}

#[test]
fn strings() {
    let forward = |action: &str| format!(r#"{{"match": {{"prefix": "/"}}, "route": {{{action}}}}}"#);
    route(&forward(r#""cluster_header": "a\nb""#), &["/route/cluster_header: is not a valid header name"]);
    route(&forward(r#""cluster_header": "a b(c)""#), &[]);
    route(&forward(r#""cluster": "c", "host_rewrite_literal": "a\rb""#), &["/route/host_rewrite_literal: is not a valid header value"]);
    route(&forward(r#""weighted_clusters": {"clusters": [{"name": "c", "cluster_header": "", "weight": 1}]}"#), &[]);
    let separated = |path: &str| format!(r#"{{"match": {{"path_separated_prefix": "{path}"}}, "route": {{"cluster": "c"}}}}"#);
    route(&separated("/a/"), &["/match/path_separated_prefix: must match the pattern ^[^?#]+[^?#/]$"]);
    route(&separated("/a/é"), &[]);
    let sni = |name: &str| format!(r#"{{"name": "c", "upstream_http_protocol_options": {{"override_auto_sni_header": "{name}"}}}}"#);
    for name in ["", ":authority", "x-host", "a,b"] {
        check::<Cluster>(&sni(name), &[]);
    }
    check::<Cluster>(&sni("a b"), &["/upstream_http_protocol_options/override_auto_sni_header: is not a valid header name"]);
}

#[test]
fn the_message_in_an_any_is_checked() {
    let any = r#"{"match": {"prefix": "/"}, "route": {"cluster": "c"}, "typed_per_filter_config": {"a/b": {
        "@type": "type.googleapis.com/envoy.extensions.filters.http.buffer.v3.BufferPerRoute", "disabled": false}}}"#;
    route(any, &["/typed_per_filter_config/a~1b/disabled: must be true"]);
}

#[test]
fn deprecated_fields_are_listed() {
    let text = r#"{"name": "c", "http2_protocol_options": {}}"#;
    let cluster = json::from_str::<Cluster>(text).expect("JSON").message;
    let found = deprecated_fields(&cluster);
    assert_eq!(found.len(), 1);
    assert_eq!((&*found[0].pointer, found[0].field, found[0].value), ("/http2_protocol_options", "http2_protocol_options", None));
    assert_eq!(found[0].message_type, Cluster::INFO.full_name);
}

#[test]
fn tables_describe_a_message() {
    let field = Secret::INFO.field("tlsCertificate").expect("a field");
    assert_eq!((field.name(), field.json_name().as_str(), field.number), ("tls_certificate", "tlsCertificate", 2));
    assert_eq!(Secret::INFO.oneofs[field.oneof_index().expect("a oneof")].name, "type");
    assert_eq!(Secret::INFO.name(), "Secret");
}

#[test]
fn rules_of_envoys_code_hold_beyond_its_protos() {
    route(
        r#"{"match": {"prefix": "/"}, "route": {"cluster": "c", "timeout": "-1s", "idle_timeout": "9223372037s"}}"#,
        &["/route/timeout: must not be negative", "/route/idle_timeout: must be at most 9223372036s"],
    );
    let weighted = |weight: u64| {
        let clusters = format!(r#"[{{"name": "a", "weight": 4294967295}}, {{"name": "b", "weight": {weight}}}]"#);
        format!(r#"{{"match": {{"prefix": "/"}}, "route": {{"weighted_clusters": {{"clusters": {clusters}}}}}}}"#)
    };
    route(&weighted(0), &[]);
    route(&weighted(1), &["/route/weighted_clusters/clusters: the weights must not be more than 4294967295 together"]);
    check::<HttpService>(r#"{"path_prefix": "/a"}"#, &[]);
    check::<HttpService>(r#"{"path_prefix": "a"}"#, &["/path_prefix: must start with \"/\""]);
    let taken = r#"{"cipher_suites": ["[ECDHE-RSA-AES128-GCM-SHA256|ECDHE-RSA-CHACHA20-POLY1305]", "!kRSA", "ECDHE+AESGCM:@STRENGTH", ""], "ecdh_curves": ["P-256:X25519"]}"#;
    check::<TlsParameters>(taken, &[]);
    for (suite, named) in [("ALL:NOPE", "NOPE"), ("TLS_AES_128_GCM_SHA256", "TLS_AES_128_GCM_SHA256"), ("ECDHE+RC4", "RC4"), ("ALL,AES", "ALL,AES")] {
        let wanted = format!("/cipher_suites/1: `{named}` is no cipher suite of TLS 1.2 and before that it knows");
        check::<TlsParameters>(&format!(r#"{{"cipher_suites": ["ALL", "{suite}"]}}"#), &[&wanted]);
    }
    let curves = "X25519, P-256, P-384, P-521, X25519MLKEM768, MLKEM1024";
    check::<TlsParameters>(r#"{"ecdh_curves": ["P256"]}"#, &[&format!("/ecdh_curves/0: `P256` is no curve that it knows; these are: {curves}")]);
    check::<TlsParameters>(r#"{"ecdh_curves": [""]}"#, &[]);
    for twice in [r#"["P-256", "prime256v1"]"#, r#"["X25519", "P-256:prime256v1"]"#] {
        check::<TlsParameters>(&format!(r#"{{"ecdh_curves": {twice}}}"#), &["/ecdh_curves/1: `prime256v1` is there twice"]);
    }
}
