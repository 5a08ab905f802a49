//! Chooses hosts that share a listener with TLS, as their certificate is the same.
//!
//! Envoy Gateway offers HTTP/2 only to listeners whose certificate has no name in common with that of another listener
//! (`internal/gatewayapi/listener.go`, `checkOverlappingTLSConfig`). So the hosts of a wildcard certificate get one listener.

use super::Converter;
use super::servers::is_host;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use chancery_base::ir::nginx::{DEFAULT_SERVER, Server};

/// Hosts that can share a listener: those of one certificate below one name.
type Groups = BTreeMap<(String, (String, String)), BTreeSet<String>>;

impl Converter<'_> {
    /// Returns the host of the shared listener, such as `*.example.com`, for each host that has one.
    pub(super) fn shared_listeners(&self) -> BTreeMap<String, String> {
        if !self.is_envoy_gateway() {
            return BTreeMap::new();
        }
        let mut groups = Groups::new();
        let mut closed: Vec<String> = Vec::new();
        for server in self.nginx.servers.iter().filter(|server| server.host.value != DEFAULT_SERVER) {
            let names = names(server);
            if !self.may_share(server) {
                closed.extend(names);
                continue;
            }
            let Some(secret) = self.secret_of(server) else { continue };
            for name in names {
                // A wildcard for all names of a top-level domain has no certificate.
                let Some((_, above)) = name.split_once('.').filter(|(_, above)| above.contains('.')) else { continue };
                groups.entry((above.to_string(), secret.clone())).or_default().insert(name);
            }
        }
        let mut out = BTreeMap::new();
        for ((above, secret), hosts) in &groups {
            let wildcard = format!("*.{above}");
            // A client could ask for a closed host over a connection to another host of the listener.
            let is_open = !closed.iter().any(|name| name.ends_with(&wildcard[1..]));
            let same_name = groups.range((above.clone(), Default::default())..).take_while(|((other, _), _)| other == above);
            let is_taken = same_name.filter(|((_, other), _)| other != secret).any(|(_, theirs)| theirs.contains(&wildcard) || theirs.len() > 1);
            if hosts.len() > 1 && is_open && !is_taken {
                out.extend(hosts.iter().map(|host| (host.clone(), wildcard.clone())));
            }
        }
        out
    }

    /// Whether the listener of a host has no settings that other hosts must not have.
    fn may_share(&self, server: &Server) -> bool {
        let has_answered_headers = || server.locations.iter().any(|of| !of.settings.external_auth.response_headers.is_empty());
        let is_passed = self.nginx.ports.has_ssl_passthrough && server.ssl_passthrough.value;
        let has_own_tls = self.client_ca(server).is_some() || !server.client_certificate_error.is_empty() || !server.ciphers.ciphers.is_empty();
        !is_passed && !has_own_tls && !has_answered_headers()
    }
}

/// The names of a server that Gateway API accepts.
fn names(server: &Server) -> Vec<String> {
    let all = core::iter::once(&server.host.value).chain(&server.aliases.value);
    all.map(|name| name.to_ascii_lowercase()).filter(|name| is_host(name)).collect()
}
