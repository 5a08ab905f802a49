//! Ingress gateways.

use super::filters::{self, Http};
use super::listeners::{chain_name, listener as listener_at, only_cluster, upstream_config};
use super::proto::{list, message, one};
use super::{Context, Failure, Outcome, routes as tables, tls};
use crate::dialect::consul::entry::Kind;
use crate::dialect::consul::go;
use crate::dialect::consul::names::UpstreamId;
use crate::dialect::consul::proxycfg::{Ingress, Listener};
use crate::dialect::consul::validate::says;
use crate::ir::Tree;
use crate::text::Str;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// A service of a listener as an upstream.
pub(super) fn upstream(id: &UpstreamId, listener: &Listener) -> Tree {
    message! {
        "DestinationName": &id.name,
        "LocalBindPort": listener.key.port,
        "Config": message! { "protocol": &listener.key.protocol },
    }
}

pub(super) fn upstreams(cx: &Context<'_>, gateway: &Ingress) -> Vec<(UpstreamId, Tree)> {
    let mut out: Vec<(UpstreamId, Tree)> = Vec::new();
    for listener in gateway.listeners(cx.mail) {
        for (id, _) in &listener.services {
            if !out.iter().any(|(other, _)| other == id) {
                out.push((id.clone(), upstream(id, &listener)));
            }
        }
    }
    out
}

/// TLS settings of a listener: its own, or the gateway's.
struct Tls {
    cluster: Tree,
    resource: Tree,
    parameters: Tree,
    by_mesh: bool,
}

fn tls_of(gateway: &Tree, listener: &Tree) -> Tls {
    let pick = |path: &[&str]| if says(listener.at(path)) { listener.at(path).clone() } else { gateway.at(path).clone() };
    Tls {
        cluster: pick(&["SDS", "ClusterName"]),
        resource: pick(&["SDS", "CertResource"]),
        parameters: tls::parameters(&pick(&["TLSMinVersion"]), &pick(&["TLSMaxVersion"]), &pick(&["CipherSuites"])),
        by_mesh: gateway.get("Enabled").bool() || listener.get("Enabled").bool(),
    }
}

fn socket(cx: &Context<'_>, gateway: &Ingress, listener: &Listener) -> Result<Tree, Failure> {
    let tls_config = cx.mail.entry(Kind::IngressGateway, &gateway.service).get("TLS");
    let of = tls_of(tls_config, listener.tree.get("TLS"));
    let port = listener.key.port;
    let mut common = match (says(&of.cluster), says(&of.resource)) {
        (true, true) => tls::from_server(&of.resource, &of.cluster, of.parameters),
        (false, true) => return Err(Failure::new(format!("missing SDS cluster name for listener on port {port}"), listener.tree.origin)),
        (true, false) => return Err(Failure::new(format!("missing SDS cert resource for listener on port {port}"), listener.tree.origin)),
        (false, false) if of.by_mesh => tls::common(&gateway.service, &tls::roots(""), of.parameters),
        (false, false) => return Ok(Tree::NULL),
    };
    common.set("alpn_protocols", tls::alpn(&listener.key.protocol));
    Ok(tls::socket_down(common, false))
}

/// Whether a service has a certificate of its own.
fn has_own(service: &Tree) -> bool {
    says(service.at(&["TLS", "SDS", "CertResource"]))
}

fn route_name(listener: &Listener, service: &Tree) -> String {
    if has_own(service) {
        return format!("{}_{}", listener.key.route_name(), service.get("Name").text());
    }
    listener.key.route_name()
}

pub(super) fn listeners(cx: &Context<'_>, gateway: &Ingress, host: &Tree) -> Outcome {
    let mut out = Vec::new();
    for listener in gateway.listeners(cx.mail) {
        let socket = socket(cx, gateway, &listener)?;
        let made = if listener.key.protocol == "tcp" { tcp(cx, &listener, host, socket)? } else { Some(http(cx, &listener, host, socket)?) };
        out.extend(made.map(|made| made.or_from(listener.tree.origin)));
    }
    Ok(out)
}

