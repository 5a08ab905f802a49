//! The resources of terminating gateways.

use super::address::{GatewayAddress, at_each};
use super::cluster::{GatewayCluster, cluster};
use crate::entry::Kind;
use crate::go;
use crate::names::{self, DEFAULT, TRUST_DOMAIN};
use crate::proxycfg::{TerminatingGateway, Watch};
use crate::validate::{is_http, is_set};
use crate::xds::context::{Context, Failure, Outcome, Resources};
use crate::xds::parts::cluster::{balance, http2, is_http2};
use crate::xds::parts::config::{GatewayConfig, ProxyConfig};
use crate::xds::parts::filters::{self, Http};
use crate::xds::parts::listener::listener as listener_at;
use crate::xds::parts::name::destination_name;
use crate::xds::parts::proto::{duration, empty, endpoint as endpoint_at, list, message, millis, one};
use crate::xds::parts::{endpoint, rbac, route as tables, tls};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_text::Str;

pub(crate) fn resources(cx: &Context<'_>, gateway: &TerminatingGateway) -> Result<Resources, Failure> {
    Ok(Resources {
        listeners: at_each(cx, |at| listener(cx, gateway, at).map(|one| Vec::from([one])))?,
        routes: routes(cx, gateway)?,
        clusters: clusters(cx, gateway)?,
        endpoints: endpoints(cx, gateway)?,
    })
}

/// The central configuration of a service.
fn config(cx: &Context<'_>, service: &Str) -> ProxyConfig {
    const NOTHING: &Tree = &Tree::NULL;
    ProxyConfig::of(cx.mail.trees(&Watch::Config(service.clone())).first().unwrap_or(NOTHING))
}

/// A filter chain for a cluster of a service.
fn chain(cx: &Context<'_>, service: &Str, cluster: String, protocol: &Str) -> Result<Tree, Failure> {
    let local = &cx.instance.node.datacenter;
    let no_peers = BTreeSet::new();
    let intentions = cx.mail.trees(&Watch::Intentions(service.clone()));
    let common = tls::common(service, &tls::roots(""), tls::incoming(cx));
    let mut opts = Http {
        cluster: cluster.clone(),
        protocol: protocol.clone(),
        filter_name: format!("{service}.{DEFAULT}.{DEFAULT}.{local}"),
        route_name: cluster.clone(),
        stat_prefix: "upstream.",
        tracing: filters::tracing(&ProxyConfig::of(cx.instance.proxy.get("Config")).tracing),
        ..Http::default()
    };
    let mut all = Vec::new();
    if is_http(protocol) {
        opts.before.push(rbac::http_filter(cx, intentions, &no_peers)?);
        opts.cluster = String::new();
        opts.by_name = true;
        if !cx.mesh().at(&["HTTP", "SanitizeXForwardedClientCert"]).bool() {
            opts.forward = Some("APPEND_FORWARD");
        }
    } else {
        all.push(rbac::network_filter(cx, intentions, &no_peers));
    }
    all.push(filters::of(cx, &opts));
    Ok(message! {
        "filter_chain_match": message! { "server_names": one(cluster.into()) },
        "filters": list(all),
        "transport_socket": tls::socket_down(common, true),
    })
}

/// The subsets in a service's resolver.
fn subsets<'a>(cx: &'a Context<'_>, service: &Str) -> (&'a Tree, Vec<(Str, &'a Tree)>) {
    let resolver = cx.mail.entry(Kind::ServiceResolver, service);
    (resolver, resolver.get("Subsets").fields().iter().map(|(name, subset)| (name.clone(), subset)).collect())
}

fn listener(cx: &Context<'_>, gateway: &TerminatingGateway, at: &GatewayAddress) -> Result<Tree, Failure> {
    let local = &gateway.datacenter;
    let mut chains = Vec::new();
    for (service, link) in gateway.services(cx.mail) {
        let protocol = config(cx, &service).protocol;
        let all = [Str::default()].into_iter().chain(subsets(cx, &service).1.into_iter().map(|(name, _)| name));
        for subset in all {
            let name = names::service_sni(&service, &subset, local, TRUST_DOMAIN);
            chains.push(chain(cx, &service, name, &protocol)?.or_from(link.origin));
        }
    }
    for (service, link) in gateway.destinations(cx.mail) {
        let protocol = config(cx, &service).protocol;
        for address in cx.mail.entry(Kind::ServiceDefaults, &service).at(&["Destination", "Addresses"]).items() {
            chains.push(chain(cx, &service, destination_name(cx, &service, address.text()), &protocol)?.or_from(link.origin));
        }
    }
    let server = |chain: &Tree| chain.at(&["filter_chain_match", "server_names"]).items().first().map(Tree::str).unwrap_or_default();
    chains.sort_by_key(server);
    let rest = Http { filter_name: at.name.to_string(), stat_prefix: "terminating_gateway.", ..Http::default() };
    chains.push(message! { "filters": Tree::from(Vec::from([filters::by_server_name(), filters::tcp(cx, &rest)])) });
    let mut listener = listener_at(cx, &at.name, at.host.clone(), &at.port, "INBOUND");
    listener.set("listener_filters", one(filters::inspector("tls_inspector")));
    listener.set("filter_chains", list(chains));
    Ok(listener.or_from(cx.instance.tree.origin))
}

