//! Writes SecurityPolicies: client addresses, passwords, authentication services, and cross-origin requests.

use super::super::build::{Fields, list, text, truth};
use super::super::gateway::items;
use super::Converter;
use super::host::Host;
use super::url::Url;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use chancery_base::ir::nginx::{ExternalAuth, Location, Server};
use chancery_base::resource::{Origin, ResourceKey};
use chancery_nginx::location;
use chancery_text::{Node, Str};

/// The headers that an authentication service gets.
pub(super) const ASKED: [&str; 8] =
    ["Accept", "Authorization", "Cookie", "User-Agent", "X-Forwarded-Proto", "X-Forwarded-Host", "X-Forwarded-For", "X-Request-ID"];

/// Whether the answer to cross-origin requests is the same for every origin.
pub(super) fn allows_all_origins(of: &Location) -> bool {
    let cors = &of.settings.cors;
    cors.enabled.value && cors.origins.value.len() == 1 && cors.origins.value.iter().all(|one| *one == "*")
}

/// The response headers for an origin, if every origin is allowed.
pub(super) fn cors_headers(of: &Location) -> Vec<(String, String)> {
    let cors = &of.settings.cors;
    let mut out = Vec::from([("Access-Control-Allow-Origin".to_string(), "*".to_string())]);
    if cors.credentials.value {
        out.push(("Access-Control-Allow-Credentials".to_string(), "true".to_string()));
    }
    out.push(("Access-Control-Allow-Methods".to_string(), cors.methods.value.to_string()));
    out.push(("Access-Control-Allow-Headers".to_string(), cors.headers.value.to_string()));
    if !cors.expose.is_empty() {
        out.push(("Access-Control-Expose-Headers".to_string(), cors.expose.value.to_string()));
    }
    out.push(("Access-Control-Max-Age".to_string(), cors.max_age.value.to_string()));
    out
}

fn names(list: &str) -> Vec<String> {
    list.split(',').map(|name| name.trim().to_string()).filter(|name| !name.is_empty()).collect()
}

/// Adds the length of the prefix to an address.
fn range(text: &str) -> String {
    match text.contains('/') {
        true => text.to_string(),
        false if text.contains(':') => format!("{text}/128"),
        false => format!("{text}/32"),
    }
}

