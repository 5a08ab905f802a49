//! Checks the older and the current spelling of features that Envoy reads in two forms.

use crate::documents::parsed;
use crate::rich::{OLD, rich};
use chancery_core::backend::envoy::v3::{bootstrap, resources};
use chancery_core::backend::envoy::{Document, Options};
use chancery_core::ir::Spelling;
use chancery_envoy_api::deprecated::deprecated_fields;
use serde_json::{Value, json};

#[test]
fn current_spelling_has_no_deprecated_field() {
    let (ir, options) = (rich(Spelling::CURRENT), Options::default());
    let mut found = deprecated_fields(&bootstrap(&ir, &options));
    let served = resources(&ir, &options);
    found.extend(served.listeners.iter().flat_map(|of| deprecated_fields(of)));
    found.extend(served.routes.iter().flat_map(|of| deprecated_fields(of)));
    found.extend(served.clusters.iter().flat_map(|of| deprecated_fields(of)));
    let found: Vec<_> = found.iter().map(|of| format!("{} {:?} {}", of.pointer, of.value, of.deprecation.since)).collect();
    assert_eq!(found, [""; 0]);
}

const HTTP: &str = "/static_resources/listeners/0/filter_chains/0/filters/0/typed_config";
const ROUTE: &str = "/static_resources/listeners/0/filter_chains/0/filters/0/typed_config/route_config/virtual_hosts/0/routes/0";
const CLUSTER: &str = "/static_resources/clusters/0";

/// Sets one flag, and checks that only its own field differs from the current spelling.
fn check(name: &str, spelling: Spelling, at: &str, old: Value, current: Value) {
    let options = Options { document: Document::Bootstrap, ..Options::default() };
    let value = |spelling| parsed(&rich(spelling), &options).pointer(at).cloned().unwrap_or_default();
    assert_eq!(value(spelling), old, "{name}");
    assert_eq!(value(Spelling::CURRENT), current, "{name}");
}

macro_rules! spelled {
    ($flag:ident $at:expr, $old:expr, $current:expr) => {
        #[test]
        fn $flag() {
            check(stringify!($flag), Spelling { $flag: true, ..Spelling::CURRENT }, &$at, $old, $current);
        }
    };
}

spelled!(header_append format!("{ROUTE}/request_headers_to_add"),
json!([
    {"header": {"key": "x-a", "value": "%PROTOCOL%"}, "append": true},
    {"header": {"key": "x-b", "value": "b"}, "append": false},
    {"header": {"key": "x-c", "value": "c"}}
]),
json!([
    {"header": {"key": "x-a", "value": "%PROTOCOL%"}},
    {"header": {"key": "x-b", "value": "b"}, "append_action": "OVERWRITE_IF_EXISTS_OR_ADD"},
    {"header": {"key": "x-c", "value": "c"}}
]));

spelled!(cors_on_route format!("{ROUTE}/route/cors/max_age"), json!("86400"), Value::Null);

#[test]
fn current_spelling_sets_cors_in_filter() {
    let at = format!("{ROUTE}/typed_per_filter_config/envoy.filters.http.cors/max_age");
    check("cors_on_route", Spelling { cors_on_route: true, ..Spelling::CURRENT }, &at, Value::Null, json!("86400"));
}

spelled!(header_match_fields format!("{ROUTE}/match/headers"),
json!([
    {"name": ":authority", "suffix_match": ".example"},
    {"name": "x-exact", "string_match": {"exact": "1"}},
    {"name": "x-prefix", "prefix_match": "1"},
    {"name": "x-regex", "safe_regex_match": {"regex": "a.*"}},
    {"name": "x-contains", "string_match": {"contains": "1"}},
    {"name": "x-there", "present_match": true}
]),
json!([
    {"name": ":authority", "string_match": {"suffix": ".example"}},
    {"name": "x-exact", "string_match": {"exact": "1"}},
    {"name": "x-prefix", "string_match": {"prefix": "1"}},
    {"name": "x-regex", "string_match": {"safe_regex": {"regex": "a.*"}}},
    {"name": "x-contains", "string_match": {"contains": "1"}},
    {"name": "x-there", "present_match": true}
]));

spelled!(http_options_on_cluster format!("{CLUSTER}/common_http_protocol_options"),
    json!({"idle_timeout": "1s", "max_connection_duration": "2s"}), Value::Null);

