//! Tests that every part of Chancery has the same verdict on a request: the core that the page uses, `chancery route`, `chancery test` and kept
//! requests.

use crate::Folder;
use chancery_core::compilation::{Options, for_interactive_use};
use chancery_core::compile::{Compiler, EmittedByGateway};
use chancery_core::dialect;
use chancery_core::envoy_config::{ByPointer, EnvoyConfig};
use chancery_core::explain::{RequestTests, RequestVerdict, RunningGateway, overview, suggested_requests};
use chancery_core::resource::Inputs;
use chancery_core::simulate::{SavedRequest, WrittenRequest};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Returns the examples without options, by dialect.
fn examples() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../assets/examples");
    let mut out = Vec::new();
    for dialect in fs::read_dir(folder).expect("dialects").flatten().filter(|entry| entry.path().is_dir()) {
        for file in fs::read_dir(dialect.path()).expect("examples").flatten() {
            let text = fs::read_to_string(file.path()).expect("an example");
            if !text.contains("# Options:") {
                out.push((dialect.file_name().to_string_lossy().into_owned(), text));
            }
        }
    }
    out.sort();
    out
}

#[test]
fn every_view_has_the_same_verdict() {
    let (mut compared, mut dialects) = (0, BTreeSet::new());
    for (dialect, text) in examples() {
        let options = for_interactive_use(Options::default()).in_dialect(dialect.as_str());
        let compilation = Compiler::new(dialect::ALL).compile(&Inputs::one("input.yaml", text.as_str()), &options);
        let [gateway] = RunningGateway::all(&compilation)[..] else { continue };
        let positions = compilation.positions();
        let names = overview(&compilation, &positions);
        let config = match gateway {
            RunningGateway::Envoy(of) => EnvoyConfig::of(of.ir),
            RunningGateway::AppGateway(_) | RunningGateway::Nginx(_) => EnvoyConfig::default(),
        };
        let report = |written: &WrittenRequest| {
            let request = written.read().ok()?;
            Some(gateway.route(&positions, &request, &mut EmittedByGateway::default(), &names))
        };
        let verdict = |written: &WrittenRequest| Some(report(written)?.verdict().clone());
        let mut requests = suggested_requests(gateway, &ByPointer::of(&config), verdict);
        // A request that no rule matches.
        requests.push(WrittenRequest { url: "http://absent.example.net/nothing".into(), ..WrittenRequest::default() });
        let folder = Folder::with(&[("input.yaml", text.as_str())]);
        let mut kept = Vec::new();
        for written in requests.into_iter().filter(|written| written.headers.is_empty() && written.port.is_none()) {
            let report = report(&written).expect("a request");
            let RequestVerdict { sentence, good, .. } = report.verdict().clone();
            let url = written.url.clone();
            let method = if written.method.is_empty() { "GET" } else { written.method.as_str() };
            let json = folder.run(&["route", "--dialect", &dialect, "--format", "json", "--request", method, &url, "input.yaml"]);
            let told: serde_json::Value = serde_json::from_str(&json.out).unwrap_or_else(|error| panic!("{dialect} {url}: {error}: {}", json.err));
            assert_eq!(told["verdict"]["sentence"].as_str(), Some(sentence.as_str()), "{dialect} {url}");
            assert_eq!(told["verdict"]["good"].as_bool(), Some(good), "{dialect} {url}");
            let human = folder.run(&["route", "--dialect", &dialect, "--request", method, &url, "input.yaml"]).out;
            let line = human.lines().nth(1).unwrap_or_default();
            assert_eq!(line, format!("{} {sentence}", if good { "✓" } else { "✗" }), "{dialect} {url}");
            let saved = SavedRequest { request: written, expected: report.ending() };
            let judged = report.judge(&saved);
            assert!(judged.holds && judged.now == sentence, "{dialect} {url}: {judged:?}");
            // The fields of an exported test are those of an Envoy's report.
            if matches!(gateway, RunningGateway::Envoy(_)) {
                kept.push(saved);
            }
            compared += 1;
            dialects.insert(dialect.clone());
        }
        if kept.is_empty() {
            continue;
        }
        folder.write("requests.yaml", RequestTests::write(&kept).as_bytes());
        let run = folder.run(&["test", "--dialect", &dialect, "requests.yaml", "input.yaml"]);
        assert_eq!(run.code, 0, "{dialect}: {}{}", run.out, run.err);
    }
    assert!(compared >= 30, "{compared} requests are compared");
    assert!(dialects.len() >= 5, "{dialects:?}");
}

/// Returns the suggested requests of a gateway, each as its URL and its headers.
fn suggested(dialect: &str, options: Options, text: &str, id: &str) -> Vec<String> {
    let options = for_interactive_use(options).in_dialect(dialect);
    let compilation = Compiler::new(dialect::ALL).compile(&Inputs::one("input.yaml", text), &options);
    let gateways = RunningGateway::all(&compilation);
    let gateway = *gateways.iter().find(|of| of.named().id.as_str() == id).expect("the gateway");
    let RunningGateway::Envoy(of) = gateway else { panic!("an Envoy") };
    let (positions, config) = (compilation.positions(), EnvoyConfig::of(of.ir));
    let names = overview(&compilation, &positions);
    let verdict = |written: &WrittenRequest| {
        let request = written.read().ok()?;
        Some(gateway.route(&positions, &request, &mut EmittedByGateway::default(), &names).verdict().clone())
    };
    let described = |written: WrittenRequest| {
        let headers: String = written.headers.iter().map(|(name, value)| format!(" {name}: {value}")).collect();
        format!("{}{headers}", written.url)
    };
    suggested_requests(gateway, &ByPointer::of(&config), verdict).into_iter().map(described).collect()
}

