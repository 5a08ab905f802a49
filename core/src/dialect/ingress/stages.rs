//! What the controller established, kept for outputs and views.
//!
//! What must not be here: how it came to that.

use super::cluster::Cluster;
use super::events::Recorder;
use super::pipeline::Passage;
use super::status::Change;
use super::{kinds, relations};
use crate::compilation::{self, Loaded, Relation};
use crate::ir::SecretReference;
use crate::ir::appgw::Gateway;
use crate::resource::{ObjectId, Objects, Rule};
use crate::text::{Node, Str};
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// An object and what the API server holds of it.
type HeldObject = (ObjectId, Arc<Node>);

/// What the controller established.
#[derive(Debug, Default)]
pub struct Stages {
    /// The objects that the API server took, by kind, in the order of their names.
    held: Vec<(&'static str, Vec<HeldObject>)>,
    /// The gateway that is asked for; `None` where nothing is.
    pub gateway: Option<Arc<Gateway>>,
    /// Events.
    pub recorder: Recorder,
    /// Statuses that change.
    pub statuses: Vec<Change>,
    /// How far each object gets.
    pub passages: Vec<Passage>,
}

impl Stages {
    /// Keeps what was established.
    pub fn new(cluster: &Cluster<'_>, gateway: Option<Arc<Gateway>>, recorder: Recorder, statuses: Vec<Change>, passages: Vec<Passage>) -> Self {
        let of_kind = |(kind, definition): &(kinds::Kind, &crate::dialect::kubernetes::kind::Kind)| {
            (definition.name, cluster.all(*kind).map(|held| (held.object.id, held.root.clone())).collect())
        };
        let held = kinds::ALL.iter().map(of_kind).filter(|(_, objects): &(_, Vec<_>)| !objects.is_empty()).collect();
        Self { held, gateway, recorder, statuses, passages }
    }
}

impl compilation::Stages for Stages {
    /// What the API server holds, by kind, in the order of names.
    fn loaded(&self, objects: &Objects) -> Vec<(Str, Vec<Loaded>)> {
        let named = |(id, root): &HeldObject| {
            let key = &objects.get(*id)?.key;
            let name = match key.namespace.as_deref() {
                None | Some("") => key.name.clone(),
                Some(namespace) => format!("{namespace}/{}", key.name).into(),
            };
            Some(Loaded { name, object: *id, rule: Rule::Field, written: root.clone(), shown: Node::clone(root) })
        };
        self.held.iter().map(|(kind, all)| (Str::new_static(kind), all.iter().filter_map(named).collect())).collect()
    }

    fn relations(&self, objects: &Objects) -> Vec<Relation> {
        relations::relations(objects)
    }

    /// Certificates are only named.
    fn key_material(&self, _: &Objects, _: &SecretReference) -> Option<Vec<u8>> {
        None
    }
}
