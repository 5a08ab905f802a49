//! Comparisons that several policies write: expressions, ranges of addresses, texts. Does not know policies.

use super::super::cluster::Admitted;
use super::super::context::Translator;
use super::super::model::{AddHeader, CidrMatch, StringMatch, StringMatchKind};
use super::super::value::{text_of, tree};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_base::resource::Sourced;
use chancery_base::schema::go_quoted;
use chancery_kubernetes::go;

/// Checks a regular expression.
pub(super) fn expression(regex: &str) -> Result<(), String> {
    go::check_regex(regex).map_err(|why| format!("regex {} is invalid: {why}", go_quoted(regex)))
}

/// Reads a range of addresses.
pub(super) fn cidr(written: &Tree) -> Result<CidrMatch, String> {
    let (address, length) = go::parse_cidr(written.text()).map_err(|why| format!("{why}"))?;
    Ok(CidrMatch {
        cidr: Tree::from(format!("{address}/{length}")).with_origin(written.origin),
        length: i64::from(length),
        is_ipv6: address.is_ipv6(),
        distinct: false,
        invert: Sourced::default(),
    })
}

/// Reads a comparison with a type.
pub(super) fn text_match(name: &Tree, of: &Tree) -> StringMatch {
    let kind = match of.get("type").text() {
        "Prefix" => StringMatchKind::Prefix,
        "Suffix" => StringMatchKind::Suffix,
        "RegularExpression" => StringMatchKind::Regex,
        _ => StringMatchKind::Exact,
    };
    StringMatch { name: text_of(name), kind, value: text_of(of.get("value")), invert: Sourced::default() }
}

/// Reads headers that are added and set.
pub(super) fn headers(of: &Tree) -> Vec<AddHeader> {
    let all = |list: &str, append: bool| -> Vec<AddHeader> {
        let header =
            |item: &Tree| AddHeader { name: text_of(item.get("name")), values: Vec::from([text_of(item.get("value"))]), append, if_absent: false };
        of.get(list).items().iter().map(header).collect()
    };
    let mut out = all("add", true);
    out.append(&mut all("set", false));
    out
}

/// Returns the value of a ConfigMap under a key, or else under the first key.
pub(crate) fn value_or_first(map: &Admitted<'_>, key: &str) -> Option<Tree> {
    let data = map.root().field("data");
    let first = || data.entries().reduce(|one, other| if other.0 < one.0 { other } else { one }).map(|(_, value)| value);
    data.field(key).some().or_else(first).map(tree)
}

/// Returns the body of an answer: inline, or a value of a ConfigMap.
pub(super) fn response_body(t: &Translator<'_>, namespace: &str, body: &Tree) -> Result<Tree, String> {
    if !body.get("type").is("ValueRef") {
        return Ok(body.get("inline").clone());
    }
    let name = body.at(&["valueRef", "name"]).text();
    let Some(map) = t.resources.config_map(namespace, name) else {
        return Err(format!("can't find the referenced configmap {namespace}/{name}"));
    };
    let binary = || map.root().field("binaryData").entries().next().map(|(_, value)| tree(value));
    value_or_first(map, "response.body")
        .or_else(binary)
        .ok_or_else(|| format!("can't find the key response.body in the referenced configmap {namespace}/{name}"))
}
