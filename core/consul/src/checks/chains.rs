//! Checks routers, splitters and resolvers: those that no proxy uses, and those without instances.

use super::Mesh;
use crate::bexpr::Expression;
use crate::codes;
use crate::entry::{Entry, Kind};
use crate::validate::is_set;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::diagnostic::{Code, codes as base_codes};
use chancery_base::ir::Tree;
use chancery_text::{Node, NodeId, Str, Value};

const KINDS: [Kind; 3] = [Kind::ServiceRouter, Kind::ServiceSplitter, Kind::ServiceResolver];

pub(super) fn check(mesh: &mut Mesh<'_>) {
    unreached(mesh);
    for entry in mesh.entries(Kind::ServiceRouter) {
        router(mesh, entry);
    }
    for entry in mesh.entries(Kind::ServiceSplitter) {
        splitter(mesh, entry);
    }
    let used = subsets_in_use(mesh);
    for entry in mesh.entries(Kind::ServiceResolver) {
        resolver(mesh, entry);
        subsets(mesh, entry, &used);
    }
}

fn unreached(mesh: &mut Mesh<'_>) {
    let upstreams = mesh.state.instances.iter().flat_map(|instance| instance.proxy.get("Upstreams").items());
    let mut open: Vec<Str> = upstreams.map(|upstream| upstream.get("DestinationName").str()).collect();
    let gateways = [Kind::IngressGateway, Kind::HttpRoute, Kind::TcpRoute, Kind::ExportedServices, Kind::ApiGateway];
    let entries = mesh.state.entries.values().filter(|entry| gateways.contains(&entry.kind));
    entries.for_each(|entry| services(&entry.tree, &mut open));
    let mut reached: BTreeSet<Str> = BTreeSet::new();
    while let Some(service) = open.pop() {
        if !reached.insert(service.clone()) {
            continue;
        }
        for kind in KINDS {
            let Some(entry) = mesh.state.entries.get(&(kind, service.clone())) else { continue };
            open.extend(entry.targets().into_iter().map(|target| target.get("Service").str()).filter(|name| !name.is_empty()));
        }
    }
    // A transparent proxy may call everything, and a mesh gateway serves everything.
    let all = reached.contains("*")
        || mesh.state.entries.values().any(|entry| entry.tree.get("Mode").is("transparent"))
        || mesh.state.instances.iter().any(|instance| instance.kind == "mesh-gateway" || instance.proxy.get("Mode").is("transparent"));
    if all {
        return;
    }
    for kind in KINDS {
        for entry in mesh.entries(kind).filter(|entry| !reached.contains(&entry.name)) {
            let message = format!("no proxy has `{}` as its upstream, so the {} has no effect", entry.name, kind.name());
            mesh.report(&codes::UNREACHED_CHAIN, message, entry.tree.get("Name"), Some(entry.object));
        }
    }
}

/// Collects the services that gateways and their routes name.
fn services(tree: &Tree, found: &mut Vec<Str>) {
    found.extend(tree.get("Services").items().iter().map(|service| service.get("Name").str()));
    tree.fields().iter().for_each(|(_, value)| services(value, found));
    tree.items().iter().for_each(|value| services(value, found));
}

fn router(mesh: &mut Mesh<'_>, entry: &Entry) {
    empty_rewrites(mesh, entry);
    let mut whole: Option<usize> = None;
    for (at, route) in entry.tree.get("Routes").items().iter().enumerate() {
        if let Some(earlier) = whole {
            let message = format!("route {} matches all requests before this one", earlier + 1);
            mesh.report(&codes::ROUTE_AFTER_CATCH_ALL, message, route, Some(entry.object));
        }
        let of = route.at(&["Match", "HTTP"]);
        let limits = ["PathExact", "PathRegex", "Header", "QueryParam", "Methods"].iter().any(|field| is_set(of.get(field)));
        if whole.is_none() && !limits && matches!(of.get("PathPrefix").text(), "" | "/") {
            whole = Some(at);
        }
        empty_target(mesh, entry, route.get("Destination"), &codes::ROUTE_WITHOUT_INSTANCES, "this route leads");
    }
}

