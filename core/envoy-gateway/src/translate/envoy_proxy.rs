//! Merges the EnvoyProxies that a Gateway gets, and validates them.

use super::super::cluster::Admitted;
use super::super::load::resources::{EnvoyProxy, Resources};
use super::super::model::Metadata;
use super::super::settings::merge;
use super::super::value::tree;
use super::metadata;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_base::resource::Sourced;
use chancery_text::Str;
use core::net::IpAddr;

/// Whether all Gateways of the class share one Envoy.
pub(crate) fn merges_gateways(resources: &Resources<'_>) -> bool {
    let of_class = resources.envoy_proxy_for_class.and_then(|proxy| proxy.spec().field("mergeGateways").some_bool());
    of_class.unwrap_or_else(|| resources.envoy_proxy_default.get("mergeGateways").bool())
}

/// Returns `mergeBackends` of the class or of the controller; an empty object turns it on.
pub(crate) fn merge_backends(resources: &Resources<'_>) -> Tree {
    let of_class = resources.envoy_proxy_for_class.map(|proxy| tree(proxy.spec().field("mergeBackends")));
    of_class.filter(|of| !of.is_null()).unwrap_or_else(|| resources.envoy_proxy_default.get("mergeBackends").clone())
}

/// Returns the settings of an EnvoyProxy alone.
pub(super) fn of(proxy: &Admitted<'_>) -> EnvoyProxy {
    EnvoyProxy {
        namespace: proxy.namespace().clone(),
        name: proxy.name().clone(),
        spec: tree(proxy.spec()),
        metadata: metadata::of(proxy, Sourced::default()),
    }
}

/// Merges the settings of the controller, the class and the Gateway.
pub(super) fn merged(resources: &Resources<'_>, gateway: Option<&Admitted<'_>>) -> Option<EnvoyProxy> {
    let default = Some(&resources.envoy_proxy_default).filter(|spec| !spec.is_null()).map(|spec| EnvoyProxy {
        spec: spec.clone(),
        metadata: Metadata { kind: Str::new_static("EnvoyProxy"), ..Metadata::default() },
        ..EnvoyProxy::default()
    });
    let class = resources.envoy_proxy_for_class.map(of);
    let gateway = gateway.map(of);
    let merge_type = |proxy: &Option<EnvoyProxy>| proxy.as_ref().map(|proxy| proxy.spec.get("mergeType").str()).filter(|of| !of.is_empty());
    let second = merge_type(&class).or_else(|| merge_type(&gateway));
    let first = merge_type(&gateway);
    overlay(default, overlay(class, gateway, first.as_deref()), second.as_deref())
}

fn overlay(base: Option<EnvoyProxy>, over: Option<EnvoyProxy>, merge_type: Option<&str>) -> Option<EnvoyProxy> {
    match (base, over) {
        (base, None) => base,
        (None, over) => over,
        (Some(base), Some(over)) => {
            if merge_type.is_none_or(|of| of == "Replace") {
                return Some(over);
            }
            let mut spec = base.spec;
            merge(&mut spec, &over.spec);
            Some(EnvoyProxy { spec, ..over })
        }
    }
}

