//! Encodes the resources of a gateway and compares the bytes with the messages.

use chancery_base::compilation::Dialect;
use chancery_base::compilation::{Compilation, Options};
use chancery_base::resource::Inputs;
use chancery_compile::Compiler;
use chancery_envoy::Document;
use chancery_envoy::emit::{self, Encoding, Served, Service, encode};
use prost::Message;
use std::sync::Arc;

static ALL: &[&Dialect] = &[&chancery_ambassador::DIALECT];

const INPUT: &str = "apiVersion: getambassador.io/v3alpha1
kind: Listener
metadata: {name: http, namespace: default}
spec: {port: 8080, protocol: HTTP, securityModel: XFP, hostBinding: {namespace: {from: ALL}}}
---
apiVersion: getambassador.io/v3alpha1
kind: Host
metadata: {name: h, namespace: default}
spec: {hostname: '*', requestPolicy: {insecure: {action: Route}}}
---
apiVersion: getambassador.io/v3alpha1
kind: Mapping
metadata: {name: one, namespace: default}
spec: {hostname: '*', prefix: /one/, service: quote, timeout_ms: 4000}
---
apiVersion: getambassador.io/v3alpha1
kind: Mapping
metadata: {name: two, namespace: default}
spec: {hostname: '*', prefix: /two/, service: quote:8080}
";

fn encoded(compiler: &mut Compiler, text: &str) -> (Compilation, Encoding) {
    let compilation = compiler.compile(&Inputs::one("in.yaml", text), &Options::default());
    let gateway = compilation.gateways().next().expect("a gateway");
    let encoding = encode(gateway.ir, None, compiler.emitted.of(gateway));
    (compilation, encoding)
}

#[test]
fn bytes_are_those_of_the_messages() {
    let mut compiler = Compiler::new(ALL);
    let (compilation, encoding) = encoded(&mut compiler, INPUT);
    let messages = emit::resources(
        compilation.gateways().next().expect("a gateway").ir,
        &chancery_envoy::Options { document: Document::Resources, ..Default::default() },
    );
    assert!(encoding.withheld.is_empty() && messages.clusters.len() >= 2 && !messages.routes.is_empty());
    let of = |service| encoding.served.iter().filter(move |of| of.service == service);
    let decode = |of: &Served| emit::pb::route::RouteConfiguration::decode(&of.resource.value[..]).map(|table| table.encode_to_vec());
    let tables: Result<Vec<_>, _> = of(Service::Routes).map(decode).collect();
    assert_eq!(tables, Ok(messages.routes.iter().map(Message::encode_to_vec).collect()));
    let clusters: Vec<_> = of(Service::Clusters).map(|of| of.resource.value.clone()).collect();
    assert_eq!(clusters, messages.clusters.iter().map(Message::encode_to_vec).collect::<Vec<_>>());
    let listeners: Vec<_> = of(Service::Listeners).map(|of| of.resource.value.clone()).collect();
    assert_eq!(listeners, messages.listeners.iter().map(Message::encode_to_vec).collect::<Vec<_>>());
}

#[test]
fn unchanged_resource_is_same_value() {
    let mut compiler = Compiler::new(ALL);
    let (_, before) = encoded(&mut compiler, INPUT);
    let edited = INPUT.replace("4000", "5000");
    let (_, after) = encoded(&mut compiler, &edited);
    let changed: Vec<Service> =
        before.served.iter().zip(&after.served).filter(|(a, b)| !Arc::ptr_eq(&a.resource, &b.resource)).map(|(a, _)| a.service).collect();
    assert!(!changed.is_empty() && changed.iter().all(|of| *of == Service::Routes), "{changed:?}");
    let (_, fresh) = encoded(&mut Compiler::new(ALL), &edited);
    let versions = |of: &Encoding| of.served.iter().map(|of| (of.resource.version, of.resource.value.clone())).collect::<Vec<_>>();
    assert_eq!(versions(&after), versions(&fresh), "a fresh encoding is equal");
}
