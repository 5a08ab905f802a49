//! Filters for responses and sessions: responses that Envoy replaces, headers it changes, health checks it answers, sessions that stay.

use super::{HttpFilters, disabled, enabled, health_check, set_config};
use crate::model::{HttpListener, HttpRoute, Redirect, ResponseOverrideRule, StringMatch, StringMatchKind};
use crate::xds::header_changes::{header_mutations, header_options};
use crate::xds::matcher::{all_of, any_of, leaf, on_match, value_matcher};
use crate::xds::proto::{Setting as _, any, copied, derived, duration, empty, extension, list, message, number_text};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_text::Str;

const SESSION: &str = "envoy.filters.http.stateful_session";
const MUTATION: &str = "envoy.filters.http.header_mutation";

fn overrides(route: &HttpRoute) -> Option<&(Str, Vec<ResponseOverrideRule>)> {
    route.traffic.as_ref()?.response_override.as_ref()
}

fn override_name(name: &Str) -> String {
    format!("envoy.filters.http.custom_response/{name}")
}

pub(super) fn add_filters(filters: &mut HttpFilters, listener: &HttpListener) -> Result<(), String> {
    for (name, rules) in listener.routes.iter().filter_map(|route| overrides(route)) {
        let kind = "envoy.extensions.filters.http.custom_response.v3.CustomResponse";
        let mut matchers = Vec::new();
        for rule in rules {
            matchers.push(override_rule(rule)?);
        }
        let config = message! { "custom_response_matcher": message! { "matcher_list": message! { "matchers": list(matchers) } } };
        let filter = disabled(extension(&override_name(name), kind, config));
        filters.add(filter.or_from(rules.first().and_then(|rule| rule.origin)));
    }
    let mutations = header_mutations(listener.client.headers.get("lateResponseHeaders"));
    if !mutations.is_empty() {
        let config = message! { "mutations": message! { "response_mutations": list(mutations) } };
        let kind = "envoy.extensions.filters.http.header_mutation.v3.HeaderMutation";
        filters.add(extension(MUTATION, kind, config).or_from(listener.client.headers.get("lateResponseHeaders").origin));
    }
    if let Some(check) = listener.client.health_check.some() {
        filters.add(health_check(check.get("path").clone()).or_from(check.origin));
    }
    if let Some(route) = listener.routes.iter().find(|route| !route.session_persistence.is_null()) {
        let kind = "envoy.extensions.filters.http.stateful_session.v3.StatefulSession";
        filters.add(disabled(extension(SESSION, kind, session(route))).or_from(route.session_persistence.origin));
    }
    Ok(())
}

pub(super) fn configure(out: &mut Tree, route: &HttpRoute) {
    if let Some((name, _)) = overrides(route) {
        set_config(out, &override_name(name), enabled());
    }
    if !route.session_persistence.is_null() {
        let config = message! { "stateful_session": session(route) };
        let config = any("envoy.extensions.filters.http.stateful_session.v3.StatefulSessionPerRoute", config);
        set_config(out, SESSION, config.or_from(route.session_persistence.origin));
    }
}

fn session(route: &HttpRoute) -> Tree {
    let of = &route.session_persistence;
    let state = match of.get("cookie").some() {
        Some(cookie) => {
            let own = message! { "name": cookie.get("name").clone(), "path": cookie_path(route.path.as_ref()), "ttl": duration(cookie.get("ttl")) };
            let kind = "envoy.extensions.http.stateful_session.cookie.v3.CookieBasedSessionState";
            extension("envoy.http.stateful_session.cookie", kind, message! { "cookie": own })
        }
        None => {
            let kind = "envoy.extensions.http.stateful_session.header.v3.HeaderBasedSessionState";
            extension("envoy.http.stateful_session.header", kind, message! { "name": of.at(&["header", "name"]).clone() })
        }
    };
    message! { "session_state": state.or_from(of.origin) }
}

/// Returns the path of a session's cookie: the route's path, or the part of its expression before the first star.
fn cookie_path(path: Option<&StringMatch>) -> Tree {
    let Some(path) = path else { return "/".into() };
    let value = Tree::from(path.value.clone());
    match path.kind {
        StringMatchKind::Exact | StringMatchKind::Prefix => value,
        StringMatchKind::Regex => {
            let parts: Vec<&str> = value.text().split('/').take_while(|part| !part.contains('*')).collect();
            super::proto::non_empty(&parts.join("/")).or_from(value.origin)
        }
        _ => "/".into(),
    }
}

