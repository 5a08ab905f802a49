//! Follows folders and clusters as sources of Chancery's inputs, and serves real Envoys.
//!
//! ```text
//! sources --changes--> intake --drained--> worker --Build--> snapshots --xDS--> Envoys
//!                                            |
//!                                            +--> controllers, pages, events
//! ```
//!
//! | module | what it holds |
//! |---|---|
//! | [`event`] | what happens, as the objects that other programs read; the timeline |
//! | [`log`] | what the program says of itself, on standard error |
//! | [`address`] | where a server listens |
//! | [`envoys`] | Envoys that run: found, asked, sent requests, compared with what they should have |
//! | [`files`] | which files of a folder are read |
//! | [`sources`] | where inputs come from: a folder, a stream of watch events, a recording, an API server, a Consul agent |
//! | [`worker`] | changes become builds: noise dropped, spaced, drained, compiled |
//! | [`xds`] | snapshots, subscriptions, the server, and whom a rejection blames |
//! | [`proxies`] | which Envoy gets which gateway's snapshot |
//! | [`rollout`] | a change goes to one Envoy first |
//! | [`runtime`] | controllers: caches with indexes, mappers, queues, reconcilers |
//! | [`controllers`] | the controllers that we run |
//! | [`feed`] | what a page needs to show the inputs as they are now |
//! | [`http`] | what people and programs ask over HTTP |
//! | [`bootstrap`] | how an Envoy starts that asks us |
//! | [`install`] | what a cluster needs so that it runs there |
//! | [`engine`], [`watch`], [`serve`], [`session`], [`host`] | all of it put together |
//!
//! Everything that waits, listens or connects is here. Nothing here interprets a configuration: each source gives texts, and the core compiles them
//! like the texts of files.

pub mod address;
pub mod arm;
pub mod bootstrap;
mod connection_table;
pub mod controllers;
pub mod engine;
pub mod envoys;
pub mod event;
pub mod feed;
pub mod files;
pub mod host;
pub mod http;
pub mod install;
pub mod log;
mod log_limit;
pub mod ports;
pub mod proxies;
pub mod rollout;
pub mod runtime;
pub mod serve;
pub mod session;
pub mod sources;
pub mod threads;
pub mod watch;
pub mod worker;
pub mod xds;

/// What went wrong, as one sentence for people.
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

/// Takes a lock. What a task that panicked left behind is still whole: no value here is changed in several steps.
fn lock<T>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
