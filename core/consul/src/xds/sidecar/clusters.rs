//! Clusters of sidecars.

use super::{expose, transparent};
use crate::entry::Kind;
use crate::go;
use crate::names::{self, TRUST_DOMAIN, UpstreamId};
use crate::proxycfg::{ConnectProxy, Health, Watch};
use crate::xds::context::{Context, Failure, Outcome};
use crate::xds::parts::cluster::{breakers, by_dns, by_stream, http2, is_http2, no_panic, of_chain, outliers, peer_names};
use crate::xds::parts::config::{CONNECT_TIMEOUT, ProxyConfig, UpstreamConfig};
use crate::xds::parts::endpoint::by_name;
use crate::xds::parts::name::peer_cluster;
use crate::xds::parts::proto::{copied, endpoint, message, millis, one};
use crate::xds::parts::{escape, jwt, tls};
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_base::resource::Sourced;
use chancery_text::Str;

/// All clusters: of the service itself, of its upstreams, and of exposed paths.
pub(crate) fn all(cx: &Context<'_>, proxy: &ConnectProxy) -> Outcome {
    let port = cx.instance.proxy.get("LocalServicePort");
    let mut out = Vec::from([local(cx, "local_app", "", port)?]);
    if proxy.transparent {
        transparent::clusters(cx, proxy, &mut out);
    }
    for (id, chain) in cx.mail.chains().filter(|(id, _)| !proxy.skips(cx.mail, id)) {
        out.extend(of_chain(cx, proxy.upstream(id), chain, false)?);
    }
    for id in proxy.peered(cx.mail) {
        if !proxy.skips(cx.mail, &id) {
            out.push(of_peer(cx, &id, proxy.upstream(&id))?);
        }
    }
    for provider in cx.mail.entries(Kind::JwtProvider) {
        out.extend(jwt::cluster(&provider.tree));
    }
    for (id, upstream) in proxy.upstreams.iter().filter(|(id, _)| id.query) {
        out.push(of_query(cx, id, upstream)?);
    }
    for path in expose::paths(cx, proxy) {
        if path.local_port.int() != port.int() {
            out.push(local(cx, &expose::cluster(&path), &path.protocol, &path.local_port)?);
        }
    }
    Ok(out)
}

/// The cluster of the service itself, or of one of its paths.
fn local(cx: &Context<'_>, name: &str, protocol: &str, port: &Tree) -> Result<Tree, Failure> {
    let (proxy, config) = (&cx.instance.proxy, ProxyConfig::of(cx.instance.proxy.get("Config")));
    if !config.local_cluster.text().is_empty() {
        return escape::message(&config.local_cluster, "envoy.config.cluster.v3.Cluster");
    }
    if let Some(fault) = config.fault {
        return Err(fault.into());
    }
    let socket = copied(proxy.get("LocalServiceSocketPath"));
    let host = proxy.get("LocalServiceAddress");
    let host = if host.text().is_empty() { Tree::from("127.0.0.1") } else { host.clone() };
    let endpoint = if socket.is_null() {
        endpoint(host, port.clone())
    } else {
        message! { "endpoint": message! { "address": message! { "pipe": message! { "path": socket } } } }
    };
    let locality = message! { "lb_endpoints": one(endpoint) };
    let mut cluster = message! {
        "name": name,
        "connect_timeout": millis(config.connect_timeout),
        "type": "STATIC",
        "load_assignment": message! { "cluster_name": name, "endpoints": one(locality) },
    };
    if is_http2(if protocol.is_empty() { &config.protocol } else { protocol }) {
        cluster.set("typed_extension_protocol_options", http2());
    }
    if config.max_connections.value > 0 {
        let threshold = message! { "max_connections": config.max_connections.map(go::cut) };
        cluster.set("circuit_breakers", message! { "thresholds": one(threshold) });
    }
    Ok(cluster.or_from(cx.instance.tree.origin))
}

fn of_query(cx: &Context<'_>, id: &UpstreamId, upstream: &Tree) -> Result<Tree, Failure> {
    let local = &cx.instance.node.datacenter;
    let sni = names::query_sni(&id.name, if id.datacenter.is_empty() { local } else { &id.datacenter }, TRUST_DOMAIN);
    let config = UpstreamConfig::of(upstream.get("Config"));
    let mut cluster = if config.cluster.text().is_empty() {
        let timeout = config.connect_timeout.map(|timeout| if timeout == 0 { CONNECT_TIMEOUT } else { timeout });
        let mut cluster = message! {
            "name": sni.as_str(),
            "connect_timeout": millis(timeout),
            "circuit_breakers": breakers(config.limits.as_ref()),
            "outlier_detection": outliers(config.health.as_ref(), None, true),
        };
        by_stream(&mut cluster);
        if is_http2(&config.protocol) {
            cluster.set("typed_extension_protocol_options", http2());
        }
        cluster
    } else {
        escape::message(&config.cluster, "envoy.config.cluster.v3.Cluster")?
    };
    cluster.set("transport_socket", tls::upstream(cx, "", &[], sni));
    Ok(cluster.or_from(upstream.origin))
}

/// The configuration of an upstream of a peer.
pub(crate) fn peer_config(cx: &Context<'_>, id: &UpstreamId, upstream: Option<&Tree>) -> UpstreamConfig {
    let mut config = upstream.map(|upstream| UpstreamConfig::of(upstream.get("Config"))).unwrap_or_default();
    let instances = cx.mail.instances(&Watch::Health(Health::of_peer(id, &cx.instance.node.datacenter)));
    let protocol = instances.first().and_then(|instance| instance.peer.as_ref()).map(|meta| meta.protocol.clone());
    config.protocol = protocol.filter(|protocol| !protocol.is_empty()).unwrap_or(Str::new_static("tcp"));
    if config.connect_timeout.value == 0 {
        config.connect_timeout.value = CONNECT_TIMEOUT;
    }
    if config.mesh_gateway.is_empty() {
        config.mesh_gateway = upstream.map(|upstream| upstream.at(&["MeshGateway", "Mode"]).str()).unwrap_or_default();
    }
    config
}

fn of_peer(cx: &Context<'_>, id: &UpstreamId, upstream: Option<&Tree>) -> Result<Tree, Failure> {
    let config = peer_config(cx, id, upstream);
    let instances = cx.mail.instances(&Watch::Health(Health::of_peer(id, &cx.instance.node.datacenter)));
    let mut cluster = if config.cluster.text().is_empty() {
        let mut outliers = outliers(config.health.as_ref(), None, true);
        outliers.set("max_ejection_percent", Tree::from(100_i64));
        let mut cluster = message! {
            "name": peer_cluster(id),
            "connect_timeout": millis(config.connect_timeout),
            "common_lb_config": no_panic(),
            "circuit_breakers": breakers(config.limits.as_ref()),
            "outlier_detection": outliers,
        };
        if is_http2(&config.protocol) {
            cluster.set("typed_extension_protocol_options", http2());
        }
        let named = by_name(instances);
        if named.is_empty() || config.mesh_gateway == "local" {
            by_stream(&mut cluster);
        } else {
            by_dns(&mut cluster, &named, false, true, Sourced::default());
        }
        cluster
    } else {
        escape::message(&config.cluster, "envoy.config.cluster.v3.Cluster")?
    };
    let (sni, names) = peer_names(instances);
    cluster.set("transport_socket", tls::upstream(cx, &id.peer, &names, sni));
    Ok(cluster.or_from(upstream.and_then(|upstream| upstream.origin)))
}
