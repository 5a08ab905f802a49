//! Findings: what is wrong, how bad it is, where, and what to do about it.
//!
//! Only data: a [`Diagnostic`] is rendered by its host (terminal, SARIF, editor). Each is built by a named function next
//! to the rule that finds it; each has a [`Code`] of the one registry ([`codes`]), whose page is also its test.

mod alike;
mod code;
pub mod codes;
mod findings;
mod known;
mod policy;
pub mod time;

pub use alike::join_alike;
pub use code::{Code, Severity};
pub use findings::{DistinctFindings, Findings, Pending, Reported};
pub use known::{Known, Values};
pub use policy::{Level, Policy};

use crate::resource::{ObjectId, Origin, ResourceKey, SourceId};
use alloc::string::String;
use alloc::vec::Vec;
use chancery_text::{NodeId, TextRange};

/// One finding.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// What kind of finding it is.
    pub code: &'static Code,
    /// How bad it is; the code's own severity unless a configuration changes it.
    pub severity: Severity,
    /// One sentence in the user's words, without a full stop.
    pub message: String,
    /// Where it stands.
    pub place: Place,
    /// The resource that it is about, if it is about one: often an input object, sometimes one that the controller made.
    pub resource: Option<ResourceKey>,
    /// Detail: other places that explain it.
    pub related: Vec<Related>,
    /// What would help, in one sentence.
    pub help: Option<String>,
    /// A change of the text that certainly mends it.
    pub fix: Option<Fix>,
}

/// Where a finding stands.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// At a node of an input object.
    Node {
        /// The object.
        object: ObjectId,
        /// The node in its document.
        node: NodeId,
        /// Which part of the node to underline.
        part: Part,
    },
    /// At a range of an input's text.
    Text(SourceId, TextRange),
    /// Nowhere: about the whole.
    Whole,
}

/// Which part of a node is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The key, e.g. for an unknown field.
    Key,
    /// The value, e.g. for a wrong type.
    Value,
}

/// Another place that explains a finding.
#[derive(Clone, Debug, PartialEq)]
pub struct Related {
    /// Where.
    pub place: Place,
    /// What is there.
    pub message: String,
}

/// A change of the text.
#[derive(Clone, Debug, PartialEq)]
pub struct Fix {
    /// What it does, e.g. "rename to `prefix`".
    pub message: String,
    /// The parts of it, all of one text, in its order; they do not touch each other.
    pub edits: Vec<Edit>,
}

/// One replacement of text.
#[derive(Clone, Debug, PartialEq)]
pub struct Edit {
    /// What is replaced.
    pub place: Place,
    /// With what.
    pub replacement: String,
}

impl Diagnostic {
    /// A finding with its code's severity and no detail.
    pub fn new(code: &'static Code, message: impl Into<String>, place: Place) -> Self {
        Self { code, severity: code.severity, message: message.into(), place, resource: None, related: Vec::new(), help: None, fix: None }
    }

    /// A number that is the same for findings that say the same of the same place.
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

    /// Names the resource that it is about.
    #[must_use]
    pub fn about(mut self, resource: ResourceKey) -> Self {
        self.resource = Some(resource);
        self
    }

    /// Adds another place.
    #[must_use]
    pub fn related(mut self, place: Place, message: impl Into<String>) -> Self {
        self.related.push(Related { place, message: message.into() });
        self
    }

    /// Adds advice.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds a certain change.
    #[must_use]
    pub fn fix(mut self, message: impl Into<String>, place: Place, replacement: impl Into<String>) -> Self {
        self.fix = Some(Fix { message: message.into(), edits: Vec::from([Edit { place, replacement: replacement.into() }]) });
        self
    }
}

impl Place {
    /// A node's value.
    pub fn value(object: ObjectId, node: NodeId) -> Self {
        Place::Node { object, node, part: Part::Value }
    }

    /// A node's key.
    pub fn key(object: ObjectId, node: NodeId) -> Self {
        Place::Node { object, node, part: Part::Key }
    }

    /// The value that an origin names, or the whole.
    pub fn origin(origin: impl Into<Option<Origin>>) -> Self {
        match origin.into() {
            Some(origin) if origin.object() != ObjectId::BUILT_IN => Place::value(origin.object(), origin.node()),
            _ => Place::Whole,
        }
    }

    /// The object that the place is in; `None` for a range of a text, and for the whole.
    pub fn object(&self) -> Option<ObjectId> {
        match self {
            Place::Node { object, .. } => Some(*object),
            Place::Text(..) | Place::Whole => None,
        }
    }
}
