//! Turns an EnvoyProxy's telemetry into logs, traces and metrics of the model.

use super::super::context::Translator;
use super::super::load::resources::EnvoyProxy;
use super::super::model::{
    AccessLogs, AddressType, AlsLog, AppProtocol, Destination, DestinationSetting, Endpoint, JsonLog, OpenTelemetryLog, TextLog, Tracing, Traffic,
};
use super::super::names;
use super::super::status::Reference;
use super::super::value::text_of;
use super::super::xds::is_valid;
use super::backend::validate_reference;
use super::backend_tls::apply_backend_tls;
use super::destination::{SettingOf, setting_of_backend, setting_of_service};
use super::envoy_proxy::sorted_entries;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_base::resource::{Origin, Sourced};
use chancery_text::Str;
use core::net::IpAddr;

const STDOUT: &str = "/dev/stdout";

/// Adds the telemetry of a Gateway's EnvoyProxy to the model. A broken reference refuses the Gateway.
pub(super) fn add(t: &mut Translator<'_>, gateway: usize, key: &Str) {
    let proxy = t.gateways[gateway].envoy_proxy.clone();
    let refuse = |t: &mut Translator<'_>, what: &str, error: String| {
        let message = format!("Invalid {what} backendRefs in the referenced EnvoyProxy: {error}");
        t.gateways[gateway].conditions.set("Accepted", false, "InvalidParameters", message);
    };
    let logs = match access_logs(t, gateway, proxy.as_ref()) {
        Ok(logs) => logs,
        Err(error) => {
            t.xds.entry(key.clone()).or_default().access_logs = None;
            return refuse(t, "access log", error);
        }
    };
    t.xds.entry(key.clone()).or_default().access_logs = logs;
    match tracing(t, gateway, proxy.as_ref()) {
        Ok(tracing) => t.xds.entry(key.clone()).or_default().tracing = tracing,
        Err(error) => return refuse(t, "tracing", error),
    }
    let Some(proxy) = proxy else { return };
    let metrics = proxy.spec.at(&["telemetry", "metrics"]);
    for (index, sink) in metrics.get("sinks").items().iter().enumerate() {
        let collector = sink.get("openTelemetry");
        if collector.is_null() {
            continue;
        }
        let name = names::setting(&format!("metrics_otel_{index}"), -1);
        if let Err(error) = backends(t, gateway, &proxy, &name, collector, AppProtocol::Grpc) {
            return refuse(t, "metrics", error);
        }
    }
    let xds = t.xds.entry(key.clone()).or_default();
    xds.metrics = metrics.clone();
    xds.health_check_log = proxy.spec.at(&["telemetry", "healthCheckLog"]).clone();
}

