//! What Emissary takes and does not use.

use crate::check::check;
use crate::compilation::Options;
use crate::compile::{EmittedByGateway, compile};
use crate::diagnostic::{Diagnostic, Policy};
use crate::dialect::{self, ambassador::DIALECT};
use crate::executor::Sequential;
use crate::resource::Inputs;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

const GATEWAY: &str = "
---
apiVersion: getambassador.io/v3alpha1
kind: Listener
metadata: {name: http}
spec: {port: 8080, protocol: HTTP, securityModel: INSECURE, hostBinding: {namespace: {from: ALL}}}
---
apiVersion: getambassador.io/v3alpha1
kind: Mapping
metadata: {name: rest}
spec: {hostname: '*', prefix: /, service: rest}
";

const CODES: [&str; 4] = ["field-without-effect", "unknown-value", "unknown-field", "no-effect"];

/// What is found of these codes.
fn found(object: &str) -> Vec<Diagnostic> {
    let inputs = Inputs::one("gateway.yaml", format!("apiVersion: getambassador.io/v3alpha1\n{object}{GATEWAY}"));
    let mut compilation = compile(&inputs, &Options::of(&DIALECT), dialect::ALL);
    check(&mut compilation, &Policy::default(), &mut EmittedByGateway::default(), &Sequential);
    compilation.all_diagnostics().filter(|finding| CODES.contains(&finding.code.name)).cloned().collect()
}

fn messages(object: &str) -> Vec<String> {
    found(object).into_iter().map(|finding| finding.message).collect()
}

fn of_mapping(fields: &str) -> Vec<String> {
    messages(&format!("kind: Mapping\nmetadata: {{name: shop}}\nspec: {{prefix: /shop/, service: shop, {fields}}}"))
}

const NOTHING: [&str; 0] = [];

#[test]
fn fields_of_a_mapping_that_others_put_out_are_said() {
    assert_eq!(of_mapping("hostname: a.example.com, host: b.example.com"), ["`host` changes nothing: `hostname` counts instead of it"]);
    assert_eq!(of_mapping("hostname: a.example.com, host: a.example.com"), NOTHING, "both say the same");
    assert_eq!(of_mapping("host: a.example.com"), NOTHING);
    assert_eq!(of_mapping("host: '.*[.]example[.]com', host_regex: true"), NOTHING);
    assert_eq!(
        of_mapping("hostname: '*', host_regex: true"),
        ["`host_regex` changes nothing: `hostname` is no regular expression, but may begin or end with `*`"]
    );
    let redirect = ["`redirect_response_code` changes nothing: requests are forwarded, not redirected"];
    assert_eq!(of_mapping("hostname: '*', redirect_response_code: 302"), redirect);
    assert_eq!(of_mapping("hostname: '*', host_redirect: true, redirect_response_code: 302"), NOTHING);
    assert_eq!(of_mapping("hostname: '*', envoy_override: {timeout: 3s}"), ["`envoy_override` changes nothing: Emissary does not use it any more"]);
    assert_eq!(of_mapping("hostname: '*', method_regex: true"), ["`method_regex` changes nothing: there is no `method`"]);
    assert_eq!(of_mapping("hostname: '*', dns_type: strict"), ["Emissary does not know `strict` here, and takes `strict_dns`"]);
}

fn of_module(name: &str, config: &str) -> Vec<Diagnostic> {
    found(&format!("kind: Module\nmetadata: {{name: {name}}}\nspec: {{config: {config}}}"))
}

#[test]
fn settings_that_the_module_does_not_have_are_said_with_what_is_meant() {
    let meant = |config: &str| -> Vec<(String, Option<String>)> {
        let fix = |finding: &Diagnostic| finding.fix.as_ref().map(|fix| fix.edits[0].replacement.clone());
        of_module("ambassador", config).iter().map(|finding| (finding.message.clone(), fix(finding))).collect()
    };
    let unknown =
        |name: &str, meant: &str| Vec::from([(format!("the Module has no setting `{name}`; Emissary does not read it"), Some(meant.into()))]);
    assert_eq!(meant("{use_remote_adress: false}"), unknown("use_remote_adress", "use_remote_address"));
    assert_eq!(meant("{useRemoteAddress: false}"), unknown("useRemoteAddress", "use_remote_address"));
    assert_eq!(meant("{use_remote_address: false, statsd: {enabled: true}, prune_unreachable_routes: true}"), []);
    assert_eq!(meant("{gzip: {windowbits: 9}}").len(), 1);
    assert_eq!(meant("{merge_slashes: 'enabled'}").len(), 1);
    assert_eq!(meant("{merge_slashes: 'yes'}"), []);
}

#[test]
fn a_module_that_nobody_reads_has_the_name_that_is_meant() {
    let found = of_module("ambasador", "{use_remote_address: false}");
    let [finding] = &found[..] else { panic!("{found:?}") };
    assert_eq!(finding.message, "Emissary reads no Module `ambasador`: the gateway's settings are in the one that is called `ambassador`");
    assert_eq!(finding.fix.as_ref().map(|fix| fix.edits[0].replacement.as_str()), Some("ambassador"));
}
