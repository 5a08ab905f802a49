//! Checks that Envoy Gateway gives the same with kept HTTPRoutes as without, and that it keeps them.

use super::edits::{edit_lines, split};
use super::{hold, rounds};
use chancery_core::compilation::Compilation;
use chancery_core::compile::Compiler;
use chancery_core::dialect;
use chancery_core::explain::dump_with_origins;
use chancery_core::text::to_json;
use chancery_tests::generate::gateway_routes;
use chancery_tests::work::{inputs, options};
use std::sync::Arc;

#[test]
fn memories_change_nothing_of_any_feature() {
    super::memories_change_nothing_of_any_feature("envoy-gateway");
}

/// Policies for the routes of `gateway_routes`: of a route, of the Gateway, merged, with a separate Service, and for TLS to a backend.
const POLICIES: &str = "\
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: BackendTrafficPolicy
metadata: {name: route, namespace: default}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: item-1}]
  timeout: {http: {requestTimeout: 14s}}
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: BackendTrafficPolicy
metadata: {name: web, namespace: default}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: web}]
  retry: {numRetries: 3}
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: BackendTrafficPolicy
metadata: {name: merged, namespace: default}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: item-2}]
  mergeType: StrategicMerge
  timeout: {http: {requestTimeout: 7s}}
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: SecurityPolicy
metadata: {name: authorized, namespace: default}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: item-3}]
  extAuth:
    http:
      backendRefs: [{name: item-4, port: 80}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: BackendTLSPolicy
metadata: {name: tls, namespace: default}
spec:
  targetRefs: [{group: '', kind: Service, name: item-5}]
  validation: {hostname: item-5.example.com, wellKnownCACertificates: System}
";

#[test]
fn memories_change_nothing_of_routes() {
    let options = options("dialect=envoy-gateway").expect("options");
    for seed in 0..rounds(6) {
        let mut before = split(&gateway_routes(8, seed).concat());
        before.extend(split(POLICIES));
        hold(seed, 25, before.clone(), &options, |documents, chance| edit_lines(documents, &before, chance));
    }
}

/// Compiles the steps with one memory; each must equal a compile from scratch.
fn hold_steps(steps: &[&str]) {
    let options = options("dialect=envoy-gateway").expect("options");
    let mut compiler = Compiler::new(dialect::ALL);
    for (at, text) in steps.iter().enumerate() {
        let inputs = inputs([("in.yaml", *text)]);
        let known = compiler.compile(&inputs, &options);
        let fresh = Compiler::new(dialect::ALL).compile(&inputs, &options);
        let dumps = |of: &Compilation| of.gateways().map(|gateway| to_json(&dump_with_origins(gateway, &of.positions()), false)).collect::<Vec<_>>();
        assert_eq!(dumps(&known), dumps(&fresh), "step {at}");
        let statuses = |of: &Compilation| of.sides[0].answers.status_document().map(|document| to_json(&document, false));
        assert_eq!(statuses(&known), statuses(&fresh), "statuses of step {at}");
    }
}

const GATEWAY: &str = "\
---
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: eg}
spec: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: web, namespace: default}
spec: {gatewayClassName: eg, listeners: [{name: http, protocol: HTTP, port: 80}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: s-1, namespace: default, labels: {kubernetes.io/service-name: s}}
addressType: IPv4
ports: [{name: http, port: 8080, protocol: TCP}, {name: https, port: 8443, protocol: TCP}]
endpoints: [{addresses: [10.0.0.1], conditions: {ready: true}}]
---
apiVersion: v1
kind: Service
metadata: {name: s, namespace: default}
spec: {clusterIP: 10.96.0.1, ports: [{name: http, port: 80, targetPort: 8080}]}
";

fn http_route(name: &str, host: &str, path: &str) -> String {
    let hosts = if host.is_empty() { String::new() } else { format!("  hostnames: [{host}]\n") };
    format!(
        "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: {name}, namespace: default}}\nspec:\n  parentRefs: [{{name: \
         web}}]\n{hosts}  rules:\n  - matches: [{{path: {{type: PathPrefix, value: {path}}}}}]\n    backendRefs: [{{name: s, port: 80}}]\n"
    )
}

#[test]
fn route_with_new_tls_is_not_kept() {
    const POLICY: &str = "---\napiVersion: gateway.networking.k8s.io/v1\nkind: BackendTLSPolicy\nmetadata: {name: tls, namespace: default}\n\
                          spec: {targetRefs: [{group: '', kind: Service, name: s, sectionName: https}], validation: {hostname: s.example.com, \
                          wellKnownCACertificates: System}}\n";
    let text = |path: &str| [GATEWAY, POLICY, &http_route("a", "a.example.com", "/a"), &http_route("b", "b.example.com", path)].concat();
    let (plain, edited) = (text("/b"), text("/c"));
    let renamed = |text: &str| text.replace("ports: [{name: http, port: 80,", "ports: [{name: https, port: 80,");
    hold_steps(&[&plain, &renamed(&plain), &renamed(&edited), &edited]);
}

#[test]
fn shadowed_route_is_not_kept() {
    let route = http_route("a", "a.example.com", "/a");
    let (once, twice) = ([GATEWAY, &route].concat(), [GATEWAY, &route, &http_route("a", "a.example.com", "/other")].concat());
    let moved = |text: &str| text.replace("10.0.0.1", "10.0.0.2");
    hold_steps(&[&once, &twice, &moved(&twice), &moved(&once)]);
}

#[test]
fn default_host_of_another_route_is_not_kept() {
    const POLICY: &str = "---\napiVersion: gateway.envoyproxy.io/v1alpha1\nkind: ClientTrafficPolicy\nmetadata: {name: old, namespace: default}\n\
                          spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: web}], http1: {http10: {useDefaultHost: true}}}\n";
    let text = |host: &str| [GATEWAY, POLICY, &http_route("a", host, "/a"), &http_route("b", "", "/b")].concat();
    hold_steps(&[&text("a.example.com"), &text("b.example.com"), &text("a.example.com")]);
}

#[test]
fn edit_rebuilds_only_affected_clusters() {
    let documents = split(&gateway_routes(40, 7).concat());
    let options = options("dialect=envoy-gateway").expect("options");
    let compile = |compiler: &mut Compiler, documents: &[String]| compiler.compile(&inputs([("in.yaml", documents.concat().as_str())]), &options);
    let mut compiler = Compiler::new(dialect::ALL);
    let mut known = compile(&mut compiler, &documents);
    let find = |kind: &str, name: &str| {
        let is_meant = |document: &String| document.contains(&format!("kind: {kind}\nmetadata: {{{name}"));
        documents.iter().position(is_meant).expect("a document")
    };
    // The clusters of the route, or of the routes that share the Service.
    let users = documents.iter().filter(|document| document.contains("kind: HTTPRoute") && document.contains("{name: item-7,")).count();
    let edits = [
        (find("HTTPRoute", "name: item-7,"), "/item/7", "/item/x", 1),
        (find("EndpointSlice", "name: item-7-1,"), "port: 8080", "port: 8081", users),
        (find("Service", "name: item-7,"), "name: http, port: 80", "appProtocol: kubernetes.io/h2c, name: http, port: 80", users),
        (find("Gateway", "name: web,"), "port: 80", "port: 81", 40),
    ];
    for (at, from, to, expected) in edits {
        let mut edited = documents.clone();
        edited[at] = edited[at].replacen(from, to, 1);
        assert_ne!(edited[at], documents[at]);
        let now = compile(&mut compiler, &edited);
        let clusters = |of: &Compilation| of.gateways().flat_map(|gateway| gateway.ir.delivery.verbatim.clusters.clone()).collect::<Vec<_>>();
        let rebuilt = clusters(&known).iter().zip(&clusters(&now)).filter(|(before, now)| !Arc::ptr_eq(before, now)).count();
        assert_eq!(rebuilt, expected, "{}", edited[at]);
        known = compile(&mut compiler, &documents);
    }
}
