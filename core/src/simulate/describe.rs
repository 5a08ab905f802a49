//! What a request meets besides its route, in words: HTTP filters, settings of the route, the cluster.
//!
//! What must not be here: anything that decides where the request goes.

use super::Gateway;
use super::action::seconds;
use super::connection::bound;
use super::matcher::{parts, string_words};
use super::request::Headers;
use super::simulation::{ClusterView, FilterStep, Setting};
use crate::backend::envoy::v3::pb;
use crate::envoy_config::EnvoyConfig;
use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use pb::hcm::{HttpConnectionManager, HttpFilter};
use pb::route::{Route, RouteAction, RouteConfiguration, VirtualHost};

/// Where configuration of a filter for this request may stand, the most exact first.
pub(super) struct Scopes<'a> {
    pub(super) route: Option<&'a Route>,
    pub(super) host: Option<&'a VirtualHost>,
    pub(super) table: Option<&'a RouteConfiguration>,
}

impl<'a> Scopes<'a> {
    fn of(&self, filter: &str) -> impl Iterator<Item = &'a pb::Any> {
        let maps: [Option<&'a BTreeMap<String, pb::Any>>; 3] = [
            self.route.map(|route| &route.typed_per_filter_config),
            self.host.map(|host| &host.typed_per_filter_config),
            self.table.map(|table| &table.typed_per_filter_config),
        ];
        maps.into_iter().flatten().filter_map(|map| map.get(filter)).collect::<Vec<_>>().into_iter()
    }

    /// The policy of CORS that counts.
    fn cors(&self) -> Option<Cors<'a>> {
        use pb::http_filter::cors::v3::CorsPolicy;
        let own = self.of("envoy.filters.http.cors").find_map(|config| unwrapped(config).downcast_ref::<CorsPolicy>());
        if let Some(own) = own {
            return Some(Cors { origins: &own.allow_origin_string_match, enabled: own.filter_enabled.as_ref() });
        }
        let action = self.route.and_then(|route| match &route.action {
            Some(pb::route::route::Action::Route(action)) => action.cors.as_deref(),
            _ => None,
        });
        let policy = action.or(self.host.and_then(|host| host.cors.as_ref()))?;
        let enabled = policy.enabled_specifier.as_ref().map(|pb::route::cors_policy::EnabledSpecifier::FilterEnabled(enabled)| enabled);
        Some(Cors { origins: &policy.allow_origin_string_match, enabled })
    }
}

struct Cors<'a> {
    origins: &'a [pb::matcher::StringMatcher],
    enabled: Option<&'a pb::base::RuntimeFractionalPercent>,
}

/// What stands in a `FilterConfig`, or the thing itself.
fn unwrapped(config: &pb::Any) -> &pb::Any {
    config.downcast_ref::<pb::route::FilterConfig>().and_then(|of| of.config.as_ref()).unwrap_or(config)
}

