//! Tests requests that two Application Gateways treat differently, and parts with their owners.

use super::{AppGatewaySide, app_gateway_requests, compare_app_gateways, parts_of_others};
use crate::compare::{ChangeKind, Requests};
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::compilation::{Compilation, Options};
use chancery_base::ir::appgw::Gateway;
use chancery_base::ir::appgw::wire::Wire as _;
use chancery_base::resource::{Inputs, ObjectId};
use chancery_compile::compile;
use chancery_text::{Limits, parse};

const PATHS: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../assets/examples/ingress/paths.yaml"));

fn compiled(text: &str) -> Compilation {
    let inputs = Inputs::one("a.yaml", text);
    compile(&inputs, &Options::default(), crate::testing::ALL)
}

fn changed(before: &str, after: &str) -> Requests {
    let [before, after] = [before, after].map(compiled);
    let (old, new) = (before.positions(), after.positions());
    let side = |of, positions| AppGatewaySide::new(of, positions);
    let (old, new) = (side(before.app_gateways().next().expect("it runs"), &old), side(after.app_gateways().next().expect("it runs"), &new));
    app_gateway_requests(&old, &new)
}

/// Returns the differences, each as `REQUESTS: LABEL`.
fn described(requests: &Requests) -> Vec<String> {
    let one = |change: &crate::compare::RequestChange| {
        let what: Vec<&str> = change.differences.iter().map(|of| of.what.as_str()).collect();
        alloc::format!("{}: {}", change.requests, what.join(", "))
    };
    requests.changes.iter().map(one).collect()
}

#[test]
fn same_input_changes_no_request() {
    let requests = changed(PATHS, PATHS);
    assert!(requests.is_empty(), "{:#?}", described(&requests));
    assert!(requests.compared >= 6, "{}", requests.compared);
}

#[test]
fn changed_path_is_reported_with_its_line() {
    let after = PATHS.replacen("path: /api/v2/", "path: /api/v3/", 1);
    let requests = changed(PATHS, &after);
    // /api/v2/ still reaches the same pool, by another path rule.
    assert!(requests.is_empty(), "{:#?}", described(&requests));
    let after = PATHS.replacen("name: api\n            port:", "name: web\n            port:", 1);
    let requests = changed(PATHS, &after);
    assert!(requests.is_empty(), "both pools hold the same address: {:#?}", described(&requests));
    let (web, api) = PATHS.split_at(PATHS.rfind("10.1.0.4").expect("the address"));
    let after = alloc::format!("{web}{}", api.replace("10.1.0.4", "10.1.0.9"));
    let requests = changed(PATHS, &after);
    let described = described(&requests);
    assert_eq!(described.len(), 1, "{described:#?}");
    assert!(described[0].contains("shop.example.com/api/*") && described[0].contains("addresses"), "{described:#?}");
    assert!(!described[0].contains("shop.example.com/*"), "{described:#?}");
    let difference = &requests.changes[0].differences[0];
    assert!(difference.after_from.as_ref().is_some_and(|from| from.span.is_some()), "{difference:#?}");
}

#[test]
fn removed_host_is_answered_404() {
    let after = PATHS.replace("host: shop.example.com", "host: store.example.com");
    let requests = changed(PATHS, &after);
    let ends: Vec<&str> = requests.changes.iter().map(|change| change.after.summary.as_str()).collect();
    assert!(ends.iter().any(|end| end.contains("404")), "{ends:?}");
    assert!(described(&requests).iter().any(|of| of.starts_with("shop.example.com")), "{:#?}", described(&requests));
}

#[test]
fn backend_setting_changes_requests() {
    let after = PATHS.replace("health-probe-path: \"/healthz\"", "request-timeout: \"7\"");
    let requests = changed(PATHS, &after);
    let what: Vec<&str> = requests.changes.iter().flat_map(|change| &change.differences).map(|of| of.what.as_str()).collect();
    assert!(what.contains(&"settings.requestTimeout") && what.contains(&"probe.path"), "{what:?}");
}

#[test]
fn path_uses_settings_of_its_backend() {
    let both = PATHS.replace("health-probe-path: \"/healthz\"", "request-timeout: \"7\"");
    let requests = changed(PATHS, &both);
    let paths: Vec<String> = described(&requests);
    assert!(paths.iter().any(|described| described.contains("/api") && described.contains("settings.requestTimeout")), "{paths:#?}");
}

#[test]
fn parts_have_an_owner() {
    let text = r#"{"id": "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/applicationGateways/a", "properties": {"frontendPorts": [
        {"name": "fp-80", "id": "/p/fp-80", "properties": {"port": 80}}, {"name": "old", "id": "/p/old", "properties": {"port": 81}}]}}"#;
    let root = parse(text, &Limits::default()).root.expect("it is JSON");
    let existing = Gateway::read(&root, ObjectId::BUILT_IN).expect("a gateway");
    let after = compiled(PATHS);
    let positions = after.positions();
    let (old, new) = (AppGatewaySide::existing(&existing), AppGatewaySide::new(after.app_gateways().next().expect("it runs"), &positions));
    let changes = compare_app_gateways(&old, &new);
    let gone = changes.iter().find(|change| change.name == "old").expect("it goes");
    assert_eq!(gone.change, ChangeKind::Removed);
    assert!(gone.note.as_ref().is_some_and(|note| note.contains("nothing in the input asks for it")), "{gone:?}");
    let added = changes.iter().find(|change| change.kind == "listener").expect("a listener");
    assert_eq!(added.note.as_deref(), Some("owned by the controller"));
    assert!(!added.after.is_empty());
    assert!(parts_of_others(&old, &new).iter().all(|kept| kept.name != "old"));
}

#[test]
fn fields_added_by_azure_are_not_differences() {
    let gateway = |part: &str| {
        let text = alloc::format!("{{\"properties\": {{\"frontendPorts\": [{part}]}}}}");
        let root = parse(&text, &Limits::default()).root.expect("a document");
        Gateway::read(&root, ObjectId::BUILT_IN).expect("a gateway")
    };
    let shown = gateway(
        "{\"name\": \"fp-80\", \"id\": \"/a/RG/fp-80\", \"etag\": \"W/1\", \"type\": \"Microsoft.Network/x\", \
         \"properties\": {\"port\": 80, \"provisioningState\": \"Succeeded\", \"httpListeners\": [{\"id\": \"/x\"}], \"enableX\": false}}",
    );
    let made = |port: u16| gateway(&alloc::format!("{{\"name\": \"fp-80\", \"id\": \"/a/rg/fp-80\", \"properties\": {{\"port\": {port}}}}}"));
    let changes = |after: &Gateway| compare_app_gateways(&AppGatewaySide::existing(&shown), &AppGatewaySide::existing(after));
    assert!(changes(&made(80)).is_empty(), "{:#?}", changes(&made(80)));
    let found = changes(&made(81));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].fields.len(), 1, "{found:#?}");
}
