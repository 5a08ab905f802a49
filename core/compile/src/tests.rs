//! Tests the detection of dialects.

use super::{Compiler, detect};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::compilation::{Options, for_interactive_use};
use chancery_base::resource::{Input, Inputs};

fn of(texts: &[&str]) -> String {
    let inputs = texts.iter().map(|text| Input { name: "input.yaml".into(), text: (*text).into() });
    let found = detect(&Inputs::from(inputs.collect::<Vec<_>>()), crate::testing::ALL).dialects();
    found.iter().map(|dialect| dialect.name).collect::<Vec<_>>().join(", ")
}

#[test]
fn the_dialect_is_found_from_the_kinds() {
    assert_eq!(of(&["apiVersion: getambassador.io/v3alpha1\nkind: Mapping\n"]), "ambassador");
    assert_eq!(of(&["kind: HTTPProxy\napiVersion: projectcontour.io/v1\n"]), "contour");
    assert_eq!(of(&["- apiVersion: 'gateway.networking.k8s.io/v1'\n  kind: HTTPRoute\n"]), "contour");
    assert_eq!(of(&[r#"{"kind": "HTTPProxy", "apiVersion": "projectcontour.io/v1"}"#]), "contour");
    assert_eq!(of(&["metadata:\n  annotations:\n    getambassador.io/config: |\n      ---\n"]), "ambassador");
    assert_eq!(of(&["metadata:\n  annotations:\n    projectcontour.io/websocket-routes: /ws\n"]), "contour");
    assert_eq!(of(&["metadata: {name: web, annotations: {projectcontour.io/ingress.class: contour}}\n"]), "contour");
    assert_eq!(of(&[r#"{"metadata": {"annotations": {"a": "b", "projectcontour.io/ingress.class": "contour"}}}"#]), "contour");
    assert_eq!(of(&["metadata: {name: web, labels: {a: 'one, projectcontour.io/v1'}}\n"]), "ambassador", "no key");
}

#[test]
fn input_may_have_both_dialects() {
    assert_eq!(of(&["apiVersion: projectcontour.io/v1\n", "---\napiVersion: getambassador.io/v2\n"]), "ambassador, contour");
    assert_eq!(of(&["apiVersion: getambassador.io/v2\n---\nspec: {ingressClassName: contour}\n"]), "ambassador, contour");
    assert_eq!(of(&["annotations:\n  getambassador.io/config: |\n---\napiVersion: projectcontour.io/v1\n"]), "ambassador, contour");
}

#[test]
fn shared_kinds_do_not_add_a_second_dialect() {
    let mapping = "apiVersion: getambassador.io/v3alpha1\n";
    assert_eq!(of(&[mapping, "apiVersion: gateway.networking.k8s.io/v1\n"]), "ambassador");
    assert_eq!(of(&[mapping, "annotations:\n  projectcontour.io/websocket-routes: /ws\n"]), "ambassador");
}

#[test]
fn an_ingress_goes_by_its_class() {
    assert_eq!(of(&["kind: Ingress\nspec:\n  ingressClassName: contour\n"]), "contour");
    assert_eq!(of(&["annotations:\n  kubernetes.io/ingress.class: \"contour\"\n"]), "contour");
    assert_eq!(of(&["annotations: {kubernetes.io/ingress.class: contour, a: b}\n"]), "contour");
    assert_eq!(of(&["spec:\n  ingressClassName: ambassador\n"]), "ambassador");
    assert_eq!(of(&["kind: Ingress\n"]), "ambassador");
}

#[test]
fn class_outweighs_annotations() {
    let ingress = |name: &str, class: &str| {
        let annotations = "annotations: {appgw.ingress.kubernetes.io/ssl-redirect: 'true', a: b}";
        let spec = format!("spec:\n  ingressClassName: {class}\n");
        format!("apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata:\n  name: {name}\n  {annotations}\n{spec}---\n")
    };
    assert_eq!(of(&[&ingress("a", "contour")]), "contour");
    assert_eq!(of(&[&ingress("a", "contour"), &ingress("b", "azure-application-gateway")]), "contour, ingress");
    // The class of the second Ingress is unknown: its controller may be AGIC.
    assert_eq!(of(&[&ingress("a", "contour"), &ingress("b", "internal")]), "contour, ingress");
    assert_eq!(of(&[&(ingress("a", "contour") + &ingress("b", "internal"))]), "contour, ingress");
    assert_eq!(of(&[&ingress("a", "internal")]), "ingress");
    let class = |controller: &str| {
        let spec = format!("spec: {{controller: {controller}}}\n");
        format!("apiVersion: networking.k8s.io/v1\nkind: IngressClass\nmetadata: {{name: internal}}\n{spec}")
    };
    assert_eq!(of(&[&ingress("a", "internal"), &class("projectcontour.io/ingress-controller")]), "contour");
    assert_eq!(of(&[&ingress("a", "internal"), &class("azure/application-gateway")]), "ingress");
    let old = ingress("a", "contour").replace("a: b", "kubernetes.io/ingress.class: contour").replace("spec:\n  ingressClassName: contour\n", "");
    assert_eq!(of(&[&old]), "contour");
    // A mark in a comment does not name a class.
    assert_eq!(of(&[&ingress("a", "internal"), "# projectcontour.io/\napiVersion: projectcontour.io/v1\n"]), "contour, ingress");
}

#[test]
fn a_class_goes_by_its_controller() {
    let class = |controller: &str| of(&[&format!("apiVersion: networking.k8s.io/v1\nkind: IngressClass\nspec: {{controller: {controller}}}\n")]);
    assert_eq!(class("azure/application-gateway"), "ingress");
    assert_eq!(class("projectcontour.io/ingress-controller"), "contour");
    assert_eq!(class("getambassador.io/ingress-controller"), "ambassador");
    assert_eq!(of(&["kind: GatewayClass\nspec:\n  controllerName: projectcontour.io/gateway-controller\n"]), "contour");
    let both = "apiVersion: getambassador.io/v2\n---\nspec:\n  controller: \"azure/application-gateway\"\n";
    assert_eq!(of(&[both]), "ambassador, ingress");
    assert_eq!(of(&["kind: ConfigMap\ndata:\n  contour.yaml: |\n    tls: {}\n"]), "contour");
}

#[test]
fn only_top_level_hcl_blocks_count() {
    assert_eq!(of(&["service {\n  name = \"web\"\n}\n"]), "consul");
    assert_eq!(of(&["# two\nservices  {\n  name = \"web\"\n}\n"]), "consul");
    assert_eq!(of(&["{\"service\": {\"name\": \"web\"}}\n"]), "consul");
    assert_eq!(of(&["services = [\n  { name = \"web\" }\n]\n"]), "consul");
    let others = [
        "job \"web\" {\n  service {\n  }\n}\n",
        "service \"web\" {\n}\n",
        "service:\n  name: web\n",
        "service_account {\n}\n",
        "services:\n  web: {image: nginx}\n",
    ];
    others.iter().for_each(|text| assert_eq!(of(&[*text]), "ambassador", "{text}"));
}

#[test]
fn catalog_registration_is_detected_by_keys() {
    let registration = "Node: n1\nAddress: 10.0.0.1\nService: {Service: db, Port: 5432}\n";
    assert_eq!(of(&[registration]), "consul");
    assert_eq!(of(&["# empty\n---\n{\"Address\": \"10.0.0.1\", \"Node\": \"n1\", \"Service\": {\"Service\": \"db\"}}\n"]), "consul");
    assert_eq!(of(&["[\n  {\n    \"Node\": \"n1\",\n    \"Address\": \"10.0.0.1\",\n    \"Service\": {}\n  }\n]\n"]), "consul");
    assert_eq!(of(&["- Node: n1\n  Address: 10.0.0.1\n  Service: {Service: db}\n"]), "consul");
    assert_eq!(of(&["{Service: {Service: \"}\", Tags: [a]}, Address: 10.0.0.1, Node: n1}\n"]), "consul");
    assert_eq!(of(&["# don't {\n{Note: it's, Address: 10.0.0.1, Node: n1, Service: {Service: db}}\n"]), "consul");
    assert_eq!(of(&["Node = \"n1\"\nAddress = \"10.0.0.1\"\nService {\n  Service = \"db\"\n}\n"]), "consul");
    assert_eq!(of(&[registration, "apiVersion: getambassador.io/v3alpha1\nkind: Mapping\n"]), "ambassador, consul");
    let others = [
        "Node: n1\nAddress: 10.0.0.1\n",
        "node: n1\naddress: 10.0.0.1\nservice: {name: db}\n",
        "Node: n1\n---\nAddress: 10.0.0.1\nService: db\n",
        "data:\n  Node: n1\n  Address: 10.0.0.1\n  Service: db\n",
        "Node: {Name: n1}\nAddress: 10.0.0.1\nService: {}\n",
        "text: |\n  Node: n1\nAddress: 10.0.0.1\nService: db\n",
        "{\"data\": {\"Node\": \"n1\", \"Address\": \"10.0.0.1\", \"Service\": \"db\"}}\n",
        "a: {Node: n1, Address: 10.0.0.1, Service: db}\n",
        "Node:\n  Name: n1\nAddress: 10.0.0.1\nService: {}\n",
    ];
    others.iter().for_each(|text| assert_eq!(of(&[*text]), "ambassador", "{text}"));
}

#[test]
fn other_programs_hcl_is_not_consul() {
    let sidecar = "connect {\n  sidecar_service {}\n}\n";
    let nomad = format!("job \"web\" {{\n  service {{\n    name = \"web\"\n    {sidecar}  }}\n}}\n");
    assert_eq!(of(&[&nomad]), "ambassador");
    assert_eq!(of(&["resource \"consul_config_entry\" \"w\" {\n  kind = \"service-defaults\"\n}\n"]), "ambassador");
    assert_eq!(of(&[&format!("service {{\n  name = \"web\"\n  {sidecar}}}\n")]), "consul");
}

#[test]
fn edited_text_is_detected_like_fresh() {
    let filler = "# nothing\n".repeat(300);
    let words = ["apiVersion: projectcontour.io/v1\n", "apiVersion: getambassador.io/v2\n", "service {\n", "spec: {ingressClassName: contour}\n"];
    let mut memory = detect::ClaimMemory::default();
    for word in words {
        for cut in 1..word.len() {
            let (begin, end) = word.split_at(cut);
            // The word is formed by a removal, split again, and inserted as a whole.
            let texts = [
                format!("{filler}{begin}x{end}{filler}"),
                format!("{filler}{word}{filler}"),
                format!("{filler}{begin}\n{filler}{end}{filler}"),
                format!("{filler}{filler}"),
                format!("{filler}{word}{filler}"),
                word.into(),
                String::new(),
            ];
            for text in texts {
                let inputs = Inputs::one("input.yaml", text.as_str());
                let found = detect::detect_with(&inputs, crate::testing::ALL, &mut memory);
                assert_eq!(found, detect(&inputs, crate::testing::ALL), "{text}");
            }
        }
    }
}

#[test]
fn mentions_are_not_detected() {
    assert_eq!(of(&["# see apiVersion: projectcontour.io/v1\n", "text: about projectcontour.io/v1\n"]), "ambassador");
    assert_eq!(of(&["#  ingressClassName: contour\n", ""]), "ambassador");
}

#[test]
fn stored_objects_are_accepted_unchanged() {
    let text = "apiVersion: projectcontour.io/v1\nkind: HTTPProxy\nmetadata: {name: a, namespace: default}\nspec:\n  ownField: 1\n  virtualhost: {fqdn: a.example.com}\n";
    let mut inputs = Inputs::one("HTTPProxy.projectcontour.io/default/a", text);
    let mut compiler = Compiler::new(crate::testing::ALL);
    let mut refused = |inputs: &Inputs| {
        let found = compiler.compile(inputs, &Options::of(&chancery_contour::DIALECT));
        found.sides.iter().any(|side| !side.answers.refused.is_empty())
    };
    assert!(refused(&inputs), "the schema that we carry has no such field");
    inputs.stored = Arc::new(inputs.inputs.iter().map(|input| input.name.clone()).collect());
    assert!(!refused(&inputs), "an API server has taken it");
    inputs.stored = Arc::default();
    assert!(refused(&inputs), "a memory does not take the one for the other");
}

#[test]
fn skipping_statuses_changes_nothing_else() {
    let proxy = "apiVersion: projectcontour.io/v1\nkind: HTTPProxy\nmetadata: {name: a, namespace: d}\nspec: {virtualhost: {fqdn: a.example.com}, routes: [{services: [{name: s, port: 80}]}]}\n";
    let route = "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: r, namespace: d}\nspec: {parentRefs: [{name: gw}], rules: [{backendRefs: [{name: s, port: 80}]}]}\n";
    let mut options = for_interactive_use(Options::default());
    options.dialect = Some("contour".into());
    for text in [proxy, route] {
        let inputs = Inputs::one("a.yaml", text);
        let [with, without] = [Compiler::new(crate::testing::ALL), Compiler::new(crate::testing::ALL).without_statuses()]
            .map(|mut compiler| compiler.compile(&inputs, &options));
        assert!(with.objects.assumed().next().is_some(), "something is assumed");
        let [one, other] = [&with, &without].map(|compilation| compilation.sides().next().expect("a side"));
        assert!(one.side.answers.statuses.is_some() && other.side.answers.statuses.is_none());
        assert!(one.gateways().map(|gateway| gateway.ir).eq(other.gateways().map(|gateway| gateway.ir)), "what Envoy gets");
        assert!(with.all_diagnostics().eq(without.all_diagnostics()), "findings");
    }
}
