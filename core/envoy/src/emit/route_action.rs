//! Emits the actions of routes: `RouteAction` and `RedirectAction`.

use super::base::{duration, headers_to_add, headers_to_remove, regex, runtime_percent, text};
use super::cors::cors_policy;
use super::pb;
use super::route_match::header_matcher;
use super::{Context, per_filter};
use alloc::boxed::Box;
use alloc::vec::Vec;
use chancery_base::ir::{
    Forward, HashBy, HashPolicy, HostRewrite, InternalRedirect, MirrorPolicy, PathRewrite, Priority, RateLimitAction, RateLimitDescriptor, Redirect,
    RedirectCode, RedirectPath, RegexRewrite, RetryPolicy, UpstreamClusters, WeightedCluster,
};
use chancery_base::output_map::Trace;
use chancery_base::resource::Sourced;
use pb::route::rate_limit::action::{self as limit, ActionSpecifier};
use pb::route::redirect_action::{PathRewriteSpecifier, RedirectResponseCode, SchemeRewriteSpecifier};
use pb::route::route_action::{ClusterSpecifier, HostRewriteSpecifier, RequestMirrorPolicy, UpgradeConfig, hash_policy as hash};

pub(super) fn forward(forward: &Forward, cx: &Context<'_>, t: &mut Trace) -> pb::route::RouteAction {
    let mut action = pb::route::RouteAction {
        cluster_specifier: Some(clusters(&forward.clusters, cx, t)),
        timeout: t.optional("timeout", &forward.timeout).map(duration),
        idle_timeout: t.optional("idle_timeout", &forward.idle_timeout).map(duration),
        priority: forward.priority.as_ref().map(|of| priority(of, t)).unwrap_or_default(),
        host_rewrite_specifier: forward.host_rewrite.as_ref().map(|rewrite| host_rewrite(rewrite, t)),
        hash_policy: t.sourced_list("hash_policy", &forward.hash_policies, |by, _| hash_policy(by)),
        retry_policy: t.within("retry_policy", &forward.retry, |retry, t| retry_policy(retry, t)).map(Box::new),
        request_mirror_policies: t.sourced_list("request_mirror_policies", &forward.mirrors, mirror),
        rate_limits: t.sourced_list("rate_limits", &forward.rate_limits, |of, t| rate_limit(of, cx, t)),
        internal_redirect_policy: t.within("internal_redirect_policy", &forward.internal_redirect, |of, t| Box::new(internal_redirect(of, t))),
        upgrade_configs: t
            .sourced_list("upgrade_configs", &forward.upgrades, |protocol, _| UpgradeConfig { upgrade_type: text(protocol), ..Default::default() }),
        ..Default::default()
    };
    if cx.spelling.cors_on_route {
        action.cors = t.within("cors", &forward.cors, |cors, t| cors_policy(cors, cx, t)).map(|cors| Box::new(cors.for_route()));
    }
    match forward.path_rewrite.as_ref().map(|rewrite| &rewrite.value) {
        Some(PathRewrite::Prefix(prefix)) => action.prefix_rewrite = text(prefix),
        Some(PathRewrite::Regex(rewrite)) => action.regex_rewrite = Some(Box::new(regex_rewrite(rewrite, cx))),
        None => {}
    }
    if let Some(rewrite) = &forward.path_rewrite {
        t.field(if action.regex_rewrite.is_some() { "regex_rewrite" } else { "prefix_rewrite" }, rewrite);
        if let PathRewrite::Regex(of) = &rewrite.value {
            t.at("regex_rewrite", |t| t.here(&of.pattern_also.0));
        }
    }
    action
}

fn clusters(clusters: &UpstreamClusters, cx: &Context<'_>, t: &mut Trace) -> ClusterSpecifier {
    match clusters {
        UpstreamClusters::One(cluster) => ClusterSpecifier::Cluster(text(t.field("cluster", cluster))),
        UpstreamClusters::Weighted(clusters) => ClusterSpecifier::WeightedClusters(t.at("weighted_clusters", |t| pb::route::WeightedCluster {
            clusters: t.list("clusters", clusters, |cluster, t| weighted(cluster, cx, t)),
            ..Default::default()
        })),
    }
}

fn weighted(cluster: &WeightedCluster, cx: &Context<'_>, t: &mut Trace) -> pb::route::weighted_cluster::ClusterWeight {
    pb::route::weighted_cluster::ClusterWeight {
        name: text(t.field("name", &cluster.name)),
        weight: Some(*t.joined("weight", &cluster.weight, &cluster.weight_also)),
        request_headers_to_add: headers_to_add("request_headers_to_add", &cluster.request_headers, cx, t),
        request_headers_to_remove: headers_to_remove("request_headers_to_remove", &cluster.request_headers, t),
        response_headers_to_add: headers_to_add("response_headers_to_add", &cluster.response_headers, cx, t),
        response_headers_to_remove: headers_to_remove("response_headers_to_remove", &cluster.response_headers, t),
        typed_per_filter_config: per_filter::configs(&cluster.per_filter, cx, t),
        host_rewrite_specifier: t
            .optional("host_rewrite_literal", &cluster.host_rewrite)
            .map(|host| pb::route::weighted_cluster::cluster_weight::HostRewriteSpecifier::HostRewriteLiteral(text(host))),
        ..Default::default()
    }
}

