//! Each rule finds its breach, and leaves what is right alone.

use super::{File, arrows, files};

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
fn the_ir_knows_no_dialect() {
    let found = arrows("core/src/ir/route.rs", "//! Routes.\nuse crate::dialect::ambassador::Options;\n");
    assert_eq!(found, ["core/src/ir/route.rs:2: ir must not know dialect/ambassador"]);
    assert_eq!(arrows("core/src/ir/route.rs", "use crate::resource::Origin;\nuse crate::text::Str;\n"), [""; 0]);
}

#[test]
fn a_dialect_knows_no_other() {
    let text = "use crate::{ir, dialect::contour::Options};\nuse crate::dialect::kubernetes::service;\nuse crate::dialect::ambassador::kinds;\n";
    assert_eq!(
        arrows("core/src/dialect/ambassador/lower/mod.rs", text),
        ["core/src/dialect/ambassador/lower/mod.rs:1: dialect/ambassador must not know dialect/contour"]
    );
}

#[test]
fn the_back_end_sees_the_ir_only() {
    assert_eq!(arrows("core/src/backend/envoy/v3/route.rs", "use crate::dialect::ambassador::config::Config;").len(), 1);
}

#[test]
fn the_core_does_no_io() {
    assert_eq!(arrows("core/src/compile.rs", "let now = std::time::Instant::now();").len(), 1);
    assert_eq!(arrows("core/src/compile.rs", "println!(\"{x}\");").len(), 1);
    assert_eq!(arrows("core/src/compile.rs", "// std::fs would be wrong here\nuse core::fmt;\n#[cfg(test)]\nmod tests { use std::fs; }"), [""; 0]);
}

#[test]
fn crates_depend_one_way() {
    assert_eq!(arrows("core/Cargo.toml", "[dependencies]\nchancery.workspace = true\n[dev-dependencies]\nchancery-tests = \"1\"\n").len(), 1);
    assert_eq!(arrows("new/Cargo.toml", "[package]\n").len(), 1, "an unknown crate");
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
