//! A request from the connection to the service, phase by phase.
//!
//! nginx `src/http/ngx_http_request.c`, `src/http/ngx_http_core_module.c`.

use super::Simulator;
use super::access::{Counted, Refusal};
use super::choose::{self, Found};
use super::content::Pass;
use super::exchange::Exchange;
use super::message::{Request, Response, Seen, Version, World};
use super::rewrite::Flow;
use super::scope::Scope;
use super::tls;
use super::uri::{self, Escape, Target, escape};
use crate::directive::Directive;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// How often a request may move to another location.
const MOST_MOVES: usize = 10;
/// The longest line of a request.
const LONGEST: usize = 8 << 10;

/// How a location ends.
#[derive(Debug)]
pub(super) enum Ending {
    /// A status that may have an error page, and how the client may authenticate itself.
    Status(u16, Option<String>),
    /// A response without an error page: a status, a text, or a location.
    Respond(u16, String),
    /// A redirect.
    Redirect(u16, String),
    /// What a service answered.
    Passed(Box<super::content::Passed>, Option<Seen>),
    /// The path is moved to another location.
    Again,
}

impl<'n> Simulator<'n> {
    /// The response to one request.
    pub(super) fn one(&self, world: &World, request: &Request, counted: &mut Counted) -> Response {
        let mut exchange = Exchange {
            nginx: self.nginx,
            patterns: &self.patterns,
            upstreams: &self.upstreams,
            world,
            request,
            target: Target::default(),
            uri: String::new(),
            args: String::new(),
            is_rewritten: false,
            host: String::new(),
            server_name: String::new(),
            remote: request.client,
            variables: BTreeMap::new(),
            captures: Default::default(),
            upstream_headers: Vec::new(),
            response: Response::default(),
            others: Vec::new(),
            has_header_filter: false,
            moves: 0,
            is_mirrored: false,
            is_own_page: false,
            changed_headers: None,
            kept: core::mem::take(&mut counted.kept),
            verified: None,
        };
        if request.tls {
            if let Some(response) = self.handshake(request, world) {
                counted.kept = exchange.kept;
                return response;
            }
            exchange.response.certificate = Some(tls::shown_name(self.nginx, request.sni.as_deref()));
        }
        self.read(&mut exchange, counted);
        counted.kept = core::mem::take(&mut exchange.kept);
        exchange.finish()
    }

    /// What the connection comes to before there is a request: TLS that is passed on, or refused.
    fn handshake(&self, request: &Request, world: &World) -> Option<Response> {
        let sni = request.sni.as_deref().unwrap_or_default();
        if self.nginx.ports.has_ssl_passthrough
            && let Some(passed) = self.nginx.passthrough.iter().find(|passed| passed.host.value == sni)
        {
            let Some(target) = passed.address.clone().filter(|target| !target.is_empty()) else {
                return Some(Response { error: Some("tls handshake: EOF".into()), ..Response::default() });
            };
            let address = target.rsplit_once(':').map_or(target.as_str(), |(address, _)| address);
            let body = request.body.unwrap_or_default();
            let mut headers: Vec<(String, String)> = Vec::from([("connection".into(), "close".into())]);
            headers.extend(
                request
                    .headers
                    .iter()
                    .filter(|(name, _)| !name.to_ascii_lowercase().starts_with("x-echo-"))
                    .map(|(name, value)| (name.to_ascii_lowercase(), value.clone())),
            );
            if body > 0 {
                headers.push(("content-length".into(), body.to_string()));
            }
            headers.sort();
            let seen = Seen {
                method: request.method.clone(),
                path: request.path.clone(),
                host: request.host.clone(),
                protocol: "http+tls".into(),
                headers,
                endpoint: Some(target.to_string()),
                sni: Some(sni.into()),
                body,
                ..Seen::default()
            };
            let status = world.behaviour(address).flatten().unwrap_or(request.service.status);
            return Some(Response { status, seen: Some(seen), certificate: Some("echo.test".into()), ..Response::default() });
        }
        let is_unknown = matches!(self.names.server(sni, &self.patterns), (choose::ServerIndex::Host(at), _) if self.nginx.servers.get(at).is_some_and(|server| server.host.value == "_"));
        if is_unknown && self.nginx.globals.flag("ssl-reject-handshake").value {
            let error = "tls handshake: remote error: tls: unrecognized name".into();
            return Some(Response { error: Some(error), ..Response::default() });
        }
        None
    }