fn routes(cx: &Context<'_>, gateway: &TerminatingGateway) -> Outcome {
    let local = &gateway.datacenter;
    let mut out = Vec::new();
    for (service, _) in gateway.services(cx.mail) {
        if !is_http(&config(cx, &service).protocol) {
            continue;
        }
        let (resolver, subsets) = subsets(cx, &service);
        let all = [Str::default()].into_iter().chain(subsets.into_iter().map(|(name, _)| name));
        for subset in all {
            out.push(table(&names::service_sni(&service, &subset, local, TRUST_DOMAIN), resolver, true)?);
        }
    }
    for (service, _) in gateway.destinations(cx.mail) {
        if !is_http(&config(cx, &service).protocol) {
            continue;
        }
        for address in cx.mail.entry(Kind::ServiceDefaults, &service).at(&["Destination", "Addresses"]).items() {
            out.push(table(&destination_name(cx, &service, address.text()), &Tree::NULL, false)?);
        }
    }
    Ok(out)
}

fn table(cluster: &str, resolver: &Tree, rewrite: bool) -> Result<Tree, Failure> {
    let mut action = message! { "cluster": cluster };
    tables::hash(&mut action, resolver.find("LoadBalancer"))?;
    if rewrite {
        action.set("auto_host_rewrite", true.into());
    }
    let timeout = resolver.get("RequestTimeout").number();
    if *timeout != 0 {
        action.set("timeout", duration(timeout));
    }
    let route = message! { "match": tables::everything(), "route": action };
    let host = message! { "name": cluster, "domains": one("*".into()), "routes": one(route) };
    Ok(tables::table(cluster, Vec::from([host])))
}

fn clusters(cx: &Context<'_>, gateway: &TerminatingGateway) -> Outcome {
    let local = &gateway.datacenter;
    let mut out = Vec::new();
    for (service, link) in gateway.services(cx.mail) {
        let instances = gateway.instances(cx.mail, &service);
        let (resolver, subsets) = subsets(cx, &service);
        let named = gateway.by_name(cx.mail, &service);
        let http2_wanted = is_http2(&config(cx, &service).protocol);
        let all = [(Str::default(), None)].into_iter().chain(subsets.into_iter().map(|(name, subset)| (name, Some(subset))));
        for (subset, definition) in all {
            let name = names::service_sni(&service, &subset, local, TRUST_DOMAIN);
            let named = definition.map_or(named.clone(), |subset| endpoint::chosen(&named, subset.get("Filter")));
            let mut made = cluster(
                cx,
                &GatewayCluster {
                    name: &name,
                    named: &named,
                    connect_timeout: resolver.get("ConnectTimeout").number(),
                    remote: instances.first().is_some_and(|instance| instance.node.datacenter != *local),
                    only_passing: definition.map(|subset| subset.get("OnlyPassing").flag()).unwrap_or_default(),
                },
            );
            if is_set(link.get("CAFile")) {
                made.set("transport_socket", tls::from_files(link));
            }
            balance(&mut made, resolver.find("LoadBalancer"))?;
            if http2_wanted {
                made.set("typed_extension_protocol_options", http2());
            }
            out.push(made.or_from(link.origin));
        }
    }
    for (service, link) in gateway.destinations(cx.mail) {
        outside(cx, &service, link, &mut out);
    }
    Ok(out)
}

/// The clusters of a destination, one for each address.
fn outside(cx: &Context<'_>, service: &Str, link: &Tree, out: &mut Vec<Tree>) {
    let destination = cx.mail.entry(Kind::ServiceDefaults, service).get("Destination");
    let timeout = GatewayConfig::of(cx.instance.proxy.get("Config")).connect_timeout;
    for address in destination.get("Addresses").items() {
        let name = destination_name(cx, service, address.text());
        let locality = message! { "lb_endpoints": one(endpoint_at(address.clone(), destination.get("Port").clone())) };
        let mut made = message! {
            "name": name.as_str(),
            "connect_timeout": millis(timeout),
            "outlier_detection": empty(),
            "load_assignment": message! { "cluster_name": name.as_str(), "endpoints": one(locality) },
        };
        if go::ip(address.text()).is_some() {
            made.set("type", "STATIC".into());
        } else {
            made.set("type", "LOGICAL_DNS".into());
            made.set("dns_lookup_family", "V4_ONLY".into());
            made.set("dns_refresh_rate", "10s".into());
        }
        if is_set(link.get("CAFile")) {
            made.set("transport_socket", tls::from_files(link));
        }
        out.push(made.or_from(address.origin));
    }
}

fn endpoints(cx: &Context<'_>, gateway: &TerminatingGateway) -> Outcome {
    let mut out = Vec::new();
    for (name, _) in gateway.services(cx.mail) {
        let instances = gateway.instances(cx.mail, &name);
        if instances.is_empty() || !gateway.by_name(cx.mail, &name).is_empty() {
            continue;
        }
        endpoint::of_service(cx, &name, instances, cx.mail.entry(Kind::ServiceResolver, &name), &mut out);
    }
    Ok(out)
}
