//! What Contour keeps of the cluster (Contour `internal/dag/cache.go`): the objects it is responsible for, and how it looks them up.
//!
//! What must not be here: what they mean.

use super::cluster::Cluster;
use super::settings::Settings;

/// The objects that Contour works on.
pub struct Source<'a> {
    /// The cluster.
    pub cluster: &'a Cluster<'a>,
    /// Contour's configuration.
    pub settings: &'a Settings,
}
