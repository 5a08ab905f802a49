//! Validates `builtin/property-override`: fields of Envoy's messages, set or removed. Does not apply it; see `xds::extensions`.

use super::argument::{argument, argument_at, argument_list, proxy_type};
use super::patch::check;
use crate::go::{self, Errors};
use crate::validate::rule::{Verdict, refuse};
use alloc::format;
use chancery_base::ir::Tree;

const RESOURCES: [&str; 4] = ["cluster", "cluster-load-assignment", "listener", "route"];
const DIRECTIONS: [&str; 2] = ["inbound", "outbound"];
const OPERATIONS: [&str; 2] = ["add", "remove"];

pub(super) fn validate(arguments: &Tree) -> Verdict {
    let patches = argument_list(arguments, "Patches");
    refuse(patches.is_empty(), || "at least one patch is required".into())?;
    let mut errors = Errors::default();
    for (at, patch) in patches.iter().enumerate() {
        if let Err(why) = self::patch(patch) {
            errors.add(format!("invalid Patches[{at}]: {why}"));
        }
    }
    if let Err(why) = one_of(proxy_type(arguments), &["connect-proxy"], "ProxyType") {
        errors.add(why);
    }
    errors.result()
}

fn one_of(value: &str, all: &[&str], field: &str) -> Verdict {
    refuse(value.is_empty(), || format!("field {field} is required"))?;
    refuse(!all.contains(&value), || format!("invalid {field} {}; supported values: {}", go::quote(value), all.join(", ")))
}

fn patch(patch: &Tree) -> Verdict {
    let filter = argument(patch, "ResourceFilter");
    let text = |name| argument(filter, name).text();
    let services = argument_list(filter, "Services");
    let (kind, direction) = (text("ResourceType"), text("TrafficDirection"));
    refuse(kind.is_empty() && direction.is_empty() && services.is_empty(), || "field ResourceFilter is required".into())?;
    one_of(kind, &RESOURCES, "ResourceType")?;
    one_of(direction, &DIRECTIONS, "TrafficDirection")?;
    refuse(!services.is_empty() && direction != "outbound", || {
        "patch contains non-empty ResourceFilter.Services but ResourceFilter.TrafficDirection is not \"outbound\"".into()
    })?;
    let nameless = services.iter().any(|service| argument(service, "Name").text().is_empty());
    refuse(nameless, || "service name is required".into())?;
    let operation = argument(patch, "Op").text();
    one_of(operation, &OPERATIONS, "Op")?;
    let value = argument_at(patch, &["Value"]);
    refuse(!value.is_null() && operation != "add", || format!("field Value is not supported for {operation} operation"))?;
    check(kind, argument(patch, "Path").text(), (operation == "add").then_some(value))
}
