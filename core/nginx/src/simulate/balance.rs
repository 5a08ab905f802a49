//! Chooses the upstream and endpoint of a request: canaries, cookies that keep clients at an endpoint, and attempts after a failure.
//!
//! ingress-nginx `rootfs/etc/nginx/lua/balancer.lua`, `balancer/sticky.lua`.

use super::exchange::Exchange;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::nginx::{Nginx, Upstream};
use chancery_text::Str;
use core::net::IpAddr;
use md5::{Digest as _, Md5};
use sha1::Sha1;

/// Returns a placeholder address for a name that the input does not resolve; `None` for names that can never resolve.
pub fn address_of(nginx: &Nginx, name: &str) -> Option<String> {
    if name.parse::<IpAddr>().is_ok() {
        return Some(name.into());
    }
    let name = name.strip_suffix('.').unwrap_or(name);
    if let Some(known) = nginx.names.get(name) {
        return Some(known.to_string()).filter(|address| !address.is_empty());
    }
    if name.is_empty() || name.ends_with(".invalid") || name.ends_with(".cluster.local") {
        return None;
    }
    let hash = Sha1::digest(name.as_bytes());
    let byte = |at: usize| u32::from(hash.get(at).copied().unwrap_or_default());
    Some(format!("10.200.{}.{}", byte(0), 1 + byte(1) % 254))
}

/// An endpoint with its address or placeholder address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    pub address: String,
    /// `ADDRESS:PORT`
    pub target: String,
}

/// Returns the endpoints of an upstream, with resolved names.
pub fn peers(nginx: &Nginx, upstream: &Upstream) -> Vec<Peer> {
    let is_external = upstream.service.as_ref().is_some_and(|service| service.kind == "ExternalName");
    let peer = |address: &str, port: &str| Peer {
        address: address.into(),
        target: if address.contains(':') { format!("[{address}]:{port}") } else { format!("{address}:{port}") },
    };
    if !is_external {
        return upstream.endpoints.iter().map(|endpoint| peer(&endpoint.address, &endpoint.port)).collect();
    }
    // nginx does not resolve a name that is an address, and treats it as unresolved.
    let resolved = upstream.endpoints.iter().filter(|endpoint| endpoint.address.parse::<IpAddr>().is_err());
    resolved.filter_map(|endpoint| Some(peer(&address_of(nginx, &endpoint.address)?, &endpoint.port))).collect()
}

