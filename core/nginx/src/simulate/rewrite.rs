//! Runs the rewrite phase: `set`, `if`, `return`, `rewrite` and `break` in order, then the Lua code of a location.
//!
//! nginx `src/http/modules/ngx_http_rewrite_module.c`; ingress-nginx `rootfs/etc/nginx/lua/lua_ingress.lua`.

use super::exchange::{Exchange, is_unknown};
use super::uri::{Escape, escape};
use crate::directive::Directive;
use crate::shared_directives::UNREADABLE;
use alloc::format;
use alloc::string::{String, ToString};

/// The result of a phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flow {
    /// The next phase follows.
    Continue,
    /// nginx searches for the location again.
    Again,
    /// A response without an error page.
    Respond(u16, String),
    Redirect(u16, String),
    /// A status that may have an error page.
    Status(u16),
}

/// Whether the simulation handles a directive in another phase, or it changes no simulated response.
fn is_known(name: &str) -> bool {
    const KNOWN: &[&str] = &[
        "proxy_",
        "grpc_",
        "fastcgi_",
        "more_",
        "add_header",
        "expires",
        "access_log",
        "error_log",
        "rewrite_log",
        "log_",
        "client_",
        "limit_",
        "keepalive",
        "send_timeout",
        "gzip",
        "brotli",
        "modsecurity_",
        "opentelemetry",
        "satisfy",
        "allow",
        "deny",
        "auth_basic",
        "auth_digest",
        "auth_request",
        "error_page",
        "location",
        "server_name",
        "ssl_",
        "internal",
        "mirror",
        "port_in_redirect",
        "absolute_redirect",
        "rewrite_by_lua_file",
        "header_filter_by_lua_file",
        "include",
        "stub_status",
        "underscores_in_headers",
        "ignore_invalid_headers",
        "default_type",
        "server_tokens",
        "real_ip",
        "set_real_ip_from",
        "http2",
        "sub_filter_",
        "chunked_transfer_encoding",
        "tcp_",
        "large_client_header_buffers",
        "set_by_lua_file",
        "uninitialized_variable_warn",
    ];
    // Its block allows or denies methods, which is not evaluated.
    name != "limit_except" && KNOWN.iter().any(|known| name.starts_with(known))
}

/// Returns the first variable in a string whose value the simulation cannot know.
fn unknown_variable(text: &str) -> Option<&str> {
    let name = |rest: &'_ str| -> usize { rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len()) };
    let names = text.split('$').skip(1).map(|rest| rest.strip_prefix('{').unwrap_or(rest)).filter_map(|rest| rest.get(..name(rest)));
    names.into_iter().find(|name| is_unknown(name))
}

impl<'d> Exchange<'_> {
    /// Runs the directives of a block in order. `branch` becomes the last `if` whose condition was true: its directives also apply.
    pub fn rewrite(&mut self, block: &'d [Directive], branch: &mut Option<&'d [Directive]>) -> Flow {
        match self.run(block, branch, 0) {
            Some(flow) => flow,
            None => Flow::Continue,
        }
    }

