//! Ingresses under ingress-nginx: the objects that the controller reads, their meaning, and the resulting servers, locations and upstreams.
//!
//! Follows kubernetes/ingress-nginx 1.15.1. Does not write nginx's directives or answer requests; see `chancery-nginx`.

#![no_std]

extern crate alloc;

mod accounts;
pub mod admission;
pub mod annotations;
pub mod build;
mod certificates;
mod checks;
pub mod cluster;
pub mod codes;
pub mod config_map;
pub mod deployed;
mod endpoints;
pub mod ingress;
pub mod kinds;
mod memory;
mod names;
pub mod options;
mod outputs;
mod references;
mod relations;
pub mod source;
mod stages;
#[cfg(test)]
mod tests;

pub use options::Options;
pub use stages::Stages;

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::compilation::{Answers, Claim, Dialect, Draft, Gateway, GatewayId, Hints, Language, Ledger, Outcome, Task};
use chancery_base::diagnostic::Findings;
use chancery_base::executor::Executor;
use chancery_base::read::ReadOptions;
use chancery_base::resource::{Objects, Sourced};
use chancery_kubernetes::cluster::ReadKind as _;
use chancery_text::Str;
use cluster::Cluster;
use memory::Memory;
use source::Source;

/// By what it is recognised.
pub const LANGUAGE: Language = Language {
    name: "ingress-nginx",
    controller: "ingress-nginx",
    claims: &[Claim::Annotation("nginx.ingress.kubernetes.io/"), Claim::IngressClass("nginx"), Claim::Field("controller", "k8s.io/ingress-nginx")],
};

/// Ingress under ingress-nginx as a dialect.
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
    annotations: &[("Ingress", annotations::KNOWN)],
    checks: &[],
    codes: codes::ALL,
    outputs: outputs::ALL,
    memory: || Box::new(Memory::default()),
    compile: |task| {
        let Task { objects, options, executor, memory, remembers, ledger, sink, .. } = task;
        // The host gives the memory that `DIALECT` made.
        let mut none = Memory::default();
        let memory = memory.downcast_mut().filter(|_| remembers).unwrap_or(&mut none);
        let stages = compile(objects, &Options::of(options), executor, memory, ledger, sink);
        let id = GatewayId::new("ingress-nginx");
        let gateways = Vec::from([Gateway { id, owner: None, outcome: Outcome::Nginx(stages.nginx.clone()) }]);
        Draft { stages: Arc::new(stages), answers: Answers::default(), gateways }
    },
    cluster_label: |_| None,
    setting_changes: |_, _| Vec::new(),
};

/// Compiles objects to the configuration of nginx.
fn compile(objects: &Objects, options: &Options, executor: &dyn Executor, memory: &mut Memory, ledger: &mut Ledger, sink: &mut Findings) -> Stages {
    let cluster = Cluster::apply(objects, executor, &mut memory.cluster, ledger, sink);
    let read = config_map::read(&cluster, options);
    let source = Source::new(objects, &cluster, options, &read.globals, &mut memory.source);
    let mut built = build::build(&cluster, options, &read, &source.counted);
    let refusals = checks::refused::refusals(&built.nginx);
    built.nginx.refused = refusals.first().map(|refusal| Sourced::new(Str::new(&refusal.why), refusal.origin));
    accounts::write(&cluster, options, &read, &source, &built, ledger);
    let checked = checks::CheckInput { objects, cluster: &cluster, options, read: &read, source: &source, built: &built, refusals: &refusals };
    checks::run(&checked, sink);
    Stages::new(&cluster, Arc::new(built.nginx), source, built.notices, read.unused)
}
