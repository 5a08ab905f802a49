//! Checks that a real Envoy accepts the compiled configuration of every example, every fixture, and a corpus if one is given.
//!
//! `CHANCERY_ENVOY` names the program (`cargo xtask test` finds or installs it); `CHANCERY_CORPUS` may name a folder of cases.

use crate::{examples, fixtures};
use chancery_core::backend::envoy::Document;
use chancery_core::backend::envoy::v3::{Emitted, Withheld, encode};
use chancery_core::compilation::{Dialect, Options};
use chancery_core::dialect;
use chancery_core::resource::Inputs;
use chancery_tests::fixture;
use chancery_tests::work::{Work, inputs, options};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::{env, fs, thread};

/// Returns Envoy's reason to reject the configuration, if any.
fn refused(envoy: &OsString, name: &str, text: &str) -> Option<String> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("envoy");
    fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join(format!("{}.json", name.replace('/', "-")));
    fs::write(&path, text).expect("a file");
    let output = Command::new(envoy).args(["--mode", "validate", "--log-level", "error", "--base-id", "7", "-c"]).arg(&path).output().expect("Envoy");
    let told = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    // The controller's files and key material are missing here, so Envoy's errors about reading them do not concern the configuration.
    let of_the_pod =
        ["unable to open file", " from path: ", "Invalid path: ", "trusted CA certificates from <inline>"].iter().any(|words| told.contains(words));
    (!output.status.success() && !of_the_pod).then(|| format!("{}: {told}", path.display()))
}

/// Checks all documents, two at a time. `is_reported` says whether Chancery reports by itself that Envoy rejects the document of this name.
fn all_accepted(what: &str, documents: Vec<(String, String)>, is_reported: impl Fn(&str) -> bool) {
    let Some(envoy) = env::var_os("CHANCERY_ENVOY") else {
        println!("skipped: CHANCERY_ENVOY names no program");
        return;
    };
    let count = documents.len();
    let (queue, rejected) = (Mutex::new(documents), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((name, text)) = { queue.lock().expect("the queue").pop() } {
                    if let Some(told) = refused(&envoy, &name, &text) {
                        rejected.lock().expect("the list").push((name, told));
                    }
                }
            });
        }
    });
    let rejected = rejected.into_inner().expect("the list");
    let failures: Vec<&str> = rejected.iter().filter(|(name, _)| !is_reported(name)).map(|(_, told)| told.as_str()).collect();
    assert!(failures.is_empty(), "{} of {count}: {}", failures.len(), failures.join("\n"));
    println!("Envoy accepts {} of {count} {what}; the others have a finding", count - rejected.len());
}

/// Checks that `serve` can encode every message. Chancery knows the types that its own lowerings name.
fn all_encoded(name: &str, work: &Work) {
    for gateway in work.compilation.gateways() {
        let encoding = encode(gateway.ir, None, &mut Emitted::new());
        let unknown: Vec<String> =
            encoding.withheld.iter().map(Withheld::reason).filter(|reason| reason.starts_with("Chancery cannot encode")).collect();
        assert!(unknown.is_empty(), "{name}: {unknown:?}");
    }
}

#[test]
fn envoy_accepts_the_examples() {
    let bootstrap = |example: examples::Example| {
        let mut work = Work::new(&example.inputs, &example.options);
        // An Application Gateway has no Envoy.
        work.compilation.gateways().next()?;
        all_encoded(&example.name, &work);
        Some((example.name, work.text(Document::Bootstrap)))
    };
    all_accepted("examples", examples::examples().into_iter().filter_map(bootstrap).collect(), |_| false);
}

#[test]
fn envoy_accepts_the_fixtures() {
    let (mut documents, mut questions) = (Vec::new(), BTreeMap::new());
    for path in fixtures::files() {
        let name = fixtures::name(&path);
        for (index, question) in fixture::run(&fs::read_to_string(&path).expect("a fixture")).questions.into_iter().enumerate() {
            let (line, text) = question.split_once('\n').unwrap_or_default();
            let question = (inputs([("input.yaml", text)]), options(line).expect("options"));
            let mut work = Work::new(&question.0, &question.1);
            // A controller that does not start sends nothing.
            if work.compilation.gateways().next().is_some() {
                all_encoded(&name, &work);
                documents.push((format!("{name}-{index}"), work.text(Document::Bootstrap)));
                questions.insert(format!("{name}-{index}"), question);
            }
        }
    }
    // Fixtures of invalid configuration show the finding about Envoy's rejection.
    all_accepted("inputs of fixtures", documents, |name| {
        let (inputs, options) = &questions[name];
        Work::new(inputs, options).checked_findings().iter().any(|finding| finding.code == "refused-by-envoy")
    });
}

