//! TLS towards clients, as ClientTrafficPolicies write it. Does not attach policies.

use super::super::cluster::Admitted;
use super::super::context::Translator;
use super::super::model::{CaCertificate, Crl, TlsSettings};
use super::super::translate::certificates;
use super::matching::text_match;
use super::reference::data;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_base::schema::go_quoted;
use chancery_text::Str;

/// Ciphers that Envoy Gateway takes.
const CIPHERS: [&str; 28] = [
    "ECDHE-ECDSA-AES128-GCM-SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
    "ECDHE-RSA-AES128-GCM-SHA256",
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    "ECDHE-ECDSA-AES256-GCM-SHA384",
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
    "ECDHE-RSA-AES256-GCM-SHA384",
    "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
    "ECDHE-ECDSA-CHACHA20-POLY1305",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
    "ECDHE-RSA-CHACHA20-POLY1305",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
    "ECDHE-ECDSA-AES128-SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
    "ECDHE-RSA-AES128-SHA",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
    "AES128-GCM-SHA256",
    "TLS_RSA_WITH_AES_128_GCM_SHA256",
    "AES128-SHA",
    "TLS_RSA_WITH_AES_128_CBC_SHA",
    "ECDHE-ECDSA-AES256-SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
    "ECDHE-RSA-AES256-SHA",
    "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
    "AES256-GCM-SHA384",
    "TLS_RSA_WITH_AES_256_GCM_SHA384",
    "AES256-SHA",
    "TLS_RSA_WITH_AES_256_CBC_SHA",
];

/// Lays the settings of a policy over those of a listener.
pub(super) fn apply(t: &Translator<'_>, policy: &Admitted<'_>, spec: &Tree, tls: &mut TlsSettings) -> Result<(), String> {
    let written = spec.get("tls");
    let version = |field: &str, default: &'static str| written.find(field).cloned().unwrap_or_else(|| Tree::from(default));
    tls.min_version = version("minVersion", "1.2");
    tls.max_version = version("maxVersion", "1.3");
    if written.is_null() {
        return Ok(());
    }
    if let Some(alpn) = written.find("alpnProtocols") {
        tls.alpn = Some(alpn.items().to_vec());
    }
    let list = |field: &str| written.get(field).items().to_vec();
    let set = |into: &mut Vec<Tree>, found: Vec<Tree>| {
        if !found.is_empty() {
            *into = found;
        }
    };
    if let Some(unknown) = written.get("ciphers").items().iter().find(|cipher| !CIPHERS.contains(&cipher.text())) {
        return Err(format!("unsupported cipher suite: {}", unknown.text()));
    }
    set(&mut tls.ciphers, list("ciphers"));
    set(&mut tls.ecdh_curves, list("ecdhCurves"));
    set(&mut tls.signature_algorithms, list("signatureAlgorithms"));
    set(&mut tls.fingerprints, list("fingerprints"));
    if let Some(validation) = written.find("clientValidation") {
        validate_clients(t, policy, validation, tls)?;
    }
    let resumption = written.at(&["session", "resumption"]);
    tls.stateless_resumption |= !resumption.get("stateless").is_null();
    tls.stateful_resumption |= !resumption.get("stateful").is_null();
    Ok(())
}

fn validate_clients(t: &Translator<'_>, policy: &Admitted<'_>, written: &Tree, tls: &mut TlsSettings) -> Result<(), String> {
    let is_optional = written.get("optional").bool();
    let (mode, origin) = match written.find("mode") {
        Some(mode) => (mode.text(), mode.origin),
        None if is_optional => ("VerifyIfGiven", written.get("optional").origin),
        None => ("RequireAndVerify", written.origin),
    };
    let flag = |value: bool| Tree::from(value).with_origin(origin);
    tls.client_validation = true;
    tls.require_client_certificate = flag(!matches!(mode, "Request" | "VerifyIfGiven"));
    tls.accept_untrusted = flag(matches!(mode, "Request" | "RequireAny"));

    let references = written.get("caCertificateRefs");
    let mut names: Vec<String> = Vec::new();
    for reference in references.items() {
        let named = data(t, policy, reference, &["ca.crt"]).map_err(|error| format!("failed to get certificate from ref: {error}"))?;
        // Equal CAs are used once.
        let held = |name: &str| certificates::held(t, name);
        let is_same = |name: &String| name == named.text() || held(name).is_some_and(|value| Some(value) == held(named.text()));
        if !names.iter().any(is_same) {
            names.push(String::from(named.text()));
        }
    }
    if names.is_empty() && matches!(mode, "VerifyIfGiven" | "RequireAndVerify") {
        let mode = go_quoted(mode);
        return Err(if written.get("mode").is_null() && is_optional {
            format!("tls.clientValidation.optional=true requires caCertificateRefs (maps to mode {mode})")
        } else {
            format!("tls.clientValidation.mode {mode} requires caCertificateRefs")
        });
    }
    if !names.is_empty() {
        tls.ca = Some(CaCertificate {
            name: Str::from(format!("{}/ca.crt", policy.path())),
            certificate: certificates::joined(t, &names).with_origin(references.origin),
            sds: None,
            origin: references.origin,
        });
    }
    tls.spki_hashes.extend_from_slice(written.get("spkiHashes").items());
    tls.certificate_hashes.extend_from_slice(written.get("certificateHashes").items());
    if written.get("allowExpiredCertificate").bool() {
        tls.allow_expired_certificate = written.get("allowExpiredCertificate").clone();
    }
    let alternatives = written.get("subjectAltNames");
    for (list, kind) in [("dnsNames", "DNS"), ("emailAddresses", "EMAIL"), ("ipAddresses", "IP_ADDRESS"), ("uris", "URI")] {
        tls.subject_alt_names.extend(alternatives.get(list).items().iter().map(|of| text_match(&Tree::from(kind), of)));
    }
    tls.subject_alt_names.extend(alternatives.get("otherNames").items().iter().map(|of| text_match(of.get("oid"), of)));
    revocations(t, policy, written.get("crl"), tls)
}

fn revocations(t: &Translator<'_>, policy: &Admitted<'_>, written: &Tree, tls: &mut TlsSettings) -> Result<(), String> {
    let mut names: Vec<String> = Vec::new();
    for reference in written.get("refs").items() {
        let named = data(t, policy, reference, &["ca.crl"]).map_err(|error| format!("failed to get crl from ref: {error}"))?;
        let mut rest: &[u8] = &certificates::held(t, named.text()).unwrap_or_default();
        if !matches!(chancery_kubernetes::pem::next(&mut rest), Ok(Some(_))) {
            return Err(format!("invalid crl in {}: unable to decode pem data for CRL", reference.get("name").text()));
        }
        names.push(String::from(named.text()));
    }
    if !names.is_empty() {
        tls.crl = Some(Crl {
            name: Str::from(format!("{}/ca.crl", policy.path())),
            data: certificates::joined(t, &names).with_origin(written.origin),
            only_verify_leaf: written.get("onlyVerifyLeafCertificate").bool(),
        });
    }
    Ok(())
}
