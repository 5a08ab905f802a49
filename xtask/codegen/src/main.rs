//! Writes `envoy-api/src/generated/` from Envoy's descriptor set. `cargo xtask codegen` starts it.
//!
//! Here: what turns descriptors into Rust, one step a module. Not here: anything that a compiled Chancery needs at run time.

mod closure;
mod emit;
mod output;
mod pattern;
mod reader;
mod rules;
mod rust_names;
mod source;

use std::process::ExitCode;

/// The list of messages that are wanted.
const ROOTS: &str = include_str!("roots.txt");

fn main() -> ExitCode {
    let check = match std::env::args().nth(1).as_deref() {
        None => false,
        Some("--check") => true,
        Some(other) => {
            eprintln!("codegen: unknown argument {other:?}; only --check is understood");
            return ExitCode::FAILURE;
        }
    };
    match run(check) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => {
            eprintln!("codegen: envoy-api/src/generated is stale; run `cargo xtask codegen` and commit the result");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("codegen: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Generates everything; returns whether the files on disk are fresh now.
fn run(check: bool) -> Result<bool, String> {
    let bytes = source::descriptor_set()?;
    let closure = closure::close(&bytes, ROOTS)?;
    for missing in &closure.missing {
        eprintln!("codegen: warning: no message {missing} in the descriptor set");
    }
    let modules = rust_names::build(&closure)?;
    let files = emit::files(&closure, &modules)?;
    output::write(files, check)
}
