//! What Contour takes and does not know, and what changes nothing.

use crate::check::check;
use crate::compilation::{Options, for_people};
use crate::compile::{EmittedByGateway, compile};
use crate::diagnostic::{Diagnostic, Policy, Severity};
use crate::dialect::{self, contour::DIALECT};
use crate::executor::Sequential;
use crate::resource::Inputs;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

const SERVICE: &str = "
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: default}
spec: {ports: [{name: http, port: 80}, {name: tls, port: 443, appProtocol: https}]}
";

/// What is found of an input, beside what is assumed.
fn found(text: &str) -> Vec<Diagnostic> {
    let options = for_people(Options::of(&DIALECT));
    let mut compilation = compile(&Inputs::one("contour.yaml", format!("{text}{SERVICE}")), &options, dialect::ALL);
    check(&mut compilation, &Policy::default(), &mut EmittedByGateway::default(), &Sequential);
    compilation.all_diagnostics().filter(|finding| finding.severity != Severity::Notice).cloned().collect()
}

/// Codes and messages of what is found of an HTTPProxy.
fn of_proxy(spec: &str) -> Vec<String> {
    let text = format!("apiVersion: projectcontour.io/v1\nkind: HTTPProxy\nmetadata: {{name: shop, namespace: default}}\nspec: {spec}\n");
    found(&text).iter().map(|finding| format!("{}: {}", finding.code.name, finding.message)).collect()
}

/// The same of the first route.
fn of_route(route: &str) -> Vec<String> {
    of_proxy(&format!("{{virtualhost: {{fqdn: shop.example.com}}, routes: [{route}]}}"))
}

const NOTHING: [&str; 0] = [];

#[test]
fn a_strategy_that_contour_does_not_know_is_said() {
    let strategy = |strategy: &str| of_route(&format!("{{services: [{{name: web, port: 80}}], loadBalancerPolicy: {{strategy: {strategy}}}}}"));
    assert_eq!(strategy("Foo"), ["unknown-value: Contour does not know `Foo` here, and takes endpoints in turn, as with `RoundRobin`"]);
    for known in ["RoundRobin", "WeightedLeastRequest", "Random", "Cookie", "''", "'${STRATEGY}'"] {
        assert_eq!(strategy(known), NOTHING, "{known}");
    }
}

#[test]
fn a_version_of_tls_that_contour_does_not_know_has_a_fix() {
    let spec = "{virtualhost: {fqdn: shop.example.com, tls: {secretName: shop, minimumProtocolVersion: TLS1.3}}, routes: [{services: [{name: web, port: 80}]}]}";
    let found = found(&format!("apiVersion: projectcontour.io/v1\nkind: HTTPProxy\nmetadata: {{name: shop, namespace: default}}\nspec: {spec}\n"));
    let [finding] = &found[..] else { panic!("{found:?}") };
    assert_eq!(finding.message, "Contour does not know `TLS1.3` here, and takes 1.2 for the oldest version");
    let edit = finding.fix.as_ref().map(|fix| fix.edits[0].replacement.as_str());
    assert_eq!(edit, Some("\"1.3\""), "in quotes, as it would be a number");
}

#[test]
fn annotations_that_contour_cannot_read_are_said() {
    let ingress = |annotation: &str| -> Vec<String> {
        let text = format!(
            "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {{name: shop, namespace: default, annotations: {{{annotation}}}}}\n\
             spec: {{defaultBackend: {{service: {{name: web, port: {{number: 80}}}}}}}}\n"
        );
        found(&text).iter().map(|finding| finding.message.to_string()).collect()
    };
    assert_eq!(ingress("ingress.kubernetes.io/force-ssl-redirect: 'yes'"), ["Contour does not know `yes` here, and does not redirect to HTTPS"]);
    assert_eq!(ingress("projectcontour.io/response-timeout: '30'"), ["Contour does not know `30` here, and takes Envoy's own timeout, 15 seconds"]);
    for known in ["projectcontour.io/response-timeout: infinity", "projectcontour.io/num-retries: '-1'", "kubernetes.io/ingress.allow-http: 'true'"] {
        assert_eq!(ingress(known), NOTHING, "{known}");
    }
}

#[test]
fn passthrough_needs_tcpproxy() {
    let tls = |rest: &str| of_proxy(&format!("{{virtualhost: {{fqdn: shop.example.com, tls: {{passthrough: true}}}}, {rest}}}"));
    let expected = ["unserved: nobody answers over TLS: `passthrough` hands connections to `tcpproxy`, and there is none"];
    assert_eq!(tls("routes: [{services: [{name: web, port: 80}]}]"), expected);
    assert_eq!(tls("tcpproxy: {services: [{name: web, port: 443}]}"), NOTHING);
}

#[test]
fn a_route_with_mirrors_only_answers_nobody() {
    let expected =
        "unserved: Envoy answers requests with 503: all services of the route are mirrors, which get copies of requests that another one gets";
    assert_eq!(of_route("{services: [{name: web, port: 80, mirror: true}]}"), [expected]);
    assert_eq!(of_route("{services: [{name: web, port: 80}, {name: web, port: 443, mirror: true}]}"), NOTHING);
}

#[test]
fn validation_needs_tls_however_it_is_asked_for() {
    let validation = "validation: {caSecret: ca, subjectName: web}";
    let of = |service: &str| of_route(&format!("{{services: [{{name: web, {service}, {validation}}}]}}"));
    let idle = "field-without-effect: `validation` changes nothing: Envoy does not speak TLS to the service, so that no certificate is checked";
    assert_eq!(of("port: 80"), [idle]);
    assert_eq!(of("port: 80, protocol: h2c"), [idle]);
    assert_eq!(of("port: 80, protocol: tls"), NOTHING);
    assert_eq!(of("port: 443"), NOTHING, "the Service says that the port speaks TLS");
}

#[test]
fn fields_that_ask_for_others_say_so() {
    let port = "field-without-effect: `healthPort` changes nothing: without `healthCheckPolicy` Envoy does not check the service's health";
    assert_eq!(of_route("{services: [{name: web, port: 80, healthPort: 443}]}"), [port]);
    assert_eq!(of_route("{services: [{name: web, port: 80, healthPort: 443}], healthCheckPolicy: {path: /}}"), NOTHING);
    let hash = "loadBalancerPolicy: {strategy: Random, requestHashPolicies: [{hashSourceIP: true}]}";
    let expected = ["field-without-effect: `requestHashPolicies` changes nothing: only the strategy `RequestHash` asks for it"];
    assert_eq!(of_route(&format!("{{services: [{{name: web, port: 80}}], {hash}}}")), expected);
    let tls = "virtualhost: {fqdn: shop.example.com, tls: {passthrough: true}}";
    let expected = ["field-without-effect: `mirror` changes nothing in `tcpproxy`: Contour reads it for routes alone"];
    assert_eq!(of_proxy(&format!("{{{tls}, tcpproxy: {{services: [{{name: web, port: 443, mirror: true}}]}}}}")), expected);
}
