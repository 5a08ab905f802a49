//! Merges Ingresses into servers, locations and upstreams, in the controller's order of steps.
//!
//! ingress-nginx `internal/ingress/controller/controller.go` (`getConfiguration`, `getBackendServers`). Does not decide which Ingresses the
//! controller serves; see `source`.

mod canaries;
mod locations;
mod servers;
mod streams;
mod tls;
mod upstreams;

pub use locations::duplicates;

use super::cluster::Cluster;
use super::config_map::Read;
use super::options::Options;
use super::source::Counted;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::nginx::{Certificate, DEFAULT_UPSTREAM, Globals, Nginx, Passthrough, PathType, Server, Upstream, WwwRedirect};
use chancery_base::resource::{ObjectId, Origin, Secret, Sourced};
use chancery_kubernetes::references::address_of;
use chancery_text::Str;
use hashbrown::{HashMap, HashSet};

/// A message of the controller about a part that it ignores, replaces or cannot build.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Notice {
    pub kind: NoticeKind,
    pub message: String,
    pub origin: Option<Origin>,
    /// The origin of the part that wins, or that explains the message.
    pub other: Option<Origin>,
    pub ingress: Option<ObjectId>,
}

/// The subject of a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NoticeKind {
    /// A path that an older Ingress has.
    PathTaken,
    /// Aliases of a host that has the aliases of an older Ingress.
    AliasesTaken,
    /// An alias that is a host of an Ingress.
    AliasIsHost,
    /// A server snippet of a host that has the snippet of an older Ingress.
    SnippetTaken,
    /// A Service that does not exist.
    ServiceMissing,
    /// A port that the Service does not have.
    PortMissing,
    /// A Service without ready endpoints.
    NoEndpoints,
    /// A Secret that the controller cannot use as a host's certificate.
    Certificate,
    /// A certificate whose names do not cover its host.
    CertificateHost,
    /// A canary without a main Ingress.
    CanaryAlone,
    /// A canary that nginx never checks, because the path has another canary.
    CanarySecond,
    /// A canary of a path whose Service an older main Ingress names, so that the controller does not serve the Service as a canary.
    CanaryServiceTaken,
    /// A Service of a main Ingress that an older canary names, so that the controller serves it only as a canary.
    ServiceIsCanary,
    /// A canary that also receives requests of other hosts or paths.
    CanarySpreads,
    /// A redirect from a name with or without `www.` that is a host of an Ingress.
    RedirectTaken,
    /// A backend that is not a Service.
    ResourceBackend,
    /// Client certificates of a host that has the settings of an older Ingress.
    ClientCertificatesTaken,
}

/// The configuration of nginx, and the controller's notices.
#[derive(Debug, Default)]
pub struct Built {
    pub nginx: Nginx,
    pub notices: Vec<Notice>,
    /// The objects that the configuration depends on.
    pub used: HashSet<ObjectId>,
}

/// The configuration while it is built.
struct Builder<'a> {
    cluster: &'a Cluster<'a>,
    options: &'a Options,
    globals: &'a Globals,
    counted: &'a [Counted],
    /// By host.
    servers: BTreeMap<Str, Server>,
    /// By name.
    upstreams: BTreeMap<Str, Upstream>,
    /// Upstreams of `default-backend` annotations.
    error_upstreams: Vec<Upstream>,
    default_certificate: Certificate,
    notices: Vec<Notice>,
    known_notices: HashSet<Notice>,
    /// The index of the first location of each path, by host.
    locations: HashMap<Str, HashMap<Str, usize>>,
    used: HashSet<ObjectId>,
}

