//! `cargo xtask test`: sets up what is missing and runs every test, part by part; the table at the end tells how long each took.
//!
//! `CHANCERY_CORPUS` may name a folder of cases (or one that has a folder for each dialect), `CHANCERY_CONFORMANCE` the scorer's folder,
//! `CHANCERY_ENVOY` an Envoy. Without a corpus, its parts are skipped, and the table says so.
//!
//! What must not be here: what a part checks.

use crate::shell::{cargo, output, program, run as call, show, target, timed};
use crate::{setup, tidy};
use std::env;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// How a part ended.
enum Ended {
    Passed,
    Skipped(String),
    Failed(String),
}

type Part = (&'static str, fn() -> Result<Ended, String>);

const PARTS: &[Part] = &[
    ("setup", set_up),
    ("format", format),
    ("tidy", tidied),
    ("clippy", clippy),
    ("no_std", no_std),
    ("wasm", wasm),
    ("tests", tests),
    ("licences", licences),
    ("conformance", conformance),
];

/// Runs all parts, or those named.
pub fn run(only: &[String]) -> ExitCode {
    if let Some(unknown) = only.iter().find(|name| !PARTS.iter().any(|(part, _)| part == name)) {
        eprintln!("test: there is no part `{unknown}`; there are {}", PARTS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", "));
        return ExitCode::FAILURE;
    }
    let mut table: Vec<(&str, Duration, Ended)> = Vec::new();
    for (name, part) in PARTS.iter().filter(|(name, _)| only.is_empty() || only.iter().any(|wanted| wanted == name)) {
        println!("\n=== {name}");
        let (result, time) = timed(part);
        let ended = result.unwrap_or_else(Ended::Failed);
        if let Ended::Failed(why) = &ended {
            println!("{name} failed: {why}");
        }
        table.push((name, time, ended));
    }
    println!("\n=== what was tested, and how long it took");
    for (name, time, ended) in &table {
        let told = match ended {
            Ended::Passed => "passed".to_string(),
            Ended::Skipped(why) => format!("skipped: {why}"),
            Ended::Failed(why) => format!("FAILED: {why}"),
        };
        println!("{name:<12} {:>8}  {told}", show(*time));
    }
    let total: Duration = table.iter().map(|(_, time, _)| *time).sum();
    println!("{:<12} {:>8}", "all", show(total));
    if table.iter().any(|(.., ended)| matches!(ended, Ended::Failed(_))) { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn set_up() -> Result<Ended, String> {
    setup::toolchain()?;
    setup::node()?;
    Ok(Ended::Passed)
}

fn format() -> Result<Ended, String> {
    call(cargo().args(["fmt", "--all", "--check", "--", "--files-with-diff"])).map_err(|_| "`cargo fmt` would change these files".to_string())?;
    Ok(Ended::Passed)
}

fn tidied() -> Result<Ended, String> {
    tidy::check().map(|()| Ended::Passed)
}

fn clippy() -> Result<Ended, String> {
    call(cargo().args(["clippy", "--workspace", "--all-targets", "--quiet", "--", "--deny", "warnings"]))?;
    Ok(Ended::Passed)
}

/// The core for a machine without a system: that it compiles is the test, so nothing is generated.
fn no_std() -> Result<Ended, String> {
    call(cargo().args(["check", "--quiet", "--package", "chancery-core", "--target", "wasm32v1-none"]))?;
    Ok(Ended::Passed)
}

fn wasm() -> Result<Ended, String> {
    call(cargo().args(["build", "--quiet", "--package", "chancery-parity", "--target", "wasm32-unknown-unknown"]))?;
    Ok(Ended::Passed)
}

fn module() -> PathBuf {
    target().join("wasm32-unknown-unknown/debug/chancery_parity.wasm")
}

/// Unit tests, suites, fixtures, doc tests; parity with WebAssembly and what Envoy says are among them.
fn tests() -> Result<Ended, String> {
    let mut command = cargo();
    command.args(["test", "--workspace", "--no-fail-fast"]);
    if module().is_file() {
        command.env("CHANCERY_WASM", module());
    }
    match setup::envoy() {
        Ok(envoy) => drop(command.env("CHANCERY_ENVOY", envoy)),
        Err(error) => println!("nobody asks Envoy: {error}"),
    }
    if let Some(cases) = cases() {
        command.env("CHANCERY_CORPUS", cases);
    } else {
        command.env_remove("CHANCERY_CORPUS");
    }
    call(&mut command)?;
    Ok(Ended::Passed)
}

fn licences() -> Result<Ended, String> {
    if output(cargo().args(["deny", "--version"])).is_none() {
        return Ok(Ended::Skipped("`cargo install cargo-deny` would also check advisories; tidy checks the licences".into()));
    }
    call(cargo().args(["deny", "--offline", "check", "licenses", "bans", "sources"]))?;
    Ok(Ended::Passed)
}

/// The folder of Ambassador's cases.
fn cases() -> Option<PathBuf> {
    let corpus = PathBuf::from(env::var_os("CHANCERY_CORPUS")?);
    let inner = corpus.join("ambassador");
    Some(if inner.is_dir() { inner } else { corpus }).filter(|cases| cases.is_dir())
}

fn conformance() -> Result<Ended, String> {
    let (Some(cases), Some(scorer)) = (cases(), env::var_os("CHANCERY_CONFORMANCE")) else {
        return Ok(Ended::Skipped("CHANCERY_CORPUS and CHANCERY_CONFORMANCE name no corpus and scorer".into()));
    };
    setup::protobuf()?;
    // The program as the tests have it: with other features, half of it would be built again.
    call(cargo().args(["test", "--quiet", "--workspace", "--no-run"]))?;
    let bin = target().join("debug/chancery");
    let mut command = program("python3");
    command
        .arg(PathBuf::from(scorer).join("run.py"))
        .arg(cases)
        .arg("--bin")
        .arg(bin)
        .args(["--at-least", "97"])
        .env("PYTHONPATH", setup::python_path());
    call(&mut command)?;
    Ok(Ended::Passed)
}
