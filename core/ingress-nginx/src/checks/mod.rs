//! What is wrong with an input, or works otherwise than it looks.
//!
//! Does not change the configuration of nginx.

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

/// What checks look at.
pub(super) struct Checked<'a> {
    /// The objects of the input.
    pub objects: &'a Objects,
    /// The cluster.
    pub cluster: &'a Cluster<'a>,
    /// The controller's flags.
    pub options: &'a Options,
    /// The settings.
    pub read: &'a Read,
    /// The Ingresses.
    pub source: &'a Source,
    /// The configuration that they generate.
    pub built: &'a Built,
    /// The reasons for nginx to refuse that configuration.
    pub refusals: &'a [Refusal],
}

type Check = fn(&Checked<'_>, &mut Findings);

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

/// Runs all of them.
pub(super) fn run(checked: &Checked<'_>, sink: &mut Findings) {
    CHECKS.iter().for_each(|check| check(checked, sink));
}

impl Checked<'_> {
    /// A finding at a place, about the object that the place is in.
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

    /// A finding for something that the controller says.
    fn of_notice(&self, code: &'static Code, message: impl Into<String>, notice: &Notice, other: &str) -> Diagnostic {
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
