//! Tests coverage on a small gateway, and proves it: what no test reaches can be removed without a failing test, and what tests reach cannot.

use super::*;
use crate::{PreparedGateways, RequestTests, Tester};
use chancery_base::compilation::Options;
use chancery_base::resource::Inputs;
use chancery_compile::Compiler;

const GATEWAY: &str = "\
apiVersion: getambassador.io/v3alpha1
kind: Listener
metadata: {name: http}
spec: {port: 8080, protocol: HTTP, securityModel: XFP, hostBinding: {namespace: {from: ALL}}}
---
apiVersion: getambassador.io/v3alpha1
kind: Host
metadata: {name: all}
spec: {hostname: shop.example.com, requestPolicy: {insecure: {action: Route}}}
---
apiVersion: getambassador.io/v3alpha1
kind: Mapping
metadata: {name: shop}
spec: {hostname: shop.example.com, prefix: /, service: shop}
---
apiVersion: getambassador.io/v3alpha1
kind: Mapping
metadata: {name: cart}
spec: {hostname: shop.example.com, prefix: /cart/, service: cart, timeout_ms: 7000}
---
apiVersion: getambassador.io/v3alpha1
kind: Mapping
metadata: {name: beta}
spec: {hostname: shop.example.com, prefix: /cart/, service: beta, headers: {x-beta: '1'}}
---
apiVersion: getambassador.io/v3alpha1
kind: Mapping
metadata: {name: old}
spec: {hostname: shop.example.com, prefix: /old/, service: new.example.com, host_redirect: true}
";

/// Runs tests. Returns the coverage, the number of failed tests, and the proposed tests.
fn run(gateway: &str, tests: &str) -> (Coverage, usize, ProposedTests) {
    let mut compiler = Compiler::new(crate::testing::ALL);
    let compilation = compiler.compile(&Inputs::one("in.yaml", gateway), &Options::default());
    let positions = compilation.positions();
    let prepared = PreparedGateways::of(&compilation, &positions, &mut compiler);
    let mut coverage = Coverage::default();
    let tester = Tester::new(&prepared, &mut coverage);
    let mut failed = 0;
    for test in RequestTests::read(tests).expect("tests").tests {
        let request = test.request.read().expect("a request");
        let answer = tester.ask(None, &request).expect("a gateway");
        coverage.count(&answer.reached);
        failed += usize::from(!test.mismatches(&answer.report).is_empty());
    }
    let proposed = propose(&tester, &coverage);
    (coverage, failed, proposed)
}

fn words(of: &Coverage, reached: bool) -> Vec<String> {
    let all = of.sorted().into_iter().filter(|part| (part.hits > 0) == reached);
    all.map(|part| format!("{} {}", part.kind.name(), part.what)).collect()
}

const ONE: &str = "tests:\n- request: http://shop.example.com/cart/7\n  expect: {outcome: forward, clusters: [{name: cluster_cart_default}]}\n";

#[test]
fn coverage_names_parts_without_requests() {
    let (coverage, failed, _) = run(GATEWAY, ONE);
    assert_eq!(failed, 0);
    assert_eq!(words(&coverage, true), ["rule prefix /cart/", "policy timeout", "condition header x-beta exact 1 does not hold"]);
    assert_eq!(
        words(&coverage, false),
        ["rule prefix /", "rule prefix /cart/", "condition header x-beta exact 1 holds", "redirect redirect of prefix /old/"]
    );
}

#[test]
fn proposed_tests_reach_everything() {
    let (_, _, proposed) = run(GATEWAY, "tests: []\n");
    assert_eq!(proposed.missing, [] as [PartId; 0], "{}", proposed.text);
    // One for each Mapping: the request to `cart` also shows that the header of `beta` matters.
    assert_eq!(proposed.tests, 4, "{}", proposed.text);
    let (coverage, failed, again) = run(GATEWAY, &proposed.text);
    assert_eq!(failed, 0, "{}", proposed.text);
    let all = coverage.counts(None);
    assert_eq!((all.reached, again.tests), (all.total, 0));
}

/// Removes the Mapping of this name.
fn without(name: &str) -> String {
    let is_it = |document: &&str| !document.contains(&format!("metadata: {{name: {name}}}"));
    GATEWAY.split("---\n").filter(is_it).collect::<Vec<_>>().join("---\n")
}

#[test]
fn removing_covered_rule_fails_a_test() {
    let (_, _, proposed) = run(GATEWAY, "tests: []\n");
    for name in ["shop", "cart", "beta", "old"] {
        let (_, failed, _) = run(&without(name), &proposed.text);
        assert!(failed > 0, "{name} is covered, and no test fails without it:\n{}", proposed.text);
    }
}

#[test]
fn removing_uncovered_rule_fails_no_test() {
    let (coverage, ..) = run(GATEWAY, ONE);
    for name in ["shop", "cart", "beta", "old"] {
        let is_it = |part: &&CoveredPart| part.resource.as_ref().is_some_and(|resource| resource.name == name);
        let rules = coverage.sorted().into_iter().filter(|part| matches!(part.kind, PartKind::Rule | PartKind::Redirect));
        let is_covered = rules.filter(is_it).any(|part| part.hits > 0);
        let (_, failed, _) = run(&without(name), ONE);
        assert_eq!(failed > 0, is_covered, "{name}");
    }
}

#[test]
fn reports_have_lines_and_branches() {
    let (coverage, ..) = run(GATEWAY, ONE);
    let lcov = lcov(&coverage);
    assert!(lcov.contains("SF:in.yaml\n") && lcov.contains("DA:19,1\n") && lcov.contains("DA:14,0\n"), "{lcov}");
    assert!(lcov.contains("BRDA:24,0,0,-\nBRDA:24,0,1,1\nBRF:2\nBRH:1\n"), "{lcov}");
    let cobertura = cobertura(&coverage);
    assert!(cobertura.contains("<line number=\"24\" hits=\"0\" branch=\"true\" condition-coverage=\"50% (1/2)\"/>"), "{cobertura}");
}
