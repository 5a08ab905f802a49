//! Checks paths: those that match more than they say, and those that no request reaches.

use super::listeners::words;
use super::patterns;
use super::{Checked, Run, named};
use crate::build::listeners_of_rule;
use crate::codes;
use crate::model::{Ingress, Path, PathType, Rule};
use crate::names::ListenerId;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::diagnostic::{Diagnostic, Place};
use chancery_base::resource::Origin;
use chancery_text::Str;
use hashbrown::{HashMap, HashSet};

/// The paths of a listener so far: the prefixes of patterns with a star, in lower case, each with the index and place of the first; the places of
/// all patterns; and the pattern for everything else.
#[derive(Default)]
struct ListenerPaths {
    patterns: Vec<(String, Origin)>,
    beginnings: HashMap<String, usize>,
    places: HashMap<String, Origin>,
    default: Option<(Origin, Option<Str>)>,
}

pub(super) fn check(checked: &mut Run<'_, '_, '_>) {
    let processed = checked.processed;
    checked.each(patterns::check);
    // Whether there is anything to look at, for each rule of each Ingress.
    let groups = processed.path_maps.iter().filter(|group| !checked.has_quiet_paths(group));
    let active: HashSet<(usize, Option<usize>)> = groups.flat_map(|group| &group.paths).map(|(at, paths)| (*at as usize, paths.rule)).collect();
    let mut seen: HashMap<ListenerId, ListenerPaths> = HashMap::new();
    for (at, ingress) in processed.ingresses.iter().enumerate() {
        for (number, rule) in ingress.rules.iter().enumerate() {
            if !checked.is_quiet(at) {
                let found = of_rule(checked, rule, ingress.rules.get(number + 1));
                checked.report_about(at, found);
            }
            if rule.http.is_none() || !active.contains(&(at, Some(number))) && !processed.path_maps.is_empty() {
                continue;
            }
            // Both listeners of a rule have the same paths: one is reported.
            let listeners = listeners_of_rule(checked.source, checked.names, ingress, rule);
            let Some((id, _)) = listeners.into_iter().next_back() else { continue };
            let of = seen.entry(id.clone()).or_default();
            let found: Vec<Diagnostic> = rule.paths().iter().filter_map(|path| of.add(checked, ingress, &id, path)).collect();
            if !found.is_empty() {
                checked.loud_listeners.insert(id);
            }
            found.into_iter().for_each(|finding| checked.report(finding));
        }
    }
}

fn of_rule(checked: &Checked<'_, '_>, rule: &Rule, next: Option<&Rule>) -> Vec<Diagnostic> {
    if rule.http.is_none() {
        let host = rule.host.as_str();
        let message = if host.is_empty() {
            "the rule has no `http`, so AGIC skips it".into()
        } else {
            format!("the rule for `{host}` has no `http`, so AGIC skips it: `{host}` gets no listener")
        };
        let finding = checked.finding(&codes::RULE_WITHOUT_PATHS, message, rule.origin);
        let split = next.filter(|next| next.http.is_some() && next.host.is_empty() && !host.is_empty());
        return Vec::from([match split {
            Some(next) => finding
                .related(Place::origin(next.origin), "this rule has no host, so its paths apply to every host")
                .help(format!("the dash before `http` starts a second rule: remove it, so that the paths apply to `{host}` only")),
            None => finding,
        }]);
    }
    rule.paths().iter().filter_map(|path| wide(checked, path)).collect()
}

/// The pattern that the gateway gets.
fn pattern(path: &Path) -> String {
    match path.path_type {
        PathType::Exact => path.path.strip_suffix('*').unwrap_or(&path.path).into(),
        PathType::Prefix if !path.path.ends_with('*') => format!("{}*", path.path.value),
        _ => path.path.value.as_str().into(),
    }
}

/// Reports a path that matches more than Kubernetes defines.
fn wide(checked: &Checked<'_, '_>, path: &Path) -> Option<Diagnostic> {
    let text = path.path.as_str();
    match path.path_type {
        PathType::Exact if path.is_catch_all() => {
            let message = format!("the gateway has no exact `{text}`, so the path takes every request that no other path takes");
            Some(checked.finding(&codes::EXACT_ROOT, message, path.path.origin))
        }
        PathType::Prefix if !path.is_catch_all() && !text.ends_with(['/', '*']) && !patterns::is_odd(path) => {
            let message = format!(
                "the prefix `{text}` becomes `{text}*`, which also matches `{text}x`; in Kubernetes it matches `{text}` and the paths below it"
            );
            let finding = checked.finding(&codes::WIDE_PREFIX, message, path.path.origin);
            Some(finding.help(format!("write `{text}/` for everything below it, and another path with `{text}` as `Exact`")))
        }
        // The path of a file has nothing below it.
        PathType::Unspecified if !path.is_catch_all() && !text.ends_with('*') && !names_file(text) && !patterns::is_odd(path) => {
            let message = format!("the path `{text}` matches only itself: without a star, it has no paths below it");
            let finding = checked.finding(&codes::PATH_WITHOUT_STAR, message, path.path.origin);
            Some(finding.help(format!("write `{}/*` for the paths below it, or `pathType: Exact` if it is meant so", text.trim_end_matches('/'))))
        }
        _ => None,
    }
}

/// Whether the last segment of a path has an ending, as the name of a file.
fn names_file(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|segment| segment.contains('.'))
}

impl ListenerPaths {
    fn add(&mut self, checked: &Checked<'_, '_>, ingress: &Ingress, id: &ListenerId, path: &Path) -> Option<Diagnostic> {
        if path.is_catch_all() {
            let service = path.backend.service.as_ref().map(|service| service.name.value.clone());
            let before = self.default.replace((path.origin, service.clone()))?;
            if before.1 == service {
                return None;
            }
            let (lost, text) = (before.0, if path.path.is_empty() { "the empty path" } else { &format!("`{}`", path.path.value) });
            let message = format!("this path is lost: {text} of {} is also for {}, and AGIC uses the last one", named(ingress), words(id));
            let finding = checked.finding(&codes::DEFAULT_TAKEN, message, lost);
            return Some(finding.related(Place::origin(path.origin), "the path that is used").help("give one of them its own host or path"));
        }
        let pattern = pattern(path);
        if let Some(first) = self.places.get(&pattern) {
            let message = format!("`{pattern}` for {} is served by an earlier path, so no request reaches this one", words(id));
            return Some(checked.finding(&codes::PATH_TAKEN, message, path.origin).related(Place::origin(*first), "this path is used"));
        }
        let covering = self.covering(&pattern);
        let finding = covering.map(|(earlier, at)| {
            let message = format!("`{earlier}` comes before `{pattern}` and takes all of its requests: the gateway tries paths in order");
            let finding = checked.finding(&codes::UNREACHABLE_PATH, message, path.origin).related(Place::origin(*at), "the path that matches them");
            finding.help("put the longer path first")
        });
        self.places.insert(pattern.clone(), path.origin);
        if let Some(beginning) = pattern.strip_suffix('*') {
            self.beginnings.entry(beginning.to_lowercase()).or_insert(self.patterns.len());
        }
        self.patterns.push((pattern, path.origin));
        finding
    }

    /// Returns the first pattern that matches everything that a later one matches.
    fn covering(&self, later: &str) -> Option<&(String, Origin)> {
        let later = later.trim_end_matches('*').to_lowercase();
        let beginnings = (0..=later.len()).filter_map(|end| self.beginnings.get(later.get(..end)?));
        self.patterns.get(*beginnings.min()?)
    }
}