#[test]
fn current_spelling_sets_http_options_in_extension() {
    let at = format!("{CLUSTER}/typed_extension_protocol_options");
    let options = json!({"envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
        "@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
        "common_http_protocol_options": {"idle_timeout": "1s", "max_connection_duration": "2s"},
        "explicit_http_config": {"http2_protocol_options": {}}
    }});
    check("http_options_on_cluster", Spelling { http_options_on_cluster: true, ..Spelling::CURRENT }, &at, Value::Null, options);
}

spelled!(google_re2 format!("{HTTP}/route_config/virtual_hosts/0/routes/2/match/safe_regex"),
    json!({"google_re2": {"max_program_size": 200}, "regex": "/[a-z]+"}), json!({"regex": "/[a-z]+"}));

spelled!(file_log_json_format format!("{HTTP}/access_log/1/typed_config"),
    json!({"@type": "type.googleapis.com/envoy.extensions.access_loggers.file.v3.FileAccessLog", "path": "/dev/null",
           "json_format": {"protocol": "%PROTOCOL%"}}),
    json!({"@type": "type.googleapis.com/envoy.extensions.access_loggers.file.v3.FileAccessLog", "path": "/dev/null",
           "log_format": {"json_format": {"protocol": "%PROTOCOL%"}}}));

spelled!(lua_inline_code format!("{HTTP}/http_filters/5/typed_config"),
    json!({"@type": "type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua",
           "inline_code": "function envoy_on_request(handle) end"}),
    json!({"@type": "type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua",
           "default_source_code": {"inline_string": "function envoy_on_request(handle) end"}}));

spelled!(tcp_always_weighted "/static_resources/listeners/2/filter_chains/0/filters/0/typed_config/weighted_clusters",
    json!({"clusters": [{"name": "dns", "weight": 50}]}), Value::Null);

spelled!(ext_authz_headers_on_service format!("{HTTP}/http_filters/10/typed_config/http_service/authorization_request/allowed_headers/patterns/0"),
    json!({"exact": "authorization", "ignore_case": true}), Value::Null);

spelled!(child_span_on_router format!("{HTTP}/http_filters/18/typed_config"),
    json!({"@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router", "start_child_span": true,
           "suppress_envoy_headers": true}),
    json!({"@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router", "suppress_envoy_headers": true}));

#[test]
fn current_spelling_sets_child_spans_in_connection_manager() {
    let at = format!("{HTTP}/tracing/spawn_upstream_span");
    check("child_span_on_router", Spelling { child_span_on_router: true, ..Spelling::CURRENT }, &at, Value::Null, json!(true));
}

spelled!(compressor_content_type format!("{HTTP}/http_filters/6/typed_config/response_direction_config/common_config"),
    json!({"min_content_length": 32, "content_type": ["text/html"]}),
    json!({"min_content_length": 32, "content_type_matcher": [{"exact": "text/html"}]}));

spelled!(dns_ttl_on_cluster "/static_resources/clusters/3/cluster_type", Value::Null,
json!({"name": "envoy.clusters.dns", "typed_config": {
    "@type": "type.googleapis.com/envoy.extensions.clusters.dns.v3.DnsCluster",
    "respect_dns_ttl": true, "dns_lookup_family": "AUTO", "all_addresses_in_single_endpoint": true
}}));

spelled!(tracer_in_bootstrap "/tracing/http/name", json!("envoy.zipkin"), Value::Null);

#[test]
fn spellings_do_not_disturb_each_other() {
    let options = Options::default();
    assert_eq!(parsed(&rich(OLD), &options)["static_resources"]["listeners"].as_array().map(Vec::len), Some(4));
    assert_eq!(parsed(&rich(Spelling::CURRENT), &options).pointer(&format!("{HTTP}/tracing/provider/name")), Some(&json!("envoy.zipkin")));
}

spelled!(rbac_or_ids format!("{HTTP}/http_filters/8/typed_config/rules/policies/ip~1deny/principals"),
json!([{"or_ids": {"ids": [
    {"remote_ip": {"address_prefix": "10.0.0.0", "prefix_len": 8}},
    {"direct_remote_ip": {"address_prefix": "::1", "prefix_len": 128}}
]}}]),
json!([
    {"remote_ip": {"address_prefix": "10.0.0.0", "prefix_len": 8}},
    {"direct_remote_ip": {"address_prefix": "::1", "prefix_len": 128}}
]));

spelled!(ext_authz_version_of_http format!("{HTTP}/http_filters/10/typed_config/transport_api_version"), json!("V3"), Value::Null);
