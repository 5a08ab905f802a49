//! Caches reading: the content of each chunk of each input, and the numbers of its objects.
//!
//! The cache finds unchanged chunks by comparing their text: one after another if nothing moved, by hash otherwise. An edited chunk passes its
//! objects' numbers on to its successor, so that references stay equal if only a comment changed.
//!
//! Does not decode chunks; see `decode`.

use super::ReadOptions;
use super::decode::{Decoded, Item, decode, for_each_place};
use crate::diagnostic::{Diagnostic, Findings, Place};
use crate::executor::{self, Executor};
use crate::resource::{Content, Input, Inputs, Object, ObjectId, Objects, Source, SourceId};
use alloc::collections::{BTreeSet, BinaryHeap};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_text::{Str, TextRange, split};
use core::cmp::Reverse;
use core::hash::{BuildHasher, Hasher};
use foldhash::fast::FixedState;
use hashbrown::HashMap;

/// The results of earlier compiles. Starts empty; keep one cache per set of inputs that is compiled repeatedly.
#[derive(Default)]
pub struct DocumentCache {
    options: ReadOptions,
    inputs: Vec<CachedInput>,
    /// Names of the inputs that came from an API server.
    stored: Arc<BTreeSet<Str>>,
    /// Numbers that are free again. The smallest is taken first.
    free: BinaryHeap<Reverse<u32>>,
    next: u32,
    /// All objects of the inputs with their current places.
    placed: Objects,
    pub(super) made: HashMap<(TextRange, String), DecodedObject>,
}

struct CachedInput {
    name: Str,
    text: Arc<str>,
    /// Whether the input came from an API server.
    stored: bool,
    chunks: Vec<CachedChunk>,
    has_findings: bool,
}

impl CachedInput {
    /// An input that was not read yet.
    fn new(input: &Input) -> Self {
        Self { name: input.name.clone(), text: Arc::from(""), stored: false, chunks: Vec::new(), has_findings: false }
    }

    /// The numbers of the input's objects, in order.
    fn ids(&self) -> impl Iterator<Item = ObjectId> {
        self.chunks.iter().flat_map(|chunk| chunk.objects.ids())
    }
}

/// The inputs of the previous compile, looked up nearly always in their order.
struct Known {
    inputs: Vec<Option<CachedInput>>,
    /// The index after the last input that was taken.
    next: usize,
    /// The indexes for each name, built when inputs are requested in another order.
    by_name: Option<HashMap<Str, Vec<usize>>>,
}

impl Known {
    fn new(inputs: Vec<CachedInput>) -> Self {
        Self { inputs: inputs.into_iter().map(Some).collect(), next: 0, by_name: None }
    }

    /// Takes the next unused input of this name.
    fn take(&mut self, name: &Str) -> Option<CachedInput> {
        let is_next = |known: &Option<CachedInput>| known.as_ref().is_some_and(|known| known.name == *name);
        let at = if self.inputs.get(self.next).is_some_and(is_next) { self.next } else { self.place_of(name)? };
        self.next = at + 1;
        self.inputs.get_mut(at)?.take()
    }

    fn place_of(&mut self, name: &Str) -> Option<usize> {
        let inputs = &self.inputs;
        let places = self.by_name.get_or_insert_with(|| {
            let mut places: HashMap<Str, Vec<usize>> = HashMap::with_capacity(inputs.len());
            for (at, known) in inputs.iter().enumerate() {
                if let Some(known) = known {
                    places.entry(known.name.clone()).or_default().push(at);
                }
            }
            places
        });
        places.get(name)?.iter().copied().find(|at| inputs.get(*at).is_some_and(Option::is_some))
    }
}

struct CachedChunk {
    /// The chunk's range in its input.
    range: TextRange,
    objects: Numbered,
    /// Findings with relative places, as [`decode`] returns them.
    findings: Vec<Diagnostic>,
}

/// The objects of a chunk with their numbers. A chunk nearly always has one object, which is stored inline.
enum Numbered {
    One([(ObjectId, Item); 1]),
    Many(Vec<(ObjectId, Item)>),
}

impl Numbered {
    fn new(mut objects: Vec<(ObjectId, Item)>) -> Self {
        match (objects.pop(), objects.is_empty()) {
            (Some(only), true) => Self::One([only]),
            (last, _) => {
                objects.extend(last);
                Self::Many(objects)
            }
        }
    }

