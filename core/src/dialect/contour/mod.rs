//! Contour: what it reads, what that means, and what it makes of it.
//!
//! Follows projectcontour/contour of August 2026 as a cluster runs it: API server, `contour serve`, and the Gateway provisioner.

pub mod annotations;
pub mod cluster;
pub mod defaults;
pub mod duty;
pub mod kinds;
pub mod lower;
pub mod material;
pub mod memory;
pub mod model;
pub mod options;
pub mod processor;
pub mod provision;
pub mod relations;
pub mod settings;
pub mod source;
pub mod status;

pub use memory::Memory;
pub use options::{Controller, Options};

use crate::config::{Answers, Ledger, Loaded};
use crate::diagnostic::Diagnostic;
use crate::ir::Ir;
use crate::resource::{Objects, ReadOptions, Rule};
use crate::text::{Node, Str};
use alloc::format;
use alloc::vec::Vec;
use cluster::{Admitted, Cluster};
use kinds::Kind;
use settings::Settings;
use source::Source;

/// How objects are read: the file that flags lead to is one too.
pub fn read_options(options: &Options) -> ReadOptions {
    ReadOptions { files: settings::file_name(options).into_iter().collect(), ..ReadOptions::default() }
}

/// What the API server holds for Contour, by kind, in the order of names (`namespace/name`): with defaults put in and unknown fields gone.
/// `answers` are those of the compile.
pub fn loaded(objects: &Objects, answers: &Answers) -> Vec<(Str, Vec<Loaded>)> {
    // Where nothing was refused, nothing need be validated again.
    let is_valid = !answers.documents.contains_key("admission");
    let cluster = Cluster::apply(objects, is_valid, &mut Ledger::new(objects), &mut Vec::new());
    let of_kind = |kind: Kind| {
        let named = |held: &Admitted<'_>| {
            let name = match held.namespace().as_str() {
                "" => held.name().clone(),
                namespace => format!("{namespace}/{}", held.name()).into(),
            };
            Loaded { name, object: held.object.id, rule: Rule::Field, written: held.root.clone(), shown: Node::clone(&held.root) }
        };
        cluster.all(kind).map(named).collect::<Vec<_>>()
    };
    let all = kinds::ALL.iter().map(|(kind, definition)| (Str::new_static(definition.name), of_kind(*kind)));
    all.filter(|(_, objects)| !objects.is_empty()).collect()
}

/// From objects to the IR and the other answers.
pub fn compile(objects: &Objects, options: &Options, memory: &mut Memory, ledger: &mut Ledger, sink: &mut Vec<Diagnostic>) -> (Ir, Answers) {
    let cluster = Cluster::apply_again(objects, options.skip_validation, &mut memory.cluster, ledger, sink);
    let mut answers = Answers::default();
    let documents = &mut answers.documents;
    if !cluster.refused.is_empty() {
        documents.insert("admission", status::admission(&cluster.refused).into());
    }
    if options.controller == Controller::GatewayProvisioner {
        let mut made = provision::provision(&cluster, options, ledger);
        documents.insert("provisioned", made.document().into());
        documents.extend(made.failure.map(|failure| ("error", failure.document().into())));
        documents.insert("status", made.statuses.document());
        answers.created = made.created;
        return (Ir::default(), answers);
    }
    let settings = Settings::load(&cluster, options, ledger, sink).and_then(|settings| {
        documents.insert(settings::CONFIGURATION, settings.document().into());
        settings.start(&cluster, sink).map(|()| settings)
    });
    documents.insert("life", settings::life::document(&cluster, options, settings.as_ref()).into());
    let settings = match settings {
        Ok(settings) => settings,
        Err(failure) => {
            documents.insert("error", failure.document().into());
            return (Ir::default(), answers);
        }
    };
    let source = Source::new(&cluster, &settings, ledger);
    duty::tell(&source, ledger);
    memory.prepare(&cluster, options);
    let processed = processor::process(&source, &mut memory.processor);
    processed.findings(sink);
    let ir = lower::lower(&processed.graph, &source, &settings, &mut memory.lower, sink);
    documents.insert("status", processed.statuses.document());
    (ir, answers)
}
