//! Validates listeners and turns them into listeners of the model.

use super::super::context::{FrontendValidation, GatewayContext, Listener, ListenerId, Translator};
use super::super::kinds::GATEWAY_API;
use super::super::model::{CoreListener, HttpListener, ReadyListener, TcpListener, TlsSettings, UdpListener};
use super::{certificates, conflicts, metadata, overlapping_tls, telemetry};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::resource::Sourced;
use chancery_kubernetes::cursor::Cursor;
use chancery_kubernetes::selector::Selector;
use chancery_text::Str;

/// Ports below this one are moved, as a container may not open them.
const FIRST_FREE_PORT: i64 = 1024;
const PORT_SHIFT: i64 = 10000;
const READY_PORT: i64 = 19003;

/// Processes the listeners of all accepted Gateways.
pub(crate) fn process(t: &mut Translator<'_>) {
    for id in t.listener_ids() {
        let valid = validate(t, id);
        t.listener_mut(id).spec_valid = valid;
    }
    conflicts::protocols(t);
    conflicts::hostnames(t);
    conflicts::layer4(t, "TCP");
    conflicts::layer4(t, "UDP");
    if t.merge_gateways {
        conflicts::merged(t);
    }
    for gateway in 0..t.gateways.len() {
        let key = t.ir_key(t.gateways[gateway].object);
        let ready = ready_listener(&t.gateways[gateway]);
        t.xds.entry(key.clone()).or_default().ready = Some(ready);
        telemetry::add(t, gateway, &key);
        for listener in 0..t.gateways[gateway].listeners.len() {
            let id = ListenerId { gateway, listener };
            conclude(t, id);
            if t.listener(id).is_ready() && !is_frontend_invalid(t.listener(id)) {
                add(t, id, &key);
            }
        }
    }
    overlapping_tls::check(t);
}

fn is_frontend_invalid(listener: &Listener<'_>) -> bool {
    matches!(listener.frontend.as_deref(), Some(FrontendValidation::Invalid(..)))
}

fn validate(t: &mut Translator<'_>, id: ListenerId) -> bool {
    let mut is_valid = validate_namespaces(t.listener_mut(id));
    let listener = t.listener(id);
    let is_passthrough = listener.at.at("tls.mode").str() == "Passthrough";
    let kinds: &[&'static str] = match listener.protocol.as_str() {
        "HTTP" | "HTTPS" => &["HTTPRoute", "GRPCRoute"],
        "TLS" if is_passthrough => &["TLSRoute"],
        "TLS" => &["TCPRoute", "TLSRoute"],
        "TCP" => &["TCPRoute"],
        "UDP" => &["UDPRoute"],
        _ => &[],
    };
    if kinds.is_empty() {
        is_valid = false;
        let message = format!("Protocol {} is unsupported, must be HTTP, HTTPS, TCP or UDP.", listener.protocol);
        let listener = t.listener_mut(id);
        listener.status.supported_kinds.clear();
        listener.set("Accepted", false, "UnsupportedProtocol", message);
    } else if !validate_kinds(t.listener_mut(id), kinds) {
        is_valid = false;
    }
    is_valid &= validate_tls(t, id);
    let listener = t.listener_mut(id);
    if matches!(listener.protocol.as_str(), "UDP" | "TCP") && listener.hostname.is_some() {
        let message = format!("Listener must not have hostname set when protocol is {}.", listener.protocol);
        listener.set("Programmed", false, "Invalid", message);
        is_valid = false;
    }
    is_valid
}

fn validate_namespaces(listener: &mut Listener<'_>) -> bool {
    let namespaces = listener.at.at("allowedRoutes.namespaces");
    if namespaces.field("from").str() != "Selector" {
        return true;
    }
    let selector = namespaces.field("selector");
    if !selector.exists() {
        let message = "The allowedRoutes.namespaces.selector field must be specified when allowedRoutes.namespaces.from is set to \"Selector\".";
        listener.set("Programmed", false, "Invalid", message);
        return false;
    }
    match Selector::of_fields(selector) {
        Ok(selector) => {
            listener.selector = Some(selector);
            true
        }
        Err(error) => {
            let message = format!("The allowedRoutes.namespaces.selector could not be parsed: {}.", error.as_str());
            listener.set("Programmed", false, "Invalid", message);
            false
        }
    }
}

