//! Findings beyond the examples of the code pages.

use crate::DIALECT;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::compilation::Options;
use chancery_base::diagnostic::Policy;
use chancery_base::executor::Sequential;
use chancery_base::resource::Inputs;
use chancery_compile::{EmittedByGateway, compile};
use chancery_explain::check::check;

/// The messages of a code.
fn found(code: &str, documents: &[&str]) -> Vec<String> {
    let mut compilation = compile(&Inputs::one("mesh.yaml", documents.join("\n---\n").as_str()), &Options::of(&DIALECT), &[&crate::DIALECT]);
    check(&mut compilation, &Policy::default(), &mut EmittedByGateway::default(), &Sequential);
    compilation.all_diagnostics().filter(|finding| finding.code.name == code).map(|finding| finding.message.clone()).collect()
}

const HTTP: &str = "{Kind: proxy-defaults, Name: global, Config: {protocol: http}}";
const AGENT: &str = "{Kind: consul-agent, Datacenter: dc1, Node: n1}";

#[test]
fn each_port_of_an_instance_must_exist() {
    let ports = |own: u32, wan: u32| {
        let service = format!(
            "service: {{name: api, port: {own}, address: 10.0.0.1, tagged_addresses: {{wan: {{address: 198.51.100.7, port: {wan}}}, \
             lan: {{address: 10.0.0.1, port: 0}}}}}}"
        );
        found("port-out-of-range", &[&service])
    };
    assert_eq!(ports(8080, 443), [""; 0]);
    assert_eq!(ports(8080, 70_000), ["the service `api` is registered with the port 70000 at its address `wan`, which does not exist"]);
    assert_eq!(
        ports(80_000, 443),
        ["the service `api` is registered with the port 80000, which does not exist"],
        "and not once more for each address"
    );
}

#[test]
fn splits_to_missing_services_are_joined() {
    let splits = |count: usize| {
        let share = 100.0 / count as f64;
        let all: Vec<String> = (0..count).map(|at| format!("{{Weight: {share}, Service: s{at}}}")).collect();
        let splitter = format!("{{Kind: service-splitter, Name: web, Splits: [{}]}}", all.join(", "));
        found("split-without-instances", &[HTTP, &splitter, "service: {name: api, port: 80, connect: {sidecar_service: {}}}"])
    };
    assert_eq!(splits(5).len(), 5);
    assert_eq!(splits(1_000), ["this split leads to `s0`, which has no instances; the same holds for `s1`, `s2`, `s3` and 996 more"]);
}

#[test]
fn data_missing_in_api_is_reported_if_needed() {
    let not_in_api = |documents: &[&str]| found("not-in-consul-api", documents).len();
    let exported = "{Kind: exported-services, Name: default, Services: [{Name: web, Consumers: [{Peer: cloud}]}]}";
    assert_eq!(not_in_api(&[AGENT, exported]), 1);
    assert_eq!(not_in_api(&[exported]), 0, "files are complete");
    let transparent = "{Node: n1, Address: 10.0.0.1, Service: {ID: web-proxy, Service: web-proxy, Kind: connect-proxy, Port: 21000, \
                       Proxy: {DestinationServiceName: web, DestinationServiceID: web, Mode: transparent}}}";
    let redirect = "{Kind: service-resolver, Name: old, Redirect: {Service: web}}";
    assert_eq!(not_in_api(&[AGENT, transparent, redirect]), 1);
    assert_eq!(not_in_api(&[AGENT, &transparent.replace(", Mode: transparent", ""), redirect]), 0);
    let old_proxy = "{Node: n1, Address: 10.0.0.1, Service: {ID: old-proxy, Service: old-proxy, Kind: connect-proxy, Port: 21001, \
                TaggedAddresses: {consul-virtual: {Address: 240.0.0.5, Port: 21001}}, Proxy: {DestinationServiceName: old}}}";
    assert_eq!(not_in_api(&[AGENT, transparent, redirect, old_proxy]), 0);
}

