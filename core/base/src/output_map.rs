//! Maps each place of an output to its origins, and back.
//!
//! [`Trace`] records while an emitter runs, a [`Fragment`] holds the record of one piece of output, and [`OutputMap`] the whole. Places are JSON
//! pointers (RFC 6901) into the requested document.
use crate::resource::{Also, ObjectId, Origin, Sourced};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt::Write as _;
use core::hash::BuildHasher as _;
use core::ops::Range;

/// Records where an emitter's output comes from. If it is off, it records nothing and only costs the test of a flag.
#[derive(Debug)]
pub struct Trace {
    on: bool,
    path: String,
    fragment: Fragment,
}

impl Trace {
    /// A trace that records nothing.
    #[must_use]
    pub fn off() -> Self {
        Self { on: false, path: String::new(), fragment: Fragment::default() }
    }

    /// A trace that records.
    #[must_use]
    pub fn on() -> Self {
        Self { on: true, path: String::new(), fragment: Fragment::default() }
    }

    #[must_use]
    pub fn is_on(&self) -> bool {
        self.on
    }

    /// The emitter's current pointer.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The record.
    #[must_use]
    pub fn finish(mut self) -> Fragment {
        self.fragment.seal();
        self.fragment
    }

    /// Enters a field, until [`Trace::leave`].
    pub fn enter(&mut self, name: &str) -> usize {
        let before = self.path.len();
        if self.on {
            push_name(&mut self.path, name);
        }
        before
    }

    /// Enters an element of a list, until [`Trace::leave`].
    pub fn enter_item(&mut self, index: usize) -> usize {
        let before = self.path.len();
        if self.on {
            push_index(&mut self.path, index);
        }
        before
    }

    /// Returns to the previous place.
    pub fn leave(&mut self, before: usize) {
        self.path.truncate(before);
    }

    #[inline]
    pub fn at<R>(&mut self, name: &str, emit: impl FnOnce(&mut Self) -> R) -> R {
        if !self.on {
            return emit(self);
        }
        let before = self.path.len();
        push_name(&mut self.path, name);
        let result = emit(self);
        self.path.truncate(before);
        result
    }

    #[inline]
    pub fn item<R>(&mut self, index: usize, emit: impl FnOnce(&mut Self) -> R) -> R {
        if !self.on {
            return emit(self);
        }
        let before = self.path.len();
        push_index(&mut self.path, index);
        let result = emit(self);
        self.path.truncate(before);
        result
    }

