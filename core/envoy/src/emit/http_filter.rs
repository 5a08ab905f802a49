//! Emits `HttpFilter` with the typed configuration of each filter.

use super::base::{duration, grpc_service, header_value, headers_to_add, inline, named, runtime_percent, string_matcher, strings, text};
use super::route_match::header_matcher;
use super::{Context, pb, secret};
use alloc::vec;
use alloc::vec::Vec;
use chancery_base::ir::{
    AuthorizationTransport, Body, Compression, Compressor, ExtAuthz, GrpcStats, GrpcStatsMethods, HeaderMatch, HeaderName, HttpFilter,
    HttpFilterKind, IpRange, IpSource, Jwks, JwtProvider, LocalRateLimit, LuaScripts, NameMatch, RateLimitService, Rbac, RbacAction, StringMatch,
};
use chancery_base::output_map::Trace;
use chancery_base::resource::Sourced;
use chancery_text::Str;
use pb::Any;
use pb::http_filter as filter;

pub(super) fn http_filter(filter: &HttpFilter, cx: &Context<'_>, t: &mut Trace) -> pb::hcm::HttpFilter {
    t.here(&filter.origins);
    let config = t.at("typed_config", |t| config(&filter.kind, cx, t));
    pb::hcm::HttpFilter { name: text(&filter.name), config_type: Some(pb::hcm::http_filter::ConfigType::TypedConfig(config)), ..Default::default() }
}

fn config(kind: &HttpFilterKind, cx: &Context<'_>, t: &mut Trace) -> Any {
    match kind {
        HttpFilterKind::Cors => Any::pack(filter::cors::v3::Cors::default()),
        HttpFilterKind::GrpcWeb => Any::pack(filter::grpc_web::v3::GrpcWeb::default()),
        HttpFilterKind::GrpcHttp1Bridge => Any::pack(filter::grpc_http1_bridge::v3::Config::default()),
        HttpFilterKind::GrpcStats(stats) => Any::pack(grpc_stats(stats, t)),
        HttpFilterKind::Lua(scripts) => Any::pack(lua(scripts, cx, t)),
        HttpFilterKind::Compressor(compressor) => Any::pack(compression(compressor, cx, t)),
        HttpFilterKind::Buffer(bytes) => Any::pack(filter::buffer::v3::Buffer { max_request_bytes: Some(*t.field("max_request_bytes", bytes)) }),
        HttpFilterKind::Rbac(rbac) => Any::pack(rbac.as_ref().map(|rbac| access(rbac, cx, t)).unwrap_or_default()),
        HttpFilterKind::ExtAuthz(authz) => Any::pack(ext_authz(authz, cx, t)),
        HttpFilterKind::RateLimit(service) => Any::pack(rate_limit(service, t)),
        HttpFilterKind::LocalRateLimit(limit) => Any::pack(local_rate_limit(limit, cx, t)),
        HttpFilterKind::Jwt(providers) => Any::pack(jwt(providers, cx, t)),
        HttpFilterKind::HealthCheck { path } => Any::pack(health_check(path, cx)),
        HttpFilterKind::Router { start_child_span, suppress_envoy_headers } => Any::pack(filter::router::v3::Router {
            start_child_span: start_child_span
                .as_ref()
                .filter(|_| cx.spelling.child_span_on_router)
                .is_some_and(|flag| *t.implicit("start_child_span", flag)),
            suppress_envoy_headers: suppress_envoy_headers.as_ref().is_some_and(|flag| *t.implicit("suppress_envoy_headers", flag)),
            ..Default::default()
        }),
    }
}

