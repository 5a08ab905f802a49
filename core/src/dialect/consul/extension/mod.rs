//! Envoy extensions: arguments of each that is built in.
//!
//! What must not be here: where they come from (`service`), and Envoy's messages before they were changed (`xds`).

mod argument;
mod authorization;
mod lambda;
mod lua;
mod property;
mod wasm;

pub(crate) use argument::{argument, argument_at};
pub(crate) use authorization::address;

use super::go::{self, Errors};
use super::validate::rule::Verdict;
use crate::ir::Tree;
use alloc::format;

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