impl Converter<'_> {
    /// Returns the policy of a location, if it has one.
    pub(super) fn security(&mut self, host: &Host<'_>, of: &Location) -> Option<Node> {
        let mut out = Fields::new();
        if !self.is_envoy_gateway() {
            return None;
        }
        let settings = &of.settings;
        out.set_some("authorization", if self.has_unknown_auth(of) { Some(closed()) } else { authorization(of) });
        if settings.cors.enabled.value && !allows_all_origins(of) && !settings.cors.origins.value.is_empty() {
            out.set("cors", cors(of));
        }
        let is_exempt = location::is_listed(of, &self.nginx.globals.text("no-auth-locations"));
        if !is_exempt {
            let auth = location::auth(of, self.nginx).clone();
            if location::auth_path(of, self.nginx).is_some() {
                out.set_some("extAuth", self.external_auth(host, of, &auth));
            }
            if let Some((home, name)) = self.password_secret(of) {
                let namespace = of.ingress.as_ref()?.namespace.to_string();
                let (mut reference, mut inner) = (Fields::new(), Fields::new());
                reference.set("name", text(&name));
                if home != namespace {
                    reference.set("namespace", text(&home));
                    let from = ("gateway.envoyproxy.io", "SecurityPolicy", namespace);
                    self.plan.grants.insert(super::super::gateway::Grant { from, to: ("", "Secret", name.clone()), name: home.clone() });
                }
                inner.comment("auth-type: basic (the Secret needs the key .htpasswd with SHA hashes)");
                inner.set("users", reference.node());
                out.set("basicAuth", inner.node());
                if !self.has_password_key(&home, &name) {
                    let message = format!(
                        "`auth-secret`: Envoy Gateway reads passwords from the key `.htpasswd` with SHA hashes: requests get 500 until the Secret {home}/{name} has it (`htpasswd -s`)"
                    );
                    let origin = settings.basic_auth.secret.origin.or_else(|| self.annotation_origin(of, "auth-secret"));
                    self.note(of, origin, message);
                }
            }
        }
        (!out.is_empty()).then(|| out.node())
    }

    /// Whether a Secret of the input has the key that Envoy Gateway reads passwords from.
    fn has_password_key(&self, namespace: &str, name: &str) -> bool {
        let is_it = |key: &ResourceKey| key.kind == "Secret" && key.name == name && key.namespace.as_deref() == Some(namespace);
        let has_key = |root: &Node| ["data", "stringData"].iter().any(|section| root.at(&[section, ".htpasswd"]).is_some());
        self.objects.iter().any(|object| is_it(&object.key) && has_key(&object.root))
    }

    /// Returns the Secret with the passwords of a location.
    fn password_secret(&self, of: &Location) -> Option<(String, String)> {
        let basic = &of.settings.basic_auth;
        if basic.secured.value && basic.kind.value == "basic" {
            let own = || Some((of.ingress.as_ref()?.namespace.to_string(), basic.secret.value.to_string()));
            return basic.secret.value.split_once('/').map(|(home, name)| (home.to_string(), name.to_string())).or_else(own);
        }
        // Without the Secret, ingress-nginx closes the location.
        of.settings.denied.as_ref().and_then(|_| self.missing_secret(of, "auth-secret"))
    }

    /// Returns what keeps requests out of a location, if the target cannot express it.
    pub(super) fn lost_protection(&self, server: &Server, of: &Location) -> Option<(&'static str, Option<Origin>)> {
        if self.is_envoy_gateway() {
            return None;
        }
        let settings = &of.settings;
        let is_exempt = location::is_listed(of, &self.nginx.globals.text("no-auth-locations"));
        let certificates = &server.client_certificates;
        let denied = settings.denied.as_ref().filter(|_| self.missing_secret(of, "auth-secret").is_none());
        if let Some(denied) = denied {
            Some(("the answer 503 of ingress-nginx", denied.origin))
        } else if self.is_closed(server) {
            Some(("the answer 403 of ingress-nginx", server.client_certificate_error.origin))
        } else if !settings.allowlist.cidr.value.is_empty() {
            Some(("`allowlist-source-range`", settings.allowlist.cidr.origin))
        } else if !settings.denylist.cidr.value.is_empty() {
            Some(("`denylist-source-range`", settings.denylist.cidr.origin))
        } else if !is_exempt && location::auth_path(of, self.nginx).is_some() {
            Some(("`auth-url`", location::auth(of, self.nginx).url.origin))
        } else if !is_exempt && (settings.basic_auth.secured.value || self.password_secret(of).is_some()) {
            Some(("`auth-type`", settings.basic_auth.kind.origin.or_else(|| settings.denied.as_ref()?.origin)))
        } else if !certificates.secret.is_empty() && certificates.verify_client.value != "off" {
            Some(("`auth-tls-secret`", certificates.secret.origin))
        } else {
            None
        }
    }

    /// Whether requests must be authenticated in a way that the policy cannot express. The route stays closed.
    fn has_unknown_auth(&self, of: &Location) -> bool {
        if location::is_listed(of, &self.nginx.globals.text("no-auth-locations")) {
            return false;
        }
        let url = &location::auth(of, self.nginx).url.value;
        let is_unknown = location::auth_path(of, self.nginx).is_some() && (url.contains('$') || Url::read(url).is_none());
        let basic = &of.settings.basic_auth;
        is_unknown || basic.secured.value && basic.kind.value != "basic"
    }

    fn external_auth(&mut self, host: &Host<'_>, of: &Location, auth: &ExternalAuth) -> Option<Node> {
        let namespace = of.ingress.as_ref()?.namespace.clone();
        let written = auth.url.value.as_str();
        let url = Url::read(written).filter(|_| !written.contains('$'));
        let Some(url) = url else {
            let message =
                format!("`auth-url: {written}` is not converted, as it uses variables of nginx: every request gets 403 until you write `extAuth`");
            self.note(of, auth.url.origin, message);
            return None;
        };
        let backend = self.backend_of_url(&url, &namespace, &host.file);
        self.grant(&backend, "gateway.envoyproxy.io", "SecurityPolicy", &namespace);
        let (mut http, mut out) = (Fields::new(), Fields::new());
        http.set("backendRefs", list(Vec::from([backend.reference(&namespace).node()])));
        http.set("pathOverride", text(if url.path.is_empty() { "/" } else { &url.path }));
        http.set("headersToBackend", items(auth.response_headers.value.iter().filter(|name| !name.is_empty())));
        out.comment(&format!("auth-url: {written}"));
        out.set("headersToExtAuth", items(ASKED));
        if let Some(place) = self.place(of, auth.response_headers.origin) {
            let ingress = of.ingress.as_ref()?;
            self.answering.insert((ingress.namespace.to_string(), ingress.name.to_string()), place);
        }
        out.set("http", http.node());
        if !auth.signin_url.is_empty() {
            let words = super::table::verdict("auth-signin").map_or("", |found| found.words);
            self.note(of, auth.signin_url.origin, format!("`auth-signin` is not converted: {words}"));
        }
        Some(out.node())
    }

    /// Returns the Secret with the CA of a host's clients.
    pub(super) fn client_ca(&self, server: &Server) -> Option<(String, String)> {
        let written = server.client_certificates.secret.value.split_once('/').map(|(namespace, name)| (namespace.to_string(), name.to_string()));
        // Without the Secret, ingress-nginx closes the host.
        let missing = || server.locations.iter().find_map(|of| self.missing_secret(of, "auth-tls-secret"));
        written.or_else(|| if server.client_certificate_error.is_empty() { None } else { missing() })
    }

    /// The settings of a listener for client certificates.
    pub(super) fn client_validation(&mut self, server: &Server, first: &Location) -> Option<Node> {
        let certificates = &server.client_certificates;
        let mut tls = Fields::new();
        if let Some((namespace, name)) = self.client_ca(server).filter(|_| certificates.verify_client.value != "off") {
            let (mut reference, mut validation) = (Fields::new(), Fields::new());
            reference.set("name", text(&name)).set("namespace", text(&namespace));
            let verified = &certificates.verify_client.value;
            validation.comment(&format!("auth-tls-secret: {namespace}/{name}, auth-tls-verify-client: {verified}"));
            validation.set("caCertificateRefs", list(Vec::from([reference.node()])));
            if certificates.verify_client.value.starts_with("optional") {
                validation.set("mode", text("VerifyIfGiven"));
            }
            tls.set("clientValidation", validation.node());
            if !certificates.match_cn.is_empty() {
                self.note(first, certificates.match_cn.origin, "`auth-tls-match-cn` is not converted: Envoy checks alternative names of certificates, not the subject; any certificate of the CA is accepted");
            }
        }
        if !server.ciphers.ciphers.is_empty() {
            tls.comment("ssl-ciphers").set("ciphers", items(ciphers(&server.ciphers.ciphers.value)));
        }
        if is_grpc(server) && self.nginx.globals.flag("use-http2").value {
            tls.comment("gRPC needs HTTP/2, which Envoy Gateway turns off if another certificate has the same name");
            tls.set("alpnProtocols", items(["h2", "http/1.1"]));
        }
        if tls.is_empty() {
            return None;
        }
        let mut out = Fields::new();
        out.set("tls", tls.node());
        Some(out.node())
    }
}

