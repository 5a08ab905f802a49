//! Adds the errors and warnings about each object to the rows of the ledger. Does not decide states; see the module above.

use super::LedgerRow;
use crate::finding::{Finding, findings};
use crate::{Positions, ResourceRef, Span};
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::compilation::Compilation;
use chancery_base::diagnostic::Severity;
use hashbrown::HashMap;

/// A finding about the object of a row, in brief.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct LedgerFinding {
    pub code: &'static str,
    pub severity: &'static str,
    pub message: String,
    #[serde(flatten)]
    pub span: Option<Span>,
}

/// Adds the errors and warnings of a compilation to the rows of their objects.
pub(super) fn add_findings(rows: &mut [LedgerRow], compilation: &Compilation, positions: &Positions<'_>) {
    let mut by_object: HashMap<(ResourceRef, Option<&'static str>), Vec<LedgerFinding>> = HashMap::new();
    for Finding { code, severity, dialect, message, span, object, resource, .. } in findings(compilation, positions) {
        if let Some(of) = object.or(resource).filter(|_| severity != Severity::Notice.name()) {
            by_object.entry((of, dialect)).or_default().push(LedgerFinding { code, severity, message, span });
        }
    }
    for row in rows {
        // A finding that all controllers share names no dialect.
        let dialects = [None, row.dialect];
        let keys = dialects.into_iter().take(1 + usize::from(row.dialect.is_some())).map(|dialect| (row.resource.clone(), dialect));
        let mut found: Vec<LedgerFinding> = keys.filter_map(|key| by_object.get(&key)).flatten().cloned().collect();
        let is_own = |finding: &LedgerFinding| {
            row.span.is_none() || finding.span.as_ref().is_none_or(|at| row.span.as_ref().is_some_and(|own| own.file == at.file))
        };
        found.retain(is_own);
        row.findings_more = found.len().saturating_sub(LedgerRow::MOST_FINDINGS);
        found.truncate(LedgerRow::MOST_FINDINGS);
        row.findings = found;
    }
}
