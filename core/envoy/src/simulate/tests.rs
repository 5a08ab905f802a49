//! Simulated requests, compared with the results of Envoy 1.40.

use super::{Gateway, Outcome, Request, Simulation};
use crate::config::EnvoyConfig;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::compilation::Options;
use chancery_base::resource::Inputs;
use chancery_compile::compile;

const GATEWAY: &str = "
---
apiVersion: getambassador.io/v3alpha1
kind: Listener
metadata: {name: http}
spec: {port: 8080, protocol: HTTP, securityModel: INSECURE, hostBinding: {namespace: {from: ALL}}}
---
apiVersion: getambassador.io/v3alpha1
kind: Host
metadata: {name: one}
spec: {hostname: example.com, requestPolicy: {insecure: {action: Route}}}
---
apiVersion: getambassador.io/v3alpha1
kind: Host
metadata: {name: wild}
spec: {hostname: '*.example.com', requestPolicy: {insecure: {action: Route}}}
---
apiVersion: getambassador.io/v3alpha1
kind: Mapping
metadata: {name: new}
spec: {hostname: '*', prefix: /quote/, service: 'new:8080', headers: {x-version: '2'}, rewrite: /v2/, add_request_headers: {x-from: {value: gateway}}, timeout_ms: 4000}
---
apiVersion: getambassador.io/v3alpha1
kind: Mapping
metadata: {name: old}
spec: {hostname: '*', prefix: /quote/, service: old, host_rewrite: old.internal, remove_request_headers: [x-secret]}
---
apiVersion: getambassador.io/v3alpha1
kind: Mapping
metadata: {name: moved}
spec: {hostname: '*', prefix: /moved/, service: elsewhere.org, host_redirect: true, path_redirect: /there}
---
apiVersion: getambassador.io/v3alpha1
kind: Mapping
metadata: {name: numbers}
spec: {hostname: '*', prefix: '/n/[0-9]+', prefix_regex: true, regex_rewrite: {pattern: '/n/([0-9]+)', substitution: '/number/\\1'}, service: numbers}
";

fn ask(method: &str, url: &str, headers: &[(&str, &str)]) -> Simulation {
    ask_of(GATEWAY, method, url, headers)
}

fn ask_of(gateway: &str, method: &str, url: &str, headers: &[(&str, &str)]) -> Simulation {
    let inputs = Inputs::one("gateway.yaml", gateway);
    let compilation = compile(&inputs, &Options::default(), crate::testing::ALL);
    let config = EnvoyConfig::of(compilation.gateways().next().expect("a gateway").ir);
    let gateway = Gateway::new(&config);
    let mut request = Request::new(method, url).expect("a request");
    for (name, value) in headers {
        request.add_header(name, value);
    }
    let traced = gateway.simulate_tracing(&request);
    let quick = gateway.simulate(&request);
    let timeout = |of: &Simulation| (of.outcome, of.route.clone(), of.clusters.clone(), of.upstream.clone(), of.location.clone());
    assert_eq!(timeout(&traced), timeout(&quick), "the index changes nothing");
    traced
}

#[test]
fn removed_header_is_not_used_for_added_values() {
    let gateway = GATEWAY.replace(
        "remove_request_headers: [x-secret]",
        "remove_request_headers: [x-secret], add_request_headers: {x-copy: {value: '%REQ(x-secret)%'}, x-other: {value: '%REQ(x-user)%'}}",
    );
    let upstream = ask_of(&gateway, "GET", "http://shop.example.com/quote/", &[("x-secret", "s"), ("x-user", "u")]).upstream.expect("one");
    let added: Vec<_> = upstream.headers_added.iter().map(|change| change.name.as_str()).collect();
    assert_eq!((added, upstream.headers_removed), (Vec::from(["x-other"]), Vec::from(["x-secret".to_owned()])));
}

