//! The memory of reading: what each chunk of each input said, and the numbers of its objects.
//!
//! Chunks are found again by comparing texts: one after another where nothing moved, by hash where something did. An edited chunk hands
//! the numbers of its objects on to what stands in its place, so that what refers to them stays equal when only a comment changed.
//!
//! What must not be here: how a chunk is read (`decode`).

use super::super::{Input, Inputs, Object, ObjectId, Objects, Source, SourceId};
use super::decode::{Decoded, decode, for_each_place};
use super::ReadOptions;
use crate::diagnostic::{Diagnostic, Place};
use crate::text::{Chunk, Str, TextRange, split};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::hash::{BuildHasher, Hasher};
use foldhash::fast::FixedState;
use hashbrown::HashMap;

/// What earlier compiles read. Empty at first; keep one for as long as the same inputs are compiled again and again.
#[derive(Default)]
pub struct DocumentCache {
    options: ReadOptions,
    inputs: Vec<CachedInput>,
    /// Numbers that were given out and that nobody has now, the smallest last.
    free: Vec<u32>,
    next: u32,
}

struct CachedInput {
    name: Str,
    text: Arc<str>,
    chunks: Vec<CachedChunk>,
}

struct CachedChunk {
    /// Where it stands in its input.
    range: TextRange,
    decoded: Decoded,
    ids: Vec<ObjectId>,
}

impl core::fmt::Debug for DocumentCache {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let chunks: usize = self.inputs.iter().map(|input| input.chunks.len()).sum();
        f.debug_struct("DocumentCache").field("inputs", &self.inputs.len()).field("chunks", &chunks).finish()
    }
}

impl DocumentCache {
    /// A cache that remembers nothing.
    pub fn new() -> Self {
        Self::default()
    }

    pub(super) fn read(&mut self, inputs: &Inputs, options: &ReadOptions) -> (Objects, Vec<Diagnostic>) {
        if self.options != *options {
            *self = Self { options: options.clone(), ..Self::default() };
        }
        let mut before = core::mem::take(&mut self.inputs);
        for input in &inputs.inputs {
            let known = before.iter().position(|known| known.name == input.name).map(|at| before.remove(at));
            let known = known.unwrap_or_else(|| CachedInput { name: input.name.clone(), text: Arc::from(""), chunks: Vec::new() });
            let updated = self.update(input, known);
            self.inputs.push(updated);
        }
        for gone in before.into_iter().flat_map(|input| input.chunks) {
            self.release(&gone.ids);
        }
        self.place()
    }

    /// The chunks of an input, taken from what was known of it where the text is the same.
    fn update(&mut self, input: &Input, mut known: CachedInput) -> CachedInput {
        if Arc::ptr_eq(&known.text, &input.text) {
            return known;
        }
        let (old_text, new_text) = (&*known.text, &*input.text);
        let wanted: Vec<Chunk> = split(new_text).into_iter().filter(|chunk| !chunk.is_empty).collect();
        // What stands before and after an edit is found by comparing the texts as a whole.
        let prefix = common_prefix(old_text.as_bytes(), new_text.as_bytes());
        let suffix = common_suffix(&old_text.as_bytes()[prefix..], &new_text.as_bytes()[prefix..]);
        let head = known.chunks.iter().zip(&wanted).take_while(|(old, new)| old.range == new.range && new.range.end as usize <= prefix).count();
        let from_end = |end: usize, range: TextRange| (end - range.start as usize, end - range.end as usize);
        let tail = known.chunks[head..].iter().rev().zip(wanted[head..].iter().rev());
        let is_same = |(old, new): &(&CachedChunk, &Chunk)| {
            let place = from_end(new_text.len(), new.range);
            place == from_end(old_text.len(), old.range) && place.0 <= suffix
        };
        let tail = tail.take_while(is_same).count();
        let rest = known.chunks.split_off(known.chunks.len() - tail);
        let middle = known.chunks.split_off(head);

        let mut chunks = known.chunks;
        chunks.reserve(wanted.len() - head);
        let mut old = Old::new(old_text, middle);
        let edited = &wanted[head..wanted.len() - tail];
        for (at, chunk) in edited.iter().enumerate() {
            let this = chunk.range.slice(new_text);
            let next = edited.get(at + 1).map(|next| next.range.slice(new_text));
            let cached = match old.find(this, next) {
                Found::Same(chunk) => chunk,
                Found::Edited(ids) => self.fresh(this, ids),
                Found::New => self.fresh(this, Vec::new()),
            };
            chunks.push(CachedChunk { range: chunk.range, ..cached });
        }
        for gone in old.rest() {
            self.release(&gone.ids);
        }
        let moved = wanted[wanted.len() - tail..].iter();
        chunks.extend(rest.into_iter().zip(moved).map(|(chunk, new)| CachedChunk { range: new.range, ..chunk }));
        CachedInput { name: known.name, text: input.text.clone(), chunks }
    }

    fn fresh(&mut self, text: &str, mut ids: Vec<ObjectId>) -> CachedChunk {
        let decoded = decode(&Arc::from(text), hash(text), &self.options);
        if ids.len() > decoded.objects.len() {
            let surplus = ids.split_off(decoded.objects.len());
            self.release(&surplus);
        }
        while ids.len() < decoded.objects.len() {
            ids.push(self.take_number());
        }
        CachedChunk { range: TextRange::empty(0), decoded, ids }
    }

