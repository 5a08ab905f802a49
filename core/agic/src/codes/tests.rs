//! Runs the page of each code: its example produces the code, and its fixed example does not.
//!
//! Words after `yaml` are variables of the controller, or `update-error=TEXT`; a `json` block is the existing gateway.

use super::ALL;
use crate::Options;
use crate::tests::{Outcome, run};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::diagnostic::{Code, Severity, codes as common};

/// Returns the first block of this kind under a heading, and the words after the kind.
fn block<'p>(page: &'p str, heading: &str, kind: &str) -> Option<(&'p str, &'p str)> {
    let section = page.split("\n## ").find(|section| section.starts_with(heading))?;
    let (_, rest) = section.split_once(&*format!("```{kind}"))?;
    let (words, rest) = rest.split_once('\n')?;
    Some((rest.split("\n```").next()?, words.trim()))
}

fn outcome(page: &str, heading: &str) -> Option<Outcome> {
    let (text, words) = block(page, heading, "yaml")?;
    let mut options = Options::default();
    for word in words.split_whitespace() {
        match word.split_once('=').unwrap() {
            ("update-error", error) => options.update_error = Some(error.into()),
            (name, value) => {
                options.env.insert(name.into(), value.into());
            }
        }
    }
    let gateway = block(page, heading, "json").map(|(json, _)| json);
    options.existing_gateway = gateway.map(Into::into);
    Some(run(text, &options))
}

fn check(code: &'static Code) -> Result<(), String> {
    let page = code.page;
    if page.lines().next() != Some(&*format!("# {}", code.name)) {
        return Err("the title is not the code".into());
    }
    let Some(example) = outcome(page, "Example") else { return Err("there is no example".into()) };
    let names: BTreeSet<&str> = example.findings.iter().map(|finding| finding.code.name).collect();
    if !names.contains(code.name) {
        return Err(format!("the example does not produce it, but {names:?}"));
    }
    if let Some(fixed) = outcome(page, "How to fix it") {
        let left = fixed.findings.iter().filter(|left| left.code == code || left.severity == Severity::Error);
        let left: Vec<String> = left.map(|left| format!("{}: {}", left.code.name, left.message)).collect();
        if !left.is_empty() {
            return Err(format!("the fixed example has {left:?}"));
        }
    }
    Ok(())
}

#[test]
fn every_page_produces_its_code() {
    let failed: Vec<String> = ALL.iter().filter_map(|code| check(code).err().map(|why| format!("{}: {why}", code.name))).collect();
    assert!(failed.is_empty(), "{} of {} pages are wrong\n{}", failed.len(), ALL.len(), failed.join("\n"));
}

#[test]
fn codes_have_unique_names() {
    let mut names: BTreeSet<&str> = common::ALL.iter().map(|code| code.name).collect();
    for code in ALL {
        assert!(names.insert(code.name), "{} is defined twice", code.name);
        assert!(!code.summary.ends_with('.'));
    }
    assert!(ALL.len() >= 25);
}

#[test]
fn findings_about_a_place_lead_to_it() {
    for code in ALL {
        let Some(example) = outcome(code.page, "Example") else { continue };
        for finding in example.findings.iter().filter(|finding| finding.code == *code) {
            if let chancery_base::diagnostic::Place::Node { object, node, .. } = &finding.place {
                let object = example.objects.get(*object).unwrap();
                assert!(object.value_range(*node).is_some(), "{}", code.name);
            }
        }
    }
}
