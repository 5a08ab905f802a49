//! Checks changes of headers in ClientTrafficPolicies. Does not apply them.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::ir::{Plain, Tree};
use chancery_base::schema::go_quoted;

/// Returns header settings without changes that have no effect.
pub(super) fn clean(written: &Tree) -> Result<Tree, String> {
    let mut out = written.clone();
    let mut errors = Vec::new();
    for (field, name) in [("earlyRequestHeaders", "EarlyRequestHeaders"), ("lateResponseHeaders", "LateResponseHeaders")] {
        if let Some(modifier) = out.get_mut(field) {
            clean_modifier(modifier, name, &mut errors);
        }
    }
    if errors.is_empty() { Ok(out) } else { Err(errors.join("\n")) }
}

fn is_value(text: &str) -> bool {
    // Envoy Gateway's expression: printable characters and tabs, without spaces at the ends.
    let is_printable = |c: char| c != '\u{7f}' && (c >= ' ' || c == '\t');
    text.is_empty() || text.chars().all(is_printable) && !text.starts_with([' ', '\t']) && !text.ends_with([' ', '\t'])
}

fn clean_modifier(modifier: &mut Tree, name: &str, errors: &mut Vec<String>) {
    let mut seen: Vec<String> = Vec::new();
    for (list, verb) in [("add", "add"), ("set", "set"), ("addIfAbsent", "addIfAbsent")] {
        let Some(Tree { value: Plain::List(items), .. }) = modifier.get_mut(list) else { continue };
        items.retain(|item| {
            let header = item.get("name").text();
            if header.is_empty() {
                errors.push(format!("{name} cannot {verb} a header with an empty name"));
            } else if header.contains(['/', ':']) {
                let quoted = go_quoted(header);
                errors.push(format!("{name} cannot {verb} a header with a '/' or ':' character in them. Header: '{quoted}'"));
            } else if !is_value(item.get("value").text()) {
                errors.push(format!("{name} cannot {verb} a header with an invalid value. Header: '{}'", go_quoted(header)));
            } else if !seen.iter().any(|known| known.eq_ignore_ascii_case(header)) {
                seen.push(String::from(header));
                return true;
            }
            false
        });
    }
    let mut left = !seen.is_empty();
    if let Some(Tree { value: Plain::List(items), .. }) = modifier.get_mut("remove") {
        let mut removed: Vec<String> = Vec::new();
        items.retain(|item| {
            let header = item.text();
            if header.is_empty() {
                errors.push(format!("{name} cannot remove a header with an empty name"));
                return false;
            }
            let is_new = !removed.iter().any(|known| known.eq_ignore_ascii_case(header));
            if is_new {
                removed.push(String::from(header));
            }
            is_new
        });
        left |= !items.is_empty();
    }
    if let Some(Tree { value: Plain::List(items), .. }) = modifier.get_mut("removeOnMatch") {
        items.retain(|item| {
            let is_filled = !item.get("value").text().is_empty();
            if !is_filled {
                errors.push(format!("{name} cannot remove a header with an empty matcher value"));
            }
            is_filled
        });
        left |= !items.is_empty();
    }
    if !left {
        errors.push(format!("{name} did not provide valid configuration to add/set/remove any headers"));
    }
}
