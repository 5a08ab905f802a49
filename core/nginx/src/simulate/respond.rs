//! Builds responses: nginx's pages, redirects, responses of services, and the headers that directives add.
//!
//! nginx `src/http/ngx_http_special_response.c`, `src/http/ngx_http_header_filter_module.c`; the module headers-more.

use super::content::Passed;
use super::exchange::Exchange;
use super::message::{Response, Seen};
use super::scope::Scope;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Whether nginx has a page for a status.
fn has_page(code: u16) -> bool {
    matches!(code, 301..=303 | 307 | 308 | 400..=406 | 408..=416 | 421 | 429 | 494..=497 | 500..=505 | 507)
}

/// Whether `add_header` without `always` applies to a status.
fn is_plain(code: u16) -> bool {
    matches!(code, 200 | 201 | 204 | 206 | 301..=304 | 307 | 308)
}

const CONTENT_TYPE: &str = "content-type";

impl Exchange<'_> {
    /// Responds with nginx's own page for a status.
    pub fn page(&mut self, code: u16, scope: &Scope<'_>) {
        let mut headers = Vec::new();
        if has_page(code) {
            headers.push((CONTENT_TYPE.to_string(), "text/html".to_string()));
        }
        headers.extend(self.variables.remove("(challenge)").map(|challenge| ("www-authenticate".to_string(), challenge)));
        self.close(code, headers, scope);
    }

    /// Sets the challenge to authenticate for the next page.
    pub fn challenge(&mut self, challenge: Option<String>) {
        if let Some(challenge) = challenge {
            self.set("(challenge)", challenge);
        }
    }

    /// Responds with a text.
    pub fn respond(&mut self, code: u16, text: &str, scope: &Scope<'_>) {
        let mut headers = Vec::new();
        if !text.is_empty() || code < 300 || has_page(code) {
            headers.push((CONTENT_TYPE.to_string(), scope.value("default_type").unwrap_or("text/html").to_string()));
        }
        self.close(code, headers, scope);
    }

    /// Redirects the client. A location without a host gets the scheme and host of the request.
    pub fn redirect(&mut self, code: u16, location: &str, scope: &Scope<'_>) {
        self.response.location = Some(self.absolute(location, scope));
        let headers = if has_page(code) { Vec::from([(CONTENT_TYPE.to_string(), "text/html".to_string())]) } else { Vec::new() };
        self.close(code, headers, scope);
    }

    fn absolute(&self, location: &str, scope: &Scope<'_>) -> String {
        if !location.starts_with('/') || scope.value("absolute_redirect") == Some("off") {
            return location.into();
        }
        let port = self.variable("server_port");
        let usual = if self.request.tls { "443" } else { "80" };
        let port = if scope.is_on("port_in_redirect") && port != usual { format!(":{port}") } else { String::new() };
        format!("{}://{}{port}{location}", self.variable("scheme"), self.variable("host"))
    }

    /// Returns a service's response to the client.
    pub fn pass_back(&mut self, passed: Passed, seen: Option<Seen>, scope: &Scope<'_>) {
        self.response.seen = seen;
        let mut headers: Vec<(String, String)> = Vec::new();
        if passed.is_own {
            self.is_own_page = true;
            headers.push((CONTENT_TYPE.into(), "text/html".into()));
        } else {
            self.upstream_headers = passed.headers.clone();
            for (name, value) in self.visible_headers(scope, &passed.headers) {
                match name.eq_ignore_ascii_case("location") {
                    true => self.response.location = Some(self.absolute(&value, scope)),
                    false => headers.push((name.to_ascii_lowercase(), value)),
                }
            }
        }
        self.close(passed.status, headers, scope);
    }

    /// Adds the headers of directives and Lua code, and ends the response.
    fn close(&mut self, code: u16, mut headers: Vec<(String, String)>, scope: &Scope<'_>) {
        self.response.status = code;
        if let Some(cookie) = self.variables.remove("affinity_cookie") {
            headers.push(("set-cookie".into(), cookie));
        }
        for directive in scope.all(&["add_header"]) {
            let value = self.evaluate(directive.arg(1));
            if !value.is_empty() && (is_plain(code) || directive.arg(2) == "always") {
                headers.push((directive.arg(0).to_ascii_lowercase(), value));
            }
        }
        let globals = &self.nginx.globals;
        if self.has_header_filter && self.request.tls && globals.flag("hsts").value {
            let mut value = format!("max-age={}", globals.text("hsts-max-age").value);
            if globals.flag("hsts-include-subdomains").value {
                value.push_str("; includeSubDomains");
            }
            if globals.flag("hsts-preload").value {
                value.push_str("; preload");
            }
            replace(&mut headers, "strict-transport-security", Some(value));
        }
        for directive in scope.merged(&["more_set_headers", "more_clear_headers"]) {
            self.more_headers(directive, code, &mut headers);
        }
        if code == 204 {
            headers.retain(|(name, _)| name != CONTENT_TYPE);
        }
        self.compress(code, &mut headers, scope);
        let mut by_name: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (name, value) in headers {
            if !matches!(name.as_str(), "server" | "date" | "content-length" | "connection" | "transfer-encoding" | "etag") {
                by_name.entry(name).or_default().push(value);
            }
        }
        self.response.headers = by_name.into_iter().collect();
    }

    /// Applies `gzip`. A response without a type is treated as JSON, whatever its length.
    fn compress(&self, code: u16, headers: &mut Vec<(String, String)>, scope: &Scope<'_>) {
        let is_encoded = headers.iter().any(|(name, _)| name == "content-encoding");
        if !scope.is_on("gzip") || !matches!(code, 200 | 403 | 404) || is_encoded {
            return;
        }
        let named = headers.iter().find(|(name, _)| name == CONTENT_TYPE).map(|(_, value)| value.clone());
        let own = named.unwrap_or_else(|| "application/json".into());
        let own = own.split(';').next().unwrap_or_default();
        let types = scope.all(&["gzip_types"]);
        let has_type = own == "text/html" || types.iter().flat_map(|directive| &directive.args).any(|known| *known == own || *known == "*");
        if !has_type {
            return;
        }
        // A page of nginx's own default server passes through two servers.
        for _ in 0..if self.is_own_page { 2 } else { 1 } {
            headers.push(("vary".into(), "Accept-Encoding".into()));
        }
        if self.header_variable("accept_encoding").contains("gzip") {
            headers.push(("content-encoding".into(), "gzip".into()));
        }
    }

    /// Applies `more_set_headers` and `more_clear_headers`, which may be limited to some statuses and types.
    fn more_headers(&mut self, directive: &crate::directive::Directive, code: u16, headers: &mut Vec<(String, String)>) {
        let mut args = directive.args.iter();
        let mut names: Vec<&str> = Vec::new();
        let (mut statuses, mut types) = (String::new(), String::new());
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "-s" => statuses = args.next().map(ToString::to_string).unwrap_or_default(),
                "-t" => types = args.next().map(ToString::to_string).unwrap_or_default(),
                "-r" | "-a" => {}
                name => names.push(name),
            }
        }
        let has_status = statuses.is_empty() || statuses.split([' ', ',']).any(|status| status == format!("{code}"));
        let own_type =
            headers.iter().find(|(name, _)| name == CONTENT_TYPE).map(|(_, value)| value.split(';').next().unwrap_or_default().to_string());
        let has_type = types.is_empty() || own_type.is_some_and(|own| types.split([' ', ',']).any(|known| known == own));
        if !has_status || !has_type {
            return;
        }
        for text in names {
            let (name, value) = text.split_once(':').map_or((text, ""), |(name, value)| (name, value.trim()));
            let name = name.trim().to_ascii_lowercase();
            let is_set = directive.name == "more_set_headers" && !value.is_empty();
            let value = is_set.then(|| self.evaluate(value)).filter(|value| !value.is_empty());
            match name.strip_suffix('*') {
                Some(beginning) if !is_set => headers.retain(|(own, _)| !own.starts_with(beginning)),
                _ if name == "location" => self.response.location = value,
                _ => replace(headers, &name, value),
            }
        }
    }

    /// Completes the response with data from variables.
    pub fn finish(mut self) -> Response {
        let variable = |name: &str| self.variables.get(name).cloned().filter(|value| !value.is_empty());
        // A copy of the request resets the name. Then only the endpoint identifies the upstream.
        let is_lost = self.is_mirrored && self.response.seen.is_none();
        let upstream = variable("proxy_upstream_name").filter(|name| name != "-" && !is_lost);
        self.response.upstream = variable("proxy_alternative_upstream_name").or(upstream);
        self.response.ingress = variable("namespace").zip(variable("ingress_name")).map(|(namespace, name)| format!("{namespace}/{name}"));
        let path = variable("location_path");
        self.response.location_path = self.response.ingress.is_some().then_some(path).flatten();
        self.response.others = core::mem::take(&mut self.others);
        self.response
    }
}

/// Replaces all headers of a name, or removes them.
fn replace(headers: &mut Vec<(String, String)>, name: &str, value: Option<String>) {
    headers.retain(|(own, _)| own != name);
    headers.extend(value.map(|value| (name.to_string(), value)));
}