fn is_disabled(filter: &HttpFilter, scopes: &Scopes<'_>) -> bool {
    use pb::http_filter::ext_authz::v3::{ExtAuthzPerRoute, ext_authz_per_route::Override};
    let Some(config) = scopes.of(&filter.name).next() else { return filter.disabled };
    if let Some(of) = config.downcast_ref::<pb::route::FilterConfig>() {
        return of.disabled;
    }
    config.downcast_ref::<ExtAuthzPerRoute>().is_some_and(|of| matches!(of.r#override, Some(Override::Disabled(true))))
}

/// The HTTP filters in their order.
pub(super) fn filters(manager: &HttpConnectionManager, scopes: &Scopes<'_>) -> Vec<FilterStep> {
    manager
        .http_filters
        .iter()
        .map(|filter| FilterStep { name: filter.name.clone(), enabled: !is_disabled(filter, scopes), does: does(filter) })
        .collect()
}

fn does(filter: &HttpFilter) -> Option<String> {
    use pb::http_filter::{ext_authz, ratelimit};
    let Some(pb::hcm::http_filter::ConfigType::TypedConfig(config)) = &filter.config_type else { return None };
    let grpc = |service: &pb::base::GrpcService| match &service.target_specifier {
        Some(pb::base::grpc_service::TargetSpecifier::EnvoyGrpc(of)) => of.cluster_name.clone(),
        _ => "a service".to_owned(),
    };
    if let Some(of) = config.downcast_ref::<ext_authz::v3::ExtAuthz>() {
        use ext_authz::v3::ext_authz::Services;
        let cluster = match &of.services {
            Some(Services::GrpcService(service)) => grpc(service),
            Some(Services::HttpService(service)) => match service.server_uri.as_ref().and_then(|uri| uri.http_upstream_type.as_ref()) {
                Some(pb::base::http_uri::HttpUpstreamType::Cluster(cluster)) => cluster.clone(),
                None => "a service".to_owned(),
            },
            None => "a service".to_owned(),
        };
        return Some(format!("asks {cluster} whether the request may pass; taken to say yes"));
    }
    if let Some(of) = config.downcast_ref::<ratelimit::v3::RateLimit>() {
        let cluster = of.rate_limit_service.as_ref().and_then(|service| service.grpc_service.as_ref()).map(grpc).unwrap_or_default();
        return Some(format!("asks {cluster} whether there are too many requests; taken to say no"));
    }
    let known = match filter.name.as_str() {
        "envoy.filters.http.router" => "sends the request to the upstream",
        "envoy.filters.http.cors" => "answers preflight requests of CORS",
        "envoy.filters.http.lua" => "runs a script, which is not simulated",
        "envoy.filters.http.wasm" | "envoy.filters.http.ext_proc" => "may change the request, which is not simulated",
        "envoy.filters.http.jwt_authn" => "checks a token; taken to be valid",
        "envoy.filters.http.rbac" => "checks who may pass; taken to say yes",
        "envoy.filters.http.oauth2" => "asks for a login; taken to be there",
        "envoy.filters.http.fault" => "may delay or abort requests, which is not simulated",
        "envoy.filters.http.buffer" => "waits for the whole body",
        "envoy.filters.http.compressor" => "compresses responses",
        "envoy.filters.http.grpc_web" => "translates gRPC-Web to gRPC",
        "envoy.filters.http.grpc_http1_bridge" => "translates gRPC over HTTP/1.1",
        "envoy.filters.http.grpc_stats" => "counts gRPC messages",
        _ => return None,
    };
    Some(known.to_owned())
}

/// Whether the CORS filter answers the request as a preflight.
pub(super) fn is_preflight(manager: &HttpConnectionManager, scopes: &Scopes<'_>, method: &str, headers: &Headers, config: &EnvoyConfig) -> bool {
    let runs = manager.http_filters.iter().any(|filter| filter.name == "envoy.filters.http.cors" && !is_disabled(filter, scopes));
    let (Some(origin), true) = (headers.first("origin"), runs && method == "OPTIONS") else { return false };
    let Some(cors) = scopes.cors().filter(|_| headers.first("access-control-request-method").is_some_and(|method| !method.is_empty())) else {
        return false;
    };
    let enabled = cors.enabled.is_none_or(|enabled| {
        let (numerator, denominator) = parts(enabled, &config.runtime);
        numerator >= denominator
    });
    enabled && cors.origins.iter().any(|matcher| super::matcher::takes(matcher, origin))
}

/// What the route says besides where the request goes.
pub(super) fn settings(action: &RouteAction, host: &VirtualHost, scopes: &Scopes<'_>) -> Vec<Setting> {
    let mut out = Vec::new();
    let mut say = |name: &str, value: String| out.push(Setting { name: name.to_owned(), value });
    if let Some(timeout) = &action.idle_timeout {
        say("idle_timeout", seconds(timeout));
    }
    if let Some(of) = &action.max_stream_duration {
        let words = [("", &of.max_stream_duration), ("grpc-timeout at most ", &of.grpc_timeout_header_max)];
        let words: Vec<String> = words.iter().filter_map(|(name, value)| value.as_ref().map(|value| format!("{name}{}", seconds(value)))).collect();
        say("max_stream_duration", words.join(", "));
    }
    if let Some(retry) = action.retry_policy.as_ref().or(host.retry_policy.as_ref()) {
        let mut words = format!("on {}, up to {} times", retry.retry_on, retry.num_retries.unwrap_or(1));
        if let Some(timeout) = &retry.per_try_timeout {
            words.push_str(&format!(", {} each", seconds(timeout)));
        }
        say("retry_policy", words);
    }
    let mirrors = [&action.request_mirror_policies, &host.request_mirror_policies];
    let mirrors = mirrors.into_iter().chain(scopes.table.map(|table| &table.request_mirror_policies)).find(|policies| !policies.is_empty());
    for mirror in mirrors.into_iter().flatten() {
        let share = mirror.runtime_fraction.as_ref().map_or(100.0, |fraction| {
            let (numerator, denominator) = parts(fraction, &BTreeMap::new());
            numerator as f64 * 100.0 / denominator as f64
        });
        let to = if mirror.cluster.is_empty() { format!("the cluster in {}", mirror.cluster_header) } else { mirror.cluster.clone() };
        say("request_mirror_policies", format!("{share}% also to {to}, whose answers nobody waits for"));
    }
    for policy in &action.hash_policy {
        use pb::route::route_action::hash_policy::PolicySpecifier as By;
        let words = match &policy.policy_specifier {
            Some(By::Header(of)) => format!("by header {}", of.header_name),
            Some(By::Cookie(of)) => format!("by cookie {}", of.name),
            Some(By::ConnectionProperties(_)) => "by source address".to_owned(),
            Some(By::QueryParameter(of)) => format!("by query parameter {}", of.name),
            Some(By::FilterState(of)) => format!("by filter state {}", of.key),
            None => continue,
        };
        say("hash_policy", words);
    }
    if action.priority != 0 {
        say("priority", "HIGH".to_owned());
    }
    if !action.rate_limits.is_empty() {
        say("rate_limits", format!("{} descriptors", action.rate_limits.len()));
    }
    if let Some(cors) = scopes.cors() {
        let origins: Vec<String> = cors.origins.iter().map(string_words).collect();
        say("cors", format!("origins: {}", origins.join(", ")));
    }
    for upgrade in &action.upgrade_configs {
        let allowed = if upgrade.enabled == Some(false) { "not allowed" } else { "allowed" };
        say("upgrade_configs", format!("{} {allowed}", upgrade.upgrade_type));
    }
    out
}

/// A cluster.
pub(super) fn cluster(gateway: &Gateway<'_>, name: &str) -> ClusterView {
    use pb::cluster::cluster::ClusterDiscoveryType;
    let Some(of) = gateway.cluster(name).map(|placed| &placed.message) else {
        return ClusterView { name: name.to_owned(), ..ClusterView::default() };
    };
    let discovery = match &of.cluster_discovery_type {
        Some(ClusterDiscoveryType::Type(kind)) => {
            pb::cluster::cluster::DiscoveryType::try_from(*kind).map_or_else(|_| kind.to_string(), |kind| kind.as_str_name().to_owned())
        }
        Some(ClusterDiscoveryType::ClusterType(of)) => of.name.clone(),
        None => "STATIC".to_owned(),
    };
    let mut out = ClusterView {
        name: name.to_owned(),
        known: true,
        discovery,
        endpoints: gateway.endpoints(of).map(addresses).unwrap_or_default(),
        load_balancing: of.lb_policy().as_str_name().to_owned(),
        tls: of.transport_socket.as_ref().and_then(tls),
        circuit_breakers: Vec::new(),
        settings: Vec::new(),
    };
    for limits in of.circuit_breakers.iter().flat_map(|breakers| &breakers.thresholds) {
        let all = [
            ("connections", limits.max_connections),
            ("pending requests", limits.max_pending_requests),
            ("requests", limits.max_requests),
            ("retries", limits.max_retries),
        ];
        let words: Vec<String> = all.iter().filter_map(|(what, limit)| limit.map(|limit| format!("{limit} {what}"))).collect();
        out.circuit_breakers.push(format!("{}: at most {}", limits.priority().as_str_name(), words.join(", ")));
    }
    if let Some(timeout) = &of.connect_timeout {
        out.settings.push(Setting { name: "connect_timeout".to_owned(), value: seconds(timeout) });
    }
    if !of.health_checks.is_empty() {
        out.settings.push(Setting { name: "health_checks".to_owned(), value: of.health_checks.len().to_string() });
    }
    out
}

/// Addresses of endpoints.
pub(crate) fn addresses(of: &pb::endpoint::ClusterLoadAssignment) -> Vec<String> {
    use pb::base::{address::Address, socket_address::PortSpecifier};
    use pb::endpoint::lb_endpoint::HostIdentifier;
    let all = of.endpoints.iter().flat_map(|locality| &locality.lb_endpoints);
    all.filter_map(|endpoint| match endpoint.host_identifier.as_ref()? {
        HostIdentifier::Endpoint(endpoint) => match endpoint.address.as_ref()?.address.as_ref()? {
            Address::SocketAddress(address) => Some(match &address.port_specifier {
                Some(PortSpecifier::PortValue(port)) => format!("{}:{port}", address.address),
                _ => address.address.clone(),
            }),
            Address::Pipe(pipe) => Some(pipe.path.clone()),
            Address::EnvoyInternalAddress(_) => None,
        },
        HostIdentifier::EndpointName(name) => Some(name.clone()),
    })
    .collect()
}

/// TLS towards a cluster in words.
fn tls(socket: &pb::base::TransportSocket) -> Option<String> {
    use pb::tls::common_tls_context::ValidationContextType;
    let Some(pb::base::transport_socket::ConfigType::TypedConfig(config)) = &socket.config_type else { return None };
    let context = config.downcast_ref::<pb::tls::UpstreamTlsContext>()?;
    let common = context.common_tls_context.clone().unwrap_or_default();
    let sni = if context.sni.is_empty() { "no SNI".to_owned() } else { format!("SNI {}", context.sni) };
    let validates = match &common.validation_context_type {
        None => "the certificate is not validated",
        Some(ValidationContextType::ValidationContext(of)) if of.trusted_ca.is_none() => "the certificate is not validated",
        Some(_) => "the certificate is validated",
    };
    let certificate = !common.tls_certificates.is_empty() || !common.tls_certificate_sds_secret_configs.is_empty();
    Some(format!("{sni}, {validates}{}", if certificate { ", with a client certificate" } else { "" }))
}

/// Name of a listener, or its address.
pub(super) fn listener_name(of: &pb::listener::Listener) -> String {
    match (of.name.as_str(), bound(of)) {
        ("", Some((address, port, _))) => format!("{address}:{port}"),
        (name, _) => name.to_owned(),
    }
}
