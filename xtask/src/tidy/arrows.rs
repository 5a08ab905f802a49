//! Checks which of Chancery's crates each crate may depend on.
//!
//! Cargo refuses cycles between crates, and `no_std` keeps IO out of the core. This list keeps the layers: a dialect depends neither on another dialect
//! nor on a back end, and nothing below the hosts depends on a host. Does not look at imports within a crate.

use super::File;

const SHARED: &[&str] = &["chancery-text", "chancery-base", "chancery-kubernetes"];
const BACK_ENDS: &[&str] = &["chancery-envoy", "chancery-app-gateway", "chancery-nginx"];
const DIALECTS: &[&str] =
    &["chancery-ambassador", "chancery-contour", "chancery-consul", "chancery-agic", "chancery-envoy-gateway", "chancery-ingress-nginx"];

/// The groups of crates that each crate may depend on.
const CRATES: &[(&str, &[&[&str]])] = &[
    ("envoy-api", &[&["chancery-envoy-api"]]),
    ("core/text", &[]),
    ("core/base", &[&["chancery-text"]]),
    ("core/kubernetes", &[SHARED]),
    ("core/ambassador", &[SHARED]),
    ("core/contour", &[SHARED]),
    ("core/consul", &[SHARED, &["chancery-envoy-api"]]),
    ("core/agic", &[SHARED]),
    // Its controller writes nginx.conf, which is one of its outputs.
    ("core/ingress-nginx", &[SHARED, &["chancery-nginx"]]),
    ("core/envoy-gateway", &[SHARED, &["chancery-envoy-api"]]),
    ("core/envoy", &[&["chancery-text", "chancery-base", "chancery-envoy-api"]]),
    ("core/app-gateway", &[&["chancery-text", "chancery-base"]]),
    ("core/nginx", &[&["chancery-text", "chancery-base"]]),
    ("core/compile", &[&["chancery-text", "chancery-base", "chancery-envoy"]]),
    ("core/explain", &[SHARED, BACK_ENDS, &["chancery-compile", "chancery-envoy-api"]]),
    ("core/convert", &[SHARED, BACK_ENDS, DIALECTS, &["chancery-compile", "chancery-explain"]]),
    ("core", &[SHARED, BACK_ENDS, DIALECTS, &["chancery-compile", "chancery-explain", "chancery-convert"]]),
    ("workspace", &[&["chancery-core"]]),
    ("live", &[&["chancery-core", "chancery-envoy-api", "chancery-workspace"]]),
    ("lsp", &[&["chancery-core", "chancery-workspace"]]),
    ("mcp", &[&["chancery-core", "chancery-workspace"]]),
    ("cli", &[&["chancery-core", "chancery-live", "chancery-workspace", "chancery-lsp", "chancery-mcp"]]),
    ("web", &[&["chancery-core", "chancery-lsp"]]),
    ("desktop", &[&["chancery-core", "chancery-live", "chancery-web"]]),
    ("tests", &[&["chancery-core", "chancery-envoy-api", "chancery-parity"]]),
    ("tests/wasm", &[&["chancery-core"]]),
    ("xtask", &[]),
    ("xtask/bindgen", &[]),
    ("xtask/codegen", &[]),
];

/// Checks the manifest of each crate.
pub fn check(files: &[File], found: &mut Vec<String>) {
    for file in files {
        if let Some(folder) = file.path.strip_suffix("/Cargo.toml").filter(|folder| *folder != "fuzz") {
            check_manifest(file, folder, found);
        }
    }
}

fn check_manifest(file: &File, folder: &str, found: &mut Vec<String>) {
    let Some((_, allowed)) = CRATES.iter().find(|(path, _)| *path == folder) else {
        found.push(format!("{}: add this crate to the list in xtask/src/tidy/arrows.rs", file.path));
        return;
    };
    // Tests may use any crate.
    let mut section = "";
    for (number, line) in (1..).zip(file.text.lines()) {
        if line.starts_with('[') {
            section = line;
        }
        let name = line.split(['.', ' ', '=']).next().unwrap_or_default();
        if section == "[dependencies]" && name.starts_with("chancery") && !allowed.iter().any(|group| group.contains(&name)) {
            found.push(format!("{}:{number}: this crate must not depend on {name}", file.path));
        }
    }
}
