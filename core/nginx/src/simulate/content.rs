//! Sends requests to services: builds their headers and paths, tries endpoints, and reads responses.
//!
//! nginx `src/http/modules/ngx_http_proxy_module.c`, `src/http/ngx_http_upstream.c`.

use super::balance::{address_of, peers};
use super::exchange::Exchange;
use super::message::{Answer, Seen};
use super::scope::Scope;
use super::uri::{Escape, escape};
use crate::directive::Directive;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// A request to a URL.
pub struct Pass {
    pub method: String,
    /// The path and the query of the request.
    pub path: (String, String),
    /// The size of the body in bytes.
    pub body: u64,
    /// The service's response.
    pub answer: Answer,
}

/// A response from a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passed {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    /// Whether the response comes from a service and not from nginx.
    pub is_answer: bool,
    /// Whether nginx's own default server responded.
    pub is_own: bool,
}

/// Headers that nginx sets by default, with their values.
const OWN_HEADERS: &[(&str, &str)] =
    &[("Connection", "close"), ("Content-Length", ""), ("Transfer-Encoding", ""), ("TE", ""), ("Keep-Alive", ""), ("Expect", ""), ("Upgrade", "")];

/// Headers of a service's response that nginx never passes on.
const HIDDEN: &[&str] = &["date", "server", "x-pad", "connection", "keep-alive", "content-length", "transfer-encoding", "etag", "x-accel-expires"];

impl<'d> Exchange<'_> {
    /// Builds the headers of a request to a service from the directives in scope: the Host header, and the others.
    fn headers_for(&self, scope: &Scope<'d>, own_host: &str, body: u64) -> (String, Vec<(String, String)>) {
        let is_grpc = scope.last("grpc_pass").is_some();
        let directives = scope.all(&[if is_grpc { "grpc_set_header" } else { "proxy_set_header" }]);
        let set: Vec<(String, String)> =
            directives.iter().map(|directive| (self.evaluate(directive.arg(0)), self.evaluate(directive.arg(1)))).collect();
        let is_set = |name: &str| set.iter().any(|(own, _)| own.eq_ignore_ascii_case(name));
        let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (name, value) in self.headers() {
            let is_own = OWN_HEADERS.iter().any(|(own, _)| own.eq_ignore_ascii_case(&name));
            if !is_own && !is_set(&name) {
                all.entry(name.to_ascii_lowercase()).or_default().push(value);
            }
        }
        let defaults = OWN_HEADERS.iter().filter(|(name, value)| !value.is_empty() && !is_set(name));
        // gRPC needs no such header, and uses a separate one.
        for (name, value) in defaults.filter(|_| !is_grpc) {
            all.entry(name.to_ascii_lowercase()).or_default().push((*value).into());
        }
        if is_grpc {
            all.entry("te".into()).or_default().push("trailers".into());
        }
        let mut host = if is_set("host") { String::new() } else { own_host.to_string() };
        for (name, value) in set.iter().filter(|(_, value)| !value.is_empty()) {
            match name.eq_ignore_ascii_case("host") {
                true => host = value.clone(),
                false => all.entry(name.to_ascii_lowercase()).or_default().push(value.clone()),
            }
        }
        if body > 0 {
            all.insert("content-length".into(), Vec::from([body.to_string()]));
        }
        // Headers that control recorded services are not part of the request.
        let kept = all.into_iter().filter(|(name, _)| !name.starts_with("x-echo-"));
        (host, kept.map(|(name, values)| (name, values.join(", "))).collect())
    }

    /// Returns the target for a service: unchanged, or escaped again after a rewrite.
    fn path_for(&self) -> String {
        if !self.is_rewritten {
            return self.target.raw.clone();
        }
        let path = escape(&self.uri, Escape::Uri);
        if self.args.is_empty() { path } else { format!("{path}?{}", self.args) }
    }

