//! The results of a request in the terms that all controllers share. Does not simulate requests; see `chancery_envoy::simulate`.

use crate::proof::{service_of_address, service_of_name};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use chancery_app_gateway::route::{Ending, Request as AzureRequest, Router};
use chancery_base::compilation::Compilation;
use chancery_base::ir::appgw::{FrontendType, Gateway as AppGateway};
use chancery_base::resource::Objects;
use chancery_envoy::config::EnvoyConfig;
use chancery_envoy::emit::pb;
use chancery_envoy::simulate::{Gateway, Outcome, Request, Simulation};

/// What happens to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It is sent to Services.
    Forwarded {
        /// `NAMESPACE/NAME`, with shares if there are several.
        to: String,
        /// The new path, if it changes.
        path: Option<String>,
        /// The new host, if it changes.
        host: Option<String>,
    },
    /// The client is redirected.
    Redirected { status: u32, to: String },
    /// The gateway answers itself.
    Answered(u32),
    /// Nothing answers.
    Nothing,
    /// The controller runs no gateway.
    NotRun(String),
}

impl Answer {
    pub(crate) fn words(&self) -> String {
        match self {
            Answer::Forwarded { to, path, host } => {
                let path = path.as_ref().map(|path| format!(" as {path}")).unwrap_or_default();
                let host = host.as_ref().map(|host| format!(" with host {host}")).unwrap_or_default();
                format!("goes to {to}{path}{host}")
            }
            Answer::Redirected { status, to } => format!("is redirected ({status}) to {to}"),
            Answer::Answered(status) => format!("is answered {status}"),
            Answer::Nothing => "is not answered".to_string(),
            Answer::NotRun(why) => format!("no gateway runs: {why}"),
        }
    }
}

/// The gateway of a compilation, ready for requests.
pub(crate) enum Ways<'c> {
    Azure { router: Box<Router<'c>>, services: BTreeMap<&'c str, String> },
    Envoy { config: Box<EnvoyConfig>, is_contour: bool },
    NotRun(String),
}

impl<'c> Ways<'c> {
    /// The first running gateway of a compilation.
    pub(crate) fn of(compilation: &'c Compilation) -> Self {
        if let Some(azure) = compilation.app_gateways().next() {
            return Ways::Azure { router: Box::new(Router::new(azure.parts)), services: services(azure.parts, &compilation.objects) };
        }
        if let Some(envoy) = compilation.gateways().next() {
            return Ways::Envoy { config: Box::new(EnvoyConfig::of(envoy.ir)), is_contour: *envoy.side.dialect == chancery_contour::DIALECT };
        }
        let why = compilation.stopped().next().map(|(_, _, failure)| failure.error.to_string());
        Ways::NotRun(why.unwrap_or_else(|| "nothing is sent to it".to_string()))
    }

    /// Returns the result of each request.
    pub(crate) fn all(&self, requests: &[Request]) -> Vec<Answer> {
        match self {
            Ways::Azure { router, services } => requests.iter().map(|request| azure(router, services, request)).collect(),
            Ways::Envoy { config, is_contour } => {
                let gateway = Gateway::new(config);
                let reached: BTreeMap<&str, String> =
                    config.clusters.iter().map(|cluster| (cluster.message.name.as_str(), reached(&cluster.message, *is_contour))).collect();
                requests.iter().map(|request| of_envoy(&gateway.simulate(request), &reached, request)).collect()
            }
            Ways::NotRun(why) => requests.iter().map(|_| Answer::NotRun(why.clone())).collect(),
        }
    }
}

/// Returns the Service of each pool, by the object that its addresses come from.
fn services<'c>(parts: &'c AppGateway, objects: &Objects) -> BTreeMap<&'c str, String> {
    let pools = parts.properties.iter().flat_map(|of| of.pools.iter().flatten());
    let service = |pool: &chancery_base::ir::appgw::Part<chancery_base::ir::appgw::Pool>| {
        let address = pool.properties.addresses.iter().flatten().find_map(|address| address.ip.as_ref().or(address.fqdn.as_ref()))?;
        let key = &objects.get(address.origin?.object())?.key;
        Some(format!("{}/{}", key.namespace.as_deref().filter(|of| !of.is_empty()).unwrap_or("default"), key.name))
    };
    pools.filter_map(|pool| Some((pool.name.as_str(), service(pool)?))).collect()
}

