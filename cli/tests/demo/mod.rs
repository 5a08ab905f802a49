//! Tests the commands on a typical repository: charts, kustomizations, other tools' files, ignored folders.
//!
//! Does not contain the repository; see `tests/demo`.

use crate::{Folder, Run};
use insta::assert_snapshot;
use std::fs;
use std::path::Path;
use std::process::Command;

/// A copy of the repository, with one commit on `main`, and with tools' temporary files.
fn demo() -> Folder {
    let folder = Folder::new();
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/demo"), folder.0.path());
    folder.write("node_modules/left-pad/package.json", br#"{"name": "left-pad"}"#);
    folder.write("build/rendered.yaml", b"apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {name: built}\nspec: {}\n");
    git(folder.0.path(), &["init", "-q", "-b", "main"]);
    git(folder.0.path(), &["add", "."]);
    git(folder.0.path(), &["-c", "user.name=a", "-c", "user.email=a@acme.org", "commit", "-q", "-m", "first"]);
    folder
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("the demo").flatten() {
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() { copy(&path, &to) } else { fs::copy(&path, &to).map(|_| ()).expect("a file") }
    }
}

fn git(folder: &Path, arguments: &[&str]) {
    let run = Command::new("git").args(arguments).current_dir(folder).env("GIT_CONFIG_GLOBAL", "/dev/null").output().expect("git");
    assert!(run.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&run.stderr));
}

/// Returns a command's output with its exit code.
fn transcript(run: &Run) -> String {
    format!("{}\n---\n{}\n---\n{}", run.code, run.out, run.err)
}

#[test]
fn check_repository_skips_files_of_other_tools() {
    assert_snapshot!("check", transcript(&demo().run(&["check", "."])));
}

#[test]
fn diff_compares_a_revision_with_the_working_folder() {
    let folder = demo();
    assert_eq!(folder.run(&["diff", "main"]).out, "Nothing differs.\n");
    let text = folder.read("gateway/shop.yaml").replace("prefix: /cart/", "prefix: /basket/");
    folder.write("gateway/shop.yaml", text.as_bytes());
    assert_snapshot!("diff", transcript(&folder.run(&["diff", "main"])));
}

