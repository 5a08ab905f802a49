//! Reads request targets like nginx (decoded, without dot segments and double slashes), and encodes them again.
//!
//! nginx `src/http/ngx_http_parse.c` (`ngx_http_parse_complex_uri`), `src/core/ngx_string.c` (`ngx_escape_uri`).

use alloc::string::{String, ToString};
use alloc::vec::Vec;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// The target without scheme and host, not decoded.
    pub raw: String,
    /// The decoded path.
    pub path: String,
    /// The query after `?`, not decoded.
    pub args: String,
    /// Whether the target contains `?`.
    pub has_args: bool,
    /// The host, if the target has one.
    pub host: Option<String>,
}

/// Parses a target. Returns `None` if nginx answers 400.
pub fn parse(text: &str) -> Option<Target> {
    let mut target = Target::default();
    let mut rest = text;
    if !rest.starts_with('/') {
        let (scheme, after) = rest.split_once("://")?;
        if scheme.is_empty() || !scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte)) {
            return None;
        }
        let end = after.find(['/', '?', '#']).unwrap_or(after.len());
        let (host, path) = after.split_at(end);
        if host.is_empty() {
            return None;
        }
        target.host = Some(host.to_string());
        rest = path;
    }
    if rest.bytes().any(|byte| byte < 0x20 || byte == 0x7f || byte == b' ') {
        return None;
    }
    target.raw = if rest.starts_with('/') { rest.to_string() } else { alloc::format!("/{rest}") };
    let rest = target.raw.split_once('#').map_or(target.raw.as_str(), |(before, _)| before);
    let (path, args) = rest.split_once('?').map_or((rest, None), |(path, args)| (path, Some(args)));
    target.path = normalise(path.as_bytes())?;
    target.has_args = args.is_some();
    target.args = args.unwrap_or_default().to_string();
    Some(target)
}

/// Decodes the path and resolves its segments. Returns `None` for a path above the root and for invalid escapes.
fn normalise(path: &[u8]) -> Option<String> {
    let mut decoded: Vec<u8> = Vec::with_capacity(path.len());
    let mut at = 0;
    while let Some(byte) = path.get(at).copied() {
        if byte == b'%' {
            let digit = |at: usize| path.get(at).and_then(|byte| (*byte as char).to_digit(16));
            let value = (digit(at + 1)? * 16 + digit(at + 2)?) as u8;
            if value == 0 {
                return None;
            }
            decoded.push(value);
            at += 3;
        } else {
            decoded.push(byte);
            at += 1;
        }
    }
    let mut segments: Vec<&[u8]> = Vec::new();
    let parts: Vec<&[u8]> = decoded.split(|byte| *byte == b'/').collect();
    let last = parts.len().saturating_sub(1);
    let mut ends_with_slash = false;
    for (place, segment) in parts.iter().enumerate().skip(1) {
        ends_with_slash = false;
        match *segment {
            b"" | b"." => ends_with_slash = place == last,
            b".." => {
                segments.pop()?;
                ends_with_slash = place == last;
            }
            segment => segments.push(segment),
        }
    }
    let mut out: Vec<u8> = Vec::with_capacity(decoded.len());
    for segment in &segments {
        out.push(b'/');
        out.extend_from_slice(segment);
    }
    if segments.is_empty() || ends_with_slash {
        out.push(b'/');
    }
    Some(String::from_utf8_lossy(&out).into_owned())
}

/// The kind of string to escape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Escape {
    /// A path for a service.
    Uri,
    /// A whole URL as a value (`set_escape_uri`).
    Component,
}

/// Escapes a string.
pub fn escape(text: &str, how: Escape) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        let is_kept = match how {
            Escape::Uri => !matches!(byte, 0..=0x20 | b'"' | b'#' | b'%' | b'<' | b'>' | b'?' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}' | 0x7f..),
            Escape::Component => byte.is_ascii_alphanumeric() || b"-._~".contains(&byte),
        };
        if is_kept {
            out.push(byte as char);
        } else {
            out.push_str(&alloc::format!("%{byte:02X}"));
        }
    }
    out
}

/// Returns the host name in a `Host` header: in lower case, without port and final dot. Returns `None` if nginx answers 400.
pub fn host_name(header: &str) -> Option<String> {
    if header.starts_with('[') {
        let (name, rest) = header.split_once(']')?;
        let is_port = rest.is_empty() || rest.strip_prefix(':').is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()));
        return is_port.then(|| alloc::format!("{name}]").to_ascii_lowercase());
    }
    let (name, port) = header.split_once(':').map_or((header, None), |(name, port)| (name, Some(port)));
    let is_bad = |byte: u8| byte <= 0x20 || byte == 0x7f || byte == b'/' || byte == b'\\';
    if name.bytes().any(is_bad)
        || name.contains("..")
        || port.is_some_and(|port| port.bytes().any(is_bad))
        || name.starts_with('.') && name.len() == 1
    {
        return None;
    }
    Some(name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase())
}
