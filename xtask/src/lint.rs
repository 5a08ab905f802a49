//! Runs Clippy during the normal build, so that nothing is compiled for Clippy alone.
//!
//! Does not choose the packages; see `test`. Does not list lints; see `Cargo.toml`.

use crate::shell::words;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

/// Makes Clippy compile the workspace. Builds with and without Clippy share no results.
pub fn with_clippy(command: &mut Command) -> &mut Command {
    command.env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver")
}

/// Builds, and fails if Clippy or the compiler warns. Includes warnings of earlier builds.
pub fn build(command: &mut Command) -> Result<(), String> {
    println!("$ {}", words(command));
    let command = with_clippy(command).arg("--message-format=json-render-diagnostics").stdout(Stdio::piped());
    let failed = |error: std::io::Error| format!("cargo cannot be run: {error}");
    let mut cargo = command.spawn().map_err(failed)?;
    let messages = cargo.stdout.take().into_iter().flat_map(|out| BufReader::new(out).lines());
    let warnings = messages.map_while(Result::ok).filter(|line| is_warning(line)).count();
    let status = cargo.wait().map_err(failed)?;
    match warnings {
        _ if !status.success() => Err(format!("the build ends with {status}")),
        0 => Ok(()),
        1 => Err("there is 1 warning".into()),
        _ => Err(format!("there are {warnings} warnings")),
    }
}

/// Whether a message of cargo is a warning about a place in a file. A crate's last message only contains the number of warnings.
fn is_warning(message: &str) -> bool {
    message.contains(r#""reason":"compiler-message""#) && message.contains(r#""level":"warning""#) && !message.contains(r#""spans":[]"#)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lint_counts_only_warnings_with_place() {
        let message = |level: &str, spans: &str| {
            format!(r#"{{"reason":"compiler-message","message":{{"$message_type":"diagnostic","children":[],"level":"{level}","spans":[{spans}]}}}}"#)
        };
        assert!(is_warning(&message("warning", r#"{"line_start":1}"#)));
        assert!(!is_warning(&message("warning", "")));
        assert!(!is_warning(&message("note", r#"{"line_start":1}"#)));
        assert!(!is_warning(r#"{"reason":"compiler-artifact","level":"warning"}"#));
    }
}
