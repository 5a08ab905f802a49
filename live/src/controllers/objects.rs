//! Reads the inputs of an API server as objects. Inputs from files have no status, and are left out.

use crate::runtime::{Id, Object};
use crate::sources::stream::name_of;
use chancery_core::resource::Input;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Returns the object that an input holds, with its version. The input is one object in JSON, named by a source of a
/// cluster.
#[must_use]
pub fn object_of(input: &Input) -> Option<Object> {
    if !input.text.starts_with('{') {
        return None;
    }
    let value: Value = serde_json::from_str(&input.text).ok()?;
    let name = name_of(&value);
    if name != input.name {
        return None;
    }
    let mut object = Object::new(id_of(&name)?, value.get("spec").cloned().unwrap_or_default());
    let metadata = &value["metadata"];
    object.uid = metadata["uid"].as_str().unwrap_or_default().to_owned();
    object.generation = metadata["generation"].as_i64().unwrap_or_default();
    object.status = value.get("status").cloned().unwrap_or_default();
    let labels = metadata["labels"].as_object().into_iter().flatten();
    object.labels = labels.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect();
    let owner = metadata["ownerReferences"].as_array().into_iter().flatten().find(|owner| owner["controller"] == true);
    object.owner = owner.map(|owner| {
        let group = owner["apiVersion"].as_str().unwrap_or_default().split_once('/').map(|(group, _)| format!(".{group}")).unwrap_or_default();
        Id::new(&format!("{}{group}", owner["kind"].as_str().unwrap_or_default()), &object.id.namespace, owner["name"].as_str().unwrap_or_default())
    });
    object.finalizers = metadata["finalizers"].as_array().into_iter().flatten().filter_map(|of| of.as_str().map(str::to_owned)).collect();
    object.deleting = metadata["deletionTimestamp"].is_string();
    let bound = metadata["annotations"][super::writer::BOUND].as_str().unwrap_or_default();
    object.bound = bound.lines().filter_map(Id::parse).collect();
    Some(object)
}

/// Parses `Kind.group/namespace/name`, or the form without a namespace.
pub(super) fn id_of(name: &str) -> Option<Id> {
    let (kind, rest) = name.split_once('/')?;
    let (namespace, name) = rest.split_once('/').unwrap_or(("", rest));
    Some(Id::new(kind, namespace, name))
}

/// The objects that changed between the inputs of two builds.
#[derive(Debug, Default)]
pub struct ObjectChanges(BTreeMap<String, Arc<str>>);

impl ObjectChanges {
    /// Returns new and changed objects, and the names of removed objects. Inputs with the same shared text are skipped.
    pub fn update(&mut self, inputs: &[Input]) -> (Vec<Object>, Vec<Id>) {
        let mut changed = Vec::new();
        let mut names = BTreeSet::new();
        for input in inputs {
            names.insert(input.name.as_str());
            if self.0.get(input.name.as_str()).is_some_and(|known| Arc::ptr_eq(known, &input.text)) {
                continue;
            }
            self.0.insert(input.name.to_string(), input.text.clone());
            changed.extend(object_of(input));
        }
        let gone: Vec<String> = self.0.keys().filter(|name| !names.contains(name.as_str())).cloned().collect();
        gone.iter().for_each(|name| _ = self.0.remove(name));
        (changed, gone.iter().filter_map(|name| id_of(name)).collect())
    }
}
