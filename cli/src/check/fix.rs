//! `check --fix`: applies certain fixes to the user's files.
//!
//! Keeps a change only if it improves the file: each proposed fix is tried before it is written.
//!
//! Does not propose fixes; see the findings.

use crate::Unusable;
use crate::input::LoadedInput;
use crate::output::{message, print, reason};
use crate::style::{Style, count, plain};
use chancery_core::diagnostic::{Severity, codes};
use chancery_core::explain::{EditView, Finding, FixView};
use chancery_core::redact::RedactionMap;
use chancery_core::resource::Input;
use chancery_core::text::TextRange;
use similar::{ChangeTag, TextDiff};
use std::fmt::Write;

/// The number of lines shown around a change.
const AROUND: usize = 3;
/// One fix may reveal the next finding: the input is checked again at most this many times.
const ROUNDS: usize = 8;

/// Applies all certain fixes, or shows their changes. Returns whether there was a fix.
pub fn run(
    given: &LoadedInput,
    findings: &dyn Fn(&LoadedInput) -> Result<Vec<Finding>, Unusable>,
    show_only: bool,
    style: &Style,
) -> Result<bool, Unusable> {
    let mut now = given.clone();
    let mut found = findings(&now)?;
    let mut applied = 0;
    for _ in 0..ROUNDS {
        let (next, number) = apply_all(&now, &found, findings)?;
        if number == 0 {
            break;
        }
        applied += number;
        found = findings(&next)?;
        now = next;
    }
    let mut files = 0;
    for (at, (old, new)) in given.inputs.inputs.iter().zip(&now.inputs.inputs).enumerate() {
        if old.text == new.text {
            continue;
        }
        files += 1;
        let Some(path) = given.paths.get(at).and_then(Option::as_ref) else { continue };
        if show_only {
            let [old_text, new_text] = [old, new].map(|input| masked(&input.text));
            print(&patch(&old.name, &old_text, &new_text, style))?;
        } else {
            std::fs::write(path, new.text.as_bytes()).map_err(|error| format!("cannot write {}: {}", path.display(), reason(&error)))?;
        }
    }
    message(&match applied {
        0 => "no finding has a certain fix".to_string(),
        applied => {
            let verb = if show_only {
                "can be"
            } else if applied == 1 {
                "is"
            } else {
                "are"
            };
            format!("{} {verb} fixed in {}", count(applied, "finding"), count(files, "file"))
        }
    });
    let elsewhere = found.iter().filter(|finding| finding.fix.as_ref().is_some_and(|fix| !may_be_written(&now, fix))).count();
    if elsewhere > 0 {
        message(&format!(
            "{} with a fix left as found: --fix writes only files in UTF-8, not what is rendered or piped in",
            count(elsewhere, "finding")
        ));
    }
    Ok(applied > 0)
}

/// Returns the inputs with all fixes that cause no new error, and the number of these fixes.
fn apply_all(
    given: &LoadedInput,
    found: &[Finding],
    findings: &dyn Fn(&LoadedInput) -> Result<Vec<Finding>, Unusable>,
) -> Result<(LoadedInput, usize), Unusable> {
    let all: Vec<&FixView> = found.iter().filter_map(|finding| finding.fix.as_ref()).filter(|fix| may_be_written(given, fix)).collect();
    let all = without_overlaps(all);
    let next = with_fixes(given, &all);
    let mut least = FixScore::of(found);
    if all.is_empty() || FixScore::of(&findings(&next)?).is_better(&least, all.len()) {
        return Ok((next, all.len()));
    }
    // One fix causes an error, so try each separately.
    let mut good = Vec::new();
    for fix in all {
        good.push(fix);
        let now = FixScore::of(&findings(&with_fixes(given, &good))?);
        if now.is_better(&least, 1) {
            least = now;
        } else {
            good.pop();
        }
    }
    Ok((with_fixes(given, &good), good.len()))
}

/// The severity of an input's findings. An unreadable part has no other findings yet: fixing a syntax error may reveal more.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct FixScore {
    unreadable: usize,
    errors: usize,
    findings: usize,
}

impl FixScore {
    fn of(found: &[Finding]) -> Self {
        let errors = || found.iter().filter(|finding| finding.level() == Severity::Error);
        let unreadable = errors().filter(|finding| finding.code == codes::SYNTAX.name).count();
        Self { unreadable, errors: errors().count(), findings: found.len() }
    }

    /// Whether the score is better than before, after this many changes that each fix a finding.
    fn is_better(&self, before: &Self, changes: usize) -> bool {
        Self { findings: self.findings + changes, ..*self } <= *before
    }
}

/// Whether the input is an unmodified file that was read completely.
fn may_be_written(given: &LoadedInput, fix: &FixView) -> bool {
    let at = fix.first.span.source.0 as usize;
    given.paths.get(at).is_some_and(Option::is_some) && given.not_utf8.get(at).is_some_and(Vec::is_empty)
}

/// Returns the first of several overlapping changes.
fn without_overlaps(mut all: Vec<&FixView>) -> Vec<&FixView> {
    all.sort_by_key(|fix| (fix.first.span.source.0, fix.first.span.offset, fix.first.span.end_offset));
    let mut out: Vec<&FixView> = Vec::new();
    for fix in all {
        let last = out.last().and_then(|last| last.edits().next_back());
        let next = &fix.first.span;
        let is_free = last.is_none_or(|EditView { span, .. }| span.source != next.source || span.end_offset <= next.offset && span != next);
        if is_free {
            out.push(fix);
        }
    }
    out
}

/// Returns the inputs with these changes, which are sorted and do not overlap.
fn with_fixes(given: &LoadedInput, fixes: &[&FixView]) -> LoadedInput {
    let mut next = given.clone();
    // From the last to the first, so that places before a change stay valid.
    for fix in fixes.iter().rev() {
        let Some(input) = next.inputs.inputs.get_mut(fix.first.span.source.0 as usize) else { continue };
        if let Some(text) = fix.apply(&input.text) {
            *input = Input { name: input.name.clone(), text: text.into() };
        }
    }
    next
}

/// Returns the input without key material, with the same lines.
fn masked(text: &str) -> String {
    RedactionMap::new(text).masked(text, TextRange::new(0, u32::try_from(text.len()).unwrap_or(u32::MAX)))
}

/// Returns the change of a file in the format of `patch`.
fn patch(name: &str, old: &str, new: &str, style: &Style) -> String {
    let diff = TextDiff::from_lines(old, new);
    let name = plain(name.trim_start_matches("./"));
    let mut out = format!("{}\n{}\n", style.bold(format!("--- a/{name}")), style.bold(format!("+++ b/{name}")));
    for group in diff.grouped_ops(AROUND) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let (before, after) = (first.old_range().start..last.old_range().end, first.new_range().start..last.new_range().end);
        let range = |of: &std::ops::Range<usize>| format!("{},{}", of.start + usize::from(!of.is_empty()), of.len());
        let _ = writeln!(out, "{}", style.cyan(format!("@@ -{} +{} @@", range(&before), range(&after))));
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let line = plain(change.value().trim_end_matches(['\n', '\r'])).into_owned();
            let _ = match change.tag() {
                ChangeTag::Equal => writeln!(out, " {line}"),
                ChangeTag::Delete => writeln!(out, "{}", style.red(format!("-{line}"))),
                ChangeTag::Insert => writeln!(out, "{}", style.green(format!("+{line}"))),
            };
            if change.missing_newline() {
                out.push_str("\\ No newline at end of file\n");
            }
        }
    }
    out
}
