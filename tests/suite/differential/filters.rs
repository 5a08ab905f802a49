//! Compares filters that answer requests with a real Envoy, one filter at a time.
//!
//! Each filter has a separate listener. The requests are all combinations of the inputs that filters read. If the result depends on a service,
//! Envoy's answer must be one of the two simulated results. The test sends a quarter of the combinations, or all of them if
//! `CHANCERY_DIFFERENTIAL` is set.
//!
//! Does not compare routes; see the parent module.

use super::envoy::{Envoy, rig};
use super::{program, request, services};
use chancery_core::backend::envoy::v3::pb;
use chancery_core::envoy_config::EnvoyConfig;
use chancery_core::simulate::{Gateway, Outcome, Simulation};
use chancery_envoy_api::json;
use chancery_tests::chance::Chance;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::env;

/// A response header that each route adds.
const OF_ROUTE: &str = "x-of-route";
/// User `u` with the password `test`.
const USERS: &str = "u:{SHA}qUqP5cyxm6YcTAhz05Hph5gvu9M=";
const KEYS: &str = r#"{"keys":[{"kty":"oct","alg":"HS256","kid":"a","k":"c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0"}]}"#;

fn typed(name: &str, message: &str, config: &Value) -> Value {
    let mut typed = json!({ "@type": format!("type.googleapis.com/envoy.extensions.filters.http.{message}") });
    typed.as_object_mut().expect("an object").extend(config.as_object().expect("an object").clone());
    json!({ "name": format!("envoy.filters.http.{name}"), "typed_config": typed })
}

