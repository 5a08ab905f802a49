//! Builds a location for each path of a host, with the settings of the first Ingress that has the path. Translates paths for nginx.
//!
//! ingress-nginx `internal/ingress/controller/location.go`.

use super::servers::IngressPaths;
use super::{Builder, Notice, NoticeKind};
use crate::ingress::{Ingress, Path, Rule, ServiceRef};
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::nginx::{DEFAULT_UPSTREAM, Location, PathType, Server, Settings};
use chancery_base::resource::Sourced;
use chancery_text::Str;
use hashbrown::{HashMap, HashSet};

impl Builder<'_> {
    pub(super) fn add_locations(&mut self) {
        let proxies_by_location = self.globals.flag("proxy-ssl-location-only").value;
        for counted in self.counted {
            let of = IngressPaths::of(&counted.ingress);
            for rule in &counted.ingress.rules {
                self.add_rule(&of, &counted.settings, rule, proxies_by_location);
            }
        }
    }

    fn add_rule(&mut self, of: &IngressPaths<'_>, settings: &Arc<Settings>, rule: &Rule, proxies_by_location: bool) {
        let host = if self.servers.contains_key(&rule.host.value) { rule.host.value.clone() } else { crate::ingress::ANY_HOST };
        let Some(mut server) = self.servers.remove(&host) else { return };
        if rule.paths.is_some() || rule.host.value == chancery_base::ir::nginx::DEFAULT_SERVER {
            self.server_settings(&mut server, of.ingress, settings, proxies_by_location);
        }
        for path in rule.paths.iter().flatten() {
            if let Some(service) = &path.backend.service {
                self.add_path(&mut server, of, settings, (rule, path, service));
            }
        }
        self.servers.insert(host, server);
    }

    /// Applies the settings that belong to the whole server: client certificates, and TLS to Services.
    fn server_settings(&mut self, server: &mut Server, ingress: &Ingress, settings: &Settings, proxies_by_location: bool) {
        let own = &settings.client_certificates;
        if server.client_certificate_error.is_empty() {
            server.client_certificate_error = own.error.clone();
        }
        if server.client_certificates.ca_file.is_empty() {
            server.client_certificates = own.clone();
        } else if own.ca_file != server.client_certificates.ca_file || own != &server.client_certificates {
            self.notice(Notice {
                kind: NoticeKind::ClientCertificatesTaken,
                message: format!("Server {:?} is already configured for mutual authentication (Ingress {:?})", server.host.value, ingress.key()),
                origin: own.secret.origin.or(Some(ingress.origin)),
                other: server.client_certificates.secret.origin,
                ingress: Some(ingress.object),
            });
        }
        if !proxies_by_location && server.proxy_ssl.ca_file.is_empty() {
            server.proxy_ssl = settings.proxy_ssl.clone();
            server.proxy_ssl_pem = settings.proxy_ssl_pem.clone();
        }
    }

    fn add_path(&mut self, server: &mut Server, of: &IngressPaths<'_>, settings: &Arc<Settings>, (rule, path, service): (&Rule, &Path, &ServiceRef)) {
        let ingress = of.ingress;
        let name = service.upstream(&ingress.namespace);
        let Some(upstream) = self.upstreams.get(&name) else { return };
        if upstream.no_server {
            let canary = upstream.policy.enabled.origin;
            if !settings.canary.enabled.value {
                self.notice(Notice {
                    kind: NoticeKind::ServiceIsCanary,
                    message: format!("{name} is the upstream of an older canary"),
                    origin: service.name.origin,
                    other: canary,
                    ingress: Some(ingress.object),
                });
            }
            return;
        }
        let port = upstream.port.clone();
        let location = Location {
            path: path.path.clone(),
            path_type: path.path_type,
            upstream: Sourced::new(name.clone(), service.name.origin),
            port,
            ingress: Some(of.name(&rule.host.value, &path.path.value)),
            error_upstream: Str::new_static(DEFAULT_UPSTREAM),
            settings: settings.clone(),
            ..Location::default()
        };
        let places = self.locations.entry_ref(&server.host.value).or_insert_with(|| path_indexes(server));
        let same = places.get(&path.path.value).copied().and_then(|at| server.locations.get_mut(at));
        let (taken, added) = match same {
            // The controller only compares the first location with this path.
            Some(known) if known.path_type != path.path_type => (None, Some(location)),
            Some(known) if known.is_default => {
                *known = Location { path_type: known.path_type, ..location };
                (None, None)
            }
            Some(known) => (Some((known.path.origin, known.ingress_key())), None),
            None => (None, Some(location)),
        };
        if let Some(added) = added {
            places.entry_ref(&path.path.value).or_insert(server.locations.len());
            server.locations.push(added);
        }
        let is_used = taken.is_none();
        if let Some((other, by)) = taken.filter(|(other, _)| *other != path.path.origin) {
            self.notice(Notice {
                kind: if settings.canary.enabled.value { NoticeKind::CanaryServiceTaken } else { NoticeKind::PathTaken },
                message: format!(
                    "Location {:?} already configured for server {:?} by Ingress {:?}",
                    path.path.value,
                    server.host.value,
                    by.unwrap_or_default()
                ),
                origin: path.path.origin,
                other,
                ingress: Some(ingress.object),
            });
        }
        if is_used && settings.redirect.from_to_www.value {
            server.redirects_www = settings.redirect.from_to_www;
        }
        self.add_affinity((server, &rule.host.value), (&name, &path.path.value), settings);
    }

    /// Adds session affinity to the upstream, with the path of its cookie for the host and its aliases.
    fn add_affinity(&mut self, (server, host): (&Server, &Str), (upstream, path): (&Str, &Str), settings: &Settings) {
        let Some(upstream) = self.upstreams.get_mut(upstream) else { return };
        let affinity = &settings.affinity;
        if upstream.affinity.kind.is_empty() {
            upstream.affinity.kind = affinity.kind.clone();
        }
        if upstream.affinity.mode.is_empty() {
            upstream.affinity.mode = affinity.mode.clone();
        }
        if affinity.kind.value == "cookie" {
            upstream.affinity.cookie = affinity.cookie.clone();
            for host in core::iter::once(host).chain(&server.aliases.value) {
                upstream.affinity_locations.entry(host.clone()).or_default().push(path.clone());
            }
        }
    }
}

