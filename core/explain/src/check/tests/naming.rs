//! Tests findings about names of clusters.

use super::{EmittedByGateway, Inputs, Options, Policy, Sequential, Vec, check, compile};

#[test]
fn external_name_is_not_another_service() {
    let text = "
apiVersion: projectcontour.io/v1
kind: HTTPProxy
metadata: {name: ext, namespace: default}
spec:
  virtualhost: {fqdn: app.example.com}
  routes:
  - services: [{name: external, port: 80}]
---
apiVersion: v1
kind: Service
metadata: {name: external, namespace: default}
spec: {type: ExternalName, externalName: httpbin.org, ports: [{port: 80}]}
---
apiVersion: projectcontour.io/v1alpha1
kind: ContourConfiguration
metadata: {name: contour, namespace: projectcontour}
spec: {enableExternalNameService: true}
";
    let mut compilation = compile(&Inputs::one("gateway.yaml", text), &Options::default(), crate::testing::ALL);
    check(&mut compilation, &Policy::default(), &mut EmittedByGateway::default(), &Sequential);
    let codes: Vec<&str> = compilation.all_diagnostics().map(|finding| finding.code.name).collect();
    assert!(!codes.contains(&"collapsed-clusters"), "{codes:?}");
}
