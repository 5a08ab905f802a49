//! How variables are read.

use super::{Environment, VARIABLES};
use crate::Options;
use alloc::string::ToString;
use alloc::vec::Vec;
use chancery_text::Str;

fn read(variables: &[(&str, &str)]) -> Environment {
    let env = variables.iter().map(|(name, value)| (Str::new(name), Str::new(value))).collect();
    Environment::read(&Options { env, ..Options::default() })
}

fn failure(variables: &[(&str, &str)]) -> alloc::string::String {
    read(variables).failure.map_or_else(|| "none".to_string(), |fault| fault.text())
}

#[test]
fn defaults_are_those_of_helm_chart() {
    let environment = read(&[]);
    assert_eq!((environment.gateway.as_str(), environment.resource_group.as_str()), ("agic-appgw", "agic-rg"));
    assert_eq!(environment.controller, "azure/application-gateway");
    assert!(environment.class_enabled && !environment.class_default && !environment.shared && !environment.multi_cluster);
    assert!(environment.watches("anything"));
    assert_eq!(environment.failure, None);
    assert!(VARIABLES.iter().all(|variable| !variable.doc.is_empty()));
}

#[test]
fn switches_and_booleans_accept_different_words() {
    assert!(read(&[("APPGW_ENABLE_SHARED_APPGW", "true")]).shared);
    assert!(!read(&[("APPGW_ENABLE_SHARED_APPGW", "True")]).shared);
    assert!(!read(&[("INGRESS_CLASS_RESOURCE_ENABLED", "yes")]).class_enabled);
    assert!(read(&[("MULTI_CLUSTER_MODE", "1")]).multi_cluster);
    assert!(read(&[("USE_PRIVATE_IP", "T")]).private_ip);
    assert!(!read(&[("USE_PRIVATE_IP", "yes")]).private_ip);
}

#[test]
fn a_prefix_with_other_characters_is_refused() {
    assert_eq!(read(&[("APPGW_CONFIG_NAME_PREFIX", "blue-")]).prefix, "blue-");
    assert_eq!(read(&[("APPGW_CONFIG_NAME_PREFIX", "blue_1")]).prefix, "");
    assert_eq!(read(&[("APPGW_CONFIG_NAME_PREFIX", &"x".repeat(48))]).prefix, "");
}

#[test]
fn namespaces_are_separated_by_commas() {
    let watched = read(&[("KUBERNETES_WATCHNAMESPACE", "one, two,,")]);
    assert_eq!(watched.namespaces, Vec::from([Str::new("one"), Str::new("two")]));
    assert!(watched.watches("two") && !watched.watches("three"));
    assert!(read(&[("KUBERNETES_WATCHNAMESPACE", "one")]).watches("one"));
}

#[test]
fn resource_id_and_class_override_names() {
    let id = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/applicationGateways/n";
    let environment = read(&[("APPGW_RESOURCE_ID", id), ("INGRESS_CLASS", "mine")]);
    let names = (environment.subscription.as_str(), environment.resource_group.as_str(), environment.gateway.as_str());
    assert_eq!(names, ("s", "g", "n"));
    assert_eq!(environment.controller, "mine");
    assert_eq!(read(&[("APPGW_RESOURCE_ID", "/too/short")]).gateway, "");
}

#[test]
fn missing_variables_prevent_start() {
    assert!(failure(&[("APPGW_NAME", "")]).contains("ErrorMissingApplicationGatewayNameOrApplicationGatewayID"));
    assert_eq!(failure(&[("APPGW_NAME", ""), ("APPGW_RESOURCE_ID", "/x")]), "none");
    let deploy = ("APPGW_ENABLE_DEPLOY", "true");
    assert!(failure(&[deploy]).contains("ErrorMissingSubnetInfo"));
    assert!(failure(&[deploy, ("APPGW_NAME", "")]).contains("ErrorMissingApplicationGatewayName\""));
    assert!(failure(&[deploy, ("APPGW_RESOURCE_ID", "/x")]).contains("ErrorNotAllowedApplicationGatewayID"));
    assert_eq!(failure(&[deploy, ("APPGW_SUBNET_ID", "/x")]), "none");
    assert_eq!(failure(&[("RECONCILE_PERIOD_SECONDS", "30")]), "none");
    assert!(failure(&[("RECONCILE_PERIOD_SECONDS", "301")]).ends_with("Range: (30 - 300)\""));
    assert!(failure(&[("RECONCILE_PERIOD_SECONDS", "1m")]).ends_with("InnerError=\"strconv.Atoi: parsing \"1m\": invalid syntax\""));
}