/// Returns filters, each with its configuration for the route `/own/`.
fn filters() -> Vec<(Value, Value)> {
    let all = json!({ "default_value": { "numerator": 100 } });
    let half = json!({ "default_value": { "numerator": 50 } });
    let policy = |ids: Value| json!({ "p": { "permissions": [{ "any": true }], "principals": ids } });
    let rbac = |action: &str, ids: Value| json!({ "rules": { "action": action, "policies": policy(ids) } });
    let home = json!([{ "remote_ip": { "address_prefix": "127.0.0.0", "prefix_len": 8 } }]);
    let away = json!([{ "direct_remote_ip": { "address_prefix": "10.0.0.0", "prefix_len": 8 } }]);
    let asks = json!([{ "not_id": { "header": { "name": "x-role", "string_match": { "exact": "admin" } } } }, { "url_path": { "path": { "prefix": "/own" } } }]);
    let provider = json!({ "issuer": "x", "local_jwks": { "inline_string": KEYS } });
    let mut cookie_provider = provider.clone();
    cookie_provider["from_cookies"] = json!(["token"]);
    let jwt = |requires: Value| {
        json!({
            "providers": { "p": provider, "q": cookie_provider },
            "requirement_map": { "p": { "provider_name": "p" } },
            "rules": [{ "match": { "prefix": "/none" } }, { "match": { "prefix": "/" }, "requires": requires }]
        })
    };
    let answers = |status: u32| json!({ "abort": { "http_status": status, "percentage": { "numerator": 100 } } });
    let bucket = json!({ "stat_prefix": "l", "token_bucket": { "max_tokens": 3, "tokens_per_fill": 1, "fill_interval": "60s" }, "filter_enabled": all, "filter_enforced": all });
    let script = |code: &str| json!({ "default_source_code": { "inline_string": code } });
    let sign = |of: &str| format!("type.googleapis.com/envoy.extensions.filters.http.{of}");
    vec![
        (typed("rbac", "rbac.v3.RBAC", &rbac("ALLOW", home.clone())), json!({ "@type": sign("rbac.v3.RBACPerRoute"), "rbac": rbac("DENY", home) })),
        (typed("rbac", "rbac.v3.RBAC", &rbac("ALLOW", away)), json!({ "@type": sign("rbac.v3.RBACPerRoute") })),
        (typed("rbac", "rbac.v3.RBAC", &rbac("DENY", asks)), Value::Null),
        (typed("rbac", "rbac.v3.RBAC", &json!({ "rules": { "action": "ALLOW" } })), Value::Null),
        (typed("csrf", "csrf.v3.CsrfPolicy", &json!({ "filter_enabled": all, "additional_origins": [{ "suffix": "friend.org" }] })), Value::Null),
        (
            typed("csrf", "csrf.v3.CsrfPolicy", &json!({ "filter_enabled": half })),
            json!({ "@type": sign("csrf.v3.CsrfPolicy"), "filter_enabled": all }),
        ),
        (typed("basic_auth", "basic_auth.v3.BasicAuth", &json!({ "users": { "inline_string": USERS } })), Value::Null),
        (
            typed("jwt_authn", "jwt_authn.v3.JwtAuthentication", &jwt(json!({ "provider_name": "p" }))),
            json!({ "@type": sign("jwt_authn.v3.PerRouteConfig"), "requirement_name": "absent" }),
        ),
        (
            typed(
                "jwt_authn",
                "jwt_authn.v3.JwtAuthentication",
                &jwt(json!({ "requires_any": { "requirements": [{ "provider_name": "q" }, { "allow_missing": {} }] } })),
            ),
            json!({ "@type": sign("jwt_authn.v3.PerRouteConfig"), "disabled": true }),
        ),
        (
            typed(
                "jwt_authn",
                "jwt_authn.v3.JwtAuthentication",
                &jwt(json!({ "requires_all": { "requirements": [{ "provider_name": "p" }, { "provider_name": "q" }] } })),
            ),
            Value::Null,
        ),
        (
            typed("fault", "fault.v3.HTTPFault", &answers(418)),
            json!({ "@type": sign("fault.v3.HTTPFault"), "abort": { "http_status": 503, "percentage": { "numerator": 0 } } }),
        ),
        (
            typed(
                "fault",
                "fault.v3.HTTPFault",
                &json!({ "abort": { "header_abort": {}, "percentage": { "numerator": 100 } }, "headers": [{ "name": "x-role" }] }),
            ),
            Value::Null,
        ),
        (typed("buffer", "buffer.v3.Buffer", &json!({ "max_request_bytes": 16 })), Value::Null),
        (typed("local_ratelimit", "local_ratelimit.v3.LocalRateLimit", &bucket), Value::Null),
        (
            typed(
                "health_check",
                "health_check.v3.HealthCheck",
                &json!({ "pass_through_mode": false, "headers": [{ "name": ":path", "string_match": { "prefix": "/none" } }] }),
            ),
            Value::Null,
        ),
        (
            typed("cors", "cors.v3.Cors", &json!({})),
            json!({ "@type": sign("cors.v3.CorsPolicy"), "allow_origin_string_match": [{ "suffix": "friend.org" }], "forward_not_matching_preflights": false }),
        ),
        (
            typed("cors", "cors.v3.Cors", &json!({})),
            json!({ "@type": sign("cors.v3.CorsPolicy"), "allow_origin_string_match": [{ "exact": "http://a.org" }] }),
        ),
        (
            typed("lua", "lua.v3.Lua", &script(include_str!("../../../core/contour/src/lower/misdirected.lua"))),
            json!({ "@type": sign("lua.v3.LuaPerRoute"), "disabled": true }),
        ),
        (
            typed(
                "lua",
                "lua.v3.Lua",
                &script(&include_str!("../../../core/ambassador/src/lower/misconfigured_auth.lua").replace("{{rkey}}", "my.auth")),
            ),
            Value::Null,
        ),
        (typed("lua", "lua.v3.Lua", &script("function envoy_on_response(h) h:headers():add('x', 'y') end")), Value::Null),
        (
            typed(
                "ext_authz",
                "ext_authz.v3.ExtAuthz",
                &json!({ "transport_api_version": "V3", "grpc_service": { "envoy_grpc": { "cluster_name": "up" } } }),
            ),
            json!({ "@type": sign("ext_authz.v3.ExtAuthzPerRoute"), "disabled": true }),
        ),
    ]
}

fn bootstrap() -> pb::bootstrap::Bootstrap {
    let listener = |(at, (filter, own)): (usize, (Value, Value))| {
        let per_filter = if own.is_null() { json!({}) } else { json!({ filter["name"].as_str().expect("a name"): own }) };
        let adds = json!([{ "header": { "key": OF_ROUTE, "value": "yes" } }]);
        let routes = json!([
            { "match": { "prefix": "/own/" }, "route": { "cluster": "up" }, "typed_per_filter_config": per_filter, "response_headers_to_add": adds },
            { "match": { "prefix": "/to/" }, "redirect": { "host_redirect": "x.org" }, "response_headers_to_add": adds },
            { "match": { "prefix": "/say/" }, "direct_response": { "status": 218 }, "response_headers_to_add": adds },
            { "match": { "prefix": "/up/" }, "route": { "cluster": "up" }, "response_headers_to_add": adds },
        ]);
        let manager = json!({
            "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", "stat_prefix": "x",
            "use_remote_address": true, "http_filters": [filter, typed("router", "router.v3.Router", &json!({}))],
            "route_config": { "name": "r", "virtual_hosts": [{ "name": "a", "domains": ["a.org", "/ambassador"], "routes": routes }] }
        });
        json!({
            "name": at.to_string(), "address": { "socket_address": { "address": "127.0.0.1", "port_value": 1 } },
            "filter_chains": [{ "filters": [{ "name": "hcm", "typed_config": manager }] }]
        })
    };
    let listeners: Vec<Value> = filters().into_iter().enumerate().map(listener).collect();
    let text = json!({ "static_resources": { "listeners": listeners, "clusters": [{ "name": "up", "connect_timeout": "1s", "type": "STATIC" }] } });
    let read = json::from_str::<pb::bootstrap::Bootstrap>(&text.to_string()).expect("a bootstrap");
    assert!(read.problems.is_empty(), "{:?}", read.problems);
    read.message
}

