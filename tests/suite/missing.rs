//! A fragment is what people have: what it refers to and does not hold is assumed, once, visibly, and never in a status.

use crate::{envoy, examples};
use chancery_core::compilation::{OptionValue, Options};
use chancery_core::explain::{NodeKind, graph};
use chancery_tests::work::{Work, inputs};
use std::collections::BTreeSet;

/// What may be missing, and the findings that say so.
const NOT_FOUND: &[&str] = &["service-not-found", "secret-not-found", "unresolved-reference", "dangling-reference"];

fn with(options: &Options, missing: &'static str) -> Options {
    options.clone().with("missing", OptionValue::Text(missing.into()))
}

fn compiled(text: &str, words: &str) -> Work {
    Work::new(&inputs([("input.yaml", text)]), &chancery_tests::work::options(&format!("dialect=contour {words}")).expect("options"))
}

const FRAGMENT: &str = "\
apiVersion: projectcontour.io/v1
kind: HTTPProxy
metadata: {name: shop, namespace: shop}
spec:
  virtualhost:
    fqdn: shop.example.com
    tls: {secretName: shop-tls}
    authorization: {extensionRef: {name: auth, namespace: auth}}
  routes:
  - services:
    - {name: shop, port: 80}
    - {name: cart, port: 8080}
";

fn assumed(work: &Work) -> Vec<String> {
    let findings = work.findings().into_iter();
    findings.filter(|finding| finding.code.starts_with("assumed-") && finding.code != "assumed-dialect").map(|finding| finding.message).collect()
}

#[test]
fn a_fragment_is_served_and_each_assumption_is_one_notice() {
    let mut work = compiled(FRAGMENT, "missing=auto");
    assert_eq!(work.errors(), Vec::<String>::new());
    let told = assumed(&work);
    for name in
        ["Secret `shop-tls` (shop)", "Service `shop` (shop)", "Service `cart` (shop)", "ExtensionService `auth` (auth)", "Service `auth` (auth)"]
    {
        assert_eq!(told.iter().filter(|message| message.starts_with(&format!("the {name}"))).count(), 1, "{name}: {told:#?}");
    }
    assert_eq!(told.len(), 5, "{told:#?}");
    let envoy = work.envoy().to_string();
    for part in ["shop/cart/8080", "extension/auth/auth", "shop/shop-tls"] {
        assert!(envoy.contains(part), "{part} in {envoy}");
    }
}

/// A Secret of another name, so that the input holds some, and what makes `shop-tls`.
fn beside_a_secret(fragment: &str, maker: &str) -> String {
    format!("{fragment}---\napiVersion: v1\nkind: Secret\nmetadata: {{name: other, namespace: shop}}\ntype: Opaque\n---\n{maker}")
}

#[test]
fn a_secret_that_an_operator_makes_is_not_missing() {
    let host = "\
apiVersion: getambassador.io/v3alpha1
kind: Listener
metadata: {name: https, namespace: shop}
spec: {port: 8443, protocol: HTTPS, securityModel: XFP, hostBinding: {namespace: {from: ALL}}}
---
apiVersion: getambassador.io/v3alpha1
kind: Host
metadata: {name: shop, namespace: shop}
spec: {hostname: shop.example.com, tlsSecret: {name: shop-tls}}
---
apiVersion: getambassador.io/v3alpha1
kind: Mapping
metadata: {name: shop, namespace: shop}
spec: {hostname: shop.example.com, prefix: /, service: shop}
";
    let makers = [
        (
            "Certificate `shop` (shop)",
            "apiVersion: cert-manager.io/v1\nkind: Certificate\nmetadata: {name: shop, namespace: shop}\nspec: {secretName: shop-tls}\n",
        ),
        ("SealedSecret `shop-tls` (shop)", "apiVersion: bitnami.com/v1alpha1\nkind: SealedSecret\nmetadata: {name: shop-tls, namespace: shop}\n"),
        (
            "ExternalSecret `shop-tls` (shop)",
            "apiVersion: external-secrets.io/v1\nkind: ExternalSecret\nmetadata: {name: shop-tls, namespace: shop}\n",
        ),
    ];
    for (dialect, fragment) in [("contour", FRAGMENT), ("ambassador", host)] {
        let messages = |text: &str| -> Vec<String> {
            let options = chancery_tests::work::options(&format!("dialect={dialect} missing=auto")).expect("options");
            Work::new(&inputs([("input.yaml", text)]), &options).findings().into_iter().map(|finding| finding.message).collect()
        };
        for (name, maker) in &makers {
            let messages = messages(&beside_a_secret(fragment, maker));
            let told = format!("is not in the input; {name} makes it");
            assert!(messages.iter().any(|message| message.ends_with(&told)), "{dialect} {told}: {messages:#?}");
        }
        let messages = messages(&beside_a_secret(fragment, "{}"));
        assert!(!messages.iter().any(|message| message.contains("makes it")), "{messages:#?}");
    }
}

