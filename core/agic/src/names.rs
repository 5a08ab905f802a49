//! The names of the controller's parts, and their ids.
//!
//! AGIC `pkg/appgw/internaltypes.go` and `identifier.go`. Listeners, path maps and rules are named after a hash of their identity: the JSON of
//! port, hosts and type of address. A name of more than 80 characters is cut and gets its own hash.

use super::environment::Environment;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::ir::appgw::FrontendType;
use chancery_base::resource::Origin;
use chancery_text::Str;
use core::cmp;
use core::fmt::Write as _;
use core::hash::{BuildHasher as _, Hash, Hasher};
use foldhash::fast::FixedState;
use md5::{Digest as _, Md5};

/// The maximum number of hosts of a listener.
pub const MOST_HOSTS: usize = 5;

/// A kind of part, as ids name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// `backendAddressPools`
    Pool,
    /// `backendHttpSettingsCollection`
    Settings,
    /// `frontendIPConfigurations`
    Frontend,
    /// `frontendPorts`
    Port,
    /// `httpListeners`
    Listener,
    /// `probes`
    Probe,
    /// `redirectConfigurations`
    Redirect,
    /// `requestRoutingRules`
    Rule,
    /// `rewriteRuleSets`
    RewriteSet,
    /// `sslCertificates`
    Certificate,
    /// `sslProfiles`
    SslProfile,
    /// `trustedRootCertificates`
    TrustedRoot,
    /// `urlPathMaps`
    PathMap,
}

impl PartKind {
    fn list(self) -> &'static str {
        match self {
            PartKind::Pool => "backendAddressPools",
            PartKind::Settings => "backendHttpSettingsCollection",
            PartKind::Frontend => "frontendIPConfigurations",
            PartKind::Port => "frontendPorts",
            PartKind::Listener => "httpListeners",
            PartKind::Probe => "probes",
            PartKind::Redirect => "redirectConfigurations",
            PartKind::Rule => "requestRoutingRules",
            PartKind::RewriteSet => "rewriteRuleSets",
            PartKind::Certificate => "sslCertificates",
            PartKind::SslProfile => "sslProfiles",
            PartKind::TrustedRoot => "trustedRootCertificates",
            PartKind::PathMap => "urlPathMaps",
        }
    }
}

/// The identity of a listener: HTTP and HTTPS at one port are one listener.
#[derive(Clone, Debug)]
pub struct ListenerId {
    pub port: i64,
    /// The hosts, at most five, in order.
    pub hosts: Vec<Str>,
    pub frontend: FrontendType,
    /// The place of its hosts.
    pub origin: Option<Origin>,
    hash: u64,
}

impl ListenerId {
    pub fn new(port: i64, hosts: Vec<Str>, frontend: FrontendType, origin: Option<Origin>) -> Self {
        let hash = FixedState::with_seed(0).hash_one((port, &hosts, frontend));
        Self { port, hosts, frontend, origin, hash }
    }

    /// The same listener at another port.
    #[must_use]
    pub fn at_port(&self, port: i64) -> Self {
        Self::new(port, self.hosts.clone(), self.frontend, self.origin)
    }

    fn identity(&self) -> (i64, &[Str], FrontendType) {
        (self.port, &self.hosts, self.frontend)
    }
}

impl PartialEq for ListenerId {
    fn eq(&self, other: &Self) -> bool {
        core::ptr::eq(self, other) || (self.hash == other.hash && self.identity() == other.identity())
    }
}

impl Eq for ListenerId {}

impl Hash for ListenerId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

impl PartialOrd for ListenerId {
    fn partial_cmp(&self, other: &Self) -> Option<cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ListenerId {
    fn cmp(&self, other: &Self) -> cmp::Ordering {
        self.identity().cmp(&other.identity())
    }
}

/// The names of one gateway's parts.
#[derive(Clone, Debug)]
pub struct Names {
    prefix: Str,
    gateway: String,
}

impl Names {
    /// The names under these variables.
    pub fn new(environment: &Environment) -> Self {
        let Environment { subscription, resource_group, gateway, prefix, .. } = environment;
        let gateway =
            format!("/subscriptions/{subscription}/resourceGroups/{resource_group}/providers/Microsoft.Network/applicationGateways/{gateway}");
        Self { prefix: prefix.clone(), gateway }
    }

    pub fn gateway_id(&self) -> &str {
        &self.gateway
    }

    pub fn id(&self, kind: PartKind, name: &str) -> Str {
        format!("{}/{}/{name}", self.gateway, kind.list()).into()
    }

