//! Builds the directives that the controller writes for a server and its locations, in its order.
//!
//! ingress-nginx `rootfs/etc/nginx/template/nginx.tmpl`, `internal/ingress/controller/template/template.go`. Leaves out directives that do not
//! change responses (nginx's own buffers, logs, workers). Does not run directives; see `simulate`.

use crate::directive::Directive;
use crate::location;
use crate::shared_directives::{proxy_ssl_trust, snippet};
use alloc::format;
use alloc::vec::Vec;
use chancery_base::ir::nginx::{DEFAULT_SERVER, DEFAULT_UPSTREAM, Nginx, Server, WwwRedirect};
use chancery_base::resource::{Origin, Sourced};
use chancery_text::Str;
use hashbrown::HashSet;

fn text(value: &str) -> Str {
    Str::new(value)
}

/// Returns the directives that apply to all servers.
pub fn http(nginx: &Nginx) -> Vec<Directive> {
    let globals = &nginx.globals;
    let mut all = Vec::new();
    let trusts = globals.flag("use-forwarded-headers");
    let (proxy_protocol, real_ip) = (globals.flag("use-proxy-protocol"), globals.flag("enable-real-ip"));
    if trusts.value || proxy_protocol.value || real_ip.value {
        let header = match (trusts.value, proxy_protocol.value) {
            (true, true) => globals.text("forwarded-for-proxy-protocol-header"),
            (false, true) => Sourced::new(text("proxy_protocol"), proxy_protocol.origin),
            _ => globals.text("forwarded-for-header"),
        };
        all.push(Directive::of("real_ip_header", &header));
        all.push(Directive::new("real_ip_recursive", ["on"], header.origin));
        let ranges = globals.list("proxy-real-ip-cidr");
        all.extend(ranges.value.iter().map(|range| Directive::new("set_real_ip_from", [range.clone()], ranges.origin)));
    }
    let on = |flag: bool| if flag { "on" } else { "off" };
    let underscores = globals.flag("enable-underscores-in-headers");
    all.push(Directive::new("underscores_in_headers", [on(underscores.value)], underscores.origin));
    let ignores = globals.flag("ignore-invalid-headers");
    all.push(Directive::new("ignore_invalid_headers", [on(ignores.value)], ignores.origin));
    for name in ["limit-req-status-code", "limit-conn-status-code"] {
        let code = globals.number(name);
        let directive = if name == "limit-req-status-code" { "limit_req_status" } else { "limit_conn_status" };
        all.push(Directive::new(directive, [format!("{}", code.value)], code.origin));
    }
    all.push(Directive::of("default_type", &globals.text("default-type")));
    let gzip = globals.flag("use-gzip");
    if gzip.value {
        all.push(Directive::new("gzip", ["on"], gzip.origin));
        let (level, least, types) = (globals.number("gzip-level"), globals.number("gzip-min-length"), globals.text("gzip-types"));
        all.push(Directive::new("gzip_comp_level", [format!("{}", level.value)], level.origin));
        all.push(Directive::new("gzip_min_length", [format!("{}", least.value)], least.origin));
        all.push(Directive::new("gzip_types", types.value.split(' ').filter(|word| !word.is_empty()), types.origin));
        all.push(Directive::new("gzip_proxied", ["any"], gzip.origin));
        all.push(Directive::new("gzip_vary", ["on"], gzip.origin));
    }
    for (name, value) in &globals.add_headers {
        all.push(Directive::new("more_set_headers", [format!("{name}: {}", value.value)], value.origin));
    }
    let tokens = globals.flag("server-tokens");
    all.push(Directive::new("server_tokens", [on(tokens.value)], tokens.origin));
    if !tokens.value {
        all.push(Directive::new("more_clear_headers", ["Server"], tokens.origin));
    }
    let errors = globals.numbers("custom-http-errors");
    if !errors.is_empty() && !globals.flag("disable-proxy-intercept-errors").value {
        all.push(Directive::new("proxy_intercept_errors", ["on"], errors.origin));
    }
    let relative = globals.flag("relative-redirects");
    if relative.value {
        all.push(Directive::new("absolute_redirect", ["off"], relative.origin));
    }
    for code in &errors.value {
        all.push(error_page(*code, DEFAULT_UPSTREAM, errors.origin));
    }
    let server_header = globals.flag("allow-backend-server-header");
    if server_header.value {
        all.push(Directive::new("proxy_pass_header", ["Server"], server_header.origin));
    }
    let hidden = globals.list("hide-headers");
    all.extend(hidden.value.iter().map(|header| Directive::new("proxy_hide_header", [header.clone()], hidden.origin)));
    all.extend(snippet(&globals.text("http-snippet")));
    let blocked = globals.list("block-cidrs");
    all.extend(blocked.value.iter().map(|range| Directive::new("deny", [range.clone()], blocked.origin)));
    all
}

