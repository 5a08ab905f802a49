//! Builds the server of each host, with the settings of the host's first Ingress.

use super::{Builder, Notice, NoticeKind};
use crate::annotations::global_proxy;
use crate::ingress::{ANY_HOST, Ingress, ServiceRef};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::nginx::{DEFAULT_UPSTREAM, IngressName, Location, Logs, PathType, Server, Settings, sorted_names};
use chancery_base::resource::{Origin, Sourced};
use chancery_text::Str;
use hashbrown::HashMap;

/// An Ingress with the Services of its paths.
pub(super) struct IngressPaths<'a> {
    pub(super) ingress: &'a Ingress,
    /// The first Service of each host and path.
    services: HashMap<(&'a str, &'a str), &'a ServiceRef>,
}

impl<'a> IngressPaths<'a> {
    pub(super) fn of(ingress: &'a Ingress) -> Self {
        let mut services = HashMap::new();
        for (host, path) in ingress.paths() {
            if let Some(service) = &path.backend.service {
                services.entry((host.value.as_str(), path.path.value.as_str())).or_insert(service);
            }
        }
        Self { ingress, services }
    }

    /// Describes the Ingress of a location for nginx's variables.
    pub(super) fn name(&self, host: &str, path: &str) -> IngressName {
        let path = if path.is_empty() { "/" } else { path };
        let service = self.services.get(&(host, path)).copied().or_else(|| self.ingress.default_service());
        IngressName {
            namespace: self.ingress.namespace.clone(),
            name: self.ingress.name.clone(),
            service: service.map(|service| service.name.value.clone()).unwrap_or_default(),
            service_port: service.map(|service| service.port.value.clone()).unwrap_or_default(),
            origin: Some(self.ingress.origin),
        }
    }
}

