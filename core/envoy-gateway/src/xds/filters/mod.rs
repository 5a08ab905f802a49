//! Writes HTTP filters: which a listener has, in which order, and what each route sets. Does not decide on features; see `policy`.

mod access;
mod authentication;
mod dynamic;
mod extensions;
pub(crate) mod geoip;
mod jwt;
mod oidc;
mod rate_limit;
mod responses;
mod traffic;

pub(crate) use access::{deny_server_names, network_filter as network_authorization};
pub(crate) use extensions::WASM_CLUSTER;
pub(crate) use rate_limit::{CLUSTER as RATE_LIMIT_CLUSTER, Service as RateLimitService, global_rules};

use super::access_log::{self, LogPlace};
use super::proto::{any, empty, extension, list, message};
use super::resources::ResourceBuilder;
use super::{credential, proto};
use crate::model::{AccessLogs, HttpListener, HttpRoute};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::{Fields, Plain, Tree};
use chancery_text::Str;

const ROUTER: &str = "envoy.filters.http.router";

/// The HTTP filters of a chain.
#[derive(Clone, Debug, Default)]
pub(crate) struct HttpFilters(pub(crate) Vec<Tree>);

impl HttpFilters {
    fn has(&self, name: &str) -> bool {
        self.0.iter().any(|filter| filter.get("name").is(name))
    }

    /// Adds a filter, unless there is one of its name.
    pub(crate) fn add(&mut self, filter: Tree) {
        if !self.has(filter.get("name").text()) {
            self.0.push(filter);
        }
    }

    fn get_mut(&mut self, name: &str) -> Option<&mut Tree> {
        self.0.iter_mut().find(|filter| filter.get("name").is(name))
    }
}

/// A filter that only routes enable.
fn disabled(mut filter: Tree) -> Tree {
    filter.set("disabled", true.into());
    filter
}

/// What enables such a filter.
fn enabled() -> Tree {
    any("envoy.config.route.v3.FilterConfig", message! { "config": empty() })
}

/// Sets a route's configuration of a filter.
fn set_config(route: &mut Tree, name: &str, config: Tree) {
    const FIELD: &str = "typed_per_filter_config";
    if route.get(FIELD).is_null() {
        route.set(FIELD, Tree { value: Plain::Object(Fields::default()), origin: None });
    }
    if let Some(configs) = route.get_mut(FIELD) {
        configs.set(name, config);
    }
}

/// Adds the filters that the routes of a listener need.
pub(crate) fn configure_chain(
    filters: &mut HttpFilters,
    listener: &HttpListener,
    logs: Option<&AccessLogs>,
    service: Option<&RateLimitService>,
    order: &[Tree],
) -> Result<(), String> {
    authentication::add_filters(filters, listener)?;
    access::add_filter(filters, listener);
    dynamic::add_filter(filters, listener);
    extensions::add_filters(filters, listener)?;
    geoip::add_filter(filters, listener);
    jwt::add_filter(filters, listener)?;
    oidc::add_filter(filters, listener);
    responses::add_filters(filters, listener)?;
    traffic::add_filters(filters, listener)?;
    for route in &listener.routes {
        if let Some(injection) = &route.credential_injection {
            filters.add(disabled(credential::filter(injection)));
        }
    }
    rate_limit::add_filters(filters, listener, service);
    if !filters.has(ROUTER) {
        filters.0.push(router(&listener.client.headers, logs)?);
    }
    sort(&mut filters.0, order);
    Ok(())
}

fn router(headers: &Tree, logs: Option<&AccessLogs>) -> Result<Tree, String> {
    let own = headers.get("enableEnvoyHeaders");
    let upstream = access_log::build(logs, LogPlace::Upstream)?;
    let mut config = message! { "suppress_envoy_headers": if own.bool() { Tree::NULL } else { proto::derived(true, own) } };
    if !upstream.is_empty() {
        config.set("upstream_log_options", message! { "flush_upstream_log_on_upstream_stream": true });
    }
    config.set("upstream_log", list(upstream));
    let config = if config.fields().is_empty() { empty() } else { config };
    Ok(extension(ROUTER, "envoy.extensions.filters.http.router.v3.Router", config))
}

/// Returns the last filter of the listener for readiness checks.
pub(crate) fn plain_router() -> Tree {
    extension(ROUTER, "envoy.extensions.filters.http.router.v3.Router", message! { "suppress_envoy_headers": true })
}

/// The filter that answers health checks at a path.
pub(crate) fn health_check(path: Tree) -> Tree {
    let header = message! { "name": ":path", "string_match": message! { "exact": path } };
    let config = message! { "pass_through_mode": false, "headers": proto::one(header) };
    extension("envoy.filters.http.health_check", "envoy.extensions.filters.http.health_check.v3.HealthCheck", config)
}

