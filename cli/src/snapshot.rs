//! `chancery snapshot` and `chancery open`: write inputs and options to one file or link, and read a link.
//!
//! Does not define the format; see `chancery_core::explain::Snapshot`.

use crate::args::{CheckArgs, CheckFormat, Deployment, Inputs, OpenArgs, SnapshotArgs};
use crate::output::{Sink, allow_secrets, file_named, message, print};
use crate::style::{Style, count, plain};
use crate::{Outcome, check, input};
use chancery_core::envoy_config::EnvoyConfig;
use chancery_core::explain::{Snapshot, share};
use chancery_core::simulate::{Gateway, SavedRequest, Verdict};
use std::fmt::Write;

/// Runs `snapshot`.
pub fn run(args: &SnapshotArgs, deployment: &Deployment) -> Outcome {
    let mut given = input::given(&args.inputs.inputs, deployment)?;
    given.options.findings = args.judging.decided(&given.options.findings);
    let (_, compilation) = given.compile()?;
    if args.with_secrets {
        allow_secrets();
    }
    let snapshot = Snapshot::new(&compilation, &given.options, &given.not_utf8, args.with_secrets).with_requests(&given.requests);
    let text = match &args.link {
        None => snapshot.write(),
        Some(page) => {
            let link = share::link(page, &snapshot);
            if link.len() > share::LONG_LINK {
                message(&format!("the link has {} characters; some programs cut such links off, so a file may be better", link.len()));
            }
            link + "\n"
        }
    };
    match file_named(args.out.as_deref()) {
        Some(path) => Sink::file(path)?.write([text.as_str()])?,
        None => print(&text)?,
    }
    Ok(0)
}

/// Runs `open`.
pub fn open(args: &OpenArgs, deployment: &Deployment, style: &Style) -> Outcome {
    if !args.link.to_str().is_some_and(|link| link.contains('#')) {
        return Err("the link contains no snapshot".into());
    }
    let inputs = Inputs { inputs: Vec::from([args.link.clone()]) };
    let judging = args.judging.clone();
    let asked = CheckArgs { inputs, format: args.format, judging, ..CheckArgs::default() };
    let checked = check::run(&asked, deployment, style)?;
    let given = input::given(std::slice::from_ref(&args.link), deployment)?;
    if given.requests.is_empty() || !matches!(args.format, CheckFormat::Human) {
        return Ok(checked);
    }
    let (_, compilation) = given.compile_one()?;
    let Some(served) = compilation.gateways().next() else { return Err(input::nothing_runs(&compilation)) };
    let config = EnvoyConfig::of(served.ir);
    let gateway = Gateway::new(&config);
    let judged: Vec<(&SavedRequest, Verdict)> = given.requests.iter().map(|saved| (saved, saved.judge(&gateway))).collect();
    print(&rendered(&judged, style))?;
    Ok(checked.max(u8::from(judged.iter().any(|(_, verdict)| !verdict.holds))))
}

/// Shows the saved requests, and whether they end as expected.
fn rendered(judged: &[(&SavedRequest, Verdict)], style: &Style) -> String {
    let mut out = String::from("\n");
    for (saved, verdict) in judged {
        let sign = if verdict.holds { style.green("✓") } else { style.red("✗") };
        let _ = writeln!(out, "{sign} {} {}", plain(&format!("{} {}", saved.request.method, saved.request.url)), style.dim(plain(&verdict.now)));
        if !verdict.holds {
            let _ = writeln!(out, "  expected: {}", plain(&verdict.expected));
        }
    }
    let bad = judged.iter().filter(|(_, verdict)| !verdict.holds).count();
    let _ = match bad {
        0 => writeln!(out, "{} kept, all as expected", count(judged.len(), "request")),
        bad => writeln!(out, "{bad} of {} kept not as expected", count(judged.len(), "request")),
    };
    out
}
