//! Validates certificates, keys and revocation lists with Contour's messages (Contour `internal/dag/secret.go`).
//!
//! DER is read only to recognize a certificate and its names. Does not look up Secrets; see `source`.

use super::model::Material;
use alloc::format;
use chancery_base::schema::go_quoted;
use chancery_kubernetes::reason::Reason;
use chancery_kubernetes::{der, json, pem};

/// Checks a serving certificate with its key.
pub fn check_tls(material: &Material) -> Result<(), Reason> {
    if material.assumed {
        return Ok(());
    }
    check_type(material)?;
    if !material.data.contains_key("tls.crt") {
        return Err("missing TLS certificate".into());
    }
    serving_bundle(material.get("tls.crt")).map_err(|why| format!("invalid TLS certificate: {why}"))?;
    if !material.data.contains_key("tls.key") {
        return Err("missing TLS private key".into());
    }
    private_key(material.get("tls.key")).map_err(|why| format!("invalid TLS private key: {why}").into())
}

/// Checks CA certificates.
pub fn check_ca(material: &Material) -> Result<(), Reason> {
    if material.assumed {
        return Ok(());
    }
    check_type(material)?;
    if material.get("ca.crt").is_empty() {
        return Err("empty \"ca.crt\" key".into());
    }
    ca_bundle(material.get("ca.crt")).map_err(|why| format!("invalid CA certificate bundle: {why}").into())
}

/// Checks a list of revoked certificates.
pub fn check_crl(material: &Material) -> Result<(), Reason> {
    if material.assumed {
        return Ok(());
    }
    check_type(material)?;
    if material.get("crl.pem").is_empty() {
        return Err("empty \"crl.pem\" key".into());
    }
    let mut rest = material.get("crl.pem");
    while let Some(block) = pem::next(&mut rest)? {
        if block.kind == "X509 CRL" {
            return Ok(());
        }
    }
    Err("failed to locate CRL".into())
}

/// Checks keys of tokens.
pub fn check_jwks(material: &Material, key: &str) -> Result<(), Reason> {
    if material.secret_type != "Opaque" {
        return Err("secret type is not \"Opaque\"".into());
    }
    if material.get(key).is_empty() {
        return Err(format!("missing {} key or empty value", go_quoted(key)).into());
    }
    let text = material.get(key).trim_ascii();
    if text.is_empty() {
        return Err("empty JWKS".into());
    }
    match json::shape(text).map_err(|why| format!("not valid JSON: {why}"))? {
        json::Shape::Object(members) => match members.iter().rev().find(|(name, _)| name == "keys") {
            Some((_, true)) => Ok(()),
            Some((_, false)) => Err("JWKS \"keys\" must be an array".into()),
            None => Err("JWKS must contain a \"keys\" array".into()),
        },
        json::Shape::Other => Err("JWKS must be a JSON object".into()),
    }
}

fn check_type(material: &Material) -> Result<(), Reason> {
    match material.secret_type.as_str() {
        "kubernetes.io/tls" | "Opaque" => Ok(()),
        _ => Err("secret type is not \"kubernetes.io/tls\" or \"Opaque\"".into()),
    }
}

fn serving_bundle(text: &[u8]) -> Result<(), Reason> {
    let (mut rest, mut first) = (text, true);
    while let Some(block) = pem::next(&mut rest)? {
        if block.kind != "CERTIFICATE" {
            return Err(format!("unexpected block type '{}'", block.kind).into());
        }
        let certificate = der::certificate(&block.bytes).ok_or("x509: malformed certificate")?;
        if first && !certificate.has_common_name && !certificate.has_alternative_names {
            return Err("certificate has no common name or subject alt name".into());
        }
        first = false;
    }
    if first { Err("failed to locate certificate".into()) } else { Ok(()) }
}

fn ca_bundle(text: &[u8]) -> Result<(), Reason> {
    let (mut rest, mut found) = (text, false);
    while let Some(block) = pem::next(&mut rest)? {
        if block.kind != "CERTIFICATE" {
            return Err(format!("unexpected block type '{}'", block.kind).into());
        }
        found = true;
    }
    if found { Ok(()) } else { Err("failed to locate certificate".into()) }
}

fn private_key(text: &[u8]) -> Result<(), Reason> {
    let (mut rest, mut keys) = (text, 0);
    while let Some(block) = pem::next(&mut rest)? {
        match block.kind.as_str() {
            "PRIVATE KEY" | "RSA PRIVATE KEY" | "EC PRIVATE KEY" => {
                if !der::is_sequence(&block.bytes) {
                    return Err("x509: failed to parse private key".into());
                }
                keys += 1;
            }
            "EC PARAMETERS" => {}
            kind => return Err(format!("unexpected block type '{kind}'").into()),
        }
    }
    match keys {
        0 => Err("failed to locate private key".into()),
        1 => Ok(()),
        _ => Err("multiple private keys".into()),
    }
}