    /// Returns `Some(Flow::Continue)` if `break` skips the later directives.
    fn run(&mut self, block: &'d [Directive], branch: &mut Option<&'d [Directive]>, depth: usize) -> Option<Flow> {
        for directive in block {
            match directive.name.as_str() {
                "set" => {
                    let value = self.evaluate(directive.arg(1));
                    self.set(directive.arg(0), value);
                }
                "set_escape_uri" => {
                    let value = escape(&self.evaluate(directive.arg(1)), Escape::Component);
                    self.set(directive.arg(0), value);
                }
                "set_by_lua_file" if directive.arg(1).ends_with("ngx_srv_redirect.lua") => {
                    let value = self.www_redirect(directive.arg(2));
                    self.set(directive.arg(0), value);
                }
                "break" => return Some(Flow::Continue),
                "return" => return Some(self.return_of(directive)),
                "rewrite" => {
                    if let Some(flow) = self.rewrite_path(directive) {
                        return Some(flow);
                    }
                }
                "if" => {
                    if self.condition(directive) == Some(true) && depth < 4 {
                        self.response.fulfilled.push(directive.condition_words().join(" "));
                        *branch = Some(directive.inner());
                        if let Some(flow) = self.run(directive.inner(), branch, depth + 1) {
                            return Some(flow);
                        }
                    }
                }
                "modsecurity" if directive.arg(0) == "on" => self.gap("what ModSecurity denies is not evaluated"),
                "modsecurity" => {}
                UNREADABLE => self.gap("a snippet cannot be read; nginx would refuse the configuration"),
                name if is_known(name) => {}
                name => self.gap(format!("the directive `{name}` is not evaluated")),
            }
        }
        None
    }

    fn return_of(&mut self, directive: &Directive) -> Flow {
        let first = directive.arg(0);
        let Ok(code) = first.parse::<u16>() else {
            return Flow::Redirect(302, self.evaluate(first));
        };
        let has_text = directive.args.len() > 1;
        let text = self.evaluate(directive.arg(1));
        match code {
            301..=303 | 307 | 308 if has_text => Flow::Redirect(code, text),
            code if code < 400 || has_text => Flow::Respond(code, text),
            code => Flow::Status(code),
        }
    }

    /// Runs `rewrite EXPRESSION REPLACEMENT [FLAG]`.
    fn rewrite_path(&mut self, directive: &Directive) -> Option<Flow> {
        let Ok(found) = self.patterns.find(directive.arg(0), false, &self.uri) else {
            self.gap(format!("the expression `{}` is not evaluated", directive.arg(0)));
            return None;
        };
        self.captures = found?;
        let replacement = directive.arg(1);
        let flag = directive.arg(2);
        let is_url = ["http://", "https://", "$scheme"].iter().any(|beginning| replacement.starts_with(beginning));
        let is_redirect = is_url || matches!(flag, "redirect" | "permanent");
        let (path, own_args) = replacement.split_once('?').map_or((replacement, None), |(path, args)| (path, Some(args)));
        let path = self.evaluate(path);
        let args = match own_args {
            Some(own) => {
                let keeps = !own.ends_with('?');
                let own = self.evaluate(own.trim_end_matches('?'));
                match (keeps && !replacement.ends_with('?'), self.args.is_empty(), own.is_empty()) {
                    (true, false, false) => format!("{own}&{}", self.args),
                    (true, false, true) => self.args.clone(),
                    _ => own,
                }
            }
            None => self.args.clone(),
        };
        if is_redirect {
            let code = if flag == "permanent" { 301 } else { 302 };
            let location = if args.is_empty() { path } else { format!("{path}?{args}") };
            return Some(Flow::Redirect(code, location));
        }
        self.uri = path;
        self.args = args;
        self.is_rewritten = true;
        if self.uri.is_empty() {
            return Some(Flow::Status(500));
        }
        match flag {
            "last" => Some(Flow::Again),
            "break" => Some(Flow::Continue),
            _ => None,
        }
    }

