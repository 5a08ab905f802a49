//! Parts that several kinds share: their schemas and their conversions from v2.
//!
//! Source of the behaviour: Emissary `pkg/api/getambassador.io/{v2,v3alpha1}/common.go`,
//! `pkg/api/getambassador.io/v2/handwritten.conversion.go`.

use alloc::vec;
use alloc::vec::Vec;
use chancery_base::object;
use chancery_base::schema::{BOOLEAN, Field, INTEGER, STRING, STRING_MAP, STRINGS, Schema, array, either, field, like, one_of};
use chancery_text::{Node, NodeId, Object, Str, Value};

const ID_DOC: &str = "Which Ambassadors read this resource; without it, the one called `default`";

/// `ambassador_id` in v3alpha1.
pub(super) const AMBASSADOR_ID: Field = field("ambassador_id", STRINGS, ID_DOC).dropped();
/// `ambassador_id` in v1 and v2: a single name is allowed.
pub(super) const AMBASSADOR_ID_V2: Field = field("ambassador_id", STRING_OR_STRINGS.unserved(), ID_DOC).dropped();

/// One string or a list of them.
pub(super) const STRING_OR_STRINGS: Schema = either(&[STRING, array(&STRING.unserved())]);
/// A boolean or a string.
pub(super) const BOOL_OR_STRING: Schema = either(&[STRING, BOOLEAN]);

/// `circuit_breakers`.
pub(super) const CIRCUIT_BREAKERS: Schema = array(&CIRCUIT_BREAKER);
pub(super) const CIRCUIT_BREAKER: Schema = object![
    field("priority", one_of(&["default", "high"]), "The priority of the limited requests: `default` or `high`").dropped(),
    field("max_connections", INTEGER, "The most connections to the service; Envoy's default is 1024"),
    field("max_pending_requests", INTEGER, "The most requests that wait for a connection; Envoy's default is 1024"),
    field("max_requests", INTEGER, "The most requests under way at once; Envoy's default is 1024"),
    field("max_retries", INTEGER, "The most retries under way at once; Envoy's default is 3"),
];

/// `v2ExplicitTLS`: how v2 configured TLS. It has no effect itself.
pub(super) const V2_EXPLICIT_TLS: Schema = object![
    field("tls", one_of(&["", "null", "bool:true", "bool:false", "string"]), "The form that `tls` had").dropped(),
    field("serviceScheme", like("^([hH][tT][tT][pP][sS]?://)?$"), "The scheme that the service had"),
];

/// `v2ExplicitTLS` as a field.
pub(super) const V2_EXPLICIT_TLS_FIELD: Field =
    field("v2ExplicitTLS", V2_EXPLICIT_TLS, "How TLS was written in v2, kept by conversions; changes nothing by itself");

pub(super) const LABEL_SELECTOR: Schema = object![
    field("matchLabels", STRING_MAP, "Labels that must be there with these values").dropped(),
    field("matchExpressions", array(&MATCH_EXPRESSION), "Rules for labels; all must hold").dropped(),
];
const MATCH_EXPRESSION: Schema = object![
    field("key", STRING, "The label").required().always(),
    field("operator", STRING, "`In`, `NotIn`, `Exists` or `DoesNotExist`").required().always(),
    field("values", STRINGS, "The values, for `In` and `NotIn`").dropped(),
];

/// An added header: its value and whether it is appended.
pub(super) const ADDED_HEADER: Schema = object![
    field("value", STRING, "The header's value; may use Envoy's `%...%` variables").dropped(),
    field("append", BOOLEAN, "Whether it is added to a value that is there already, or replaces it; `true` unless set"),
    field("v2Representation", one_of(&["", "string", "null"]), "How it was written in v2, kept by conversions").dropped(),
];

/// `error_response_overrides`.
pub(super) const ERROR_RESPONSE_OVERRIDES: Schema = array(&ERROR_RESPONSE_OVERRIDE).at_least(1);
const ERROR_RESPONSE_OVERRIDE: Schema = object![
    field("on_status_code", INTEGER.between(400, 599), "The status of the service's answer that is replaced").required().dropped(),
    field("body", ERROR_RESPONSE_BODY, "What is answered instead; not supported any more since Emissary 4").required().always(),
];
const ERROR_RESPONSE_BODY: Schema = object![
    field("text_format", STRING, "The body as text"),
    field("json_format", STRING_MAP, "The body as JSON, field by field"),
    field("text_format_source", object![field("filename", STRING, "The file, in the proxy's own file system").always()], "The body from a file"),
    field("content_type", STRING, "Its content type").dropped(),
];

/// Converts a v2 value that may be a single string to v3alpha1's list. Null and absent values are dropped.
pub(super) fn string_to_list(spec: &mut Object, key: &str) {
    let Some(node) = spec.get_mut(key) else { return };
    match &mut node.value {
        Value::String(text) => {
            let item = Node { id: node.id, value: Value::String(text.clone()) };
            node.value = Value::Array(vec![item]);
        }
        // Go reads a null as an empty string.
        Value::Array(items) => {
            let nulls = items.iter_mut().filter(|item| item.is_null());
            nulls.for_each(|item| item.value = Value::String(Str::new_static("")));
        }
        _ => {}
    }
}