    /// Emits a list, element by element.
    #[inline]
    pub fn list<'a, T: 'a, U>(&mut self, name: &str, items: impl IntoIterator<Item = &'a T>, mut emit: impl FnMut(&'a T, &mut Self) -> U) -> Vec<U> {
        self.at(name, |t| items.into_iter().enumerate().map(|(i, item)| t.item(i, |t| emit(item, t))).collect())
    }

    /// Emits a list whose elements have origins.
    #[inline]
    pub fn sourced_list<'a, T: 'a, U>(
        &mut self,
        name: &str,
        items: impl IntoIterator<Item = &'a Sourced<T>>,
        mut emit: impl FnMut(&'a T, &mut Self) -> U,
    ) -> Vec<U> {
        self.list(name, items, |item, t| {
            t.here(item.origin);
            emit(&item.value, t)
        })
    }

    /// Records origins of the current place.
    #[inline]
    pub fn here(&mut self, origins: impl Origins) {
        if self.on {
            self.fragment.record(&self.path, origins.as_slice());
        }
    }

    /// Records the origin of a field and returns its value.
    #[inline]
    pub fn field<'a, T>(&mut self, name: &str, value: &'a Sourced<T>) -> &'a T {
        if self.on {
            self.note(name, value.origin.as_slice());
        }
        &value.value
    }

    /// Like [`Trace::field`], for a value that was computed from other fields too.
    #[inline]
    pub fn joined<'a, T>(&mut self, name: &str, value: &'a Sourced<T>, also: &Also) -> &'a T {
        self.name_all(name, value.origin, also);
        &value.value
    }

    /// Records several origins of a field.
    pub fn name_all(&mut self, name: &str, first: Option<Origin>, also: &Also) {
        if !self.on {
            return;
        }
        if also.0.is_empty() {
            return self.note(name, first.as_slice());
        }
        let mut all: Vec<Origin> = first.into_iter().collect();
        for origin in &also.0 {
            if !all.contains(origin) {
                all.push(*origin);
            }
        }
        self.note(name, &all);
    }

    /// Like [`Trace::field`], for a field that the output omits if it has its type's default.
    #[inline]
    pub fn implicit<'a, T: Default + PartialEq>(&mut self, name: &str, value: &'a Sourced<T>) -> &'a T {
        if self.on && value.value != T::default() {
            self.note(name, value.origin.as_slice());
        }
        &value.value
    }

    /// Like [`Trace::field`], for an optional value.
    #[inline]
    pub fn optional<'a, T>(&mut self, name: &str, value: &'a Option<Sourced<T>>) -> Option<&'a T> {
        value.as_ref().map(|value| self.field(name, value))
    }

    /// Records an origin for the field and for everything in it that has no own origin.
    #[inline]
    pub fn within<'a, T, R>(&mut self, name: &str, value: &'a Option<Sourced<T>>, emit: impl FnOnce(&'a T, &mut Self) -> R) -> Option<R> {
        value.as_ref().map(|value| {
            self.at(name, |t| {
                t.here(value.origin);
                emit(&value.value, t)
            })
        })
    }

    /// Records that the emitter itself decided the field.
    #[inline]
    pub fn own<T>(&mut self, name: &str, value: T) -> T {
        if self.on {
            self.note(name, &[Origin::built_in()]);
        }
        value
    }

    #[inline(never)]
    fn note(&mut self, name: &str, origins: &[Origin]) {
        if origins.is_empty() {
            return;
        }
        let before = self.path.len();
        push_name(&mut self.path, name);
        self.fragment.record(&self.path, origins);
        self.path.truncate(before);
    }
}

/// The origins for [`Trace::here`]: one, several, or none.
pub trait Origins {
    fn as_slice(&self) -> &[Origin];
}

impl Origins for Option<Origin> {
    fn as_slice(&self) -> &[Origin] {
        Option::as_slice(self)
    }
}

impl Origins for Origin {
    fn as_slice(&self) -> &[Origin] {
        core::slice::from_ref(self)
    }
}

impl Origins for &[Origin] {
    fn as_slice(&self) -> &[Origin] {
        self
    }
}

impl Origins for &Vec<Origin> {
    fn as_slice(&self) -> &[Origin] {
        self
    }
}

/// Appends a key to a pointer.
pub fn push_name(pointer: &mut String, name: &str) {
    pointer.push('/');
    if !name.bytes().any(|byte| matches!(byte, b'~' | b'/')) {
        pointer.push_str(name);
        return;
    }
    for c in name.chars() {
        match c {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            c => pointer.push(c),
        }
    }
}

/// Appends a list index to a pointer.
pub fn push_index(pointer: &mut String, index: usize) {
    write!(pointer, "/{index}").unwrap_or_default();
}

/// The pointer and its ancestors, nearest first.
pub fn and_ancestors(pointer: &str) -> impl Iterator<Item = &str> {
    core::iter::successors(Some(pointer), |pointer| pointer.rfind('/').map(|at| &pointer[..at]))
}

