//! Writes ClientTrafficPolicies: how the gateway reads requests, which client address it believes, and the headers that services and clients get.

use super::super::build::{Fields, list, named_values, number, text, truth};
use super::super::gateway::{HTTP, OrderedNode, Route, RouteMatch, items};
use super::Converter;
use super::security::ASKED;
use super::traffic::seconds;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use chancery_text::Node;

impl Converter<'_> {
    /// Writes the policies of listeners without and with TLS.
    pub(super) fn clients(&mut self) {
        let answered = self.answered_headers();
        let of = |section: &str| answered.get(section).map_or(&[][..], Vec::as_slice);
        self.plan.clients = [self.client(false, of(HTTP)), self.client(true, &[])];
        for at in 0..self.plan.listeners.len() {
            let listener = &self.plan.listeners[at];
            let (names, mut own) = (of(&listener.name), Fields::new());
            if names.is_empty() {
                continue;
            }
            for entry in listener.client.as_ref().and_then(|client| client.0.as_object()).into_iter().flatten() {
                own.set(&entry.key, entry.value.clone());
            }
            let (mut headers, mut early) = (Fields::new(), Fields::new());
            let all = self.client(true, names).node();
            early.comment("auth-response-headers: the authentication service sends them, not clients");
            early.set_some("remove", all.at(&["headers", "earlyRequestHeaders", "remove"]).cloned());
            headers.set("earlyRequestHeaders", early.node());
            own.set("headers", headers.node());
            self.plan.listeners[at].client = Some(OrderedNode(own.node()));
        }
    }

    /// Returns the headers that a listener must not accept of clients, by its name: nginx takes them from the answer of the authentication service only.
    ///
    /// A route cannot remove them, as Envoy changes headers of a route after the authentication.
    fn answered_headers(&mut self) -> BTreeMap<String, Vec<String>> {
        let mut out = BTreeMap::new();
        let mut kept: BTreeSet<(String, String, String)> = BTreeSet::new();
        let sections: Vec<String> =
            core::iter::once(HTTP.to_string()).chain(self.plan.listeners.iter().map(|listener| listener.name.clone())).collect();
        for section in sections {
            let routes: Vec<&Route> = self.plan.routes.iter().filter(|route| route.sections.contains(&section) && forwards(route)).collect();
            let mut names: Vec<String> = Vec::new();
            for name in routes.iter().flat_map(|route| answered(route)) {
                if !names.iter().any(|known| known.eq_ignore_ascii_case(name)) {
                    names.push(name.to_string());
                }
            }
            names.retain(|name| {
                let has_it = |route: &&&Route| answered(route).any(|known| known.eq_ignore_ascii_case(name));
                let hosts: BTreeSet<&String> = routes.iter().filter(has_it).flat_map(|route| &route.hosts).collect();
                let is_stranger = |route: &&Route| !has_it(&route) && (route.hosts.is_empty() || route.hosts.iter().any(|host| !hosts.contains(host)));
                let is_shared = routes.iter().any(is_stranger);
                let why = if ASKED.iter().any(|known| known.eq_ignore_ascii_case(name)) {
                    Some("the authentication service reads it")
                } else if routes.iter().any(|route| chooses_by(route, name)) {
                    Some("a rule chooses the Service by it")
                } else if is_shared && !is_private(name) {
                    Some("its listener also serves hosts without this authentication")
                } else {
                    None
                };
                let message = match why {
                    Some(why) => format!(
                        "a client can send `{name}` itself: Envoy replaces it only if the authentication service sends it, and the conversion does not \
                         remove it, as {why}. Let the service send it in every answer, or remove it with `earlyRequestHeaders` of the ClientTrafficPolicy"
                    ),
                    None if is_shared => format!(
                        "the listener `{section}` removes `{name}` of clients for all its hosts, as only the authentication service may send it; nginx \
                         removes it for paths with authentication only"
                    ),
                    None => return true,
                };
                for route in routes.iter().filter(has_it) {
                    let owner = (route.namespace.clone(), route.origin.clone());
                    let is_new = kept.insert((owner.0.clone(), owner.1.clone(), name.to_ascii_lowercase()));
                    if let Some((key, origin)) = self.answering.get(&owner).filter(|_| is_new) {
                        self.out.note(key, *origin, message.clone());
                    }
                }
                why.is_none()
            });
            if !names.is_empty() {
                out.insert(section, names);
            }
        }
        out
    }

    fn client(&self, is_tls: bool, answered: &[String]) -> Fields {
        let globals = &self.nginx.globals;
        let mut out = Fields::new();
        let (trusts, proxy) = (globals.flag("use-forwarded-headers").value, globals.flag("use-proxy-protocol").value);
        if proxy {
            let mut inner = Fields::new();
            inner.comment("use-proxy-protocol: true").set("optional", truth(false));
            out.set("proxyProtocol", inner.node());
        }
        let has_real_address = globals.flag("enable-real-ip").value;
        if trusts || has_real_address {
            let ranges = globals.list("proxy-real-ip-cidr").value;
            let (mut forwarded, mut detection) = (Fields::new(), Fields::new());
            forwarded.comment(if trusts { "use-forwarded-headers: true, proxy-real-ip-cidr" } else { "enable-real-ip: true, proxy-real-ip-cidr" });
            forwarded.set("trustedCIDRs", items(ranges.iter()));
            detection.set("xForwardedFor", forwarded.node());
            out.set("clientIPDetection", detection.node());
        }
        let (mut path, mut headers, mut early) = (Fields::new(), Fields::new(), Fields::new());
        path.comment("nginx matches decoded paths").set("escapedSlashesAction", text("UnescapeAndForward"));
        out.set("path", path.node());
        let (scheme, port) = if is_tls { ("https", self.nginx.ports.https) } else { ("http", self.nginx.ports.http) };
        // The values of a trusted proxy; nginx replaces all other headers.
        let believed = [("X-Forwarded-Host", "%REQ(:AUTHORITY)%".to_string()), ("X-Forwarded-Port", port.to_string())];
        let mut set: BTreeMap<&str, String> = BTreeMap::new();
        let mut removed = Vec::from(["Proxy", "X-Original-Forwarded-For", "X-Original-Forwarded-Host"]);
        if trusts {
            early.set("addIfAbsent", named_values(believed.iter().map(|(name, value)| (*name, value.as_str()))));
            // Routes set them, as the address of the client is known then.
            removed.extend(["X-Forwarded-Scheme", "X-Real-IP", "X-Scheme"]);
        } else {
            set.extend(believed);
            set.extend([("X-Forwarded-Scheme", scheme.to_string()), ("X-Scheme", scheme.to_string())]);
            // Routes set it if a proxy names the client.
            match has_real_address {
                true => removed.push("X-Real-IP"),
                false => drop(set.insert("X-Real-IP", "%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT%".to_string())),
            }
            removed.push("X-Forwarded-Proto");
            // A trusted proxy names the client in it.
            removed.extend((!has_real_address).then_some("X-Forwarded-For"));
        }
        if globals.flag("proxy-add-original-uri-header").value {
            set.insert("X-Original-URI", "%REQ(:PATH)%".to_string());
        }
        for (name, value) in &globals.set_headers {
            // nginx sends no header with an empty value, and Envoy knows no variables of nginx.
            match value.value.is_empty() || value.value.contains('$') {
                true => removed.push(name),
                false => drop(set.insert(name, value.value.replace('%', "%%"))),
            }
        }
        removed.extend(answered.iter().map(String::as_str));
        removed.retain(|name| !set.keys().any(|known| known.eq_ignore_ascii_case(name)));
        early.set("set", named_values(set.iter().map(|(name, value)| (*name, value.as_str()))));
        early.set("remove", items(removed));
        headers.comment("the headers that ingress-nginx sends to services").set("earlyRequestHeaders", early.node());
        let mut host = Fields::new();
        host.comment("nginx ignores a final dot of the host").set("stripTrailingHostDot", truth(true));
        headers.set("host", host.node());
        let mut late: Vec<(String, String)> =
            globals.add_headers.iter().map(|(name, value)| (name.to_string(), value.value.replace('%', "%%"))).collect();
        if is_tls && globals.flag("hsts").value {
            let mut value = format!("max-age={}", globals.text("hsts-max-age").value);
            if globals.flag("hsts-include-subdomains").value {
                value.push_str("; includeSubDomains");
            }
            if globals.flag("hsts-preload").value {
                value.push_str("; preload");
            }
            late.push(("Strict-Transport-Security".to_string(), value));
        }
        let mut hidden = globals.list("hide-headers").value;
        hidden.retain(|name| !late.iter().any(|(known, _)| known.eq_ignore_ascii_case(name)));
        if !(late.is_empty() && hidden.is_empty()) {
            let mut inner = Fields::new();
            inner.comment("hsts, add-headers and hide-headers of the ConfigMap");
            if !late.is_empty() {
                inner.set("set", named_values(late.iter().map(|(name, value)| (name.as_str(), value.as_str()))));
            }
            if !hidden.is_empty() {
                inner.set("remove", items(hidden.iter()));
            }
            headers.set("lateResponseHeaders", inner.node());
        }
        headers.set("requestID", text(if globals.flag("generate-request-id").value { "PreserveOrGenerate" } else { "Preserve" }));
        let keeps = globals.flag("enable-underscores-in-headers").value || !globals.flag("ignore-invalid-headers").value;
        headers.set("withUnderscoresAction", text(if keeps { "Allow" } else { "DropHeader" }));
        out.set("headers", headers.node());
        let (mut http10, mut http1, mut http, mut timeout) = (Fields::new(), Fields::new(), Fields::new(), Fields::new());
        http10.set("useDefaultHost", truth(false));
        http1.set("http10", http10.node());
        out.set("http1", http1.node());
        http.comment("keep-alive, client-header-timeout").set("idleTimeout", text(&seconds(globals.number("keep-alive").value)));
        http.set("requestHeadersReceivedTimeout", text(&seconds(globals.number("client-header-timeout").value)));
        timeout.set("http", http.node());
        out.set("timeout", timeout.node());
        if is_tls {
            out.set_some("tls", self.protocols());
            let mut http2 = Fields::new();
            http2.set("maxConcurrentStreams", number(globals.number("http2-max-concurrent-streams").value));
            out.set("http2", http2.node());
        }
        out
    }

    /// TLS versions and ciphers of the ConfigMap.
    fn protocols(&self) -> Option<Node> {
        let globals = &self.nginx.globals;
        let mut out = Fields::new();
        let written = globals.text("ssl-protocols").value;
        let versions: Vec<&str> = written
            .split_whitespace()
            .filter_map(|word| match word {
                "TLSv1" => Some("1.0"),
                "TLSv1.1" => Some("1.1"),
                "TLSv1.2" => Some("1.2"),
                "TLSv1.3" => Some("1.3"),
                _ => None,
            })
            .collect();
        let (least, most) = (versions.iter().min()?, versions.iter().max()?);
        out.comment(&format!("ssl-protocols: {written}")).set("minVersion", text(least)).set("maxVersion", text(most));
        if *least != "1.3" {
            let ciphers = globals.text("ssl-ciphers").value;
            out.comment("ssl-ciphers").set("ciphers", list(super::security::ciphers(&ciphers).into_iter().map(text).collect()));
        }
        if !globals.flag("use-http2").value {
            out.comment("use-http2: false").set("alpnProtocols", items(["http/1.1"]));
        }
        Some(out.node())
    }
}

