//! `cargo xtask codegen [--check]`: writes `envoy-api/src/generated/`, or reports whether it is fresh.
//!
//! Starts the codegen. Does not generate; see the package `xtask-codegen`, whose dependencies take long to build.

use std::process::{Command, ExitCode};

/// Runs the package `xtask-codegen`.
pub fn run(args: &[String]) -> ExitCode {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let status = Command::new(cargo).args(["run", "--quiet", "--package", "xtask-codegen", "--"]).args(args).status();
    match status {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("codegen: {error}");
            ExitCode::FAILURE
        }
    }
}