    fn as_slice(&self) -> &[(ObjectId, Item)] {
        match self {
            Self::One(one) => one,
            Self::Many(many) => many,
        }
    }

    fn ids(&self) -> impl Iterator<Item = ObjectId> {
        self.as_slice().iter().map(|(id, _)| *id)
    }
}

impl core::fmt::Debug for DocumentCache {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let chunks: usize = self.inputs.iter().map(|input| input.chunks.len()).sum();
        f.debug_struct("DocumentCache").field("inputs", &self.inputs.len()).field("chunks", &chunks).finish()
    }
}

pub(super) struct DecodedObject {
    pub id: ObjectId,
    pub content: Arc<Content>,
}

impl DocumentCache {
    pub fn new() -> Self {
        Self::default()
    }

    pub(super) fn read(&mut self, inputs: &Inputs, options: &ReadOptions, executor: &dyn Executor) -> (Objects, Findings) {
        if self.options != *options {
            *self = Self { options: options.clone(), ..Self::default() };
        }
        let same = Arc::ptr_eq(&self.stored, &inputs.stored) || self.stored.is_empty() && inputs.stored.is_empty();
        self.stored = inputs.stored.clone();
        // Inputs that did not change or move are reused.
        let are_in_place = same && self.inputs.len() == inputs.inputs.len();
        let are_in_place = are_in_place && self.inputs.iter().zip(&inputs.inputs).all(|(known, input)| known.name == input.name);
        let is_same = |at: usize, input: &Input| are_in_place && self.inputs.get(at).is_some_and(|known| Arc::ptr_eq(&known.text, &input.text));
        let changed: Vec<(usize, &Input)> = inputs.inputs.iter().enumerate().filter(|(at, input)| !is_same(*at, input)).collect();
        let before: Vec<CachedInput> = match are_in_place {
            true => changed.iter().filter_map(|(at, input)| Some(core::mem::replace(self.inputs.get_mut(*at)?, CachedInput::new(input)))).collect(),
            false => core::mem::replace(&mut self.inputs, inputs.inputs.iter().map(CachedInput::new).collect()),
        };
        let mut before = Known::new(before);
        let plans: Vec<(usize, Vec<ObjectId>, Plan)> = changed
            .into_iter()
            .map(|(at, input)| {
                let known = before.take(&input.name).unwrap_or_else(|| CachedInput::new(input));
                let unchanged = same && Arc::ptr_eq(&known.text, &input.text);
                let stored = if unchanged { known.stored } else { inputs.stored.contains(&input.name) };
                (at, known.ids().collect(), Plan::new(input, stored, known))
            })
            .collect();
        let texts: Vec<(&str, bool)> = plans.iter().flat_map(|(_, _, plan)| plan.fresh().map(|text| (text, plan.stored))).collect();
        let decoded = executor::map(executor, &texts, |(text, stored)| {
            // Text from an API server decodes differently, so its fingerprint must differ.
            let fingerprint = if *stored { !hash(text) } else { hash(text) };
            decode(&Arc::from(*text), fingerprint, options, *stored)
        });
        let mut decoded = decoded.into_iter();
        let mut edited = are_in_place.then(Vec::new);
        for (at, ids, plan) in plans {
            let cached = self.carry_out(plan, &mut decoded);
            edited = edited.filter(|_| cached.ids().eq(ids));
            edited.iter_mut().for_each(|edited| edited.push(at));
            if let Some(place) = self.inputs.get_mut(at) {
                *place = cached;
            }
        }
        for gone in before.inputs.into_iter().flatten().flat_map(|input| input.chunks) {
            self.release(gone.objects.ids());
        }
        self.place(edited)
    }

    /// Creates the chunks of an input with their numbers. The chunks that were read now are the next ones of `decoded`.
    fn carry_out(&mut self, plan: Plan, decoded: &mut impl Iterator<Item = Decoded>) -> CachedInput {
        let Plan { name, text, stored, head: mut chunks, middle, tail, gone } = plan;
        chunks.reserve_exact(middle.len() + tail.len());
        for planned in middle {
            match planned {
                Planned::Same(chunk) => chunks.push(chunk),
                Planned::Fresh(range, ids) => chunks.extend(decoded.next().map(|decoded| self.fresh(decoded, range, ids))),
            }
        }
        chunks.extend(tail);
        for gone in gone {
            self.release(gone.objects.ids());
        }
        let has_findings = chunks.iter().any(|chunk| !chunk.findings.is_empty());
        CachedInput { name, text, stored, chunks, has_findings }
    }