    /// Builds the request that a service receives: headers, path and protocol.
    fn seen(&self, scope: &Scope<'d>, pass: &Directive, endpoint: Option<String>, path: String) -> Seen {
        let url = self.evaluate(pass.arg(0));
        let scheme = url.split_once("://").map_or("", |(scheme, _)| scheme);
        let is_tls = matches!(scheme, "https" | "grpcs");
        let body = self.request.body.unwrap_or_default();
        let (host, headers) = self.headers_for(scope, &self.variable("proxy_host"), body);
        let mut seen = Seen { method: self.request.method.clone(), path, host, headers, endpoint, body, ..Seen::default() };
        let base = match pass.name.as_str() {
            "fastcgi_pass" => return self.fastcgi(seen, scope),
            "grpc_pass" => "h2",
            _ if scope.value("proxy_http_version") == Some("1.1") => "http",
            _ => "http/1.0",
        };
        seen.protocol = if is_tls { format!("{base}+tls") } else { base.into() };
        if is_tls {
            if scope.is_on("proxy_ssl_server_name") {
                seen.sni = Some(self.service_name(scope, pass)).filter(|name| !name.is_empty() && name.parse::<core::net::IpAddr>().is_err());
            }
            seen.certificate = scope.last("proxy_ssl_certificate").is_some();
        }
        seen
    }

    /// Builds the same for FastCGI, which has parameters.
    fn fastcgi(&self, mut seen: Seen, scope: &Scope<'d>) -> Seen {
        seen.protocol = "fastcgi".into();
        seen.host = self.request.host.clone();
        let all = self.headers().into_iter().filter(|(name, _)| !name.to_ascii_lowercase().starts_with("x-echo-"));
        seen.headers = all.map(|(name, value)| (name.to_ascii_lowercase(), value)).collect();
        if !seen.headers.iter().any(|(name, _)| name == "connection") {
            seen.headers.push(("connection".into(), "close".into()));
        }
        if seen.body > 0 && !seen.headers.iter().any(|(name, _)| name == "content-length") {
            seen.headers.push(("content-length".into(), seen.body.to_string()));
        }
        seen.headers.sort();
        let mut params: BTreeMap<String, String> = BTreeMap::new();
        for (name, value) in [
            ("DOCUMENT_ROOT", "/usr/local/nginx/html".to_string()),
            ("DOCUMENT_URI", self.uri.clone()),
            ("GATEWAY_INTERFACE", "CGI/1.1".into()),
            ("REDIRECT_STATUS", "200".into()),
            ("REQUEST_SCHEME", self.variable("scheme")),
            ("SERVER_ADDR", "192.0.2.10".into()),
            ("SERVER_NAME", self.server_name.clone()),
            ("SERVER_PORT", self.variable("server_port")),
        ] {
            params.insert(name.into(), value);
        }
        let mut index = String::new();
        if self.uri.ends_with('/') {
            index = scope.value("fastcgi_index").unwrap_or_default().into();
        }
        for directive in scope.all(&["fastcgi_param"]) {
            let value = self.evaluate(directive.arg(1)).replace("$fastcgi_script_name", &format!("{}{index}", self.uri));
            params.insert(directive.arg(0).into(), value);
        }
        seen.fastcgi = params.into_iter().filter(|(_, value)| !value.is_empty()).collect();
        seen
    }

