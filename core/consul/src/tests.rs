//! From text to the resources of a proxy: each rule on a minimal input.

mod calls;
mod extensions;
mod gateways;
mod lenience;

use super::DIALECT;
use super::state::State;
use super::{documents, registration::is_gateway, service};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::compilation::{Compilation, GatewayRef, OptionValue, Options};
use chancery_base::ir::{Tree, Verbatim};
use chancery_base::resource::Inputs;
use chancery_compile::compile;
use chancery_envoy::simulate::Outcome;
use chancery_text::Str;

/// A sidecar of `web`, which calls `api`.
const WEB: &str =
    "service: {name: web, port: 8080, connect: {sidecar_service: {proxy: {upstreams: [{destination_name: api, local_bind_port: 9191}]}}}}\n";
const API: &str = "{Node: n2, Address: 10.0.0.2, Service: {ID: api-proxy, Service: api-proxy, Kind: connect-proxy, Port: 20000, \
                   Proxy: {DestinationServiceName: api, DestinationServiceID: api}}}\n";
const HTTP: &str = "{Kind: proxy-defaults, Name: global, Config: {protocol: http}}\n";

fn run(documents: &[&str]) -> Compilation {
    compile(&Inputs::one("input.yaml", documents.join("---\n").as_str()), &Options::of(&DIALECT), &[&crate::DIALECT])
}

fn messages(compilation: &Compilation) -> Vec<String> {
    compilation.all_diagnostics().map(|finding| finding.message.clone()).collect()
}

fn only(compilation: &Compilation) -> &Verbatim {
    let gateways: Vec<GatewayRef<'_>> = compilation.gateways().collect();
    let [gateway] = gateways.as_slice() else { panic!("{} gateways: {:?}", gateways.len(), messages(compilation)) };
    &gateway.ir.delivery.verbatim
}

fn names(all: &[alloc::sync::Arc<Tree>]) -> Vec<&str> {
    all.iter().map(|message| message.get("name").text()).collect()
}

/// The filters of the first chain of a listener.
fn filters(of: &Tree) -> &[Tree] {
    of.get("filter_chains").items().first().map_or(&[], |chain| chain.get("filters").items())
}

fn http_filters(of: &Tree) -> Vec<&str> {
    let manager = filters(of).iter().find(|filter| filter.get("name").is("envoy.filters.network.http_connection_manager"));
    let all = manager.map_or(&[][..], |manager| manager.at(&["typed_config", "http_filters"]).items());
    all.iter().map(|filter| filter.get("name").text()).collect()
}

#[test]
fn chain_nodes_and_targets_have_entries_as_origins() {
    let splitter = "{Kind: service-splitter, Name: api, Splits: [{Weight: 100, ServiceSubset: v1}]}\n";
    let resolver = "{Kind: service-resolver, Name: api, Subsets: {v1: {Filter: Service.Meta.v == 1}}, Failover: {'*': {Service: spare}}}\n";
    let compilation = run(&[HTTP, resolver, splitter, WEB, API]);
    let of = compilation.sides().next().expect("a side");
    let output = DIALECT.output("chain").expect("an output");
    let viewed = chancery_explain::Viewed::answer(output, of).expect("chains");
    assert_eq!(Some(&viewed.root), (output.document)(of).as_ref(), "it is what `--output` shows");
    let made_by = |pointer: &str| -> Vec<String> {
        let origins = viewed.map.get(pointer).unwrap_or_default();
        let object = |origin: &chancery_base::resource::Origin| compilation.objects.get(origin.object()).expect("an object");
        origins.iter().map(|origin| format!("{} {}", object(origin).key.kind, object(origin).path(origin.node()))).collect()
    };
    assert_eq!(made_by("/api/Nodes/splitter:api.default.default"), ["service-splitter "]);
    assert_eq!(made_by("/api/Nodes/resolver:v1.api.default.default.dc1"), ["service-resolver "]);
    assert_eq!(made_by("/api/Targets/v1.api.default.default.dc1"), ["service-resolver Subsets.v1"]);
    assert_eq!(made_by("/api/Targets/spare.default.default.dc1"), ["service-resolver Failover"]);
    assert_eq!(made_by("/api/Nodes/splitter:api.default.default/Splits/0/Definition/Weight"), ["service-splitter Splits[0].Weight"]);
}

