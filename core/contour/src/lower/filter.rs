//! Lowers HTTP filters in Contour's order (Contour `internal/envoy/v3/listener.go`). Does not lower per-route settings; see `policy`.

use super::http::ManagerFor;
use super::matching::string_match;
use super::policy::COOKIE_SCRIPT;
use super::{Lowering, name, setting, setting_origin, timeout};
use crate::kinds::Kind;
use crate::model::{Authorization, HeaderNameMatch, Jwks, MatchType, Timeout};
use crate::processor::policy;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use chancery_base::ir::{
    AuthorizationTransport, Body, Compression, Compressor, ExtAuthz, GrpcStats, GrpcStatsMethods, HttpFilter, HttpFilterKind, JwtProvider,
    LocalRateLimit, LuaScripts, NameMatch, RateLimitService, StatusCode, holds_keys,
};
use chancery_base::resource::{Origin, Sourced};
use chancery_kubernetes::cursor::Cursor;
use chancery_text::Str;

pub(super) const CORS: &str = "envoy.filters.http.cors";
pub(super) const LOCAL_RATE_LIMIT: &str = "envoy.filters.http.local_ratelimit";
pub(super) const RATE_LIMIT: &str = "envoy.filters.http.ratelimit";
pub(super) const RBAC: &str = "envoy.filters.http.rbac";
pub(super) const EXT_AUTHZ: &str = "envoy.filters.http.ext_authz";
pub(super) const JWT: &str = "envoy.filters.http.jwt_authn";
pub(super) const LUA: &str = "envoy.filters.http.lua";

/// Compressed media types: Envoy's own list, and gRPC-Web.
const COMPRESSED: [&str; 25] = [
    "text/html",
    "text/plain",
    "text/css",
    "application/javascript",
    "application/x-javascript",
    "text/javascript",
    "text/x-javascript",
    "text/ecmascript",
    "text/js",
    "text/jscript",
    "text/x-js",
    "application/ecmascript",
    "application/x-json",
    "application/xml",
    "application/json",
    "image/svg+xml",
    "text/xml",
    "application/xhtml+xml",
    "application/grpc-web",
    "application/grpc-web+proto",
    "application/grpc-web+json",
    "application/grpc-web+thrift",
    "application/grpc-web-text",
    "application/grpc-web-text+proto",
    "application/grpc-web-text+thrift",
];

/// An ExtensionService in Contour's configuration, with its own settings.
pub(super) struct ExtensionSettings {
    pub(super) cluster: Sourced<Str>,
    /// `:authority` sent to it.
    pub(super) authority: Sourced<Str>,
    /// Its response timeout.
    pub(super) timeout: Sourced<Timeout>,
}

