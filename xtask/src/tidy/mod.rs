//! `cargo xtask tidy`: checks the project's rules that the compiler does not check. `ARCHITECTURE.md` describes them.
//!
//! Does not contain rules; each rule has a module.

mod arrows;
mod files;
mod licences;
mod prose;

#[cfg(test)]
mod tests;

use crate::shell::{output, program, root};
use std::fs;
use std::process::ExitCode;

/// A file of the repository.
pub struct File {
    /// The path from the root, with `/`.
    pub path: String,
    /// The content.
    pub text: String,
}

/// Runs it.
pub fn run() -> ExitCode {
    match check() {
        Ok(()) => {
            println!("tidy");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Returns the breaches of all rules.
pub fn check() -> Result<(), String> {
    let files = files()?;
    let mut found = Vec::new();
    arrows::check(&files, &mut found);
    files::check(&files, &mut found);
    licences::check(&mut found);
    let mut phrases = Vec::new();
    prose::check(&files, &mut phrases);
    found.iter().chain(&phrases).for_each(|line| println!("{line}"));
    // A phrase must not stop work in progress; CI refuses it.
    if std::env::var_os("CI").is_some() {
        found.append(&mut phrases);
    }
    if found.is_empty() { Ok(()) } else { Err(format!("{} rules are broken", found.len())) }
}

/// The files that are in the repository or will be added.
fn files() -> Result<Vec<File>, String> {
    let list = output(program("git").args(["ls-files", "--cached", "--others", "--exclude-standard"])).ok_or("git lists no files")?;
    let mut files = Vec::new();
    for path in list.lines() {
        // Skips deleted files and binary files.
        if let Ok(text) = fs::read_to_string(root().join(path)) {
            files.push(File { path: path.into(), text });
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files.dedup_by(|a, b| a.path == b.path);
    Ok(files)
}
