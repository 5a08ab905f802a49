//! Filters that ask who sends a request: CORS and CSRF, keys, passwords, and services that decide.

use super::{HttpFilters, disabled, set_config};
use crate::model::{ApiKeyAuth, BasicAuth, Cors, ExtAuth, ExtAuthProtocol, HttpListener, HttpRoute, Security, StringMatch};
use crate::xds::cluster::ClusterArgs;
use crate::xds::matcher::string_matcher;
use crate::xds::proto::{Setting as _, any, copied, derived, duration, empty, extension, fraction, list, message, nanos, non_empty, of_hundred, one};
use crate::xds::resources::ResourceBuilder;
use crate::xds::retries::service_retry_policy;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_base::resource::Sourced;
use chancery_text::Str;

const CORS: &str = "envoy.filters.http.cors";
const CSRF: &str = "envoy.filters.http.csrf";
const CSRF_POLICY: &str = "envoy.extensions.filters.http.csrf.v3.CsrfPolicy";
const API_KEY: &str = "envoy.filters.http.api_key_auth";

fn securities(listener: &HttpListener) -> impl Iterator<Item = &Security> {
    listener.routes.iter().filter_map(|route| route.security.as_deref())
}

fn cors_of(route: &HttpRoute) -> Option<&Cors> {
    route.cors.as_deref().or_else(|| route.security.as_ref()?.cors.as_ref())
}

pub(super) fn add_filters(filters: &mut HttpFilters, listener: &HttpListener) -> Result<(), String> {
    if listener.routes.iter().any(|route| cors_of(route).is_some()) {
        filters.add(extension(CORS, "envoy.extensions.filters.http.cors.v3.Cors", empty()));
    }
    if securities(listener).any(|of| of.csrf.is_some()) {
        let config = message! { "filter_enabled": message! { "default_value": of_hundred(0) } };
        filters.add(extension(CSRF, CSRF_POLICY, config));
    }
    if let Some(of) = securities(listener).find_map(|of| of.api_key_auth.as_ref()) {
        let kind = "envoy.extensions.filters.http.api_key_auth.v3.ApiKeyAuth";
        filters.add(disabled(extension(API_KEY, kind, api_keys(of))));
    }
    for of in securities(listener).filter_map(|of| of.basic_auth.as_ref()) {
        let config = message! {
            "users": message! { "inline_string": of.users.clone() },
            "forward_username_header": copied(&of.forward_username_header),
        };
        let kind = "envoy.extensions.filters.http.basic_auth.v3.BasicAuth";
        filters.add(disabled(extension(&basic_auth_name(of), kind, config)).or_from(of.origin));
    }
    for of in securities(listener).filter_map(|of| of.ext_auth.as_ref()) {
        let kind = "envoy.extensions.filters.http.ext_authz.v3.ExtAuthz";
        filters.add(disabled(extension(&ext_auth_name(of), kind, ext_auth(of)?)).or_from(of.origin));
    }
    Ok(())
}

pub(super) fn configure(out: &mut Tree, route: &HttpRoute) -> Result<(), String> {
    if let Some(of) = cors_of(route) {
        set_config(out, CORS, cors_policy(of));
    }
    let Some(security) = &route.security else { return Ok(()) };
    if let Some((shadow, origins)) = &security.csrf {
        set_config(out, CSRF, any(CSRF_POLICY, csrf(shadow, origins)));
    }
    if let Some(of) = &security.api_key_auth {
        set_config(out, API_KEY, any("envoy.extensions.filters.http.api_key_auth.v3.ApiKeyAuthPerRoute", api_keys(of)));
    }
    if let Some(of) = &security.basic_auth {
        let config = message! { "users": message! { "inline_string": of.users.clone() } };
        let config = any("envoy.extensions.filters.http.basic_auth.v3.BasicAuthPerRoute", config);
        set_config(out, &basic_auth_name(of), config.or_from(of.origin));
    }
    if let Some(of) = &security.ext_auth {
        let extensions: Vec<(Str, Tree)> = of.context_extensions.iter().map(|(name, value)| (name.str(), value.clone())).collect();
        let mut settings = empty();
        settings.set("context_extensions", if extensions.is_empty() { Tree::NULL } else { Tree::object(extensions) });
        let config = any("envoy.extensions.filters.http.ext_authz.v3.ExtAuthzPerRoute", message! { "check_settings": settings });
        set_config(out, &ext_auth_name(of), config.or_from(of.origin));
    }
    Ok(())
}

fn cors_policy(of: &Cors) -> Tree {
    let joined = |values: &[Sourced<Str>], stars: bool| {
        let first = values.first().and_then(|value| value.origin);
        let star = values.iter().find(|value| stars && value.value == "*");
        let text = match star {
            Some(_) => String::from("*"),
            None => values.iter().map(|value| value.value.as_str()).collect::<Vec<_>>().join(", "),
        };
        non_empty(&text).or_from(star.map_or(first, |star| star.origin))
    };
    let age = nanos(&of.max_age).map(|nanos| format!("{}", nanos / 1_000_000_000));
    let credentials = &of.allow_credentials;
    let config = message! {
        "allow_origin_string_match": list(of.allow_origins.iter().map(string_matcher).collect()),
        "allow_methods": joined(&of.allow_methods, true),
        "allow_headers": joined(&of.allow_headers, true),
        "expose_headers": joined(&of.expose_headers, false),
        "max_age": Tree::from(age).or_from(of.max_age.origin),
        "allow_credentials": if credentials.is_null() { false.into() } else { credentials.clone() },
        "forward_not_matching_preflights": false,
    };
    any("envoy.extensions.filters.http.cors.v3.CorsPolicy", config).or_from(of.origin)
}

