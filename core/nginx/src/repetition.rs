//! Finds directives that a block has twice although nginx accepts each only once, if a snippet writes one of the two.
//!
//! nginx 1.27.1, `src/http`: the handlers of these directives answer "is duplicate". Does not know the directives of all modules.

use crate::directive::Directive;
use crate::template;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use chancery_base::ir::nginx::{Nginx, Server};
use chancery_base::resource::{Origin, Sourced};
use chancery_text::Str;
use hashbrown::HashMap;

/// A directive of a snippet that nginx rejects, because the block has it already.
pub(crate) struct Repetition {
    /// The annotation or key that holds the snippet.
    pub snippet: &'static str,
    pub directive: Str,
    pub origin: Origin,
    pub other: Other,
}

/// The writer of the other directive.
pub(crate) enum Other {
    /// The same snippet.
    Itself,
    /// Another snippet.
    Snippet(&'static str, Origin),
    /// The controller, for its own reasons or for a setting.
    Controller(Option<Origin>),
}

/// Directives that a block may have once.
const ONCE: &[&str] = &[
    "absolute_redirect",
    "aio_write",
    "alias",
    "auth_basic",
    "auth_basic_user_file",
    "auth_delay",
    "auth_request",
    "chunked_transfer_encoding",
    "client_body_buffer_size",
    "client_body_in_file_only",
    "client_body_in_single_buffer",
    "client_body_timeout",
    "client_header_buffer_size",
    "client_header_timeout",
    "client_max_body_size",
    "default_type",
    "etag",
    "fastcgi_buffer_size",
    "fastcgi_buffering",
    "fastcgi_buffers",
    "fastcgi_connect_timeout",
    "fastcgi_index",
    "fastcgi_intercept_errors",
    "fastcgi_pass",
    "fastcgi_read_timeout",
    "fastcgi_request_buffering",
    "fastcgi_send_timeout",
    "grpc_buffer_size",
    "grpc_connect_timeout",
    "grpc_intercept_errors",
    "grpc_next_upstream_timeout",
    "grpc_next_upstream_tries",
    "grpc_pass",
    "grpc_read_timeout",
    "grpc_send_timeout",
    "grpc_socket_keepalive",
    "grpc_ssl_name",
    "grpc_ssl_server_name",
    "grpc_ssl_session_reuse",
    "grpc_ssl_trusted_certificate",
    "grpc_ssl_verify",
    "grpc_ssl_verify_depth",
    "gunzip",
    "gzip",
    "gzip_buffers",
    "gzip_comp_level",
    "gzip_http_version",
    "gzip_min_length",
    "gzip_static",
    "gzip_vary",
    "http2",
    "http2_max_concurrent_streams",
    "if_modified_since",
    "ignore_invalid_headers",
    "keepalive_requests",
    "keepalive_time",
    "keepalive_timeout",
    "large_client_header_buffers",
    "limit_conn_status",
    "limit_rate",
    "limit_rate_after",
    "limit_req_status",
    "lingering_close",
    "lingering_time",
    "lingering_timeout",
    "log_not_found",
    "log_subrequest",
    "map_hash_bucket_size",
    "map_hash_max_size",
    "max_ranges",
    "merge_slashes",
    "mirror_request_body",
    "output_buffers",
    "port_in_redirect",
    "postpone_output",
    "proxy_buffer_size",
    "proxy_buffering",
    "proxy_buffers",
    "proxy_busy_buffers_size",
    "proxy_connect_timeout",
    "proxy_force_ranges",
    "proxy_headers_hash_bucket_size",
    "proxy_headers_hash_max_size",
    "proxy_http_version",
    "proxy_ignore_client_abort",
    "proxy_intercept_errors",
    "proxy_max_temp_file_size",
    "proxy_method",
    "proxy_next_upstream_timeout",
    "proxy_next_upstream_tries",
    "proxy_pass",
    "proxy_pass_request_body",
    "proxy_pass_request_headers",
    "proxy_read_timeout",
    "proxy_request_buffering",
    "proxy_send_timeout",
    "proxy_set_body",
    "proxy_socket_keepalive",
    "proxy_ssl_certificate",
    "proxy_ssl_certificate_key",
    "proxy_ssl_ciphers",
    "proxy_ssl_name",
    "proxy_ssl_server_name",
    "proxy_ssl_session_reuse",
    "proxy_ssl_trusted_certificate",
    "proxy_ssl_verify",
    "proxy_ssl_verify_depth",
    "proxy_temp_file_write_size",
    "real_ip_recursive",
    "recursive_error_pages",
    "reset_timedout_connection",
    "resolver_timeout",
    "rewrite_log",
    "root",
    "satisfy",
    "send_timeout",
    "sendfile",
    "sendfile_max_chunk",
    "server_name_in_redirect",
    "server_names_hash_bucket_size",
    "server_names_hash_max_size",
    "server_tokens",
    "ssl_buffer_size",
    "ssl_ciphers",
    "ssl_client_certificate",
    "ssl_crl",
    "ssl_dhparam",
    "ssl_early_data",
    "ssl_ecdh_curve",
    "ssl_prefer_server_ciphers",
    "ssl_reject_handshake",
    "ssl_session_tickets",
    "ssl_session_timeout",
    "ssl_stapling",
    "ssl_stapling_verify",
    "ssl_trusted_certificate",
    "ssl_verify_client",
    "ssl_verify_depth",
    "sub_filter_once",
    "tcp_nodelay",
    "tcp_nopush",
    "types_hash_bucket_size",
    "types_hash_max_size",
    "underscores_in_headers",
    "uninitialized_variable_warn",
    "variables_hash_bucket_size",
    "variables_hash_max_size",
];

/// Directives that a block may have several times, unless one of them says `off`.
const ONCE_IF_OFF: &[&str] = &["proxy_cookie_domain", "proxy_cookie_path", "proxy_redirect"];

/// Directives that the controller always writes for all servers, and that `template` leaves out.
const UNTRACKED: &[&str] = &[
    "client_body_buffer_size",
    "client_body_timeout",
    "client_header_buffer_size",
    "client_header_timeout",
    "http2_max_concurrent_streams",
    "keepalive_requests",
    "keepalive_timeout",
    "large_client_header_buffers",
    "log_subrequest",
    "map_hash_bucket_size",
    "port_in_redirect",
    "proxy_headers_hash_bucket_size",
    "proxy_headers_hash_max_size",
    "proxy_ssl_session_reuse",
    "reset_timedout_connection",
    "server_name_in_redirect",
    "server_names_hash_bucket_size",
    "server_names_hash_max_size",
    "ssl_buffer_size",
    "ssl_early_data",
    "ssl_ecdh_curve",
    "ssl_session_tickets",
    "tcp_nodelay",
    "tcp_nopush",
    "types_hash_max_size",
    "uninitialized_variable_warn",
    "variables_hash_bucket_size",
    "variables_hash_max_size",
];

/// Blocks of directives. Others, such as `map`, hold values.
const BLOCKS: &[&str] = &["server", "location", "if", "limit_except"];

/// Returns the rejected directives of all snippets.
pub(crate) fn find(nginx: &Nginx) -> Vec<Repetition> {
    let mut search = Search::default();
    let globals = &nginx.globals;
    let (http, server, location) = (globals.text("http-snippet"), globals.text("server-snippet"), globals.text("location-snippet"));
    if search.add("http-snippet", &http) {
        let mut block: Vec<Directive> = UNTRACKED.iter().map(|name| Directive::new(name, [""; 0], None)).collect();
        block.extend(template::http(nginx));
        search.block(&block);
    }
    // They are in every server.
    let auth = search.add("global-auth-snippet", &globals.external_auth.snippet);
    let is_everywhere = search.add("server-snippet", &server) | search.add("location-snippet", &location) | auth;
    for server in &nginx.servers {
        if search.add_server(server) || is_everywhere {
            search.block(template::server(nginx, server).inner());
        }
    }
    search.found
}

#[derive(Default)]
struct Search {
    snippets: BTreeMap<Origin, &'static str>,
    found: Vec<Repetition>,
}

impl Search {
    /// Adds a snippet. Returns whether it has a place in the input.
    fn add(&mut self, name: &'static str, snippet: &Sourced<Str>) -> bool {
        let Some(origin) = snippet.origin.filter(|_| !snippet.value.is_empty()) else { return false };
        self.snippets.insert(origin, name);
        true
    }