    /// Evaluates the condition of an `if`.
    fn condition(&mut self, directive: &Directive) -> Option<bool> {
        let words = directive.condition_words();
        if let Some(name) = words.iter().find_map(|word| unknown_variable(word)) {
            self.gap(format!("`if ({})` is not evaluated: the value of `${name}` is unknown", words.join(" ")));
            return None;
        }
        let value = |exchange: &Self, word: &str| exchange.evaluate(word);
        match words.as_slice() {
            [one] => {
                let value = value(self, one);
                Some(!value.is_empty() && value != "0")
            }
            [left, operator, right] => {
                let left = value(self, left);
                match operator.as_str() {
                    "=" => Some(left == value(self, right)),
                    "!=" => Some(left != value(self, right)),
                    "~" | "~*" | "!~" | "!~*" => match self.patterns.find(right, operator.ends_with('*'), &left) {
                        Ok(found) => {
                            let matches = found.is_some();
                            if let Some(captures) = found {
                                self.captures = captures;
                            }
                            Some(matches != operator.starts_with('!'))
                        }
                        Err(_) => {
                            self.gap(format!("the expression `{right}` is not evaluated"));
                            None
                        }
                    },
                    operator => {
                        self.gap(format!("`if` with `{operator}` is not evaluated"));
                        None
                    }
                }
            }
            words => {
                self.gap(format!("`if ({})` is not evaluated", words.join(" ")));
                None
            }
        }
    }

    /// Returns the destination of a server that redirects to or from `www.`.
    fn www_redirect(&self, to: &str) -> String {
        let uri = self.target.raw.strip_suffix('/').unwrap_or(&self.target.raw);
        let (mut scheme, mut port) = (self.variable("scheme"), self.variable("server_port"));
        if self.nginx.globals.flag("use-forwarded-headers").value {
            let (own_scheme, own_port) = (self.variable("http_x_forwarded_proto"), self.variable("http_x_forwarded_port"));
            scheme = if own_scheme.is_empty() { scheme } else { own_scheme };
            port = if own_port.is_empty() { port } else { own_port };
        }
        format!("{scheme}://{to}:{port}{uri}")
    }

    /// Runs the Lua code of a location: the scheme, host and port that the service receives, and the redirect to https.
    pub fn run_lua(&mut self) -> Flow {
        let globals = &self.nginx.globals;
        let ports = self.nginx.ports;
        let mut scheme = self.variable("scheme");
        let mut host = self.variable("http_host");
        if host.is_empty() {
            host = self.variable("host");
        }
        if globals.flag("use-forwarded-headers").value {
            let own = |exchange: &Self, name: &str| Some(exchange.variable(name)).filter(|value| !value.is_empty());
            scheme = own(self, "http_x_forwarded_proto").unwrap_or(scheme);
            if let Some(port) = own(self, "http_x_forwarded_port") {
                self.set("pass_server_port", port);
            }
            if let Some(hosts) = own(self, "http_x_forwarded_host") {
                host = hosts.split(',').next().unwrap_or_default().to_string();
            }
        }
        if globals.flag("use-proxy-protocol").value && self.variable("proxy_protocol_server_port") == "443" {
            scheme = "https".into();
        }
        let port = self.variable("pass_server_port");
        let tls_port = if ports.has_ssl_passthrough { ports.ssl_proxy } else { ports.https };
        let passed = if port == format!("{tls_port}") { "443".into() } else { port };
        self.set("pass_port", passed);
        self.set("best_http_host", host.clone());
        self.set("pass_access_scheme", scheme.clone());
        let flag = |exchange: &Self, name: &str| exchange.variable(name) == "true";
        let redirects = !flag(self, "force_no_ssl_redirect")
            && scheme == "http"
            && (flag(self, "force_ssl_redirect") || flag(self, "ssl_redirect") && self.has_certificate());
        if !redirects {
            return Flow::Continue;
        }
        let mut uri = self.target.raw.clone();
        if !flag(self, "preserve_trailing_slash") && uri.ends_with('/') {
            uri.pop();
        }
        let host = host.split(':').next().unwrap_or_default().to_string();
        let location = match flag(self, "use_port_in_redirects") {
            true => format!("https://{host}:{}{uri}", ports.https),
            false => format!("https://{host}{uri}"),
        };
        Flow::Redirect(u16::try_from(globals.number("http-redirect-code").value).unwrap_or(308), location)
    }

    /// Whether the host of the request has a certificate.
    fn has_certificate(&self) -> bool {
        super::tls::certificate_of(self.nginx, &self.variable("host")).is_some()
    }
}