fn validate_kinds(listener: &mut Listener<'_>, kinds: &[&'static str]) -> bool {
    let kind_of = |kind: &str| (Str::new_static(GATEWAY_API), Str::new(kind));
    let written: Vec<Cursor<'_>> = listener.at.at("allowedRoutes.kinds").items().collect();
    if written.is_empty() {
        listener.status.supported_kinds = kinds.iter().map(|kind| kind_of(kind)).collect();
        return true;
    }
    let mut is_valid = true;
    let (mut supported, mut unsupported) = (Vec::new(), Vec::new());
    for item in written {
        let group = item.field("group").some_str().unwrap_or(GATEWAY_API);
        let kind = item.field("kind").str();
        if group != GATEWAY_API {
            listener.set("ResolvedRefs", false, "InvalidRouteKinds", format!("Group is not supported, group must be {GATEWAY_API}"));
            is_valid = false;
        } else if kinds.contains(&kind) {
            supported.push(kind_of(kind));
        } else {
            unsupported.push(kind);
        }
    }
    for kind in unsupported {
        let known: Vec<&str> =
            if supported.is_empty() { kinds.to_vec() } else { supported.iter().map(|(_, kind): &(Str, Str)| kind.as_str()).collect() };
        let message = format!("{kind} is not supported, kind must be one of [{}]", known.join(" "));
        listener.set("ResolvedRefs", false, "InvalidRouteKinds", message);
        is_valid = false;
    }
    listener.status.supported_kinds = supported;
    is_valid
}

fn validate_tls(t: &mut Translator<'_>, id: ListenerId) -> bool {
    let mut is_valid = true;
    let (at, protocol) = (t.listener(id).at, t.listener(id).protocol.clone());
    let tls = at.field("tls");
    let mut refuse = |t: &mut Translator<'_>, reason: &str, message: String| {
        t.listener_mut(id).set("Programmed", false, reason, message);
        is_valid = false;
    };
    match protocol.as_str() {
        "HTTP" | "UDP" | "TCP" if tls.exists() => refuse(t, "Invalid", format!("Listener must not have TLS set when protocol is {protocol}.")),
        "HTTPS" | "TLS" if !tls.exists() => refuse(t, "Invalid", format!("Listener must have TLS set when protocol is {protocol}.")),
        "HTTPS" => match tls.field("mode").str() {
            "" | "Terminate" => is_valid &= certificates::resolve(t, id),
            mode => refuse(t, "UnsupportedTLSMode", format!("TLS {mode} mode is not supported, TLS mode must be Terminate.")),
        },
        "TLS" => match tls.field("mode").str() {
            "Passthrough" if tls.field("certificateRefs").has_items() => {
                refuse(t, "Invalid", "Listener must not have TLS certificate refs set for TLS mode Passthrough.".into());
            }
            "Terminate" if tls.field("certificateRefs").is_empty() => {
                refuse(t, "Invalid", "Listener must have TLS certificate refs set for TLS mode Terminate.".into());
            }
            "Terminate" => {
                is_valid &= certificates::resolve(t, id);
                // Names of certificates only apply to HTTPS.
                t.listener_mut(id).dns_names.clear();
            }
            _ => {}
        },
        _ => {}
    }
    if let Some(FrontendValidation::Invalid(reason, error)) = t.listener(id).frontend.as_deref().cloned() {
        let message = format!("Listener has invalid caCertificateRef for frontend TLS validation: {error}");
        let listener = t.listener_mut(id);
        listener.set("ResolvedRefs", false, reason, message.clone());
        listener.set("Programmed", false, reason, message.clone());
        listener.set("Accepted", false, "NoValidCACertificate", message);
        is_valid = false;
    }
    is_valid
}

/// Concludes the conditions of a listener from the results of its checks.
fn conclude(t: &mut Translator<'_>, id: ListenerId) {
    const PROGRAMMED: &str = "Sending translated listener configuration to the data plane";
    const ACCEPTED: &str = "Listener has been successfully translated";
    const INVALID: &str = "Listener is invalid, see other Conditions for details.";
    const RESOLVED: &str = "Listener references have been resolved";
    let listener = t.listener_mut(id);
    let conditions = &listener.status.conditions.0;
    if conditions.is_empty() {
        listener.set("Programmed", true, "Programmed", PROGRAMMED);
        listener.set("Accepted", true, "Accepted", ACCEPTED);
        listener.set("ResolvedRefs", true, "ResolvedRefs", RESOLVED);
        if listener.is_from_listener_set() {
            listener.set("Conflicted", false, "NoConflicts", "No conflicts detected");
        }
        return;
    }
    if let [only] = conditions.as_slice()
        && only.kind == "ResolvedRefs"
    {
        match only.reason.as_str() {
            "PartiallyInvalidCertificateRef" => {
                listener.set("Accepted", true, "Accepted", ACCEPTED);
                listener.set("Programmed", true, "Programmed", PROGRAMMED);
                return;
            }
            "InvalidCertificateRef" => {
                listener.set("Accepted", true, "Accepted", ACCEPTED);
                listener.set("Programmed", false, "Invalid", INVALID);
                return;
            }
            _ => {}
        }
    }
    if conditions.first().is_some_and(|first| first.kind != "Programmed" || !first.holds) {
        if listener.status.conditions.get("Programmed").is_none() {
            listener.set("Programmed", false, "Invalid", INVALID);
        }
        if listener.status.conditions.get("ResolvedRefs").is_none() {
            listener.set("ResolvedRefs", true, "ResolvedRefs", RESOLVED);
        }
    }
}

