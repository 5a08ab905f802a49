//! What is found wrong with an object while it is worked on: for its status, and for people, at the place.
//!
//! What must not be here: deciding what is wrong.

use crate::status::{DetailedCondition, SubCondition};
use alloc::string::String;
use chancery_base::diagnostic::Reported;
use chancery_base::resource::Origin;

/// What is found wrong with an object.
#[derive(Debug, Default)]
pub struct Record {
    /// For its status.
    pub condition: DetailedCondition,
}

impl Record {
    /// Something that makes it invalid.
    pub fn error(&mut self, kind: &'static str, reason: &'static str, message: impl Into<String>, origin: Origin) -> Reported {
        self.condition.errors.report(SubCondition::new(kind, reason, message.into(), origin))
    }

    /// How much was reported.
    pub fn reports(&self) -> usize {
        self.condition.errors.len() + self.condition.warnings.len()
    }

    /// Something that is ignored.
    pub fn warning(&mut self, kind: &'static str, reason: &'static str, message: impl Into<String>, origin: Origin) {
        self.condition.warnings.push(SubCondition::new(kind, reason, message.into(), origin));
    }
}
