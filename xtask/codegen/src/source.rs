//! Finds Envoy's descriptor set in the `envoy-types` package. `cargo metadata` returns the package's path.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The root of the workspace.
pub fn workspace() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("xtask/codegen lies two levels below the root").to_path_buf()
}

/// The serialised `FileDescriptorSet`.
pub fn descriptor_set() -> Result<Vec<u8>, String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let out = Command::new(cargo)
        .args(["metadata", "--format-version=1", "--locked"])
        .current_dir(workspace())
        .output()
        .map_err(|e| format!("cargo metadata: {e}"))?;
    if !out.status.success() {
        return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&out.stderr)));
    }
    let metadata: serde_json::Value = serde_json::from_slice(&out.stdout).map_err(|e| e.to_string())?;
    let manifest = metadata["packages"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|package| package["name"] == "envoy-types")
        .and_then(|package| package["manifest_path"].as_str())
        .ok_or("cargo metadata lists no package envoy-types")?;
    let path = Path::new(manifest).with_file_name("src/generated/types.bin");
    std::fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))
}
