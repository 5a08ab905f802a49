//! Turns the URL of a service into a cluster. Does not ask what the service is for.

use super::cluster::{ClusterArgs, EndpointType};
use super::proto::derived;
use super::tls;
use crate::model::{DestinationSetting, Endpoint, Traffic};
use alloc::format;
use alloc::string::String;
use chancery_base::ir::Tree;
use chancery_base::resource::Sourced;
use chancery_text::Str;
use core::net::IpAddr;

/// The cluster of a URL.
pub(crate) struct UrlCluster {
    pub(crate) name: String,
    pub(crate) endpoint_type: EndpointType,
    host: Tree,
    has_tls: bool,
    setting: DestinationSetting,
}

/// Scheme, host without brackets, and port of a URL.
pub(crate) fn split_url(url: &str) -> Result<(&str, &str, Option<&str>), String> {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    if let Some(inner) = authority.strip_prefix('[') {
        let Some((host, after)) = inner.split_once(']') else {
            return Err(format!("parse \"{url}\": missing ']' in host"));
        };
        return Ok((scheme, host, after.strip_prefix(':').filter(|port| !port.is_empty())));
    }
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => Ok((scheme, host, Some(port).filter(|port| !port.is_empty()))),
        Some((_, port)) => Err(format!("parse \"{url}\": invalid port \":{port}\" after host")),
        None => Ok((scheme, authority, None)),
    }
}

impl UrlCluster {
    /// That of a URL, or why there is none.
    pub(crate) fn of(url: &Tree) -> Result<Self, String> {
        let (scheme, host, port) = split_url(url.text())?;
        let has_tls = scheme == "https";
        let default = if has_tls { 443 } else { 80 };
        let port = match port {
            Some(port) => port.parse::<u32>().map_err(|_| format!("strconv.ParseUint: parsing \"{port}\": value out of range"))?,
            None => default,
        };
        let name = format!("{}_{port}", host.replace('.', "_"));
        let endpoint_type = if host.parse::<IpAddr>().is_ok() { EndpointType::Static } else { EndpointType::Dns };
        let endpoint = Endpoint {
            host: Sourced::new(Str::new(host), url.origin),
            port: Sourced::new(i64::from(port), url.origin),
            origin: url.origin,
            ..Endpoint::default()
        };
        let setting = DestinationSetting {
            name: Str::from(format!("{name}/backend/-1")),
            weight: Some(Sourced::new(1, None)),
            endpoints: alloc::vec![endpoint],
            origin: url.origin,
            ..DestinationSetting::default()
        };
        Ok(Self { name, endpoint_type, host: derived(host, url), has_tls, setting })
    }

    /// The parts of the cluster.
    pub(crate) fn args<'a>(&'a self, traffic: Option<&'a Traffic>) -> ClusterArgs<'a> {
        ClusterArgs {
            name: &self.name,
            settings: alloc::vec![&self.setting],
            endpoint_type: self.endpoint_type,
            socket: self.has_tls.then(|| tls::upstream_of_url(&self.host)),
            traffic: traffic.map(|traffic| &traffic.cluster),
            ..ClusterArgs::default()
        }
    }
}
