//! What is found wrong with an object while it is worked on: for its status, and for people, at the place.
//!
//! What must not be here: deciding what is wrong.

use crate::dialect::contour::status::{DetailedCondition, SubCondition};
use crate::resource::Origin;
use alloc::string::String;

/// What is found wrong with an object.
#[derive(Debug, Default)]
pub struct Record {
    /// For its status.
    pub condition: DetailedCondition,
}

impl Record {
    /// Something that makes it invalid. Says no, for callers that give up.
    pub fn error(&mut self, kind: &'static str, reason: &'static str, message: impl Into<String>, origin: Origin) -> bool {
        self.condition.errors.push(SubCondition::new(kind, reason, message.into(), origin));
        false
    }

    /// How much there is to say.
    pub fn said(&self) -> usize {
        self.condition.errors.len() + self.condition.warnings.len()
    }

    /// Something that is ignored.
    pub fn warning(&mut self, kind: &'static str, reason: &'static str, message: impl Into<String>, origin: Origin) {
        self.condition.warnings.push(SubCondition::new(kind, reason, message.into(), origin));
    }
}
