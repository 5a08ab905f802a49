//! Reads the URLs of annotations.

use alloc::string::{String, ToString as _};

/// The parts of an absolute URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Url {
    pub(super) is_tls: bool,
    pub(super) host: String,
    pub(super) port: i64,
    /// The port is written.
    pub(super) has_port: bool,
    /// The path with its query; empty if none is written.
    pub(super) path: String,
}

impl Url {
    /// Reads an `http` or `https` URL.
    pub(super) fn read(text: &str) -> Option<Self> {
        let (is_tls, rest) = text.strip_prefix("https://").map(|rest| (true, rest)).or_else(|| Some((false, text.strip_prefix("http://")?)))?;
        let end = rest.find(['/', '?', '#', '$']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let default = if is_tls { 443 } else { 80 };
        let (host, port, has_port) = match authority.rsplit_once(':') {
            Some((host, port)) => (host, port.parse().ok()?, true),
            None => (authority, default, false),
        };
        (!host.is_empty()).then(|| Self { is_tls, host: host.to_ascii_lowercase(), port, has_port, path: path.to_string() })
    }
}
