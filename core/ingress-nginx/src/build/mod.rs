//! Merges Ingresses into servers, locations and upstreams, in the controller's order of steps.
//!
//! ingress-nginx `internal/ingress/controller/controller.go` (`getConfiguration`, `getBackendServers`). Does not decide which Ingresses count; see
//! `source`.

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
use hashbrown::HashSet;

/// What the controller says while it merges, beside what it makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// What it is about.
    pub kind: NoticeKind,
    /// The controller's words.
    pub message: String,
    /// Where the reason is written.
    pub origin: Option<Origin>,
    /// What it lost to, or what else explains it.
    pub other: Option<Origin>,
    /// The Ingress.
    pub ingress: Option<ObjectId>,
}

/// What a notice is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeKind {
    /// A path that another Ingress has already.
    PathTaken,
    /// Aliases that another Ingress has set already.
    AliasesTaken,
    /// An alias that is a host.
    AliasIsHost,
    /// A server snippet that another Ingress has set already.
    SnippetTaken,
    /// A Service that does not exist.
    ServiceMissing,
    /// A port that the Service does not have.
    PortMissing,
    /// No endpoint is ready.
    NoEndpoints,
    /// A host's Secret that the controller cannot use.
    Certificate,
    /// A certificate that is not for its host.
    CertificateHost,
    /// A canary without an Ingress that it belongs to.
    CanaryAlone,
    /// A canary that is not asked, since another one is.
    CanarySecond,
    /// A canary that also gets requests for other hosts or paths.
    CanarySpreads,
    /// A redirect between `www.` and a name without it that has its own rules.
    RedirectTaken,
    /// A backend that is not a Service.
    ResourceBackend,
    /// Client certificates that another Ingress has set already.
    ClientCertificatesTaken,
}

/// The nginx configuration, and the controller's notices.
#[derive(Debug, Default)]
pub struct Built {
    /// The configuration of nginx.
    pub nginx: Nginx,
    /// What the controller says.
    pub notices: Vec<Notice>,
    /// Objects without which something else would be made.
    pub used: HashSet<ObjectId>,
}

/// What is being made.
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
    fn notice(&mut self, notice: Notice) {
        if !self.notices.contains(&notice) {
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
                passthrough.push((server.host.clone(), root.upstream.clone(), root.port.clone()));
            }
        }
        let passthrough = passthrough.into_iter().map(|(host, upstream, port)| {
            let address = self.service_address(&upstream, &port);
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

    /// The address and port of the Service of an upstream.
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

    /// The servers that redirect between `www.` and the name without it.
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

    /// Uses the Services of `default-backend` annotations: for error pages, and for upstreams without endpoints.
    fn use_error_upstreams(&mut self) {
        let names: Vec<Str> = self.upstreams.keys().filter(|name| **name != DEFAULT_UPSTREAM).cloned().collect();
        for name in names {
            let Some(upstream) = self.upstreams.get(&name).cloned() else { continue };
            let is_empty = upstream.endpoints.is_empty();
            let mut passes_tls = false;
            for server in self.servers.values_mut() {
                for location in &mut server.locations {
                    if location.upstream.value != name || !is_empty && location.settings.custom_http_errors.is_empty() {
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

/// Whether two paths are the same for the controller: text and type.
fn is_same_path(path: &str, path_type: PathType, other: &chancery_base::ir::nginx::Location) -> bool {
    other.path.value == path && other.path_type == path_type
}
