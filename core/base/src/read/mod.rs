//! Reading input objects from text: documents, items of lists, concatenated JSON, and configuration in annotations.
//!
//! ```text
//! text --split--> chunks --decode--> contents --place--> Objects
//! ```
//!
//! A chunk is decoded once: a [`DocumentCache`] keeps what it says as long as its text is the same, wherever it moves. What cannot be read
//! stays in the value as a broken object, with a finding at the place, and the rest goes on.
//!
//! What must not be here: what an object means. That it has an `apiVersion`, a `kind` and a name is all that is known of it.

mod cache;
mod decode;
mod identity;
mod mend;
mod problem;
mod unwritten;

#[cfg(test)]
mod tests;

pub use cache::DocumentCache;
pub use unwritten::Unwritten;

use crate::diagnostic::Findings;
use crate::executor::{Executor, Sequential};
use crate::resource::{Inputs, Objects, ResourceKey};
use alloc::vec::Vec;
use chancery_text::{Limits, Node, NodeId, Str, parse, split};
use hashbrown::HashSet;

/// What the objects of an input look like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    /// As `kubectl apply -f` takes them: `apiVersion`, `kind`, `metadata.name`.
    #[default]
    Kubernetes,
    /// Any objects; their dialect says what they are. Those that name an `apiVersion` are Kubernetes's even so, where it does.
    Plain,
}

/// How objects that are not Kubernetes's say what they are.
#[derive(Debug)]
pub struct Identify {
    /// The objects of a document that holds several of them.
    pub parts: fn(&Node) -> Option<Vec<Node>>,
    /// Their name.
    pub key: fn(&Node) -> ResourceKey,
    /// What tells objects of one name apart, the plainest first; empty texts for what an object does not say.
    pub apart: fn(&Node) -> Vec<Str>,
    /// Takes key material out of an object that has any.
    pub secrets: fn(&mut Node) -> Vec<(NodeId, Str)>,
    /// Whether an object without a `kind` is certainly the dialect's own, whatever it holds, and no Secret.
    pub is_own: fn(&Node) -> bool,
}

impl PartialEq for Identify {
    fn eq(&self, other: &Self) -> bool {
        core::ptr::eq(self, other)
    }
}

/// How to read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReadOptions {
    /// What the objects look like.
    pub shape: Shape,
    /// How plain objects say what they are.
    pub identify: Option<&'static Identify>,
    /// Annotations whose values hold objects of their own, e.g. `getambassador.io/config`.
    pub embedded: Vec<&'static str>,
    /// Keys of ConfigMaps whose values are configuration files: each is an object of its own, in one document.
    pub files: Vec<Str>,
    /// What one document may cost.
    pub limits: Limits,
}

impl ReadOptions {
    /// So that all is read that either of two reads.
    #[must_use]
    pub fn join(mut self, other: Self) -> Self {
        self.embedded.extend(other.embedded);
        self.files.extend(other.files);
        let shape = if self.shape == Shape::Plain { other.shape } else { self.shape };
        Self { shape, identify: self.identify.or(other.identify), ..self }
    }
}

/// Reads the objects of all inputs. A compile from scratch is one with an empty cache; the result is the same, but for the numbers that
/// objects have.
pub fn read(inputs: &Inputs, options: &ReadOptions, cache: &mut DocumentCache) -> (Objects, Findings) {
    cache.read(inputs, options, &Sequential)
}

/// As [`read`], with the threads of the host.
pub fn read_with(inputs: &Inputs, options: &ReadOptions, cache: &mut DocumentCache, executor: &dyn Executor) -> (Objects, Findings) {
    cache.read(inputs, options, executor)
}

/// Whether there is no resource in any of the inputs, and nothing that could have been meant as one: blank lines, comments, lists without items.
pub fn says_nothing(inputs: &Inputs) -> bool {
    inputs
        .inputs
        .iter()
        .all(|input| split(&input.text).into_iter().filter(|chunk| !chunk.is_empty).all(|chunk| is_blank(chunk.range.slice(&input.text))))
}

/// The line, from 1, of the first document that Kubernetes could not even store: the text is neither YAML nor JSON nor HCL, or it is no object. What was
/// meant there is lost. Documents that `known` has as well are not looked at.
pub fn unreadable_line(text: &str, known: &str) -> Option<u32> {
    let known: HashSet<&str> = split(known).iter().map(|chunk| chunk.range.slice(known)).collect();
    let chunks = split(text).into_iter().filter(|chunk| !chunk.is_empty && !known.contains(chunk.range.slice(text)));
    let offset = chunks.filter_map(|chunk| Some(chunk.range.start + unreadable_offset(chunk.range.slice(text))?)).next()?;
    let above = text.as_bytes().iter().take(offset as usize).filter(|byte| **byte == b'\n').count();
    Some(above as u32 + 1)
}

fn unreadable_offset(text: &str) -> Option<u32> {
    let document = parse(text, &Limits::default());
    let broken = document.problems.iter().find(|problem| !problem.kind.is_warning()).map(|problem| problem.range.start);
    let scalar = document.root.as_ref().filter(|root| !root.is_null() && root.as_object().is_none() && root.as_array().is_none());
    broken.or_else(|| scalar.map(|root| document.spans.get(root.id).map_or(0, |span| span.value.start)))
}

/// The longest text that is looked into: what is longer says something.
const LONGEST_BLANK: usize = 4096;

fn is_blank(text: &str) -> bool {
    if text.len() > LONGEST_BLANK {
        return false;
    }
    let document = parse(text, &Limits::default());
    let no_items = |items: &Node| items.is_null() || items.as_array().is_some_and(Vec::is_empty);
    let is_list = |root: &Node| root.get("kind").and_then(Node::as_str).is_some_and(|kind| kind.ends_with("List"));
    match &document.root {
        None => !document.is_broken(),
        Some(root) => root.is_null() && !document.is_broken() || is_list(root) && root.get("items").is_some_and(no_items),
    }
}
