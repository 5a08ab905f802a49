//! Reads and writes values as Go's standard library does: durations, numbers, quoted strings, addresses.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::schema::duration;
use chancery_kubernetes::reason::Reason;
use chancery_text::{Node, Str, Value};
use core::fmt::Write as _;

/// Rounds to a whole number; halves are rounded away from zero.
pub(crate) fn round(value: f64) -> f64 {
    // Beyond this, every number is whole.
    const WHOLE: f64 = 4_503_599_627_370_496.0;
    if !(-WHOLE..=WHOLE).contains(&value) {
        return value;
    }
    let whole = (value as i64) as f64;
    match value - whole {
        rest if rest >= 0.5 => whole + 1.0,
        rest if rest <= -0.5 => whole - 1.0,
        _ => whole,
    }
}

/// A number in its shortest decimal form.
pub(crate) fn float(value: f64) -> String {
    value.to_string()
}

/// A quoted string, as `%q` writes it.
pub(crate) fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => {
                let _ = write!(out, "\\x{:02x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// The name of a JSON value's type in Go.
pub(crate) fn kind_of(node: &Node) -> &'static str {
    match &node.value {
        Value::Null => "nil",
        Value::Bool(_) => "bool",
        Value::Int(_) | Value::Float(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

/// Parses a truth value in one of Go's forms; an empty text is false.
pub(crate) fn parse_bool(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "" | "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

/// Parses a whole number, with a prefix also in base 16, 8 or 2; an empty text is 0.
pub(crate) fn parse_int(text: &str) -> Option<i64> {
    if text.is_empty() {
        return Some(0);
    }
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let lower = digits.to_ascii_lowercase();
    let (base, digits) = match () {
        () if lower.starts_with("0x") => (16, &lower[2..]),
        () if lower.starts_with("0b") => (2, &lower[2..]),
        () if lower.starts_with("0o") => (8, &lower[2..]),
        () if lower.len() > 1 && lower.starts_with('0') => (8, &lower[1..]),
        () => (10, &lower[..]),
    };
    if digits.is_empty() || digits.starts_with(['-', '+']) {
        return None;
    }
    i64::from_str_radix(digits, base).ok().map(|value| sign * value)
}

/// Truncates a number to 32 bits without a sign.
pub(crate) fn cut(value: i64) -> i64 {
    value & 0xffff_ffff
}

/// A duration as Go prints it: `1h2m3.5s`, `15ms`, `0s`.
pub(crate) fn duration(nanos: i64) -> Str {
    Str::from(duration::format(nanos))
}

/// A duration in protobuf's JSON form: `5s`, `0.250s`.
pub(crate) fn proto_duration(nanos: i64) -> Str {
    let (sign, value) = (if nanos < 0 { "-" } else { "" }, nanos.unsigned_abs());
    Str::from(format!("{sign}{}s", decimal(value, 1_000_000_000)))
}

fn decimal(value: u64, scale: u64) -> String {
    let (whole, mut rest) = (value / scale, value % scale);
    let mut out = whole.to_string();
    if rest > 0 {
        out.push('.');
        let mut unit = scale / 10;
        while rest > 0 {
            out.push(char::from(b'0' + u8::try_from(rest / unit).unwrap_or_default()));
            rest %= unit;
            unit = (unit / 10).max(1);
        }
    }
    out
}

/// The version of an IP address: 4 or 6.
pub(crate) fn ip(text: &str) -> Option<u8> {
    match text.parse::<core::net::IpAddr>() {
        Ok(core::net::IpAddr::V4(_)) => Some(4),
        Ok(core::net::IpAddr::V6(address)) => Some(if address.to_ipv4_mapped().is_some() { 4 } else { 6 }),
        Err(_) => None,
    }
}

/// Whether it could be a DNS name, with or without a dot at its end.
pub(crate) fn is_domain_name(name: &str) -> bool {
    if name == "." {
        return true;
    }
    let name = name.strip_suffix('.').unwrap_or(name);
    name.len() <= 253 && name.split('.').all(|label| !label.is_empty() && label.len() <= 63)
}

/// Escapes a string for the path of a URL.
pub(crate) fn path_escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~$&+,/:;=@".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// Splits `host:port`.
pub(crate) fn split_host_port(text: &str) -> Option<(&str, &str)> {
    let (host, port) = text.rsplit_once(':')?;
    match host.strip_prefix('[') {
        Some(inner) => inner.strip_suffix(']').map(|host| (host, port)),
        None => (!host.contains(':') && !host.contains('[') && !host.contains(']')).then_some((host, port)),
    }
}

#[derive(Debug, PartialEq)]
pub(crate) struct Url<'a> {
    pub(crate) scheme: &'a str,
    /// With the port.
    pub(crate) host: &'a str,
    pub(crate) path: &'a str,
    pub(crate) query: &'a str,
}

impl<'a> Url<'a> {
    /// Parses a URL. The error explains why it is invalid.
    pub(crate) fn parse(text: &'a str) -> Result<Self, Reason> {
        if text.is_empty() {
            return Err("parse \"\": empty url".into());
        }
        if text.starts_with('/') {
            let (path, query) = text.split_once('?').unwrap_or((text, ""));
            return Ok(Url { scheme: "", host: "", path, query });
        }
        let Some((scheme, rest)) = text.split_once(':').filter(|(scheme, _)| !scheme.is_empty()) else {
            let why = if text.starts_with(':') { "missing protocol scheme" } else { "invalid URI for request" };
            return Err(format!("parse {}: {why}", quote(text)).into());
        };
        if !scheme.starts_with(|c: char| c.is_ascii_alphabetic()) || !scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c)) {
            return Err(format!("parse {}: first path segment in URL cannot contain colon", quote(text)).into());
        }
        let Some(rest) = rest.strip_prefix("//") else {
            if rest.starts_with('/') {
                let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
                return Ok(Url { scheme, host: "", path, query });
            }
            return Err(format!("parse {}: invalid URI for request", quote(text)).into());
        };
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        Ok(Url { scheme, host: host.rsplit_once('@').map_or(host, |(_, host)| host), path, query })
    }

    /// The host without its port.
    pub(crate) fn hostname(&self) -> &'a str {
        match self.host.strip_prefix('[') {
            Some(inner) => inner.split(']').next().unwrap_or(inner),
            None => self.host.rsplit_once(':').map_or(self.host, |(host, _)| host),
        }
    }

    pub(crate) fn port(&self) -> Option<&'a str> {
        let after = self.host.rsplit_once(']').map_or(self.host, |(_, after)| after);
        after.rsplit_once(':').map(|(_, port)| port).filter(|port| !port.is_empty())
    }
}