/// The rest of `pointer` after `prefix`, if it is below it.
fn within<'a>(pointer: &'a str, prefix: &str) -> Option<&'a str> {
    pointer.strip_prefix(prefix).filter(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The record of one piece of the output. Pointers are relative to the piece.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fragment {
    /// All pointers, concatenated.
    text: String,
    origins: Vec<Origin>,
    /// In the order of recording.
    entries: Vec<Entry>,
    /// Indexes of entries, sorted by the hash of their pointers, which is faster to compare. Empty in a fragment of few entries.
    sorted: Vec<u32>,
}

/// Up to this many entries are searched linearly.
const FEW: usize = 48;

#[derive(Clone, Debug, PartialEq)]
struct Entry {
    pointer: Range<u32>,
    origins: Range<u32>,
}

impl Fragment {
    fn record(&mut self, pointer: &str, origins: &[Origin]) {
        if origins.is_empty() {
            return;
        }
        let (text, list) = (self.text.len(), self.origins.len());
        self.text.push_str(pointer);
        self.origins.extend_from_slice(origins);
        self.entries.push(Entry { pointer: range(text, self.text.len()), origins: range(list, self.origins.len()) });
    }

    /// Sorts the entries and merges those of one pointer.
    fn seal(&mut self) {
        let is_few = self.entries.len() <= FEW;
        if is_few && !(1..self.len()).any(|index| self.find(self.pointer(index)) != Some(index)) {
            return;
        }
        let hashes: Vec<u64> = (0..self.len()).map(|index| hash(self.pointer(index))).collect();
        let hash_of = |index: u32| hashes.get(index as usize);
        let mut sorted: Vec<u32> = (0..self.len()).collect();
        sorted.sort_by(|a, b| hash_of(*a).cmp(&hash_of(*b)).then_with(|| self.pointer(*a).cmp(self.pointer(*b))).then(a.cmp(b)));
        if sorted.windows(2).any(|pair| self.pointer(pair[0]) == self.pointer(pair[1])) {
            let mut merged = Fragment::default();
            let mut groups: Vec<&[u32]> = sorted.chunk_by(|a, b| self.pointer(*a) == self.pointer(*b)).collect();
            groups.sort_by_key(|group| group.first().copied());
            for group in groups {
                let mut origins: Vec<Origin> = Vec::new();
                for origin in group.iter().flat_map(|index| self.origins_of(*index)) {
                    if !origins.contains(origin) {
                        origins.push(*origin);
                    }
                }
                merged.record(self.pointer(group[0]), &origins);
            }
            merged.seal();
            *self = merged;
        } else if !is_few {
            self.sorted = sorted;
        }
    }

    fn len(&self) -> u32 {
        u32::try_from(self.entries.len()).unwrap_or(u32::MAX)
    }

    /// The first entry of this pointer.
    fn find(&self, pointer: &str) -> Option<u32> {
        if self.sorted.is_empty() {
            return (0..self.len()).find(|index| self.pointer(*index) == pointer);
        }
        let wanted = (hash(pointer), pointer);
        let at = self.sorted.binary_search_by(|index| (hash(self.pointer(*index)), self.pointer(*index)).cmp(&wanted)).ok()?;
        self.sorted.get(at).copied()
    }

    fn pointer(&self, index: u32) -> &str {
        self.entries.get(index as usize).and_then(|e| self.text.get(e.pointer.start as usize..e.pointer.end as usize)).unwrap_or_default()
    }

    fn origins_of(&self, index: u32) -> &[Origin] {
        self.entries.get(index as usize).and_then(|e| self.origins.get(e.origins.start as usize..e.origins.end as usize)).unwrap_or_default()
    }

    /// The origins of exactly this pointer.
    #[must_use]
    pub fn get(&self, pointer: &str) -> Option<&[Origin]> {
        self.find(pointer).map(|index| self.origins_of(index))
    }

    /// The whole record, in its order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[Origin])> {
        (0..self.len()).map(|index| (self.pointer(index), self.origins_of(index)))
    }

    /// Whether any origin belongs to this object.
    #[must_use]
    pub fn names(&self, object: ObjectId) -> bool {
        self.origins.iter().any(|origin| origin.object() == object)
    }
}

fn hash(pointer: &str) -> u64 {
    foldhash::fast::FixedState::with_seed(0).hash_one(pointer)
}

fn range(start: usize, end: usize) -> Range<u32> {
    let clamp = |n| u32::try_from(n).unwrap_or(u32::MAX);
    clamp(start)..clamp(end)
}

/// A place in the output with its origins.
#[derive(Clone, Debug, PartialEq)]
pub struct MappedPlace<'a> {
    /// A JSON pointer into the document.
    pub pointer: String,
    pub origins: &'a [Origin],
}

/// The places of each origin in a document.
#[derive(Clone, Debug, Default)]
pub struct OutputMap {
    /// The part without sharing; its pointers start at the root.
    frame: Fragment,
    /// In the order of the document.
    lists: Vec<List>,
    /// Indexes of lists, sorted by pointer and first element.
    sorted: Vec<usize>,
}