    /// Adds the snippets of a server's annotations. Returns whether it has any.
    fn add_server(&mut self, server: &Server) -> bool {
        let mut any = self.add("server-snippet", &server.snippet);
        for location in &server.locations {
            let settings = &location.settings;
            any |= self.add("configuration-snippet", &settings.configuration_snippet);
            any |= self.add("auth-snippet", &settings.external_auth.snippet);
        }
        any
    }

    fn block(&mut self, block: &[Directive]) {
        let mut seen: HashMap<&str, &Directive> = HashMap::new();
        for directive in block {
            if let Some(inner) = directive.block.as_deref().filter(|_| BLOCKS.contains(&directive.name.as_str())) {
                self.block(inner);
            }
            match seen.get(once_name(&directive.name)) {
                Some(first) if is_rejected(first, directive) => self.reject(first, directive),
                Some(_) => {}
                None => {
                    seen.insert(once_name(&directive.name), directive);
                }
            }
        }
    }

    /// Reports the later directive of a snippet, or else the earlier one.
    fn reject(&mut self, first: &Directive, second: &Directive) {
        let of = |directive: &Directive| directive.origin.and_then(|origin| Some((origin, *self.snippets.get(&origin)?)));
        let ((origin, snippet), directive, other) = match (of(first), of(second)) {
            (Some((first, _)), Some(own)) if own.0 == first => (own, second, Other::Itself),
            (Some((first, name)), Some(own)) => (own, second, Other::Snippet(name, first)),
            (None, Some(own)) => (own, second, Other::Controller(first.origin)),
            (Some(own), None) => (own, first, Other::Controller(second.origin)),
            (None, None) => return,
        };
        self.found.push(Repetition { snippet, directive: directive.name.clone(), origin, other });
    }
}

/// Returns the name that a directive shares with its other forms: a Lua handler is a file or a block.
fn once_name(name: &str) -> &str {
    let lua = name.strip_suffix("_block").or_else(|| name.strip_suffix("_file")).unwrap_or(name);
    if lua.ends_with("_by_lua") && lua != "set_by_lua" { lua } else { name }
}

/// Whether nginx rejects the second of two directives with one name in one block.
fn is_rejected(first: &Directive, second: &Directive) -> bool {
    let name = once_name(&second.name);
    let is_off = |directive: &Directive| directive.args.len() == 1 && directive.arg(0) == "off";
    match ONCE_IF_OFF.contains(&name) {
        true => is_off(first) || is_off(second),
        false => name.ends_with("_by_lua") && name != "set_by_lua" || ONCE.binary_search(&name).is_ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::{ONCE, is_rejected};
    use crate::directive::Directive;

    #[test]
    fn once_is_sorted() {
        assert!(ONCE.is_sorted());
    }

    #[test]
    fn is_rejected_depends_on_directive() {
        let of = |name: &'static str, args: &[&'static str]| Directive::new(name, args.to_vec(), None);
        let rejects = |a: Directive, b: Directive| is_rejected(&a, &b);
        assert!(rejects(of("proxy_buffering", &["on"]), of("proxy_buffering", &["off"])));
        assert!(rejects(of("proxy_cookie_path", &["off"]), of("proxy_cookie_path", &["/a", "/b"])));
        assert!(!rejects(of("proxy_cookie_path", &["/", "/x"]), of("proxy_cookie_path", &["/a", "/b"])));
        assert!(rejects(of("rewrite_by_lua_file", &["a"]), of("rewrite_by_lua_block", &[])));
        for name in ["set", "proxy_set_header", "add_header", "error_page", "proxy_next_upstream", "set_by_lua_block", "rewrite"] {
            assert!(!rejects(of(name, &["a"]), of(name, &["b"])), "{name}");
        }
    }
}
