//! The resources of gateways.

use super::{DIALECT, HTTP, messages, only, run};
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use chancery_base::compilation::{OptionValue, Options};
use chancery_base::resource::Inputs;
use chancery_compile::compile;

const GATEWAY: &str = "service: {kind: terminating-gateway, name: tg, port: 8443, address: 10.1.1.1}\n";
const DB: &str = "{Node: n1, Address: 10.0.0.1, Service: {Service: db, Port: 5432}}\n";

#[test]
fn terminating_gateway_omits_service_without_instances() {
    let entry = "{Kind: terminating-gateway, Name: tg, Services: [{Name: db}, {Name: gone}]}\n";
    let compilation = run(&[entry, GATEWAY, DB]);
    let chains = only(&compilation).listeners[0].get("filter_chains").items().len();
    assert_eq!(chains, 2, "one for `db`, and the one for the rest");
}

#[test]
fn wildcard_applies_to_later_services() {
    let entry = "{Kind: terminating-gateway, Name: tg, Services: [{Name: db, CAFile: /db}, {Name: '*', CAFile: /all}]}\n";
    let file = |documents: &[&str]| {
        let compilation = run(documents);
        let path = ["transport_socket", "typed_config", "common_tls_context", "validation_context", "trusted_ca", "filename"];
        String::from(only(&compilation).clusters[0].at(&path).text())
    };
    assert_eq!(file(&[entry, GATEWAY, DB]), "/all");
    assert_eq!(file(&[DB, entry, GATEWAY]), "/db");
}

#[test]
fn order_of_entries_counts_within_one_file() {
    let gateway = "{Kind: ingress-gateway, Name: edge, Listeners: [{Port: 80, Protocol: http, Services: [{Name: api}]}]}\n";
    let all = run(&[gateway, HTTP]);
    let refused: Vec<_> = all.all_diagnostics().filter(|finding| finding.code.name == "entry-refused").collect();
    let [only] = refused.as_slice() else { panic!("{:?}", messages(&all)) };
    assert!(only.help.as_ref().is_some_and(|help| help.starts_with("the protocol of `api` is tcp by default: write a service-defaults")), "{only:?}");
    assert_eq!(all.positions().place(&only.place).map(|span| (span.line, span.column)), Some((1, 94)));
    // Nothing says in which order a person writes two files.
    let input = |name, text| Inputs::one(name, text).inputs.remove(0);
    let inputs = Inputs::from(vec![input("a.yaml", gateway), input("b.yaml", HTTP)]);
    let compilation = compile(&inputs, &Options::of(&DIALECT), &[&crate::DIALECT]);
    assert!(compilation.all_diagnostics().all(|finding| finding.code.name != "entry-refused"), "{:?}", messages(&compilation));
}

#[test]
fn circle_of_entries_names_its_parts() {
    let splitter = |name: &str, to: &str| format!("{{Kind: service-splitter, Name: {name}, Splits: [{{Weight: 100, Service: {to}}}]}}\n");
    let all = run(&[HTTP, &splitter("a", "b"), &splitter("b", "c"), &splitter("c", "a")]);
    let refused: Vec<_> = all.all_diagnostics().filter(|finding| finding.code.name == "entry-refused").collect();
    let [only] = refused.as_slice() else { panic!("{:?}", messages(&all)) };
    let lines: Vec<u32> = only.related.iter().filter_map(|related| all.positions().place(&related.place)).map(|span| span.line).collect();
    assert_eq!((all.positions().place(&only.place).map(|span| span.line), lines), (Some(7), vec![5, 3]), "{only:?}");
    assert!(only.help.as_ref().is_some_and(|help| help.starts_with("this entry closes the circle")), "{only:?}");
}

