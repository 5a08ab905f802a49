//! Validates `builtin/lua`: a script in the HTTP filters. Does not add filters; see `xds::extensions`.

use super::argument::{argument, proxy_type};
use crate::go::{self, Errors};
use crate::validate::rule::Verdict;
use alloc::format;
use chancery_base::ir::Tree;

pub(super) fn validate(arguments: &Tree) -> Verdict {
    let mut errors = Errors::default();
    if argument(arguments, "Script").text().is_empty() {
        errors.add("missing Script value");
    }
    let kind = proxy_type(arguments);
    if kind != "connect-proxy" {
        errors.add(format!("unexpected ProxyType {}", go::quote(kind)));
    }
    let listener = argument(arguments, "Listener").text();
    if !matches!(listener, "inbound" | "outbound") {
        errors.add(format!("unexpected Listener {}", go::quote(listener)));
    }
    errors.result()
}