/// Consecutive elements of a list, which may occur at several places.
#[derive(Clone, Debug)]
pub struct List {
    /// The list's pointer.
    pub pointer: String,
    /// The index of the first element.
    pub first: usize,
    pub elements: Arc<Vec<Arc<Fragment>>>,
}

impl List {
    fn get(&self, index: usize) -> Option<&Fragment> {
        self.elements.get(index.checked_sub(self.first)?).map(|fragment| &**fragment)
    }

    fn iter(&self) -> impl Iterator<Item = (usize, &Fragment)> {
        (self.first..).zip(self.elements.iter().map(|fragment| &**fragment))
    }
}

impl OutputMap {
    pub fn new(frame: Fragment, lists: Vec<List>) -> Self {
        let mut sorted: Vec<usize> = (0..lists.len()).collect();
        sorted.sort_by(|a, b| (&lists[*a].pointer, lists[*a].first).cmp(&(&lists[*b].pointer, lists[*b].first)));
        Self { frame, lists, sorted }
    }

    fn element(&self, list: &str, index: usize) -> Option<&Fragment> {
        let after = self.sorted.partition_point(|at| {
            let of = &self.lists[*at];
            (of.pointer.as_str(), of.first) <= (list, index)
        });
        let of = self.lists.get(*self.sorted.get(after.checked_sub(1)?)?)?;
        if of.pointer == list { of.get(index) } else { None }
    }

    /// The origins of exactly this pointer.
    #[must_use]
    pub fn get(&self, pointer: &str) -> Option<&[Origin]> {
        and_ancestors(pointer)
            .find_map(|element| {
                let (list, index) = element.rsplit_once('/')?;
                self.element(list, index.parse().ok()?)?.get(within(pointer, element)?)
            })
            .or_else(|| self.frame.get(pointer))
    }

    /// The origins of a place, or those of its nearest ancestor with origins.
    #[must_use]
    pub fn lookup(&self, pointer: &str) -> Option<MappedPlace<'_>> {
        self.chain(pointer).next()
    }

    /// The place and its ancestors that have origins, nearest first.
    pub fn chain<'a, 'p>(&'a self, pointer: &'p str) -> impl Iterator<Item = MappedPlace<'a>> + use<'a, 'p> {
        and_ancestors(pointer).filter_map(|pointer| self.get(pointer).map(|origins| MappedPlace { pointer: pointer.into(), origins }))
    }

    /// All pieces, each with its pointer: first the frame, then elements in the order of the document.
    fn pieces<'a>(&'a self) -> impl Iterator<Item = (Place<'a>, &'a Fragment)> {
        let elements = self.lists.iter().flat_map(|list| list.iter().map(|(index, of)| (Place::Element(&list.pointer, index), of)));
        core::iter::once((Place::Root, &self.frame)).chain(elements)
    }

    /// All places with an origin in this object that `of` accepts: first those outside shared elements, each part in the order of the document.
    #[must_use]
    pub fn made_by(&self, object: ObjectId, of: impl Fn(Origin) -> bool) -> Vec<String> {
        let mut out = Vec::new();
        for (place, fragment) in self.pieces().filter(|(_, fragment)| fragment.names(object)) {
            for (pointer, origins) in fragment.iter() {
                if origins.iter().any(|origin| origin.object() == object && of(*origin)) {
                    out.push(place.pointer(pointer));
                }
            }
        }
        out
    }

    /// All places below this one that have origins, including itself.
    #[must_use]
    pub fn descendants(&self, pointer: &str) -> Vec<MappedPlace<'_>> {
        let mut out = Vec::new();
        for (place, fragment) in self.pieces() {
            let base = place.pointer("");
            // What the entries of this piece must be below.
            let Some(rest) = within(&base, pointer).map(|_| "").or_else(|| within(pointer, &base)) else { continue };
            let below = fragment.iter().filter(|(relative, _)| within(relative, rest).is_some());
            out.extend(below.map(|(relative, origins)| MappedPlace { pointer: place.pointer(relative), origins }));
        }
        out
    }

    /// All places that have origins.
    pub fn iter(&self) -> impl Iterator<Item = MappedPlace<'_>> {
        self.pieces()
            .flat_map(|(place, fragment)| fragment.iter().map(move |(pointer, origins)| MappedPlace { pointer: place.pointer(pointer), origins }))
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pieces().all(|(_, fragment)| fragment.entries.is_empty())
    }
}

