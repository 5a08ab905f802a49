//! Reuses the results of the previous fetch if only a few objects changed.
//!
//! The controller's view, its load order and its findings depend on names, kinds, labels and references to Secrets. If these are unchanged and the
//! object has no findings before or now, the new resource replaces the old one. In any doubt, everything is fetched again.

use super::super::Options;
use super::judge::judge;
use super::memory::Memory;
use super::role::Role;
use super::verdict::Verdict;
use crate::config::{Config, Resource};
use alloc::boxed::Box;
use alloc::vec::Vec;
use chancery_base::compilation::Ledger;
use chancery_base::diagnostic::Findings;
use chancery_base::resource::Objects;

/// The previous results with the edited objects; `None` if a fresh fetch could differ.
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
        let (known, now) = (verdicts.get(object)?, judge(object, options));
        let (Some(old), Some(new)) = (&known.resource, &now.resource) else { return None };
        if !is_at_same_position(known, &now) || !is_like(old, new) || !config.replace(old, new.clone()) {
            return None;
        }
        verdicts_now.push((*at, *object, now));
    }
    for (at, object, verdict) in verdicts_now {
        before.objects[at].1 = object.content.clone();
        verdicts.insert(object, Box::new(verdict));
    }
    before.config = config.clone();
    *ledger = before.ledger.clone();
    sink.extend(before.findings.iter().cloned());
    Some(config)
}

fn is_at_same_position(known: &Verdict, now: &Verdict) -> bool {
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
