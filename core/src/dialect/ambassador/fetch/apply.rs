//! What the API server holds after all documents were applied, one after another.
//!
//! An object that it refuses leaves the earlier one of the same name in force; a later one that it takes replaces the earlier one in its
//! place. What was found out about an object is kept in a [`Memory`] as long as its text and the options are the same.
//!
//! What must not be here: what the controller watches of it.

use super::super::Options;
use super::super::kinds::{self, Via};
use super::role::{self, Role};
use super::{again::Before, annotations::Unfolded, emit, findings};
use crate::compilation::{Ledger, State, Why};
use crate::diagnostic::{Findings, Reported, Severity};
use crate::dialect::ambassador::config::Resource;
use crate::dialect::kubernetes::{ingress, metadata, overwritten, secret, service};
use crate::resource::{Object, Objects};
use crate::text::{Node, Str};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::hash::BuildHasher;
use hashbrown::{DefaultHashBuilder, HashTable};

/// An object that the API server holds.
#[derive(Clone, Copy)]
pub(super) struct Applied<'a> {
    pub(super) object: &'a Object,
    pub(super) verdict: &'a Verdict,
}

/// What was found out about an object by itself.
pub(super) struct Verdict {
    pub(super) role: Role,
    /// Why the API server refuses it. Ambassador's own objects go on all the same, as invalid ones.
    pub(super) refused: Option<Str>,
    /// For Ambassador's kinds: its `spec` in the current version.
    pub(super) spec: Option<Arc<Node>>,
    /// What the controller's own validation found.
    pub(super) errors: Vec<String>,
    /// For Ambassador's kinds: what the compiler loads; `None` for another instance's.
    pub(super) resource: Option<Arc<Resource>>,
    pub(super) findings: Findings,
}

/// What earlier compiles found out about objects by themselves.
#[derive(Default)]
pub struct Memory {
    options: Option<Options>,
    pub(super) verdicts: Known<Verdict>,
    pub(super) unfolded: Known<Unfolded>,
    /// What all of it came to.
    pub(super) before: Option<Before>,
}

impl core::fmt::Debug for Memory {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Memory").field("objects", &self.verdicts.slots.iter().flatten().count()).finish()
    }
}

impl Memory {
    pub(super) fn prepare(&mut self, objects: &Objects, options: &Options) {
        if self.options.as_ref() != Some(options) {
            *self = Self { options: Some(options.clone()), ..Self::default() };
        }
        self.verdicts.slots.resize_with(objects.slots(), || None);
        self.unfolded.slots.resize_with(objects.slots(), || None);
    }

    pub(super) fn learn(&mut self, objects: &Objects, options: &Options) {
        for object in objects.all().filter(|object| object.parent.is_none() && !object.broken) {
            self.verdicts.learn(object, || judge(object, options));
        }
    }
}

/// What is known of objects, by the index of their number, with a hash of what it was learnt from.
pub(super) struct Known<T> {
    slots: Vec<Option<(u64, Box<T>)>>,
}

impl<T> Default for Known<T> {
    fn default() -> Self {
        Self { slots: Vec::new() }
    }
}

impl<T> Known<T> {
    /// Finds out about an object, unless it is known.
    pub(super) fn learn(&mut self, object: &Object, find_out: impl FnOnce() -> T) {
        let Some(slot) = object.id.index().and_then(|index| self.slots.get_mut(index)) else { return };
        if !matches!(slot, Some((fingerprint, _)) if *fingerprint == object.fingerprint) {
            *slot = Some((object.fingerprint, Box::new(find_out())));
        }
    }

    /// What is known of an object.
    pub(super) fn get(&self, object: &Object) -> Option<&T> {
        let (_, known) = self.slots.get(object.id.index()?)?.as_ref()?;
        Some(known)
    }
}

