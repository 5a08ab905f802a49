//! The filter that keeps requests whose host chooses the backend from reaching the proxy itself.

use super::{HttpFilters, set_config};
use crate::model::{Destination, HttpListener, HttpRoute};
use crate::xds::matcher::{any_of, leaf, on_match, rbac_action, request_header};
use crate::xds::proto::{any, empty, extension, message, one, re2};
use chancery_base::ir::Tree;

const NAME: &str = "envoy.filters.http.rbac.dfp_loopback_deny";
const LOOPBACK: [&str; 7] = [
    r"^127\.0\.0\.1(?::\d+)?$",
    r"^localhost(?::\d+)?$",
    r"^localhost\.localdomain(?::\d+)?$",
    r"^ip6-localhost(?::\d+)?$",
    r"^ip6-loopback(?::\d+)?$",
    r"^\[::1\](?::\d+)?$",
    r"^::1(?::\d+)?$",
];

pub(super) fn add_filter(filters: &mut HttpFilters, listener: &HttpListener) {
    if listener.routes.iter().any(|route| route.destination.as_ref().is_some_and(Destination::is_dynamic_resolver)) {
        filters.add(extension(NAME, "envoy.extensions.filters.http.rbac.v3.RBAC", empty()));
    }
}

pub(super) fn configure(out: &mut Tree, route: &HttpRoute) {
    let host = route.rewrite.as_ref().map(|rewrite| &rewrite.host);
    if !route.destination.as_ref().is_some_and(Destination::is_dynamic_resolver) || host.is_some_and(|host| !host.name.is_null()) {
        return;
    }
    let header = host.map(|host| &host.header).filter(|header| !header.is_null()).cloned().unwrap_or_else(|| ":authority".into());
    let is = |pattern: &&str| leaf(request_header(header.clone()), "value_match", message! { "safe_regex": re2(*pattern) });
    let deny = on_match(any_of(LOOPBACK.iter().map(is).collect()), rbac_action("deny-loopback-host", false));
    let matcher = message! {
        "matcher_list": message! { "matchers": one(deny) },
        "on_no_match": message! { "action": rbac_action("default", true) },
    };
    let config = message! { "rbac": message! { "matcher": matcher } };
    set_config(out, NAME, any("envoy.extensions.filters.http.rbac.v3.RBACPerRoute", config));
}
