//! What nginx does under ingress-nginx: servers, locations and upstreams, in the controller's terms, each value with its origin.
//!
//! Does not know Kubernetes' objects, which `dialect::ingress_nginx` reads, or nginx's directives; see `backend::nginx`.

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

/// The name of the upstream for requests without another one.
pub const DEFAULT_UPSTREAM: &str = "upstream-default-backend";
/// The name of the server for hosts without another one.
pub const DEFAULT_SERVER: &str = "_";

/// The configuration of an nginx.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Nginx {
    /// The controller's flags, as far as nginx depends on them.
    pub ports: Ports,
    /// Settings of the whole controller.
    pub globals: Globals,
    /// By host.
    pub servers: Vec<Arc<Server>>,
    /// By name.
    pub upstreams: Vec<Arc<Upstream>>,
    /// Servers that redirect to the name with or without `www.`.
    pub redirects: Vec<WwwRedirect>,
    /// Hosts whose TLS is passed on.
    pub passthrough: Vec<Passthrough>,
    /// TCP services.
    pub tcp: Vec<StreamService>,
    /// UDP services.
    pub udp: Vec<StreamService>,
    /// Directives beside TCP and UDP services.
    pub stream_snippets: Vec<Sourced<Str>>,
    /// The effective Ingresses, in the order in which they were merged.
    pub ingresses: Vec<Sourced<Str>>,
    /// The certificate for hosts without their own.
    pub default_certificate: Certificate,
    /// Addresses of Services that URLs name, by host; empty for a host of the cluster without a Service.
    pub names: BTreeMap<Str, Str>,
    /// Files of passwords, by path.
    pub passwords: BTreeMap<Str, Secret<Str>>,
    /// The first reason for nginx to refuse this configuration, so that the previous one stays.
    pub refused: Option<Sourced<Str>>,
}

/// The controller's flags, as far as nginx depends on them.
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

/// A certificate that a server shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Certificate {
    /// `NAMESPACE/NAME` of the Secret; a note for the generated one.
    pub secret: Sourced<Str>,
    /// Common and alternative names, sorted.
    pub names: Vec<Str>,
    /// The subject's common name, or else the first name.
    pub shown_name: Str,
}

/// A server: one host.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Server {
    /// Its host.
    pub host: Sourced<Str>,
    /// Other names of it.
    pub aliases: Sourced<Vec<Str>>,
    /// Its certificate; `None` for a host without TLS.
    pub certificate: Option<Certificate>,
    /// TLS is passed on to the service at `/`.
    pub ssl_passthrough: Sourced<bool>,
    /// TLS ciphers.
    pub ciphers: Ciphers,
    /// Whether the name with or without `www.` redirects here.
    pub redirects_www: Sourced<bool>,
    /// Client certificates.
    pub client_certificates: ClientCertificates,
    /// TLS towards services.
    pub proxy_ssl: ProxySsl,
    /// The file with certificate and key for it.
    pub proxy_ssl_pem: Sourced<Str>,
    /// Directives for the server.
    pub snippet: Sourced<Str>,
    /// Why every request gets 403.
    pub client_certificate_error: Sourced<Str>,
    /// In the order in which nginx tries regular expressions.
    pub locations: Vec<Location>,
}

/// How a location's path is meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PathType {
    /// With anything after it.
    #[default]
    Prefix,
    /// Nothing else.
    Exact,
}

impl PathType {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            PathType::Prefix => "Prefix",
            PathType::Exact => "Exact",
        }
    }
}

/// A location: one path of a server.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Location {
    /// Its path.
    pub path: Sourced<Str>,
    /// How it is meant.
    pub path_type: PathType,
    /// The path as the Ingress has it; empty for `/`.
    pub ingress_path: Str,
    /// Requests go to a default backend, as no path of an Ingress took it.
    pub is_default: bool,
    /// The name of its upstream.
    pub upstream: Sourced<Str>,
    /// The port of its Service, as the Ingress has it.
    pub port: Str,
    /// The Ingress that it comes from.
    pub ingress: Option<IngressName>,
    /// The upstream of its error pages.
    pub error_upstream: Str,
    /// The annotations of its Ingress.
    pub settings: Arc<Settings>,
}

