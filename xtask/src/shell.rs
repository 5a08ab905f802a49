//! Runs programs: prints the command before, and the time after.
//!
//! Does not choose the programs; see the modules of the commands.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The repository's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}

/// Where cargo builds.
pub fn target() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// The folder for installed programs that are not part of Rust.
pub fn tools() -> PathBuf {
    target().join("tools")
}

/// Returns a command that starts in the root.
pub fn program(name: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(name);
    command.current_dir(root());
    command
}

/// Returns the cargo that runs this program.
pub fn cargo() -> Command {
    program(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Shorter runs are not timed.
const WORTH_SAYING: Duration = Duration::from_secs(5);

/// Runs a command and shows its output. Returns whether it succeeded.
pub fn run(command: &mut Command) -> Result<(), String> {
    println!("$ {}", words(command));
    let (status, time) = timed(|| command.status());
    if time > WORTH_SAYING {
        println!("  took {}", show(time));
    }
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{}` ends with {status}", words(command))),
        Err(error) => Err(format!("`{}` cannot be run: {error}", words(command))),
    }
}

/// Returns the output of a command, if it succeeds.
pub fn output(command: &mut Command) -> Option<String> {
    let output = command.stderr(Stdio::null()).stdin(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether a command can be run and succeeds.
pub fn works(name: &str, args: &[&str]) -> bool {
    output(program(name).args(args)).is_some()
}

/// Formats a command as the user would type it.
pub fn words(command: &Command) -> String {
    let name = Path::new(command.get_program()).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let args = command.get_args().map(|word| word.to_string_lossy().into_owned());
    std::iter::once(name).chain(args).collect::<Vec<_>>().join(" ")
}

/// Prints the name of a step, and its duration after it ends.
pub fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let done = work();
    (done, start.elapsed())
}

/// Formats a duration as human-readable text.
pub fn show(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds >= 60.0 { format!("{}m{:02}s", time.as_secs() / 60, time.as_secs() % 60) } else { format!("{seconds:.1}s") }
}
