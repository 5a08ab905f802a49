//! Arrows point one way: between crates as the manifests say, between the core's modules as their imports say.
//!
//! What must not be here: anything about a single file.

use super::File;

/// What each crate may depend on, of our own.
const CRATES: &[(&str, &[&str])] = &[
    ("envoy-api/Cargo.toml", &["chancery-envoy-api"]),
    ("core/Cargo.toml", &["chancery-envoy-api"]),
    ("cli/Cargo.toml", &["chancery-core", "chancery-live"]),
    ("live/Cargo.toml", &["chancery-core", "chancery-envoy-api"]),
    ("desktop/Cargo.toml", &["chancery-core", "chancery-live", "chancery-web"]),
    ("web/Cargo.toml", &["chancery-core"]),
    ("tests/wasm/Cargo.toml", &["chancery-core"]),
    ("tests/Cargo.toml", &["chancery-core", "chancery-envoy-api", "chancery-parity"]),
    ("xtask/Cargo.toml", &[]),
    ("xtask/bindgen/Cargo.toml", &[]),
    ("xtask/codegen/Cargo.toml", &[]),
];

/// What each module of the core may name. `dialect/*` stands for every dialect but `kubernetes`.
const MODULES: &[(&str, &[&str])] = &[
    ("order", &[]),
    ("blocks", &[]),
    ("executor", &[]),
    ("text", &["order"]),
    ("redact", &["order", "text"]),
    ("resource", &["blocks", "order", "text", "redact"]),
    ("diagnostic", &["text", "resource"]),
    ("read", &["executor", "order", "text", "redact", "resource", "diagnostic"]),
    ("schema", &["order", "text", "resource", "diagnostic", "re2"]),
    ("re2", &["order"]),
    ("substitution", &["resource"]),
    ("ir", &["order", "text", "resource"]),
    ("compilation", &["executor", "order", "text", "redact", "resource", "diagnostic", "read", "schema", "ir"]),
    ("backend", &["executor", "order", "text", "resource", "ir", "re2"]),
    ("dialect/kubernetes", &["executor", "order", "text", "resource", "diagnostic", "schema", "compilation", "re2"]),
    ("dialect/gateway_api", &["order", "text", "resource", "diagnostic", "schema", "compilation", "dialect/kubernetes"]),
    (
        "dialect/*",
        &[
            "blocks",
            "executor",
            "order",
            "text",
            "resource",
            "diagnostic",
            "read",
            "schema",
            "compilation",
            "ir",
            "re2",
            "substitution",
            "dialect/kubernetes",
            "dialect/gateway_api",
        ],
    ),
    ("compile", &["executor", "order", "text", "resource", "diagnostic", "read", "compilation", "ir", "backend"]),
    ("envoy_config", &["order", "text", "redact", "ir", "backend"]),
    ("simulate", &["order", "text", "re2", "substitution", "backend", "envoy_config"]),
    (
        "explain",
        &[
            "executor",
            "order",
            "text",
            "redact",
            "resource",
            "diagnostic",
            "schema",
            "compilation",
            "ir",
            "re2",
            "backend",
            "dialect/kubernetes",
            "envoy_config",
            "simulate",
        ],
    ),
    ("compare", &["order", "text", "resource", "schema", "compilation", "ir", "re2", "backend", "envoy_config", "simulate", "explain"]),
    (
        "convert",
        &[
            "order",
            "text",
            "resource",
            "diagnostic",
            "compilation",
            "ir",
            "backend",
            "dialect",
            "compile",
            "envoy_config",
            "simulate",
            "explain",
            "compare",
        ],
    ),
    (
        "check",
        &[
            "executor",
            "order",
            "text",
            "resource",
            "diagnostic",
            "compilation",
            "ir",
            "re2",
            "substitution",
            "backend",
            "dialect/kubernetes",
            "compile",
            "simulate",
            "explain",
        ],
    ),
    ("lib", &["ir", "dialect/ambassador"]),
];

/// What the core must not name: it does no IO, and knows no clock, no environment and no terminal.
const FORBIDDEN: &[&str] = &["std::", "extern crate std", "println!", "eprintln!", "dbg!", "panic::catch_unwind"];

