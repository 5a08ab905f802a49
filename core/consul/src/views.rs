//! Answers the queries of views: documents, relations, certificates, and whether an entry is needed.

use super::entry::Entry;
use super::instance::Instance;
use super::stages::{ProxyState, Stages, stages};
use super::{calls, compile, material, relations};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::compilation::{self, Call, CallDecision, CallRule, Issued, Loaded, Output, Relation, SideRef};
use chancery_base::ir::{SecretReference, Tree};
use chancery_base::resource::{ObjectId, Objects, Rule};
use chancery_text::{Node, Object, Str, Value};

/// A config entry or an instance in readable form.
fn loaded(objects: &Objects, object: ObjectId, name: &Str, shown: &Tree) -> Option<Loaded> {
    let written = objects.get(object)?.root.clone();
    Some(Loaded { name: name.clone(), object, rule: Rule::Field, written, shown: shown.node() })
}

impl compilation::Stages for Stages {
    fn loaded(&self, objects: &Objects) -> Vec<(Str, Vec<Loaded>)> {
        let mut all: BTreeMap<Str, Vec<Loaded>> = BTreeMap::new();
        let entries = self.state.entries.values().filter_map(|entry: &Arc<Entry>| {
            Some((Str::new_static(entry.kind.name()), loaded(objects, entry.object, &entry.name, &entry.answer())?))
        });
        let instances = self.state.instances.iter().filter_map(|instance: &Arc<Instance>| {
            Some((Str::new_static("instance"), loaded(objects, instance.object?, &instance.id, &instance.tree)?))
        });
        for (kind, loaded) in entries.chain(instances) {
            all.entry(kind).or_default().push(loaded);
        }
        all.into_iter().collect()
    }

    fn relations(&self, objects: &Objects) -> Vec<Relation> {
        let registrations = self.proxies.values().filter_map(|known| Some((known.object?, &*known.mail)));
        relations::relations(&self.state, registrations, objects)
    }

    fn call_rules(&self, _: &Objects) -> Vec<CallRule> {
        calls::rules(&self.state)
    }

    fn decide_call(&self, call: Call<'_>) -> Option<CallDecision> {
        calls::decide(&self.state, compile::denies(&self.state, &self.options), call)
    }

    fn is_needed(&self, side: SideRef<'_>, object: ObjectId, readers: &BTreeSet<ObjectId>, budget: &mut usize) -> Option<bool> {
        compile::is_needed(self, side, object, readers, budget)
    }

    fn key_material(&self, objects: &Objects, reference: &SecretReference) -> Option<Vec<u8>> {
        material::held(objects, &self.state, reference)
    }

    fn issued(&self, reference: &SecretReference) -> Option<Issued> {
        material::issued(&self.state, reference)
    }
}

/// The document of the only proxy, or of each proxy by its id.
fn of_proxies(of: SideRef<'_>, which: impl Fn(&ProxyState) -> Node) -> Option<Node> {
    let stages = stages(of)?;
    let mut all = of.side.gateways.iter().filter_map(|gateway| {
        let found = stages.proxies.get(gateway.id.as_str())?;
        Some((Str::new(gateway.id.as_str()), which(found)))
    });
    let first = all.next()?;
    let Some(second) = all.next() else { return Some(first.1) };
    let object: Object = [first, second].into_iter().chain(all).collect();
    Some(Node::synthesised(Value::Object(object)))
}

/// Consul's outputs other than the configuration of Envoys.
pub const OUTPUTS: &[Output] = &[
    Output {
        name: "entries",
        doc: "The stored config entries",
        document: |of| stages(of).map(|stages| stages.state.answer().node()),
        traced: Some(|of| stages(of).map(|stages| stages.state.answer())),
    },
    Output {
        name: "chain",
        doc: "The discovery chain of each service",
        document: |of| stages(of).map(|stages| compile::chains(&stages.state).node()),
        traced: Some(|of| stages(of).map(|stages| compile::chains(&stages.state))),
    },
    Output {
        name: "service",
        doc: "A proxy's registration with its central configuration",
        document: |of| of_proxies(of, |known| known.service.node()),
        traced: None,
    },
    Output {
        name: "bootstrap",
        doc: "The bootstrap of a proxy's Envoy",
        document: |of| of_proxies(of, |known| known.bootstrap.node()),
        traced: None,
    },
    Output {
        name: "watches",
        doc: "The watches of a proxy: their reasons and results",
        document: |of| of_proxies(of, |known| known.mail.answer().node()),
        traced: None,
    },
];
