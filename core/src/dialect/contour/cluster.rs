//! What the API server holds: objects that it took, with defaults put in and unknown fields gone, and what it refused.
//!
//! What must not be here: what Contour makes of them.

use super::kinds::{self, Kind};
use crate::compilation::{Ledger, Refused, State, Why};
use crate::diagnostic::Findings;
use crate::dialect::kubernetes::admit::Admission;
use crate::dialect::kubernetes::cursor::Cursor;
use crate::dialect::kubernetes::overwritten;
use crate::executor::{self, Executor};
use crate::order::Order as _;
use crate::resource::{Content, Object, ObjectId, Objects};
use crate::schema::Memo;
use crate::text::{Node, Str};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use hashbrown::{Equivalent, HashMap};

/// A namespace and a name.
pub type Name = (Str, Str);

/// An object that the API server took.
#[derive(Clone, Debug)]
pub struct Admitted<'a> {
    /// The object.
    pub object: &'a Object,
    /// Its tree after pruning and with defaults.
    pub root: Arc<Node>,
    places: Places,
}

/// What all ask for, as places among the entries of the tree.
#[derive(Clone, Copy, Debug)]
struct Places {
    spec: Option<u32>,
    metadata: Option<u32>,
    has_annotations: bool,
}

impl Places {
    fn of(root: &Node) -> Self {
        let place = |name| root.as_object().and_then(|of| of.position(name)).map(|at| at as u32);
        let annotations = root.get("metadata").and_then(|metadata| metadata.get("annotations"));
        Self { spec: place("spec"), metadata: place("metadata"), has_annotations: annotations.is_some_and(|of| !of.is_null()) }
    }
}

impl<'a> Admitted<'a> {
    fn new(object: &'a Object, root: Arc<Node>) -> Self {
        let places = Places::of(&root);
        Self { object, root, places }
    }
}

impl Admitted<'_> {
    /// Its tree.
    pub fn root(&self) -> Cursor<'_> {
        Cursor::new(self.object.id, &self.root)
    }

    /// Its `spec`.
    pub fn spec(&self) -> Cursor<'_> {
        self.root().entry(self.places.spec)
    }

    /// Its `metadata`.
    pub fn metadata(&self) -> Cursor<'_> {
        self.root().entry(self.places.metadata)
    }

    /// Its annotations.
    pub fn annotations(&self) -> Cursor<'_> {
        if self.places.has_annotations { self.metadata().field("annotations") } else { self.metadata().entry(None) }
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
        self.annotations().field(name).some()
    }
}

/// What the API server holds.
#[derive(Clone, Debug, Default)]
pub struct Cluster<'a> {
    admitted: BTreeMap<Kind, ObjectsOfKind<'a>>,
    /// What it refused, in the order of the text.
    pub refused: Vec<Refused>,
    /// Configuration files in ConfigMaps, by the ConfigMap.
    pub files: BTreeMap<ObjectId, &'a Object>,
}

/// The objects of a kind.
#[derive(Clone, Debug, Default)]
struct ObjectsOfKind<'a> {
    /// In the order of the text.
    objects: Vec<Admitted<'a>>,
    /// Their places by name.
    places: HashMap<Name, u32>,
    /// Their places, in the order of their names.
    order: Arc<Vec<u32>>,
}

/// A name that is looked for.
#[derive(PartialEq, Eq, Hash)]
struct NameKey<'n>(&'n str, &'n str);

impl Equivalent<Name> for NameKey<'_> {
    fn equivalent(&self, name: &Name) -> bool {
        self.1 == name.1 && self.0 == name.0
    }
}

impl<'a> ObjectsOfKind<'a> {
    /// Takes an object; gives the one whose place it takes.
    fn insert(&mut self, admitted: Admitted<'a>) -> Option<Admitted<'a>> {
        let next = self.objects.len() as u32;
        let place = *self.places.entry(admitted.full_name()).or_insert(next);
        match self.objects.get_mut(place as usize) {
            Some(earlier) => Some(core::mem::replace(earlier, admitted)),
            None => {
                self.objects.push(admitted);
                None
            }
        }
    }

    fn at(&self, place: u32) -> Option<&Admitted<'a>> {
        self.objects.get(place as usize)
    }

    /// Puts the objects in the order of their names, which is known where they are the same as before.
    fn put_in_order(&mut self, before: &mut Order) {
        let name = |object: &Admitted<'a>| (object.namespace().clone(), object.name().clone());
        let same = before.names.len() == self.objects.len()
            && self.objects.iter().zip(&before.names).all(|(object, known)| *object.name() == known.1 && *object.namespace() == known.0);
        if !same {
            before.names = self.objects.iter().map(name).collect();
            let mut order: Vec<u32> = (0..self.objects.len() as u32).collect();
            order.order_by(|a, b| before.names.get(*a as usize).cmp(&before.names.get(*b as usize)));
            before.order = Arc::new(order);
        }
        self.order = before.order.clone();
    }
}

/// Objects that the API server took as they are, without a word: the next compile need not ask again.
#[derive(Default)]
pub struct Memory {
    skip_validation: bool,
    /// By the address of what was read, which is no other's as long as the entry holds it.
    taken: HashMap<usize, CachedAdmission>,
    orders: BTreeMap<Kind, Order>,
    round: u32,
}

/// An object that was taken.
struct CachedAdmission {
    #[expect(dead_code, reason = "holds the address by which it is known")]
    content: Arc<Content>,
    kind: Kind,
    root: Arc<Node>,
    places: Places,
    /// The compile in which it was there last.
    round: u32,
}

/// The names of the objects of a kind, in the order of the text, and their places in the order of their names.
#[derive(Default)]
struct Order {
    names: Vec<Name>,
    order: Arc<Vec<u32>>,
}

