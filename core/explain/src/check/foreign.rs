//! Joins the notices about kinds that a controller does not read: one notice per side.
//!
//! Unknown kinds in a dialect's own groups are mistakes and are reported elsewhere; see `kind`.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::compilation::Side;
use chancery_base::diagnostic::{Diagnostic, Severity, codes};
use chancery_base::resource::ResourceKey;

/// At most this many kinds are named.
const MOST: usize = 6;

/// Joins the notices of a side into its first one. An object of a non-existent kind has an error or a warning, and loses its notice.
pub(super) fn join(side: &mut Side) {
    let is_mistake = |finding: &&Diagnostic| finding.code == &codes::UNKNOWN_KIND && finding.severity != Severity::Notice;
    let mistakes: BTreeSet<ResourceKey> = side.diagnostics.iter().filter(is_mistake).filter_map(|finding| finding.resource.clone()).collect();
    let is_of_mistake = |finding: &Diagnostic| finding.resource.as_ref().is_some_and(|key| mistakes.contains(key));
    side.diagnostics.retain(|finding| finding.code != &codes::UNKNOWN_KIND || finding.severity != Severity::Notice || !is_of_mistake(finding));
    let is_foreign = |finding: &Diagnostic| finding.code == &codes::UNKNOWN_KIND && finding.severity == Severity::Notice && finding.help.is_none();
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for finding in side.diagnostics.iter().filter(|finding| is_foreign(finding)) {
        *kinds.entry(finding.resource.as_ref().map_or("", |key| &key.kind)).or_default() += 1;
    }
    let count: usize = kinds.values().sum();
    if count < 2 {
        return;
    }
    let named: Vec<String> =
        kinds.iter().take(MOST).map(|(kind, count)| if *count == 1 { (*kind).into() } else { format!("{kind} ({count})") }).collect();
    let more = if kinds.len() > MOST { format!(" and {} more kinds", kinds.len() - MOST) } else { String::new() };
    let message = format!("{} does not read {count} of the objects: {}{more}", side.dialect.controller, named.join(", "));
    let mut first = true;
    side.diagnostics.retain_mut(|finding| {
        if !is_foreign(finding) {
            return true;
        }
        if first {
            finding.message.clone_from(&message);
        }
        core::mem::take(&mut first)
    });
}