/// Facts about the Ingress of a location, for variables and headers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IngressName {
    /// Its namespace.
    pub namespace: Str,
    /// Its name.
    pub name: Str,
    /// The Service that it names for the location's path.
    pub service: Str,
    /// The port of that Service.
    pub service_port: Str,
    /// The whole of it.
    pub origin: Option<Origin>,
}

/// An address and a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// An address or a name.
    pub address: Sourced<Str>,
    /// A port.
    pub port: Str,
}

/// An upstream: a Service at a port.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Upstream {
    /// `NAMESPACE-SERVICE-PORT`
    pub name: Sourced<Str>,
    /// The port, as the Ingress has it.
    pub port: Str,
    /// Its Service, if it exists.
    pub service: Option<ServiceFacts>,
    /// Its endpoints.
    pub endpoints: Vec<Endpoint>,
    /// TLS is passed on to it.
    pub ssl_passthrough: bool,
    /// Only canaries use it.
    pub no_server: bool,
    /// Which requests a canary takes.
    pub policy: Canary,
    /// The names of its canaries.
    pub alternatives: Vec<Sourced<Str>>,
    /// Which endpoint a client stays at.
    pub affinity: Affinity,
    /// The paths that set the cookie, by host.
    pub affinity_locations: BTreeMap<Str, Vec<Str>>,
    /// By what an endpoint is chosen.
    pub hash_by: HashBy,
    /// How an endpoint is chosen.
    pub load_balance: Sourced<Str>,
}

/// The facts about a Service.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServiceFacts {
    /// `NAMESPACE/NAME`
    pub name: Str,
    /// Its type.
    pub kind: Str,
    /// The external name.
    pub external_name: Str,
    /// The whole of it.
    pub origin: Option<Origin>,
}

/// A server that redirects.
#[derive(Clone, Debug, PartialEq)]
pub struct WwwRedirect {
    /// Its name.
    pub from: Sourced<Str>,
    /// Where to.
    pub to: Str,
    /// The certificate that it shows.
    pub certificate: Option<Certificate>,
}

/// A host whose TLS is passed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passthrough {
    /// The host.
    pub host: Sourced<Str>,
    /// The name of the upstream.
    pub upstream: Sourced<Str>,
    /// The port of its Service, as the Ingress has it.
    pub port: Str,
    /// The address and port of the Service itself.
    pub address: Option<Str>,
}

/// A TCP or UDP service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamService {
    /// The port that nginx listens at.
    pub port: Sourced<u16>,
    /// The Service's namespace.
    pub namespace: Str,
    /// The Service's name.
    pub name: Str,
    /// The Service's port.
    pub service_port: Str,
    /// `TCP` or `UDP`.
    pub protocol: &'static str,
    /// A PROXY header is expected.
    pub decode_proxy: bool,
    /// A PROXY header is sent.
    pub encode_proxy: bool,
    /// Its endpoints.
    pub endpoints: Vec<Endpoint>,
}

impl Nginx {
    /// The server of this host.
    pub fn server(&self, host: &str) -> Option<&Arc<Server>> {
        self.servers.iter().find(|server| server.host.value == host)
    }

    /// The upstream of this name.
    pub fn upstream(&self, name: &str) -> Option<&Arc<Upstream>> {
        self.upstreams.iter().find(|upstream| upstream.name.value == name)
    }

    /// The model, as the controller would write it.
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
    /// `NAMESPACE/NAME` of the Ingress that it comes from.
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

    /// `ADDRESS:PORT`, with brackets around an IPv6 address.
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

/// Names once each, in order.
pub fn sorted_names(names: impl IntoIterator<Item = Str>) -> Vec<Str> {
    let set: alloc::collections::BTreeSet<Str> = names.into_iter().collect();
    set.into_iter().collect()
}

/// The base name of a port.
pub fn port_text(number: i64) -> Str {
    number.to_string().into()
}
