//! Tests the promises of this crate, one file for each.

extern crate std;

use alloc::{format, string::String, vec::Vec};

use super::*;

mod values;

mod places;

mod broken;

mod files;

mod embedded_yaml;

mod written;

mod hostile;

mod readers_agree;

fn read(text: &str) -> Document {
    parse(text, &Limits::default())
}

/// The document's tree as JSON, or `broken`.
#[track_caller]
fn json(text: &str) -> String {
    let document = read(text);
    assert!(!document.is_broken(), "{text:?} has problems: {:?}", document.problems);
    document.root.map_or_else(|| String::from("nothing"), |root| to_json(&root, false))
}

/// The document's problems, one per line: line, column, kind, marked text, message.
fn problems(text: &str) -> String {
    let lines = LineIndex::new(text);
    let place = |range: TextRange| {
        let at = lines.position(text, range.start);
        format!("{}:{} {:?}", at.line + 1, at.column + 1, range.slice(text))
    };
    let show = |problem: &Problem| {
        let related = problem.related.as_ref().map(|(range, why)| format!(" ({}: {why})", place(*range)));
        format!("{} {:?}: {}{}", place(problem.range), problem.kind, problem.message, related.unwrap_or_default())
    };
    read(text).problems.iter().map(show).collect::<Vec<_>>().join("\n")
}
