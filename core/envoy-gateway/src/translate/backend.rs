//! Validates references to backends, and Backends themselves.

use super::super::cluster::Admitted;
use super::super::context::Translator;
use super::super::kinds::GROUP;
use super::super::status::Reference;
use super::destination::{SettingOf, external_name, transport};
use super::error::RouteError;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use chancery_base::schema::names;
use chancery_kubernetes::cursor::Cursor;
use core::net::IpAddr;

/// Writes the statuses of Backends.
pub(crate) fn report(t: &mut Translator<'_>) {
    for backend in t.resources.backends.clone() {
        let error = if t.settings.backend {
            validate(t, backend).err().map(|error| format!("The Backend was not accepted: {}", error.message))
        } else {
            Some("The Backend was not accepted since Backend is not enabled in Envoy Gateway Config".into())
        };
        let status = t.policies.entry(backend.id()).or_default();
        // A Backend has its own conditions, and no ancestors.
        match error {
            Some(error) => status.set(&Reference::default(), "Invalid", false, "Accepted", &error),
            None => status.set(&Reference::default(), "Accepted", true, "Accepted", "The Backend was accepted"),
        }
    }
}

/// Checks that the object of a reference exists and has the port.
pub(crate) fn validate_reference(t: &Translator<'_>, of: &SettingOf, protocol: &str, allows_sockets: bool) -> Result<(), RouteError> {
    let (namespace, name) = (&of.namespace, &of.name);
    let has_port = |object: &Admitted<'_>| {
        object.spec().field("ports").items().any(|port| port.field("port").int() == Some(of.port_number()) && transport(port) == protocol)
    };
    match of.kind.as_str() {
        "Service" => {
            let Some(service) = t.resources.service(namespace, name) else {
                return Err(RouteError::new("BackendNotFound", format!("service {namespace}/{name} not found")));
            };
            if service.spec().field("type").str() == "ExternalName" {
                return Err(external_name(of));
            }
            if !has_port(service) {
                let message = format!("{protocol} Port {} not found on Service {namespace}/{name}", of.port_number());
                return Err(RouteError::new("PortNotFound", message));
            }
            Ok(())
        }
        "ServiceImport" => {
            let Some(import) = t.resources.service_import(namespace, name) else {
                return Err(RouteError::new("BackendNotFound", format!("service import {namespace}/{name} not found")));
            };
            if !has_port(import) {
                let message = format!("{protocol} port {} not found on service import {namespace}/{name}", of.port_number());
                return Err(RouteError::new("PortNotFound", message));
            }
            Ok(())
        }
        "Backend" => validate_backend_reference(t, of, allows_sockets),
        _ => Ok(()),
    }
}

fn validate_backend_reference(t: &Translator<'_>, of: &SettingOf, allows_sockets: bool) -> Result<(), RouteError> {
    if !t.settings.backend {
        return Err(RouteError::new("UnsupportedValue", "Backend is disabled in Envoy Gateway configuration"));
    }
    let Some(backend) = t.resources.backend(&of.namespace, &of.name) else {
        return Err(RouteError::new("BackendNotFound", format!("Backend {}/{} not found", of.namespace, of.name)));
    };
    validate(t, backend)?;
    if !allows_sockets && backend.spec().field("endpoints").items().any(|endpoint| endpoint.field("unix").exists()) {
        return Err(RouteError::new("UnsupportedAddressType", "unix domain sockets are not supported in backend references"));
    }
    Ok(())
}

/// Checks a Backend.
pub(super) fn validate(t: &Translator<'_>, backend: &Admitted<'_>) -> Result<(), RouteError> {
    let spec = backend.spec();
    if spec.field("type").str() == "DynamicResolver" && spec.field("endpoints").has_items() {
        return Err(RouteError::new("InvalidBackendRef", "DynamicResolver type cannot have endpoints specified"));
    }
    validate_tls(t, backend)?;
    for endpoint in spec.field("endpoints").items() {
        if let Some(hostname) = endpoint.field("hostname").some_str() {
            validate_host(t, hostname, "hostname")?;
        }
        if endpoint.field("fqdn").exists() {
            validate_host(t, endpoint.at("fqdn.hostname").str(), "FQDN")?;
        } else if endpoint.field("ip").exists() {
            validate_address(t, endpoint.at("ip.address").str())?;
        }
    }
    Ok(())
}