#[test]
fn a_sidecar_has_two_listeners_and_two_clusters() {
    let compilation = run(&[WEB, API]);
    assert_eq!(messages(&compilation), Vec::<String>::new());
    let all = only(&compilation);
    assert_eq!(names(&all.listeners), ["api:127.0.0.1:9191", "public_listener:0.0.0.0:21000"]);
    let sni = "api.default.dc1.internal.11111111-2222-3333-4444-555555555555.consul";
    assert_eq!(names(&all.clusters), [sni, "local_app"]);
    assert_eq!(all.endpoints[0].get("cluster_name").text(), sni);
    let address = all.endpoints[0].get("endpoints").items()[0].get("lb_endpoints").items()[0].at(&["endpoint", "address", "socket_address"]);
    assert_eq!((address.get("address").text(), address.get("port_value").int()), ("10.0.0.2", 20000));
}

#[test]
fn application_port_has_its_line_as_origin() {
    let compilation = run(&[WEB, API]);
    let local = only(&compilation).clusters.iter().find(|cluster| cluster.get("name").is("local_app")).expect("is there");
    let endpoint = &local.at(&["load_assignment", "endpoints"]).items()[0].get("lb_endpoints").items()[0];
    let port = endpoint.at(&["endpoint", "address", "socket_address", "port_value"]);
    assert_eq!(port.int(), 8080);
    assert!(port.origin.is_some());
}

#[test]
fn settings_and_addresses_have_their_lines_as_origins() {
    let web = "service:\n  name: web\n  port: 8080\n  connect:\n    sidecar_service:\n      proxy:\n        config:\n          local_request_timeout_ms: 0\n          local_connect_timeout_ms: 7000\n          max_inbound_connections: 9\n        upstreams:\n        - destination_name: api\n          local_bind_port: 9191\n          config:\n            connect_timeout_ms: 2500\n";
    let compilation = run(&[web, API, HTTP]);
    let (all, positions) = (only(&compilation), compilation.positions());
    let line = |of: &Tree| of.origin.and_then(|origin| positions.origin(origin)).map(|span| span.line);
    let first = |of: &Tree, list: &str| of.get(list).items().first().cloned().unwrap_or(Tree::NULL);
    let public = all.listeners.iter().find(|listener| listener.get("name").text().starts_with("public")).expect("it listens");
    let host = first(filters(public).iter().find_map(|filter| filter.find("typed_config")?.find("route_config")).expect("routes"), "virtual_hosts");
    assert_eq!(line(first(&host, "routes").at(&["route", "timeout"])), Some(8));
    let local = all.clusters.iter().find(|cluster| cluster.get("name").is("local_app")).expect("it is local");
    assert_eq!(line(local.get("connect_timeout")), Some(9));
    assert_eq!(line(first(local.get("circuit_breakers"), "thresholds").get("max_connections")), Some(10));
    let api = all.clusters.iter().find(|cluster| !cluster.get("name").is("local_app")).expect("it is an upstream");
    assert_eq!(line(api.get("connect_timeout")), Some(15));
    let endpoint = first(&first(&all.endpoints[0], "endpoints"), "lb_endpoints");
    let port = endpoint.at(&["endpoint", "address", "socket_address", "port_value"]);
    let key = port.origin.map(|origin| (origin.object(), origin.node()));
    assert!(port.origin != endpoint.origin && key.is_some(), "the port has its own line as its origin: {port:?}");
}

/// All values of a message at a key, at any depth.
fn all_at<'a>(of: &'a Tree, key: &str, found: &mut Vec<&'a Tree>) {
    found.extend(of.find(key));
    of.fields().iter().for_each(|(_, value)| all_at(value, key, found));
    of.items().iter().for_each(|value| all_at(value, key, found));
}

