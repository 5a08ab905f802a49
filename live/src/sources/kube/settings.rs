//! Defines the settings of a followed cluster. Does not read the kubeconfig; see `connect`.

use std::path::PathBuf;

/// The cluster, and the part of it that is followed.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The kubeconfig [default: $KUBECONFIG, then ~/.kube/config, then the pod's account]
    pub kubeconfig: Option<PathBuf>,
    /// The context [default: the kubeconfig's current context]
    pub context: Option<String>,
    /// The only watched namespace; `None` for all.
    pub namespace: Option<String>,
    /// Only objects with these labels.
    pub selector: Option<String>,
    /// Only the kinds of this dialect.
    pub dialect: Option<String>,
}
