//! Turns references to backends into destinations: endpoints, protocols, zones.

use super::super::cluster::Admitted;
use super::super::context::{GatewayContext, RouteKind, Translator};
use super::super::load::resources::SliceOwner;
use super::super::model::{AddressType, AppProtocol, DestinationSetting, Endpoint};
use super::super::value::{text, tree};
use super::error::RouteError;
use super::metadata;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_base::resource::{Origin, Sourced};
use chancery_kubernetes::cursor::Cursor;
use chancery_text::Str;
use core::net::IpAddr;

/// A reference to a backend, with defaults.
#[derive(Clone, Debug, Default)]
pub(crate) struct SettingOf {
    pub(crate) group: Str,
    pub(crate) kind: Str,
    pub(crate) namespace: Str,
    pub(crate) name: Str,
    pub(crate) port: Option<Sourced<i64>>,
    pub(crate) origin: Option<Origin>,
}

impl SettingOf {
    /// Reads a field of an object in this namespace.
    pub(crate) fn of(at: Cursor<'_>, namespace: &str) -> Self {
        Self::of_tree(&tree(at), namespace).from(at.origin())
    }

    /// Reads a value of an object in this namespace.
    pub(crate) fn of_tree(reference: &Tree, namespace: &str) -> Self {
        let or = |field: &str, default: &str| match reference.get(field).text() {
            "" => Str::new(default),
            written => Str::new(written),
        };
        Self {
            group: or("group", ""),
            kind: or("kind", "Service"),
            namespace: or("namespace", namespace),
            name: or("name", ""),
            port: reference.find("port").map(Tree::number),
            origin: reference.origin,
        }
    }

    fn from(self, origin: Origin) -> Self {
        Self { origin: Some(origin), ..self }
    }

    pub(crate) fn port_number(&self) -> i64 {
        self.port.as_ref().map_or(0, |port| port.value)
    }
}

/// Returns the kind of a reference.
pub(crate) fn or_kind(reference: Cursor<'_>) -> &str {
    match reference.field("kind").str() {
        "" => "Service",
        written => written,
    }
}

/// Returns the protocol of backends, as the kind of route implies it.
pub(super) fn protocol_of(kind: RouteKind) -> AppProtocol {
    match kind {
        RouteKind::Http => AppProtocol::Http,
        RouteKind::Grpc => AppProtocol::Grpc,
        RouteKind::Udp => AppProtocol::Udp,
        RouteKind::Tcp | RouteKind::Tls => AppProtocol::Tcp,
    }
}

impl Translator<'_> {
    /// Whether Envoy sends to the Service's address instead of its endpoints.
    pub(crate) fn is_service_routing(&self, gateway: &GatewayContext<'_>, of_policy: Option<&str>) -> bool {
        is_service_routing(Some(gateway), of_policy)
    }
}

/// Whether Envoy sends to the Service's address instead of its endpoints.
pub(crate) fn is_service_routing(gateway: Option<&GatewayContext<'_>>, of_policy: Option<&str>) -> bool {
    match of_policy {
        Some("Service") => true,
        Some("Endpoint") => false,
        _ => gateway.is_some_and(|gateway| gateway.proxy(&["routingType"]).is("Service")),
    }
}

/// Returns the destination of a Service.
pub(crate) fn setting_of_service(
    t: &Translator<'_>,
    name: &str,
    of: &SettingOf,
    protocol: AppProtocol,
    is_service_routing: bool,
) -> Result<DestinationSetting, RouteError> {
    let Some(service) = t.resources.service(&of.namespace, &of.name) else {
        return Err(RouteError::new("BackendNotFound", format!("service {}/{} not found", of.namespace, of.name)));
    };
    if service.spec().field("type").str() == "ExternalName" {
        return Err(external_name(of));
    }
    let is_headless = service.spec().field("clusterIP").str() == "None";
    let addresses = Vec::from([service.spec().field("clusterIP")]);
    let mut setting = setting(t, name, of, protocol, (service, SliceOwner::Service), &addresses, is_service_routing && !is_headless)?;
    setting.prefer_local = prefer_local(service);
    Ok(setting)
}

/// Returns the error for a Service without its own endpoints.
pub(super) fn external_name(of: &SettingOf) -> RouteError {
    let message = format!(
        "Service {}/{} is of type ExternalName, which is not supported as a backend; use an Envoy Gateway Backend resource with an FQDN endpoint \
         instead",
        of.namespace, of.name
    );
    RouteError::new("UnsupportedValue", message)
}