/// `ambassador_id` in v3alpha1: a list, and without the mark that a round trip through v2 leaves on its ids.
pub(super) fn convert_ids(spec: &mut Object, key: &str) {
    string_to_list(spec, key);
    let Some(Node { value: Value::Array(ids), .. }) = spec.get_mut(key) else { return };
    for id in ids {
        if let Some(bare) = id.as_str().and_then(|id| id.strip_prefix("--apiVersion-v3alpha1-only--")) {
            id.value = Value::String(bare.into());
        }
    }
}

/// Gives a field its name of v3alpha1.
pub(super) fn rename(spec: &mut Object, from: &str, to: &'static str) {
    if let Some(node) = spec.remove(from) {
        spec.insert(Str::new_static(to), node);
    }
}

/// A node that a conversion made out of `from`.
pub(super) fn made(from: NodeId, value: Value) -> Node {
    Node { id: from, value }
}

/// An object of a few entries.
pub(super) fn object_node<const N: usize>(from: NodeId, entries: [(&'static str, Node); N]) -> Node {
    let entries = entries.into_iter().map(|(key, value)| (Str::new_static(key), value));
    made(from, Value::Object(entries.collect()))
}

pub(super) fn string_node(from: NodeId, text: impl Into<Str>) -> Node {
    made(from, Value::String(text.into()))
}

/// Converts v2's `tls` (a boolean or a context's name) and the service's scheme to v3alpha1: `tls` is only a name, and the scheme selects TLS.
/// `tls: true` makes the scheme `https://`; `tls: false` does not undo it.
///
/// Emissary `convert_v2_TLS_To_v3alpha1_TLS`.
pub(super) fn convert_tls(spec: &mut Object, service_key: &'static str, keeps_scheme: bool) {
    let Some(tls) = spec.remove("tls").filter(|tls| !tls.is_null()) else { return };
    if let Value::String(name) = &tls.value
        && !name.is_empty()
    {
        let explicit = object_node(tls.id, []);
        spec.insert("tls", tls);
        if keeps_scheme {
            spec.insert("v2ExplicitTLS", explicit);
        }
        return;
    }
    let written = match &tls.value {
        Value::Bool(true) => "bool:true",
        Value::Bool(false) => "bool:false",
        _ => "string",
    };
    let mut explicit = vec![("tls", string_node(tls.id, written))];
    if let Value::Bool(true) = tls.value
        && let Some(service) = spec.get_mut(service_key)
        && let Value::String(text) = &service.value
    {
        let scheme = ["https://", "http://"].iter().find(|scheme| starts_with_ignoring_case(text, scheme));
        if scheme != Some(&"https://") {
            let (scheme, bare) = text.split_at(scheme.map_or(0, |scheme| scheme.len()));
            let https = alloc::format!("https://{bare}");
            if keeps_scheme {
                explicit.push(("serviceScheme", string_node(tls.id, scheme)));
            }
            *service = string_node(service.id, https);
        }
    } else if let (Value::Bool(true), None) = (&tls.value, spec.get(service_key)) {
        spec.insert(service_key, string_node(tls.id, "https://"));
    }
    let explicit: Object = explicit.into_iter().map(|(key, node)| (Str::new_static(key), node)).collect();
    spec.insert("v2ExplicitTLS", made(tls.id, Value::Object(explicit)));
}

fn starts_with_ignoring_case(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

/// Converts v2's maps of headers or query parameters, whose values may be booleans: strings stay, `true` becomes the regular expression `.*` in
/// `regex_key` unless that already contains the header, and everything else is dropped.
pub(super) fn convert_presence(spec: &mut Object, key: &'static str, regex_key: &'static str, list_key: &'static str) {
    let Some(node) = spec.get_mut(key) else { return };
    let (map, id) = match &mut node.value {
        Value::Object(map) => (map, node.id),
        _ => return,
    };
    if map.iter().all(|entry| matches!(entry.value.value, Value::String(_))) {
        return;
    }
    let present: Vec<(Str, NodeId)> =
        map.iter().filter(|entry| entry.value.as_bool() == Some(true)).map(|entry| (entry.key.clone(), entry.value.id)).collect();
    map.retain(|entry| matches!(entry.value.value, Value::String(_)));
    if present.is_empty() {
        return;
    }
    if spec.get(regex_key).is_none_or(|node| node.as_object().is_none()) {
        spec.insert(regex_key, object_node(id, []));
    }
    let mut names = Vec::new();
    if let Some(Node { value: Value::Object(regexes), .. }) = spec.get_mut(regex_key) {
        for (name, id) in present {
            if !regexes.contains_key(&name) {
                regexes.insert(name.clone(), string_node(id, ".*"));
            }
            names.push(string_node(id, name));
        }
    }
    // Go walks a map in no order; by name is as good as any.
    names.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
    spec.insert(list_key, made(id, Value::Array(names)));
}
