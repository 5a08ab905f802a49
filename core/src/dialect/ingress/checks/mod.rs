//! What is wrong with an input, or hardly meant so: what the controller says itself, and what it does not say.
//!
//! What must not be here: what the gateway gets.

mod backends;
mod class;
mod events;
mod limits;
mod listeners;
mod paths;
mod rewrites;
mod shared;
mod tls;
mod values;

use super::controller::Processed;
use super::model::Ingress;
use super::names::Names;
use super::options::Options;
use super::source::Source;
use crate::diagnostic::{Code, Diagnostic, Findings, Place};
use crate::ir::appgw::Gateway;
use crate::resource::{ObjectId, Objects, Origin};
use alloc::string::String;

/// What checks look at.
pub struct Checked<'a, 'c> {
    /// The objects of the input.
    pub objects: &'a Objects,
    /// The cluster.
    pub source: &'a Source<'c>,
    /// How the controller is started.
    pub options: &'a Options,
    /// The names of parts.
    pub names: &'a Names,
    /// The gateway as it was.
    pub before: &'a Gateway,
    /// What came of it.
    pub processed: &'a Processed<'c>,
    /// Where findings go.
    pub sink: &'a mut Findings,
}

type Check = fn(&mut Checked<'_, '_>);

/// The checks, in the order in which findings are reported.
const CHECKS: &[Check] = &[
    events::check,
    class::check,
    values::check,
    limits::check,
    tls::check,
    listeners::check,
    paths::check,
    backends::check,
    rewrites::check,
    shared::check,
];

/// Runs all of them.
pub fn run(mut checked: Checked<'_, '_>) {
    for check in CHECKS {
        check(&mut checked);
    }
}

impl Checked<'_, '_> {
    /// A finding at a place.
    fn finding(&self, code: &'static Code, message: impl Into<String>, at: impl Into<Option<Origin>>) -> Diagnostic {
        let at = at.into().filter(|origin| origin.object() != ObjectId::BUILT_IN);
        let finding = Diagnostic::new(code, message, Place::origin(at));
        match at.and_then(|origin| self.objects.get(origin.object())) {
            Some(object) => finding.about(object.key.clone()),
            None => finding,
        }
    }

    /// Tells a finding.
    fn tell(&mut self, finding: Diagnostic) {
        self.sink.report(finding);
    }
}

/// An Ingress, in sentences.
fn named(ingress: &Ingress<'_>) -> String {
    alloc::format!("Ingress `{}`", ingress.key())
}
