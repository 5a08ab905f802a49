//! Ingress on Azure: what the Application Gateway Ingress Controller (AGIC) reads, what that means, and what the gateway gets.
//!
//! Follows Azure/application-gateway-kubernetes-ingress of March 2026 as a cluster runs it: informers and handlers ([`pipeline`]), what is
//! done with an event ([`controller`]), the config builder ([`build`]), and what is shared with others ([`brownfield`]). Where AGIC goes
//! through a map in no order, this has an order; where AGIC dies, this says what is missing.

pub mod annotations;
pub mod brownfield;
pub mod build;
pub mod certificate;
mod checks;
pub mod cluster;
pub mod codes;
pub mod controller;
pub mod death;
pub mod environment;
pub mod events;
pub mod existing;
pub mod fault;
pub mod kinds;
pub mod model;
pub mod names;
pub mod options;
pub mod pipeline;
pub mod prune;
pub mod source;
pub mod status;
pub mod validate;

pub use options::{GatewayFile, Options};

use crate::config::{Answers, Ledger};
use crate::diagnostic::Diagnostic;
use crate::ir::appgw::Gateway;
use crate::resource::{Inputs, Objects};
use alloc::vec::Vec;
use cluster::Cluster;
use environment::Environment;
use names::Names;
use source::Source;

/// What comes of an input.
#[derive(Clone, Debug, Default)]
pub struct Compiled {
    /// The gateway that is asked for; `None` where nothing is.
    pub gateway: Option<Gateway>,
    /// What the controller answers besides: events, statuses, and the way of each object.
    pub answers: Answers,
}

/// From objects to the gateway and the other answers. The file with the gateway as it is becomes an input and an object of its own.
pub fn compile(inputs: &mut Inputs, objects: &mut Objects, options: &Options, ledger: &mut Ledger, sink: &mut Vec<Diagnostic>) -> Compiled {
    let environment = Environment::read(options);
    let names = Names::new(&environment);
    let read = options.existing_gateway.as_ref().map(|file| existing::load(file, inputs, objects, sink));
    *ledger = Ledger::new(objects);
    let gateway = match read {
        Some(read) => read.unwrap_or_default(),
        None => existing::empty(&names),
    };
    let cluster = Cluster::apply(objects, ledger, sink);
    let source = Source::new(&cluster, &environment, options.old_ingress_api);
    let processed = controller::process(&source, options, &names, &gateway);
    let passages = pipeline::passages(&source, objects);
    let checked = checks::Checked { objects, source: &source, options, names: &names, before: &gateway, processed: &processed, sink: &mut *sink };
    checks::run(checked);
    let mut answers = Answers::default();
    answers.documents.insert("events", processed.recorder.document().into());
    answers.documents.insert("pipeline", pipeline::document(&passages).into());
    answers.documents.insert("status", status::document(&processed.statuses).into());
    Compiled { gateway: processed.gateway, answers }
}

#[cfg(test)]
mod tests;