impl Memory {
    /// What is known of an object.
    fn known<'a>(&mut self, object: &'a Object) -> Option<(Kind, Admitted<'a>)> {
        let known = self.taken.get_mut(&Arc::as_ptr(&object.content).addr())?;
        known.round = self.round;
        Some((known.kind, Admitted { object, root: known.root.clone(), places: known.places }))
    }

    /// Whether it is known that the API server takes an object.
    fn knows(&self, object: &Object) -> bool {
        self.taken.contains_key(&Arc::as_ptr(&object.content).addr())
    }

    /// An object that the API server took just now, and whether it did so without a word.
    fn keep<'a>(&mut self, kind: Kind, object: &'a Object, root: Arc<Node>, silently: bool) -> Admitted<'a> {
        let admitted = Admitted::new(object, root);
        if silently {
            let taken =
                CachedAdmission { content: object.content.clone(), kind, root: admitted.root.clone(), places: admitted.places, round: self.round };
            self.taken.insert(Arc::as_ptr(&object.content).addr(), taken);
        }
        admitted
    }

    /// Begins a compile; `objects` is how many there are.
    fn begin(&mut self, skip_validation: bool, objects: usize) {
        if self.skip_validation != skip_validation || self.round == u32::MAX {
            *self = Self { skip_validation, ..Self::default() };
        }
        self.taken.reserve(objects.saturating_sub(self.taken.len()));
        self.round += 1;
    }

    /// Forgets what is not there any more, where that is much.
    fn end(&mut self, objects: usize) {
        if self.taken.len() > objects + objects / 4 + 64 {
            let round = self.round;
            self.taken.retain(|_, taken| taken.round == round);
        }
    }
}

/// What the API server makes of an object by itself.
struct Verdict {
    object: ObjectId,
    /// The tree that it stores, or why it refuses the object.
    taken: Result<Arc<Node>, Vec<String>>,
    found: Findings,
}

/// The verdicts on the objects of Contour's kinds that are not known yet, in the order of the text.
fn verdicts(objects: &Objects, skip_validation: bool, executor: &dyn Executor, memory: &Memory) -> Vec<Verdict> {
    let new = objects.all().filter(|object| object.parent.is_none() && !object.broken && !memory.knows(object));
    let new: Vec<(Kind, &Object)> = new.filter_map(|object| Some((kinds::find(&object.key.group, &object.key.kind)?, object))).collect();
    executor::map_with(executor, &new, Memo::default, |memo, (kind, object)| {
        let mut found = Findings::default();
        let taken = kinds::admit(*kind, object, Admission { skip_validation, memo }, &mut found);
        Verdict { object: object.id, taken, found }
    })
}

impl<'a> Cluster<'a> {
    /// Applies all documents in order. `file` is the name of the configuration file that flags lead to.
    pub fn apply(
        objects: &'a Objects,
        file: Option<&Str>,
        skip_validation: bool,
        executor: &dyn Executor,
        memory: &mut Memory,
        ledger: &mut Ledger,
        sink: &mut Findings,
    ) -> Self {
        memory.begin(skip_validation, objects.len());
        let mut cluster = Self::default();
        let mut verdicts = verdicts(objects, skip_validation, executor, memory).into_iter();
        for object in objects.all() {
            if let Some((holder, _)) = object.parent {
                if file != Some(&object.key.kind) {
                    ledger.set(object.id, State::Ignored(Why::UnknownKind, "Contour does not read configuration in annotations".into()));
                    continue;
                }
                cluster.files.insert(holder, object);
                ledger.set(object.id, State::Ignored(Why::NotWatched, "Contour reads the file of its own ConfigMap only".into()));
                continue;
            }
            if object.broken {
                ledger.set(object.id, State::Invalid("it cannot be read".into()));
                continue;
            }
            if let Some((kind, admitted)) = memory.known(object) {
                cluster.hold(kind, admitted, ledger, sink);
                continue;
            }
            let Some(kind) = kinds::find(&object.key.group, &object.key.kind) else {
                ledger.set(object.id, State::Ignored(Why::UnknownKind, "Contour does not read this kind".into()));
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
                Ok(root) => cluster.hold(kind, memory.keep(kind, object, root, silently), ledger, sink),
                Err(errors) => {
                    ledger.set(object.id, State::Invalid(errors.first().map_or("the API server refuses it", String::as_str).into()));
                    cluster.refused.push(Refused { object: object.id, root: object.root.id, key: object.key.clone(), errors });
                }
            }
        }
        memory.end(objects.len());
        for (kind, held) in &mut cluster.admitted {
            held.put_in_order(memory.orders.entry(*kind).or_default());
        }
        cluster
    }

    fn hold(&mut self, kind: Kind, admitted: Admitted<'a>, ledger: &mut Ledger, sink: &mut Findings) {
        let object = admitted.object;
        if let Some(earlier) = self.admitted.entry(kind).or_default().insert(admitted) {
            ledger.set(earlier.object.id, State::Shadowed(object.id));
            sink.report(overwritten(earlier.object, object));
        }
        ledger.set(object.id, State::Loaded);
    }

    /// All objects of a kind, by namespace and name.
    pub fn all(&self, kind: Kind) -> impl Iterator<Item = &Admitted<'a>> {
        self.admitted.get(&kind).into_iter().flat_map(|held| held.order.iter().filter_map(|place| held.at(*place)))
    }

    /// One object.
    pub fn get(&self, kind: Kind, namespace: &str, name: &str) -> Option<&Admitted<'a>> {
        let held = self.admitted.get(&kind)?;
        held.at(*held.places.get(&NameKey(namespace, name))?)
    }
}
