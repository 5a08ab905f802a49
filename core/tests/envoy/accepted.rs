//! Checks that a real Envoy accepts the documents. `CHANCERY_ENVOY` names the program; without it the tests check nothing.

use crate::rich::{OLD, rich};
use chancery_core::backend::envoy::v3::{Emitted, emit};
use chancery_core::backend::envoy::{Layout, Options};
use chancery_core::ir::{Ir, SecretPart, SecretReference, Spelling};
use std::process::Command;

/// Returns whether Envoy accepts the configuration, and its output, which may contain warnings about deprecated fields.
fn complaints(name: &str, ir: &Ir, options: &Options<'_>) -> Option<(bool, String)> {
    let envoy = std::env::var_os("CHANCERY_ENVOY")?;
    let path = std::env::temp_dir().join(format!("chancery-{name}-{}.json", std::process::id()));
    let mut memory = Emitted::new();
    std::fs::write(&path, emit(ir, options, &mut memory).text()).unwrap();
    let output = Command::new(envoy).args(["--mode", "validate", "--log-level", "warning", "-c"]).arg(&path).output().unwrap();
    let output_text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if output.status.success() {
        std::fs::remove_file(&path).unwrap();
    }
    Some((output.status.success(), output_text))
}

#[test]
fn envoy_accepts_current_spelling_without_warning() {
    let options = Options { layout: Layout::Pretty, ..Options::default() };
    if let Some((accepted, output_text)) = complaints("current", &rich(Spelling::CURRENT), &options) {
        assert!(accepted && !output_text.to_lowercase().contains("deprecated"), "{output_text}");
    }
}

#[test]
fn envoy_accepts_older_spelling() {
    if let Some((accepted, output_text)) = complaints("older", &rich(OLD), &Options::default()) {
        assert!(accepted, "{output_text}");
    }
}

/// Returns a certificate that Envoy accepts both as a server certificate and as a CA certificate.
fn pem(reference: &SecretReference) -> Option<Vec<u8>> {
    Some(match (&*reference.name, &reference.part) {
        ("crl", _) => include_bytes!("crl.pem").to_vec(),
        (_, SecretPart::PrivateKey) => include_bytes!("key.pem").to_vec(),
        _ => include_bytes!("certificate.pem").to_vec(),
    })
}

#[test]
fn envoy_accepts_standalone_export() {
    let options = Options { secrets: Some(&pem), ..Options::default() };
    if let Some((accepted, output_text)) = complaints("alone", &rich(Spelling::CURRENT), &options) {
        assert!(accepted, "{output_text}");
    }
}
