//! Builds directives that servers and their locations share. Does not choose where they stand; see `template` and `location_template`.

use crate::directive::{Directive, parse};
use crate::location;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::ir::nginx::{ProxySsl, Settings};
use chancery_base::resource::{Origin, Sourced};
use chancery_text::Str;

/// The file with the controller's Lua code for the rewrite phase.
pub const REWRITE_LUA: &str = "/etc/nginx/lua/nginx/ngx_rewrite.lua";

/// Returns the directives of a snippet. An unreadable snippet becomes one directive.
pub(crate) fn snippet(text: &Sourced<Str>) -> Vec<Directive> {
    if text.is_empty() {
        return Vec::new();
    }
    parse(text, text.origin).unwrap_or_else(|_| Vec::from([Directive::new(UNREADABLE, [text.value.clone()], text.origin)]))
}

/// The directive name for a snippet that nginx cannot read.
pub const UNREADABLE: &str = "(unreadable snippet)";

/// Returns the directives that verify the certificate of an upstream.
pub(crate) fn proxy_ssl_trust(ssl: &ProxySsl, block: &mut Vec<Directive>) {
    block.push(Directive::of("proxy_ssl_trusted_certificate", &ssl.ca_file));
    block.push(Directive::of("proxy_ssl_ciphers", &ssl.ciphers));
    block.push(Directive::new("proxy_ssl_protocols", ssl.protocols.value.split(' '), ssl.protocols.origin));
    block.push(Directive::of("proxy_ssl_verify", &ssl.verify));
    block.push(Directive::new("proxy_ssl_verify_depth", [format!("{}", ssl.verify_depth.value)], ssl.verify_depth.origin));
}

/// Returns the directives for cross-origin requests.
pub(crate) fn cors(settings: &Settings) -> Vec<Directive> {
    let cors = &settings.cors;
    let origin = cors.enabled.origin;
    let mut all = Vec::new();
    let origins = &cors.origins;
    if origins.value.len() == 1 && origins.value.iter().all(|one| *one == "*") {
        all.push(Directive::new("set", ["$http_origin", "*"], origins.origin.or(origin)));
        all.push(Directive::new("set", ["$cors", "true"], origins.origin.or(origin)));
    } else if !origins.value.is_empty() {
        let patterns: Vec<String> = origins.value.iter().map(|one| location::origin_pattern(one)).collect();
        let pattern = format!("({})$", patterns.join("|"));
        let set = Directive::new("set", ["$cors", "true"], origins.origin);
        all.push(Directive::block("if", ["(", "$http_origin", "~*", pattern.as_str(), ")"], Vec::from([set]), origins.origin));
    }
    let options = Directive::new("set", ["$cors", "${cors}options"], origin);
    all.push(Directive::block("if", ["(", "$request_method", "=", "OPTIONS", ")"], Vec::from([options]), origin));
    let headers = || {
        let header = |name: &str, value: &str, origin: Option<Origin>| Directive::new("more_set_headers", [format!("{name}: {value}")], origin);
        let mut headers = Vec::from([header("Access-Control-Allow-Origin", "$http_origin", origins.origin)]);
        if cors.credentials.value {
            headers.push(header("Access-Control-Allow-Credentials", "true", cors.credentials.origin));
        }
        headers.push(header("Access-Control-Allow-Methods", &cors.methods, cors.methods.origin));
        headers.push(header("Access-Control-Allow-Headers", &cors.headers, cors.headers.origin));
        if !cors.expose.is_empty() {
            headers.push(header("Access-Control-Expose-Headers", &cors.expose, cors.expose.origin));
        }
        headers.push(header("Access-Control-Max-Age", &format!("{}", cors.max_age.value), cors.max_age.origin));
        headers
    };
    all.push(Directive::block("if", ["(", "$cors", "=", "true", ")"], headers(), origin));
    let mut preflight = headers();
    preflight.push(Directive::new("more_set_headers", ["Content-Type: text/plain charset=UTF-8"], origin));
    preflight.push(Directive::new("more_set_headers", ["Content-Length: 0"], origin));
    preflight.push(Directive::new("return", ["204"], origin));
    all.push(Directive::block("if", ["(", "$cors", "=", "trueoptions", ")"], preflight, origin));
    all
}