#[test]
fn what_is_assumed_is_a_ghost_in_the_graph_and_no_line_of_the_ledger() {
    let work = compiled(FRAGMENT, "missing=auto");
    let graph = graph(&work.compilation, &work.compilation.positions());
    let ghosts: Vec<_> = graph.nodes.iter().filter(|node| node.kind == NodeKind::Missing).collect();
    assert!(ghosts.len() >= 4 && ghosts.iter().all(|node| node.state == Some("assumed")), "{ghosts:#?}");
    let shop = ghosts.iter().find(|node| node.label.contains("shop-tls")).expect("the Secret");
    assert!(graph.edges.iter().any(|edge| edge.to == shop.id), "the HTTPProxy refers to it");
    assert_eq!(work.ledger().len(), 1);
}

#[test]
fn statuses_are_those_of_a_cluster_without_what_is_assumed() {
    let status = |words: &str| compiled(FRAGMENT, words).compilation.sides[0].answers.status_document();
    assert_eq!(status("missing=auto"), status("missing=error"));
    assert!(status("missing=auto").is_some());
}

#[test]
fn an_object_beside_others_of_its_kind_is_missing_and_not_assumed() {
    let other = "---\napiVersion: v1\nkind: Service\nmetadata: {name: shopp, namespace: shop}\nspec: {ports: [{port: 80}]}\n";
    let text = format!("{FRAGMENT}{other}");
    let auto = compiled(&text, "missing=auto");
    assert!(!assumed(&auto).iter().any(|message| message.contains("Service `shop`")));
    assert!(auto.errors().iter().any(|error| error.contains("invalid") || error.contains("service")), "{:?}", auto.errors());
    let assume = compiled(&text, "missing=assume");
    assert!(assumed(&assume).iter().any(|message| message.contains("Service `shop`")));
    assert_eq!(assume.errors(), Vec::<String>::new());
}

#[test]
fn nothing_is_assumed_unless_asked_for() {
    assert_eq!(assumed(&compiled(FRAGMENT, "")), Vec::<String>::new());
    assert_eq!(assumed(&compiled(FRAGMENT, "missing=error")), Vec::<String>::new());
}

#[test]
fn missing_secrets_wins_for_secrets_alone() {
    let told = assumed(&compiled(FRAGMENT, "missing=auto missing-secrets=error"));
    assert!(!told.is_empty() && told.iter().all(|message| !message.contains("Secret")), "{told:#?}");
    let told = assumed(&compiled(FRAGMENT, "missing-secrets=assume"));
    assert!(told.len() == 1 && told[0].contains("Secret"), "{told:#?}");
}

#[test]
fn a_route_of_gateway_api_alone_gets_a_gateway_and_its_class() {
    let route = "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: shop, namespace: shop}\nspec:\n  parentRefs: [{name: edge, namespace: infra, sectionName: https}]\n  hostnames: [shop.example.com]\n  rules:\n  - backendRefs: [{name: shop, port: 80}]\n";
    for controller in ["", " controller=gateway-provisioner"] {
        let mut work = compiled(route, &format!("missing=auto{controller}"));
        assert_eq!(work.errors(), Vec::<String>::new(), "{controller}");
        let told = assumed(&work).join("\n");
        for kind in ["Gateway `edge`", "GatewayClass `", "Secret `edge`", "Service `shop`"] {
            assert!(told.contains(kind), "{kind} in {told}");
        }
        let envoy = work.envoy().to_string();
        assert!(envoy.contains("shop.example.com"), "{controller}: {envoy}");
    }
}

