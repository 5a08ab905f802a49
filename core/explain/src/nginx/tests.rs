//! Shows an nginx whose host has regular expressions.

use super::{describe_nginx_ending, nginx_matching_rows, nginx_routes, route_nginx};
use crate::why_not;
use alloc::format;
use alloc::vec::Vec;
use chancery_base::compilation::{Compilation, Options, for_interactive_use};
use chancery_base::resource::Inputs;
use chancery_compile::{EmittedByGateway, compile};
use chancery_envoy::simulate::{Outcome, Request};

const TEXT: &str = "apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: api, annotations: {nginx.ingress.kubernetes.io/rewrite-target: /$2}}
spec:
  ingressClassName: nginx
  rules:
  - host: shop.example.com
    http:
      paths:
      - {path: /api(/|$)(.*), pathType: ImplementationSpecific, backend: {service: {name: api, port: {number: 80}}}}
      - {path: /admin, pathType: Prefix, backend: {service: {name: admin, port: {number: 80}}}}
";

fn compiled() -> Compilation {
    compile(&Inputs::one("input.yaml", TEXT), &for_interactive_use(Options::of(&chancery_ingress_nginx::DIALECT)), crate::testing::ALL)
}

#[test]
fn why_not_tries_regular_expressions() {
    let compilation = compiled();
    let side = compilation.sides().next().expect("a side");
    let ingress = compilation.objects.iter().find(|object| object.key.kind == "Ingress").expect("an Ingress");
    let found = why_not(&compilation, side, &compilation.positions(), ingress.id);
    let reached: Vec<(&str, bool)> = found.cases.iter().map(|case| (case.rule.as_str(), case.reached)).collect();
    let rules = ["regex /api(/|$)(.*) of shop.example.com", "regex /admin of shop.example.com", "regex / of shop.example.com"];
    assert_eq!(reached, rules.map(|rule| (rule, true)), "{found:#?}");
}

#[test]
fn all_locations_of_rewritten_host_are_regular_expressions() {
    let compilation = compiled();
    let of = compilation.nginxes().next().expect("an nginx");
    let rows = nginx_routes(of);
    assert!(rows.iter().filter(|row| row.domains.contains(&"shop.example.com".into())).all(|row| row.path.starts_with("regex ")), "{rows:#?}");
    let matching = nginx_matching_rows(of, &rows, Some("shop.example.com"), "/ADMIN/x");
    let paths: Vec<&str> = rows.iter().filter(|row| matching.contains(&row.pointer)).map(|row| row.path.as_str()).collect();
    assert!(paths.contains(&"regex /admin"), "{paths:?}");
}

#[test]
fn report_names_places_of_the_way() {
    let compilation = compiled();
    let of = compilation.nginxes().next().expect("an nginx");
    let request = Request::new("GET", "http://shop.example.com/api/x").expect("a URL");
    let report = route_nginx(of, &compilation.positions(), &request);
    assert_eq!((report.outcome, describe_nginx_ending(&report).as_str()), (Outcome::Forward, "goes to default-api-80 as /x"));
    let model = crate::Viewed::nginx(of.nginx);
    for step in &report.way {
        assert!(crate::get(&model.root, &step.pointer).is_some(), "{step:?}");
    }
    assert_eq!(report.way.iter().map(|step| step.what).collect::<Vec<_>>(), ["server", "location", "upstream"]);
}

#[test]
fn larger_body_than_location_accepts_is_refused() {
    let compilation = compiled();
    let of = compilation.nginxes().next().expect("an nginx");
    let answer = |length: &str| {
        let mut request = Request::new("POST", "http://shop.example.com/api/x").expect("a URL");
        request.add_header("content-length", length);
        let report = route_nginx(of, &compilation.positions(), &request);
        (report.outcome, report.status)
    };
    // The default limit is 1 MiB.
    assert_eq!(answer("1048576"), (Outcome::Forward, 200));
    assert_eq!(answer("1048577"), (Outcome::DirectResponse, 413));
}

