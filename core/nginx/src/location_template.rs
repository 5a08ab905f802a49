//! Builds the directives of one location, in the controller's order.
//!
//! ingress-nginx `rootfs/etc/nginx/template/nginx.tmpl`. Does not build the server around it; see `template`.

use crate::directive::Directive;
use crate::location;
use crate::shared_directives::{REWRITE_LUA, cors, proxy_ssl_trust, snippet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::ir::nginx::{DEFAULT_UPSTREAM, ExternalAuth, Location, Nginx, Server};
use chancery_base::resource::{Origin, Sourced};
use chancery_text::Str;

/// The directives of one location while they are built.
struct Out<'n> {
    nginx: &'n Nginx,
    server: &'n Server,
    location: &'n Location,
    /// `proxy_set_header` or `grpc_set_header`.
    set_header: &'static str,
    all: Vec<Directive>,
}

/// Adds a location, and the locations that belong to it.
pub(crate) fn write(nginx: &Nginx, server: &Server, of: &Location, regex: bool, block: &mut Vec<Directive>) {
    let settings = &of.settings;
    let auth = location::auth(of, nginx);
    if !settings.rewrite.app_root.is_empty() {
        let root = &settings.rewrite.app_root;
        let redirect = Directive::new("return", [String::from("302"), format!("$scheme://$http_host{}", root.value)], root.origin);
        block.push(Directive::block("if", ["(", "$uri", "=", "/", ")"], Vec::from([redirect]), root.origin));
    }
    if let Some(path) = location::auth_path(of, nginx) {
        block.push(auth_location(nginx, server, of, auth, &path));
    }
    if settings.denied.is_none() && !auth.signin_url.is_empty() {
        block.push(signin(of, auth));
    }
    let protocol = settings.backend_protocol.value.as_str();
    let set_header = if matches!(protocol, "GRPC" | "GRPCS") { "grpc_set_header" } else { "proxy_set_header" };
    let mut out = Out { nginx, server, location: of, set_header, all: Vec::new() };
    out.variables();
    match &settings.denied {
        None => out.allowed(auth),
        Some(denied) => out.all.push(Directive::new("return", ["503"], denied.origin)),
    }
    out.proxy_ssl();
    let origin = of.path.origin.or(of.ingress.as_ref().and_then(|ingress| ingress.origin));
    block.push(Directive::block("location", location::pattern(of, regex), out.all, origin));
}

/// Returns the location of the authentication request.
fn auth_location(nginx: &Nginx, server: &Server, of: &Location, auth: &ExternalAuth, path: &str) -> Directive {
    let globals = &nginx.globals;
    let origin = auth.url.origin;
    let mut all = Vec::from([Directive::new("internal", [""; 0], origin)]);
    let header = |name: &str, value: &str| Directive::new("proxy_set_header", [name, value], origin);
    if !auth.cache_key.is_empty() {
        let key = format!("{}{path}{}", server.host.value, auth.cache_key.value);
        all.push(Directive::new("set", ["$tmp_cache_key", key.as_str()], auth.cache_key.origin));
        all.push(Directive::new("proxy_cache", ["auth_cache"], auth.cache_key.origin));
        for duration in &auth.cache_duration.value {
            all.push(Directive::new("proxy_cache_valid", duration.split(' ').filter(|word| !word.is_empty()), auth.cache_duration.origin));
        }
        all.push(Directive::new("proxy_cache_key", ["$cache_key"], auth.cache_key.origin));
    }
    all.push(Directive::of_upstream("set", &of.upstream));
    all.push(Directive::new("proxy_intercept_errors", ["off"], origin));
    all.push(Directive::new("proxy_pass_request_body", ["off"], origin));
    all.push(header("Content-Length", ""));
    all.push(header("X-Forwarded-Proto", ""));
    all.push(header("X-Request-ID", "$req_id"));
    if !auth.method.is_empty() {
        all.push(Directive::of("proxy_method", &auth.method));
        all.push(header("X-Original-URI", "$request_uri"));
        all.push(header("X-Scheme", "$pass_access_scheme"));
    }
    all.push(header("Host", &auth.host));
    all.push(header("X-Original-URL", "$scheme://$http_host$request_uri"));
    all.push(header("X-Original-Method", "$request_method"));
    all.push(header("X-Sent-From", "nginx-ingress-controller"));
    all.push(header("X-Real-IP", "$remote_addr"));
    let is_full = globals.flag("use-forwarded-headers").value && globals.flag("compute-full-forwarded-for").value;
    all.push(header("X-Forwarded-For", if is_full { "$full_x_forwarded_for" } else { "$remote_addr" }));
    let redirect = if auth.request_redirect.is_empty() { "$request_uri" } else { auth.request_redirect.value.as_str() };
    all.push(Directive::new("proxy_set_header", ["X-Auth-Request-Redirect", redirect], auth.request_redirect.origin.or(origin)));
    all.push(Directive::new("proxy_ssl_server_name", ["on"], origin));
    let body_size = &of.settings.proxy.body_size;
    if location::is_size(body_size, "kKmMgG") {
        all.push(Directive::of("client_max_body_size", body_size));
    }
    client_certificates(server, "proxy_set_header", &mut all);
    for (name, value) in &auth.set_headers.value {
        all.push(Directive::new("proxy_set_header", [name.as_str(), value.as_str()], auth.set_headers.origin));
    }
    all.extend(snippet(&auth.snippet));
    all.push(Directive::of("proxy_http_version", &of.settings.proxy.http_version));
    all.push(Directive::new("set", ["$target", auth.url.value.as_str()], origin));
    all.push(Directive::new("proxy_pass", ["$target"], origin));
    Directive::block("location", ["=", path], all, origin)
}

