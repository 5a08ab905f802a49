//! Validates a service definition in an agent's file before it is registered. Rules for every instance are in the parent module.

use crate::go::{self, Errors};
use crate::instance::Address;
use crate::validate::{Verdict, is_set, refuse};
use alloc::collections::BTreeMap;
use alloc::format;
use chancery_base::ir::Tree;
use chancery_base::schema::duration;
use chancery_text::Str;

/// The maximum number of metadata pairs, the longest key and the longest value.
const META: (usize, usize, usize) = (64, 128, 512);
const MOST_WEIGHT: i64 = 65535;

/// Checks a definition and that of its sidecar.
pub(super) fn definition(tree: &Tree) -> Verdict {
    let mut errors = Errors::default();
    collect(tree, &mut errors);
    errors.result()?;
    checks(tree)?;
    tree.get("Connect").find("SidecarService").map_or(Ok(()), checks)
}

fn collect(tree: &Tree, errors: &mut Errors) {
    let name = tree.get("Service").text();
    let mut add = |verdict: Verdict| {
        if let Err(why) = verdict {
            errors.add(why);
        }
    };
    add(meta(tree).map_err(|why| format!("invalid meta for service {name}: {why}").into()));
    add(weights(tree.get("Weights")).map_err(|why| format!("Invalid weight definition for service {name}: {why}").into()));
    let socket = tree.find("SocketPath").filter(|_| tree.find("Port").is_some() || tree.find("Address").is_some());
    if let Some(path) = socket {
        add(Err(format!("service {name} cannot have both socket path {} and address/port", path.text()).into()));
    }
    for check in tree.find("Check").into_iter().chain(tree.get("Checks").items()) {
        for (field, what) in DURATIONS {
            let text = check.find(field).filter(|text| duration::read(text.text()).is_err());
            if let Some(text) = text {
                add(Err(format!("check[{}].{what}: invalid duration: {}", check.get("CheckID").text(), go::quote(text.text())).into()));
            }
        }
    }
    let proxy = tree.get("Proxy");
    add(gateway_mode(proxy));
    let mode = proxy.get("Mode").text();
    add(refuse(!matches!(mode, "" | "direct" | "transparent"), || format!("Invalid Proxy Mode: {}", go::quote(mode))));
    for upstream in proxy.get("Upstreams").items() {
        add(gateway_mode(upstream));
        if let Some(mode) = upstream.find("LocalBindSocketMode") {
            let is_octal = u32::from_str_radix(mode.text(), 8).is_ok() && !mode.text().starts_with('+');
            add(refuse(!is_octal, || format!("local_bind_socket_mode: invalid mode: {}", mode.text())));
        }
    }
    if let Some(sidecar) = tree.get("Connect").find("SidecarService") {
        collect(sidecar, errors);
    }
}

fn gateway_mode(of: &Tree) -> Verdict {
    let mode = of.at(&["MeshGateway", "Mode"]).text();
    refuse(!matches!(mode, "" | "none" | "local" | "remote"), || format!("Invalid Mesh Gateway Mode: {}", go::quote(mode)))
}

/// The metadata of a service.
pub(super) fn meta(tree: &Tree) -> Verdict {
    let pairs = tree.get("Meta").fields();
    let (most, longest_key, longest_value) = META;
    refuse(pairs.len() > most, || format!("Node metadata cannot contain more than {most} key/value pairs"))?;
    for (key, value) in pairs {
        let value = value.text();
        let is_key = key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        let is_allowed = key == "consul-wan-federation" && tree.get("Kind").is("mesh-gateway");
        let why = match () {
            () if key.is_empty() => "Key cannot be blank".into(),
            () if !is_key => "Key contains invalid characters".into(),
            () if key.len() > longest_key => format!("Key is too long (limit: {longest_key} characters)"),
            () if key.starts_with("consul-") && !is_allowed => "Key prefix 'consul-' is reserved for internal use".into(),
            () if value.len() > longest_value => format!("Value is too long (limit: {longest_value} characters)"),
            () => continue,
        };
        return Err(format!("Couldn't load metadata pair ('{key}', '{value}'): {why}").into());
    }
    Ok(())
}

fn weights(tree: &Tree) -> Verdict {
    let of = |field: &str| tree.find(field).map_or(1, Tree::int);
    are_weights((of("Passing"), of("Warning")))
}

/// Checks an instance's weights.
pub(super) fn are_weights((passing, warning): (i64, i64)) -> Verdict {
    refuse(passing < 1, || "Passing must be greater than 0".into())?;
    refuse(warning < 0, || "Warning must be greater or equal than 0".into())?;
    refuse(passing > MOST_WEIGHT || warning > MOST_WEIGHT, || format!("DNS Weight must be between 0 and {MOST_WEIGHT}"))
}

/// Duration fields of a check.
const DURATIONS: [(&str, &str); 4] =
    [("Interval", "interval"), ("Timeout", "timeout"), ("TTL", "ttl"), ("DeregisterCriticalServiceAfter", "deregister_critical_service_after")];

fn checks(tree: &Tree) -> Verdict {
    for check in tree.find("Check").into_iter().chain(tree.get("Checks").items()) {
        self::check(check).map_err(|why| format!("check {}: {why}", go::quote(check.get("Name").text())))?;
    }
    Ok(())
}

fn check(check: &Tree) -> Verdict {
    let nanos = |field: &str| duration::read(check.get(field).text()).unwrap_or_default();
    let (interval, ttl) = (nanos("Interval"), nanos("TTL"));
    let asks = ["ScriptArgs", "HTTP", "TCP", "UDP", "GRPC", "H2PING"].into_iter().any(|field| is_set(check.get(field)));
    let is_alias = is_set(check.get("AliasNode")) || is_set(check.get("AliasService"));
    refuse(interval > 0 && ttl > 0, || "Interval and TTL cannot both be specified".into())?;
    refuse((asks || is_set(check.get("OSService"))) && interval <= 0, || {
        "Interval must be > 0 for Script, HTTP, H2PING, TCP, UDP or OSService checks".into()
    })?;
    refuse(asks && is_alias, || "Interval cannot be set for Alias checks".into())?;
    refuse(is_alias && ttl > 0, || "TTL must be not be set for Alias checks".into())?;
    // The agent does not receive the name of a system service.
    refuse(!asks && !is_alias && ttl <= 0, || "TTL must be > 0 for TTL checks".into())?;
    refuse(check.get("OutputMaxSize").int() < 0, || "MaxOutputMaxSize must be positive".into())?;
    let critical = check.get("FailuresBeforeCritical").int();
    let warning = check.find("FailuresBeforeWarning").map_or(critical, Tree::int);
    refuse(warning > critical, || "FailuresBeforeWarning can't be higher than FailuresBeforeCritical".into())?;
    let status = check.get("Status").text();
    refuse(!matches!(status, "" | "passing" | "warning" | "critical"), || "Status for checks must 'passing', 'warning', 'critical'".into())
}

/// Checks tagged addresses whose name defines their IP version.
pub(super) fn tagged_addresses(all: &BTreeMap<Str, Address>) -> Verdict {
    for (name, family) in [("lan_ipv4", 4), ("wan_ipv4", 4), ("lan_ipv6", 6)] {
        let wrong = all.get(name).is_some_and(|tagged| go::ip(&tagged.address) != Some(family));
        refuse(wrong, || format!("Service tagged address {} must be a valid ipv{family} address", go::quote(name)))?;
    }
    Ok(())
}
