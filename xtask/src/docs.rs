//! `cargo xtask docs`: builds the book for users in `target/docs/book`.
//!
//! Pages of codes and options of commands come from the program. The book contains the playground, which the elements in its pages load. Does not write
//! pages, see `docs/`; does not check them, see `cli/tests/docs`.

use crate::shell::{cargo, output, program, root, run as call, target};
use crate::{page, setup};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};

/// Runs it.
pub fn run() -> ExitCode {
    match built() {
        Ok(()) => {
            println!("\nThe book is at {}", folder().join("book/index.html").display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("docs: {error}");
            ExitCode::FAILURE
        }
    }
}

fn folder() -> PathBuf {
    target().join("docs")
}

fn built() -> Result<(), String> {
    setup::book()?;
    page::build(page::Purpose::Publish)?;
    page::element()?;
    call(cargo().args(["build", "--quiet", "--package", "chancery"]))?;
    source().map_err(|error| format!("{}: {error}", folder().display()))?;
    call(program(setup::cargo_bin("mdbook")).arg("build").arg(folder()))
}

/// Collects the sources of the book in one folder.
fn source() -> io::Result<()> {
    let (docs, src) = (root().join("docs"), folder().join("src"));
    drop(fs::remove_dir_all(folder()));
    copy(&docs, &src)?;
    for file in ["book.toml", "playground.js"] {
        fs::rename(src.join(file), folder().join(file))?;
    }
    copy(&root().join("assets/examples"), &src.join("examples"))?;
    copy(&root().join("web/npm/page"), &src.join("playground/page"))?;
    copy(&root().join("web/npm/dist"), &src.join("playground/dist"))?;
    let codes = codes(&src)?;
    let summary = fs::read_to_string(src.join("SUMMARY.md"))?;
    fs::write(src.join("SUMMARY.md"), summary.replace("<!-- codes -->\n", &codes))?;
    for entry in fs::read_dir(src.join("commands"))?.flatten().filter(|entry| entry.file_name() != "index.md") {
        options(&entry.path())?;
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    fs::read_dir(from)?.try_for_each(|entry| {
        let entry = entry?;
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() { copy(&path, &to) } else { fs::copy(&path, &to).map(drop) }
    })
}

fn output_of(args: &[&str]) -> io::Result<String> {
    let binary = target().join("debug/chancery");
    output(program(&binary).args(args)).ok_or_else(|| io::Error::other(format!("{} {} fails", binary.display(), args.join(" "))))
}

/// The folders with pages of codes: codes of single dialects, then shared codes, which win if names are equal.
const CODE_PAGES: [&str; 4] = ["core/consul/src/pages", "core/agic/src/pages", "core/ingress-nginx/src/pages", "core/base/src/diagnostic/pages"];

/// Writes a page for each code and a page that lists them, and returns their lines for the summary.
fn codes(src: &Path) -> io::Result<String> {
    for from in CODE_PAGES {
        copy(&root().join(from), &src.join("codes"))?;
    }
    let mut names: Vec<String> =
        fs::read_dir(src.join("codes"))?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect::<io::Result<_>>()?;
    names.sort();
    let mut list = String::from(
        "# Findings\n\nEvery finding has a code. `chancery codes CODE` shows its page.\n\n| code | severity | meaning |\n|---|---|---|\n",
    );
    for line in output_of(&["codes", "--color", "never"])?.lines() {
        let mut words = line.splitn(2, "  ").map(str::trim);
        let (code, rest) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let (severity, what) = rest.split_once(' ').unwrap_or((rest, ""));
        if names.contains(&format!("{code}.md")) {
            let _ = writeln!(list, "| [{code}]({code}.md) | {severity} | {} |", what.trim());
        }
    }
    fs::write(src.join("codes/index.md"), list)?;
    Ok(names.iter().fold(String::new(), |mut out, name| {
        let _ = writeln!(out, "  - [{}](codes/{name})", name.trim_end_matches(".md"));
        out
    }))
}

/// Appends the output of `--help` to the page of a command.
fn options(path: &Path) -> io::Result<()> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let command: &[&str] = if name == "dump" { &["dump", "read", "--help"] } else { &[&name, "--help"] };
    let mut page = fs::read_to_string(path)?;
    let _ = write!(page, "\n## All options\n\n```text\n{}```\n", output_of(command)?);
    fs::write(path, page)
}