/// Returns the headers with data about the client's certificate.
fn client_certificates(server: &Server, directive: &'static str, all: &mut Vec<Directive>) {
    let certificates = &server.client_certificates;
    if certificates.ca_file.is_empty() {
        return;
    }
    let origin = certificates.ca_file.origin;
    if certificates.pass_to_upstream.value {
        all.push(Directive::new(directive, ["ssl-client-cert", "$ssl_client_escaped_cert"], certificates.pass_to_upstream.origin));
    }
    all.push(Directive::new(directive, ["ssl-client-verify", "$ssl_client_verify"], origin));
    all.push(Directive::new(directive, ["ssl-client-subject-dn", "$ssl_client_s_dn"], origin));
    all.push(Directive::new(directive, ["ssl-client-issuer-dn", "$ssl_client_i_dn"], origin));
}

/// Returns the location that redirects a client without access.
fn signin(of: &Location, auth: &ExternalAuth) -> Directive {
    let origin = auth.signin_url.origin;
    let mut all = Vec::from([Directive::new("internal", [""; 0], origin), Directive::new("add_header", ["Set-Cookie", "$auth_cookie"], origin)]);
    if of.settings.cors.enabled.value {
        all.extend(cors(&of.settings));
    }
    let url = location::signin_url(&auth.signin_url, &auth.signin_parameter);
    all.push(Directive::new("return", ["302", url.as_str()], origin));
    Directive::block("location", [location::signin_location(of, &auth.signin_url)], all, origin)
}

impl Directive {
    /// Sets the name of the upstream.
    fn of_upstream(name: &'static str, upstream: &Sourced<Str>) -> Self {
        Self::new(name, ["$proxy_upstream_name", upstream.value.as_str()], upstream.origin)
    }
}

