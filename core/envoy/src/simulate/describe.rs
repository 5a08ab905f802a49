//! Describes the settings of a route and its clusters for the report. Decides nothing.

use super::Gateway;
use super::action::seconds;
use super::connection::bound;
use super::connection_settings::{self, load_balancing, time};
use super::filters::Scopes;
use super::health;
use super::matcher::{parts, string_words};
use super::simulation::{ClusterView, Setting};
use crate::emit::pb;
use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use pb::route::{RouteAction, VirtualHost};

/// Returns the route's settings except its target.
pub(super) fn settings(action: &RouteAction, host: &VirtualHost, scopes: &Scopes<'_>) -> Vec<Setting> {
    let mut out = Vec::new();
    let mut say = |name: &str, value: String| out.push(Setting { name: name.to_owned(), value });
    if let Some(timeout) = &action.idle_timeout {
        say("idle_timeout", time(timeout));
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
        say("request_mirror_policies", format!("{share}% mirrored to {to}, whose responses are ignored"));
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
        let count = action.rate_limits.len();
        say("rate_limits", format!("{count} {}", if count == 1 { "descriptor" } else { "descriptors" }));
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

/// Describes a cluster.
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
    let (load_balancing, balancing_settings) = load_balancing(of);
    let mut out = ClusterView {
        name: name.to_owned(),
        known: true,
        discovery,
        endpoints: gateway.members(name).into_iter().flat_map(|of| gateway.hosts(of)).filter_map(endpoint_address).collect(),
        load_balancing,
        tls: tls(&gateway.upstream_tls(of)),
        circuit_breakers: Vec::new(),
        settings: balancing_settings,
    };
    out.circuit_breakers.extend(of.circuit_breakers.iter().flat_map(|breakers| &breakers.thresholds).map(limits_in_words));
    if let Some(timeout) = &of.connect_timeout {
        out.settings.push(Setting { name: "connect_timeout".to_owned(), value: seconds(timeout) });
    }
    out.settings.extend(connection_settings::of_cluster(of));
    let own_hosts = health::own_hosts(gateway.hosts(of));
    for check in &of.health_checks {
        out.settings.push(Setting { name: "health_checks".to_owned(), value: health::check(check, of, &own_hosts) });
    }
    if let Some(value) = of.outlier_detection.as_ref().and_then(health::outliers) {
        out.settings.push(Setting { name: "outlier_detection".to_owned(), value });
    }
    out
}

/// Describes the limits of a circuit breaker.
fn limits_in_words(of: &pb::cluster::circuit_breakers::Thresholds) -> String {
    let all = [
        ("connection", "connections", of.max_connections),
        ("pending request", "pending requests", of.max_pending_requests),
        ("request", "requests", of.max_requests),
        ("retry", "retries", of.max_retries),
    ];
    let counted = |(one, many, limit): &(&str, &str, Option<u32>)| limit.map(|limit| format!("{limit} {}", if limit == 1 { one } else { many }));
    let words: Vec<String> = all.iter().filter_map(counted).collect();
    format!("{}: at most {}", of.priority().as_str_name(), words.join(", "))
}

/// The address of an endpoint.
pub fn endpoint_address(of: &pb::endpoint::LbEndpoint) -> Option<String> {
    use pb::base::{address::Address, socket_address::PortSpecifier};
    use pb::endpoint::lb_endpoint::HostIdentifier;
    match of.host_identifier.as_ref()? {
        HostIdentifier::Endpoint(endpoint) => match endpoint.address.as_ref()?.address.as_ref()? {
            Address::SocketAddress(address) => Some(match &address.port_specifier {
                Some(PortSpecifier::PortValue(port)) => format!("{}:{port}", address.address),
                _ => address.address.clone(),
            }),
            Address::Pipe(pipe) => Some(pipe.path.clone()),
            Address::EnvoyInternalAddress(_) => None,
        },
        HostIdentifier::EndpointName(name) => Some(name.clone()),
    }
}

/// Describes the TLS of connections to a cluster's hosts; `None` if there is none.
fn tls(all: &[Option<&pb::tls::UpstreamTlsContext>]) -> Option<String> {
    all.iter().any(Option::is_some).then(|| {
        let words: Vec<String> = all.iter().map(|context| context.map_or_else(|| "no TLS".to_owned(), context_words)).collect();
        words.join("; for other endpoints: ")
    })
}

fn context_words(context: &pb::tls::UpstreamTlsContext) -> String {
    use pb::tls::common_tls_context::ValidationContextType;
    let common = context.common_tls_context.clone().unwrap_or_default();
    let sni = if context.sni.is_empty() { "no SNI".to_owned() } else { format!("SNI {}", context.sni) };
    let validates = match &common.validation_context_type {
        None => "the certificate is not validated",
        Some(ValidationContextType::ValidationContext(of)) if of.trusted_ca.is_none() && of.system_root_certs.is_none() => {
            "the certificate is not validated"
        }
        Some(_) => "the certificate is validated",
    };
    let certificate = !common.tls_certificates.is_empty() || !common.tls_certificate_sds_secret_configs.is_empty();
    format!("{sni}, {validates}{}", if certificate { ", with a client certificate" } else { "" })
}

/// The name of a listener, or its address.
pub(super) fn listener_name(of: &pb::listener::Listener) -> String {
    match (of.name.as_str(), bound(of)) {
        ("", Some((address, port, _))) => format!("{address}:{port}"),
        (name, _) => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_limits_are_in_the_singular() {
        let of = pb::cluster::circuit_breakers::Thresholds { max_connections: Some(1), max_retries: Some(2), ..Default::default() };
        assert_eq!(limits_in_words(&of), "DEFAULT: at most 1 connection, 2 retries");
    }
}
