//! Loads the configuration from the cluster's objects: everything that the real controller does before its own model starts.
//!
//! ```text
//! objects --apply--> API server --watch--> visible objects --emit--> resources --load_all--> Config
//! ```
//!
//! Source of behaviour: the API server; Emissary `cmd/entrypoint/{watcher,interesting_types,secrets,endpoints}.go` and
//! `pkg/snapshot/v1/annotations.go` for visible objects; `python/ambassador/src/ambassador/fetch/` for resources; and `diagd.py`, which sorts
//! resources by their rkey before it loads them.
//!
//! Does not interpret Mappings, Hosts and other kinds; see `model`.

mod annotations;
mod apply;
mod emit;
mod expand;
mod findings;
mod incremental;
mod ingress;
mod judge;
mod knative;
mod memory;
mod previous;
mod role;
mod secrets;
mod services;
mod verdict;
mod visible;
mod watch;
pub use memory::Memory;
pub use role::ALSO_READ;

use super::{Options, kinds};
use crate::config::{Config, Resource, Rules};
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::compilation::{KnownAnnotations, Ledger};
use chancery_base::diagnostic::Findings;
use chancery_base::executor::{Executor, Sequential};
use chancery_base::read::ReadOptions;
use chancery_base::resource::Objects;
use emit::Emitter;
use role::Role;

/// The annotation that holds configuration.
pub const CONFIG_ANNOTATION: &str = "getambassador.io/config";

/// The annotations that Emissary reads, except an Ingress's class. Others with its prefix are not reported: Emissary ignores them, and users mark
/// objects with them.
pub const KNOWN_ANNOTATIONS: &[(&str, KnownAnnotations)] = &[
    ("Ingress", KnownAnnotations { prefixes: &[], names: &[CONFIG_ANNOTATION, ingress::ID_ANNOTATION], docs: &[] }),
    ("IngressClass", KnownAnnotations { prefixes: &[], names: &[ingress::ID_ANNOTATION], docs: &[] }),
    ("Service", KnownAnnotations { prefixes: &[], names: &[CONFIG_ANNOTATION], docs: &[] }),
];

/// How inputs of this dialect are read.
pub fn read_options() -> ReadOptions {
    ReadOptions { embedded: Vec::from([CONFIG_ANNOTATION]), ..ReadOptions::default() }
}

/// Loads the controller's configuration from these objects. Every object gets a ledger entry.
pub fn fetch(objects: &Objects, options: &Options, ledger: &mut Ledger, sink: &mut Findings) -> Config {
    fetch_again(objects, options, &Sequential, &mut Memory::default(), ledger, sink)
}

/// [`fetch`] with the results of earlier compiles.
pub fn fetch_again(
    objects: &Objects,
    options: &Options,
    executor: &dyn Executor,
    memory: &mut Memory,
    ledger: &mut Ledger,
    sink: &mut Findings,
) -> Config {
    memory.prepare(objects, options);
    if let Some(config) = incremental::fetch(objects, options, memory, ledger, sink) {
        return config;
    }
    let found_before = sink.len();
    memory.learn(objects, options, executor);
    let Memory { verdicts, unfolded, .. } = memory;
    let cluster = apply::apply(objects, verdicts, ledger, sink);
    let seen = watch::watch(cluster, options, ledger, sink);
    let annotations = annotations::collect(objects, &seen, options, unfolded, ledger, sink);
    let secrets = secrets::reconcile(&seen, &annotations, options, ledger, sink);

    let mut emitter = Emitter::new(options, ledger, sink, objects.len());
    secrets::emit(&secrets.taken, &mut emitter);
    for service in seen.of(Role::Service) {
        annotations.emit(service, 1, &mut emitter);
    }
    ingress::emit(&seen, &annotations, &mut emitter);
    for kind in role::AMBASSADOR.into_iter().filter_map(kinds::find) {
        for applied in seen.of(Role::Ambassador(kind)) {
            emitter.custom(applied);
        }
    }
    knative::emit(&seen, &mut emitter);
    secrets::emit(&secrets.redacted, &mut emitter);
    let helm_chart = services::emit(&seen, &mut emitter);

    let (mut resources, users) = emitter.finish();
    resources.sort_by(|a, b| a.rkey.cmp(&b.rkey));
    let mut config = load(resources, options, sink);
    config.helm_chart = helm_chart;
    config.endpoints = Arc::new(services::discovery(&seen));
    secrets.finish(&mut config, users, objects, &options.missing, sink);
    memory.before = Some(previous::PreviousFetch::new(objects, &config, ledger, &sink[found_before..]));
    config
}

/// Files resources as Ambassador does.
pub fn load(resources: Vec<Arc<Resource>>, options: &Options, sink: &mut Findings) -> Config {
    let rules = Rules { namespace: &options.ambassador_namespace, store: role::store, support: role::support, accepts: &|_| true };
    Config::load_all(resources, &rules, sink)
}

#[cfg(test)]
mod tests;