fn ready_listener(gateway: &GatewayContext<'_>) -> ReadyListener {
    let family = gateway.proxy(&["ipFamily"]).str();
    let family = if family.is_empty() { Str::new_static("IPv4") } else { family };
    ReadyListener { address: address(&family), ip_family: family, port: READY_PORT, path: Str::new_static("/ready") }
}

fn address(family: &str) -> Str {
    Str::new_static(if matches!(family, "IPv6" | "DualStack") { "::" } else { "0.0.0.0" })
}

/// Adds a listener to the model.
fn add(t: &mut Translator<'_>, id: ListenerId, key: &Str) {
    let gateway = &t.gateways[id.gateway];
    let listener = t.listener(id);
    let port = listener.at.field("port");
    let external_port = Sourced::new(listener.port, port.origin());
    let container_port = Sourced::new(container_port(t, gateway, listener.port), port.origin());
    let family = gateway.proxy(&["ipFamily"]).str();
    let core = CoreListener {
        name: listener.ir_name.clone(),
        address: address(&family),
        port: container_port,
        external_port,
        metadata: metadata::of(gateway.object, Sourced::new(listener.name.clone(), listener.at.field("name").origin())),
        ip_family: family,
        origin: Some(listener.at.origin()),
    };
    match listener.protocol.as_str() {
        "HTTP" | "HTTPS" => {
            let hostname = listener.at.field("hostname");
            let host = listener.hostname.clone().unwrap_or(Str::new_static("*"));
            let model = HttpListener {
                core,
                hostnames: Vec::from([Sourced::new(host, hostname.origin())]),
                tls: tls_of(listener),
                preserve_route_order: gateway.proxy(&["preserveRouteOrder"]).bool(),
                ..HttpListener::default()
            };
            let model = with_proxy_settings(model, gateway);
            t.xds.entry(key.clone()).or_default().http.push(model);
        }
        "TCP" | "TLS" => {
            let tls = tls_of(listener).map(|tls| TlsSettings { alpn: Some(Vec::new()), ..tls });
            t.xds.entry(key.clone()).or_default().tcp.push(TcpListener { core, tls, ..TcpListener::default() });
        }
        _ => t.xds.entry(key.clone()).or_default().udp.push(UdpListener { core, route: None }),
    }
}

/// Adds an EnvoyProxy's settings for HTTP listeners.
fn with_proxy_settings(mut listener: HttpListener, gateway: &GatewayContext<'_>) -> HttpListener {
    let stats = gateway.proxy(&["telemetry", "metrics", "enableGRPCStats"]);
    if !stats.is_null() {
        listener.client.grpc.set("enableGRPCStats", stats.clone());
    }
    listener.request_id_tracing = gateway.proxy(&["telemetry", "requestID", "tracing"]).clone();
    listener
}

fn tls_of(listener: &Listener<'_>) -> Option<TlsSettings> {
    let frontend = match listener.frontend.as_deref() {
        Some(FrontendValidation::Valid(tls)) => Some(TlsSettings::clone(tls)),
        _ => None,
    };
    if listener.certificates.is_empty() && frontend.is_none() {
        return None;
    }
    let tls = frontend.unwrap_or_default();
    Some(TlsSettings { certificates: listener.certificates.clone(), origin: Some(listener.at.field("tls").origin()), ..tls })
}

fn container_port(t: &Translator<'_>, gateway: &GatewayContext<'_>, port: i64) -> i64 {
    let is_kept =
        t.settings.on_host || t.settings.infra_is_remote || gateway.proxy(&["provider", "kubernetes", "useListenerPortAsContainerPort"]).bool();
    if is_kept || port >= FIRST_FREE_PORT { port } else { port + PORT_SHIFT }
}
