//! Emits `RouteConfiguration`, `VirtualHost` and `Route`.
//!
//! The first two are emitted without their large lists: the document adds virtual hosts and routes.

use super::base::{headers_to_add, headers_to_remove, inline, json_object, strings, text};
use super::cors::cors_policy;
use super::pb;
use super::route_action::{forward, rate_limit, redirect};
use super::route_match::route_match;
use super::{CORS_FILTER, Context, per_filter};
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use chancery_base::ir::{DirectResponse, Json, Route, RouteAction, RouteConfiguration, VirtualHost};
use chancery_base::output_map::Trace;
use pb::route::route::Action;

/// Without its virtual hosts.
pub(super) fn route_configuration(table: &RouteConfiguration, cx: &Context<'_>, t: &mut Trace) -> pb::route::RouteConfiguration {
    pb::route::RouteConfiguration {
        name: text(&table.name),
        ignore_port_in_host_matching: table.ignore_port_in_host,
        request_headers_to_add: headers_to_add("request_headers_to_add", &table.request_headers, cx, t),
        request_headers_to_remove: headers_to_remove("request_headers_to_remove", &table.request_headers, t),
        ..Default::default()
    }
}

/// Without its routes.
pub(super) fn virtual_host(host: &VirtualHost, cx: &Context<'_>, t: &mut Trace) -> pb::route::VirtualHost {
    t.here(&host.origins);
    pb::route::VirtualHost {
        name: text(&host.name),
        domains: strings("domains", &host.domains, t),
        response_headers_to_add: headers_to_add("response_headers_to_add", &host.response_headers, cx, t),
        response_headers_to_remove: headers_to_remove("response_headers_to_remove", &host.response_headers, t),
        typed_per_filter_config: per_filter::configs(&host.per_filter, cx, t),
        rate_limits: t.sourced_list("rate_limits", &host.rate_limits, |of, t| rate_limit(of, cx, t)),
        ..Default::default()
    }
}

pub(super) fn route(route: &Route, cx: &Context<'_>, t: &mut Trace) -> pb::route::Route {
    t.here(&route.origins);
    pb::route::Route {
        name: text(&route.name),
        r#match: Some(t.at("match", |t| route_match(&route.matcher, cx, t))),
        action: Some(action(&route.action, cx, t)),
        request_headers_to_add: headers_to_add("request_headers_to_add", &route.request_headers, cx, t),
        request_headers_to_remove: headers_to_remove("request_headers_to_remove", &route.request_headers, t),
        response_headers_to_add: headers_to_add("response_headers_to_add", &route.response_headers, cx, t),
        response_headers_to_remove: headers_to_remove("response_headers_to_remove", &route.response_headers, t),
        typed_per_filter_config: per_route(route, cx, t),
        metadata: metadata(&route.metadata).map(Box::new),
        ..Default::default()
    }
}

fn action(action: &RouteAction, cx: &Context<'_>, t: &mut Trace) -> Action {
    match action {
        RouteAction::Forward(to) => Action::Route(Box::new(t.at("route", |t| forward(to, cx, t)))),
        RouteAction::Redirect(to) => Action::Redirect(Box::new(t.at("redirect", |t| redirect(to, cx, t)))),
        RouteAction::Respond(response) => Action::DirectResponse(Box::new(t.at("direct_response", |t| direct_response(response, t)))),
    }
}

fn direct_response(response: &DirectResponse, t: &mut Trace) -> pb::route::DirectResponseAction {
    pb::route::DirectResponseAction {
        status: t.field("status", &response.status).get().into(),
        body: t.optional("body", &response.body).map(|body| inline(body)),
        ..Default::default()
    }
}

fn per_route(route: &Route, cx: &Context<'_>, t: &mut Trace) -> BTreeMap<String, pb::Any> {
    let mut configs = per_filter::configs(&route.per_filter, cx, t);
    if let RouteAction::Forward(forward) = &route.action
        && !cx.spelling.cors_on_route
        && let Some(cors) = t.at("typed_per_filter_config", |t| t.within(CORS_FILTER, &forward.cors, |cors, t| cors_policy(cors, cx, t)))
    {
        configs.insert(CORS_FILTER.to_owned(), pb::Any::pack(cors.for_filter()));
    }
    configs
}

/// `filter_metadata` holds only objects; other values are left out.
fn metadata(metadata: &[(chancery_text::Str, Json)]) -> Option<pb::base::Metadata> {
    let filter_metadata: BTreeMap<_, _> = metadata
        .iter()
        .filter_map(|(name, value)| match value {
            Json::Object(fields) => Some((text(name), json_object(fields))),
            _ => None,
        })
        .collect();
    (!filter_metadata.is_empty()).then(|| pb::base::Metadata { filter_metadata, ..Default::default() })
}