impl Out<'_> {
    fn push<A: Into<Str>>(&mut self, name: &'static str, args: impl IntoIterator<Item = A>, origin: Option<Origin>) {
        self.all.push(Directive::new(name, args, origin));
    }

    fn of(&mut self, name: &'static str, value: &Sourced<Str>) {
        self.all.push(Directive::of(name, value));
    }

    fn header(&mut self, name: &str, value: &str, origin: Option<Origin>) {
        let directive = self.set_header;
        self.push(directive, [name, value], origin);
    }

    fn flag(&mut self, name: &str, value: bool, origin: Option<Origin>) {
        self.push("set", [name, if value { "true" } else { "false" }], origin);
    }

    /// Adds the variables that Lua code and headers use.
    fn variables(&mut self) {
        let (of, globals) = (self.location, &self.nginx.globals);
        let ingress = of.ingress.clone().unwrap_or_default();
        let origin = ingress.origin;
        let path = match &of.ingress {
            Some(_) if of.ingress_path.is_empty() => "/",
            Some(_) => of.ingress_path.as_str(),
            None => "",
        };
        for (name, value) in [
            ("$namespace", ingress.namespace.as_str()),
            ("$ingress_name", ingress.name.as_str()),
            ("$service_name", ingress.service.as_str()),
            ("$service_port", ingress.service_port.as_str()),
            ("$location_path", path.replace('$', "${literal_dollar}").as_str()),
        ] {
            self.push("set", [name, value], origin);
        }
        let settings = &of.settings;
        if !settings.mirror.source.is_empty() {
            self.of("mirror", &settings.mirror.source);
            self.of("mirror_request_body", &settings.mirror.request_body);
        }
        let rewrite = &settings.rewrite;
        let unredirected = globals.text("no-tls-redirect-locations");
        self.flag("$force_ssl_redirect", rewrite.force_ssl_redirect.value, rewrite.force_ssl_redirect.origin);
        self.flag("$ssl_redirect", rewrite.ssl_redirect.value, rewrite.ssl_redirect.origin);
        self.flag("$force_no_ssl_redirect", location::is_listed(of, &unredirected), unredirected.origin);
        self.flag("$preserve_trailing_slash", rewrite.preserve_trailing_slash.value, rewrite.preserve_trailing_slash.origin);
        let ports = &settings.use_port_in_redirects;
        self.flag("$use_port_in_redirects", ports.value, ports.origin);
        self.push("rewrite_by_lua_file", [REWRITE_LUA], None);
        self.push("header_filter_by_lua_file", ["/etc/nginx/lua/nginx/ngx_conf_srv_hdr_filter.lua"], None);
        if !settings.logs.access.value {
            self.push("access_log", ["off"], settings.logs.access.origin);
        }
        if settings.logs.rewrite.value {
            self.push("rewrite_log", ["on"], settings.logs.rewrite.origin);
        }
        if settings.http2_push_preload.value {
            self.push("http2_push_preload", ["on"], settings.http2_push_preload.origin);
        }
        self.push("port_in_redirect", [if ports.value { "on" } else { "off" }], ports.origin);
        self.all.push(Directive::of_upstream("set", &of.upstream));
        self.push("set", ["$proxy_host", "$proxy_upstream_name"], None);
        self.push("set", ["$pass_access_scheme", "$scheme"], None);
        let proxy_protocol = globals.flag("use-proxy-protocol");
        let port = if proxy_protocol.value { "$proxy_protocol_server_port" } else { "$server_port" };
        self.push("set", ["$pass_server_port", port], proxy_protocol.origin);
        self.push("set", ["$best_http_host", "$http_host"], None);
        self.push("set", ["$pass_port", "$pass_server_port"], None);
        self.push("set", ["$proxy_alternative_upstream_name", ""], None);
        self.modsecurity();
    }

    fn modsecurity(&mut self) {
        let own = &self.location.settings.modsecurity;
        let is_global = self.nginx.globals.flag("enable-modsecurity");
        if !is_global.value && !own.enabled.value {
            return;
        }
        let is_on = !own.set.value || own.enabled.value;
        let origin = own.enabled.origin.or(is_global.origin);
        self.push("modsecurity", [if is_on { "on" } else { "off" }], origin);
        if is_on && !own.snippet.is_empty() {
            self.of("modsecurity_rules", &own.snippet);
        }
    }

    /// Adds everything except the response 503.
    fn allowed(&mut self, auth: &ExternalAuth) {
        let settings = &self.location.settings;
        for range in &settings.denylist.cidr.value {
            self.push("deny", [range.clone()], settings.denylist.cidr.origin);
        }
        for range in &settings.allowlist.cidr.value {
            self.push("allow", [range.clone()], settings.allowlist.cidr.origin);
        }
        if !settings.allowlist.cidr.is_empty() {
            self.push("deny", ["all"], settings.allowlist.cidr.origin);
        }
        if settings.cors.enabled.value {
            let cors = cors(settings);
            self.all.extend(cors);
        }
        self.authentication(auth);
        self.limits();
        self.headers();
        self.proxy();
        self.all.extend(snippet(&settings.configuration_snippet));
        let snippets = snippet(&self.nginx.globals.text("location-snippet"));
        self.all.extend(snippets);
        for (name, value) in &settings.custom_headers.headers.value {
            self.push("more_set_headers", [format!("{name}: {}", value.replace('$', "${literal_dollar}"))], settings.custom_headers.headers.origin);
        }
        if self.location.upstream.starts_with("custom-default-backend-") {
            let origin = self.location.upstream.origin;
            for (name, value) in [
                ("X-Code", "503"),
                ("X-Format", "$http_accept"),
                ("X-Namespace", "$namespace"),
                ("X-Ingress-Name", "$ingress_name"),
                ("X-Service-Name", "$service_name"),
                ("X-Service-Port", "$service_port"),
                ("X-Request-ID", "$req_id"),
            ] {
                self.push("proxy_set_header", [name, value], origin);
            }
        }
        if !settings.satisfy.is_empty() {
            self.of("satisfy", &settings.satisfy);
        }
        if settings.redirect.relative.value {
            self.push("absolute_redirect", ["off"], settings.redirect.relative.origin);
        }
        let errors = &settings.custom_http_errors;
        if !errors.is_empty() && !settings.disable_proxy_intercept_errors.value {
            self.push("proxy_intercept_errors", ["on"], errors.origin);
        }
        for code in &errors.value {
            let page = format!("@custom_{}_{code}", self.location.error_upstream);
            self.push("error_page", [format!("{code}"), "=".into(), page], errors.origin);
        }
        self.fastcgi();
        if !settings.redirect.url.is_empty() {
            let code = format!("{}", settings.redirect.code.value);
            self.push("return", [code.as_str(), settings.redirect.url.value.as_str()], settings.redirect.url.origin);
        }
        self.pass();
    }

    fn authentication(&mut self, auth: &ExternalAuth) {
        let settings = &self.location.settings;
        if location::is_listed(self.location, &self.nginx.globals.text("no-auth-locations")) {
            return;
        }
        if let Some(path) = location::auth_path(self.location, self.nginx) {
            let origin = auth.url.origin;
            self.push("auth_request", [path], origin);
            self.push("auth_request_set", ["$auth_cookie", "$upstream_http_set_cookie"], origin);
            let always = auth.always_set_cookie.value.then_some("always");
            self.push("add_header", ["Set-Cookie", "$auth_cookie"].into_iter().chain(always), auth.always_set_cookie.origin.or(origin));
            for (at, name) in auth.response_headers.value.iter().enumerate() {
                let variable = name.to_lowercase().replace('-', "_");
                let origin = auth.response_headers.origin;
                self.push("auth_request_set", [format!("$authHeader{at}"), format!("$upstream_http_{variable}")], origin);
                self.header(name, &format!("$authHeader{at}"), origin);
            }
        }
        if !auth.signin_url.is_empty() {
            let origin = auth.signin_url.origin;
            self.push("set_escape_uri", ["$escaped_request_uri", "$request_uri"], origin);
            let page = location::signin_location(self.location, &auth.signin_url);
            self.push("error_page", ["401", "=", page.as_str()], origin);
        }
        let basic = &settings.basic_auth;
        if basic.secured.value {
            let name = if basic.kind.value == "basic" { ("auth_basic", "auth_basic_user_file") } else { ("auth_digest", "auth_digest_user_file") };
            self.push(name.0, [basic.realm.value.clone()], basic.realm.origin.or(basic.kind.origin));
            self.of(name.1, &basic.file);
            self.header("Authorization", "", basic.kind.origin);
        }
    }

    fn limits(&mut self) {
        let settings = &self.location.settings;
        let limit = &settings.rate_limit;
        if limit.connections.limit.value > 0 {
            let count = format!("{}", limit.connections.limit.value);
            self.push("limit_conn", [limit.connections.name.value.as_str(), count.as_str()], limit.connections.limit.origin);
        }
        for zone in [&limit.rps, &limit.rpm] {
            if zone.limit.value > 0 {
                let args = [format!("zone={}", zone.name.value), format!("burst={}", zone.burst.value), "nodelay".into()];
                self.push("limit_req", args, zone.limit.origin);
            }
        }
        if limit.rate_after.value > 0 {
            self.push("limit_rate_after", [format!("{}k", limit.rate_after.value)], limit.rate_after.origin);
        }
        if limit.rate.value > 0 {
            self.push("limit_rate", [format!("{}k", limit.rate.value)], limit.rate.origin);
        }
        if location::is_size(&settings.proxy.body_size, "kKmMgG") {
            self.of("client_max_body_size", &settings.proxy.body_size);
        }
        if location::is_size(&settings.client_body_buffer_size, "kKmM") {
            self.of("client_body_buffer_size", &settings.client_body_buffer_size);
        }
    }

    /// Adds the headers that the service receives.
    fn headers(&mut self) {
        let (settings, globals) = (&self.location.settings, &self.nginx.globals);
        match settings.upstream_vhost.is_empty() {
            true => self.header("Host", "$best_http_host", None),
            false => self.header("Host", &settings.upstream_vhost, settings.upstream_vhost.origin),
        }
        let directive = self.set_header;
        client_certificates(self.server, directive, &mut self.all);
        self.header("Upgrade", "$http_upgrade", None);
        match settings.connection.enabled.value {
            true => self.header("Connection", &settings.connection.header, settings.connection.header.origin),
            false => self.header("Connection", "$connection_upgrade", None),
        }
        self.header("X-Request-ID", "$req_id", None);
        self.header("X-Real-IP", "$remote_addr", None);
        let full = globals.flag("compute-full-forwarded-for");
        match full.value && globals.flag("use-forwarded-headers").value {
            true => self.header("X-Forwarded-For", "$full_x_forwarded_for", full.origin),
            false => self.header("X-Forwarded-For", "$remote_addr", None),
        }
        self.header("X-Forwarded-Host", "$best_http_host", None);
        self.header("X-Forwarded-Port", "$pass_port", None);
        self.header("X-Forwarded-Proto", "$pass_access_scheme", None);
        self.header("X-Forwarded-Scheme", "$pass_access_scheme", None);
        let original = globals.flag("proxy-add-original-uri-header");
        if original.value {
            self.header("X-Original-URI", "$request_uri", original.origin);
        }
        self.header("X-Scheme", "$pass_access_scheme", None);
        let variable = |name: &Sourced<Str>| format!("$http_{}", name.to_lowercase().replace('-', "_"));
        let (address, host) = (globals.text("forwarded-for-header"), globals.text("forwarded-host-header"));
        self.header("X-Original-Forwarded-For", &variable(&address), address.origin);
        self.header("X-Original-Forwarded-Host", &variable(&host), host.origin);
        self.header("Proxy", "", None);
        for (name, value) in &globals.set_headers {
            self.header(name, &value.value, value.origin);
        }
    }

    fn proxy(&mut self) {
        let proxy = &self.location.settings.proxy;
        let retries_all = self.nginx.globals.flag("retry-non-idempotent");
        let number = |value: &Sourced<i64>, unit: &str| Sourced::new(Str::from(format!("{}{unit}", value.value)), value.origin);
        self.of("proxy_connect_timeout", &number(&proxy.connect_timeout, "s"));
        self.of("proxy_send_timeout", &number(&proxy.send_timeout, "s"));
        self.of("proxy_read_timeout", &number(&proxy.read_timeout, "s"));
        self.of("proxy_buffering", &proxy.buffering);
        self.of("proxy_buffer_size", &proxy.buffer_size);
        self.push("proxy_buffers", [format!("{}", proxy.buffers_number.value), proxy.buffer_size.value.as_str().into()], proxy.buffers_number.origin);
        if !proxy.busy_buffers_size.is_empty() {
            self.of("proxy_busy_buffers_size", &proxy.busy_buffers_size);
        }
        if location::is_size(&proxy.max_temp_file_size, "kKmMgG") {
            self.of("proxy_max_temp_file_size", &proxy.max_temp_file_size);
        }
        self.of("proxy_request_buffering", &proxy.request_buffering);
        self.of("proxy_http_version", &proxy.http_version);
        self.push("proxy_cookie_domain", words(&proxy.cookie_domain), proxy.cookie_domain.origin);
        self.push("proxy_cookie_path", words(&proxy.cookie_path), proxy.cookie_path.origin);
        let conditions = location::next_upstream(&proxy.next_upstream, retries_all.value);
        self.push("proxy_next_upstream", conditions, proxy.next_upstream.origin);
        self.of("proxy_next_upstream_timeout", &number(&proxy.next_upstream_timeout, ""));
        self.of("proxy_next_upstream_tries", &number(&proxy.next_upstream_tries, ""));
        if self.set_header == "grpc_set_header" {
            self.of("grpc_connect_timeout", &number(&proxy.connect_timeout, "s"));
            self.of("grpc_send_timeout", &number(&proxy.send_timeout, "s"));
            self.of("grpc_read_timeout", &number(&proxy.read_timeout, "s"));
        }
    }

    fn fastcgi(&mut self) {
        let settings = &self.location.settings;
        if settings.backend_protocol.value == "FCGI" {
            self.push("include", ["/etc/nginx/fastcgi_params"], settings.backend_protocol.origin);
        }
        if !settings.fastcgi.index.is_empty() {
            self.of("fastcgi_index", &settings.fastcgi.index);
        }
        for (name, value) in &settings.fastcgi.params.value {
            self.push("fastcgi_param", [name.clone(), value.clone()], settings.fastcgi.params.origin);
        }
    }

    /// Adds the directive that forwards the request.
    fn pass(&mut self) {
        let (of, settings) = (self.location, &self.location.settings);
        let protocol = settings.backend_protocol.value.to_uppercase();
        let (mut directive, mut scheme) = match protocol.as_str() {
            "AUTO_HTTP" => ("proxy_pass", "$scheme://"),
            "HTTPS" => ("proxy_pass", "https://"),
            "GRPC" => ("grpc_pass", "grpc://"),
            "GRPCS" => ("grpc_pass", "grpcs://"),
            "FCGI" => ("fastcgi_pass", ""),
            _ => ("proxy_pass", "http://"),
        };
        let passes_tls = self.nginx.upstream(&of.upstream).is_some_and(|upstream| upstream.ssl_passthrough);
        if passes_tls {
            scheme = if settings.backend_protocol.value == "GRPCS" { "grpcs://" } else { "https://" };
        }
        if of.upstream.value == DEFAULT_UPSTREAM {
            (directive, scheme) = ("proxy_pass", "http://");
        }
        let target = &settings.rewrite.target;
        if !target.is_empty() && target.value != of.path.value {
            let pattern = format!("(?i){}", of.path.value);
            self.push("rewrite", [pattern.as_str(), target.value.as_str(), "break"], target.origin);
            let prefix = &settings.x_forwarded_prefix;
            if !prefix.is_empty() {
                self.header("X-Forwarded-Prefix", &prefix.value, prefix.origin);
            }
        }
        self.push(directive, [format!("{scheme}upstream_balancer")], settings.backend_protocol.origin);
        let (from, to) = (&settings.proxy.redirect_from, &settings.proxy.redirect_to);
        if matches!(from.value.as_str(), "default" | "off") {
            self.of("proxy_redirect", from);
        } else if to.value != "off" {
            self.push("proxy_redirect", [from.value.clone(), to.value.clone()], from.origin);
        }
    }

    fn proxy_ssl(&mut self) {
        let settings = &self.location.settings;
        let ssl = &settings.proxy_ssl;
        if !ssl.ca_file.is_empty() {
            proxy_ssl_trust(ssl, &mut self.all);
        }
        if !ssl.name.is_empty() {
            self.of("proxy_ssl_name", &ssl.name);
        }
        if !ssl.server_name.is_empty() {
            self.of("proxy_ssl_server_name", &ssl.server_name);
        }
        if !settings.proxy_ssl_pem.is_empty() {
            self.of("proxy_ssl_certificate", &settings.proxy_ssl_pem);
            self.of("proxy_ssl_certificate_key", &settings.proxy_ssl_pem);
        }
    }
}

fn words(text: &Sourced<Str>) -> Vec<Str> {
    text.value.split_whitespace().map(Str::new).collect()
}
