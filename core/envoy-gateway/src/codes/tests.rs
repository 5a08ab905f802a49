//! Tests the page of each code: its first example produces the code, and the fixed example does not.

use super::ALL;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::compilation::Options;
use chancery_base::diagnostic::{Code, Policy, Severity};
use chancery_base::resource::Inputs;
use chancery_compile::Compiler;

/// The text of the first block under a heading.
fn block<'p>(page: &'p str, heading: &str) -> Option<&'p str> {
    let section = page.split("\n## ").find(|section| section.starts_with(heading))?;
    section.split_once("```yaml\n")?.1.split("\n```").next()
}

/// The codes that are found in a text, each with the worst severity that it has.
fn found(text: &str) -> BTreeMap<String, Severity> {
    let mut compiler = Compiler::new(&[&crate::DIALECT]);
    let mut compilation = compiler.compile(&Inputs::one("input.yaml", text), &Options::default());
    assert_eq!(compilation.sides.iter().map(|side| side.dialect.name).collect::<Vec<_>>(), ["envoy-gateway"], "{text}");
    chancery_explain::check::check(&mut compilation, &Policy::default(), &mut compiler.emitted, &chancery_base::executor::Sequential);
    compilation.all_diagnostics().map(|finding| (finding.code.name.to_string(), finding.severity)).collect()
}

fn check(code: &'static Code) -> Result<(), String> {
    let page = code.page;
    if page.lines().next() != Some(&*format!("# {}", code.name)) {
        return Err("the page has another title".to_string());
    }
    let bad = found(block(page, "Example").ok_or("there is no example")?);
    if bad.get(code.name) != Some(&code.severity) {
        return Err(format!("the example does not produce it, but {bad:?}"));
    }
    let good = found(block(page, "How to fix it").ok_or("the page has no fixed example")?);
    let wrong: Vec<_> = good.iter().filter(|(name, severity)| *name == code.name || **severity == Severity::Error).collect();
    if wrong.is_empty() { Ok(()) } else { Err(format!("the fixed example still has {wrong:?}")) }
}

#[test]
fn page_has_wrong_and_fixed_example() {
    let wrong: Vec<_> = ALL.iter().filter_map(|code| Some(format!("{}: {}", code.name, check(code).err()?))).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_code_has_the_name_of_another() {
    let mut names: Vec<_> = ALL.iter().map(|code| code.name).collect();
    names.extend(chancery_base::diagnostic::codes::ALL.iter().map(|code| code.name));
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all);
}
