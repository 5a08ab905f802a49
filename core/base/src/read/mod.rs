//! Reads input objects from text: documents, list items, concatenated JSON, and configuration in annotations.
//!
//! ```text
//! text --split--> chunks --decode--> contents --place--> Objects
//! ```
//!
//! Each chunk is decoded once: a [`DocumentCache`] keeps the result while the text is unchanged, even if it moves. Unreadable text becomes a broken
//! object with a finding; reading continues after it.
//!
//! Knows only `apiVersion`, `kind` and name of an object, not its meaning.

mod assumed;
mod cache;
mod decode;
mod fixes;
mod identity;
mod problem;

#[cfg(test)]
mod tests;

pub use assumed::AssumedObject;
pub use cache::DocumentCache;

use crate::diagnostic::Findings;
use crate::executor::{Executor, Sequential};
use crate::resource::{Inputs, Objects, ResourceKey};
use alloc::vec::Vec;
use chancery_text::{Limits, Node, NodeId, Str, parse, split};
use hashbrown::HashSet;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    /// As `kubectl apply -f` accepts them: with `apiVersion`, `kind` and `metadata.name`.
    #[default]
    Kubernetes,
    /// Objects that only their dialect can identify. If it reads Kubernetes objects too, an `apiVersion` marks them.
    Plain,
}

/// How a dialect identifies plain objects.
#[derive(Debug)]
pub struct Identify {
    /// Splits a document that holds several objects.
    pub parts: fn(&Node) -> Option<Vec<Node>>,
    /// The object's key.
    pub key: fn(&Node) -> ResourceKey,
    /// Values that distinguish objects of one name, the simplest first. A missing value is an empty string.
    pub apart: fn(&Node) -> Vec<Str>,
    /// Removes key material from an object.
    pub secrets: fn(&mut Node) -> Vec<(NodeId, Str)>,
    /// Whether an object without a `kind` certainly belongs to the dialect and is not a Secret.
    pub is_own: fn(&Node) -> bool,
}

impl PartialEq for Identify {
    fn eq(&self, other: &Self) -> bool {
        core::ptr::eq(self, other)
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReadOptions {
    pub shape: Shape,
    pub identify: Option<&'static Identify>,
    /// Annotations whose values contain objects, e.g. `getambassador.io/config`.
    pub embedded: Vec<&'static str>,
    /// ConfigMap keys whose values are configuration files. Each file becomes one object.
    pub files: Vec<Str>,
    /// Limits for one document.
    pub limits: Limits,
}

impl ReadOptions {
    /// Combines two sets of options, so that everything is read that either reads.
    #[must_use]
    pub fn join(mut self, other: Self) -> Self {
        self.embedded.extend(other.embedded);
        self.files.extend(other.files);
        let shape = if self.shape == Shape::Plain { other.shape } else { self.shape };
        Self { shape, identify: self.identify.or(other.identify), ..self }
    }
}

/// Reads the objects of all inputs. The result does not depend on the cache, except for the objects' numbers.
pub fn read(inputs: &Inputs, options: &ReadOptions, cache: &mut DocumentCache) -> (Objects, Findings) {
    cache.read(inputs, options, &Sequential)
}

/// Like [`read`], with the host's threads.
pub fn read_with(inputs: &Inputs, options: &ReadOptions, cache: &mut DocumentCache, executor: &dyn Executor) -> (Objects, Findings) {
    cache.read(inputs, options, executor)
}

/// Whether no input contains a resource or anything that could be one: only blank lines, comments and empty lists.
pub fn contains_no_resource(inputs: &Inputs) -> bool {
    inputs
        .inputs
        .iter()
        .all(|input| split(&input.text).into_iter().filter(|chunk| !chunk.is_empty).all(|chunk| is_blank(chunk.range.slice(&input.text))))
}

/// The line, from 1, of the first document that Kubernetes could not store: neither YAML nor JSON nor HCL, or not an object. Documents that `known`
/// also contains are skipped.
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

/// A longer input is never treated as blank.
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
