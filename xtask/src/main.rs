//! What a person types: `cargo xtask <command>`.
//!
//! Here: the dispatch. Not here: what a command does, which has a folder of its own, and dependencies, which would slow every call.

mod codegen;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let command = args.next();
    let rest: Vec<String> = args.collect();
    match command.as_deref() {
        Some("codegen") => codegen::run(&rest),
        _ => {
            eprintln!("usage: cargo xtask codegen [--check]");
            ExitCode::FAILURE
        }
    }
}
