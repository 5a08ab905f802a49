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

/// Builds, and fails if Clippy, the compiler or cargo warns. Includes warnings of earlier builds, which cargo repeats.
pub fn build(command: &mut Command) -> Result<(), String> {
    println!("$ {}", words(command));
    let failed = |error: std::io::Error| format!("cargo cannot be run: {error}");
    let mut cargo = with_clippy(command).stderr(Stdio::piped()).spawn().map_err(failed)?;
    let mut warnings = 0;
    for line in cargo.stderr.take().into_iter().flat_map(|out| BufReader::new(out).lines()).map_while(Result::ok) {
        eprintln!("{line}");
        warnings += usize::from(is_warning(&line));
    }
    let status = cargo.wait().map_err(failed)?;
    match warnings {
        _ if !status.success() => Err(format!("the build ends with {status}")),
        0 => Ok(()),
        1 => Err("there is 1 warning".into()),
        _ => Err(format!("there are {warnings} warnings")),
    }
}

/// Whether a line of cargo begins a warning. The line that ends the warnings of a crate is none.
fn is_warning(line: &str) -> bool {
    (line.starts_with("warning: ") && !line.contains(" generated ")) || line.starts_with("warning[")
}

#[cfg(test)]
mod tests {
    use super::is_warning;

    #[test]
    fn lint_counts_first_lines_of_warnings() {
        let output = "   Compiling a v0.1.0\nwarning: this loop never actually loops\n  --> a.rs:1:1\n   = note: `-W clippy::never-loop` implied\n\
            warning: unused manifest key: package.x\nwarning: `a` (lib) generated 1 warning\n";
        assert_eq!(output.lines().filter(|line| is_warning(line)).count(), 2);
    }
}