    /// Reads the request, and finds its server.
    fn read(&self, exchange: &mut Exchange<'_>, counted: &mut Counted) {
        let request = exchange.request;
        if request.path.len() + request.method.len() + 11 > LONGEST {
            return exchange.page(414, &Scope::default());
        }
        let Some(target) = uri::parse(&request.path) else { return exchange.page(400, &Scope::default()) };
        let header = if request.host.is_empty() { None } else { Some(request.host.as_str()) };
        let written = target.host.clone().or_else(|| header.map(ToString::to_string));
        if written.is_none() && request.version != Version::Http10 {
            return exchange.page(400, &Scope::default());
        }
        let is_too_long = request.headers.iter().any(|(name, value)| name.len() + value.len() + 4 > LONGEST);
        let host = written.as_deref().map_or(Some(String::new()), uri::host_name);
        let Some(host) = host.filter(|_| !is_too_long) else { return exchange.page(400, &Scope::default()) };
        exchange.uri = target.path.clone();
        exchange.args = target.args.clone();
        exchange.target = target;
        let (server, captures) = self.names.server(&host, &self.patterns);
        exchange.host = host;
        exchange.captures = captures;
        let block = self.server(server);
        exchange.server_name =
            block.iter().find(|directive| directive.name == "server_name").map(|directive| directive.arg(0).to_string()).unwrap_or_default();
        let origin = match server {
            choose::ServerIndex::Host(at) => self.nginx.servers.get(at).and_then(|server| server.host.origin),
            choose::ServerIndex::Redirect(at) => self.nginx.redirects.get(at).and_then(|redirect| redirect.from.origin),
        };
        exchange.step("server", exchange.server_name.clone(), origin);
        let scope = Scope::new([self.http.as_slice(), block]);
        if matches!(request.method.as_str(), "TRACE" | "CONNECT") {
            return exchange.page(405, &scope);
        }
        exchange.remote = exchange.real_address();
        if request.tls && !self.check_certificate(exchange, &scope, block, counted) {
            return;
        }
        self.run_server(exchange, &scope, block, counted);
    }

    /// Checks client certificates, as the server of the handshake's name does. Returns whether the request continues.
    fn check_certificate(&self, exchange: &mut Exchange<'_>, scope: &Scope<'_>, block: &[Directive], counted: &mut Counted) -> bool {
        let by_name = exchange.request.sni.as_deref().unwrap_or_default();
        let named = self.server(self.names.server(by_name, &self.patterns).0);
        let mode = |block: &[Directive]| -> String {
            block
                .iter()
                .find(|directive| directive.name == "ssl_verify_client")
                .map_or_else(|| "off".into(), |directive| directive.arg(0).to_string())
        };
        let asked = mode(named);
        let own = mode(block);
        if asked != "off" {
            exchange.verified = exchange.request.certificate.as_ref().map(|name| name != "bad");
        }
        if own == "off" {
            return true;
        }
        if !core::ptr::eq(named, block) {
            // The handshake was for another server.
            exchange.page(421, scope);
            return false;
        }
        let failed = match (own.as_str(), exchange.verified) {
            ("on", None) => Some(496),
            ("on" | "optional", Some(false)) => Some(495),
            _ => None,
        };
        let Some(code) = failed else { return true };
        let page = scope.all(&["error_page"]).into_iter().find(|directive| directive.args.iter().any(|arg| *arg == format!("{code}")));
        match page.and_then(|directive| directive.args.last()).map(ToString::to_string) {
            Some(url) if url.starts_with("http://") || url.starts_with("https://") => exchange.redirect(302, &url, scope),
            Some(path) if path.starts_with('/') => {
                exchange.uri = path;
                exchange.is_rewritten = true;
                exchange.moves += 1;
                self.find(exchange, scope, block, counted);
            }
            _ => exchange.page(400, scope),
        }
        false
    }

    /// The server's own directives, then its locations.
    fn run_server(&self, exchange: &mut Exchange<'_>, scope: &Scope<'_>, block: &[Directive], counted: &mut Counted) {
        let mut branch = None;
        match exchange.rewrite(block, &mut branch) {
            Flow::Continue | Flow::Again => self.find(exchange, scope, block, counted),
            Flow::Respond(code, text) => exchange.respond(code, &text, scope),
            Flow::Redirect(code, url) => exchange.redirect(code, &url, scope),
            Flow::Status(code) => self.error(exchange, scope, block, code, None, counted),
        }
    }

