//! Holds the state of one request: its variables and the results of earlier phases.

use super::message::{Request, Response, Seen, Step, Version, World, contains, range};
use super::pattern::{Captures, PatternCache};
use super::upstream_index::UpstreamIndex;
use super::uri::Target;
use crate::directive::Directive;
use alloc::borrow::ToOwned;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::client_certificate;
use chancery_base::ir::nginx::Nginx;
use chancery_base::resource::Origin;
use core::net::IpAddr;

/// The placeholder for a request id that nginx generates.
pub const GENERATED: &str = "<generated>";

/// State that persists from one request to the next.
#[derive(Debug, Default)]
pub struct Kept {
    /// Responses of authentication services, by key.
    pub answers: BTreeMap<String, (u16, Vec<(String, String)>)>,
    /// Endpoints with an open TLS connection.
    pub tls: BTreeSet<String>,
}

/// Variables of nginx whose value the simulation cannot know: times, sizes, and facts about connections and certificates. They stay as written.
const UNKNOWN: &[&str] = &[
    "body_bytes_sent",
    "bytes_sent",
    "connection",
    "connection_requests",
    "connection_time",
    "connections_active",
    "hostname",
    "msec",
    "nginx_version",
    "pid",
    "pipe",
    "proxy_protocol_server_addr",
    "realip_remote_port",
    "remote_port",
    "request_completion",
    "request_length",
    "request_time",
    "ssl_cipher",
    "ssl_ciphers",
    "ssl_client_cert",
    "ssl_client_escaped_cert",
    "ssl_client_fingerprint",
    "ssl_client_raw_cert",
    "ssl_client_serial",
    "ssl_client_v_end",
    "ssl_client_v_remain",
    "ssl_client_v_start",
    "ssl_curve",
    "ssl_curves",
    "ssl_early_data",
    "ssl_protocol",
    "ssl_session_id",
    "ssl_session_reused",
    "time_iso8601",
    "time_local",
    "upstream_addr",
    "upstream_bytes_received",
    "upstream_connect_time",
    "upstream_header_time",
    "upstream_response_length",
    "upstream_response_time",
    "upstream_status",
];

/// Whether the simulation cannot know the value of a variable.
pub fn is_unknown(name: &str) -> bool {
    UNKNOWN.binary_search(&name).is_ok()
}

/// One request and its state.
pub struct Exchange<'a> {
    /// The configuration of nginx.
    pub nginx: &'a Nginx,
    pub patterns: &'a PatternCache,
    pub upstreams: &'a UpstreamIndex,
    /// The behaviour of services.
    pub world: &'a World,
    pub request: &'a Request,
    /// The headers of the request after directives changed them; `None` if none did.
    pub changed_headers: Option<Vec<(String, String)>>,
    /// The target, unchanged.
    pub target: Target,
    /// The decoded path after rewrites.
    pub uri: String,
    /// The query after rewrites.
    pub args: String,
    pub is_rewritten: bool,
    /// The host without its port.
    pub host: String,
    pub server_name: String,
    /// The client's address, possibly from a header.
    pub remote: IpAddr,
    /// Variables that directives set.
    pub variables: BTreeMap<String, String>,
    /// Groups of the last expression.
    pub captures: Captures,
    /// Headers of a service's last response (`$upstream_http_*`).
    pub upstream_headers: Vec<(String, String)>,
    /// The response to the client.
    pub response: Response,
    /// Other requests to services so far.
    pub others: Vec<Seen>,
    /// Whether the request reached the location whose Lua code sees the response.
    pub has_header_filter: bool,
    /// The number of moves to another location.
    pub moves: usize,
    /// Whether a copy of the request was sent, which ran the server's directives again.
    pub is_mirrored: bool,
    /// Whether nginx's own default server generated the page.
    pub is_own_page: bool,
    /// State from earlier requests.
    pub kept: Kept,
    /// Whether the client's certificate is accepted, if the client has one.
    pub verified: Option<bool>,
}