/// Sets a route's configuration of each filter.
pub(crate) fn configure_route(out: &mut Tree, route: &HttpRoute, listener: &HttpListener) -> Result<(), String> {
    authentication::configure(out, route)?;
    access::configure(out, route)?;
    traffic::configure(out, route, listener)?;
    dynamic::configure(out, route);
    extensions::configure(out, route)?;
    jwt::configure(out, route)?;
    oidc::configure(out, route)?;
    responses::configure(out, route);
    if let Some(injection) = &route.credential_injection {
        set_config(out, &credential::filter_name(injection), enabled());
    }
    rate_limit::configure_global(out, route, &listener.core.name);
    Ok(())
}

/// Adds clusters and secrets that the filters of routes need.
pub(crate) fn add_resources(resources: &mut ResourceBuilder, routes: &[Arc<HttpRoute>]) -> Result<(), String> {
    let mut errors = Vec::new();
    authentication::add_resources(resources, routes);
    for route in routes {
        if let Some(injection) = &route.credential_injection {
            resources.add_secret(credential::secret(injection));
        }
    }
    let results = [extensions::add_resources(resources, routes), jwt::add_resources(resources, routes), oidc::add_resources(resources, routes)];
    errors.extend(results.into_iter().filter_map(Result::err));
    if errors.is_empty() { Ok(()) } else { Err(errors.join("\n")) }
}

/// Names of filters, in the order in which Envoy runs them. Filters of scripts and services have their own numbers in between.
const ORDER: [(&str, i64); 29] = [
    ("envoy.filters.http.custom_response", 0),
    ("envoy.filters.http.health_check", 1),
    ("envoy.filters.http.fault", 2),
    ("envoy.filters.http.cors", 3),
    ("envoy.filters.http.csrf", 4),
    ("envoy.filters.http.header_mutation", 5),
    ("envoy.filters.http.ext_authz", 6),
    ("envoy.filters.http.api_key_auth", 7),
    ("envoy.filters.http.basic_auth", 8),
    ("envoy.filters.http.oauth2", 9),
    ("envoy.filters.http.jwt_authn", 10),
    ("envoy.filters.http.stateful_session", 11),
    ("envoy.filters.http.buffer", 12),
    ("envoy.filters.http.lua", 13),
    ("envoy.filters.http.ext_proc", 100),
    ("envoy.filters.http.wasm", 200),
    ("envoy.filters.http.dynamic_modules", 250),
    ("envoy.filters.http.geoip", 300),
    ("envoy.filters.http.rbac", 301),
    ("envoy.filters.http.local_ratelimit", 302),
    ("envoy.filters.http.ratelimit", 303),
    ("envoy.filters.http.bandwidth_limit", 304),
    ("envoy.filters.http.grpc_web", 305),
    ("envoy.filters.http.grpc_stats", 306),
    ("envoy.filters.http.credential_injector", 307),
    ("envoy.filters.http.compressor", 308),
    ("envoy.filters.http.dynamic_forward_proxy", 309),
    ("envoy.filters.http.router", 310),
    ("", 50),
];

fn place(name: &str) -> i64 {
    let (known, place) = ORDER.iter().find(|(known, _)| name.starts_with(known)).copied().unwrap_or_default();
    let is_numbered =
        matches!(known, "envoy.filters.http.lua" | "envoy.filters.http.ext_proc" | "envoy.filters.http.wasm" | "envoy.filters.http.dynamic_modules");
    let number = if is_numbered { name.rsplit('/').next().and_then(|number| number.parse().ok()).unwrap_or_default() } else { 0_i64 };
    place.saturating_add(number)
}

/// Puts filters in order, and moves those that EnvoyProxy wants elsewhere.
fn sort(filters: &mut Vec<Tree>, order: &[Tree]) {
    filters.sort_by(|a, b| {
        let (a, b) = (a.get("name").text(), b.get("name").text());
        place(a).cmp(&place(b)).then_with(|| a.cmp(b))
    });
    for position in order {
        let name = position.get("name").str();
        let is_moved = |filter: &Tree| filter.get("name").text().starts_with(name.as_str());
        if !filters.iter().any(is_moved) {
            continue;
        }
        let (before, after) = (position.get("before").str(), position.get("after").str());
        let found = |name: &Str, last: bool| {
            let is_it = |filter: &Tree| filter.get("name").text().starts_with(name.as_str());
            if last { filters.iter().rposition(is_it) } else { filters.iter().position(is_it) }
        };
        let target = match (before.is_empty(), after.is_empty()) {
            (false, _) => found(&before, false),
            (true, false) => found(&after, true),
            _ => None,
        };
        let Some(target) = target.and_then(|at| filters.get(at)).map(|filter| filter.get("name").str()) else { continue };
        if target.starts_with(name.as_str()) {
            continue;
        }
        let (mut moved, rest): (Vec<Tree>, Vec<Tree>) = core::mem::take(filters).into_iter().partition(is_moved);
        moved.iter_mut().for_each(|filter| filter.origin = filter.origin.or(position.origin));
        for filter in rest {
            let is_target = filter.get("name").text() == target.as_str();
            if is_target && !before.is_empty() {
                filters.append(&mut moved);
            }
            filters.push(filter);
            if is_target && before.is_empty() {
                filters.append(&mut moved);
            }
        }
    }
}
