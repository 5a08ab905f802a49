//! Resolves certificates of listeners, and reads what Secrets hold as far as it decides something.
//!
//! Signatures and expiry are not checked: the core has no clock.

use super::super::cluster::Admitted;
use super::super::context::{ListenerId, Translator};
use super::super::load::resources::{From, To};
use super::super::model::{Certificate, Sds};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use chancery_base::ir::{Holder, SecretReference, Tree};
use chancery_base::resource::{Origin, Sourced};
use chancery_kubernetes::cursor::Cursor;
use chancery_kubernetes::{der, pem, secret};
use chancery_text::{Str, base64};

/// The type of Secrets that name a certificate of an SDS server.
pub(crate) const SDS_TYPE: &str = "gateway.envoyproxy.io/sds";
const TLS_TYPE: &str = "kubernetes.io/tls";

/// Returns a value of a Secret.
pub(crate) fn value(secret: &Admitted<'_>, key: &str) -> Option<Vec<u8>> {
    let data = secret::data(secret.object);
    base64::decode(data.get(key)?.1.expose())
}

/// Returns the keys of a Secret.
pub(crate) fn keys(secret: &Admitted<'_>) -> Vec<Str> {
    secret::data(secret.object).into_keys().collect()
}

/// Returns the placeholder of a Secret's value in outputs, with its origin.
pub(crate) fn key_of(secret: &Admitted<'_>, key: &str) -> Tree {
    let data = secret::data(secret.object);
    let origin = data.get(key).map(|(node, _)| Origin::field(secret.id(), *node));
    Tree::named_material(format!("secret:{}/{key}", secret.path())).with_origin(origin.or(Some(secret.root().origin())))
}

/// Returns the data that a name of key material denotes.
pub(crate) fn held(t: &Translator<'_>, named: &str) -> Option<Vec<u8>> {
    let SecretReference { holder, namespace, name, part } = SecretReference::of_name(named)?;
    match holder {
        Holder::Secret => value(t.resources.secret(&namespace, &name)?, part.key()),
        Holder::ConfigMap => Some(t.resources.config_map(&namespace, &name)?.root().field("data").field(part.key()).str().as_bytes().to_vec()),
        Holder::ClusterTrustBundle => Some(t.resources.trust_bundles.get(&name)?.spec().field("trustBundle").str().as_bytes().to_vec()),
    }
}

/// Joins certificates: by their names, or as text if all are in ClusterTrustBundles, whose content is public.
pub(crate) fn joined(t: &Translator<'_>, names: &[String]) -> Tree {
    let is_bundle = |name: &String| SecretReference::of_name(name).is_some_and(|of| of.holder == Holder::ClusterTrustBundle);
    if !names.iter().all(is_bundle) {
        return Tree::named_material(names.join("+"));
    }
    let texts: Vec<Vec<u8>> = names.iter().filter_map(|name| held(t, name)).collect();
    String::from_utf8(texts.concat()).map_or(Tree::NULL, Tree::from)
}

/// Whether a Secret names a certificate of an SDS server.
pub(crate) fn is_sds(secret: &Admitted<'_>) -> bool {
    secret.root().field("type").str() == SDS_TYPE
}

/// Reads a Secret that names a certificate of an SDS server.
pub(crate) fn sds_of(secret: &Admitted<'_>) -> Result<Sds, String> {
    let path = secret.path();
    let data = secret::data(secret.object);
    let text = |key: &str| {
        let (node, value) = data.get(key)?;
        let text = String::from_utf8(base64::decode(value.expose())?).ok().filter(|text| !text.is_empty())?;
        Some(Sourced::new(Str::from(text), Origin::field(secret.id(), *node)))
    };
    let secret_name = text("secretName").ok_or_else(|| format!("no secretName found in SDS reference secret {path}"))?;
    let url = text("url").ok_or_else(|| format!("no url found in SDS reference secret {path}"))?;
    let (scheme, rest) = url.value.split_once(':').unwrap_or(("", &url.value));
    let wrong = |why: &str| Err(format!("invalid URL in SDS reference secret {path}: {why}"));
    if scheme != "unix" {
        return wrong(&format!("unsupported URL scheme: {scheme}"));
    }
    let address = match rest.strip_prefix("//") {
        Some(rest) => {
            let host = rest.split('/').next().unwrap_or_default();
            if !matches!(host, "" | ".") {
                return wrong("unix URL must not contain a host, use unix:///absolute/path");
            }
            rest
        }
        None => rest,
    };
    if address.is_empty() {
        return wrong("unix URL must contain a path");
    }
    let address = Sourced::new(Str::new(address), url.origin);
    Ok(Sds { secret_name, scheme: Str::new_static("unix"), address })
}

