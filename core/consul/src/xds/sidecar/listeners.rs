//! Listeners of sidecars.

use super::clusters::peer_config;
use super::{expose, transparent};
use crate::go;
use crate::names::{self, DEFAULT, TRUST_DOMAIN, UpstreamId};
use crate::proxycfg::{ConnectProxy, Watch};
use crate::validate::{is_http, is_set};
use crate::xds::context::{Context, Failure, Outcome};
use crate::xds::parts::config::{ProxyConfig, UpstreamConfig};
use crate::xds::parts::filters::{self, Http};
use crate::xds::parts::listener::{listener, only_cluster, upstream_config};
use crate::xds::parts::name::{chain_name, peer_cluster};
use crate::xds::parts::proto::{empty, message, one};
use crate::xds::parts::{access_log, escape, jwt, rbac, tls};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::ir::{Plain, Tree};
use chancery_text::Str;

/// All listeners: of the service itself, of its upstreams, and of exposed paths.
pub(crate) fn all(cx: &Context<'_>, proxy: &ConnectProxy) -> Outcome {
    let mut out = Vec::from([public(cx, proxy)?]);
    let config = ProxyConfig::of(cx.instance.proxy.get("Config"));
    let tracing = filters::tracing(&config.tracing);
    let mut outbound = Vec::new();
    for (id, chain) in cx.mail.chains().filter(|(id, _)| !proxy.skips(cx.mail, id)) {
        let upstream = proxy.upstream(id);
        let given = upstream_config(upstream, chain);
        if !given.listener.text().is_empty() {
            out.push(escape::message(&given.listener, "envoy.config.listener.v3.Listener")?);
            continue;
        }
        let cluster = only_cluster(chain)?;
        let opts = Http {
            by_name: cluster.is_none(),
            cluster: cluster.unwrap_or_default(),
            protocol: given.protocol.clone(),
            filter_name: chain_name(chain),
            route_name: id.to_string(),
            stat_prefix: "upstream.",
            tracing: tracing.clone(),
            ..Http::default()
        };
        let filters = message! { "filters": one(filters::of(cx, &opts)) };
        let listed = upstream.filter(|upstream| upstream.get("LocalBindPort").int() != 0 || is_set(upstream.get("LocalBindSocketPath")));
        match listed {
            Some(upstream) => {
                let mut listener = bound(cx, &id.to_string(), upstream);
                balance(&mut listener, &given.balance);
                listener.set("filter_chains", one(filters));
                out.push(listener.or_from(upstream.origin));
            }
            None => outbound.extend(transparent::of_chain(cx, chain, filters)),
        }
    }
    peered(cx, proxy, &tracing, &mut out, &mut outbound)?;
    if proxy.transparent {
        out.extend(transparent::listener(cx, proxy, outbound, &tracing));
    }
    for (id, upstream) in proxy.upstreams.iter().filter(|(id, _)| id.query) {
        out.push(of_query(cx, id, upstream, &tracing)?);
    }
    for path in expose::paths(cx, proxy) {
        out.push(expose::listener(cx, &path));
    }
    Ok(out)
}

/// The listener of an upstream: at an address, or at a socket.
fn bound(cx: &Context<'_>, name: &str, upstream: &Tree) -> Tree {
    let socket = upstream.get("LocalBindSocketPath");
    if upstream.get("LocalBindPort").int() == 0 && is_set(socket) {
        let written = upstream.get("LocalBindSocketMode");
        let mode = go::parse_int(written.text()).filter(|mode| *mode > 0).map(|mode| Tree::from(mode).or_from(written.origin));
        let pipe = message! { "path": socket.clone(), "mode": mode };
        return message! {
            "name": format!("{name}:{}", socket.text()),
            "address": message! { "pipe": pipe },
            "traffic_direction": "OUTBOUND",
            "access_log": access_log::logs(cx.logs(), true),
        };
    }
    listener(cx, name, upstream.get("LocalBindAddress").clone(), upstream.get("LocalBindPort"), "OUTBOUND")
}

/// Distributes connections over workers.
fn balance(listener: &mut Tree, how: &str) {
    if how == "exact_balance" {
        listener.set("connection_balance_config", message! { "exact_balance": empty() });
    }
}

fn peered(cx: &Context<'_>, proxy: &ConnectProxy, tracing: &Tree, out: &mut Vec<Tree>, outbound: &mut Vec<Tree>) -> Result<(), Failure> {
    for id in proxy.peered(cx.mail) {
        if proxy.skips(cx.mail, &id) {
            continue;
        }
        let upstream = proxy.upstream(&id);
        let config = peer_config(cx, &id, upstream);
        if !config.listener.text().is_empty() {
            out.extend(escape::message(&config.listener, "envoy.config.listener.v3.Listener").ok());
            continue;
        }
        let listed = upstream.filter(|upstream| upstream.get("LocalBindPort").int() != 0 || is_set(upstream.get("LocalBindSocketPath")));
        let opts = Http {
            cluster: peer_cluster(&id),
            protocol: config.protocol.clone(),
            filter_name: format!("{}.{DEFAULT}.{}", id.name, id.peer),
            route_name: id.to_string(),
            stat_prefix: "upstream_peered.",
            tracing: if listed.is_some() { Tree::NULL } else { tracing.clone() },
            ..Http::default()
        };
        let filters = message! { "filters": one(filters::of(cx, &opts)) };
        match listed {
            Some(upstream) => {
                let mut listener = bound(cx, &id.to_string(), upstream);
                balance(&mut listener, &config.balance);
                listener.set("filter_chains", one(filters));
                out.push(listener.or_from(upstream.origin));
            }
            None => outbound.extend(transparent::of_peer(cx, &id, filters)),
        }
    }
    Ok(())
}

