//! Reports headers that Envoy does not allow to change, invalid header names, and values that Envoy cannot parse.
//!
//! Source of behaviour: Envoy `source/common/router/header_parser.cc` and `HeaderUtility`.

use super::whole::{Whole, tables};
use alloc::format;
use chancery_base::diagnostic::codes;
use chancery_base::ir::{AuthorizationTransport, ExtAuthz, HeaderMutations, HealthChecker, HttpFilterKind, PerFilter, Tree, UpstreamClusters};
use chancery_base::resource::{Origin, Sourced};
use chancery_base::substitution;
use chancery_text::Str;

/// The effect of a configuration that Envoy rejects.
pub(super) const REFUSED: &str = "until this is fixed, Envoy rejects every update and keeps its last good configuration";

pub(super) fn check(whole: &mut Whole<'_>) {
    for table in tables(whole.ir) {
        mutations(whole, &table.request_headers);
        for host in &table.virtual_hosts {
            mutations(whole, &host.response_headers);
            rate_limit_headers(whole, &host.per_filter);
        }
    }
    for route in whole.routes.clone().iter().copied() {
        mutations(whole, &route.request_headers);
        mutations(whole, &route.response_headers);
        rate_limit_headers(whole, &route.per_filter);
        for header in &route.matcher.headers {
            let name = &header.value.name;
            if !is_token(name.strip_prefix(':').unwrap_or(name)) {
                no_name(whole, name, header.origin);
            }
        }
    }
    let ir = whole.ir;
    for check in ir.clusters.iter().flat_map(|cluster| &cluster.health_checks) {
        if let HealthChecker::Http { headers, .. } = &check.checker {
            mutations(whole, headers);
        }
    }
    authorization_headers(whole);
    let trees = &ir.delivery.verbatim;
    trees.listeners.iter().chain(&trees.routes).for_each(|tree| verbatim(whole, tree, None));
    for (_, forward) in whole.forwards() {
        if let UpstreamClusters::Weighted(all) = &forward.clusters {
            for cluster in all {
                mutations(whole, &cluster.request_headers);
                mutations(whole, &cluster.response_headers);
            }
        }
    }
}

/// Checks headers of requests to an authorization service.
fn authorization_headers(whole: &mut Whole<'_>) {
    let ir = whole.ir;
    for filter in ir.listeners.iter().flat_map(|listener| listener.http_managers()).flat_map(|manager| &manager.filters) {
        if let HttpFilterKind::ExtAuthz(ExtAuthz { transport: AuthorizationTransport::Http { headers_to_add, .. }, .. }) = &filter.kind {
            for header in headers_to_add {
                let (name, text) = &header.value;
                change(whole, name, header.origin, "modified");
                value(whole, text, header.origin);
            }
        }
    }
}

/// Checks headers of responses to rate-limited requests.
fn rate_limit_headers(whole: &mut Whole<'_>, filters: &[(Str, Sourced<PerFilter>)]) {
    for (_, filter) in filters {
        if let PerFilter::LocalRateLimit(limit) = &filter.value {
            mutations(whole, &limit.response_headers);
        }
    }
}

fn mutations(whole: &mut Whole<'_>, of: &HeaderMutations) {
    for header in &of.add {
        change(whole, &header.value.name, header.origin, "modified");
        value(whole, &header.value.value, header.origin);
    }
    for name in &of.remove {
        change(whole, &name.value, name.origin, "removed");
    }
}

/// Checks header changes in verbatim configuration.
fn verbatim(whole: &mut Whole<'_>, tree: &Tree, around: Option<Origin>) {
    let origin = tree.origin.or(around);
    for (key, within) in tree.fields() {
        match key.as_str() {
            "request_headers_to_add" | "response_headers_to_add" => {
                for option in within.items() {
                    let (header, at) = (option.get("header"), option.origin.or(within.origin).or(origin));
                    let at = header.get("value").origin.or(header.origin).or(at);
                    change(whole, header.get("key").text(), header.get("key").origin.or(at), "modified");
                    value(whole, header.get("value").text(), at);
                }
            }
            "request_headers_to_remove" | "response_headers_to_remove" => {
                for name in within.items() {
                    change(whole, name.text(), name.origin.or(within.origin).or(origin), "removed");
                }
            }
            "log_format" => log_format(whole, within, origin),
            _ => verbatim(whole, within, origin),
        }
    }
    tree.items().iter().for_each(|item| verbatim(whole, item, origin));
}

/// Checks the strings of an access log's format.
fn log_format(whole: &mut Whole<'_>, tree: &Tree, around: Option<Origin>) {
    let origin = tree.origin.or(around);
    if let Some(problem) = substitution::problem(tree.text()).filter(|_| whole.object(origin).is_some()) {
        let finding = whole.finding(&codes::REFUSED_BY_ENVOY, origin, format!("Envoy cannot read this log format: {problem}"));
        whole.report(finding.help(REFUSED));
    }
    tree.fields().iter().for_each(|(_, value)| log_format(whole, value, origin));
    tree.items().iter().for_each(|value| log_format(whole, value, origin));
}

fn change(whole: &mut Whole<'_>, name: &str, origin: Option<Origin>, what: &str) {
    if whole.object(origin).is_none() {
        return;
    }
    if name.starts_with(':') || name.eq_ignore_ascii_case("host") {
        let other = if name.starts_with(':') { "nor may `host`" } else { "nor may a name that begins with a colon" };
        let message = format!("Envoy rejects this: `{name}` must not be {what}, {other}");
        let finding = whole.finding(&codes::PROTECTED_HEADER, origin, message);
        whole.report(finding.help(format!("{REFUSED}; rewrite host and path with the fields that exist for it")));
    } else if !is_token(name) {
        no_name(whole, name, origin);
    }
}

fn value(whole: &mut Whole<'_>, value: &str, origin: Option<Origin>) {
    if whole.object(origin).is_none() {
        return;
    }
    if let Some(problem) = substitution::problem(value) {
        let message = format!("Envoy cannot read the value of this header: {problem}");
        let finding = whole.finding(&codes::REFUSED_BY_ENVOY, origin, message);
        whole.report(finding.help(REFUSED));
    }
}

fn no_name(whole: &mut Whole<'_>, name: &str, origin: Option<Origin>) {
    if whole.object(origin).is_some() {
        let message = format!("`{name}` is not a valid header name");
        let finding = whole.finding(&codes::IMPOSSIBLE_HEADER, origin, message);
        whole.report(finding.help("a header name has only letters, digits and - _ . ! # $ % & ' * + ^ ` | ~"));
    }
}

/// Whether it is a `token` of RFC 9110.
fn is_token(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}
