//! Stores the API server's objects by name, and caches results by object content. Does not admit objects.
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::resource::{Content, Object, ObjectId};
use chancery_text::Str;
use hashbrown::{Equivalent, HashMap};

/// A namespace and a name.
pub type Name = (Str, Str);

/// An object with a namespace and a name.
pub trait Named {
    /// Empty for cluster-scoped objects.
    fn namespace(&self) -> &Str;
    fn name(&self) -> &Str;
}

#[derive(Clone, Debug)]
pub struct ByName<T> {
    /// In the order of the text.
    objects: Vec<T>,
    /// The names; during insertion, the names of the previous compile.
    names: Arc<Names>,
    /// Indexes by name, built once a name differs from the previous compile.
    places: Option<HashMap<Name, u32>>,
}

/// The names of the objects of a kind.
#[derive(Debug, Default)]
pub struct Names {
    /// In the order of the text.
    names: Vec<Name>,
    /// The index of each name.
    places: HashMap<Name, u32>,
    /// The indexes sorted by name.
    order: Vec<u32>,
}

#[derive(PartialEq, Eq, Hash)]
pub struct NameKey<'n>(pub &'n str, pub &'n str);

impl Equivalent<Name> for NameKey<'_> {
    fn equivalent(&self, name: &Name) -> bool {
        self.1 == name.1 && self.0 == name.0
    }
}

impl<T> ByName<T> {
    /// An empty list. `names` are the names of the previous compile.
    pub fn new(names: Arc<Names>) -> Self {
        Self { objects: Vec::with_capacity(names.names.len()), names, places: None }
    }

    pub fn names(&self) -> &Arc<Names> {
        &self.names
    }
}

impl<T: Named> ByName<T> {
    /// Adds an object. Returns its index and the object that it replaces.
    pub fn insert(&mut self, object: T) -> (u32, Option<T>) {
        let next = self.objects.len();
        let is_as_before = self.names.names.get(next).is_some_and(|known| *object.name() == known.1 && *object.namespace() == known.0);
        self.insert_again(object, if is_as_before { next as u32 } else { u32::MAX })
    }

    /// Adds an object that had this index and name in the previous compile.
    pub fn insert_again(&mut self, object: T, place: u32) -> (u32, Option<T>) {
        let next = self.objects.len();
        if self.places.is_none() && next == place as usize {
            self.objects.push(object);
            return (place, None);
        }
        let places = self.places.get_or_insert_with(|| self.objects.iter().map(name_of).zip(0..).collect());
        let place = *places.entry(name_of(&object)).or_insert(next as u32);
        match self.objects.get_mut(place as usize) {
            Some(earlier) => (place, Some(core::mem::replace(earlier, object))),
            None => {
                self.objects.push(object);
                (place, None)
            }
        }
    }

    /// Sorts the objects by name; reuses the previous order if the names are unchanged.
    pub fn put_in_order(&mut self) {
        if self.places.is_none() && self.objects.len() == self.names.names.len() {
            return;
        }
        let names: Vec<Name> = self.objects.iter().map(name_of).collect();
        let places = self.places.take().unwrap_or_else(|| names.iter().cloned().zip(0..).collect());
        let mut order: Vec<u32> = (0..names.len() as u32).collect();
        order.sort_by(|a, b| names.get(*a as usize).cmp(&names.get(*b as usize)));
        self.names = Arc::new(Names { names, places, order });
    }

    /// All objects, by namespace and name.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.names.order.iter().filter_map(|place| self.objects.get(*place as usize))
    }

    pub fn get(&self, namespace: &str, name: &str) -> Option<&T> {
        self.objects.get(*self.names.places.get(&NameKey(namespace, name))? as usize)
    }
}

fn name_of(object: &impl Named) -> Name {
    (object.namespace().clone(), object.name().clone())
}

/// An object of the API server, compared by identity: by its number and the address of its content.
#[derive(Clone)]
pub struct CachedObject {
    id: ObjectId,
    content: Arc<Content>,
}