fn error_page(code: i64, upstream: &str, origin: Option<Origin>) -> Directive {
    Directive::new("error_page", [format!("{code}"), "=".into(), format!("@custom_{upstream}_{code}")], origin)
}

/// Adds the response for a blocked user agent or referrer.
fn blocks(nginx: &Nginx, out: &mut Vec<Directive>) {
    for (name, variable) in [("block-user-agents", "$block_ua"), ("block-referers", "$block_ref")] {
        let list = nginx.globals.list(name);
        if !list.is_empty() {
            out.push(Directive::block("if", [format!("({variable})")], Vec::from([Directive::new("return", ["403"], list.origin)]), list.origin));
        }
    }
}

/// Builds a server that redirects to or from `www.`.
pub fn redirect_server(nginx: &Nginx, redirect: &WwwRedirect) -> Directive {
    let origin = redirect.from.origin;
    let mut block = Vec::from([Directive::of("server_name", &redirect.from)]);
    blocks(nginx, &mut block);
    let code = nginx.globals.number("http-redirect-code");
    block.push(Directive::new("set_by_lua_file", ["$redirect_to", "/etc/nginx/lua/nginx/ngx_srv_redirect.lua", redirect.to.as_str()], origin));
    block.push(Directive::new("return", [format!("{}", code.value), "$redirect_to".into()], code.origin.or(origin)));
    Directive::block("server", [""; 0], block, origin)
}

/// Builds the server of a host.
pub fn server(nginx: &Nginx, server: &Server) -> Directive {
    let mut block = Vec::new();
    let mut names = Vec::from([location::server_name(&server.host)]);
    names.extend(server.aliases.value.iter().cloned());
    block.push(Directive::new("server_name", names, server.host.origin));
    blocks(nginx, &mut block);
    block.push(Directive::new("set", ["$proxy_upstream_name", "-"], None));
    let certificates = &server.client_certificates;
    if !certificates.match_cn.is_empty() {
        let refuse = Directive::new("return", ["403", "client certificate unauthorized"], certificates.match_cn.origin);
        let condition = ["(", "$ssl_client_s_dn", "!~", certificates.match_cn.value.as_str(), ")"];
        block.push(Directive::block("if", condition, Vec::from([refuse]), certificates.match_cn.origin));
    }
    if server.host.value == DEFAULT_SERVER {
        let reject = nginx.globals.flag("ssl-reject-handshake");
        block.push(Directive::new("ssl_reject_handshake", [if reject.value { "on" } else { "off" }], reject.origin));
    }
    if server.client_certificate_error.is_empty() {
        allowed_server(nginx, server, &mut block);
    } else {
        block.push(Directive::new("return", ["403"], server.client_certificate_error.origin));
    }
    if server.host.value == DEFAULT_SERVER {
        block.push(Directive::block("location", ["/healthz"], Vec::from([Directive::new("return", ["200"], None)]), None));
        let status = ["127.0.0.1", "::1"].map(|address| Directive::new("allow", [address], None)).into_iter();
        let status = status.chain([Directive::new("deny", ["all"], None), Directive::new("stub_status", ["on"], None)]).collect();
        block.push(Directive::block("location", ["/nginx_status"], status, None));
    }
    block.extend(snippet(&nginx.globals.text("server-snippet")));
    let errors = nginx.globals.numbers("custom-http-errors");
    block.extend(errors.value.iter().map(|code| error_location(DEFAULT_UPSTREAM, *code, errors.origin)));
    Directive::block("server", [""; 0], block, server.host.origin)
}

