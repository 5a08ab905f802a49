//! Checks that WebAssembly returns the same answers as native code, for the fixtures, some large inputs, and a part of a corpus if one is given.
//!
//! `CHANCERY_WASM` names the module (`cargo xtask test` builds it); `CHANCERY_CORPUS` may name a folder of cases.

use crate::fixtures;
use chancery_parity::{What, answer};
use chancery_tests::{fixture, generate};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// The test uses one in this many cases of the corpus.
const ONE_IN: usize = 8;

fn questions() -> Vec<(String, String)> {
    let mut questions = Vec::new();
    for path in fixtures::files() {
        let name = fixtures::name(&path);
        let outcome = fixture::run(&fs::read_to_string(&path).expect("a fixture"));
        questions.extend(outcome.questions.into_iter().enumerate().map(|(index, question)| (format!("{name}-{index}"), question)));
    }
    questions.push(("generated".into(), format!("\n{}", generate::mappings(200, 5))));
    if let Some(corpus) = env::var_os("CHANCERY_CORPUS") {
        let mut cases: Vec<_> = fs::read_dir(Path::new(&corpus)).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        cases.sort();
        for case in cases.iter().step_by(ONE_IN) {
            let Ok(text) = fs::read_to_string(case.join("input.yaml")) else { continue };
            questions.push((case.file_name().unwrap_or_default().to_string_lossy().into_owned(), format!("missing-secrets=assume\n{text}")));
        }
    }
    questions
}

#[test]
fn webassembly_gives_the_same_answers() {
    let Some(module) = env::var_os("CHANCERY_WASM") else {
        println!("skipped: CHANCERY_WASM names no module");
        return;
    };
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("parity");
    let (asked, answered) = (folder.join("questions"), folder.join("answers"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&asked).expect("a folder");
    fs::create_dir_all(&answered).expect("a folder");
    let questions = questions();
    for (name, question) in &questions {
        fs::write(asked.join(name), question).expect("a file");
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("wasm/run.mjs");
    let status = Command::new("node").arg(script).arg(module).arg(&asked).arg(&answered).status().expect("node");
    assert!(status.success(), "node ends with {status}");
    for (name, question) in &questions {
        let theirs = fs::read_to_string(answered.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        let ours = answer(question, What::All);
        let differs = || theirs.lines().zip(ours.lines()).position(|(theirs, ours)| theirs != ours);
        assert!(theirs == ours, "{name} differs in document {:?}", differs());
    }
    println!("{} questions answered alike", questions.len());
}
