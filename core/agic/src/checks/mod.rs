//! Checks an input for errors and likely mistakes: those that the controller reports, and those that it does not.

mod backends;
mod class;
mod events;
mod gateway;
mod limits;
mod listener_order;
mod listeners;
mod paths;
mod patterns;
mod rewrites;
mod shared;
mod tls;
mod values;

use super::build::{Group, Share};
use super::controller::Processed;
use super::model::Ingress;
use super::names::{ListenerId, Names};
use super::options::Options;
use super::source::Source;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::diagnostic::{Code, Diagnostic, Findings, Place};
use chancery_base::ir::appgw::{Gateway, Part, PathMap};
use chancery_base::resource::{ObjectId, Objects, Origin};
use core::ops::Deref;
use hashbrown::{HashMap, HashSet};

/// The input of checks.
pub struct Checked<'a, 'c> {
    pub objects: &'a Objects,
    pub source: &'a Source<'c>,
    /// How the controller is started.
    pub options: &'a Options,
    /// The names of parts.
    pub names: &'a Names,
    /// The gateway before the compile.
    pub before: &'a Gateway,
    /// The result of the compile.
    pub processed: &'a Processed,
    /// Receives findings.
    pub sink: &'a mut Findings,
}

type Check = fn(&mut Run<'_, '_, '_>);

/// The checks, in the order in which findings are reported.
const CHECKS: &[Check] = &[
    events::check,
    gateway::check,
    class::check,
    values::check,
    limits::check,
    tls::check,
    listeners::check,
    listener_order::check,
    paths::check,
    backends::check,
    rewrites::check,
    shared::check,
];

/// The values without findings in earlier compiles, by their addresses. All others are checked again.
#[derive(Default)]
pub struct Memory {
    shares: HashMap<usize, Arc<Share>>,
    path_maps: HashMap<usize, Arc<Part<PathMap>>>,
}

/// Runs all checks.
pub fn run(checked: Checked<'_, '_>, memory: &mut Memory) {
    let mut run = Run { checked, memory, loud: HashSet::new(), loud_listeners: HashSet::new() };
    for check in CHECKS {
        check(&mut run);
    }
    let Run { checked, loud, loud_listeners, .. } = run;
    let quiet = checked.processed.shares.iter().enumerate().filter(|(at, _)| !loud.contains(at));
    let shares = quiet.map(|(_, share)| (Arc::as_ptr(share).addr(), share.clone())).collect();
    let quiet = checked.processed.path_maps.iter().filter(|group| !loud_listeners.contains(&*group.id));
    let path_maps = quiet.map(|group| (Arc::as_ptr(&group.map).addr(), group.map.clone())).collect();
    *memory = Memory { shares, path_maps };
}

/// The checks while they run.
struct Run<'a, 'c, 'm> {
    checked: Checked<'a, 'c>,
    memory: &'m Memory,
    /// The indexes of Ingresses with a finding.
    loud: HashSet<usize>,
    /// Listeners whose paths have a finding.
    loud_listeners: HashSet<ListenerId>,
}

impl<'a, 'c> Deref for Run<'a, 'c, '_> {
    type Target = Checked<'a, 'c>;

    fn deref(&self) -> &Checked<'a, 'c> {
        &self.checked
    }
}

impl Run<'_, '_, '_> {
    /// Whether no check of this Ingress alone finds anything, as known from earlier compiles.
    fn is_quiet(&self, at: usize) -> bool {
        self.processed.shares.get(at).is_some_and(|share| self.memory.shares.contains_key(&Arc::as_ptr(share).addr()))
    }

    /// Whether the paths of a listener have no finding, as known from earlier compiles.
    fn has_quiet_paths(&self, group: &Group) -> bool {
        self.memory.path_maps.contains_key(&Arc::as_ptr(&group.map).addr())
    }

    /// Runs a check of each Ingress with the Services and Secrets that it refers to.
    fn each(&mut self, check: impl Fn(&Checked<'_, '_>, &Ingress) -> Vec<Diagnostic>) {
        let processed = self.processed;
        for (at, ingress) in processed.ingresses.iter().enumerate() {
            if !self.is_quiet(at) {
                let found = check(&self.checked, ingress);
                self.report_about(at, found);
            }
        }
    }

    /// Reports the findings about one Ingress.
    fn report_about(&mut self, at: usize, found: Vec<Diagnostic>) {
        if !found.is_empty() {
            self.loud.insert(at);
        }
        found.into_iter().for_each(|finding| self.report(finding));
    }

    fn report(&mut self, finding: Diagnostic) {
        self.checked.sink.report(finding);
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
}

/// Describes an Ingress for a sentence.
fn named(ingress: &Ingress) -> String {
    alloc::format!("Ingress `{}`", ingress.key())
}
