//! Names the Kubernetes object that a part of Envoy's configuration is generated from.

use super::super::cluster::Admitted;
use super::super::model::Metadata;
use super::super::value::tree;
use alloc::vec::Vec;
use chancery_base::resource::Sourced;
use chancery_kubernetes::cursor::Cursor;
use chancery_text::Str;

/// The prefix of annotations that Envoy carries.
const PREFIX: &str = "gateway.envoyproxy.io/";

/// Names an object and one of its sections.
pub(crate) fn of(object: &Admitted<'_>, section: Sourced<Str>) -> Metadata {
    Metadata {
        kind: Str::new_static(object.kind.name()),
        namespace: object.namespace().clone(),
        name: object.name().clone(),
        annotations: annotations(object.annotations()),
        section,
        policies: Vec::new(),
        origin: Some(object.metadata().field("name").origin()),
    }
}

fn annotations(at: Cursor<'_>) -> Vec<(Str, chancery_base::ir::Tree)> {
    let mut all: Vec<_> = at.entries().filter_map(|(key, value)| Some((Str::new(key.strip_prefix(PREFIX)?), tree(value)))).collect();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}
