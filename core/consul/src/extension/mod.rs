//! Validates the arguments of built-in Envoy extensions. Does not apply them; see `xds::extensions`.

mod argument;
mod authorization;
mod lambda;
mod lua;
mod patch;
mod property;
mod wasm;

pub(crate) use argument::{argument, argument_at, argument_list};
pub(crate) use authorization::address;
pub(crate) use patch::apply as apply_patch;

use super::go::{self, Errors};
use super::validate::rule::Verdict;
use alloc::format;
use chancery_base::ir::Tree;

/// Checks the extensions of an entry.
pub(crate) fn validate(extensions: &Tree) -> Verdict {
    let mut errors = Errors::default();
    for (at, extension) in extensions.items().iter().enumerate() {
        let (name, arguments) = (extension.get("Name").text(), extension.get("Arguments"));
        if name.is_empty() {
            errors.add(format!("invalid EnvoyExtensions[{at}]: Name is required"));
            continue;
        }
        let constraint = ["EnvoyVersion", "ConsulVersion"].into_iter().find(|field| !is_constraint(extension.get(field).text()));
        if let Some(field) = constraint {
            errors.add(format!("invalid EnvoyExtensions[{at}].{field}: Malformed constraint: {}", extension.get(field).text()));
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

/// Whether a text is a version constraint, such as `>= 1.2, < 2`; an empty text allows every version.
fn is_constraint(text: &str) -> bool {
    const OPERATORS: [&str; 7] = [">=", "<=", "!=", "~>", "=", ">", "<"];
    let is_version = |text: &str| {
        let text = text.strip_prefix('v').unwrap_or(text);
        let numbers = text.find(['-', '+', '~']).map_or(text, |end| &text[..end]);
        let rest = &text[numbers.len()..];
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        numbers.split('.').all(is_number) && rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-+.~".contains(&byte))
    };
    let is_part = |part: &str| {
        let part = part.trim();
        is_version(OPERATORS.iter().find_map(|operator| part.strip_prefix(operator)).unwrap_or(part).trim())
    };
    text.is_empty() || text.split(',').all(is_part)
}
