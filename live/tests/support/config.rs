//! Writes kubeconfigs of servers without credentials.
//!
//! Does not start servers; see `api`.

use serde_json::json;
use std::path::{Path, PathBuf};

/// Writes a kubeconfig for a server without TLS.
pub fn kubeconfig(folder: &Path, name: &str, server: &str) -> PathBuf {
    let path = folder.join(format!("{name}.kubeconfig"));
    let config = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "c",
        "clusters": [{"name": "c", "cluster": {"server": server}}],
        "users": [{"name": "c", "user": {}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "c"}}],
    });
    std::fs::write(&path, config.to_string()).expect("a file");
    path
}
