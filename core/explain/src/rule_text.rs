//! Explains why a value is what it is. Does not describe the behaviour of controllers beyond their known rules.

use alloc::format;
use alloc::string::String;
use chancery_base::compilation::{Dialect, KnownDefault};
use chancery_base::resource::Rule;

/// Describes how a value came from `what` (`spec.timeout_ms of Mapping quote.default`) by a rule.
pub(super) fn rule(rule: Rule, what: Option<&str>, dialect: &Dialect) -> String {
    let controller = dialect.controller;
    let Some(what) = what else {
        return match rule {
            Rule::Environment => format!("environment: set by a variable or flag of {controller}'s pod"),
            // A setting of the whole gateway that the user did not write.
            Rule::Default | Rule::Module => format!("default: it is not set, and {controller} then uses this"),
            _ => format!("built in: {controller} always does this, whatever the resources say"),
        };
    };
    match rule {
        Rule::Field => format!("set by {what}"),
        Rule::Default => format!("default of {controller}, because of {what}"),
        Rule::Module => format!("module: set for the whole gateway by {what}"),
        Rule::Host => format!("host: follows from {what}"),
        Rule::Listener => format!("listener: follows from {what}"),
        Rule::Reference => format!("reference: follows from {what}, which is referred to"),
        Rule::Conversion => format!("conversion: made by {controller} from {what}"),
        Rule::Derived => format!("derived: {controller} works it out from {what}"),
        Rule::Environment => format!("environment: {controller} expands a variable in {what}"),
    }
}

/// Describes a known default at the end of a pointer, if it has this value (as JSON).
pub(super) fn known_default(pointer: &str, value: &str, dialect: &Dialect) -> Option<String> {
    let is_it = |known: &&KnownDefault| pointer.ends_with(known.pointer) && (known.value == value || known.value.is_empty());
    let known = dialect.defaults.iter().find(is_it)?;
    Some(format!("default: {}", known.doc))
}
