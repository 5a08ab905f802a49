//! Tests `diff --from DIALECT BEFORE --to DIALECT AFTER`: formats, accepted changes and exit codes.
//!
//! Does not test how differences are found; see the core's tests.

use crate::{Folder, json};

const INGRESS: &str = "apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: api
  namespace: shop
  annotations:
    nginx.ingress.kubernetes.io/use-regex: 'true'
spec:
  ingressClassName: nginx
  rules:
  - host: shop.example.com
    http: {paths: [{path: /api, pathType: Prefix, backend: {service: {name: api, port: {number: 8080}}}}]}
---
apiVersion: v1
kind: Service
metadata: {name: api, namespace: shop}
spec: {ports: [{name: http, port: 8080}]}
";

/// The same as an HTTPProxy, without the Service: it is in the same cluster.
const PROXY: &str = "apiVersion: projectcontour.io/v1
kind: HTTPProxy
metadata: {name: api, namespace: shop}
spec:
  virtualhost: {fqdn: shop.example.com}
  routes: [{conditions: [{prefix: /api}], services: [{name: api, port: 8080}], timeoutPolicy: {response: 60s}}]
";

fn folder() -> Folder {
    Folder::with(&[("before.yaml", INGRESS), ("after.yaml", PROXY)])
}

const ASKED: [&str; 6] = ["diff", "--from", "ingress-nginx", "before.yaml", "--to", "contour"];

fn asked<'a>(more: &[&'a str]) -> Vec<&'a str> {
    ASKED.iter().copied().chain(["after.yaml"]).chain(more.iter().copied()).collect()
}

#[test]
fn diff_of_two_dialects_explains_each_request() {
    let folder = folder();
    let run = folder.run(&asked(&[]));
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.contains("`GET http://shop.example.com/API` (upper case): was `shop/api:8080`, will be `404`"), "{}", run.out);
    assert!(run.out.contains("ingress-nginx: before.yaml:") && run.out.contains("Not compared"), "{}", run.out);
    assert!(!run.out.contains("[response-timeout]"), "{}", run.out);
    assert_eq!(folder.run(&asked(&["--exit-code"])).code, 1);
}

#[test]
fn diff_of_dialects_assumes_missing_services() {
    let service = "---\napiVersion: v1\nkind: Service\nmetadata: {name: other, namespace: shop}\nspec: {ports: [{port: 80}]}\n";
    let swapped = PROXY.replace("name: api, port", "name: web, port");
    let folder = Folder::with(&[("before.yaml", &format!("{INGRESS}{service}")), ("after.yaml", &format!("{swapped}{service}"))]);
    let run = folder.run(&asked(&[]));
    assert!(run.out.contains("was `shop/api:8080`, will be `shop/web:8080`"), "{}", run.out);
    let run = folder.run(&asked(&["--missing", "error"]));
    assert!(!run.out.contains("was `shop/api:8080`"), "{}", run.out);
}

#[test]
fn diff_of_two_dialects_has_every_format() {
    let folder = folder();
    let of = |format: &str| folder.run(&asked(&["--format", format])).out;
    let data = json(&of("json"));
    assert!(data["causes"].as_array().is_some_and(|causes| causes.iter().any(|cause| cause["rule"] == "path-case")), "{data}");
    let html = of("html");
    assert!(html.starts_with("<!doctype html>") && html.contains("Paths match in another case") && !html.contains("<script"), "{html}");
    assert!(of("junit").contains("<testsuite name=\"path-case\""));
    assert!(of("markdown").contains("### Paths match in another case (`path-case`"));
    assert!(of("github").contains("::warning file="));
    assert!(json(&of("sarif"))["runs"][0]["results"].as_array().is_some_and(|results| !results.is_empty()));
}

#[test]
fn accepted_changes_do_not_count() {
    let folder = folder();
    let data = json(&folder.run(&asked(&["--format", "json"])).out);
    let rules: Vec<String> = data["causes"].as_array().into_iter().flatten().map(|cause| cause["rule"].as_str().unwrap_or_default().into()).collect();
    let list: String = rules.iter().map(|rule| format!("- {{rule: {rule}, reason: known}}\n")).collect();
    folder.write("all.yaml", format!("accept:\n{list}").as_bytes());
    let all = folder.run(&asked(&["--accept", "all.yaml"]));
    assert_eq!(all.code, 0, "{}{}", all.out, all.err);
    folder.write("one.yaml", b"accept:\n- {rule: mirror, reason: known}\n");
    let one = folder.run(&asked(&["--accept", "one.yaml"]));
    assert_eq!(one.code, 1);
    assert!(one.err.contains("the accepted change `mirror` (known) covers no difference: remove it"), "{}", one.err);
    folder.write("wrong.yaml", b"accept:\n- {rule: mirrors, reason: known}\n");
    let wrong = folder.run(&asked(&["--accept", "wrong.yaml"]));
    assert_eq!((wrong.code, wrong.err.contains("has the unknown rule `mirrors`; did you mean `mirror`?")), (2, true), "{}", wrong.err);
}

