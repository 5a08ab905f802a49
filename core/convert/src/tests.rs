//! Converted objects compile in the other dialect and behave the same.

use super::{across, http_proxy_to_gateway, ingress_proof, ingress_to_gateway, mapping_to_http_proxy, proof};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_ambassador::{Config, Stages};
use chancery_base::compilation::{Compilation, Dialect, OptionValue, Options, SideRef};
use chancery_base::diagnostic::Severity;
use chancery_base::resource::Inputs;
use chancery_compile::compile;
use chancery_explain::migration::MOST_COMBINATIONS;

const AMBASSADOR: &Dialect = &chancery_ambassador::DIALECT;
const CONTOUR: &Dialect = &chancery_contour::DIALECT;

fn run(dialect: &'static Dialect, text: &str, flags: &[&str]) -> Compilation {
    let flags = OptionValue::List(flags.iter().map(|flag| (*flag).into()).collect());
    compile(&Inputs::one("input.yaml", text), &Options::of(dialect).with("controller-arg", flags), crate::testing::ALL)
}

fn config(compilation: &Compilation) -> &Config {
    &Stages::of(&compilation.sides[0]).expect("Ambassador's stages").config
}

fn errors(compilation: &Compilation) -> Vec<String> {
    compilation.all_diagnostics().filter(|finding| finding.severity == Severity::Error).map(|finding| finding.message.clone()).collect()
}

const SERVICES: &str = "---\napiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\nspec: {ports: [{port: 80}]}\n---\napiVersion: v1\nkind: Service\nmetadata: {name: beta, namespace: shop}\nspec: {ports: [{port: 80}]}\n";

const MAPPINGS: &str = "
apiVersion: getambassador.io/v3alpha1
kind: Mapping
metadata: {name: web, namespace: shop}
spec: {hostname: shop.example.com, prefix: /web/, service: web, timeout_ms: 5000, precedence: 3}
---
apiVersion: getambassador.io/v3alpha1
kind: Mapping
metadata: {name: web-beta, namespace: shop}
spec: {hostname: shop.example.com, prefix: /web/, service: beta, weight: 10}
";

#[test]
fn mappings_of_same_requests_become_weighted_route() {
    let conversion = mapping_to_http_proxy(config(&run(AMBASSADOR, MAPPINGS, &[])));
    let text = conversion.yaml();
    assert_eq!(conversion.objects.len(), 1, "{text}");
    let mut weights: Vec<_> = text.lines().filter(|line| line.contains("weight:")).map(str::trim).collect();
    weights.sort_unstable();
    assert_eq!(weights, ["weight: 10", "weight: 90"], "{text}");
    assert!(text.contains("response: 5s"), "{text}");
    let notes: Vec<_> = conversion.notes.iter().map(|note| note.message.split(" is not").next().unwrap_or_default()).collect();
    assert_eq!(notes, ["`precedence`"]);
    assert_eq!(errors(&run(CONTOUR, &format!("{text}{SERVICES}"), &[])), Vec::<String>::new(), "{text}");
}

const PROXIES: &str = "
apiVersion: projectcontour.io/v1
kind: HTTPProxy
metadata: {name: shop, namespace: shop}
spec:
  virtualhost: {fqdn: shop.example.com}
  includes: [{name: beta, conditions: [{prefix: /beta}]}]
  routes:
  - services: [{name: web, port: 80}]
    authPolicy: {disabled: true}
---
apiVersion: projectcontour.io/v1
kind: HTTPProxy
metadata: {name: beta, namespace: shop}
spec:
  routes:
  - conditions: [{header: {name: x-try, exact: 'yes'}}]
    services: [{name: beta, port: 80}]
";

fn side(of: &Compilation) -> SideRef<'_> {
    of.sides().next().expect("there is a side")
}

#[test]
fn invalid_http_proxy_is_not_converted() {
    let refused = |conditions: &str| {
        let proxies = PROXIES.replace("[{prefix: /beta}]", conditions);
        assert_ne!(proxies, PROXIES);
        http_proxy_to_gateway(side(&run(CONTOUR, &proxies, &[]))).notes.iter().any(|note| note.message.contains("so it is not converted"))
    };
    assert!(refused("[{prefix: beta}]") && refused("[{prefix: /a}, {prefix: /b}]"));
    assert!(!refused("[{prefix: /gamma}]"));
}

#[test]
fn host_with_tls_redirects_to_https() {
    let proxies = "apiVersion: projectcontour.io/v1\nkind: HTTPProxy\nmetadata: {name: shop, namespace: shop}\nspec:\n  virtualhost: {fqdn: shop.example.com, tls: {secretName: x}}\n  routes: [{conditions: [{header: {name: Content-Type, contains: application/grpc+x}}], services: [{name: web, port: 80}]}]\n";
    let text = http_proxy_to_gateway(side(&run(CONTOUR, proxies, &["--missing=assume"]))).yaml();
    let redirect = text.find("name: shop-to-https").map(|at| &text[at..]).expect("a route");
    assert!(redirect.contains("sectionName: http-shop-example-com"), "{text}");
    assert!(text.contains("- name: http-shop-example-com\n    port: 80\n    protocol: HTTP\n    hostname: shop.example.com"), "{text}");
    assert!(text.contains(r"value: .*application/grpc\+x.*"), "{text}");
}