impl Exchange<'_> {
    /// Records that the request reached a part of nginx.
    pub fn step(&mut self, what: &'static str, name: String, origin: Option<Origin>) {
        self.response.way.push(Step { what, name, origin });
    }

    /// Records that the simulation skipped something.
    pub fn note(&mut self, note: impl Into<String>) {
        let note = note.into();
        if !self.response.notes.contains(&note) {
            self.response.notes.push(note);
        }
    }

    /// Records that a part is not simulated, so that nginx may respond otherwise.
    pub fn gap(&mut self, part: impl Into<String>) {
        let part = part.into();
        if !self.response.gaps.contains(&part) {
            self.response.gaps.push(part.clone());
        }
        self.note(part);
    }

    /// Returns the headers that nginx reads from the request.
    pub fn headers(&self) -> Vec<(String, String)> {
        let globals = &self.nginx.globals;
        let underscores = globals.flag("enable-underscores-in-headers").value;
        let ignores = globals.flag("ignore-invalid-headers").value;
        let is_valid = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_' && underscores);
        let all = self.changed_headers.as_ref().unwrap_or(&self.request.headers).iter().filter(|(name, _)| !name.eq_ignore_ascii_case("host"));
        all.filter(|(name, _)| !ignores || is_valid(name)).cloned().collect()
    }

    /// Applies `more_set_input_headers` and `more_clear_input_headers`.
    ///
    /// openresty/headers-more-nginx-module `src/ngx_http_headers_more_headers_in.c`.
    pub fn change_headers(&mut self, directive: &Directive) {
        let mut all = self.changed_headers.take().unwrap_or_else(|| self.request.headers.clone());
        let mut only_replaces = false;
        for arg in &directive.args {
            match arg.as_str() {
                // For some types of bodies only: requests here have no type.
                "-t" => return self.changed_headers = Some(all),
                "-r" => only_replaces = true,
                text => {
                    let (name, value) = text.split_once(':').map_or((text, ""), |(name, value)| (name, value.trim()));
                    let name = name.trim().to_ascii_lowercase();
                    let value = Some(value).filter(|_| directive.name == "more_set_input_headers").map(|value| self.evaluate(value));
                    let is_it = |own: &str| match name.strip_suffix('*') {
                        Some(beginning) => own.to_ascii_lowercase().starts_with(beginning),
                        None => own.eq_ignore_ascii_case(&name),
                    };
                    let had = all.iter().any(|(own, _)| is_it(own));
                    all.retain(|(own, _)| !is_it(own));
                    all.extend(value.filter(|value| !value.is_empty() && (had || !only_replaces)).map(|value| (name.clone(), value)));
                }
            }
        }
        self.changed_headers = Some(all);
    }

    pub fn header_variable(&self, name: &str) -> String {
        let is_it = |own: &str| own.to_ascii_lowercase().replace('-', "_") == name;
        let found: Vec<String> = self.headers().into_iter().filter(|(own, _)| is_it(own)).map(|(_, value)| value).collect();
        found.join(if name == "cookie" { "; " } else { ", " })
    }

    /// Returns a cookie of the request.
    pub fn cookie(&self, name: &str) -> Option<String> {
        let all = self.header_variable("cookie");
        let mut pairs = all.split(';').filter_map(|pair| pair.trim().split_once('='));
        pairs.find(|(own, _)| *own == name).map(|(_, value)| value.to_owned())
    }

    fn port(&self) -> String {
        let ports = &self.nginx.ports;
        let port = match (self.request.tls, ports.has_ssl_passthrough) {
            (true, true) => ports.ssl_proxy,
            (true, false) => ports.https,
            (false, _) => ports.http,
        };
        format!("{port}")
    }

    fn is_trusted(&self, address: IpAddr) -> bool {
        let ranges = self.nginx.globals.list("proxy-real-ip-cidr");
        ranges.value.iter().filter_map(|text| range(text)).any(|(network, length)| contains(network, length, address))
    }

    /// Returns the client's address from a trusted header or PROXY header, or else from the connection.
    pub fn real_address(&self) -> IpAddr {
        let globals = &self.nginx.globals;
        let (trusts, proxy) = (globals.flag("use-forwarded-headers").value, globals.flag("use-proxy-protocol").value);
        let peer = self.peer();
        if !(trusts || proxy || globals.flag("enable-real-ip").value) || !self.is_trusted(peer) {
            return peer;
        }
        let name = globals.text("forwarded-for-header").to_ascii_lowercase().replace('-', "_");
        let by_proxy = self.proxy_source();
        let list = match (trusts, proxy) {
            (false, true) => return by_proxy.unwrap_or(peer),
            (true, true) if by_proxy.is_some_and(|source| !self.is_trusted(source)) => return by_proxy.unwrap_or(peer),
            _ => self.header_variable(&name),
        };
        let mut found = peer;
        for item in list.rsplit(',') {
            let item = item.trim();
            let without_port = item.rsplit_once(':').filter(|(host, _)| !host.contains(':')).map_or(item, |(host, _)| host);
            let Ok(address) = without_port.trim_matches(['[', ']']).parse() else { break };
            found = address;
            if !self.is_trusted(address) {
                break;
            }
        }
        found
    }

    /// Returns the address of the connection's other end.
    pub fn peer(&self) -> IpAddr {
        // The controller relays TLS connections then.
        let is_passed = self.request.tls && self.nginx.ports.has_ssl_passthrough;
        if is_passed { IpAddr::V4(core::net::Ipv4Addr::LOCALHOST) } else { self.request.client }
    }

    fn proxy_words(&self) -> Vec<&str> {
        self.request.proxy_protocol.as_deref().unwrap_or_default().split_whitespace().collect()
    }

    /// Returns the client's address in the PROXY header.
    pub fn proxy_source(&self) -> Option<IpAddr> {
        self.proxy_words().get(2)?.parse().ok()
    }

    /// Returns the value of a variable.
    pub fn variable(&self, name: &str) -> String {
        if let Some(value) = self.variables.get(name) {
            return value.clone();
        }
        let request = self.request;
        let scheme = if request.tls { "https" } else { "http" };
        match name {
            "uri" | "document_uri" => self.uri.clone(),
            "request_uri" => self.target.raw.clone(),
            "args" | "query_string" => self.args.clone(),
            "is_args" => if self.args.is_empty() { "" } else { "?" }.into(),
            "scheme" | "request_scheme" => scheme.into(),
            "https" => if request.tls { "on" } else { "" }.into(),
            "host" => {
                if self.host.is_empty() {
                    self.server_name.clone()
                } else {
                    self.host.clone()
                }
            }
            "http_host" => request.host.clone(),
            "server_name" => self.server_name.clone(),
            "server_port" => self.port(),
            "server_protocol" => match request.version {
                Version::Http10 => "HTTP/1.0".into(),
                Version::Http11 => "HTTP/1.1".into(),
                Version::Http2 => "HTTP/2.0".into(),
            },
            "server_addr" => "192.0.2.10".into(),
            "request_method" => request.method.clone(),
            "remote_addr" | "binary_remote_addr" => self.remote.to_string(),
            "realip_remote_addr" => self.peer().to_string(),
            "proxy_protocol_addr" => self.proxy_source().map(|address| address.to_string()).unwrap_or_default(),
            "proxy_protocol_server_port" => self.proxy_words().get(5).copied().unwrap_or_default().into(),
            "proxy_protocol_port" => self.proxy_words().get(4).copied().unwrap_or_default().into(),
            "content_length" => request.body.map(|length| length.to_string()).unwrap_or_default(),
            "content_type" => self.header_variable("content_type"),
            "literal_dollar" => "$".into(),
            "request_id" => GENERATED.into(),
            "req_id" => match self.header_variable("x_request_id") {
                own if own.is_empty() && self.nginx.globals.flag("generate-request-id").value => GENERATED.into(),
                own => own,
            },
            "connection_upgrade" => match self.header_variable("upgrade").is_empty() {
                false => "upgrade".into(),
                true if self.nginx.globals.number("upstream-keepalive-connections").value > 0 => String::new(),
                true => "close".into(),
            },
            "full_x_forwarded_for" => {
                let last =
                    if self.nginx.globals.flag("use-proxy-protocol").value { self.variable("proxy_protocol_addr") } else { self.peer().to_string() };
                let own = self.header_variable("x_forwarded_for");
                if own.is_empty() { last } else { format!("{own}, {last}") }
            }
            "ssl_client_verify" if !request.tls => String::new(),
            "ssl_client_verify" => match (&request.certificate, self.verified) {
                (_, None) | (None, _) => "NONE".into(),
                (Some(_), Some(true)) => "SUCCESS".into(),
                (Some(_), Some(false)) => "FAILED:unable to verify the first certificate".into(),
            },
            "ssl_client_s_dn" => match (&request.certificate, self.verified) {
                (Some(name), Some(_)) => client_certificate::subject(name),
                _ => String::new(),
            },
            "ssl_client_i_dn" => match (&request.certificate, self.verified) {
                (Some(_), Some(true)) => client_certificate::ISSUER.into(),
                (Some(_), Some(false)) => "CN=Other CA".into(),
                _ => String::new(),
            },
            "ssl_server_name" => request.sni.clone().filter(|_| request.tls).unwrap_or_default(),
            "remote_user" => super::basic_user::user(self.header_variable("authorization").as_str()),
            "block_ua" => self.blocks("block-user-agents", "user_agent"),
            "block_ref" => self.blocks("block-referers", "referer"),
            name if name.starts_with("ssl_") && !request.tls => String::new(),
            name if name.starts_with("ssl_client_") && (request.certificate.is_none() || self.verified.is_none()) => String::new(),
            name if is_unknown(name) => format!("${name}"),
            name => self.other_variable(name),
        }
    }

    fn other_variable(&self, name: &str) -> String {
        if let Some(header) = name.strip_prefix("http_") {
            return self.header_variable(header);
        }
        if let Some(cookie) = name.strip_prefix("cookie_") {
            return self.cookie(cookie).unwrap_or_default();
        }
        if let Some(argument) = name.strip_prefix("arg_") {
            let mut pairs = self.args.split('&').filter_map(|pair| pair.split_once('='));
            return pairs.find(|(own, _)| own.eq_ignore_ascii_case(argument)).map(|(_, value)| value.to_owned()).unwrap_or_default();
        }
        if let Some(header) = name.strip_prefix("upstream_http_") {
            let is_it = |own: &str| own.to_ascii_lowercase().replace('-', "_") == header;
            return self.upstream_headers.iter().find(|(own, _)| is_it(own)).map(|(_, value)| value.clone()).unwrap_or_default();
        }
        self.captures.names.iter().find(|(own, _)| own == name).map(|(_, value)| value.clone()).unwrap_or_default()
    }

    /// Returns `1` if one of the ConfigMap's block lists contains the header, else `0`.
    fn blocks(&self, list: &str, header: &str) -> String {
        let value = self.header_variable(header);
        let matches = |item: &str| match item.strip_prefix("~*") {
            Some(pattern) => self.patterns.find(pattern, true, &value).is_ok_and(|found| found.is_some()),
            None => match item.strip_prefix('~') {
                Some(pattern) => self.patterns.find(pattern, false, &value).is_ok_and(|found| found.is_some()),
                None => item.eq_ignore_ascii_case(&value),
            },
        };
        if self.nginx.globals.list(list).value.iter().any(|item| matches(item)) { "1" } else { "0" }.into()
    }

    /// Replaces the variables in a string.
    pub fn evaluate(&self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            out.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            let (name, after) = match rest.strip_prefix('{').and_then(|inner| inner.split_once('}')) {
                Some(found) => found,
                None => {
                    let is_group = rest.starts_with(|c: char| c.is_ascii_digit());
                    let end = if is_group { 1 } else { rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len()) };
                    rest.split_at(end)
                }
            };
            rest = after;
            match name.parse::<usize>() {
                Ok(number) => out.push_str(self.captures.group(number)),
                Err(_) if name.is_empty() => out.push('$'),
                Err(_) => out.push_str(&self.variable(name)),
            }
        }
        out.push_str(rest);
        out
    }

    pub fn set(&mut self, name: &str, value: String) {
        self.variables.insert(name.trim_start_matches('$').to_owned(), value);
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn unknown_variables_are_sorted() {
        assert!(super::UNKNOWN.is_sorted());
    }
}