/// Headers that clients of any service may send, although their names are private.
const COMMON: [&str; 10] = [
    "x-api-key",
    "x-correlation-id",
    "x-csrf-token",
    "x-csrftoken",
    "x-http-method-override",
    "x-real-ip",
    "x-request-id",
    "x-requested-with",
    "x-trace-id",
    "x-xsrf-token",
];

/// Whether a header has a private name, so that no client of another host needs it.
pub(super) fn is_private(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let is_prefixed = |prefixes: &[&str]| prefixes.iter().any(|prefix| lower.starts_with(prefix));
    is_prefixed(&["x-", "remote-"]) && !is_prefixed(&["x-forwarded-", "x-b3-", "x-envoy-"]) && !COMMON.contains(&lower.as_str())
}

/// Whether requests of a route reach a Service.
fn forwards(route: &Route) -> bool {
    route.rules.iter().flat_map(|rule| &rule.backends).any(|backend| backend.weight != Some(0))
}

/// The headers that a route's authentication service sends to the Service.
fn answered(route: &Route) -> impl Iterator<Item = &str> {
    let names = route.security.as_ref().and_then(|policy| policy.at(&["extAuth", "http", "headersToBackend"])).and_then(Node::as_array);
    names.into_iter().flatten().filter_map(Node::as_str)
}

fn chooses_by(route: &Route, header: &str) -> bool {
    let has_it = |one: &RouteMatch| one.headers.iter().any(|known| known.name.eq_ignore_ascii_case(header));
    route.rules.iter().flat_map(|rule| &rule.matches).any(has_it)
}