#[test]
fn computed_numbers_have_their_lines_as_origins() {
    let text = include_str!("tests/numbers.yaml");
    let compilation = run(&[text]);
    assert_eq!(messages(&compilation), Vec::<String>::new());
    let positions = compilation.positions();
    let all: Vec<&Verbatim> = compilation.gateways().map(|gateway| &gateway.ir.delivery.verbatim).collect();
    let messages = all.iter().flat_map(|of| [&of.listeners, &of.routes, &of.clusters, &of.endpoints]).flatten();
    let messages: Vec<&Tree> = messages.map(|message| &**message).collect();
    for (at, line) in (1..).zip(text.lines()) {
        let Some((_, written)) = line.split_once("# ") else { continue };
        let (key, value) = written.split_once(' ').expect("a key of Envoy's with its value");
        let mut found = Vec::new();
        messages.iter().for_each(|message| all_at(message, key, &mut found));
        let made: Vec<_> = found.into_iter().filter(|of| of.json().trim_matches('"') == value).collect();
        assert!(!made.is_empty(), "line {at} makes `{key}: {value}`");
        for of in made {
            let from = of.origin.and_then(|origin| positions.origin(origin)).map(|span| span.line);
            assert_eq!(from, Some(at), "`{key}: {value}`");
        }
    }
}

#[test]
fn needed_entry_is_emitted() {
    let state = |documents: &[&str], name: &str| {
        let compilation = run(documents);
        let rows = chancery_explain::ledger(&compilation, &compilation.positions());
        rows.iter().find(|row| row.resource.name == name).map(|row| row.state).unwrap_or_default()
    };
    assert_eq!(state(&[WEB, API, HTTP], "global"), "emitted");
    assert_eq!(state(&[WEB, API, "{Kind: proxy-defaults, Name: global, Config: {protocol: tcp}}\n"], "global"), "read", "tcp is the default");
}

#[test]
fn proxies_are_assumed_if_none_is_registered() {
    let ids = |documents: &[&str]| {
        let options = Options::of(&DIALECT).with("missing", OptionValue::Text("auto".into()));
        let compilation = compile(&Inputs::one("input.yaml", documents.join("---\n").as_str()), &options, &[&crate::DIALECT]);
        let found = chancery_explain::rows_without_effect(compilation.sides().next().expect("a side"), &compilation.positions(), |_| true);
        assert_eq!(found.iter().map(|row| format!("{}", row.resource)).collect::<Vec<_>>(), Vec::<String>::new(), "everything has an effect");
        let mut ids: Vec<String> = compilation.gateways().map(|gateway| gateway.id.as_str().into()).collect();
        ids.sort();
        ids
    };
    let http = "{Kind: service-defaults, Name: api, Protocol: http}\n";
    assert_eq!(ids(&["{Kind: service-intentions, Name: api, Sources: [{Name: web, Action: deny}]}\n"]), ["api-sidecar-proxy"]);
    assert_eq!(ids(&[http]), ["api-sidecar-proxy"]);
    let split = "{Kind: service-splitter, Name: api, Splits: [{Weight: 50}, {Weight: 50, Service: other}]}\n";
    assert_eq!(
        ids(&[http, "{Kind: service-defaults, Name: other, Protocol: http}\n", split]),
        ["api-sidecar-proxy", "client-sidecar-proxy", "other-sidecar-proxy"]
    );
    assert_eq!(ids(&["{Kind: service-resolver, Name: api, ConnectTimeout: 7s}\n"]), ["client-sidecar-proxy"]);
    assert_eq!(ids(&[WEB, http]), ["web-sidecar-proxy"], "what is registered is enough");
}

#[test]
fn agent_proxies_have_envoys_and_catalog_proxies_not() {
    let compilation = run(&[WEB, API, "service: {kind: mesh-gateway, name: mgw, port: 8443}\n"]);
    let mut ids: Vec<&str> = compilation.gateways().map(|gateway| gateway.id.as_str()).collect();
    ids.sort_unstable();
    assert_eq!(ids, ["mgw", "web-sidecar-proxy"]);
    assert!(is_gateway("mesh-gateway"));
}

