//! Tests the differences between versions on small inputs.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::compilation::{Compilation, OptionValue, Options};
use chancery_base::diagnostic::Severity;
use chancery_base::ir::Tree;
use chancery_base::resource::Inputs;
use chancery_compile::Compiler;

const GATEWAY: &str = "apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: eg}
spec: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: eg, namespace: shop}
spec:
  gatewayClassName: eg
  listeners: [{name: one, protocol: HTTP, port: 8080}, {name: two, protocol: HTTP, port: 8081}]
";

fn compiled(version: &str, more: &str) -> Compilation {
    let options = Options::default().with("controller-version", OptionValue::Text(version.into()));
    let options = options.with("missing", OptionValue::Text("assume".into()));
    Compiler::new(&[&crate::DIALECT]).compile(&Inputs::one("a.yaml", format!("{GATEWAY}---\n{more}")), &options)
}

/// The resources of the first Envoy, as JSON.
fn xds(version: &str, more: &str) -> String {
    let compilation = compiled(version, more);
    let ir = compilation.gateways().next().expect("a gateway").ir.clone();
    let all = &ir.delivery.verbatim;
    let lists = [&all.listeners, &all.routes, &all.clusters];
    lists.into_iter().flatten().map(|tree| Tree::json(tree)).collect::<Vec<_>>().join("\n")
}

fn errors(version: &str, more: &str) -> Vec<String> {
    let compilation = compiled(version, more);
    compilation.all_diagnostics().filter(|finding| finding.severity == Severity::Error).map(|finding| finding.message.to_string()).collect()
}

const POLICY: &str = "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: ";

fn policy(kind: &str, target: &str, spec: &str) -> String {
    let target = format!("[{{group: gateway.networking.k8s.io, kind: {target}}}]");
    format!("{POLICY}{kind}\nmetadata: {{name: p, namespace: shop}}\nspec:\n  targetRefs: {target}\n  {spec}\n")
}

#[test]
fn old_redirect_keeps_first_port() {
    let route = "apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: moved, namespace: shop}
spec:
  parentRefs: [{name: eg}]
  rules: [{filters: [{type: RequestRedirect, requestRedirect: {hostname: new.example.com}}]}]
";
    let ports = |version: &str| {
        let text = xds(version, route);
        (text.matches("\"port_redirect\":8080").count(), text.matches("\"port_redirect\":8081").count())
    };
    assert_eq!(ports("1.9"), (1, 1));
    assert_eq!(ports("1.8"), (2, 0));
}

#[test]
fn old_hash_chooses_no_weighted_cluster() {
    let modifier = "filters: [{type: RequestHeaderModifier, requestHeaderModifier: {remove: [x]}}]";
    let route = format!(
        "apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {{name: shop, namespace: shop}}
spec:
  parentRefs: [{{name: eg}}]
  rules: [{{backendRefs: [{{name: a, port: 80, {modifier}}}, {{name: b, port: 80}}]}}]
---
{}",
        policy("BackendTrafficPolicy", "HTTPRoute, name: shop", "loadBalancer: {type: ConsistentHash, consistentHash: {type: SourceIP}}")
    );
    assert!(xds("1.9", &route).contains("\"use_hash_policy\":true"));
    let old = xds("1.8", &route);
    assert!(!old.contains("use_hash_policy") && old.contains("\"hash_policy\""), "{old}");
}

#[test]
fn new_field_is_dropped_before_it_exists() {
    let csrf = policy("SecurityPolicy", "Gateway, name: eg", "csrf: {additionalOrigins: ['https://a.example.com']}");
    assert!(compiled("1.9", &csrf).all_diagnostics().all(|finding| finding.code.name != "unknown-field"));
    let old = compiled("1.8", &csrf);
    let messages: Vec<&str> = old.all_diagnostics().filter(|of| of.code.name == "unknown-field").map(|of| of.message.as_str()).collect();
    assert_eq!(messages, ["Envoy Gateway 1.8 has no `spec.csrf`, which version 1.9 added; it is dropped"]);
}

#[test]
fn versions_refuse_different_objects() {
    let detection = policy("ClientTrafficPolicy", "Gateway, name: eg", "clientIPDetection: {}");
    assert_eq!((errors("1.8", &detection).len(), errors("1.9", &detection).len()), (0, 1));
    let merge = policy("BackendTrafficPolicy", "Gateway, name: eg", "mergeType: StrategicMerge");
    assert_eq!((errors("1.8", &merge).len(), errors("1.9", &merge).len()), (0, 1));
    let week = policy(
        "BackendTrafficPolicy",
        "Gateway, name: eg",
        "rateLimit: {type: Local, local: {rules: [{limit: {requests: 1, unit: Second}}, {limit: {requests: 9, unit: Week}, clientSelectors: [{headers: [{name: a, value: b}]}]}]}}",
    );
    assert_eq!((errors("1.8", &week).len(), errors("1.9", &week).len()), (1, 0));
}

#[test]
fn old_version_refuses_tcp_route_v1() {
    let route = "apiVersion: gateway.networking.k8s.io/v1
kind: TCPRoute
metadata: {name: t, namespace: shop}
spec: {parentRefs: [{name: eg}], rules: [{backendRefs: [{name: a, port: 80}]}]}
";
    assert!(errors("1.8", route).iter().any(|message| message.contains("Gateway API 1.5.1")), "{:?}", errors("1.8", route));
    assert!(errors("1.9", route).iter().all(|message| !message.contains("Gateway API 1.5.1")));
}
