//! Real Envoys, whoever serves them: finds them in a cluster, reads their admin interface, sends requests to them.
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
//! Nothing changes an Envoy: only read requests go to its admin interface.

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
