//! Reports headers that an authorization service does not receive, because a route adds them later.
//!
//! Envoy adds the headers of a route in its last filter, the router; the filter `ext_authz` has sent its request before
//! (Envoy `source/common/router/router.cc`, `source/extensions/filters/http/ext_authz`). A header is reported only if the service's configuration
//! names it, which shows that the service expects it.

use super::whole::{Whole, written};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::diagnostic::{Place, codes};
use chancery_base::ir::{AuthorizationTransport, ExtAuthz, HttpFilterKind, PerFilter, StringMatch};
use chancery_base::resource::Origin;

pub(super) fn check(whole: &mut Whole<'_>) {
    let expected = expected_headers(whole);
    if expected.is_empty() {
        return;
    }
    let mut found = Vec::new();
    for route in whole.routes.iter().filter(|route| !route.per_filter.iter().any(|(_, filter)| filter.value == PerFilter::ExtAuthzDisabled)) {
        for header in &route.request_headers.add {
            let is_it = |(name, _): &&(String, Option<Origin>)| name.eq_ignore_ascii_case(&header.value.name);
            if let Some((name, listed)) = expected.iter().find(is_it) {
                found.push((name.clone(), header.origin.or_else(|| written(&route.origins)), *listed));
            }
        }
    }
    for (name, at, listed) in found {
        if whole.object(at).is_none() {
            continue;
        }
        let message = format!("the authorization service does not receive this `{name}`: Envoy adds it after the service has answered");
        let help = "if the service needs the value, send it in another way, such as a header of the client; the upstream receives it";
        let mut finding = whole.finding(&codes::HEADER_AFTER_AUTHORIZATION, at, message).help(help);
        if whole.object(listed).is_some() {
            finding = finding.related(Place::origin(listed), "the service receives this header only if the client sends it");
        }
        whole.report(finding);
    }
}

/// The names of headers that users let Envoy send to an authorization service.
fn expected_headers(whole: &Whole<'_>) -> Vec<(String, Option<Origin>)> {
    let ir = whole.ir;
    let mut out: Vec<(String, Option<Origin>)> = Vec::new();
    for filter in ir.listeners.iter().flat_map(|listener| listener.http_managers()).flat_map(|manager| &manager.filters) {
        let HttpFilterKind::ExtAuthz(ExtAuthz { transport: AuthorizationTransport::Http { allowed_request_headers, .. }, .. }) = &filter.kind else {
            continue;
        };
        for header in allowed_request_headers.iter().filter(|header| whole.object(header.origin).is_some()) {
            if let StringMatch::Exact(name) = &header.value.name
                && !out.iter().any(|(known, _)| known == name.as_str())
            {
                out.push((String::from(name.as_str()), header.origin));
            }
        }
    }
    out
}