#[test]
fn an_edit_gives_what_a_compile_from_scratch_gives() {
    let options = chancery_tests::work::options("dialect=contour missing=auto").expect("options");
    let mut compiler = chancery_core::compile::Compiler::new(chancery_core::dialect::ALL);
    let edits = [
        FRAGMENT.to_string(),
        FRAGMENT.replace("8080", "8081"),
        format!("# a comment\n{FRAGMENT}"),
        format!("{FRAGMENT}---\napiVersion: v1\nkind: Service\nmetadata: {{name: shop, namespace: shop}}\nspec: {{ports: [{{port: 80}}]}}\n"),
        FRAGMENT.replace("cart", "basket"),
    ];
    for text in edits {
        let inputs = inputs([("input.yaml", text.as_str())]);
        let compilation = compiler.compile(&inputs, &options);
        let view = |of: &chancery_core::compilation::Compilation| {
            let findings: Vec<String> = chancery_core::explain::findings(of, &of.positions()).iter().map(|finding| format!("{finding:?}")).collect();
            (findings, of.sides[0].answers.status_document())
        };
        let mut scratch = Work::new(&inputs, &options);
        assert_eq!(view(&compilation), view(&scratch.compilation));
        let bootstrap = chancery_core::backend::envoy::Document::Bootstrap;
        assert_eq!(chancery_tests::work::emit(&compilation, bootstrap, &mut compiler).text(), scratch.text(bootstrap));
    }
}

#[test]
fn only_kinds_that_the_input_lacks_are_assumed_and_no_status_changes() {
    let examples = examples::examples().into_iter().map(|example| (example.name, example.inputs, example.options));
    for (name, inputs, options) in examples.chain(envoy::cases()) {
        let whole = Work::new(&inputs, &with(&options, "error"));
        let auto = Work::new(&inputs, &with(&options, "auto"));
        for (whole, auto) in whole.compilation.sides.iter().zip(&auto.compilation.sides) {
            assert_eq!(whole.answers.status_document(), auto.answers.status_document(), "{name}");
        }
        let written: BTreeSet<_> = whole.compilation.objects.iter().map(|object| (object.key.group.clone(), object.key.kind.clone())).collect();
        let assumed = auto.compilation.objects.assumed();
        let wrong: Vec<String> = assumed
            .filter(|object| written.contains(&(object.key.group.clone(), object.key.kind.clone())))
            .map(|object| object.key.to_string())
            .collect();
        assert!(wrong.is_empty(), "{name}: {wrong:?}");
        let kinds = ["Service", "Secret", "ConfigMap"];
        let holds = |kind: &str| written.iter().any(|(group, held)| group.is_empty() && held == kind);
        if auto.compilation.sides.iter().any(|side| side.dialect.name == "contour") && kinds.iter().all(|kind| !holds(kind)) {
            let missing: Vec<_> = auto.findings().into_iter().filter(|finding| NOT_FOUND.contains(&finding.code)).collect();
            assert!(missing.is_empty(), "{name}: {missing:#?}");
        }
    }
}

#[test]
fn objects_of_the_other_side_of_a_comparison_are_not_assumed() {
    let held: BTreeSet<_> = [("".into(), "Secret".into())].into();
    for (dialect, text) in [("contour", FRAGMENT), ("ambassador", HOST)] {
        let mut options = chancery_tests::work::options(&format!("dialect={dialect} missing=auto")).expect("options");
        let assumes = |options: &Options| assumed(&Work::new(&inputs([("input.yaml", text)]), options)).iter().any(|told| told.contains("Secret"));
        assert!(assumes(&options), "{dialect}");
        options.held.clone_from(&held);
        assert!(!assumes(&options), "{dialect}");
    }
}

const HOST: &str = "\
apiVersion: getambassador.io/v3alpha1
kind: Host
metadata: {name: shop}
spec: {hostname: shop.example.com, tlsSecret: {name: shop-tls}}
";
