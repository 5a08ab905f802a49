//! Headers that Envoy does not let anybody change, and names that no header can have.
//!
//! Source of behaviour: Envoy `source/common/router/header_parser.cc` and `HeaderUtility`. What must not be here: values.

use super::whole::{Whole, tables};
use crate::diagnostic::codes;
use crate::ir::{HeaderMutations, UpstreamClusters};
use crate::resource::Origin;
use alloc::format;

/// What becomes of a configuration that Envoy refuses.
pub(super) const REFUSED: &str = "Envoy refuses the whole configuration because of it, and the controller keeps the last good one";

pub(super) fn check(whole: &mut Whole<'_>) {
    for table in tables(whole.ir) {
        mutations(whole, &table.request_headers);
        table.virtual_hosts.iter().for_each(|host| mutations(whole, &host.response_headers));
    }
    for route in whole.routes.clone().iter().copied() {
        mutations(whole, &route.request_headers);
        mutations(whole, &route.response_headers);
        for header in &route.matcher.headers {
            let name = &header.value.name;
            if !is_token(name.strip_prefix(':').unwrap_or(name)) {
                no_name(whole, name, header.origin);
            }
        }
    }
    for (_, forward) in whole.forwards() {
        if let UpstreamClusters::Weighted(all) = &forward.clusters {
            for cluster in all {
                mutations(whole, &cluster.request_headers);
                mutations(whole, &cluster.response_headers);
            }
        }
    }
}

fn mutations(whole: &mut Whole<'_>, of: &HeaderMutations) {
    let added = of.add.iter().map(|header| (&header.value.name, header.origin, "modified"));
    let removed = of.remove.iter().map(|name| (&name.value, name.origin, "removed"));
    for (name, origin, what) in added.chain(removed) {
        if whole.object(origin).is_none() {
            continue;
        }
        if name.starts_with(':') || name.eq_ignore_ascii_case("host") {
            let message = format!("Envoy refuses this: `{name}` must not be {what}; neither may `host` nor a name that begins with a colon");
            let finding = whole.finding(&codes::PROTECTED_HEADER, origin, message);
            whole.report(finding.help(format!("{REFUSED}; rewrite host and path with the fields that exist for it")));
        } else if !is_token(name) {
            no_name(whole, name, origin);
        }
    }
}

fn no_name(whole: &mut Whole<'_>, name: &str, origin: Option<Origin>) {
    if whole.object(origin).is_some() {
        let message = format!("`{name}` is not a valid header name");
        let finding = whole.finding(&codes::IMPOSSIBLE_HEADER, origin, message);
        whole.report(finding.help("a header name has only letters, digits and - _ . ! # $ % & ' * + ^ ` | ~"));
    }
}

/// A `token` of RFC 9110.
fn is_token(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}