/// Checks all of them.
pub fn check(files: &[File], found: &mut Vec<String>) {
    for file in files {
        if file.path.ends_with("Cargo.toml") {
            manifest(file, found);
        } else if let Some(inner) = file.path.strip_prefix("core/src/").filter(|inner| inner.ends_with(".rs")) {
            module(file, inner, found);
        }
    }
}

fn manifest(file: &File, found: &mut Vec<String>) {
    let Some((_, allowed)) = CRATES.iter().find(|(path, _)| *path == file.path) else {
        if !matches!(file.path.as_str(), "Cargo.toml" | "fuzz/Cargo.toml") {
            found.push(format!("{}: tidy does not know what this crate may depend on", file.path));
        }
        return;
    };
    // Tests may use what they like.
    let mut section = "";
    for (number, line) in (1..).zip(file.text.lines()) {
        if line.starts_with('[') {
            section = line;
        }
        let name = line.split(['.', ' ', '=']).next().unwrap_or_default();
        if section == "[dependencies]" && name.starts_with("chancery") && !allowed.contains(&name) {
            found.push(format!("{}:{number}: this crate must not depend on {name}", file.path));
        }
    }
}

/// The module of the core that a file belongs to.
fn module_of(inner: &str) -> String {
    let mut steps = inner.trim_end_matches(".rs").split('/');
    let first = steps.next().unwrap_or_default();
    match steps.next() {
        Some(second) if first == "dialect" && second != "mod" => format!("dialect/{second}"),
        _ => first.to_string(),
    }
}

fn module(file: &File, inner: &str, found: &mut Vec<String>) {
    let name = module_of(inner);
    let has_rule = MODULES.iter().any(|(module, _)| *module == name);
    let rule = if name.starts_with("dialect/") && !has_rule { "dialect/*" } else { &name };
    let allowed = MODULES.iter().find(|(module, _)| *module == rule).map(|(_, allowed)| *allowed);
    if allowed.is_none() && name != "dialect" {
        found.push(format!("{}: tidy does not know what this module of the core may name", file.path));
    }
    let is_test = inner.contains("tests/") || inner.ends_with("tests.rs");
    let mut in_tests = is_test;
    for (number, line) in (1..).zip(file.text.lines()) {
        in_tests |= line.trim() == "#[cfg(test)]";
        let code = line.split("//").next().unwrap_or_default();
        if !in_tests && let Some(word) = FORBIDDEN.iter().find(|word| names(code, word)) {
            found.push(format!("{}:{number}: the core does no IO, but this says `{word}`", file.path));
        }
        if in_tests {
            continue;
        }
        for target in targets(code) {
            let same = target == name || name.strip_prefix("dialect/").is_some_and(|_| target == name);
            let fits = |allowed: &&str| **allowed == target || (*allowed == "dialect" && target.starts_with("dialect"));
            if !same && allowed.is_some_and(|allowed| !allowed.iter().any(fits)) {
                found.push(format!("{}:{number}: {name} must not know {target}", file.path));
            }
        }
    }
}

/// Whether code says a word as a word of its own.
fn names(code: &str, word: &str) -> bool {
    code.match_indices(word).any(|(at, _)| !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':'))
}

/// The modules that a line names by `crate::`, alone or in braces.
fn targets(code: &str) -> Vec<String> {
    let mut targets = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        if code[..at].ends_with('$') {
            continue;
        }
        let rest = &code[at + "crate::".len()..];
        let group = rest.strip_prefix('{').map_or_else(|| vec![rest], |inner| inner.split(',').map(str::trim).collect());
        for path in group {
            let word = |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
            let first = word(path);
            let known = |name: &str| MODULES.iter().any(|(module, _)| module.split('/').next() == Some(name));
            if !known(&first) || first == "lib" {
                continue;
            }
            match path[first.len()..].strip_prefix("::") {
                Some(inner) if first == "dialect" && inner.starts_with(char::is_lowercase) => targets.push(format!("dialect/{}", word(inner))),
                _ => targets.push(first),
            }
        }
    }
    targets
}
