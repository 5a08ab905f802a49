//! Processes Services as upstreams (Contour `internal/dag/accessors.go`, `internal/annotation`).

use super::Processing;
use crate::cluster::{Admitted, Name};
use crate::model::{CircuitBreakers, Service};
use crate::source::PortRef;
use alloc::format;
use chancery_base::resource::{Origin, Rule, Sourced};
use chancery_kubernetes::cursor::Cursor;
use chancery_kubernetes::reason::Reason;
use chancery_text::Str;
use core::net::IpAddr;

/// The `ports` field of a Service.
pub(super) fn ports_of(service: &Admitted<'_>) -> Origin {
    let ports = service.root.get("spec").and_then(|spec| spec.get("ports"));
    Origin::field(service.object.id, ports.unwrap_or(&service.root).id).whole()
}

impl Processing<'_> {
    /// A Service's port as an upstream; `health_port` is 0 if health checks use the same port.
    pub(super) fn service(&self, name: &Name, port: PortRef<'_>, health_port: i64) -> Result<Service, Reason> {
        let (service, port) = self.source.service(name, port)?;
        let health_port = match health_port {
            0 => port.clone(),
            number if number == i64::from(port.port) => port.clone(),
            number => self.source.service(name, PortRef::Number(number))?.1,
        };
        let external_name = external_name(service).unwrap_or_default();
        self.check_external_name(service, &external_name.value)?;
        let annotations = service.annotations();
        let limit = |name: &str| annotated_number(annotations, name);
        Ok(Service {
            namespace: service.namespace().clone(),
            name: service.name().clone(),
            protocol: protocol(service, &port.name, port.port),
            port,
            health_port,
            circuit_breakers: CircuitBreakers {
                max_connections: limit("projectcontour.io/max-connections"),
                max_pending_requests: limit("projectcontour.io/max-pending-requests"),
                max_requests: limit("projectcontour.io/max-requests"),
                max_retries: limit("projectcontour.io/max-retries"),
                per_host_max_connections: limit("projectcontour.io/per-host-max-connections"),
            },
            external_name,
            weight: Sourced::built_in(1),
            ports: ports_of(service),
        })
    }

    /// Limits of 0 use the administrator's limits.
    pub(super) fn with_default_limits(&self, mut service: Service) -> Service {
        let Some(defaults) = &self.common.circuit_breakers else { return service };
        let limits = &mut service.circuit_breakers;
        for (limit, default) in [
            (&mut limits.max_connections, &defaults.max_connections),
            (&mut limits.max_pending_requests, &defaults.max_pending_requests),
            (&mut limits.max_requests, &defaults.max_requests),
            (&mut limits.max_retries, &defaults.max_retries),
            (&mut limits.per_host_max_connections, &defaults.per_host_max_connections),
        ] {
            if limit.value == 0 {
                *limit = *default;
            }
        }
        service
    }

    fn check_external_name(&self, service: &Admitted<'_>, external_name: &str) -> Result<(), Reason> {
        if external_name.is_empty() {
            return Ok(());
        }
        let (namespace, name) = (service.namespace(), service.name());
        if !self.common.external_names {
            return Err(format!(
                "{namespace}/{name} is an ExternalName service, these are not currently enabled. See the config.enableExternalNameService config file setting"
            ).into());
        }
        let host = external_name.strip_suffix('.').unwrap_or(external_name);
        if matches!(host, "localhost" | "localhost.localdomain" | "local.projectcontour.io") {
            return Err(format!("{namespace}/{name} is an ExternalName service that points to localhost, this is not allowed").into());
        }
        let is_local = host.parse::<IpAddr>().is_ok_and(|address| match address {
            IpAddr::V4(address) => address.is_loopback() || address.is_unspecified() || address.is_link_local(),
            IpAddr::V6(address) => match address.to_ipv4_mapped() {
                Some(mapped) => mapped.is_loopback() || mapped.is_unspecified() || mapped.is_link_local(),
                None => address.is_loopback() || address.is_unspecified() || address.is_unicast_link_local(),
            },
        });
        if is_local {
            let what = "points to a loopback, link-local or unspecified IP address, this is not allowed";
            return Err(format!("{namespace}/{name} is an ExternalName service that {what}").into());
        }
        Ok(())
    }
}

fn external_name(service: &Admitted<'_>) -> Option<Sourced<Str>> {
    let spec = service.spec();
    if spec.field("type").str() != "ExternalName" {
        return None;
    }
    let name = spec.field("externalName");
    Some(Sourced::new(Str::new(name.str()), name.origin()).by(Rule::Reference))
}

/// `appProtocol` of a port.
pub(super) fn app_protocol<'s>(service: &'s Admitted<'_>, name: &str, number: u16) -> Option<Cursor<'s>> {
    let items = service.spec().field("ports").items();
    let mut port = items.filter(|item| item.field("name").str() == name && item.field("port").int() == Some(i64::from(number)));
    port.next()?.field("appProtocol").some()
}

/// Contour's name for an `appProtocol`; `None` if Contour does not know it.
pub(crate) fn known_protocol(app_protocol: &str) -> Option<&'static str> {
    match app_protocol {
        "kubernetes.io/h2c" => Some("h2c"),
        "https" => Some("tls"),
        "kubernetes.io/ws" | "http" => Some(""),
        _ => None,
    }
}

/// The protocols that annotations name ports for.
pub(crate) const PROTOCOLS: [(&str, &str); 3] = [
    ("tls", "projectcontour.io/upstream-protocol.tls"),
    ("h2c", "projectcontour.io/upstream-protocol.h2c"),
    ("h2", "projectcontour.io/upstream-protocol.h2"),
];

/// The protocol of a port: any `appProtocol`, or else the annotations.
fn protocol(service: &Admitted<'_>, port_name: &str, number: u16) -> Sourced<Str> {
    if let Some(app) = app_protocol(service, port_name, number) {
        return Sourced::new(Str::new_static(known_protocol(app.str()).unwrap_or_default()), app.origin()).by(Rule::Reference);
    }
    let asked = PROTOCOLS.map(|(protocol, annotation)| Some((protocol, service.annotation(annotation)?)));
    if asked.iter().all(Option::is_none) {
        return Sourced::default();
    }
    let number = format!("{number}");
    // The later of the protocols wins, and a port's name before its number.
    for wanted in [port_name, number.as_str()] {
        for (protocol, ports) in asked.into_iter().flatten() {
            if ports.str().split(',').map(str::trim).any(|port| !port.is_empty() && port == wanted) {
                return Sourced::new(Str::new_static(protocol), ports.origin()).by(Rule::Reference);
            }
        }
    }
    Sourced::default()
}

fn annotated_number(annotations: Cursor<'_>, name: &str) -> Sourced<u32> {
    let Some(at) = annotations.field(name).some() else { return Sourced::default() };
    let digits = !at.str().is_empty() && at.str().bytes().all(|byte| byte.is_ascii_digit());
    let value = if digits { at.str().parse().unwrap_or_default() } else { 0 };
    Sourced::new(value, at.origin()).by(Rule::Reference)
}
