//! Checks inputs that are a part of a configuration: missing resources may exist elsewhere, so their absence is not an error.

use crate::missing::{FRAGMENT, assumed, compiled, messages, of};
use chancery_core::check::check;
use chancery_core::diagnostic::Policy;
use chancery_core::executor::Sequential;

#[test]
fn assumed_gateway_listens_for_its_routes() {
    let route = "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: api, namespace: shop}\n\
                 spec: {parentRefs: [{name: contour}], hostnames: [api.example.com], rules: [{backendRefs: [{name: api, port: 80}]}]}\n";
    let mut work = compiled(&format!("{FRAGMENT}{route}"), "missing=auto");
    assert_eq!(work.errors(), Vec::<String>::new());
    let envoy = work.envoy().to_string();
    assert!(envoy.contains("shop.example.com") && envoy.contains("api.example.com"), "{envoy}");
}

/// Returns the assumed resources of a Consul input, and its errors.
fn of_mesh(text: &str) -> (Vec<String>, Vec<String>) {
    let work = of("consul", text, "missing=auto");
    (work.errors(), assumed(&work))
}

#[test]
fn consul_entries_without_services_assume_them() {
    let none = Vec::<String>::new();
    let says = |told: &[String], start: &str| assert_eq!(told.iter().filter(|message| message.starts_with(start)).count(), 1, "{start}: {told:#?}");
    let router = "Kind: service-router\nName: web\nRoutes: [{Destination: {ServiceSubset: canary}}]\n";
    let (errors, told) = of_mesh(router);
    assert_eq!(errors, none);
    says(&told, "no service-resolver `web`");
    let other = format!("{router}---\nKind: service-resolver\nName: api\nSubsets: {{v1: {{}}}}\n");
    assert_eq!(of_mesh(&other).0.len(), 1, "beside another resolver it is missing");

    let (errors, told) = of_mesh("Kind: service-defaults\nName: web\nMutualTLSMode: permissive\n");
    assert_eq!(errors, none);
    says(&told, "no mesh entry");
    assert_eq!(of_mesh("Kind: service-defaults\nName: web\nMutualTLSMode: permissive\n---\nKind: mesh\n").0.len(), 1);

    let intentions = "Kind: service-intentions\nName: ui\nSources: [{Name: web, Permissions: [{Action: allow, HTTP: {PathPrefix: /}}]}]\n";
    let with = |defaults: &str| of_mesh(&format!("{defaults}---\n{intentions}"));
    let (errors, told) = with("Kind: service-defaults\nName: kong\nProtocol: http\n");
    assert_eq!(errors, none);
    says(&told, "no service-defaults `ui`");
    for fact in [
        "Kind: service-defaults\nName: ui\nMaxInboundConnections: 10\n",
        "Kind: service-defaults\nName: ui\nProtocol: tcp\n",
        "Kind: proxy-defaults\nName: global\nConfig: {protocol: tcp}\n",
    ] {
        assert_eq!(with(fact).0.len(), 1, "{fact}");
    }

    let (errors, told) = of_mesh("Kind: service-defaults\nName: web\nUpstreamConfig: {Overrides: [{Name: api, ConnectTimeoutMs: 10}]}\n");
    assert_eq!(errors, none);
    says(&told, "the service `api`");
}

#[test]
fn consul_proxy_defaults_apply_to_assumed_client() {
    let mut work = of("consul", "Kind: proxy-defaults\nName: global\nConfig: {protocol: http}\n", "missing=auto");
    assert!(assumed(&work).iter().any(|message| message.contains("the service `client` is assumed")), "{:#?}", messages(&work));
    assert!(work.text(chancery_core::backend::envoy::Document::Resources).contains("HttpConnectionManager"));
}

#[test]
fn app_gateway_assumes_parts_that_ingresses_name() {
    let ingress = "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata:\n  name: web\n  namespace: default\n  annotations:\n    kubernetes.io/ingress.class: \
                   azure/application-gateway\n    appgw.ingress.kubernetes.io/appgw-ssl-certificate: mine\nspec: {rules: [{host: a.example.com, http: {paths: \
                   [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]}\n";
    let auto = of("ingress", ingress, "missing=auto");
    assert_eq!(auto.errors(), Vec::<String>::new());
    assert_eq!(
        assumed(&auto).iter().filter(|message| message.ends_with("it is assumed to have the certificate `mine`")).count(),
        1,
        "{:#?}",
        assumed(&auto)
    );
    let codes = |words: &str| of("ingress", ingress, words).errors();
    assert!(codes("missing=error").iter().any(|error| error.ends_with("missing-gateway-part")), "{:?}", codes("missing=error"));
}

#[test]
fn agic_variables_come_from_only_config_map() {
    let map = |name: &str| {
        format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{APPGW_NAME: edge, APPGW_ENABLE_SHARED_APPGW: \"true\"}}\n")
    };
    let target =
        "apiVersion: appgw.ingress.k8s.io/v1\nkind: AzureIngressProhibitedTarget\nmetadata: {name: prod}\nspec: {hostname: prod.example.com}\n";
    let codes =
        |text: &str, words: &str| -> Vec<&'static str> { of("ingress", text, words).findings().into_iter().map(|finding| finding.code).collect() };
    let with = format!("{target}{}", map("a"));
    assert!(codes(target, "missing=auto").contains(&"targets-not-read"));
    assert!(!codes(&with, "missing=auto").contains(&"targets-not-read"));
    assert!(codes(&with, "missing=error").contains(&"targets-not-read"));
    assert!(codes(&format!("{with}{}", map("b")), "missing=auto").contains(&"targets-not-read"), "with two gateways it is unclear which");
}

