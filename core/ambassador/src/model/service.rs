//! Parses a `service` field: `[scheme://]host[:port]`, like Python's `urllib.parse`.
//!
//! Source of the behaviour: Emissary `python/ambassador/ir/irbasemapping.py` (`normalize_service_name`), `ir/ircluster.py`.

use alloc::format;
use alloc::string::{String, ToString};
use chancery_text::Str;
use core::fmt;

/// Why a service is invalid. Prints Python's error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServiceError {
    /// A bracket without its other half.
    InvalidIpv6,
    /// The text after the colon is no number.
    PortNotANumber(String),
    /// The port is above 65535.
    PortOutOfRange,
    /// There is no host.
    NoHostname,
    /// A `%` without two hexadecimal digits.
    BadEscape(String),
}

impl fmt::Display for ServiceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidIpv6 => f.write_str("Invalid IPv6 URL"),
            Self::PortNotANumber(port) => write!(f, "Port could not be cast to integer value as {}", python_repr(port)),
            Self::PortOutOfRange => f.write_str("Port out of range 0-65535"),
            Self::NoHostname => f.write_str("No hostname"),
            Self::BadEscape(escape) => write!(f, "Invalid percent-escape in hostname: {escape}"),
        }
    }
}

/// The user, host and port of a URL.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Authority {
    /// Lower case, without brackets; `None` when empty.
    pub host: Option<String>,
    /// The text after the colon, if any.
    pub port: Option<String>,
    /// Whether a path, query or fragment follows.
    pub has_rest: bool,
}

impl Authority {
    /// Splits the text after `scheme://`. Returns Python's error.
    pub fn parse(text: &str) -> Result<Self, ServiceError> {
        let end = text.find(['/', '?', '#']).unwrap_or(text.len());
        let (netloc, rest) = text.split_at(end);
        if netloc.contains('[') != netloc.contains(']') {
            return Err(ServiceError::InvalidIpv6);
        }
        let host_info = netloc.rsplit_once('@').map_or(netloc, |(_, host)| host);
        let (host, port) = match host_info.split_once('[') {
            Some((_, bracketed)) => {
                let (host, after) = bracketed.split_once(']').unwrap_or((bracketed, ""));
                (host, after.split_once(':').map(|(_, port)| port))
            }
            None => match host_info.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (host_info, None),
            },
        };
        // A single trailing `;`, `?`, `#` or `/` has no effect.
        let has_rest = rest.len() > 1 || rest == "/";
        Ok(Self { host: (!host.is_empty()).then(|| lower_host(host)), port: port.filter(|port| !port.is_empty()).map(ToString::to_string), has_rest })
    }

    /// The port as a number; 0 if absent. Returns Python's error.
    pub fn port_number(&self) -> Result<u16, ServiceError> {
        let Some(port) = &self.port else { return Ok(0) };
        if !port.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(ServiceError::PortNotANumber(port.clone()));
        }
        port.parse().map_err(|_| ServiceError::PortOutOfRange)
    }
}

/// Lower case, except after a `%`, which Python treats as the zone of an IPv6 address.
fn lower_host(host: &str) -> String {
    match host.split_once('%') {
        Some((host, zone)) => format!("{}%{zone}", host.to_lowercase()),
        None => host.to_lowercase(),
    }
}

/// A string as Python's `repr` writes it.
pub fn python_repr(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = String::with_capacity(text.len() + 2);
    out.push(quote);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote => {
                out.push('\\');
                out.push(c);
            }
            c if (c as u32) < 0x20 || c as u32 == 0x7f => out.push_str(&format!("\\x{:02x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push(quote);
    out
}

/// Whether `//` must be prepended so that `urlparse` sees a host: unless the text has a scheme or starts with `//`.
fn needs_slashes(text: &str) -> bool {
    let scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    let has_scheme = text.find(':').is_some_and(|at| at > 0) && text.trim_start_matches(scheme).starts_with("://");
    !has_scheme && !text.starts_with("//")
}

/// The normalized form of a service name.
pub struct Normalized {
    /// The name for the cluster.
    pub service: Str,
    /// The reference's error after `Malformed service 'x': `.
    pub problem: Option<ServiceError>,
}

/// How names without a dot are completed.
pub struct Qualification<'a> {
    /// The Mapping's namespace.
    pub namespace: &'a str,
    /// The namespace that Emissary runs in.
    pub ambassador_namespace: &'a str,
    /// Whether names are completed at all: not for Consul, and not with
    /// `use_ambassador_namespace_for_service_resolution`.
    pub qualify: bool,
}

/// Normalizes a service: adds the Mapping's namespace to a bare name and drops a path.
pub fn normalize(service: &str, rule: &Qualification<'_>) -> Normalized {
    // The usual forms need no work: `name`, `name.namespace`, `name:port`.
    let plain = !service.is_empty() && service.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'.' | b'_'));
    let foreign = rule.qualify && !rule.namespace.is_empty() && rule.namespace != rule.ambassador_namespace;
    if plain && (!foreign || service.contains('.') || service == "localhost") {
        return Normalized { service: service.into(), problem: None };
    }
    match normalize_slowly(service, foreign.then_some(rule.namespace)) {
        Ok(text) => Normalized { service: text.into(), problem: None },
        Err(problem) => Normalized { service: service.into(), problem: Some(problem) },
    }
}

