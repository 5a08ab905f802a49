//! Compares our errors with the reference's for every case of the corpus. Set `CHANCERY_CORPUS` to the dialect's folder.

extern crate std;

use super::super::{AmbassadorKind, Via, admit};
use super::objects;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::resource::Object;
use chancery_text::{Limits, Node, Value, parse};

/// Name, namespace and text. Not the kind: the reference tells objects of different kinds and one name apart only by chance.
type Flag = (String, String, String);

#[test]
fn errors_equal_reference() {
    let Ok(corpus) = std::env::var("CHANCERY_CORPUS") else {
        std::println!("skipped: CHANCERY_CORPUS is not set");
        return;
    };
    let mut cases: Vec<_> = std::fs::read_dir(&corpus).expect("the corpus").map(|entry| entry.expect("an entry").path()).collect();
    cases.sort();
    let (mut differences, mut compared, mut admitted) = (Vec::new(), 0, 0);
    for case in cases {
        let (Ok(input), Ok(errors)) = (std::fs::read_to_string(case.join("input.yaml")), std::fs::read_to_string(case.join("want/errors.json")))
        else {
            continue;
        };
        let want = flagged(&errors);
        let options = std::fs::read_to_string(case.join("options.json")).unwrap_or_default();
        let id = parse(&options, &Limits::default()).root;
        let id = id.as_ref().and_then(|options| options.get("ambassador_id")?.as_str()).unwrap_or("default");
        let ours = ours(&input, id, &mut admitted);
        compared += want.len();
        for flag in want.symmetric_difference(&ours) {
            let side = if want.contains(flag) { "want" } else { "ours" };
            differences.push(format!("{} {side}: {flag:?}", case.file_name().unwrap_or_default().to_string_lossy()));
        }
    }
    std::println!("{admitted} objects admitted, {compared} texts compared");
    assert!(compared > 0, "the corpus has cases");
    assert!(differences.is_empty(), "{} differences:\n{}", differences.len(), differences.join("\n"));
}

fn ours(input: &str, id: &str, admitted: &mut usize) -> BTreeSet<Flag> {
    // The stored objects: a refused update keeps the earlier object, which is not flagged.
    let mut stored: BTreeMap<(String, String, String), Vec<Flag>> = BTreeMap::new();
    let mut flags = BTreeSet::new();
    objects(input, &mut |kind: &'static AmbassadorKind, object: Object, via| {
        *admitted += 1;
        let admission = admit(kind, &object, via, &object.root, &mut chancery_base::diagnostic::Findings::default());
        let namespace = object.key.namespace.clone().unwrap_or_default();
        if object.key.name.is_empty() || !is_ours(admission.spec.as_deref(), id) {
            return;
        }
        let key = (kind.name.to_string(), object.key.name.to_string(), namespace.to_string());
        let own: Vec<Flag> = admission.errors.into_iter().map(|text| (key.1.clone(), key.2.clone(), text)).collect();
        match via {
            Via::Annotation => flags.extend(own),
            Via::ApiServer if admission.refused && stored.get(&key).is_some_and(Vec::is_empty) => {}
            Via::ApiServer => {
                stored.insert(key, own);
            }
        }
    });
    flags.extend(stored.into_values().flatten());
    flags
}

/// Whether the object is meant for the Ambassador of this id.
fn is_ours(spec: Option<&Node>, id: &str) -> bool {
    let is_ours = |own: &str| own == id || own == "_automatic_";
    match spec.and_then(|spec| Some(&spec.get("ambassador_id")?.value)) {
        Some(Value::Array(ids)) if !ids.is_empty() => ids.iter().filter_map(Node::as_str).any(is_ours),
        Some(Value::String(own)) => is_ours(own),
        _ => id == "default",
    }
}

/// The reference's validation errors, without those of its compiler.
fn flagged(errors: &str) -> BTreeSet<Flag> {
    let document = parse(errors, &Limits::default());
    let root = document.root.expect("errors.json");
    let mut flags = BTreeSet::new();
    let items = |node: Option<&Node>| match node.map(|node| node.value.clone()) {
        Some(Value::Array(items)) => items,
        _ => Vec::new(),
    };
    for flag in items(root.get("flagged")) {
        let text = |key: &str| flag.get(key).and_then(Node::as_str).unwrap_or_default().to_string();
        for error in items(flag.get("errors")) {
            let error = error.as_str().unwrap_or_default().to_string();
            let is_validation = error.contains(" in body ")
                || error.starts_with("metadata.")
                || error.starts_with("json: ")
                || error.starts_with("no matches for kind")
                || error.starts_with("unsupported GroupVersionKind")
                || error.starts_with("apiVersion ");
            if is_validation && super::find(&text("kind")).is_some() {
                flags.insert((text("name"), text("namespace"), error));
            }
        }
    }
    flags
}
