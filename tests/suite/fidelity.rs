//! Checks rules of Contour that are hard to see in its own tests, each with the smallest input that shows the rule.

use chancery_core::backend::envoy::Document;
use chancery_core::check::check;
use chancery_core::diagnostic::Policy;
use chancery_core::executor::Sequential;
use chancery_tests::fixture::CLUSTER;
use chancery_tests::work::{Work, inputs, options};
use serde_json::Value;

fn work(text: &str, words: &str) -> Work {
    Work::new(&inputs([("input.yaml", text)]), &options(&format!("dialect=contour {words}")).expect("options"))
}

fn resources(text: &str, words: &str) -> Value {
    serde_json::from_str(&work(text, words).text(Document::Resources)).expect("resources")
}

fn named<'v>(all: &'v Value, key: &str, name: &str) -> &'v Value {
    let items = all.as_array().expect("a list");
    items.iter().find(|item| item[key].as_str().is_some_and(|own| own.starts_with(name))).unwrap_or_else(|| panic!("no {name} in {all:#}"))
}

fn service(name: &str) -> String {
    format!(
        "---\napiVersion: v1\nkind: Service\nmetadata: {{name: {name}}}\nspec: {{ports: [{{port: 80}}]}}\n---\napiVersion: discovery.k8s.io/v1\n\
         kind: EndpointSlice\nmetadata: {{name: {name}, labels: {{kubernetes.io/service-name: {name}}}}}\naddressType: IPv4\n\
         endpoints: [{{addresses: [10.0.0.1]}}]\nports: [{{port: 8080}}]\n"
    )
}

#[test]
fn gateway_api_endpoints_have_backend_weight() {
    let text = "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: web}\nspec:\n  parentRefs: [{name: edge}]\n  rules:\n  - backendRefs:\n    - {name: one, port: 80, weight: 7}\n    - {name: two, port: 80, weight: 0}\n    - {name: three, port: 80}\n";
    let text = format!("{text}{}{}{}", service("one"), service("two"), service("three"));
    let endpoints = resources(&text, "missing=auto")["endpoints"].clone();
    let weight = |name: &str| named(&endpoints, "cluster_name", name)["endpoints"][0]["load_balancing_weight"].as_u64();
    assert_eq!(weight("default/one"), Some(7));
    assert_eq!(weight("default/two"), Some(1), "nothing but one Service has the load of a cluster");
    assert_eq!(weight("default/three"), Some(1));
}

#[test]
fn extension_service_cluster_has_client_certificate() {
    let text = "apiVersion: projectcontour.io/v1alpha1\nkind: ContourConfiguration\nmetadata: {name: contour, namespace: projectcontour}\nspec: {envoy: {clientCertificate: {name: client, namespace: projectcontour}}}\n---\napiVersion: projectcontour.io/v1alpha1\nkind: ExtensionService\nmetadata: {name: auth}\nspec: {services: [{name: one, port: 80}]}\n";
    let words = "missing=assume controller-arg=--contour-config-name=contour";
    let text = format!("{text}{}", service("one"));
    let certificates = |all: &Value, name: &str| {
        let cluster = named(&all["clusters"], "name", name).clone();
        cluster["transport_socket"]["typed_config"]["common_tls_context"]["tls_certificate_sds_secret_configs"].as_array().map_or(0, Vec::len)
    };
    let alone = resources(&text, words);
    assert_eq!(certificates(&alone, "extension/default/auth"), 1);
    assert_eq!(alone["secrets"].as_array().map_or(0, Vec::len), 0, "Contour serves the certificates of routes' clusters alone: {alone:#}");
    assert!(work(&text, words).findings().iter().any(|finding| finding.message.contains("client certificate")));
    let proxy = "---\napiVersion: projectcontour.io/v1\nkind: HTTPProxy\nmetadata: {name: web}\nspec: {virtualhost: {fqdn: a.test}, routes: [{services: [{name: one, port: 80}]}]}\n";
    let beside = resources(&format!("{text}{proxy}"), words);
    assert_eq!(certificates(&beside, "extension/default/auth"), 1);
    assert_eq!(beside["secrets"].as_array().map_or(0, Vec::len), 1);
}