fn normalize_slowly(service: &str, namespace: Option<&str>) -> Result<String, ServiceError> {
    let trimmed = service.trim_start_matches(|c: char| c <= ' ');
    let text: String = trimmed.chars().filter(|c| !matches!(c, '\t' | '\r' | '\n')).collect();
    let (scheme, rest) = if needs_slashes(service) {
        ("", text.as_str())
    } else if let Some(rest) = text.strip_prefix("//") {
        ("", rest)
    } else {
        match text.split_once("://") {
            Some((scheme, rest)) => (scheme, rest),
            None => ("", text.as_str()),
        }
    };
    let authority = Authority::parse(rest)?;
    let Some(host) = &authority.host else { return Err(ServiceError::NoHostname) };
    check_escapes(host)?;
    let mut host = unquote(host);
    let port = authority.port_number()?;
    if let Some(namespace) = namespace
        && !host.contains('.')
        && !host.contains(':')
        && host != "localhost"
    {
        host.push('.');
        host.push_str(namespace);
    }
    let mut quoted = quote(&host);
    if quoted.contains(':') {
        quoted = format!("[{quoted}]");
    }
    let mut out = String::new();
    if !scheme.is_empty() {
        out.push_str(&scheme.to_ascii_lowercase());
        out.push_str("://");
    }
    out.push_str(&quoted);
    if port != 0 {
        out.push_str(&format!(":{port}"));
    }
    Ok(out)
}

fn check_escapes(host: &str) -> Result<(), ServiceError> {
    for (at, _) in host.match_indices('%') {
        let escape: String = host[at..].chars().take(3).collect();
        let good = escape.len() == 3 && escape[1..].bytes().all(|b| b.is_ascii_hexdigit());
        if !good {
            return Err(ServiceError::BadEscape(escape));
        }
    }
    Ok(())
}

fn unquote(text: &str) -> String {
    if !text.contains('%') {
        return text.to_string();
    }
    let bytes = text.as_bytes();
    let mut out = alloc::vec::Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let escaped = (bytes[at] == b'%').then(|| text.get(at + 1..at + 3)).flatten().and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match escaped {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"_.-~!$&'()*+,;=:[]<>\"".contains(&byte) {
            out.push(byte as char);
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn there(service: &str) -> Result<String, String> {
        let n = normalize(service, &Qualification { namespace: "there", ambassador_namespace: "default", qualify: true });
        n.problem.map_or(Ok(n.service.to_string()), |problem| Err(problem.to_string()))
    }

    #[test]
    fn names_are_completed() {
        assert_eq!(there("web"), Ok("web.there".into()));
        assert_eq!(there("web:80"), Ok("web.there:80".into()));
        assert_eq!(there("https://web"), Ok("https://web.there".into()));
        assert_eq!(there("HTTPS://Web:8443/path"), Ok("https://web.there:8443".into()));
        assert_eq!(there("web.other"), Ok("web.other".into()));
        assert_eq!(there("localhost:1"), Ok("localhost:1".into()));
        assert_eq!(there("[::1]:80"), Ok("[::1]:80".into()));
        assert_eq!(there("web_a"), Ok("web_a.there".into()));
    }

    #[test]
    fn broken_names_say_why() {
        assert_eq!(there("web:port"), Err("Port could not be cast to integer value as 'port'".into()));
        assert_eq!(there("web:99999"), Err("Port out of range 0-65535".into()));
        assert_eq!(there(""), Err("No hostname".into()));
        assert_eq!(there("a%zz"), Err("Invalid percent-escape in hostname: %zz".into()));
    }
}
