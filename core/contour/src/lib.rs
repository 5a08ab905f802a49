//! Simulates Contour: the objects it reads, the API server, `contour serve`, and the Gateway provisioner.
//!
//! Follows projectcontour/contour of August 2026 as a cluster runs it.
#![no_std]

extern crate alloc;

pub mod annotations;
mod assumed;
mod checks;
pub mod cluster;
pub mod defaults;
pub mod kinds;
pub mod lower;
pub mod material;
pub mod memory;
pub mod model;
pub mod options;
mod outputs;
pub mod ownership;
pub mod permission;
pub mod processor;
pub mod provision;
mod references;
pub mod relations;
pub mod settings;
pub mod source;
mod stages;
pub mod status;

pub use memory::Memory;
pub use options::{Controller, Options};

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::compilation::{Answers, Claim, Dialect, Draft, Gateway, GatewayId, Hints, Language, Ledger, Outcome, Purpose, Task};
use chancery_base::diagnostic::Findings;
use chancery_base::ir::Ir;
use chancery_base::read::ReadOptions;
use chancery_base::resource::Objects;
use cluster::Cluster;
use hashbrown::HashSet;
use memory::GatewayMemory;
use provision::{Provisioned, ProvisionedGateway};
use settings::Settings;
use source::Source;
use stages::Stages;

/// Marks of an input for Contour.
pub const LANGUAGE: Language = Language {
    name: "contour",
    controller: "Contour",
    claims: &[
        Claim::Version("projectcontour.io/"),
        // Its first API group, which it no longer reads.
        Claim::Version("contour.heptio.com/"),
        Claim::IngressClass("contour"),
        Claim::Field("controller", "projectcontour.io/"),
        Claim::Field("controllerName", "projectcontour.io/"),
        Claim::Field("contour.yaml", ""),
        Claim::SharedAnnotation("projectcontour.io/"),
        Claim::SharedVersion("gateway.networking.k8s.io/"),
    ],
};

/// Contour as a dialect.
pub static DIALECT: Dialect = Dialect {
    name: LANGUAGE.name,
    controller: LANGUAGE.controller,
    claims: LANGUAGE.claims,
    read_options: |options| read_options(&Options::of(options)),
    kinds: kinds::known,
    listing: kinds::listing,
    foreign_kinds: &[],
    reads: |key| kinds::find(&key.group, &key.kind).is_some(),
    references: |objects, _| references::referenced_objects(objects),
    options: options::SPECS,
    defaults: defaults::DEFAULTS,
    hints: Hints { disabled_fields: checks::disabled_fields, route_order: |_| defaults::ROUTE_ORDER, ..Hints::only(defaults::why_idle) },
    annotations: annotations::ALL,
    codes: &[],
    outputs: outputs::ALL,
    checks: &[
        checks::nothing_served,
        checks::same_conditions,
        checks::random_winners,
        checks::replaced_limits,
        checks::no_endpoints,
        checks::values,
        checks::fields,
        checks::repeated_prefixes,
        checks::annotations,
        chancery_kubernetes::gateway_api::checks::references,
        chancery_kubernetes::gateway_api::conflicts::same_matches,
    ],
    memory: || Box::new(Memory::default()),
    compile: |task| compile(task),
    cluster_label: |_| None,
    setting_changes: settings::state::changes_between,
};

/// How objects are read: the file in the flags, or the assumed one, is an object too.
pub fn read_options(options: &Options) -> ReadOptions {
    ReadOptions {
        files: settings::file_name(options).or_else(|| options.assumes.then(|| assumed::FILE.into())).into_iter().collect(),
        ..ReadOptions::default()
    }
}

/// From objects to gateways.
fn compile(task: Task<'_>) -> Draft {
    let Task { objects, options, executor, memory, remembers, purpose, ledger, sink } = task;
    let objects = &*objects;
    let mut fresh = Memory::default();
    let memory = memory.downcast_mut::<Memory>().unwrap_or(&mut fresh);
    let given = Options::of(options);
    let options = &*assumed::options(objects, &given, sink);
    let file = settings::file_name(options);
    let cluster = Cluster::apply(objects, file.as_ref(), options.skip_validation, executor, &mut memory.cluster, ledger, sink);
    if !remembers {
        memory.cluster = cluster::Memory::default();
    }
    let mut answers = Answers { refused: cluster.refused.clone(), ..Answers::default() };
    let gateways = match options.controller.unwrap_or_default() {
        Controller::Serve => Vec::from([serve(objects, &cluster, options, (memory, purpose), &mut answers, ledger, sink)]),
        Controller::GatewayProvisioner => provision(&cluster, options, (memory, purpose), &mut answers, ledger, sink),
    };
    Draft { stages: Arc::new(Stages::new(&cluster)), answers, gateways }
}

