//! Checks a controller with several gateways: each provisioned Gateway gets the Envoy that its own Contour would configure, and every view names
//! the gateway.

use chancery_core::compilation::{Compilation, GatewayRef, OptionValue, Options, Outcome};
use chancery_core::compile::{Compiler, compile};
use chancery_core::dialect;
use chancery_core::explain::{View, Viewed, explain_line, graph, ledger};
use chancery_core::resource::SourceId;
use chancery_core::text::to_json;
use chancery_tests::work::inputs;

/// Two Gateways of the provisioner's class, each with its own route, and a third whose namespaces do not exist.
const TWO: &str = "\
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: contour}
spec: {controllerName: projectcontour.io/gateway-controller}
---
apiVersion: projectcontour.io/v1alpha1
kind: ContourDeployment
metadata: {name: slow, namespace: infra}
spec: {runtimeSettings: {envoy: {timeouts: {requestTimeout: 7s}}}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: slow}
spec:
  controllerName: projectcontour.io/gateway-controller
  parametersRef: {group: projectcontour.io, kind: ContourDeployment, name: slow, namespace: infra}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: inner, namespace: shop}
spec:
  gatewayClassName: contour
  listeners: [{name: http, port: 80, protocol: HTTP}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: outer, namespace: shop}
spec:
  gatewayClassName: slow
  listeners: [{name: http, port: 81, protocol: HTTP}]
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {ports: [{port: 80}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: one, namespace: shop}
spec:
  parentRefs: [{name: inner}]
  hostnames: [one.example.com]
  rules: [{backendRefs: [{name: web, port: 80}]}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: both, namespace: shop}
spec:
  parentRefs: [{name: inner}, {name: outer}]
  hostnames: [both.example.com]
  rules: [{backendRefs: [{name: web, port: 80}]}]
";

/// The configuration of the Contour for the Gateway `outer`: the provisioner's own ContourConfiguration, under the name of Contour's namespace.
const ALONE: &str = "---
apiVersion: projectcontour.io/v1alpha1
kind: ContourConfiguration
metadata: {name: contourconfig-outer, namespace: projectcontour}
spec:
  gateway: {gatewayRef: {name: outer, namespace: shop}}
  envoy: {service: {name: envoy-outer, namespace: shop}, timeouts: {requestTimeout: 7s}}
";

fn provisioned(text: &str) -> Compilation {
    let options = Options::default().with("controller", OptionValue::Text("gateway-provisioner".into()));
    compile(&inputs([("input.yaml", text)]), &options, &[&dialect::contour::DIALECT])
}

fn ids(of: &Compilation) -> Vec<&str> {
    of.sides.iter().flat_map(|side| &side.gateways).map(|gateway| gateway.id.as_str()).collect()
}

#[test]
fn provisioned_gateway_equals_its_own_contour() {
    let compilation = provisioned(TWO);
    assert_eq!(ids(&compilation), ["shop/inner", "shop/outer"]);
    let flags = OptionValue::List(vec!["--contour-config-name=contourconfig-outer".into()]);
    let text = format!("{TWO}{ALONE}");
    let alone = compile(&inputs([("input.yaml", text.as_str())]), &Options::default().with("controller-arg", flags), &[&dialect::contour::DIALECT]);
    let outer = compilation.gateways().find(|gateway| gateway.id.as_str() == "shop/outer").expect("it runs");
    let own = alone.gateways().next().expect("it runs");
    let mut compiler = Compiler::new(&[]);
    let mut document = |gateway: GatewayRef<'_>| to_json(&Viewed::new(gateway.ir, View::Xds, compiler.emitted.of(gateway)).root, false);
    assert_eq!(document(outer), document(own));
    let owner = compilation.sides[0].gateways[1].owner.and_then(|owner| compilation.objects.get(owner)).expect("the Gateway");
    assert_eq!(owner.key.name, "outer");
}

#[test]
fn a_gateway_whose_contour_cannot_start_stops_alone() {
    let watching = TWO.replace("spec: {runtimeSettings", "spec: {contour: {watchNamespaces: [nowhere]}, runtimeSettings");
    let compilation = provisioned(&watching);
    let outcomes: Vec<_> =
        compilation.sides[0].gateways.iter().map(|gateway| (gateway.id.as_str(), matches!(gateway.outcome, Outcome::Runs(_)))).collect();
    assert_eq!(outcomes, [("shop/inner", true), ("shop/outer", false)]);
    let (_, _, failure) = compilation.stopped().next().expect("one stopped");
    assert!(failure.error.contains("failed to find namespace nowhere"), "{}", failure.error);
}

#[test]
fn views_of_several_gateways_name_gateway() {
    let compilation = provisioned(TWO);
    let positions = compilation.positions();
    let graph = graph(&compilation, &positions);
    for id in ["shop/inner", "shop/outer"] {
        assert!(graph.nodes.iter().any(|node| node.gateway.as_deref() == Some(id) && node.id.starts_with(&format!("{id}/listener:"))), "{id}");
    }
    let both = ledger(&compilation, &positions).into_iter().find(|row| row.resource.name == "both").expect("its row");
    assert_eq!(both.state, "emitted");
    for id in ["shop/inner", "shop/outer"] {
        assert!(both.into.iter().any(|into| into.ends_with(&format!(" of {id}"))), "{:?}", both.into);
    }
    let mut compiler = Compiler::new(&[]);
    let documents: Vec<_> =
        compilation.gateways().map(|gateway| (gateway.named(), Viewed::new(gateway.ir, View::Envoy, compiler.emitted.of(gateway)))).collect();
    let line = 1 + TWO.lines().position(|line| line.contains("both.example.com")).expect("the line") as u32;
    let report = explain_line(&compilation, &positions, &documents, SourceId(0), line, None).expect("a report");
    let mut named: Vec<_> = report.made.iter().filter_map(|made| made.gateway.as_deref()).collect();
    named.dedup();
    assert_eq!(named, ["shop/inner", "shop/outer"]);
}

#[test]
fn edit_of_one_gateway_keeps_other_values() {
    let options = Options::default().with("controller", OptionValue::Text("gateway-provisioner".into()));
    let mut compiler = Compiler::new(&[&dialect::contour::DIALECT]);
    let mut run = |text: &str| compiler.compile(&inputs([("input.yaml", text)]), &options);
    let before = run(TWO);
    let edited = TWO.replace("hostnames: [one.example.com]", "hostnames: [other.example.com]");
    let after = run(&edited);
    let fresh = provisioned(&edited);
    for (remembered, fresh) in after.gateways().zip(fresh.gateways()) {
        assert!(**remembered.ir == **fresh.ir, "{}", fresh.id);
    }
    assert_eq!(ids(&before), ids(&after));
}