impl Lowering<'_> {
    pub(super) fn http_filters(&mut self, of: ManagerFor<'_>) -> Vec<Arc<HttpFilter>> {
        let mut filters = Vec::new();
        if let ManagerFor::Host(_) = of {
            filters.push(filter(LUA, HttpFilterKind::Lua(LuaScripts { default: Some(script(include_str!("misdirected.lua"))), named: Vec::new() })));
        }
        filters.extend(self.compressor());
        filters.push(filter("envoy.filters.http.grpc_web", HttpFilterKind::GrpcWeb));
        let statistics = GrpcStats { methods: GrpcStatsMethods::Unsaid, upstream: Sourced::built_in(true), filter_state: true };
        filters.push(filter("envoy.filters.http.grpc_stats", HttpFilterKind::GrpcStats(statistics)));
        filters.push(filter(CORS, HttpFilterKind::Cors));
        let unlimited = LocalRateLimit { stat_prefix: "http".into(), bucket: None, status: None, response_headers: Default::default() };
        filters.push(filter(LOCAL_RATE_LIMIT, HttpFilterKind::LocalRateLimit(unlimited)));
        let cookies = (Str::new_static(COOKIE_SCRIPT), script(include_str!("cookie_rewrite.lua")));
        filters.push(filter(LUA, HttpFilterKind::Lua(LuaScripts { default: None, named: vec![cookies] })));
        filters.push(filter(RBAC, HttpFilterKind::Rbac(None)));
        match of {
            ManagerFor::Plain => filters.extend(self.global_authorization()),
            ManagerFor::Host(host) => {
                filters.extend(self.jwt(&host.jwt_providers));
                filters.extend(host.authorization.as_ref().map(authorization_filter));
            }
            ManagerFor::Fallback(host) => filters.extend(host.authorization.as_ref().map(authorization_filter)),
        }
        filters.extend(self.rate_limiting());
        let traced = self.at("tracing").some().map(|at| Sourced::new(true, setting_origin(at)));
        filters.push(filter("router", HttpFilterKind::Router { start_child_span: traced, suppress_envoy_headers: None }));
        filters.into_iter().map(Arc::new).collect()
    }

    fn compressor(&self) -> Option<HttpFilter> {
        let at = self.at("envoy.listener.compression").field("algorithm");
        let (compression, library) = match at.str() {
            "disabled" => return None,
            "brotli" => (Compression::Brotli, "brotli"),
            "zstd" => (Compression::Zstd, "zstd"),
            _ => (Compression::Gzip, "gzip"),
        };
        let compressor = Compressor {
            compression: setting(compression, at),
            library: Str::new_static(library),
            content_types: COMPRESSED.iter().map(|kind| Sourced::built_in(Str::new_static(kind))).collect(),
            ..Compressor::default()
        };
        let origins = at.some().map(setting_origin).into_iter().collect();
        Some(HttpFilter { name: "envoy.filters.http.compressor".into(), kind: HttpFilterKind::Compressor(compressor), origins })
    }

    /// The ExtensionService that a field of Contour's configuration names.
    pub(super) fn extension_settings(&self, at: Cursor<'_>) -> ExtensionSettings {
        let (namespace, name) = (at.field("namespace").str(), at.field("name").str());
        let cluster = format!("extension/{namespace}/{name}");
        let object = self.source.cluster.get(Kind::ExtensionService, namespace, name);
        let timeout = object.map(|object| object.spec().field("timeoutPolicy").field("response"));
        let sni = object.and_then(|object| object.spec().field("validation").field("subjectName").text());
        ExtensionSettings {
            authority: sni.unwrap_or_else(|| setting(cluster.replace('/', ".").into(), at)),
            cluster: setting(cluster.into(), at),
            timeout: timeout.map(|at| Sourced::new(policy::timeout(at.str()).unwrap_or_default(), at.origin())).unwrap_or_default(),
        }
    }

    /// The filter for hosts without TLS; hosts with TLS have their own. The response timeout comes only from the ExtensionService.
    fn global_authorization(&self) -> Option<HttpFilter> {
        let at = self.at("globalExtAuth").some()?;
        let service = self.extension_settings(at.field("extensionRef"));
        let settings = at.field("httpSettings");
        let truth = |at: Cursor<'_>| Some(setting(at.is_true(), at));
        let transport = if at.field("serviceType").str() == "http" {
            AuthorizationTransport::Http {
                uri: Str::new_static(DUMMY_URI),
                path_prefix: settings.field("pathPrefix").text().map(|prefix| setting(prefix.value, settings.field("pathPrefix"))),
                allowed_request_headers: written_names(settings.field("allowedAuthorizationHeaders")),
                allowed_upstream_headers: written_names(settings.field("allowedUpstreamHeaders")),
                allowed_client_headers: Vec::new(),
                headers_to_add: Vec::new(),
            }
        } else {
            AuthorizationTransport::Grpc { authority: Some(service.authority) }
        };
        let body = at.field("withRequestBody").some().map(|body| {
            let most = body.field("maxRequestBytes");
            let bytes = most.u32().map(|bytes| bytes.value).filter(|bytes| *bytes != 0).unwrap_or(1024);
            let body_of = Body {
                max_bytes: Some(setting(bytes, most)),
                allow_partial: truth(body.field("allowPartialMessage")),
                pack_as_bytes: truth(body.field("packAsBytes")),
            };
            setting(body_of, body)
        });
        Some(ext_authz(transport, service.cluster, timeout(&service.timeout), truth(at.field("failOpen")), body, setting_origin(at)))
    }

    fn rate_limiting(&mut self) -> Option<HttpFilter> {
        let at = self.at("rateLimitService").some()?;
        let service = self.extension_settings(at.field("extensionService"));
        let Some(domain) = self.text("rateLimitService.domain") else {
            self.refuse("the domain of the rate limit service must not be empty", at.field("domain").origin());
            return None;
        };
        let flag = |name: &str| setting(at.field(name).is_true(), at.field(name));
        let limits = RateLimitService {
            domain,
            cluster: service.cluster,
            authority: Some(service.authority),
            request_type: None,
            timeout: timeout(&service.timeout),
            x_ratelimit_headers: Some(flag("enableXRateLimitHeaders")),
            failure_mode_deny: flag("failOpen").map(|open| !open),
            resource_exhausted: flag("enableResourceExhaustedCode"),
        };
        Some(HttpFilter { name: RATE_LIMIT.into(), kind: HttpFilterKind::RateLimit(limits), origins: vec![setting_origin(at)] })
    }

    /// The providers by name; the last of several with one name wins. Envoy would reject a provider without keys; routes that use it respond 403.
    fn jwt(&mut self, providers: &[Sourced<crate::model::JwtProvider>]) -> Option<HttpFilter> {
        let origins: Vec<Origin> = providers.iter().filter_map(|provider| provider.origin).collect();
        let mut by_name: BTreeMap<Str, Sourced<JwtProvider>> = BTreeMap::new();
        for provider in providers {
            let Some(jwks) = self.jwks(&provider.jwks) else { continue };
            let lowered = JwtProvider {
                name: provider.name.clone(),
                issuer: Some(provider.issuer.clone()).filter(|issuer| !issuer.value.is_empty()),
                audiences: provider.audiences.clone(),
                forward: provider.forward,
                jwks,
            };
            by_name.insert(provider.name.value.clone(), Sourced::new(lowered, provider.origin));
        }
        let kind = HttpFilterKind::Jwt(by_name.into_values().collect());
        (!providers.is_empty()).then(|| HttpFilter { name: JWT.into(), kind, origins })
    }

    fn jwks(&mut self, jwks: &Jwks) -> Option<chancery_base::ir::Jwks> {
        match jwks {
            Jwks::Remote { uri, timeout, cache, cluster } => Some(chancery_base::ir::Jwks::Remote {
                uri: uri.clone(),
                cluster: Sourced::new(name::dns_cluster(cluster), uri.origin),
                timeout: *timeout,
                cache: *cache,
            }),
            Jwks::Local(material, key) => {
                let text = core::str::from_utf8(material.get(key)).unwrap_or_default();
                if !holds_keys(text) {
                    self.refuse(format!("Secret {}/{} has no keys under {key}", material.namespace, material.name), material.origin);
                    return None;
                }
                Some(if super::policy::is_public(text) {
                    chancery_base::ir::Jwks::Public(Sourced::new(text.into(), material.origin))
                } else {
                    chancery_base::ir::Jwks::Secret(Sourced::new(self.materials.reference(material, key), material.origin))
                })
            }
        }
    }
}

