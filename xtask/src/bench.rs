//! `cargo xtask bench`: prints the tables of `docs/performance.md`. `cargo xtask bench live` prints the tables of `docs/capacity.md`, for `serve` under many
//! streams. `cargo xtask bench growth` measures inputs that are large in one dimension. `--write` writes the tables into these pages.
//!
//! Does not measure; see `tests/bench` and `live/examples`.

use crate::shell::{cargo, root, run as call, target};
use std::process::ExitCode;

/// The marks around the tables in the page.
const MARKS: [&str; 2] = ["<!-- bench -->\n", "<!-- /bench -->"];

/// Runs it.
pub fn run(args: &[String]) -> ExitCode {
    let has = |name: &str| args.iter().any(|arg| arg == name);
    let outcome = if has("live") {
        live(args)
    } else if has("lsp") {
        lsp()
    } else if has("growth") {
        growth(args)
    } else {
        measured(args)
    };
    match outcome {
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
        put("docs/performance.md", MARKS, &table)?;
    }
    Ok(())
}

/// Measures `serve` under many streams, and simulates a fleet from the results. `--figures` uses the last measured results.
fn live(args: &[String]) -> Result<(), String> {
    call(cargo().args(["build", "--quiet", "--profile", "fast", "--package", "chancery", "--package", "chancery-live", "--bins", "--examples"]))?;
    let (table, fleet) = (target().join("bench-live.md"), target().join("fleet.md"));
    let figures = root().join("live/examples/capacity.json");
    let built = target().join("fast");
    let has = |flag: &str| args.iter().any(|arg| arg == flag);
    if !has("--figures") {
        let only = args.iter().filter(|arg| *arg != "live" && !arg.starts_with("--"));
        let measured = if has("--write") { figures.clone() } else { target().join("bench-live.json") };
        call(crate::shell::program(built.join("examples/bench_live")).arg(built.join("chancery")).arg(&table).arg(measured).args(only))?;
    }
    call(crate::shell::program(built.join("examples/fleet")).arg(&figures).arg(&fleet))?;
    if has("--write") {
        if !has("--figures") {
            put("docs/capacity.md", ["<!-- bench live -->\n", "<!-- /bench live -->"], &table)?;
        }
        put("docs/capacity.md", ["<!-- fleet -->\n", "<!-- /fleet -->"], &fleet)?;
    }
    Ok(())
}

/// Measures how the cost of commands grows.
fn growth(args: &[String]) -> Result<(), String> {
    call(cargo().args(["build", "--quiet", "--profile", "fast", "--package", "chancery", "--package", "chancery-tests", "--bins"]))?;
    let (built, table) = (target().join("fast"), target().join("growth.md"));
    call(crate::shell::program(built.join("bench")).arg("growth").arg(built.join("chancery")).arg(&table))?;
    let text = std::fs::read_to_string(&table).map_err(|error| error.to_string())?;
    println!("{text}");
    if args.iter().any(|arg| arg == "--write") {
        put("docs/performance.md", ["<!-- bench growth -->\n", "<!-- /bench growth -->"], &table)?;
    }
    Ok(())
}

/// Measures the language server with 1,000 and 10,000 objects.
fn lsp() -> Result<(), String> {
    call(cargo().args(["build", "--quiet", "--profile", "fast", "--package", "chancery", "--package", "chancery-tests", "--bins"]))?;
    let built = target().join("fast");
    call(crate::shell::program("python3").arg(root().join("editors/test/bench.py")).arg(built.join("chancery")))
}

/// Puts a table between two marks of a page.
fn put(page: &str, marks: [&str; 2], table: &std::path::Path) -> Result<(), String> {
    let table = std::fs::read_to_string(table).map_err(|error| error.to_string())?;
    let path = root().join(page);
    let text = std::fs::read_to_string(&path).map_err(|error| error.to_string())?;
    let [begin, end] = marks.map(|mark| text.find(mark));
    let (Some(begin), Some(end)) = (begin, end) else { return Err(format!("{page} has no place for the table")) };
    let written = format!("{}{}{table}{}", &text[..begin], marks[0], &text[end..]);
    std::fs::write(&path, written).map_err(|error| error.to_string())
}
