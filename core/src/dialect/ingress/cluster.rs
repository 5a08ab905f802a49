//! What the API server holds: objects that it took, with defaults put in, by kind, namespace and name.
//!
//! What must not be here: what the controller makes of them.

use super::kinds::{self, Kind};
use crate::compilation::{Ledger, State, Why};
use crate::diagnostic::Findings;
use crate::dialect::kubernetes::admit::Admission;
use crate::dialect::kubernetes::cursor::Cursor;
use crate::dialect::kubernetes::overwritten;
use crate::resource::{Object, Objects};
use crate::schema::Memo;
use crate::text::{Node, Str};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;

/// A namespace and a name.
pub type Name = (Str, Str);

/// An object that the API server took.
#[derive(Clone, Debug)]
pub struct AdmittedObject<'a> {
    /// The object.
    pub object: &'a Object,
    /// Its tree with defaults.
    pub root: Arc<Node>,
}

impl AdmittedObject<'_> {
    /// Its tree.
    pub fn root(&self) -> Cursor<'_> {
        Cursor::new(self.object.id, &self.root)
    }

    /// Namespace; empty for what stands in none.
    pub fn namespace(&self) -> &Str {
        const NONE: &Str = &Str::new_static("");
        self.object.key.namespace.as_ref().unwrap_or(NONE)
    }

    /// Name.
    pub fn name(&self) -> &Str {
        &self.object.key.name
    }

    /// Namespace and name.
    pub fn full_name(&self) -> Name {
        (self.namespace().clone(), self.name().clone())
    }
}

/// What the API server holds.
#[derive(Clone, Debug, Default)]
pub struct Cluster<'a> {
    held: BTreeMap<(Kind, Name), AdmittedObject<'a>>,
}

impl<'a> Cluster<'a> {
    /// Applies all documents in order.
    pub fn apply(objects: &'a Objects, ledger: &mut Ledger, sink: &mut Findings) -> Self {
        let mut cluster = Self::default();
        let memo = Memo::default();
        let admission = Admission { skip_validation: false, memo: &memo };
        for object in objects.all() {
            if object.broken {
                ledger.set(object.id, State::Invalid("it cannot be read".into()));
                continue;
            }
            let Some(kind) = kinds::find(&object.key.group, &object.key.kind) else {
                ledger.set(object.id, State::Ignored(Why::UnknownKind, "the controller does not read this kind".into()));
                continue;
            };
            match admission.admit(kind.definition(), object, sink) {
                Ok(root) => {
                    let held = AdmittedObject { object, root };
                    ledger.set(object.id, State::Loaded);
                    if let Some(earlier) = cluster.held.insert((kind, held.full_name()), held) {
                        ledger.set(earlier.object.id, State::Shadowed(object.id));
                        sink.report(overwritten(earlier.object, object));
                    }
                }
                Err(errors) => ledger.set(object.id, State::Invalid(errors.first().map_or("the API server refuses it", String::as_str).into())),
            }
        }
        cluster
    }

    /// All objects of a kind, by namespace and name.
    pub fn all(&self, kind: Kind) -> impl Iterator<Item = &AdmittedObject<'a>> {
        let first = (kind, Name::default());
        self.held.range(first..).take_while(move |((of, _), _)| *of == kind).map(|(_, held)| held)
    }

    /// One object.
    pub fn get(&self, kind: Kind, namespace: &str, name: &str) -> Option<&AdmittedObject<'a>> {
        self.held.get(&(kind, (Str::new(namespace), Str::new(name))))
    }
}
