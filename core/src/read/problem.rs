//! Problems of a text as findings with codes.

use crate::diagnostic::{Code, Diagnostic, Place, codes};
use crate::redact::Quotes;
use crate::resource::SourceId;
use crate::text::{Problem, ProblemKind};

/// The finding for a problem of a text; its ranges are relative to the chunk until it is placed. What it quotes may be secret.
pub(super) fn finding(problem: &Problem, quotes: &Quotes<'_>) -> Diagnostic {
    let place = Place::Text(SourceId(0), problem.range);
    let mut finding = Diagnostic::new(code(problem.kind), quotes.said(problem.message.trim_end_matches('.')), place);
    if let Some((range, message)) = &problem.related {
        finding = finding.related(Place::Text(SourceId(0), *range), quotes.said(message));
    }
    finding
}

fn code(kind: ProblemKind) -> &'static Code {
    match kind {
        ProblemKind::Syntax | ProblemKind::Tab | ProblemKind::ControlCharacter => &codes::SYNTAX,
        ProblemKind::Ignored | ProblemKind::NoBreakSpace => &codes::SUSPICIOUS_TEXT,
        ProblemKind::Separator => &codes::BROKEN_SEPARATOR,
        ProblemKind::Template => &codes::TEMPLATE,
        ProblemKind::TooDeep | ProblemKind::TooLarge => &codes::TOO_LARGE,
        ProblemKind::AliasBomb => &codes::ALIAS_BOMB,
        ProblemKind::UnknownAnchor | ProblemKind::MergeKey => &codes::BAD_ANCHOR,
        ProblemKind::BadTag | ProblemKind::NonStringKey | ProblemKind::NotJson => &codes::NOT_JSON,
        ProblemKind::DuplicateKey | ProblemKind::MergeReplaces => &codes::DUPLICATE_KEY,
    }
}
