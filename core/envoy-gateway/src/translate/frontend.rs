//! Resolves a Gateway's own TLS settings: how clients are verified (`tls.frontend`), and the certificate for backends (`tls.backend`).

use super::super::context::{FrontendValidation, Translator};
use super::super::kinds::GATEWAY_API;
use super::super::load::resources::{From, To};
use super::super::model::{CaCertificate, TlsSettings};
use super::backend_tls::{CaError, ca_of_references};
use super::certificates;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_kubernetes::cursor::Cursor;
use chancery_text::Str;

/// Resolves the TLS settings of all accepted Gateways.
pub(crate) fn resolve(t: &mut Translator<'_>) {
    for at in 0..t.gateways.len() {
        let tls = t.gateways[at].object.spec().field("tls");
        if !tls.exists() {
            continue;
        }
        let is_frontend_resolved = !tls.field("frontend").exists() || frontend(t, at, tls.field("frontend"));
        let is_backend_resolved = !tls.field("backend").exists() || backend(t, at, tls.field("backend"));
        if is_frontend_resolved && is_backend_resolved {
            let message = "Successfully resolved all TLS references for the gateway";
            t.gateways[at].conditions.set("ResolvedRefs", true, "ResolvedRefs", message);
        }
    }
}

fn frontend<'a>(t: &mut Translator<'a>, at: usize, frontend: Cursor<'a>) -> bool {
    let mut is_resolved = true;
    let mut is_insecure = false;
    let mut resolve = |t: &mut Translator<'a>, validation: Cursor<'a>, suffix: &str, what: &str| {
        let gateway = t.gateways[at].object;
        let references: Vec<Cursor<'a>> = validation.field("caCertificateRefs").items().collect();
        match ca_of_references(t, &references, "Gateway", GATEWAY_API, gateway.namespace(), true) {
            Ok((certificate, sds)) => {
                let mode = validation.field("mode");
                is_insecure |= mode.str() == "AllowInsecureFallback";
                let name = Str::from(format!("gateway/{}/{suffix}/ca.crt", gateway.path()));
                let is_request = mode.str() == "AllowInsecureFallback";
                let flag = |value: bool| Tree::from(value).with_origin(Some(mode.origin()));
                Arc::new(FrontendValidation::Valid(Box::new(TlsSettings {
                    ca: Some(CaCertificate { name, certificate, sds, origin: Some(validation.origin()) }),
                    client_validation: true,
                    require_client_certificate: flag(!is_request),
                    accept_untrusted: flag(is_request),
                    ..TlsSettings::default()
                })))
            }
            Err(error) => {
                is_resolved = false;
                let message = format!("Failed to get {what} CA certs for gateway: {}", error.message);
                t.gateways[at].conditions.set("ResolvedRefs", false, "InvalidParameters", message);
                Arc::new(FrontendValidation::Invalid(reason(&error), error.message))
            }
        }
    };
    let validation = frontend.at("default.validation");
    let default = validation.exists().then(|| resolve(t, validation, "default", "default frontend"));
    let mut per_port: BTreeMap<i64, Option<Arc<FrontendValidation>>> = BTreeMap::new();
    for item in frontend.field("perPort").items() {
        let port = item.field("port").int().unwrap_or_default();
        let validation = item.at("tls.validation");
        let suffix = format!("{port}");
        per_port.insert(port, validation.exists().then(|| resolve(t, validation, &suffix, "frontend")));
    }
    if is_insecure {
        let message = "Gateway is using AllowInsecureFallback frontend validation mode.";
        t.gateways[at].conditions.set("InsecureFrontendValidationMode", true, "ConfigurationChanged", message);
    }
    for listener in t.gateways[at].listeners.iter_mut().filter(|listener| *listener.protocol == *"HTTPS") {
        listener.frontend = per_port.get(&listener.port).cloned().unwrap_or_else(|| default.clone());
    }
    is_resolved
}

/// Returns the reason of the conditions of listeners.
fn reason(error: &CaError) -> &'static str {
    match error.kind {
        super::backend_tls::CaFault::Kind => "InvalidCACertificateKind",
        super::backend_tls::CaFault::NoneValid => "NoValidCACertificate",
        super::backend_tls::CaFault::NotPermitted => "RefNotPermitted",
        super::backend_tls::CaFault::Other => "InvalidCACertificateRef",
    }
}

fn backend<'a>(t: &mut Translator<'a>, at: usize, backend: Cursor<'a>) -> bool {
    let reference = backend.field("clientCertificateRef");
    let refuse = |t: &mut Translator<'a>, reason: &str, message: String| {
        t.gateways[at].conditions.set("ResolvedRefs", false, reason, message);
        false
    };
    if !reference.exists() {
        return true;
    }
    let invalid = "Invalid backend client certificate reference for gateway: invalid client certificate reference";
    let (kind, group) = (reference.field("kind").str(), reference.field("group").str());
    if !matches!(kind, "" | "Secret") {
        return refuse(t, "InvalidClientCertificateRef", format!("{invalid} kind: {kind}"));
    }
    if !group.is_empty() {
        return refuse(t, "InvalidClientCertificateRef", format!("{invalid} group: {group}"));
    }
    let namespace = t.gateways[at].object.namespace().clone();
    let there = match reference.field("namespace").str() {
        "" => namespace.clone(),
        written => Str::new(written),
    };
    let name = reference.field("name").str();
    let from = From { group: GATEWAY_API, kind: "Gateway", namespace: &namespace };
    if !t.resources.permits(from, To { group: "", kind: "Secret", namespace: &there, name }) {
        return refuse(t, "RefNotPermitted", "invalid cross-namespace reference to backend client certificate".into());
    }
    let Some(secret) = t.resources.secret(&there, name) else {
        return refuse(t, "InvalidClientCertificateRef", "failed to get backend client certs for gateway".into());
    };
    let keys = certificates::keys(secret);
    let has = |key: &str| keys.iter().any(|known| known == key);
    if !has("tls.crt") || !has("tls.key") {
        let why = format!("secret {there}/{name} must contain 'tls.crt' and 'tls.key' fields");
        return refuse(t, "InvalidClientCertificateRef", format!("invalid backend client cert secret for gateway: {why}"));
    }
    t.gateways[at].backend_tls = Some(backend);
    true
}