/// Applies all documents in order.
pub(super) fn apply<'a>(objects: &'a Objects, verdicts: &'a Known<Verdict>, ledger: &mut Ledger, sink: &mut Findings) -> Vec<Applied<'a>> {
    let mut held: Vec<Applied<'a>> = Vec::with_capacity(objects.len());
    let mut by_key: HashTable<usize> = HashTable::with_capacity(objects.len());
    let hasher = DefaultHashBuilder::default();
    for object in objects.all().filter(|object| object.parent.is_none()) {
        let Some(verdict) = verdicts.get(object).filter(|_| !object.broken) else {
            ledger.set(object.id, State::Invalid("it cannot be read".into()));
            continue;
        };
        sink.extend(verdict.findings.iter().cloned());
        let hash = hasher.hash_one(&object.key);
        let known = by_key.find(hash, |at| held[*at].object.key == object.key).copied();
        if let Some(why) = &verdict.refused {
            ledger.set(object.id, State::Invalid(why.clone()));
            match known {
                // The earlier one stays in force.
                Some(at) if held[at].verdict.refused.is_none() => continue,
                _ if verdict.resource.is_none() => continue,
                _ => {}
            }
        }
        match verdict.role {
            Role::Foreign => super::ignore(ledger, object.id, Why::UnknownKind, "Emissary-ingress does not read this kind"),
            Role::EdgeStack => super::ignore(ledger, object.id, Why::UnknownKind, "a kind of the Edge Stack"),
            _ => {}
        }
        let applied = Applied { object, verdict };
        match known {
            Some(at) => {
                let earlier = core::mem::replace(&mut held[at], applied);
                if earlier.verdict.refused.is_some() {
                    continue;
                }
                ledger.set(earlier.object.id, State::Shadowed(object.id));
                sink.report(overwritten(earlier.object, object));
            }
            None => {
                by_key.insert_unique(hash, held.len(), |at| hasher.hash_one(&held[*at].object.key));
                held.push(applied);
            }
        }
    }
    held
}

/// What the API server and the controller's validation say of an object by itself.
pub(super) fn judge(object: &Object, options: &Options) -> Verdict {
    let role = role::of(&object.key.group, &object.key.kind);
    let mut verdict = Verdict { role, refused: None, spec: None, errors: Vec::new(), resource: None, findings: Findings::default() };
    let mut sink = Findings::default();
    let accepted = match role {
        Role::UnknownAmbassador => Err(sink.report(findings::unknown_ambassador_kind(object))),
        Role::Ambassador(kind) => {
            let admission = kinds::admit(kind, object, Via::ApiServer, &object.root, &mut sink);
            // What is refused is loaded too, as invalid, so that everybody who looks at the configuration sees it.
            verdict.resource = emit::custom(object, &admission, options, &mut sink);
            verdict.spec = admission.spec;
            verdict.errors = admission.errors;
            if admission.refused { sink.since(0) } else { Ok(()) }
        }
        Role::EdgeStack => {
            sink.report(findings::edge_stack_kind(object));
            Ok(())
        }
        Role::Foreign => {
            sink.report(findings::foreign_kind(object));
            Ok(())
        }
        Role::Service => both(metadata::accepts(object, &mut sink), service::check(object, &mut sink)),
        Role::Secret => both(metadata::accepts(object, &mut sink), secret::check(object, &mut sink)),
        Role::Ingress => {
            if object.api_version != "networking.k8s.io/v1" {
                sink.report(findings::old_ingress(object));
            }
            both(metadata::accepts(object, &mut sink), ingress::check(object, &mut sink))
        }
        Role::Endpoints | Role::EndpointSlice | Role::IngressClass | Role::KnativeIngress => metadata::accepts(object, &mut sink),
    };
    if accepted.is_err() {
        let error = sink.iter().find(|finding| finding.severity == Severity::Error);
        verdict.refused = Some(error.map_or_else(|| "the API server refuses it".into(), findings::summary));
    }
    verdict.findings = sink;
    verdict
}

/// Both checks passed; each has run, so that all that is wrong is reported.
fn both(first: Result<(), Reported>, second: Result<(), Reported>) -> Result<(), Reported> {
    first.and(second)
}