#[test]
fn rewritten_host_is_kept_in_a_header() {
    let kept = |gateway: &str| {
        let upstream = ask_of(gateway, "GET", "http://shop.example.com/quote/", &[]).upstream.expect("one");
        assert_eq!(upstream.authority, "old.internal");
        let of_envoy = upstream.headers_by_envoy.into_iter().filter(|change| change.name.starts_with("x-envoy-original"));
        of_envoy.map(|change| format!("{}: {}", change.name, change.value.unwrap_or_default())).collect::<Vec<_>>()
    };
    assert_eq!(kept(GATEWAY), ["x-envoy-original-host: shop.example.com", "x-envoy-original-path: /quote/"]);
    let module =
        "---\napiVersion: getambassador.io/v3alpha1\nkind: Module\nmetadata: {name: ambassador}\nspec: {config: {suppress_envoy_headers: true}}\n";
    assert_eq!(kept(&format!("{GATEWAY}{module}")), [""; 0]);
}

/// As Envoy 1.40 sent it.
#[test]
fn upstream_receives_its_timeout() {
    let timeout = |fields: &str| {
        let gateway = GATEWAY.replace("timeout_ms: 4000", fields);
        let upstream = ask_of(&gateway, "GET", "http://shop.example.com/quote/", &[("x-version", "2")]).upstream.expect("one");
        let header = upstream.headers_by_envoy.into_iter().find(|change| change.name == "x-envoy-expected-rq-timeout-ms");
        header.and_then(|change| change.value)
    };
    let retry = |timeout: &str| format!("timeout_ms: 4000, retry_policy: {{retry_on: 5xx, per_try_timeout: {timeout}}}");
    assert_eq!(timeout("timeout_ms: 4000").as_deref(), Some("4000"));
    assert_eq!(timeout("timeout_ms: 0"), None);
    assert_eq!(timeout(&retry("1s")).as_deref(), Some("1000"));
    assert_eq!(timeout(&retry("9s")).as_deref(), Some("4000"), "a try has no longer than all of them");
    assert_eq!(timeout(&retry("9s").replace("4000", "0")).as_deref(), Some("9000"));
    assert_eq!(timeout("timeout_ms: 4000, remove_request_headers: [X-Envoy-Expected-Rq-Timeout-Ms]"), None);
    assert_eq!(timeout("timeout_ms: 4000, add_request_headers: {x-envoy-expected-rq-timeout-ms: {append: false, value: '7'}}"), None);
}

fn cluster(simulation: &Simulation) -> String {
    simulation.clusters.iter().map(|of| of.name.clone()).collect::<Vec<_>>().join(", ")
}

#[test]
fn the_first_matching_route_forwards_a_request() {
    let new = ask("GET", "http://example.com/quote/x?y=1", &[("X-Version", "2")]);
    assert_eq!((new.outcome, cluster(&new).as_str()), (Outcome::Forward, "cluster_new_8080_default"));
    let upstream = new.upstream.expect("an upstream");
    assert_eq!((upstream.path.as_str(), upstream.authority.as_str()), ("/v2/x?y=1", "example.com"));
    assert_eq!(upstream.headers_added.iter().map(|of| of.name.as_str()).collect::<Vec<_>>(), ["x-from"]);
    assert_eq!(new.timeout.as_deref(), Some("4s"));
    assert_eq!(new.shadowed.len(), 1, "the other Mapping would take it too");

    let old = ask("GET", "http://example.com/quote/", &[("x-secret", "s")]);
    let upstream = old.upstream.as_ref().expect("an upstream");
    assert_eq!((upstream.path.as_str(), upstream.authority.as_str()), ("/", "old.internal"));
    assert_eq!(upstream.headers_removed, ["x-secret"]);
    let failed = old.tried.iter().rev().nth(1).and_then(|tried| tried.failed.clone()).expect("a matcher that failed");
    assert_eq!((failed.matcher.as_str(), failed.expected.as_str(), failed.seen), ("header x-version", "exact 2", None));
}