/// Whether all Services of a host speak gRPC.
fn is_grpc(server: &Server) -> bool {
    let mut served = server.locations.iter().filter(|of| !of.is_default).peekable();
    served.peek().is_some() && served.all(|of| matches!(of.settings.backend_protocol.value.to_ascii_uppercase().as_str(), "GRPC" | "GRPCS"))
}

/// An authorization that lets no request pass.
fn closed() -> Node {
    let mut out = Fields::new();
    out.comment("the authentication is not converted, so no request passes").set("defaultAction", text("Deny"));
    out.node()
}

/// Cipher suites that Envoy knows, in order.
pub(super) fn ciphers(list: &str) -> Vec<&str> {
    const KNOWN: [&str; 14] = [
        "ECDHE-ECDSA-AES128-GCM-SHA256",
        "ECDHE-RSA-AES128-GCM-SHA256",
        "ECDHE-ECDSA-AES256-GCM-SHA384",
        "ECDHE-RSA-AES256-GCM-SHA384",
        "ECDHE-ECDSA-CHACHA20-POLY1305",
        "ECDHE-RSA-CHACHA20-POLY1305",
        "ECDHE-ECDSA-AES128-SHA",
        "ECDHE-RSA-AES128-SHA",
        "AES128-GCM-SHA256",
        "AES128-SHA",
        "ECDHE-ECDSA-AES256-SHA",
        "ECDHE-RSA-AES256-SHA",
        "AES256-GCM-SHA384",
        "AES256-SHA",
    ];
    list.split(':').filter(|cipher| KNOWN.contains(cipher)).collect()
}

fn authorization(of: &Location) -> Option<Node> {
    let settings = &of.settings;
    let rule = |action: &str, name: &str, ranges: &[Str]| {
        let (mut principal, mut rule) = (Fields::new(), Fields::new());
        principal.set("clientCIDRs", items(ranges.iter().map(|text| range(text))));
        rule.comment(name).set("action", text(action)).set("principal", principal.node());
        rule.node()
    };
    let (allow, deny) = (&settings.allowlist.cidr.value, &settings.denylist.cidr.value);
    let mut rules = Vec::new();
    if !deny.is_empty() {
        rules.push(rule("Deny", "denylist-source-range", deny));
    }
    if !allow.is_empty() {
        rules.push(rule("Allow", "allowlist-source-range", allow));
    }
    if rules.is_empty() {
        return None;
    }
    let mut out = Fields::new();
    out.set("defaultAction", text(if allow.is_empty() { "Allow" } else { "Deny" })).set("rules", list(rules));
    Some(out.node())
}

fn cors(of: &Location) -> Node {
    let cors = &of.settings.cors;
    let mut out = Fields::new();
    out.comment("enable-cors: true");
    out.set("allowOrigins", items(cors.origins.value.iter().map(|origin| origin.trim())));
    out.set("allowMethods", items(names(&cors.methods.value))).set("allowHeaders", items(names(&cors.headers.value)));
    out.set("exposeHeaders", items(names(&cors.expose.value)));
    out.set("allowCredentials", truth(cors.credentials.value));
    out.set("maxAge", text(&super::traffic::seconds(cors.max_age.value)));
    out.node()
}
