//! Checks probes: conflicting paths under one name, and values that the gateway cannot use.

use super::{Checked, Run};
use crate::annotations as a;
use crate::build::all_hosts;
use crate::cluster::AdmittedObject;
use crate::codes;
use crate::kinds::Kind;
use crate::model::{Ingress, Pod, Service, ServicePort, Target};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;
use chancery_base::diagnostic::codes::FIELD_WITHOUT_EFFECT;
use chancery_base::diagnostic::{Diagnostic, Place, Severity};
use chancery_base::resource::{Object, Objects, Origin};
use chancery_kubernetes::cursor::Cursor;
use chancery_text::{Node, Str};
use hashbrown::{HashMap, HashSet};

/// The largest failure threshold of the gateway.
const MOST_FAILURES: i64 = 20;

pub(super) fn check(checked: &mut Run<'_, '_, '_>) {
    checked.each(contested);
    checked.each(probes_over_tls);
    let mut found = limited(checked);
    found.extend(unused_probes(checked));
    found.extend(without_protocol(checked));
    found.into_iter().for_each(|finding| checked.report(finding));
}

/// Probes are named after Ingress, Service and port: two hosts or paths of one Service need two probes of the same name.
fn contested(checked: &Checked<'_, '_>, ingress: &Ingress) -> Vec<Diagnostic> {
    let annotations = &ingress.annotations;
    let host_is_set = annotations.text(&a::BACKEND_HOSTNAME).is_some() || annotations.some_text(&a::PROBE_HOSTNAME).is_some();
    let path_is_set = annotations.text(&a::BACKEND_PATH_PREFIX).is_some() || annotations.some_text(&a::PROBE_PATH).is_some();
    let mut seen: BTreeMap<(Str, Str), (Str, Str, Origin)> = BTreeMap::new();
    let mut found = Vec::new();
    for rule in &ingress.rules {
        let host = all_hosts(ingress, Some(rule)).into_iter().find(|host| !host.contains(['*', '?'])).map(|host| host.value).unwrap_or_default();
        for path in rule.paths() {
            let Some(service) = &path.backend.service else { continue };
            let name = (ingress.namespace.clone(), service.name.value.clone());
            let of_pod = checked.source.service(&name).is_none_or(|_| {
                let pod = checked.source.first_pod(&name.0, &name.1);
                pod.is_some_and(|pod| pod.containers.iter().any(|container| container.probe.is_some()))
            });
            let asked = if path_is_set || of_pod { Str::default() } else { Str::new(path.path.trim_end_matches('*')) };
            let host = if host_is_set { Str::default() } else { host.clone() };
            let key = (name.1, service.port.text());
            match seen.get(&key) {
                Some((other_host, other_path, at)) if *other_host != host || *other_path != asked => {
                    let what = if *other_host != host {
                        format!("hosts, `{other_host}` and `{host}`")
                    } else {
                        format!("paths, `{other_path}` and `{asked}`")
                    };
                    let message = format!("the probe of `{}` would ask for two {what}: AGIC uses either of them", key.0);
                    let finding = checked.finding(&codes::CONTESTED_PROBE, message, path.origin);
                    let finding = finding.related(Place::origin(*at), "the path whose probe is used here");
                    found.push(finding.help("set `health-probe-hostname` and `health-probe-path`, or use two Ingresses"));
                    break;
                }
                Some(_) => {}
                None => {
                    seen.insert(key, (host, asked, path.origin));
                }
            }
        }
    }
    found
}

/// Probes that use HTTPS at a port that gets HTTP from the gateway: the backend looks unhealthy, and clients get 502.
fn probes_over_tls(checked: &Checked<'_, '_>, ingress: &Ingress) -> Vec<Diagnostic> {
    let is_https = ingress.annotations.is_https(&a::BACKEND_PROTOCOL).value().is_some_and(|https| https.value);
    let mut found = Vec::new();
    for path in ingress.rules.iter().flat_map(|rule| rule.paths()) {
        let Some(service) = path.backend.service.as_ref().filter(|_| !is_https) else { continue };
        let name = (ingress.namespace.clone(), service.name.value.clone());
        let numbers: Vec<i64> = checked
            .source
            .service(&name)
            .into_iter()
            .flat_map(|of| {
                of.ports_meant(&service.port.text())
                    .filter_map(|port| if let Target::Number(number) = port.target { Some(number) } else { None })
                    .collect::<Vec<_>>()
            })
            .collect();
        // AGIC uses HTTPS for a backend at port 443.
        if numbers.contains(&443) {
            continue;
        }
        let Some(pod) = checked.source.first_pod(&name.0, &name.1) else { continue };
        for probe in pod.containers.iter().filter_map(|container| container.probe.as_ref()) {
            let port = probe.get.port.as_ref().map(|port| port.value);
            if probe.get.scheme.eq_ignore_ascii_case("https") && port.is_some_and(|port| numbers.contains(&port)) {
                let message = format!("the probe of `{}` uses HTTPS, and the gateway sends HTTP to this port: one of them fails", name.1);
                let finding = checked.finding(&codes::PROBE_OVER_TLS, message, probe.get.scheme.origin.unwrap_or(probe.origin));
                let help = "if the pod serves HTTPS, set `appgw.ingress.kubernetes.io/backend-protocol: https`; else use an HTTP probe";
                found.push(finding.related(Place::origin(path.origin), "this path sends HTTP").help(help));
            }
        }
    }
    found
}

