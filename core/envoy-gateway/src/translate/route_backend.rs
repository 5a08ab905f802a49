//! Checks and resolves the backends of rules, without their filters. See `rule` for the filters.

use super::super::cluster::Name;
use super::super::context::{RouteContext, RouteKind, Translator};
use super::super::kinds::{GATEWAY_API, GROUP, MULTI_CLUSTER};
use super::super::load::resources::{From, To};
use super::super::model::{AddressType, DestinationSetting};
use super::backend::validate_reference;
use super::backend_tls::apply_backend_tls;
use super::destination::{SettingOf, ip_family, is_service_routing, or_kind, protocol_of, setting_of_backend, setting_of_import, setting_of_service};
use super::error::RouteError;
use super::filter_types;
use super::rule_filters::At;
use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;
use chancery_base::resource::Sourced;
use chancery_kubernetes::cursor::Cursor;
use chancery_text::Str;

/// A backend of a rule.
pub(super) struct Backend<'a> {
    pub(super) at: Cursor<'a>,
    pub(super) filters: Vec<Cursor<'a>>,
    pub(super) weight: i64,
}

impl<'a> Backend<'a> {
    /// Reads a backend. Only routes of requests have filters for it.
    pub(super) fn of(at: Cursor<'a>) -> Self {
        Self { at, filters: at.field("filters").items().collect(), weight: at.field("weight").int().unwrap_or(1) }
    }
}

/// Returns the `routingType` that a BackendTrafficPolicy gives a rule.
pub(super) fn routing_type(t: &Translator<'_>, route: &RouteContext<'_>, parent: usize, gateway: Option<usize>, rule: Option<&str>) -> Option<Str> {
    let gateway = t.gateways[gateway?].name();
    let parent = route.parents[parent].at;
    let set: Option<Name> = (parent.field("kind").str() == "ListenerSet").then(|| {
        let namespace = parent.field("namespace").some_str().unwrap_or(route.object.namespace());
        (Str::new(namespace), Str::new(parent.field("name").str()))
    });
    let section = parent.field("sectionName").some_str();
    t.index.routing_type(route.kind, &route.object.full_name(), &gateway, section, set.as_ref(), rule)
}

/// Resolves a backend, without its filters.
pub(super) fn resolve<'a>(
    t: &mut Translator<'a>,
    at: At<'_, 'a>,
    name: &str,
    backend: &Backend<'a>,
    routing_type: Option<&str>,
) -> Result<DestinationSetting, RouteError> {
    let weight = Sourced::new(backend.weight, backend.at.field("weight").origin());
    let of = SettingOf::of(backend.at, at.route.object.namespace());
    let protocol = protocol_of(at.route.kind);
    let parent = at.route.parents[at.parent].reference.clone();
    let tls = apply_backend_tls(t, &of, &parent, at.gateway).map_err(|error| RouteError::new("InvalidBackendTLS", error))?;
    let is_service = is_service(t, at, routing_type);
    let mut setting = match of.kind.as_str() {
        "ServiceImport" => setting_of_import(t, name, &of, protocol, is_service)?,
        "Backend" => setting_of_backend(t, name, &of, protocol),
        _ => {
            let setting = setting_of_service(t, name, &of, protocol, is_service)?;
            let family = t.resources.service(&of.namespace, &of.name).map(|service| ip_family(service));
            DestinationSetting { ip_family: family.unwrap_or_default(), ..setting }
        }
    };
    setting.tls = tls.map(Box::new);
    setting.weight = Some(weight);
    Ok(setting)
}

/// Whether requests go to the Service's own address.
fn is_service(t: &Translator<'_>, at: At<'_, '_>, routing_type: Option<&str>) -> bool {
    is_service_routing(at.gateway.map(|gateway| &t.gateways[gateway]), routing_type)
}