#[test]
fn only_ports_of_one_machine_collide() {
    let upstream = |name: &str, address: &str| {
        format!(
            "service: {{name: {name}, port: 80, {address}connect: {{sidecar_service: {{{address}port: 2000{}, proxy: {{upstreams: \
             [{{destination_name: api, local_bind_port: 9191}}]}}}}}}}}",
            name.len()
        )
    };
    let collisions = |one: &str, other: &str| found("local-port-collision", &[AGENT, &upstream("web", one), &upstream("shop", other)]).len();
    assert_eq!(collisions("", ""), 2, "the port of the services, and of the upstreams");
    assert_eq!(collisions("address: 127.0.0.1, ", ""), 2);
    assert_eq!(collisions("address: 10.0.0.3, ", "address: 10.0.0.6, "), 0);
}

#[test]
fn service_is_found_by_names_in_entries() {
    let circle = ["{Kind: service-resolver, Name: a, Redirect: {Service: b}}", "{Kind: service-resolver, Name: b, Redirect: {Service: a}}"];
    let web = "service: {name: web, port: 80, connect: {sidecar_service: {proxy: {upstreams: [{destination_name: a, local_bind_port: 9191}]}}}}";
    let documents = [circle[0], circle[1], web];
    assert_eq!(found("entry-refused", &documents).len(), 1, "the second");
    assert_eq!(found("wrong-kind-reference", &documents), [""; 0]);
}