#[test]
fn diff_of_nginx_shows_changed_locations() {
    let changed = INGRESS.replace("use-regex: 'true'", "proxy-read-timeout: '5'");
    let folder = Folder::with(&[("before.yaml", INGRESS), ("after.yaml", changed.as_str())]);
    let run = folder.run(&["diff", "--exit-code", "before.yaml", "after.yaml"]);
    assert_eq!(run.code, 1, "{}", run.err);
    assert!(run.out.contains("location shop.example.com/api (Prefix)") && run.out.contains("response timeout"), "{}", run.out);
    let drift = folder.run(&["drift", "before.yaml", "after.yaml"]);
    assert_eq!((drift.code, drift.err.contains("this source runs nginx")), (2, true), "{}", drift.err);
}

#[test]
fn conversion_of_ingress_nginx_is_compared() {
    let folder = Folder::with(&[("shop.yaml", INGRESS)]);
    let convert = |more: &[&str]| folder.run(&["convert", "ingress-nginx-to-gateway", "shop.yaml"].iter().chain(more).copied().collect::<Vec<_>>());
    let run = convert(&["--out-dir", "gateway", "--report", "proof.html"]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.err.contains(" tried on ingress-nginx and Envoy Gateway, ") && run.err.contains("Not compared"), "{}", run.err);
    assert!(!run.err.contains("[path-case]") && !run.err.contains("[service]"), "{}", run.err);
    assert!(run.err.contains("Envoy Gateway: gateway/"), "differences name lines of the written files: {}", run.err);
    let report = folder.read("proof.html");
    assert!(report.starts_with("<!doctype html>") && report.contains("From ingress-nginx to Envoy Gateway"), "{report}");
    folder.write("one.yaml", b"accept:\n- {rule: mirror, reason: known}\n");
    let accepting = convert(&["--out-dir", "gateway", "--accept", "one.yaml"]);
    assert!(accepting.code == 1 && accepting.err.contains("the accepted change `mirror` (known) covers no difference"), "{}", accepting.err);
    assert_eq!(convert(&["--target", "standard", "--accept", "one.yaml"]).code, 2);
    let without = convert(&["--no-proof"]);
    assert!(without.code == 0 && !without.err.contains("tried on"), "{}", without.err);
    let standard = convert(&["--target", "standard"]);
    assert!(standard.code == 0 && standard.err.contains("the result was not compared with the Ingresses"), "{}", standard.err);
    assert_eq!(convert(&["--target", "standard", "--report", "proof.html"]).code, 2);
}

#[test]
fn convert_shows_equal_notes_once() {
    let one = |name: &str| {
        let own = INGRESS.split("---").next().unwrap_or_default();
        own.replace("name: api\n", &format!("name: {name}\n"))
            .replace("host: shop", &format!("host: {name}"))
            .replace("use-regex: 'true'", "limit-rps: '5'")
    };
    let text = ["a", "b", "c", "d", "e"].map(one).join("---\n");
    let folder = Folder::with(&[("shop.yaml", &text)]);
    let run = folder.run(&["convert", "ingress-nginx-to-gateway", "shop.yaml", "--no-proof"]);
    let notes: Vec<&str> = run.err.lines().filter(|line| line.contains("`limit-rps` is converted")).collect();
    assert_eq!(notes.len(), 1, "{}", run.err);
    assert!(run.err.contains("  at 5 places: shop.yaml:7, shop.yaml:20, shop.yaml:33 and 2 more; `--all` shows them\n"), "{}", run.err);
    let all = folder.run(&["convert", "ingress-nginx-to-gateway", "shop.yaml", "--no-proof", "--all"]);
    assert_eq!(all.err.lines().filter(|line| line.contains("`limit-rps` is converted")).count(), 5, "{}", all.err);
}