#[test]
fn hosts_are_found_by_name_then_by_suffix() {
    for (authority, host) in [
        ("example.com", Some("example.com")),
        ("EXAMPLE.com", Some("example.com")),
        ("a.b.example.com", Some("*.example.com")),
        ("example.com:8080", None),
        ("example.org", None),
    ] {
        let found = ask("GET", &format!("http://{authority}/quote/"), &[]);
        assert_eq!(found.host.and_then(|host| host.domain).as_deref(), host, "{authority}");
        assert_eq!(found.outcome == Outcome::NoVirtualHost, host.is_none());
    }
}

#[test]
fn redirects_say_their_target() {
    let moved = ask("GET", "http://example.com/moved/a?b", &[]);
    assert_eq!((moved.outcome, moved.status, moved.location.as_deref()), (Outcome::Redirect, Some(301), Some("http://elsewhere.org/there?b")));
}

#[test]
fn expressions_match_the_whole_path_and_rewrite_it() {
    let numbers = ask("GET", "http://example.com/n/42?x", &[]);
    assert_eq!(numbers.upstream.map(|of| of.path).as_deref(), Some("/number/42?x"));
    assert_eq!(ask("GET", "http://example.com/n/42x", &[]).outcome, Outcome::NoRoute);
}

#[test]
fn invalid_requests_are_answered() {
    assert_eq!(ask("FOO", "http://example.com/quote/", &[]).status, Some(400));
    assert_eq!(ask("GET", "http://example.com/a%00", &[]).status, Some(400));
    assert_eq!(ask("GET", "https://example.com:8080/quote/", &[]).outcome, Outcome::Reset);
    let mut request = Request::new("GET", "http://example.com/").expect("a request");
    request.port = Some(9999);
    let config = EnvoyConfig::default();
    assert_eq!(Gateway::new(&config).simulate(&request).outcome, Outcome::NoListener);
    for url in ["", "ftp://x/", "http://", "http://a b/", "http://a:x/", "http://a:99999/"] {
        assert!(Request::new("GET", url).is_err(), "{url}");
    }
}

#[test]
fn curl_commands_are_read() {
    let request = Request::from_curl("curl -sS -XPUT 'https://example.com:8443/a?b' \\\n -H 'X-A: b' --header=Y:z --data-raw '{}' -k --compressed")
        .expect("a request");
    assert_eq!((request.method.as_str(), request.authority.as_str(), request.path.as_str(), request.tls), ("PUT", "example.com:8443", "/a?b", true));
    assert_eq!((request.headers.first("x-a"), request.headers.first("y")), (Some("b"), Some("z")));
    assert_eq!(Request::from_curl("curl -d a=b example.com").map(|request| request.method), Ok("POST".to_string()));
    assert_eq!(Request::from_curl("curl -G -d a=b example.com/x").map(|request| request.path), Ok("/x?a=b".to_string()));
    assert!(Request::from_curl("curl -H").is_err());
    assert!(Request::from_curl("curl 'x").is_err());
}

#[test]
fn routes_are_found_by_host_and_path() {
    let compilation = compile(&Inputs::one("gateway.yaml", GATEWAY), &Options::default(), crate::testing::ALL);
    let config = EnvoyConfig::of(compilation.gateways().next().expect("a gateway").ir);
    let gateway = Gateway::new(&config);
    let written: Vec<_> = chancery_explain::routes(compilation.gateways().next().expect("a gateway")).filter(|row| !row.made_by.is_empty()).collect();
    let found = |host: Option<&str>, path: &str| {
        let places = gateway.routes_for(host, path);
        let rows = places.iter().filter_map(|place| written.iter().find(|row| row.pointer == *place));
        rows.map(|row| format!("{} {} {}", row.domains[0], row.path, row.conditions.join(" "))).collect::<Vec<_>>()
    };
    let one = ["example.com prefix /quote/ x-version is 2", "example.com prefix /quote/ "];
    assert_eq!(found(Some("example.com"), "/quote/7?a=b"), one, "the headers may hold");
    assert_eq!(found(None, "/n/12").len(), 2, "a regular expression, for both hosts");
    assert!(found(Some("www.example.com"), "/n/12").iter().all(|row| row.starts_with("*.example.com")));
    assert!(found(Some("example.com"), "/n/").is_empty() && found(Some("other.org"), "/quote/").is_empty());
}

