//! Follows folders and clusters as sources of Chancery's inputs, and serves real Envoys. Does not interpret a
//! configuration; see `chancery_core`.
//!
//! ```text
//! sources --changes--> intake --drained--> worker --Build--> snapshots --xDS--> Envoys
//!                                            |
//!                                            +--> controllers, pages, events
//! ```
//!
//! | module | what it holds |
//! |---|---|
//! | [`event`] | events, as the JSON objects that other programs read; the timeline |
//! | [`log`] | the log of the program, on standard error |
//! | [`address`] | the address at which a server listens |
//! | [`envoys`] | running Envoys: finds them, reads their state, sends requests, compares their configuration |
//! | [`sources`] | the sources of inputs: a folder, a stream of watch events, a recording, an API server, a Consul agent |
//! | [`worker`] | turns changes into builds: drops noise, keeps a spacing, drains, compiles |
//! | [`xds`] | snapshots, subscriptions, the server, and the resources that a rejection blames |
//! | [`proxies`] | assigns each Envoy the snapshot of its gateway |
//! | [`rollout`] | gives each change to one Envoy first |
//! | [`replicas`] | shares the gateways between several servers |
//! | [`runtime`] | controllers: caches with indexes, mappers, queues, reconcilers |
//! | [`controllers`] | the controllers of this program |
//! | [`connected`] | the connected Envoys, with the resources that each lacks |
//! | [`feed`] | the messages that keep a page up to date |
//! | [`http`] | the HTTP API: readiness, builds, Envoys, events |
//! | [`admission`] | the webhook that reviews objects |
//! | [`bootstrap`] | the bootstrap of an Envoy that uses this server |
//! | [`install`] | the manifests that run this program in a cluster |
//! | [`engine`], [`watch`], [`serve`], [`session`], [`host`] | run all parts together |
//!
//! All code that waits, listens or connects is in this crate. Each source gives strings, and the core compiles them like
//! the contents of files.

pub mod address;
pub mod admission;
pub mod arm;
pub mod bootstrap;
pub mod connected;
mod connection_table;
pub mod controllers;
pub mod engine;
pub mod envoys;
pub mod event;
pub mod feed;
pub mod findings;
pub mod host;
pub mod http;
pub mod install;
pub mod log;
mod log_limit;
pub mod port;
pub mod ports;
pub mod proxies;
pub mod replicas;
pub mod rollout;
pub mod runtime;
pub mod serve;
pub mod servers;
pub mod session;
pub mod sources;
pub mod watch;
pub mod worker;
pub mod xds;

/// A failure, described in one sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure(pub String);

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl<T: Into<String>> From<T> for Failure {
    fn from(text: T) -> Self {
        Failure(text.into())
    }
}

/// Takes a lock, even after a panic in another task: no value here changes in several steps, so none is half changed.
fn lock<T>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
