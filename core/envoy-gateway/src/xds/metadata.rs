//! Writes the Kubernetes resources that a part of Envoy's configuration is generated from. Does not choose them; see `translate`.

use super::proto::{list, message, non_empty, one};
use crate::model::Metadata;
use alloc::vec::Vec;
use chancery_base::ir::Tree;

/// The metadata of a listener, route, cluster or locality; null if there is none.
pub(crate) fn write_metadata(of: Option<&Metadata>) -> Tree {
    let Some(of) = of.filter(|of| !of.kind.is_empty()) else { return Tree::NULL };
    let annotations: Vec<_> = of.annotations.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    let resource = message! {
        "kind": &of.kind,
        "name": &of.name,
        "namespace": &of.namespace,
        "annotations": if annotations.is_empty() { Tree::NULL } else { Tree::object(annotations) },
        "sectionName": non_empty(&of.section.value).or_from(of.section.origin),
    };
    let policies = of.policies.iter().map(|policy| message! { "kind": &policy.kind, "name": &policy.name, "namespace": &policy.namespace });
    let own = message! { "resources": one(resource.or_from(of.origin)), "policies": list(policies.collect()) };
    message! { "filter_metadata": message! { "envoy-gateway": own } }.or_from(of.origin)
}
