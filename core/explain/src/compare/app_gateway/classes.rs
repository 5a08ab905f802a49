//! Divides hosts and paths into classes that the matchers of both gateways cannot distinguish, each with a witness. Does not route witnesses; see
//! `requests`.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_app_gateway::route::glob;
use chancery_text::Str;

/// A host that no configuration contains.
const UNKNOWN_HOST: &str = "elsewhere.invalid";

/// A segment that no pattern contains.
const FRESH: &str = "chancery-other";

/// With more patterns, pairs are not examined.
const MOST_PATTERNS: usize = 200;

pub(super) struct Hosts {
    /// A host of each class, and the pattern that names the class; no pattern for all other hosts.
    pub(super) witnesses: Vec<(String, Option<String>)>,
    /// Whether hosts that match several patterns may be missing.
    pub(super) is_partial: bool,
}

/// Divides hosts by patterns.
pub(super) fn hosts(patterns: &BTreeSet<String>) -> Hosts {
    let (wild, exact): (Vec<&String>, Vec<&String>) = patterns.iter().partition(|pattern| pattern.contains(['*', '?']));
    let mut witnesses: BTreeMap<String, Option<String>> = exact.into_iter().map(|host| (host.clone(), Some(host.clone()))).collect();
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

/// Returns a host that matches a pattern.
fn filled(pattern: &str) -> String {
    pattern.replace(['*', '?'], "x")
}

pub(super) struct PathClass {
    /// A path in the class.
    pub(super) witness: String,
    /// The pattern of the class.
    pub(super) written: String,
    /// The patterns of narrower classes, which do not belong to it.
    pub(super) others: Vec<String>,
}

/// Divides paths by patterns.
pub(super) fn paths<'p>(patterns: impl Iterator<Item = &'p Str>) -> Vec<PathClass> {
    let mut literals: BTreeMap<String, bool> = BTreeMap::new();
    for pattern in patterns {
        let lower = pattern.to_lowercase();
        let (literal, is_exact) = lower.strip_suffix('*').map_or((lower.as_str(), true), |literal| (literal, false));
        // All paths begin with `/`.
        if literal.starts_with('/') {
            *literals.entry(literal.to_string()).or_default() |= is_exact;
        }
    }
    let written = |literal: &str, is_exact: bool| if is_exact { literal.to_string() } else { format!("{literal}*") };
    // Excludes only the outermost of the narrower patterns.
    let within = |literal: &str| {
        let mut others: Vec<(&String, bool)> = Vec::new();
        for (other, is_exact) in literals.range(literal.to_string()..).take_while(|(other, _)| other.starts_with(literal)) {
            let is_covered = others.iter().any(|(known, is_exact)| !is_exact && other.starts_with(known.as_str()));
            if other != literal && !is_covered {
                others.push((other, *is_exact));
            }
        }
        others.into_iter().map(|(other, is_exact)| written(other, is_exact)).collect::<Vec<_>>()
    };
    let mut out = Vec::new();
    let mut add = |witness: String, written: String, others: Vec<String>| out.push(PathClass { witness, written, others });
    for (literal, is_exact) in &literals {
        let others = if *is_exact { Vec::new() } else { within(literal) };
        add(literal.clone(), written(literal, *is_exact), others);
        add(format!("{literal}{FRESH}"), format!("{literal}*"), within(literal));
    }
    if !literals.contains_key("/") {
        add("/".to_string(), "/*".to_string(), within("/"));
        add(format!("/{FRESH}"), "/*".to_string(), within("/"));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::paths;
    use alloc::vec::Vec;
    use chancery_text::Str;

    #[test]
    fn path_class_excludes_narrower_patterns() {
        let patterns = ["/api*", "/api/*", "/api/v1", "/*"].map(Str::new);
        let found = paths(patterns.iter());
        let classes: Vec<_> = found.iter().map(|of| (of.written.as_str(), of.others.join(" "))).collect();
        let of = |written: &str| classes.iter().filter(|(class, _)| *class == written).map(|(_, others)| others.as_str()).collect::<Vec<_>>();
        assert_eq!(of("/*"), ["/api*", "/api*"]);
        assert_eq!(of("/api*"), ["/api/*", "/api/*"]);
        assert_eq!(of("/api/*"), ["/api/v1", "/api/v1"]);
        assert_eq!(of("/api/v1"), [""]);
    }
}
