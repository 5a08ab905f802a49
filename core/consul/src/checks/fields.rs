//! Checks keys and fields: those of another edition, in another case, and unread settings of proxies.

use super::Mesh;
use crate::admission::edition;
use crate::codes;
use crate::documents::{self, What, group};
use crate::entry::Kind;
use crate::schema::{Struct, Type};
use alloc::format;
use alloc::string::ToString;
use chancery_base::ir::Tree;
use chancery_base::resource::{ObjectId, nearest};
use chancery_text::{Node, NodeId, Value};

/// The keys that Consul reads in the `Config` of a proxy, of an upstream, and of all proxies.
const SETTINGS: &[&str] = &[
    "protocol",
    "bind_address",
    "bind_port",
    "local_connect_timeout_ms",
    "local_request_timeout_ms",
    "local_idle_timeout_ms",
    "max_inbound_connections",
    "balance_inbound_connections",
    "balance_outbound_connections",
    "connect_timeout_ms",
    "limits",
    "passive_health_check",
    "mesh_gateway",
    "envoy_public_listener_json",
    "envoy_local_cluster_json",
    "envoy_listener_json",
    "envoy_cluster_json",
    "envoy_listener_tracing_json",
    "envoy_prometheus_bind_addr",
    "envoy_stats_bind_addr",
    "envoy_ready_bind_addr",
    "envoy_statsd_url",
    "envoy_dogstatsd_url",
    "envoy_stats_tags",
    "envoy_stats_config_json",
    "envoy_stats_sinks_json",
    "envoy_stats_flush_interval",
    "envoy_extra_stats_sinks_json",
    "envoy_extra_static_clusters_json",
    "envoy_extra_static_listeners_json",
    "envoy_static_clusters_json",
    "envoy_static_listeners_json",
    "envoy_bootstrap_json_tpl",
    "envoy_tracing_json",
    "envoy_dns_discovery_type",
    "envoy_telemetry_collector_bind_socket_dir",
    "envoy_hcp_metrics_bind_socket_dir",
    "envoy_gateway_bind_tagged_addresses",
    "envoy_gateway_bind_addresses",
    "envoy_gateway_no_default_bind",
    "envoy_gateway_remote_tcp_enable_keepalive",
    "envoy_gateway_remote_tcp_keepalive_time",
    "envoy_gateway_remote_tcp_keepalive_interval",
    "envoy_gateway_remote_tcp_keepalive_probes",
    "envoy_mesh_gateway_bind_tagged_addresses",
    "envoy_mesh_gateway_bind_addresses",
    "envoy_mesh_gateway_no_default_bind",
];

pub(super) fn check(mesh: &mut Mesh<'_>) {
    let objects = mesh.objects;
    for object in objects.iter() {
        if let (What::Entry(Ok(kind)), _) = documents::what(&object.root) {
            // In an agent's file, which may contain an entry, keys are lower case.
            if group(&object.root).is_none() && object.root.id == NodeId(0) {
                cases(mesh, &object.root, kind.shape(), object.id);
            }
            enterprise(mesh, &object.root, object.id, 0);
        }
    }
    let state = mesh.state;
    for entry in mesh.entries(Kind::ProxyDefaults) {
        settings(mesh, entry.tree.get("Config"), entry.object);
    }
    for instance in &state.instances {
        let Some(object) = instance.object else { continue };
        settings(mesh, instance.proxy.get("Config"), object);
        for upstream in instance.proxy.get("Upstreams").items() {
            settings(mesh, upstream.get("Config"), object);
        }
    }
}

/// Checks the keys of opaque settings.
fn settings(mesh: &mut Mesh<'_>, config: &Tree, object: ObjectId) {
    for (key, value) in config.fields() {
        let is_known = SETTINGS.iter().any(|known| known.eq_ignore_ascii_case(key));
        let Some(origin) = value.origin.filter(|_| !is_known) else { continue };
        let meant = nearest(key, SETTINGS.iter().copied()).map(|meant| format!("did you mean `{meant}`?"));
        let message = format!("Consul does not read the setting `{key}` of a proxy");
        mesh.report_key(&codes::UNKNOWN_PROXY_SETTING, message, (origin.object(), origin.node()), meant);
        let _ = object;
    }
}

/// Reports keys in another letter case than Consul's own, as far as the shape defines them.
fn cases(mesh: &mut Mesh<'_>, node: &Node, shape: &'static Struct, object: ObjectId) {
    let Some(fields) = node.as_object() else { return };
    for entry in fields {
        let named = |name: &str| entry.key.eq_ignore_ascii_case(name);
        let Some(field) = shape.0.iter().find(|field| named(field.name) || (!field.alias.is_empty() && named(field.alias))) else { continue };
        if entry.key != field.name && entry.key != field.alias {
            let message = format!("the key `{}` is `{}` in Consul", entry.key, field.name);
            let help = "Consul accepts keys in any case; other programs that read the file may not".to_string();
            mesh.report_key(&codes::KEY_IN_ANOTHER_CASE, message, (object, entry.value.id), Some(help));
        }
        // Consul sends the number in this field as seconds (`agent/xds/jwt_authn.go`).
        if field.name != "CacheDuration" {
            within(mesh, &entry.value, &field.holds, object);
        }
    }
}

fn within(mesh: &mut Mesh<'_>, node: &Node, holds: &Type, object: ObjectId) {
    match (holds, &node.value) {
        (Type::Struct(shape), _) => cases(mesh, node, shape, object),
        (Type::List(of), Value::Array(items)) => items.iter().for_each(|item| within(mesh, item, of, object)),
        (Type::Map(of), Value::Object(fields)) => fields.iter().for_each(|entry| within(mesh, &entry.value, of, object)),
        (Type::Duration | Type::DurationText, Value::Int(nanoseconds @ 1..MILLISECOND)) => {
            let message = format!("{nanoseconds} nanoseconds: a number without a unit counts nanoseconds here");
            let help = format!("write the unit: `{nanoseconds}s`, or `{nanoseconds}ms`");
            mesh.report_key(&codes::DURATION_IN_NANOSECONDS, message, (object, node.id), Some(help));
        }
        _ => {}
    }
}

/// In nanoseconds. A shorter time is certainly a mistake.
const MILLISECOND: i64 = 1_000_000;

/// Documents are searched to this depth.
const DEPTH: usize = 16;

/// Reports namespaces and partitions other than `default`, and sameness groups.
fn enterprise(mesh: &mut Mesh<'_>, node: &Node, object: ObjectId, depth: usize) {
    if depth > DEPTH {
        return;
    }
    match &node.value {
        Value::Object(fields) => {
            for entry in fields {
                let is = |names: &[&str]| names.iter().any(|name| entry.key.eq_ignore_ascii_case(name));
                if is(&["metadata", "Config", "Arguments", "Meta"]) {
                    continue;
                }
                let value = entry.value.as_str().unwrap_or_default();
                if let Some(edition) = edition(&entry.key).filter(|_| !matches!(value, "" | "default")) {
                    let message = format!("`{}: {value}` needs {edition}", entry.key);
                    mesh.report_key(&codes::ENTERPRISE_FIELD, message, (object, entry.value.id), None);
                }
                enterprise(mesh, &entry.value, object, depth + 1);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| enterprise(mesh, item, object, depth + 1)),
        _ => {}
    }
}