fn grpc_stats(stats: &GrpcStats, t: &mut Trace) -> filter::grpc_stats::v3::FilterConfig {
    use filter::grpc_stats::v3::filter_config::PerMethodStatSpecifier;
    use pb::base::{GrpcMethodList, grpc_method_list::Service};
    let methods = match &stats.methods {
        GrpcStatsMethods::Unsaid => None,
        GrpcStatsMethods::All(all) => Some(PerMethodStatSpecifier::StatsForAllMethods(*t.field("stats_for_all_methods", all))),
        GrpcStatsMethods::These(services) => {
            Some(PerMethodStatSpecifier::IndividualMethodStatsAllowlist(t.at("individual_method_stats_allowlist", |t| GrpcMethodList {
                services: t.sourced_list("services", services, |(name, methods), _| Service {
                    name: text(name),
                    method_names: methods.iter().map(text).collect(),
                }),
            })))
        }
    };
    filter::grpc_stats::v3::FilterConfig {
        per_method_stat_specifier: methods,
        emit_filter_state: stats.filter_state,
        enable_upstream_stats: *t.implicit("enable_upstream_stats", &stats.upstream),
        ..Default::default()
    }
}

fn lua(scripts: &LuaScripts, cx: &Context<'_>, t: &mut Trace) -> filter::lua::v3::Lua {
    let source_codes =
        t.at("source_codes", |t| scripts.named.iter().map(|(name, script)| (text(name), inline(t.field(name.as_str(), script).as_str()))).collect());
    let mut out = filter::lua::v3::Lua { source_codes, ..Default::default() };
    if cx.spelling.lua_inline_code {
        out.inline_code = scripts.default.as_ref().map(|script| text(t.implicit("inline_code", script))).unwrap_or_default();
    } else {
        out.default_source_code = t.optional("default_source_code", &scripts.default).map(|script| inline(script));
    }
    out
}

fn compression(compressor: &Compressor, cx: &Context<'_>, t: &mut Trace) -> filter::compressor::v3::Compressor {
    use filter::compressor::v3::compressor::{CommonDirectionConfig, ResponseDirectionConfig};
    use pb::gzip::gzip::{CompressionLevel, CompressionStrategy};
    let by_text = cx.spelling.compressor_content_type;
    let library = t.at("compressor_library", |t| {
        t.at("typed_config", |t| match compressor.compression.value {
            Compression::Brotli => Any::pack(pb::brotli::Brotli::default()),
            Compression::Zstd => Any::pack(pb::zstd::Zstd::default()),
            Compression::Gzip => Any::pack(pb::gzip::Gzip {
                memory_level: t.optional("memory_level", &compressor.memory_level).copied(),
                compression_level: compressor
                    .compression_level
                    .as_ref()
                    .and_then(|level| named("compression_level", level, CompressionLevel::from_str_name, t))
                    .unwrap_or_default(),
                compression_strategy: compressor
                    .compression_strategy
                    .as_ref()
                    .and_then(|strategy| named("compression_strategy", strategy, CompressionStrategy::from_str_name, t))
                    .unwrap_or_default(),
                window_bits: t.optional("window_bits", &compressor.window_bits).copied(),
                ..Default::default()
            }),
        })
    });
    t.at("compressor_library", |t| t.field("name", &compressor.compression));
    let response = t.at("response_direction_config", |t| ResponseDirectionConfig {
        common_config: Some(t.at("common_config", |t| CommonDirectionConfig {
            min_content_length: t.optional("min_content_length", &compressor.min_content_length).copied(),
            content_type: strings("content_type", if by_text { &compressor.content_types } else { &[] }, t),
            content_type_matcher: t.sourced_list("content_type_matcher", if by_text { &[][..] } else { &compressor.content_types }, |of, _| {
                string_matcher(&StringMatch::Exact(of.clone()), false, cx).unwrap_or_default()
            }),
            ..Default::default()
        })),
        disable_on_etag_header: compressor.disable_on_etag.as_ref().is_some_and(|flag| *t.implicit("disable_on_etag_header", flag)),
        remove_accept_encoding_header: compressor
            .remove_accept_encoding
            .as_ref()
            .is_some_and(|flag| *t.implicit("remove_accept_encoding_header", flag)),
        ..Default::default()
    });
    filter::compressor::v3::Compressor {
        compressor_library: Some(pb::base::TypedExtensionConfig { name: text(&compressor.library), typed_config: Some(library) }),
        response_direction_config: Some(response),
        ..Default::default()
    }
}