fn of_query(cx: &Context<'_>, id: &UpstreamId, upstream: &Tree, tracing: &Tree) -> Result<Tree, Failure> {
    let config = UpstreamConfig::of(upstream.get("Config"));
    if !config.listener.text().is_empty() {
        return escape::message(&config.listener, "envoy.config.listener.v3.Listener");
    }
    let datacenter = if id.datacenter.is_empty() { &cx.instance.node.datacenter } else { &id.datacenter };
    let opts = Http {
        cluster: names::query_sni(&id.name, datacenter, TRUST_DOMAIN),
        protocol: if config.protocol.is_empty() { Str::new_static("tcp") } else { config.protocol },
        filter_name: id.to_string(),
        route_name: id.to_string(),
        stat_prefix: "upstream.",
        tracing: tracing.clone(),
        ..Http::default()
    };
    let mut listener = bound(cx, &id.to_string(), upstream);
    balance(&mut listener, &config.balance);
    listener.set("filter_chains", one(message! { "filters": one(filters::of(cx, &opts)) }));
    Ok(listener.or_from(upstream.origin))
}

/// The address of the public listener.
fn public_address(cx: &Context<'_>, config: &ProxyConfig) -> (Tree, Tree) {
    let own = cx.instance.tree.get("Address");
    let host = match (config.bind_address.text(), own.text()) {
        ("", "") => Tree::from("0.0.0.0"),
        ("", _) => own.clone(),
        _ => config.bind_address.clone(),
    };
    let port = if *config.bind_port == 0 { cx.instance.tree.get("Port").clone() } else { config.bind_port.into() };
    (host, port)
}

fn public(cx: &Context<'_>, proxy: &ConnectProxy) -> Result<Tree, Failure> {
    let config = ProxyConfig::of(cx.instance.proxy.get("Config"));
    let peers = cx.mail.names(&Watch::ExportedTo(Some(proxy.destination.clone())));
    let intentions = cx.mail.trees(&Watch::Intentions(proxy.destination.clone()));
    let speaks_http = is_http(&config.protocol);
    let socket = tls::mesh_down(cx, &proxy.destination, &config.protocol, &peers);
    if !config.public_listener.text().is_empty() {
        let mut listener = escape::message(&config.public_listener, "envoy.config.listener.v3.Listener")?;
        let injected = speaks_http && filters::inject(&mut listener, &rbac::http_filter(cx, intentions, &peers)?);
        finish(&mut listener, (!injected).then(|| rbac::network_filter(cx, intentions, &peers)), &socket);
        return Ok(listener);
    }
    let mut opts = Http {
        cluster: String::from("local_app"),
        protocol: config.protocol.clone(),
        filter_name: String::from("public_listener"),
        route_name: String::from("public_listener"),
        request_timeout: config.request_timeout,
        idle_timeout: config.idle_timeout,
        tracing: filters::tracing(&config.tracing),
        ..Http::default()
    };
    if speaks_http {
        opts.before.extend(jwt::filter(cx, intentions)?);
        opts.before.push(rbac::http_filter(cx, intentions, &peers)?);
        if !cx.mesh().at(&["HTTP", "SanitizeXForwardedClientCert"]).bool() && config.protocol != "grpc" {
            opts.forward = Some("APPEND_FORWARD");
            opts.before.push(rbac::client_metadata());
        }
    }
    let (host, port) = public_address(cx, &config);
    let mut listener = listener(cx, "public_listener", host, &port, "INBOUND");
    balance(&mut listener, &config.balance);
    let mut filters = Vec::new();
    if config.max_connections.value > 0 {
        filters.push(filters::limit(config.max_connections));
    }
    filters.push(filters::of(cx, &opts));
    listener.set("filter_chains", one(message! { "filters": Tree::from(filters) }));
    finish(&mut listener, (!speaks_http).then(|| rbac::network_filter(cx, intentions, &peers)), &socket);
    permissive(cx, proxy, &opts, &mut listener);
    Ok(listener.or_from(cx.instance.tree.origin))
}

/// Adds intentions and certificates to all chains.
fn finish(listener: &mut Tree, filter: Option<Tree>, socket: &Tree) {
    for chain in listener.get_mut("filter_chains").into_iter().flat_map(Tree::items_mut) {
        if let Some(filter) = &filter {
            match chain.get_mut("filters") {
                Some(Tree { value: Plain::List(filters), .. }) => filters.insert(0, filter.clone()),
                _ => chain.set("filters", one(filter.clone())),
            }
        }
        chain.take("transport_socket");
        chain.set("transport_socket", socket.clone());
    }
}

/// Adds a chain for clients without certificates.
fn permissive(cx: &Context<'_>, proxy: &ConnectProxy, opts: &Http, listener: &mut Tree) {
    let settings = &cx.instance.proxy;
    let port = settings.get("LocalServicePort");
    if !proxy.transparent || !settings.get("MutualTLSMode").is("permissive") || port.int() <= 0 {
        return;
    }
    let opts = Http { stat_prefix: "permissive_", ..opts.clone() };
    let chain = message! {
        "filter_chain_match": message! { "destination_port": port.clone() },
        "filters": one(filters::tcp(cx, &opts)),
    };
    if let Some(chains) = listener.get_mut("filter_chains") {
        chains.push(chain);
    }
    listener.set("listener_filters", one(filters::inspector("original_dst")));
}
