//! Names the API server's objects of the kinds that AGIC reads.

use super::kinds::Kind;
use chancery_kubernetes::cluster;
pub use chancery_kubernetes::cluster::AdmittedObject;
pub use chancery_kubernetes::object_tables::Name;

/// The objects in the API server.
pub type Cluster<'a> = cluster::Cluster<'a, Kind>;

/// The admitted objects of earlier compiles.
pub type Memory = cluster::Memory<Kind>;
