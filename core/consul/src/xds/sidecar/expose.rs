//! Paths of a service that are reached without a certificate.

use crate::go;
use crate::proxycfg::{ConnectProxy, Watch};
use crate::validate::is_set;
use crate::xds::context::Context;
use crate::xds::parts::config::ProxyConfig;
use crate::xds::parts::filters::{self, Http};
use crate::xds::parts::listener;
use crate::xds::parts::proto::{list, message, one};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_text::Str;

pub(crate) struct Path {
    pub(crate) path: Tree,
    pub(crate) protocol: Str,
    pub(crate) local_port: Tree,
    pub(crate) listener_port: Tree,
    from_check: bool,
}

/// The first port for checks.
const FIRST_PORT: i64 = 21500;

/// The listed paths, and those of checks.
pub(crate) fn paths(cx: &Context<'_>, proxy: &ConnectProxy) -> Vec<Path> {
    let expose = cx.instance.proxy.get("Expose");
    let listed = expose.get("Paths").items().iter().map(|path| Path {
        path: path.get("Path").clone(),
        protocol: if is_set(path.get("Protocol")) { path.get("Protocol").str() } else { Str::new_static("http") },
        local_port: path.get("LocalPathPort").clone(),
        listener_port: path.get("ListenerPort").clone(),
        from_check: path.get("ParsedFromCheck").bool(),
    });
    let mut all: Vec<Path> = listed.collect();
    if expose.get("Checks").bool() {
        let probes = cx.mail.trees(&Watch::Probes(proxy.destination_id.clone()));
        for (at, probe) in (0..).zip(probes) {
            all.extend(of_check(probe, FIRST_PORT + at));
        }
    }
    all
}

fn of_check(probe: &Tree, port: i64) -> Option<Path> {
    let (http, grpc) = (probe.get("HTTP"), probe.get("GRPC"));
    let (path, protocol, address, from) = if is_set(grpc) {
        let server = grpc.text().split('/').next().unwrap_or_default();
        (Str::new_static("/grpc.health.v1.Health/Check"), "http2", server, grpc)
    } else {
        let url = go::Url::parse(http.text()).ok()?;
        (Str::new(url.path), "http", url.host, http)
    };
    let (_, local) = go::split_host_port(address)?;
    let local: i64 = local.parse().ok()?;
    Some(Path {
        path: Tree::from(path).or_from(from.origin),
        protocol: Str::new_static(protocol),
        local_port: Tree::from(local).or_from(from.origin),
        listener_port: port.into(),
        from_check: true,
    })
}

/// The cluster of a path.
pub(crate) fn cluster(path: &Path) -> String {
    format!("exposed_cluster_{}", path.local_port.int())
}

/// The listener of a path.
pub(crate) fn listener(cx: &Context<'_>, path: &Path) -> Tree {
    let config = ProxyConfig::of(cx.instance.proxy.get("Config"));
    let address = match (config.bind_address.text(), cx.instance.address.as_str()) {
        ("", "") => Tree::from("0.0.0.0"),
        ("", address) => address.into(),
        _ => config.bind_address.clone(),
    };
    let letters: String = path.path.text().chars().filter(char::is_ascii_alphanumeric).collect();
    let port = path.listener_port.int();
    let mut listener = listener::listener(cx, &format!("exposed_path_{letters}"), address, &path.listener_port, "INBOUND");
    let name = format!("exposed_path_filter_{letters}_{port}");
    let same = path.local_port.int() == cx.instance.proxy.get("LocalServicePort").int();
    let http = Http {
        cluster: if same { String::from("local_app") } else { cluster(path) },
        protocol: path.protocol.clone(),
        filter_name: name.clone(),
        route_name: name,
        route_path: path.path.clone(),
        ..Http::default()
    };
    let mut chain = message! { "filters": one(filters::of(cx, &http)) };
    if path.from_check {
        let range = |address: &str, bits: i64| message! { "address_prefix": address, "prefix_len": bits };
        let ranges = Vec::from([range("127.0.0.1", 8), range("127.0.0.1", 32), range("::1", 128)]);
        chain.set("filter_chain_match", message! { "source_prefix_ranges": list(ranges) });
    }
    listener.set("filter_chains", one(chain));
    listener.or_from(path.path.origin)
}
