//! What a proxy knows, in Envoy's words: listeners, routes, clusters, endpoints.
//!
//! What must not be here: how a proxy gets to know it (`proxycfg`).

mod access_log;
mod api;
mod clusters;
mod config;
mod endpoints;
mod escape;
mod expose;
mod extensions;
mod filters;
mod gateway_cluster;
mod gateways;
mod ingress;
mod jwt;
mod listeners;
mod mesh;
mod proto;
mod rbac;
mod routes;
mod synthesis;
mod terminating;
mod tls;
mod transparent;

use super::chain::Chain;
use super::entry::Kind;
use super::instance::Instance;
use super::names::UpstreamId;
use super::proxycfg::{Mailbox, Proxy};
use crate::ir::{Tree, Verbatim};
use crate::resource::Origin;
use crate::text::Str;
use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

/// Why a proxy gets nothing at all.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// The reason.
    pub message: String,
    /// What is wrong, if it is one place.
    pub origin: Option<Origin>,
}

impl Failure {
    fn new(message: impl Into<String>, origin: Option<Origin>) -> Self {
        Self { message: message.into(), origin }
    }
}

type Outcome = Result<Vec<Tree>, Failure>;

/// What is known of a proxy.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    /// Its registration, with central configuration.
    pub(crate) instance: &'a Instance,
    /// What it has been told.
    pub(crate) mail: &'a Mailbox,
    /// Its kind.
    pub(crate) proxy: &'a Proxy,
    /// Without an intention, everything is denied.
    pub(crate) default_deny: bool,
}

impl Context<'_> {
    fn mesh(&self) -> &Tree {
        self.mail.entry(Kind::Mesh, &Str::new_static("mesh"))
    }

    /// Whose certificate it shows.
    fn leaf(&self) -> String {
        match self.proxy {
            Proxy::Connect(proxy) => proxy.destination.to_string(),
            Proxy::Mesh(_) => String::from("gateway-mesh"),
            _ => self.instance.service.to_string(),
        }
    }

    fn side(&self, side: &str) -> Tree {
        let side = self.mesh().at(&["TLS", side]);
        tls::parameters(side.get("TLSMinVersion"), side.get("TLSMaxVersion"), side.get("CipherSuites"))
    }

    /// Versions and ciphers of those who come.
    fn incoming(&self) -> Tree {
        self.side("Incoming")
    }

    /// Versions and ciphers towards upstreams.
    fn outgoing(&self) -> Tree {
        self.side("Outgoing")
    }

    fn chain(&self, id: &UpstreamId) -> Option<&Chain> {
        self.mail.chain(id)
    }

    fn logs(&self) -> &Tree {
        self.instance.proxy.get("AccessLogs")
    }
}

/// The messages of a proxy.
#[derive(Clone)]
struct Resources {
    listeners: Vec<Tree>,
    routes: Vec<Tree>,
    clusters: Vec<Tree>,
    endpoints: Vec<Tree>,
}

/// What a proxy gets before its extensions.
fn plain(cx: &Context<'_>) -> Result<Resources, Failure> {
    Ok(match cx.proxy {
        Proxy::Connect(proxy) => Resources {
            listeners: listeners::connect_proxy(cx, proxy)?,
            routes: routes::connect_proxy(cx, proxy)?,
            clusters: clusters::connect_proxy(cx, proxy)?,
            endpoints: endpoints::connect_proxy(cx, proxy)?,
        },
        Proxy::Ingress(gateway) => Resources {
            listeners: gateways::listeners(cx)?,
            routes: ingress::routes(cx, gateway)?,
            clusters: clusters::ingress(cx, gateway)?,
            endpoints: endpoints::ingress(cx, &ingress::upstreams(cx, gateway))?,
        },
        Proxy::Terminating(gateway) => Resources {
            listeners: gateways::listeners(cx)?,
            routes: terminating::routes(cx, gateway)?,
            clusters: terminating::clusters(cx, gateway)?,
            endpoints: endpoints::terminating(cx, gateway)?,
        },
        Proxy::Mesh(gateway) => Resources {
            listeners: gateways::listeners(cx)?,
            routes: routes::mesh(cx, gateway)?,
            clusters: mesh::clusters(cx, gateway)?,
            endpoints: endpoints::mesh(cx, gateway)?,
        },
        Proxy::Api(gateway) => Resources {
            listeners: gateways::listeners(cx)?,
            routes: api::routes(cx, gateway)?,
            clusters: api::clusters(cx, gateway)?,
            endpoints: api::endpoints(cx, gateway)?,
        },
    })
}

/// Messages by their names, one of each name.
fn shared(mut all: Vec<Tree>, key: &str) -> Vec<Arc<Tree>> {
    all.sort_by(|a, b| a.get(key).text().cmp(b.get(key).text()));
    all.dedup_by(|a, b| a.get(key).text() == b.get(key).text());
    all.into_iter().map(Arc::new).collect()
}

/// The names of the routes that filters ask for.
fn tables(of: &Tree, found: &mut BTreeSet<Str>) {
    found.extend(of.find("route_config_name").map(Tree::str));
    of.fields().iter().for_each(|(_, value)| tables(value, found));
    of.items().iter().for_each(|value| tables(value, found));
}

/// Takes away what Envoy does not ask for: routes that no listener names, and endpoints of clusters that have their own.
fn only_asked_for(all: &mut Resources) {
    let mut named = BTreeSet::new();
    all.listeners.iter().for_each(|listener| tables(listener, &mut named));
    all.routes.retain(|table| named.contains(table.get("name").text()));
    let by_stream = all.clusters.iter().filter(|cluster| cluster.find("eds_cluster_config").is_some());
    let name = |cluster: &Tree| {
        let service = cluster.at(&["eds_cluster_config", "service_name"]);
        if service.text().is_empty() { cluster.get("name").str() } else { service.str() }
    };
    let by_stream: BTreeSet<Str> = by_stream.map(name).collect();
    all.endpoints.retain(|endpoints| by_stream.contains(endpoints.get("cluster_name").text()));
}

/// All resources of a proxy.
pub(crate) fn resources(cx: &Context<'_>) -> Result<Verbatim, Failure> {
    let mut all = extensions::apply(cx, plain(cx)?)?;
    only_asked_for(&mut all);
    Ok(Verbatim {
        listeners: shared(all.listeners, "name"),
        routes: shared(all.routes, "name"),
        clusters: shared(all.clusters, "name"),
        endpoints: shared(all.endpoints, "cluster_name"),
    })
}

/// The access logs of Envoy's own administration, in the names that bootstraps have.
pub(crate) fn admin_log(config: &Tree) -> Tree {
    let mut log = access_log::logs(config, false);
    for log in log.items_mut() {
        let Some(mut typed) = log.take("typed_config") else { continue };
        let mut format = typed.take("log_format").unwrap_or_default();
        if let Some(mut source) = format.take("text_format_source") {
            let text = source.take("inline_string").unwrap_or_default();
            format.set("textFormatSource", Tree::object([("inlineString", text)]));
        }
        if let Some(json) = format.take("json_format") {
            format.set("jsonFormat", json);
        }
        typed.set("logFormat", format);
        log.set("typedConfig", typed);
    }
    log
}