fn csrf(shadow: &Tree, origins: &[StringMatch]) -> Tree {
    let (enforced, shadowed) = match shadow.some() {
        Some(shadow) => {
            let whole = shadow.get("denominator").find_int().unwrap_or(100);
            let rest = message! {
                "numerator": derived(whole.saturating_sub(shadow.get("numerator").int()), shadow.get("numerator")),
                "denominator": derived(whole, shadow.get("denominator")),
            };
            (fraction(&rest.or_from(shadow.origin)), message! { "default_value": of_hundred(100) }.or_from(shadow.origin))
        }
        None => (of_hundred(100), Tree::NULL),
    };
    message! {
        "filter_enabled": message! { "default_value": enforced },
        "shadow_enabled": shadowed,
        "additional_origins": list(origins.iter().map(string_matcher).collect()),
    }
}

fn api_keys(of: &ApiKeyAuth) -> Tree {
    let credentials = of.credentials.iter().map(|(client, key)| message! { "client": client.clone(), "key": key.clone() }.or_from(client.origin));
    let mut sources = Vec::new();
    for from in of.spec.get("extractFrom").items() {
        for (field, name) in [("headers", "header"), ("params", "query"), ("cookies", "cookie")] {
            sources.extend(from.get(field).items().iter().map(|value| Tree::object([(name, value.clone())]).or_from(value.origin)));
        }
    }
    let (header, sanitize) = (of.spec.get("forwardClientIDHeader"), of.spec.get("sanitize"));
    let forwarding = message! { "header": copied(header), "hide_credentials": super::proto::flag(sanitize) };
    message! {
        "credentials": list(credentials.collect()),
        "key_sources": list(sources),
        "forwarding": if forwarding.fields().is_empty() { Tree::NULL } else { forwarding },
    }
    .or_from(of.spec.origin)
}

fn basic_auth_name(of: &BasicAuth) -> String {
    format!("envoy.filters.http.basic_auth/{}", of.name)
}

fn ext_auth_name(of: &ExtAuth) -> String {
    format!("envoy.filters.http.ext_authz/{}", of.name)
}

fn exact_headers(names: &[Tree]) -> Tree {
    if names.is_empty() {
        return Tree::NULL;
    }
    let pattern = |name: &Tree| message! { "exact": name.clone(), "ignore_case": true }.or_from(name.origin);
    message! { "patterns": list(names.iter().map(pattern).collect()) }
}

fn ext_auth(of: &ExtAuth) -> Result<Tree, String> {
    let timeout = if of.timeout.is_null() { "10s".into() } else { duration(&of.timeout) };
    let retry = match of.traffic.as_ref().and_then(|traffic| traffic.retry.some()) {
        Some(retry) => service_retry_policy(retry)?,
        None => Tree::NULL,
    };
    let cluster = Tree::from(&of.destination.name).or_from(of.destination.origin);
    let mut config = message! {
        "transport_api_version": "V3",
        "failure_mode_allow": of.fail_open.clone(),
        "clear_route_cache": of.recompute_route.clone(),
        "route_metadata_context_namespaces": if of.include_route_metadata.bool() { derived(one("envoy-gateway".into()), &of.include_route_metadata) } else { Tree::NULL },
        "with_request_body": of.body.some().map(|body| message! { "max_request_bytes": body.get("maxRequestBytes").clone() }.or_from(body.origin)),
        "allowed_headers": exact_headers(&of.headers_to_ext_auth),
        "status_on_error": of.status_on_error.some().map(|status| message! { "code": status.clone() }),
    };
    match of.protocol {
        ExtAuthProtocol::Http => {
            let path = if of.path_override.text().is_empty() { &of.path } else { &of.path_override };
            let uri = format!("http://{}{}", of.authority.text(), escape_path(path.text()));
            let allowed = exact_headers(&of.headers_to_backend);
            let service = message! {
                "path_prefix": copied(&of.path),
                "path_override": copied(&of.path_override),
                "server_uri": message! { "uri": Tree::from(uri).or_from(path.origin.or(of.authority.origin)), "cluster": cluster, "timeout": timeout },
                "authorization_response": if allowed.is_null() { Tree::NULL } else { message! { "allowed_upstream_headers": allowed } },
                "retry_policy": retry,
            };
            config.set("http_service", service);
        }
        ExtAuthProtocol::Grpc => {
            let service = message! {
                "envoy_grpc": message! { "cluster_name": cluster, "authority": copied(&of.authority) },
                "timeout": timeout,
                "retry_policy": retry,
            };
            config.set("grpc_service", service);
        }
    }
    Ok(config)
}

/// A path in a URL: with a slash at its start, and bytes that Go's `net/url` escapes as `%XX`.
fn escape_path(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    if !path.is_empty() && !path.starts_with('/') {
        out.push('/');
    }
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~$&+,/:;=@".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

pub(super) fn add_resources(resources: &mut ResourceBuilder, routes: &[Arc<HttpRoute>]) {
    for of in routes.iter().filter_map(|route| route.security.as_ref()?.ext_auth.as_ref()) {
        resources.add_cluster(&ClusterArgs::of_service(&of.destination, of.traffic.as_ref()));
        resources.add_client_certificates(&of.destination.settings);
    }
}
