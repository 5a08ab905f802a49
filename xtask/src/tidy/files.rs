//! Checks single files: their header, their length, and their forbidden words.
//!
//! Does not compare files; see `arrows` and `licences`.

use super::File;

/// A Rust file with more lines contains more than one idea.
const LINES: usize = 700;

/// Files that may be longer, with the reason.
const LONG: &[(&str, &str)] = &[];

/// Words that mark unfinished work.
const UNDONE: [&str; 5] = ["TODO", "FIXME", "XXX", "unimplemented!", "todo!"];

/// Paths that exist on one machine only.
const PLACES: [&str; 4] = ["/home/", "/root/", "/work/", "../shared/"];

/// Files that may name paths outside of the repository.
const PLACES_ALLOWED: [&str; 2] = [".ci/run", "xtask/src/tidy/files.rs"];

/// Checks all files.
pub fn check(files: &[File], found: &mut Vec<String>) {
    for file in files {
        if !PLACES_ALLOWED.contains(&file.path.as_str()) && !is_data(&file.path) {
            report_words(file, &PLACES, "names a place of one machine", found);
        }
        if file.path.ends_with(".rs") && !is_generated(file) {
            rust(file, found);
            unrun(file, files, found);
        }
    }
}

/// Reports tests and examples of a crate whose manifest turns them off: its tests build faster without an empty test program.
fn unrun(file: &File, files: &[File], found: &mut Vec<String>) {
    let Some((folder, _)) = file.path.split_once("/src/") else { return };
    let Some(manifest) = files.iter().find(|of| of.path.strip_suffix("/Cargo.toml") == Some(folder)) else { return };
    let library = manifest.text.split("\n[").find_map(|section| section.strip_prefix("lib]")).unwrap_or_default();
    let mut is_in_code = false;
    for (number, line) in (1..).zip(file.text.lines()) {
        let line = line.trim_start();
        if let Some(fence) = line.strip_prefix("/// ```").or_else(|| line.strip_prefix("//! ```")) {
            is_in_code = !is_in_code;
            if is_in_code && fence.is_empty() && library.contains("\ndoctest = false") {
                found.push(format!("{}:{number}: this example does not run: {} says `doctest = false`", file.path, manifest.path));
            }
        }
        if (line.ends_with("::test]") || line == "#[test]") && library.contains("\ntest = false") {
            found.push(format!("{}:{number}: this test does not run: {} says `test = false`", file.path, manifest.path));
        }
    }
}

/// Whether a program wrote the file.
fn is_generated(file: &File) -> bool {
    file.text.starts_with("// @generated")
}

/// Whether the file is a test input or an expected result, which may contain anything.
fn is_data(path: &str) -> bool {
    path.starts_with("fuzz/corpus/") || path.ends_with(".snap") || path.ends_with(".lock")
}

fn rust(file: &File, found: &mut Vec<String>) {
    let path = &file.path;
    if !file.text.trim_start().starts_with("//!") && !file.text.starts_with("#!") {
        found.push(format!("{path}:1: does not say at its top what lives here"));
    }
    let lines = file.text.lines().count();
    match LONG.iter().find(|(long, _)| long == path) {
        None if lines > LINES => found.push(format!("{path}: {lines} lines are more than {LINES}; split it by concept")),
        Some(_) if lines <= LINES => found.push(format!("{path}: is short enough to be taken off the list of long files")),
        _ => {}
    }
    if path != "xtask/src/tidy/files.rs" {
        report_words(file, &UNDONE, "leaves something undone", found);
        for (number, line) in (1..).zip(file.text.lines()) {
            let line = line.trim_start();
            if line.starts_with("#[allow(") || line.starts_with("#![allow(") {
                found.push(format!("{path}:{number}: says `allow`; `expect` with a reason tells when it is no longer needed"));
            }
            if line.starts_with("#[ignore") {
                found.push(format!("{path}:{number}: a test that is ignored tests nothing"));
            }
        }
    }
}

fn report_words(file: &File, words: &[&str], what: &str, found: &mut Vec<String>) {
    for (number, line) in (1..).zip(file.text.lines()) {
        if let Some(word) = words.iter().find(|word| has_word(line, word)) {
            found.push(format!("{}:{number}: {what}: `{word}`", file.path));
        }
    }
}

/// Whether a line contains a word, but not as a part of a longer word.
fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        let part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        !part(before) && (word.ends_with('/') || !part(after))
    })
}