/// Refuses a backend whose addresses are of several types.
pub(super) fn check_address_type(
    t: &Translator<'_>,
    at: At<'_, '_>,
    backend: &Backend<'_>,
    routing_type: Option<&str>,
    setting: &DestinationSetting,
) -> Result<(), RouteError> {
    if setting.address_type == Some(AddressType::Mixed) {
        let message = match or_kind(backend.at) {
            "Backend" => Some("mixed FQDN and IP or Unix address type for the same backendRef is not supported"),
            _ if !is_service(t, at, routing_type) => Some("mixed endpointslice address type for the same backendRef is not supported"),
            _ => None,
        };
        if let Some(message) = message {
            return Err(RouteError::new("UnsupportedAddressType", message));
        }
    }
    Ok(())
}

/// Checks a reference to a backend.
pub(super) fn validate_backend(t: &Translator<'_>, route: &RouteContext<'_>, backend: &Backend<'_>) -> Result<(), RouteError> {
    validate_filters(route.kind, backend)?;
    let at = backend.at;
    let group = at.field("group").str();
    if !matches!(group, "" | MULTI_CLUSTER | GROUP) {
        let message = format!(
            "Group is invalid, only the core API group (specified by omitting the group field or setting it to an empty string), {MULTI_CLUSTER} and \
             {GROUP} are supported"
        );
        return Err(RouteError::new("InvalidKind", message));
    }
    let kind = at.field("kind").some_str();
    if kind.is_some_and(|kind| !matches!(kind, "Service" | "ServiceImport" | "Backend")) {
        return Err(RouteError::new("InvalidKind", "Kind is invalid, only Service, MCS ServiceImport and Envoy Gateway Backend are supported"));
    }
    let (here, there) = (route.object.namespace(), at.field("namespace").str());
    let (kind, name) = (or_kind(at), at.field("name").str());
    if !there.is_empty() && there != here.as_str() {
        let from = From { group: GATEWAY_API, kind: route.kind.name(), namespace: here };
        if !t.resources.permits(from, To { group, kind, namespace: there, name }) {
            let message = format!("Backend ref to {kind} {there}/{name} not permitted by any ReferenceGrant.");
            return Err(RouteError::new("RefNotPermitted", message));
        }
    }
    if kind != "Backend" && !at.field("port").exists() {
        let message = "A valid port number corresponding to a port on the Service must be specified";
        return Err(RouteError::new("PortNotSpecified", message));
    }
    let protocol = if route.kind == RouteKind::Udp { "UDP" } else { "TCP" };
    validate_reference(t, &SettingOf::of(at, here), protocol, false)
}

fn validate_filters(kind: RouteKind, backend: &Backend<'_>) -> Result<(), RouteError> {
    const REASON: &str = "UnsupportedRefValue";
    let is_grpc = kind == RouteKind::Grpc;
    let mut is_unsupported = false;
    for filter in &backend.filters {
        let of_type = filter.field("type").str();
        if is_grpc {
            is_unsupported |= !matches!(of_type, "RequestHeaderModifier" | "ResponseHeaderModifier");
            continue;
        }
        if filter_types::validate(*filter, false).is_err() {
            is_unsupported = true;
            continue;
        }
        if of_type == "URLRewrite" && filter.at("urlRewrite.path").exists() {
            return Err(RouteError::new(REASON, "URLRewrite path modifier is not supported within BackendRef"));
        }
        is_unsupported |= !matches!(of_type, "RequestHeaderModifier" | "ResponseHeaderModifier" | "ExtensionRef" | "URLRewrite");
    }
    if !is_unsupported {
        return Ok(());
    }
    let supported = match is_grpc {
        true => "RequestHeaderModifier and ResponseHeaderModifier",
        false => "RequestHeaderModifier, ResponseHeaderModifier, URLRewrite and gateway.envoyproxy.io/HTTPRouteFilter",
    };
    Err(RouteError::new(REASON, format!("Specific filter is not supported within BackendRef, only {supported} are supported")))
}
