//! Applies the header changes of a configuration.
//!
//! Follows Envoy's `HeaderParser::evaluateHeaders` in `source/common/router/header_parser.cc`: each level first removes, then adds headers, and
//! values are computed from the original headers.
//!
//! Does not add Envoy's own headers; see `manager` and `forward`.

use super::matcher::takes;
use super::request::{Headers, Request};
use super::simulation::HeaderChange;
use super::start_line::Start;
use crate::emit::pb;
use alloc::borrow::ToOwned;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::client_certificate;
use chancery_base::substitution::{self, Command};
use pb::base::HeaderValueOption;
use pb::base::header_value_option::HeaderAppendAction;
use pb::mutation::{HeaderMutation, header_mutation::Action};

/// The header changes of one level.
pub(super) struct Level<'a> {
    pub(super) name: &'static str,
    pub(super) add: &'a [HeaderValueOption],
    pub(super) remove: &'a [String],
}

/// The values of commands in header values.
pub(super) struct Values<'a> {
    pub(super) start: Start<'a>,
    pub(super) request: &'a Headers,
    pub(super) source: Option<String>,
    pub(super) server_name: Option<&'a str>,
    pub(super) protocol: &'static str,
    pub(super) peer: Peer,
    pub(super) cluster: &'a str,
    pub(super) route: &'a str,
}

/// The certificate that the client shows to Envoy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Peer {
    #[default]
    Anonymous,
    /// The certificate that simulated clients have.
    Accepted,
    /// A certificate whose subject is unknown.
    Unknown,
}

impl Peer {
    /// Returns the certificate that the client of a request shows to a listener that asks for one.
    pub(super) fn of(request: &Request) -> Self {
        match (request.tls && request.client_certificate, &request.identity) {
            (false, _) => Self::Anonymous,
            (true, None) => Self::Accepted,
            (true, Some(_)) => Self::Unknown,
        }
    }

    /// Returns a name in the certificate: empty without one.
    fn name(self, accepted: impl FnOnce() -> String) -> Option<String> {
        match self {
            Self::Anonymous => Some(String::new()),
            Self::Accepted => Some(accepted()),
            Self::Unknown => None,
        }
    }
}

impl Values<'_> {
    fn header(&self, name: &str) -> Option<&str> {
        let name = name.to_ascii_lowercase();
        self.start.header(&name).or_else(|| self.request.first(&name))
    }

    /// Returns the value of `%COMMAND%`; `None` if only an Envoy knows it.
    fn command(&self, command: Command<'_>) -> Option<String> {
        match (command.name, command.arguments) {
            ("REQ", Some(headers)) => {
                let limit = command.length.and_then(|length| length.parse::<usize>().ok());
                let mut names = headers.split('?');
                let value = names.find_map(|name| self.header(name)).unwrap_or_default();
                let end = limit.map_or(value.len(), |limit| value.char_indices().nth(limit).map_or(value.len(), |(at, _)| at));
                Some(value.get(..end).unwrap_or_default().to_owned())
            }
            ("DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT" | "DOWNSTREAM_DIRECT_REMOTE_ADDRESS_WITHOUT_PORT", _) => self.source.clone(),
            ("REQUESTED_SERVER_NAME", None) => Some(self.server_name.unwrap_or_default().to_owned()),
            ("DOWNSTREAM_PEER_SUBJECT", None) => self.peer.name(|| client_certificate::subject(client_certificate::ACCEPTED)),
            ("DOWNSTREAM_PEER_ISSUER", None) => self.peer.name(|| client_certificate::ISSUER.to_owned()),
            ("PROTOCOL", None) => Some(self.protocol.to_owned()),
            ("UPSTREAM_CLUSTER", None) => Some(self.cluster.to_owned()),
            ("ROUTE_NAME", None) => Some(self.route.to_owned()),
            _ => None,
        }
    }

    /// Replaces the commands in a value. Commands that only an Envoy can evaluate stay unchanged, as `%START_TIME(%s)%`.
    fn format(&self, value: &str) -> String {
        let mut out = String::new();
        let mut rest = value;
        while let Some((before, after)) = rest.split_once('%') {
            out.push_str(before);
            if let Some(after) = after.strip_prefix('%') {
                out.push('%');
                rest = after;
                continue;
            }
            let Some((command, after)) = substitution::command(after) else {
                out.push('%');
                rest = after;
                continue;
            };
            match self.command(command) {
                Some(value) => out.push_str(&value),
                None => out.extend(["%", command.whole, "%"]),
            }
            rest = after;
        }
        out.push_str(rest);
        out
    }
}

/// What happens if the header already exists. Older configurations use `append`.
pub fn header_action(of: &HeaderValueOption) -> HeaderAppendAction {
    match of.append {
        Some(true) => HeaderAppendAction::AppendIfExistsOrAdd,
        Some(false) => HeaderAppendAction::OverwriteIfExistsOrAdd,
        None => of.append_action(),
    }
}

