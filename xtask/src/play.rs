//! `cargo xtask play`: the main job, shown on an example that ships with the project.
//!
//! What must not be here: what the program says.

use crate::shell::{cargo, program, root, run as call, show, target, timed, works};
use std::process::ExitCode;

/// The example: a small shop, with a mistake to learn from.
const EXAMPLE: &str = "assets/examples/ambassador/play.yaml";

/// Runs it.
pub fn run() -> ExitCode {
    match played() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("play: {error}");
            ExitCode::FAILURE
        }
    }
}

fn played() -> Result<(), String> {
    println!("Building the command line (minutes the first time, then seconds).");
    let (built, time) = timed(|| call(cargo().args(["build", "--quiet", "--release", "--package", "chancery"])));
    built?;
    println!("Built in {}.", show(time));
    let text = std::fs::read_to_string(root().join(EXAMPLE)).map_err(|error| format!("{EXAMPLE}: {error}"))?;
    title(&format!("{EXAMPLE} is what a team would `kubectl apply`"));
    print!("{text}");
    title("What is wrong with it?");
    show_run(&["check", EXAMPLE]);
    title("What does Envoy get, and which line makes it? The timeout of the API, say:");
    show_run(&["explain", "route:/api//route/timeout", EXAMPLE]);
    title("And the other way round: what does a line make?");
    let line = text.lines().position(|line| line.contains("weight:")).map_or(1, |at| at + 1);
    show_run(&["explain", &format!("{EXAMPLE}:{line}"), EXAMPLE]);
    title("What became of every resource?");
    show_run(&["ledger", EXAMPLE]);
    title("Who refers to whom, and what is made of it?");
    draw();
    println!();
    println!("Next:");
    println!("  mend {EXAMPLE}, then  {} check {EXAMPLE}", shown());
    println!(
        "  your own gateway:     kubectl get -A -o yaml hosts,listeners,mappings,tlscontexts,modules | {} check --missing-secrets assume -",
        shown()
    );
    println!("  all of Envoy's view:  {} compile {EXAMPLE} --format yaml | less", shown());
    println!("  everything else:      {} --help", shown());
    Ok(())
}

fn binary() -> std::path::PathBuf {
    target().join("release/chancery")
}

/// How a person would call it from the root.
fn shown() -> String {
    let binary = binary();
    binary.strip_prefix(root()).unwrap_or(&binary).display().to_string()
}

fn title(text: &str) {
    println!("\n\u{2500}\u{2500} {text}\n");
}

/// Runs the program; `check` ends with 1 where something is wrong, which is the point here.
fn show_run(args: &[&str]) {
    println!("$ chancery {}", args.join(" "));
    if let Err(error) = program(binary()).args(args).status() {
        println!("{error}");
    }
}

/// As a picture where there is Graphviz, else as Mermaid.
fn draw() {
    if works("dot", &["-V"]) {
        let picture = target().join("play.svg");
        let dot = crate::shell::output(program(binary()).args(["graph", EXAMPLE])).unwrap_or_default();
        let source = target().join("play.dot");
        if std::fs::write(&source, dot).is_ok() && call(program("dot").arg("-Tsvg").arg(&source).arg("-o").arg(&picture)).is_ok() {
            println!("{}", picture.display());
            return;
        }
    }
    show_run(&["graph", "--resources", "--format", "mermaid", EXAMPLE]);
}
