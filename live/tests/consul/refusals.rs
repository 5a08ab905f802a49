//! Tests config entries that a real agent refuses: our messages match the agent's.
//!
//! Does not test accepted entries; see `consul_agent`.

use super::agent::Servers;
use chancery_core::compilation::{OptionValue, Options};
use chancery_core::compile::compile;
use chancery_core::dialect::{ALL, consul};
use chancery_core::resource::Inputs;

/// Groups of entries with unique names. In each group, the agent refuses one entry.
const CASES: [&[&str]; 15] = [
    // A splitter to a service without a protocol, and a splitter of such a service.
    &[
        r#"{"Kind": "service-defaults", "Name": "a1", "Protocol": "http"}"#,
        r#"{"Kind": "service-splitter", "Name": "a1", "Splits": [{"Weight": 50, "Service": "a1"}, {"Weight": 50, "Service": "b1"}]}"#,
    ],
    &[r#"{"Kind": "service-splitter", "Name": "a2", "Splits": [{"Weight": 100, "Service": "b2"}]}"#],
    // A router of a service with TCP, before and after the service sets it.
    &[
        r#"{"Kind": "service-defaults", "Name": "a3", "Protocol": "tcp"}"#,
        r#"{"Kind": "service-router", "Name": "a3", "Routes": [{"Match": {"HTTP": {"PathPrefix": "/x"}}}]}"#,
    ],
    &[
        r#"{"Kind": "service-defaults", "Name": "a4", "Protocol": "http"}"#,
        r#"{"Kind": "service-router", "Name": "a4", "Routes": [{"Match": {"HTTP": {"PathPrefix": "/x"}}}]}"#,
        r#"{"Kind": "service-defaults", "Name": "a4", "Protocol": "tcp"}"#,
    ],
    // Undefined subsets.
    &[r#"{"Kind": "service-resolver", "Name": "a5", "DefaultSubset": "v9"}"#],
    &[r#"{"Kind": "service-resolver", "Name": "a6", "Redirect": {"Service": "b6", "ServiceSubset": "v9"}}"#],
    &[r#"{"Kind": "service-resolver", "Name": "a7", "Failover": {"v9": {"Service": "b7"}}}"#],
    // Failover and redirect to existing targets.
    &[r#"{"Kind": "service-resolver", "Name": "a8", "Failover": {"*": {}}}"#],
    &[r#"{"Kind": "service-resolver", "Name": "a9", "Redirect": {}}"#],
    // Listeners of one port, and services of one host.
    &[r#"{"Kind": "ingress-gateway", "Name": "g10", "Listeners": [
            {"Port": 80, "Protocol": "tcp", "Services": [{"Name": "a10"}]}, {"Port": 80, "Protocol": "tcp", "Services": [{"Name": "b10"}]}]}"#],
    &[r#"{"Kind": "ingress-gateway", "Name": "g11", "Listeners": [
            {"Port": 80, "Protocol": "http", "Services": [{"Name": "a11", "Hosts": ["x.y"]}, {"Name": "b11", "Hosts": ["x.y"]}]}]}"#],
    // One source twice.
    &[r#"{"Kind": "service-intentions", "Name": "a12", "Sources": [{"Name": "b12", "Action": "allow"}, {"Name": "b12", "Action": "deny"}]}"#],
    &[r#"{"Kind": "service-splitter", "Name": "a13", "Splits": [{"Weight": 50, "Service": "a13"}, {"Weight": 49.5, "Service": "b13"}]}"#],
    &[r#"{"Kind": "service-defaults", "Name": "a14", "UpstreamConfig": {"Overrides": [{"ConnectTimeoutMs": 1}]}}"#],
    &[r#"{"Kind": "service-default", "Name": "a15"}"#],
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refused_entries_have_messages_of_real_agent() {
    let Some(servers) = Servers::alone().await else { return };
    for case in CASES {
        let mut theirs = Vec::new();
        for entry in case {
            theirs.extend(servers.refusal(entry).await);
        }
        let options = Options::of(&consul::DIALECT).with("missing", OptionValue::Text("error".into()));
        let compilation = compile(&Inputs::one("entries.yaml", &*case.join("\n---\n")), &options, ALL);
        let ours = compilation.all_diagnostics().filter(|finding| finding.severity == chancery_core::diagnostic::Severity::Error);
        let ours: Vec<&str> = ours.map(|finding| &*finding.message).collect();
        assert!(matches!((&theirs[..], &ours[..]), ([theirs], [ours]) if theirs.ends_with(ours)), "{case:?}\n  they: {theirs:?}\n  we:   {ours:?}");
    }
}
