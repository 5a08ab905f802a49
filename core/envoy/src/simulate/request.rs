//! A request as an Envoy receives it. Does not simulate it; see `run`.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::net::IpAddr;

/// A request and its connection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// The method, as sent.
    pub method: String,
    /// `Host`, or `:authority`.
    pub authority: String,
    /// Path and query, as sent.
    pub path: String,
    /// All other headers.
    pub headers: Headers,
    /// The port of the connection; `None` if any listener will do.
    pub port: Option<u32>,
    /// The port in the URL.
    pub url_port: Option<u32>,
    pub tls: bool,
    /// The server name of the TLS handshake.
    pub sni: Option<String>,
    /// Protocols that the TLS handshake offers.
    pub alpn: Vec<String>,
    /// Whether the client has a certificate.
    pub client_certificate: bool,
    /// The name in the client's certificate: the URI of its alternative names.
    pub identity: Option<String>,
    /// The client's address.
    pub source: Option<IpAddr>,
    /// The destination address, if several listeners have the port.
    pub destination: Option<IpAddr>,
    pub protocol: Protocol,
    /// The random number that chooses among routes with a fraction and among weighted clusters.
    pub seed: Option<u64>,
}

/// A version of HTTP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub enum Protocol {
    #[default]
    #[serde(rename = "HTTP/1.1")]
    Http1,
    /// HTTP/2, or HTTP/3, which is routed the same way.
    #[serde(rename = "HTTP/2")]
    Http2,
}

impl Request {
    /// Creates a request for a URL: `http://host:port/path?query`. Without a scheme, `http` is used.
    ///
    /// # Errors
    ///
    /// Why the URL is not an HTTP URL.
    pub fn new(method: &str, url: &str) -> Result<Self, String> {
        if method.is_empty() || !method.bytes().all(|b| b.is_ascii_graphic() && !b"()<>@,;:\\\"/[]?={}".contains(&b)) {
            return Err(format!("`{method}` is not an HTTP method"));
        }
        let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
        let tls = match scheme.to_ascii_lowercase().as_str() {
            "http" | "ws" | "h2c" => false,
            "https" | "wss" => true,
            "tcp" | "tls" => {
                return Err(format!(
                    "`{scheme}://` is not the URL of a request: for a TCPRoute write http://HOST:PORT, for a TLSRoute https://HOST:PORT"
                ));
            }
            other => return Err(format!("the scheme `{other}` is not http or https: write http:// or https://")),
        };
        let rest = rest.split('#').next().unwrap_or_default();
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        if authority.contains(char::is_whitespace) || authority.starts_with('[') != authority.contains(']') {
            return Err(format!("`{authority}` in the URL `{url}` is not a host"));
        }
        if authority.is_empty() {
            return Err(format!("the URL `{url}` has no host"));
        }
        if let Some(bad) = authority.chars().chain(path.chars()).find(|c| c.is_control() || *c == ' ') {
            return Err(format!("a URL must not contain {bad:?}: write it as %{:02X}", u32::from(bad)));
        }
        let port = match port_of(authority) {
            Some(port) => Some(port.parse::<u16>().map_err(|_| format!("`{port}` is not a port"))?.into()),
            None => None,
        };
        let host = host_of(authority);
        let is_address = host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok();
        Ok(Self {
            method: method.to_owned(),
            authority: authority.to_owned(),
            path,
            headers: Headers::default(),
            port: None,
            url_port: port,
            tls,
            // Clients leave out the final dot of a host (RFC 6066, section 3).
            sni: (tls && !is_address).then(|| host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase()),
            alpn: Vec::new(),
            client_certificate: false,
            identity: None,
            source: None,
            destination: None,
            protocol: Protocol::Http1,
            seed: None,
        })
    }

    /// Adds a header. `Host` replaces the URL's host.
    pub fn add_header(&mut self, name: &str, value: &str) {
        match name.to_ascii_lowercase().as_str() {
            "host" | ":authority" => self.authority = value.to_owned(),
            ":method" => self.method = value.to_owned(),
            ":path" => self.path = value.to_owned(),
            name => self.headers.add(name, value),
        }
    }
}

/// The port of an authority, as written.
pub(super) fn port_of(authority: &str) -> Option<&str> {
    port_start(authority).and_then(|at| authority.get(at + 1..))
}

/// The authority without its port.
pub fn host_of(authority: &str) -> &str {
    port_start(authority).and_then(|at| authority.get(..at)).unwrap_or(authority)
}

/// Returns the index of the port's colon, ignoring colons of an IPv6 address. `source/common/http/header_utility.cc` of Envoy.
fn port_start(authority: &str) -> Option<usize> {
    let colon = authority.rfind(':')?;
    authority.rfind(']').is_none_or(|bracket| bracket < colon).then_some(colon)
}

/// Headers in their order, names in lower case.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Headers(Vec<(String, String)>);

impl Headers {
    /// Adds a header after existing ones of the same name.
    pub fn add(&mut self, name: &str, value: &str) {
        self.0.push((name.to_ascii_lowercase(), value.trim().to_string()));
    }

    /// Sets a header, and replaces existing ones of the same name.
    pub fn set(&mut self, name: &str, value: &str) {
        match self.0.iter().position(|(key, _)| key == name) {
            Some(at) => {
                if let Some(entry) = self.0.get_mut(at) {
                    entry.1 = value.to_owned();
                }
                let mut index = 0;
                self.0.retain(|(key, _)| {
                    index += 1;
                    index <= at + 1 || key != name
                });
            }
            None => self.0.push((name.to_owned(), value.to_owned())),
        }
    }

    /// Removes all headers of a name. Returns whether there were any.
    pub fn remove(&mut self, name: &str) -> bool {
        let before = self.0.len();
        self.0.retain(|(key, _)| key != name);
        self.0.len() != before
    }

    /// All values of a name.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    #[must_use]
    pub fn first(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}
