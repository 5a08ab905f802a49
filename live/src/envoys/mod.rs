//! Finds real Envoys in a cluster, reads their admin interfaces, and sends requests to them. Does not configure them;
//! see `xds`.
//!
//! | module | what it holds |
//! |---|---|
//! | [`find`] | the pods of a cluster that run Envoy |
//! | [`reach`] | a connection to a port of an Envoy: on this machine, or through a port-forward of Kubernetes |
//! | [`http`] | one request on such a connection |
//! | [`admin`] | an Envoy's state, from its admin interface |
//! | [`send`] | sends a user's trial request to a real Envoy |
//! | [`drift`] | compares the source, the served configuration, and an Envoy's configuration |
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
