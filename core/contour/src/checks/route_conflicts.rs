//! Tests of `chancery_kubernetes::gateway_api::conflicts` with the controller that reports them.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::compilation::Options;
use chancery_base::diagnostic::Policy;
use chancery_base::executor::Sequential;
use chancery_base::resource::Inputs;
use chancery_compile::{EmittedByGateway, compile};

fn route(kind: &str, name: &str, more: &str, rules: &[&str]) -> String {
    let rules: String = rules.iter().map(|matches| format!("  - {{matches: [{matches}], backendRefs: [{{name: {name}, port: 80}}]}}\n")).collect();
    format!(
        "apiVersion: gateway.networking.k8s.io/v1\nkind: {kind}\nmetadata: {{name: {name}, namespace: shop}}\nspec:\n  parentRefs: [{{name: edge{more}}}]\n  rules:\n{rules}---\n"
    )
}

/// Who loses, and the sentence.
fn losers(text: &str) -> Vec<(String, String)> {
    let mut compilation = compile(&Inputs::one("routes.yaml", text), &Options::default().in_dialect("contour"), &[&crate::DIALECT]);
    chancery_explain::check::check(&mut compilation, &Policy::default(), &mut EmittedByGateway::default(), &Sequential);
    let found = compilation.all_diagnostics().filter(|finding| finding.code.name == "route-conflict");
    found.map(|finding| (finding.resource.as_ref().map(|key| String::from(&*key.name)).unwrap_or_default(), finding.message.clone())).collect()
}

#[test]
fn later_route_with_same_match_loses() {
    let one = "{path: {type: PathPrefix, value: /a}, headers: [{name: X-One, value: '1'}, {name: x-two, value: '2'}]}";
    let same = "{path: {value: /a/}, headers: [{name: X-Two, value: '2', type: Exact}, {name: x-one, value: '1'}]}";
    let found = losers(&format!("{}{}", route("HTTPRoute", "b", "", &[one]), route("HTTPRoute", "a", "", &[same])));
    assert_eq!(found, [("b".into(), "HTTPRoute `a` (shop) has a rule with the same match for the same hosts, and wins".into())]);
}

#[test]
fn the_older_route_wins() {
    let older = route("HTTPRoute", "b", "", &["{}"]).replace("namespace: shop}", "namespace: shop, creationTimestamp: '2020-01-01T00:00:00Z'}");
    let newer = route("HTTPRoute", "a", "", &["{}"]).replace("namespace: shop}", "namespace: shop, creationTimestamp: '2021-01-01T00:00:00Z'}");
    assert_eq!(losers(&format!("{older}{newer}")).into_iter().map(|(name, _)| name).collect::<Vec<_>>(), ["a"]);
}

#[test]
fn within_a_route_the_earlier_rule_wins() {
    let method = "{method: {service: s, method: m}}";
    let found = losers(&route("GRPCRoute", "a", "", &["{}", method, method]));
    assert_eq!(found, [("a".into(), "rule 2 of this route has the same match, and takes all its requests".into())]);
}

#[test]
fn different_routes_do_not_conflict() {
    let of = |name: &str, more: &str| route("HTTPRoute", name, more, &["{path: {value: /a}}"]);
    let on = |name: &str, section: &str| of(name, &format!(", sectionName: {section}"));
    let with_host = of("b", "").replace("  rules:", "  hostnames: [b.example.com]\n  rules:");
    for text in [
        format!("{}{}", of("a", ""), route("HTTPRoute", "b", "", &["{path: {type: Exact, value: /a}}"])),
        format!("{}{}", on("a", "one"), on("b", "two")),
        format!("{}{with_host}", of("a", "")),
        format!("{}{}", route("HTTPRoute", "a", "", &["{}"]), route("GRPCRoute", "b", "", &["{}"])),
    ] {
        assert_eq!(losers(&text), Vec::new(), "{text}");
    }
    assert_eq!(losers(&format!("{}{}", on("a", "one"), of("b", ""))).len(), 1, "a reference to the whole Gateway means all its listeners");
}
