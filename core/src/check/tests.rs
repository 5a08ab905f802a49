//! What a user decides about findings, and what is not told although it looks like it.

use super::check;
use crate::backend::envoy::v3::Emitted;
use crate::compile::{Options, compile};
use crate::diagnostic::{Level, Policy, Severity};
use crate::resource::Inputs;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

const GATEWAY: &str = "
apiVersion: getambassador.io/v3alpha1
kind: Listener
metadata: {name: http}
spec: {port: 8080, protocol: HTTP, securityModel: XFP, hostBinding: {namespace: {from: ALL}}}
---
apiVersion: getambassador.io/v3alpha1
kind: Host
metadata: {name: all}
spec: {hostname: '*', requestPolicy: {insecure: {action: Route}}}
---
";

/// A Mapping whose prefix and rewrite do not fit, with an annotation.
fn mapping(annotation: &str) -> String {
    format!(
        "apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {{name: shop, annotations: {{chancery.dev/ignore: {annotation}}}}}\nspec: {{hostname: '*', prefix: /shop, service: shop}}\n"
    )
}

/// Codes and severities of what is found.
fn found(text: &str, policy: Policy) -> Vec<(&'static str, Severity)> {
    let inputs = Inputs::one("gateway.yaml", format!("{GATEWAY}{text}"));
    let mut compilation = compile(&inputs, &Options::default());
    check(&mut compilation, &policy, &mut Emitted::new());
    compilation.diagnostics.iter().map(|finding| (finding.code.name, finding.severity)).collect()
}

fn decided(code: &'static str, level: Level) -> Policy {
    Policy { severities: [(code.into(), level)].into(), ..Policy::default() }
}

#[test]
fn a_finding_is_as_bad_as_the_user_says() {
    assert_eq!(found(&mapping("''"), Policy::default()), [("rewrite-slashes", Severity::Notice)]);
    assert_eq!(found(&mapping("''"), decided("rewrite-slashes", Level::Error)), [("rewrite-slashes", Severity::Error)]);
    assert_eq!(found(&mapping("''"), decided("rewrite-slashes", Level::Off)), []);
}

#[test]
fn a_resource_says_what_is_not_to_be_told_of_it_and_why() {
    assert_eq!(found(&mapping("'rewrite-slashes: the upstream does not mind'"), Policy::default()), []);
    assert_eq!(found(&mapping("rewrite-slashes"), Policy::default()), [("suppression-without-reason", Severity::Warning)]);
    let several = "'rewrite-slashes: the upstream does not mind; open-cors: it is public'";
    assert_eq!(found(&mapping(several), Policy::default()), [("unused-suppression", Severity::Warning)]);
    assert_eq!(found(&mapping("'rewrite-slashes: fine'"), decided("rewrite-slashes", Level::Error)), [], "it is used, however bad it is");
}

#[test]
fn what_is_ignored_nowhere_can_be_told_or_not_as_well() {
    let other = "'open-cors: it is public'";
    assert_eq!(found(&mapping(other), decided("unused-suppression", Level::Off)), [("rewrite-slashes", Severity::Notice)]);
}

#[test]
fn an_annotation_of_another_resource_changes_nothing() {
    let text =
        format!("{}---\n{}", mapping("'rewrite-slashes: fine'"), mapping("''").replace("name: shop", "name: store").replace("/shop,", "/store,"));
    assert_eq!(found(&text, Policy::default()), [("rewrite-slashes", Severity::Notice)]);
}

#[test]
fn without_a_time_no_certificate_has_expired() {
    let page = crate::diagnostic::codes::CERTIFICATE_EXPIRED.page;
    let example = page.split("```").nth(1).and_then(|block| block.split_once('\n')).map(|(_, text)| text).unwrap_or_default();
    let codes = |policy| found(example, policy).into_iter().map(|(code, _)| code).collect::<Vec<_>>();
    assert!(!codes(Policy::default()).contains(&"certificate-expired"));
    assert!(codes(Policy { at: crate::diagnostic::time::parse("2026-11-21"), ..Policy::default() }).contains(&"certificate-expired"));
    assert!(!codes(Policy { at: crate::diagnostic::time::parse("2025-06-01"), ..Policy::default() }).contains(&"certificate-expired"));
}
