//! Defines the configuration of nginx in ingress-nginx's terms: servers, locations and upstreams. Each value has its origin.
//!
//! Does not read Kubernetes objects; see `chancery-ingress-nginx`. Does not write nginx's directives; see `chancery-nginx`.

pub mod globals;
mod record;
mod settings;

pub use globals::{GlobalValue, Globals};
pub use record::Record;
pub use settings::{
    Affinity, BasicAuth, Canary, Ciphers, ClientCertificates, Connection, Cookie, Cors, CustomHeaders, DefaultBackend, ExternalAuth, FastCgi, HashBy,
    Logs, Mirror, ModSecurity, OpenTelemetry, Proxy, ProxySsl, RateLimit, Redirect, Rewrite, Settings, SourceRange, Zone,
};

use crate::ir::{Plain, Tree};
use crate::resource::{Origin, Secret, Sourced};
use alloc::collections::BTreeMap;
use alloc::string::ToString as _;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_text::Str;
use record::{Shown as _, shown};

/// The upstream of requests that no path matches.
pub const DEFAULT_UPSTREAM: &str = "upstream-default-backend";
/// The server of hosts that no Ingress names.
pub const DEFAULT_SERVER: &str = "_";

/// The configuration of an nginx.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Nginx {
    pub ports: Ports,
    pub globals: Globals,
    /// Sorted by host.
    pub servers: Vec<Arc<Server>>,
    /// Sorted by name.
    pub upstreams: Vec<Arc<Upstream>>,
    /// Servers that redirect to the name with or without `www.`.
    pub redirects: Vec<WwwRedirect>,
    /// Hosts whose TLS connections are forwarded without termination.
    pub passthrough: Vec<Passthrough>,
    pub tcp: Vec<StreamService>,
    pub udp: Vec<StreamService>,
    /// Directives of `stream-snippet` annotations.
    pub stream_snippets: Vec<Sourced<Str>>,
    /// `NAMESPACE/NAME` of the Ingresses that the controller serves, in the order in which it merges them.
    pub ingresses: Vec<Sourced<Str>>,
    /// The certificate of hosts without a separate certificate.
    pub default_certificate: Certificate,
    /// Addresses of Services that URLs name, by host; empty for a host of the cluster without a Service.
    pub names: BTreeMap<Str, Str>,
    /// The contents of password files, by path.
    pub passwords: BTreeMap<Str, Secret<Str>>,
    /// The first reason why nginx refuses this configuration and keeps the previous one.
    pub refused: Option<Sourced<Str>>,
}

/// The flags of the controller that nginx depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ports {
    /// `--http-port`
    pub http: u16,
    /// `--https-port`
    pub https: u16,
    /// `--ssl-passthrough-proxy-port`
    pub ssl_proxy: u16,
    /// `--default-server-port`
    pub default: u16,
    /// `--enable-ssl-passthrough`
    pub has_ssl_passthrough: bool,
}

impl Default for Ports {
    fn default() -> Self {
        Self { http: 80, https: 443, ssl_proxy: 442, default: 8181, has_ssl_passthrough: false }
    }
}

/// A certificate that a server presents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Certificate {
    /// `NAMESPACE/NAME` of the Secret; a note for the certificate that the controller generates.
    pub secret: Sourced<Str>,
    /// Common and alternative names, sorted.
    pub names: Vec<Str>,
    /// The subject's common name; if it has none, the first alternative name.
    pub shown_name: Str,
}

/// The server of one host.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Server {
    pub host: Sourced<Str>,
    pub aliases: Sourced<Vec<Str>>,
    /// Its certificate; `None` for a host without TLS.
    pub certificate: Option<Certificate>,
    /// Whether TLS connections are forwarded to the Service of `/` without termination.
    pub ssl_passthrough: Sourced<bool>,
    pub ciphers: Ciphers,
    /// Whether the same name with or without `www.` redirects to this host.
    pub redirects_www: Sourced<bool>,
    pub client_certificates: ClientCertificates,
    /// TLS to Services.
    pub proxy_ssl: ProxySsl,
    /// The file with nginx's certificate and key for TLS to Services.
    pub proxy_ssl_pem: Sourced<Str>,
    /// Directives for the server.
    pub snippet: Sourced<Str>,
    /// The reason why nginx answers every request with 403; empty if it does not.
    pub client_certificate_error: Sourced<Str>,
    /// In the order in which nginx tries regular expressions.
    pub locations: Vec<Location>,
}