pub(super) fn access(rbac: &Rbac, cx: &Context<'_>, t: &mut Trace) -> filter::rbac::v3::Rbac {
    use pb::rbac::{Permission, Policy, Principal, permission, principal::Identifier, principal::Set, rbac::Action};
    let action = match rbac.action {
        RbacAction::Allow => Action::Allow,
        RbacAction::Deny => Action::Deny,
    };
    let principals = t.at("rules", |t| {
        t.at("policies", |t| {
            t.at(&rbac.policy, |t| match &rbac.principals[..] {
                several @ [_, _, ..] if cx.spelling.rbac_or_ids => t.at("principals", |t| {
                    let ids = t.item(0, |t| t.at("or_ids", |t| t.sourced_list("ids", several, |range, _| principal(range))));
                    vec![Principal { identifier: Some(Identifier::OrIds(Set { ids })) }]
                }),
                principals => t.sourced_list("principals", principals, |range, _| principal(range)),
            })
        })
    });
    let policies = (!principals.is_empty()).then(|| {
        let permission = Permission { rule: Some(permission::Rule::Any(true)) };
        (text(&rbac.policy), Policy { permissions: vec![permission], principals, ..Default::default() })
    });
    filter::rbac::v3::Rbac {
        rules: Some(pb::rbac::Rbac { action: action as i32, policies: policies.into_iter().collect(), ..Default::default() }),
        ..Default::default()
    }
}

fn principal(range: &IpRange) -> pb::rbac::Principal {
    use pb::rbac::principal::Identifier;
    let cidr = pb::base::CidrRange { address_prefix: text(&range.address), prefix_len: Some(range.prefix_length) };
    pb::rbac::Principal {
        identifier: Some(match range.source {
            IpSource::Remote => Identifier::RemoteIp(cidr),
            IpSource::Peer => Identifier::DirectRemoteIp(cidr),
        }),
    }
}

fn ext_authz(authz: &ExtAuthz, cx: &Context<'_>, t: &mut Trace) -> filter::ext_authz::v3::ExtAuthz {
    use filter::ext_authz::v3::ext_authz::Services;
    let mut config = filter::ext_authz::v3::ExtAuthz {
        clear_route_cache: authz.clear_route_cache,
        include_peer_certificate: authz.include_peer_certificate,
        with_request_body: t.within("with_request_body", &authz.body, request_body),
        failure_mode_allow: authz.failure_mode_allow.as_ref().is_some_and(|flag| *t.implicit("failure_mode_allow", flag)),
        status_on_error: t.optional("status_on_error", &authz.status_on_error).map(|status| pb::kind::HttpStatus { code: status.get().into() }),
        ..Default::default()
    };
    if cx.spelling.ext_authz_version_of_http || matches!(authz.transport, AuthorizationTransport::Grpc { .. }) {
        config.transport_api_version = t.own("transport_api_version", super::base::V3);
    }
    config.services = Some(match &authz.transport {
        AuthorizationTransport::Grpc { authority } => Services::GrpcService(t.at("grpc_service", |t| {
            let authority = t.at("envoy_grpc", |t| {
                t.field("cluster_name", &authz.cluster);
                t.optional("authority", authority)
            });
            grpc_service(&authz.cluster, authority, t.optional("timeout", &authz.timeout).map(duration))
        })),
        AuthorizationTransport::Http { allowed_request_headers, .. } => {
            if !cx.spelling.ext_authz_headers_on_service && !allowed_request_headers.is_empty() {
                config.allowed_headers = Some(t.at("allowed_headers", |t| patterns(allowed_request_headers, cx, t)));
            }
            Services::HttpService(t.at("http_service", |t| authorization_service(authz, cx, t)))
        }
    });
    config
}

fn request_body(body: &Body, t: &mut Trace) -> filter::ext_authz::v3::BufferSettings {
    filter::ext_authz::v3::BufferSettings {
        max_request_bytes: body.max_bytes.as_ref().map(|bytes| *t.implicit("max_request_bytes", bytes)).unwrap_or_default(),
        allow_partial_message: body.allow_partial.as_ref().is_some_and(|flag| *t.implicit("allow_partial_message", flag)),
        pack_as_bytes: body.pack_as_bytes.as_ref().is_some_and(|flag| *t.implicit("pack_as_bytes", flag)),
    }
}

