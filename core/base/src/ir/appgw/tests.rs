//! Tests that documents survive reading and writing.

use super::document::node;
use super::wire::Wire as _;
use super::{Gateway, Owner};
use crate::resource::ObjectId;
use alloc::string::String;
use chancery_text::{Limits, parse, to_json};

fn read(json: &str) -> Gateway {
    let root = parse(json, &Limits::default()).root.unwrap();
    Gateway::read(&root, ObjectId::from_index(0)).unwrap()
}

fn again(json: &str) -> String {
    to_json(&node(read(json).write()), false)
}

#[test]
fn unknown_fields_are_kept_verbatim() {
    let json = concat!(
        r#"{"id":"/g","location":"westeurope","zones":["1"],"properties":{"probes":[{"name":"p","id":"/p","properties":"#,
        r#"{"host":"h","newField":{"a":[1,null]}},"vendor":true}],"enableHttp2":true},"tags":{"owner":"me"}}"#
    );
    assert_eq!(again(json), json);
}

#[test]
fn read_only_fields_of_azure_are_not_written() {
    let json = r#"{"etag":"x","properties":{"sslCertificates":[{"name":"c","etag":"y","properties":{"publicCertData":"z","provisioningState":"Succeeded"}}]},"tags":{}}"#;
    assert_eq!(again(json), r#"{"properties":{"sslCertificates":[{"name":"c","properties":{}}]},"tags":{}}"#);
}

#[test]
fn a_value_of_another_type_is_kept() {
    let json = r#"{"properties":{"frontendPorts":[{"name":"f","properties":{"port":"eighty"}}],"httpListeners":"none"},"tags":{}}"#;
    let gateway = read(json);
    let properties = gateway.properties.as_ref().unwrap();
    assert_eq!(properties.ports.as_ref().unwrap()[0].properties.port, None);
    assert_eq!(properties.listeners, None);
    assert_eq!(again(json), json);
}

#[test]
fn arm_json_is_read_with_its_references() {
    let json =
        r#"{"properties":{"requestRoutingRules":[{"name":"r","properties":{"httpListener":{"id":"/a/httpListeners/l"},"priority":7}}]},"tags":{}}"#;
    let gateway = read(json);
    let rule = &gateway.properties.unwrap().rules.unwrap()[0];
    assert_eq!(rule.owner, Owner::Others);
    assert_eq!(rule.properties.listener.as_ref().unwrap().name(), "l");
    assert_eq!(rule.properties.priority.unwrap().value, 7);
    assert!(rule.origin.is_some());
    assert!(rule.properties.priority.unwrap().origin.is_some());
}

#[test]
fn azure_cli_form_reads_like_arm() {
    let arm = concat!(
        r#"{"id":"/g","name":"gw","zones":["1"],"properties":{"enableHttp2":true,"frontendIPConfigurations":[{"name":"f","id":"/f","#,
        r#""properties":{"publicIPAddress":{"id":"/ip"}}}],"rewriteRuleSets":[{"name":"s","id":"/s","properties":{"rewriteRules":[{"name":"hsts","#,
        r#""ruleSequence":1}]}}],"urlPathMaps":[{"name":"m","id":"/m","properties":{"pathRules":[{"name":"r","id":"/r","properties":{"paths":["/a"]}}]}}]},"tags":{"owner":"me"}}"#
    );
    let cli = concat!(
        r#"{"enableHttp2":true,"etag":"W","frontendIPConfigurations":[{"id":"/f","name":"f","publicIPAddress":{"id":"/ip","resourceGroup":"rg"},"#,
        r#""resourceGroup":"rg"}],"id":"/g","name":"gw","resourceGroup":"rg","rewriteRuleSets":[{"id":"/s","name":"s","rewriteRules":[{"name":"hsts","#,
        r#""ruleSequence":1}]}],"tags":{"owner":"me"},"urlPathMaps":[{"id":"/m","name":"m","pathRules":[{"id":"/r","name":"r","paths":["/a"]}]}],"zones":["1"]}"#
    );
    assert_eq!(again(cli), again(arm));
}
