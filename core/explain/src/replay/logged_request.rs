//! The request of a log entry, whatever the format of the log.
//!
//! Does not read entries; see `log` and `json_log`.

use alloc::borrow::Cow;
use alloc::vec::Vec;

/// A request in a log.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoggedRequest<'l> {
    /// As the log writes it.
    pub time: Option<Cow<'l, str>>,
    pub method: Option<Cow<'l, str>>,
    /// The host, with its port if the log has it.
    pub authority: Option<Cow<'l, str>>,
    /// Path and query.
    pub path: Option<Cow<'l, str>>,
    pub query: Option<Cow<'l, str>>,
    /// `http` or `https`.
    pub scheme: Option<Cow<'l, str>>,
    /// The status that the client received.
    pub status: Option<u16>,
    /// The address or name of the upstream; `Some("")` if the log says that no upstream was chosen.
    pub upstream: Option<Cow<'l, str>>,
    /// Envoy's response flags.
    pub flags: Option<Cow<'l, str>>,
    /// Request headers, names in lower case.
    pub headers: Vec<(Cow<'l, str>, Cow<'l, str>)>,
}

/// Whether a log writes a value for a missing one.
pub(super) fn is_absent(value: &str) -> bool {
    matches!(value, "" | "-")
}

/// Takes a path, or a whole URL with its scheme and host.
pub(super) fn take_target<'l>(out: &mut LoggedRequest<'l>, target: &'l str) {
    let Some((scheme, after)) = target.split_once("://").filter(|(scheme, _)| scheme.len() <= 5 && !scheme.contains('/')) else {
        out.path = Some(target.into());
        return;
    };
    let end = after.find(['/', '?']).unwrap_or(after.len());
    let (authority, path) = after.split_at(end);
    out.scheme = Some(match scheme {
        "wss" | "h2s" => "https".into(),
        "ws" => "http".into(),
        "grpcs" => "https".into(),
        other => other.into(),
    });
    out.authority = Some(authority.into());
    out.path = Some(if path.is_empty() { "/".into() } else { path.into() });
}
