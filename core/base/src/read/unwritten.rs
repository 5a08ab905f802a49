//! Assumed objects: made from a tree, placed at the field that refers to them.
//!
//! They are numbered as objects of the text are, and kept as long as they are the same, so that later stages know them again.
//!
//! What must not be here: which objects are made, and why.

use super::ReadOptions;
use super::cache::{DecodedObject, DocumentCache, hash};
use super::decode::decode_tree;
use crate::resource::{Object, Objects, Source};
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_text::{Document, Node, Spans, TextRange, to_json};

/// How often objects that were made may ask for more.
const ROUNDS: usize = 4;

/// An object to be made.
#[derive(Clone, Debug)]
pub struct Unwritten {
    /// What is in it.
    pub root: Node,
    /// The document in which it is asked for.
    pub source: Source,
    /// Where in that document.
    pub range: TextRange,
    /// Whether it may ask for more.
    pub asks: bool,
}

impl DocumentCache {
    /// Adds the objects that `next` gives for those that there are, until it gives none.
    pub fn add_unwritten(&mut self, objects: &mut Objects, options: &ReadOptions, mut next: impl FnMut(&Objects) -> Vec<Unwritten>) {
        let mut before = core::mem::take(&mut self.made);
        for _ in 0..ROUNDS {
            let wanted = next(objects);
            if wanted.is_empty() {
                break;
            }
            let some_ask = wanted.iter().any(|one| one.asks);
            for Unwritten { root, source, range, .. } in wanted {
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
