//! Prepares findings for editors: folds findings that another finding causes, and tags findings about text without effect. Does not decide what
//! causes what; see `finding_cause`.

use super::{Finding, causes};
use alloc::vec::Vec;

/// A finding with the findings that it causes.
#[derive(Clone, Debug, PartialEq)]
pub struct FoldedFinding<'f> {
    pub finding: &'f Finding,
    /// The findings in the same file that disappear once this one is fixed.
    pub consequences: Vec<&'f Finding>,
}

/// Folds findings into the error in the same file that causes them, in the order of the text.
#[must_use]
pub fn fold(findings: &[Finding]) -> Vec<FoldedFinding<'_>> {
    let source = |finding: &Finding| finding.span.as_ref().map(|span| span.source.0);
    let mut folded: Vec<Option<FoldedFinding<'_>>> =
        findings.iter().map(|finding| Some(FoldedFinding { finding, consequences: Vec::new() })).collect();
    for (at, (finding, cause)) in findings.iter().zip(causes(findings)).enumerate() {
        let Some(cause) = cause.and_then(|cause| folded.get_mut(cause)?.as_mut()).filter(|cause| source(cause.finding) == source(finding)) else {
            continue;
        };
        cause.consequences.push(finding);
        if let Some(own) = folded.get_mut(at) {
            *own = None;
        }
    }
    let mut out: Vec<FoldedFinding<'_>> = folded.into_iter().flatten().collect();
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