fn patterns(names: &[Sourced<NameMatch>], cx: &Context<'_>, t: &mut Trace) -> pb::matcher::ListStringMatcher {
    let patterns = t.sourced_list("patterns", names, |of, _| string_matcher(&of.name, of.ignore_case, cx).unwrap_or_default());
    pb::matcher::ListStringMatcher { patterns }
}

fn authorization_service(authz: &ExtAuthz, cx: &Context<'_>, t: &mut Trace) -> filter::ext_authz::v3::HttpService {
    use filter::ext_authz::v3::{AuthorizationRequest, AuthorizationResponse, HttpService};
    let AuthorizationTransport::Http { uri, path_prefix, allowed_request_headers, allowed_upstream_headers, allowed_client_headers, headers_to_add } =
        &authz.transport
    else {
        return HttpService::default();
    };
    let on_service = cx.spelling.ext_authz_headers_on_service;
    let list = |name: &str, names: &[Sourced<NameMatch>], t: &mut Trace| (!names.is_empty()).then(|| t.at(name, |t| patterns(names, cx, t)));
    HttpService {
        server_uri: Some(t.at("server_uri", |t| pb::base::HttpUri {
            uri: {
                t.at("uri", |t| t.here(path_prefix.as_ref().and_then(|prefix| prefix.origin)));
                text(uri)
            },
            timeout: Some(t.optional("timeout", &authz.timeout).map(duration).unwrap_or_default()),
            http_upstream_type: Some(pb::base::http_uri::HttpUpstreamType::Cluster(text(t.field("cluster", &authz.cluster)))),
        })),
        path_prefix: t.optional("path_prefix", path_prefix).map(text).unwrap_or_default(),
        authorization_request: (on_service || !headers_to_add.is_empty()).then(|| {
            t.at("authorization_request", |t| AuthorizationRequest {
                allowed_headers: list("allowed_headers", if on_service { allowed_request_headers } else { &[] }, t),
                headers_to_add: t.sourced_list("headers_to_add", headers_to_add, |(name, value), _| header_value(name, value)),
            })
        }),
        authorization_response: (!allowed_upstream_headers.is_empty() || !allowed_client_headers.is_empty()).then(|| {
            t.at("authorization_response", |t| AuthorizationResponse {
                allowed_upstream_headers: list("allowed_upstream_headers", allowed_upstream_headers, t),
                allowed_client_headers: list("allowed_client_headers", allowed_client_headers, t),
                ..Default::default()
            })
        }),
        ..Default::default()
    }
}

fn rate_limit(service: &RateLimitService, t: &mut Trace) -> filter::ratelimit::v3::RateLimit {
    use filter::ratelimit::v3::rate_limit::XRateLimitHeadersRfcVersion;
    filter::ratelimit::v3::RateLimit {
        domain: text(t.field("domain", &service.domain)),
        request_type: service.request_type.as_ref().map(|kind| text(t.own("request_type", kind))).unwrap_or_default(),
        timeout: t.optional("timeout", &service.timeout).map(duration),
        enable_x_ratelimit_headers: match &service.x_ratelimit_headers {
            Some(on) if *t.implicit("enable_x_ratelimit_headers", on) => XRateLimitHeadersRfcVersion::DraftVersion03,
            _ => XRateLimitHeadersRfcVersion::Off,
        } as i32,
        failure_mode_deny: *t.implicit("failure_mode_deny", &service.failure_mode_deny),
        rate_limited_as_resource_exhausted: *t.implicit("rate_limited_as_resource_exhausted", &service.resource_exhausted),
        rate_limit_service: Some(t.at("rate_limit_service", |t| {
            let authority = t.at("grpc_service", |t| {
                t.at("envoy_grpc", |t| {
                    t.field("cluster_name", &service.cluster);
                    t.optional("authority", &service.authority)
                })
            });
            pb::rate_limit::RateLimitServiceConfig {
                grpc_service: Some(grpc_service(&service.cluster, authority, None)),
                transport_api_version: t.own("transport_api_version", super::base::V3),
            }
        })),
        ..Default::default()
    }
}