fn azure(router: &Router<'_>, services: &BTreeMap<&str, String>, request: &Request) -> Answer {
    let (path, query) = request.path.split_once('?').map_or((request.path.as_str(), None), |(path, query)| (path, Some(query)));
    let host = chancery_envoy::simulate::host_of(&request.authority);
    let port = request.port.or(request.url_port).map_or(if request.tls { 443 } else { 80 }, i64::from);
    let take = |frontend| router.take(&AzureRequest { frontend, port, host, path, query }).ending;
    let ending = match take(FrontendType::Public) {
        Ending::Refused { code: None, .. } => take(FrontendType::Private),
        other => other,
    };
    match ending {
        Ending::Forwarded { pool, path: sent, host: sent_host, .. } => Answer::Forwarded {
            to: services.get(pool.as_str()).cloned().unwrap_or_else(|| pool.to_string()),
            path: (sent.as_str() != path).then(|| sent.to_string()),
            host: match sent_host {
                Some(sent) => (sent.as_str() != host).then(|| sent.to_string()),
                None => Some("of the address".to_string()),
            },
        },
        Ending::Redirected { code, location } => redirected(u32::from(code), &location, request),
        Ending::Refused { code: Some(code), .. } => Answer::Answered(u32::from(code)),
        Ending::Refused { code: None, .. } => Answer::Nothing,
    }
}

fn of_envoy(simulation: &Simulation, reached: &BTreeMap<&str, String>, request: &Request) -> Answer {
    match simulation.outcome {
        Outcome::Forward => {
            let name = |cluster: &str| reached.get(cluster).cloned().unwrap_or_else(|| cluster.to_string());
            let to: Vec<String> = match simulation.clusters.as_slice() {
                [one] => Vec::from([name(&one.name)]),
                several => {
                    several.iter().map(|share| format!("{} ({}%)", name(&share.name), chancery_envoy::simulate::percent(share.percent))).collect()
                }
            };
            let upstream = simulation.upstream.as_ref();
            let host = chancery_envoy::simulate::host_of(&request.authority);
            Answer::Forwarded {
                to: to.join(", "),
                path: upstream.map(|of| of.path.clone()).filter(|path| *path != request.path),
                host: upstream.map(|of| of.authority.clone()).filter(|authority| chancery_envoy::simulate::host_of(authority) != host),
            }
        }
        Outcome::Redirect => redirected(simulation.status.unwrap_or_default(), simulation.location.as_deref().unwrap_or_default(), request),
        Outcome::DirectResponse => Answer::Answered(simulation.status.unwrap_or_default()),
        Outcome::NoRoute | Outcome::NoVirtualHost => Answer::Answered(404),
        Outcome::NoListener | Outcome::NoFilterChain | Outcome::Reset => Answer::Nothing,
    }
}

/// Describes a redirect; a redirect to the same URL with TLS has its own name.
fn redirected(status: u32, location: &str, request: &Request) -> Answer {
    let host = chancery_envoy::simulate::host_of(&request.authority);
    let same = format!("https://{host}{}", request.path);
    let with_port = format!("https://{host}:443{}", request.path);
    let to = if location == same || location == with_port { "https".to_string() } else { location.to_string() };
    Answer::Redirected { status, to }
}

/// Returns `NAMESPACE/NAME` of a cluster's Service.
fn reached(cluster: &pb::cluster::Cluster, is_contour: bool) -> String {
    let named = if is_contour { service_of_name(cluster) } else { service_of_address(cluster, "default") };
    let named = named.map(|named| named.rsplit_once(':').map_or_else(|| named.clone(), |(service, _)| service.to_string()));
    named.unwrap_or_else(|| cluster.name.clone())
}
