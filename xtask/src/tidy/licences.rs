//! Checks the licence of every linked package against `deny.toml`.
//!
//! Does not check advisories, whose database changes every day; see `cargo deny check advisories`.

use crate::shell::{cargo, output, root};

/// Checks all packages.
pub fn check(found: &mut Vec<String>) {
    let Some(allowed) = allowed() else {
        found.push("deny.toml: has no list `allow` of licences".into());
        return;
    };
    let Some(metadata) = output(cargo().args(["metadata", "--format-version", "1", "--quiet", "--locked"])) else {
        found.push("Cargo.lock: cargo lists no packages; is it up to date?".into());
        return;
    };
    for (name, licence) in packages(&metadata) {
        if !fits(&licence, &allowed) {
            found.push(format!("Cargo.lock: {name} has the licence `{licence}`, which deny.toml does not allow"));
        }
    }
}

/// The strings of `allow = [...]`.
fn allowed() -> Option<Vec<String>> {
    let text = std::fs::read_to_string(root().join("deny.toml")).ok()?;
    let list = text.split_once("allow = [")?.1.split_once(']')?.0;
    Some(list.split('"').skip(1).step_by(2).map(str::to_string).collect())
}

/// Whether an SPDX expression can be met: one side of an `OR`, both sides of an `AND`.
fn fits(expression: &str, allowed: &[String]) -> bool {
    let expression = expression.replace(['(', ')'], "").replace('/', " OR ");
    expression.split(" OR ").any(|side| side.split(" AND ").all(|name| allowed.iter().any(|it| it == name.trim())))
}

/// Returns the name and licence of each package. Cargo writes them in this order, near the start of each package.
fn packages(metadata: &str) -> Vec<(String, String)> {
    let string = |text: &str, key: &str| {
        let rest = &text[text.find(key)? + key.len()..];
        rest.strip_prefix('"').and_then(|rest| Some(rest.split_once('"')?.0.to_string()))
    };
    let starts: Vec<usize> = metadata.match_indices("{\"name\":\"").map(|(at, _)| at).collect();
    let packages = starts.iter().filter_map(|at| {
        let text = &metadata[*at..];
        // Targets and dependencies also have names, but no licence before the next name.
        let own = text.find("\"dependencies\":[").map_or(text, |end| &text[..end]);
        let name = string(own, "\"name\":")?;
        own.contains("\"license\":").then(|| (name, string(own, "\"license\":").unwrap_or_else(|| "none".into())))
    });
    packages.collect()
}