pub(super) fn local_rate_limit(limit: &LocalRateLimit, cx: &Context<'_>, t: &mut Trace) -> filter::local_ratelimit::v3::LocalRateLimit {
    // Without a bucket there is nothing to enforce.
    let all = limit.bucket.as_ref().map(|_| runtime_percent(100, None));
    filter::local_ratelimit::v3::LocalRateLimit {
        stat_prefix: text(&limit.stat_prefix),
        token_bucket: limit.bucket.as_ref().map(|bucket| {
            t.at("token_bucket", |t| pb::kind::TokenBucket {
                max_tokens: *t.field("max_tokens", &bucket.max_tokens),
                tokens_per_fill: Some(*t.field("tokens_per_fill", &bucket.tokens_per_fill)),
                fill_interval: Some(duration(t.field("fill_interval", &bucket.fill_interval))),
            })
        }),
        status: t.optional("status", &limit.status).map(|status| pb::kind::HttpStatus { code: status.get().into() }),
        response_headers_to_add: headers_to_add("response_headers_to_add", &limit.response_headers, cx, t),
        filter_enabled: all.clone(),
        filter_enforced: all,
        ..Default::default()
    }
}

/// Each provider can be required by its name.
fn jwt(providers: &[Sourced<JwtProvider>], cx: &Context<'_>, t: &mut Trace) -> filter::jwt_authn::v3::JwtAuthentication {
    use filter::jwt_authn::v3::{JwtAuthentication, JwtRequirement, jwt_requirement::RequiresType};
    let by_name = |name: &Str| JwtRequirement { requires_type: Some(RequiresType::ProviderName(text(name))) };
    JwtAuthentication {
        requirement_map: t.at("requirement_map", |t| providers.iter().map(|of| (text(&of.name), by_name(t.field(&of.name, &of.name)))).collect()),
        providers: t.at("providers", |t| {
            let each = providers.iter().map(|of| {
                let provider = t.at(&of.name, |t| {
                    t.here(of.origin);
                    jwt_provider(of, cx, t)
                });
                (text(&of.name), provider)
            });
            each.collect()
        }),
        ..Default::default()
    }
}

fn jwt_provider(of: &JwtProvider, cx: &Context<'_>, t: &mut Trace) -> filter::jwt_authn::v3::JwtProvider {
    use filter::jwt_authn::v3::{RemoteJwks, jwt_provider::JwksSourceSpecifier};
    let source = match &of.jwks {
        Jwks::Public(keys) => JwksSourceSpecifier::LocalJwks(inline(t.field("local_jwks", keys).as_str())),
        Jwks::Secret(reference) => {
            JwksSourceSpecifier::LocalJwks(secret::source(core::slice::from_ref(t.field("local_jwks", reference)), cx.secrets))
        }
        Jwks::Remote { uri, cluster, timeout, cache } => JwksSourceSpecifier::RemoteJwks(t.at("remote_jwks", |t| RemoteJwks {
            http_uri: Some(t.at("http_uri", |t| pb::base::HttpUri {
                uri: text(t.field("uri", uri)),
                timeout: Some(duration(t.field("timeout", timeout))),
                http_upstream_type: Some(pb::base::http_uri::HttpUpstreamType::Cluster(text(t.field("cluster", cluster)))),
            })),
            cache_duration: t.optional("cache_duration", cache).map(duration),
            ..Default::default()
        })),
    };
    filter::jwt_authn::v3::JwtProvider {
        issuer: t.optional("issuer", &of.issuer).map(text).unwrap_or_default(),
        audiences: strings("audiences", &of.audiences, t),
        forward: *t.implicit("forward", &of.forward),
        jwks_source_specifier: Some(source),
        ..Default::default()
    }
}

fn health_check(path: &Str, cx: &Context<'_>) -> filter::health_check::v3::HealthCheck {
    let on_path =
        HeaderMatch { name: HeaderName::PATH, value: StringMatch::Exact(path.clone()), invert: false, ignore_case: false, missing_as_empty: false };
    let headers: Vec<_> = vec![header_matcher(&on_path, cx)];
    filter::health_check::v3::HealthCheck { pass_through_mode: Some(false), headers, ..Default::default() }
}
