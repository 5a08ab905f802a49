//! Objects that an API server holds, by name; and what was found out about objects, known by what they were read from.
//!
//! What must not be here: admission; what any object means.
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::resource::{Content, Object};
use chancery_text::Str;
use hashbrown::{Equivalent, HashMap};

/// A namespace and a name.
pub type Name = (Str, Str);

/// What has a namespace and a name.
pub trait Named {
    /// Its namespace; empty for what stands in none.
    fn namespace(&self) -> &Str;
    /// Its name.
    fn name(&self) -> &Str;
}

/// The objects of a kind.
#[derive(Clone, Debug)]
pub struct ByName<T> {
    /// In the order of the text.
    objects: Vec<T>,
    /// Their names; while objects come in, those of the compile before.
    names: Arc<Names>,
    /// Their places by name, once a name was not what it was in the compile before.
    places: Option<HashMap<Name, u32>>,
}

/// The names of the objects of a kind.
#[derive(Debug, Default)]
pub struct Names {
    /// In the order of the text.
    names: Vec<Name>,
    /// The places of names in that order.
    places: HashMap<Name, u32>,
    /// These places, in the order of the names.
    order: Vec<u32>,
}

/// A name that is looked for.
#[derive(PartialEq, Eq, Hash)]
pub struct NameKey<'n>(pub &'n str, pub &'n str);

impl Equivalent<Name> for NameKey<'_> {
    fn equivalent(&self, name: &Name) -> bool {
        self.1 == name.1 && self.0 == name.0
    }
}

impl<T> ByName<T> {
    /// None yet. In the compile before, they had these names.
    pub fn new(names: Arc<Names>) -> Self {
        Self { objects: Vec::with_capacity(names.names.len()), names, places: None }
    }

    /// Their names.
    pub fn names(&self) -> &Arc<Names> {
        &self.names
    }
}

impl<T: Named> ByName<T> {
    /// Takes an object. Gives its place, and the one whose place it takes.
    pub fn insert(&mut self, object: T) -> (u32, Option<T>) {
        let next = self.objects.len();
        let is_as_before = self.names.names.get(next).is_some_and(|known| *object.name() == known.1 && *object.namespace() == known.0);
        self.insert_again(object, if is_as_before { next as u32 } else { u32::MAX })
    }

    /// The same of an object that was at this place in the compile before, under the same name.
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

    /// Puts the objects in the order of their names, which is known where they are the same as before.
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

    /// All of them, by namespace and name.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.names.order.iter().filter_map(|place| self.objects.get(*place as usize))
    }

    /// One object.
    pub fn get(&self, namespace: &str, name: &str) -> Option<&T> {
        self.objects.get(*self.names.places.get(&NameKey(namespace, name))? as usize)
    }
}

fn name_of(object: &impl Named) -> Name {
    (object.namespace().clone(), object.name().clone())
}

/// What earlier compiles found out about objects. An object is known by its number and by the address of its content, which is no other's as long
/// as this holds it.
pub struct ByContent<T> {
    /// By the numbers of objects.
    known: Vec<Option<Entry<T>>>,
    /// How many of them this compile has come by.
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
    /// Begins a compile.
    pub fn begin(&mut self) {
        self.seen = 0;
    }

    /// What is known of an object.
    pub fn get(&mut self, object: &Object) -> Option<&T> {
        let at = object.id.index()?;
        self.seen = self.seen.max(at + 1);
        let known = self.known.get(at)?.as_ref()?;
        Arc::ptr_eq(&known.content, &object.content).then_some(&known.value)
    }

    /// What is known of an object, to be changed.
    pub fn get_mut(&mut self, object: &Object) -> Option<&mut T> {
        let at = object.id.index()?;
        self.seen = self.seen.max(at + 1);
        let known = self.known.get_mut(at)?.as_mut()?;
        Arc::ptr_eq(&known.content, &object.content).then_some(&mut known.value)
    }

    /// Whether something is known of an object.
    pub fn knows(&self, object: &Object) -> bool {
        let known = object.id.index().and_then(|at| self.known.get(at)?.as_ref());
        known.is_some_and(|known| Arc::ptr_eq(&known.content, &object.content))
    }

    /// Keeps what was found out about an object.
    pub fn put(&mut self, object: &Object, value: T) {
        let Some(at) = object.id.index() else { return };
        if self.known.len() <= at {
            self.known.resize_with(at + 1, || None);
        }
        if let Some(place) = self.known.get_mut(at) {
            *place = Some(Entry { content: object.content.clone(), value });
        }
    }

    /// Ends a compile: forgets objects behind the last that it came by.
    pub fn end(&mut self) {
        self.known.truncate(self.seen);
    }
}

impl<T: Clone> ByContent<T> {
    /// What is known of an object, or is found out now.
    pub fn or_make(&mut self, object: &Object, make: impl FnOnce() -> T) -> T {
        if let Some(known) = self.get(object) {
            return known.clone();
        }
        let value = make();
        self.put(object, value.clone());
        value
    }
}