/// Returns a certificate with its key, as a Secret holds it.
pub(crate) fn certificate_of(secret: &Admitted<'_>, origin: Origin) -> Certificate {
    let name = Str::from(secret.path());
    if is_sds(secret) {
        return Certificate { name, sds: sds_of(secret).ok(), origin: Some(origin), ..Certificate::default() };
    }
    let staple = value(secret, "tls.ocsp-staple").filter(|staple| !staple.is_empty());
    Certificate {
        name,
        sds: None,
        certificate: key_of(secret, "tls.crt"),
        private_key: key_of(secret, "tls.key"),
        ocsp_staple: staple.map_or(Tree::NULL, |_| key_of(secret, "tls.ocsp-staple")),
        origin: Some(origin),
        is_assumed: secret.object.assumed,
    }
}

/// A Secret that a listener names, with the reference.
type Named<'a> = (&'a Admitted<'a>, Cursor<'a>);

/// Resolves the certificates of a listener that terminates TLS. Returns whether it may be used.
pub(super) fn resolve(t: &mut Translator<'_>, id: ListenerId) -> bool {
    let at = t.listener(id).at;
    let references = at.at("tls.certificateRefs");
    if references.is_empty() {
        t.listener_mut(id).set("Programmed", false, "Invalid", "Listener must have at least 1 TLS certificate ref");
        return false;
    }
    let mut errors: Vec<(&'static str, String)> = Vec::new();
    let mut named: Vec<Named<'_>> = Vec::new();
    for (index, reference) in references.items().enumerate() {
        match secret_of(t, id, reference) {
            Ok(secret) => {
                let is_twice = is_sds(secret) && named.iter().any(|(known, _)| known.id() == secret.id());
                if !is_twice {
                    named.push((secret, reference));
                }
            }
            Err((reason, error)) => errors.push((reason, format!("certificate refs {index}: {error}"))),
        }
    }
    if named.is_empty() {
        let only_refused = errors.iter().all(|(reason, _)| *reason == "RefNotPermitted");
        let reason = if only_refused { "RefNotPermitted" } else { "InvalidCertificateRef" };
        let message = format!("No valid secrets exist: {}", lines(&errors));
        t.listener_mut(id).set("ResolvedRefs", false, reason, message);
        return false;
    }
    let has_sds = named.iter().any(|(secret, _)| is_sds(secret));
    let (valid, mut dns_names, wrong) = valid_certificates(&named);
    // An assumed certificate has the name that the listener needs.
    if named.iter().any(|(secret, _)| secret.object.assumed) {
        dns_names.extend(t.listener(id).hostname.iter().map(|name| name.to_string()));
    }
    let has_tls = named.iter().any(|(secret, _)| !is_sds(secret));
    if !wrong.is_empty() {
        if valid.is_empty() && has_tls && !has_sds {
            let message = format!("No valid secrets exist: {}.", wrong.join("\n"));
            t.listener_mut(id).set("ResolvedRefs", false, "InvalidCertificateRef", message);
            return false;
        }
        errors.push(("InvalidCertificateRef", wrong.join("\n")));
    }
    if !errors.is_empty() {
        let message = format!("Some secrets are invalid: {}", lines(&errors));
        t.listener_mut(id).set("ResolvedRefs", false, "PartiallyInvalidCertificateRef", message);
    }
    let certificates: Vec<Certificate> = named
        .iter()
        .enumerate()
        .filter(|(place, (secret, _))| is_sds(secret) || valid.contains(place))
        .map(|(_, (secret, reference))| certificate_of(secret, reference.origin()))
        .collect();
    let listener = t.listener_mut(id);
    listener.has_sds_certificate = has_sds;
    listener.certificates = certificates;
    listener.dns_names = dns_names;
    true
}

fn lines(errors: &[(&'static str, String)]) -> String {
    errors.iter().map(|(_, error)| error.as_str()).collect::<Vec<_>>().join("\n")
}

fn secret_of<'a>(t: &Translator<'a>, id: ListenerId, reference: Cursor<'a>) -> Result<&'a Admitted<'a>, (&'static str, String)> {
    const INVALID: &str = "InvalidCertificateRef";
    if !reference.field("group").str().is_empty() {
        return Err((INVALID, "Listener's TLS certificate ref group must be unspecified/empty.".into()));
    }
    if !matches!(reference.field("kind").str(), "" | "Secret") {
        return Err((INVALID, "Listener's TLS certificate ref kind must be Secret.".into()));
    }
    let name = reference.field("name").str();
    let listener = t.listener(id);
    let (kind, here) = match &listener.set_name {
        Some((namespace, _)) => ("ListenerSet", namespace.clone()),
        None => ("Gateway", t.gateways[id.gateway].object.namespace().clone()),
    };
    let there = match reference.field("namespace").str() {
        "" => here.clone(),
        written => Str::new(written),
    };
    let from = From { group: super::super::kinds::GATEWAY_API, kind, namespace: &here };
    if !t.resources.permits(from, To { group: "", kind: "Secret", namespace: &there, name }) {
        return Err(("RefNotPermitted", format!("Certificate ref to secret {there}/{name} not permitted by any ReferenceGrant.")));
    }
    let Some(secret) = t.resources.secret(&there, name) else { return Err((INVALID, format!("Secret {there}/{name} does not exist."))) };
    if is_sds(secret) {
        if !t.settings.sds_secret_ref {
            let why = "cannot be used because SDS Secret references are not enabled in EnvoyGateway configuration.";
            return Err((INVALID, format!("SDS Secret {there}/{name} {why}")));
        }
        return match sds_of(secret) {
            Ok(_) => Ok(secret),
            Err(error) => Err((INVALID, format!("Secret {there}/{name} is not a valid SDS reference secret: {error}."))),
        };
    }
    // An assumed Secret is taken to be what the reference needs.
    if secret.object.assumed {
        return Ok(secret);
    }
    if secret.root().field("type").str() != TLS_TYPE {
        return Err((INVALID, format!("Secret {there}/{name} must be of type {TLS_TYPE}.")));
    }
    let is_filled = |key: &str| value(secret, key).is_some_and(|value| !value.is_empty());
    if !is_filled("tls.crt") || !is_filled("tls.key") {
        return Err((INVALID, format!("Secret {there}/{name} must contain tls.crt and tls.key.")));
    }
    Ok(secret)
}

/// Returns the places of Secrets with usable certificates, the DNS names of those, and what is wrong with others.
fn valid_certificates(named: &[Named<'_>]) -> (Vec<usize>, Vec<String>, Vec<String>) {
    let (mut valid, mut dns_names, mut wrong) = (Vec::new(), Vec::new(), Vec::new());
    let mut taken: BTreeMap<String, ()> = BTreeMap::new();
    for (place, (secret, _)) in named.iter().enumerate().filter(|(_, (secret, _))| !is_sds(secret)) {
        let path = secret.path();
        match check(secret) {
            Err(why) => wrong.push(format!("{path} {why}")),
            Ok(certificate) => {
                let algorithm = match &certificate.key {
                    Some(der::PublicKey::Rsa { .. }) => "RSA",
                    Some(der::PublicKey::Point(_)) => "ECDSA",
                    None => "Unknown",
                };
                let mut domains = certificate.dns_names.clone();
                if domains.is_empty() {
                    domains.extend(certificate.common_name.clone());
                }
                if secret.object.assumed {
                    domains.clear();
                }
                let clash = domains.iter().find(|domain| taken.contains_key(&format!("{algorithm}/{domain}")));
                if let Some(domain) = clash {
                    let why = format!("certificate domain {domain} has a conflicting algorithm [{algorithm}]");
                    wrong.push(format!("{path} public key algorithm must be unique, {why}"));
                    continue;
                }
                taken.extend(domains.iter().map(|domain| (format!("{algorithm}/{domain}"), ())));
                dns_names.extend(certificate.dns_names);
                valid.push(place);
            }
        }
    }
    (valid, dns_names, wrong)
}

/// Checks a certificate with its key; returns the first certificate.
fn check(secret: &Admitted<'_>) -> Result<der::Certificate, String> {
    const MUST: &str = "must contain valid tls.crt and tls.key,";
    let chain = value(secret, "tls.crt").unwrap_or_default();
    let mut rest = chain.as_slice();
    let mut first = None;
    while let Ok(Some(block)) = pem::next(&mut rest) {
        let certificate = der::certificate(&block.bytes);
        let Some(certificate) = certificate else {
            return Err(format!("{MUST} unable to validate certificate in tls.crt: x509: malformed certificate"));
        };
        first = first.or(Some(certificate));
    }
    let Some(first) = first else {
        return Err(format!("{MUST} unable to validate certificate in tls.crt: unable to decode pem data for certificate"));
    };
    if secret.object.assumed {
        return Ok(first);
    }
    let keys = value(secret, "tls.key").unwrap_or_default();
    let mut rest = keys.as_slice();
    let mut key: Option<pem::Block> = None;
    while let Ok(Some(block)) = pem::next(&mut rest) {
        let is_supported = matches!(block.kind.as_str(), "PRIVATE KEY" | "RSA PRIVATE KEY" | "EC PRIVATE KEY");
        if is_supported || key.is_none() {
            key = Some(block);
        }
        if is_supported {
            break;
        }
    }
    let Some(key) = key else { return Err(format!("{MUST} unable to decode pem data in tls.key")) };
    let format = match key.kind.as_str() {
        "PRIVATE KEY" => "PKCS8",
        "RSA PRIVATE KEY" => "PKCS1",
        "EC PRIVATE KEY" => "EC",
        other => return Err(format!("{MUST} {other} key format found in tls.key, supported formats are PKCS1, PKCS8 or EC")),
    };
    let Some(public) = der::public_half(&key.bytes) else {
        return Err(format!("{MUST} unable to parse {format} formatted private key in tls.key"));
    };
    if first.key.as_ref().is_some_and(|key| key.differs(&public)) {
        return Err("must contain a matching tls.crt and tls.key: tls: private key does not match public key".into());
    }
    Ok(first)
}
