//! Clippy looks at what is compiled while it is compiled: nothing is compiled for it alone.
//!
//! What must not be here: what is built, and which lints there are.

use crate::shell::words;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

/// Has Clippy compile what is in the workspace. What is compiled so is not shared with what is compiled without it.
pub fn with_clippy(command: &mut Command) -> &mut Command {
    command.env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver")
}

/// Builds, and fails where Clippy or the compiler warns: also of what was built before.
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

/// Whether one of cargo's messages is a warning about a place in a file. The last of a crate only counts the others.
fn is_warning(message: &str) -> bool {
    message.contains(r#""reason":"compiler-message""#) && message.contains(r#""level":"warning""#) && !message.contains(r#""spans":[]"#)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_counts_and_what_counts_warnings_does_not() {
        let message = |level: &str, spans: &str| {
            format!(r#"{{"reason":"compiler-message","message":{{"$message_type":"diagnostic","children":[],"level":"{level}","spans":[{spans}]}}}}"#)
        };
        assert!(is_warning(&message("warning", r#"{"line_start":1}"#)));
        assert!(!is_warning(&message("warning", "")));
        assert!(!is_warning(&message("note", r#"{"line_start":1}"#)));
        assert!(!is_warning(r#"{"reason":"compiler-artifact","level":"warning"}"#));
    }
}
