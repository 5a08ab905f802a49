//! Reports faults of an input, and settings with a surprising effect.
//!
//! Does not change the configuration of nginx; see `build`.

mod canaries;
mod clients;
mod dropped;
mod hosts;
mod passthrough;
mod paths;
pub(crate) mod refused;
mod service_certificates;
mod settings;

use super::annotations::{Annotations, table};
use super::build::{Built, Notice};
use super::cluster::Cluster;
use super::config_map::Read;
use super::options::Options;
use super::source::Source;
use alloc::string::String;
use chancery_base::diagnostic::{Code, Diagnostic, Findings, Place};
use chancery_base::resource::{ObjectId, Objects, Origin};
use chancery_nginx::refusal::Refusal;

/// The input of the checks.
pub(super) struct CheckInput<'a> {
    pub objects: &'a Objects,
    pub cluster: &'a Cluster<'a>,
    pub options: &'a Options,
    /// The ConfigMap's settings.
    pub read: &'a Read,
    pub source: &'a Source,
    /// The configuration that the Ingresses generate.
    pub built: &'a Built,
    /// The reasons why nginx refuses the configuration.
    pub refusals: &'a [Refusal],
}

type Check = fn(&CheckInput<'_>, &mut Findings);

/// The checks, in the order in which findings are reported.
const CHECKS: &[Check] = &[
    dropped::check,
    settings::check,
    refused::check,
    hosts::check,
    passthrough::check,
    paths::check,
    service_certificates::check,
    clients::check,
    canaries::check,
];

/// Runs all checks.
pub(super) fn run(input: &CheckInput<'_>, sink: &mut Findings) {
    CHECKS.iter().for_each(|check| check(input, sink));
}

impl CheckInput<'_> {
    /// Builds a finding at a place, about the object that contains the place.
    fn finding(&self, code: &'static Code, message: impl Into<String>, origin: Option<Origin>) -> Diagnostic {
        self.finding_about(code, message, origin, origin.map(Origin::object))
    }

    fn finding_about(&self, code: &'static Code, message: impl Into<String>, origin: Option<Origin>, about: Option<ObjectId>) -> Diagnostic {
        let finding = Diagnostic::new(code, message, Place::origin(origin));
        match about.and_then(|id| self.objects.get(id)) {
            Some(object) => finding.about(object.key.clone()),
            None => finding,
        }
    }

    /// Builds a finding from a message of the controller. `other` describes the second place of the message.
    fn notice_finding(&self, code: &'static Code, message: impl Into<String>, notice: &Notice, other: &str) -> Diagnostic {
        let finding = self.finding_about(code, message, notice.origin, notice.ingress);
        match notice.other {
            Some(at) => finding.related(Place::origin(at), other),
            None => finding,
        }
    }
}

/// Returns the origin of an annotation, under its name or an older name.
fn origin_of(annotations: &Annotations, name: &str) -> Option<Origin> {
    let aliases = table::find(name).map_or(&[][..], |annotation| annotation.aliases);
    let is_it = |own: &str| own == name || aliases.contains(&own);
    annotations.own().find(|(own, _)| is_it(own)).and_then(|(_, value)| value.origin)
}