#[test]
fn refused_configuration_answers_nothing() {
    let text = format!("{TEXT}      - {{path: /admin/, pathType: Exact, backend: {{service: {{name: api, port: {{number: 80}}}}}}}}\n");
    let verdict = |text: &str| {
        let options = for_interactive_use(Options::of(&chancery_ingress_nginx::DIALECT));
        let compilation = compile(&Inputs::one("input.yaml", text), &options, crate::testing::ALL);
        let gateway = crate::RunningGateway::all(&compilation).into_iter().next().expect("an nginx");
        let request = Request::new("GET", "http://shop.example.com/api/x").expect("a URL");
        let positions = compilation.positions();
        let report = gateway.route(&positions, &request, &mut EmittedByGateway::default(), &crate::overview(&compilation, &positions));
        (report.verdict().good, report.verdict().sentence.clone())
    };
    let (good, sentence) =
        verdict(&text.replace("rewrite-target: /$2", "ssl-redirect: 'true'").replace("/admin/, pathType: Exact", "/admin/, pathType: Prefix"));
    assert!(!good && sentence.starts_with("nginx refuses this configuration, and the previous one answers: "), "{sentence}");
    let (good, sentence) = verdict(&text);
    assert!(good, "{sentence}");
}

#[test]
fn redirect_loop_behind_load_balancer_is_noted() {
    let text = TEXT.replace("rewrite-target: /$2", "force-ssl-redirect: 'true'");
    let config = "---
apiVersion: v1
kind: ConfigMap
metadata: {name: ingress-nginx-controller, namespace: ingress-nginx}
data: {use-forwarded-headers: 'true'}
";
    let notes = |text: &str, header: Option<&str>| {
        let options = for_interactive_use(Options::of(&chancery_ingress_nginx::DIALECT));
        let compilation = compile(&Inputs::one("input.yaml", text), &options, crate::testing::ALL);
        let of = compilation.nginxes().next().expect("an nginx");
        let mut request = Request::new("GET", "http://shop.example.com/admin").expect("a URL");
        header.into_iter().for_each(|value| request.add_header("x-forwarded-proto", value));
        let report = route_nginx(of, &compilation.positions(), &request);
        (report.status, report.notes.iter().filter(|note| note.contains("is a loop")).count())
    };
    assert_eq!(notes(&text, Some("https")), (308, 1));
    assert_eq!(notes(&text, Some("http")), (308, 0));
    assert_eq!(notes(&text, None), (308, 0));
    assert_eq!(notes(&format!("{text}{config}"), Some("https")), (200, 0));
}

#[test]
fn route_explains_rejected_service_certificate() {
    let ending = |name: &str| {
        let text = format!(
            "apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: partner
  annotations:
    nginx.ingress.kubernetes.io/backend-protocol: HTTPS
    nginx.ingress.kubernetes.io/proxy-ssl-secret: default/partner-ca
    nginx.ingress.kubernetes.io/proxy-ssl-verify: \"on\"
{name}spec:
  ingressClassName: nginx
  rules:
  - host: shop.example.com
    http: {{paths: [{{path: /, pathType: Prefix, backend: {{service: {{name: partner, port: {{number: 8443}}}}}}}}]}}
"
        );
        let options = for_interactive_use(Options::of(&chancery_ingress_nginx::DIALECT));
        let compilation = compile(&Inputs::one("input.yaml", &*text), &options, crate::testing::ALL);
        let of = compilation.nginxes().next().expect("an nginx");
        let request = Request::new("GET", "http://shop.example.com/").expect("a URL");
        describe_nginx_ending(&route_nginx(of, &compilation.positions(), &request))
    };
    let rejected = ending("");
    assert!(rejected.starts_with("is answered 502") && rejected.contains("`upstream_balancer`; set `proxy-ssl-name`"), "{rejected}");
    let named = ending("    nginx.ingress.kubernetes.io/proxy-ssl-name: partner.default.svc\n");
    assert_eq!(named, "goes to default-partner-8443 as /");
}
