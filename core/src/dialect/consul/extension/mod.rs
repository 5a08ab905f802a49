//! Envoy extensions: arguments of each that is built in.
//!
//! What must not be here: where they come from (`service`), and Envoy's messages before they were changed (`xds`).

mod authorization;
mod lambda;
mod lua;
mod property;
mod wasm;

pub(crate) use authorization::address;

use super::go::{self, Errors};
use super::validate::Verdict;
use crate::ir::Tree;
use alloc::format;

/// An argument, by its name in any case.
pub(crate) fn argument<'a>(of: &'a Tree, name: &str) -> &'a Tree {
    const NOTHING: &Tree = &Tree::NULL;
    let exact = of.find(name);
    exact.or_else(|| of.fields().iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)).unwrap_or(NOTHING)
}

/// An argument some levels down.
pub(crate) fn argument_at<'a>(of: &'a Tree, path: &[&str]) -> &'a Tree {
    path.iter().fold(of, |tree, name| argument(tree, name))
}

/// Whether the extensions of an entry can be made.
pub(crate) fn validate(extensions: &Tree) -> Verdict {
    let mut errors = Errors::default();
    for (at, extension) in extensions.items().iter().enumerate() {
        let (name, arguments) = (extension.get("Name").text(), extension.get("Arguments"));
        if name.is_empty() {
            errors.add(format!("invalid EnvoyExtensions[{at}]: Name is required"));
            continue;
        }
        let verdict = match name {
            "builtin/lua" => lua::validate(arguments),
            "builtin/aws/lambda" => lambda::validate(arguments),
            "builtin/property-override" => property::validate(arguments),
            "builtin/wasm" => wasm::validate(arguments),
            "builtin/ext-authz" => authorization::validate(arguments),
            _ => Err(format!("name {} is not a built-in extension", go::quote(name)).into()),
        };
        if let Err(why) = verdict {
            errors.add(format!("invalid EnvoyExtensions[{at}][{name}]: {why}"));
        }
    }
    errors.result()
}

/// The kind of proxy that an extension is for.
fn proxy_type(arguments: &Tree) -> &str {
    match argument(arguments, "ProxyType").text() {
        "" => "connect-proxy",
        kind => kind,
    }
}
