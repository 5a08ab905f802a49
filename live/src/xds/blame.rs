//! Finds the resources that a rejection is about, and the fields of the inputs that caused it. Does not know which inputs made a field; see
//! `snapshot`.
//!
//! Envoy describes a rejection in prose. The blamed resources are the resources of the response whose names appear in the message, or all if none
//! appears. The places of a resource are found in this order: fields that changed since the last accepted version; what the message names; the
//! whole resource.

use super::message::Verdict;
use super::snapshot::{Resources, Snapshot};
use crate::event::{Basis, Place};
use chancery_core::backend::envoy::v3::{Encoded, Service, resource_json};
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;

/// The most changed fields of one resource that are looked up.
const MOST_CHANGES: usize = 64;
/// The most places of one resource.
const MOST_PLACES: usize = 8;
/// The fewest characters of a text that a message can name. Shorter texts appear by chance.
const SHORTEST_TEXT: usize = 4;

/// A rejected resource.
#[derive(Clone, Debug, Serialize)]
pub struct Blamed {
    /// The name of the resource.
    pub resource: String,
    /// Why these places are blamed.
    pub basis: Basis,
    /// The places that caused the rejection, or made the resource.
    pub places: Vec<Place>,
}

/// Returns the blamed resources with their places, at most `most`. `accepted` are the resources of the last accepted version.
#[must_use]
pub fn blame(verdict: &Verdict, message: &str, snapshot: &Snapshot, accepted: Option<&Resources>, most: usize) -> Vec<Blamed> {
    let names = named(&verdict.names, message);
    let mut out: Vec<Blamed> = names.iter().take(most).map(|name| of_resource(&verdict.type_url, name, message, snapshot, accepted)).collect();
    if out.is_empty() {
        out.push(Blamed { resource: String::new(), basis: Basis::Made, places: Vec::new() });
    }
    out
}

fn of_resource(type_url: &str, name: &str, message: &str, snapshot: &Snapshot, accepted: Option<&Resources>) -> Blamed {
    let places = |fields: &[String]| -> Vec<Place> {
        let mut out: Vec<Place> = Vec::new();
        for place in fields.iter().flat_map(|field| snapshot.blame.iter().flat_map(|blame| blame.places(type_url, name, Some(field)))) {
            if out.len() < MOST_PLACES && !out.contains(&place) {
                out.push(place);
            }
        }
        out
    };
    let service = Service::ALL.into_iter().find(|service| service.type_url() == type_url);
    let json = |of: &Arc<Encoded>| serde_json::from_str::<Value>(&resource_json(service?, of)?).ok();
    let rejected = snapshot.get(type_url).and_then(|all| json(all.by_name.get(name)?));
    let before = accepted.and_then(|all| json(all.by_name.get(name)?));
    let named = named_fields(message, name, type_url, rejected.as_ref());
    let mut changed = Vec::new();
    if let (Some(before), Some(rejected)) = (&before, &rejected) {
        changed_fields(before, rejected, &mut String::new(), &mut changed);
    }
    // If some of the changes are where the message points, only these count.
    let is_near = |field: &String| named.iter().any(|of| is_inside(of, field) || is_inside(field, of));
    if changed.iter().any(is_near) {
        changed.retain(is_near);
    }
    let found = [(Basis::Changed, places(&changed)), (Basis::Named, places(&named))].into_iter().find(|(_, places)| !places.is_empty());
    let whole = || (Basis::Made, snapshot.blame.as_ref().map(|blame| blame.places(type_url, name, None)).unwrap_or_default());
    let (basis, mut places) = found.unwrap_or_else(whole);
    if let (Some(line), Some(blame)) = (script_line(message), &snapshot.blame) {
        places.iter_mut().for_each(|place| *place = blame.line_inside(place, line).unwrap_or_else(|| place.clone()));
    }
    Blamed { resource: name.to_owned(), basis, places }
}