/// Envoy's default is not written, so it gets no place.
pub(super) fn priority(priority: &Sourced<Priority>, t: &mut Trace) -> i32 {
    match priority.value {
        Priority::Default => pb::base::RoutingPriority::Default as i32,
        Priority::High => {
            t.field("priority", priority);
            pb::base::RoutingPriority::High as i32
        }
    }
}

fn regex_rewrite(rewrite: &RegexRewrite, cx: &Context<'_>) -> pb::matcher::RegexMatchAndSubstitute {
    pb::matcher::RegexMatchAndSubstitute { pattern: Some(regex(&rewrite.pattern, cx)), substitution: text(&rewrite.substitution) }
}

fn host_rewrite(rewrite: &Sourced<HostRewrite>, t: &mut Trace) -> HostRewriteSpecifier {
    let (name, specifier) = match &rewrite.value {
        HostRewrite::Literal(host) => ("host_rewrite_literal", HostRewriteSpecifier::HostRewriteLiteral(text(host))),
        HostRewrite::Header(header) => ("host_rewrite_header", HostRewriteSpecifier::HostRewriteHeader(text(header.as_text()))),
        HostRewrite::Auto(auto) | HostRewrite::LiteralAndAuto(_, auto) => ("auto_host_rewrite", HostRewriteSpecifier::AutoHostRewrite(*auto)),
    };
    t.field(name, rewrite);
    specifier
}

fn hash_policy(by: &HashBy) -> pb::route::route_action::HashPolicy {
    use hash::PolicySpecifier;
    let specifier = match &by.policy {
        HashPolicy::Cookie { name, path, ttl } => PolicySpecifier::Cookie(hash::Cookie {
            name: text(name),
            path: path.as_ref().map(text).unwrap_or_default(),
            ttl: ttl.as_ref().map(duration),
            ..Default::default()
        }),
        HashPolicy::Header(header) => PolicySpecifier::Header(hash::Header { header_name: text(header.as_text()), ..Default::default() }),
        HashPolicy::SourceIp(source_ip) => PolicySpecifier::ConnectionProperties(hash::ConnectionProperties { source_ip: *source_ip }),
        HashPolicy::Query(name) => PolicySpecifier::QueryParameter(hash::QueryParameter { name: text(name) }),
    };
    pb::route::route_action::HashPolicy { policy_specifier: Some(specifier), terminal: by.terminal }
}

fn retry_policy(retry: &RetryPolicy, t: &mut Trace) -> pb::route::RetryPolicy {
    pb::route::RetryPolicy {
        retry_on: text(t.implicit("retry_on", &retry.retry_on)),
        num_retries: t.optional("num_retries", &retry.num_retries).copied(),
        per_try_timeout: t.optional("per_try_timeout", &retry.per_try_timeout).map(duration),
        retriable_status_codes: t.sourced_list("retriable_status_codes", &retry.status_codes, |code, _| *code),
        ..Default::default()
    }
}

fn internal_redirect(of: &InternalRedirect, t: &mut Trace) -> pb::route::InternalRedirectPolicy {
    use pb::internal_redirect::{previous_routes::v3::PreviousRoutesConfig, safe_cross_scheme::v3::SafeCrossSchemeConfig};
    let predicate = |name: &str, config| pb::base::TypedExtensionConfig { name: name.into(), typed_config: Some(config) };
    let mut predicates = Vec::new();
    t.at("predicates", |t| {
        let mut add = |flag: &Option<Sourced<bool>>, predicate| {
            if let Some(on) = flag.as_ref().filter(|on| on.value) {
                t.item(predicates.len(), |t| t.here(on.origin));
                predicates.push(predicate);
            }
        };
        let safe = pb::Any::pack(SafeCrossSchemeConfig::default());
        add(&of.only_safe_schemes, predicate("envoy.internal_redirect_predicates.safe_cross_scheme", safe));
        let previous = pb::Any::pack(PreviousRoutesConfig::default());
        add(&of.not_to_previous_routes, predicate("envoy.internal_redirect_predicates.previous_routes", previous));
    });
    pb::route::InternalRedirectPolicy {
        max_internal_redirects: t.optional("max_internal_redirects", &of.max).copied(),
        redirect_response_codes: t.sourced_list("redirect_response_codes", &of.codes, |code, _| *code),
        allow_cross_scheme_redirect: of.cross_scheme.as_ref().is_some_and(|on| *t.implicit("allow_cross_scheme_redirect", on)),
        predicates,
        ..Default::default()
    }
}

