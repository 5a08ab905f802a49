//! `chancery diff --from-version A --to-version B`: what an upgrade of the controller changes for the same input.
//!
//! Does not know what versions do; see the dialects.

use super::compared::at_once;
use super::loaded::Loaded;
use super::{finish, warn_of_gaps};
use crate::args::{Deployment, DiffArgs};
use crate::output::message;
use crate::style::{Style, plain};
use crate::{Outcome, Unusable};
use chancery_core::compilation::{Compilation, Dialect, OptionKind};
use chancery_core::diagnostic::{Diagnostic, Severity};
use chancery_core::dialect;
use chancery_core::text::series;
use std::collections::HashSet;
use std::path::PathBuf;

/// The option that chooses a version.
const OPTION: &str = "controller-version";

/// Runs it.
pub fn run(args: &DiffArgs, (from, to): (&str, &str), deployment: &Deployment, style: &Style) -> Outcome {
    let path = args.before.clone().unwrap_or_else(|| PathBuf::from("."));
    for (flag, version) in [("--from-version", from), ("--to-version", to)] {
        known(flag, version)?;
    }
    let read = |version| Loaded::read_in_version(&path, deployment, (OPTION, version));
    let (before, after) = at_once(|| read(from), || read(to));
    let (before, after) = (before?, after?);
    let dialects = |of: &Loaded| of.compilation().map(|of| of.sides.iter().map(|side| side.dialect).collect::<Vec<_>>()).unwrap_or_default();
    if !dialects(&before).into_iter().any(|dialect| !versions(dialect).is_empty()) {
        let with: Vec<&str> = dialect::ALL.iter().filter(|dialect| !versions(dialect).is_empty()).map(|dialect| dialect.controller).collect();
        return Err(format!("versions are known of {} only, and this input is for another controller", series(&with)).into());
    }
    warn_of_gaps(&[&before, &after]);
    if let (Some(old), Some(new)) = (before.compilation(), after.compilation()) {
        report_errors(old, new, to);
    }
    finish(&before, &after, args, style)
}

/// The versions that a dialect knows.
fn versions(of: &Dialect) -> Vec<&'static str> {
    let option = of.options.iter().find(|option| option.name == OPTION);
    match option.map(|option| option.kind) {
        Some(OptionKind::Choice(words)) => words.iter().map(|(word, _)| *word).collect(),
        _ => Vec::new(),
    }
}

fn known(flag: &str, version: &str) -> Result<(), Unusable> {
    let all: Vec<&str> = dialect::ALL.iter().flat_map(|dialect| versions(dialect)).collect();
    if all.contains(&version) { Ok(()) } else { Err(format!("{flag} takes {}, not `{version}`", all.join(" or ")).into()) }
}

/// Reports on standard error the errors that only the second version has.
fn report_errors(before: &Compilation, after: &Compilation, to: &str) {
    let errors = |of: &Diagnostic| of.severity == Severity::Error;
    let old: HashSet<u64> = before.all_diagnostics().filter(|finding| errors(finding)).map(Diagnostic::fingerprint).collect();
    for new in after.all_diagnostics().filter(|finding| errors(finding) && !old.contains(&finding.fingerprint())) {
        let about = new.resource.as_ref().map(|key| format!("{} {}: ", key.kind, key.name)).unwrap_or_default();
        message(&format!("new with {to}: {}", plain(&format!("{about}{}", new.message))));
    }
}