    pub fn path_rule_id(&self, path_map: &str, name: &str) -> Str {
        format!("{}/urlPathMaps/{path_map}/pathRules/{name}", self.gateway).into()
    }

    /// The id of a resource of the same group, such as a public address.
    pub fn neighbour_id(&self, kind: &str, name: &str) -> Str {
        let group = self.gateway.rsplit_once("/applicationGateways/").map_or("", |(group, _)| group);
        format!("{group}/{kind}/{name}").into()
    }

    fn short(&self, name: &str) -> Str {
        shortened(format!("{}{name}", self.prefix))
    }

    /// The settings of a Service's port in an Ingress.
    pub fn settings(&self, service: &str, port: &str, backend_port: i64, ingress: &str) -> Str {
        self.short(&format!("bp-{service}-{port}-{backend_port}-{ingress}"))
    }

    /// The probe of a Service's port in an Ingress.
    pub fn probe(&self, namespace: &str, service: &str, port: &str, ingress: &str) -> Str {
        self.short(&format!("pb-{namespace}-{service}-{port}-{ingress}"))
    }

    /// The pool of a Service's port.
    pub fn pool(&self, service: &str, port: &str, backend_port: i64) -> Str {
        self.short(&format!("pool-{service}-{port}-bp-{backend_port}"))
    }

    pub fn port(&self, port: i64) -> Str {
        self.short(&format!("fp-{port}"))
    }

    pub fn listener(&self, id: &ListenerId) -> Str {
        self.short(&format!("fl-{}", hash(id)))
    }

    /// The path map of a listener.
    pub fn path_map(&self, id: &ListenerId) -> Str {
        self.short(&format!("url-{}", hash(id)))
    }

    /// The rule of a listener.
    pub fn rule(&self, id: &ListenerId) -> Str {
        self.short(&format!("rr-{}", hash(id)))
    }

    /// The redirect to a listener.
    pub fn redirect(&self, target: &ListenerId) -> Str {
        self.short(&format!("sslr-{}", self.listener(target)))
    }

    /// The prefix of path rules' names.
    pub fn path_rule_prefix(&self) -> String {
        format!("{}pr-", self.prefix)
    }

    /// A path of a rule of an Ingress.
    pub fn path_rule(&self, namespace: &str, ingress: &str, rule: usize, path: usize) -> Str {
        self.short(&format!("pr-{namespace}-{ingress}-rule-{rule}-path-{path}"))
    }

    /// The certificate of a Secret; never cut.
    pub fn certificate(&self, namespace: &str, name: &str) -> Str {
        format!("{}cert-{namespace}-{name}", self.prefix).into()
    }

    /// The pool of requests that no Ingress matches.
    pub fn default_pool(&self) -> Str {
        format!("{}defaultaddresspool", self.prefix).into()
    }

    /// The settings of the default pool.
    pub fn default_settings(&self) -> Str {
        format!("{}defaulthttpsetting", self.prefix).into()
    }

    /// The probe of the default pool, by protocol.
    pub fn default_probe(&self, protocol: &str) -> Str {
        format!("{}defaultprobe-{protocol}", self.prefix).into()
    }
}

/// The rewrite set of an AzureApplicationGatewayRewrite: without the prefix, and never cut.
pub fn rewrite_set(namespace: &str, name: &str) -> Str {
    format!("crd-{namespace}-{name}").into()
}

/// A hash as hexadecimal digits.
pub fn md5(text: &[u8]) -> String {
    let mut out = String::with_capacity(32);
    for byte in Md5::digest(text) {
        write!(out, "{byte:02x}").unwrap_or_default();
    }
    out
}

fn shortened(name: String) -> Str {
    const MOST: usize = 80;
    if name.len() <= MOST {
        return name.into();
    }
    let hash = md5(name.as_bytes());
    // Names are normally ASCII; an incomplete character is removed.
    let kept = (0..=MOST - hash.len() - 1).rev().find_map(|end| name.get(..end)).unwrap_or_default();
    format!("{kept}-{hash}").into()
}

fn hash(id: &ListenerId) -> String {
    let mut json = format!("{{\"FrontendPort\":{},\"HostNames\":[", id.port);
    for at in 0..MOST_HOSTS {
        if at > 0 {
            json.push(',');
        }
        go_json(id.hosts.get(at).map_or("", Str::as_str), &mut json);
    }
    write!(json, "],\"FrontendType\":\"{}\"}}", id.frontend.name()).unwrap_or_default();
    md5(json.as_bytes())
}

/// A string as Go's `encoding/json` writes it, safe for HTML.
fn go_json(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\0'..='\u{1f}' => write!(out, "\\u{:04x}", u32::from(c)).unwrap_or_default(),
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests;
