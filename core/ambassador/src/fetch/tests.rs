//! Tests loading, by feature.

extern crate std;

use super::super::Options;
use super::{Memory, fetch, fetch_again, read_options};
use crate::config::{Config, Payload, Presence};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::compilation::{Assumptions, Missing};
use chancery_base::compilation::{Ledger, State, Why};
use chancery_base::diagnostic::{Diagnostic, Findings, Severity};
use chancery_base::executor::Sequential;
use chancery_base::read::{DocumentCache, read};
use chancery_base::resource::{Inputs, Objects};
use chancery_text::to_json;

struct Fetched {
    objects: Objects,
    config: Config,
    ledger: Ledger,
    findings: Findings,
}

impl Fetched {
    fn rkeys(&self) -> Vec<&str> {
        self.config.resources().map(|resource| resource.rkey.as_str()).collect()
    }

    fn codes(&self) -> Vec<&str> {
        self.findings.iter().map(|finding| finding.code.name).collect()
    }

    fn spec(&self, rkey: &str) -> String {
        self.config.resource(rkey).map(|resource| to_json(&resource.spec, false)).unwrap_or_default()
    }

    fn state(&self, kind: &str, name: &str) -> &State {
        let object = self.objects.iter().find(|object| object.key.kind == kind && object.key.name == name).expect("an object");
        self.ledger.get(object.id)
    }
}

fn inputs(text: &str) -> Inputs {
    Inputs::one("input.yaml", text)
}

fn with(options: &Options, text: &str) -> Fetched {
    let (objects, mut findings) = read(&inputs(text), &read_options(), &mut DocumentCache::new());
    let mut ledger = Ledger::new(&objects);
    let config = fetch(&objects, options, &mut ledger, &mut findings);
    assert_eq!(ledger.undecided().count(), 0, "everything has an entry in the ledger");
    Fetched { objects, config, ledger, findings }
}

fn get(text: &str) -> Fetched {
    with(&Options::default(), text)
}

fn env(pairs: &[(&str, &str)]) -> Options {
    Options { env: pairs.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect(), ..Options::default() }
}

fn object(kind: &str, name: &str, spec: &str) -> String {
    format!("---\napiVersion: getambassador.io/v3alpha1\nkind: {kind}\nmetadata: {{name: {name}}}\nspec: {spec}\n")
}

fn mapping(name: &str) -> String {
    object("Mapping", name, &format!("{{hostname: '*', prefix: /{name}/, service: {name}}}"))
}

fn service(name: &str, annotation: &str) -> String {
    let annotation: String = annotation.lines().map(|line| format!("      {line}\n")).collect();
    let annotations = if annotation.is_empty() { String::new() } else { format!("  annotations:\n    getambassador.io/config: |\n{annotation}") };
    format!(
        "---\napiVersion: v1\nkind: Service\nmetadata:\n  name: {name}\n  labels: {{team: a}}\n{annotations}spec:\n  ports: [{{name: http, port: 80, targetPort: 8080}}]\n"
    )
}

#[test]
fn resources_are_sorted_by_rkey() {
    let fetched = get(&format!("{}{}{}", mapping("b"), service("web", ""), mapping("a")));
    assert_eq!(fetched.rkeys(), ["a.default.1", "b.default.1", "k8s-web-default"]);
    let location = fetched.config.resource("a.default.1").map(|resource| resource.location.to_string());
    assert_eq!(location.as_deref(), Some("Mapping a, namespace default, object 1"));
}

#[test]
fn later_document_overwrites_refused_does_not() {
    let second = object("Mapping", "a", "{hostname: '*', prefix: /second/, service: b}");
    let fetched = get(&(mapping("a") + &second));
    assert!(fetched.spec("a.default.1").contains("/second/"));
    assert_eq!(fetched.codes(), ["overwritten"]);
    assert!(matches!(fetched.ledger.iter().next().map(|entry| entry.state), Some(State::Shadowed(_))));

    let refused = object("Mapping", "a", "{hostname: '*', service: b}");
    let fetched = get(&(mapping("a") + &refused));
    assert!(fetched.spec("a.default.1").contains("/a/"));
    assert_eq!(fetched.config.get_config("mappings").map(|mappings| mappings.len()), Some(1));
}

