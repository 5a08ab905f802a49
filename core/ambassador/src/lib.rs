//! Simulates Ambassador, also known as Emissary-ingress: API server, Go front end, Python compiler.
//!
//! Follows Emissary-ingress 4.x as a cluster runs it.
#![no_std]

extern crate alloc;

mod checks;
pub mod config;
pub mod defaults;
pub mod fetch;
pub mod kinds;
pub mod lower;
pub mod model;
pub mod options;
mod references;
pub mod relations;
pub mod spec;
mod stages;

mod duration;

pub use config::Config;
pub use options::Options;
use stages::SharedGroups;
pub use stages::Stages;

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::compilation::{Answers, Claim, Dialect, Draft, Gateway, GatewayId, Hints, Language, Outcome, Purpose, Task};
use chancery_base::resource::{ObjectId, ResourceKey};
use chancery_base::schema::ListedKind;

/// Marks of an input for Ambassador.
pub const LANGUAGE: Language = Language {
    name: "ambassador",
    controller: "Emissary",
    claims: &[
        Claim::Version("getambassador.io/"),
        Claim::Version("ambassador/v"),
        Claim::Annotation("getambassador.io/"),
        Claim::IngressClass("ambassador"),
        Claim::Field("controller", "getambassador.io/"),
    ],
};

/// Ambassador as a dialect.
pub static DIALECT: Dialect = Dialect {
    name: LANGUAGE.name,
    controller: LANGUAGE.controller,
    claims: LANGUAGE.claims,
    read_options: |_| fetch::read_options(),
    kinds: kinds::known,
    listing,
    foreign_kinds: &[],
    reads,
    references: |objects, options| references::referenced_objects(objects, &Options::of(options).ambassador_namespace),
    options: options::SPECS,
    defaults: defaults::DEFAULTS,
    hints: Hints {
        why_idle: defaults::why_idle,
        why_unreached: checks::why_unreached,
        disabled_fields: checks::disabled_fields,
        precedence_change: defaults::precedence_change,
        route_order: |_| defaults::ROUTE_ORDER,
    },
    annotations: fetch::KNOWN_ANNOTATIONS,
    codes: &[],
    outputs: &[],
    checks: &[
        checks::unserved,
        checks::same_match,
        checks::tls_without_certificate,
        checks::certificate_without_listener,
        checks::edge_stack_fields,
        checks::service_names,
        checks::shared_fields,
        checks::shared_clusters,
        checks::values,
        checks::fields,
        checks::modules,
    ],
    memory: || Box::new(Memory::default()),
    compile: |task| compile(task),
    cluster_label: |_| None,
    setting_changes: |_, _| Vec::new(),
};

/// The results of earlier compiles.
#[derive(Default)]
pub struct Memory {
    fetch: fetch::Memory,
    model: model::Memory,
    lower: lower::Memory,
}

/// Compiles objects to the single gateway of Emissary.
fn compile(task: Task<'_>) -> Draft {
    let Task { objects, options, executor, memory, remembers, purpose, ledger, sink } = task;
    let mut fresh = Memory::default();
    let memory = memory.downcast_mut::<Memory>().unwrap_or(&mut fresh);
    let options = &Options::of(options);
    let mut config = fetch::fetch_again(objects, options, executor, &mut memory.fetch, ledger, sink);
    if !remembers {
        memory.fetch = fetch::Memory::default();
    }
    let documents_only = purpose == Purpose::Documents;
    if documents_only {
        // Earlier findings have places in these objects, and outputs redact credentials by them.
        let named: BTreeSet<ObjectId> = sink.iter().filter_map(|finding| finding.place.object()).collect();
        objects.retain(|object| !object.credentials.is_empty() || named.contains(&object.id));
    }
    // No view needs the Mappings' resources: each is dropped after its Mapping is built.
    let mappings = documents_only.then(|| config.take("mappings"));
    let mut model = model::Model::build(&config, mappings, options, &mut memory.model, sink);
    let shared = if documents_only { SharedGroups::default() } else { SharedGroups::Kept(model.groups.shared()) };
    let shared = if remembers { shared } else { shared.judged() };
    let taken = (!remembers).then(|| model.groups.take());
    let ir = lower::lower(&model, taken, executor, remembers.then_some(&mut memory.lower), sink);
    if remembers {
        memory.model.keep(model);
    }
    let id = GatewayId::named(&options.ambassador_namespace, &options.ambassador_id);
    let gateway = Gateway { id, owner: None, outcome: Outcome::Runs(Arc::new(ir)) };
    Draft { stages: Arc::new(Stages { config, shared }), answers: Answers::default(), gateways: Vec::from([gateway]) }
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
