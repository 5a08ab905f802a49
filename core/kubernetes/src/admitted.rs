//! Keeps the objects that the API server stored, for views. Does not admit them; see each dialect's `cluster`.

use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::compilation::Loaded;
use chancery_base::resource::{ObjectId, Objects, Rule};
use chancery_text::{Node, Str};

/// An object and its stored tree.
type AdmittedObject = (ObjectId, Arc<Node>);

/// The stored objects by kind, with defaults and without unknown fields.
#[derive(Debug, Default)]
pub struct AdmittedObjects(Vec<(&'static str, Vec<AdmittedObject>)>);

impl AdmittedObjects {
    /// Adds the objects of a kind in display order.
    pub fn add(&mut self, kind: &'static str, objects: impl Iterator<Item = AdmittedObject>) {
        let objects: Vec<_> = objects.collect();
        if !objects.is_empty() {
            self.0.push((kind, objects));
        }
    }

    /// The objects by kind, named `namespace/name`.
    pub fn loaded(&self, objects: &Objects) -> Vec<(Str, Vec<Loaded>)> {
        let named = |(id, root): &AdmittedObject| {
            let key = &objects.get(*id)?.key;
            let name = match key.namespace.as_deref() {
                None | Some("") => key.name.clone(),
                Some(namespace) => format!("{namespace}/{}", key.name).into(),
            };
            Some(Loaded { name, object: *id, rule: Rule::Field, written: root.clone(), shown: Node::clone(root) })
        };
        self.0.iter().map(|(kind, all)| (Str::new_static(kind), all.iter().filter_map(named).collect())).collect()
    }
}
