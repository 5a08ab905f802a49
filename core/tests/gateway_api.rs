//! Checks Gateway API as Contour reads it: the conditions of routes, and which route wins.

use chancery_core::Ir;
use chancery_core::compilation::{Compilation, OptionValue, Options};
use chancery_core::compile::compile;
use chancery_core::dialect::contour;
use chancery_core::resource::Inputs;
use chancery_core::text::to_json;

const GATEWAY: &str = "
apiVersion: projectcontour.io/v1alpha1
kind: ContourConfiguration
metadata: {name: contour, namespace: projectcontour}
spec: {gateway: {gatewayRef: {name: edge, namespace: default}}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: contour}
spec: {controllerName: projectcontour.io/gateway-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: default}
spec:
  gatewayClassName: contour
  listeners:
  - {name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: default}
spec: {ports: [{name: http, port: 80}]}
";

/// Compiles objects together with the Gateway.
fn with_gateway(objects: &[String]) -> Compilation {
    let text = format!("{GATEWAY}---\n{}", objects.join("---\n"));
    let flags = OptionValue::List(vec!["--contour-config-name=contour".into()]);
    compile(&Inputs::one("input.yaml", text), &Options::default().with("controller-arg", flags), &[&contour::DIALECT])
}

/// Returns a route of `kind` with this `metadata` and these fields of its spec.
fn route(kind: &str, metadata: &str, spec: &str) -> String {
    let version = if matches!(kind, "TLSRoute" | "TCPRoute") { "v1alpha2" } else { "v1" };
    format!(
        "apiVersion: gateway.networking.k8s.io/{version}\nkind: {kind}\nmetadata: {{{metadata}}}\nspec:\n  \
         parentRefs: [{{name: edge, namespace: default}}]\n{spec}\n"
    )
}

const TO_WEB: &str = "  rules: [{backendRefs: [{name: web, port: 80}]}]";

/// Returns the conditions of an object as `TYPE=STATUS REASON`, in their order.
fn conditions(compilation: &Compilation, kind: &str, name: &str) -> Vec<String> {
    let status = compilation.sides[0].answers.status_document().expect("statuses");
    let statuses: serde_json::Value = serde_json::from_str(&to_json(&status, false)).expect("JSON");
    let items = statuses.as_array().expect("a list");
    let object = items.iter().find(|item| item["kind"] == kind && item["name"] == name);
    let parents = object.into_iter().flat_map(|item| item["status"]["parents"].as_array().expect("parents"));
    let conditions = parents.flat_map(|parent| parent["conditions"].as_array().expect("conditions"));
    let text = |value: &serde_json::Value| value.as_str().expect("a string").to_string();
    conditions.map(|of| format!("{}={} {}", text(&of["type"]), text(&of["status"]), text(&of["reason"]))).collect()
}

/// Returns the IR of the only gateway.
fn only(compilation: &Compilation) -> &Ir {
    compilation.gateways().next().expect("a gateway").ir
}

fn codes(compilation: &Compilation) -> Vec<&str> {
    compilation.all_diagnostics().map(|finding| finding.code.name).collect()
}

#[test]
fn route_is_accepted_by_named_gateway() {
    let compilation = with_gateway(&[route("HTTPRoute", "name: web, namespace: default", TO_WEB)]);
    assert_eq!(conditions(&compilation, "HTTPRoute", "web"), ["Accepted=True Accepted", "ResolvedRefs=True ResolvedRefs"]);
    assert!(only(&compilation).listeners.iter().any(|listener| listener.name.value == "http-80" && listener.address.port.value == 8080));
}

#[test]
fn older_of_two_equal_routes_wins() {
    let older = "name: b, namespace: default, creationTimestamp: \"2024-01-01T00:00:00Z\"";
    let newer = "name: a, namespace: default, creationTimestamp: \"2025-01-01T00:00:00Z\"";
    let compilation = with_gateway(&[route("HTTPRoute", newer, TO_WEB), route("HTTPRoute", older, TO_WEB)]);
    assert_eq!(conditions(&compilation, "HTTPRoute", "b")[0], "Accepted=True Accepted");
    assert_eq!(conditions(&compilation, "HTTPRoute", "a")[0], "Accepted=False RuleMatchConflict");
    assert_eq!(codes(&compilation), ["route-conflict"]);
}

#[test]
fn route_with_some_winning_rules_is_partially_invalid() {
    let both = "  rules:\n  - {matches: [{path: {value: /mine}}], backendRefs: [{name: web, port: 80}]}\n  - backendRefs: [{name: web, port: 80}]";
    let metadata = |name: &str| format!("name: {name}, namespace: default");
    let compilation = with_gateway(&[route("HTTPRoute", &metadata("a"), TO_WEB), route("HTTPRoute", &metadata("b"), both)]);
    let said = conditions(&compilation, "HTTPRoute", "b");
    assert_eq!(said, ["Accepted=True Accepted", "PartiallyInvalid=True RuleMatchPartiallyConflict", "ResolvedRefs=True ResolvedRefs"]);
}

#[test]
fn grpc_route_without_rules_has_no_conflict() {
    let compilation = with_gateway(&[route("GRPCRoute", "name: g, namespace: default", "  rules: []")]);
    assert_eq!(conditions(&compilation, "GRPCRoute", "g")[0], "Accepted=False RuleMatchConflict");
}

#[test]
fn shared_route_name_reports_status_of_last_kind() {
    let metadata = "name: web, namespace: default";
    let compilation = with_gateway(&[route("HTTPRoute", metadata, TO_WEB), route("TCPRoute", metadata, TO_WEB)]);
    assert!(conditions(&compilation, "HTTPRoute", "web").is_empty());
    assert_eq!(conditions(&compilation, "TCPRoute", "web")[0], "Accepted=False NotAllowedByListeners");
}

#[test]
fn misspelt_service_gets_name_suggestion() {
    let spec = "  rules: [{backendRefs: [{name: wbe, port: 80}]}]";
    let compilation = with_gateway(&[route("HTTPRoute", "name: web, namespace: default", spec)]);
    assert_eq!(conditions(&compilation, "HTTPRoute", "web"), ["Accepted=True Accepted", "ResolvedRefs=False BackendNotFound"]);
    let finding = compilation.all_diagnostics().next().expect("a finding");
    assert_eq!(finding.code.name, "unresolved-service");
    assert_eq!(finding.fix.as_ref().map(|fix| fix.edits[0].replacement.as_str()), Some("web"));
}

#[test]
fn listeners_of_another_gateway_are_left_alone() {
    let other = route("HTTPRoute", "name: web, namespace: default", TO_WEB).replace("name: edge", "name: other");
    let compilation = with_gateway(&[other]);
    assert!(conditions(&compilation, "HTTPRoute", "web").is_empty());
    let object = compilation.objects.iter().find(|object| object.key.kind == "HTTPRoute").expect("the route");
    assert_eq!(compilation.sides[0].ledger.get(object.id).name(), "ignored");
}