#[test]
fn includes_become_routes_with_all_conditions() {
    let conversion = http_proxy_to_gateway(side(&run(CONTOUR, PROXIES, &[])));
    let text = conversion.yaml();
    assert_eq!(conversion.objects.len(), 3, "a Gateway and two routes: {text}");
    assert!(text.contains("value: /beta") && text.contains("name: x-try"), "{text}");
    let notes: Vec<String> = conversion.notes.iter().map(|note| note.message.to_string()).collect();
    assert!(notes.iter().any(|note| note.starts_with("`authPolicy`")), "{notes:?}");
    assert!(notes.iter().any(|note| note.contains("`/betax`")), "{notes:?}");
    let configuration = "---\napiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: contour}\nspec: {controllerName: projectcontour.io/gateway-controller}\n---\napiVersion: projectcontour.io/v1alpha1\nkind: ContourConfiguration\nmetadata: {name: contour, namespace: projectcontour}\nspec: {gateway: {gatewayRef: {name: contour, namespace: projectcontour}}}\n";
    let all = format!("{text}{configuration}{SERVICES}");
    assert_eq!(errors(&run(CONTOUR, &all, &["--contour-config-name=contour"])), Vec::<String>::new(), "{text}");
}

#[test]
fn the_proof_reports_requests_that_are_treated_differently() {
    let options = |dialect: &Dialect| Options::of(dialect);
    let described = |proof: &super::Proof| {
        let words = |change: &chancery_explain::compare::RequestChange| {
            let differences = change.differences.iter().map(|of| of.what.clone()).collect::<Vec<_>>().join(", ");
            format!("{}: {differences}", change.requests)
        };
        proof.requests.changes.iter().map(words).collect::<Vec<_>>()
    };
    let listener = "---\napiVersion: getambassador.io/v3alpha1\nkind: Listener\nmetadata: {name: http, namespace: shop}\nspec: {port: 9080, protocol: HTTP, securityModel: INSECURE, hostBinding: {namespace: {from: ALL}}}\n---\napiVersion: getambassador.io/v3alpha1\nkind: Host\nmetadata: {name: shop, namespace: shop}\nspec: {hostname: shop.example.com, requestPolicy: {insecure: {action: Route}}}\n";
    let mappings = run(AMBASSADOR, &format!("{}{listener}", MAPPINGS.replace(", precedence: 3", "")), &[]);
    let proved = proof(&mappings, &mapping_to_http_proxy(config(&mappings)), &options(AMBASSADOR));
    assert_eq!(proved.assumed, ["shop/beta", "shop/web"]);
    assert!(proved.requests.complete && proved.requests.compared > 0, "{proved:#?}");
    // Shares are equal; the additional requests of Contour are reported.
    assert_eq!(described(&proved), ["shop.example.com/web*, other than /web/*: outcome"], "{proved:#?}");
    let proxies = run(CONTOUR, PROXIES, &[]);
    let proved = proof(&proxies, &http_proxy_to_gateway(side(&proxies)), &options(CONTOUR));
    assert!(described(&proved).iter().any(|described| described.starts_with("shop.example.com/beta*")), "{proved:#?}");
}

const INGRESS: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../assets/examples/ingress/tls-redirect.yaml"));

fn azure(text: &str) -> Compilation {
    run(&chancery_agic::DIALECT, text, &[])
}

#[test]
fn controllers_differ_in_prefixes_within_a_word() {
    let text = "
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: shop, annotations: {kubernetes.io/ingress.class: azure/application-gateway}}
spec:
  rules:
  - host: shop.example.com
    http:
      paths:
      - {path: /api, pathType: Prefix, backend: {service: {name: api, port: {number: 80}}}}
      - {path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}
";
    let found = across(&azure(text), &Options::default());
    assert_eq!(found.assumed, ["shop/api", "shop/web"]);
    assert_eq!(found.controllers, ["Application Gateway", "ingress-nginx", "Contour", "Emissary"]);
    let row = found.differences.iter().find(|row| row.requests.iter().any(|url| url == "http://shop.example.com/apix")).expect("it differs");
    assert_eq!(row.answers[..3], ["goes to shop/api", "goes to shop/web", "goes to shop/web"], "{found:#?}");
    let below = found.differences.iter().flat_map(|row| &row.answers[..3]).all(|answer| !answer.contains("no gateway runs"));
    assert!(below, "{found:#?}");
}