impl Builder<'_> {
    /// Creates the default server, then the servers of all hosts.
    pub(super) fn create_servers(&mut self) {
        let default = self.default_server();
        self.servers.insert(ANY_HOST, default);
        for counted in self.counted.iter().filter(|counted| !counted.settings.canary.enabled.value) {
            let (ingress, settings) = (&counted.ingress, &counted.settings);
            let backend = self.default_backend(ingress, settings);
            let paths = IngressPaths::of(ingress);
            for rule in &ingress.rules {
                let host = &rule.host.value;
                if self.servers.contains_key(host) {
                    continue;
                }
                let root = Location {
                    path: Sourced::new(Str::new_static("/"), rule.host.origin),
                    is_default: true,
                    upstream: backend.clone(),
                    ingress: Some(paths.name(host, "/")),
                    error_upstream: Str::new_static(DEFAULT_UPSTREAM),
                    settings: settings.clone(),
                    ..Location::default()
                };
                let server = Server {
                    host: rule.host.clone(),
                    locations: Vec::from([root]),
                    ssl_passthrough: settings.ssl_passthrough,
                    ciphers: settings.ciphers.clone(),
                    ..Server::default()
                };
                self.servers.insert(host.clone(), server);
            }
        }
        let aliases = self.complete_servers();
        self.clean_aliases(aliases);
    }

    fn default_server(&self) -> Server {
        let is_logged = self.globals.flag("enable-access-log-for-default-backend");
        let mut proxy = global_proxy(self.globals);
        proxy.redirect_to = Sourced::default();
        let settings = Settings { proxy, logs: Logs { access: is_logged, ..Logs::default() }, ..Settings::default() };
        let root = Location {
            path: Sourced::built_in(Str::new_static("/")),
            path_type: PathType::Prefix,
            is_default: true,
            upstream: Sourced::built_in(Str::new_static(DEFAULT_UPSTREAM)),
            settings: Arc::new(settings),
            ..Location::default()
        };
        Server {
            host: Sourced::built_in(ANY_HOST),
            certificate: Some(self.default_certificate.clone()),
            locations: Vec::from([root]),
            ..Server::default()
        }
    }

    /// Returns the upstream of an Ingress's default backend. If the Ingress has no rules, the default server sends its requests there.
    fn default_backend(&mut self, ingress: &Arc<Ingress>, settings: &Arc<Settings>) -> Sourced<Str> {
        let default = Sourced::built_in(Str::new_static(DEFAULT_UPSTREAM));
        let Some(service) = ingress.default_service() else { return default };
        let upstream = Sourced::new(service.upstream(&ingress.namespace), service.name.origin);
        let root = self.servers.get_mut(&ANY_HOST).and_then(|server| server.locations.first_mut());
        if let Some(root) = root.filter(|root| root.is_default && ingress.rules.is_empty()) {
            let own = &root.settings;
            let settings = Settings { redirect: own.redirect.clone(), rewrite: own.rewrite.clone(), ..Settings::clone(settings) };
            *root = Location {
                path: Sourced::new(Str::new_static("/"), ingress.default_backend.as_ref().map(|backend| backend.origin)),
                is_default: false,
                upstream: upstream.clone(),
                ingress: Some(IngressPaths::of(ingress).name(&ANY_HOST, "/")),
                error_upstream: Str::new_static(DEFAULT_UPSTREAM),
                settings: Arc::new(settings),
                ..Location::default()
            };
        }
        upstream
    }

    /// Adds aliases, snippets, ciphers and certificates. The first Ingress of a host with a setting wins. Returns the aliases of each host.
    fn complete_servers(&mut self) -> BTreeMap<Str, Sourced<Vec<Str>>> {
        let mut aliases: BTreeMap<Str, Sourced<Vec<Str>>> = BTreeMap::new();
        for counted in self.counted.iter().filter(|counted| !counted.settings.canary.enabled.value) {
            let (ingress, settings) = (&counted.ingress, &counted.settings);
            for rule in &ingress.rules {
                let host = &rule.host.value;
                let mut notices = Vec::new();
                let Some(server) = self.servers.get_mut(host) else { continue };
                let taken = |kind: NoticeKind, message, origin, other| Notice { kind, message, origin, other, ingress: Some(ingress.object) };
                if server.aliases.is_empty() {
                    server.aliases = settings.aliases.clone();
                    let known = aliases.entry(host.clone()).or_default();
                    if known.is_empty() {
                        *known = settings.aliases.clone();
                    }
                } else if !settings.aliases.is_empty() && settings.aliases.origin != server.aliases.origin {
                    let message = format!("Aliases already configured for server {host:?}, skipping (Ingress {:?})", ingress.key());
                    notices.push(taken(NoticeKind::AliasesTaken, message, settings.aliases.origin, server.aliases.origin));
                }
                if !settings.server_snippet.is_empty() {
                    if server.snippet.is_empty() {
                        server.snippet = settings.server_snippet.clone();
                    } else if server.snippet.origin != settings.server_snippet.origin {
                        let message = format!("Server snippet already configured for server {host:?}, skipping (Ingress {:?})", ingress.key());
                        notices.push(taken(NoticeKind::SnippetTaken, message, settings.server_snippet.origin, server.snippet.origin));
                    }
                }
                if settings.ssl_passthrough.value && !server.ssl_passthrough.value {
                    server.ssl_passthrough = settings.ssl_passthrough;
                }
                if server.ciphers.ciphers.is_empty() {
                    server.ciphers.ciphers = settings.ciphers.ciphers.clone();
                }
                if server.ciphers.prefer_server.is_empty() {
                    server.ciphers.prefer_server = settings.ciphers.prefer_server.clone();
                }
                if server.certificate.is_none() && !ingress.tls.is_empty() {
                    let certificate = self.certificate_of(host, ingress);
                    if let Some(server) = self.servers.get_mut(host) {
                        server.certificate = Some(certificate);
                    }
                }
                notices.into_iter().for_each(|notice| self.notice(notice));
            }
        }
        aliases
    }

    /// Removes aliases that are hosts of Ingresses.
    fn clean_aliases(&mut self, aliases: BTreeMap<Str, Sourced<Vec<Str>>>) {
        for (host, all) in aliases {
            let (taken, kept): (Vec<Str>, Vec<Str>) = all.value.into_iter().partition(|alias| *alias == host || self.servers.contains_key(alias));
            for alias in taken.iter().filter(|alias| **alias != host) {
                let other = self.servers.get(alias).and_then(|server| server.host.origin);
                self.notice(Notice {
                    kind: NoticeKind::AliasIsHost,
                    message: format!("the alias {alias} is a host with its own rules"),
                    origin: all.origin,
                    other,
                    ingress: all.origin.map(Origin::object),
                });
            }
            if let Some(server) = self.servers.get_mut(&host) {
                server.aliases = Sourced::new(sorted_names(kept), all.origin);
            }
        }
    }
}
