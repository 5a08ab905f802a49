//! The effects of users' patches.

use super::lenience::{refused, taken};
use super::{API, WEB, only, run};
use alloc::format;
use alloc::string::String;
use chancery_base::ir::Tree;

fn patched(patch: &str) -> String {
    format!(
        "{{Kind: service-defaults, Name: web, Protocol: http, EnvoyExtensions: [{{Name: builtin/property-override, Arguments: {{Patches: \
         [{patch}]}}}}]}}\n"
    )
}

fn patch(path: &str, value: &str) -> String {
    patched(&format!("{{ResourceFilter: {{ResourceType: cluster, TrafficDirection: outbound}}, Op: add, Path: {path}, Value: {value}}}"))
}

/// The upstream's cluster under a patch.
fn cluster(entry: &str) -> Tree {
    let compilation = run(&[entry, WEB, API]);
    only(&compilation)
        .clusters
        .iter()
        .find(|cluster| cluster.get("name").text().starts_with("api."))
        .map(|cluster| (**cluster).clone())
        .expect("is there")
}

#[test]
fn patch_of_unknown_field_is_refused() {
    refused(&patch("/nope", "1"), "no match for field 'nope'");
    refused(&patch("/name/x", "1"), "path contains member of non-message field 'name'");
    refused(&patch("/transport_socket/typed_config/x", "1"), "google.protobuf.Any");
    refused(&patch("/transport_socket_matches/name", "x"), "repeated field");
    taken(&patch("outlier_detection/consecutive_5xx", "5"));
}

#[test]
fn patch_value_must_fit_field_type() {
    refused(&patch("/respect_dns_ttl", "'true'"), "could not be applied to target field type 'bool'");
    refused(&patch("/lb_policy", "2"), "could not be applied to target field type 'enum'");
    refused(&patch("/lb_policy", "NOPE"), "could not be applied to target field type 'enum'");
    refused(&patch("/connect_timeout", "5s"), "unsupported target field type 'google.protobuf.Duration'");
    refused(&patch("/outlier_detection", "{interval: 5s}"), "unsupported target field type");
    refused(&patch("/respect_dns_ttl", "null"), "non-nil Value is required");
    taken(&patch("/lb_policy", "RANDOM"));
}

#[test]
fn patches_reach_into_durations_and_wrappers() {
    assert_eq!(cluster(&patch("/connect_timeout/seconds", "7")).get("connect_timeout").text(), "7s");
    assert_eq!(cluster(&patch("/connect_timeout", "{seconds: 3, nanos: 500000000}")).get("connect_timeout").text(), "3.5s");
    let health = cluster(&patch("/outlier_detection/consecutive_5xx/value", "5.5"));
    assert_eq!(health.at(&["outlier_detection", "consecutive_5xx"]).int(), 5);
}

#[test]
fn single_service_is_a_list_of_one() {
    let of = |service: &str| {
        patched(&format!(
            "{{ResourceFilter: {{ResourceType: cluster, TrafficDirection: outbound, Services: [{{Name: {service}}}]}}, Op: add, Path: \
             /respect_dns_ttl, Value: true}}"
        ))
    };
    assert!(cluster(&of("api")).get("respect_dns_ttl").bool());
    assert!(!cluster(&of("other")).get("respect_dns_ttl").bool());
    refused(&of("api").replace("outbound", "inbound"), "TrafficDirection is not \"outbound\"");
}

#[test]
fn versions_and_arguments_of_extensions_are_checked() {
    let lambda = |more: &str| {
        format!("{{Kind: service-defaults, Name: a, EnvoyExtensions: [{{Name: builtin/aws/lambda, Arguments: {{ARN: 'arn:x'}}, {more}}}]}}\n")
    };
    refused(&lambda("ConsulVersion: bad"), "Malformed constraint: bad");
    taken(&lambda("ConsulVersion: '>= 1.16, < 2.0-beta1'"));
    refused(&lambda("Required: true").replace("ARN: 'arn:x'", "ARN: 'arn:x', PayloadPassthrough: 'true'"), "expected type 'bool'");
}
