//! `chancery desktop`: opens the window, which is a separate program.
//!
//! Does not draw windows; see `desktop/`.

use crate::Outcome;
use crate::args::DesktopArgs;
use crate::output::reason;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The program.
const WINDOW: &str = if cfg!(windows) { "chancery-desktop.exe" } else { "chancery-desktop" };

/// Starts the window without waiting for it.
pub fn run(args: &DesktopArgs) -> Outcome {
    let mut command = Command::new(window());
    command.args(&args.path);
    for (flag, value) in [("--context", &args.context), ("--namespace", &args.namespace)] {
        if let Some(value) = value {
            command.args([flag, value]);
        }
    }
    match command.stdin(Stdio::null()).spawn() {
        Ok(_) => Ok(0),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(format!("{WINDOW} is neither beside this program nor on the PATH; in the source, `cargo xtask desktop` builds and opens it").into())
        }
        Err(error) => Err(format!("cannot start {WINDOW}: {}", reason(&error)).into()),
    }
}

/// Returns the program next to this program, or on the PATH.
fn window() -> PathBuf {
    let beside = std::env::current_exe().ok().map(|program| program.with_file_name(WINDOW));
    beside.filter(|path| path.is_file()).unwrap_or_else(|| WINDOW.into())
}
