//! Makes probes: one for each port of a Service in an Ingress, from the rule, from annotations, and from the probe of the first pod.
//!
//! AGIC `pkg/appgw/health_probes.go`. More specific settings override others, in this order: host and path of the rule, `backend-*` annotations,
//! the pod's probe, `health-probe-*` annotations.

use super::backends;
use super::builder::{Builder, kept, own, word};
use super::draft::Use;
use super::listeners::hosts_of;
use super::share::{Share, ShareInput};
use crate::annotations as a;
use crate::brownfield::by_name;
use crate::crash::ControllerCrash;
use crate::model::{self, Ingress, Path, Rule, Target};
use crate::names::{Names, PartKind};
use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::appgw::{Derived, HTTP, HTTPS, Part, Probe, ProbeMatch};
use chancery_base::resource::{Also, Sourced};
use chancery_text::Str;

/// The maximum failure threshold of a pod's probe.
const MOST_FAILURES: i64 = 20;

/// Makes all probes, and two default probes.
pub(super) fn make(builder: &mut Builder<'_, '_>) -> Result<(), ControllerCrash> {
    let has_sku = builder.gateway.properties.as_ref().is_some_and(|properties| properties.sku.is_some());
    if !has_sku && builder.shares.iter().any(|share| share.has_probes()) {
        return Err(ControllerCrash::of("the gateway's ARM document has no `properties.sku`, which Azure always sends", None));
    }
    let defaults = [HTTP, HTTPS].into_iter().map(|protocol| Arc::new(default_probe(builder.names, protocol)));
    // The controller uses any probe of a name; here the first one wins.
    let all = defaults.chain(builder.shares.iter().flat_map(|share| &share.probes).cloned()).map(|probe| (probe, false)).collect();
    let made = builder.memory.orders.probes.winners(all, Part::name);
    let existing = builder.existing()?;
    let properties = builder.properties();
    let theirs = existing.map(|existing| kept(&properties.probes, |name| existing.probes.contains(name))).unwrap_or_default();
    properties.probes = Some(by_name(theirs, made));
    Ok(())
}

/// Adds the probes of an Ingress.
pub(super) fn add(given: &ShareInput<'_, '_>, share: &mut Share) {
    let ingress = share.ingress.clone();
    for used in &mut share.uses {
        let path = used.at.and_then(|(rule, path)| Some((ingress.rules.get(rule)?, ingress.rules.get(rule)?.paths().get(path)?)));
        used.probe = match path.and_then(|(rule, path)| probe(given, used, &ingress, rule, path)) {
            Some(probe) => {
                let name = probe.name.clone();
                share.probes.push(Arc::new(probe));
                name
            }
            None => {
                let is_https = ingress.annotations.is_https(&a::BACKEND_PROTOCOL).value().is_some_and(|https| https.value);
                given.names.default_probe(if is_https { HTTPS } else { HTTP })
            }
        };
    }
}

fn default_probe(names: &Names, protocol: &'static str) -> Part<Probe> {
    let name = names.default_probe(protocol);
    let id = names.id(PartKind::Probe, &name);
    let probe = Probe {
        protocol: word(protocol).map(Derived::from),
        host: word("localhost"),
        path: word("/"),
        interval: own(30),
        timeout: own(30),
        unhealthy_threshold: own(3),
        answers: Some(ProbeMatch::default()),
        pick_host_name: own(false),
        min_servers: own(0),
        ..Probe::default()
    };
    Part::new(name, id, probe, chancery_base::resource::Origin::built_in())
}

fn probe(given: &ShareInput<'_, '_>, used: &Use, ingress: &Ingress, rule: &Rule, path: &Path) -> Option<Part<Probe>> {
    let service = given.source.service(&used.service)?;
    let name = given.names.probe(&ingress.namespace, &used.service.1, &used.port, &ingress.name);
    let id = given.names.id(PartKind::Probe, &name);
    let mut probe = default_probe(given.names, HTTP).properties;
    if let Some(host) = hosts_of(ingress, Some(rule)).into_iter().find(|host| !host.contains(['*', '?'])) {
        probe.host = Some(host);
    }
    if let Some(host) = ingress.annotations.text(&a::BACKEND_HOSTNAME) {
        probe.host = Some(host);
    }
    if let Some(prefix) = ingress.annotations.text(&a::BACKEND_PATH_PREFIX) {
        probe.path = Some(prefix);
    } else if !path.path.is_empty() {
        probe.path = Some(path.path.clone());
    }
    if used.port == "443" || (used.fault.is_none() && used.resolved == 443) {
        probe.protocol = Some(used.by_port(Str::new_static(HTTPS)));
    }
    if let Some(pod) = of_pod(given, used, service) {
        take_pod(&mut probe, pod);
    }
    take_annotations(&mut probe, ingress);
    // Probes of v1 gateways have no port.
    if given.world.has_old_probes {
        probe.port = None;
    }
    // Probes of several paths share the use's name.
    Some(Part::new(name, id, probe, path.origin).with(&Also(Vec::from([used.origin]))))
}

