//! Tests `chancery test --coverage` and `--write`.

use super::GATEWAY;
use crate::{Folder, json};

const TEST: &str = "tests:\n- request: http://shop.example.com/cart/7\n  expect: {clusters: [{name: cluster_cart_default}]}\n";

fn folder() -> Folder {
    Folder::with(&[("shop.yaml", GATEWAY), ("shop.test.yaml", TEST)])
}

#[test]
fn test_coverage_names_unreached_parts() {
    let folder = folder();
    let run = folder.run(&["test", "--coverage", "shop.test.yaml", "shop.yaml"]);
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    assert!(run.out.contains("tests reach 1 of 2 parts (50.0%)") && run.out.contains("shop.yaml:19 rule of Mapping help"), "{}", run.out);
    let low = folder.run(&["test", "--fail-under", "60", "--lcov", "out.info", "--cobertura", "out.xml", "shop.test.yaml", "shop.yaml"]);
    assert_eq!(low.code, 1, "{}", low.err);
    assert!(low.err.contains("tests reach 1 of 2 parts (50.0%), less than 60%"), "{}", low.err);
    assert!(folder.read("out.info").contains("SF:shop.yaml\n") && folder.read("out.xml").contains("filename=\"shop.yaml\""));
    let data = json(&folder.run(&["test", "--coverage", "--format", "json", "shop.test.yaml", "shop.yaml"]).out);
    assert_eq!((&data["coverage"]["reached"], &data["coverage"]["total"]), (&1.into(), &2.into()));
}

#[test]
fn test_write_proposes_passing_tests() {
    let folder = folder();
    let rest = folder.run(&["test", "--write", "shop.test.yaml", "shop.yaml"]);
    assert_eq!(rest.out.matches("  request:").count(), 1, "{}{}", rest.out, rest.err);
    let all = folder.run(&["test", "--write=all.test.yaml", "shop.yaml"]);
    assert_eq!(all.code, 0, "{}", all.err);
    let run = folder.run(&["test", "--coverage", "--fail-under", "100", "all.test.yaml", "shop.yaml"]);
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
}

#[test]
fn test_compares_policies_headers_and_tokens() {
    let gateway = GATEWAY.replace("service: cart}", "service: cart, timeout_ms: 5000, add_request_headers: {x-shop: {value: '1'}}}");
    let folder = Folder::with(&[("shop.yaml", &gateway)]);
    let expect = |text: &str| {
        folder.write("a.test.yaml", format!("tests:\n- request: http://shop.example.com/cart/\n  expect: {text}\n").as_bytes());
        let run = folder.run(&["test", "a.test.yaml", "shop.yaml"]);
        assert!(run.code < 2, "{}", run.err);
        run.code == 0
    };
    assert!(expect("{no_route: false, requires_token: false, policies: {timeout: 5s, retry_policy: false}}"));
    assert!(expect("{upstream: {path: /, headers: {x-shop: '1', x-other: null}}}"));
    assert!(!expect("{policies: {retry_policy: true}}"));
    assert!(!expect("{upstream: {headers: {x-shop: '2'}}}"));
    assert!(!expect("{no_route: true}"));
}
