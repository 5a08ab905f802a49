//! `cargo xtask bench`: measures, and prints the table of the README. `--write` puts it there.
//!
//! What must not be here: measuring; `tests/bench` does that.

use crate::shell::{cargo, root, run as call, target};
use std::process::ExitCode;

/// What frames the table in the README.
const MARKS: [&str; 2] = ["<!-- bench -->\n", "<!-- /bench -->"];

/// Runs it.
pub fn run(args: &[String]) -> ExitCode {
    match measured(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measured(args: &[String]) -> Result<(), String> {
    let build = |packages: &[&str], more: &[&str]| call(cargo().args(["build", "--quiet", "--release"]).args(packages).args(more));
    build(&["--package", "chancery", "--package", "chancery-tests", "--bins"], &[])?;
    build(&["--package", "chancery-parity", "--target", "wasm32-unknown-unknown"], &[])?;
    let table = target().join("bench.md");
    let mut bench = crate::shell::program(target().join("release/bench"));
    bench.arg(target().join("release/chancery")).arg(target().join("wasm32-unknown-unknown/release/chancery_parity.wasm")).arg(&table);
    call(&mut bench)?;
    if args.iter().any(|arg| arg == "--write") {
        let table = std::fs::read_to_string(&table).map_err(|error| error.to_string())?;
        let path = root().join("README.md");
        let readme = std::fs::read_to_string(&path).map_err(|error| error.to_string())?;
        let [begin, end] = MARKS.map(|mark| readme.find(mark));
        let (Some(begin), Some(end)) = (begin, end) else { return Err("README.md has no place for the table".into()) };
        let written = format!("{}{}{table}{}", &readme[..begin], MARKS[0], &readme[end..]);
        std::fs::write(&path, written).map_err(|error| error.to_string())?;
    }
    Ok(())
}
