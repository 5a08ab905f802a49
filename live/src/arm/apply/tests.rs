//! Tests which plans are sent, which are held, and when a plan is retried.

use super::*;
use crate::event::PlannedPart;
use chancery_core::compilation::{OptionValue, Options};
use chancery_core::compile::compile;
use chancery_core::dialect::{self, ingress};
use chancery_core::resource::Inputs;

const PATHS: &str = include_str!("../../../../assets/examples/ingress/paths.yaml");

/// Returns a gateway with these listeners.
fn gateway(listeners: &[&str], cluster: &str) -> String {
    let frontend = r#"{"name": "public", "id": "/f/public", "properties": {"publicIPAddress": {"id": "/ip"}}}"#;
    let listener = |name: &&str| format!(r#"{{"name": "{name}", "id": "/l/{name}", "properties": {{"protocol": "Http"}}}}"#);
    let listeners: Vec<String> = listeners.iter().map(listener).collect();
    let empty = [
        "backendAddressPools",
        "requestRoutingRules",
        "sslProfiles",
        "sslCertificates",
        "trustedRootCertificates",
        "urlPathMaps",
        "redirectConfigurations",
        "rewriteRuleSets",
        "probes",
        "backendHttpSettingsCollection",
        "authenticationCertificates",
    ];
    let lists = empty.map(|list| format!("\"{list}\": []")).join(",");
    format!(
        r#"{{"id": "/gw", "name": "gw", "etag": "W/\"1\"", "tags": {{"ingress-for-aks-cluster-id": "{cluster}"}},
            "properties": {{"operationalState": "Running", "frontendPorts": [], "frontendIPConfigurations": [{frontend}],
            "sku": {{"name": "Standard_v2", "tier": "Standard_v2"}}, "httpListeners": [{}], {lists}}}}}"#,
        listeners.join(",")
    )
}

fn plan(text: &str, gateway: Option<String>) -> Plan {
    let mut options = Options::of(&ingress::DIALECT);
    if let Some(gateway) = gateway {
        options.insert("existing-gateway", OptionValue::Text(gateway.into()));
    }
    let compilation = compile(&Inputs::one("a.yaml", text), &options, dialect::ALL);
    let found = || compilation.all_diagnostics().map(|finding| finding.message.to_string()).collect::<Vec<_>>();
    Plan::of(&compilation, &options).unwrap_or_else(|| panic!("there is no gateway: {:#?}", found()))
}

#[test]
fn plan_names_parts_owners_and_gateway_version() {
    let plan = plan(PATHS, Some(gateway(&["theirs"], "")));
    assert_eq!((plan.etag.as_deref(), plan.is_compared, plan.listeners), (Some("W/\"1\""), true, 1));
    let of =
        |change: &str, kind: &str| -> Vec<&PlannedPart> { plan.parts.iter().filter(|part| part.change == change && part.kind == kind).collect() };
    assert_eq!(of("removed", "listener").len(), 1);
    let [added] = of("added", "listener")[..] else { panic!("{:#?}", plan.parts) };
    assert_eq!((added.owner.as_str(), added.places[0].file.as_str()), ("owned by the controller", "a.yaml"));
    assert_eq!(plan.shown()["tags"]["managed-by-k8s-ingress"].as_str().map(|tag| tag.starts_with("chancery/")), Some(true));
}

#[test]
fn applier_without_known_gateway_sends_nothing() {
    let plan = plan(PATHS, None);
    assert!(!plan.parts.is_empty());
    assert_eq!(Applier::default().decide(&plan), Decision::Nothing);
}