#[test]
fn another_instance_s_resources_are_left_alone() {
    let text = object("Mapping", "a", "{ambassador_id: [x], hostname: '*', prefix: /, service: a}")
        + &object("Mapping", "b", "{ambassador_id: [x, default], hostname: '*', prefix: /b/, service: a}")
        + &object("Mapping", "c", "{ambassador_id: [], hostname: '*', prefix: /c/, service: a}")
        + &object("Mapping", "d", "{ambassador_id: [_automatic_], hostname: '*', prefix: /d/, service: a}");
    assert_eq!(get(&text).rkeys(), ["b.default.1", "c.default.1", "d.default.1"]);
    assert!(matches!(get(&text).state("Mapping", "a"), State::Ignored(Why::OtherController, _)));
    let other = Options { ambassador_id: "x".into(), ..Options::default() };
    assert_eq!(with(&other, &text).rkeys(), ["a.default.1", "b.default.1", "d.default.1"]);
}

#[test]
fn objects_outside_the_single_namespace_are_not_read() {
    let options = Options { single_namespace: true, ambassador_namespace: "own".into(), ..Options::default() };
    let own = mapping("b").replace("{name: b}", "{name: b, namespace: own}");
    let fetched = with(&options, &(mapping("a") + &own));
    assert_eq!(fetched.rkeys(), ["b.own.1"]);
    assert!(matches!(fetched.state("Mapping", "a"), State::Ignored(Why::NotWatched, _)));
}

#[test]
fn label_selector_hides_unmatched_objects() {
    let labelled = mapping("b").replace("{name: b}", "{name: b, labels: {env: prod}}");
    for (selector, seen) in
        [("env=prod", "b.default.1"), ("env!=prod", "a.default.1"), ("env in (dev, prod)", "b.default.1"), ("!env", "a.default.1")]
    {
        let fetched = with(&env(&[("AMBASSADOR_LABEL_SELECTOR", selector)]), &(mapping("a") + &labelled));
        assert_eq!(fetched.rkeys(), [seen], "{selector}");
    }
}

#[test]
fn variables_that_exist_are_put_in() {
    let text = object("Mapping", "a", "{hostname: '*', prefix: /$WHERE/, service: '${SVC}.$AMBASSADOR_NAMESPACE', rewrite: $NOPE$}");
    let fetched = with(&env(&[("WHERE", "here"), ("SVC", "web")]), &text);
    let spec = fetched.spec("a.default.1");
    assert!(spec.contains("\"/here/\"") && spec.contains("\"web.default\"") && spec.contains("\"$NOPE$\""), "{spec}");
}

#[test]
fn annotations_inherit_and_count() {
    let inner = "kind: Mapping\napiVersion: ambassador/v2\nname: one\nprefix: /one/\nservice: one\n---\nkind: Module\napiVersion: getambassador.io/v3alpha1\nname: two\nnamespace: other\nmetadata_labels: {x: y}\nconfig: {}\n---\nkind: Mapping\nname: three\nprefix: /three/\nservice: three\n";
    let fetched = get(&service("web", inner));
    assert_eq!(fetched.rkeys(), ["k8s-web-default", "web.default.1", "web.default.2", "web.default.3"]);
    let labels = |rkey: &str| fetched.config.resource(rkey).map(|resource| format!("{:?}", resource.labels)).unwrap_or_default();
    assert!(labels("web.default.1").contains("team"));
    assert!(!labels("web.default.2").contains("team"));
    assert_eq!(fetched.config.resource("web.default.2").map(|module| module.namespace.as_str()), Some("other"));
    assert!(fetched.codes().contains(&"unsupported-version"), "the third has no version");
    assert_eq!(fetched.config.get_config("mappings").map(|mappings| mappings.len()), Some(1));
}

#[test]
fn one_broken_document_loses_the_annotation() {
    let fetched = get(&service("web", "kind: Mapping\napiVersion: getambassador.io/v3alpha1\nname: one\nprefix: /\nservice: a\n---\nname: [\n"));
    assert_eq!(fetched.rkeys(), ["k8s-web-default"]);
    assert!(fetched.codes().contains(&"annotation-lost"));
}

const INGRESS: &str = "---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: ing
  annotations: {kubernetes.io/ingress.class: ambassador}
  labels: {team: a}
spec:
  defaultBackend: {service: {name: other, port: {number: 81}}}
  tls:
  - {hosts: [a.example.com], secretName: cert}
  rules:
  - host: '*.example.com'
    http:
      paths:
      - {path: /exact, pathType: Exact, backend: {service: {name: web, port: {name: http}}}}
  - http:
      paths:
      - {path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 8080}}}}
";