    /// Finds the location of the path, and runs it.
    pub(super) fn find(&self, exchange: &mut Exchange<'_>, scope: &Scope<'_>, block: &[Directive], counted: &mut Counted) {
        if exchange.moves > MOST_MOVES {
            return exchange.page(500, scope);
        }
        let path = exchange.uri.clone();
        match choose::location(block, &path, &self.patterns) {
            Found::Nothing => self.error(exchange, scope, block, 404, None, counted),
            Found::Unknown => {
                exchange.gap("a path is an expression that is not evaluated");
                exchange.page(404, scope);
            }
            Found::Slash(location) => {
                let own = scope.with(location.inner());
                exchange.has_header_filter = true;
                let query = if exchange.args.is_empty() { String::new() } else { format!("?{}", exchange.args) };
                let name = escape(location.args.last().map_or("", chancery_text::Str::as_str), Escape::Uri);
                exchange.redirect(301, &format!("{name}{query}"), &own);
            }
            Found::Location(location, captures) => {
                if choose::is_internal(location) && exchange.moves == 0 {
                    return self.error(exchange, scope, block, 404, None, counted);
                }
                if !captures.groups.is_empty() {
                    exchange.captures = captures;
                }
                self.run_location(exchange, scope, block, location, counted);
            }
        }
    }

    /// Runs a location, from its rewrites to its response.
    pub(super) fn run_location(
        &self,
        exchange: &mut Exchange<'_>,
        server: &Scope<'_>,
        block: &[Directive],
        location: &Directive,
        counted: &mut Counted,
    ) {
        let inner = location.inner();
        let name: Vec<&str> = location.args.iter().map(chancery_text::Str::as_str).collect();
        exchange.step("location", name.join(" "), location.origin);
        if let Some(nested) = choose::nested(inner, &exchange.uri, &self.patterns) {
            exchange.gap(format!("the location `{nested}` inside another location is not evaluated"));
        }
        let mut scope = server.with(inner);
        exchange.has_header_filter = inner.iter().any(|directive| directive.name == "header_filter_by_lua_file");
        if self.is_too_large(exchange, &scope) {
            return self.error(exchange, &scope, block, 413, None, counted);
        }
        let mut branch = None;
        let mut flow = exchange.rewrite(inner, &mut branch);
        if let Some(branch) = branch {
            scope = scope.with(branch);
        }
        if flow == Flow::Continue && inner.iter().any(|directive| directive.name == "rewrite_by_lua_file") {
            flow = exchange.run_lua();
            if flow == Flow::Continue && exchange.choose_upstream().is_none() {
                flow = Flow::Status(503);
            }
        }
        let ending = match flow {
            Flow::Continue => self.serve(exchange, &scope, block, counted),
            Flow::Again => Ending::Again,
            Flow::Respond(code, text) => Ending::Respond(code, text),
            Flow::Redirect(code, url) => Ending::Redirect(code, url),
            Flow::Status(code) => Ending::Status(code, None),
        };
        match ending {
            Ending::Again => {
                exchange.moves += 1;
                self.find(exchange, server, block, counted);
            }
            Ending::Respond(code, text) => exchange.respond(code, &text, &scope),
            Ending::Redirect(code, url) => exchange.redirect(code, &url, &scope),
            Ending::Status(code, challenge) => self.error(exchange, &scope, block, code, challenge, counted),
            Ending::Passed(passed, seen) => {
                let intercepts = scope.is_on("proxy_intercept_errors") && passed.is_answer && passed.status >= 300;
                if intercepts && self.error_page(exchange, &scope, passed.status).is_some() {
                    exchange.others.extend(seen);
                    return self.error(exchange, &scope, block, passed.status, None, counted);
                }
                if !passed.is_answer {
                    return self.error(exchange, &scope, block, passed.status, None, counted);
                }
                exchange.pass_back(*passed, seen, &scope);
            }
        }
    }

    /// Limits, access, copies, and then the service.
    fn serve(&self, exchange: &mut Exchange<'_>, scope: &Scope<'_>, block: &[Directive], counted: &mut Counted) -> Ending {
        scope.merged(&["more_set_input_headers", "more_clear_input_headers"]).into_iter().for_each(|directive| exchange.change_headers(directive));
        let checked = exchange.check_limits(scope, counted).and_then(|()| exchange.check_access(scope, block));
        if let Err(Refusal { status, challenge }) = checked {
            return Ending::Status(status, challenge);
        }
        if scope.last("stub_status").is_some() {
            return Ending::Respond(200, String::new());
        }
        let copies = self.mirror(exchange, scope, block);
        let pass = scope.all(&["proxy_pass", "grpc_pass", "fastcgi_pass"]).pop();
        let Some(pass) = pass else { return Ending::Status(404, None) };
        if !pass.arg(0).contains("upstream_balancer") {
            let path = (exchange.uri.clone(), exchange.args.clone());
            let method = exchange.request.method.clone();
            let (body, answer) = (exchange.request.body.unwrap_or_default(), exchange.request.service.clone());
            let passed = exchange.pass_to_url(scope, Pass { method, path, body, answer });
            let seen = exchange.others.pop();
            return match passed {
                Some(passed) => Ending::Passed(Box::new(passed), seen),
                None => Ending::Status(502, None),
            };
        }
        let (passed, seen) = exchange.pass_to_upstream(scope, pass);
        if let Some(path) = copies {
            self.mirror_to_path(exchange, block, path);
        }
        Ending::Passed(Box::new(passed), seen)
    }