/// Several errors, joined as in the reference.
#[derive(Default)]
pub(crate) struct Errors(Vec<String>);

impl Errors {
    pub(crate) fn add(&mut self, error: impl Into<String>) {
        self.0.push(error.into());
    }

    /// Appends the errors of another list.
    pub(crate) fn append(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    /// The result: all errors in one string.
    pub(crate) fn result(self) -> Result<(), Reason> {
        if self.0.is_empty() { Ok(()) } else { Err(self.text().into()) }
    }

    /// All errors in one string.
    pub(crate) fn text(&self) -> String {
        let head = if self.0.len() == 1 { String::from("1 error occurred:") } else { format!("{} errors occurred:", self.0.len()) };
        self.0.iter().fold(head, |text, error| format!("{text}\n\t* {}", error.trim_end().replace('\n', "\n\t")))
    }
}

/// FNV-1 of 64 bits, not 1a.
pub(crate) fn fnv1(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| hash.wrapping_mul(0x0100_0000_01b3) ^ u64::from(*byte))
}

/// CRC-32 of IEEE.
pub(crate) fn crc32(bytes: &[u8]) -> u32 {
    let update = |crc: u32, byte: &u8| (0..8).fold(crc ^ u32::from(*byte), |crc, _| if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 });
    !bytes.iter().fold(!0, update)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_go_both_ways() {
        for (text, nanos) in [("1h2m3.5s", 3_723_500_000_000), ("15ms", 15_000_000), ("0s", 0), ("250µs", 250_000), ("1m0s", 60_000_000_000)] {
            assert_eq!(duration::read(text), Ok(nanos));
            assert_eq!(duration(nanos), text);
        }
        assert!(duration::read("1").is_err());
        assert!(duration::read("soon").is_err());
        assert_eq!(proto_duration(1_500_000_000), "1.5s");
    }

    #[test]
    fn a_host_has_its_crc() {
        assert_eq!(format!("{:x}", crc32(b"*")), "9b9265b");
    }

    #[test]
    fn urls_have_parts() {
        let url = Url::parse("https://a.example.com:8443/x?y=z").expect("is one");
        assert_eq!((url.hostname(), url.port(), url.path, url.query), ("a.example.com", Some("8443"), "/x", "y=z"));
        assert_eq!(Url::parse("::x"), Err("parse \"::x\": missing protocol scheme".into()));
    }

    #[test]
    fn errors_are_counted() {
        let mut errors = Errors::default();
        errors.add("one");
        assert_eq!(errors.text(), "1 error occurred:\n\t* one");
        errors.add("two");
        assert_eq!(errors.text(), "2 errors occurred:\n\t* one\n\t* two");
    }
}
