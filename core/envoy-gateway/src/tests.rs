//! Tests origins of Envoy's values, and the bootstrap, on small inputs.

use alloc::format;
use alloc::string::String;
use chancery_base::compilation::{Compilation, Options, for_interactive_use};
use chancery_base::ir::{Plain, Tree};
use chancery_base::resource::{Inputs, Origin};
use chancery_compile::Compiler;
use chancery_envoy::emit::{Emitted, emit};

const INPUT: &str = "apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: eg}
spec: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: eg, namespace: shop}
spec:
  gatewayClassName: eg
  listeners: [{name: one, protocol: HTTP, port: 8080}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web, namespace: shop}
spec:
  parentRefs: [{name: eg}]
  rules: [{backendRefs: [{name: web, port: 8081}]}]
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {clusterIP: 10.0.0.1, ports: [{name: http, port: 8081, targetPort: 3001}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, namespace: shop, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [{name: http, port: 3001, protocol: TCP}]
endpoints: [{addresses: [10.1.0.1], conditions: {ready: true}}]
";

fn compiled(text: &str) -> Compilation {
    Compiler::new(&[&crate::DIALECT]).compile(&Inputs::one("a.yaml", text), &for_interactive_use(Options::default()))
}

fn path(compilation: &Compilation, origin: Option<Origin>) -> String {
    let origin = origin.expect("an origin");
    let object = compilation.objects.get(origin.object()).expect("an object");
    format!("{} {}", object.key.kind, object.path(origin.node()))
}

#[test]
fn endpoint_port_names_slice_and_reference() {
    let compilation = compiled(INPUT);
    let ir = compilation.gateways().next().expect("a gateway").ir.clone();
    let assignment = ir.delivery.verbatim.endpoints.first().expect("endpoints");
    let host = assignment.get("endpoints").items()[0].get("lb_endpoints").items()[0].clone();
    let port: &Tree = host.at(&["endpoint", "address", "socket_address", "port_value"]);
    assert_eq!((port.int(), path(&compilation, port.origin).as_str()), (3001, "EndpointSlice ports[0].port"));
    let Plain::Selected(by) = &port.value else { panic!("the reference selects the port") };
    assert_eq!(path(&compilation, by.origin), "HTTPRoute spec.rules[0].backendRefs[0].port");
}

#[test]
fn bootstrap_has_server_only_for_missing_secrets() {
    let bootstrap = |listener: &str| {
        let compilation = compiled(&INPUT.replace("{name: one, protocol: HTTP, port: 8080}", listener));
        let gateway = compilation.gateways().next().expect("a gateway");
        emit(gateway.ir, &chancery_envoy::Options::default(), &mut Emitted::new()).text()
    };
    let missing = bootstrap("{name: one, protocol: HTTPS, port: 8443, tls: {certificateRefs: [{name: missing}]}}");
    assert!(missing.contains("\"dynamic_resources\"") && missing.contains("\"xds_cluster\""), "{missing}");
    assert!(!bootstrap("{name: one, protocol: HTTP, port: 8080}").contains("xds_cluster"));
}
