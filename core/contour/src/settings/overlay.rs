//! Merges a configuration over the defaults (Contour `contourconfig.OverlayOnDefaults`, by mergo with override), and removes what Go's types would
//! not keep.

use chancery_text::{Node, Object, Value};

/// Merges `over` onto `under`: values of `over` win, but empty values do not replace anything.
pub fn overlay(under: &mut Node, over: &Node) {
    match (&mut under.value, &over.value) {
        (Value::Object(fields), Value::Object(new)) => {
            under.id = over.id;
            for entry in new {
                match fields.get_mut(&entry.key) {
                    Some(old) => overlay(old, &entry.value),
                    None => {
                        fields.insert(entry.key.clone(), entry.value.clone());
                    }
                }
            }
        }
        _ if is_empty(over) => {}
        _ => *under = over.clone(),
    }
}

/// Go's zero value: nothing, `""`, `0`, `false`, or no items.
pub fn is_empty(node: &Node) -> bool {
    match &node.value {
        Value::Null | Value::Bool(false) | Value::Int(0) => true,
        Value::Float(number) => *number == 0.0,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(object) => object.is_empty(),
        Value::Bool(true) | Value::Int(_) => false,
    }
}

/// Scalars that are pointers in Go, so that zero and false are something.
const POINTERS: &[&str] = &[
    "insecure",
    "enableExternalNameService",
    "useProxyProtocol",
    "disableAllowChunkedLength",
    "disableMergeSlashes",
    "maxRequestsPerConnection",
    "per-connection-buffer-limit-bytes",
    "maxRequestsPerIOCycle",
    "httpMaxConcurrentStreams",
    "maxConnectionsPerListener",
    "maxConnectionsToAcceptPerSocketEvent",
    "ja3",
    "ja4",
    "requestTimeout",
    "connectionIdleTimeout",
    "streamIdleTimeout",
    "maxConnectionDuration",
    "delayedCloseTimeout",
    "connectionShutdownGracePeriod",
    "connectTimeout",
    "disablePermitInsecure",
    "numTrustedHops",
    "adminPort",
    "stripTrailingHostDot",
    "enableXRateLimitHeaders",
    "enableResourceExhaustedCode",
    "includePodDetail",
    "serviceName",
    "overallSampling",
    "clientSampling",
    "randomSampling",
    "maxPathTagLength",
    "applyToIngress",
];

/// Fields that are written even when they are empty.
const REQUIRED: &[&str] = &["name", "namespace", "tagName"];

/// Objects whose fields are the user's own.
const MAPS: &[&str] = &["set", "context", "runtimeSettings"];

/// Removes values that Go's types cannot distinguish from absent ones.
pub fn tidy(node: &mut Node) {
    tidy_field("", node);
}

fn tidy_field(name: &str, node: &mut Node) {
    match &mut node.value {
        Value::Object(_) if MAPS.contains(&name) => {}
        Value::Object(object) => {
            let fields: Object = core::mem::take(object);
            for mut entry in fields {
                tidy_field(&entry.key, &mut entry.value);
                if keeps(name, &entry.key, &entry.value) {
                    object.insert(entry.key, entry.value);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| tidy_field("", item)),
        _ => {}
    }
}

fn keeps(holder: &str, name: &str, node: &Node) -> bool {
    let is_pointer = POINTERS.contains(&name) || (name == "failOpen" && holder == "rateLimitService");
    match &node.value {
        Value::Null => false,
        Value::Object(object) => !object.is_empty() || !MAPS.contains(&name),
        _ => !is_empty(node) || is_pointer || REQUIRED.contains(&name),
    }
}