impl Exchange<'_> {
    /// Returns the upstream of the request: the location's upstream or its canary. `None` if the location's upstream has no endpoints.
    pub fn choose_upstream(&mut self) -> Option<Arc<Upstream>> {
        let nginx = self.nginx;
        let name = self.variable("proxy_upstream_name");
        let main = self.upstreams.get(nginx, &name).filter(|upstream| !peers(nginx, upstream).is_empty())?;
        let canary = main.alternatives.first().and_then(|name| self.upstreams.get(nginx, name));
        let canary = canary.filter(|upstream| !peers(nginx, upstream).is_empty());
        match canary {
            Some(canary) if self.is_for_canary(main, canary) => {
                self.set("proxy_alternative_upstream_name", canary.name.value.to_string());
                Some(canary.clone())
            }
            _ => Some(main.clone()),
        }
    }

    /// Whether the request's cookie was made for this upstream.
    fn is_kept_at(&self, upstream: &Upstream) -> bool {
        if upstream.affinity.kind.value != "cookie" {
            return false;
        }
        let name = if upstream.affinity.cookie.name.is_empty() { "route" } else { upstream.affinity.cookie.name.as_str() };
        let Some(cookie) = self.cookie(name) else { return false };
        cookie.split('|').nth(1) == Some(backend_key(&upstream.name).as_str())
    }

    fn is_for_canary(&mut self, main: &Upstream, canary: &Upstream) -> bool {
        if self.is_kept_at(main) {
            return false;
        }
        if self.is_kept_at(canary) {
            return true;
        }
        let policy = &canary.policy;
        let header = format!("http_{}", policy.header.value.replace('-', "_").to_ascii_lowercase());
        // The look-up uses the annotation's spelling of the header, but nginx stores names in lower case.
        let value = self.variable(&header);
        if !policy.header.is_empty() && !value.is_empty() {
            if !policy.header_value.is_empty() {
                if policy.header_value.value == value {
                    return true;
                }
            } else if !policy.header_pattern.is_empty() {
                match self.patterns.find(&policy.header_pattern, false, &value) {
                    Ok(Some(_)) => return true,
                    Ok(None) => {}
                    Err(_) => return false,
                }
            } else if value == "always" {
                return true;
            } else if value == "never" {
                return false;
            }
        }
        if !policy.cookie.is_empty() {
            match self.cookie(&policy.cookie).as_deref() {
                Some("always") => return true,
                Some("never") => return false,
                _ => {}
            }
        }
        let total = policy.weight_total.value.max(100);
        if policy.weight.value > 0 && policy.weight.value < total {
            self.response.canary = Some((canary.name.value.to_string(), policy.weight.value, total));
            self.note(format!("a share of {} in {total} of such requests goes to the canary {}", policy.weight.value, canary.name.value));
        }
        policy.weight.value >= total
    }

    /// Returns the cookie that keeps the client at an endpoint, if the response sets one.
    pub fn affinity_cookie(&self, upstream: &Upstream) -> Option<String> {
        let affinity = &upstream.affinity;
        if affinity.kind.value != "cookie" {
            return None;
        }
        let cookie = &affinity.cookie;
        let name = if cookie.name.is_empty() { "route" } else { cookie.name.as_str() };
        let host = if self.server_name == "_" { "_".into() } else { self.variable("host") };
        let wild = host.split_once('.').map(|(_, rest)| format!("*.{rest}"));
        let locations = &upstream.affinity_locations;
        let listed = locations.get(host.as_str()).or_else(|| locations.get(wild?.as_str()))?;
        let path = self.variable("location_path");
        if !listed.iter().any(|known| *known == path) {
            return None;
        }
        if self.cookie(name).is_some_and(|value| self.knows_endpoint(upstream, &value)) {
            return None;
        }
        let mut text = format!("{name}=<opaque>");
        if !cookie.expires.is_empty() {
            text.push_str("; Expires=<date>");
        }
        if !cookie.max_age.is_empty() {
            text.push_str(&format!("; Max-Age={}", cookie.max_age.value));
        }
        if !cookie.domain.is_empty() {
            text.push_str(&format!("; Domain={}", cookie.domain.value));
        }
        let own_path = if cookie.path.is_empty() { path } else { cookie.path.value.to_string() };
        text.push_str(&format!("; Path={own_path}"));
        if cookie.secure.value || self.request.tls {
            text.push_str("; Secure");
        }
        text.push_str("; HttpOnly");
        if matches!(cookie.same_site.value.as_str(), "Strict" | "Lax" | "None") {
            let agent = self.variable("http_user_agent");
            let is_left_out = cookie.same_site.value == "None" && cookie.conditional_same_site_none.value && !knows_same_site_none(&agent);
            if !is_left_out {
                text.push_str(&format!("; SameSite={}", cookie.same_site.value));
            }
        }
        Some(text)
    }

    /// Whether a cookie names an endpoint: any value does while clients are rebalanced, otherwise it must be a hash.
    fn knows_endpoint(&self, upstream: &Upstream, cookie: &str) -> bool {
        let key = cookie.split('|').next().unwrap_or_default();
        if upstream.affinity.mode.value != "persistent" {
            return true;
        }
        let hash = |target: &str| hex(&Md5::digest(format!("{}{target}", upstream.name.value).as_bytes()));
        peers(self.nginx, upstream).iter().any(|peer| hash(&peer.target) == key)
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the part of a cookie that names its upstream.
fn backend_key(name: &Str) -> String {
    let inner = hex(&Md5::digest(name.as_bytes()));
    hex(&Md5::digest(format!("{inner}{name}").as_bytes()))
}

/// Whether a browser supports `SameSite=None`.
fn knows_same_site_none(agent: &str) -> bool {
    let has = |text: &str| agent.contains(text);
    let old = ["Chrome/4", "Chrome/5", "Chrome/6", "CPU iPhone OS 12", "iPad; CPU OS 12"].iter().any(|text| has(text));
    let safari = has("Macintosh") && has("Intel Mac OS X 10_14") && has("Safari") && !has("Chrome");
    !old && !safari
}