#[test]
fn entries_are_refused_by_themselves_and_in_order() {
    let router = "{Kind: service-router, Name: api, Routes: [{Match: {HTTP: {PathPrefix: /x}}, Destination: {Service: x}}]}\n";
    let compilation = run(&[router, WEB, API]);
    let found = messages(&compilation);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("protocol") && found[0].contains("\"tcp\""), "{found:?}");
    assert_eq!(messages(&run(&[HTTP, router, WEB, API])), Vec::<String>::new());
}

#[test]
fn order_of_kubernetes_resources_does_not_matter() {
    let resource =
        |kind: &str, spec: &str| format!("{{apiVersion: consul.hashicorp.com/v1alpha1, kind: {kind}, metadata: {{name: api}}, spec: {spec}}}\n");
    let split = resource("ServiceSplitter", "{splits: [{weight: 50, serviceSubset: v1}, {weight: 50}]}");
    let resolver = resource("ServiceResolver", "{subsets: {v1: {}}}");
    let defaults = resource("ServiceDefaults", "{protocol: http}");
    assert_eq!(messages(&run(&[WEB, API, &split, &resolver, &defaults])), Vec::<String>::new());
    let refused = messages(&run(&[WEB, API, &split, &defaults]));
    assert!(matches!(&refused[..], [one] if one.contains("does not have a subset")), "an entry that stays invalid is refused once: {refused:?}");
}

#[test]
fn entries_beyond_limit_are_stored_or_refused() {
    let resolver = |at: usize, failover: String| {
        format!(
            "{{apiVersion: consul.hashicorp.com/v1alpha1, kind: ServiceResolver, metadata: {{name: s{at}}}, spec: {{subsets: {{v: \
             {{}}}}{failover}}}}}\n"
        )
    };
    let links = 40;
    let mut documents: Vec<String> =
        (0..links).map(|at| resolver(at, format!(", failover: {{'*': {{service: s{}, serviceSubset: v}}}}", at + 1))).collect();
    documents.push(resolver(links, String::new()));
    let (objects, _) = documents::load(&Inputs::one("input.yaml", documents.join("---\n").as_str()));
    let state = State::of(&objects, "dc1");
    let refused = state.diagnostics.iter().count();
    assert!(refused > 0 && state.entries.len() > 30, "{refused} refused, {} stored", state.entries.len());
    assert_eq!(state.entries.len() + refused, documents.len());
}

#[test]
fn registration_overrides_service_and_proxy_defaults() {
    let defaults = "{Kind: service-defaults, Name: web, Protocol: grpc}\n";
    let text = [HTTP, defaults, WEB].join("---\n");
    let (objects, _) = documents::load(&Inputs::one("input.yaml", text.as_str()));
    let state = State::of(&objects, "dc1");
    let sidecar = state.here().find(|instance| instance.id == "web-sidecar-proxy").expect("is registered");
    let merged = service::merged(sidecar, &state.entries);
    assert_eq!(merged.proxy.at(&["Config", "protocol"]).text(), "grpc");
    assert_eq!(sidecar.proxy.at(&["Config", "protocol"]).text(), "");
}

#[test]
fn intention_becomes_policy_of_paths_or_names() {
    let layer_4 = "{Kind: service-intentions, Name: web, Sources: [{Name: ops, Action: deny}]}\n";
    let compilation = run(&[layer_4, WEB, API]);
    let public = &only(&compilation).listeners[1];
    let rules = filters(public)[0].at(&["typed_config", "rules"]);
    assert!(!rules.get("policies").is_null(), "{rules:?}");
    let layer_7 = "{Kind: service-intentions, Name: web, Sources: [{Name: ops, Permissions: [{Action: deny, HTTP: {PathPrefix: /a}}]}]}\n";
    let compilation = run(&[HTTP, layer_7, WEB, API]);
    assert_eq!(messages(&compilation), Vec::<String>::new());
    let public = &only(&compilation).listeners[1];
    assert!(http_filters(public).contains(&"envoy.filters.http.rbac"), "{public:?}");
    let policies = |listener: &Tree| format!("{:?}", filters(listener)).contains("consul-intentions-layer7");
    assert!(policies(public));
}

