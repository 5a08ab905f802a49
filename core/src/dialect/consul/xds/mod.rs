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
mod filters;
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

/// All resources of a proxy.
pub(crate) fn resources(cx: &Context<'_>) -> Result<Verbatim, Failure> {
    let (listeners, routes, clusters, endpoints) = match cx.proxy {
        Proxy::Connect(proxy) => (
            listeners::connect_proxy(cx, proxy)?,
            routes::connect_proxy(cx, proxy)?,
            clusters::connect_proxy(cx, proxy)?,
            endpoints::connect_proxy(cx, proxy)?,
        ),
        Proxy::Ingress(gateway) => (
            gateways::listeners(cx)?,
            ingress::routes(cx, gateway)?,
            clusters::ingress(cx, gateway)?,
            endpoints::ingress(cx, &ingress::upstreams(cx, gateway))?,
        ),
        Proxy::Terminating(gateway) => (
            gateways::listeners(cx)?,
            terminating::routes(cx, gateway)?,
            terminating::clusters(cx, gateway)?,
            endpoints::terminating(cx, gateway)?,
        ),
        Proxy::Mesh(gateway) => {
            (gateways::listeners(cx)?, routes::mesh(cx, gateway)?, mesh::clusters(cx, gateway)?, endpoints::mesh(cx, gateway)?)
        }
        Proxy::Api(gateway) => {
            (gateways::listeners(cx)?, api::routes(cx, gateway)?, api::clusters(cx, gateway)?, api::endpoints(cx, gateway)?)
        }
    };
    let sorted = |mut all: Vec<Tree>, key: &str| {
        all.sort_by(|a, b| a.get(key).text().cmp(b.get(key).text()));
        all.dedup_by(|a, b| a.get(key).text() == b.get(key).text());
        all
    };
    let shared = |all: Vec<Tree>| all.into_iter().map(Arc::new).collect();
    Ok(Verbatim {
        listeners: shared(sorted(listeners, "name")),
        routes: shared(sorted(routes, "name")),
        clusters: shared(sorted(clusters, "name")),
        endpoints: shared(sorted(endpoints, "cluster_name")),
    })
}