fn allowed_server(nginx: &Nginx, server: &Server, block: &mut Vec<Directive>) {
    let certificates = &server.client_certificates;
    if !certificates.ca_file.is_empty() {
        block.push(Directive::of("ssl_client_certificate", &certificates.ca_file));
        block.push(Directive::of("ssl_verify_client", &certificates.verify_client));
        block.push(Directive::new("ssl_verify_depth", [format!("{}", certificates.depth.value)], certificates.depth.origin));
        if !certificates.crl_file.is_empty() {
            block.push(Directive::of("ssl_crl", &certificates.crl_file));
        }
        if !certificates.error_page.is_empty() {
            block.push(Directive::new("error_page", ["495", "496", "=", certificates.error_page.value.as_str()], certificates.error_page.origin));
        }
    }
    let ssl = &server.proxy_ssl;
    if !ssl.ca_file.is_empty() {
        proxy_ssl_trust(ssl, block);
        if !ssl.name.is_empty() {
            block.push(Directive::of("proxy_ssl_name", &ssl.name));
            block.push(Directive::of("proxy_ssl_server_name", &ssl.server_name));
        }
    }
    if !server.proxy_ssl_pem.is_empty() {
        block.push(Directive::of("proxy_ssl_certificate", &server.proxy_ssl_pem));
        block.push(Directive::of("proxy_ssl_certificate_key", &server.proxy_ssl_pem));
    }
    if !server.ciphers.ciphers.is_empty() {
        block.push(Directive::of("ssl_ciphers", &server.ciphers.ciphers));
    }
    if !server.ciphers.prefer_server.is_empty() {
        block.push(Directive::of("ssl_prefer_server_ciphers", &server.ciphers.prefer_server));
    }
    block.extend(snippet(&server.snippet));
    error_locations(server, block);
    mirror_locations(server, block);
    let regex = location::enforces_regex(&server.locations);
    for location in &server.locations {
        crate::location_template::write(nginx, server, location, regex, block);
    }
}

/// Adds the locations that request error pages from an upstream: one for each upstream and status.
fn error_locations(server: &Server, block: &mut Vec<Directive>) {
    let mut all: Vec<(&Str, i64, Option<Origin>)> = Vec::new();
    for location in &server.locations {
        let codes = &location.settings.custom_http_errors;
        all.extend(codes.value.iter().map(|code| (&location.error_upstream, *code, codes.origin)));
    }
    all.sort_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)));
    all.dedup_by(|a, b| (a.0, a.1) == (b.0, b.1));
    block.extend(all.into_iter().map(|(upstream, code, origin)| error_location(upstream, code, origin)));
}

fn error_location(upstream: &str, code: i64, origin: Option<Origin>) -> Directive {
    let header = |name: &str, value: &str| Directive::new("proxy_set_header", [name, value], origin);
    let block = Vec::from([
        Directive::new("internal", [""; 0], origin),
        Directive::new("proxy_intercept_errors", ["off"], origin),
        header("X-Code", &format!("{code}")),
        header("X-Format", "$http_accept"),
        header("X-Original-URI", "$request_uri"),
        header("X-Namespace", "$namespace"),
        header("X-Ingress-Name", "$ingress_name"),
        header("X-Service-Name", "$service_name"),
        header("X-Service-Port", "$service_port"),
        header("X-Request-ID", "$req_id"),
        header("X-Forwarded-For", "$remote_addr"),
        header("Host", "$best_http_host"),
        Directive::new("set", ["$proxy_upstream_name", upstream], origin),
        Directive::new("rewrite", ["(.*)", "/", "break"], origin),
        Directive::new("proxy_pass", ["http://upstream_balancer"], origin),
    ]);
    Directive::block("location", [format!("@custom_{upstream}_{code}")], block, origin)
}

/// Adds the locations that send copies of requests.
fn mirror_locations(server: &Server, block: &mut Vec<Directive>) {
    let mut seen: HashSet<&str> = HashSet::new();
    for mirror in server.locations.iter().map(|location| &location.settings.mirror) {
        if mirror.source.is_empty() || mirror.target.is_empty() || mirror.host.is_empty() || !seen.insert(&mirror.source) {
            continue;
        }
        let inner = Vec::from([
            Directive::new("internal", [""; 0], mirror.target.origin),
            Directive::new("proxy_set_header", ["Host", mirror.host.value.as_str()], mirror.host.origin),
            Directive::of("proxy_pass", &mirror.target),
        ]);
        block.push(Directive::block("location", ["=", mirror.source.value.as_str()], inner, mirror.target.origin));
    }
}