    fn fresh(&mut self, decoded: Decoded, range: TextRange, ids: Vec<ObjectId>) -> CachedChunk {
        let mut ids = ids.into_iter();
        let objects = decoded.objects.into_iter().map(|item| (ids.next().unwrap_or_else(|| self.take_number()), item)).collect();
        self.release(ids);
        CachedChunk { range, objects: Numbered::new(objects), findings: decoded.findings }
    }

    pub(super) fn take_number(&mut self) -> ObjectId {
        let index = self.free.pop().map(|Reverse(index)| index).unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        });
        ObjectId::from_index(index as usize)
    }

    pub(super) fn release(&mut self, ids: impl Iterator<Item = ObjectId>) {
        self.free.extend(ids.filter_map(ObjectId::index).map(|index| Reverse(index as u32)));
    }

    /// Returns all objects with their places, and the findings. If only the inputs at `edited` changed and their objects kept their numbers, only
    /// those inputs are visited.
    fn place(&mut self, edited: Option<Vec<usize>>) -> (Objects, Findings) {
        let is_known = edited.is_some();
        let mut objects = if is_known { core::mem::take(&mut self.placed) } else { Objects::default() };
        let places = edited.unwrap_or_else(|| (0..self.inputs.len()).collect());
        for (at, cached) in places.into_iter().filter_map(|at| Some((at, self.inputs.get(at)?))) {
            for (number, chunk) in cached.chunks.iter().enumerate() {
                let source = Source { source: SourceId(at as u32), offset: chunk.range.start, number: number as u32 };
                let items = chunk.objects.as_slice();
                for (id, item) in items {
                    let parent = item.parent.and_then(|(index, node)| Some((items.get(index)?.0, node)));
                    let is_same = |known: &Object| known.source == source && known.parent == parent && Arc::ptr_eq(&known.content, &item.content);
                    if is_known && objects.get(*id).is_some_and(is_same) {
                        continue;
                    }
                    let object = Object { id: *id, source, parent, assumed: false, content: item.content.clone() };
                    if is_known { objects.replace(object) } else { objects.push(object) }
                }
            }
        }
        self.placed = objects.clone();
        let mut findings = Findings::default();
        for (at, cached) in self.inputs.iter().enumerate().filter(|(_, cached)| cached.has_findings) {
            for chunk in cached.chunks.iter().filter(|chunk| !chunk.findings.is_empty()) {
                let items = chunk.objects.as_slice();
                findings.extend(chunk.findings.iter().map(|finding| place(finding.clone(), SourceId(at as u32), chunk.range.start, items)));
            }
        }
        (objects, findings)
    }
}

/// Which chunks of an input are unchanged, and which must be read.
struct Plan {
    name: Str,
    text: Arc<str>,
    stored: bool,
    /// The unchanged chunks at the beginning.
    head: Vec<CachedChunk>,
    middle: Vec<Planned>,
    /// The unchanged chunks at the end.
    tail: Vec<CachedChunk>,
    /// The chunks that no longer exist.
    gone: Vec<CachedChunk>,
}

enum Planned {
    Same(CachedChunk),
    /// The range of the text, and the numbers that its objects inherit.
    Fresh(TextRange, Vec<ObjectId>),
}

