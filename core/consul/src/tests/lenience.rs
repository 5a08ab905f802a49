//! The accepted notations of opaque configuration, config entries and registrations.

use super::{API, HTTP, WEB, messages, only, run};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::diagnostic::Place;
use chancery_base::ir::Tree;

fn web(config: &str) -> String {
    format!(
        "service: {{name: web, port: 8080, connect: {{sidecar_service: {{proxy: {{config: {config}, upstreams: [{{destination_name: api, \
         local_bind_port: 9191}}]}}}}}}}}\n"
    )
}

fn upstream(config: &str) -> String {
    format!(
        "service: {{name: web, port: 8080, connect: {{sidecar_service: {{proxy: {{upstreams: [{{destination_name: api, local_bind_port: 9191, \
         config: {config}}}]}}}}}}}}\n"
    )
}

/// The errors of an input.
fn errors(documents: &[&str]) -> Vec<String> {
    let compilation = run(documents);
    let is_error = |finding: &&chancery_base::diagnostic::Diagnostic| finding.severity == chancery_base::diagnostic::Severity::Error;
    compilation.all_diagnostics().filter(is_error).map(|finding| finding.message.clone()).collect()
}

pub(super) fn refused(document: &str, why: &str) {
    let found = errors(&[document]);
    assert!(found.iter().any(|message| message.contains(why)), "{document}: {found:?}");
}

pub(super) fn taken(document: &str) {
    assert_eq!(errors(&[document]), Vec::<String>::new(), "{document}");
}

fn thresholds(of: &Tree) -> Tree {
    of.at(&["circuit_breakers", "thresholds"]).items().first().cloned().unwrap_or(Tree::NULL)
}

#[test]
fn invalid_proxy_setting_ends_proxy() {
    for config in ["{local_connect_timeout_ms: 1e3x}", "{bind_port: {a: 1}}", "{protocol: [a, b]}", "{bind_address: {}}"] {
        let found = errors(&[&web(config), API]);
        assert!(found.iter().any(|message| message.contains("web-sidecar-proxy")), "{config}: {found:?}");
    }
}

#[test]
fn numbers_and_single_lists_are_converted() {
    let compilation = run(&[&web("{bind_address: 5, BalanceInboundConnections: [exact_balance]}"), API]);
    let public = only(&compilation).listeners.iter().find(|listener| listener.get("name").is("public_listener:5:21000")).expect("it listens");
    assert!(public.find("connection_balance_config").is_some());
    let compilation = run(&[&upstream("{limits: {max_connections: [5]}}"), API]);
    assert_eq!(thresholds(&only(&compilation).clusters[0]).get("max_connections").int(), 5);
}

#[test]
fn limits_are_cut_to_32_bits() {
    let compilation = run(&[&upstream("{limits: {max_connections: -1, max_pending_requests: 4294967297}}"), API]);
    let limits = thresholds(&only(&compilation).clusters[0]);
    assert_eq!((limits.get("max_connections").int(), limits.get("max_pending_requests").int()), (4_294_967_295, 1));
}

#[test]
fn limits_that_are_no_map_end_the_proxy() {
    for config in ["{limits: x}", "{limits: []}", "{passive_health_check: 5}"] {
        let found = errors(&[&upstream(config), API]);
        assert!(found.iter().any(|message| message.contains("expected a map")), "{config}: {found:?}");
    }
}

#[test]
fn global_protocol_is_case_insensitive() {
    for config in ["{Protocol: http}", "{protocol: HTTP}"] {
        let global = format!("{{Kind: proxy-defaults, Name: global, Config: {config}}}\n");
        let compilation = run(&[&global, WEB, API]);
        let all = only(&compilation);
        assert_eq!(super::http_filters(&all.listeners[0]), ["envoy.filters.http.router"], "{config}");
        assert!(!all.clusters[0].get("name").text().contains('~'), "{config}: {}", all.clusters[0].get("name").text());
    }
}

#[test]
fn negative_numbers_in_entries_count_from_the_end() {
    let router = "{Kind: service-router, Name: api, Routes: [{Destination: {NumRetries: -1}}]}\n";
    assert_eq!(messages(&run(&[HTTP, router, WEB, API])), Vec::<String>::new());
}

#[test]
fn definitions_of_services_convert_nothing() {
    refused("service: {name: web, port: '8080'}\n", "expected type 'int'");
    refused("service: {name: 5}\n", "expected type 'string'");
    refused("service: {name: web, tags: a}\n", "expected an array or slice");
    refused("service: {name: web, meta: {a: 5}}\n", "expected type 'string'");
    taken("service: {name: [web], port: 8080.5}\n");
}

#[test]
fn hcl_block_is_a_list_of_one() {
    taken("service {\n  name = \"web\"\n  checks {\n    ttl = \"10s\"\n  }\n}\n");
    refused("service: {name: web, checks: {ttl: 10s}}\n", "expected an array or slice");
}