/// Returns the severities of a code for an input whose missing resources may exist elsewhere.
fn severities(dialect: &str, text: &str, code: &str) -> Vec<&'static str> {
    let mut work = of(dialect, text, "missing=auto");
    check(&mut work.compilation, &Policy::default(), &mut work.compiler.emitted, &Sequential);
    work.findings().into_iter().filter(|finding| finding.code == code).map(|finding| finding.severity).collect()
}

#[test]
fn finding_about_absent_kinds_is_notice() {
    let gateway = "service: {kind: ingress-gateway, name: edge, port: 8080, address: 10.0.0.1}\n";
    assert_eq!(severities("consul", gateway, "gateway-without-entry"), ["notice"]);
    let other = format!("{gateway}---\nKind: terminating-gateway\nName: out\nServices: []\n");
    assert_eq!(severities("consul", &other, "gateway-without-entry"), ["warning"]);

    let rewrite = "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata:\n  name: web\n  annotations:\n    kubernetes.io/ingress.class: azure/application-gateway\n    \
                   appgw.ingress.kubernetes.io/rewrite-rule-set-custom-resource: mine\nspec: {rules: [{http: {paths: [{path: /, pathType: Prefix, backend: {service: \
                   {name: web, port: {number: 80}}}}]}}]}\n";
    assert_eq!(severities("ingress", rewrite, "missing-rewrite"), ["notice"]);
    let other =
        "---\napiVersion: appgw.ingress.azure.io/v1beta1\nkind: AzureApplicationGatewayRewrite\nmetadata: {name: other}\nspec: {rewriteRules: []}\n";
    assert_eq!(severities("ingress", &format!("{rewrite}{other}"), "missing-rewrite"), ["error"]);
}

#[test]
fn error_about_assumed_contour_settings_is_warning() {
    let gateway = "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: g, namespace: shop}\n\
                   spec: {gatewayClassName: contour, listeners: [{name: http, protocol: HTTP, port: 80}]}\n---\n";
    let both = format!("{gateway}{FRAGMENT}");
    assert_eq!(severities("contour", &both, "invalid-virtual-host"), ["warning"]);
    let configuration = "---\napiVersion: projectcontour.io/v1alpha1\nkind: ContourConfiguration\nmetadata: {name: contour, namespace: projectcontour}\n\
                         spec: {gateway: {gatewayRef: {name: g, namespace: shop}}}\n";
    assert_eq!(severities("contour", &format!("{both}{configuration}"), "invalid-virtual-host"), ["error"]);
    let external = "apiVersion: v1\nkind: Service\nmetadata: {name: shop, namespace: shop}\nspec: {type: ExternalName, externalName: example.org, ports: [{port: 80}]}\n---\n\
                    apiVersion: projectcontour.io/v1\nkind: HTTPProxy\nmetadata: {name: shop, namespace: shop}\n\
                    spec: {virtualhost: {fqdn: a.example.com}, routes: [{services: [{name: shop, port: 80}]}]}\n";
    assert_eq!(severities("contour", external, "unresolved-service"), ["warning"]);
}

#[test]
fn class_with_deployment_belongs_to_provisioner() {
    let class = "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: c}\nspec:\n  controllerName: projectcontour.io/gateway-controller\n  \
                 parametersRef: {kind: ContourDeployment, group: projectcontour.io, name: d, namespace: projectcontour}\n---\n\
                 apiVersion: projectcontour.io/v1alpha1\nkind: ContourDeployment\nmetadata: {name: d, namespace: projectcontour}\nspec: {}\n---\n\
                 apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: g, namespace: shop}\n\
                 spec: {gatewayClassName: c, listeners: [{name: http, protocol: HTTP, port: 80}]}\n";
    let told = assumed(&compiled(class, "missing=auto"));
    assert!(told.iter().any(|message| message.contains("a GatewayClass names a ContourDeployment")), "{told:#?}");
}

#[test]
fn included_proxy_missing_from_input_is_assumed() {
    let root = "apiVersion: projectcontour.io/v1\nkind: HTTPProxy\nmetadata: {name: edge}\nspec: {virtualhost: {fqdn: a.example.com}, includes: [{name: shop, conditions: [{prefix: /a}]}]}\n";
    let work = compiled(root, "missing=auto");
    assert_eq!((work.errors(), assumed(&work).len()), (Vec::new(), 1), "{:#?}", assumed(&work));
}

#[test]
fn agic_class_defaults_to_only_class() {
    let text = "apiVersion: networking.k8s.io/v1\nkind: IngressClass\nmetadata: {name: mine}\nspec: {controller: azure/application-gateway}\n---\n\
                apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: web}\nspec: {ingressClassName: mine, rules: [{http: {paths: [{path: /, pathType: Prefix, \
                backend: {service: {name: web, port: {number: 80}}}}]}}]}\n";
    let work = of("ingress", text, "missing=auto");
    assert!(work.ledger().iter().any(|row| row.resource.kind == "Ingress" && row.state == "emitted"), "{:#?}", work.ledger());
}