#[test]
fn without_intentions_the_default_policy_decides() {
    let text = [WEB, API].join("---\n");
    let deny = Options::of(&DIALECT).with("default-policy", OptionValue::Text("deny".into()));
    // Denying nothing allows everything; allowing nothing denies everything.
    for (options, action) in [(Options::of(&DIALECT), "DENY"), (deny, "")] {
        let compilation = compile(&Inputs::one("input.yaml", text.as_str()), &options, &[&crate::DIALECT]);
        let public = &only(&compilation).listeners[1];
        let rules = filters(public)[0].at(&["typed_config", "rules"]);
        assert_eq!((rules.get("action").text(), rules.get("policies").is_null()), (action, true));
    }
}

#[test]
fn escape_hatch_is_passed_verbatim() {
    let hatch = "{Kind: service-defaults, Name: web, EnvoyExtensions: []}\n";
    let web = "service: {name: web, port: 8080, connect: {sidecar_service: {proxy: {config: {envoy_local_cluster_json: '{\"@type\": \"type.googleapis.com/envoy.config.cluster.v3.Cluster\", \"name\": \"mine\", \"connectTimeout\": \"3s\"}'}}}}}\n";
    let compilation = run(&[hatch, web]);
    assert_eq!(messages(&compilation), Vec::<String>::new());
    assert_eq!(names(&only(&compilation).clusters), ["mine"]);
}

#[test]
fn bad_value_ends_proxy_with_error() {
    let web = "service: {name: web, port: 8080, connect: {sidecar_service: {proxy: {config: {envoy_local_cluster_json: '{'}}}}}\n";
    let compilation = run(&[web]);
    assert_eq!(messages(&compilation).len(), 1);
    assert!(only(&compilation).is_empty());
}

fn with_extension(extension: &str) -> Compilation {
    run(&[HTTP, &format!("{{Kind: service-defaults, Name: web, Protocol: http, EnvoyExtensions: [{extension}]}}\n"), WEB, API])
}

#[test]
fn a_script_goes_before_the_router() {
    let compilation = with_extension("{Name: builtin/lua, Arguments: {Listener: inbound, Script: 'x'}}");
    let [outbound, public] = only(&compilation).listeners.as_slice() else { panic!("two listeners") };
    assert_eq!(http_filters(outbound), ["envoy.filters.http.router"]);
    let filters = http_filters(public);
    assert_eq!(filters.get(filters.len() - 2..), Some(&["envoy.filters.http.lua", "envoy.filters.http.router"][..]));
}

#[test]
fn field_patch_creates_parent_messages() {
    let patch = "{ResourceFilter: {ResourceType: cluster, TrafficDirection: inbound}, Op: add, Path: /outlier_detection/success_rate_minimum_hosts, Value: 9}";
    let compilation = with_extension(&format!("{{Name: builtin/property-override, Arguments: {{Patches: [{patch}]}}}}"));
    for cluster in &only(&compilation).clusters {
        assert_eq!(cluster.at(&["outlier_detection", "success_rate_minimum_hosts"]).int(), if cluster.get("name").is("local_app") { 9 } else { 0 });
    }
}

#[test]
fn failing_required_extension_ends_proxy() {
    let arguments = "{Config: {GrpcService: {Target: {Service: {Name: missing}}}}}";
    let compilation = with_extension(&format!("{{Name: builtin/ext-authz, Arguments: {arguments}}}"));
    assert_eq!(only(&compilation).listeners.len(), 2);
    let compilation = with_extension(&format!("{{Name: builtin/ext-authz, Required: true, Arguments: {arguments}}}"));
    assert!(only(&compilation).is_empty());
    assert!(messages(&compilation)[0].contains("no upstream definition found for service \"missing\""), "{:?}", messages(&compilation));
}

