//! Collects the errors of an object during processing, for its status and for findings.

use crate::status::{DetailedCondition, SubCondition};
use alloc::string::String;
use chancery_base::diagnostic::Reported;
use chancery_base::resource::Origin;

/// The errors of an object.
#[derive(Debug, Default)]
pub struct Record {
    /// For its status.
    pub condition: DetailedCondition,
}

impl Record {
    /// Adds an error that makes the object invalid.
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