/// Returns the destination of an imported Service.
pub(crate) fn setting_of_import(
    t: &Translator<'_>,
    name: &str,
    of: &SettingOf,
    protocol: AppProtocol,
    is_service_routing: bool,
) -> Result<DestinationSetting, RouteError> {
    let Some(import) = t.resources.service_import(&of.namespace, &of.name) else {
        return Err(RouteError::new("BackendNotFound", format!("service import {}/{} not found", of.namespace, of.name)));
    };
    let addresses: Vec<Cursor<'_>> = import.spec().field("ips").items().collect();
    let is_service = is_service_routing && !addresses.is_empty();
    setting(t, name, of, protocol, (import, SliceOwner::ServiceImport), &addresses, is_service)
}

fn setting(
    t: &Translator<'_>,
    name: &str,
    of: &SettingOf,
    default: AppProtocol,
    (object, owner): (&Admitted<'_>, SliceOwner),
    addresses: &[Cursor<'_>],
    is_service_routing: bool,
) -> Result<DestinationSetting, RouteError> {
    let number = of.port_number();
    let port = object.spec().field("ports").items().find(|port| port.field("port").int() == Some(number));
    let app_protocol = port.and_then(|port| port.field("appProtocol").some_str());
    let protocol = app_protocol.map_or(default, |written| backend_protocol(written, default));
    let (endpoints, address_type) = if is_service_routing {
        let endpoint = |at: &Cursor<'_>| Endpoint {
            host: text(*at),
            port: Sourced::new(number, of.port.as_ref().and_then(|port| port.origin)),
            origin: Some(at.origin()),
            ..Endpoint::default()
        };
        (addresses.iter().map(endpoint).collect(), None)
    } else {
        let port_name = port.map_or("", |port| port.field("name").str());
        let transport = port.map_or("TCP", |port| transport(port));
        let (endpoints, address_type) = endpoints_of_service(t, owner, &of.namespace, &of.name, port_name, transport);
        if endpoints.is_empty() {
            let message = format!("no ready endpoints for the related {} {}/{}", object.kind.name(), of.namespace, of.name);
            return Err(RouteError::new("EndpointsNotFound", message));
        }
        let reference = of.port.as_ref().and_then(|port| port.origin);
        let endpoints = endpoints.into_iter().map(|endpoint| Endpoint { port_reference: reference, ..endpoint }).collect();
        (endpoints, address_type)
    };
    Ok(DestinationSetting {
        name: Str::new(name),
        protocol,
        force_http1: app_protocol.is_some_and(|written| forces_http1(written, protocol)),
        endpoints,
        address_type,
        metadata: Some(metadata::of(object, Sourced::new(Str::from(format!("{number}")), of.port.as_ref().and_then(|port| port.origin)))),
        origin: of.origin,
        ..DestinationSetting::default()
    })
}

/// Returns the protocol of a port: `TCP` unless it says another.
pub(super) fn transport<'a>(port: Cursor<'a>) -> &'a str {
    match port.field("protocol").str() {
        "" => "TCP",
        written => written,
    }
}

/// Returns the endpoints of a Service at a port, and what kind of addresses they are.
pub(crate) fn endpoints_of_service(
    t: &Translator<'_>,
    owner: SliceOwner,
    namespace: &str,
    name: &str,
    port_name: &str,
    transport: &str,
) -> (Vec<Endpoint>, Option<AddressType>) {
    let slices = t.resources.slices_of(owner, namespace, name);
    let (mut endpoints, mut kinds) = (Vec::new(), BTreeSet::new());
    for slice in slices {
        let root = slice.root();
        kinds.insert(if root.field("addressType").str() == "FQDN" { AddressType::Fqdn } else { AddressType::Ip });
        let ports: Vec<Cursor<'_>> =
            root.field("ports").items().filter(|port| port.field("name").str() == port_name && self::transport(*port) == transport).collect();
        for endpoint in root.field("endpoints").items() {
            for port in &ports {
                endpoints.extend(endpoint.field("addresses").items().map(|address| Endpoint {
                    host: text(address),
                    port: Sourced::new(port.field("port").int().unwrap_or_default(), port.field("port").origin()),
                    draining: is_draining(endpoint.field("conditions")),
                    zone: tree(endpoint.field("zone")),
                    origin: Some(address.origin()),
                    ..Endpoint::default()
                }));
            }
        }
    }
    let kind = if kinds.len() > 1 { Some(AddressType::Mixed) } else { kinds.into_iter().next() };
    (endpoints, kind)
}

fn is_draining(conditions: Cursor<'_>) -> bool {
    let flag = |name: &str| conditions.field(name).some_bool();
    match (flag("serving"), flag("terminating")) {
        (Some(serving), Some(terminating)) => terminating || !serving,
        _ => flag("ready") == Some(false),
    }
}