fn mirror(mirror: &MirrorPolicy, t: &mut Trace) -> RequestMirrorPolicy {
    t.at("runtime_fraction", |t| t.here(mirror.percent.origin));
    RequestMirrorPolicy {
        cluster: text(t.field("cluster", &mirror.cluster)),
        runtime_fraction: Some(runtime_percent(mirror.percent.value, None)),
        ..Default::default()
    }
}

pub(super) fn rate_limit(descriptor: &RateLimitDescriptor, cx: &Context<'_>, t: &mut Trace) -> pb::route::RateLimit {
    pb::route::RateLimit {
        stage: descriptor.stage,
        actions: t.sourced_list("actions", &descriptor.actions, |action, _| pb::route::rate_limit::Action {
            action_specifier: Some(rate_limit_action(action, cx)),
        }),
        ..Default::default()
    }
}

fn rate_limit_action(action: &RateLimitAction, cx: &Context<'_>) -> ActionSpecifier {
    match action {
        RateLimitAction::SourceCluster => ActionSpecifier::SourceCluster(limit::SourceCluster {}),
        RateLimitAction::DestinationCluster => ActionSpecifier::DestinationCluster(limit::DestinationCluster {}),
        RateLimitAction::RemoteAddress => ActionSpecifier::RemoteAddress(limit::RemoteAddress {}),
        RateLimitAction::GenericKey { key, value } => {
            ActionSpecifier::GenericKey(limit::GenericKey { descriptor_key: text(key), descriptor_value: text(value), ..Default::default() })
        }
        RateLimitAction::RequestHeader { key, header } => ActionSpecifier::RequestHeaders(limit::RequestHeaders {
            descriptor_key: text(key),
            header_name: text(header.as_text()),
            ..Default::default()
        }),
        RateLimitAction::HeaderValueMatch { headers, expect_match, value } => ActionSpecifier::HeaderValueMatch(limit::HeaderValueMatch {
            descriptor_value: text(value),
            expect_match: Some(*expect_match),
            headers: headers.iter().map(|header| header_matcher(header, cx)).collect(),
            ..Default::default()
        }),
    }
}

pub(super) fn redirect(redirect: &Redirect, cx: &Context<'_>, t: &mut Trace) -> pb::route::RedirectAction {
    pb::route::RedirectAction {
        scheme_rewrite_specifier: match t.optional("scheme_redirect", &redirect.scheme) {
            Some(scheme) => Some(SchemeRewriteSpecifier::SchemeRedirect(text(scheme))),
            None => t.optional("https_redirect", &redirect.https).map(|https| SchemeRewriteSpecifier::HttpsRedirect(*https)),
        },
        port_redirect: t.optional("port_redirect", &redirect.port).map_or(0, |port| u32::from(*port)),
        host_redirect: t.optional("host_redirect", &redirect.host).map(text).unwrap_or_default(),
        path_rewrite_specifier: redirect.path.as_ref().map(|path| redirect_path(path, cx, t)),
        response_code: redirect.code.as_ref().map(|code| redirect_code(code, t) as i32).unwrap_or_default(),
        ..Default::default()
    }
}

fn redirect_path(path: &Sourced<RedirectPath>, cx: &Context<'_>, t: &mut Trace) -> PathRewriteSpecifier {
    let (name, specifier) = match &path.value {
        RedirectPath::Full(path) => ("path_redirect", PathRewriteSpecifier::PathRedirect(text(path))),
        RedirectPath::Prefix(prefix) => ("prefix_rewrite", PathRewriteSpecifier::PrefixRewrite(text(prefix))),
        RedirectPath::Regex(rewrite) => ("regex_rewrite", PathRewriteSpecifier::RegexRewrite(regex_rewrite(rewrite, cx))),
    };
    t.field(name, path);
    if let RedirectPath::Regex(rewrite) = &path.value {
        t.at(name, |t| t.here(&rewrite.pattern_also.0));
    }
    specifier
}

fn redirect_code(code: &Sourced<RedirectCode>, t: &mut Trace) -> RedirectResponseCode {
    if code.value != RedirectCode::MovedPermanently {
        t.field("response_code", code);
    }
    match code.value {
        RedirectCode::MovedPermanently => RedirectResponseCode::MovedPermanently,
        RedirectCode::Found => RedirectResponseCode::Found,
        RedirectCode::SeeOther => RedirectResponseCode::SeeOther,
        RedirectCode::TemporaryRedirect => RedirectResponseCode::TemporaryRedirect,
        RedirectCode::PermanentRedirect => RedirectResponseCode::PermanentRedirect,
    }
}
