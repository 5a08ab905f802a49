//! `compile --with-secrets` of Consul: a temporary CA, so that Envoy accepts the file.

use serde_json::Value;
use std::path::Path;
use std::process::Command;

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../assets/examples/consul");

/// Returns the first string below a value with this prefix.
fn find<'a>(of: &'a Value, begin: &str) -> Option<&'a str> {
    match of {
        Value::String(text) => text.starts_with(begin).then_some(text),
        Value::Array(items) => items.iter().find_map(|item| find(item, begin)),
        Value::Object(fields) => fields.values().find_map(|value| find(value, begin)),
        _ => None,
    }
}

fn is_taken(envoy: &Path, file: &Path) {
    let output = Command::new(envoy).args(["--mode", "validate", "-c"]).arg(file).output().expect("Envoy");
    assert!(output.status.success(), "{}: {}", file.display(), String::from_utf8_lossy(&output.stderr));
}

#[test]
fn with_secrets_issues_certificates_of_temporary_ca() {
    let envoy = std::env::var_os("CHANCERY_ENVOY").map(std::path::PathBuf::from);
    if envoy.is_none() {
        println!("Envoy is not asked: CHANCERY_ENVOY names no program");
    }
    let mut examples = 0;
    for example in std::fs::read_dir(EXAMPLES).expect("the examples") {
        let example = example.expect("an example").path();
        let folder = tempfile::tempdir().expect("a folder");
        let compile = |more: &[&str]| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_chancery"));
            command.args(["compile", "--output", "envoy", "--out-dir"]).arg(folder.path()).args(more).arg(&example).output().expect("chancery")
        };
        let output = compile(&["--with-secrets"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && said.contains("temporary CA"), "{}: {said}", example.display());
        let files: Vec<_> = std::fs::read_dir(folder.path()).expect("files").map(|file| file.expect("a file").path()).collect();
        for file in files {
            let text = std::fs::read_to_string(&file).expect("a text");
            assert!(!text.contains("<leaf:") && !text.contains("<roots"), "{}: a placeholder is left", file.display());
            let json: Value = serde_json::from_str(&text).expect("JSON");
            assert!(find(&json, "-----BEGIN PRIVATE KEY").is_some(), "{}: there is no key", file.display());
            let Some(envoy) = &envoy else { continue };
            // This machine lacks the files that an example expects on its proxy's machine.
            let authority = folder.path().join("authority.pem");
            std::fs::write(&authority, find(&json, "-----BEGIN CERTIFICATE").expect("a certificate")).expect("a file");
            std::fs::write(&file, text.replace("/etc/ssl/database-ca.pem", &authority.to_string_lossy())).expect("a file");
            is_taken(envoy, &file);
        }
        let without = compile(&[]);
        assert!(!String::from_utf8_lossy(&without.stderr).contains("temporary CA"), "no certificate is issued without --with-secrets");
        examples += 1;
    }
    assert!(examples >= 7, "{examples} examples");
}
