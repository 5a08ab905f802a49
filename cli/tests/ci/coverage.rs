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

/// A gateway without its rules, and what makes a rule for a name.
type Kind = (&'static str, fn(&str) -> String);

const EMISSARY: Kind = (
    "apiVersion: getambassador.io/v3alpha1\nkind: Listener\nmetadata: {name: web}\nspec: {port: 8080, protocol: HTTP, securityModel: XFP, hostBinding: {namespace: {from: ALL}}}\n",
    |name| {
        format!(
            "---\napiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {{name: {name}}}\nspec: {{hostname: '*', prefix: /{name}/, service: {name}}}\n"
        )
    },
);
const CONTOUR: Kind = ("", |name| {
    format!(
        "---\napiVersion: projectcontour.io/v1\nkind: HTTPProxy\nmetadata: {{name: {name}, namespace: shop}}\nspec: {{virtualhost: {{fqdn: {name}.example.com}}, routes: [{{services: [{{name: {name}, port: 80}}]}}]}}\n"
    )
});
const ENVOY_GATEWAY: Kind = (
    "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: eg}\nspec: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}\n---\napiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: eg, namespace: shop}\nspec: {gatewayClassName: eg, listeners: [{name: http, port: 80, protocol: HTTP}]}\n",
    |name| {
        format!(
            "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: {name}, namespace: shop}}\nspec: {{parentRefs: [{{name: eg}}], rules: [{{matches: [{{path: {{type: PathPrefix, value: /{name}}}}}], backendRefs: [{{name: {name}, port: 80}}]}}]}}\n"
        )
    },
);
const NGINX: Kind = ("", |name| {
    format!(
        "---\napiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {{name: {name}, namespace: shop}}\nspec: {{ingressClassName: nginx, rules: [{{host: shop.example.com, http: {{paths: [{{path: /{name}, pathType: Prefix, backend: {{service: {{name: {name}, port: {{number: 80}}}}}}}}]}}}}]}}\n"
    )
});

#[test]
fn coverage_of_removed_rules_fails_tests() {
    const NAMES: [&str; 6] = ["cart", "help", "login", "pay", "search", "stock"];
    for (head, rule) in [EMISSARY, CONTOUR, ENVOY_GATEWAY, NGINX] {
        let text = |left_out: &[&str]| {
            let rules: String = NAMES.iter().filter(|name| !left_out.contains(name)).map(|name| rule(name)).collect();
            format!("{head}{rules}")
        };
        // The tests know every second rule.
        let folder = Folder::with(&[("shop.yaml", &*text(&["help", "pay", "stock"]))]);
        let written = folder.run(&["test", "--write=shop.test.yaml", "shop.yaml"]);
        assert_eq!(written.code, 0, "{}", written.err);
        folder.write("shop.yaml", text(&[]).as_bytes());
        let run = folder.run(&["test", "--coverage", "--format", "json", "shop.test.yaml", "shop.yaml"]);
        assert_eq!(run.code, 0, "{}", run.err);
        let coverage = json(&run.out);
        let parts = coverage["coverage"]["parts"].as_array().expect("parts");
        let mut counts = [0, 0];
        for name in NAMES {
            let of_rule = parts.iter().filter(|part| part["resource"]["name"] == name);
            let is_reached = of_rule.map(|part| part["hits"].as_u64().unwrap_or_default()).sum::<u64>() > 0;
            folder.write("shop.yaml", text(&[name]).as_bytes());
            let without = folder.run(&["test", "shop.test.yaml", "shop.yaml"]);
            assert_eq!(without.code, i32::from(is_reached), "without {name}: {}{}", without.out, without.err);
            counts[usize::from(is_reached)] += 1;
        }
        assert_eq!(counts, [3, 3], "{}", run.out);
    }
}