/// The place of a piece.
#[derive(Clone, Copy)]
enum Place<'a> {
    Root,
    Element(&'a str, usize),
}

impl Place<'_> {
    fn pointer(self, relative: &str) -> String {
        let mut out = String::new();
        if let Place::Element(list, index) = self {
            out.push_str(list);
            push_index(&mut out, index);
        }
        out.push_str(relative);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use chancery_text::NodeId;

    fn origin(object: usize, node: u32) -> Origin {
        Origin::field(ObjectId::from_index(object), NodeId(node))
    }

    fn map() -> OutputMap {
        let mut frame = Trace::on();
        frame.at("listeners", |t| {
            t.item(0, |t| {
                t.here(&vec![origin(0, 1), origin(1, 0)]);
                t.own("kind", ());
                t.at("a/b", |t| t.here(origin(0, 3)));
            });
        });
        let mut route = Trace::on();
        route.here(origin(2, 0));
        route.at("match", |t| {
            t.field("prefix", &Sourced::new("/", origin(2, 4)));
            t.field("prefix", &Sourced::new("/", origin(3, 4)));
        });
        let route = Arc::new(route.finish());
        let routes = List { pointer: "/listeners/0/routes".into(), first: 9, elements: Arc::new(vec![route.clone(), route]) };
        OutputMap::new(frame.finish(), vec![routes])
    }

    #[test]
    fn lookup_finds_nearest_place_with_origins() {
        let map = map();
        let found = |pointer: &str| map.lookup(pointer).map(|made| (made.pointer, made.origins.to_vec()));
        let at = |pointer: &str, origins: Vec<Origin>| Some((String::from(pointer), origins));
        assert_eq!(found("/listeners/0/routes/10/match/prefix"), at("/listeners/0/routes/10/match/prefix", vec![origin(2, 4), origin(3, 4)]));
        assert_eq!(found("/listeners/0/routes/10/match/headers/0"), at("/listeners/0/routes/10", vec![origin(2, 0)]));
        assert_eq!(found("/listeners/0/routes/1"), at("/listeners/0", vec![origin(0, 1), origin(1, 0)]));
        assert_eq!(found("/listeners/0/a~1b/c"), at("/listeners/0/a~1b", vec![origin(0, 3)]));
        assert_eq!(found("/listeners/1"), None);
        assert_eq!(map.chain("/listeners/0/routes/9/match/prefix").count(), 3);
    }

    #[test]
    fn made_by_lists_all_places_of_object() {
        let map = map();
        assert_eq!(
            map.made_by(ObjectId::from_index(2), |origin| origin.node().0 == 4),
            ["/listeners/0/routes/9/match/prefix", "/listeners/0/routes/10/match/prefix"]
        );
        assert_eq!(map.made_by(ObjectId::from_index(0), |_| true), ["/listeners/0", "/listeners/0/a~1b"]);
        assert!(map.made_by(ObjectId::from_index(9), |_| true).is_empty());
    }

    #[test]
    fn descendants_are_below_pointer() {
        let map = map();
        let under = |pointer: &str| map.descendants(pointer).into_iter().map(|made| made.pointer).collect::<Vec<_>>();
        assert_eq!(under("/listeners/0/routes/9"), ["/listeners/0/routes/9", "/listeners/0/routes/9/match/prefix"]);
        assert_eq!(under("/listeners/0/routes/9/match"), ["/listeners/0/routes/9/match/prefix"]);
        assert_eq!(under("/listeners/0/kind"), ["/listeners/0/kind"]);
        assert_eq!(under("").len(), map.iter().count());
        assert!(!map.is_empty() && OutputMap::default().is_empty());
    }

    #[test]
    fn disabled_trace_records_nothing() {
        let mut trace = Trace::off();
        assert_eq!(trace.at("a", |t| t.item(0, |t| *t.field("b", &Sourced::new(7, origin(0, 0))))), 7);
        assert_eq!(trace.finish(), Fragment::default());
    }
}
