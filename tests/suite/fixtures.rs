//! Runs every fixture. `UPDATE_FIXTURES=1` writes the actual results to the fixtures, for review.

use chancery_tests::fixture;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Returns the fixtures, sorted.
pub fn files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    for dialect in fs::read_dir(folder).expect("fixtures").flatten() {
        files.extend(fs::read_dir(dialect.path()).expect("a folder for each dialect").flatten().map(|entry| entry.path()));
    }
    files.retain(|path| path.extension().is_some_and(|ending| ending == "md"));
    files.sort();
    files
}

/// Names a fixture by its dialect and its feature.
pub fn name(path: &Path) -> String {
    let part = |path: Option<&Path>| path.and_then(Path::file_stem).unwrap_or_default().to_string_lossy().into_owned();
    format!("{}-{}", part(path.parent()), part(Some(path)))
}

#[test]
fn fixtures_match_results() {
    let update = env::var_os("UPDATE_FIXTURES").is_some();
    let only = env::var("FIXTURE").unwrap_or_default();
    let (mut failures, mut cases) = (Vec::new(), 0);
    let files: Vec<_> = files().into_iter().filter(|path| path.to_string_lossy().contains(&only)).collect();
    for path in &files {
        let text = fs::read_to_string(path).expect("a fixture");
        let outcome = fixture::run(&text);
        cases += outcome.cases;
        if update && outcome.updated != text {
            fs::write(path, &outcome.updated).expect("a fixture that can be written");
        } else {
            let name = name(path);
            failures.extend(outcome.failures.into_iter().map(|failure| format!("{name}, {failure}")));
        }
    }
    println!("{} fixtures, {cases} cases", files.len());
    assert!(failures.is_empty(), "{}\nUPDATE_FIXTURES=1 writes down what does happen", failures.join("\n"));
}
