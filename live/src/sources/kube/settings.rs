//! The settings by which a cluster is watched.

use std::path::PathBuf;

/// Which cluster, and what of it.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The kubeconfig; `$KUBECONFIG` and the usual places unless given, and a pod's own account where there is none.
    pub kubeconfig: Option<PathBuf>,
    /// The context; the current one unless given.
    pub context: Option<String>,
    /// The one namespace that is watched; all unless given.
    pub namespace: Option<String>,
    /// Only objects with these labels.
    pub selector: Option<String>,
    /// Only the kinds of this dialect.
    pub dialect: Option<String>,
}