#[test]
fn invalid_regexes_are_found_in_all_resources() {
    let web = "service: {name: web, port: 8080, connect: {sidecar_service: {}}}";
    let refused = |matching: &str| {
        let router = format!("{{Kind: service-router, Name: web, Routes: [{{Match: {{HTTP: {matching}}}, Destination: {{Service: web}}}}]}}");
        let caller =
            "service: {name: caller, port: 8081, connect: {sidecar_service: {proxy: {upstreams: [{destination_name: web, local_bind_port: 9191}]}}}}";
        found("invalid-regex", &[HTTP, web, caller, &router]).len()
    };
    assert_eq!(refused(r#"{PathRegex: "/a+"}"#), 0);
    assert_eq!(refused(r#"{PathRegex: "["}"#), 1);
    assert_eq!(refused(r#"{Header: [{Name: a, Regex: "("}]}"#), 1);
    assert_eq!(refused(r#"{QueryParam: [{Name: a, Regex: "*"}]}"#), 1);
    let intentions = r#"{Kind: service-intentions, Name: web, Sources: [{Name: x, Permissions: [{Action: deny, HTTP: {PathRegex: "["}}]}]}"#;
    assert_eq!(found("invalid-regex", &[HTTP, web, intentions]).len(), 1);
}

#[test]
fn rings_and_keys_that_envoy_refuses_are_found() {
    let web = "service: {name: web, port: 8080, connect: {sidecar_service: {}}}";
    let caller =
        "service: {name: caller, port: 8081, connect: {sidecar_service: {proxy: {upstreams: [{destination_name: web, local_bind_port: 9191}]}}}}";
    let ring = |sizes: &str| {
        let resolver = format!("{{Kind: service-resolver, Name: web, LoadBalancer: {{Policy: ring_hash, RingHashConfig: {sizes}}}}}");
        found("refused-by-envoy", &[HTTP, web, caller, &resolver]).len()
    };
    assert_eq!(ring("{MinimumRingSize: 2048}"), 1);
    assert_eq!(ring("{MaximumRingSize: 512}"), 0, "the minimum is then 0");
    assert_eq!(ring("{MinimumRingSize: 2048, MaximumRingSize: 4096}"), 0);
    let keys = |set: &str| {
        use base64::Engine as _;
        let set = base64::engine::general_purpose::STANDARD.encode(set);
        let provider = format!("{{Kind: jwt-provider, Name: p, Issuer: i, JSONWebKeySet: {{Local: {{JWKS: '{set}'}}}}}}");
        let intentions = "{Kind: service-intentions, Name: web, Sources: [{Name: caller, Permissions: [{Action: allow, HTTP: {PathPrefix: /}, JWT: {Providers: [{Name: p}]}}]}]}";
        found("refused-by-envoy", &[HTTP, web, caller, &provider, intentions]).len()
    };
    assert_eq!((keys("{}"), keys("x"), keys(r#"{"keys": []}"#)), (1, 1, 1));
    assert_eq!(keys(r#"{"keys": [{"kty": "RSA", "e": "AQAB", "n": "x"}]}"#), 0);
}

#[test]
fn invalid_header_changes_are_found() {
    let web = "service: {name: web, port: 8080, connect: {sidecar_service: {}}}";
    let caller =
        "service: {name: caller, port: 8081, connect: {sidecar_service: {proxy: {upstreams: [{destination_name: web, local_bind_port: 9191}]}}}}";
    let count_of = |code: &str, change: &str| {
        let router = format!("{{Kind: service-router, Name: web, Routes: [{{Destination: {{Service: web, RequestHeaders: {change}}}}}]}}");
        found(code, &[HTTP, web, caller, &router]).len()
    };
    assert_eq!(count_of("refused-by-envoy", "{Set: {x-a: '100%'}}"), 1);
    assert_eq!(count_of("refused-by-envoy", "{Add: {x-a: '%REQ(x-b)%'}}"), 0);
    assert_eq!(count_of("protected-header", "{Set: {Host: a.example.com}}"), 1);
    assert_eq!(count_of("protected-header", "{Remove: [':path']}"), 1);
    assert_eq!(count_of("protected-header", "{Set: {x-host: a.example.com}}"), 0);
}

#[test]
fn unknown_values_are_reported() {
    let unknown = |document: &str| found("unknown-value", &[document, "service: {name: web, port: 80, connect: {sidecar_service: {}}}"]);
    let protocol = ["Consul does not know `htpp` here, and takes it for `tcp`"];
    assert_eq!(unknown("{Kind: service-defaults, Name: web, Protocol: htpp}"), protocol);
    assert_eq!(unknown("{Kind: proxy-defaults, Name: global, Config: {protocol: htpp}}"), protocol, "reported once, not for each proxy");
    assert_eq!(unknown("{Kind: service-defaults, Name: web, UpstreamConfig: {Overrides: [{Name: api, Protocol: htpp}]}}"), protocol);
    let upstream = "service: {name: api, port: 80, connect: {sidecar_service: {proxy: {upstreams: [{destination_name: web, local_bind_port: 9000, \
                    config: {protocol: htpp}}]}}}}";
    assert_eq!(unknown(upstream), protocol);
    assert_eq!(
        unknown("{Kind: service-defaults, Name: web, MeshGateway: {Mode: locale}}"),
        ["Consul does not know `locale` here, and goes through no mesh gateway, as with `none`"]
    );
    for known in ["Protocol: HTTP", "Protocol: grpc", "Mode: transparent", "MeshGateway: {Mode: remote}"] {
        assert_eq!(unknown(&format!("{{Kind: service-defaults, Name: web, {known}}}")), [""; 0], "{known}");
    }
}

#[test]
fn enterprise_field_is_reported_once() {
    let entry = "{Kind: service-intentions, Name: web, Sources: [{Name: api, Namespace: team, Action: allow}]}";
    let refused = "`Sources[0].Namespace` needs Consul Enterprise, 1.7 or later: the community edition refuses the whole entry";
    assert_eq!(found("unknown-entry-field", &[entry]), [refused]);
    assert_eq!(found("enterprise-field", &[entry]), [""; 0]);
    let resource =
        "{apiVersion: consul.hashicorp.com/v1alpha1, kind: ServiceDefaults, metadata: {name: web}, spec: {protocol: http, partition: east}}";
    assert_eq!(
        found("unknown-field", &[resource]),
        ["`spec.partition` needs Consul Enterprise, 1.11 or later: it has no effect on what Chancery shows"]
    );
}

#[test]
fn redundant_intentions_are_joined() {
    let of = |count: usize| -> Vec<String> {
        let entries: Vec<String> =
            (0..count).map(|at| format!("{{Kind: service-intentions, Name: s{at}, Sources: [{{Name: web, Action: allow}}]}}")).collect();
        found("redundant-intention", &entries.iter().map(String::as_str).collect::<Vec<_>>())
    };
    assert_eq!(of(1), ["`s0` is open without this intention, by the default policy"]);
    assert_eq!(of(20), ["`s0` is open without this intention, by the default policy; the same holds for `s1`, `s2`, `s3` and 16 more"]);
}

#[test]
fn fields_written_by_agent_are_accepted() {
    let entry = "{Kind: service-defaults, Name: web, Protocol: htpp, CreateIndex: 15, ModifyIndex: 35}";
    assert_eq!(found("unknown-entry-field", &[entry]), [""; 0]);
    assert_eq!(found("unknown-value", &[entry]).len(), 1, "the entry is read");
}

#[test]
fn permissions_that_deny_nothing_are_redundant() {
    let of = |defaults: &str, permissions: &str| {
        let entry = format!("{{Kind: service-intentions, Name: api, Sources: [{{Name: web, Permissions: [{permissions}]}}]}}");
        found("redundant-intention", &[defaults, &entry])
    };
    let get = "{Action: allow, HTTP: {PathPrefix: /, Methods: [GET]}}";
    assert_eq!(of(HTTP, get), ["this intention only allows, and so does the default policy: every request of `web` to `api` is allowed"]);
    let deny = "{Action: deny, HTTP: {PathPrefix: /}}";
    assert_eq!(of(HTTP, &format!("{get}, {deny}")), [""; 0]);
    let tcp = "{Kind: service-defaults, Name: api, Protocol: tcp}";
    assert_eq!(of(tcp, get), [""; 0], "without HTTP it denies");
}

#[test]
fn permissions_replace_wider_intention_that_denies() {
    let of = |wide: &str, permissions: &str| {
        let wide = format!("{{Kind: service-intentions, Name: '*', Sources: [{{Name: '*', Action: {wide}}}]}}");
        let entry = format!("{{Kind: service-intentions, Name: api, Sources: [{{Name: web, Permissions: [{permissions}]}}]}}");
        found("open-permissions", &[HTTP, &wide, &entry])
    };
    let rest = "others follow the default policy (allow), not the intention for `*`";
    let health = |action: &str| format!("{{Action: {action}, HTTP: {{PathExact: /health}}}}");
    let allowing = format!("`web` may send every request to `api`, not only the requests of these permissions: {rest}");
    assert_eq!(of("deny", &health("allow")), [allowing]);
    assert_eq!(of("deny", &health("deny")), [format!("`web` may send every request to `api` that these permissions do not deny: {rest}")]);
    assert_eq!(of("allow", &health("deny")), [""; 0]);
    let last = "{Action: deny, HTTP: {PathPrefix: /}}";
    assert_eq!(of("deny", &format!("{}, {last}", health("allow"))), [""; 0]);
}

#[test]
fn unbound_route_is_reported() {
    let of = |route: &str| {
        let gateway = "{Kind: api-gateway, Name: gw, Listeners: [{Name: l, Port: 8080, Protocol: http, Hostname: '*.example.com'}, \
                       {Name: all, Port: 8081, Protocol: http}]}";
        found("route-not-bound", &[HTTP, gateway, route])
    };
    let http = |hosts: &str, section: &str, service: &str| {
        format!(
            "{{Kind: http-route, Name: r, Hostnames: [{hosts}], Parents: [{{Kind: api-gateway, Name: gw, SectionName: {section}}}], \
             Rules: [{{Services: [{{Name: {service}}}]}}]}}"
        )
    };
    assert_eq!(of(&http("a.example.com", "l", "api")), [""; 0]);
    assert_eq!(of(&http("a.other.com", "''", "api")), [""; 0], "another listener accepts it");
    let why = "failed to bind route to gateway gw: listener l is does not have any hostnames that match the route";
    assert_eq!(of(&http("a.other.com", "l", "api")), [format!("the api-gateway `gw` does not accept the route: {why}")]);
    let tcp = "{Kind: tcp-route, Name: r, Parents: [{Kind: api-gateway, Name: gw, SectionName: l}], Services: [{Name: db}]}\n---\n\
               {Kind: service-defaults, Name: db, Protocol: tcp}";
    let why = "failed to bind route r to gateway gw: listener l is not a tcp listener";
    assert_eq!(of(tcp), [format!("the api-gateway `gw` does not accept the route: {why}")]);
    let mixed = format!("{}\n---\n{{Kind: service-defaults, Name: db, Protocol: tcp}}", http("a.example.com", "l", "db"));
    let why = "failed to bind route to gateway gw: route has not been accepted: route protocol does not match targeted service protocol";
    assert_eq!(of(&mixed), [format!("the api-gateway `gw` does not accept the route: {why}")]);
}

#[test]
fn bootstrap_error_is_reported_once() {
    let of = |config: &str| {
        let defaults = format!("{{Kind: proxy-defaults, Name: global, Config: {{{config}}}}}");
        let service = |name: &str| format!("service: {{name: {name}, port: 80, connect: {{sidecar_service: {{}}}}}}");
        found("bootstrap-refused", &[&defaults, &service("web"), &service("api")])
    };
    let refused = of("envoy_extra_static_clusters_json: '{oops'");
    assert!(
        matches!(&refused[..], [one] if one.contains("refuses `envoy_extra_static_clusters_json`") && one.contains("is not JSON")),
        "{refused:?}"
    );
    assert_eq!(of("envoy_extra_static_clusters_json: '{\"name\": \"a\"}, {\"name\": \"b\"}'"), [""; 0], "several with commas between");
    assert_eq!(of("envoy_tracing_json: '{a: b}'").len(), 1, "YAML is not JSON");
    assert_eq!(of("envoy_statsd_url: 'tcp://127.0.0.1:8125'").len(), 1);
    assert_eq!(of("envoy_statsd_url: '$STATSD', envoy_prometheus_bind_addr: '0.0.0.0:9102'"), [""; 0]);
    assert_eq!(of("envoy_prometheus_bind_addr: '9102'").len(), 1);
}

#[test]
fn double_slash_rewrite_in_router_is_reported() {
    let of = |prefix: &str| {
        let router = format!(
            "{{Kind: service-router, Name: api, Routes: [{{Match: {{HTTP: {{PathPrefix: {prefix}}}}}, Destination: {{Service: api, PrefixRewrite: /}}}}]}}"
        );
        let web =
            "service: {name: web, port: 80, connect: {sidecar_service: {proxy: {upstreams: [{destination_name: api, local_bind_port: 9191}]}}}}";
        found("rewrite-slashes", &[HTTP, &router, web, "service: {name: api, port: 81, connect: {sidecar_service: {}}}"])
    };
    assert_eq!(of("/admin"), ["a request for `/admin/a` reaches the upstream as `//a`"]);
    assert_eq!(of("/admin/"), [""; 0]);
}

#[test]
fn empty_prefix_rewrite_has_no_effect() {
    let of = |rewrite: &str| {
        let router =
            format!("{{Kind: service-router, Name: api, Routes: [{{Match: {{HTTP: {{PathPrefix: /a}}}}, Destination: {{Service: api{rewrite}}}}}]}}");
        found("field-without-effect", &[HTTP, &router, "service: {name: api, port: 81, connect: {sidecar_service: {}}}"])
    };
    assert_eq!(of(", PrefixRewrite: ''"), ["an empty `PrefixRewrite` changes nothing: the service gets the whole path"]);
    assert_eq!(of(", PrefixRewrite: /"), [""; 0]);
    assert_eq!(of(""), [""; 0]);
}

#[test]
fn filters_see_sidecars_instead_of_services() {
    let of = |sidecar: &str| {
        let api = format!("service: {{name: api, port: 81, tags: [prod], connect: {{sidecar_service: {{{sidecar}}}}}}}");
        let resolver = "{Kind: service-resolver, Name: api, DefaultSubset: p, Subsets: {p: {Filter: '\"prod\" in Service.Tags'}}}";
        let web =
            "service: {name: web, port: 80, connect: {sidecar_service: {proxy: {upstreams: [{destination_name: api, local_bind_port: 9191}]}}}}";
        found("subset-without-instances", &[HTTP, resolver, web, &api])
    };
    assert_eq!(of(""), [""; 0], "the sidecar inherits the tags");
    assert_eq!(of("tags: [sidecar]"), ["no instance of `api` belongs to the subset `p`: requests for this subset get 503"]);
}

#[test]
fn seconds_field_is_not_reported_as_nanoseconds() {
    let provider = |remote: &str| {
        let entry = format!("Kind: jwt-provider\nName: p\nIssuer: i\nJSONWebKeySet: {{Remote: {{URI: 'https://a.example.com/keys', {remote}}}}}");
        found("duration-in-nanoseconds", &[&entry]).len()
    };
    assert_eq!(provider("CacheDuration: 30"), 0);
    assert_eq!(provider("RetryPolicy: {RetryPolicyBackOff: {BaseInterval: 30}}"), 1);
}
