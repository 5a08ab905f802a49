//! Tests findings about placeholders.

use super::{EmittedByGateway, GATEWAY, Inputs, Options, Policy, Sequential, check, compile, format, mapping};

#[test]
fn variable_of_container_is_no_placeholder() {
    let pod = "---
apiVersion: v1
kind: Pod
metadata: {name: shop}
spec:
  hostname: $(LEFT)
  containers:
  - name: $(LEFT)
    args: [--namespace=$(POD_NAMESPACE)]
    command: [run, $(POD_NAME)]
    env: [{name: A, value: $(B)}]
";
    let mut compilation = compile(&Inputs::one("pod.yaml", format!("{GATEWAY}{}{pod}", mapping("''"))), &Options::default(), crate::testing::ALL);
    check(&mut compilation, &Policy::default(), &mut EmittedByGateway::default(), &Sequential);
    assert_eq!(compilation.all_diagnostics().filter(|finding| finding.code.name == "placeholder").count(), 2);
}
