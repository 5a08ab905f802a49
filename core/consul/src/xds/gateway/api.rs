//! The resources of API gateways.

use super::address::at_each;
use super::synthesis::{Synthetic, synthetic};
use crate::entry::Kind;
use crate::material;
use crate::names::UpstreamId;
use crate::proxycfg::{ApiGateway, Ready};
use crate::validate::is_set;
use crate::xds::context::{Context, Failure, Outcome, Resources};
use crate::xds::parts::filters::{self, Http};
use crate::xds::parts::listener::{listener as listener_at, only_cluster, upstream_config};
use crate::xds::parts::name::chain_name;
use crate::xds::parts::proto::{empty, list, message, one};
use crate::xds::parts::{cluster as tables, endpoint, route as routes, tls};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_text::Str;

pub(crate) fn resources(cx: &Context<'_>, gateway: &ApiGateway) -> Result<Resources, Failure> {
    Ok(Resources {
        listeners: at_each(cx, |at| listeners_at(cx, gateway, &at.host))?,
        routes: routes(cx, gateway)?,
        clusters: clusters(cx, gateway)?,
        endpoints: endpoints(cx, gateway)?,
    })
}

/// A service of a listener as an upstream.
fn upstream(id: &UpstreamId, listener: &Tree) -> Tree {
    message! {
        "DestinationName": &id.name,
        "LocalBindPort": listener.get("Port").clone(),
        "Config": message! { "protocol": listener.get("Protocol").clone() },
    }
}

/// The services of all listeners, each once.
fn upstreams(cx: &Context<'_>, gateway: &ApiGateway) -> Vec<(UpstreamId, Tree)> {
    let mut out: Vec<(UpstreamId, Tree)> = Vec::new();
    for ready in gateway.ready(cx.mail) {
        for id in &ready.services {
            if !out.iter().any(|(other, _)| other == id) {
                out.push((id.clone(), upstream(id, &ready.listener)));
            }
        }
    }
    out
}

fn clusters(cx: &Context<'_>, gateway: &ApiGateway) -> Outcome {
    let mut out = Vec::new();
    for (id, upstream) in upstreams(cx, gateway) {
        if let Some(chain) = cx.chain(&id) {
            out.extend(tables::of_chain(cx, Some(&upstream), chain, false)?);
        }
    }
    Ok(out)
}

fn endpoints(cx: &Context<'_>, gateway: &ApiGateway) -> Outcome {
    endpoint::of_upstreams(cx, &upstreams(cx, gateway))
}

/// The name of a listener's routes.
fn route_name(listener: &Tree) -> String {
    format!("{}", listener.get("Port").int())
}

fn routes(cx: &Context<'_>, gateway: &ApiGateway) -> Outcome {
    let mut out = Vec::new();
    for ready in gateway.ready(cx.mail).iter().filter(|ready| ready.listener.get("Protocol").is("http")) {
        let mut hosts = Vec::new();
        for Synthetic { name, host, chain, origin } in synthetic(cx, gateway, ready)? {
            let id = UpstreamId::service(&name);
            let domains = routes::domains(&name, &[Tree::from(&host)], ready.listener.get("Port"));
            hosts.push(routes::host(&id, &chain, domains, false)?.or_from(origin));
        }
        if !hosts.is_empty() {
            out.push(routes::table(&route_name(&ready.listener), hosts));
        }
    }
    Ok(out)
}

/// Whether a listener has any TLS settings.
fn has_tls(listener: &Tree) -> bool {
    ["Certificates", "MaxVersion", "MinVersion", "CipherSuites"].iter().any(|field| is_set(listener.at(&["TLS", field])))
}

fn parameters(listener: &Tree) -> Tree {
    let of = |field: &str| listener.at(&["TLS", field]);
    tls::parameters(of("MinVersion"), of("MaxVersion"), of("CipherSuites"))
}

fn listeners_at(cx: &Context<'_>, gateway: &ApiGateway, host: &Tree) -> Outcome {
    let mut out = Vec::new();
    for ready in gateway.ready(cx.mail) {
        let made = if ready.listener.get("Protocol").is("tcp") { tcp(cx, gateway, &ready, host)? } else { Some(http(cx, gateway, &ready, host)) };
        out.extend(made.map(|made| made.or_from(ready.listener.origin)));
    }
    Ok(out)
}

fn socket(gateway: &ApiGateway, listener: &Tree) -> Tree {
    if !has_tls(listener) {
        return Tree::NULL;
    }
    let mut common = tls::common(&gateway.service, &tls::roots(""), parameters(listener));
    common.set("alpn_protocols", tls::alpn(listener.get("Protocol").text()));
    tls::socket_down(common, false)
}

