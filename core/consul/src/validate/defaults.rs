//! Validates service-defaults, proxy-defaults, mesh and exported-services.

use super::rule::{Verdict, count, lower, meta, named, refuse, tls};
use crate::extension;
use crate::go::{self, Errors};
use alloc::collections::BTreeSet;
use alloc::format;
use chancery_base::ir::Tree;

pub(super) fn normalise_service(tree: &mut Tree) {
    lower(tree, "Protocol");
    let Some(upstreams) = tree.get_mut("UpstreamConfig") else { return };
    let overrides = upstreams.get_mut("Overrides").into_iter().flat_map(|overrides| overrides.items_mut().iter_mut());
    overrides.for_each(normalise_upstream);
    if let Some(defaults) = upstreams.get_mut("Defaults") {
        normalise_upstream(defaults);
    }
}

fn normalise_upstream(tree: &mut Tree) {
    lower(tree, "Protocol");
    if tree.get("ConnectTimeoutMs").int() < 0 {
        tree.take("ConnectTimeoutMs");
    }
}

pub(super) fn normalise_proxy(tree: &mut Tree) -> Verdict {
    let name = tree.get("Name").text();
    refuse(!name.is_empty() && name != "global", || format!("invalid name ({}), only \"global\" is supported", go::quote(name)))?;
    if name.is_empty() {
        tree.set("Name", "global".into());
    }
    Ok(())
}

/// Namespaces do not exist in this edition: namespace fields are dropped.
pub(super) fn normalise_exported(tree: &mut Tree) {
    let services = tree.get_mut("Services").into_iter().flat_map(Tree::items_mut);
    services.for_each(|service| drop(service.take("Namespace")));
}

pub(super) fn service(tree: &Tree) -> Verdict {
    named(tree)?;
    refuse(tree.get("Name").is("*"), || "service-defaults name must be the name of a service, and not a wildcard".into())?;
    let mut errors = Errors::default();
    if let Err(why) = meta(tree) {
        errors.add(why);
    }
    let balance = tree.get("BalanceInboundConnections").text();
    if !balances(balance) {
        errors.add(format!("invalid value for balance_inbound_connections: {balance}"));
    }
    let (upstreams, destination) = (tree.get("UpstreamConfig"), tree.get("Destination"));
    if !upstreams.is_null() && !destination.is_null() {
        errors.add("UpstreamConfig and Destination are mutually exclusive for service defaults");
        return errors.result();
    }
    for each in upstreams.get("Overrides").items() {
        if let Err(why) = upstream(each, true) {
            errors.add(format!("error in upstream override for {}:{}: {why}", each.get("Name").text(), each.get("Peer").text()));
        }
    }
    if let Err(why) = upstreams.find("Defaults").map_or(Ok(()), |defaults| upstream(defaults, false)) {
        errors.add(format!("error in upstream defaults: {why}"));
    }
    if !destination.is_null() {
        self::destination(destination, &mut errors);
    }
    if let Err(why) = extension::validate(tree.get("EnvoyExtensions")) {
        errors.add(why);
    }
    mutual_tls(tree)?;
    errors.result()
}

fn balances(value: &str) -> bool {
    matches!(value, "" | "exact_balance")
}

fn mutual_tls(tree: &Tree) -> Verdict {
    let mode = tree.get("MutualTLSMode").text();
    refuse(!matches!(mode, "" | "strict" | "permissive"), || {
        format!("Invalid MutualTLSMode {}. Must be one of \"\", \"strict\", or \"permissive\".", go::quote(mode))
    })
}

fn destination(tree: &Tree, errors: &mut Errors) {
    let addresses = tree.get("Addresses").items();
    if addresses.is_empty() {
        errors.add("Destination must contain at least one valid address");
    }
    let mut seen = BTreeSet::new();
    for address in addresses.iter().map(Tree::text) {
        if !seen.insert(address) {
            errors.add(format!("Duplicate address '{address}' is not allowed"));
            continue;
        }
        if go::ip(address).is_none() && (address.contains('*') || !go::is_domain_name(address)) {
            errors.add(format!("Destination address '{address}' is invalid Could not validate address {address} as an IP or Hostname"));
        }
    }
    let port = tree.get("Port").int();
    if !(1..=65535).contains(&port) {
        errors.add(format!("Invalid Port number {port}"));
    }
}

fn upstream(tree: &Tree, is_named: bool) -> Verdict {
    let name = tree.get("Name").text();
    if is_named {
        refuse(name.is_empty(), || "Name is required".into())?;
        refuse(name == "*", || "Wildcard name is not supported".into())?;
    } else {
        refuse(!name.is_empty(), || "Name must be empty".into())?;
    }
    let mut errors = Errors::default();
    if let Err(why) = passive_health_check(tree.get("PassiveHealthCheck")) {
        errors.add(why);
    }
    if let Err(why) = limits(tree.get("Limits")) {
        errors.add(why);
    }
    let balance = tree.get("BalanceOutboundConnections").text();
    if !balances(balance) {
        errors.add(format!("invalid value for balance_outbound_connections: {balance}"));
    }
    errors.result()
}