#[test]
fn suggestion_uses_path_that_intentions_permit() {
    let text = include_str!("../../../assets/examples/consul/intentions.yaml");
    let options = Options::from_words("default-policy=deny", dialect::ALL).expect("options");
    assert_eq!(suggested("consul", options, text, "web-sidecar-proxy"), ["http://example.com/orders"]);
}

#[test]
fn suggestion_has_placeholder_for_required_token() {
    let text = include_str!("../../../assets/examples/envoy-gateway/policies.yaml");
    let suggested = suggested("envoy-gateway", Options::default(), text, "shop/eg");
    assert!(suggested.iter().any(|request| request.ends_with(" authorization: Bearer $TOKEN")), "{suggested:?}");
}

#[test]
fn verdict_names_the_share_that_is_denied() {
    let services = "Kind: proxy-defaults\nName: global\nConfig: {protocol: http}\n---\n\
                    Kind: service-splitter\nName: api\nSplits: [{Weight: 50}, {Weight: 50, Service: api-v2}]\n---\n\
                    service: {name: web, port: 8080, address: 10.0.0.1, connect: {sidecar_service: {proxy: {upstreams: \
                    [{destination_name: api, local_bind_port: 5000}]}}}}\n---\n\
                    service: {name: api, port: 9090, address: 10.0.0.2, connect: {sidecar_service: {}}}\n---\n\
                    service: {name: api-v2, port: 9090, address: 10.0.0.3, connect: {sidecar_service: {}}}\n---\n";
    let denial = |service: &str| format!("Kind: service-intentions\nName: {service}\nSources: [{{Name: web, Action: deny}}]\n");
    for (denied, verdict) in [
        (denial("api"), "✗ 50% api, 50% api-v2, but 50% of them fail: intention `api` denies `web` (403)"),
        (denial("api-v2"), "✗ 50% api, 50% api-v2, but 50% of them fail: intention `api-v2` denies `web` (403)"),
        (String::new(), "✓ 50% api, 50% api-v2"),
    ] {
        let folder = Folder::with(&[("input.yaml", &format!("{services}{denied}"))]);
        let run = folder.run(&["route", "--dialect", "consul", "http://localhost:5000/", "input.yaml"]);
        assert!(run.out.lines().any(|line| line.starts_with(verdict)), "{}{}", run.out, run.err);
    }
}

const LIMITED: &str = "
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: eg}
spec: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: eg, namespace: shop}
spec:
  gatewayClassName: eg
  listeners: [{name: http, protocol: HTTP, port: 80}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: cart, namespace: shop}
spec:
  parentRefs: [{name: eg}]
  rules: [{backendRefs: [{name: cart, port: 80}]}]
---
apiVersion: v1
kind: Service
metadata: {name: cart, namespace: shop}
spec: {ports: [{name: http, port: 80}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: cart-1, namespace: shop, labels: {kubernetes.io/service-name: cart}}
addressType: IPv4
ports: [{name: http, port: 80, protocol: TCP}]
endpoints: [{addresses: [10.0.0.1], conditions: {ready: true}}]
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: BackendTrafficPolicy
metadata: {name: limit, namespace: shop}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: cart}]
  rateLimit:
    local:
      rules:
";

#[test]
fn local_limits_count_for_what_their_descriptors_distinguish() {
    let limit = |selector: &str, header: &[&str]| {
        let rule = format!("      - clientSelectors: [{selector}]\n        limit: {{requests: 100, unit: Second}}\n");
        let folder = Folder::with(&[("input.yaml", &format!("{LIMITED}{rule}"))]);
        let run = folder.run(&[&["route", "--dialect", "envoy-gateway", "http://shop.example.com/", "input.yaml"], header].concat());
        run.out.lines().nth(1).unwrap_or_default().to_owned()
    };
    let each = "✓ cart:80, if the limit is not exceeded: 100 requests at once, 100 more every 1s";
    let bob = ["-H", "x-user: bob"];
    assert_eq!(limit("{sourceCIDR: {value: 0.0.0.0/0, type: Distinct}}", &[]), format!("{each} for each client address"));
    assert_eq!(limit("{headers: [{name: x-user, type: Distinct}]}", &bob), format!("{each} for each value of `x-user`"));
    assert_eq!(limit("{headers: [{name: x-user, value: bob}]}", &bob), each);
    assert_eq!(limit("{headers: [{name: x-user, value: bob}]}", &["-H", "x-user: eve"]), "✓ cart:80");
    assert_eq!(limit("{headers: [{name: x-user, type: Distinct}]}", &[]), "✓ cart:80");
}
