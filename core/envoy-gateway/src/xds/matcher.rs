//! Writes comparisons of strings and addresses, and trees of them. Does not know what they decide.

use super::proto::{any, extension, list, message, re2, regex};
use crate::model::{CidrMatch, StringMatch, StringMatchKind};
use alloc::string::ToString;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_base::resource::Sourced;
use chancery_kubernetes::go::parse_cidr;
use chancery_text::Str;

/// A comparison of a text, as routes have it.
pub(crate) fn string_matcher(of: &StringMatch) -> Tree {
    let value = Tree::from(of.value.clone());
    match of.kind {
        StringMatchKind::Exact => message! { "exact": value },
        StringMatchKind::Prefix => message! { "prefix": value },
        StringMatchKind::Suffix => message! { "suffix": value },
        StringMatchKind::Regex => message! { "safe_regex": regex(value) },
        StringMatchKind::Distinct => super::proto::empty(),
    }
    .or_from(of.value.origin)
}

/// A comparison as policies write it: {type, value}.
pub(crate) fn setting_match(name: &str, of: &Tree) -> StringMatch {
    let kind = match of.get("type").text() {
        "Prefix" => StringMatchKind::Prefix,
        "Suffix" => StringMatchKind::Suffix,
        "RegularExpression" => StringMatchKind::Regex,
        _ => StringMatchKind::Exact,
    };
    let value = of.get("value");
    StringMatch {
        name: Sourced::new(Str::new(name), of.origin),
        kind,
        value: Sourced::new(value.str(), value.origin.or(of.origin)),
        invert: Sourced::default(),
    }
}

/// A comparison of a text in a tree of matchers.
pub(crate) fn value_matcher(of: &StringMatch) -> Tree {
    match of.kind {
        StringMatchKind::Regex => message! { "safe_regex": re2(Tree::from(of.value.clone())) },
        _ => string_matcher(of),
    }
}

/// A comparison of a header.
pub(crate) fn header_matcher(of: &StringMatch) -> Tree {
    message! { "name": of.name.clone(), "string_match": string_matcher(of) }.or_from(of.value.origin)
}

/// A range of addresses.
pub(crate) fn cidr_range(of: &CidrMatch) -> Tree {
    let address = parse_cidr(of.cidr.text()).map(|(address, _)| address.to_string()).unwrap_or_default();
    message! { "address_prefix": Tree::from(address).or_from(of.cidr.origin), "prefix_len": Tree::from(of.length).or_from(of.cidr.origin) }
}

/// A leaf of a tree of matchers: an input, and how its value is compared.
pub(crate) fn leaf(input: Tree, how: &'static str, matcher: Tree) -> Tree {
    let mut predicate = message! { "input": input };
    predicate.set(how, matcher);
    message! { "single_predicate": predicate }
}

/// All of them.
pub(crate) fn all_of(mut predicates: Vec<Tree>) -> Tree {
    match predicates.len() {
        0 => Tree::NULL,
        1 => predicates.pop().unwrap_or_default(),
        _ => message! { "and_matcher": message! { "predicate": list(predicates) } },
    }
}

/// Any of them.
pub(crate) fn any_of(mut predicates: Vec<Tree>) -> Tree {
    match predicates.len() {
        0 => Tree::NULL,
        1 => predicates.pop().unwrap_or_default(),
        _ => message! { "or_matcher": message! { "predicate": list(predicates) } },
    }
}

/// What happens if a predicate holds.
pub(crate) fn on_match(predicate: Tree, action: Tree) -> Tree {
    message! { "predicate": predicate, "on_match": message! { "action": action } }
}

/// A header of the request as an input.
pub(crate) fn request_header(name: impl Into<Tree>) -> Tree {
    extension("http_header", "envoy.type.matcher.v3.HttpRequestHeaderMatchInput", message! { "header_name": name.into() })
}

/// An action of an access-control filter.
pub(crate) fn rbac_action(name: impl Into<Tree>, allow: bool) -> Tree {
    let config = if allow {
        message! { "name": "ALLOW" }
    } else {
        message! { "name": "DENY", "action": "DENY" }
    };
    message! { "name": name.into(), "typed_config": any("envoy.config.rbac.v3.Action", config) }
}