impl CachedObject {
    pub fn new(object: &Object) -> Self {
        Self { id: object.id, content: object.content.clone() }
    }

    /// Whether it is this object.
    pub fn is(&self, object: &Object) -> bool {
        self.id == object.id && Arc::ptr_eq(&self.content, &object.content)
    }

    pub fn content(&self) -> &Content {
        &self.content
    }

    /// The namespace and name; objects are sorted by them.
    pub fn name(&self) -> (&str, &str) {
        (self.content.key.namespace.as_deref().unwrap_or_default(), &self.content.key.name)
    }

    /// The object's number and address, unique while this value holds the object.
    pub fn identity(&self) -> (ObjectId, usize) {
        (self.id, self.address())
    }

    /// The address, unique while this value holds the object.
    pub fn address(&self) -> usize {
        Arc::as_ptr(&self.content).addr()
    }
}

impl PartialEq for CachedObject {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id && Arc::ptr_eq(&self.content, &other.content)
    }
}

/// Results of earlier compiles by object. An object is identified by its number and the address of its content; this type holds the content, so the
/// address stays unique.
pub struct ByContent<T> {
    /// Indexed by object number.
    known: Vec<Option<Entry<T>>>,
    /// The number of entries that this compile has visited.
    seen: usize,
}

struct Entry<T> {
    content: Arc<Content>,
    value: T,
}

impl<T> Default for ByContent<T> {
    fn default() -> Self {
        Self { known: Vec::new(), seen: 0 }
    }
}

impl<T> ByContent<T> {
    /// Starts a compile.
    pub fn begin(&mut self) {
        self.seen = 0;
    }

    /// The result for an object, if known.
    pub fn get(&mut self, object: &Object) -> Option<&T> {
        let at = object.id.index()?;
        self.seen = self.seen.max(at + 1);
        let known = self.known.get(at)?.as_ref()?;
        Arc::ptr_eq(&known.content, &object.content).then_some(&known.value)
    }

    /// The mutable result for an object, if known.
    pub fn get_mut(&mut self, object: &Object) -> Option<&mut T> {
        let at = object.id.index()?;
        self.seen = self.seen.max(at + 1);
        let known = self.known.get_mut(at)?.as_mut()?;
        Arc::ptr_eq(&known.content, &object.content).then_some(&mut known.value)
    }

    /// Whether a result for an object is known.
    pub fn knows(&self, object: &Object) -> bool {
        let known = object.id.index().and_then(|at| self.known.get(at)?.as_ref());
        known.is_some_and(|known| Arc::ptr_eq(&known.content, &object.content))
    }

    /// Stores the result for an object.
    pub fn put(&mut self, object: &Object, value: T) {
        let Some(at) = object.id.index() else { return };
        if self.known.len() <= at {
            self.known.resize_with(at + 1, || None);
        }
        if let Some(place) = self.known.get_mut(at) {
            *place = Some(Entry { content: object.content.clone(), value });
        }
    }

    /// Forgets the results that are not meant.
    pub fn retain(&mut self, is_meant: impl Fn(&T) -> bool) {
        for place in &mut self.known {
            *place = place.take().filter(|entry| is_meant(&entry.value));
        }
    }

    /// Forgets the result for an object.
    pub fn remove(&mut self, object: &Object) {
        if let Some(place) = object.id.index().and_then(|at| self.known.get_mut(at)) {
            *place = None;
        }
    }

    /// Ends a compile: drops the entries after the last visited one.
    pub fn end(&mut self) {
        self.known.truncate(self.seen);
    }
}

impl<T: Clone> ByContent<T> {
    /// The result for an object; computes it if unknown.
    pub fn or_make(&mut self, object: &Object, make: impl FnOnce() -> T) -> T {
        if let Some(known) = self.get(object) {
            return known.clone();
        }
        let value = make();
        self.put(object, value.clone());
        value
    }
}
