//! Simulates the API server for one dialect: the stored objects with defaults, by kind and name. Remembers the objects that it admitted
//! without findings.
//!
//! Does not decide how a controller uses the objects.

use super::admit::{Admission, Verdict, verdicts};
use super::cursor::Cursor;
use super::kind;
use super::object_tables::{ByContent, ByName, Name, Named, Names};
use super::overwritten;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::compilation::{Ledger, State, Why};
use chancery_base::diagnostic::Findings;
use chancery_base::executor::Executor;
use chancery_base::resource::{Object, Objects};
use chancery_text::{Node, Str};

/// A kind that the controller of a dialect reads.
pub trait ReadKind: Copy + Ord + Sync + 'static {
    /// Returns the kind with this API group and name.
    fn find(group: &str, name: &str) -> Option<Self>;

    /// Returns the schema and the names of the kind.
    fn definition(self) -> &'static kind::Kind;
}

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

    /// Returns the namespace; empty for cluster-scoped objects.
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

    /// Returns `NAMESPACE/NAME`.
    pub fn key(&self) -> Str {
        format!("{}/{}", self.namespace(), self.name()).into()
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

/// The objects that the API server stores.
#[derive(Clone, Debug)]
pub struct Cluster<'a, K> {
    admitted: BTreeMap<K, ByName<AdmittedObject<'a>>>,
}

impl<K> Default for Cluster<'_, K> {
    fn default() -> Self {
        Self { admitted: BTreeMap::new() }
    }
}

/// Objects that the API server accepted without findings: the next compile need not admit them again.
pub struct Memory<K> {
    accepted: ByContent<(K, Arc<Node>)>,
    names: BTreeMap<K, Arc<Names>>,
}

impl<K> Default for Memory<K> {
    fn default() -> Self {
        Self { accepted: ByContent::default(), names: BTreeMap::new() }
    }
}

fn admit<K: ReadKind>(kind: K, object: &Object, admission: Admission<'_>, sink: &mut Findings) -> Result<Arc<Node>, Vec<String>> {
    admission.admit(kind.definition(), object, sink)
}

/// Returns the verdicts on objects that are not known yet, in the order of the text.
fn new_verdicts<K: ReadKind>(objects: &Objects, executor: &dyn Executor, memory: &Memory<K>) -> Vec<Verdict> {
    let new = objects.all().filter(|object| !object.broken && !memory.accepted.knows(object));
    let new: Vec<(K, &Object)> = new.filter_map(|object| Some((K::find(&object.key.group, &object.key.kind)?, object))).collect();
    verdicts(&new, false, executor, admit)
}

impl<'a, K: ReadKind> Cluster<'a, K> {
    /// Applies all documents in order.
    pub fn apply(objects: &'a Objects, executor: &dyn Executor, memory: &mut Memory<K>, ledger: &mut Ledger, sink: &mut Findings) -> Self {
        memory.accepted.begin();
        let known = memory.names.iter().map(|(kind, names)| (*kind, ByName::new(names.clone())));
        let mut cluster = Self { admitted: known.collect() };
        let mut verdicts = new_verdicts(objects, executor, memory).into_iter();
        for object in objects.all() {
            if object.broken {
                ledger.set(object.id, State::Invalid("it cannot be read".into()));
                continue;
            }
            if let Some((kind, root)) = memory.accepted.get(object).cloned() {
                cluster.store(kind, AdmittedObject { object, root }, ledger, sink);
                continue;
            }
            let Some(kind) = K::find(&object.key.group, &object.key.kind) else {
                ledger.set(object.id, State::Ignored(Why::UnknownKind, "the controller does not read this kind".into()));
                continue;
            };
            let Some(Verdict { object: of, taken, mut found }) = verdicts.next() else {
                debug_assert!(false, "every new object has a verdict");
                continue;
            };
            debug_assert_eq!(of, object.id, "verdicts come in the order of the text");
            let is_silent = found.is_empty();
            sink.append(&mut found);
            match taken {
                Ok(root) => {
                    if is_silent {
                        memory.accepted.put(object, (kind, root.clone()));
                    }
                    cluster.store(kind, AdmittedObject { object, root }, ledger, sink);
                }
                Err(errors) => ledger.set(object.id, State::Invalid(errors.first().map_or("the API server refuses it", String::as_str).into())),
            }
        }
        memory.accepted.end();
        cluster.admitted.values_mut().for_each(ByName::put_in_order);
        memory.names = cluster.admitted.iter().map(|(kind, admitted)| (*kind, admitted.names().clone())).collect();
        cluster
    }

    /// Stores an object, instead of an earlier one of its name.
    fn store(&mut self, kind: K, admitted: AdmittedObject<'a>, ledger: &mut Ledger, sink: &mut Findings) {
        let object = admitted.object;
        ledger.set(object.id, State::Loaded);
        if let Some(earlier) = self.admitted.entry(kind).or_insert_with(|| ByName::new(Arc::default())).insert(admitted).1 {
            ledger.set(earlier.object.id, State::Shadowed(object.id));
            sink.report(overwritten(earlier.object, object));
        }
    }

    /// Returns all objects of a kind, by namespace and name.
    pub fn all(&self, kind: K) -> impl Iterator<Item = &AdmittedObject<'a>> {
        self.admitted.get(&kind).into_iter().flat_map(ByName::iter)
    }

    pub fn get(&self, kind: K, namespace: &str, name: &str) -> Option<&AdmittedObject<'a>> {
        self.admitted.get(&kind)?.get(namespace, name)
    }
}
