//! Checks both documents as text and as messages, and their output maps.

use crate::rich::{OLD, forward, origin, rich, route, str};
use crate::upstream::{cluster, dns};
use chancery_core::backend::OutputMap;
use chancery_core::backend::envoy::v3::{Emitted, bootstrap, emit, output_map, resources, violations};
use chancery_core::backend::envoy::{Document, Layout, Options};
use chancery_core::executor::Sequential;
use chancery_core::ir::*;
use chancery_core::resource::{ObjectId, Origin, Sourced};
use chancery_envoy_api::json;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

const BOOTSTRAP: Options<'static> = Options { document: Document::Bootstrap, layout: Layout::Pretty, secrets: None, executor: &Sequential };
const RESOURCES: Options<'static> = Options { document: Document::Resources, ..BOOTSTRAP };

fn text(ir: &Ir, options: &Options<'_>) -> String {
    emit(ir, options, &mut Emitted::new()).text()
}

pub fn parsed(ir: &Ir, options: &Options<'_>) -> Value {
    serde_json::from_str(&text(ir, options)).unwrap()
}

fn map(ir: &Ir, options: &Options<'_>) -> OutputMap {
    output_map(ir, options, &mut Emitted::new())
}

#[test]
fn the_text_of_a_bootstrap_is_its_message() {
    for spelling in [Spelling::CURRENT, OLD] {
        let ir = rich(spelling);
        let want: Value = serde_json::from_str(&json::to_string(&bootstrap(&ir, &BOOTSTRAP))).unwrap();
        assert_eq!(parsed(&ir, &BOOTSTRAP), want);
    }
}

#[test]
fn the_text_of_resources_is_their_messages() {
    for spelling in [Spelling::CURRENT, OLD] {
        let ir = rich(spelling);
        let want = resources(&ir, &RESOURCES);
        let list = |messages: &[&dyn chancery_envoy_api::describe::Reflect]| -> Value {
            messages.iter().map(|message| serde_json::from_str::<Value>(&json::to_string(*message)).unwrap()).collect()
        };
        macro_rules! lists {
            ($($name:ident)*) => { serde_json::json!({$(stringify!($name): list(&want.$name.iter().map(|of| of as _).collect::<Vec<_>>())),*}) };
        }
        let want = lists!(listeners routes clusters endpoints secrets runtimes);
        assert_eq!(parsed(&ir, &RESOURCES), want);
    }
}

