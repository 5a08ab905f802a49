//! Validates routes of API gateways.

use super::rule::{METHODS, Verdict, change_case, meta, refuse};
use crate::go;
use alloc::format;
use alloc::vec::Vec;
use chancery_base::ir::Tree;

pub(super) fn normalise_parents(tree: &mut Tree) {
    for parent in tree.get_mut("Parents").into_iter().flat_map(|parents| parents.items_mut().iter_mut()) {
        if parent.get("Kind").text().is_empty() {
            parent.set("Kind", "api-gateway".into());
        }
    }
}

pub(super) fn normalise_http(tree: &mut Tree) {
    normalise_parents(tree);
    for rule in tree.get_mut("Rules").into_iter().flat_map(|rules| rules.items_mut().iter_mut()) {
        for matches in rule.get_mut("Matches").into_iter().flat_map(|matches| matches.items_mut().iter_mut()) {
            change_case(matches.get_mut("Method"), str::to_ascii_uppercase);
            if matches.at(&["Path", "Match"]).text().is_empty() {
                matches.set("Path", Tree::object([("Match", Tree::from("prefix")), ("Value", "/".into())]));
            }
        }
        for service in rule.get_mut("Services").into_iter().flat_map(|services| services.items_mut().iter_mut()) {
            if service.get("Weight").int() <= 0 {
                service.set("Weight", Tree::from(1_i64));
            }
        }
    }
}

fn parents(tree: &Tree) -> Verdict {
    let parents = tree.get("Parents").items();
    let key = |parent: &Tree| ["Kind", "Name", "SectionName"].map(|field| parent.get(field).str());
    let keys: Vec<_> = parents.iter().map(key).collect();
    for (at, parent) in keys.iter().enumerate() {
        refuse(parent[0] != "api-gateway", || format!("unsupported parent kind: {}, must be 'api-gateway'", go::quote(&parent[0])))?;
        refuse(keys.iter().take(at).any(|other| other == parent), || "route parents must be unique".into())?;
    }
    Ok(())
}

pub(super) fn http(tree: &Tree) -> Verdict {
    for host in tree.get("Hostnames").items().iter().map(Tree::text) {
        refuse(!go::is_domain_name(host), || format!("host {} must be a valid DNS hostname", go::quote(host)))?;
        refuse(host.contains('*'), || format!("host {} must not be a wildcard", go::quote(host)))?;
    }
    parents(tree)?;
    meta(tree)?;
    for (at, rule) in tree.get("Rules").items().iter().enumerate() {
        for (index, matches) in rule.get("Matches").items().iter().enumerate() {
            self::matches(matches).map_err(|why| format!("Rule[{at}], Match[{index}], {why}"))?;
        }
    }
    Ok(())
}

fn matches(tree: &Tree) -> Verdict {
    let method = tree.get("Method").text();
    refuse(!method.is_empty() && !METHODS.contains(&method), || format!("Method contains an invalid method {}", go::quote(method)))?;
    value(tree, "Query", &["exact", "present", "regex"], "present, exact, or regex")?;
    value(tree, "Headers", &["exact", "prefix", "regex", "suffix", "present"], "present, exact, prefix, suffix, or regex")?;
    let path = tree.get("Path");
    let (kind, text) = (path.get("Match").text(), path.get("Value").text());
    match kind {
        "exact" | "prefix" => refuse(!text.starts_with('/'), || format!("Path, {kind} type match doesn't start with '/': {}", go::quote(text))),
        "regex" => Ok(()),
        _ => Err("Path, match type should be one of exact, prefix, or regex".into()),
    }
}

fn value(tree: &Tree, list: &str, kinds: &[&str], words: &str) -> Verdict {
    for (at, each) in tree.get(list).items().iter().enumerate() {
        refuse(each.get("Name").text().is_empty(), || format!("{list}[{at}], missing required Name field"))?;
        refuse(!kinds.contains(&each.get("Match").text()), || format!("{list}[{at}], match type should be one of {words}"))?;
    }
    Ok(())
}

pub(super) fn tcp(tree: &Tree) -> Verdict {
    refuse(tree.get("Services").items().len() > 1, || "tcp-route currently only supports one service".into())?;
    parents(tree)?;
    meta(tree)
}
