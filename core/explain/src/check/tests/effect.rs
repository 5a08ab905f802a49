//! Tests findings about resources without effect.

use super::{EmittedByGateway, Inputs, Options, Policy, Sequential, Severity, String, Vec, check, compile, format};

#[test]
fn class_named_by_annotation_is_a_notice() {
    let found = |class: &str, spec: &str| {
        let text = format!(
            "apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {{name: nginx}}
spec: {{controller: k8s.io/ingress-nginx}}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {{name: web, annotations: {{kubernetes.io/ingress.class: {class}}}}}
spec:
  {spec}
  rules: [{{host: a.example.com, http: {{paths: [{{path: /, pathType: Prefix, backend: {{service: {{name: web, port: {{number: 80}}}}}}}}]}}}}]
"
        );
        let mut compilation = compile(&Inputs::one("gateway.yaml", text), &Options::default(), crate::testing::ALL);
        check(&mut compilation, &Policy::default(), &mut EmittedByGateway::default(), &Sequential);
        let of_class =
            compilation.all_diagnostics().filter(|finding| finding.code.name == "no-effect" && finding.message.starts_with("IngressClass"));
        of_class.map(|finding| (finding.severity, finding.message.clone())).collect::<Vec<(Severity, String)>>()
    };
    let all = found("nginx", "");
    assert!(
        matches!(&all[..], [(Severity::Notice, message)] if message.contains("Ingress web.default names the class by the annotation")),
        "{all:?}"
    );
    assert!(matches!(&found("other", "")[..], [(Severity::Warning, _)]));
    assert!(found("nginx", "ingressClassName: nginx").is_empty());
}

#[test]
fn ignored_proxy_with_assumed_secret_is_reported() {
    let proxy = "apiVersion: projectcontour.io/v1\nkind: HTTPProxy\nmetadata: {name: p, annotations: {kubernetes.io/ingress.class: internal}}\nspec: {virtualhost: {fqdn: a.example.com, tls: {secretName: x}}, routes: [{services: [{name: web, port: 80}]}]}\n";
    let found = super::found_alone(proxy);
    assert!(found.contains(&("assumed-secret", Severity::Notice)) && found.contains(&("no-effect", Severity::Warning)), "{found:?}");
}