impl Plan {
    /// Plans an input: reuses the known chunks whose text is unchanged.
    fn new(input: &Input, stored: bool, known: CachedInput) -> Self {
        let CachedInput { name, text: old_text, stored: was_stored, mut chunks, .. } = known;
        // Objects from an API server decode differently, so a change of origin discards them.
        let mut gone = if stored == was_stored { Vec::new() } else { core::mem::take(&mut chunks) };
        let text = input.text.clone();
        if stored == was_stored && Arc::ptr_eq(&old_text, &text) {
            return Self { name, text, stored, head: chunks, middle: Vec::new(), tail: Vec::new(), gone };
        }
        let same = Same::find(&old_text, &text, &chunks);
        let shift = text.len().wrapping_sub(old_text.len()) as u32;
        let mut tail = chunks.split_off(chunks.len() - same.tail);
        for chunk in &mut tail {
            chunk.range = TextRange::new(chunk.range.start.wrapping_add(shift), chunk.range.end.wrapping_add(shift));
        }
        let before = chunks.split_off(same.head);
        let wanted = split(&text[same.from..same.to]);
        let wanted: Vec<TextRange> = wanted.into_iter().filter(|chunk| !chunk.is_empty).map(|chunk| chunk.range.shifted(same.from as u32)).collect();

        let mut old = ReusableChunks::new(&old_text, before);
        let mut middle = Vec::with_capacity(wanted.len());
        for (at, range) in wanted.iter().enumerate() {
            let next = wanted.get(at + 1).map(|next| next.slice(&text));
            middle.push(match old.find(range.slice(&text), next) {
                ChunkMatch::Same(chunk) => Planned::Same(CachedChunk { range: *range, ..chunk }),
                ChunkMatch::Edited(ids) => Planned::Fresh(*range, ids),
                ChunkMatch::New => Planned::Fresh(*range, Vec::new()),
            });
        }
        gone.extend(old.rest());
        Self { name, text, stored, head: chunks, middle, tail, gone }
    }

    /// The chunks that must be read.
    fn fresh(&self) -> impl Iterator<Item = &str> {
        self.middle.iter().filter_map(|planned| match planned {
            Planned::Same(_) => None,
            Planned::Fresh(range, _) => Some(range.slice(&self.text)),
        })
    }
}

/// The unchanged chunks at the beginning and the end, and the text between them.
struct Same {
    head: usize,
    tail: usize,
    /// Where the unchanged beginning ends and the unchanged end begins in the new text.
    from: usize,
    to: usize,
}

impl Same {
    fn find(old: &str, new: &str, chunks: &[CachedChunk]) -> Self {
        let everything = Self { head: 0, tail: 0, from: 0, to: new.len() };
        if chunks.is_empty() {
            return everything;
        }
        let prefix = common_prefix(old.as_bytes(), new.as_bytes());
        let suffix = common_suffix(&old.as_bytes()[prefix..], &new.as_bytes()[prefix..]);
        // A chunk ends at the same position only if the start of the next line is unchanged.
        let head = chunks.partition_point(|chunk| chunk.range.end as usize + MARKER <= prefix).saturating_sub(1);
        let from = if head == 0 { 0 } else { chunks[head - 1].range.end as usize };
        // A `---` line starts a chunk whatever precedes it, except for directives.
        let unchanged = old.len() - suffix;
        let mut first = chunks.partition_point(|chunk| chunk.range.start as usize <= unchanged).max(head);
        let is_marker = |line: &str| line.strip_prefix("---").is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n']));
        let begins = |range: TextRange| old[..range.start as usize].ends_with('\n') && is_marker(range.slice(old));
        while chunks.get(first).is_some_and(|chunk| !begins(chunk.range)) {
            first += 1;
        }
        let tail = chunks.len() - first;
        let to = chunks.get(first).map_or(new.len(), |chunk| new.len() - (old.len() - chunk.range.start as usize));
        // A byte order mark has its meaning only at the beginning of a text.
        if from > 0 && new[from..].starts_with('\u{feff}') {
            return everything;
        }
        let same = Self { head, tail, from, to };
        let has_directives =
            |text: Option<&str>| text.is_none_or(|text| text.lines().any(|line| line.trim_start_matches('\u{feff}').starts_with('%')));
        if tail > 0 && (to < from || has_directives(new.get(from..to))) {
            return Self { head, tail: 0, from, to: new.len() };
        }
        same
    }
}

/// The length of `---` with the character after it.
const MARKER: usize = 4;

/// Converts the relative places of a finding to absolute ones.
fn place(mut finding: Diagnostic, source: SourceId, offset: u32, items: &[(ObjectId, Item)]) -> Diagnostic {
    for_each_place(&mut finding, |place| match place {
        Place::Text(at, range) => {
            *at = source;
            *range = range.shifted(offset);
        }
        Place::Node { object, .. } => {
            if let Some((id, _)) = object.index().and_then(|index| items.get(index)) {
                *object = *id;
            }
        }
        Place::Whole => {}
    });
    finding
}

