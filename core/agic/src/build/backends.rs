//! Resolves every use of a Service in an Ingress to the port of its pods.
//!
//! AGIC `newBackendIdsFiltered` and `resolveBackendPort`.

use super::builder::Builder;
use super::draft::Use;
use super::share::{Notes, ShareInput};
use crate::cluster::Name;
use crate::crash::ControllerCrash;
use crate::events::Reason;
use crate::fault::{self, Fault};
use crate::model::{Backend, EndpointPort, Ingress, ServiceRef, Target};
use crate::source::Source;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::resource::{Also, Origin};
use chancery_text::Str;

/// Crashes on the first backend that is not a Service.
pub(super) fn resolve(builder: &mut Builder<'_, '_>) -> Result<(), ControllerCrash> {
    match builder.shares.iter().find_map(|share| share.crash.clone()) {
        Some(crash) => Err(crash),
        None => Ok(()),
    }
}

/// Returns the uses of an Ingress with their resolved ports: its default backend first, then the paths of its rules.
pub(super) fn uses(given: &ShareInput<'_, '_>, ingress: &Ingress) -> Result<Vec<Use>, ControllerCrash> {
    let mut uses = Vec::new();
    if let Some(backend) = &ingress.default_backend {
        uses.push(used(given.source, ingress, None, backend)?);
    }
    for (rule_number, rule) in ingress.rules.iter().enumerate() {
        for (path_number, path) in rule.paths().iter().enumerate() {
            uses.push(used(given.source, ingress, Some((rule_number, path_number)), &path.backend)?);
        }
    }
    Ok(uses)
}

/// Returns the Service of a backend.
pub(crate) fn service_of<'b>(ingress: &Ingress, backend: &'b Backend) -> Result<&'b ServiceRef, ControllerCrash> {
    let why = || format!("a backend of the Ingress {} is no Service", ingress.key());
    backend.service.as_ref().ok_or_else(|| ControllerCrash::of(why(), backend.origin))
}

fn used(source: &Source<'_>, ingress: &Ingress, at: Option<(usize, usize)>, backend: &Backend) -> Result<Use, ControllerCrash> {
    let service = service_of(ingress, backend)?;
    let name = (ingress.namespace.clone(), service.name.value.clone());
    let (resolved, fault) = port_of(source, &name, service);
    let is_there = source.service(&name).is_some();
    let at_fault = service.name.origin.filter(|_| !is_there).unwrap_or(service.port.origin);
    let ports = Also(ports_behind(source, &name, service));
    Ok(Use {
        at,
        service: name,
        port: service.port.text(),
        resolved,
        fault: fault.map(|fault| (fault, at_fault)),
        origin: backend.origin.whole(),
        ports,
        port_origin: service.port.origin,
        probe: Str::default(),
        settings: Str::default(),
        pool: Str::default(),
    })
}

/// The largest port number plus one.
const TOO_LARGE: i64 = 65_536;

fn port_of(source: &Source<'_>, name: &Name, reference: &ServiceRef) -> (i64, Option<Fault>) {
    let key = format!("{}/{}", name.0, name.1);
    let wanted = &reference.port;
    let by_number = wanted.name.is_empty();
    let Some(service) = source.service(name) else {
        let port = if by_number && wanted.number < TOO_LARGE { wanted.number } else { 80 };
        return (port, Some(fault::service_not_found(&key)));
    };
    let text = wanted.text();
    let mut found: BTreeSet<(i64, i64)> = BTreeSet::new();
    for port in service.ports_meant(&text) {
        match &port.target {
            Target::Number(target) => {
                found.insert((port.port, *target));
            }
            // The endpoints use the Service's name for the port.
            Target::Name(_) => found.extend(ports_named(source, name, &port.name).map(|target| (port.port, target))),
        }
    }
    let smallest = found.iter().map(|(_, target)| *target).filter(|target| *target <= TOO_LARGE).min();
    let (port, fault) = match (smallest, found.len()) {
        (_, 0) => (if by_number { wanted.number } else { TOO_LARGE }, Some(fault::no_port_matched(&key))),
        (smallest, 1) => (smallest.unwrap_or(TOO_LARGE), None),
        (smallest, _) => {
            let smallest = smallest.unwrap_or(TOO_LARGE);
            // The controller formats the numbers as characters.
            let character = |(_, port): &(i64, i64)| u32::try_from(*port).ok().and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER);
            let characters: Vec<String> = found.iter().map(|port| String::from(character(port))).collect();
            (smallest, Some(fault::several_ports(&key, &text, smallest, &characters.join(","))))
        }
    };
    if port >= TOO_LARGE {
        return (80, Some(fault::invalid_port(&key, &text, port)));
    }
    (port, fault)
}

/// Returns the places of the ports that a reference may mean: in the Service, and in its addresses if they name the port.
fn ports_behind(source: &Source<'_>, name: &Name, reference: &ServiceRef) -> Vec<Origin> {
    let Some(service) = source.service(name) else { return Vec::new() };
    let mut out = Vec::new();
    for port in service.ports_meant(&reference.port.text()) {
        out.push(port.origin.whole());
        if let Target::Name(_) = &port.target {
            out.extend(endpoint_ports(source, name, &port.name).map(|of| of.origin.whole()));
        }
    }
    out
}

/// Returns the numbers of a named port among the addresses of a Service.
pub(super) fn ports_named<'s>(source: &'s Source<'_>, service: &Name, port: &'s str) -> impl Iterator<Item = i64> + use<'s> {
    endpoint_ports(source, service, port).map(|of| of.port)
}

fn endpoint_ports<'s>(source: &'s Source<'_>, service: &Name, port: &'s str) -> impl Iterator<Item = &'s EndpointPort> + use<'s> {
    let subsets = source.subsets(service).unwrap_or_default();
    subsets.iter().flat_map(|subset| &subset.ports).filter(move |of| of.name == port)
}

/// Records the faults of ports.
pub(super) fn note(uses: &[Use], notes: &mut Notes) {
    for used in uses {
        if let Some((fault, at)) = &used.fault {
            notes.add(Reason::PortResolutionError, fault.text(), *at);
        }
    }
}
