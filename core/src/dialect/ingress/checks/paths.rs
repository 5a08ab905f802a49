//! Paths: what takes more than it says, and what nothing gets to.

use super::listeners::words;
use super::{Checked, named};
use crate::diagnostic::{Diagnostic, Place};
use crate::dialect::ingress::build::listeners_of_rule;
use crate::dialect::ingress::codes;
use crate::dialect::ingress::model::{Ingress, Path, PathType};
use crate::dialect::ingress::names::ListenerId;
use crate::resource::Origin;
use crate::text::Str;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// How many earlier paths of a listener are looked at for each.
const LOOKED_AT: usize = 1000;

/// What a listener has so far: its patterns, in order, and what takes everything else.
#[derive(Default)]
struct ListenerPaths {
    patterns: Vec<(String, Origin)>,
    places: BTreeMap<String, Origin>,
    default: Option<(Origin, Option<Str>)>,
}

pub(super) fn check(checked: &mut Checked<'_, '_>) {
    let processed = checked.processed;
    let mut seen: BTreeMap<ListenerId, ListenerPaths> = BTreeMap::new();
    let mut findings = Vec::new();
    for ingress in &processed.ingresses {
        for rule in &ingress.rules {
            if rule.http.is_none() {
                let message = "the rule has no `http`, so it is skipped and its host gets no listener";
                findings.push(checked.finding(&codes::RULE_WITHOUT_PATHS, message, rule.origin));
                continue;
            }
            findings.extend(rule.paths().iter().filter_map(|path| wide(checked, path)));
            // Both listeners of a rule have the same paths: one is reported.
            let listeners = listeners_of_rule(checked.source, checked.names, ingress, rule);
            let Some((id, _)) = listeners.into_iter().next_back() else { continue };
            let of = seen.entry(id.clone()).or_default();
            for path in rule.paths() {
                findings.extend(of.add(checked, ingress, &id, path));
            }
        }
    }
    findings.into_iter().for_each(|finding| checked.tell(finding));
}

/// The pattern that the gateway gets.
fn pattern(path: &Path) -> String {
    match path.path_type {
        PathType::Exact => path.path.strip_suffix('*').unwrap_or(&path.path).into(),
        PathType::Prefix if !path.path.ends_with('*') => format!("{}*", path.path.value),
        _ => path.path.value.as_str().into(),
    }
}

/// A path that takes more than Kubernetes says.
fn wide(checked: &Checked<'_, '_>, path: &Path) -> Option<Diagnostic> {
    let text = path.path.as_str();
    match path.path_type {
        PathType::Exact if path.is_catch_all() => {
            let message = format!("the gateway has no exact `{text}`, so the path takes every request that no other path takes");
            Some(checked.finding(&codes::EXACT_ROOT, message, path.path.origin))
        }
        PathType::Prefix if !path.is_catch_all() && !text.ends_with(['/', '*']) => {
            let message =
                format!("the prefix `{text}` becomes `{text}*`, which takes `{text}x` as well; Kubernetes means `{text}` and what lies below");
            let finding = checked.finding(&codes::WIDE_PREFIX, message, path.path.origin);
            Some(finding.help(format!("write `{text}/` for what lies below it, and another path with `{text}` as `Exact`")))
        }
        _ => None,
    }
}

impl ListenerPaths {
    fn add(&mut self, checked: &Checked<'_, '_>, ingress: &Ingress<'_>, id: &ListenerId, path: &Path) -> Option<Diagnostic> {
        if path.is_catch_all() {
            let service = path.backend.service.as_ref().map(|service| service.name.value.clone());
            let before = self.default.replace((path.origin, service.clone()))?;
            if before.1 == service {
                return None;
            }
            let message = format!("{} takes all other paths of {}, which another path took before it", named(ingress), words(id));
            let finding = checked.finding(&codes::DEFAULT_TAKEN, message, path.origin);
            return Some(finding.related(Place::origin(before.0), "the path that is replaced"));
        }
        let pattern = pattern(path);
        if let Some(first) = self.places.get(&pattern) {
            let message = format!("the path `{pattern}` is a duplicate for {}; the first one is used", words(id));
            return Some(checked.finding(&codes::PATH_TAKEN, message, path.origin).related(Place::origin(*first), "the path that is used"));
        }
        let covering = self.patterns.iter().take(LOOKED_AT).find(|(earlier, _)| covers(earlier, &pattern));
        let finding = covering.map(|(earlier, at)| {
            let message = format!("`{earlier}` comes before `{pattern}` and takes all of its requests: the gateway tries paths in order");
            let finding = checked.finding(&codes::UNREACHABLE_PATH, message, path.origin).related(Place::origin(*at), "the path that takes them");
            finding.help("put the longer path first")
        });
        self.places.insert(pattern.clone(), path.origin);
        self.patterns.push((pattern, path.origin));
        finding
    }
}

/// Whether all that a later pattern matches is matched by an earlier one.
fn covers(earlier: &str, later: &str) -> bool {
    match earlier.strip_suffix('*') {
        Some(beginning) => later.trim_end_matches('*').to_lowercase().starts_with(&beginning.to_lowercase()),
        None => false,
    }
}