/// Applies and records the changes of one level. A removal is recorded only if `headers` has the header, unless `record_all` is set, for responses
/// whose headers are unknown.
pub(super) fn mutate(headers: &mut Headers, level: &Level<'_>, values: &Values<'_>, record_all: bool) -> Vec<HeaderChange> {
    let mut changes = Vec::new();
    for name in level.remove {
        let name = name.to_ascii_lowercase();
        if headers.remove(&name) || record_all {
            changes.push(HeaderChange { name, value: None, action: "remove", level: level.name });
        }
    }
    let before = headers.clone();
    let mut added = Vec::new();
    for option in level.add {
        let Some(header) = &option.header else { continue };
        let name = header.key.to_ascii_lowercase();
        let raw = if header.value.is_empty() { String::from_utf8_lossy(&header.raw_value) } else { header.value.as_str().into() };
        let value = values.format(&raw);
        if value.is_empty() && !option.keep_empty_value {
            continue;
        }
        let is_there = before.first(&name).is_some();
        let action = match header_action(option) {
            HeaderAppendAction::AppendIfExistsOrAdd => "add",
            HeaderAppendAction::AddIfAbsent if !is_there => "add",
            HeaderAppendAction::OverwriteIfExistsOrAdd => "set",
            HeaderAppendAction::OverwriteIfExists if is_there => "set",
            HeaderAppendAction::AddIfAbsent | HeaderAppendAction::OverwriteIfExists => continue,
        };
        if action == "set" {
            headers.set(&name, &value);
        } else {
            added.push((name.clone(), value.clone()));
        }
        changes.push(HeaderChange { name, value: Some(value.to_string()), action, level: level.name });
    }
    for (name, value) in added {
        headers.add(&name, &value);
    }
    changes
}

/// Applies and records single changes, each after the one before it.
pub(super) fn mutate_each(
    headers: &mut Headers,
    all: &[HeaderMutation],
    level: &'static str,
    values: &Values<'_>,
    record_all: bool,
) -> Vec<HeaderChange> {
    let mut changes = Vec::new();
    for mutation in all {
        let before = headers.clone();
        let (add, remove): (&[HeaderValueOption], Vec<String>) = match &mutation.action {
            Some(Action::Append(option)) => (core::slice::from_ref(option), Vec::new()),
            Some(Action::Remove(name)) => (&[], Vec::from([name.clone()])),
            Some(Action::RemoveOnMatch(of)) => {
                let is_meant = |name: &&str| of.key_matcher.as_ref().is_some_and(|matcher| takes(matcher, name));
                (&[], before.iter().map(|(name, _)| name).filter(is_meant).map(ToOwned::to_owned).collect())
            }
            None => continue,
        };
        let values = Values { request: &before, source: values.source.clone(), ..*values };
        changes.extend(mutate(headers, &Level { name: level, add, remove: &remove }, &values, record_all));
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::super::start_line::Start;
    use super::{Headers, Peer, Values};

    #[test]
    fn unknown_formatters_are_kept() {
        let mut headers = Headers::default();
        headers.add("x-user", "ada");
        let start = Start { method: "GET", authority: "a.org", scheme: "https", path: "/p?q=1" };
        let peer = Peer::Accepted;
        let server_name = Some("a.org");
        let values = Values { start, request: &headers, source: None, server_name, protocol: "HTTP/2", peer, cluster: "shop", route: "r" };
        for (written, expected) in [
            ("t=%START_TIME(%s.%3f)%", "t=%START_TIME(%s.%3f)%"),
            ("%START_TIME(%Y-%m-%dT%H:%M:%S)%;%REQ(X-USER)%", "%START_TIME(%Y-%m-%dT%H:%M:%S)%;ada"),
            ("%REQ(x-none?x-user):2% 100%%", "ad 100%"),
            ("%UPSTREAM_CLUSTER%/%PROTOCOL%/%REQ(:PATH):2%", "shop/HTTP/2//p"),
            ("%DYNAMIC_METADATA(a:b):9%!", "%DYNAMIC_METADATA(a:b):9%!"),
            ("50% of %REQ(", "50% of %REQ("),
            ("%%%REQUESTED_SERVER_NAME%%%", "%a.org%"),
            ("%", "%"),
            ("%DOWNSTREAM_PEER_SUBJECT%;%DOWNSTREAM_PEER_ISSUER%", "CN=client-good;CN=Test CA"),
        ] {
            assert_eq!(values.format(written), expected, "{written}");
        }
        let written = "%DOWNSTREAM_PEER_SUBJECT%";
        assert_eq!(Values { peer: Peer::Anonymous, source: None, ..values }.format(written), "");
        assert_eq!(Values { peer: Peer::Unknown, source: None, ..values }.format(written), written);
    }
}