/// Returns how much requests prefer endpoints of the same zone.
fn prefer_local(service: &Admitted<'_>) -> Tree {
    let distribution = service.spec().field("trafficDistribution");
    let mode = service.annotations().field("service.kubernetes.io/topology-mode");
    let (least, origin) = if distribution.exists() {
        (1, distribution.origin())
    } else if matches!(mode.str(), "Auto" | "auto") {
        (3, mode.origin())
    } else {
        return Tree::NULL;
    };
    let number = || Tree::from(least).with_origin(Some(origin));
    let force = Tree::object([("minEndpointsInZoneThreshold", number())]).with_origin(Some(origin));
    Tree::object([("minEndpointsThreshold", number()), ("force", force)]).with_origin(Some(origin))
}

/// Returns the family of a Service's addresses; empty if it does not say.
pub(super) fn ip_family(service: &Admitted<'_>) -> Str {
    let families: Vec<&str> = service.spec().field("ipFamilies").items().map(Cursor::str).collect();
    let is_dual = service.spec().field("ipFamilyPolicy").str() == "RequireDualStack" || families.len() > 1;
    match families.first() {
        _ if is_dual => Str::new_static("DualStack"),
        Some(only) if matches!(*only, "IPv4" | "IPv6") => Str::new(only),
        _ => Str::default(),
    }
}

/// Returns the destination of a Backend that exists.
pub(crate) fn setting_of_backend(t: &Translator<'_>, name: &str, of: &SettingOf, default: AppProtocol) -> DestinationSetting {
    let mut setting = DestinationSetting { name: Str::new(name), protocol: default, origin: of.origin, ..DestinationSetting::default() };
    let Some(backend) = t.resources.backend(&of.namespace, &of.name) else { return setting };
    let spec = backend.spec();
    for written in spec.field("appProtocols").items() {
        setting.protocol = backend_protocol(written.str(), setting.protocol);
        setting.force_http1 |= forces_http1(written.str(), setting.protocol);
    }
    if spec.field("type").str() == "DynamicResolver" {
        setting.is_dynamic_resolver = true;
        return setting;
    }
    let mut kinds = BTreeSet::new();
    let mut counted = 0;
    for item in spec.field("endpoints").items() {
        let (ip, fqdn, unix) = (item.field("ip"), item.field("fqdn"), item.field("unix"));
        let common =
            Endpoint { hostname: tree(item.field("hostname")), zone: tree(item.field("zone")), origin: Some(item.origin()), ..Endpoint::default() };
        let port = |at: Cursor<'_>| Sourced::new(at.field("port").int().unwrap_or_default(), at.field("port").origin());
        let (kind, endpoint) = if ip.exists() {
            if ip.field("address").str().parse::<IpAddr>().is_err() {
                continue;
            }
            (AddressType::Ip, Endpoint { host: text(ip.field("address")), port: port(ip), ..common })
        } else if fqdn.exists() {
            (AddressType::Fqdn, Endpoint { host: text(fqdn.field("hostname")), port: port(fqdn), ..common })
        } else if unix.exists() {
            (AddressType::Uds, Endpoint { path: tree(unix.field("path")), ..common })
        } else {
            continue;
        };
        counted += 1;
        kinds.insert(kind);
        setting.endpoints.push(endpoint);
    }
    let is_complete = counted == spec.field("endpoints").len();
    setting.address_type = match kinds.len() {
        0 => None,
        1 if is_complete => kinds.into_iter().next(),
        _ if kinds.contains(&AddressType::Fqdn) => Some(AddressType::Mixed),
        _ => Some(AddressType::Static),
    };
    if spec.field("fallback").is_true() {
        setting.priority = Some(Sourced::new(1, spec.field("fallback").origin()));
    }
    setting.metadata = Some(metadata::of(backend, Sourced::default()));
    setting
}

fn backend_protocol(written: &str, default: AppProtocol) -> AppProtocol {
    match written {
        _ if default != AppProtocol::Http => default,
        "kubernetes.io/h2c" | "gateway.envoyproxy.io/h2c" => AppProtocol::Http2,
        "grpc" => AppProtocol::Grpc,
        _ => default,
    }
}

fn forces_http1(written: &str, protocol: AppProtocol) -> bool {
    matches!(protocol, AppProtocol::Http | AppProtocol::Http2 | AppProtocol::Grpc)
        && matches!(written, "kubernetes.io/ws" | "kubernetes.io/wss" | "gateway.envoyproxy.io/ws" | "gateway.envoyproxy.io/wss")
}
