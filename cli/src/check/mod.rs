//! `chancery check`: writes findings in the requested format.
//!
//! Does not create findings; see `chancery_core::explain::findings`.

mod baseline;
mod code_climate;
mod fix;
pub mod github;
mod html;
mod human;
mod junit;
pub mod sarif;
mod since;
mod watch;

pub use human::Excerpts;

use crate::args::{CheckArgs, CheckFormat, Deployment};
use crate::input::LoadedInput;
use crate::output::{message, print, print_json};
use crate::style::{Style, count, some};
use crate::{Outcome, Unusable, input};
use baseline::Baseline;
use chancery_core::check::check;
use chancery_core::compilation::Compilation;
use chancery_core::diagnostic::Severity;
use chancery_core::explain::{Finding, findings};
use chancery_core::resource::Objects;
use std::collections::BTreeSet;
use std::mem::ManuallyDrop;

/// Runs it.
pub fn run(args: &CheckArgs, deployment: &Deployment, style: &Style) -> Outcome {
    if args.watch {
        return watch::run(args, deployment, style);
    }
    let (mut given, why) = input::given_even_empty(&args.inputs.inputs, deployment)?;
    if let Some(why) = why {
        return nothing_to_check(&given, why, args.format);
    }
    if args.fix {
        let fixed = fix::run(&given, &|given| Ok(checked(args, given)?.1), args.diff, style)?;
        if args.diff {
            return Ok(0);
        }
        if fixed {
            given = input::given(&args.inputs.inputs, deployment)?;
        }
    }
    report(args, &given, deployment, style)
}

/// Compiles, checks and reports.
fn report(args: &CheckArgs, given: &LoadedInput, deployment: &Deployment, style: &Style) -> Outcome {
    let (compilation, mut findings) = checked(args, given)?;
    // The process ends next, so freeing a large input piece by piece has no benefit.
    let compilation = ManuallyDrop::new(compilation);
    if let Some(file) = &args.write_baseline {
        Baseline::write(&findings, file)?;
        message(&format!("{} written to {}", count(findings.len(), "finding"), file.display()));
        return Ok(0);
    }
    // Findings that the options leave out of the report.
    let mut left_out = 0;
    if let Some(revision) = &args.since {
        let known = since::keep_new(args, revision, deployment, &compilation, &mut findings)?;
        left_out += known;
        if known > 0 {
            message(&format!("{} known from {revision}, in objects that did not change", count(known, "finding")));
        }
    }
    let settings = deployment.settings.clone()?;
    if let Some(file) = args.baseline.as_ref().or(settings.baseline.as_ref()) {
        let before = findings.len();
        Baseline::read(file)?.remove_known(file, &mut findings);
        left_out += before - findings.len();
        if before > findings.len() {
            message(&format!("{} known from {}", count(before - findings.len(), "finding"), file.display()));
        }
    }
    let (namespaces, objects) = (&args.namespace, &compilation.objects);
    let has = |name: &str| objects.iter().any(|object| object.key.namespace.as_deref() == Some(name));
    for name in namespaces.iter().filter(|name| !has(name)) {
        message(&format!("the input has no resource in the namespace `{name}`{}", known_namespaces(objects)));
    }
    let (mut findings, hidden): (Vec<Finding>, Vec<Finding>) = findings.into_iter().partition(|finding| is_asked(args, finding));
    let counts = |finding: &Finding| finding.level() == Severity::Error || (args.strict && finding.level() == Severity::Warning);
    let failed = findings.iter().any(counts);
    if args.quiet {
        let before = findings.len();
        findings.retain(counts);
        left_out += before - findings.len();
    }
    let positions = compilation.positions();
    match args.format {
        CheckFormat::Human => {
            print(&human::report(&findings, &hidden, &compilation, &positions, human::Extent { quiet: args.quiet, all: args.all }, style))?
        }
        format => document(format, &findings, left_out + hidden.len(), &compilation, args.strict)?,
    }
    Ok(u8::from(failed))
}

/// Returns all findings, the worst first, each severity by file and place.
fn checked(args: &CheckArgs, given: &LoadedInput) -> Result<(Compilation, Vec<Finding>), Unusable> {
    let (mut compiler, mut compilation) = given.compile()?;
    let policy = args.judging.policy(&given.options.findings);
    let executor = compiler.executor();
    check(&mut compilation, &policy, &mut compiler.emitted, executor);
    let mut findings = findings(&compilation, &compilation.positions());
    let rank = |finding: &Finding| match finding.level() {
        Severity::Error => 0,
        Severity::Warning => 1,
        Severity::Notice => 2,
    };
    // By name, so that the order of the files does not matter. A stable sort keeps the order of findings at one place.
    let place = |finding: &Finding| finding.span.as_ref().map(|span| (span.file.clone(), span.line, span.column));
    findings.sort_by_cached_key(|finding| (rank(finding), place(finding)));
    Ok((compilation, findings))
}

/// The namespaces of an input, as the end of a sentence.
fn known_namespaces(objects: &Objects) -> String {
    let known: BTreeSet<&str> = objects.iter().filter_map(|object| object.key.namespace.as_deref()).collect();
    if known.is_empty() { String::new() } else { format!("; its resources are in {}", some(&known.into_iter().collect::<Vec<_>>())) }
}

/// Whether the filters keep a finding. A finding without an object belongs to every namespace.
fn is_asked(args: &CheckArgs, finding: &Finding) -> bool {
    let least = args.at_least.map(|least| least.severity());
    let rank = |severity: Severity| match severity {
        Severity::Notice => 0,
        Severity::Warning => 1,
        Severity::Error => 2,
    };
    let is_bad_enough = least.is_none_or(|least| rank(finding.level()) >= rank(least));
    let object = finding.object.as_ref().or(finding.resource.as_ref());
    let namespace = object.and_then(|object| object.namespace.as_deref());
    let is_here =
        args.namespace.is_empty() || object.is_none() || namespace.is_some_and(|namespace| args.namespace.iter().any(|asked| asked == namespace));
    is_bad_enough && is_here
}

/// Prints findings for a program. `left_out` is the number of findings that the options hide.
fn document(format: CheckFormat, findings: &[Finding], left_out: usize, compilation: &Compilation, strict: bool) -> Result<(), Unusable> {
    match format {
        CheckFormat::Human => Ok(()),
        CheckFormat::Json => print_json(&serde_json::json!({ "diagnostics": findings })),
        CheckFormat::Sarif => print_json(&sarif::findings(findings)),
        CheckFormat::Codeclimate => print_json(&code_climate::issues(findings)),
        CheckFormat::Github => print(&github::commands(findings)),
        CheckFormat::Junit => print(&junit::suites(findings, compilation, strict)),
        CheckFormat::Html => print(&html::report(findings, left_out, compilation)),
    }
}

/// Rejects an input without resources, after it has written a complete document without findings.
fn nothing_to_check(given: &input::LoadedInput, why: Unusable, format: CheckFormat) -> Outcome {
    let (_, compilation) = given.compile()?;
    document(format, &[], 0, &compilation, false)?;
    Err(why)
}
