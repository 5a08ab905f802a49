//! Paths that look like regular expressions or wildcards: the gateway compares them character by character, or Azure refuses them.
//!
//! Source of the accepted characters: the error `ApplicationGatewayPathRuleInvalidCharacter` of Azure's API.

use super::Checked;
use crate::codes;
use crate::model::{Ingress, Path};
use alloc::format;
use alloc::vec::Vec;
use chancery_base::diagnostic::{Diagnostic, Severity, codes as shared};

/// Punctuation that Azure accepts in the path of a path rule, next to letters, digits and `/`. Percent signs are not checked.
const ACCEPTED: &str = "-._~!$()*'+,;=:@/%";

/// Reports each path of an Ingress that means something else than it seems to.
pub(super) fn check(checked: &Checked<'_, '_>, ingress: &Ingress) -> Vec<Diagnostic> {
    let paths = ingress.rules.iter().flat_map(|rule| rule.paths());
    paths.filter_map(|path| refused(checked, path).or_else(|| literal(checked, path))).collect()
}

/// Whether a path has a finding of this module, so that no other finding explains it again.
pub(super) fn is_odd(path: &Path) -> bool {
    first_refused(path).is_some() || pattern_of(path).is_some()
}

fn first_refused(path: &Path) -> Option<char> {
    path.path.chars().find(|c| !c.is_ascii_alphanumeric() && !ACCEPTED.contains(*c))
}

/// The part of a path that looks like a pattern: a group, or a star that is not the last character.
fn pattern_of(path: &Path) -> Option<&str> {
    let text = path.path.strip_suffix('*').unwrap_or(&path.path);
    let group = || Some(&text[text.find('(')?..=text.rfind(')')?]).filter(|group| group.contains(['*', '+', '.']));
    let repeated = || [".*", ".+"].into_iter().find(|pattern| path.path.contains(pattern));
    let star = || text.contains('*').then_some("*");
    group().or_else(repeated).or_else(star)
}

fn refused(checked: &Checked<'_, '_>, path: &Path) -> Option<Diagnostic> {
    let wrong = first_refused(path)?;
    let message =
        format!("Azure refuses the whole gateway: the path `{}` has the character `{wrong}`, which a path rule cannot have", path.path.value);
    let mut finding = checked.finding(&codes::AZURE_REJECTS_VALUE, message, path.path.origin);
    finding.severity = Severity::Error;
    Some(finding.help(
        "Application Gateway has no regular expressions: write the prefix, as in `/backend/*`. Until then no change of any Ingress takes effect",
    ))
}

fn literal(checked: &Checked<'_, '_>, path: &Path) -> Option<Diagnostic> {
    let pattern = pattern_of(path)?;
    let text = path.path.as_str();
    let message = format!("Application Gateway has no regular expressions: only requests that contain `{pattern}` literally match `{text}`");
    let stem = text.split(['(', '*', '[']).next().unwrap_or("/").trim_end_matches('.');
    let stem = if stem.is_empty() { "/" } else { stem };
    let finding = checked.finding(&shared::LITERAL_PATTERN, message, path.path.origin);
    Some(finding.help(format!("write `{stem}*` for everything that begins with `{stem}`; `*` is a wildcard at the end of a path only")))
}
