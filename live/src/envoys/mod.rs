//! Envoys that run, whoever serves them: found in a cluster, asked at their admin interface, sent requests.
//!
//! | module | what it holds |
//! |---|---|
//! | [`find`] | which pods of a cluster are Envoys |
//! | [`reach`] | a connection to a port of an Envoy: on this machine, or by a port-forward of Kubernetes |
//! | [`http`] | one request on such a connection |
//! | [`admin`] | what an Envoy says of itself |
//! | [`send`] | a request that a person tries, sent for real |
//! | [`drift`] | the source, what is served of it, and what an Envoy has |
//!
//! An Envoy is only looked at: nothing that changes it is asked of its admin interface. What must not be here: what a configuration means.

pub mod admin;
pub mod drift;
pub mod find;
pub mod http;
pub mod reach;
pub mod send;

pub use admin::{Overview, certificates, clusters, config_dump, overview, stats};
pub use drift::{DriftSource, three_way};
pub use find::{FoundEnvoy, Search, SearchResult, find};
pub use reach::Reach;
pub use send::{RealAnswer, send};