/// Fields of an EnvoyProxy that are deprecated, each with what to write instead.
pub(super) fn deprecated(proxy: &Admitted<'_>) -> Option<&'static str> {
    proxy.spec().field("luaValidation").exists().then_some("spec.luaValidation is deprecated, use spec.lua.validationType instead")
}

/// Returns the controller's error message for an invalid EnvoyProxy.
pub(super) fn validate(spec: &Tree) -> Option<String> {
    let mut errors = Vec::new();
    provider(spec.get("provider"), &mut errors);
    telemetry(spec.get("telemetry"), &mut errors);
    errors.extend(filter_order(spec.get("filterOrder")));
    let mut seen = BTreeSet::new();
    errors.retain(|error| seen.insert(error.clone()));
    match errors.as_slice() {
        [] => None,
        [only] => Some(only.clone()),
        all => Some(format!("[{}]", all.join(", "))),
    }
}

fn provider(provider: &Tree, errors: &mut Vec<String>) {
    match provider.get("type").text() {
        _ if provider.is_null() => {}
        "Kubernetes" => kubernetes(provider.get("kubernetes"), errors),
        "Host" if provider.get("host").is_null() => errors.push("field 'host' should be specified when provider type is 'Host'".into()),
        "Host" => {}
        other => errors.push(format!("unsupported provider type {other}")),
    }
}

fn kubernetes(kubernetes: &Tree, errors: &mut Vec<String>) {
    for (field, word) in [("envoyDeployment", "deployment"), ("envoyHpa", "hpa"), ("envoyPDB", "pdb")] {
        patch(kubernetes.get(field).get("patch"), word, errors);
    }
    let service = kubernetes.get("envoyService");
    let is_load_balancer = service.get("type").is("LoadBalancer");
    let has_type = !service.get("type").is_null();
    let mut only_load_balancer = |field: &str| {
        if has_type && !service.get(field).is_null() && !is_load_balancer {
            errors.push(format!("{field} can only be set for LoadBalancer type"));
        }
    };
    only_load_balancer("allocateLoadBalancerNodePorts");
    only_load_balancer("loadBalancerSourceRanges");
    if has_type {
        for range in service.get("loadBalancerSourceRanges").items().iter().filter(|range| !is_cidr(range.text())) {
            errors.push(format!("loadBalancerSourceRange:{} is an invalid IP subnet", range.text()));
        }
        let address = service.get("loadBalancerIP");
        if !address.is_null() {
            if !is_load_balancer {
                errors.push("loadBalancerIP can only be set for LoadBalancer type".into());
            }
            if !matches!(address.text().parse::<IpAddr>(), Ok(IpAddr::V4(_))) {
                errors.push(format!("loadBalancerIP:{} is an invalid IP address", address.text()));
            }
        }
    }
    patch(service.get("patch"), "service", errors);
}

fn patch(patch: &Tree, word: &str, errors: &mut Vec<String>) {
    if patch.is_null() {
        return;
    }
    if patch.get("value").is_null() {
        errors.push(format!("envoy {word} patch object cannot be empty"));
    }
    let written = patch.get("type").text();
    if !matches!(written, "" | "JSONMerge" | "StrategicMerge") {
        errors.push(format!("unsupported envoy {word} patch type {written}"));
    }
}

/// Whether a text is an address with the length of its network.
pub(super) fn is_cidr(text: &str) -> bool {
    let Some((address, length)) = text.split_once('/') else { return false };
    let most = match address.parse::<IpAddr>() {
        Ok(IpAddr::V4(_)) => 32,
        Ok(IpAddr::V6(_)) => 128,
        Err(_) => return false,
    };
    !length.starts_with('+') && length.parse::<u8>().is_ok_and(|length| length <= most)
}

fn telemetry(telemetry: &Tree, errors: &mut Vec<String>) {
    let logs = telemetry.get("accessLog");
    if !logs.get("disable").bool() {
        for setting in logs.get("settings").items() {
            let format = setting.get("format");
            if format.get("type").is("Text") && format.get("text").is_null() {
                errors.push("unable to configure access log when using Text format but \"text\" field being empty".into());
            }
            for sink in setting.get("sinks").items() {
                for (kind, field) in [("File", "file"), ("OpenTelemetry", "openTelemetry")] {
                    if sink.get("type").is(kind) && sink.get(field).is_null() {
                        errors.push(format!("unable to configure access log when using {kind} sink type but \"{field}\" field being empty"));
                    }
                }
            }
        }
    }
    let metrics = telemetry.get("metrics");
    for sink in metrics.get("sinks").items() {
        if sink.get("type").is("OpenTelemetry") && sink.get("openTelemetry").is_null() {
            errors.push("opentelemetry is required if the sink type is OpenTelemetry".into());
        }
    }
    if let Some(error) = metrics.find("clusterStatName").and_then(|name| stat_name(name.text(), CLUSTER_COMMANDS)) {
        errors.push(format!("unable to configure Cluster Stat Name: {error}"));
    }
}

/// The commands that names of clusters in statistics may have.
pub(crate) const CLUSTER_COMMANDS: &[&str] =
    &["%ROUTE_NAME%", "%ROUTE_NAMESPACE%", "%ROUTE_KIND%", "%ROUTE_RULE_NAME%", "%ROUTE_RULE_NUMBER%", "%BACKEND_REFS%"];

/// Returns what is wrong with the commands of a name in statistics.
pub(crate) fn stat_name(name: &str, known: &[&str]) -> Option<String> {
    let mut commands = Vec::new();
    let mut rest = name;
    while let Some((_, after)) = rest.split_once('%') {
        let Some((command, tail)) = after.split_once('%') else { break };
        commands.push(format!("%{command}%"));
        rest = tail;
    }
    if commands.is_empty() {
        return name.contains('%').then(|| "unable to configure stat name with invalid operator".to_string());
    }
    let unknown: Vec<String> = commands.into_iter().filter(|command| !known.contains(&command.as_str())).collect();
    (!unknown.is_empty()).then(|| format!("unsupported operators: [{}]", unknown.join(" ")))
}

/// Returns the first edge that makes a cycle of the filters' order.
fn filter_order(order: &Tree) -> Option<String> {
    let mut edges: BTreeMap<Str, Vec<Str>> = BTreeMap::new();
    for item in order.items() {
        let name = item.get("name").str();
        let (from, to) = match item.find("before") {
            Some(before) => (name, before.str()),
            None => (item.get("after").str(), name),
        };
        let mut reached = BTreeSet::from([to.clone()]);
        let mut open = Vec::from([to.clone()]);
        while let Some(next) = open.pop() {
            open.extend(edges.get(&next).into_iter().flatten().filter(|next| reached.insert((*next).clone())).cloned());
        }
        if reached.contains(&from) {
            return Some(format!("there is a cycle in the filter order: {from} -> {to}"));
        }
        edges.entry(from).or_default().push(to);
    }
    None
}

/// Returns the entries of an object as pairs, sorted by name.
pub(super) fn sorted_entries(tree: &Tree) -> Vec<(Str, Tree)> {
    let mut all: Vec<(Str, Tree)> = tree.fields().to_vec();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}
