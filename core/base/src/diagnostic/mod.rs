//! Defines findings: the problem, its severity, its place, and the advice.
//!
//! A [`Diagnostic`] is plain data; its host renders it (terminal, SARIF, editor). A named function next to each rule builds it. Each finding has a
//! [`Code`] from the one registry ([`codes`]), whose page is also its test.

mod code;
pub mod codes;
mod findings;
mod join;
mod known;
mod policy;
pub mod time;

pub use code::{Code, Severity};
pub use findings::{DistinctFindings, Findings, Pending, Reported};
pub use join::join_alike;
pub use known::{Known, Values};
pub use policy::{Level, Policy};

use crate::resource::{ObjectId, Origin, ResourceKey, SourceId};
use alloc::string::String;
use alloc::vec::Vec;
use chancery_text::{NodeId, TextRange};

#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    pub code: &'static Code,
    /// Usually the code's severity; a configuration can change it.
    pub severity: Severity,
    /// One sentence without a full stop.
    pub message: String,
    /// The place of the problem.
    pub place: Place,
    /// The resource that the finding concerns: often an input object, sometimes a generated one.
    pub resource: Option<ResourceKey>,
    /// Other places that explain the finding.
    pub related: Vec<Related>,
    /// Advice in one sentence.
    pub help: Option<String>,
    /// A text change that certainly fixes the problem.
    pub fix: Option<Fix>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// A node of an input object.
    Node { object: ObjectId, node: NodeId, part: Part },
    /// A range of an input's text.
    Text(SourceId, TextRange),
    /// No place: the finding concerns the whole input.
    Whole,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The key, e.g. for an unknown field.
    Key,
    /// The value, e.g. for a wrong type.
    Value,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Related {
    pub place: Place,
    /// What this place contributes.
    pub message: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Fix {
    /// What the change does, e.g. "rename to `prefix`".
    pub message: String,
    /// Replacements in one text, in its order. They do not overlap.
    pub edits: Vec<Edit>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Edit {
    pub place: Place,
    pub replacement: String,
}

impl Diagnostic {
    pub fn new(code: &'static Code, message: impl Into<String>, place: Place) -> Self {
        Self { code, severity: code.severity, message: message.into(), place, resource: None, related: Vec::new(), help: None, fix: None }
    }

    /// A number that is equal for findings with the same message at the same place.
    pub fn fingerprint(&self) -> u64 {
        use core::hash::{BuildHasher, Hash, Hasher};
        let mut hasher = foldhash::fast::FixedState::default().build_hasher();
        (self.code.name, &self.message, self.severity).hash(&mut hasher);
        match &self.place {
            Place::Node { object, node, part } => (object, node, *part == Part::Key).hash(&mut hasher),
            Place::Text(source, range) => (source, range).hash(&mut hasher),
            Place::Whole => {}
        }
        self.resource.hash(&mut hasher);
        hasher.finish()
    }

    /// Sets the resource that the finding concerns.
    #[must_use]
    pub fn about(mut self, resource: ResourceKey) -> Self {
        self.resource = Some(resource);
        self
    }

    #[must_use]
    pub fn related(mut self, place: Place, message: impl Into<String>) -> Self {
        self.related.push(Related { place, message: message.into() });
        self
    }

    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    #[must_use]
    pub fn fix(mut self, message: impl Into<String>, place: Place, replacement: impl Into<String>) -> Self {
        self.fix = Some(Fix { message: message.into(), edits: Vec::from([Edit { place, replacement: replacement.into() }]) });
        self
    }
}

impl Place {
    pub fn value(object: ObjectId, node: NodeId) -> Self {
        Place::Node { object, node, part: Part::Value }
    }

    pub fn key(object: ObjectId, node: NodeId) -> Self {
        Place::Node { object, node, part: Part::Key }
    }

    /// The value that an origin names, or the whole input.
    pub fn origin(origin: impl Into<Option<Origin>>) -> Self {
        match origin.into() {
            Some(origin) if origin.object() != ObjectId::BUILT_IN => Place::value(origin.object(), origin.node()),
            _ => Place::Whole,
        }
    }

    /// The object that contains the place; `None` for text ranges and for the whole input.
    pub fn object(&self) -> Option<ObjectId> {
        match self {
            Place::Node { object, .. } => Some(*object),
            Place::Text(..) | Place::Whole => None,
        }
    }
}
