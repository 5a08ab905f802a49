//! Writes metrics in the OpenMetrics format. Does not count; see `worker::metrics` and `xds::clients`.

use super::Shared;
use crate::worker::metrics::Histogram;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use std::fmt::Write;

const TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Writes the metric's name, type and help.
fn head(out: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(out, "# TYPE {name} {kind}\n# HELP {name} {help}");
}

/// Escapes a value of a label.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

fn histogram(out: &mut String, name: &str, help: &str, of: &Histogram) {
    head(out, name, "histogram", help);
    for (bound, count) in of.buckets() {
        let _ = writeln!(out, "{name}_bucket{{le=\"{bound}\"}} {count}");
    }
    let _ = writeln!(out, "{name}_sum {}\n{name}_count {}", of.sum(), of.count());
}

/// Writes memory and file descriptors of this process, on systems with `/proc`. The names match Prometheus' client
/// libraries.
fn process(out: &mut String) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kilobytes = |field: &str| status.lines().find_map(|line| line.strip_prefix(field)?.split_whitespace().next()?.parse::<u64>().ok());
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let most_files = limits.lines().find_map(|line| line.strip_prefix("Max open files")?.split_whitespace().next()?.parse::<u64>().ok());
    let files = std::fs::read_dir("/proc/self/fd").ok().map(|all| all.count() as u64);
    let numbers = [
        ("process_resident_memory_bytes", "Resident memory.", kilobytes("VmRSS:").map(|number| number * 1024)),
        ("process_virtual_memory_bytes", "Virtual memory.", kilobytes("VmSize:").map(|number| number * 1024)),
        ("process_open_fds", "Open file descriptors.", files),
        ("process_max_fds", "The most file descriptors that the process may open.", most_files),
    ];
    for (name, help, value) in numbers {
        if let Some(value) = value {
            head(out, name, "gauge", help);
            let _ = writeln!(out, "{name} {value}");
        }
    }
}

/// Writes how gateways are shared, if they are.
fn replicas(out: &mut String, shared: &Shared) {
    if !shared.replicas.is_shared() {
        return;
    }
    let (built, elsewhere) = shared.build().map_or((0, 0), |build| (build.gateways.len(), build.elsewhere.len()));
    head(out, "chancery_replicas", "gauge", "Replicas that share the gateways now, including this one.");
    let _ = writeln!(out, "chancery_replicas {}", shared.replicas.view().members().len());
    head(out, "chancery_gateways", "gauge", "Gateways by the replica that builds them: this one, or another.");
    let _ = writeln!(out, "chancery_gateways{{replica=\"own\"}} {built}\nchancery_gateways{{replica=\"other\"}} {elsewhere}");
    head(out, "chancery_xds_refused_streams", "counter", "Streams of gateways that another replica owns.");
    let _ = writeln!(out, "chancery_xds_refused_streams_total {}", shared.replicas.refused());
}

/// Answers with all metrics.
pub async fn metrics(State(shared): State<Shared>) -> Response {
    let mut out = String::new();
    for (name, kind, help, value) in shared.metrics.all() {
        head(&mut out, name, kind, help);
        let _ = writeln!(out, "{name}{} {value}", if kind == "counter" { "_total" } else { "" });
    }
    head(&mut out, "chancery_source_synced", "gauge", "Whether all objects of a source are known, by kind.");
    for status in shared.states.all() {
        let synced = u8::from(status.state == crate::event::SourceState::Synced);
        let _ = writeln!(out, "chancery_source_synced{{source=\"{}\",kind=\"{}\"}} {synced}", escaped(&status.source), escaped(&status.kind));
    }
    head(
        &mut out,
        "chancery_resources_withheld",
        "gauge",
        "Resources that are not sent, because Envoy would reject them or they cannot be encoded, by gateway and type.",
    );
    for gateway in shared.build().iter().flat_map(|build| &build.gateways) {
        for (kind, names) in gateway.withheld_names() {
            let _ = writeln!(out, "chancery_resources_withheld{{gateway=\"{}\",type=\"{}\"}} {}", escaped(&gateway.id), escaped(&kind), names.len());
        }
    }
    head(
        &mut out,
        "chancery_gateway_held_back",
        "gauge",
        "Whether Envoys of a gateway keep earlier versions of resources, because one of them rejected the newest.",
    );
    for (gateway, rollout) in shared.proxies.subscribe().borrow().iter().flat_map(|all| all.iter()) {
        let _ = writeln!(out, "chancery_gateway_held_back{{gateway=\"{}\"}} {}", escaped(gateway), u8::from(rollout.is_held()));
    }
    replicas(&mut out, &shared);
    let clients = shared.clients.all();
    head(&mut out, "chancery_envoys", "gauge", "Envoys that are connected.");
    let _ = writeln!(out, "chancery_envoys {}", clients.len());
    head(&mut out, "chancery_envoy_streams", "gauge", "Streams that Envoys have open.");
    let _ = writeln!(out, "chancery_envoy_streams {}", clients.iter().map(|client| client.streams).sum::<usize>());
    head(&mut out, "chancery_envoy_rejects", "gauge", "Envoys that reject what they were sent last, by type.");
    let mut rejects: std::collections::BTreeMap<&str, usize> = std::collections::BTreeMap::new();
    for (kind, of) in clients.iter().flat_map(|client| &client.types) {
        *rejects.entry(kind).or_default() += usize::from(of.rejected.is_some());
    }
    for (kind, number) in rejects {
        let _ = writeln!(out, "chancery_envoy_rejects{{type=\"{}\"}} {number}", escaped(kind));
    }
    let (rejections, undecodable, propagation) = shared.clients.counts.all();
    head(&mut out, "chancery_envoy_rejections", "counter", "Responses that Envoys rejected, by type.");
    for (kind, number) in rejections {
        let _ = writeln!(out, "chancery_envoy_rejections_total{{type=\"{}\"}} {number}", escaped(&kind));
    }
    head(&mut out, "chancery_xds_undecodable_messages", "counter", "Messages on xDS streams that could not be decoded.");
    let _ = writeln!(out, "chancery_xds_undecodable_messages_total {undecodable}");
    histogram(&mut out, "chancery_build_duration_seconds", "How long builds took.", &shared.metrics.build_times());
    histogram(&mut out, "chancery_propagation_seconds", "Time from a change to the Envoy that accepted it.", &propagation);
    process(&mut out);
    out.push_str("# EOF\n");
    ([(header::CONTENT_TYPE, TYPE)], out).into_response()
}
