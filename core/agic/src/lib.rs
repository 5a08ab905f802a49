//! Ingress on Azure: the objects that the Application Gateway Ingress Controller (AGIC) reads, their meaning, and the resulting gateway.
//!
//! Follows Azure/application-gateway-kubernetes-ingress of March 2026 as a cluster runs it: informers and handlers ([`pipeline`]), the processing
//! of an event ([`controller`]), the config builder ([`build`]), and shared gateways ([`brownfield`]). Where AGIC iterates over a map without an
//! order, this has a fixed order; where AGIC crashes, this reports the missing field.
#![no_std]

extern crate alloc;

mod accounts;
pub mod annotations;
mod assumed;
pub mod brownfield;
pub mod build;
pub mod certificate;
mod checks;
pub mod cluster;
pub mod codes;
pub mod controller;
pub mod crash;
pub mod environment;
pub mod events;
pub mod existing;
pub mod fault;
pub mod kinds;
pub mod memory;
pub mod model;
pub mod names;
pub mod options;
mod origins;
mod outputs;
pub mod pipeline;
pub mod prune;
mod references;
mod relations;
pub mod source;
mod stages;
pub mod status;
pub mod validate;

pub use memory::Memory;
pub use options::Options;

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::compilation::{Answers, Claim, Dialect, Draft, Gateway, GatewayId, Hints, Language, Ledger, Outcome, Task};
use chancery_base::diagnostic::Findings;
use chancery_base::executor::{Executor, Sequential};
use chancery_base::ir::appgw::Gateway as AppGateway;
use chancery_base::read::ReadOptions;
use chancery_base::resource::Objects;
use chancery_kubernetes::cluster::ReadKind as _;
use chancery_text::Str;
use checks::Checked;
use cluster::Cluster;
use environment::Environment;
use names::Names;
use pipeline::ObjectProgress;
use source::Source;
use stages::Stages;

/// How the dialect is detected.
pub const LANGUAGE: Language = Language {
    name: "ingress",
    controller: "AGIC",
    claims: &[
        Claim::Version("appgw.ingress.k8s.io/"),
        Claim::Version("appgw.ingress.azure.io/"),
        Claim::Version("networking.aks.io/"),
        Claim::Annotation("appgw.ingress.kubernetes.io/"),
        Claim::IngressClass("azure-application-gateway"),
        Claim::IngressClass("azure/application-gateway"),
        Claim::Field("controller", "azure/application-gateway"),
    ],
};

/// Ingress on Azure as a dialect.
pub static DIALECT: Dialect = Dialect {
    name: LANGUAGE.name,
    controller: LANGUAGE.controller,
    claims: LANGUAGE.claims,
    read_options: |_| ReadOptions::default(),
    kinds: kinds::known,
    listing: kinds::listing,
    foreign_kinds: &[],
    reads: |key| kinds::Kind::find(&key.group, &key.kind).is_some(),
    references: |objects, options| references::referenced_objects(objects, &Options::of(options)),
    options: options::SPECS,
    defaults: &[],
    hints: Hints::only(outputs::why_idle),
    annotations: &[("Ingress", annotations::KNOWN), ("MultiClusterIngress", annotations::KNOWN)],
    checks: &[],
    codes: codes::ALL,
    outputs: outputs::ALL,
    memory: || Box::new(Memory::default()),
    compile: |task| {
        let Task { objects, options, executor, memory, ledger, sink, .. } = task;
        let objects = &*objects;
        let mut fresh = Memory::default();
        let memory = memory.downcast_mut::<Memory>().unwrap_or(&mut fresh);
        let options = Options::of(options);
        let (stages, environment) = compile(objects, &options, executor, memory, ledger, sink);
        let id = GatewayId::named(&environment.resource_group, &environment.gateway);
        let gateway = stages.gateway.clone().map(|parts| Gateway { id, owner: None, outcome: Outcome::AppGateway(parts) });
        let answers = Answers { statuses: status::written(&stages.statuses, &options, &environment), ..Answers::default() };
        Draft { stages: Arc::new(stages), answers, gateways: gateway.into_iter().collect() }
    },
    cluster_label: |_| None,
    setting_changes: |_, _| Vec::new(),
};

/// Compiles objects to the gateway and the other answers, and records how the controller was started.
pub fn compile(
    objects: &Objects,
    options: &Options,
    executor: &dyn Executor,
    memory: &mut Memory,
    ledger: &mut Ledger,
    sink: &mut Findings,
) -> (Stages, Environment) {
    let options = &*assumed::options(objects, options, sink);
    let given = options.existing_gateway.as_ref().map(|text| present(text, &mut memory.gateway, sink));
    let environment = environment(options, given.as_ref());
    let names = Names::new(&environment);
    let gateway = given.unwrap_or_else(|| existing::empty(&names));
    let cluster = Cluster::apply(objects, executor, &mut memory.cluster, ledger, sink);
    let source = Source::new(&cluster, &environment, options.old_ingress_api, &mut memory.source);
    let processed = controller::process(&source, options, &names, &gateway, &mut memory.build);
    accounts::write(&source, &processed, &mut memory.accounts, ledger);
    let checked = Checked { objects, source: &source, options, names: &names, before: &gateway, processed: &processed, sink: &mut *sink };
    checks::run(checked, &mut memory.checks);
    (Stages::new(&cluster, processed.gateway, processed.recorder, processed.statuses), environment)
}

/// How far each object gets on its way into the gateway, computed on demand.
pub fn passages(objects: &Objects, options: &Options) -> Vec<ObjectProgress> {
    let sink = &mut Findings::default();
    let options = &*assumed::options(objects, options, sink);
    let given = options.existing_gateway.as_ref().map(|text| present(text, &mut None, sink));
    let environment = environment(options, given.as_ref());
    let cluster = Cluster::apply(objects, &Sequential, &mut cluster::Memory::default(), &mut Ledger::new(objects), sink);
    pipeline::passages(&Source::new(&cluster, &environment, options.old_ingress_api, &mut source::Memory::default()))
}

/// The controller's variables, completed from the gateway.
fn environment(options: &Options, given: Option<&AppGateway>) -> Environment {
    let environment = Environment::read(options);
    match given {
        Some(gateway) => environment.for_gateway(options, gateway),
        None => environment,
    }
}

/// Returns the current gateway, from the cache if its text is unchanged.
fn present(text: &Str, memory: &mut Option<(Str, AppGateway)>, sink: &mut Findings) -> AppGateway {
    if let Some((_, known)) = memory.as_ref().filter(|(known, _)| known == text) {
        return known.clone();
    }
    let mut found = Findings::default();
    let gateway = existing::load(text, &mut found);
    *memory = found.is_empty().then(|| (text.clone(), gateway.clone()));
    sink.append(&mut found);
    gateway
}

#[cfg(test)]
mod tests;