#[test]
fn virtual_addresses_of_services_are_not_listened_at() {
    let entry = "{Kind: terminating-gateway, Name: tg, Services: [{Name: db}]}\n";
    let gateway = "service: {kind: terminating-gateway, name: tg, port: 8443, address: 10.1.1.1, tagged_addresses: {wan: {address: 10.9.9.9, \
                   port: 9}}, proxy: {config: {envoy_gateway_bind_tagged_addresses: true}}}\n";
    let compilation = run(&[entry, gateway, DB]);
    let names: Vec<&str> = only(&compilation).listeners.iter().map(|listener| listener.get("name").text()).collect();
    assert!(names.contains(&"wan:10.9.9.9:9") && !names.iter().any(|name| name.starts_with("consul-virtual")), "{names:?}");
}

#[test]
fn invalid_ingress_gateway_setting_ends_it() {
    let entry = "{Kind: ingress-gateway, Name: ig, Listeners: [{Port: 80, Protocol: tcp, Services: [{Name: db}]}]}\n";
    let gateway = "service: {kind: ingress-gateway, name: ig, port: 8443, proxy: {config: {connect_timeout_ms: soon}}}\n";
    let found = messages(&run(&[entry, gateway, DB]));
    assert!(found.iter().any(|message| message.contains("connect_timeout_ms")), "{found:?}");
}

#[test]
fn ingress_gateway_health_check_has_percentage() {
    let entry = "{Kind: ingress-gateway, Name: ig, Listeners: [{Port: 80, Protocol: tcp, Services: [{Name: db, PassiveHealthCheck: \
                 {MaxFailures: 3}}]}]}\n";
    let compilation = run(&[entry, "service: {kind: ingress-gateway, name: ig, port: 8443}\n", DB]);
    assert_eq!(only(&compilation).clusters[0].at(&["outlier_detection", "max_ejection_percent"]).value, chancery_base::ir::Plain::Int(0));
}

#[test]
fn destination_settings_do_not_apply_to_service() {
    let documents = [
        "{Kind: service-defaults, Name: ext, Protocol: tcp, Destination: {Addresses: [a.com], Port: 443}}\n",
        "{Kind: service-intentions, Name: ext, Sources: [{Name: web, Action: allow}]}\n",
        "{Kind: terminating-gateway, Name: tg, Services: [{Name: ext}]}\n",
        GATEWAY,
        "service: {name: web, port: 8080, connect: {sidecar_service: {proxy: {mode: transparent}}}}\n",
    ];
    let options = Options::of(&DIALECT).with("default-policy", OptionValue::Text("deny".into()));
    let compilation = compile(&Inputs::one("input.yaml", documents.join("---\n").as_str()), &options, &[&crate::DIALECT]);
    let web = compilation.gateways().find(|gateway| gateway.id.as_str() == "web-sidecar-proxy").expect("is there");
    let names = super::names(&web.ir.delivery.verbatim.clusters);
    assert!(names.iter().any(|name| name.contains(".ext.")) && !names.iter().any(|name| name.starts_with("ext.")), "{names:?}");
}

#[test]
fn route_accepts_namespace_and_partition() {
    let router = "{Kind: service-router, Name: api, Routes: [{Match: {HTTP: {PathPrefix: /a}}, Destination: {Service: billing, Namespace: team}}, \
                  {Match: {HTTP: {PathPrefix: /b}}, Destination: {Service: billing, Partition: east}}]}\n";
    let compilation = run(&[super::HTTP, router, super::WEB, super::API]);
    let all = only(&compilation);
    let names = super::names(&all.clusters);
    assert!(names.iter().any(|name| name.starts_with("billing.team.dc1.internal.")), "{names:?}");
    let east = all.clusters.iter().find(|cluster| cluster.get("name").text().starts_with("billing.default.east.dc1.internal-v1.")).expect("is there");
    let validation = east.at(&["transport_socket", "typed_config", "common_tls_context", "validation_context", "match_subject_alt_names"]);
    assert!(validation.items()[0].get("exact").text().ends_with(".consul/ap/east/ns/default/dc/dc1/svc/billing"));
}