fn tcp(cx: &Context<'_>, listener: &Listener, host: &Tree, socket: Tree) -> Result<Option<Tree>, Failure> {
    let Some((id, _)) = listener.services.first() else { return Ok(None) };
    let Some(chain) = cx.chain(id) else { return Ok(None) };
    let upstream = upstream(id, listener);
    let config = upstream_config(Some(&upstream), chain);
    let by_name = config.protocol != "tcp" && !chain.default;
    let cluster = if by_name {
        String::new()
    } else {
        match chain.only_target() {
            Some(_) => only_cluster(chain)?.unwrap_or_default(),
            None => return Err(Failure::new("expected discovery chain with single node", listener.tree.origin)),
        }
    };
    let opts = Http {
        cluster,
        protocol: config.protocol,
        filter_name: chain_name(chain),
        route_name: id.to_string(),
        stat_prefix: "upstream.",
        by_name,
        ..Http::default()
    };
    let mut out = listener_at(cx, &id.to_string(), host.clone(), listener.tree.get("Port"), "OUTBOUND");
    out.set("filter_chains", one(message! { "filters": one(filters::of(cx, &opts)), "transport_socket": socket }));
    Ok(Some(out))
}

fn http(cx: &Context<'_>, listener: &Listener, host: &Tree, socket: Tree) -> Result<Tree, Failure> {
    let key = &listener.key;
    let mut out = listener_at(cx, &key.protocol, host.clone(), listener.tree.get("Port"), "OUTBOUND");
    let opts = |name: String| Http {
        protocol: key.protocol.clone(),
        filter_name: name.clone(),
        route_name: name,
        stat_prefix: "ingress_upstream_",
        by_name: true,
        ..Http::default()
    };
    let mut chains = Vec::new();
    for service in listener.tree.get("Services").items().iter().filter(|service| has_own(service)) {
        let sds = service.at(&["TLS", "SDS"]);
        let mut common = tls::from_server(sds.get("CertResource"), &super::proto::copied(sds.get("ClusterName")), super::proto::empty());
        common.set("alpn_protocols", tls::alpn(&key.protocol));
        let chain = message! {
            "filter_chain_match": message! { "server_names": list(service.get("Hosts").items().to_vec()) },
            "filters": one(filters::of(cx, &opts(route_name(listener, service)))),
            "transport_socket": tls::socket_down(common, false),
        };
        chains.push(chain.or_from(service.origin));
    }
    if !chains.is_empty() {
        out.set("listener_filters", one(filters::inspector("tls_inspector")));
    }
    if chains.len() < listener.services.len() {
        chains.push(message! { "filters": one(filters::of(cx, &opts(key.route_name()))), "transport_socket": socket });
    }
    out.set("filter_chains", list(chains));
    Ok(out)
}

/// The domains of a service: its own, or those that everybody gets; also with the port.
pub(super) fn domains(name: &Str, hosts: &[Tree], port: i64) -> Tree {
    let mut all: Vec<Tree> = if hosts.is_empty() { Vec::from([Tree::from(format!("{name}.ingress.*"))]) } else { hosts.to_vec() };
    let without: Vec<Tree> = all.iter().filter(|host| go::split_host_port(host.text()).is_none() && !host.text().contains(':')).cloned().collect();
    for host in without {
        let with = format!("{}:{port}", host.text());
        if !all.iter().any(|other| other.text() == with) {
            all.push(Tree::from(with).or_from(host.origin));
        }
    }
    list(all)
}

pub(super) fn routes(cx: &Context<'_>, gateway: &Ingress) -> Outcome {
    let mut out = Vec::new();
    for listener in gateway.listeners(cx.mail).iter().filter(|listener| listener.key.protocol != "tcp") {
        let mut shared = Vec::new();
        for (id, service) in &listener.services {
            let Some(chain) = cx.chain(id) else { continue };
            let domains = domains(&id.name, service.get("Hosts").items(), listener.key.port);
            let mut host = tables::host(id, chain, domains, false)?;
            tables::headers(&mut host, service);
            let host = host.or_from(service.origin);
            if has_own(service) {
                out.push(tables::table(&route_name(listener, service), Vec::from([host])));
            } else {
                shared.push(host);
            }
        }
        if !shared.is_empty() {
            out.push(tables::table(&listener.key.route_name(), shared));
        }
    }
    Ok(out)
}