/// Envoy requires a URI, but calls the cluster.
const DUMMY_URI: &str = "http://dummy/";

fn filter(name: &'static str, kind: HttpFilterKind) -> HttpFilter {
    HttpFilter { name: Str::new_static(name), kind, origins: Vec::new() }
}

/// The scripts are part of the answer, to the letter.
fn script(text: &'static str) -> Sourced<Str> {
    Sourced::built_in(Str::new_static(text))
}

fn authorization_filter(of: &Sourced<Authorization>) -> HttpFilter {
    let service = &of.service;
    let origin = of.origin;
    let cluster = Sourced::new(service.name.clone(), origin);
    let transport = if of.http {
        AuthorizationTransport::Http {
            uri: Str::new_static(DUMMY_URI),
            path_prefix: Some(of.path_prefix.clone()).filter(|prefix| !prefix.value.is_empty()),
            allowed_request_headers: names(&of.allowed_request_headers),
            allowed_upstream_headers: names(&of.allowed_upstream_headers),
            allowed_client_headers: Vec::new(),
            headers_to_add: Vec::new(),
        }
    } else {
        let plain = Sourced::new(service.name.replace('/', ".").into(), origin);
        AuthorizationTransport::Grpc { authority: Some(if service.sni.value.is_empty() { plain } else { service.sni.clone() }) }
    };
    let body = of.body.as_ref().map(|body| {
        let lowered = Body { max_bytes: Some(body.max_bytes), allow_partial: Some(body.allow_partial), pack_as_bytes: Some(body.pack_as_bytes) };
        Sourced::new(lowered, body.origin)
    });
    ext_authz(transport, cluster, timeout(&of.response_timeout), Some(of.fail_open), body, origin)
}

fn ext_authz(
    transport: AuthorizationTransport,
    cluster: Sourced<Str>,
    timeout: Option<Sourced<core::time::Duration>>,
    failure_mode_allow: Option<Sourced<bool>>,
    body: Option<Sourced<Body>>,
    origin: impl Into<Option<Origin>>,
) -> HttpFilter {
    let authz = ExtAuthz {
        transport,
        cluster,
        timeout,
        include_peer_certificate: true,
        clear_route_cache: true,
        body,
        failure_mode_allow,
        status_on_error: Some(Sourced::built_in(StatusCode::FORBIDDEN)),
    };
    HttpFilter { name: EXT_AUTHZ.into(), kind: HttpFilterKind::ExtAuthz(authz), origins: origin.into().into_iter().collect() }
}

fn names(of: &[Sourced<HeaderNameMatch>]) -> Vec<Sourced<NameMatch>> {
    let lowered = |name: &HeaderNameMatch| NameMatch { name: string_match(name.match_type, &name.value), ignore_case: name.ignore_case };
    of.iter().map(|name| Sourced::new(lowered(name), name.origin)).collect()
}

/// Names as a field lists them.
fn written_names(at: Cursor<'_>) -> Vec<Sourced<NameMatch>> {
    let kinds = [("exact", MatchType::Exact), ("prefix", MatchType::Prefix), ("suffix", MatchType::Suffix), ("contains", MatchType::Contains)];
    let lowered = |item: Cursor<'_>| {
        let (field, kind) = kinds.into_iter().find(|(field, _)| !item.field(field).str().is_empty())?;
        let name = string_match(kind, &Str::new(item.field(field).str()));
        Some(setting(NameMatch { name, ignore_case: item.field("ignoreCase").is_true() }, item))
    };
    at.items().filter_map(lowered).collect()
}