#[test]
fn compact_and_pretty_text_have_same_content() {
    for options in [BOOTSTRAP, RESOURCES] {
        let ir = rich(Spelling::CURRENT);
        let pretty = text(&ir, &options);
        let value: Value = serde_json::from_str(&pretty).unwrap();
        assert_eq!(pretty, serde_json::to_string_pretty(&value).unwrap());
        assert_eq!(text(&ir, &Options { layout: Layout::Compact, ..options }), serde_json::to_string(&value).unwrap());
    }
    let nothing = Options { layout: Layout::Compact, ..RESOURCES };
    assert_eq!(text(&Ir::default(), &nothing), r#"{"listeners":[],"routes":[],"clusters":[],"endpoints":[],"secrets":[],"runtimes":[]}"#);
}

fn leaves(value: &Value, pointer: &mut String, out: &mut Vec<String>) {
    let before = pointer.len();
    match value {
        Value::Array(items) if !items.is_empty() => {
            for (index, item) in items.iter().enumerate() {
                pointer.push_str(&format!("/{index}"));
                leaves(item, pointer, out);
                pointer.truncate(before);
            }
        }
        Value::Object(members) if !members.is_empty() => {
            for (name, item) in members {
                pointer.push_str(&format!("/{}", name.replace('~', "~0").replace('/', "~1")));
                leaves(item, pointer, out);
                pointer.truncate(before);
            }
        }
        _ => out.push(pointer.clone()),
    }
}

#[test]
fn origins_and_places_match_completely() {
    for spelling in [Spelling::CURRENT, OLD] {
        for options in [BOOTSTRAP, RESOURCES] {
            let ir = rich(spelling);
            let (document, map) = (parsed(&ir, &options), map(&ir, &options));
            let nowhere: Vec<_> = map.iter().map(|made| made.pointer).filter(|pointer| document.pointer(pointer).is_none()).collect();
            assert_eq!(nowhere, [""; 0]);
            let mut all = Vec::new();
            leaves(&document, &mut String::new(), &mut all);
            let unknown: BTreeSet<_> = all.into_iter().filter(|pointer| map.lookup(pointer).is_none()).collect();
            let named = |name: &str| unknown.iter().filter(|pointer| pointer.ends_with(name)).count();
            // Names of tables, layers and services have no origin in the IR.
            let known = ["/name", "/cluster_name", "/ignore_port_in_host_matching"].map(named);
            assert_eq!(unknown.len(), known.iter().sum::<usize>(), "{unknown:#?}");
        }
    }
}

/// Returns a gateway with one listener, one host and one route.
fn small() -> (Ir, Origin, Origin) {
    let (timeout, prefix) = (origin(3), origin(3));
    let mut forward = forward("cluster_quote_default");
    forward.timeout = Some(Sourced::new(Duration::from_millis(3500), timeout));
    let mut quote = route("/backend/", RouteAction::Forward(forward.into()));
    quote.matcher.path.origin = Some(prefix);
    quote.origins = vec![origin(3), origin(4)];
    let manager = HttpConnectionManager {
        stat_prefix: Sourced::built_in(str("ingress_http")),
        routes: RouteConfiguration {
            name: str("table"),
            virtual_hosts: vec![VirtualHost {
                name: str("host"),
                domains: vec![Sourced::new(str("*"), origin(5))],
                routes: vec![Arc::new(quote)].into(),
                origins: vec![origin(5)],
                ..VirtualHost::default()
            }],
            ..RouteConfiguration::default()
        },
        ..HttpConnectionManager::default()
    };
    let chain = FilterChain {
        name: str("http"),
        matcher: Some(FilterChainMatch::default()),
        tls: None,
        filters: vec![NetworkFilter::Http(Arc::new(manager))],
        origins: vec![],
    };
    let listener = Listener {
        name: Sourced::built_in(str("listener")),
        address: Address { address: Sourced::built_in(str("0.0.0.0")), port: Sourced::new(8080, origin(6)), ..Address::default() },
        chains: vec![chain],
        origins: vec![origin(6)],
        ..Listener::default()
    };
    let clusters = vec![Arc::new(cluster("cluster_quote_default", dns(DnsKind::Strict, "cluster_quote_default")))];
    (Ir { listeners: vec![Arc::new(listener)], clusters, ..Ir::default() }, timeout, prefix)
}

const ROUTE: &str = "/static_resources/listeners/0/filter_chains/0/filters/0/typed_config/route_config/virtual_hosts/0/routes/0";

#[test]
fn route_text_uses_envoys_fields() {
    let (ir, ..) = small();
    let document = parsed(&ir, &BOOTSTRAP);
    assert_eq!(
        document.pointer(ROUTE).unwrap(),
        &serde_json::json!({"match": {"prefix": "/backend/"}, "route": {"cluster": "cluster_quote_default", "timeout": "3.500s"}})
    );
    assert_eq!(document.pointer("/static_resources/listeners/0/filter_chains/0/filter_chain_match").unwrap(), &serde_json::json!({}));

    let served = parsed(&ir, &RESOURCES);
    assert_eq!(served.pointer("/routes/0/virtual_hosts/0/routes/0"), document.pointer(ROUTE));
    assert_eq!(
        served.pointer("/listeners/0/filter_chains/0/filters/0/typed_config/rds").unwrap(),
        &serde_json::json!({"config_source": {"ads": {}, "resource_api_version": "V3"}, "route_config_name": "table"})
    );
}

#[test]
fn output_map_leads_both_ways() {
    let (ir, timeout, prefix) = small();
    let map_of = map(&ir, &BOOTSTRAP);
    let made = map_of.lookup(&format!("{ROUTE}/route/timeout")).unwrap();
    assert_eq!((made.pointer, made.origins), (format!("{ROUTE}/route/timeout"), &[timeout][..]));
    assert_eq!(map_of.lookup(&format!("{ROUTE}/match/prefix")).unwrap().origins, [prefix]);
    assert_eq!(map_of.lookup(&format!("{ROUTE}/match/headers/0")).unwrap().pointer, ROUTE);
    assert_eq!(map_of.made_by(ObjectId::from_index(3), |origin| origin.node() == timeout.node()), [format!("{ROUTE}/route/timeout")]);
    assert!(map_of.made_by(ObjectId::from_index(3), |_| true).contains(&ROUTE.to_owned()));
    assert_eq!(map(&ir, &RESOURCES).lookup("/routes/0/virtual_hosts/0/routes/0/route/timeout").unwrap().origins, [timeout]);
    assert!(map_of.descendants(ROUTE).len() >= 4);
}

#[test]
fn broken_rules_are_reported_with_their_origins() {
    for options in [BOOTSTRAP, RESOURCES] {
        assert_eq!(violations(&rich(Spelling::CURRENT), &options, &mut Emitted::new()), []);
    }
    let (mut ir, ..) = small();
    let at = origin(7);
    let mut bad = route("/", RouteAction::Respond(DirectResponse { status: Sourced::new(StatusCode::fixed(100), at), body: None }));
    bad.origins = vec![];
    let listener = Arc::make_mut(&mut ir.listeners[0]);
    let Some(NetworkFilter::Http(manager)) = listener.chains[0].filters.first_mut() else { panic!("HTTP comes first") };
    let routes = &mut Arc::make_mut(manager).routes.virtual_hosts[0].routes;
    let bad = Arc::new(bad);
    *routes = vec![bad.clone(), bad].into();
    let memory = &mut Emitted::new();
    for _ in 0..2 {
        let found = violations(&ir, &BOOTSTRAP, memory);
        let [violation] = &found[..] else { panic!("{found:#?}") };
        assert_eq!(violation.pointer, format!("{ROUTE}/direct_response/status"));
        assert_eq!(violation.origins, [at]);
    }
}

#[test]
fn certificates_are_requested_by_name() {
    let served = parsed(&rich(Spelling::CURRENT), &RESOURCES);
    let common = served.pointer("/listeners/0/filter_chains/0/transport_socket/typed_config/common_tls_context").unwrap();
    let ads = serde_json::json!({"ads": {}, "resource_api_version": "V3"});
    assert_eq!(common["tls_certificate_sds_secret_configs"], serde_json::json!([{"name": "default/server", "sds_config": ads}]));
    assert_eq!(
        common["combined_validation_context"],
        serde_json::json!({
            "default_validation_context": {"trusted_ca": {"filename": "secret:default/ca/tls.crt"}, "crl": {"filename": "secret:default/crl/crl.pem"}},
            "validation_context_sds_secret_config": {"name": "default/ca/tls.crt/crl/default/crl/crl.pem", "sds_config": ads},
        })
    );
    let secret = |name: &str| served["secrets"].as_array().unwrap().iter().find(|secret| secret["name"] == name).unwrap().clone();
    assert_eq!(
        secret("default/server")["tls_certificate"],
        serde_json::json!({
            "certificate_chain": {"inline_string": "secret:default/server/tls.crt"},
            "private_key": {"inline_string": "secret:default/server/tls.key"},
        })
    );
    assert_eq!(
        secret("default/ca/tls.crt/crl/default/crl/crl.pem")["validation_context"],
        serde_json::json!({
            "trusted_ca": {"inline_string": "secret:default/ca/tls.crt"},
            "crl": {"inline_string": "secret:default/crl/crl.pem"},
        })
    );
}

#[test]
fn standalone_bootstrap_uses_no_management_server() {
    let all = |reference: &SecretReference| Some(format!("the {}", reference.name).into_bytes());
    let options = Options { secrets: Some(&all), ..BOOTSTRAP };
    let document = text(&rich(Spelling::CURRENT), &options);
    for asked in ["sds", "ads", "xds_cluster", "secret:", "\"EDS\""] {
        assert!(!document.contains(asked), "{asked}");
    }
    assert!(document.contains("\"inline_string\": \"the server\"") && document.contains("\"inline_string\": \"the crl\""));

    // A missing secret is requested by name, which requires a management server.
    let some = |reference: &SecretReference| (reference.name != "client").then(|| b"x".to_vec());
    let document = text(&rich(Spelling::CURRENT), &Options { secrets: Some(&some), ..BOOTSTRAP });
    assert!(document.contains("\"name\": \"default/client\"") && document.contains("xds_cluster") && !document.contains("\"default/server\""));
}
