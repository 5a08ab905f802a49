//! `chancery snapshot` and `chancery open`: inputs and options in one file or link, and what is in a link.
//!
//! What must not be here: the format; that is `chancery_core::explain::Snapshot`.

use crate::args::{CheckArgs, Deployment, Inputs, OpenArgs, SnapshotArgs};
use crate::output::{Sink, print};
use crate::style::{Style, complain};
use crate::{Outcome, check, input};
use chancery_core::explain::{Snapshot, share};

/// Above so many characters some programs cut links off.
const LONG_LINK: usize = 8000;

/// Runs `snapshot`.
pub fn run(args: &SnapshotArgs, deployment: &Deployment) -> Outcome {
    let mut given = input::given(&args.inputs.inputs, deployment)?;
    given.options.findings = args.judging.decided(&given.options.findings);
    let (_, sides) = given.compile_each();
    let Some(compilation) = sides.first() else { return Ok(0) };
    let snapshot = Snapshot::new(compilation, &given.options, &given.not_utf8, args.with_secrets);
    let text = match &args.link {
        None => snapshot.write(),
        Some(page) => {
            let link = share::link(page, &snapshot);
            if link.len() > LONG_LINK {
                complain(&format!("the link has {} characters; some programs cut such links off, so a file may be better", link.len()));
            }
            link + "\n"
        }
    };
    match &args.out {
        Some(path) => Sink::file(path)?.write([text.as_str()])?,
        None => print(&text)?,
    }
    Ok(0)
}

/// Runs `open`.
pub fn open(args: &OpenArgs, deployment: &Deployment, style: &Style) -> Outcome {
    if !args.link.to_str().is_some_and(|link| link.contains('#')) {
        return Err("this is no link that holds a snapshot".into());
    }
    let inputs = Inputs { inputs: Vec::from([args.link.clone()]) };
    check::run(&CheckArgs { inputs, format: args.format, strict: false, quiet: false, judging: args.judging.clone() }, deployment, style)
}
