//! `chancery dump`: shows the configuration that a running Envoy reports.
//!
//! Does not parse the dump; see `chancery_core::envoy_config::Running`.

use crate::args::{DumpArgs, Format};
use crate::output::{hold, print, print_json};
use crate::style::{Style, count, plain};
use crate::{Outcome, input};
use chancery_core::envoy_config::{EnvoyConfig, Running};
use serde_json::{Value, json};
use std::fmt::Write;

/// Runs `dump read`.
pub fn read(args: &DumpArgs, style: &Style) -> Outcome {
    let name = if args.file.as_os_str() == "-" { input::STDIN.into() } else { args.file.display().to_string() };
    let running = Running::read(&input::text(&args.file)?).map_err(|why| format!("{name} {why}"))?;
    hold(vec![running.redactor.clone()]);
    match args.format {
        Format::Human => print(&rendered(&running, style))?,
        Format::Json => print_json(&whole(&running))?,
    }
    Ok(0)
}

/// The resources that a running Envoy accepted and rejected.
pub fn state(running: &Running) -> Value {
    let warming: Vec<Value> = running.warming.iter().map(|(kind, name)| json!({ "kind": kind, "name": name })).collect();
    json!({
        "envoy_version": running.envoy_version,
        "accepted": running.accepted,
        "refused": running.refused,
        "warming": warming,
        "unknown_types": running.unknown_types,
        "misfits": running.misfits,
        "has_endpoints": running.has_endpoints,
    })
}

fn listeners(config: &EnvoyConfig) -> impl Iterator<Item = (&str, String, usize)> {
    config.listeners.iter().map(|listener| {
        let message = &listener.message;
        let chains = message.filter_chains.len() + usize::from(message.default_filter_chain.is_some());
        (message.name.as_str(), address(message).unwrap_or_default(), chains)
    })
}

fn address(listener: &chancery_core::backend::envoy::v3::pb::listener::Listener) -> Option<String> {
    use chancery_core::backend::envoy::v3::pb::base::{address::Address, socket_address::PortSpecifier};
    match listener.address.as_ref()?.address.as_ref()? {
        Address::SocketAddress(socket) => {
            let port = match socket.port_specifier.as_ref()? {
                PortSpecifier::PortValue(port) => port.to_string(),
                PortSpecifier::NamedPort(name) => name.clone(),
            };
            Some(format!("{}:{port}", socket.address))
        }
        Address::Pipe(pipe) => Some(pipe.path.clone()),
        Address::EnvoyInternalAddress(_) => None,
    }
}

/// Virtual hosts and routes of all tables.
fn routes(config: &EnvoyConfig) -> (usize, usize) {
    let tables = config.route_tables();
    let hosts = tables.iter().flat_map(|(_, table)| &table.virtual_hosts);
    (hosts.clone().count(), hosts.map(|host| host.routes.len()).sum())
}

fn whole(running: &Running) -> Value {
    let config = &running.config;
    let listeners: Vec<Value> =
        listeners(config).map(|(name, address, chains)| json!({ "name": name, "address": address, "filter_chains": chains })).collect();
    let tables: Vec<Value> = config
        .route_tables()
        .into_iter()
        .map(|(pointer, table)| {
            let hosts: Vec<Value> =
                table.virtual_hosts.iter().map(|host| json!({ "name": host.name, "domains": host.domains, "routes": host.routes.len() })).collect();
            json!({ "name": table.name, "at": pointer, "virtual_hosts": hosts })
        })
        .collect();
    let mut data = state(running);
    data["listeners"] = listeners.into();
    data["route_tables"] = tables.into();
    data["clusters"] = config.clusters.iter().map(|cluster| cluster.message.name.clone()).collect();
    data["endpoints"] = config.endpoints.iter().map(|endpoints| endpoints.message.cluster_name.clone()).collect();
    data["secrets"] = config.secrets.iter().map(|secret| secret.message.name.clone()).collect();
    data
}

fn rendered(running: &Running, style: &Style) -> String {
    let config = &running.config;
    let mut out = String::new();
    let version = running.envoy_version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
    let _ = writeln!(out, "{}", style.bold(format!("Envoy{version}")));
    for (name, address, chains) in listeners(config) {
        let _ = writeln!(out, "  listener {} {}  {}", style.bold(plain(name)), plain(&address), style.dim(count(chains, "filter chain")));
    }
    let (hosts, routes) = routes(config);
    let _ = writeln!(out, "  {}, {}, {}", count(config.route_tables().len(), "route table"), count(hosts, "virtual host"), count(routes, "route"));
    let endpoints = if running.has_endpoints {
        format!("endpoints of {}", count(config.endpoints.len(), "cluster"))
    } else {
        "no endpoints: ask for /config_dump?include_eds".into()
    };
    let _ = writeln!(out, "  {}, {endpoints}, {}", count(config.clusters.len(), "cluster"), count(config.secrets.len(), "secret"));
    out.push_str(&updates(running, style));
    out
}

/// Lists the last accepted versions, pending updates, rejected updates, and unreadable parts.
pub fn updates(running: &Running, style: &Style) -> String {
    let mut out = String::new();
    for accepted in &running.accepted {
        let _ = writeln!(out, "  accepted {} in version {}", count(accepted.count, accepted.kind), style.cyan(plain(&accepted.version)));
    }
    for (kind, name) in &running.warming {
        let _ = writeln!(out, "  {} {kind} {}: Envoy does not work with it yet", style.yellow("warming"), style.bold(plain(name)));
    }
    for refused in &running.refused {
        let version = if refused.version.is_empty() { String::new() } else { format!(" in version {}", refused.version) };
        let _ = writeln!(
            out,
            "  {} {} {}{}: {}",
            style.red("refused"),
            refused.kind,
            style.bold(plain(&refused.name)),
            plain(&version),
            plain(&refused.details)
        );
    }
    for name in &running.unknown_types {
        let _ = writeln!(out, "  {} {}: kept unchanged, and not interpreted", style.yellow("unknown type"), plain(name));
    }
    const MOST: usize = 10;
    for misfit in running.misfits.iter().take(MOST) {
        let _ = writeln!(out, "  {} {}", style.yellow("left out"), plain(misfit));
    }
    if running.misfits.len() > MOST {
        let _ = writeln!(out, "  {}", style.dim(format!("... and {} more", running.misfits.len() - MOST)));
    }
    out
}
