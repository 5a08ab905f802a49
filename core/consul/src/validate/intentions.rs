//! Validates intentions.

use super::jwt;
use super::rule::{Verdict, count, is_set, meta, methods, named, path, refuse, upper_all};
use crate::go;
use alloc::format;
use alloc::vec::Vec;
use chancery_base::ir::{Plain, Tree};

/// A more exact name has a higher precedence.
fn precedence(destination: &str, source: &str) -> i64 {
    let exact = |name: &str| if name == "*" { 1 } else { 2 };
    let highest = if exact(destination) == 2 { 9 } else { 6 };
    highest - (2 - exact(source))
}

pub(super) fn normalise(tree: &mut Tree) {
    let name = tree.get("Name").str();
    let Some(sources) = tree.get_mut("Sources") else { return };
    for source in sources.items_mut() {
        if source.get("Type").text().is_empty() {
            source.set("Type", "consul".into());
        }
        source.set("Precedence", Tree::from(precedence(&name, source.get("Name").text())).or_from(source.get("Name").origin));
        for field in ["LegacyID", "LegacyCreateTime", "LegacyUpdateTime"] {
            source.take(field);
        }
        for permission in source.get_mut("Permissions").into_iter().flat_map(|permissions| permissions.items_mut().iter_mut()) {
            upper_all(permission.get_mut("HTTP").and_then(|http| http.get_mut("Methods")));
        }
    }
    if let Plain::List(items) = &mut sources.value {
        items.sort_by_key(|source| core::cmp::Reverse(source.get("Precedence").int()));
    }
}

fn wildcard(name: &str, field: &str) -> Verdict {
    refuse(name != "*" && name.contains('*'), || format!("{field}: wildcard character '*' cannot be used with partial values"))
}

pub(super) fn validate(tree: &Tree) -> Verdict {
    named(tree)?;
    let name = tree.get("Name").text();
    wildcard(name, "Name")?;
    jwt::requirement(tree.get("JWT"))?;
    meta(tree)?;
    let sources = tree.get("Sources").items();
    refuse(sources.is_empty(), || "At least one source is required".into())?;
    let key = |source: &Tree| ["Name", "Peer", "SamenessGroup"].map(|field| source.get(field).str());
    let keys: Vec<_> = sources.iter().map(key).collect();
    for (at, (source, this)) in sources.iter().zip(&keys).enumerate() {
        self::source(source, at, name == "*")?;
        refuse(keys.iter().take(at).any(|other| other == this), || {
            let (name, peer) = (go::quote(&this[0]), &this[1]);
            if peer.is_empty() {
                format!("Sources[{at}] defines {name} more than once")
            } else {
                format!("Sources[{at}] defines peer({}) {name} more than once", go::quote(peer))
            }
        })?;
    }
    Ok(())
}

fn source(source: &Tree, at: usize, to_all: bool) -> Verdict {
    let (name, peer) = (source.get("Name").text(), source.get("Peer").text());
    refuse(name.is_empty(), || format!("Sources[{at}].Name is required"))?;
    refuse(is_set(source.get("SamenessGroup")), || format!("Sources[{at}].SamenessGroup: Sameness groups are a Consul Enterprise feature. "))?;
    wildcard(name, &format!("Sources[{at}].Name"))?;
    refuse(peer.contains('*'), || format!("Sources[{at}].Peer: cannot use wildcard '*' in peer"))?;
    const LONGEST: usize = 512;
    refuse(source.get("Description").text().len() > LONGEST, || format!("Sources[{at}].Description exceeds maximum length {LONGEST}"))?;
    refuse(is_set(source.get("LegacyMeta")), || format!("Sources[{at}].LegacyMeta must be omitted"))?;
    let (permissions, action) = (source.get("Permissions").items(), source.get("Action").text());
    refuse(permissions.is_empty() && !matches!(action, "allow" | "deny"), || format!("Sources[{at}].Action must be set to 'allow' or 'deny'"))?;
    refuse(!permissions.is_empty() && !action.is_empty(), || format!("Sources[{at}].Action must be omitted if Permissions are specified"))?;
    refuse(to_all && !permissions.is_empty(), || {
        format!("Sources[{at}].Permissions cannot be specified on intentions with wildcarded destinations")
    })?;
    refuse(!source.get("Type").is("consul"), || format!("Sources[{at}].Type must be set to 'consul'"))?;
    for (index, permission) in permissions.iter().enumerate() {
        self::permission(permission, &format!("Sources[{at}].Permissions[{index}]"))?;
    }
    Ok(())
}

fn permission(permission: &Tree, place: &str) -> Verdict {
    let action = permission.get("Action").text();
    refuse(!matches!(action, "allow" | "deny"), || format!("{place}.Action must be set to 'allow' or 'deny'"))?;
    let Some(http) = permission.find("HTTP") else { return Err(format!("{place}.HTTP is required").into()) };
    path(http.get("PathExact"), &format!("{place}.HTTP.PathExact"))?;
    path(http.get("PathPrefix"), &format!("{place}.HTTP.PathPrefix"))?;
    let paths = count(http, &["PathExact", "PathPrefix", "PathRegex"]);
    refuse(paths > 1, || format!("{place}.HTTP should only contain at most one of PathExact, PathPrefix, or PathRegex"))?;
    for (at, header) in http.get("Header").items().iter().enumerate() {
        let place = format!("{place}.HTTP.Header[{at}]");
        refuse(header.get("Name").text().is_empty(), || format!("{place} missing required Name field"))?;
        refuse(count(header, &["Present", "Exact", "Regex", "Prefix", "Suffix"]) != 1, || {
            format!("{place} should only contain one of Present, Exact, Prefix, Suffix, or Regex")
        })?;
    }
    methods(http.get("Methods"), &format!("{place}.HTTP.Methods"))?;
    let nothing = paths == 0 && !is_set(http.get("Header")) && !is_set(http.get("Methods"));
    refuse(nothing, || format!("{place}.HTTP should not be empty"))?;
    jwt::requirement(permission.get("JWT"))
}