#[test]
fn an_ingress_becomes_hosts_and_mappings() {
    let fetched = get(&(service("web", "") + INGRESS));
    let rkeys = ["ing-0-0.default.1", "ing-0-0.default.3", "ing-1-0.default.4", "ing-default-backend.default.2", "k8s-web-default"];
    assert_eq!(fetched.rkeys(), rkeys);
    let host = fetched.spec("ing-0-0.default.1");
    assert!(host.contains("\"a.example.com\"") && host.contains("\"cert\"") && host.contains("a10r-ingress-ing-default"), "{host}");
    let exact = fetched.spec("ing-0-0.default.3");
    assert!(exact.contains("\"web.default:80\"") && exact.contains("\"precedence\":1") && exact.contains("\"host_regex\":true"), "{exact}");
    assert!(exact.contains(r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?\\.example\\.com$"), "{exact}");
    assert!(fetched.spec("ing-default-backend.default.2").contains("\"other.default:81\""));
    let mapping = fetched.config.resource("ing-1-0.default.4").expect("a mapping");
    let prefix = mapping.get("prefix").expect("a prefix");
    let object = fetched.objects.get(mapping.object).expect("the Ingress");
    assert_eq!(object.path(prefix.id).to_string(), "spec.rules[1].http.paths[0].path", "it leads back to its line");
}

#[test]
fn ingress_class_matches_by_controller() {
    let ingress =
        INGRESS.replace("  annotations: {kubernetes.io/ingress.class: ambassador}\n", "").replace("spec:\n", "spec:\n  ingressClassName: mine\n");
    let class = |controller: &str| {
        format!("---\napiVersion: networking.k8s.io/v1\nkind: IngressClass\nmetadata: {{name: mine}}\nspec: {{controller: {controller}}}\n")
    };
    assert!(get(&ingress).codes().contains(&"class-not-ours"));
    assert!(get(&(class("example.com/other") + &ingress)).codes().contains(&"class-not-ours"));
    let ours = class("getambassador.io/ingress-controller") + &ingress;
    assert_eq!(get(&ours).rkeys().len(), 4);
    let single = Options { single_namespace: true, ..Options::default() };
    assert!(with(&single, &ours).rkeys().is_empty(), "IngressClasses are not watched then");
}

#[test]
fn services_know_the_endpoints_of_their_ports() {
    let endpoints = "---\napiVersion: v1\nkind: Endpoints\nmetadata: {name: web}\nsubsets:\n- addresses: [{ip: 10.0.0.1}, {ip: 10.0.0.2}]\n  ports: [{name: http, port: 8080}]\n";
    let slice = "---\napiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: web-x, labels: {kubernetes.io/service-name: web}}\nendpoints:\n- {addresses: [10.0.0.1]}\n- {addresses: [10.0.0.2]}\n- {addresses: [10.0.0.3], conditions: {ready: false}}\nports: [{name: http, port: 8080}]\n";
    for text in [endpoints, slice] {
        let fetched = get(&(service("web", "") + text));
        let Some(Payload::Service(data)) = fetched.config.resource("k8s-web-default").map(|resource| &resource.payload) else { panic!("a Service") };
        let targets: Vec<String> = data.endpoints[&80].iter().map(|target| format!("{}:{}", target.address, target.port)).collect();
        assert_eq!(targets, ["10.0.0.1:8080", "10.0.0.2:8080"]);
        let names: Vec<&str> = fetched.config.endpoints.keys().map(|name| name.as_str()).collect();
        assert_eq!(names, ["k8s/default/web", "k8s/default/web/80", "k8s/default/web/http"]);
    }
    let fetched = get(&service("web", ""));
    assert!(matches!(&fetched.config.resource("k8s-web-default").expect("it").payload, Payload::Service(data) if data.endpoints.is_empty()));
}

fn secret(name: &str) -> String {
    format!("---\napiVersion: v1\nkind: Secret\nmetadata: {{name: {name}}}\nstringData: {{tls.crt: hush, tls.key: hush}}\n")
}

#[test]
fn only_secrets_in_use_are_passed_on() {
    let host = object("Host", "h", "{hostname: a.example.com, tlsSecret: {name: cert}}");
    let fetched = get(&(host + &secret("cert") + &secret("other")));
    assert_eq!(fetched.rkeys(), ["cert.default.1", "h.default.1"]);
    assert!(matches!(fetched.state("Secret", "other"), State::Ignored(Why::NeverReferenced, _)));
    assert!(matches!(fetched.config.secret("default", "cert"), Presence::Known(_)));
    assert_eq!(fetched.config.secret("default", "other"), Presence::Withheld);
    let cert = fetched.config.resource("cert.default.1").expect("the Secret");
    assert!(cert.is_referenced_by("h.default.1").is_some());
    let printed = format!("{:?}{}", fetched.config, to_json(&fetched.config.dump(), true));
    assert!(!printed.contains("hush") && !printed.contains("aHVzaA"), "key material shows");
}

#[test]
fn dotted_secrets_depend_on_the_module() {
    let context = |extra: &str| object("TLSContext", "c", &format!("{{hosts: ['*'], secret: cert.certs{extra}}}"));
    let elsewhere = secret("cert").replace("{name: cert}", "{name: cert, namespace: certs}");
    let module = |config: &str| object("Module", "ambassador", &format!("{{config: {config}}}"));
    let taken = |text: String| get(&(text + &elsewhere)).rkeys().contains(&"cert.certs.1");
    assert!(taken(context("")));
    assert!(!taken(context("") + &module("{}")), "a Module turns it off unless it says otherwise");
    assert!(taken(context("") + &module("{defaults: {tls_secret_namespacing: true}}")));
    assert!(taken(context(", secret_namespacing: true") + &module("{}")));
    assert!(!taken(context(", secret_namespacing: false")));
}

#[test]
fn an_unseen_secret_is_assumed_or_missing() {
    let host = object("Host", "h", "{hostname: a.example.com, tlsSecret: {name: cert}}");
    assert_eq!(get(&host).config.secret("default", "cert"), Presence::Missing);
    let assume = Options { missing: Assumptions::of_secrets(Missing::Assume), ..Options::default() };
    let fetched = with(&assume, &host);
    assert_eq!(fetched.config.secret("default", "cert"), Presence::Assumed);
    assert!(fetched.codes().contains(&"assumed-secret"));
}

#[test]
fn forced_validation_drops_non_pem_secrets() {
    let text = object("Host", "h", "{hostname: a.example.com, tlsSecret: {name: cert}}") + &secret("cert");
    assert!(matches!(get(&text).config.secret("default", "cert"), Presence::Known(_)));
    let forced = with(&env(&[("AMBASSADOR_FORCE_SECRET_VALIDATION", "true")]), &text);
    assert_eq!(forced.config.secret("default", "cert"), Presence::Withheld);
    assert!(forced.findings.iter().any(|finding| finding.code.name == "bad-pem" && finding.severity == Severity::Error));
}

#[test]
fn knative_needs_to_be_switched_on() {
    let text = "apiVersion: networking.internal.knative.dev/v1alpha1\nkind: Ingress\nmetadata: {name: kn}\nspec:\n  rules:\n  - hosts: [a, b]\n    http:\n      paths:\n      - appendHeaders: {x: '1'}\n        timeout: 1m30s\n        splits: [{serviceName: r, percent: 90, appendHeaders: {z: '2'}}]\n";
    assert!(get(text).codes().contains(&"not-watched"));
    let fetched = with(&env(&[("AMBASSADOR_KNATIVE_SUPPORT", "True")]), text);
    assert_eq!(fetched.rkeys(), ["kn-0-0.default.1", "kn-0-1.default.2"]);
    let spec = fetched.spec("kn-0-1.default.2");
    for part in ["\"host\":\"b\"", "\"r.default:80\"", "\"timeout_ms\":90000", "\"weight\":90", "\"x\":\"1\"", "\"z\":\"2\""] {
        assert!(spec.contains(part), "{part} in {spec}");
    }
}

#[test]
fn a_memory_gives_what_fetching_from_scratch_gives() {
    let base = service("web", "kind: Mapping\napiVersion: getambassador.io/v3alpha1\nname: in\nhostname: '*'\nprefix: /in/\nservice: a\n") + INGRESS;
    let texts = [base.clone(), base.clone() + &mapping("a"), mapping("b") + &base, base.replace("/in/", "/changed/"), mapping("a"), base];
    let (mut cache, mut memory) = (DocumentCache::new(), Memory::default());
    for text in &texts {
        let (objects, _) = read(&inputs(text), &read_options(), &mut cache);
        let mut findings = Findings::default();
        let config = fetch_again(&objects, &Options::default(), &Sequential, &mut memory, &mut Ledger::new(&objects), &mut findings);
        let fresh = get(text);
        assert_eq!(to_json(&config.dump(), true), to_json(&fresh.config.dump(), true));
        let said = |findings: &[Diagnostic]| findings.iter().map(|finding| finding.message.clone()).collect::<Vec<_>>();
        assert_eq!(said(&findings), said(&fresh.findings));
    }
}

#[test]
fn unknown_kinds_are_reported() {
    let fetched = get(&(object("FilterPolicy", "f", "{}")
        + &object("Maping", "m", "{}")
        + "---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}}\n"));
    assert_eq!(fetched.codes(), ["edge-stack-kind", "unknown-kind", "unknown-kind"]);
    assert_eq!(fetched.findings[1].help.as_deref(), Some("did you mean Mapping?"));
    assert!(matches!(fetched.state("FilterPolicy", "f"), State::Ignored(Why::UnknownKind, _)));
    assert!(matches!(fetched.state("Maping", "m"), State::Invalid(_)));
}