fn tcp(cx: &Context<'_>, gateway: &ApiGateway, ready: &Ready, host: &Tree) -> Result<Option<Tree>, Failure> {
    let Some(id) = ready.services.first() else { return Ok(None) };
    let Some(chain) = cx.chain(id) else { return Ok(None) };
    let listener = &ready.listener;
    let upstream = upstream(id, listener);
    let config = upstream_config(Some(&upstream), chain);
    let by_name = config.protocol != "tcp" && !chain.default;
    let cluster = if by_name { String::new() } else { only_cluster(chain)?.unwrap_or_default() };
    let opts = Http {
        cluster,
        protocol: config.protocol,
        filter_name: chain_name(chain),
        route_name: id.to_string(),
        stat_prefix: "upstream.",
        by_name,
        ..Http::default()
    };
    let mut out = listener_at(cx, &id.to_string(), host.clone(), listener.get("Port"), "OUTBOUND");
    let chains = if is_set(ready.bound.get("Certificates")) {
        out.set("listener_filters", one(filters::inspector("tls_inspector")));
        let opts = Http { protocol: listener.get("Protocol").str(), route_name: route_name(listener), stat_prefix: "ingress_upstream_", ..opts };
        with_certificates(cx, gateway, ready, &opts)
    } else {
        Vec::from([message! { "filters": one(filters::of(cx, &opts)), "transport_socket": socket(gateway, listener) }])
    };
    out.set("filter_chains", list(chains));
    Ok(Some(out))
}

fn http(cx: &Context<'_>, gateway: &ApiGateway, ready: &Ready, host: &Tree) -> Tree {
    let listener = &ready.listener;
    let name = route_name(listener);
    let opts = Http {
        protocol: listener.get("Protocol").str(),
        filter_name: name.clone(),
        route_name: name,
        stat_prefix: "ingress_upstream_",
        by_name: true,
        ..Http::default()
    };
    let mut out = listener_at(cx, listener.get("Protocol").text(), host.clone(), listener.get("Port"), "OUTBOUND");
    let chains = if is_set(ready.bound.get("Certificates")) {
        with_certificates(cx, gateway, ready, &opts)
    } else {
        Vec::from([message! { "filters": one(filters::of(cx, &opts)), "transport_socket": socket(gateway, listener) }])
    };
    if is_set(ready.bound.get("Certificates")) && !chains.is_empty() {
        out.set("listener_filters", one(filters::inspector("tls_inspector")));
    }
    out.set("filter_chains", list(chains));
    out
}

/// A chain for each certificate; several certificates are distinguished by the hosts that no other has. Versions and ciphers are ignored here.
fn with_certificates(cx: &Context<'_>, gateway: &ApiGateway, ready: &Ready, opts: &Http) -> Vec<Tree> {
    let references = ready.bound.get("Certificates").items().iter();
    let found: Vec<_> = references.filter_map(|reference| cx.mail.whole_entry(Kind::InlineCertificate, &reference.get("Name").str())).collect();
    let hosts: Vec<Vec<Str>> = found.iter().map(|entry| super::synthesis::certificate_hosts(entry.tree.get("Certificate").text())).collect();
    let protocol = ready.listener.get("Protocol").text();
    let chain = |name: &str, hosts: Vec<Tree>, mut common: Tree| {
        let opts = Http { filter_name: name.to_string(), ..opts.clone() };
        common.set("alpn_protocols", tls::alpn(protocol));
        let matches = if hosts.is_empty() {
            Tree::NULL
        } else {
            message! { "server_names": list(hosts) }
        };
        message! {
            "filter_chain_match": matches,
            "filters": one(filters::of(cx, &opts)),
            "transport_socket": tls::socket_down(common, false),
        }
    };
    let several = found.len() > 1;
    let mut out = Vec::new();
    for (at, entry) in found.iter().enumerate() {
        let own: Vec<Tree> = match hosts.get(at) {
            Some(own) if several => {
                // A host that is both the common name and an alternative name of a certificate is treated as shared.
                let shared = |host: &&Str| hosts.iter().flatten().filter(|other| other == host).count() > 1;
                own.iter().filter(|host| !shared(host)).map(Tree::from).collect()
            }
            _ => Vec::new(),
        };
        if several && own.is_empty() {
            continue;
        }
        let certificate = entry.tree.get("Certificate");
        let end = if certificate.text().ends_with('\n') { "" } else { "\n" };
        let text = Tree::from(format!("{}{end}", certificate.text())).or_from(certificate.origin);
        let pair = message! {
            "certificate_chain": message! { "inline_string": text },
            // The key itself is in no tree: the host provides it on request.
            "private_key": message! { "inline_string": format!("<{}:key>", material::of_entry(&entry.name)) },
        };
        out.push(chain(&entry.name, own, message! { "tls_params": empty(), "tls_certificates": one(pair) }));
    }
    if several {
        out.push(chain("default", Vec::new(), tls::common(&gateway.service, &tls::roots(""), empty())));
    }
    out
}