fn access_logs(t: &mut Translator<'_>, gateway: usize, proxy: Option<&Arc<EnvoyProxy>>) -> Result<Option<AccessLogs>, String> {
    let standard = || AccessLogs { json: Vec::from([JsonLog { path: Tree::from(STDOUT), ..JsonLog::default() }]), ..AccessLogs::default() };
    let Some(proxy) = proxy else { return Ok(Some(standard())) };
    let written = proxy.spec.at(&["telemetry", "accessLog"]);
    if written.get("disable").bool() {
        return Ok(None);
    }
    let settings = written.get("settings").items();
    if settings.is_empty() {
        return Ok(Some(standard()));
    }
    let mut logs = AccessLogs::default();
    for (i, setting) in settings.iter().enumerate() {
        let kind = setting.get("type").clone();
        let format = setting.get("format");
        let format_type = format.get("type").text();
        let is_unset = format.is_null();
        let matches: Vec<Tree> = setting.get("matches").items().to_vec();
        check_expressions(&matches)?;
        let fields = || sorted_entries(format.get("json"));
        let json = |path: Tree| JsonLog { matches: matches.clone(), fields: fields(), path, kind: kind.clone(), origin: setting.origin };
        let sinks = setting.get("sinks").items();
        if sinks.is_empty() {
            logs.json.push(json(Tree::from(STDOUT).with_origin(setting.origin)));
        }
        for (j, sink) in sinks.iter().enumerate() {
            match sink.get("type").text() {
                "File" if !sink.get("file").is_null() => {
                    let path = sink.at(&["file", "path"]).clone();
                    if format_type == "Text" {
                        let text = format.get("text").clone();
                        logs.text.push(TextLog { matches: matches.clone(), format: text, path, kind: kind.clone(), origin: sink.origin });
                    } else {
                        logs.json.push(JsonLog { origin: sink.origin, ..json(path) });
                    }
                }
                "ALS" if !sink.get("als").is_null() => {
                    let als = sink.get("als");
                    let destination = format!("accesslog_als_{i}_{j}");
                    let (settings, traffic) = backends(t, gateway, proxy, &names::setting(&destination, -1), als, AppProtocol::Grpc)?;
                    let is_text = format_type == "Text";
                    let log_name = match als.find("logName") {
                        Some(name) => name.clone(),
                        None => Tree::from(format!("{}/{}", proxy.namespace, proxy.name)).with_origin(als.origin),
                    };
                    let http = if als.get("type").is("HTTP") { als.get("http").clone() } else { Tree::NULL };
                    logs.als.push(AlsLog {
                        matches: matches.clone(),
                        log_name,
                        destination: to(proxy, &destination, settings),
                        traffic,
                        service: als.get("type").clone(),
                        text: if is_text { format.get("text").clone() } else { Tree::NULL },
                        attributes: if is_text { Vec::new() } else { fields() },
                        http,
                        kind: kind.clone(),
                        origin: sink.origin,
                    });
                }
                "OpenTelemetry" if !sink.get("openTelemetry").is_null() => {
                    let collector = sink.get("openTelemetry");
                    let destination = format!("accesslog_otel_{i}_{j}");
                    let name = names::setting(&destination, -1);
                    let (mut settings, traffic) = backends(t, gateway, proxy, &name, collector, AppProtocol::Grpc)?;
                    let mut authority = authority_of(&settings);
                    if settings.is_empty() {
                        authority = collector.get("host").clone();
                        settings = host_and_port(&name, collector);
                    }
                    let is_both = format_type.is_empty() && !is_unset;
                    let is_text = format_type == "Text" || is_both;
                    let is_json = format_type == "JSON" || is_both || is_unset;
                    let resource = match collector.find("resourceAttributes").filter(|of| !of.fields().is_empty()) {
                        Some(attributes) => attributes,
                        None => collector.get("resources"),
                    };
                    logs.open_telemetry.push(OpenTelemetryLog {
                        matches: matches.clone(),
                        authority,
                        text: if is_text { format.get("text").clone() } else { Tree::NULL },
                        attributes: if is_json { fields() } else { Vec::new() },
                        resource_attributes: sorted_entries(resource),
                        headers: collector.get("headers").items().to_vec(),
                        destination: to(proxy, &destination, settings),
                        traffic,
                        kind: kind.clone(),
                        origin: sink.origin,
                    });
                }
                _ => {}
            }
        }
    }
    Ok(Some(logs))
}

/// Checks that expressions of CEL can be parsed.
fn check_expressions(matches: &[Tree]) -> Result<(), String> {
    let wrong = matches.iter().filter(|expression| !is_valid(expression.text()));
    let errors: Vec<String> = wrong.map(|expression| format!("invalid CEL expression: {}", expression.text())).collect();
    match errors.as_slice() {
        [] => Ok(()),
        [only] => Err(only.clone()),
        all => Err(format!("[{}]", all.join(", "))),
    }
}

fn tracing(t: &mut Translator<'_>, gateway: usize, proxy: Option<&Arc<EnvoyProxy>>) -> Result<Option<Tracing>, String> {
    let Some(proxy) = proxy else { return Ok(None) };
    let written = proxy.spec.at(&["telemetry", "tracing"]);
    if written.is_null() {
        return Ok(None);
    }
    let provider = written.get("provider");
    let name = names::setting("tracing", -1);
    let protocol = if provider.get("type").is("OpenTelemetry") { AppProtocol::Grpc } else { AppProtocol::Tcp };
    let (mut settings, traffic) = backends(t, gateway, proxy, &name, provider, protocol)?;
    let mut authority = authority_of(&settings);
    if settings.is_empty() {
        authority = provider.get("host").clone();
        settings = host_and_port(&name, provider);
    }
    let object = t.gateways[gateway].object;
    let service_name = match provider.find("serviceName") {
        Some(name) => name.clone(),
        None if t.merge_gateways => Tree::from(&t.resources.class),
        None => Tree::from(format!("{}.{}", object.name(), object.namespace())),
    };
    let open_telemetry = provider.get("openTelemetry");
    Ok(Some(Tracing {
        service_name: service_name.or_from(provider.origin),
        authority,
        sampling_rate: sampling(written.get("samplingRate"), written.get("samplingFraction")).or_from(written.origin),
        client_sampling_rate: fraction(written.get("clientSamplingFraction")),
        overall_sampling_rate: fraction(written.get("overallSamplingFraction")),
        custom_tags: sorted_entries(written.get("customTags")),
        tags: sorted_entries(written.get("tags")),
        resource_attributes: sorted_entries(open_telemetry.get("resourceAttributes")),
        destination: to(proxy, "tracing", settings),
        traffic,
        provider: provider.clone(),
        headers: open_telemetry.get("headers").items().to_vec(),
        span_name: written.get("spanName").clone(),
        origin: written.origin,
    }))
}

/// Returns the share of requests in percent.
fn sampling(rate: &Tree, share: &Tree) -> Tree {
    if !rate.is_null() {
        return Tree::from(rate.float()).with_origin(rate.origin);
    }
    if share.is_null() { Tree::from(100.0) } else { fraction(share) }
}

