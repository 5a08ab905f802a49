//! Changes a tree at a JSON pointer (RFC 6902). Errors have the messages of the reference's library.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::ir::{Fields, Plain, Tree};
use chancery_text::Str;

const MISSING: &str = "missing value";
const INVALID_INDEX: &str = "invalid index referenced";

fn parts(pointer: &str) -> Vec<String> {
    pointer.strip_prefix('/').unwrap_or(pointer).split('/').map(|part| part.replace("~1", "/").replace("~0", "~")).collect()
}

fn child<'t>(of: &'t mut Tree, key: &str) -> Option<&'t mut Tree> {
    match &mut of.value {
        Plain::Object(fields) => fields.0.iter_mut().find(|(name, _)| name.as_str() == key).map(|(_, value)| value),
        Plain::List(items) => {
            let index = index(key, items.len())?;
            items.get_mut(index)
        }
        _ => None,
    }
}

fn index(key: &str, length: usize) -> Option<usize> {
    let number: i64 = key.parse().ok()?;
    let number = if number < 0 { number + length as i64 } else { number };
    usize::try_from(number).ok()
}

fn walk<'t>(document: &'t mut Tree, parts: &[String]) -> Option<&'t mut Tree> {
    parts.iter().try_fold(document, |at, part| child(at, part))
}

/// Returns the container of a place, and the last key.
fn container<'t>(document: &'t mut Tree, pointer: &str) -> (Option<&'t mut Tree>, String) {
    let mut parts = parts(pointer);
    let last = parts.pop().unwrap_or_default();
    (walk(document, &parts), last)
}

/// Makes the containers that a place needs.
fn ensure(document: &mut Tree, parts: &[String]) {
    let mut at = document;
    for (place, part) in parts.iter().enumerate() {
        let next_is_index = parts.get(place + 1).is_some_and(|next| next == "-" || next.parse::<usize>().is_ok());
        if child(at, part).is_none() {
            let empty = if next_is_index { Plain::List(Default::default()) } else { Plain::Object(Fields::default()) };
            let fresh = Tree { value: empty, origin: at.origin };
            match &mut at.value {
                Plain::Object(fields) => fields.0.push((Str::new(part), fresh)),
                Plain::List(items) => items.push(fresh),
                _ => return,
            }
        }
        let key = part.clone();
        let is_end = matches!(&at.value, Plain::List(_)) && key == "-";
        let next = if is_end { at.items_mut().last_mut() } else { child(at, &key) };
        match next {
            Some(next) => at = next,
            None => return,
        }
    }
}

/// Adds a value. Containers that are missing are made.
pub(super) fn add(document: &mut Tree, pointer: &str, value: Tree) -> Result<(), String> {
    if pointer.is_empty() {
        *document = value;
        return Ok(());
    }
    let mut all = parts(pointer);
    let last = all.pop().unwrap_or_default();
    if walk(document, &all).is_none() {
        let mut with_last = all.clone();
        with_last.push(last.clone());
        ensure_containers(document, &with_last);
    }
    let Some(at) = walk(document, &all) else {
        return Err(format!("add operation does not apply: doc is missing path: \"{pointer}\": {MISSING}"));
    };
    match &mut at.value {
        Plain::Object(_) => {
            at.take(&last);
            at.push_field(&last, value);
            Ok(())
        }
        Plain::List(items) => {
            if last == "-" {
                items.push(value);
                return Ok(());
            }
            let length = items.len();
            match last.parse::<i64>().ok().map(|number| if number < 0 { number + length as i64 + 1 } else { number }) {
                Some(number) if (0..=length as i64).contains(&number) => {
                    items.insert(number as usize, value);
                    Ok(())
                }
                Some(_) => Err(format!("error in add for path: '{pointer}': Unable to access invalid index: {last}: {INVALID_INDEX}")),
                None => Err(format!("error in add for path: '{pointer}': value was not a proper array index: '{last}': {last}")),
            }
        }
        _ => Err(format!("add operation does not apply: doc is missing path: \"{pointer}\": {MISSING}")),
    }
}

fn ensure_containers(document: &mut Tree, parts: &[String]) {
    let mut containers = parts.to_vec();
    let last = containers.pop();
    ensure(document, &containers);
    let wants_list = last.is_some_and(|last| last == "-" || last.parse::<usize>().is_ok());
    if let Some(at) = walk(document, &containers)
        && at.fields().is_empty()
        && matches!(&at.value, Plain::Object(_))
        && wants_list
    {
        at.value = Plain::List(Default::default());
    }
}

/// Sets a field at the end.
trait PushField {
    fn push_field(&mut self, key: &str, value: Tree);
}

impl PushField for Tree {
    fn push_field(&mut self, key: &str, value: Tree) {
        if let Plain::Object(fields) = &mut self.value {
            fields.0.push((Str::new(key), value));
        }
    }
}

/// Removes a value.
pub(super) fn remove(document: &mut Tree, pointer: &str) -> Result<(), String> {
    let (at, last) = container(document, pointer);
    let Some(at) = at else { return Err(format!("remove operation does not apply: doc is missing path: \"{pointer}\": {MISSING}")) };
    if let Plain::List(items) = &mut at.value {
        let Some(index) = index(&last, items.len()).filter(|index| *index < items.len()) else {
            return Err(format!("error in remove for path: '{pointer}': Unable to access invalid index: {last}: {INVALID_INDEX}"));
        };
        items.remove(index);
        return Ok(());
    }
    match at.take(&last) {
        Some(_) => Ok(()),
        None => Err(format!("error in remove for path: '{pointer}': unable to remove nonexistent key: {last}: {MISSING}")),
    }
}

/// Replaces a value that is there.
pub(super) fn replace(document: &mut Tree, pointer: &str, value: Tree) -> Result<(), String> {
    if pointer.is_empty() {
        *document = value;
        return Ok(());
    }
    let (at, last) = container(document, pointer);
    let Some(at) = at else { return Err(format!("replace operation does not apply: doc is missing path: {pointer}: {MISSING}")) };
    match child(at, &last) {
        Some(known) => {
            *known = value;
            Ok(())
        }
        None => Err(format!("replace operation does not apply: doc is missing key: {pointer}: {MISSING}")),
    }
}

/// Compares a value.
pub(super) fn test(document: &mut Tree, pointer: &str, value: &Tree) -> Result<(), String> {
    let found = if pointer.is_empty() { Some(document) } else { walk(document, &parts(pointer)) };
    match found {
        Some(found) if found.json() == value.json() => Ok(()),
        _ => Err(format!("testing value {pointer} failed: test failed")),
    }
}

/// Moves a value.
pub(super) fn relocate(document: &mut Tree, from: &str, pointer: &str) -> Result<(), String> {
    let value = at(document, from, "move")?;
    remove(document, from)?;
    add(document, pointer, value)
}

/// Copies a value.
pub(super) fn copy(document: &mut Tree, from: &str, pointer: &str) -> Result<(), String> {
    let value = at(document, from, "copy")?;
    add(document, pointer, value)
}

fn at(document: &mut Tree, from: &str, op: &str) -> Result<Tree, String> {
    walk(document, &parts(from)).cloned().ok_or_else(|| format!("{op} operation does not apply: doc is missing from path: {from}: {MISSING}"))
}
