//! Simulates the API server: the stored objects with defaults and without unknown fields, and the refused objects. Does not interpret them; see
//! `processor`.

use super::kinds::{self, Kind};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::compilation::{Ledger, Refused, State, Why};
use chancery_base::diagnostic::Findings;
use chancery_base::executor::Executor;
use chancery_base::resource::{Object, ObjectId, Objects};
use chancery_kubernetes::admit::{Verdict, verdicts};
use chancery_kubernetes::cursor::Cursor;
pub use chancery_kubernetes::object_tables::Name;
use chancery_kubernetes::object_tables::{ByContent, ByName, Named, Names};
use chancery_kubernetes::overwritten;
use chancery_text::{Node, Str};

/// An object that the API server took.
#[derive(Clone, Debug)]
pub struct Admitted<'a> {
    pub object: &'a Object,
    /// Its tree after pruning and with defaults.
    pub root: Arc<Node>,
    places: Places,
}

/// Indexes of frequently read entries of the tree.
#[derive(Clone, Copy, Debug)]
struct Places {
    spec: Option<u32>,
    metadata: Option<u32>,
    /// Index within `spec`.
    virtual_host: Option<u32>,
    has_annotations: bool,
    may_have_class: bool,
}

impl Places {
    fn of(root: &Node) -> Self {
        let place = |of: &Node, name| of.as_object().and_then(|of| of.position(name)).map(|at| at as u32);
        let is_there = |of: &str, name| root.get(of).and_then(|of| of.get(name)).is_some_and(|of| !of.is_null());
        let has_annotations = is_there("metadata", "annotations");
        Self {
            spec: place(root, "spec"),
            metadata: place(root, "metadata"),
            virtual_host: root.get("spec").and_then(|spec| place(spec, "virtualhost")),
            has_annotations,
            may_have_class: has_annotations || is_there("spec", "ingressClassName"),
        }
    }
}

impl Named for Admitted<'_> {
    fn namespace(&self) -> &Str {
        Admitted::namespace(self)
    }

    fn name(&self) -> &Str {
        Admitted::name(self)
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

    /// Its `spec.virtualhost`, which a root HTTPProxy has.
    pub fn virtual_host(&self) -> Option<Cursor<'_>> {
        let place = self.places.virtual_host?;
        self.spec().entry(Some(place)).some()
    }

    /// Whether it has an annotation or field that may name its class.
    pub fn may_have_class(&self) -> bool {
        self.places.may_have_class
    }

    /// Its `metadata`.
    pub fn metadata(&self) -> Cursor<'_> {
        self.root().entry(self.places.metadata)
    }

    pub fn annotations(&self) -> Cursor<'_> {
        if self.places.has_annotations { self.metadata().field("annotations") } else { self.metadata().entry(None) }
    }

    /// The namespace; empty for cluster-scoped objects.
    pub fn namespace(&self) -> &Str {
        const NONE: &Str = &Str::new_static("");
        self.object.key.namespace.as_ref().unwrap_or(NONE)
    }

    pub fn name(&self) -> &Str {
        &self.object.key.name
    }

    /// Namespace and name.
    pub fn full_name(&self) -> Name {
        (self.namespace().clone(), self.name().clone())
    }

    pub fn annotation(&self, name: &str) -> Option<Cursor<'_>> {
        self.annotations().field(name).some()
    }
}

/// The objects of the API server.
#[derive(Clone, Debug, Default)]
pub struct Cluster<'a> {
    admitted: BTreeMap<Kind, ByName<Admitted<'a>>>,
    /// The refused objects, in the order of the text.
    pub refused: Vec<Refused>,
    /// Configuration files in ConfigMaps, by the ConfigMap.
    pub files: BTreeMap<ObjectId, &'a Object>,
}

/// Objects that the API server stored without findings: the next compile need not admit them again.
#[derive(Default)]
pub struct Memory {
    skip_validation: bool,
    taken: ByContent<CachedAdmission>,
    names: BTreeMap<Kind, Arc<Names>>,
    round: u32,
}

/// An admitted object.
struct CachedAdmission {
    kind: Kind,
    root: Arc<Node>,
    places: Places,
    /// Its last index among the objects of its kind.
    at: u32,
    /// When that was.
    round: u32,
}

impl Memory {
    /// The known result for an object, and its index among objects of its kind in the previous compile.
    fn known<'a>(&mut self, object: &'a Object) -> Option<(Kind, Admitted<'a>, Option<u32>)> {
        let round = self.round;
        let known = self.taken.get_mut(object)?;
        let at = Some(known.at).filter(|_| known.round.wrapping_add(1) == round);
        known.round = round;
        Some((known.kind, Admitted { object, root: known.root.clone(), places: known.places }, at))
    }

    /// Records the index of an object among those of its kind.
    fn place(&mut self, object: &Object, at: u32) {
        if let Some(known) = self.taken.get_mut(object) {
            (known.at, known.round) = (at, self.round);
        }
    }

    /// An object that the API server took just now, and whether it did so without a word.
    fn keep<'a>(&mut self, kind: Kind, object: &'a Object, root: Arc<Node>, silently: bool) -> Admitted<'a> {
        let admitted = Admitted::new(object, root);
        if silently {
            self.taken.put(object, CachedAdmission { kind, root: admitted.root.clone(), places: admitted.places, at: 0, round: self.round });
        }
        admitted
    }

    /// Begins a compile.
    fn begin(&mut self, skip_validation: bool) {
        if self.skip_validation != skip_validation {
            *self = Self { skip_validation, ..Self::default() };
        }
        self.round = self.round.wrapping_add(1);
        self.taken.begin();
    }
}