    /// Sends a copy of the request, if the location mirrors. Returns the path if it has no location.
    fn mirror<'d>(&self, exchange: &mut Exchange<'_>, scope: &Scope<'d>, block: &[Directive]) -> Option<&'d str> {
        let path = scope.value("mirror").filter(|path| *path != "off")?;
        let location = block.iter().find(|directive| directive.name == "location" && directive.arg(0) == "=" && directive.arg(1) == path);
        let Some(location) = location else { return Some(path) };
        exchange.is_mirrored = true;
        let body = exchange.request.body.unwrap_or_default();
        if body > 0 && scope.value("mirror_request_body") == Some("off") {
            exchange.note("the copy announces a body that never comes: no service answers it");
            return None;
        }
        let args = exchange.args.clone();
        let own = Scope::new([self.http.as_slice(), block, location.inner()]);
        let answer = exchange.request.service.clone();
        let method = exchange.request.method.clone();
        exchange.pass_to_url(&own, Pass { method, path: (path.into(), args), body, answer });
        None
    }

    /// Sends a copy to the location of its path. The variables are the variables of the request.
    fn mirror_to_path(&self, exchange: &mut Exchange<'_>, block: &[Directive], path: &str) {
        let Found::Location(location, _) = choose::location(block, path, &self.patterns) else { return };
        let scope = Scope::new([self.http.as_slice(), block, location.inner()]);
        let Some(pass) = scope.all(&["proxy_pass", "grpc_pass", "fastcgi_pass"]).pop() else { return };
        let (uri, args, rewritten) = (exchange.uri.clone(), exchange.args.clone(), exchange.is_rewritten);
        exchange.uri = path.into();
        exchange.is_rewritten = true;
        let mut branch = None;
        if exchange.rewrite(location.inner(), &mut branch) == Flow::Continue {
            let (_, seen) = exchange.pass_to_upstream(&scope, pass);
            exchange.others.extend(seen);
        }
        (exchange.uri, exchange.args, exchange.is_rewritten) = (uri, args, rewritten);
    }

    /// Whether the body is larger than the location accepts.
    fn is_too_large(&self, exchange: &Exchange<'_>, scope: &Scope<'_>) -> bool {
        let most = scope.value("client_max_body_size").and_then(size).unwrap_or(1 << 20);
        most > 0 && exchange.request.body.unwrap_or_default() > most
    }

    /// The error page of a status at a place.
    pub(super) fn error_page(&self, exchange: &Exchange<'_>, scope: &Scope<'_>, code: u16) -> Option<String> {
        if exchange.moves > 0 && exchange.variables.contains_key("(error)") {
            return None;
        }
        let text = format!("{code}");
        let directives = scope.all(&["error_page"]);
        let found = directives.into_iter().find(|directive| directive.args.iter().any(|arg| *arg == text))?;
        found.args.last().map(ToString::to_string)
    }

    /// A status: its error page, or nginx's own.
    pub(super) fn error(
        &self,
        exchange: &mut Exchange<'_>,
        scope: &Scope<'_>,
        block: &[Directive],
        code: u16,
        challenge: Option<String>,
        counted: &mut Counted,
    ) {
        let Some(page) = self.error_page(exchange, scope, code) else {
            exchange.challenge(challenge);
            return exchange.page(code, scope);
        };
        exchange.set("(error)", format!("{code}"));
        exchange.moves += 1;
        let server = Scope::new([self.http.as_slice(), block]);
        if let Some(name) = page.strip_prefix('@') {
            let named = block.iter().find(|directive| directive.name == "location" && directive.arg(0).strip_prefix('@') == Some(name));
            return match named {
                Some(location) => self.run_location(exchange, &server, block, location, counted),
                None => exchange.page(500, &server),
            };
        }
        let page = exchange.evaluate(&page);
        if page.starts_with("http://") || page.starts_with("https://") {
            return exchange.redirect(302, &page, scope);
        }
        exchange.uri = page;
        exchange.is_rewritten = true;
        self.find(exchange, &server, block, counted);
    }
}

/// A size in bytes.
fn size(text: &str) -> Option<u64> {
    let unit = |letter: char| match letter.to_ascii_lowercase() {
        'k' => Some(1 << 10),
        'm' => Some(1 << 20),
        'g' => Some(1 << 30),
        _ => None,
    };
    let (digits, factor) = match text.chars().next_back().and_then(unit) {
        Some(factor) => (text.get(..text.len() - 1)?, factor),
        None => (text, 1),
    };
    digits.parse::<u64>().ok()?.checked_mul(factor)
}