#[test]
fn routes_that_chance_chooses_have_their_shares() {
    let mapping = |name: &str, more: &str| {
        let meta = format!("---\napiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {{name: {name}}}\n");
        format!("{meta}spec: {{hostname: '*', prefix: /cart/, service: {name}{more}}}\n")
    };
    let shares = |mappings: &[String]| {
        let timeout = ask_of(&(GATEWAY.to_owned() + &mappings.concat()), "GET", "http://example.com/cart/", &[]);
        timeout.shares.iter().map(|share| (share.percent, share.clusters.join(" "))).collect::<Vec<_>>()
    };
    let named = |percent: f64, cluster: &str| (percent, cluster.to_owned());
    let (tenth, rest) = (mapping("new", ", weight: 10"), mapping("old", ""));
    assert_eq!(shares(&[tenth.clone(), rest.clone()]), [named(10.0, "cluster_new_default"), named(90.0, "cluster_old_default")]);
    let both = shares(&[tenth.clone(), mapping("next", ", weight: 20")]);
    assert_eq!(both.iter().map(|(percent, _)| percent).sum::<f64>(), 100.0);
    assert_eq!(both.last(), Some(&named(70.0, "")), "no route matches the rest of the weights: {both:?}");
    assert_eq!(shares(&[rest]), [], "one route matches all");
}

#[test]
fn sidecar_accepts_cleartext_on_loopback() {
    let mesh = "Kind: proxy-defaults\nName: global\nConfig: {protocol: http}\n---\n\
                service: {name: web, port: 8080, connect: {sidecar_service: {proxy: {upstreams: [{destination_name: admin, local_bind_port: 9191}]}}}}\n---\n\
                service: {name: admin, port: 9090, connect: {sidecar_service: {}}}\n";
    let found = ask_of(mesh, "GET", "http://admin/", &[]);
    assert_eq!((found.listener.as_deref(), found.outcome), (Some("admin:127.0.0.1:9191"), Outcome::Forward), "{found:#?}");
}

#[test]
fn tls_passes_through_chains_without_http() {
    let passthrough = "
apiVersion: getambassador.io/v3alpha1
kind: Listener
metadata: {name: tcp}
spec: {port: 6443, protocol: TCP, securityModel: XFP, hostBinding: {namespace: {from: ALL}}}
---
apiVersion: getambassador.io/v3alpha1
kind: TCPMapping
metadata: {name: argo}
spec: {port: 6443, service: 'argocd:443'}
";
    let found = ask_of(passthrough, "GET", "https://argo.example.com:6443/", &[]);
    assert_eq!((found.outcome, cluster(&found).as_str()), (Outcome::Forward, "cluster_argocd_443_default"), "{found:#?}");
    let found = ask("GET", "https://example.com:8080/quote/", &[]);
    assert_eq!(found.outcome, Outcome::Reset, "a chain with HTTP reads the bytes: {found:#?}");
}

#[test]
fn connections_to_other_addresses_are_redirected() {
    let mesh = "service: {name: web, port: 8080, connect: {sidecar_service: {proxy: {mode: transparent}}}}\n";
    let compilation = compile(&Inputs::one("mesh.yaml", mesh), &Options::default(), crate::testing::ALL);
    let config = EnvoyConfig::of(compilation.gateways().next().expect("a gateway").ir);
    let mut request = Request::new("GET", "https://example.com/").expect("a request");
    request.destination = Some([93, 184, 216, 34].into());
    let found = Gateway::new(&config).simulate(&request);
    assert_eq!((found.outcome, cluster(&found).as_str()), (Outcome::Forward, "original-destination"), "{found:#?}");
}