#[test]
fn a_registrations_token_is_in_no_view() {
    let compilation = run(&["service: {name: web, port: 8080, token: mark-of-a-token, connect: {sidecar_service: {}}}\n"]);
    assert_eq!(messages(&compilation), Vec::<String>::new());
    let object = compilation.objects.iter().next().expect("an object");
    assert!(!format!("{:?}", object.root).contains("mark-of-a-token"), "{:?}", object.root);
    assert_eq!(object.secrets.len(), 1);
}

#[test]
fn the_words_y_and_n_are_words() {
    let splitter = "{Kind: service-splitter, Name: api, Splits: [{Weight: 100, RequestHeaders: {Set: {x: y}}}]}\n";
    let compilation = run(&[HTTP, splitter, WEB, API]);
    assert_eq!(messages(&compilation), Vec::<String>::new());
    let answers = compilation.sides().next().and_then(|side| (side.dialect().output("entries")?.document)(side)).expect("entries");
    assert!(chancery_text::to_json(&answers, false).contains("\"Set\":{\"x\":\"y\"}"));
}

#[test]
fn request_is_followed_to_denying_intention() {
    let intention = "{Kind: service-intentions, Name: api, Sources: [{Name: web, Action: deny}]}\n";
    for (text, outcome) in [(intention, Outcome::DirectResponse), ("", Outcome::Forward)] {
        let api = "service: {name: api, port: 9090, connect: {sidecar_service: {}}}\n";
        let compilation = run(&[HTTP, text, WEB, api]);
        let request = chancery_envoy::simulate::Request::new("GET", "http://localhost:9191/").expect("a request");
        let positions = compilation.positions();
        let [entry] = chancery_explain::entry_gateways(&compilation, &request)[..] else { panic!("one proxy has the port") };
        assert_eq!(entry.id.as_str(), "web-sidecar-proxy");
        let report = chancery_explain::route_through_gateways(entry, &positions, &request, &mut Default::default());
        assert_eq!(report.simulation.outcome, Outcome::Forward);
        let [hop] = &report.then[..] else { panic!("one hop: {:?}", report.then) };
        assert_eq!((hop.gateway.as_str(), hop.report.simulation.outcome), ("api-sidecar-proxy", outcome));
        let alone = chancery_explain::route_in_one_gateway(entry, &positions, &request, &mut Default::default());
        assert!(alone.then.is_empty() && alone.simulation.notes.iter().any(|note| note.starts_with("api-sidecar-proxy gets the request next")));
    }
}

/// A sidecar of `web` as a live source reads it, on this node.
fn in_catalog(node: &str) -> String {
    format!(
        "{{Node: {node}, Address: 10.0.0.2, Datacenter: east, Service: {{ID: web-proxy, Service: web-proxy, Kind: connect-proxy, Port: 20000, \
         TaggedAddresses: {{consul-virtual: {{Address: 240.0.0.9, Port: 20000}}}}, \
         Proxy: {{DestinationServiceName: web, LocalServicePort: 8080, Upstreams: [{{DestinationName: api, LocalBindPort: 9191}}]}}}}}}\n"
    )
}

const AGENT: &str = "{Kind: consul-agent, Datacenter: east, Node: n1, TrustDomain: real.consul, DefaultPolicy: deny}\n";

#[test]
fn agent_data_applies_to_its_datacenter() {
    let compilation = run(&[&in_catalog("n2"), &in_catalog("n1"), AGENT]);
    assert_eq!(messages(&compilation), Vec::<String>::new());
    let gateways: Vec<GatewayRef<'_>> = compilation.gateways().collect();
    let ids: Vec<&str> = gateways.iter().map(|gateway| gateway.id.as_str()).collect();
    assert_eq!(ids, ["web-proxy", "n2/web-proxy"], "the agent's own node has the plain id");
    let shown = format!("{:?}", gateways[0].ir.delivery);
    assert!(shown.contains("api.default.east.internal.real.consul") && !shown.contains("11111111"), "{shown}");
    assert!(shown.contains("spiffe://real.consul/ns/default/dc/east/svc/web"), "{shown}");
    let public = gateways[0].ir.delivery.verbatim.listeners.iter().find(|of| of.get("name").text().starts_with("public")).expect("a listener");
    assert!(filters(public)[0].at(&["typed_config", "rules"]).get("action").is_null(), "no service may call it: {public:?}");
    // Without the agent a registration in the catalog belongs to another proxy.
    assert_eq!(run(&[&in_catalog("n1")]).gateways().count(), 0);
}

