//! Hosts and paths in classes that no matcher of either gateway tells apart, with a witness of each.
//!
//! What must not be here: what becomes of a witness.

use crate::backend::appgw::route::glob;
use crate::order::Gather as _;
use crate::text::Str;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// A host that no configuration has.
const UNKNOWN_HOST: &str = "elsewhere.invalid";

/// What no pattern goes on with.
const FRESH: &str = "chancery-other";

/// Of more patterns, not every pair is looked at.
const MOST_PATTERNS: usize = 200;

/// Hosts in classes.
pub(super) struct Hosts {
    /// A host of each class, and the pattern that the class is named by; none for all other hosts.
    pub(super) witnesses: Vec<(String, Option<String>)>,
    /// Whether hosts may be missing that several patterns take.
    pub(super) is_partial: bool,
}

/// Hosts as patterns tell them apart.
pub(super) fn hosts(patterns: &BTreeSet<String>) -> Hosts {
    let (wild, exact): (Vec<&String>, Vec<&String>) = patterns.iter().partition(|pattern| pattern.contains(['*', '?']));
    let mut witnesses: BTreeMap<String, Option<String>> = exact.into_iter().map(|host| (host.clone(), Some(host.clone()))).gathered();
    for pattern in &wild {
        witnesses.entry(filled(pattern)).or_insert_with(|| Some((*pattern).clone()));
    }
    let mut overlaps = 0;
    let few: Vec<&String> = wild.iter().copied().take(MOST_PATTERNS).collect();
    for (one, other) in few.iter().flat_map(|one| few.iter().map(move |other| (one, other))).filter(|(one, other)| one != other) {
        let head = one.split(['*', '?']).next().unwrap_or_default();
        let tail = other.rsplit(['*', '?']).next().unwrap_or_default();
        let both = format!("{head}x{tail}");
        if glob(one, &both) && glob(other, &both) && !witnesses.contains_key(&both) {
            overlaps += 1;
            witnesses.insert(both, Some(format!("{one} and {other}")));
        }
    }
    let mut witnesses: Vec<_> = witnesses.into_iter().collect();
    witnesses.push((UNKNOWN_HOST.to_string(), None));
    Hosts { witnesses, is_partial: overlaps > 1 || wild.len() > MOST_PATTERNS }
}

/// A host that a pattern takes.
fn filled(pattern: &str) -> String {
    pattern.replace(['*', '?'], "x")
}

/// Paths as patterns tell them apart: a path of each class, and how the class is written.
pub(super) fn paths<'p>(patterns: impl Iterator<Item = &'p Str>) -> Vec<(String, String)> {
    let mut literals: BTreeMap<String, bool> = BTreeMap::new();
    for pattern in patterns {
        let lower = pattern.to_lowercase();
        let (literal, is_exact) = lower.strip_suffix('*').map_or((lower.as_str(), true), |literal| (literal, false));
        // No request has another path.
        if literal.starts_with('/') {
            *literals.entry(literal.to_string()).or_default() |= is_exact;
        }
    }
    let mut out = Vec::new();
    for (literal, is_exact) in &literals {
        out.push((literal.clone(), if *is_exact { literal.clone() } else { format!("{literal}*") }));
        out.push((format!("{literal}{FRESH}"), format!("{literal}*")));
    }
    if !literals.contains_key("/") {
        out.extend([("/".to_string(), "/*".to_string()), (format!("/{FRESH}"), "/*".to_string())]);
    }
    out
}
