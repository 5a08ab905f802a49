//! Writes TLS towards clients and backends, and the secrets that it names. Does not choose certificates; see `translate`.

use super::matcher::string_matcher;
use super::proto::{Setting as _, any, config_source, derived, empty, extension, flag, inline_bytes, list, message, one};
use crate::model::{CaCertificate, Certificate, Crl, Sds, TlsSettings, UpstreamTls};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_text::Str;
use sha2::{Digest as _, Sha256};

const SOCKET: &str = "envoy.transport_sockets.tls";
const DOWNSTREAM: &str = "envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext";
const UPSTREAM: &str = "envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext";
pub(crate) const SYSTEM_CERTIFICATES: &str = "/etc/ssl/certs/ca-certificates.crt";
/// Where Envoy's container has the certificates that vouch for Envoy Gateway's own services.
pub(crate) const CONTROLLER_CA: &str = "/certs/ca.crt";

/// Lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).filter_map(|digit| char::from_digit(digit.into(), 16)).collect()
}

/// The address of a server of secrets, as a URL.
pub(crate) fn sds_url(of: &Sds) -> String {
    if of.scheme.is_empty() { String::from(of.address.value.as_str()) } else { format!("{}://{}", of.scheme, of.address.value) }
}

/// The name of the cluster of a server of secrets.
pub(crate) fn sds_cluster_name(url: &str) -> String {
    let address = url.strip_prefix("unix://").unwrap_or(url);
    let hash = hex(Sha256::digest(address.as_bytes()).get(..16).unwrap_or_default());
    let readable = address.replace('/', "_");
    let readable = readable.trim_matches('_');
    let mut end = readable.len().min(48);
    while !readable.is_char_boundary(end) {
        end -= 1;
    }
    match readable.get(..end) {
        Some(prefix) if !prefix.is_empty() => format!("sds_{prefix}_{hash}"),
        _ => format!("sds_{hash}"),
    }
}

fn from_server(of: &Sds) -> Tree {
    let service = message! { "envoy_grpc": message! { "cluster_name": sds_cluster_name(&sds_url(of)) } };
    let source = message! { "api_config_source": message! { "api_type": "GRPC", "grpc_services": one(service) } };
    message! { "name": of.secret_name.clone(), "sds_config": source.or_from(of.address.origin) }
}

fn by_name(name: &Str, origin: Option<chancery_base::resource::Origin>) -> Tree {
    message! { "name": Tree::from(name).or_from(origin), "sds_config": config_source() }.or_from(origin)
}

/// A certificate by its name.
pub(crate) fn certificate_reference(of: &Certificate) -> Tree {
    of.sds.as_ref().map_or_else(|| by_name(&of.name, of.origin), from_server)
}

fn ca_reference(of: &CaCertificate) -> Tree {
    of.sds.as_ref().map_or_else(|| by_name(&of.name, of.origin), from_server)
}

/// Key material by its name, or the text of public certificates.
fn material(of: &Tree) -> Tree {
    if of.is_null() {
        Tree::NULL
    } else if of.first_material().is_some() {
        message! { "inline_string": of.clone() }
    } else {
        inline_bytes(of.text().as_bytes(), of.origin)
    }
}

/// The secret of a certificate; `None` if another server has it.
pub(crate) fn certificate_secret(of: &Certificate) -> Option<Tree> {
    if of.sds.is_some() {
        return None;
    }
    let certificate = message! {
        "certificate_chain": material(&of.certificate),
        "private_key": material(&of.private_key),
        "ocsp_staple": material(&of.ocsp_staple),
    };
    Some(message! { "name": &of.name, "tls_certificate": certificate }.or_from(of.origin))
}

/// The secret of certificates that vouch for clients; `None` if another server has it.
pub(crate) fn ca_secret(of: &CaCertificate, crl: Option<&Crl>) -> Option<Tree> {
    if of.sds.is_some() {
        return None;
    }
    let mut context = message! { "trusted_ca": material(&of.certificate) };
    if let Some(crl) = crl {
        context.set("crl", material(&crl.data));
        context.set("only_verify_leaf_cert_crl", if crl.only_verify_leaf { true.into() } else { Tree::NULL });
    }
    Some(message! { "name": &of.name, "validation_context": context }.or_from(of.origin))
}