#[test]
fn revision_paths_follow_git() {
    let folder = demo();
    let inside = |args: &[&str]| {
        let run = Command::new(env!("CARGO_BIN_EXE_chancery")).args(args).current_dir(folder.0.path().join("k8s")).output().expect("it runs");
        (run.status.code(), String::from_utf8_lossy(&run.stdout).into_owned(), String::from_utf8_lossy(&run.stderr).into_owned())
    };
    for (before, after) in [("HEAD:gateway", "../gateway"), ("HEAD:./base", "base"), ("HEAD:k8s/base/docs.yaml", "base/docs.yaml")] {
        let (code, out, err) = inside(&["diff", before, after]);
        assert_eq!((code, out.as_str()), (Some(0), "Nothing differs.\n"), "{before}: {err}");
    }
    let (code, _, err) = inside(&["diff", "HEAD:base", "base"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("chancery: git cannot read HEAD:base: "), "{err}");
}

#[test]
fn requests_are_tested() {
    let folder = demo();
    assert_snapshot!("test", transcript(&folder.run(&["test"])));
    let text = folder.read("gateway/shop.yaml").replace("prefix: /cart/", "prefix: /cart");
    folder.write("gateway/shop.yaml", text.as_bytes());
    let failed = folder.run(&["test", "requests/shop.yaml", "gateway"]);
    assert_snapshot!("test_failed", transcript(&failed));
    assert_snapshot!("test_junit", folder.run(&["test", "--format", "junit"]).out);
    assert_eq!(folder.run(&["test", "gateway/shop.yaml", "--config", "none"]).code, 2);
}

#[test]
fn fixes_are_shown_and_applied() {
    let folder = demo();
    let before = folder.read("gateway/shop.yaml");
    assert_snapshot!("fix_diff", transcript(&folder.run(&["check", "--fix", "--diff", "."])));
    assert_eq!(folder.read("gateway/shop.yaml"), before);
    let fixed = folder.run(&["check", "--fix", "."]);
    assert_eq!(folder.read("gateway/shop.yaml"), before.replace("timout_ms", "timeout_ms"), "{}", transcript(&fixed));
    assert_eq!(fixed.code, 0, "{}", transcript(&fixed));
}

#[test]
fn settings_are_found_upwards() {
    let folder = demo();
    assert_snapshot!("config", transcript(&folder.run(&["config"])));
    let inside =
        Command::new(env!("CARGO_BIN_EXE_chancery")).args(["config"]).current_dir(folder.0.path().join("k8s/base")).output().expect("it runs");
    assert!(String::from_utf8_lossy(&inside.stdout).starts_with("../../chancery.toml\n"));
    assert!(!folder.run(&["ledger", "."]).out.contains("legacy") && folder.run(&["ledger", "legacy"]).out.contains("legacy/old.yaml"));
    folder.write("chancery.toml", b"exclud = []\n");
    let wrong = folder.run(&["check", "."]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.starts_with("chancery: chancery.toml:1: unknown field `exclud`"), "{}", wrong.err);
    folder.write("chancery.toml", b"[severities]\nno-such = \"off\"\n");
    assert!(folder.run(&["check", "."]).err.starts_with("chancery: chancery.toml: there is no code `no-such`"));
    folder.write("chancery.toml", b"[options]\nno-such = 1\n");
    assert!(folder.run(&["check", "."]).err.starts_with("chancery: chancery.toml: there is no option `no-such`"));
}

/// A program with this name that writes this output.
#[cfg(unix)]
fn program(folder: &Folder, name: &str, output: &str) {
    use std::os::unix::fs::PermissionsExt;
    folder.write(&format!("bin/{name}"), format!("#!/bin/sh\n/bin/cat <<'END'\n{output}\nEND\n").as_bytes());
    fs::set_permissions(folder.0.path().join(format!("bin/{name}")), fs::Permissions::from_mode(0o755)).expect("it may run");
}

#[cfg(unix)]
#[test]
fn charts_and_kustomizations_are_rendered_by_installed_tools() {
    let folder = demo();
    // Nothing else, because the machine may have these tools.
    let path = folder.0.path().join("bin").display().to_string();
    let check = |arguments: &[&str]| folder.run_with(&[&["check", "--render"], arguments].concat(), &[("PATH", &path)], "");
    // The user must choose between two overlays of one base.
    let both = check(&["."]);
    assert_eq!((both.code, both.err.contains("k8s/overlays/prod and k8s/overlays/staging are both built on k8s/base")), (2, true), "{}", both.err);
    let missing = check(&["chart"]);
    assert_eq!((missing.code, missing.err.as_str()), (2, "chancery: cannot render chart: there is no helm on this machine\n"));
    let missing = check(&["k8s/overlays/prod"]);
    assert_eq!(
        (missing.code, missing.err.as_str()),
        (2, "chancery: cannot render k8s/overlays/prod: there is no kustomize and no kubectl on this machine\n")
    );
    let mapping = |name: &str| {
        format!(
            "apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {{name: {name}, namespace: shop}}\nspec: {{hostname: shop.acme.org, prefix: /{name}/, servise: {name}}}"
        )
    };
    program(&folder, "helm", &format!("---\n# Source: search/templates/mapping.yaml\n{}", mapping("search")));
    program(&folder, "kubectl", &mapping("docs"));
    assert_snapshot!("render", transcript(&check(&["chart", "gateway", "k8s/overlays/prod"])));
    // Each named file exists. The lines of rendered output are omitted.
    let github = check(&["--format", "github", "chart"]);
    assert!(github.out.contains(" file=chart/templates/mapping.yaml,title="), "{}", github.out);
    let sarif: serde_json::Value = serde_json::from_str(&check(&["--format", "sarif", "chart", "k8s/overlays/prod"]).out).expect("JSON");
    let places = sarif["runs"][0]["results"].as_array().expect("results").iter().map(|result| &result["locations"][0]["physicalLocation"]);
    let places: Vec<&serde_json::Value> = places.filter(|place| !place.is_null()).collect();
    let has = |file: &str| places.iter().any(|place| place["artifactLocation"]["uri"] == file && place["region"].is_null());
    assert!(has("chart/templates/mapping.yaml") && has("k8s/overlays/prod/kustomization.yaml"), "{places:?}");
    let fix = check(&["--fix", "chart"]).err;
    assert!(fix.contains("1 finding with a fix left as found"), "{fix}");
}