#[test]
fn applier_resends_only_after_change() {
    let mut applier = Applier::default();
    let first = plan(PATHS, Some(gateway(&[], "")));
    assert_eq!(applier.decide(&first), Decision::Send);
    applier.applied(&first, [7; 32]);
    let settled = Plan { present: [7; 32], ..first.clone() };
    assert_eq!(applier.decide(&settled), Decision::Nothing, "Azure writes more than it is sent");
    assert_eq!(applier.decide(&Plan { present: [8; 32], ..first.clone() }), Decision::Send, "another client changed the gateway");
    assert_eq!(applier.decide(&Plan { wanted: [8; 32], ..settled.clone() }), Decision::Send, "something else is wanted");
    applier.failed(&Trouble::new(Kind::Refused, "no"), &Pace::default());
    assert_eq!(applier.decide(&settled), Decision::Send, "it is not known how the gateway is");
}

#[test]
fn applier_holds_removal_of_most_listeners() {
    let text = gateway(&["a", "b", "c"], "");
    let three = plan(PATHS, Some(text));
    let Decision::Held(why) = Applier::default().decide(&three) else { panic!("it is held") };
    assert!(why.contains("3 of 3 listeners") && why.contains("--confirm-removals"), "{why}");
    assert_eq!(Applier::new(Allowed { removals: true, take_over: false }).decide(&three), Decision::Send);
    let half = Plan { listeners: 6, ..three };
    assert_eq!(Applier::default().decide(&half), Decision::Send, "half of them are not most of them");
}

#[test]
fn listener_with_changed_host_is_not_lost() {
    let mut applier = Applier::default();
    let first = plan(PATHS, Some(gateway(&[], "")));
    applier.applied(&first, [7; 32]);
    let listeners: Vec<&str> = first.wanted_listeners.iter().map(String::as_str).collect();
    let renamed = plan(&PATHS.replace("shop.example.com", "store.example.com"), Some(gateway(&listeners, "")));
    assert_eq!((renamed.gone.len(), renamed.listeners), (1, 1));
    assert_eq!(applier.decide(&renamed), Decision::Send);
    assert!(matches!(Applier::default().decide(&renamed), Decision::Held(_)), "it is not known whose it is");
    let nothing = Plan { new_listeners: 0, ..renamed };
    assert!(matches!(applier.decide(&nothing), Decision::Held(_)), "nothing takes its place");
}

#[test]
fn applier_holds_gateway_of_other_cluster() {
    let mine = Plan { other_cluster: Some("/other".into()), ..plan(PATHS, Some(gateway(&[], ""))) };
    assert!(matches!(Applier::default().decide(&mine), Decision::Held(why) if why.contains("/other")));
    assert_eq!(Applier::new(Allowed { removals: false, take_over: true }).decide(&mine), Decision::Send);
    let node = "---\napiVersion: v1\nkind: Node\nmetadata: {name: node-1}\nspec:\n  providerID: azure:///subscriptions/s/resourceGroups/MC_g_mine_west/providers/Microsoft.Compute/virtualMachines/n\n";
    let of_node = plan(&format!("{PATHS}{node}"), Some(gateway(&[], "/theirs")));
    assert_eq!(of_node.other_cluster.as_deref(), Some("/theirs"), "{}", of_node.shown()["tags"]);
    assert_eq!(plan(PATHS, Some(gateway(&[], "/theirs"))).other_cluster, None, "it is not known which cluster this is");
}

#[test]
fn applier_after_failures_doubles_pause() {
    let (mut applier, pace) = (Applier::default(), Pace::default());
    let busy = Trouble::new(Kind::Busy, "another operation");
    let pauses: Vec<u64> = (0..6).map(|_| applier.failed(&busy, &pace).as_secs()).collect();
    assert_eq!(pauses, [5, 10, 20, 40, 60, 60]);
    let throttled = Trouble { retry_after: Some(Duration::from_secs(90)), ..Trouble::new(Kind::Throttled, "slow down") };
    assert_eq!(applier.failed(&throttled, &pace).as_secs(), 90);
    let mut applier = Applier::default();
    let changed = Trouble::new(Kind::Changed, "412");
    assert_eq!(applier.failed(&changed, &pace), pace.spacing, "another client changed it first");
    assert!(applier.failed(&changed, &pace) > pace.spacing, "and again");
}
