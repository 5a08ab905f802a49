//! Sorts findings for readers: folds findings that another finding causes, and tags findings about text without effect. Does not create findings;
//! see `finding`.

use super::Finding;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use chancery_base::diagnostic::Severity;

/// Codes that describe a consequence if the same object has an error.
const CONSEQUENCES: &[&str] =
    &["no-effect", "unserved", "unreachable-route", "no-hosts", "listener-without-hosts", "no-listener", "unattached-route", "unreferenced-secret"];

/// A finding with the findings that it causes.
#[derive(Clone, Debug, PartialEq)]
pub struct FoldedFinding<'f> {
    pub finding: &'f Finding,
    /// The findings that disappear once this one is fixed.
    pub consequences: Vec<&'f Finding>,
}

/// Folds consequences into the error of the same object, in the order of the findings.
#[must_use]
pub fn fold(findings: &[Finding]) -> Vec<FoldedFinding<'_>> {
    let is_cause = |finding: &Finding| finding.level() == Severity::Error && !CONSEQUENCES.contains(&finding.code);
    let about = |finding: &Finding| finding.object.clone().or_else(|| finding.resource.clone());
    let mut causes: BTreeMap<_, usize> = BTreeMap::new();
    let mut out: Vec<FoldedFinding<'_>> = Vec::with_capacity(findings.len());
    let mut open: Vec<&Finding> = Vec::new();
    for finding in findings {
        if CONSEQUENCES.contains(&finding.code) {
            open.push(finding);
            continue;
        }
        if let Some(object) = about(finding).filter(|_| is_cause(finding)) {
            causes.entry((object, finding.span.as_ref().map(|span| span.source.0))).or_insert(out.len());
        }
        out.push(FoldedFinding { finding, consequences: Vec::new() });
    }
    for finding in open {
        let cause = about(finding).and_then(|object| causes.get(&(object, finding.span.as_ref().map(|span| span.source.0))));
        match cause.and_then(|at| out.get_mut(*at)) {
            Some(cause) => cause.consequences.push(finding),
            None => out.push(FoldedFinding { finding, consequences: Vec::new() }),
        }
    }
    out.sort_by_key(|folded| folded.finding.span.as_ref().map_or((u32::MAX, 0), |span| (span.source.0, span.offset)));
    out
}

/// How an editor shows the text of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FindingTag {
    /// The text has no effect.
    Unnecessary,
    /// The text is outdated.
    Deprecated,
}

impl FindingTag {
    /// Returns the number of the tag in the language server protocol.
    #[must_use]
    pub fn number(self) -> u8 {
        match self {
            FindingTag::Unnecessary => 1,
            FindingTag::Deprecated => 2,
        }
    }
}

/// Returns the tag of a code's findings, if any.
#[must_use]
pub fn tag_of(code: &str) -> Option<FindingTag> {
    if code.starts_with("deprecated-") {
        return Some(FindingTag::Deprecated);
    }
    let is_unnecessary = code.ends_with("without-effect")
        || code.starts_with("unused-")
        || matches!(
            code,
            "no-effect" | "unreachable-route" | "unknown-field" | "null-dropped" | "overwritten" | "duplicate-member" | "unreferenced-secret"
        );
    is_unnecessary.then_some(FindingTag::Unnecessary)
}
