//! Tests `chancery check --since`, its format for GitLab, and that the order of files does not matter.

use super::{GATEWAY, repository};
use crate::{Folder, json};

/// A Mapping with a misspelt field.
fn typo(name: &str) -> String {
    format!(
        "---\napiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {{name: {name}}}\nspec: {{hostname: shop.example.com, prefix: /{name}/, service: {name}, timout_ms: 1}}\n"
    )
}

#[test]
fn check_since_reports_changed_objects_and_broken_ones() {
    let (folder, _) = repository();
    folder.write("gateway/old.yaml", typo("old").as_bytes());
    folder.write("gateway/touched.yaml", typo("touched").as_bytes());
    let base = folder.commit();
    assert!(folder.run(&["check", "--since", &base, "gateway"]).out.contains("Nothing found"));
    folder.write("gateway/new.yaml", typo("new").as_bytes());
    folder.write("gateway/touched.yaml", typo("touched").replace("timout_ms: 1", "timout_ms: 2").as_bytes());
    // An object that did not change has no listener any more.
    folder.write("gateway/shop.yaml", GATEWAY.replace("kind: Listener", "kind: Listenr").as_bytes());
    let run = folder.run(&["check", "--since", &base, "--format", "json", "gateway"]);
    let found = json(&run.out);
    let names: Vec<&str> = found["diagnostics"].as_array().expect("a list").iter().filter_map(|of| of["resource"]["name"].as_str()).collect();
    assert!(names.contains(&"new") && names.contains(&"touched") && !names.contains(&"old"), "{names:?}");
    assert!(names.contains(&"shop") || names.contains(&"cart"), "{}", run.out);
    assert_eq!(folder.run(&["check", "--since", "nowhere", "gateway"]).code, 2);
}

#[test]
fn check_output_does_not_depend_on_file_order() {
    let folder = Folder::with(&[("a.yaml", GATEWAY), ("b.yaml", &typo("one")), ("c.yaml", &typo("two"))]);
    let run = |files: &[&str]| json(&folder.run(&[&["check", "--format", "codeclimate"], files].concat()).out);
    let report = run(&["a.yaml", "b.yaml", "c.yaml"]);
    assert_eq!(report, run(&["c.yaml", "a.yaml", "b.yaml"]));
    let first = &report[0];
    assert_eq!((&first["check_name"], &first["location"]["path"], &first["severity"]), (&"unknown-field".into(), &"b.yaml".into(), &"major".into()));
    let prints: std::collections::BTreeSet<&str> = report.as_array().expect("a list").iter().filter_map(|of| of["fingerprint"].as_str()).collect();
    assert_eq!(prints.len(), report.as_array().map_or(0, Vec::len));
}