fn fraction(share: &Tree) -> Tree {
    if share.is_null() {
        return Tree::NULL;
    }
    let denominator = share.find("denominator").map_or(100.0, Tree::float);
    let value = share.get("numerator").float() * 100.0 / denominator;
    Tree::from(value.clamp(0.0, 100.0)).with_origin(share.origin.map(Origin::whole))
}

fn to(proxy: &EnvoyProxy, name: &str, settings: Vec<DestinationSetting>) -> Destination {
    let origin = settings.first().and_then(|setting| setting.origin);
    Destination { name: Str::new(name), settings, metadata: Some(proxy.metadata.clone()), origin, ..Destination::default() }
}

/// Resolves the backends of a collector.
fn backends(
    t: &mut Translator<'_>,
    gateway: usize,
    proxy: &EnvoyProxy,
    name: &str,
    cluster: &Tree,
    protocol: AppProtocol,
) -> Result<(Vec<DestinationSetting>, Option<Traffic>), String> {
    let traffic = super::super::cluster_settings::traffic_features(cluster.get("backendSettings"))?;
    let parent = Reference {
        group: Some(Str::new_static(super::super::kinds::GROUP)),
        kind: Some(Str::new_static("EnvoyProxy")),
        namespace: Some(proxy.namespace.clone()),
        name: proxy.name.clone(),
        ..Reference::default()
    };
    let mut settings = Vec::new();
    for reference in cluster.get("backendRefs").items() {
        let of = SettingOf::of_tree(reference, &proxy.namespace);
        let kind = of.kind.clone();
        let mut setting = match kind.as_str() {
            "Service" => {
                validate_reference(t, &of, "TCP", true).map_err(|error| error.message)?;
                let is_service = t.is_service_routing(&t.gateways[gateway], None);
                setting_of_service(t, name, &of, AppProtocol::Tcp, is_service).map_err(|error| error.message)?
            }
            "Backend" => {
                validate_reference(t, &of, "TCP", true).map_err(|error| error.message)?;
                let setting = setting_of_backend(t, name, &of, AppProtocol::Tcp);
                if setting.is_dynamic_resolver {
                    return Err("dynamic resolver destinations are not supported".into());
                }
                setting
            }
            other => return Err(format!("unsupported kind for backendRefs: {other}")),
        };
        setting.tls = apply_backend_tls(t, &of, &parent, Some(gateway))?.map(Box::new);
        if let Some(tls) = setting.tls.as_mut().filter(|tls| tls.sni.is_null() && kind == "Backend")
            && let Some(backend) = t.resources.backend(&of.namespace, &of.name)
        {
            let endpoints: Vec<_> = backend.spec().field("endpoints").items().collect();
            if let [only] = endpoints.as_slice() {
                tls.sni = super::super::value::tree(only.at("fqdn.hostname"));
            }
        }
        setting.protocol = if protocol == AppProtocol::Grpc { protocol } else { setting.protocol };
        settings.push(setting);
    }
    Ok((settings, traffic))
}

fn host_and_port(name: &str, of: &Tree) -> Vec<DestinationSetting> {
    let host = text_of(of.get("host"));
    let is_address = host.value.parse::<IpAddr>().is_ok();
    let port = of.get("port");
    let endpoint = Endpoint { host, port: Sourced::new(port.int(), port.origin), origin: of.get("host").origin, ..Endpoint::default() };
    Vec::from([DestinationSetting {
        name: Str::new(name),
        weight: Some(Sourced::built_in(1)),
        protocol: AppProtocol::Grpc,
        address_type: Some(if is_address { AddressType::Ip } else { AddressType::Fqdn }),
        endpoints: Vec::from([endpoint]),
        origin: of.get("host").origin.or(of.origin),
        ..DestinationSetting::default()
    }])
}

/// Returns the `:authority` for a collector.
fn authority_of(settings: &[DestinationSetting]) -> Tree {
    let Some(first) = settings.first() else { return Tree::NULL };
    if let Some(tls) = first.tls.as_ref().filter(|tls| !tls.sni.is_null()) {
        return tls.sni.clone();
    }
    let Some(endpoint) = first.endpoints.first() else { return Tree::NULL };
    if endpoint.host.value.parse::<IpAddr>().is_err() {
        return Tree::from(endpoint.host.clone());
    }
    let Some(metadata) = first.metadata.as_ref().filter(|metadata| !metadata.name.is_empty()) else { return Tree::NULL };
    let name = match (metadata.namespace.is_empty(), metadata.kind.as_str()) {
        (true, _) => String::from(metadata.name.as_str()),
        (false, "Service") => format!("{}.{}.svc", metadata.name, metadata.namespace),
        _ => format!("{}.{}", metadata.name, metadata.namespace),
    };
    Tree::from(name).with_origin(first.origin)
}
