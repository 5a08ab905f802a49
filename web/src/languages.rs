//! The configuration languages, and which worker knows those of an input. Workers find this out at every compile, and the page before it loads one.
//!
//! What must not be here: any language by name.

use crate::protocol::{SourceFile, Work};
use chancery_core::compile::recognise;
use chancery_core::dialect::LANGUAGES;
use chancery_core::resource::{Input, Inputs};

/// The worker that knows all languages.
pub const ALL: &str = "all";

/// The names of all languages, in their order.
pub fn names() -> impl Iterator<Item = &'static str> {
    LANGUAGES.iter().map(|language| language.name)
}

/// What people call the controller of a language.
pub fn controller(name: &str) -> &'static str {
    LANGUAGES.iter().find(|language| language.name == name).map_or("", |language| language.controller)
}

/// The worker of this name.
pub fn named(worker: &str) -> Option<&'static str> {
    names().chain([ALL]).find(|name| *name == worker)
}

/// The worker for these languages: the one of its own, or the one of all; nothing where any will do.
pub fn worker(needed: &[impl AsRef<str>]) -> Option<&'static str> {
    match needed {
        [] => None,
        [one] => names().find(|name| *name == one.as_ref()),
        _ => Some(ALL),
    }
}

/// Files as the core takes them.
pub fn inputs(files: &[SourceFile]) -> Inputs {
    files.iter().map(|file| Input { name: file.name.as_str().into(), text: file.text.clone() }).collect::<Vec<_>>().into()
}

/// The languages that files are written in.
fn found(inputs: &Inputs) -> Vec<&'static str> {
    let found = recognise(inputs, LANGUAGES.iter().map(|language| language.claims)).into_iter();
    found.filter_map(|(at, _)| LANGUAGES.get(at)).map(|language| language.name).collect()
}

/// Whether files are written in a language, as far as one can tell.
pub fn is_found(inputs: &Inputs, name: Option<&str>) -> bool {
    name.is_none_or(|name| found(inputs).contains(&name))
}

/// What work needs: its languages, and the one of them that is asked for. One that nobody chose counts only where the files do not say. What does
/// not say is read as the first language; what holds no resource needs none.
pub fn needed(inputs: &Inputs, work: &Work) -> (Vec<&'static str>, Option<&'static str>) {
    let found = found(inputs);
    let named = work.dialect.as_deref().and_then(|named| names().find(|name| *name == named));
    let wanted = named.filter(|named| work.chosen || found.is_empty() || found.contains(named));
    let holds_something = || inputs.inputs.iter().any(|input| input.text.contains("kind"));
    let needed = match wanted {
        Some(wanted) if !found.contains(&wanted) => vec![wanted],
        None if found.is_empty() && holds_something() => names().take(1).collect(),
        _ => found,
    };
    (needed, wanted)
}
