//! What a compile before this one fetched, taken over where a few objects say something else than they did and all else is as it was.
//!
//! Which objects the controller sees, in which order it loads them and what it finds wrong depends on their names, kinds and labels, and on
//! what refers to Secrets. Where those are the same, and nothing was found about an object before or now, the new resource stands
//! where the old one stood.
//!
//! What must not be here: rules. Where it is not plain that they say the same, everything is fetched anew.

use super::super::Options;
use super::apply::{self, Memory, Verdict};
use super::role::Role;
use crate::compilation::Ledger;
use crate::diagnostic::{Diagnostic, Findings, Place};
use crate::dialect::ambassador::config::{Config, Resource};
use crate::resource::{Content, Object, ObjectId, Objects};
use alloc::sync::Arc;
use alloc::vec::Vec;

/// More edits than this at a time are not looked at one by one.
const FEW: usize = 64;

/// What was fetched, and of what.
pub(super) struct Before {
    /// In the order of the text.
    objects: Vec<(ObjectId, Arc<Content>)>,
    config: Config,
    ledger: Ledger,
    findings: Vec<Diagnostic>,
}

impl Before {
    pub(super) fn new(objects: &Objects, config: &Config, ledger: &Ledger, findings: &[Diagnostic]) -> Self {
        let objects = objects.all().map(|object| (object.id, object.content.clone())).collect();
        Self { objects, config: config.clone(), ledger: ledger.clone(), findings: findings.to_vec() }
    }

    /// The objects that say something else than they did, with their places; `None` where there are others, or many.
    fn edited<'o>(&self, objects: &'o Objects) -> Option<Vec<(usize, &'o Object)>> {
        if objects.all().count() != self.objects.len() {
            return None;
        }
        let mut edited = Vec::new();
        for (at, (object, (id, content))) in objects.all().zip(&self.objects).enumerate() {
            if object.id != *id || edited.len() > FEW {
                return None;
            }
            if !Arc::ptr_eq(&object.content, content) {
                edited.push((at, object));
            }
        }
        Some(edited)
    }

    /// Whether anything was found about an object.
    fn mentions(&self, object: ObjectId) -> bool {
        let is_there = |place: &Place| matches!(place, Place::Node { object: at, .. } if *at == object);
        self.findings.iter().any(|finding| is_there(&finding.place) || finding.related.iter().any(|related| is_there(&related.place)))
    }
}

/// What a compile before this one fetched, with what was edited since; `None` where that would not be the same as to fetch anew.
pub(super) fn fetch(objects: &Objects, options: &Options, memory: &mut Memory, ledger: &mut Ledger, sink: &mut Findings) -> Option<Config> {
    let Memory { verdicts, before, .. } = memory;
    let before = before.as_mut()?;
    let edited = before.edited(objects)?;
    let mut verdicts_now = Vec::new();
    let mut config = before.config.clone();
    for (at, object) in &edited {
        if object.parent.is_some() || object.broken || before.mentions(object.id) {
            return None;
        }
        let (known, now) = (verdicts.get(object)?, apply::judge(object, options));
        let (Some(old), Some(new)) = (&known.resource, &now.resource) else { return None };
        if !stands_where_it_stood(known, &now) || !is_like(old, new) || !config.replace(old, new.clone()) {
            return None;
        }
        verdicts_now.push((*at, *object, now));
    }
    for (at, object, verdict) in verdicts_now {
        before.objects[at].1 = object.content.clone();
        verdicts.learn(object, || verdict);
    }
    before.config = config.clone();
    *ledger = before.ledger.clone();
    sink.extend(before.findings.iter().cloned());
    Some(config)
}

fn stands_where_it_stood(known: &Verdict, now: &Verdict) -> bool {
    let Role::Ambassador(kind) = known.role else { return false };
    // These refer to Secrets.
    let refers = matches!(kind.name, "Host" | "TLSContext" | "Module");
    let fine = |verdict: &Verdict| verdict.refused.is_none() && verdict.errors.is_empty() && verdict.findings.is_empty();
    !refers && known.role == now.role && fine(known) && fine(now)
}

/// Whether loading tells two resources apart by nothing but their own fields.
fn is_like(a: &Resource, b: &Resource) -> bool {
    let names = |of: &Resource| (of.rkey.clone(), of.kind.clone(), of.name.clone(), of.namespace.clone(), of.api_version.clone());
    names(a) == names(b) && a.key == b.key && a.location == b.location && a.labels == b.labels && a.invalid.is_empty() && b.invalid.is_empty()
}