/// How a location's path matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PathType {
    /// The path, and every path that begins with it.
    #[default]
    Prefix,
    /// Only the path itself.
    Exact,
}

impl PathType {
    pub fn name(self) -> &'static str {
        match self {
            PathType::Prefix => "Prefix",
            PathType::Exact => "Exact",
        }
    }
}

/// One path of a server.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Location {
    pub path: Sourced<Str>,
    pub path_type: PathType,
    /// The path of the Ingress, before the controller adds a slash; empty for `/`.
    pub ingress_path: Str,
    /// Whether the controller adds the location for a default backend, because no Ingress has its path.
    pub is_default: bool,
    /// The name of its upstream.
    pub upstream: Sourced<Str>,
    /// The port of its Service, as the Ingress names it.
    pub port: Str,
    pub ingress: Option<IngressName>,
    /// The upstream of its error pages.
    pub error_upstream: Str,
    /// The settings of its Ingress's annotations.
    pub settings: Arc<Settings>,
}

/// The Ingress of a location, as nginx's variables and headers describe it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IngressName {
    pub namespace: Str,
    pub name: Str,
    /// The Service that the Ingress names for the location's path.
    pub service: Str,
    /// The port of that Service.
    pub service_port: Str,
    pub origin: Option<Origin>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// An IP address or a host name.
    pub address: Sourced<Str>,
    pub port: Str,
}

/// A Service at one of its ports.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Upstream {
    /// `NAMESPACE-SERVICE-PORT`
    pub name: Sourced<Str>,
    /// The port, as the Ingress names it.
    pub port: Str,
    /// `None` if the Service does not exist.
    pub service: Option<ServiceFacts>,
    pub endpoints: Vec<Endpoint>,
    /// Whether it receives TLS connections without termination.
    pub ssl_passthrough: bool,
    /// Whether it only receives the requests of a canary.
    pub no_server: bool,
    /// The share of requests that a canary receives.
    pub policy: Canary,
    /// The names of its canaries.
    pub alternatives: Vec<Sourced<Str>>,
    /// Session affinity.
    pub affinity: Affinity,
    /// The paths that set the cookie, by host.
    pub affinity_locations: BTreeMap<Str, Vec<Str>>,
    /// The value whose hash chooses an endpoint.
    pub hash_by: HashBy,
    /// The load balancing algorithm.
    pub load_balance: Sourced<Str>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServiceFacts {
    /// `NAMESPACE/NAME`
    pub name: Str,
    pub kind: Str,
    pub external_name: Str,
    pub origin: Option<Origin>,
}

/// A server that redirects all requests to the same name with or without `www.`.
#[derive(Clone, Debug, PartialEq)]
pub struct WwwRedirect {
    pub from: Sourced<Str>,
    pub to: Str,
    /// The certificate that it presents.
    pub certificate: Option<Certificate>,
}

/// A host whose TLS connections are forwarded without termination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passthrough {
    pub host: Sourced<Str>,
    pub upstream: Sourced<Str>,
    /// The port of the Service, as the Ingress names it.
    pub port: Str,
    /// The address and port of the Service.
    pub address: Option<Str>,
}

/// A TCP or UDP service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamService {
    /// The port that nginx listens on.
    pub port: Sourced<u16>,
    pub namespace: Str,
    pub name: Str,
    pub service_port: Str,
    /// `TCP` or `UDP`.
    pub protocol: &'static str,
    /// Whether nginx expects a PROXY header from clients.
    pub decode_proxy: bool,
    /// Whether nginx sends a PROXY header to the Service.
    pub encode_proxy: bool,
    pub endpoints: Vec<Endpoint>,
}