/// The verdicts on the objects of Contour's kinds that are not known yet, in the order of the text.
fn new_verdicts(objects: &Objects, skip_validation: bool, executor: &dyn Executor, memory: &Memory) -> Vec<Verdict> {
    // Known objects are neither broken nor changed.
    let new = objects.all().filter(|object| !memory.taken.knows(object) && object.parent.is_none() && !object.broken);
    let new: Vec<(Kind, &Object)> = new.filter_map(|object| Some((kinds::find(&object.key.group, &object.key.kind)?, object))).collect();
    verdicts(&new, skip_validation, executor, kinds::admit)
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
        memory.begin(skip_validation);
        let known = memory.names.iter().map(|(kind, names)| (*kind, ByName::new(names.clone())));
        let mut cluster = Self { admitted: known.collect(), ..Self::default() };
        let mut verdicts = new_verdicts(objects, skip_validation, executor, memory).into_iter();
        for object in objects.all() {
            if let Some((kind, admitted, at)) = memory.known(object) {
                let held = match at {
                    Some(at) => cluster.of(kind).insert_again(admitted, at),
                    None => cluster.of(kind).insert(admitted),
                };
                let now = Self::hold(object, held, ledger, sink);
                if at != Some(now) {
                    memory.place(object, now);
                }
                continue;
            }
            if let Some((holder, _)) = object.parent {
                if file != Some(&object.key.kind) {
                    let is_file = objects.get(holder).is_some_and(|holder| *holder.key.kind == *"ConfigMap");
                    let why = if is_file {
                        "Contour does not read this ConfigMap; --contour-namespace names the namespace of the ConfigMap that it reads"
                    } else {
                        "Contour does not read configuration in annotations"
                    };
                    ledger.set(object.id, State::Ignored(Why::UnknownKind, why.into()));
                    continue;
                }
                cluster.files.insert(holder, object);
                ledger.set(object.id, State::Ignored(Why::NotWatched, "Contour only reads the file in its ConfigMap".into()));
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
            let Some(Verdict { object: of, taken, mut found }) = verdicts.next() else {
                debug_assert!(false, "every object that is not known has a verdict");
                continue;
            };
            debug_assert_eq!(of, object.id, "verdicts come in the order of the text");
            let silently = found.is_empty();
            sink.append(&mut found);
            match taken {
                Ok(root) => {
                    let held = cluster.of(kind).insert(memory.keep(kind, object, root, silently));
                    let at = Self::hold(object, held, ledger, sink);
                    memory.place(object, at);
                }
                Err(errors) => {
                    ledger.set(object.id, State::Invalid(errors.first().map_or("the API server refuses it", String::as_str).into()));
                    cluster.refused.push(Refused { object: object.id, root: object.root.id, key: object.key.clone(), errors });
                }
            }
        }
        memory.taken.end();
        cluster.admitted.values_mut().for_each(ByName::put_in_order);
        memory.names = cluster.admitted.iter().map(|(kind, held)| (*kind, held.names().clone())).collect();
        cluster
    }

    /// The objects of a kind.
    fn of(&mut self, kind: Kind) -> &mut ByName<Admitted<'a>> {
        self.admitted.entry(kind).or_insert_with(|| ByName::new(Arc::default()))
    }

    /// Records an object as stored and the replaced one as not stored. Returns its index.
    fn hold(object: &Object, (at, earlier): (u32, Option<Admitted<'a>>), ledger: &mut Ledger, sink: &mut Findings) -> u32 {
        if let Some(earlier) = earlier {
            ledger.set(earlier.object.id, State::Shadowed(object.id));
            sink.report(overwritten(earlier.object, object));
        }
        ledger.set(object.id, State::Loaded);
        at
    }

    /// All objects of a kind, by namespace and name.
    pub fn all(&self, kind: Kind) -> impl Iterator<Item = &Admitted<'a>> {
        self.admitted.get(&kind).into_iter().flat_map(ByName::iter)
    }

    /// The names of the objects of a kind. The value is shared with the previous compile if the names are unchanged.
    pub fn names(&self, kind: Kind) -> Option<&Arc<Names>> {
        self.admitted.get(&kind).map(ByName::names)
    }

    /// One object.
    pub fn get(&self, kind: Kind, namespace: &str, name: &str) -> Option<&Admitted<'a>> {
        self.admitted.get(&kind)?.get(namespace, name)
    }
}