#[test]
fn envoy_accepts_the_corpus() {
    if env::var_os("CHANCERY_CORPUS").is_none() {
        println!("skipped: CHANCERY_CORPUS names no corpus");
        return;
    }
    let bootstrap = |(name, inputs, options): Case| {
        let mut work = Work::new(&inputs, &options);
        all_encoded(&name, &work);
        (name, work.text(Document::Bootstrap))
    };
    all_accepted("inputs of the corpus", cases().into_iter().map(bootstrap).collect(), |_| false);
}

/// The name of a case, its inputs, and its options.
pub type Case = (String, Inputs, Options);

/// Returns one in `CHANCERY_ENVOY_ONE_IN` cases of the corpus, or none without a corpus.
pub fn cases() -> Vec<Case> {
    let Some(corpus) = env::var_os("CHANCERY_CORPUS") else { return Vec::new() };
    let one_in = env::var("CHANCERY_ENVOY_ONE_IN").ok().and_then(|text| text.parse().ok()).unwrap_or(4);
    cases_in(Path::new(&corpus), one_in)
}

/// Returns all cases of the corpus by dialect name. The corpus may have one folder per dialect.
pub fn all_cases() -> Vec<(String, Vec<Case>)> {
    let Some(corpus) = env::var_os("CHANCERY_CORPUS").map(PathBuf::from) else { return Vec::new() };
    let is_dialect = |path: &Path| path.file_name().and_then(|name| name.to_str()).is_some_and(|name| Dialect::named(name, dialect::ALL).is_some());
    let folder = if is_dialect(&corpus) { corpus.parent().map(Path::to_path_buf).unwrap_or_default() } else { corpus };
    let mut folders: Vec<PathBuf> = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    folders.retain(|path| is_dialect(path));
    folders.sort();
    let named = |path: PathBuf| (path.file_name().unwrap_or_default().to_string_lossy().into_owned(), cases_in(&path, 1));
    folders.into_iter().map(named).collect()
}

fn cases_in(corpus: &Path, one_in: usize) -> Vec<Case> {
    // A folder with a dialect's name holds cases of that dialect.
    let named = corpus.file_name().and_then(|name| name.to_str()).filter(|name| Dialect::named(name, dialect::ALL).is_some());
    let dialect = named.map(|name| format!("dialect={name}")).unwrap_or_default();
    let mut folders: Vec<_> = fs::read_dir(corpus).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    folders.sort();
    let case = |folder: &PathBuf| {
        let (Ok(text), Ok(flags)) = (fs::read_to_string(folder.join("input.yaml")), fs::read_to_string(folder.join("options.json"))) else {
            return None;
        };
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // Only the command line supports options that hold whole files, such as an existing gateway.
        let options = options(&format!("{dialect} {}", flags_of(&flags))).ok()?;
        Some((name, inputs([("input.yaml", text.as_str())]), options))
    };
    folders.iter().step_by(one_in).filter_map(case).collect()
}

/// Converts a case's options to the form that [`options`] reads, without those that only the case's scorer needs.
pub fn flags_of(json: &str) -> String {
    let flags: serde_json::Map<String, serde_json::Value> = serde_json::from_str(json).expect("options.json");
    let mut words = Vec::new();
    for (key, value) in flags {
        match (key.as_str(), value) {
            // The gateway is chosen after compiling, not by an option of the dialect.
            ("resolve_to" | "proxy" | "gateway", _) | (_, serde_json::Value::Bool(false) | serde_json::Value::Null) => {}
            ("env", serde_json::Value::Object(variables)) => {
                words.extend(variables.iter().map(|(name, value)| format!("env.{name}={}", value.as_str().unwrap_or_default())));
            }
            (key, value) => {
                let several = value.as_array().cloned().unwrap_or_else(|| vec![value]);
                let word = |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_string);
                words.extend(several.iter().map(|value| format!("{}={}", key.replace('_', "-"), word(value))));
            }
        }
    }
    words.join(" ")
}
