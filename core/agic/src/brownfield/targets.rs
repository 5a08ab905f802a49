//! Prohibited targets: hosts with paths that the controller must not change.
//!
//! AGIC `pkg/brownfield/targets.go` and `ingress.go`.

use super::super::model::{Http, Rule};
use alloc::vec::Vec;
use chancery_base::resource::Sourced;
use chancery_kubernetes::cursor::Cursor;
use chancery_text::Str;

/// A host and a path; empty for all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    pub host: Sourced<Str>,
    /// In lower case.
    pub path: Sourced<Str>,
}

/// All prohibited targets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Targets {
    targets: Vec<Target>,
    /// The number of objects that they come from; an object without paths is counted too.
    objects: usize,
}

impl Targets {
    /// Reads targets from the `spec` of AzureIngressProhibitedTargets.
    pub fn read(specs: &[Cursor<'_>]) -> Self {
        let mut targets = Vec::new();
        for spec in specs {
            let host = spec.field("hostname");
            let host = Sourced::new(Str::new(host.str()), host.origin());
            let paths = spec.field("paths").texts();
            if paths.is_empty() {
                targets.push(Target { host: host.clone(), path: Sourced::new(Str::default(), host.origin) });
            }
            let with_path = paths.into_iter().map(|path| Target { host: host.clone(), path: path.map(|path| path.to_lowercase().into()) });
            targets.extend(with_path);
        }
        Self { targets, objects: specs.len() }
    }

    pub fn is_empty(&self) -> bool {
        self.objects == 0
    }

    /// Whether a target names this host, with exactly this spelling.
    pub fn names_host(&self, host: &str) -> bool {
        !host.is_empty() && self.targets.iter().any(|target| *target.host == *host)
    }

    /// Returns the target that covers a host and a path. A target without a host covers every host; a path with a star covers everything below it.
    pub fn covers(&self, host: &str, path: &str) -> Option<&Target> {
        let path = path.to_lowercase();
        self.targets.iter().find(|target| {
            let same_host = target.host.is_empty() || target.host.to_lowercase() == host.to_lowercase();
            same_host && (matches!(target.path.as_str(), "" | "/*") || *target.path == *path || contains(&target.path, &path))
        })
    }

    /// Whether the rules of an Ingress contain prohibited parts, or rules without `http`, which are removed with them.
    pub fn concern(&self, rules: &[Rule]) -> bool {
        let is_concerned = |rule: &Rule| match &rule.http {
            Some(http) if http.has_paths => http.paths.is_empty() || http.paths.iter().any(|path| self.covers(&rule.host, &path.path).is_some()),
            Some(_) => self.covers(&rule.host, "").is_some(),
            None => true,
        };
        !self.targets.is_empty() && rules.iter().any(is_concerned)
    }

    /// Returns the rules of an Ingress without the prohibited parts.
    pub fn prune(&self, rules: Vec<Rule>) -> Vec<Rule> {
        if self.targets.is_empty() {
            return rules;
        }
        let pruned = rules.into_iter().filter_map(|rule| {
            let http = rule.http?;
            if !http.has_paths {
                return self.covers(&rule.host, "").is_none().then_some(Rule { http: Some(http), ..rule });
            }
            let paths: Vec<_> = http.paths.into_iter().filter(|path| self.covers(&rule.host, &path.path).is_none()).collect();
            let left = !paths.is_empty();
            left.then_some(Rule { http: Some(Http { has_paths: true, paths }), ..rule })
        });
        pruned.collect()
    }
}

/// Whether a path covers another one, both in lower case: `/x/*` covers `/x` and `/x/y`, not `/xy`.
fn contains(path: &str, other: &str) -> bool {
    if matches!(path, "" | "*" | "/*") {
        return true;
    }
    if !path.ends_with('*') {
        return path == other;
    }
    let bare = |path: &str| path.trim_end_matches(['/', '*']).len();
    if path.get(..bare(path)) == other.get(..bare(other)) {
        return true;
    }
    if path.len() > other.len() {
        return false;
    }
    let mut others = other.split('/');
    for step in path.split('/') {
        if step == "*" {
            return true;
        }
        if others.next() != Some(step) {
            return false;
        }
    }
    false
}

#[cfg(test)]
mod tests;
