//! Finds the error that causes another finding. Does not group or sort findings; see `finding_group` and `finding_fold`.

use super::{Finding, ResourceRef};
use alloc::vec;
use alloc::vec::Vec;
use chancery_base::diagnostic::Severity;
use hashbrown::HashMap;

/// Codes that describe a consequence if the same object has an error.
const CONSEQUENCES: &[&str] =
    &["no-effect", "unserved", "unreachable-route", "no-hosts", "listener-without-hosts", "no-listener", "unattached-route", "unreferenced-secret"];

/// Returns for each finding the index of the error that causes it.
///
/// A finding has a cause if it describes a consequence and its object has an error, or if it refers to the place of another object's error. The cause
/// of a consequence has no cause itself.
#[must_use]
pub fn causes(findings: &[Finding]) -> Vec<Option<usize>> {
    let errors = Errors::of(findings);
    let mut out: Vec<Option<usize>> = vec![None; findings.len()];
    for (at, finding) in findings.iter().enumerate() {
        let Some(cause) = errors.cause(finding) else { continue };
        let root = root(&out, cause);
        if root != at
            && let Some(own) = out.get_mut(at)
        {
            *own = Some(root);
        }
    }
    let roots: Vec<Option<usize>> = out.iter().map(|cause| cause.map(|cause| root(&out, cause))).collect();
    roots
}

/// Follows causes to the first one.
fn root(causes: &[Option<usize>], mut at: usize) -> usize {
    while let Some(cause) = causes.get(at).copied().flatten() {
        at = cause;
    }
    at
}

/// The first error of each object.
struct Errors<'f> {
    findings: &'f [Finding],
    of_object: HashMap<&'f ResourceRef, usize>,
    /// By file and line. An error of several lines is listed at each of its first lines.
    at_line: HashMap<(&'f str, u32), Vec<usize>>,
}

/// So many lines of an error are compared with the places that other findings refer to.
const LINES: usize = 20;

impl<'f> Errors<'f> {
    fn of(findings: &'f [Finding]) -> Self {
        let mut errors = Self { findings, of_object: HashMap::new(), at_line: HashMap::new() };
        for (at, finding) in findings.iter().enumerate() {
            let (Some(object), Some(span)) = (object(finding), &finding.span) else { continue };
            let is_cause = finding.level() == Severity::Error && !CONSEQUENCES.contains(&finding.code);
            if is_cause && errors.of_object.try_insert(object, at).is_ok() {
                for line in (span.line..=span.end_line).take(LINES) {
                    errors.at_line.entry((&span.file, line)).or_default().push(at);
                }
            }
        }
        errors
    }

    fn cause(&self, finding: &Finding) -> Option<usize> {
        if CONSEQUENCES.contains(&finding.code) {
            return object(finding).and_then(|object| self.of_object.get(object)).copied();
        }
        let places = finding.related.iter().filter_map(|related| related.span.as_ref());
        let mut errors = places.filter_map(|place| self.at_line.get(&(&*place.file, place.line))).flatten().copied();
        errors.find(|at| self.findings.get(*at).is_some_and(|error| object(error) != object(finding)))
    }
}

fn object(finding: &Finding) -> Option<&ResourceRef> {
    finding.object.as_ref().or(finding.resource.as_ref())
}
