//! Parses a Mapping's `service` into the parts that other languages have fields for. Does not look up the Service.

use chancery_ambassador::model::service::Authority;
use chancery_text::Str;

/// A service as other languages name it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target {
    pub namespace: Str,
    pub name: Str,
    pub port: u16,
    /// Whether it uses TLS.
    pub tls: bool,
    /// Whether the name is not a Service: an address, or a name outside of the cluster.
    pub outside: bool,
}

impl Target {
    /// Parses `[scheme://]name[.namespace][:port]`.
    pub fn parse(service: &str, namespace: &str) -> Option<Self> {
        let (scheme, rest) = service.split_once("://").unwrap_or(("", service));
        let tls = scheme.eq_ignore_ascii_case("https");
        let authority = Authority::parse(rest).ok()?;
        let port = match authority.port_number().ok()? {
            0 if tls => 443,
            0 => 80,
            port => port,
        };
        let host = authority.host?;
        let inside = host.strip_suffix(".svc.cluster.local").or_else(|| host.strip_suffix(".svc")).unwrap_or(&host);
        let is_address = host.parse::<core::net::IpAddr>().is_ok();
        let (name, own) = inside.split_once('.').map_or((inside, None), |(name, rest)| (name, Some(rest)));
        let outside = is_address || own.is_some_and(|own| own.contains('.'));
        Some(Self { namespace: Str::new(own.unwrap_or(namespace)), name: Str::new(name), port, tls, outside })
    }
}
