//! Merges conditions of a status: a list in the API that works like a map by type. A `True` condition is written, too,
//! so that an earlier `False` does not stay.

use serde_json::{Value, json};
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Whether the condition is `True`.
    pub good: bool,
    /// One word.
    pub reason: String,
    /// One sentence.
    pub message: String,
}

/// Conditions by type.
pub type Conditions = BTreeMap<String, Condition>;

/// Returns the new list, from the present list. Unchanged conditions keep their time, and conditions of others stay.
#[must_use]
pub fn merged(before: &Value, conditions: &Conditions, generation: i64, now: &str) -> Value {
    let known = before.as_array().map(Vec::as_slice).unwrap_or_default();
    let kind = |condition: &Value| condition["type"].as_str().unwrap_or_default().to_owned();
    let mut out: BTreeMap<String, Value> = known.iter().map(|condition| (kind(condition), condition.clone())).collect();
    for (name, condition) in conditions {
        let status = if condition.good { "True" } else { "False" };
        let since = out.get(name).filter(|known| known["status"] == status).and_then(|known| known["lastTransitionTime"].as_str());
        let since = since.unwrap_or(now).to_owned();
        let value = json!({
            "type": name,
            "status": status,
            "reason": condition.reason,
            "message": condition.message,
            "observedGeneration": generation,
            "lastTransitionTime": since,
        });
        out.insert(name.clone(), value);
    }
    Value::Array(out.into_values().collect())
}
