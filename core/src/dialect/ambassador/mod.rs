//! Ambassador, also known as Emissary-ingress: what it reads, what that means, and what it makes of it.
//!
//! Follows Emissary-ingress 4.x as a cluster runs it: API server, Go front end, Python compiler.

pub mod defaults;
pub mod fetch;
pub mod kinds;
pub mod lower;
pub mod model;
pub mod options;
pub mod relations;
pub mod spec;

mod duration;

pub use options::{MissingSecrets, Options};

use crate::config::{Config, Ledger};
use crate::diagnostic::Diagnostic;
use crate::dialect::kubernetes::kind::ListedKind;
use crate::ir::Ir;
use crate::resource::{Objects, ResourceKey};
use alloc::vec::Vec;

/// What earlier compiles found out.
#[derive(Default)]
pub struct Memory {
    fetch: fetch::Memory,
    model: model::Memory,
    lower: lower::Memory,
}

/// From objects to the IR.
pub fn compile(objects: &Objects, options: &Options, memory: &mut Memory, ledger: &mut Ledger, sink: &mut Vec<Diagnostic>) -> (Config, Ir) {
    let config = fetch::fetch_again(objects, options, &mut memory.fetch, ledger, sink);
    let model = model::Model::build(&config, options, &mut memory.model, sink);
    let ir = lower::lower(&model, &mut memory.lower, sink);
    memory.model.keep(model);
    (config, ir)
}

/// Whether Ambassador reads objects of a kind.
pub fn reads(key: &ResourceKey) -> bool {
    (key.group == kinds::GROUP && kinds::find(&key.kind).is_some())
        || fetch::ALSO_READ.iter().any(|(group, name, _)| key.group == *group && key.kind == *name)
}

/// The kinds that Ambassador reads.
pub fn listing() -> Vec<ListedKind> {
    let own = kinds::ALL.iter().map(|kind| ListedKind {
        name: kind.name,
        group: kinds::GROUP,
        plural: Some(kind.plural),
        versions: kind.versions.iter().map(|version| version.name()).collect(),
        config_key: Some(kind.config_key),
        own: true,
        doc: kind.doc,
    });
    let others = fetch::ALSO_READ.iter().map(|(group, name, doc)| ListedKind {
        name,
        group,
        plural: None,
        versions: Vec::new(),
        config_key: None,
        own: false,
        doc,
    });
    own.chain(others).collect()
}
