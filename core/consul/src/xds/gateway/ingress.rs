//! The resources of ingress gateways.

use super::address::at_each;
use crate::entry::Kind;
use crate::names::UpstreamId;
use crate::proxycfg::{Ingress, Listener};
use crate::validate::is_set;
use crate::xds::context::{Context, Failure, Outcome, Resources};
use crate::xds::parts::cluster::{of_chain, outliers};
use crate::xds::parts::config::HealthCheck;
use crate::xds::parts::filters::{self, Http};
use crate::xds::parts::listener::{listener as listener_at, only_cluster, upstream_config};
use crate::xds::parts::name::chain_name;
use crate::xds::parts::proto::{copied, empty, list, message, one};
use crate::xds::parts::{endpoint, route as tables, tls};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_base::resource::Sourced;

pub(crate) fn resources(cx: &Context<'_>, gateway: &Ingress) -> Result<Resources, Failure> {
    Ok(Resources {
        listeners: at_each(cx, |at| listeners_at(cx, gateway, &at.host))?,
        routes: routes(cx, gateway)?,
        clusters: clusters(cx, gateway)?,
        endpoints: endpoint::of_upstreams(cx, &upstreams(cx, gateway))?,
    })
}

/// A service of a listener as an upstream.
fn upstream(id: &UpstreamId, listener: &Listener) -> Tree {
    message! {
        "DestinationName": &id.name,
        "LocalBindPort": listener.key.port,
        "Config": message! { "protocol": &listener.key.protocol },
    }
}

fn upstreams(cx: &Context<'_>, gateway: &Ingress) -> Vec<(UpstreamId, Tree)> {
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
    let pick = |path: &[&str]| if is_set(listener.at(path)) { listener.at(path).clone() } else { gateway.at(path).clone() };
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
    let mut common = match (is_set(&of.cluster), is_set(&of.resource)) {
        (true, true) => tls::from_server(&of.resource, &of.cluster, of.parameters),
        (false, true) => return Err(Failure::new(format!("missing SDS cluster name for listener on port {port}"), listener.tree.origin)),
        (true, false) => return Err(Failure::new(format!("missing SDS cert resource for listener on port {port}"), listener.tree.origin)),
        (false, false) if of.by_mesh => tls::common(&gateway.service, &tls::roots(""), of.parameters),
        (false, false) => return Ok(Tree::NULL),
    };
    common.set("alpn_protocols", tls::alpn(&listener.key.protocol));
    Ok(tls::socket_down(common, false))
}

/// Whether a service has its own certificate.
fn has_own(service: &Tree) -> bool {
    is_set(service.at(&["TLS", "SDS", "CertResource"]))
}

fn route_name(listener: &Listener, service: &Tree) -> String {
    if has_own(service) {
        return format!("{}_{}", listener.key.route_name(), service.get("Name").text());
    }
    listener.key.route_name()
}

fn listeners_at(cx: &Context<'_>, gateway: &Ingress, host: &Tree) -> Outcome {
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
        let mut common = tls::from_server(sds.get("CertResource"), &copied(sds.get("ClusterName")), empty());
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

fn routes(cx: &Context<'_>, gateway: &Ingress) -> Outcome {
    let mut out = Vec::new();
    for listener in gateway.listeners(cx.mail).iter().filter(|listener| listener.key.protocol != "tcp") {
        let mut shared = Vec::new();
        for (id, service) in &listener.services {
            let Some(chain) = cx.chain(id) else { continue };
            let domains = tables::domains(&id.name, service.get("Hosts").items(), &Tree::from(listener.key.port));
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

/// The clusters of an ingress gateway's services.
fn clusters(cx: &Context<'_>, gateway: &Ingress) -> Outcome {
    let defaults = cx.mail.entry(Kind::IngressGateway, &gateway.service).get("Defaults");
    let mut out = Vec::new();
    let mut seen: Vec<UpstreamId> = Vec::new();
    for listener in gateway.listeners(cx.mail) {
        for (id, service) in &listener.services {
            if seen.contains(id) {
                continue;
            }
            seen.push(id.clone());
            let Some(chain) = cx.chain(id) else { continue };
            let upstream = upstream(id, &listener);
            for mut cluster in of_chain(cx, Some(&upstream), chain, false)? {
                limit(&mut cluster, defaults, service)?;
                out.push(cluster.or_from(service.origin));
            }
        }
    }
    Ok(out)
}

/// Sets the limits from an ingress gateway's entry: its defaults, and those of this service.
fn limit(cluster: &mut Tree, defaults: &Tree, service: &Tree) -> Result<(), Failure> {
    let mut threshold = empty();
    let fields = [("MaxConnections", "max_connections"), ("MaxPendingRequests", "max_pending_requests"), ("MaxConcurrentRequests", "max_requests")];
    for (field, name) in fields {
        for of in [defaults, service].into_iter().map(|of| of.get(field)).filter(|value| value.int() > 0) {
            threshold.set(name, of.clone());
        }
    }
    let has_breakers = cluster.find("circuit_breakers").is_some();
    if !threshold.fields().is_empty() && has_breakers {
        cluster.set("circuit_breakers", message! { "thresholds": one(threshold) });
    }
    // The gateway gets its entry in a form without a field for an absent percentage.
    let read = |of: &Tree| {
        HealthCheck::of(of.get("PassiveHealthCheck")).map(|health| HealthCheck { ejection: health.ejection.or(Some(Sourced::default())), ..health })
    };
    let mut found = outliers(read(defaults).as_ref(), read(service).as_ref(), false);
    let before = cluster.at(&["outlier_detection", "max_ejection_percent"]);
    if !before.is_null() {
        found.set("max_ejection_percent", before.clone());
    }
    cluster.set("outlier_detection", found);
    Ok(())
}