/// The headers that filters read.
const HEADERS: &[&[(&str, &str)]] = &[
    &[],
    &[("origin", "http://a.org")],
    &[("origin", "http://www.friend.org")],
    &[("origin", "null"), ("access-control-request-method", "GET")],
    &[("origin", "http://a.org"), ("access-control-request-method", "PUT")],
    &[("origin", "https://friend.org"), ("access-control-request-method", "PUT")],
    &[("referer", "http://a.org/x?y")],
    &[("authorization", "Basic dTp0ZXN0")],
    &[("authorization", "Basic dTp3cm9uZw==")],
    &[("authorization", "Basic dQ==")],
    &[("authorization", "Bearer nothing")],
    &[("authorization", "Bearer eyJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJ4In0.c2ln")],
    &[("cookie", "token=eyJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJ4In0.c2ln")],
    &[("cookie", "token=none")],
    &[("x-role", "admin")],
    &[("x-role", "guest"), ("x-envoy-fault-abort-request", "429")],
    &[("content-type", "application/grpc")],
];

/// Whether Envoy did what the simulation returned, or its result for an unmet condition.
fn holds(said: &Simulation, got: Option<u32>) -> bool {
    let status = match said.outcome {
        Outcome::Forward => Some(200),
        _ => said.status,
    };
    got == status || said.conditions.iter().any(|of| of.otherwise.is_some() && of.otherwise == got)
}

#[test]
fn filters_answer_in_a_real_envoy_as_simulated() {
    let Some(program) = program() else { return };
    let rigged = rig(bootstrap()).expect("something speaks HTTP");
    let config = EnvoyConfig::of_bootstrap(rigged.clone());
    let gateway = Gateway::new(&config);
    let envoy = Envoy::start(&program, "filters", &rigged).expect("Envoy starts");
    let _alone = services::alone();
    let (mut asked, mut by_filters, mut conditional) = (0, BTreeMap::<String, usize>::new(), 0);
    let mut differences = Vec::new();
    let (all, mut chance) = (env::var_os("CHANCERY_DIFFERENTIAL").is_some(), Chance::new(15));
    for listener in &config.listeners {
        let port = super::envoy::port(&listener.message).expect("a port");
        let paths = ["/own/x", "/up/x", "/to/x", "/say/x", "/none", "/ambassador/v0/check_alive"];
        for (host, path) in paths.iter().map(|path| ("a.org", *path)).chain([("b.org", "/up/x")]) {
            for (method, headers) in ["GET", "POST", "OPTIONS"].iter().flat_map(|method| HEADERS.iter().map(move |headers| (*method, *headers))) {
                let mut made = request(method, host, path, port).expect("a request");
                headers.iter().for_each(|(name, value)| made.headers.add(name, value));
                if !all && !chance.percent(25) {
                    continue;
                }
                let said = gateway.simulate(&made);
                let Some(got) = envoy.ask(&made) else { continue };
                asked += 1;
                conditional += usize::from(!said.conditions.is_empty());
                let by = said.filters.iter().find(|of| of.verdict == "answers").map(|of| of.name.clone());
                *by_filters.entry(by.unwrap_or_default()).or_default() += 1;
                let adds = said.response_headers.iter().any(|change| change.name == OF_ROUTE);
                let has_header = got.headers.iter().any(|(name, _)| name == OF_ROUTE);
                if got.status.is_some() && said.conditions.is_empty() && adds != has_header {
                    differences.push(format!(
                        "{} {method} {host}{path} {headers:?}: header of the route {adds}, Envoy {has_header} ({:?})",
                        listener.message.name, got.status
                    ));
                }
                if !holds(&said, got.status) {
                    differences.push(format!(
                        "{} {method} {host}{path} {headers:?}: we say {:?} {:?} ({:?}), Envoy {:?}",
                        listener.message.name, said.status, said.conditions, said.why, got.status
                    ));
                }
            }
        }
    }
    println!("filters: {asked} requests, {conditional} conditional, {} differences; answered by {by_filters:?}", differences.len());
    differences.iter().take(60).for_each(|difference| println!("  {difference}"));
    assert!(differences.is_empty(), "{} of {asked} requests differ", differences.len());
    assert!(by_filters.len() >= 9 && conditional > 50, "each kind of filter answers some request: {by_filters:?}");
}