/// Whether a JSON pointer is at or below another one.
fn is_inside(pointer: &str, outer: &str) -> bool {
    pointer.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns the names that appear in a message, or all if none appears.
pub(super) fn named(names: &[Arc<str>], message: &str) -> Vec<Arc<str>> {
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

/// Adds the JSON pointers of the fields of `new` that differ from `old`. A field that is gone is reported as the object or list that had it.
fn changed_fields(old: &Value, new: &Value, at: &mut String, out: &mut Vec<String>) {
    if old == new || out.len() >= MOST_CHANGES {
        return;
    }
    let length = at.len();
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            if old.keys().any(|key| !new.contains_key(key)) {
                out.push(at.clone());
            }
            for (key, value) in new {
                at.push('/');
                at.push_str(&key.replace('~', "~0").replace('/', "~1"));
                changed_fields(old.get(key).unwrap_or(&Value::Null), value, at, out);
                at.truncate(length);
            }
        }
        (Value::Array(old), Value::Array(new)) => {
            // Items at both ends that are equal did not move.
            let first = old.iter().zip(new).take_while(|(old, new)| old == new).count();
            let last = old.iter().skip(first).rev().zip(new.iter().skip(first).rev()).take_while(|(old, new)| old == new).count();
            let (old, new) = (old.get(first..old.len() - last).unwrap_or_default(), new.get(first..new.len() - last).unwrap_or_default());
            if new.is_empty() {
                out.push(at.clone());
            }
            let is_same_length = old.len() == new.len();
            for (index, value) in new.iter().enumerate() {
                at.push_str(&format!("/{}", first + index));
                let before = if is_same_length { old.get(index) } else { None };
                changed_fields(before.unwrap_or(&Value::Null), value, at, out);
                at.truncate(length);
            }
        }
        _ => out.push(at.clone()),
    }
}

/// Returns the fields of a resource that a message names: by their path, or by their text.
fn named_fields(message: &str, name: &str, type_url: &str, resource: Option<&Value>) -> Vec<String> {
    if message.contains("cannot bind") || message.contains("Address already in use") {
        return vec!["/address/socket_address/port_value".into()];
    }
    let Some(resource) = resource else { return Vec::new() };
    let by_path = invalid_fields(message, type_url, resource);
    if !by_path.is_empty() {
        return by_path;
    }
    let mut longest: Option<(usize, String)> = None;
    texts(resource, &mut String::new(), &mut |text, at| {
        let is_longer = longest.as_ref().is_none_or(|(length, _)| text.len() > *length);
        if is_longer
            && text != name
            && !at.ends_with("/@type")
            && (is_script(message, text) || text.len() >= SHORTEST_TEXT && mentions(message, text))
        {
            longest = Some((text.len(), at.to_owned()));
        }
    });
    longest.into_iter().map(|(_, at)| at).collect()
}

/// Calls a function with each text of a resource and its JSON pointer.
fn texts(of: &Value, at: &mut String, found: &mut dyn FnMut(&str, &str)) {
    let length = at.len();
    let mut inside = |step: &str, value: &Value, at: &mut String| {
        at.push('/');
        at.push_str(&step.replace('~', "~0").replace('/', "~1"));
        texts(value, at, found);
        at.truncate(length);
    };
    match of {
        Value::Object(fields) => fields.iter().for_each(|(key, value)| inside(key, value, at)),
        Value::Array(items) => items.iter().enumerate().for_each(|(index, value)| inside(&index.to_string(), value, at)),
        Value::String(text) => found(text, at),
        _ => {}
    }
}

/// Whether a message quotes the beginning of a script, as Lua does: `[string "function envoy_on_request(handle)..."]`.
fn is_script(message: &str, text: &str) -> bool {
    let quoted = message.split_once("[string \"").and_then(|(_, rest)| rest.split_once("\"]"));
    let beginning = quoted.map(|(quoted, _)| quoted.strip_suffix("...").unwrap_or(quoted)).unwrap_or_default();
    !beginning.is_empty() && text.trim_start_matches('\n').starts_with(beginning)
}

/// Returns the line of a script that a message names, from 1: `[string "function envoy_on_request(handle)..."]:3: unexpected symbol`.
fn script_line(message: &str) -> Option<u32> {
    let (_, rest) = message.split_once("[string \"")?.1.split_once("\"]:")?;
    rest.split(':').next()?.parse().ok()
}

/// Returns the fields that a failed validation names. Envoy writes one step for each message, from the outside to the inside:
/// `ClusterValidationError.LoadAssignment: … caused by ClusterLoadAssignmentValidationError.Endpoints[0]`. The first message is the resource, or a
/// message inside it that has its own type.
fn invalid_fields(message: &str, type_url: &str, resource: &Value) -> Vec<String> {
    const MARK: &str = "ValidationError.";
    let mut path = String::new();
    let mut outer: Option<&str> = None;
    for (at, _) in message.match_indices(MARK) {
        let before = message.get(..at).unwrap_or_default();
        outer = outer.or(before.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next());
        let field = message.get(at + MARK.len()..).unwrap_or_default();
        path.push_str(&pointer(field.split([':', '(', ')', ' ', '|']).next().unwrap_or_default()));
    }
    let Some(outer) = outer.filter(|_| !path.is_empty()) else { return Vec::new() };
    if type_url.rsplit('.').next() == Some(outer) {
        return vec![path];
    }
    let mut out = Vec::new();
    texts(resource, &mut String::new(), &mut |text, at| {
        if let Some(message) = at.strip_suffix("/@type").filter(|_| text.rsplit(['.', '/']).next() == Some(outer)) {
            out.push(format!("{message}{path}"));
        }
    });
    out
}

