//! Tests which inputs are recognised as those of other programs.

use super::unsupported_input;
use crate::Compiler;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::compilation::Options;
use chancery_base::resource::Inputs;

/// Inputs of other programs, each with its name.
const OTHERS: &[(&str, &str)] = &[
    ("apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {name: a}\nspec: {hosts: [a]}\n", "Istio resources"),
    ("apiVersion: configuration.konghq.com/v1\nkind: KongPlugin\nmetadata: {name: a}\n", "Kong resources"),
    ("apiVersion: traefik.io/v1alpha1\nkind: IngressRoute\nmetadata: {name: a}\n", "Traefik resources"),
    ("apiVersion: ingress.v1.haproxy.org/v1\nkind: TCP\nmetadata: {name: a}\n", "HAProxy resources"),
    ("apiVersion: elbv2.k8s.aws/v1beta1\nkind: TargetGroupBinding\nmetadata: {name: a}\n", "AWS resources"),
    ("apiVersion: policy.linkerd.io/v1beta3\nkind: Server\nmetadata: {name: a}\n", "Linkerd resources"),
    ("apiVersion: cilium.io/v2\nkind: CiliumNetworkPolicy\nmetadata: {name: a}\n", "Cilium resources"),
    (
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {replicas: 1}\n---\napiVersion: v1\nkind: Service\nmetadata: {name: a}\n",
        "workloads alone",
    ),
    ("apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a.b.c}\n", "CustomResourceDefinitions"),
    (
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: a}\n---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: a}\n",
        "Kubernetes resources that route no requests",
    ),
    ("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [a.yaml]\n", "a kustomization"),
    ("resources:\n- a.yaml\nnamePrefix: b-\n", "a kustomization"),
    ("apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a}\n", "Argo CD resources"),
    ("apiVersion: v2\nname: shop\nversion: 1.2.3\n", "the description of a Helm chart"),
    ("replicaCount: 2\nimage:\n  repository: nginx\ningress:\n  enabled: true\n", "Helm values"),
    ("{{- if .Values.ingress.enabled }}\nfoo: {{ .Values.a }}\n{{- end }}\n", "Helm templates"),
    ("user nginx;\nhttp {\n  server {\n    listen 80;\n    location / { proxy_pass http://a; }\n  }\n}\n", "nginx configuration"),
    ("global\n  maxconn 10\nfrontend web\n  bind :80\n  default_backend app\n", "HAProxy configuration"),
    ("openapi: 3.0.0\ninfo:\n  title: Shop\npaths: {}\n", "an OpenAPI description"),
    ("resource \"aws_lb\" \"a\" {\n  name = \"a\"\n}\n", "Terraform configuration"),
    ("services:\n  web:\n    image: nginx\n    ports: [\"80:80\"]\n", "a Docker Compose file"),
    ("datacenter = \"dc1\"\ndata_dir = \"/opt/consul\"\nretry_join = [\"10.0.0.1\"]\n", "the configuration of a Consul agent"),
    ("{\n  \"datacenter\": \"dc1\",\n  \"data_dir\": \"/opt/consul\",\n  \"server\": true\n}\n", "the configuration of a Consul agent"),
    ("http:\n  routers:\n    a: {rule: Host(`a`)}\n", "Traefik configuration"),
    ("The gateway sends requests for the shop to the cart.\nIt should not do that at night.\n", "plain text"),
];

fn findings(text: &str) -> Vec<(&'static str, String)> {
    let compilation = Compiler::new(crate::testing::ALL).compile(&Inputs::one("a.yaml", text), &Options::default());
    compilation.all_diagnostics().map(|finding| (finding.code.name, String::from(finding.message.as_str()))).collect()
}

#[test]
fn inputs_of_other_programs_are_named() {
    for (text, name) in OTHERS {
        assert_eq!(unsupported_input(text).map(|of| of.name), Some(*name), "{text}");
        let found = findings(text);
        let about: Vec<&str> = found.iter().filter(|(code, _)| *code == "unsupported-input").map(|(_, message)| message.as_str()).collect();
        assert_eq!(about, [alloc::format!("Chancery does not read {name}")], "{found:?}");
        assert!(!found.iter().any(|(code, _)| matches!(*code, "syntax" | "unknown-kind" | "incomplete-object" | "assumed-dialect")), "{found:?}");
    }
}

#[test]
fn inputs_of_dialects_are_not_unsupported() {
    let read = [
        "apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {name: a}\nspec: {hostname: '*', prefix: /, service: a}\n",
        "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: [{port: 80}]}\n",
        "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: a}\n",
        "Kind: service-router\nName: web\n",
        "service {\n  name = \"web\"\n  port = 80\n}\n",
        "apiVersion: v1\nkind: List\nitems:\n- apiVersion: projectcontour.io/v1\n  kind: HTTPProxy\n",
        "a: 1\n",
        "",
    ];
    for text in read {
        assert_eq!(unsupported_input(text), None, "{text}");
    }
    // An input with resources of a dialect belongs to it, whatever else it contains.
    let mixed = alloc::format!("{}---\n{}", read[0], OTHERS[0].0);
    assert!(!findings(&mixed).iter().any(|(code, _)| *code == "unsupported-input"));
}
