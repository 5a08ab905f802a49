//! The page of each code is its test: its first example produces the code, and the corrected one does not.
//!
//! Words after `yaml` are flags of the controller.

use super::ALL;
use crate::tests::{Outcome, run};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::diagnostic::{Code, Place, Severity, codes as common};

/// The text of the first block under a heading, and the words behind `yaml`.
fn block<'p>(page: &'p str, heading: &str) -> Option<(&'p str, &'p str)> {
    let section = page.split("\n## ").find(|section| section.starts_with(heading))?;
    let (_, rest) = section.split_once("```yaml")?;
    let (words, rest) = rest.split_once('\n')?;
    Some((rest.split("\n```").next()?, words.trim()))
}

fn outcome(page: &str, heading: &str) -> Option<Outcome> {
    let (text, words) = block(page, heading)?;
    Some(run(text, &words.split_whitespace().collect::<Vec<_>>()))
}

fn check(code: &'static Code) -> Result<(), String> {
    let page = code.page;
    if page.lines().next() != Some(&*format!("# {}", code.name)) {
        return Err("the title is another".into());
    }
    let Some(example) = outcome(page, "Example") else { return Err("there is no example".into()) };
    let names: BTreeSet<&str> = example.findings.iter().map(|finding| finding.code.name).collect();
    if !names.contains(code.name) {
        return Err(format!("the example does not produce it, but {names:?}"));
    }
    let Some(fixed) = outcome(page, "How to fix it") else { return Ok(()) };
    let left = fixed.findings.iter().filter(|left| left.code == code || left.severity == Severity::Error);
    let left: Vec<String> = left.map(|left| format!("{}: {}", left.code.name, left.message)).collect();
    if left.is_empty() { Ok(()) } else { Err(format!("the corrected example has {left:?}")) }
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
        assert!(names.insert(code.name), "{} is there twice", code.name);
        assert!(!code.summary.ends_with('.'));
    }
}

#[test]
fn findings_about_a_place_lead_to_it() {
    for code in ALL {
        let Some(example) = outcome(code.page, "Example") else { continue };
        for finding in example.findings.iter().filter(|finding| finding.code == *code) {
            if let Place::Node { object, node, .. } = &finding.place {
                let object = example.objects.get(*object).unwrap();
                assert!(object.value_range(*node).is_some(), "{}", code.name);
            }
        }
    }
}
