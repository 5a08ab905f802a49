//! Checks for likely mistakes: configuration that Consul accepts and that has no or another effect. Refused configuration is reported in `validate`
//! and `graph`.

mod chains;
mod fields;
mod gateways;
mod intentions;
mod proxies;
#[cfg(test)]
mod tests;
mod timeouts;
mod values;

use super::codes;
use super::entry::{Entry, Kind};
use super::findings::{finding, finding_at};
use super::instance::{Health, Instance};
use super::registration::is_gateway;
use super::stages::{Stages, stages};
use super::state::State;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::compilation::{Assumptions, Missing, SideRef};
use chancery_base::diagnostic::{Code, Diagnostic, Place, Severity, codes as base_codes, join_alike};
use chancery_base::ir::Tree;
use chancery_base::resource::{ObjectId, Objects, ResourceKey, nearest};
use chancery_text::{NodeId, Str};
use hashbrown::HashSet;

pub(super) const ALL: &[fn(SideRef<'_>) -> Vec<Diagnostic>] = &[check];

fn check(of: SideRef<'_>) -> Vec<Diagnostic> {
    let Some(stages) = stages(of) else { return Vec::new() };
    let mut mesh = Mesh::new(stages, of.objects());
    mesh.refused = refused_entries(of);
    for check in [fields::check, values::check, proxies::check, intentions::check, chains::check, timeouts::check, gateways::check] {
        check(&mut mesh);
    }
    of_other_proxies(of, &mut mesh);
    // If the input has no such entry at all, it may be elsewhere.
    let has = |kind: &str| mesh.state.instances.iter().any(|instance| instance.kind == kind);
    let is_part = Assumptions::of(&of.side.options).for_other_kinds() != Missing::Error;
    let (entries, gateways) = (gateways::KINDS.iter().any(|kind| mesh.entries(*kind).next().is_some()), has("mesh-gateway"));
    let absent = [(&codes::GATEWAY_WITHOUT_ENTRY, entries), (&codes::MESH_GATEWAY_MISSING, gateways)];
    for finding in mesh.found.iter_mut().filter(|finding| is_part && absent.iter().any(|(code, held)| !held && finding.code == *code)) {
        finding.severity = Severity::Notice;
    }
    // A refused field needs no second finding.
    let at = |finding: &Diagnostic| if let Place::Node { object, node, .. } = finding.place { Some((object, node.0)) } else { None };
    let reported_places: HashSet<_> = of.diagnostics().filter_map(at).collect();
    mesh.found.retain(|finding| finding.code != &codes::ENTERPRISE_FIELD || at(finding).is_none_or(|at| !reported_places.contains(&at)));
    join_alike(mesh.found)
}

/// Ports of services whose proxies were not asked for: they change nothing in the result.
fn of_other_proxies(of: SideRef<'_>, mesh: &mut Mesh<'_>) {
    let [asked] = &of.side.gateways[..] else { return };
    if mesh.stages.proxies.len() < 2 {
        return;
    }
    for instance in mesh.state.here().filter(|instance| instance.object != asked.owner) {
        let message = format!("this port of `{}` does not change `{}`, the only proxy that was asked for", instance.service, asked.id);
        let upstreams = instance.tree.at(&["Proxy", "Upstreams"]).items().iter().map(|upstream| upstream.get("LocalBindPort"));
        for port in core::iter::once(instance.tree.get("Port")).chain(upstreams).filter(|port| port.origin.is_some()) {
            mesh.report(&base_codes::INERT_FIELD, message.clone(), port, instance.object);
        }
    }
}

/// The config entries that Consul refuses.
fn refused_entries(of: SideRef<'_>) -> Vec<(ResourceKey, Place)> {
    let refused = of.diagnostics().filter(|finding| finding.code == &codes::ENTRY_REFUSED);
    refused.filter_map(|finding| Some((finding.resource.clone()?, finding.place.clone()))).collect()
}

/// What checks look at.
struct Mesh<'a> {
    stages: &'a Stages,
    state: &'a State,
    objects: &'a Objects,
    /// The services with instances, each with its datacenter, including those behind terminating gateways.
    present: BTreeSet<(Str, Str)>,
    /// The same without datacenters.
    names: BTreeSet<Str>,
    /// Config entries that Consul refuses: the kind and name of each, and the place of the finding.
    refused: Vec<(ResourceKey, Place)>,
    found: Vec<Diagnostic>,
}

impl<'a> Mesh<'a> {
    fn new(stages: &'a Stages, objects: &'a Objects) -> Self {
        let state = &stages.state;
        let services = state.instances.iter().filter(|instance| !is_gateway(&instance.kind));
        let mut present: BTreeSet<(Str, Str)> = services.map(|instance| (instance.node.datacenter.clone(), instance.destination())).collect();
        for gateway in state.here().filter(|instance| instance.kind == "terminating-gateway") {
            present.extend(state.behind(&gateway.service).into_iter().map(|service| (state.datacenter.clone(), service)));
        }
        let names = present.iter().map(|(_, service)| service.clone()).collect();
        Self { stages, state, objects, present, names, refused: Vec::new(), found: Vec::new() }
    }

    fn entries(&self, kind: Kind) -> impl Iterator<Item = &'a Arc<Entry>> + use<'a> {
        self.state.of_kind(kind)
    }

    /// Whether a service has instances in a datacenter; by default the agent's.
    fn has_instances(&self, service: &Str, datacenter: &Str) -> bool {
        let datacenter = if datacenter.is_empty() { &self.state.datacenter } else { datacenter };
        self.present.contains(&(datacenter.clone(), service.clone()))
    }

    /// Whether requests to a service can reach anything.
    fn is_served(&self, service: &Str) -> bool {
        self.names.contains(service) || self.state.has_chain(service)
    }

    /// Reports a finding at a value, or at the whole object if no user wrote the value.
    fn report(&mut self, code: &'static Code, message: impl Into<String>, at: &Tree, object: Option<ObjectId>) {
        self.report_with(code, message, at, object, None);
    }

    fn report_with(&mut self, code: &'static Code, message: impl Into<String>, at: &Tree, object: Option<ObjectId>, help: Option<String>) {
        self.found.push(finding(self.objects, code, message.into(), at, object, help));
    }

    /// Adds another place to the last finding.
    fn relate(&mut self, place: Place, message: &str) {
        if let Some(finding) = self.found.pop() {
            self.found.push(finding.related(place, message));
        }
    }

    fn report_key(&mut self, code: &'static Code, message: String, (object, node): (ObjectId, NodeId), help: Option<String>) {
        self.found.push(finding_at(self.objects, code, message, Place::key(object, node), Some(object), help));
    }

    /// The refused entry of a name among these kinds, as words, and the place of its finding.
    fn refused(&self, kinds: &[Kind], name: &str) -> Option<(String, Place)> {
        let is_one = |key: &ResourceKey| *key.name == *name && kinds.iter().any(|kind| *key.kind == *kind.name());
        let (key, place) = self.refused.iter().find(|(key, _)| is_one(key))?;
        Some((format!("the {} `{name}` was refused", key.kind), place.clone()))
    }

    /// A service that may be meant by a name.
    fn intended_service(&self, service: &str) -> Option<String> {
        let found = nearest(service, self.names.iter().map(Str::as_str).filter(|name| *name != service))?;
        Some(format!("did you mean `{found}`?"))
    }

    /// The instances of services except proxies and gateways, by service.
    fn typical(&self) -> BTreeMap<&'a Str, Vec<&'a Arc<Instance>>> {
        let mut all: BTreeMap<&Str, Vec<&Arc<Instance>>> = BTreeMap::new();
        for instance in self.state.here().filter(|instance| instance.kind.is_empty()) {
            all.entry(&instance.service).or_default().push(instance);
        }
        all
    }

    fn proxies(&self) -> impl Iterator<Item = &'a Arc<Instance>> + use<'a> {
        self.state.here().filter(|instance| instance.local && instance.kind == "connect-proxy")
    }
}

/// Whether a proxy gets the connections of its service to all addresses.
fn is_transparent(mesh: &Mesh<'_>, proxy: &Instance) -> bool {
    let defaults = mesh.state.tree(Kind::ServiceDefaults, &proxy.destination()).get("Mode");
    let all = mesh.state.tree(Kind::ProxyDefaults, "global").get("Mode");
    let chosen = [proxy.proxy.get("Mode"), defaults, all].into_iter().find(|mode| !mode.text().is_empty());
    chosen.is_some_and(|mode| mode.is("transparent"))
}

fn is_critical(instance: &Instance) -> bool {
    instance.checks.iter().any(|check| *check.status == Health::Critical)
}
