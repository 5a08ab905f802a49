//! What the API server holds: objects that it took, with defaults put in and unknown fields gone, and what it refused.
//!
//! What must not be here: what Contour makes of them.

use super::kinds::{self, Kind};
use crate::config::{Ledger, State, Why};
use crate::diagnostic::Diagnostic;
use crate::dialect::kubernetes::admit::Admission;
use crate::dialect::kubernetes::cursor::Cursor;
use crate::dialect::kubernetes::overwritten;
use crate::resource::{Content, Object, ObjectId, Objects};
use crate::schema::Memo;
use crate::text::{Node, Str};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use hashbrown::HashMap;

/// A namespace and a name.
pub type Name = (Str, Str);

/// An object that the API server took.
#[derive(Clone, Debug)]
pub struct Admitted<'a> {
    /// The object.
    pub object: &'a Object,
    /// Its tree after pruning and with defaults.
    pub root: Arc<Node>,
}

impl Admitted<'_> {
    /// Its tree.
    pub fn root(&self) -> Cursor<'_> {
        Cursor::new(self.object.id, &self.root)
    }

    /// Its `spec`.
    pub fn spec(&self) -> Cursor<'_> {
        self.root().field("spec")
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

    /// An annotation.
    pub fn annotation(&self, name: &str) -> Option<Cursor<'_>> {
        self.root().field("metadata").field("annotations").field(name).some()
    }
}

/// What the API server refused, and its words.
#[derive(Clone, Debug)]
pub struct Refused<'a> {
    /// The object.
    pub object: &'a Object,
    /// What it said.
    pub errors: Vec<String>,
}

/// What the API server holds.
#[derive(Clone, Debug, Default)]
pub struct Cluster<'a> {
    admitted: BTreeMap<Kind, BTreeMap<Name, Admitted<'a>>>,
    /// What it refused, in the order of the text.
    pub refused: Vec<Refused<'a>>,
    /// Configuration files in ConfigMaps, by the ConfigMap.
    pub files: BTreeMap<ObjectId, &'a Object>,
}

/// Objects that the API server took as they are, without a word: the next compile need not ask again.
#[derive(Default)]
pub struct Memory {
    skip_validation: bool,
    /// By the address of what was read, which is no other's as long as the entry holds it.
    taken: HashMap<usize, (Arc<Content>, Arc<Node>)>,
}

impl Memory {
    /// The object as the API server stores it, or what it says against it.
    fn admit(
        &self,
        taken: &mut HashMap<usize, (Arc<Content>, Arc<Node>)>,
        kind: Kind,
        object: &Object,
        admission: Admission<'_>,
        sink: &mut Vec<Diagnostic>,
    ) -> Result<Arc<Node>, Vec<String>> {
        let address = Arc::as_ptr(&object.content).addr();
        if let Some(known) = self.taken.get(&address) {
            taken.insert(address, known.clone());
            return Ok(known.1.clone());
        }
        let before = sink.len();
        let root = kinds::admit(kind, object, admission, sink)?;
        if sink.len() == before {
            taken.insert(address, (object.content.clone(), root.clone()));
        }
        Ok(root)
    }
}

impl<'a> Cluster<'a> {
    /// Applies all documents in order.
    pub fn apply(objects: &'a Objects, skip_validation: bool, ledger: &mut Ledger, sink: &mut Vec<Diagnostic>) -> Self {
        Self::apply_again(objects, skip_validation, &mut Memory::default(), ledger, sink)
    }

    /// The same with a memory.
    pub fn apply_again(objects: &'a Objects, skip_validation: bool, memory: &mut Memory, ledger: &mut Ledger, sink: &mut Vec<Diagnostic>) -> Self {
        if memory.skip_validation != skip_validation {
            *memory = Memory { skip_validation, ..Memory::default() };
        }
        let mut taken = HashMap::with_capacity(objects.len());
        let mut cluster = Self::default();
        let memo = Memo::default();
        let admission = Admission { skip_validation, memo: &memo };
        for object in objects.iter() {
            if let Some((holder, _)) = object.parent {
                cluster.files.insert(holder, object);
                ledger.set(object.id, State::Ignored(Why::NotWatched, "Contour reads the file of its own ConfigMap only".into()));
                continue;
            }
            if object.broken {
                ledger.set(object.id, State::Invalid("it cannot be read".into()));
                continue;
            }
            let Some(kind) = kinds::find(&object.key.group, &object.key.kind) else {
                ledger.set(object.id, State::Ignored(Why::UnknownKind, "Contour does not read this kind".into()));
                continue;
            };
            match memory.admit(&mut taken, kind, object, admission, sink) {
                Ok(root) => {
                    let admitted = Admitted { object, root };
                    let name = admitted.full_name();
                    if let Some(earlier) = cluster.admitted.entry(kind).or_default().insert(name, admitted) {
                        ledger.set(earlier.object.id, State::Shadowed(object.id));
                        sink.push(overwritten(earlier.object, object));
                    }
                    ledger.set(object.id, State::Loaded);
                }
                Err(errors) => {
                    ledger.set(object.id, State::Invalid(errors.first().map_or("the API server refuses it", String::as_str).into()));
                    cluster.refused.push(Refused { object, errors });
                }
            }
        }
        memory.taken = taken;
        cluster
    }

    /// All objects of a kind, by namespace and name.
    pub fn all(&self, kind: Kind) -> impl Iterator<Item = &Admitted<'a>> {
        self.admitted.get(&kind).into_iter().flat_map(BTreeMap::values)
    }

    /// One object.
    pub fn get(&self, kind: Kind, namespace: &str, name: &str) -> Option<&Admitted<'a>> {
        self.admitted.get(&kind)?.get(&(Str::new(namespace), Str::new(name)))
    }
}