impl Nginx {
    /// Returns the server of a host.
    pub fn server(&self, host: &str) -> Option<&Arc<Server>> {
        let at = self.servers.partition_point(|server| *server.host.value < *host);
        self.servers.get(at).filter(|server| server.host.value == host)
    }

    /// Returns the first upstream with this name.
    pub fn upstream(&self, name: &str) -> Option<&Arc<Upstream>> {
        let at = self.upstreams.partition_point(|upstream| *upstream.name.value < *name);
        self.upstreams.get(at).filter(|upstream| upstream.name.value == name)
    }

    /// Returns the model with the controller's field names.
    pub fn tree(&self) -> Tree {
        let list = |items: Vec<Tree>| if items.is_empty() { Tree::NULL } else { Tree::from(items) };
        let ingresses = self.ingresses.iter().map(shown).collect();
        let passthrough = self.passthrough.iter().map(|of| {
            let port = of.port.parse().map_or_else(|_| Plain::String(of.port.clone()), Plain::Int);
            Tree::object([("hostname", shown(&of.host)), ("namespace", shown(&of.upstream)), ("port", Tree::from(port))])
        });
        let globals = self.globals.tree();
        Tree::object([
            ("ingressOrder", list(ingresses)),
            ("servers", list(self.servers.iter().map(|server| server.tree()).collect())),
            ("backends", list(self.upstreams.iter().map(|upstream| upstream.tree()).collect())),
            ("passthroughBackends", list(passthrough.collect())),
            ("tcpEndpoints", list(self.tcp.iter().map(StreamService::tree).collect())),
            ("udpEndpoints", list(self.udp.iter().map(StreamService::tree).collect())),
            ("StreamSnippets", list(self.stream_snippets.iter().map(shown).collect())),
            ("globalConfig", if globals.fields().is_empty() { Tree::NULL } else { globals }),
        ])
    }
}

impl Certificate {
    fn tree(&self) -> Tree {
        Tree::object([("secret", shown(&self.secret)), ("cn", Tree::from(self.names.show()))])
    }
}

impl Server {
    fn tree(&self) -> Tree {
        let locations: Vec<Tree> = self.locations.iter().map(Location::tree).collect();
        let own = [
            ("hostname", shown(&self.host)),
            ("aliases", shown(&self.aliases)),
            ("sslCert", self.certificate.as_ref().map_or(Tree::NULL, Certificate::tree)),
            ("sslPassthrough", shown(&self.ssl_passthrough)),
            ("redirectFromToWWW", shown(&self.redirects_www)),
            ("certificateAuth", self.client_certificates.tree()),
            ("proxySSL", self.proxy_ssl.tree()),
            ("serverSnippet", shown(&self.snippet)),
            ("authTLSError", shown(&self.client_certificate_error)),
            ("locations", if locations.is_empty() { Tree::NULL } else { Tree::from(locations) }),
        ];
        Tree::object(own.into_iter().chain(self.ciphers.fields()))
    }
}

impl Location {
    /// Returns `NAMESPACE/NAME` of its Ingress.
    pub fn ingress_key(&self) -> Option<Str> {
        self.ingress.as_ref().map(|ingress| alloc::format!("{}/{}", ingress.namespace, ingress.name).into())
    }

    fn tree(&self) -> Tree {
        let origin = self.path.origin;
        let text = |text: &Str| if text.is_empty() { Tree::NULL } else { Tree { value: Plain::String(text.clone()), origin } };
        let ingress = self
            .ingress_key()
            .map_or(Tree::NULL, |key| Tree { value: Plain::String(key), origin: self.ingress.as_ref().and_then(|ingress| ingress.origin) });
        let own = [
            ("path", shown(&self.path)),
            ("pathType", Tree { value: Plain::String(Str::new_static(self.path_type.name())), origin }),
            ("isDefBackend", Tree { value: self.is_default.show(), origin }),
            ("ingress", ingress),
            ("ingressPath", text(&self.ingress_path)),
            ("backend", shown(&self.upstream)),
            ("port", text(&self.port)),
            ("defaultBackendUpstreamName", text(&self.error_upstream)),
        ];
        Tree::object(own.into_iter().chain(self.settings.fields()))
    }
}