/// Reports empty rewrites, which Consul treats as absent (`agent/structs/config_entry_discoverychain.go`).
fn empty_rewrites(mesh: &mut Mesh<'_>, entry: &Entry) {
    // The name differs in YAML, JSON and HCL: `PrefixRewrite`, `prefixRewrite`, `prefix_rewrite`.
    fn collect(node: &Node, found: &mut Vec<NodeId>) {
        match &node.value {
            Value::Object(fields) => fields.iter().for_each(|field| {
                let is_rewrite = field.key.replace('_', "").eq_ignore_ascii_case("prefixrewrite");
                if is_rewrite && field.value.as_str() == Some("") {
                    found.push(field.value.id);
                }
                collect(&field.value, found);
            }),
            Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    mesh.objects.get(entry.object).into_iter().for_each(|object| collect(&object.root, &mut found));
    for node in found {
        let message = "an empty `PrefixRewrite` changes nothing: the service gets the whole path".into();
        let help = "write `/`, and end `PathPrefix` with a slash".into();
        mesh.report_key(&base_codes::FIELD_WITHOUT_EFFECT, message, (entry.object, node), Some(help));
    }
}

fn splitter(mesh: &mut Mesh<'_>, entry: &Entry) {
    for split in entry.tree.get("Splits").items() {
        if split.get("Weight").float() == 0.0 {
            mesh.report(&codes::EMPTY_SPLIT, "this split has the weight 0 and gets no requests", split.get("Weight"), Some(entry.object));
            continue;
        }
        empty_target(mesh, entry, split, &codes::SPLIT_WITHOUT_INSTANCES, "this split leads");
    }
}

fn resolver(mesh: &mut Mesh<'_>, entry: &Entry) {
    empty_target(mesh, entry, entry.tree.get("Redirect"), &codes::REDIRECT_WITHOUT_INSTANCES, "this redirect leads");
    for (subset, failover) in entry.tree.get("Failover").fields() {
        to_itself(mesh, entry, subset, failover);
        for target in failover.get("Targets").items() {
            empty_target(mesh, entry, target, &codes::FAILOVER_WITHOUT_INSTANCES, "failover goes");
        }
        let service = if is_set(failover.get("Service")) { failover.get("Service").str() } else { entry.name.clone() };
        for datacenter in failover.get("Datacenters").items() {
            if !mesh.has_instances(&service, &datacenter.str()) {
                let message = format!("failover goes to `{service}` in {}, which has no instances there", datacenter.text());
                mesh.report(&codes::FAILOVER_WITHOUT_INSTANCES, message, datacenter, Some(entry.object));
            }
        }
        if !is_set(failover.get("Datacenters")) && !is_set(failover.get("Targets")) {
            empty_target(mesh, entry, failover, &codes::FAILOVER_WITHOUT_INSTANCES, "failover goes");
        }
    }
}

/// Reports a failover to the service that already receives the requests.
fn to_itself(mesh: &mut Mesh<'_>, entry: &Entry, subset: &str, failover: &Tree) {
    let own = mesh.state.datacenter.clone();
    let is_itself = |target: &Tree| {
        let stays = |field: &str, own: &str| !is_set(target.get(field)) || target.get(field).is(own);
        let elsewhere = ["Datacenters", "Targets", "Peer", "SamenessGroup"].iter().any(|field| is_set(target.get(field)));
        is_set(target) && !elsewhere && stays("Service", &entry.name) && stays("ServiceSubset", subset) && stays("Datacenter", &own)
    };
    for target in core::iter::once(failover).chain(failover.get("Targets").items()).filter(|target| is_itself(target)) {
        let named = target.get("Service");
        let message = format!("failover goes to `{}` itself, where the requests go already: it has no effect", entry.name);
        mesh.report(&codes::FAILOVER_TO_ITSELF, message, if is_set(named) { named } else { target }, Some(entry.object));
    }
}

/// Reports a target without instances. Instances of a peer are unknown.
fn empty_target(mesh: &mut Mesh<'_>, entry: &Entry, target: &Tree, code: &'static Code, words: &str) {
    if !is_set(target) || is_set(target.get("Peer")) || is_set(target.get("SamenessGroup")) {
        return;
    }
    let named = target.get("Service");
    let service = if is_set(named) { named.str() } else { entry.name.clone() };
    let datacenter = target.get("Datacenter");
    let elsewhere = is_set(datacenter) && !datacenter.is(&mesh.state.datacenter);
    let is_there = if elsewhere { mesh.has_instances(&service, &datacenter.str()) } else { mesh.is_served(&service) };
    if !is_there {
        let place = if is_set(datacenter) { format!(" in {}", datacenter.text()) } else { "".into() };
        let message = format!("{words} to `{service}`{place}, which has no instances");
        let help = mesh.intended_service(&service);
        mesh.report_with(code, message, if is_set(named) { named } else { target }, Some(entry.object), help);
    }
}

/// Returns the subsets in use, each with its service.
fn subsets_in_use(mesh: &Mesh<'_>) -> BTreeSet<(Str, Str)> {
    let mut used = BTreeSet::new();
    for entry in mesh.state.entries.values().filter(|entry| KINDS.contains(&entry.kind)) {
        used.insert((entry.name.clone(), entry.tree.get("DefaultSubset").str()));
        for target in entry.targets() {
            let service = if is_set(target.get("Service")) { target.get("Service").str() } else { entry.name.clone() };
            used.insert((service, target.get("ServiceSubset").str()));
        }
    }
    used
}

/// Whether a terminating gateway serves a service.
fn is_behind_gateway(mesh: &Mesh<'_>, service: &str) -> bool {
    let mut names = mesh.entries(Kind::TerminatingGateway).flat_map(|entry| entry.tree.get("Services").items());
    names.any(|of| of.get("Name").is(service) || of.get("Name").is("*"))
}

fn subsets(mesh: &mut Mesh<'_>, entry: &Entry, used: &BTreeSet<(Str, Str)>) {
    let sidecars: Vec<_> = mesh.state.instances.in_mesh_for(&entry.name).cloned().collect();
    let services: Vec<_> = mesh.state.instances.of_service(&entry.name).cloned().collect();
    // Callers in the mesh only reach sidecars. A terminating gateway reaches the service itself.
    let only_sidecars = !sidecars.is_empty() && !is_behind_gateway(mesh, &entry.name);
    let instances: Vec<_> = if only_sidecars { sidecars } else { sidecars.into_iter().chain(services.iter().cloned()).collect() };
    for (name, subset) in entry.tree.get("Subsets").fields() {
        if !used.contains(&(entry.name.clone(), name.clone())) {
            let message = format!("no route, split, redirect or default leads to the subset `{name}`");
            mesh.report(&codes::UNUSED_SUBSET, message, subset, Some(entry.object));
        }
        let Ok(filter) = Expression::parse(subset.get("Filter").text()) else { continue };
        if !instances.is_empty() && !instances.iter().any(|instance| filter.chooses(instance)) {
            let message = format!("no instance of `{}` belongs to the subset `{name}`: requests for this subset get 503", entry.name);
            // A sidecar inherits the tags and metadata of its service unless it has its own (`agent/sidecar_service.go`).
            let help = services.iter().any(|instance| filter.chooses(instance)).then_some(
                "the filter sees the tags and metadata of the sidecar, not of its service: repeat them in `sidecar_service`, or remove them there",
            );
            mesh.report_with(&codes::SUBSET_WITHOUT_INSTANCES, message, subset.get("Filter"), Some(entry.object), help.map(String::from));
        }
        let only_passing = subset.get("OnlyPassing");
        let mut chosen = instances.iter().filter(|instance| filter.chooses(instance)).peekable();
        let is_down = chosen.peek().is_some() && chosen.all(|instance| !*instance.health_and_weight(only_passing.flag()).0);
        if only_passing.bool() && is_down && !mesh.state.leads_elsewhere(&entry.name) {
            let message = format!("no instance in the subset `{name}` of `{}` passes its checks: requests are answered with an error", entry.name);
            mesh.report(&codes::SERVICE_DOWN, message, only_passing, Some(entry.object));
        }
    }
}