/// Builds the configuration of nginx.
pub fn build(cluster: &Cluster<'_>, options: &Options, read: &Read, counted: &[Counted]) -> Built {
    let mut builder = Builder {
        cluster,
        options,
        globals: &read.globals,
        counted,
        servers: BTreeMap::new(),
        upstreams: BTreeMap::new(),
        error_upstreams: Vec::new(),
        default_certificate: Certificate::default(),
        notices: Vec::new(),
        known_notices: HashSet::new(),
        locations: HashMap::new(),
        used: HashSet::new(),
    };
    builder.default_certificate = builder.find_default_certificate();
    builder.create_upstreams();
    builder.create_servers();
    builder.add_locations();
    builder.merge_canaries();
    builder.use_error_upstreams();
    builder.finish()
}

impl Builder<'_> {
    /// Adds a notice, once.
    fn notice(&mut self, notice: Notice) {
        if self.known_notices.insert(notice.clone()) {
            self.notices.push(notice);
        }
    }

    fn finish(mut self) -> Built {
        let mut servers: Vec<Server> = core::mem::take(&mut self.servers).into_values().collect();
        let mut passthrough = Vec::new();
        for server in &mut servers {
            // Longest first; of the same length, the last by name first.
            server.locations.sort_by(|a, b| b.path.value.cmp(&a.path.value));
            server.locations.sort_by_key(|location| core::cmp::Reverse(location.path.value.len()));
        }
        servers.sort_by(|a, b| a.host.value.cmp(&b.host.value));
        for server in &mut servers {
            server.locations = locations::normalise(core::mem::take(&mut server.locations));
            if server.ssl_passthrough.value
                && let Some(root) = server.locations.iter().find(|location| location.path.value == "/")
            {
                passthrough.push((server.host.clone(), root.upstream.clone(), root.port.clone(), root.is_default));
            }
        }
        let passthrough = passthrough.into_iter().map(|(host, upstream, port, is_default)| {
            // The controller's default location has no Service.
            let address = if is_default { None } else { self.service_address(&upstream, &port) };
            Passthrough { host, upstream, port, address }
        });
        let passthrough = passthrough.collect();
        let redirects = self.redirects(&servers);
        let mut upstreams: Vec<Upstream> = core::mem::take(&mut self.upstreams).into_values().collect();
        upstreams.append(&mut self.error_upstreams);
        upstreams.sort_by(|a, b| a.name.value.cmp(&b.name.value));
        let (tcp, udp) = self.streams();
        let key = |counted: &Counted| Sourced::new(counted.ingress.key(), counted.ingress.origin);
        let snippets = self.counted.iter().map(|counted| &counted.settings.stream_snippet).filter(|snippet| !snippet.is_empty());
        let passwords = self.counted.iter().filter_map(|counted| {
            let file = &counted.settings.basic_auth.file.value;
            Some((file.clone(), counted.passwords.clone()?))
        });
        let passwords: BTreeMap<Str, Secret<Str>> = passwords.collect();
        let nginx = Nginx {
            ports: self.options.ports,
            globals: self.globals.clone(),
            servers: servers.into_iter().map(Arc::new).collect(),
            upstreams: upstreams.into_iter().map(Arc::new).collect(),
            redirects,
            passthrough,
            tcp,
            udp,
            stream_snippets: snippets.cloned().collect(),
            ingresses: self.counted.iter().map(key).collect(),
            default_certificate: self.default_certificate,
            names: super::names::named_services(self.cluster, self.globals, self.counted),
            passwords,
            refused: None,
        };
        Built { nginx, notices: self.notices, used: self.used }
    }

    /// Returns the address and port of an upstream's Service.
    fn service_address(&self, upstream: &str, port: &str) -> Option<Str> {
        let service = self.upstreams.get(upstream)?.service.as_ref()?;
        let held = self.cluster.by_key(super::kinds::Kind::Service, &service.name)?;
        // The API server gives an address to each Service that does not decline one.
        let assumed =
            || (self.options.assumes_start && held.root().at("spec.clusterIP").str().is_empty()).then(|| address_of(&held.object.key).into());
        let address: Str = super::endpoints::cluster_address(held).map(|address| address.value).or_else(assumed)?;
        let number = super::endpoints::ports(held)
            .into_iter()
            .find(|known| known.name.as_deref() == Some(port))
            .map_or_else(|| Str::new(port), |known| format!("{}", known.port).into());
        Some(format!("{address}:{number}").into())
    }

    /// Returns the servers that redirect between a name and the same name with `www.`.
    fn redirects(&mut self, servers: &[Server]) -> Vec<WwwRedirect> {
        let mut all = Vec::new();
        for server in servers.iter().filter(|server| server.redirects_www.value) {
            let to = &server.host.value;
            let from = www_counterpart(to);
            if let Some(other) = servers.iter().find(|other| other.host.value == from) {
                self.notice(Notice {
                    kind: NoticeKind::RedirectTaken,
                    message: format!("Already exists an Ingress with {from:?} hostname. Skipping creation of redirection from {from:?} to {to:?}."),
                    origin: server.redirects_www.origin,
                    other: other.host.origin,
                    ingress: server.redirects_www.origin.map(Origin::object),
                });
                continue;
            }
            let covers = |certificate: &&Certificate| certificate.names.iter().any(|name| super::certificates::matches(name, &from));
            let certificate = server.certificate.as_ref().filter(covers).cloned();
            all.push(WwwRedirect { from: Sourced::new(from, server.redirects_www.origin), to: to.clone(), certificate });
        }
        all
    }

    /// Applies `default-backend` annotations: their Services answer errors, and replace upstreams without endpoints.
    fn use_error_upstreams(&mut self) {
        // The host and index of each location, by upstream.
        let mut locations: HashMap<Str, Vec<(Str, usize)>> = HashMap::new();
        for (host, server) in &self.servers {
            for (at, location) in server.locations.iter().enumerate() {
                locations.entry_ref(&location.upstream.value).or_default().push((host.clone(), at));
            }
        }
        let names: Vec<Str> = self.upstreams.keys().filter(|name| **name != DEFAULT_UPSTREAM).cloned().collect();
        for name in names {
            let Some(upstream) = self.upstreams.get(&name) else { continue };
            let is_empty = upstream.endpoints.is_empty();
            let mut passes_tls = false;
            for (host, at) in locations.remove(&name).unwrap_or_default() {
                let Some(server) = self.servers.get_mut(&host) else { continue };
                let Some(location) = server.locations.get_mut(at) else { continue };
                if !is_empty && location.settings.custom_http_errors.is_empty() {
                    continue;
                }
                let Some(backend) = &location.settings.default_backend else { continue };
                let Some(endpoints) = &backend.endpoints else { continue };
                if !endpoints.is_empty() {
                    let error_name = Str::from(format!("custom-default-backend-{}", backend.service.value.replacen('/', "-", 1)));
                    let origin = backend.service.origin;
                    location.error_upstream = error_name.clone();
                    let copy = Upstream { name: Sourced::new(error_name.clone(), origin), endpoints: endpoints.clone(), ..upstream.clone() };
                    self.error_upstreams.push(copy);
                    if is_empty {
                        location.upstream = Sourced::new(error_name, origin);
                    }
                }
                if server.ssl_passthrough.value && location.path.value == "/" && location.upstream.value != DEFAULT_UPSTREAM {
                    passes_tls = true;
                }
            }
            if passes_tls && let Some(upstream) = self.upstreams.get_mut(&name) {
                upstream.ssl_passthrough = true;
            }
        }
    }
}

/// Returns the name that `from-to-www-redirect` redirects to a host: with `www.`, or without it.
pub fn www_counterpart(host: &str) -> Str {
    host.strip_prefix("www.").map_or_else(|| Str::from(format!("www.{host}")), Str::new)
}

/// Whether a location has this path and type.
fn is_same_path(path: &str, path_type: PathType, other: &chancery_base::ir::nginx::Location) -> bool {
    other.path.value == path && other.path_type == path_type
}