    /// Passes the request to the chosen upstream. Earlier attempts are separate requests.
    pub fn pass_to_upstream(&mut self, scope: &Scope<'d>, pass: &Directive) -> (Passed, Option<Seen>) {
        let failed = |status: u16| (Passed { status, headers: Vec::new(), is_answer: false, is_own: false }, None);
        let Some(upstream) = self.choose_upstream() else { return failed(503) };
        let origin = upstream.name.origin.or_else(|| upstream.service.as_ref()?.origin);
        self.step("upstream", upstream.name.value.to_string(), origin);
        let peers = peers(self.nginx, &upstream);
        let is_certain = self.upstreams.has_single_endpoints;
        let conditions: Vec<&str> =
            scope.all(&["proxy_next_upstream"]).iter().flat_map(|directive| &directive.args).map(chancery_text::Str::as_str).collect();
        let tries = scope.value("proxy_next_upstream_tries").and_then(|tries| tries.parse::<usize>().ok()).unwrap_or_default();
        let most = if tries == 0 { usize::MAX } else { tries };
        let is_off = conditions.contains(&"off");
        let repeats_all = conditions.contains(&"non_idempotent") || !matches!(self.request.method.as_str(), "POST" | "LOCK" | "PATCH");
        let path = self.path_for();
        let fault = self.certificate_fault(scope, pass);
        if let Some(cookie) = self.affinity_cookie(&upstream) {
            self.set("affinity_cookie", cookie);
        }
        let mut last = failed(502);
        for (attempt, peer) in peers.iter().cycle().take(peers.len().max(1).saturating_mul(8)).enumerate() {
            if attempt >= most {
                break;
            }
            if peer.target == format!("127.0.0.1:{}", self.nginx.ports.default) {
                return (Passed { status: 404, headers: Vec::new(), is_answer: true, is_own: true }, None);
            }
            let behaviour = self.world.behaviour(&peer.address);
            let refuses = behaviour == Some(None) || fault.is_some();
            let endpoint = is_certain.then(|| peer.target.clone());
            if refuses {
                last = failed(502);
                self.response.why.clone_from(&fault);
                if is_off || !conditions.contains(&"error") || fault.is_some() && !repeats_all {
                    break;
                }
                continue;
            }
            let mut seen = self.seen(scope, pass, endpoint, path.clone());
            self.reuse(pass, &peer.target, &mut seen);
            let answer = self.request.service.clone();
            let status = behaviour.flatten().unwrap_or(answer.status);
            let condition = format!("http_{status}");
            let is_last = attempt + 1 >= most || attempt + 1 >= peers.len();
            let repeats = !is_off && repeats_all && conditions.contains(&condition.as_str());
            let previous = core::mem::replace(&mut last, (Passed { status, headers: answer.headers, is_answer: true, is_own: false }, Some(seen)));
            if is_certain {
                self.others.extend(previous.1);
            }
            if !repeats || is_last && peers.len() > 1 {
                break;
            }
        }
        last
    }

    /// Returns the name that nginx sends and verifies in the TLS handshake with a service: by default, the host of `proxy_pass`.
    ///
    /// nginx `src/http/ngx_http_upstream.c` (`ngx_http_upstream_ssl_name`).
    fn service_name(&self, scope: &Scope<'d>, pass: &Directive) -> String {
        let name = match scope.value("proxy_ssl_name") {
            Some(name) => self.evaluate(name),
            None => self.evaluate(pass.arg(0)).split_once("://").map(|(_, rest)| rest.to_string()).unwrap_or_default(),
        };
        name.split([':', '/']).next().unwrap_or_default().to_string()
    }

    /// Returns the reason for nginx to reject the certificate of the service, if it verifies certificates.
    ///
    /// nginx `src/http/ngx_http_upstream.c` (`ngx_http_upstream_ssl_handshake`).
    fn certificate_fault(&mut self, scope: &Scope<'d>, pass: &Directive) -> Option<String> {
        if pass.name != "proxy_pass" || !scope.is_on("proxy_ssl_verify") || !self.evaluate(pass.arg(0)).starts_with("https") {
            return None;
        }
        if scope.last("proxy_ssl_name").is_none() {
            let name = self.service_name(scope, pass);
            return Some(format!("nginx verifies the service's certificate for the name `{name}`; set `proxy-ssl-name`"));
        }
        self.note("the answer assumes that a CA of `proxy-ssl-secret` signed the service's certificate");
        None
    }

    /// Remembers open TLS connections. A later request reuses such a connection, even if it would not use TLS itself.
    fn reuse(&mut self, pass: &Directive, target: &str, seen: &mut Seen) {
        if !pass.arg(0).starts_with("$scheme") || self.nginx.globals.number("upstream-keepalive-connections").value == 0 {
            return;
        }
        if seen.protocol.ends_with("+tls") {
            self.kept.tls.insert(target.into());
        } else if self.kept.tls.contains(target) {
            seen.protocol.push_str("+tls");
        }
    }

