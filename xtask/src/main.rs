//! `cargo xtask <command>`: the entry point.
//!
//! Runs the module of a command. Does not implement commands, and has no dependencies, which would slow every call.

mod bench;
mod codegen;
mod desktop;
mod docs;
mod editor;
mod lint;
mod package;
mod packages;
mod page;
mod play;
mod release;
#[path = "../../cli/src/play/serve.rs"]
mod serve;
mod setup;
mod shell;
mod steps;
mod test;
mod tidy;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask <command>

  play      installs missing tools, builds the playground, serves it on loopback and prints its address; `play --small` builds the published form
  binary    builds target/release/chancery with the playground in it
  element   packs the npm package of <chancery-playground> into target/npm
  desktop   builds the window and opens it; `desktop PATH` or `desktop --context NAME` opens something in it
  package   builds packages for Debian, of the command line and of the window, into target/debian; `package --quick` some that are built soon
  release   builds every package of the command line for this platform into target/release-files; `release --program FILE` packs a built program
  editor    builds the extension of VS Code into target/editor; `editor --quick` builds it faster, unoptimised
  docs      builds the book for users into target/docs/book
  test      installs missing tools and runs every test; `test PART...` runs these parts only
  setup     installs missing tools; `setup --all` also installs tools for single tests
  bench     measures, and prints the tables of docs/performance.md; `bench live`: serve under many streams; `bench lsp`: the language server; `bench growth`: worst cases
  tidy      checks the rules of the house that the compiler does not know
  codegen   writes Envoy's messages from its descriptors; `codegen --check` reports outdated files
";

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let command = args.next();
    let rest: Vec<String> = args.collect();
    // Available as a command too, because some run for minutes.
    if rest.iter().any(|arg| arg == "--help" || arg == "-h") {
        print!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    match command.as_deref() {
        Some("play") => play::run(&rest),
        Some("binary") => play::binary(),
        Some("element") => play::element(),
        Some("desktop") => desktop::run(&rest),
        Some("package") => package::run(&rest),
        Some("release") => release::run(&rest),
        Some("editor") => editor::run(&rest),
        Some("docs") => docs::run(),
        Some("test") => test::run(&rest),
        Some("setup") => setup::run(&rest),
        Some("bench") => bench::run(&rest),
        Some("tidy") => tidy::run(),
        Some("codegen") => codegen::run(&rest),
        Some("help" | "--help" | "-h") => {
            print!("{USAGE}");
            ExitCode::SUCCESS
        }
        _ => {
            eprint!("{USAGE}");
            ExitCode::FAILURE
        }
    }
}