/// The secret of the certificates that the proxy's system trusts.
pub(crate) fn system_secret(name: &str) -> Tree {
    let context = message! { "trusted_ca": message! { "filename": SYSTEM_CERTIFICATES } };
    message! { "name": name, "validation_context": context }
}

/// A secret of plain bytes.
pub(crate) fn generic_secret(name: &str, of: &Tree) -> Tree {
    message! { "name": name, "generic_secret": message! { "secret": material(of) } }.or_from(of.origin)
}

fn version(of: &Tree) -> Tree {
    let name = match of.text() {
        "" => return Tree::NULL,
        "1.0" => "TLSv1_0",
        "1.1" => "TLSv1_1",
        "1.2" => "TLSv1_2",
        "1.3" => "TLSv1_3",
        _ => "TLS_AUTO",
    };
    derived(name, of)
}

fn parameters(of: &TlsSettings) -> Tree {
    let parameters = message! {
        "tls_minimum_protocol_version": version(&of.min_version),
        "tls_maximum_protocol_version": version(&of.max_version),
        "cipher_suites": list(of.ciphers.clone()),
        "ecdh_curves": list(of.ecdh_curves.clone()),
        "signature_algorithms": list(of.signature_algorithms.clone()),
    };
    if parameters.fields().is_empty() { Tree::NULL } else { parameters }
}

/// What a client's certificate must be like.
fn validate_clients(of: &TlsSettings, context: &mut Tree) {
    let names = of.subject_alt_names.iter().map(|name| {
        let (kind, oid) = match name.name.value.as_str() {
            "" => ("SAN_TYPE_UNSPECIFIED", Tree::NULL),
            "EMAIL" => ("EMAIL", Tree::NULL),
            "DNS" => ("DNS", Tree::NULL),
            "URI" => ("URI", Tree::NULL),
            "IP_ADDRESS" => ("IP_ADDRESS", Tree::NULL),
            _ => ("OTHER_NAME", name.name.clone().into()),
        };
        message! { "san_type": Tree::from(kind).or_from(name.value.origin), "matcher": string_matcher(name), "oid": oid }
    });
    let validation = message! {
        "trust_chain_verification": if of.accept_untrusted.bool() { derived("ACCEPT_UNTRUSTED", &of.accept_untrusted) } else { Tree::NULL },
        "allow_expired_certificate": flag(&of.allow_expired_certificate),
        "verify_certificate_spki": list(of.spki_hashes.clone()),
        "verify_certificate_hash": list(of.certificate_hashes.clone()),
        "match_typed_subject_alt_names": list(names.collect()),
    };
    match &of.ca {
        None => context.set("validation_context", if validation.fields().is_empty() { empty() } else { validation }),
        Some(ca) if validation.fields().is_empty() => context.set("validation_context_sds_secret_config", ca_reference(ca)),
        Some(ca) => {
            let both = message! { "default_validation_context": validation, "validation_context_sds_secret_config": ca_reference(ca) };
            context.set("combined_validation_context", both);
        }
    }
}

fn downstream_context(of: &TlsSettings, alpn: Tree) -> Tree {
    let mut common = message! {
        "tls_params": parameters(of),
        "alpn_protocols": alpn,
        "tls_certificate_sds_secret_configs": list(of.certificates.iter().map(certificate_reference).collect()),
    };
    let required = if of.ca.is_some() || of.client_validation {
        validate_clients(of, &mut common);
        if of.require_client_certificate.is_null() { false.into() } else { of.require_client_certificate.clone() }
    } else {
        Tree::NULL
    };
    message! {
        "common_tls_context": common,
        "require_client_certificate": required,
        "disable_stateful_session_resumption": if of.stateful_resumption { Tree::NULL } else { true.into() },
        "disable_stateless_session_resumption": if of.stateless_resumption { Tree::NULL } else { true.into() },
    }
    .or_from(of.origin)
}

/// TLS towards clients. Without HTTP/2 if another listener's certificate overlaps.
pub(crate) fn downstream(of: &TlsSettings, overlaps: bool) -> Tree {
    let alpn = match &of.alpn {
        Some(protocols) => list(protocols.clone()),
        None if overlaps => one("http/1.1".into()),
        None => Vec::from([Tree::from("h2"), "http/1.1".into()]).into(),
    };
    extension(SOCKET, DOWNSTREAM, downstream_context(of, alpn)).or_from(of.origin)
}

