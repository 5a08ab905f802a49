//! Writes headers that are set, added or removed.

use super::matcher::{setting_match, string_matcher};
use super::proto::{copied, list, message};
use crate::model::AddHeader;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_base::resource::Sourced;

/// Headers that are set or added.
pub(crate) fn added_headers(of: &[AddHeader]) -> Tree {
    list(of.iter().flat_map(header_options).collect())
}

/// A header, for each of its values.
pub(crate) fn header_options(of: &AddHeader) -> Vec<Tree> {
    let action = match (of.if_absent, of.append) {
        (true, _) => "ADD_IF_ABSENT".into(),
        (_, true) => Tree::NULL,
        _ => "OVERWRITE_IF_EXISTS_OR_ADD".into(),
    };
    let option = |value: Tree| {
        let is_empty = value.text().is_empty();
        let origin = value.origin.or(of.name.origin);
        message! {
            "header": message! { "key": of.name.clone(), "value": copied(&value) },
            "append_action": action.clone(),
            "keep_empty_value": if is_empty { true.into() } else { Tree::NULL },
        }
        .or_from(origin)
    };
    if of.values.is_empty() {
        return Vec::from([option(Tree::NULL)]);
    }
    of.values.iter().map(|value| option(value.clone().into())).collect()
}

/// Changes of headers as a ClientTrafficPolicy writes them.
pub(crate) fn header_mutations(of: &Tree) -> Vec<Tree> {
    let mut added: Vec<AddHeader> = Vec::new();
    for field in ["add", "set", "addIfAbsent"] {
        for header in of.get(field).items() {
            let name = header.get("name");
            let value = header.get("value");
            let is_known = added.iter().any(|known| known.name.value.eq_ignore_ascii_case(name.text()));
            if is_known || !is_valid_header(name, value) {
                continue;
            }
            added.push(AddHeader {
                name: Sourced::new(name.str(), name.origin),
                values: alloc::vec![Sourced::new(value.str(), value.origin)],
                append: field == "add",
                if_absent: field == "addIfAbsent",
            });
        }
    }
    let mut out: Vec<Tree> = added.iter().flat_map(header_options).map(|option| message! { "append": option }).collect();
    let mut removed: Vec<&Tree> = Vec::new();
    for name in of.get("remove").items() {
        if !name.text().is_empty() && !removed.iter().any(|known| known.text().eq_ignore_ascii_case(name.text())) {
            removed.push(name);
        }
    }
    out.extend(removed.into_iter().map(|name| message! { "remove": name.clone() }.or_from(name.origin)));
    for of in of.get("removeOnMatch").items().iter().filter(|of| !of.get("value").text().is_empty()) {
        out.push(message! { "remove_on_match": message! { "key_matcher": string_matcher(&setting_match("", of)) } }.or_from(of.origin));
    }
    out
}

/// Whether a header can be added: the name is one, and the value has no control characters.
pub(crate) fn is_valid_header(name: &Tree, value: &Tree) -> bool {
    let is_name = !name.text().is_empty() && !name.text().contains(['/', ':']);
    is_name && value.text().bytes().all(|byte| byte == b'\t' || (b' '..=b'~').contains(&byte))
}
