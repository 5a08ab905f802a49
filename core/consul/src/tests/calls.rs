//! Which intention or permission decides a call between two services.

use super::{API, HTTP, WEB};
use crate::DIALECT;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::compilation::{Call, CallEffect, CallEnd, Compilation, OptionValue, Options};
use chancery_base::resource::Inputs;
use chancery_compile::compile;

const API_SIDECAR: &str = "service: {name: api, port: 9090, connect: {sidecar_service: {}}}\n";

fn run(documents: &[&str]) -> Compilation {
    let deny = Options::of(&DIALECT).with("default-policy", OptionValue::Text("deny".into()));
    compile(&Inputs::one("input.yaml", documents.join("---\n").as_str()), &deny, &[&DIALECT])
}

/// The decision about a call of `web` to `api`, and its reason.
fn decision(intentions: &str, method: &str, path: &str) -> Option<(bool, String)> {
    let compilation = run(&[HTTP, intentions, WEB, API_SIDECAR]);
    let side = compilation.sides().next().expect("a side");
    let found = side.side.stages.decide_call(Call { from: "web-sidecar-proxy", to: "api-sidecar-proxy", method, path })?;
    assert!(found.at.is_some() || found.why.starts_with("no intention"), "{found:?}");
    Some((found.is_allowed, found.why))
}

#[test]
fn first_matching_permission_decides() {
    let intentions = "{Kind: service-intentions, Name: api, Sources: [{Name: web, Permissions: [\
        {Action: deny, HTTP: {PathPrefix: /, Methods: [DELETE]}}, {Action: allow, HTTP: {PathRegex: '/orders/[0-9]+'}}, \
        {Action: allow, HTTP: {PathExact: /cart, Header: [{Name: x-team, Present: true}]}}]}]}\n";
    let of = |method, path| decision(intentions, method, path);
    assert_eq!(of("DELETE", "/orders/1"), Some((false, "permission 1 of intention `api` denies it: deny DELETE /*".into())));
    assert_eq!(of("GET", "/orders/1"), Some((true, "permission 2 of intention `api` allows it: allow ~ /orders/[0-9]+".into())));
    let none = "no permission of intention `api` for `web` matches GET /orders/x, and the default policy denies it";
    assert_eq!(of("GET", "/orders/x"), Some((false, none.into())));
    assert_eq!(of("GET", "/cart"), None, "headers decide");
}

#[test]
fn exact_intention_precedes_wildcard() {
    let all = "{Kind: service-intentions, Name: '*', Sources: [{Name: '*', Action: deny}]}\n";
    let exact = "{Kind: service-intentions, Name: api, Sources: [{Name: web, Action: allow}]}\n---\n";
    assert_eq!(decision(all, "GET", "/"), Some((false, "intention `*` denies every service".into())));
    assert_eq!(decision(&[exact, all].concat(), "GET", "/"), Some((true, "intention `api` allows `web`".into())));
    let other = "{Kind: service-intentions, Name: api, Sources: [{Name: shop, Action: allow}]}\n";
    assert_eq!(decision(other, "GET", "/"), Some((false, "no intention names calls of `web` to `api`, and the default policy denies it".into())));
}

#[test]
fn each_source_is_a_rule_with_its_terms() {
    let intentions = "{Kind: service-intentions, Name: api, Sources: [{Name: web, Permissions: [{Action: allow, HTTP: {PathPrefix: /a}}]}, \
        {Name: '*', Action: deny}, {Name: shop, Action: allow}, {Name: web, Peer: other, Action: allow}]}\n";
    let compilation = run(&[HTTP, intentions, WEB, API]);
    let rules = compilation.sides().next().expect("a side").call_rules();
    let effects: Vec<CallEffect> = rules.iter().map(|rule| rule.effect).collect();
    assert_eq!(effects, [CallEffect::Conditions, CallEffect::Allow, CallEffect::Deny], "as Consul sorts them");
    assert_eq!(rules[0].terms, ["allow /a*"]);
    assert!(matches!(rules[0].from, CallEnd::Object(_)) && matches!(rules[0].to, CallEnd::Object(_)));
    assert!(matches!(rules[1].from, CallEnd::Unregistered(_)), "{:?}", rules[1]);
    assert_eq!(rules[2].from, CallEnd::Any);
}