#[test]
fn stored_entries_are_not_validated_again() {
    let router = "{Kind: service-router, Name: api, Routes: [{Match: {HTTP: {PathPrefix: /x}}, Destination: {Service: x}}], Newer: true}\n";
    let texts = [("a", AGENT), ("b", router), ("c", HTTP)];
    let input = |(name, text): &(&str, &str)| chancery_base::resource::Input { name: Str::new(name), text: (*text).into() };
    let mut inputs = Inputs { inputs: texts.iter().map(input).collect(), ..Inputs::default() };
    let all = |inputs: &Inputs| messages(&compile(inputs, &Options::of(&DIALECT), &[&crate::DIALECT]));
    assert!(all(&inputs).iter().any(|message| message.contains("the whole entry is refused")));
    inputs.stored = Arc::new(texts.iter().map(|(name, _)| Str::new(name)).collect());
    let found = all(&inputs);
    assert!(found.iter().any(|message| message.contains("`Newer` that Chancery reads")), "{found:?}");
    assert!(!found.iter().any(|message| message.contains("refused") || message.contains("protocol")), "{found:?}");
}

#[test]
fn given_certificates_are_served_without_key_in_tree() {
    use chancery_envoy::emit::{Emitted, Service, encode};
    let block = |kind: &str| format!("-----BEGIN {kind}-----\\nbWFya2VkLWtleS1tYXRlcmlhbA==\\n-----END {kind}-----\\n");
    let leaf = format!("{{\"Kind\": \"consul-leaf\", \"Name\": \"web\", \"CertPEM\": \"c1\", \"PrivateKeyPEM\": \"{}\"}}\n", block("EC PRIVATE KEY"));
    let roots = "{Kind: consul-roots, Name: roots, Certificates: r1}\n";
    let compilation = run(&[AGENT, &in_catalog("n1"), &leaf, roots]);
    assert_eq!(messages(&compilation), Vec::<String>::new());
    let gateway = compilation.gateways().next().expect("a gateway");
    let lookup = |reference: &chancery_base::ir::SecretReference| gateway.of().key_material(reference);
    let encoding = encode(gateway.ir, Some(&lookup), &mut Emitted::new());
    let text = |of: &[u8]| String::from_utf8_lossy(of).into_owned();
    let of = |service: Service| encoding.served.iter().filter(move |of| of.service == service);
    let secrets: Vec<&str> = of(Service::Secrets).map(|of| of.resource.name.as_str()).collect();
    assert_eq!(secrets, ["leaf:web", "roots"]);
    let secret = of(Service::Secrets).next().expect("a secret");
    assert!(text(&secret.resource.value).contains("EC PRIVATE KEY") && text(&secret.resource.value).contains("c1"));
    for listener in of(Service::Listeners).chain(of(Service::Clusters)) {
        let shown = text(&listener.resource.value);
        assert!(!shown.contains("PRIVATE KEY") && !shown.contains("<leaf"), "{shown}");
    }
    let trees = format!("{:?}", compilation.objects.iter().map(|object| &object.root).collect::<Vec<_>>());
    assert!(trees.contains("c1") && !trees.contains("PRIVATE KEY"), "no tree has it: {trees}");
    // A certificate that is not given yet is pending, without a placeholder.
    let compilation = run(&[AGENT, &in_catalog("n1"), roots]);
    let gateway = compilation.gateways().next().expect("a gateway");
    let lookup = |reference: &chancery_base::ir::SecretReference| gateway.of().key_material(reference);
    let served = encode(gateway.ir, Some(&lookup), &mut Emitted::new()).served;
    let secrets: Vec<&str> = served.iter().filter(|of| of.service == Service::Secrets).map(|of| of.resource.name.as_str()).collect();
    assert_eq!(secrets, ["roots"]);
    assert!(served.iter().all(|of| !text(&of.resource.value).contains("<leaf")));
}

