//! `chancery check`: findings, in the form asked for.
//!
//! What must not be here: what a finding is; that comes from `chancery_core::explain::findings`.

mod github;
mod human;
mod junit;
pub mod sarif;

pub use human::Excerpts;

use crate::args::{CheckArgs, CheckFormat, Deployment};
use crate::output::{print, print_json};
use crate::style::Style;
use crate::{Outcome, input};
use chancery_core::check::check;
use chancery_core::diagnostic::Severity;
use chancery_core::explain::{Finding, findings};

/// Runs it.
pub fn run(args: &CheckArgs, deployment: &Deployment, style: &Style) -> Outcome {
    let given = input::given(&args.inputs.inputs, deployment)?;
    let (mut compiler, mut compilation) = given.compile()?;
    let policy = args.judging.policy(&given.options.findings);
    check(&mut compilation, &policy, &mut compiler.emitted);
    let (compilation, positions) = (&compilation, compilation.positions());
    let mut findings = findings(compilation, &positions);
    let counts = |finding: &Finding| finding.level() == Severity::Error || (args.strict && finding.level() == Severity::Warning);
    let failed = findings.iter().any(counts);
    if args.quiet {
        findings.retain(counts);
    }
    match args.format {
        CheckFormat::Human => print(&human::report(&findings, compilation, &positions, args.quiet, style))?,
        CheckFormat::Json => print_json(&serde_json::json!({ "diagnostics": findings }))?,
        CheckFormat::Sarif => print_json(&sarif::findings(&findings))?,
        CheckFormat::Github => print(&github::commands(&findings))?,
        CheckFormat::Junit => print(&junit::suites(&findings, compilation, args.strict))?,
    }
    Ok(u8::from(failed))
}