/// TLS towards clients of HTTP/3.
pub(crate) fn downstream_quic(of: &TlsSettings) -> Tree {
    let context = message! { "downstream_tls_context": downstream_context(of, one("h3".into())) };
    let kind = "envoy.extensions.transport_sockets.quic.v3.QuicDownstreamTransport";
    extension("envoy.transport_sockets.quic", kind, context).or_from(of.origin)
}

fn exact_name(kind: &str, value: &Tree) -> Tree {
    message! { "san_type": derived(kind, value), "matcher": message! { "exact": value.clone() } }
}

/// Whom a backend's certificate must name, and who must vouch for it; and whether it names anyone.
fn validate_backend(of: &UpstreamTls, ca: &CaCertificate) -> (Tree, bool) {
    let mut names: Vec<Tree> = Vec::new();
    if of.sni.some().is_some() && of.subject_alt_names.is_empty() {
        names.push(exact_name("DNS", &of.sni));
    }
    for name in &of.subject_alt_names {
        names.push(if name.hostname.is_null() { exact_name("URI", &name.uri) } else { exact_name("DNS", &name.hostname) });
    }
    let has_names = !names.is_empty();
    let default = if has_names {
        message! { "match_typed_subject_alt_names": list(names) }
    } else {
        empty()
    };
    let both = message! { "default_validation_context": default, "validation_context_sds_secret_config": ca_reference(ca) };
    (both, has_names)
}

/// TLS towards a backend.
pub(crate) fn upstream(of: &UpstreamTls, auto_sni: bool, is_dynamic: bool) -> Tree {
    let mut common = message! { "tls_params": parameters(&of.settings) };
    let mut context = message! { "sni": of.sni.clone() };
    if !of.insecure_skip_verify.bool()
        && let Some(ca) = &of.ca
    {
        let (validation, has_names) = validate_backend(of, ca);
        common.set("combined_validation_context", validation);
        if !has_names && (of.sni.some().is_some() || auto_sni || of.auto_sni_from_endpoint_hostname) && !is_dynamic {
            context.set("auto_sni_san_validation", true.into());
        }
    }
    if of.auto_sni_from_endpoint_hostname {
        context.set("auto_host_sni", true.into());
    }
    if let Some(alpn) = &of.settings.alpn {
        common.set("alpn_protocols", list(alpn.clone()));
    }
    common.set("tls_certificate_sds_secret_configs", list(of.settings.client_certificates.iter().map(certificate_reference).collect()));
    let common = if common.fields().is_empty() { empty() } else { common };
    context.set("common_tls_context", common);
    extension(SOCKET, UPSTREAM, context.or_from(of.origin)).or_from(of.origin)
}

/// TLS towards a server that is known by its URL alone.
pub(crate) fn upstream_of_url(host: &Tree) -> Tree {
    let context = message! {
        "sni": host.clone(),
        "common_tls_context": message! {
            "tls_params": message! { "tls_maximum_protocol_version": "TLSv1_3" },
            "validation_context": message! { "trusted_ca": message! { "filename": SYSTEM_CERTIFICATES } },
        },
    };
    extension(SOCKET, UPSTREAM, context)
}

/// TLS towards Envoy Gateway's own services.
pub(crate) fn upstream_of_controller(certificate: &Certificate) -> Tree {
    let context = message! {
        "common_tls_context": message! {
            "tls_params": message! { "tls_maximum_protocol_version": "TLSv1_3" },
            "validation_context": message! { "trusted_ca": message! { "filename": CONTROLLER_CA } },
            "tls_certificate_sds_secret_configs": one(certificate_reference(certificate)),
        },
    };
    extension(SOCKET, UPSTREAM, context)
}

/// Returns TLS settings that no connection uses: Envoy requires them if TLS negotiates the protocol.
pub(crate) fn dummy() -> Tree {
    message! { "name": "dummy.transport_socket", "typed_config": any(UPSTREAM, message! { "common_tls_context": empty() }) }
}
