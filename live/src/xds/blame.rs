//! Finds the resources that a rejection names, and the field. Does not find the places of inputs; see `snapshot`.
//!
//! Envoy describes a rejection in prose. The blamed resources are the resources of the response whose names appear in
//! the message, or all if none appears.

use super::message::Verdict;
use super::snapshot::Snapshot;
use crate::event::Place;
use serde::Serialize;
use std::sync::Arc;

/// A rejected resource.
#[derive(Clone, Debug, Serialize)]
pub struct Blamed {
    /// The name of the resource.
    pub resource: String,
    /// The places that made it.
    pub places: Vec<Place>,
}

/// Returns the blamed resources and the places that made them, at most `most`.
#[must_use]
pub fn blame(verdict: &Verdict, message: &str, snapshot: &Snapshot, most: usize) -> Vec<Blamed> {
    let field = field(message);
    let places = |name: &str| snapshot.blame.as_ref().map(|blame| blame.places(&verdict.type_url, name, field.as_deref())).unwrap_or_default();
    let mut out: Vec<Blamed> =
        named(&verdict.names, message).into_iter().take(most).map(|name| Blamed { resource: name.to_string(), places: places(&name) }).collect();
    if out.is_empty() {
        out.push(Blamed { resource: String::new(), places: Vec::new() });
    }
    out
}

/// Returns the names that appear in a message, or all if none appears.
fn named(names: &[Arc<str>], message: &str) -> Vec<Arc<str>> {
    let named: Vec<Arc<str>> = names.iter().filter(|name| mentions(message, name)).cloned().collect();
    if named.is_empty() { names.to_vec() } else { named }
}

/// Whether a message contains a name as a whole word.
fn mentions(message: &str, name: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '/');
    !name.is_empty()
        && message.match_indices(name).any(|(at, _)| {
            let before = message.get(..at).and_then(|text| text.chars().next_back());
            let after = message.get(at + name.len()..).and_then(|text| text.chars().next());
            !before.is_some_and(is_word) && !after.is_some_and(is_word)
        })
}

/// Returns the field that a message names, as a JSON pointer into the resource. `ClusterValidationError.ConnectTimeout`
/// is `/connect_timeout`. A failure to bind is about the address.
fn field(message: &str) -> Option<String> {
    if message.contains("cannot bind") || message.contains("Address already in use") {
        return Some("/address/socket_address/port_value".into());
    }
    let (_, path) = message.split_once("ValidationError.")?;
    let path = path.split([':', '(', ')', ' ']).next().unwrap_or_default();
    let mut out = String::new();
    for step in path.split(['.', '[', ']']).filter(|step| !step.is_empty()) {
        out.push('/');
        for (at, c) in step.char_indices() {
            if c.is_ascii_uppercase() && at > 0 {
                out.push('_');
            }
            out.push(c.to_ascii_lowercase());
        }
    }
    (!out.is_empty()).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blame_finds_resources_and_fields() {
        let names = [Arc::from("cluster_a"), Arc::from("cluster_ab"), Arc::from("http")];
        let said = |message: &str| named(&names, message).iter().map(|name| name.to_string()).collect::<Vec<_>>();
        assert_eq!(said("Error adding/updating cluster(s) cluster_ab: unknown type"), ["cluster_ab"]);
        assert_eq!(said("Error adding/updating listener(s) http: cannot bind '0.0.0.0:8080': Address already in use"), ["http"]);
        assert_eq!(said("out of memory").len(), 3);
        assert_eq!(field("x (ClusterValidationError.ConnectTimeout: value must be greater than 0s)"), Some("/connect_timeout".into()));
        assert_eq!(field("RouteConfigurationValidationError.VirtualHosts[3]: embedded message"), Some("/virtual_hosts/3".into()));
        assert_eq!(field("cannot bind '0.0.0.0:80'"), Some("/address/socket_address/port_value".into()));
        assert_eq!(field("no idea"), None);
    }
}