/// Kinds with a template of pods. AGIC reads the pods themselves, which an input may leave out.
const WORKLOADS: [&str; 4] = ["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"];

/// Probes of pods that AGIC does not use (`pkg/appgw/health_probes.go`): only an `httpGet` of the container whose `ports` list the target port becomes
/// a probe of the gateway. The gateway probes the path of the Ingress instead.
fn unused_probes(checked: &Checked<'_, '_>) -> Vec<Diagnostic> {
    let workloads = workloads(checked.objects);
    let mut reported: HashSet<Origin> = HashSet::new();
    let mut found = Vec::new();
    for ingress in &checked.processed.ingresses {
        let annotations = &ingress.annotations;
        if annotations.some_text(&a::PROBE_PATH).is_some() {
            continue;
        }
        for path in ingress.rules.iter().flat_map(|rule| rule.paths()) {
            let Some(service) = &path.backend.service else { continue };
            let name = (ingress.namespace.clone(), service.name.value.clone());
            let Some(of) = checked.source.service(&name) else { continue };
            let numbers = target_ports(checked, of, &name, &service.port.text());
            let Some(containers) = containers(checked, &workloads, of, &name).filter(|_| !numbers.is_empty()) else { continue };
            let prefix = annotations.text(&a::BACKEND_PATH_PREFIX).map(|prefix| prefix.value);
            let asked = prefix.unwrap_or_else(|| path.path.value.clone());
            let asked = Some(asked.trim_end_matches('*')).filter(|asked| !asked.is_empty()).unwrap_or("/");
            let Some((probe, finding)) = unused_probe(checked, containers, &numbers, asked) else { continue };
            if reported.insert(probe) {
                found.push(finding);
            }
        }
    }
    found
}

/// The numbers of a Service's target ports that a backend names.
fn target_ports(checked: &Checked<'_, '_>, service: &Service, name: &(Str, Str), written: &str) -> Vec<i64> {
    let mut numbers = Vec::new();
    for port in service.ports_meant(written) {
        match &port.target {
            Target::Number(number) => numbers.push(*number),
            Target::Name(_) => {
                let ports = checked.source.subsets(name).unwrap_or_default().iter().flat_map(|subset| &subset.ports);
                numbers.extend(ports.filter(|of| of.name == port.name).map(|of| of.port));
            }
        }
    }
    numbers
}

/// The workloads of the input, by their namespace and each label of their pods.
type Workloads<'c> = HashMap<(&'c str, &'c str, &'c str), Vec<&'c Object>>;

fn workloads<'c>(objects: &'c Objects) -> Workloads<'c> {
    let mut found: Workloads<'c> = HashMap::new();
    for object in objects.iter().filter(|object| WORKLOADS.contains(&&*object.key.kind) && !object.broken) {
        let Some(namespace) = object.key.namespace.as_deref() else { continue };
        let labels = object.root.at(&["spec", "template", "metadata", "labels"]).and_then(Node::as_object);
        for label in labels.into_iter().flat_map(|labels| labels.iter()) {
            if let Some(value) = label.value.as_str() {
                found.entry((namespace, &label.key, value)).or_default().push(object);
            }
        }
    }
    found
}

