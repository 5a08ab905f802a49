//! Adds assumed objects: built from a tree and placed at the field that refers to them.
//!
//! They are numbered like objects of the text and kept while they are unchanged, so that later stages recognize them. Does not decide which objects
//! are assumed; see `compile::assume`.

use super::ReadOptions;
use super::cache::{DecodedObject, DocumentCache, hash};
use super::decode::decode_tree;
use crate::resource::{Object, Objects, Source};
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_text::{Document, Node, Spans, TextRange, to_json};

/// How often assumed objects may require further objects.
const ROUNDS: usize = 4;

/// An object to add.
#[derive(Clone, Debug)]
pub struct AssumedObject {
    pub root: Node,
    /// The document that refers to it.
    pub source: Source,
    /// The referring range in that document.
    pub range: TextRange,
    /// Whether it may require further objects.
    pub asks: bool,
}

impl DocumentCache {
    /// Adds the objects that `next` returns for the current objects, until it returns none.
    pub fn add_assumed(&mut self, objects: &mut Objects, options: &ReadOptions, mut next: impl FnMut(&Objects) -> Vec<AssumedObject>) {
        let mut before = core::mem::take(&mut self.made);
        for _ in 0..ROUNDS {
            let wanted = next(objects);
            if wanted.is_empty() {
                break;
            }
            let some_ask = wanted.iter().any(|one| one.asks);
            for AssumedObject { root, source, range, .. } in wanted {
                let asked = (range, to_json(&root, false));
                let Some(made) = before.remove(&asked).or_else(|| self.make(root, &asked.1, range, options)) else { continue };
                objects.push(Object { id: made.id, source, parent: None, assumed: true, content: made.content.clone() });
                self.made.insert(asked, made);
            }
            if !some_ask {
                break;
            }
        }
        self.release(before.into_values().map(|made| made.id));
    }

    fn make(&mut self, mut root: Node, text: &str, range: TextRange, options: &ReadOptions) -> Option<DecodedObject> {
        let document = Document { spans: Spans::numbering(&mut root, range), ..Document::default() };
        let content = decode_tree(root, document, hash(text) ^ u64::from(range.start), options)?;
        Some(DecodedObject { id: self.take_number(), content: Arc::new(content) })
    }
}
