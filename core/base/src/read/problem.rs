//! Converts problems of a text to findings.

use super::fixes;
use crate::diagnostic::{Code, Diagnostic, Fix, Place, Severity, codes};
use crate::redact::Quotes;
use crate::resource::SourceId;
use alloc::vec::Vec;
use chancery_text::{Document, Limits, Problem, ProblemKind, TextRange, WRONG_QUOTES, is_hcl};

/// The keys that identify a Kubernetes object or a config entry. If several of them are repeated, the document contains two objects.
const OF_OBJECT: [&str; 7] = ["apiVersion", "kind", "metadata", "spec", "name", "Kind", "Name"];

/// The findings for the problems of a document. A missing or broken separator explains all repeated keys, so it gives one error: the first object
/// is lost. With limits, possible fixes are tested.
pub(super) fn findings(document: &Document, text: &str, quotes: &Quotes<'_>, fixes: Option<&Limits>) -> Vec<Diagnostic> {
    let twice = |problem: &&Problem| {
        let is_known = OF_OBJECT.contains(&problem.range.slice(text).trim_matches(['"', '\'']));
        problem.kind == ProblemKind::DuplicateKey && is_known && is_at_line_start(text, problem.range)
    };
    let doubled: Vec<&Problem> = document.problems.iter().filter(twice).collect();
    let separator = document.problems.iter().find(|problem| problem.kind == ProblemKind::Separator);
    let lost = doubled.len() > 1;
    let mut out = Vec::new();
    for problem in &document.problems {
        let is_doubled = lost && doubled.iter().any(|known| core::ptr::eq(*known, problem));
        if is_doubled && (separator.is_some() || !core::ptr::eq(problem, doubled[0])) {
            continue;
        }
        out.push(match problem.kind {
            ProblemKind::DuplicateKey if is_doubled => missing_separator(problem, text),
            ProblemKind::Separator => broken_separator(problem, text, quotes, lost),
            _ => Diagnostic { fix: fixes.and_then(|limits| fix_for(document, text, problem, limits)), ..finding(problem, quotes) },
        });
    }
    out
}

/// A certain fix for the problem, if any.
pub(super) fn fix_for(document: &Document, text: &str, problem: &Problem, limits: &Limits) -> Option<Fix> {
    match problem.kind {
        ProblemKind::Tab => fixes::tabs(text, limits),
        ProblemKind::DuplicateKey => fixes::duplicate(document, text, problem, limits),
        ProblemKind::NoBreakSpace | ProblemKind::Syntax => {
            let written = problem.range.slice(text);
            if written.contains('\u{a0}') {
                fixes::no_break_spaces(document, text, limits)
            } else if written.starts_with("```") {
                fixes::fences(document, text, limits)
            } else if written.starts_with(WRONG_QUOTES) {
                fixes::quotes(document, text, limits)
            } else {
                None
            }
        }
        _ => None,
    }
}

fn is_at_line_start(text: &str, range: TextRange) -> bool {
    text.get(..range.start as usize).is_some_and(|before| before.is_empty() || before.ends_with(['\n', '\r']))
}

/// The document contains two objects, and the second one overrides the first.
fn missing_separator(problem: &Problem, text: &str) -> Diagnostic {
    let start = problem.range.start;
    let found = |message: &str| Diagnostic::new(&codes::BROKEN_SEPARATOR, message, Place::Text(SourceId(0), problem.range));
    let mut finding = if is_hcl(text) {
        let message = "there are two objects in one file, so that the first one is lost: a file of HCL holds one";
        found(message).help("put the second one into a separate file")
    } else {
        let message = "there are two objects in one document, so that the first one is lost: a line `---` is missing before this one";
        found(message).fix("add the separator", Place::Text(SourceId(0), TextRange::new(start, start)), "---\n")
    };
    finding.severity = Severity::Error;
    match &problem.related {
        Some((range, _)) => finding.related(Place::Text(SourceId(0), *range), "the object that is lost begins here"),
        None => finding,
    }
}

/// A line that was meant as a separator; an error if an object is lost because of it.
fn broken_separator(problem: &Problem, text: &str, quotes: &Quotes<'_>, lost: bool) -> Diagnostic {
    let mut found = finding(problem, quotes);
    if lost {
        found.message.push_str("; the object before it is lost");
        found.severity = Severity::Error;
    }
    let range = problem.range;
    let is_glued = range.slice(text).strip_prefix("---").is_some_and(|rest| !rest.is_empty() && !rest.starts_with('-'));
    if is_glued && is_at_line_start(text, range) {
        let dashes = TextRange::new(range.start, range.start + 3);
        return found.fix("put `---` on a separate line", Place::Text(SourceId(0), dashes), "---\n");
    }
    found
}

/// The finding for a problem. Its ranges are relative to the chunk until it is placed; quoted text may be secret.
fn finding(problem: &Problem, quotes: &Quotes<'_>) -> Diagnostic {
    let place = Place::Text(SourceId(0), problem.range);
    let mut finding = Diagnostic::new(code(problem.kind), quotes.redact_quoted(problem.message.trim_end_matches('.')), place);
    if let Some((range, message)) = &problem.related {
        finding = finding.related(Place::Text(SourceId(0), *range), quotes.redact_quoted(message));
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
