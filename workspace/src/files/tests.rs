//! Tests which files are found.

use super::*;
use std::fs;

fn folder(files: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for file in files {
        write(folder.path(), file, "");
    }
    folder
}

fn write(folder: &Path, file: &str, text: &str) {
    let path = folder.join(file);
    fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
    fs::write(path, text).expect("a file");
}

fn names(root: &Path, excludes: &Excludes) -> Vec<String> {
    let found = walk(root, excludes).expect("it can be walked");
    found.files.iter().map(|file| file.strip_prefix(root).expect("below").display().to_string()).collect()
}

#[test]
fn walk_skips_hidden_ignored_and_excluded_files() {
    let files = ["a.yaml", "b.yml", "c.JSON", "notes.txt", ".github/workflows/ci.yaml", "out/a.yaml", "node_modules/x/package.json", "old/a.yaml"];
    let folder = folder(&files);
    write(folder.path(), ".gitignore", "out/\n");
    let excludes = Excludes::new(folder.path(), &["old/".into()]).expect("a pattern");
    assert_eq!(names(folder.path(), &excludes), ["a.yaml", "b.yml", "c.JSON"]);
    assert_eq!(names(folder.path(), &Excludes::default()), ["a.yaml", "b.yml", "c.JSON", "old/a.yaml"]);
    assert!(Excludes::new(folder.path(), &["{".into()]).is_err());
}

#[test]
fn walk_skips_parts_of_charts_and_kustomizations() {
    let folder =
        folder(&["chart/Chart.yaml", "chart/values.yaml", "chart/charts/sub/Chart.yaml", "chart/templates/a.yaml", "base/a.yaml", "prod/patch.yaml"]);
    write(folder.path(), "base/kustomization.yaml", "resources: [a.yaml]\n");
    write(folder.path(), "prod/kustomization.yaml", "resources: [../base]\npatches: [{path: patch.yaml}]\n");
    write(folder.path(), "top/kustomization.yaml", "resources: [../prod]\n");
    assert_eq!(names(folder.path(), &Excludes::default()), ["base/a.yaml"]);
    let found = walk(folder.path(), &Excludes::default()).expect("it can be walked");
    assert_eq!(found.charts, [folder.path().join("chart")]);
    let [base, prod, top] = &found.kustomizations[..] else { panic!("{:?}", found.kustomizations) };
    let all = &found.kustomizations;
    assert!(prod.builds_on(&base.folder, all) && top.builds_on(&base.folder, all) && !base.builds_on(&prod.folder, all));
    assert_eq!(walk(&folder.path().join("chart"), &Excludes::default()).expect("it can be walked").charts, [folder.path().join("chart")]);
}

#[cfg(unix)]
#[test]
fn walk_notes_dangling_link_and_continues() {
    let folder = folder(&["a.yaml"]);
    std::os::unix::fs::symlink("nowhere.yaml", folder.path().join("b.yaml")).expect("a link");
    std::os::unix::fs::symlink(".", folder.path().join("circle")).expect("a link");
    let found = walk(folder.path(), &Excludes::default()).expect("it can be walked");
    assert_eq!(found.files, [folder.path().join("a.yaml")]);
    assert_eq!((found.dangling, found.problems), (vec![folder.path().join("b.yaml")], Vec::new()));
    // Hidden links and excluded links are not reported.
    for hidden in [".#a.yaml", "bin", "old.yaml"] {
        std::os::unix::fs::symlink("nowhere", folder.path().join(hidden)).expect("a link");
    }
    let excludes = Excludes::new(folder.path(), &["old.yaml".into()]).expect("a pattern");
    let found = walk(folder.path(), &excludes).expect("it can be walked");
    assert_eq!(found.dangling, ["b.yaml", "bin"].map(|name| folder.path().join(name)));
}
