//! `cargo xtask play`: the page, built and served on loopback.
//!
//! What must not be here: what the page shows.

use crate::shell::{show, timed};
use crate::{page, serve, setup};
use std::process::ExitCode;

/// Runs it.
pub fn run(args: &[String]) -> ExitCode {
    match played(args.iter().any(|arg| arg == "--build-only")) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("play: {error}");
            ExitCode::FAILURE
        }
    }
}

fn played(build_only: bool) -> Result<(), String> {
    println!("Building the page (minutes the first time, then seconds).");
    let (built, time) = timed(|| {
        setup::toolchain()?;
        setup::page()?;
        page::build()
    });
    built?;
    println!("Built in {}.", show(time));
    if build_only {
        return Ok(());
    }
    let listener = serve::bind().map_err(|error| format!("no port of loopback is free: {error}"))?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    println!("\nThe playground is at  http://{address}/\n");
    println!("It opens with a small shop that has one mistake in it. Nothing that you type there leaves the page.");
    println!("The same on the command line:  cargo run --release -p chancery -- check assets/examples/ambassador/play.yaml");
    println!("Ctrl C ends it.");
    serve::serve(&listener, &page::dist());
    Ok(())
}