pub(super) fn hash(text: &str) -> u64 {
    let mut hasher = FixedState::default().build_hasher();
    hasher.write(text.as_bytes());
    hasher.finish()
}

/// The length of the common prefix in bytes.
fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    const BLOCK: usize = 4096;
    let blocks = a.chunks(BLOCK).zip(b.chunks(BLOCK)).take_while(|(a, b)| a == b).map(|(a, _)| a.len()).sum::<usize>();
    blocks + a[blocks..].iter().zip(&b[blocks..]).take_while(|(a, b)| a == b).count()
}

/// The length of the common suffix in bytes.
fn common_suffix(a: &[u8], b: &[u8]) -> usize {
    const BLOCK: usize = 4096;
    let blocks = a.rchunks(BLOCK).zip(b.rchunks(BLOCK)).take_while(|(a, b)| a == b).map(|(a, _)| a.len()).sum::<usize>();
    let (a, b) = (&a[..a.len() - blocks], &b[..b.len() - blocks]);
    blocks + a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count()
}

/// Chunks of the previous compile between the unchanged ends. The next compile reuses those that it finds again.
struct ReusableChunks<'t> {
    text: &'t str,
    chunks: Vec<Option<CachedChunk>>,
    /// The index of the next chunk if nothing moved.
    at: usize,
    /// Indexes by hash of the text, built when something moved.
    index: Option<HashMap<u64, Vec<usize>>>,
}

enum ChunkMatch {
    Same(CachedChunk),
    /// No chunk is equal, but this text replaces another one and inherits its numbers.
    Edited(Vec<ObjectId>),
    New,
}

impl<'t> ReusableChunks<'t> {
    fn new(text: &'t str, chunks: Vec<CachedChunk>) -> Self {
        Self { text, chunks: chunks.into_iter().map(Some).collect(), at: 0, index: None }
    }

    fn is(&self, at: usize, text: &str) -> bool {
        matches!(self.chunks.get(at), Some(Some(chunk)) if chunk.range.slice(self.text) == text)
    }

    fn take(&mut self, at: usize) -> Option<CachedChunk> {
        self.chunks.get_mut(at)?.take()
    }

    fn find(&mut self, text: &str, next: Option<&str>) -> ChunkMatch {
        if self.chunks.is_empty() {
            return ChunkMatch::New;
        }
        if self.is(self.at, text) {
            self.at += 1;
            return self.take(self.at - 1).map_or(ChunkMatch::New, ChunkMatch::Same);
        }
        match next {
            // One chunk was edited, inserted or removed: these common cases need no index.
            Some(next) if self.is(self.at + 1, next) => return self.edited(),
            Some(next) if self.is(self.at, next) => return ChunkMatch::New,
            _ if self.is(self.at + 1, text) => {
                self.at += 2;
                return self.take(self.at - 1).map_or(ChunkMatch::New, ChunkMatch::Same);
            }
            None if self.at + 1 == self.chunks.len() => return self.edited(),
            _ => {}
        }
        match self.elsewhere(text) {
            Some(at) => {
                self.at = at + 1;
                self.take(at).map_or(ChunkMatch::New, ChunkMatch::Same)
            }
            None => ChunkMatch::New,
        }
    }

    /// The index of an equal chunk that moved.
    fn elsewhere(&mut self, text: &str) -> Option<usize> {
        let (chunks, whole) = (&self.chunks, self.text);
        let index = self.index.get_or_insert_with(|| {
            let mut index: HashMap<u64, Vec<usize>> = HashMap::new();
            for (at, chunk) in chunks.iter().enumerate().rev() {
                if let Some(chunk) = chunk {
                    index.entry(hash(chunk.range.slice(whole))).or_default().push(at);
                }
            }
            index
        });
        let places = index.get(&hash(text))?.clone();
        places.into_iter().rev().find(|at| self.is(*at, text))
    }

    fn edited(&mut self) -> ChunkMatch {
        self.at += 1;
        self.take(self.at - 1).map_or(ChunkMatch::New, |chunk| ChunkMatch::Edited(chunk.objects.ids().collect()))
    }

    fn rest(self) -> impl Iterator<Item = CachedChunk> {
        self.chunks.into_iter().flatten()
    }
}
