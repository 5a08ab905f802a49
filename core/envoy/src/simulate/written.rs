//! A request in the form in which users write it, in forms, links and snapshots. Does not simulate it; see `run`.

use super::request::{Protocol, Request};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::net::IpAddr;
use serde::{Deserialize, Serialize};

/// A request as the user writes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WrittenRequest {
    /// The method; empty for `GET`.
    pub method: String,
    /// `https://host:port/path?query`.
    pub url: String,
    /// Headers in their order. `Host` replaces the URL's host.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<(String, String)>,
    /// The port of the connection, if it does not follow from the URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<u32>,
    /// The server name of the TLS handshake, if it is not the URL's host; empty for none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sni: Option<String>,
    /// The client's IP address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Whether the client has a certificate.
    #[serde(skip_serializing_if = "is_not")]
    pub client_certificate: bool,
    /// HTTP/2 rather than HTTP/1.1.
    #[serde(skip_serializing_if = "is_not")]
    pub http2: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over so")]
fn is_not(of: &bool) -> bool {
    !of
}

/// Headers whose value identifies the client.
const CREDENTIALS: [&str; 3] = ["authorization", "proxy-authorization", "cookie"];

impl WrittenRequest {
    /// Parses the request.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn read(&self) -> Result<Request, String> {
        let method = self.method.trim();
        let mut request = Request::new(if method.is_empty() { "GET" } else { method }, self.url.trim())?;
        for (name, value) in &self.headers {
            request.add_header(name.trim(), value);
        }
        if let Some(port) = self.port {
            request.port = Some(u16::try_from(port).map_err(|_| format!("`{port}` is not a port"))?.into());
        }
        if let Some(sni) = &self.sni {
            request.sni = Some(sni.trim().to_ascii_lowercase()).filter(|name| !name.is_empty());
        }
        if let Some(source) = &self.source {
            request.source = Some(source.trim().parse::<IpAddr>().map_err(|_| format!("`{source}` is not an IP address"))?);
        }
        request.client_certificate = self.client_certificate;
        request.protocol = if self.http2 { Protocol::Http2 } else { Protocol::Http1 };
        Ok(request)
    }

    /// Splits a typed request like `POST https://shop.example.com/` into method and URL. Returns `None` if no method precedes the URL.
    #[must_use]
    pub fn split_method(text: &str) -> Option<(&str, &str)> {
        let (method, url) = text.trim_start().split_once(' ')?;
        let url = url.trim_start();
        let is_method = method.len() >= 3 && method.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'-');
        (is_method && !url.is_empty() && !url.contains(' ')).then_some((method, url))
    }

    /// Returns the request without credentials: masks letters and digits of their values, and removes user information from the URL.
    #[must_use]
    pub fn without_credentials(&self) -> Self {
        let value = |(name, value): &(String, String)| {
            let hidden = CREDENTIALS.iter().any(|known| name.trim().eq_ignore_ascii_case(known));
            (name.clone(), if hidden { masked(name.trim(), value) } else { value.clone() })
        };
        let authority = self.url.find("://").map_or(0, |at| at + 3);
        let (scheme, rest) = self.url.split_at(authority);
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let host = rest.get(..end).and_then(|authority| authority.rfind('@')).map_or(0, |at| at + 1);
        let url = format!("{scheme}{}", rest.get(host..).unwrap_or_default());
        Self { url, headers: self.headers.iter().map(value).collect(), ..self.clone() }
    }
}

/// Masks the value of a credentials header, except its scheme and the names of cookies, since routes may match those.
fn masked(name: &str, value: &str) -> String {
    let hidden = |text: &str| text.chars().map(|c| if c.is_alphanumeric() { 'x' } else { c }).collect::<String>();
    let after = |text: &str, mark: char| {
        let (kept, rest) = text.split_at(text.find(mark).unwrap_or_default());
        format!("{kept}{}", hidden(rest))
    };
    if name.eq_ignore_ascii_case("cookie") {
        let cookies: Vec<String> = value.split(';').map(|cookie| after(cookie, '=')).collect();
        return cookies.join(";");
    }
    after(value, ' ')
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn a_request_is_read_as_it_is_written() {
        let written = WrittenRequest {
            url: "https://shop.example.com:8443/a?b".into(),
            headers: vec![("Host".into(), "other.example.com".into()), ("X-Version".into(), "2".into())],
            port: Some(443),
            source: Some("10.0.0.1".into()),
            http2: true,
            ..WrittenRequest::default()
        };
        let request = written.read().expect("a request");
        assert_eq!((&*request.method, &*request.authority, &*request.path), ("GET", "other.example.com", "/a?b"));
        assert_eq!((request.tls, request.sni.as_deref(), request.port), (true, Some("shop.example.com"), Some(443)));
        assert_eq!(request.headers.first("x-version"), Some("2"));
        let wrong = |written: WrittenRequest| written.read().expect_err("it is wrong");
        assert_eq!(wrong(WrittenRequest { port: Some(70000), ..written.clone() }), "`70000` is not a port");
        assert_eq!(wrong(WrittenRequest { source: Some("here".into()), ..written }), "`here` is not an IP address");
        assert_eq!(wrong(WrittenRequest::default()), "the URL `` has no host");
    }

    #[test]
    fn typed_method_is_split_from_url() {
        assert_eq!(WrittenRequest::split_method("POST https://a.example.com/b"), Some(("POST", "https://a.example.com/b")));
        assert_eq!(WrittenRequest::split_method("https://a.example.com/b"), None);
        assert_eq!(WrittenRequest::split_method("curl https://a.example.com/b"), None);
        assert_eq!(WrittenRequest::split_method("POST "), None);
    }

    #[test]
    fn credentials_are_left_out() {
        let headers = [("Authorization", "Bearer s3cr3t"), ("cookie", "canary=on; id=77"), ("x-api", "kept"), ("AUTHORIZATION", "t;ok=en")];
        let written = WrittenRequest {
            url: "https://me:secret@shop.example.com/a@b".into(),
            headers: headers.map(|(name, value)| (name.into(), value.into())).into(),
            ..WrittenRequest::default()
        };
        let without = written.without_credentials();
        assert_eq!(without.url, "https://shop.example.com/a@b");
        let values: Vec<&str> = without.headers.iter().map(|(_, value)| value.as_str()).collect();
        assert_eq!(values, ["Bearer xxxxxx", "canary=xx; id=xx", "kept", "x;xx=xx"]);
    }
}
