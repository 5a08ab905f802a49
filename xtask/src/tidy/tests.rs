//! Each rule reports its breach and accepts valid files.

use super::{File, arrows, files, prose};

fn arrows(path: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    arrows::check(&[File { path: path.into(), text: text.into() }], &mut found);
    found
}

fn file(path: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    files::check(&[File { path: path.into(), text: text.into() }], &mut found);
    found
}

#[test]
fn crates_depend_one_way() {
    assert_eq!(arrows("core/contour/Cargo.toml", "[dependencies]\nchancery-base.workspace = true\nchancery-consul.workspace = true\n").len(), 1);
    assert_eq!(arrows("core/Cargo.toml", "[dependencies]\nchancery.workspace = true\n[dev-dependencies]\nchancery-tests = \"1\"\n").len(), 1);
    assert_eq!(arrows("new/Cargo.toml", "[package]\n").len(), 1, "an unknown crate");
}

#[test]
fn tests_run() {
    let check = |library: &str, text: &str| {
        let mut found = Vec::new();
        let manifest = File { path: "lsp/Cargo.toml".into(), text: format!("[package]\n\n[lib]\n{library}\n[dependencies]\n") };
        files::check(&[manifest, File { path: "lsp/src/a.rs".into(), text: format!("//! A.\n{text}") }], &mut found);
        found.len()
    };
    let example = "/// ```\n/// f();\n/// ```\nfn f() {}\n";
    assert_eq!(check("doctest = false\n", example), 1);
    assert_eq!(check("doctest = false\n", "/// ```text\n/// f\n/// ```\n#[test]\nfn f() {}\n"), 0);
    assert_eq!(check("test = false\n", "#[test]\nfn f() {}\n"), 1);
    assert_eq!(check("test = false\n", example), 0);
}

#[test]
fn files_say_what_they_are_for() {
    assert_eq!(file("cli/src/a.rs", "fn a() {}\n").len(), 1);
    assert_eq!(file("cli/src/a.rs", "//! A.\nfn a() {}\n"), [""; 0]);
    assert_eq!(file("cli/src/a.rs", &"//! A.\n".repeat(701)).len(), 1);
}

#[test]
fn nothing_is_left_undone() {
    let undone = ["TO", "DO"].concat();
    assert_eq!(file("cli/src/a.rs", &format!("//! A.\n// {undone}: later\n")).len(), 1);
    assert_eq!(file("cli/src/a.rs", &format!("//! A.\nlet {undone}S = 1;\n")), [""; 0]);
    assert_eq!(file("cli/src/a.rs", "//! A.\n#[allow(dead_code)]\nfn a() {}\n").len(), 1);
    assert_eq!(file("cli/src/a.rs", "//! A.\n#[expect(dead_code, reason = \"shown\")]\nfn a() {}\n"), [""; 0]);
}

fn prose(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    prose::check(&[File { path: "cli/src/a.rs".into(), text: text.into() }], &mut found);
    found
}

#[test]
fn prose_reports_phrases_within_sentence() {
    assert_eq!(prose("/// Nobody reads this.\n"), ["cli/src/a.rs:1: `Nobody` must be read twice; name the person or program"]);
    let split = ["all", "the same"];
    assert_eq!(prose(&format!("// It works {}.\n", split.join(" "))).len(), 1);
    assert_eq!(prose(&format!("// It matches {}, {}.\n", split[0], split[1])), [""; 0], "punctuation separates phrases");
    assert_eq!(prose("// It is no longer there.\n"), [""; 0]);
}

#[test]
fn prose_reports_function_names() {
    let declared = |name: &str| prose(&["fn ", name, "() {}\n"].concat());
    assert_eq!(declared("route_without_host_matches_every_request"), [""; 0]);
    assert_eq!(declared("a_route_that_has_no_host_matches_every_request").len(), 1);
    assert_eq!(declared("told").len(), 1);
}