#[test]
fn emissary_redirects_no_cleartext_of_an_ingress() {
    let text = |tls: &str| {
        alloc::format!(
            "apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {{name: web, namespace: shop, annotations: {{kubernetes.io/ingress.class: azure/application-gateway}}}}
spec:
  {tls}
  rules:
  - host: shop.example.com
    http:
      paths:
      - {{path: /api, pathType: Prefix, backend: {{service: {{name: api, port: {{number: 80}}}}}}}}
"
        )
    };
    let redirected = |tls: &str| {
        let found = across(&azure(&text(tls)), &Options::default());
        let of = |row: &&super::AcrossRow| row.requests.iter().any(|url| url == "http://shop.example.com/api");
        found.differences.iter().find(of).is_some_and(|row| row.answers[3].contains("301"))
    };
    assert!(!redirected(""), "there is no Host, and no fallback certificate that would create one");
    assert!(!redirected("tls: [{hosts: [shop.example.com], secretName: shop-tls}]"), "the Host generated from the Ingress allows cleartext");
}

#[test]
fn ingress_of_unknown_class_is_noted() {
    let said = |class: &str, rest: &str| -> Vec<String> {
        let text = alloc::format!(
            "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {{name: web, namespace: shop}}\n\
             spec: {{ingressClassName: {class}, defaultBackend: {{service: {{name: web, port: {{number: 80}}}}}}}}\n{rest}"
        );
        let limits = across(&azure(&text), &Options::default()).limits;
        limits.into_iter().filter(|limit| limit.contains("of the class")).collect()
    };
    let expected =
        ["As written, none of these controllers serves the Ingress `web` of the class `traefik`: each controller was tried with its own class."];
    assert_eq!(said("traefik", ""), expected);
    assert_eq!(said("nginx", ""), [""; 0]);
    assert_eq!(said("contour", ""), [""; 0]);
    let own = "---\napiVersion: networking.k8s.io/v1\nkind: IngressClass\nmetadata: {name: edge}\nspec: {controller: getambassador.io/ingress-controller}\n";
    assert_eq!(said("edge", own), [""; 0]);
}

#[test]
fn proof_of_ingresses_finds_differences_of_another_dialect() {
    let text = format!(
        "apiVersion: networking.k8s.io/v1\nkind: IngressClass\nmetadata: {{name: nginx}}\nspec: {{controller: k8s.io/ingress-nginx}}\n---\n\
         apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {{name: web, namespace: shop, annotations: {{nginx.ingress.kubernetes.io/use-regex: 'true'}}}}\n\
         spec: {{ingressClassName: nginx, rules: [{{host: shop.example.com, http: {{paths: [{{path: /web, pathType: Prefix, backend: {{service: {{name: web, port: {{number: 80}}}}}}}}]}}}}]}}\n{SERVICES}"
    );
    let original = run(&chancery_ingress_nginx::DIALECT, &text, &[]);
    let yaml = "apiVersion: projectcontour.io/v1\nkind: HTTPProxy\nmetadata: {name: web, namespace: shop}\n\
                spec: {virtualhost: {fqdn: shop.example.com}, routes: [{conditions: [{prefix: /web}], services: [{name: web, port: 80}]}]}\n";
    let root = chancery_text::parse(yaml, &chancery_text::Limits::default()).root.expect("an object");
    let conversion = super::Conversion { objects: Vec::from([root]), ..super::Conversion::default() };
    let found = super::migration_proof(
        &original,
        [conversion.input()],
        &Options::default(),
        CONTOUR,
        &[],
        MOST_COMBINATIONS,
        &chancery_base::executor::Sequential,
    );
    let rules: Vec<&str> = found.causes.iter().map(|cause| cause.rule).collect();
    assert!(rules.contains(&"path-case") && !rules.contains(&"service"), "{rules:?}");
}

#[test]
fn input_without_ingresses_has_no_differences() {
    let found = across(&azure(SERVICES), &Options::default());
    assert_eq!((found.ingresses, found.differences.len()), (0, 0));
}

#[test]
fn converted_ingresses_behave_the_same() {
    let original = azure(INGRESS);
    let conversion = ingress_to_gateway(&original.objects);
    let text = conversion.yaml();
    assert!(text.contains("kind: Gateway") && text.contains("RequestRedirect") && text.contains("certificateRefs"), "{text}");
    let proof = ingress_proof(&original, &conversion, &Options::default());
    assert!(proof.compared >= 4, "{proof:#?}");
    let of_host = proof.differences.iter().flat_map(|row| &row.requests).filter(|url| url.contains("shop.example.com")).count();
    assert_eq!(of_host, 0, "{proof:#?}");
}

#[test]
fn annotations_become_filters_or_are_reported_as_lost() {
    let text = INGRESS.replacen(
        "annotations:\n",
        "annotations:\n    appgw.ingress.kubernetes.io/backend-path-prefix: /v1/\n    appgw.ingress.kubernetes.io/request-timeout: \"7\"\n    appgw.ingress.kubernetes.io/cookie-based-affinity: \"true\"\n",
        1,
    );
    let conversion = ingress_to_gateway(&azure(&text).objects);
    let yaml = conversion.yaml();
    assert!(yaml.contains("replacePrefixMatch: /v1/") && yaml.contains("request: 7s"), "{yaml}");
    let lost: Vec<_> = conversion.notes.iter().filter(|note| note.message.contains("cookie-based-affinity")).collect();
    assert_eq!(lost.len(), 1, "{:#?}", conversion.notes);
    assert!(lost[0].origin.is_some());
}