fn validate_tls(t: &Translator<'_>, backend: &Admitted<'_>) -> Result<(), RouteError> {
    let tls = backend.spec().field("tls");
    if !tls.exists() {
        return Ok(());
    }
    let has_ca = tls.field("wellKnownCACertificates").exists() || tls.field("caCertificateRefs").has_items();
    if !tls.field("insecureSkipVerify").is_true() && !has_ca && !is_covered(t, backend) {
        let message = "must specify either CACertificateRefs or WellKnownCACertificates when InsecureSkipVerify is unset or false";
        return Err(RouteError::new("InvalidBackendRef", message));
    }
    let there = tls.at("clientCertificateRef.namespace").str();
    if !there.is_empty() && there != backend.namespace().as_str() {
        let message = format!(
            "clientCertificateRef Secret is not located in the same namespace as Backend. Secret namespace: {there} does not match Backend namespace: {}",
            backend.namespace()
        );
        return Err(RouteError::new("InvalidBackendRef", message));
    }
    Ok(())
}

/// Whether BackendTLSPolicies give CAs for the Backend, or for each of its ports.
fn is_covered(t: &Translator<'_>, backend: &Admitted<'_>) -> bool {
    let mut ports: BTreeMap<String, bool> = BTreeMap::new();
    for endpoint in backend.spec().field("endpoints").items() {
        let port = endpoint.at("fqdn.port").some().or_else(|| endpoint.at("ip.port").some()).and_then(Cursor::int);
        ports.extend(port.map(|port| (format!("{port}"), false)));
    }
    for policy in &t.resources.backend_tls_policies {
        let validation = policy.spec().field("validation");
        let has_ca = validation.field("wellKnownCACertificates").exists() || validation.field("caCertificateRefs").has_items();
        for target in policy.spec().field("targetRefs").items() {
            let is_it = target.field("group").str() == GROUP
                && target.field("kind").str() == "Backend"
                && target.field("name").str() == backend.name().as_str();
            match target.field("sectionName").some_str() {
                _ if !is_it => {}
                None if has_ca => return true,
                None => {}
                Some(section) => {
                    if let Some(covered) = ports.get_mut(section) {
                        *covered = true;
                    }
                }
            }
        }
    }
    !ports.is_empty() && ports.values().all(|covered| *covered)
}

fn validate_host(t: &Translator<'_>, host: &str, what: &str) -> Result<(), RouteError> {
    let invalid = |message: String| Err(RouteError::new("InvalidAddress", message));
    if !names::subdomain(host.strip_suffix('.').unwrap_or(host)).is_empty() {
        return invalid(format!("hostname {host} is not a valid {what}"));
    }
    if !t.settings.on_host && !host.contains('.') {
        return invalid(format!("hostname {host} should be a domain with at least two segments separated by dots"));
    }
    if host.parse::<IpAddr>().is_ok() {
        return invalid(format!("hostname {host} is an IP address"));
    }
    Ok(())
}

fn validate_address(t: &Translator<'_>, address: &str) -> Result<(), RouteError> {
    match address.parse::<IpAddr>() {
        Err(_) => Err(RouteError::new("InvalidAddress", format!("IP address {address} is invalid"))),
        Ok(parsed) if parsed.is_loopback() && !t.settings.on_host => {
            let message = format!("IP address {address} in the loopback range is only supported when using the Host infrastructure");
            Err(RouteError::new("InvalidAddress", message))
        }
        Ok(_) => Ok(()),
    }
}