fn override_rule(of: &ResponseOverrideRule) -> Result<Tree, String> {
    let mut all = Vec::new();
    if !of.statuses.is_empty() {
        all.push(any_of(of.statuses.iter().map(status).collect()));
    }
    if !of.headers.is_empty() {
        all.push(all_of(of.headers.iter().map(response_header).collect()));
    }
    if all.is_empty() {
        return Err(String::from("missing match criteria in response override rule"));
    }
    if matches!(of.source.text(), "Local" | "Backend") {
        let kind = "envoy.type.matcher.v3.HttpResponseLocalReplyMatchInput";
        let input = extension("http-response-local-reply-match-input", kind, empty());
        let word = if of.source.is("Local") { "true" } else { "false" };
        all.push(leaf(input, "value_match", message! { "exact": derived(word, &of.source) }).or_from(of.source.origin));
    }
    let action = match &of.redirect {
        Some(redirect) => redirection(redirect),
        None => response(of),
    };
    let action = message! { "name": &of.name, "typed_config": action };
    Ok(on_match(all_of(all), action).or_from(of.origin))
}

fn status(of: &Tree) -> Tree {
    match of.get("range").some() {
        Some(range) => {
            let input = extension("http-attributes-cel-match-input", "xds.type.matcher.v3.HttpAttributesCelMatchInput", empty());
            leaf(input, "custom_match", status_range(range))
        }
        None => {
            let input = extension("http-response-status-code-match-input", "envoy.type.matcher.v3.HttpResponseStatusCodeMatchInput", empty());
            leaf(input, "value_match", message! { "exact": number_text(of.get("value")) })
        }
    }
    .or_from(of.origin)
}

/// `response.code >= start && response.code <= end`, as a parsed expression.
fn status_range(range: &Tree) -> Tree {
    let number = |id: i64| number_text(&Tree::from(id));
    let code = |id: i64| {
        let response = message! { "id": number(id), "ident_expr": message! { "name": "response" } };
        message! { "id": number(id + 1), "select_expr": message! { "operand": response, "field": "code" } }
    };
    let bound = |id: i64, value: &Tree| message! { "id": number(id), "const_expr": message! { "int64_value": number_text(value) } };
    let call = |id: i64, function: &'static str, first: Tree, second: Tree| {
        message! { "id": number(id), "call_expr": message! { "function": function, "args": Vec::from([first, second]) } }
    };
    let least = call(3, "_>=_", code(1), bound(4, range.get("start")));
    let most = call(7, "_<=_", code(5), bound(8, range.get("end")));
    let parsed = message! { "expr": call(9, "_&&_", least, most) };
    let config = message! { "expr_match": message! { "cel_expr_parsed": parsed } };
    extension("cel-matcher", "xds.type.matcher.v3.CelMatcher", config).or_from(range.origin)
}

fn response_header(of: &StringMatch) -> Tree {
    let kind = "envoy.type.matcher.v3.HttpResponseHeaderMatchInput";
    let input = extension("http-response-header-match-input", kind, message! { "header_name": of.name.clone() });
    leaf(input, "value_match", value_matcher(of)).or_from(of.value.origin)
}

fn redirection(of: &Redirect) -> Tree {
    let action = message! {
        "scheme_redirect": of.scheme.clone(),
        "host_redirect": of.hostname.clone(),
        "port_redirect": of.port.clone(),
        "path_redirect": of.path.full.clone(),
    };
    let action = if action.fields().is_empty() { empty() } else { action };
    let config = message! { "redirect_action": action, "status_code": of.status.clone() };
    any("envoy.extensions.http.custom_response.redirect_policy.v3.RedirectPolicy", config).or_from(of.origin)
}

fn response(of: &ResponseOverrideRule) -> Tree {
    let (body, kind) = (of.response.get("body"), of.response.get("contentType"));
    let mut headers = Vec::new();
    if !kind.text().is_empty() {
        let header = message! { "key": "Content-Type", "value": kind.clone() };
        headers.push(message! { "header": header, "append_action": "OVERWRITE_IF_EXISTS_OR_ADD" }.or_from(kind.origin));
    }
    headers.extend(of.add_headers.iter().flat_map(header_options));
    let mut config = empty();
    config.set(
        "body_format",
        if copied(body).is_null() {
            Tree::NULL
        } else {
            message! { "text_format": body.clone() }
        },
    );
    config.set("response_headers_to_add", list(headers));
    config.set("status_code", of.response.get("statusCode").clone());
    any("envoy.extensions.http.custom_response.local_response_policy.v3.LocalResponsePolicy", config).or_from(of.response.origin)
}