/// The containers of a Service's first pod, or else those of the first workload whose pods it selects.
fn containers<'c>(checked: &Checked<'c, '_>, workloads: &Workloads<'c>, service: &Service, name: &(Str, Str)) -> Option<Cursor<'c>> {
    let root = |object: &'c Object| Cursor::new(object.id, &object.root);
    if let Some(pod) = checked.source.first_pod(&name.0, &name.1) {
        return checked.objects.get(pod.object).map(|pod| root(pod).at("spec.containers"));
    }
    let has_labels = |object: &&&'c Object| {
        let labels = root(object).at("spec.template.metadata.labels");
        service.selector.iter().all(|(key, value)| labels.field(key).str() == value.as_str())
    };
    let (key, value) = service.selector.first()?;
    let workload = workloads.get(&(name.0.as_str(), key.as_str(), value.as_str()))?.iter().find(has_labels)?;
    Some(root(workload).at("spec.template.spec.containers"))
}

/// The probes of a container that AGIC may use: readiness before liveness.
fn probes(container: Cursor<'_>) -> impl Iterator<Item = Cursor<'_>> {
    ["readinessProbe", "livenessProbe"].into_iter().map(move |name| container.field(name)).filter(|probe| probe.exists())
}

/// A finding for the probe that AGIC would use if it were written in another way, and its place.
fn unused_probe(checked: &Checked<'_, '_>, containers: Cursor<'_>, numbers: &[i64], asked: &str) -> Option<(Origin, Diagnostic)> {
    let is_http = |probe: &Cursor<'_>| probe.field("httpGet").exists();
    let has_port = |container: &Cursor<'_>| {
        let mut ports = container.field("ports").items();
        ports.any(|port| port.field("containerPort").int().is_some_and(|number| numbers.contains(&number)))
    };
    let (probe, message, help, severity) = match containers.items().find(has_port) {
        Some(container) => {
            if probes(container).any(|probe| is_http(&probe)) {
                return None;
            }
            let probe = probes(container).next()?;
            let message = format!("AGIC does not use this probe, because it is not `httpGet`: the gateway probes `{asked}` instead");
            let help =
                "write `httpGet`, or set the annotation `appgw.ingress.kubernetes.io/health-probe-path` to a path that answers with 200 to 399";
            (probe, message, help.into(), Severity::Notice)
        }
        None => {
            let probe = containers.items().flat_map(probes).find(is_http)?;
            let port = numbers.first()?;
            let message = format!("AGIC does not use this probe, because no container lists port {port}: the gateway probes `{asked}` instead");
            let help = match containers.items().any(|container| container.field("ports").has_items()) {
                true => format!("if a container listens on port {port}, add it to its `ports`; else correct `targetPort` of the Service"),
                false => format!("add `ports: [{{containerPort: {port}}}]` to the container; if the probe of the gateway fails, clients get 502"),
            };
            (probe, message, help, Severity::Warning)
        }
    };
    let mut finding = checked.finding(&FIELD_WITHOUT_EFFECT, message, probe.origin()).help(help);
    finding.place = Place::key(probe.object(), probe.node()?.id);
    finding.severity = severity;
    Some((probe.origin(), finding))
}

fn limited(checked: &Checked<'_, '_>) -> Vec<Diagnostic> {
    let pods = checked.source.cluster.all(Kind::Pod).map(Pod::read);
    let probes = pods.flat_map(|pod| pod.containers).filter_map(|container| container.probe);
    let finding = |failures: chancery_base::resource::Sourced<i64>| {
        let message = format!("the gateway counts up to {MOST_FAILURES} failures, so {MOST_FAILURES} is used instead of {}", failures.value);
        checked.finding(&codes::PROBE_LIMITED, message, failures.origin)
    };
    probes.map(|probe| probe.failures).filter(|failures| failures.value > MOST_FAILURES).map(finding).collect()
}

/// Finds ports of MultiClusterServices without `protocol: TCP`: nothing fills in the protocol, and AGIC only uses TCP ports.
fn without_protocol(checked: &Checked<'_, '_>) -> Vec<Diagnostic> {
    if !checked.source.environment.multi_cluster {
        return Vec::new();
    }
    let services = checked.source.cluster.all(Kind::MultiClusterService);
    let ports = services.flat_map(|held| Service::read_of_clusters(held).ports.into_iter().map(move |port| (held, port)));
    let finding = |(held, port): (&AdmittedObject<'_>, ServicePort)| {
        let message = format!("AGIC does not use port {}: it is not a TCP port, and a MultiClusterService has no default protocol", port.port);
        let finding = checked.finding(&FIELD_WITHOUT_EFFECT, message, port.origin).help("add `protocol: TCP` to the port");
        let fields = held.object.leaves(port.origin.node());
        fields.into_iter().fold(finding, |finding, field| finding.related(Place::value(held.object.id, field), "this field has no effect"))
    };
    ports.filter(|(_, port)| !port.is_tcp).map(finding).collect()
}
