//! Lowers HTTP filters.
//!
//! Source of the behaviour: Emissary `python/ambassador/envoy/v3/v3httpfilter.py`.

use super::Lowering;
use crate::model::ambassador::Ambassador;
use crate::model::filter::FilterKind;
use crate::model::mapping::host_and_port;
use crate::model::{Auth, RateLimit};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::{AuthorizationTransport, Body, ExtAuthz, HttpFilter, HttpFilterKind, LuaScripts, NameMatch, RateLimitService, StringMatch};
use chancery_base::resource::{Origin, Rule, Sourced};
use chancery_text::Str;

/// Request headers that an authentication service always gets.
const REQUEST_HEADERS: [&str; 8] =
    ["authorization", "cookie", "from", "proxy-authorization", "user-agent", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto"];

/// Headers of its answer that are always kept.
const AUTHORIZATION_HEADERS: [&str; 5] = ["location", "authorization", "proxy-authenticate", "set-cookie", "www-authenticate"];

impl Lowering<'_, '_> {
    pub(super) fn http_filters(&mut self) -> Vec<Arc<HttpFilter>> {
        let model = self.model;
        let mut out = Vec::with_capacity(model.filters.len());
        for filter in &model.filters {
            let (name, kind) = match &filter.kind {
                FilterKind::GrpcHttp1Bridge => (filter.name.clone(), HttpFilterKind::GrpcHttp1Bridge),
                FilterKind::GrpcWeb => (filter.name.clone(), HttpFilterKind::GrpcWeb),
                FilterKind::GrpcStats(stats) => (filter.name.clone(), HttpFilterKind::GrpcStats(stats.clone())),
                FilterKind::Lua(script) => (filter.name.clone(), HttpFilterKind::Lua(always(script.clone()))),
                FilterKind::Gzip(compressor) => (filter.name.clone(), HttpFilterKind::Compressor(compressor.clone())),
                FilterKind::Buffer(limit) => (filter.name.clone(), HttpFilterKind::Buffer(*limit)),
                FilterKind::Rbac(rbac) => (filter.name.clone(), HttpFilterKind::Rbac(Some(rbac.clone()))),
                FilterKind::Cors => (filter.name.clone(), HttpFilterKind::Cors),
                FilterKind::Auth => match &model.auth {
                    Some(auth) => self.authentication(auth),
                    None => continue,
                },
                FilterKind::RateLimit => match model.rate_limit.as_ref().and_then(|limit| self.rate_limiting(limit)) {
                    Some(service) => (filter.name.clone(), HttpFilterKind::RateLimit(service)),
                    None => continue,
                },
                FilterKind::Router => (filter.name.clone(), self.router()),
            };
            out.push(Arc::new(HttpFilter { name, kind, origins: filter.origin.into_iter().collect() }));
        }
        out
    }

    fn router(&self) -> HttpFilterKind {
        HttpFilterKind::Router {
            start_child_span: self.model.tracing.as_ref().map(|tracing| Sourced::new(true, tracing.identity.origin)),
            suppress_envoy_headers: Ambassador::flag(self.model.ambassador.settings.suppress_envoy_headers.as_ref()),
        }
    }

    /// External authorization; a misconfigured service is replaced by a script that responds 500.
    fn authentication(&mut self, auth: &Auth) -> (Str, HttpFilterKind) {
        let model = self.model;
        if model.notices.has_error(&auth.identity.rkey) {
            let script = Sourced::new(Str::from(misconfigured(&auth.identity.rkey)), auth.identity.origin.map(|origin| origin.by(Rule::Derived)));
            return ("envoy.filters.http.lua".into(), HttpFilterKind::Lua(always(script)));
        }
        let spec = &auth.spec;
        let on = &auth.identity;
        let key = auth.cluster.as_str();
        let service = spec.auth_service.as_ref().and_then(|service| service.origin);
        let timeout = spec.timeout_ms.unwrap_or_else(|| Sourced::built_in(5000));
        let timeout = self.milliseconds(&timeout, "timeout_ms", on).unwrap_or_else(|_| Sourced::built_in(core::time::Duration::from_secs(5)));
        let transport = if auth.proto.value == "grpc" { AuthorizationTransport::Grpc { authority: None } } else { self.http_transport(auth, key) };
        let filter = ExtAuthz {
            transport,
            cluster: Sourced::new(model.envoy_name(key), service),
            timeout: Some(timeout),
            include_peer_certificate: false,
            clear_route_cache: true,
            body: self.body(auth),
            failure_mode_allow: spec.failure_mode_allow.filter(|allow| allow.value),
            status_on_error: spec.status_on_error.as_ref().and_then(|status| status.value.code.as_ref()).and_then(|code| self.status(code, on).ok()),
        };
        ("envoy.filters.http.ext_authz".into(), HttpFilterKind::ExtAuthz(filter))
    }

    fn http_transport(&self, auth: &Auth, cluster: &str) -> AuthorizationTransport {
        let tls = self.model.get_cluster(cluster).is_some_and(|cluster| cluster.tls.is_some());
        let prefix = auth.path_prefix.as_ref().map_or("", |prefix| prefix.value.as_str());
        let uri = format!("{}://{}", if tls { "https" } else { "http" }, prefix.strip_prefix('/').unwrap_or(prefix));
        let mut headers_to_add: Vec<Sourced<(Str, Str)>> = auth
            .spec
            .add_auth_headers
            .iter()
            .flat_map(|headers| headers.value.iter())
            .map(|(name, value)| Sourced::new((name.clone(), value.value.clone()), value.origin))
            .collect();
        if let Some(linkerd) = auth.add_linkerd_headers.as_ref().filter(|on| on.value) {
            headers_to_add.push(Sourced::new(("l5d-dst-override".into(), host_and_port(&uri).into()), linkerd.origin));
        }
        AuthorizationTransport::Http {
            path_prefix: auth.path_prefix.clone().filter(|prefix| !prefix.value.is_empty()),
            allowed_request_headers: allowed(&REQUEST_HEADERS, &auth.allowed_request_headers),
            allowed_upstream_headers: allowed(&AUTHORIZATION_HEADERS, &auth.allowed_authorization_headers),
            allowed_client_headers: allowed(&AUTHORIZATION_HEADERS, &auth.allowed_authorization_headers),
            headers_to_add,
            uri: uri.into(),
        }
    }

    fn body(&mut self, auth: &Auth) -> Option<Sourced<Body>> {
        if let Some(include) = &auth.spec.include_body {
            let max_bytes = include.value.max_bytes.as_ref().and_then(|bytes| self.unsigned(bytes, "max_bytes", &auth.identity).ok());
            return Some(Sourced::new(Body { max_bytes, allow_partial: include.value.allow_partial, pack_as_bytes: None }, include.origin));
        }
        let allow = auth.spec.allow_request_body.as_ref().filter(|allow| allow.value)?;
        let origin: Option<Origin> = allow.origin.map(|origin| origin.by(Rule::Derived));
        let body = Body { max_bytes: Some(Sourced::new(4096, origin)), allow_partial: Some(Sourced::new(true, origin)), pack_as_bytes: None };
        Some(Sourced::new(body, allow.origin))
    }

    fn rate_limiting(&mut self, limit: &RateLimit) -> Option<RateLimitService> {
        let spec = &limit.spec;
        let cluster = self.model.envoy_name(&limit.cluster);
        let timeout = spec.timeout_ms.unwrap_or_else(|| Sourced::built_in(20));
        let off = || Sourced::built_in(false);
        Some(RateLimitService {
            domain: limit.domain.clone(),
            cluster: Sourced::new(cluster, spec.service.as_ref().and_then(|service| service.origin)),
            timeout: Some(self.milliseconds(&timeout, "timeout_ms", &limit.identity).ok()?),
            authority: None,
            request_type: Some("both".into()),
            x_ratelimit_headers: None,
            failure_mode_deny: spec.failure_mode_deny.unwrap_or_else(off),
            resource_exhausted: spec.grpc.as_ref().and_then(|grpc| grpc.value.rate_limited_as_resource_exhausted).unwrap_or_else(off),
        })
    }
}

/// Exact names, the controller's own and the written ones, sorted.
fn allowed(own: &[&'static str], written: &[Sourced<Str>]) -> Vec<Sourced<NameMatch>> {
    let mut names: Vec<Sourced<Str>> = own.iter().map(|name| Sourced::built_in(Str::new_static(name))).collect();
    for name in written {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names.sort();
    names.into_iter().map(|name| name.map(|name| NameMatch { name: StringMatch::Exact(name), ignore_case: true })).collect()
}

/// A script that is run for every request.
fn always(script: Sourced<Str>) -> LuaScripts {
    LuaScripts { default: Some(script), named: Vec::new() }
}

/// The script that replaces a misconfigured AuthService, exactly as the reference sends it.
fn misconfigured(rkey: &str) -> String {
    include_str!("misconfigured_auth.lua").replace("{{rkey}}", rkey)
}
