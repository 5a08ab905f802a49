//! The command line of the codegen. `cargo xtask codegen` starts it.
//!
//! Parses the arguments. Does not generate; see the library, which tests can call.

use std::process::ExitCode;

fn main() -> ExitCode {
    let check = match std::env::args().nth(1).as_deref() {
        None => false,
        Some("--check") => true,
        Some(other) => {
            eprintln!("codegen: unknown argument {other:?}; only --check is understood");
            return ExitCode::FAILURE;
        }
    };
    match xtask_codegen::run(check) {
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