    fn take_number(&mut self) -> ObjectId {
        let index = self.free.pop().unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        });
        ObjectId::from_index(index as usize)
    }

    fn release(&mut self, ids: &[ObjectId]) {
        if ids.is_empty() {
            return;
        }
        self.free.extend(ids.iter().filter_map(|id| id.index()).map(|index| index as u32));
        self.free.sort_unstable_by(|a, b| b.cmp(a));
    }

    fn place(&self) -> (Objects, Vec<Diagnostic>) {
        let mut objects = Objects::with_capacity(self.next as usize);
        let mut findings = Vec::new();
        for (at, cached) in self.inputs.iter().enumerate() {
            let source = SourceId(at as u32);
            for (number, chunk) in cached.chunks.iter().enumerate() {
                let offset = chunk.range.start;
                for (item, id) in chunk.decoded.objects.iter().zip(&chunk.ids) {
                    objects.push(Object {
                        id: *id,
                        source: Source { source, offset, number: number as u32 },
                        parent: item.parent.and_then(|(index, node)| Some((*chunk.ids.get(index)?, node))),
                        content: item.content.clone(),
                    });
                }
                findings.extend(chunk.decoded.findings.iter().map(|finding| place(finding.clone(), source, offset, &chunk.ids)));
            }
        }
        (objects, findings)
    }
}

/// Turns the relative places of a finding into real ones.
fn place(mut finding: Diagnostic, source: SourceId, offset: u32, ids: &[ObjectId]) -> Diagnostic {
    for_each_place(&mut finding, |place| match place {
        Place::Text(at, range) => {
            *at = source;
            *range = range.shifted(offset);
        }
        Place::Node { object, .. } => {
            if let Some(id) = object.index().and_then(|index| ids.get(index)) {
                *object = *id;
            }
        }
        Place::Whole => {}
    });
    finding
}

fn hash(text: &str) -> u64 {
    let mut hasher = FixedState::default().build_hasher();
    hasher.write(text.as_bytes());
    hasher.finish()
}

/// How many bytes two texts have in common at their beginnings.
fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    const BLOCK: usize = 4096;
    let blocks = a.chunks(BLOCK).zip(b.chunks(BLOCK)).take_while(|(a, b)| a == b).map(|(a, _)| a.len()).sum::<usize>();
    blocks + a[blocks..].iter().zip(&b[blocks..]).take_while(|(a, b)| a == b).count()
}

/// How many bytes two texts have in common at their ends.
fn common_suffix(a: &[u8], b: &[u8]) -> usize {
    const BLOCK: usize = 4096;
    let blocks = a.rchunks(BLOCK).zip(b.rchunks(BLOCK)).take_while(|(a, b)| a == b).map(|(a, _)| a.len()).sum::<usize>();
    let (a, b) = (&a[..a.len() - blocks], &b[..b.len() - blocks]);
    blocks + a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count()
}

/// The chunks between those that stand where they stood, from which the next compile takes what it finds again.
struct Old<'t> {
    text: &'t str,
    chunks: Vec<Option<CachedChunk>>,
    /// Where the next chunk stands if nothing moved.
    at: usize,
    /// By the hash of the text, made when something moved.
    index: Option<HashMap<u64, Vec<usize>>>,
}

enum Found {
    Same(CachedChunk),
    /// Nothing like it, but it stands where another stood, whose numbers it takes over.
    Edited(Vec<ObjectId>),
    New,
}

impl<'t> Old<'t> {
    fn new(text: &'t str, chunks: Vec<CachedChunk>) -> Self {
        Self { text, chunks: chunks.into_iter().map(Some).collect(), at: 0, index: None }
    }

    fn is(&self, at: usize, text: &str) -> bool {
        matches!(self.chunks.get(at), Some(Some(chunk)) if chunk.range.slice(self.text) == text)
    }

    fn take(&mut self, at: usize) -> Option<CachedChunk> {
        self.chunks.get_mut(at)?.take()
    }

    fn find(&mut self, text: &str, next: Option<&str>) -> Found {
        if self.chunks.is_empty() {
            return Found::New;
        }
        if self.is(self.at, text) {
            self.at += 1;
            return self.take(self.at - 1).map_or(Found::New, Found::Same);
        }
        match next {
            // One chunk was edited, one was put in, one was taken out: the common cases need no index.
            Some(next) if self.is(self.at + 1, next) => return self.edited(),
            Some(next) if self.is(self.at, next) => return Found::New,
            _ if self.is(self.at + 1, text) => {
                self.at += 2;
                return self.take(self.at - 1).map_or(Found::New, Found::Same);
            }
            None if self.at + 1 == self.chunks.len() => return self.edited(),
            _ => {}
        }
        match self.elsewhere(text) {
            Some(at) => {
                self.at = at + 1;
                self.take(at).map_or(Found::New, Found::Same)
            }
            None => Found::New,
        }
    }

    /// Where a text stood that is not where it is looked for.
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

    fn edited(&mut self) -> Found {
        self.at += 1;
        self.take(self.at - 1).map_or(Found::New, |chunk| Found::Edited(chunk.ids))
    }

    fn rest(self) -> impl Iterator<Item = CachedChunk> {
        self.chunks.into_iter().flatten()
    }
}
