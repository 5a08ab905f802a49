//! Finds Envoy's descriptor set in the `envoy-types` package. `cargo metadata` returns the package's path.

use prost::Message as _;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The root of the workspace.
pub fn workspace() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("xtask/codegen lies two levels below the root").to_path_buf()
}

/// The serialised `FileDescriptorSet` of the package, with the files that it lacks.
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
    let mut bytes = std::fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    // Two encoded sets in a row are one set. To decode the first one would lose the options of its fields.
    bytes.extend(absent_files().encode_to_vec());
    Ok(bytes)
}

/// Files of `cncf/xds` whose messages Envoy knows. The package lacks them, because none of its files imports them.
fn absent_files() -> FileDescriptorSet {
    let file = |name: &str, dependency: &[&str], message: DescriptorProto| FileDescriptorProto {
        name: Some(format!("xds/type/matcher/v3/{name}.proto")),
        package: Some("xds.type.matcher.v3".into()),
        dependency: dependency.iter().map(|&name| name.into()).collect(),
        message_type: vec![message],
        syntax: Some("proto3".into()),
        ..Default::default()
    };
    let field = |name: &str, number: i32, kind: Type, message: Option<&str>| FieldDescriptorProto {
        name: Some(name.into()),
        number: Some(number),
        label: Some(Label::Optional.into()),
        r#type: Some(kind.into()),
        type_name: message.map(str::to_owned),
        ..Default::default()
    };
    let matcher = DescriptorProto {
        name: Some("CelMatcher".into()),
        field: vec![field("expr_match", 1, Type::Message, Some(".xds.type.v3.CelExpression")), field("description", 2, Type::String, None)],
        ..Default::default()
    };
    let input = DescriptorProto { name: Some("HttpAttributesCelMatchInput".into()), ..Default::default() };
    FileDescriptorSet { file: vec![file("cel", &["xds/type/v3/cel.proto"], matcher), file("http_inputs", &[], input)] }
}