#[test]
fn listener_without_certificates_is_withheld() {
    use chancery_envoy::emit::{Emitted, Service, encode};
    let compilation = run(&[AGENT, &in_catalog("n1")]);
    let gateway = compilation.gateways().next().expect("a gateway");
    let lookup = |reference: &chancery_base::ir::SecretReference| gateway.of().key_material(reference);
    let encoding = encode(gateway.ir, Some(&lookup), &mut Emitted::new());
    assert!(encoding.served.iter().all(|of| !String::from_utf8_lossy(&of.resource.value).contains("<roots")));
    let withheld: Vec<_> = encoding.withheld.iter().filter(|of| of.service == Service::Listeners).collect();
    let [listener] = &withheld[..] else { panic!("{withheld:?}") };
    assert_eq!(listener.broken[0].message, "no source provides the certificate `leaf:web:cert`");
    let as_text = encode(gateway.ir, None, &mut Emitted::new());
    assert!(as_text.withheld.is_empty(), "placeholders are shown where no certificates are asked for");
}

/// A gateway that terminates TLS with a certificate.
fn with_certificate(certificate: &str, key: &str) -> String {
    let block = |text: &str| text.lines().map(|line| format!("  {line}\n")).collect::<String>();
    let entry = format!("Kind: inline-certificate\nName: shop\nCertificate: |\n{}PrivateKey: |\n{}", block(certificate), block(key));
    let gateway = "Kind: api-gateway\nName: gw\nListeners:\n- Name: l\n  Port: 8443\n  Protocol: http\n  TLS: {Certificates: [{Kind: inline-certificate, Name: shop}]}\n";
    let route = "Kind: http-route\nName: r\nParents: [{Kind: api-gateway, Name: gw}]\nRules: [{Services: [{Name: web}]}]\n";
    [entry.as_str(), gateway, route, "Kind: service-defaults\nName: web\nProtocol: http\n", "service: {kind: api-gateway, name: gw}\n"].join("---\n")
}

const CERTIFICATE: &str = include_str!("../../agic/src/build/testing/tls.crt");
const KEY: &str = include_str!("../../agic/src/build/testing/tls.key");

#[test]
fn inline_key_is_served_but_not_in_tree() {
    use chancery_base::ir::SecretPart;
    let compilation = run(&[&with_certificate(CERTIFICATE, KEY)]);
    let gateway = compilation.gateways().next().expect("a gateway");
    let references = gateway.ir.secret_references();
    let key = references.keys().find(|of| of.part == SecretPart::PrivateKey && of.name == "inline-certificate:shop").expect("a reference");
    assert_eq!(gateway.of().key_material(key).as_deref(), Some(KEY.as_bytes()));
    let certificate = references.keys().find(|of| of.part == SecretPart::Certificate && of.name == key.name).expect("its certificate");
    assert_eq!(gateway.of().key_material(certificate).as_deref(), Some(CERTIFICATE.as_bytes()));
    assert!(!format!("{:?}", gateway.ir.delivery.verbatim).contains("PRIVATE KEY"));
}

#[test]
fn mismatched_key_is_refused() {
    let other = "-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgfdHx+yXC2qzp6cyN\nUtWkVKOJGmrdbd3w01V2qJdGLnyhRANCAATN3AWjU5wohgad9MuI7Me83CYf5gDd\nkvxuvWy2IRXL2m7Wejr7zsPq+wRpO6K4dtnoUgZJwk07XIc1+ddkVqqL\n-----END PRIVATE KEY-----\n";
    let refused = |certificate: &str, key: &str| messages(&run(&[&with_certificate(certificate, key)])).first().cloned().unwrap_or_default();
    assert_eq!(refused(CERTIFICATE, other), "tls: private key does not match public key");
    assert_eq!(refused(KEY, KEY), "failed to parse certificate: x509: malformed certificate");
    assert_eq!(refused(CERTIFICATE, CERTIFICATE), "tls: failed to find any PEM data in key input");
    assert_eq!(refused("", KEY), "failed to parse certificate PEM");
}
