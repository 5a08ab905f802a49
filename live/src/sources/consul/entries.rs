//! Follows the config entries of one kind. Does not interpret them; the dialect does.

use super::query::Query;
use super::{Reader, Ready, in_datacenter, without_indexes};
use crate::event::SourceState;
use chancery_core::dialect::consul::entry::Kind;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Follows the entries of a kind.
pub(super) async fn run(reader: Reader, kind: Kind, datacenter: Option<String>, mut ready: Ready) {
    let (part, rule) = (kind.name(), rule(kind));
    let mut query = Query::new(reader.client.clone(), in_datacenter(&format!("/v1/config/{part}"), datacenter.as_deref()));
    loop {
        match query.next().await {
            Ok(answer) => match serde_json::from_slice::<Option<Vec<Map<String, Value>>>>(&answer.body) {
                Ok(entries) => {
                    take(&reader, part, entries.unwrap_or_default());
                    reader.healthy(part, answer.is_filtered, rule);
                    ready.say();
                }
                Err(error) => reader.outlet.state(part, SourceState::Error, Some(format!("Consul's answer cannot be read: {error}"))),
            },
            Err(trouble) => {
                reader.trouble(part, &trouble, rule);
                ready.say_unless_failed(&trouble);
            }
        }
    }
}

fn take(reader: &Reader, kind: &str, entries: Vec<Map<String, Value>>) {
    let prefix = format!("consul/{kind}/");
    let mut seen = BTreeSet::new();
    for mut entry in entries {
        without_indexes(&mut entry);
        let name = format!("{prefix}{}", entry.get("Name").and_then(Value::as_str).unwrap_or(kind));
        reader.put(&name, &Value::Object(entry));
        seen.insert(name);
    }
    reader.outlet.retain(&prefix, &seen);
}

/// Returns the rule that a token needs to read a kind.
fn rule(kind: Kind) -> &'static str {
    match kind {
        Kind::ServiceIntentions => "service_prefix \"\" { policy = \"read\" intentions = \"read\" }",
        Kind::ProxyDefaults | Kind::Mesh | Kind::ExportedServices | Kind::JwtProvider => "mesh = \"read\" and operator = \"read\"",
        _ => "service_prefix \"\" { policy = \"read\" }",
    }
}