/// The name of the only gateway of a manually installed Contour.
fn installed(options: &Options) -> GatewayId {
    GatewayId::named(&options.namespace, "contour")
}

/// `contour serve`: one gateway.
fn serve(
    objects: &Objects,
    cluster: &Cluster<'_>,
    options: &Options,
    (memory, purpose): (&mut Memory, Purpose),
    answers: &mut Answers,
    ledger: &mut Ledger,
    sink: &mut Findings,
) -> Gateway {
    let settings = Settings::load(cluster, options, ledger, sink).and_then(|settings| {
        let settings = settings.assuming(options.assumes);
        answers.configuration = Some(settings.configuration());
        settings.start(cluster, sink)?;
        Ok(if settings.is_configured() { settings } else { settings.with_gateway(assumed::gateway(objects, options, sink)) })
    });
    answers.controller_state = Some(settings::state::controller_state(cluster, options, settings.as_ref()));
    let outcome = match settings {
        Ok(settings) => {
            let (ir, statuses) = run(cluster, &settings, (memory.gateway(&installed(options)), purpose), ledger, sink);
            answers.statuses = Some(statuses.list());
            Outcome::Runs(Arc::new(ir))
        }
        Err(failure) => {
            answers.failure = Some(failure.clone());
            Outcome::Stopped(failure)
        }
    };
    Gateway { id: installed(options), owner: None, outcome }
}

/// Runs `contour gateway-provisioner`: a gateway for each Gateway of its classes, each served by its own Contour.
fn provision(
    cluster: &Cluster<'_>,
    options: &Options,
    (memory, purpose): (&mut Memory, Purpose),
    answers: &mut Answers,
    ledger: &mut Ledger,
    sink: &mut Findings,
) -> Vec<Gateway> {
    let Provisioned { created, statuses, failure, gateways } = provision::provision(cluster, options, ledger);
    answers.statuses = Some(statuses.list());
    answers.created = Some(created);
    answers.failure = failure;
    memory.keep_gateways(|id| gateways.iter().any(|gateway| gateway.id == *id));
    let (mut ledgers, mut found) = (Vec::new(), Findings::default());
    let serve_one = |ProvisionedGateway { id, owner, outcome }| {
        let mut own = ledger.clone();
        let served = outcome.and_then(|provisioned| {
            let settings = Settings::provisioned(provisioned, &mut found)?.assuming(options.assumes);
            settings.start(cluster, &mut found)?;
            Ok(run(cluster, &settings, (memory.gateway(&id), purpose), &mut own, &mut found).0)
        });
        let outcome = match served {
            Ok(ir) => {
                ledgers.push(own);
                Outcome::Runs(Arc::new(ir))
            }
            Err(failure) => Outcome::Stopped(failure),
        };
        Gateway { id, owner: Some(owner), outcome }
    };
    let served = gateways.into_iter().map(serve_one).collect();
    ledger.join(&ledgers);
    // Several Contours report the same about objects that all of them read.
    let mut known = HashSet::new();
    sink.extend(found.into_iter().filter(|finding| known.insert(finding.fingerprint())));
    served
}

/// Runs a Contour with these settings: the configuration of its Envoys, and the statuses that it writes.
fn run(
    cluster: &Cluster<'_>,
    settings: &Settings,
    (memory, purpose): (&mut GatewayMemory, Purpose),
    ledger: &mut Ledger,
    sink: &mut Findings,
) -> (Ir, status::Statuses) {
    let source = Source::new(cluster, settings, ledger);
    ownership::record_foreign_objects(&source, ledger);
    memory.prepare(&source);
    let processed = processor::process(&source, &mut memory.processor);
    processed.findings(sink);
    let ir = match purpose {
        Purpose::Answers => Ir::default(),
        _ => lower::lower(&processed.graph, &source, settings, &mut memory.lower, sink),
    };
    (ir, processed.statuses)
}