/// Converts a path of a validation error to a JSON pointer: `VirtualHosts[3].Name` is `/virtual_hosts/3/name`.
fn pointer(path: &str) -> String {
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
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const LISTENER: &str = "type.googleapis.com/envoy.config.listener.v3.Listener";

    #[test]
    fn message_names_resources() {
        let names = [Arc::from("cluster_a"), Arc::from("cluster_ab"), Arc::from("http")];
        let said = |message: &str| named(&names, message).iter().map(|name| name.to_string()).collect::<Vec<_>>();
        assert_eq!(said("Error adding/updating cluster(s) cluster_ab: unknown type"), ["cluster_ab"]);
        assert_eq!(said("Error adding/updating listener(s) http: cannot bind '0.0.0.0:8080': Address already in use"), ["http"]);
        assert_eq!(said("out of memory").len(), 3);
    }

    #[test]
    fn message_names_fields_by_path_or_text() {
        let script = "function envoy_on_request(handle)\n  bad bad\nend";
        let hcm = "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";
        let listener = json!({"name": "http", "filter_chains": [{"filters": [{"typed_config": {
            "@type": hcm, "stat_prefix": "edge", "http_filters": [{"name": "lua", "typed_config": {"source": {"inline_string": script}}}],
        }}], "regex": "/a(b"}]});
        let fields = |message: &str| named_fields(message, "http", LISTENER, Some(&listener));
        let filters = "/filter_chains/0/filters/0/typed_config";
        assert_eq!(fields("cannot bind '0.0.0.0:80'"), ["/address/socket_address/port_value"]);
        assert_eq!(fields("x (ListenerValidationError.ConnectTimeout: value must be greater than 0s)"), ["/connect_timeout"]);
        let nested = "(ListenerValidationError.FilterChains[0]: embedded message failed validation | caused by FilterChainValidationError.Name: bad)";
        assert_eq!(fields(nested), ["/filter_chains/0/name"]);
        assert_eq!(fields("(HttpConnectionManagerValidationError.StatPrefix: too short)"), [format!("{filters}/stat_prefix")]);
        let lua =
            "Error adding/updating listener(s) http: script load error: [string \"function envoy_on_request(handle)...\"]:2: '=' expected near 'bad'";
        assert_eq!(fields(lua), [format!("{filters}/http_filters/0/typed_config/source/inline_string")]);
        assert_eq!((script_line(lua), script_line("no idea")), (Some(2), None));
        assert_eq!(fields("http: missing ): /a(b"), ["/filter_chains/0/regex"]);
        assert_eq!(fields("no idea"), [""; 0]);
    }

    #[test]
    fn changed_fields_are_as_deep_as_possible() {
        let changed = |old: Value, new: Value| {
            let mut out = Vec::new();
            changed_fields(&old, &new, &mut String::new(), &mut out);
            out
        };
        assert_eq!(changed(json!({"a": 1, "b": {"c/d": 2}}), json!({"a": 1, "b": {"c/d": 3}})), ["/b/c~1d"]);
        assert_eq!(changed(json!([1, 2, 3]), json!([1, 9, 2, 3])), ["/1"], "an item was inserted");
        assert_eq!(changed(json!({"l": [{"a": 1}, {"a": 2}]}), json!({"l": [{"a": 1}, {"a": 3}]})), ["/l/1/a"]);
        assert_eq!(changed(json!({"l": [1, 2]}), json!({"l": [1]})), ["/l"], "an item is gone");
        assert_eq!(changed(json!({"o": {"a": 1, "b": 2}}), json!({"o": {"a": 1}})), ["/o"], "a field is gone");
    }

    #[test]
    fn pointers_follow_the_names_of_fields() {
        assert_eq!(pointer("VirtualHosts[3].Name"), "/virtual_hosts/3/name");
        assert!(is_inside("/a/b", "/a") && is_inside("/a", "/a") && !is_inside("/ab", "/a"));
    }
}
