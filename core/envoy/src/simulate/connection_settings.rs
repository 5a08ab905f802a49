//! Describes limits and timeouts of connections, from clients and to upstreams, and how a cluster chooses among its hosts. Decides nothing.

use super::action::seconds;
use super::simulation::Setting;
use crate::emit::pb;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use pb::base::{HttpProtocolOptions, TcpKeepalive};
use pb::cluster::Cluster;
use pb::listener::FilterChain;
use pb::listener::filter::ConfigType;
use pb::load_balancing::common::v3::{LocalityLbConfig, SlowStartConfig, locality_lb_config::LocalityConfigSpecifier};
use pb::load_balancing::{least_request, random, round_robin};

/// Collects settings that are set.
#[derive(Default)]
struct Settings(Vec<Setting>);

impl Settings {
    fn add(&mut self, name: &str, value: impl Into<String>) {
        self.0.push(Setting { name: name.to_owned(), value: value.into() });
    }

    fn time(&mut self, name: &str, value: Option<&pb::Duration>) {
        if let Some(value) = value {
            self.add(name, time(value));
        }
    }

    fn connections(&mut self, of: Option<&HttpProtocolOptions>) {
        let Some(of) = of else { return };
        self.time("idle_timeout of the connection", of.idle_timeout.as_ref());
        self.time("max_connection_duration", of.max_connection_duration.as_ref());
        self.time("max_stream_duration", of.max_stream_duration.as_ref());
        if let Some(most) = of.max_requests_per_connection {
            self.add("max_requests_per_connection", most.to_string());
        }
    }
}

/// A timeout; zero switches it off.
pub(super) fn time(value: &pb::Duration) -> String {
    if value.seconds == 0 && value.nanos == 0 { "none".to_owned() } else { seconds(value) }
}

/// Returns the limits and timeouts of connections to a filter chain.
pub(super) fn of_chain(chain: &FilterChain) -> Vec<Setting> {
    let mut out = Settings::default();
    out.time("transport_socket_connect_timeout", chain.transport_socket_connect_timeout.as_ref());
    for filter in &chain.filters {
        let Some(ConfigType::TypedConfig(config)) = &filter.config_type else { continue };
        if let Some(most) = config.downcast_ref::<pb::connection_limit::ConnectionLimit>().and_then(|limit| limit.max_connections) {
            out.add("connection_limit", most.to_string());
        } else if let Some(of) = config.downcast_ref::<pb::tcp_proxy::TcpProxy>() {
            out.time("idle_timeout", of.idle_timeout.as_ref());
            out.time("max_downstream_connection_duration", of.max_downstream_connection_duration.as_ref());
            if let Some(most) = of.max_connect_attempts {
                out.add("max_connect_attempts", most.to_string());
            }
        } else if let Some(of) = config.downcast_ref::<pb::hcm::HttpConnectionManager>() {
            out.time("request_timeout", of.request_timeout.as_ref());
            out.time("request_headers_timeout", of.request_headers_timeout.as_ref());
            out.time("stream_idle_timeout", of.stream_idle_timeout.as_ref());
            out.connections(of.common_http_protocol_options.as_ref());
        }
    }
    out.0
}

/// Returns the limits and timeouts of connections to a cluster's hosts.
pub(super) fn of_cluster(of: &Cluster) -> Vec<Setting> {
    let mut out = Settings::default();
    let options = of.typed_extension_protocol_options.values().find_map(|config| config.downcast_ref::<pb::upstream_http::HttpProtocolOptions>());
    out.connections(options.and_then(|options| options.common_http_protocol_options.as_ref()));
    if let Some(keepalive) = of.upstream_connection_options.as_ref().and_then(|options| options.tcp_keepalive.as_ref()) {
        out.add("tcp_keepalive", keepalive_words(keepalive));
    }
    out.0
}

fn keepalive_words(of: &TcpKeepalive) -> String {
    let parts = [(of.keepalive_time, "after", "s idle"), (of.keepalive_interval, "every", "s"), (of.keepalive_probes, "at most", " probes")];
    let words: Vec<String> = parts.iter().filter_map(|(value, before, after)| value.map(|value| format!("{before} {value}{after}"))).collect();
    if words.is_empty() { "with the defaults of the system".to_owned() } else { words.join(", ") }
}

/// Returns how a cluster chooses a host, as Envoy's name in capitals, and the settings of this choice.
pub(super) fn load_balancing(of: &Cluster) -> (String, Vec<Setting>) {
    let mut out = Settings::default();
    let policies = of.load_balancing_policy.iter().flat_map(|policy| &policy.policies);
    let Some(config) = policies.filter_map(|policy| policy.typed_extension_config.as_ref()?.typed_config.as_ref()).next() else {
        use pb::cluster::cluster::LbConfig;
        let window = match &of.lb_config {
            Some(LbConfig::LeastRequestLbConfig(of)) => of.slow_start_config.as_ref(),
            Some(LbConfig::RoundRobinLbConfig(of)) => of.slow_start_config.as_ref(),
            _ => None,
        };
        out.time("slow start within", window.and_then(|of| of.slow_start_window.as_ref()));
        return (of.lb_policy().as_str_name().to_owned(), out.0);
    };
    let (slow_start, locality): (Option<&SlowStartConfig>, Option<&LocalityLbConfig>) =
        if let Some(of) = config.downcast_ref::<least_request::v3::LeastRequest>() {
            (of.slow_start_config.as_ref(), of.locality_lb_config.as_ref())
        } else if let Some(of) = config.downcast_ref::<round_robin::v3::RoundRobin>() {
            (of.slow_start_config.as_ref(), of.locality_lb_config.as_ref())
        } else if let Some(of) = config.downcast_ref::<random::v3::Random>() {
            (None, of.locality_lb_config.as_ref())
        } else {
            (None, None)
        };
    out.time("slow start within", slow_start.and_then(|of| of.slow_start_window.as_ref()));
    if let Some(LocalityConfigSpecifier::ZoneAwareLbConfig(of)) = locality.and_then(|of| of.locality_config_specifier.as_ref()) {
        let least = of.min_cluster_size.map(|least| format!(", if the cluster has at least {least} hosts")).unwrap_or_default();
        out.add("zone-aware routing", format!("prefers hosts in the zone of the proxy{least}"));
    }
    let name = config.type_name().rsplit('.').next().unwrap_or_default();
    (capitals(name), out.0)
}

/// Converts `LeastRequest` to `LEAST_REQUEST`.
fn capitals(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.push(c.to_ascii_uppercase());
    }
    out
}