    /// Passes a request to the URL of a directive, for authentication and copies. Returns `None` if no service answers.
    pub fn pass_to_url(&mut self, scope: &Scope<'d>, pass: Pass) -> Option<Passed> {
        let directive = scope.last("proxy_pass")?;
        let has_variables = directive.arg(0).contains('$');
        let url = self.evaluate(directive.arg(0));
        let (scheme, rest) = url.split_once("://")?;
        let (authority, own_path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let (name, port) = match authority.rsplit_once(':').filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit())) {
            Some((name, port)) => (name, port.to_string()),
            None => (authority, if scheme == "https" { "443".into() } else { "80".into() }),
        };
        let (own, args) = &pass.path;
        let query = if args.is_empty() { String::new() } else { format!("?{args}") };
        let path = match (own_path.is_empty(), has_variables) {
            (true, _) => format!("{}{query}", escape(own, Escape::Uri)),
            (false, true) => own_path.to_string(),
            (false, false) => format!("{own_path}{query}"),
        };
        let address = address_of(self.nginx, name)?;
        let behaviour = self.world.behaviour(&address);
        if behaviour == Some(None) {
            return None;
        }
        let (host, headers) = self.headers_for(scope, authority, pass.body);
        let base = if scope.value("proxy_http_version") == Some("1.1") { "http" } else { "http/1.0" };
        let is_tls = scheme == "https";
        let seen = Seen {
            method: pass.method,
            path,
            host,
            protocol: if is_tls { format!("{base}+tls") } else { base.into() },
            headers,
            endpoint: Some(format!("{address}:{port}")),
            body: pass.body,
            sni: (is_tls && scope.is_on("proxy_ssl_server_name")).then(|| name.to_string()),
            ..Seen::default()
        };
        self.others.push(seen);
        Some(Passed { status: behaviour.flatten().unwrap_or(pass.answer.status), headers: pass.answer.headers, is_answer: true, is_own: false })
    }

    /// Returns the headers of a service's response that the client receives.
    pub fn visible_headers(&self, scope: &Scope<'d>, headers: &[(String, String)]) -> Vec<(String, String)> {
        let hidden = scope.all(&["proxy_hide_header"]);
        let passed = scope.all(&["proxy_pass_header"]);
        let is = |directives: &[&Directive], name: &str| directives.iter().any(|directive| directive.arg(0).eq_ignore_ascii_case(name));
        let is_visible = |name: &str| {
            let lower = name.to_ascii_lowercase();
            !is(&hidden, name) && (is(&passed, name) || !HIDDEN.contains(&lower.as_str()) && !lower.starts_with("x-accel-"))
        };
        let rewritten = |(name, value): &(String, String)| {
            let value = match name.to_ascii_lowercase().as_str() {
                "location" | "refresh" => self.redirect_of(scope, value),
                _ => value.clone(),
            };
            (name.clone(), value)
        };
        headers.iter().filter(|(name, _)| is_visible(name)).map(rewritten).collect()
    }

    /// Applies `proxy_redirect`: replaces the beginning of a Location header.
    fn redirect_of(&self, scope: &Scope<'d>, value: &str) -> String {
        let Some(directive) = scope.last("proxy_redirect") else { return value.into() };
        let (from, to) = match directive.arg(0) {
            "off" => return value.into(),
            // The location replaces the service's URL. A URL without a path stays unchanged.
            "default" => (format!("{}/", self.evaluate(scope.value("proxy_pass").unwrap_or_default())), "/".into()),
            from => (self.evaluate(from), self.evaluate(directive.arg(1))),
        };
        value.strip_prefix(from.as_str()).map_or_else(|| value.into(), |rest| format!("{to}{rest}"))
    }
}
