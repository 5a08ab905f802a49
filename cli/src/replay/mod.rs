//! `chancery replay`: reads access logs, and reports which requests a configuration answers differently.
//!
//! Does not read lines or compare answers; see `chancery_core::explain::replay`. Does not replay recordings of `serve`; see `live`.

mod human;
mod logs;

use crate::args::{Deployment, ReplayArgs, ReplayFormat, Scheme};
use crate::input::{self, LoadedInput};
use crate::output::{message, print, print_json};
use crate::style::{Style, count};
use crate::{Outcome, Unusable};
use chancery_core::explain::coverage::Coverage;
use chancery_core::explain::replay::{LogFormat, Replay, ReplayGateways, ReplayOptions, log_format_names};
use chancery_core::explain::{PreparedGateways, Tester};
use logs::Log;
use std::path::Path;

/// Runs it.
pub fn run(args: &ReplayArgs, deployment: &Deployment, style: &Style) -> Outcome {
    let format = args.log_format.as_deref().map(LogFormat::parse).transpose()?;
    let old = args.before.as_ref().map(|path| read(path, deployment)?.compile()).transpose()?;
    let (mut compiler, new) = read(args.after.as_deref().unwrap_or(Path::new(".")), deployment)?.compile()?;
    input::warn_of_gaps(&new);
    let (mut old_compiler, old) = old.unzip();
    let old_positions = old.as_ref().map(chancery_core::compilation::Compilation::positions);
    let old_prepared = match (&old, &old_positions, &mut old_compiler) {
        (Some(old), Some(positions), Some(compiler)) => Some(PreparedGateways::of(old, positions, compiler)),
        _ => None,
    };
    let old_tester = old_prepared.as_ref().map(|prepared| Tester::new(prepared, &mut Coverage::default()));
    let positions = new.positions();
    let prepared = PreparedGateways::of(&new, &positions, &mut compiler);
    let mut coverage = Coverage::default();
    let tester = Tester::new(&prepared, &mut coverage);
    if tester.is_empty() {
        return Err(input::nothing_runs(&new));
    }
    let gateways = ReplayGateways::new(old_tester.as_ref(), &tester)?;
    let options = ReplayOptions {
        host: args.host.clone(),
        https: args.scheme.map(|scheme| scheme == Scheme::Https),
        show_personal_data: args.show_personal_data,
    };
    let mut replay = Replay::new(&gateways, options);
    for path in &args.logs {
        take(path, format.as_ref(), &mut replay)?;
    }
    let report = replay.finish(coverage);
    if report.requests == 0 && report.without_host > 0 {
        return Err(
            format!("the log has no hosts: name one with --host, or give the fields with --log-format ({} requests)", report.without_host).into()
        );
    }
    if report.requests == 0 {
        return Err("no line of the logs is a request: give their format with --log-format".into());
    }
    if report.unreadable > 0 {
        let lines: Vec<String> = report.unreadable_lines.iter().map(ToString::to_string).collect();
        let unreadable = usize::try_from(report.unreadable).unwrap_or(usize::MAX);
        message(&format!("{} not read, first {}", count(unreadable, "line"), lines.join(", ")));
    }
    let compares = args.before.is_some();
    match args.format {
        ReplayFormat::Human => print(&human::report(&report, compares, style))?,
        ReplayFormat::Json => print_json(&report)?,
        ReplayFormat::Markdown => print(&human::markdown(&report, compares))?,
        ReplayFormat::Html => print(&human::html(&report, compares))?,
    }
    Ok(u8::from(args.exit_code && (report.changed > 0 || !compares && report.unexplained > 0)))
}

/// Reads a file, a folder, a snapshot or a revision.
fn read(path: &Path, deployment: &Deployment) -> Result<LoadedInput, Unusable> {
    match input::revision_of(path) {
        Some((revision, path)) => input::revision(&revision, &path, deployment),
        None => input::given(&[path.to_owned()], deployment),
    }
}

/// Replays one file.
fn take(path: &Path, format: Option<&LogFormat>, replay: &mut Replay<'_, '_>) -> Result<(), Unusable> {
    let name = path.display();
    let mut log = Log::open(path)?;
    if let Some(requests) = log.har()? {
        requests.iter().for_each(|request| replay.take(request));
        return Ok(());
    }
    let known = format.cloned().or_else(|| {
        let start = String::from_utf8_lossy(log.start()).into_owned();
        LogFormat::detect(&start.lines().take(100).collect::<Vec<_>>())
    });
    let known = known.ok_or_else(|| format!("{name} is in no known format ({}, json): give it with --log-format", log_format_names()))?;
    log.lines(|line| replay.line(&known, line))
}