#[test]
fn definitions_of_services_are_checked() {
    refused("service: {name: web, meta: {consul-x: y}}\n", "reserved for internal use");
    refused("service: {name: web, meta: {a b: y}}\n", "invalid characters");
    refused("service: {name: web, weights: {passing: 0}}\n", "Passing must be greater than 0");
    refused("service: {name: web, port: 80, socket_path: /x}\n", "cannot have both socket path /x and address/port");
    refused("service: {name: web, address: 0.0.0.0}\n", "Invalid service address");
    refused("service: {name: web, check: {ttl: x}}\n", "invalid duration");
    refused("service: {name: web, check: {http: 'http://x'}}\n", "Interval must be > 0");
    refused("service: {name: web, check: {interval: 10s}}\n", "TTL must be > 0");
    refused("service: {name: web, check: {ttl: 10s, status: bad}}\n", "Status for checks");
    refused("service: {name: web, tagged_addresses: {lan_ipv4: {address: '::1'}}}\n", "valid ipv4 address");
    refused(&WEB.replace("9191", "9191, mesh_gateway: {mode: LOCAL}"), "Invalid Mesh Gateway Mode: \"LOCAL\"");
    refused(&WEB.replace("local_bind_port: 9191", "local_bind_socket_path: /x, local_bind_socket_mode: '0x1ff'"), "invalid mode: 0x1ff");
    taken("service: {name: web, check: {ttl: 10s, status: warning}, meta: {a_b-1: y}, weights: {passing: 5}}\n");
    taken("service: {name: web, kind: no-such-kind, port: 80}\n");
}

#[test]
fn requests_to_the_catalog_are_json() {
    refused("{Node: n, Address: 10.0.0.1, Service: {Service: a, Port: '5'}}\n", "expected type 'int'");
    refused("{Node: n, Address: 10.0.0.1, Service: {Service: a, Prot: 5}}\n", "unknown field");
    refused("{Node: n, Address: 10.0.0.1, Service: {Service: a, Address: '::'}}\n", "Invalid service address");
    refused("{Node: n, Address: 10.0.0.1, Service: {ID: a}}\n", "Must provide service name");
    taken("{Node: n, Address: 10.0.0.1, Service: {Service: a, Port: 5}, Check: {Name: c, Status: passing, Type: ttl}}\n");
}

#[test]
fn a_service_may_have_a_token() {
    let with_token = WEB.replace("port: 8080", "port: 8080, token: 5c5c5c5c-1111-2222-3333-444444444444");
    assert_eq!(only(&run(&[&with_token, API])).listeners, only(&run(&[WEB, API])).listeners);
}

#[test]
fn weights_that_cannot_be_are_none() {
    let api = API.replace("Port: 20000", "Port: 20000, Weights: {Passing: 0, Warning: 0}");
    let compilation = run(&[WEB, &api]);
    let locality = only(&compilation).endpoints[0].get("endpoints").items()[0].clone();
    assert!(locality.get("lb_endpoints").items()[0].get("health_status").is("HEALTHY"));
}

#[test]
fn an_entry_has_a_name() {
    refused("{Kind: http-route, Name: '', Rules: []}\n", "Name is required");
    refused("{Kind: ingress-gateway, Name: ''}\n", "Name is required");
}

#[test]
fn hosts_have_letters() {
    refused("{Kind: service-defaults, Name: a, Destination: {Addresses: [''], Port: 1}}\n", "Could not validate address");
    refused("{Kind: http-route, Name: a, Hostnames: ['']}\n", "must be a valid DNS hostname");
}

#[test]
fn exposed_path_protocol_is_case_sensitive() {
    let kind = |protocol: &str| {
        let path = format!("{{path: /a, local_path_port: 8080, listener_port: 21500, protocol: {protocol}}}");
        let web = format!("service: {{name: web, port: 8080, connect: {{sidecar_service: {{proxy: {{expose: {{paths: [{path}]}}}}}}}}}}\n");
        let compilation = run(&[&web]);
        let exposed = only(&compilation).listeners.iter().find(|listener| listener.get("name").text().starts_with("exposed")).expect("it listens");
        String::from(super::filters(exposed)[0].get("name").text())
    };
    assert_eq!(kind("http2"), "envoy.filters.network.http_connection_manager");
    assert_eq!(kind("HTTP2"), "envoy.filters.network.tcp_proxy");
}

#[test]
fn duplicate_name_in_other_namespace_is_refused() {
    let of = |namespace: &str, protocol: &str| {
        format!(
            "apiVersion: consul.hashicorp.com/v1alpha1\nkind: ServiceDefaults\nmetadata: {{name: web, namespace: {namespace}}}\nspec: {{protocol: {protocol}}}\n"
        )
    };
    let compilation = run(&[&of("a", "http"), &of("b", "tcp")]);
    let refused = "servicedefaults resource with name \"web\" is already defined \u{2013} all servicedefaults resources must have unique names across namespaces";
    assert_eq!(messages(&compilation), [refused]);
    assert!(compilation.all_diagnostics().all(|finding| finding.resource.as_ref().is_some_and(|key| key.namespace.as_deref() == Some("b"))));
}

#[test]
fn refused_field_has_its_place() {
    let at = |document: &str| {
        let compilation = run(&[document]);
        let finding = compilation.all_diagnostics().find(|finding| finding.code.name.ends_with("-refused")).expect("a finding");
        let (Place::Node { object, node, .. }, message) = (&finding.place, &finding.message) else { panic!("no place") };
        let object = compilation.objects.get(*object).expect("an object");
        let span = object.document.spans.get(*node).expect("a span");
        format!("{message} => {}", span.value.slice(object.text.as_deref().expect("a text")))
    };
    let router = "{Kind: service-router, Name: web, Routes: [{Match: {HTTP: {PathPrefix: /a}}}, {Match: {HTTP: {PathExact: y}}}]}\n";
    assert_eq!(at(router), "Route[1] PathExact doesn't start with '/': \"y\" => y");
    let intentions = "{Kind: service-intentions, Name: web, Sources: [{Name: a, Action: allow}, {Name: b, Action: maybe}]}\n";
    assert_eq!(at(intentions), "Sources[1].Action must be set to 'allow' or 'deny' => maybe");
}
