//! Keeps what the API server holds, and the documents that only Envoy Gateway answers, for views.

use super::cluster::Cluster;
use super::context::InForce;
use super::{kinds, relations};
use alloc::vec::Vec;
use chancery_base::compilation::{self, ChosenRoute, EffectivePolicy, Loaded, Output, Relation, SideRef};
use chancery_base::ir::{Holder, SecretReference};
use chancery_base::resource::Objects;
use chancery_kubernetes::admitted::AdmittedObjects;
use chancery_kubernetes::secret;
use chancery_kubernetes::status::{object, text};
use chancery_text::{Node, Str};

/// The results of a compile's stages.
#[derive(Debug, Default)]
pub(crate) struct Stages {
    admitted: AdmittedObjects,
    admission: Option<Node>,
    in_force: InForce,
}

impl Stages {
    pub(crate) fn new(cluster: &Cluster<'_>, in_force: InForce) -> Self {
        let mut admitted = AdmittedObjects::default();
        for (kind, definition) in kinds::ALL {
            admitted.add(definition.name, cluster.all(*kind).into_iter().map(|of| (of.object.id, of.root.clone())));
        }
        Self { admitted, admission: super::documents::admission(&cluster.verdicts), in_force }
    }
}

impl compilation::Stages for Stages {
    fn loaded(&self, objects: &Objects) -> Vec<(Str, Vec<Loaded>)> {
        self.admitted.loaded(objects)
    }

    fn relations(&self, objects: &Objects) -> Vec<Relation> {
        relations::relations(objects)
    }

    fn policies(&self, objects: &Objects, chosen: ChosenRoute<'_>) -> Vec<EffectivePolicy> {
        self.in_force.of_route(objects, chosen)
    }

    fn key_material(&self, objects: &Objects, reference: &SecretReference) -> Option<Vec<u8>> {
        let SecretReference { holder, namespace, name, part } = reference;
        match holder {
            Holder::Secret => secret::value(objects, namespace, name, part.key()),
            Holder::ClusterTrustBundle => {
                let bundles = objects.iter().filter(|object| *object.key.kind == *"ClusterTrustBundle" && *object.key.name == **name);
                let text = bundles.last().and_then(|object| object.root.at(&["spec", "trustBundle"])?.as_str());
                text.map(|text| text.as_bytes().to_vec())
            }
            Holder::ConfigMap => secret::text_of_config_map(objects, namespace, name, part.key()).map(|text| text.as_bytes().to_vec()),
        }
    }
}

fn stages(of: SideRef<'_>) -> Option<&Stages> {
    let stages: &dyn core::any::Any = &*of.side.stages;
    stages.downcast_ref()
}

/// Envoy Gateway's outputs in addition to the configuration of Envoys.
pub(crate) const OUTPUTS: &[Output] = &[
    Output {
        name: "status",
        doc: "The statuses of objects that the controller writes",
        document: |of| of.side.answers.status_document(),
        traced: None,
    },
    Output {
        name: "admission",
        doc: "The objects that the API server refuses, and the fields that it drops",
        document: |of| stages(of)?.admission.clone(),
        traced: None,
    },
    Output {
        name: "startup",
        doc: "Why the controller does not start, if it fails",
        document: |of| Some(object(alloc::vec![("error", text(&of.side.answers.failure.as_ref()?.error))])),
        traced: None,
    },
    Output { name: "xds-by-gateway", doc: "The configuration of each Envoy, by its Gateway", document: by_gateway, traced: None },
];

/// The resources of each Envoy that has a listener.
fn by_gateway(of: SideRef<'_>) -> Option<Node> {
    let resources = |gateway: &compilation::Gateway| {
        let compilation::Outcome::Runs(ir) = &gateway.outcome else { return None };
        let verbatim = &ir.delivery.verbatim;
        if verbatim.listeners.is_empty() {
            return None;
        }
        let list = |all: &[alloc::sync::Arc<chancery_base::ir::Tree>]| chancery_kubernetes::status::list(all.iter().map(|of| of.node()).collect());
        let document = object(alloc::vec![
            ("listeners", list(&verbatim.listeners)),
            ("routes", list(&verbatim.routes)),
            ("clusters", list(&verbatim.clusters)),
            ("endpoints", list(&verbatim.endpoints)),
            ("secrets", list(&verbatim.secrets)),
        ]);
        Some((Str::new(gateway.id.as_str()), document))
    };
    let all: chancery_text::Object = of.side.gateways.iter().filter_map(resources).collect();
    Some(Node::synthesised(chancery_text::Value::Object(all)))
}