/// Applies the probe of a pod.
fn take_pod(probe: &mut Probe, pod: &model::Probe) {
    let get = &pod.get;
    if !get.host.is_empty() {
        probe.host = Some(get.host.clone());
    }
    if !get.path.is_empty() {
        probe.path = Some(get.path.clone());
    }
    if let Some(port) = &get.port {
        probe.port = Some(port.clone());
    }
    let protocol = match get.scheme.as_str() {
        "HTTPS" => Some(HTTPS),
        "HTTP" if get.port.as_ref().is_some_and(|port| port.value == 443) => Some(HTTPS),
        "HTTP" => Some(HTTP),
        _ => None,
    };
    if let Some(protocol) = protocol {
        probe.protocol = Some(Sourced::new(Str::new_static(protocol), get.scheme.origin).into());
    }
    if pod.period.value != 0 {
        probe.interval = Some(pod.period);
    }
    if pod.timeout.value != 0 {
        probe.timeout = Some(pod.timeout);
    }
    if pod.failures.value != 0 {
        probe.unhealthy_threshold = Some(pod.failures.map(|failures| failures.min(MOST_FAILURES)));
    }
}

/// Applies the annotations for probes.
fn take_annotations(probe: &mut Probe, ingress: &Ingress) {
    let annotations = &ingress.annotations;
    if let Some(https) = annotations.is_https(&a::BACKEND_PROTOCOL).value() {
        probe.protocol = Some(https.map(|https| Str::new_static(if https { HTTPS } else { HTTP })).into());
    }
    if let Some(host) = annotations.some_text(&a::PROBE_HOSTNAME) {
        probe.host = Some(host);
    }
    let number = |annotation| annotations.number(annotation).value().filter(|number| number.value > 0);
    if let Some(port) = number(&a::PROBE_PORT).filter(|port| port.value < 65_536) {
        probe.port = Some(port.into());
    }
    if let Some(path) = annotations.some_text(&a::PROBE_PATH) {
        probe.path = Some(path);
    }
    probe.path = probe.path.take().map(|path| path.map(|path| Str::new(path.trim_end_matches('*'))));
    if annotations.some_text(&a::PROBE_STATUS_CODES).is_some() {
        let answers = ProbeMatch { status_codes: Some(annotations.items(&a::PROBE_STATUS_CODES)), ..ProbeMatch::default() };
        probe.answers = Some(answers);
    }
    if let Some(interval) = number(&a::PROBE_INTERVAL) {
        probe.interval = Some(interval);
    }
    if let Some(timeout) = number(&a::PROBE_TIMEOUT) {
        probe.timeout = Some(timeout);
    }
    if let Some(threshold) = number(&a::PROBE_UNHEALTHY_THRESHOLD) {
        probe.unhealthy_threshold = Some(threshold);
    }
}

/// Returns the probe of the first pod of a Service: that of the container with the port.
fn of_pod<'g>(given: &'g ShareInput<'_, '_>, used: &Use, service: &model::Service) -> Option<&'g model::Probe> {
    let mut ports = BTreeSet::new();
    for port in service.ports_meant(&used.port) {
        match &port.target {
            Target::Number(number) => {
                ports.insert(*number);
            }
            Target::Name(_) => ports.extend(backends::ports_named(given.source, &used.service, &port.name)),
        }
    }
    let pod = given.source.first_pod(&used.service.0, &used.service.1)?;
    let has_port = |container: &&model::Container| container.ports.iter().any(|(_, number)| ports.contains(&number.value));
    pod.containers.iter().find(has_port)?.probe.as_ref()
}