/// Returns the index of the first location of each path.
fn path_indexes(server: &Server) -> HashMap<Str, usize> {
    let mut indexes = HashMap::new();
    for (at, location) in server.locations.iter().enumerate() {
        indexes.entry_ref(&location.path.value).or_insert(at);
    }
    indexes
}

/// Whether a location rewrites requests.
pub fn rewrites(location: &Location) -> bool {
    let target = &location.settings.rewrite.target.value;
    !target.is_empty() && *target != location.path.value
}

/// Returns the locations for nginx: a prefix gets a final slash, and a separate location for the path without the slash.
pub fn normalise(locations: Vec<Location>) -> Vec<Location> {
    let exact: HashSet<Str> =
        locations.iter().filter(|location| location.path_type == PathType::Exact).map(|location| location.path.value.clone()).collect();
    let mut all = Vec::with_capacity(locations.len() * 2);
    for mut location in locations {
        if location.path.value == "/" {
            all.push(location);
            continue;
        }
        location.ingress_path = location.path.value.clone();
        if location.path_type == PathType::Exact || rewrites(&location) || location.settings.rewrite.use_regex.value {
            all.push(location);
            continue;
        }
        let without_slash = (!exact.contains(&location.path.value)).then(|| Location { path_type: PathType::Exact, ..location.clone() });
        if !location.path.value.ends_with('/') {
            location.path.value = format!("{}/", location.path.value).into();
        }
        all.push(location);
        all.extend(without_slash);
    }
    all
}

/// Returns the locations that nginx refuses because the server has two with the same name: the second of each pair, with the first.
pub fn duplicates(server: &Server) -> Vec<(&Location, &Location)> {
    if server.locations.iter().any(|location| rewrites(location) || location.settings.rewrite.use_regex.value) {
        return Vec::new();
    }
    let mut seen: HashMap<(&str, bool), &Location> = HashMap::new();
    let mut found = Vec::new();
    for location in &server.locations {
        let name = (location.path.value.as_str(), location.path_type == PathType::Exact);
        match seen.get(&name) {
            Some(first) => found.push((location, *first)),
            None => {
                seen.insert(name, location);
            }
        }
    }
    found
}
