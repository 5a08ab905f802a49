//! `check --watch`: checks again after every change.
//!
//! Does not check; see `check`.

use crate::args::{CheckArgs, Deployment};
use crate::input::{self, LoadedInput};
use crate::output::{message, print};
use crate::style::Style;
use crate::{Outcome, Unusable};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// The interval between looks for changes.
const EVERY: Duration = Duration::from_millis(300);

/// The properties that show whether a file changed.
type FileStamps = Vec<(PathBuf, Option<(u64, SystemTime)>)>;

/// Runs until it is stopped.
pub fn run(args: &CheckArgs, deployment: &Deployment, style: &Style) -> Outcome {
    if args.inputs.inputs.is_empty() || args.inputs.inputs.iter().any(|path| path.as_os_str() == "-") {
        return Err("standard input cannot be watched: name files or folders".into());
    }
    let mut last: Option<FileStamps> = None;
    loop {
        let given = input::given(&args.inputs.inputs, deployment);
        let now = given.as_ref().map(stamps).unwrap_or_default();
        if last.as_ref() != Some(&now) {
            if last.is_some() {
                print("\n")?;
            }
            match given.and_then(|given| super::report(args, &given, deployment, style)) {
                Ok(_) => {}
                // The user may fix the error while `check` watches.
                Err(Unusable(why)) => message(&why),
            }
            last = Some(now);
        }
        std::thread::sleep(EVERY);
    }
}

fn stamps(given: &LoadedInput) -> FileStamps {
    let stamp = |path: &PathBuf| {
        let about = std::fs::metadata(path).ok()?;
        Some((about.len(), about.modified().ok()?))
    };
    given.paths.iter().flatten().map(|path| (path.clone(), stamp(path))).collect()
}
