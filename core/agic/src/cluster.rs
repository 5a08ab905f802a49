//! The objects in the API server: accepted objects with defaults, by kind, namespace and name.

use super::kinds::{self, Kind};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::compilation::{Ledger, State, Why};
use chancery_base::diagnostic::Findings;
use chancery_base::executor::Executor;
use chancery_base::resource::{Object, Objects};
use chancery_kubernetes::admit::{Admission, Verdict, verdicts};
use chancery_kubernetes::cursor::Cursor;
pub use chancery_kubernetes::object_tables::Name;
use chancery_kubernetes::object_tables::{ByContent, ByName, Named, Names};
use chancery_kubernetes::overwritten;
use chancery_text::{Node, Str};

/// An object that the API server accepted.
#[derive(Clone, Debug)]
pub struct AdmittedObject<'a> {
    pub object: &'a Object,
    /// Its tree with defaults.
    pub root: Arc<Node>,
}

impl AdmittedObject<'_> {
    pub fn root(&self) -> Cursor<'_> {
        Cursor::new(self.object.id, &self.root)
    }

    /// Empty for cluster-scoped objects.
    pub fn namespace(&self) -> &Str {
        const NONE: &Str = &Str::new_static("");
        self.object.key.namespace.as_ref().unwrap_or(NONE)
    }

    pub fn name(&self) -> &Str {
        &self.object.key.name
    }

    pub fn full_name(&self) -> Name {
        (self.namespace().clone(), self.name().clone())
    }
}

impl Named for AdmittedObject<'_> {
    fn namespace(&self) -> &Str {
        AdmittedObject::namespace(self)
    }

    fn name(&self) -> &Str {
        AdmittedObject::name(self)
    }
}

/// The objects in the API server.
#[derive(Clone, Debug, Default)]
pub struct Cluster<'a> {
    held: BTreeMap<Kind, ByName<AdmittedObject<'a>>>,
}

/// Objects that the API server accepted without a finding: the next compile need not check them again.
#[derive(Default)]
pub struct Memory {
    taken: ByContent<(Kind, Arc<Node>)>,
    names: BTreeMap<Kind, Arc<Names>>,
}

fn admit(kind: Kind, object: &Object, admission: Admission<'_>, sink: &mut Findings) -> Result<Arc<Node>, Vec<String>> {
    admission.admit(kind.definition(), object, sink)
}

/// Returns the verdicts on objects that are not known yet, in the order of the text.
fn new_verdicts(objects: &Objects, executor: &dyn Executor, memory: &Memory) -> Vec<Verdict> {
    let new = objects.all().filter(|object| !object.broken && !memory.taken.knows(object));
    let new: Vec<(Kind, &Object)> = new.filter_map(|object| Some((kinds::find(&object.key.group, &object.key.kind)?, object))).collect();
    verdicts(&new, false, executor, admit)
}

impl<'a> Cluster<'a> {
    /// Applies all documents in order.
    pub fn apply(objects: &'a Objects, executor: &dyn Executor, memory: &mut Memory, ledger: &mut Ledger, sink: &mut Findings) -> Self {
        memory.taken.begin();
        let known = memory.names.iter().map(|(kind, names)| (*kind, ByName::new(names.clone())));
        let mut cluster = Self { held: known.collect() };
        let mut verdicts = new_verdicts(objects, executor, memory).into_iter();
        for object in objects.all() {
            if object.broken {
                ledger.set(object.id, State::Invalid("it cannot be read".into()));
                continue;
            }
            if let Some((kind, root)) = memory.taken.get(object).cloned() {
                cluster.hold(kind, AdmittedObject { object, root }, ledger, sink);
                continue;
            }
            let Some(kind) = kinds::find(&object.key.group, &object.key.kind) else {
                ledger.set(object.id, State::Ignored(Why::UnknownKind, "the controller does not read this kind".into()));
                continue;
            };
            let Some(Verdict { object: of, taken, mut found }) = verdicts.next() else {
                debug_assert!(false, "every object that is not known has a verdict");
                continue;
            };
            debug_assert_eq!(of, object.id, "verdicts come in the order of the text");
            let silently = found.is_empty();
            sink.append(&mut found);
            match taken {
                Ok(root) => {
                    if silently {
                        memory.taken.put(object, (kind, root.clone()));
                    }
                    cluster.hold(kind, AdmittedObject { object, root }, ledger, sink);
                }
                Err(errors) => ledger.set(object.id, State::Invalid(errors.first().map_or("the API server refuses it", String::as_str).into())),
            }
        }
        memory.taken.end();
        cluster.held.values_mut().for_each(ByName::put_in_order);
        memory.names = cluster.held.iter().map(|(kind, held)| (*kind, held.names().clone())).collect();
        cluster
    }

    fn hold(&mut self, kind: Kind, held: AdmittedObject<'a>, ledger: &mut Ledger, sink: &mut Findings) {
        let object = held.object;
        ledger.set(object.id, State::Loaded);
        if let Some(earlier) = self.held.entry(kind).or_insert_with(|| ByName::new(Arc::default())).insert(held).1 {
            ledger.set(earlier.object.id, State::Shadowed(object.id));
            sink.report(overwritten(earlier.object, object));
        }
    }

    /// Returns all objects of a kind, by namespace and name.
    pub fn all(&self, kind: Kind) -> impl Iterator<Item = &AdmittedObject<'a>> {
        self.held.get(&kind).into_iter().flat_map(ByName::iter)
    }

    pub fn get(&self, kind: Kind, namespace: &str, name: &str) -> Option<&AdmittedObject<'a>> {
        self.held.get(&kind)?.get(namespace, name)
    }
}
