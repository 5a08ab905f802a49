//! Compares the loaded resources and their order with the reference's own answers, for every case of a corpus.
//!
//! `CHANCERY_CORPUS` names a folder of cases (`*/input.yaml`, `options.json`, `want/resources.json`). Without it, the test compares nothing.

use chancery_core::compilation::Ledger;
use chancery_core::compilation::{Assumptions, Missing};
use chancery_core::diagnostic::{Diagnostic, Severity};
use chancery_core::dialect::ambassador::{Options, fetch};
use chancery_core::read::{DocumentCache, read};
use chancery_core::resource::Inputs;
use chancery_core::text::{Limits, Node, parse};
use std::path::Path;
use std::{env, fs};

fn json(path: &Path) -> Node {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    parse(&text, &Limits::default()).root.unwrap_or_else(|| panic!("{} is empty", path.display()))
}

fn options(node: &Node) -> Options {
    let mut options = Options::default();
    let text = |key: &str| node.get(key).and_then(Node::as_str);
    if let Some(id) = text("ambassador_id") {
        options.ambassador_id = id.into();
    }
    if let Some(namespace) = text("ambassador_namespace") {
        options.ambassador_namespace = namespace.into();
    }
    options.single_namespace = node.get("single_namespace").and_then(Node::as_bool).unwrap_or(false);
    if text("missing_secrets") == Some("assume") {
        options.missing = Assumptions::of_secrets(Missing::Assume);
    }
    for entry in node.get("env").and_then(Node::as_object).into_iter().flatten() {
        options.env.insert(entry.key.clone(), entry.value.as_str().unwrap_or_default().into());
    }
    options
}

/// Whether the reference could have loaded these resources. It stores resources by rkey. If several have the same rkey, it shows the one that a
/// later stage reported last.
fn agree(got: &[Row], want: &[Row]) -> bool {
    let mut rkeys: Vec<&str> = got.iter().map(|row| row.3.as_str()).collect();
    rkeys.dedup();
    rkeys == want.iter().map(|row| row.3.as_str()).collect::<Vec<_>>() && want.iter().all(|row| got.contains(row))
}

/// Returns errors about resources without an error in the reference.
fn false_alarms(findings: &[Diagnostic], errors: &Node) -> Vec<String> {
    let flagged = errors.get("flagged").and_then(Node::as_array).into_iter().flatten();
    let text = |node: &Node, key: &str| node.get(key).and_then(Node::as_str).unwrap_or_default().to_string();
    let flagged: Vec<_> = flagged.map(|row| (text(row, "name"), text(row, "namespace"))).collect();
    let errors = findings.iter().filter(|finding| finding.severity == Severity::Error);
    let alarm = |finding: &Diagnostic| {
        let key = finding.resource.as_ref()?;
        let known = flagged.contains(&(key.name.to_string(), key.namespace.clone().unwrap_or_default().to_string()));
        (!known).then(|| format!("{} {}", finding.code.name, finding.message))
    };
    errors.filter_map(alarm).collect()
}

type Row = (String, String, String, String);

fn wanted(node: &Node) -> Vec<Row> {
    let text = |node: &Node, key: &str| node.get(key).and_then(Node::as_str).unwrap_or("-").to_string();
    let row = |node| (text(node, "kind"), text(node, "name"), text(node, "namespace"), text(node, "rkey"));
    node.as_array().into_iter().flatten().map(row).collect()
}

#[test]
fn resources_are_those_of_the_reference() {
    let Ok(corpus) = env::var("CHANCERY_CORPUS") else {
        eprintln!("skipped: set CHANCERY_CORPUS to a folder of cases");
        return;
    };
    let mut cases: Vec<_> = fs::read_dir(&corpus).expect("a folder").flatten().map(|entry| entry.path()).collect();
    cases.sort();
    let (mut total, mut equal) = (0, 0);
    let (mut different, mut alarms) = (Vec::new(), Vec::new());
    for case in cases.iter().filter(|case| case.join("want/resources.json").is_file()) {
        total += 1;
        let text = fs::read_to_string(case.join("input.yaml")).expect("input.yaml");
        let inputs = Inputs::one("input.yaml", text);
        let options = options(&json(&case.join("options.json")));
        let (objects, mut findings) = read(&inputs, &fetch::read_options(), &mut DocumentCache::new());
        let mut ledger = Ledger::new(&objects);
        let config = fetch::fetch(&objects, &options, &mut ledger, &mut findings);
        let name = case.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let undecided: Vec<_> = ledger.undecided().filter_map(|id| objects.get(id)).map(|object| object.key.to_string()).collect();
        assert!(undecided.is_empty(), "{name}: undecided {undecided:?}");
        alarms.extend(false_alarms(&findings, &json(&case.join("want/errors.json"))).into_iter().map(|alarm| format!("{name}: {alarm}")));
        let want = wanted(&json(&case.join("want/resources.json")));
        let got: Vec<Row> =
            config.resources().map(|r| (r.kind.to_string(), r.name.to_string(), r.namespace.to_string(), r.rkey.to_string())).collect();
        if agree(&got, &want) {
            equal += 1;
            continue;
        }
        let missing: Vec<_> = want.iter().filter(|row| !got.contains(row)).collect();
        let surplus: Vec<_> = got.iter().filter(|row| !want.contains(row)).collect();
        different.push(format!("{name}\n    missing {missing:?}\n    surplus {surplus:?}"));
    }
    eprintln!("{equal} of {total} cases have the reference's resources");
    for line in &different {
        eprintln!("{line}");
    }
    eprintln!("{} errors on resources that the reference does not complain of", alarms.len());
    for line in &alarms {
        eprintln!("{line}");
    }
    assert!(different.len() <= allowed(), "{} cases differ", different.len());
}

/// The number of cases that may differ. Set it while you implement a rule.
fn allowed() -> usize {
    env::var("CHANCERY_CORPUS_DIFFERENT").ok().and_then(|text| text.parse().ok()).unwrap_or(0)
}
