//! Applies all documents to the API server, one after another.
//!
//! If the API server refuses an object, the earlier one of the same name stays; an accepted one replaces the earlier one. Does not decide what the
//! controller watches; see `watch`.

use super::role::Role;
use super::verdict::{Applied, CachedByObject, Verdict};
use super::visible::ignore;
use alloc::vec::Vec;
use chancery_base::compilation::{Ledger, State, Why};
use chancery_base::diagnostic::Findings;
use chancery_base::resource::Objects;
use chancery_kubernetes::overwritten;
use core::hash::BuildHasher;
use hashbrown::{DefaultHashBuilder, HashTable};

/// Applies all documents in order.
pub(super) fn apply<'a>(objects: &'a Objects, verdicts: &'a CachedByObject<Verdict>, ledger: &mut Ledger, sink: &mut Findings) -> Vec<Applied<'a>> {
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
            Role::Foreign => ignore(ledger, object.id, Why::UnknownKind, "Emissary-ingress does not read this kind"),
            Role::EdgeStack => ignore(ledger, object.id, Why::UnknownKind, "a kind of the Edge Stack"),
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
