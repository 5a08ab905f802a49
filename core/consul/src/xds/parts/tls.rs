//! TLS contexts: certificates, and the accepted identities of the other end.
//!
//! Consul issues the keys and certificates of the mesh at runtime; here they are only named.

use super::proto::{any, extension, list, message, one};
use crate::names::{PEER_TRUST_DOMAIN, TRUST_DOMAIN};
use crate::validate::{CIPHERS, is_set};
use crate::xds::context::Context;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_text::Str;

const TLS: &str = "envoy.extensions.transport_sockets.tls.v3";

/// The CA of this cluster, or of a peer.
pub(crate) fn roots(peer: &str) -> String {
    if peer.is_empty() { String::from("<roots>") } else { format!("<roots:{peer}>") }
}

/// Versions and ciphers.
pub(crate) fn parameters(minimum: &Tree, maximum: &Tree, ciphers: &Tree) -> Tree {
    let version = |tree: &Tree| match tree.text() {
        // The default is not written.
        "" | "TLS_AUTO" => Tree::NULL,
        _ => tree.clone(),
    };
    let name = |tree: &Tree| CIPHERS.iter().find(|(name, _)| tree.is(name)).map(|(_, ours)| Tree::from(*ours).or_from(tree.origin));
    message! {
        "tls_minimum_protocol_version": version(minimum),
        "tls_maximum_protocol_version": version(maximum),
        "cipher_suites": list(ciphers.items().iter().filter_map(name).collect()),
    }
}

fn side(cx: &Context<'_>, side: &str) -> Tree {
    let side = cx.mesh().at(&["TLS", side]);
    parameters(side.get("TLSMinVersion"), side.get("TLSMaxVersion"), side.get("CipherSuites"))
}

/// Versions and ciphers of incoming connections.
pub(crate) fn incoming(cx: &Context<'_>) -> Tree {
    side(cx, "Incoming")
}

/// Versions and ciphers towards upstreams.
fn outgoing(cx: &Context<'_>) -> Tree {
    side(cx, "Outgoing")
}

/// A certificate and its key.
fn certificate(leaf: &str) -> Tree {
    let inline = |what: &str| message! { "inline_string": format!("<leaf:{leaf}:{what}>") };
    message! { "certificate_chain": inline("cert"), "private_key": inline("key") }
}

/// The part of both ends: own certificate, trusted CAs.
pub(crate) fn common(leaf: &str, roots: &str, parameters: Tree) -> Tree {
    message! {
        "tls_params": parameters,
        "tls_certificates": one(certificate(leaf)),
        "validation_context": message! { "trusted_ca": message! { "inline_string": roots } },
    }
}

/// Restricts the identity of the other end.
fn only(mut common: Tree, names: &[String]) -> Tree {
    let matchers = names.iter().map(|name| message! { "exact": name.as_str() }).collect();
    if let Some(context) = common.get_mut("validation_context") {
        context.set("match_subject_alt_names", list(matchers));
    }
    common
}

/// Towards an upstream.
pub(crate) fn upstream(cx: &Context<'_>, peer: &str, names: &[String], sni: impl Into<Tree>) -> Tree {
    let common = only(common(&cx.leaf(), &roots(peer), outgoing(cx)), names);
    socket_up(message! { "common_tls_context": common, "sni": sni.into() })
}

/// Towards a destination outside of the mesh, with files.
pub(crate) fn from_files(link: &Tree) -> Tree {
    let file = |field: &str| message! { "filename": link.get(field).clone() };
    let authority = message! { "trusted_ca": file("CAFile") };
    let mut common = message! { "tls_params": super::proto::empty(), "validation_context": authority };
    if is_set(link.get("CertFile")) && is_set(link.get("KeyFile")) {
        common.set("tls_certificates", one(message! { "certificate_chain": file("CertFile"), "private_key": file("KeyFile") }));
    }
    let sni = super::proto::copied(link.get("SNI"));
    if !sni.is_null() {
        common = only(common, &[String::from(sni.text())]);
    }
    socket_up(message! { "common_tls_context": common, "sni": sni })
}

/// A transport socket towards an upstream.
pub(crate) fn socket_up(context: Tree) -> Tree {
    extension("tls", &format!("{TLS}.UpstreamTlsContext"), context)
}

/// A transport socket for incoming connections.
pub(crate) fn socket_down(common: Tree, require: bool) -> Tree {
    let context = message! { "common_tls_context": common, "require_client_certificate": require };
    extension("tls", &format!("{TLS}.DownstreamTlsContext"), context)
}

/// Protocols that the handshake offers.
pub(crate) fn alpn(protocol: &str) -> Tree {
    let names: &[&str] = match protocol {
        "grpc" | "http2" => &["h2", "http/1.1"],
        "http" => &["http/1.1"],
        _ => &[],
    };
    list(names.iter().map(|name| Tree::from(*name)).collect())
}

/// For incoming connections from the mesh, including peers.
pub(crate) fn mesh_down(cx: &Context<'_>, leaf: &str, protocol: &str, peers: &BTreeSet<Str>) -> Tree {
    let mut common = common(leaf, &roots(""), incoming(cx));
    common.set("alpn_protocols", alpn(protocol));
    if !peers.is_empty() {
        let domain = |name: &str, roots: String| message! { "name": name, "trust_bundle": message! { "inline_string": roots } };
        let mut domains = Vec::from([domain(TRUST_DOMAIN, roots(""))]);
        domains.extend(peers.iter().map(|peer| domain(PEER_TRUST_DOMAIN, roots(peer))));
        let config = any(&format!("{TLS}.SPIFFECertValidatorConfig"), message! { "trust_domains": list(domains) });
        let validator = message! { "name": "envoy.tls.cert_validator.spiffe", "typed_config": config };
        common.set("validation_context", message! { "custom_validator_config": validator });
    }
    socket_down(common, true)
}

/// A certificate from an SDS server.
pub(crate) fn from_server(secrets: &Tree, cluster: &Tree, parameters: Tree) -> Tree {
    let service = message! {
        "envoy_grpc": message! { "cluster_name": cluster.clone() },
        "timeout": "5s",
    };
    let source = message! {
        "api_config_source": message! { "api_type": "GRPC", "transport_api_version": "V3", "grpc_services": one(service) },
        "resource_api_version": "V3",
    };
    let secret = message! { "name": secrets.clone(), "sds_config": source };
    message! { "tls_params": parameters, "tls_certificate_sds_secret_configs": one(secret) }
}