#[test]
fn unknown_enum_value_equals_absent_value() {
    let file = |word: &str| {
        let text = format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: contour, namespace: projectcontour}}\ndata:\n  contour.yaml: |\n    serverHeaderTransformation: {word}\n"
        );
        let work = work(&text, "controller-arg=--config-path=/config/contour.yaml");
        let configuration = work.compilation.sides[0].answers.configuration_document().expect("a configuration");
        let spec = chancery_core::text::to_json(&configuration, false);
        serde_json::from_str::<Value>(&spec).expect("JSON")["effective"]["envoy"]["listener"]["serverHeaderTransformation"].clone()
    };
    assert_eq!(file("pass_through"), "pass_through");
    assert_eq!(file("passthrough"), "overwrite");
}

#[test]
fn refusal_of_cluster_scoped_object_omits_namespace() {
    let text = "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: edge}\nspec: {controllerName: absent}\n---\napiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: edge}\nspec: {gatewayClassName: edge, listeners: []}\n";
    let refused = work(text, "").compilation.sides[0].answers.admission_document().expect("refusals");
    let refused: Value = serde_json::from_str(&chancery_core::text::to_json(&refused, false)).expect("JSON");
    assert_eq!(named(&refused, "kind", "GatewayClass").get("namespace"), None, "{refused:#}");
    assert_eq!(
        refused.as_array().and_then(|all| all.iter().find(|one| one["kind"] == "Gateway")).map(|one| one["namespace"].clone()),
        Some("default".into())
    );
}

#[test]
fn invalid_regex_status_has_go_message() {
    let text = "apiVersion: projectcontour.io/v1\nkind: HTTPProxy\nmetadata: {name: web}\nspec:\n  virtualhost: {fqdn: a.test}\n  routes:\n  - conditions: [{regex: '/[a'}]\n    services: [{name: one, port: 80}]\n";
    let status = work(&format!("{text}{}", service("one")), "").compilation.sides[0].answers.status_document().expect("statuses");
    let status = chancery_core::text::to_json(&status, false);
    assert!(status.contains("error parsing regexp: missing closing ]: `[a`"), "{status}");
}

#[test]
fn reference_grant_of_used_reference_is_used() {
    let proxy = "---\napiVersion: projectcontour.io/v1\nkind: HTTPProxy\nmetadata: {name: web, namespace: shop}\nspec: {virtualhost: {fqdn: a.test, tls: {secretName: default/cert}}, routes: [{services: [{name: one, port: 80}]}]}\n";
    let delegation = |name: &str, of: &str| {
        format!(
            "---\napiVersion: projectcontour.io/v1\nkind: TLSCertificateDelegation\nmetadata: {{name: {name}, namespace: default}}\nspec: {{delegations: [{{secretName: {of}, targetNamespaces: [shop]}}]}}\n"
        )
    };
    let service = service("one").replace("metadata: {", "metadata: {namespace: shop, ");
    let text = format!("{CLUSTER}{proxy}{}{}{service}", delegation("used", "cert"), delegation("idle", "another"));
    let work = work(&text, "");
    let state = |name: &str| work.ledger().into_iter().find(|row| *row.resource.name == *name).map(|row| row.state);
    assert_eq!((state("used"), state("idle")), (Some("emitted"), Some("ignored")), "{:#?}", work.ledger());
}

#[test]
fn ingress_certificate_namespace_comes_from_annotation() {
    let ingress = "---\napiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: web, namespace: shop, annotations: {projectcontour.io/tls-cert-namespace: default}}\nspec:\n  tls: [{hosts: [a.test], secretName: cert}]\n  rules: [{host: a.test, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: one, port: {number: 80}}}}]}}]\n";
    let delegation = "---\napiVersion: projectcontour.io/v1\nkind: TLSCertificateDelegation\nmetadata: {name: used, namespace: default}\nspec: {delegations: [{secretName: cert, targetNamespaces: [shop]}]}\n";
    let service = service("one").replace("metadata: {", "metadata: {namespace: shop, ");
    let mut work = work(&format!("{CLUSTER}{ingress}{delegation}{service}"), "");
    let state = |name: &str| work.ledger().into_iter().find(|row| *row.resource.name == *name).map(|row| row.state);
    assert_eq!((state("used"), state("cert")), (Some("emitted"), Some("emitted")), "{:#?}", work.ledger());
    check(&mut work.compilation, &Policy::default(), &mut work.compiler.emitted, &Sequential);
    let codes: Vec<_> = work.findings().into_iter().map(|finding| finding.code).collect();
    assert!(!codes.contains(&"dangling-reference"), "{codes:?}");
}