fn passive_health_check(tree: &Tree) -> Verdict {
    refuse(tree.get("Interval").int() < 0, || "passive health check interval cannot be negative".into())?;
    for (field, name) in [("EnforcingConsecutive5xx", "enforcing_consecutive_5xx"), ("MaxEjectionPercent", "max_ejection_percent")] {
        refuse(tree.get(field).int() > 100, || format!("passive health check {name} must be a percentage between 0 and 100"))?;
    }
    refuse(tree.get("BaseEjectionTime").int() < 0, || "passive health check base_ejection_time cannot be negative".into())
}

fn limits(tree: &Tree) -> Verdict {
    let all = [("MaxConnections", "connections"), ("MaxPendingRequests", "pending requests"), ("MaxConcurrentRequests", "concurrent requests")];
    for (field, name) in all {
        refuse(tree.get(field).int() < 0, || format!("max {name} cannot be negative"))?;
    }
    Ok(())
}

pub(super) fn proxy(tree: &Tree) -> Verdict {
    access_logs(tree.get("AccessLogs"))?;
    meta(tree)?;
    let folder = tree.at(&["Config", "envoy_telemetry_collector_bind_socket_dir"]).text();
    const LONGEST: usize = 70;
    refuse(folder.len() > LONGEST, || format!("Config: envoy_telemetry_collector_bind_socket_dir length {} exceeds max {LONGEST}", folder.len()))?;
    extension::validate(tree.get("EnvoyExtensions"))?;
    if let Some(policy) = tree.find("FailoverPolicy") {
        super::discovery::failover_mode(policy)?;
    }
    super::discovery::locality(tree)?;
    mutual_tls(tree)
}

fn access_logs(tree: &Tree) -> Verdict {
    let (sink, path) = (tree.get("Type").text(), tree.get("Path").text());
    match sink {
        "" | "stderr" | "stdout" => {}
        "file" => refuse(path.is_empty(), || "path must be specified when using file type access logs".into())?,
        _ => return Err(format!("invalid access log type: {sink}").into()),
    }
    let (json, text) = (tree.get("JSONFormat").text(), tree.get("TextFormat").text());
    refuse(!json.is_empty() && !text.is_empty(), || "cannot specify both access log JSONFormat and TextFormat".into())?;
    refuse(sink != "file" && !path.is_empty(), || "path is only valid for file type access logs".into())?;
    let is_json = json.is_empty() || serde_json::from_str::<serde::de::IgnoredAny>(json).is_ok();
    refuse(!is_json, || "invalid access log json for JSON format".into())
}

pub(super) fn mesh(tree: &Tree) -> Verdict {
    meta(tree)?;
    for (field, name) in [("Incoming", "incoming"), ("Outgoing", "outgoing")] {
        let side = tree.at(&["TLS", field]);
        tls(side.get("TLSMinVersion"), side.get("TLSMaxVersion"), side.get("CipherSuites"))
            .map_err(|why| format!("error in {name} TLS configuration: {why}"))?;
    }
    Ok(())
}

pub(super) fn exported(tree: &Tree) -> Verdict {
    refuse(!tree.get("Name").is("default"), || "exported-services Name must be \"default\"".into())?;
    meta(tree)?;
    for (at, service) in tree.get("Services").items().iter().enumerate() {
        let consumers = service.get("Consumers").items();
        refuse(service.get("Name").text().is_empty(), || format!("Services[{at}]: service name cannot be empty"))?;
        refuse(service.get("Namespace").is("*") && !service.get("Name").is("*"), || {
            format!("Services[{at}]: service name must be wildcard if namespace is wildcard")
        })?;
        refuse(consumers.is_empty(), || format!("Services[{at}]: must have at least one consumer"))?;
        for (to, consumer) in consumers.iter().enumerate() {
            let place = format!("Services[{at}].Consumers[{to}]");
            let several = count(consumer, &["Peer", "Partition", "SamenessGroup"]) > 1;
            refuse(several, || format!("{place}: must define at most one of Peer, Partition, or SamenessGroup"))?;
            refuse(consumer.get("Partition").is("*"), || format!("{place}: exporting to all partitions (wildcard) is not supported"))?;
            refuse(consumer.get("Peer").is("*"), || format!("{place}: exporting to all peers (wildcard) is not supported"))?;
            refuse(!consumer.get("SamenessGroup").text().is_empty(), || format!("{place}: sameness-groups are an enterprise-only feature"))?;
        }
    }
    Ok(())
}