impl Endpoint {
    fn tree(&self) -> Tree {
        Tree::object([("address", shown(&self.address)), ("port", Tree { value: self.port.show(), origin: self.address.origin })])
    }

    /// Returns `ADDRESS:PORT`, with brackets around an IPv6 address.
    pub fn target(&self) -> Str {
        let address = &self.address.value;
        if address.contains(':') { alloc::format!("[{address}]:{}", self.port).into() } else { alloc::format!("{address}:{}", self.port).into() }
    }
}

impl Upstream {
    fn tree(&self) -> Tree {
        let origin = self.name.origin;
        let service = self.service.as_ref().map_or(Tree::NULL, |service| {
            let field = |text: &Str| Tree { value: text.show(), origin: service.origin };
            Tree::object([("name", field(&service.name)), ("type", field(&service.kind)), ("externalName", field(&service.external_name))])
        });
        let mut policy = self.policy.fields();
        policy.retain(|(name, _)| *name != "enabled");
        let mut cookie = self.affinity.cookie.fields();
        if !self.affinity_locations.is_empty() {
            let paths = |paths: &Vec<Str>| Tree { value: paths.show(), origin };
            let locations = self.affinity_locations.iter().map(|(host, of)| (host.clone(), paths(of)));
            cookie.push(("locations", Tree::object(locations)));
        }
        let affinity = [
            ("name", shown(&self.affinity.kind)),
            ("mode", shown(&self.affinity.mode)),
            ("cookieSessionAffinity", if cookie.is_empty() { Tree::NULL } else { Tree::object(cookie) }),
        ];
        let affinity = Tree::object(affinity);
        let object = |tree: Tree| if tree.fields().is_empty() { Tree::NULL } else { tree };
        let endpoints: Vec<Tree> = self.endpoints.iter().map(Endpoint::tree).collect();
        Tree::object([
            ("name", shown(&self.name)),
            ("port", Tree { value: Plain::String(self.port.clone()), origin }),
            ("service", service),
            ("endpoints", if endpoints.is_empty() { Tree::NULL } else { Tree::from(endpoints) }),
            ("sslPassthrough", Tree { value: self.ssl_passthrough.show(), origin }),
            ("noServer", Tree { value: self.no_server.show(), origin }),
            ("trafficShapingPolicy", object(Tree::object(policy))),
            ("alternativeBackends", list_of(&self.alternatives)),
            ("sessionAffinityConfig", object(affinity)),
            ("upstreamHashByConfig", self.hash_by.tree()),
            ("load-balance", shown(&self.load_balance)),
        ])
    }
}

fn list_of(items: &[Sourced<Str>]) -> Tree {
    if items.is_empty() { Tree::NULL } else { Tree::from(Plain::List(items.iter().map(shown).collect())) }
}

impl StreamService {
    fn tree(&self) -> Tree {
        let text = |text: &str| Tree { value: Plain::String(Str::new(text)), origin: self.port.origin };
        let flag = |value: bool| Tree { value: value.show(), origin: self.port.origin };
        let proxy = Tree::object([("decode", flag(self.decode_proxy)), ("encode", flag(self.encode_proxy))]);
        let backend = Tree::object([
            ("port", text(&self.service_port)),
            ("name", text(&self.name)),
            ("namespace", text(&self.namespace)),
            ("protocol", text(self.protocol)),
            ("proxyProtocol", if proxy.fields().is_empty() { Tree::NULL } else { proxy }),
        ]);
        let port = Tree { value: Plain::Int(self.port.value.into()), origin: self.port.origin };
        let endpoints = Tree::from(Plain::List(self.endpoints.iter().map(Endpoint::tree).collect()));
        Tree::object([("port", port), ("backend", backend), ("endpoints", endpoints)])
    }
}

/// Returns the names in order, without duplicates.
pub fn sorted_names(names: impl IntoIterator<Item = Str>) -> Vec<Str> {
    let set: alloc::collections::BTreeSet<Str> = names.into_iter().collect();
    set.into_iter().collect()
}

/// Returns a port number as text.
pub fn port_text(number: i64) -> Str {
    number.to_string().into()
}
