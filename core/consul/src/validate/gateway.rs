//! Validates gateways and certificates.

use super::rule::{Verdict, is_set, lower, meta, refuse, tls};
use crate::go;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use chancery_base::ir::Tree;
use chancery_kubernetes::der::{self, PublicKey};
use chancery_kubernetes::pem;

fn each<'a>(tree: &'a mut Tree, list: &str) -> impl Iterator<Item = &'a mut Tree> {
    tree.get_mut(list).into_iter().flat_map(|list| list.items_mut().iter_mut())
}

pub(super) fn normalise_ingress(tree: &mut Tree) {
    for listener in each(tree, "Listeners") {
        if listener.get("Protocol").text().is_empty() {
            listener.set("Protocol", "tcp".into());
        }
        lower(listener, "Protocol");
    }
}

pub(super) fn normalise_api(tree: &mut Tree) {
    for listener in each(tree, "Listeners") {
        lower(listener, "Protocol");
        let Some(tls) = listener.get_mut("TLS") else { continue };
        for certificate in each(tls, "Certificates") {
            if certificate.get("Kind").text().is_empty() {
                certificate.set("Kind", "inline-certificate".into());
            }
        }
    }
}

pub(crate) fn is_http(protocol: &str) -> bool {
    matches!(protocol, "http" | "http2" | "grpc")
}

pub(super) fn ingress(tree: &Tree) -> Verdict {
    meta(tree)?;
    gateway_tls(tree.get("TLS"))?;
    let mut ports = BTreeSet::new();
    for listener in tree.get("Listeners").items() {
        let (port, protocol) = (listener.get("Port").int(), listener.get("Protocol").text());
        refuse(!ports.insert(port), || format!("port {port} declared on two listeners"))?;
        refuse(protocol != "tcp" && !is_http(protocol), || {
            format!("protocol must be 'tcp', 'http', 'http2', or 'grpc'. '{protocol}' is an unsupported protocol")
        })?;
        let services = listener.get("Services").items();
        refuse(services.is_empty(), || format!("No service declared for listener with port {port}"))?;
        refuse(!is_http(protocol) && services.len() > 1, || {
            format!("Multiple services per listener are only supported for L7 protocols, 'http', 'grpc' and 'http2' (listener on port {port})")
        })?;
        gateway_tls(listener.get("TLS"))?;
        let (mut hosts, mut names) = (BTreeSet::new(), BTreeSet::new());
        for service in services {
            ingress_service(tree, listener, service, &mut names)?;
            for host in service.get("Hosts").items().iter().map(Tree::text) {
                refuse(!hosts.insert(host), || format!("Hosts must be unique within a specific listener (listener on port {port})"))?;
                self::host(tree.at(&["TLS", "Enabled"]).bool(), host)?;
            }
        }
    }
    Ok(())
}

fn gateway_tls(tree: &Tree) -> Verdict {
    tls(tree.get("TLSMinVersion"), tree.get("TLSMaxVersion"), tree.get("CipherSuites"))
}

fn ingress_service<'a>(tree: &Tree, listener: &Tree, service: &'a Tree, names: &mut BTreeSet<&'a str>) -> Verdict {
    let (port, protocol) = (listener.get("Port").int(), listener.get("Protocol").text());
    let (name, hosts) = (service.get("Name").text(), service.get("Hosts").items());
    for (field, what) in [("RequestHeaders", "request"), ("ResponseHeaders", "response")] {
        let modifiers = service.get(field);
        let any = ["Add", "Set", "Remove"].iter().any(|list| is_set(modifiers.get(list)));
        refuse(any && !is_http(protocol), || {
            let quoted = go::quote(name);
            format!("{what} headers only valid for http, http2 and grpc protocols (service {quoted} on listener on port {port})")
        })?;
    }
    if protocol == "tcp" {
        refuse(name == "*", || format!("Wildcard service name is only valid for protocol = 'http' (listener on port {port})"))?;
        refuse(!hosts.is_empty(), || {
            format!("Associating hosts to a service is not supported for the {protocol} protocol (listener on port {port})")
        })?;
    }
    refuse(name.is_empty(), || format!("Service name cannot be blank (listener on port {port})"))?;
    refuse(name == "*" && !hosts.is_empty(), || format!("Associating hosts to a wildcard service is not supported (listener on port {port})"))?;
    refuse(!names.insert(name), || format!("Service {name} cannot be added multiple times (listener on port {port})"))?;
    sds(tree, listener, service)
}

/// SDS certificates may be configured at the gateway, the listener and the service; a missing field may be inherited.
fn sds(tree: &Tree, listener: &Tree, service: &Tree) -> Verdict {
    let port = listener.get("Port").int();
    let said = |of: &Tree| {
        let sds = of.at(&["TLS", "SDS"]);
        (is_set(sds.get("ClusterName")), is_set(sds.get("CertResource")))
    };
    let ((gateway_cluster, gateway_cert), (cluster, cert), (own_cluster, own_cert)) = (said(tree), said(listener), said(service));
    refuse(!gateway_cluster && gateway_cert, || "TLS.SDS.ClusterName is required if CertResource is set".into())?;
    refuse(gateway_cluster && !gateway_cert && !cert, || {
        format!("TLS.SDS.CertResource is required if ClusterName is set for gateway (listener on port {port})")
    })?;
    refuse(cluster && !cert, || format!("TLS.SDS.CertResource is required if ClusterName is set for listener (listener on port {port})"))?;
    refuse(cert && !cluster && !gateway_cluster, || format!("TLS.SDS.ClusterName is required if CertResource is set (listener on port {port})"))?;
    let name = go::quote(service.get("Name").text());
    refuse(own_cert && service.get("Hosts").items().is_empty(), || {
        format!("A service specifying TLS.SDS.CertResource must have at least one item in Hosts (service {name} on listener on port {port})")
    })?;
    refuse(own_cert && !own_cluster && !cluster && !gateway_cluster, || {
        format!("TLS.SDS.ClusterName is required if CertResource is set (service {name} on listener on port {port})")
    })
}

fn host(tls: bool, host: &str) -> Verdict {
    if host == "*" {
        return refuse(tls, || "Host '*' is not allowed when TLS is enabled, all hosts must be valid DNS records to add as a DNSSAN".into());
    }
    refuse(!go::is_domain_name(host), || format!("Host {} must be a valid DNS hostname", go::quote(host)))?;
    refuse(host.strip_prefix("*.").unwrap_or(host).contains('*'), || {
        format!("Host {} is not valid, a wildcard specifier is only allowed as the leftmost label", go::quote(host))
    })
}

pub(super) fn terminating(tree: &Tree) -> Verdict {
    meta(tree)?;
    let mut seen = BTreeSet::new();
    for service in tree.get("Services").items() {
        let name = service.get("Name").text();
        refuse(name.is_empty(), || "Service name cannot be blank.".into())?;
        refuse(!seen.insert(name), || format!("Service {} was specified more than once within a namespace", go::quote(name)))?;
        let has = |field: &str| is_set(service.get(field));
        let some = has("CertFile") || has("KeyFile");
        refuse(some && !(has("CAFile") && has("CertFile") && has("KeyFile")), || {
            format!("Service {} must have a CertFile, CAFile, and KeyFile specified for TLS origination", go::quote(name))
        })?;
    }
    Ok(())
}

fn is_listener_name(name: &str) -> bool {
    let part = |part: &str| {
        let inner = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit();
        let bytes = part.as_bytes();
        bytes.first().is_some_and(|c| inner(*c)) && bytes.last().is_some_and(|c| inner(*c)) && bytes.iter().all(|c| inner(*c) || *c == b'-')
    };
    name.split('.').all(part)
}

pub(super) fn api(tree: &Tree) -> Verdict {
    meta(tree)?;
    let listeners = tree.get("Listeners").items();
    refuse(listeners.is_empty(), || "api gateway must have at least one listener".into())?;
    let mut names = BTreeSet::new();
    for name in listeners.iter().map(|listener| listener.get("Name").text()) {
        refuse(!is_listener_name(name), || {
            let quoted = go::quote(name);
            format!("listener name {quoted} is invalid, must be at least 1 character and contain only letters, numbers, or dashes")
        })?;
        refuse(!names.insert(name), || format!("found multiple listeners with the name {}", go::quote(name)))?;
    }
    let mut ports: BTreeMap<i64, &Tree> = BTreeMap::new();
    for listener in listeners {
        let text = |of: &Tree, field: &str| String::from(of.get(field).text());
        if let Some(before) = ports.insert(listener.get("Port").int(), listener) {
            let differs = ["Hostname", "Protocol"].iter().any(|field| text(before, field) != text(listener, field));
            refuse(differs, || {
                let (one, two) = (go::quote(before.get("Name").text()), go::quote(listener.get("Name").text()));
                format!("listeners {one} and {two} cannot be merged")
            })?;
        }
    }
    listeners.iter().try_for_each(api_listener)
}

fn api_listener(listener: &Tree) -> Verdict {
    let (protocol, host, port) = (listener.get("Protocol").text(), listener.get("Hostname").text(), listener.get("Port").int());
    refuse(!matches!(protocol, "http" | "tcp"), || {
        format!("unsupported listener protocol {}, must be one of 'tcp', or 'http'", go::quote(protocol))
    })?;
    refuse(protocol == "tcp" && !host.is_empty(), || "hostname specification is not supported when using TCP".into())?;
    refuse(!(1..=65535).contains(&port), || format!("listener port {port} not in the range 1-65535"))?;
    refuse(host.strip_prefix("*.").unwrap_or(host).contains('*'), || {
        format!("host {} is not valid, a wildcard specifier is only allowed as the left-most label", go::quote(host))
    })?;
    let settings = listener.get("TLS");
    for certificate in settings.get("Certificates").items() {
        let kind = certificate.get("Kind").text();
        refuse(kind != "inline-certificate", || format!("unsupported certificate kind: {}, must be 'inline-certificate'", go::quote(kind)))?;
        refuse(certificate.get("Name").text().is_empty(), || "certificate reference must have a name".into())?;
    }
    tls(settings.get("MinVersion"), settings.get("MaxVersion"), settings.get("CipherSuites"))
}

/// Whether a text contains something like PEM.
fn is_pem(text: &str) -> bool {
    let Some((_, rest)) = text.split_once("-----BEGIN ") else { return false };
    let Some((label, rest)) = rest.split_once("-----") else { return false };
    let Some((body, _)) = rest.split_once(&format!("-----END {label}-----")) else { return false };
    let packed: String = body.chars().filter(|c| !c.is_whitespace()).collect();
    !packed.is_empty() && packed.chars().all(|c| c.is_ascii_alphanumeric() || "+/=".contains(c))
}

/// Validates a certificate and its key (`agent/structs/config_entry_inline_certificate.go`). A key on a curve without its public half cannot be
/// checked, and is accepted.
pub(super) fn certificate(tree: &Tree, key: &str) -> Verdict {
    meta(tree)?;
    refuse(!is_pem(key), || "failed to parse private key PEM".into())?;
    let key = block(key, |kind| kind.ends_with("PRIVATE KEY"));
    let public = key.as_ref().and_then(|key| der::public_half(&key.bytes));
    let is_short = |bits: usize| bits < FEWEST_BITS && key.as_ref().is_some_and(|key| key.kind == "RSA PRIVATE KEY");
    refuse(public.as_ref().and_then(PublicKey::rsa_bits).is_some_and(is_short), || "key length must be at least 2048 bits".into())?;
    let certificate = tree.get("Certificate").text();
    refuse(!is_pem(certificate), || "failed to parse certificate PEM".into())?;
    let shown = block(certificate, |_| true).and_then(|block| der::certificate(&block.bytes));
    let Some(shown) = shown else { return refuse(true, || "failed to parse certificate: x509: malformed certificate".into()) };
    refuse(key.is_none(), || "tls: failed to find any PEM data in key input".into())?;
    if let (Some(own), Some(other)) = (&public, &shown.key) {
        let is_same_type = matches!((own, other), (PublicKey::Rsa { .. }, PublicKey::Rsa { .. }) | (PublicKey::Point(_), PublicKey::Point(_)));
        refuse(!is_same_type, || "tls: private key type does not match public key type".into())?;
        refuse(own.differs(other), || "tls: private key does not match public key".into())?;
    }
    for host in [shown.common_name.as_deref().unwrap_or_default()].into_iter().chain(shown.dns_names.iter().map(String::as_str)) {
        let is_name = !host.is_empty() && host.len() < 255 && host.trim_end_matches('.').split('.').all(|label| (1..=63).contains(&label.len()));
        refuse(!is_name, || format!("host {} must be a valid DNS hostname", go::quote(host)))?;
    }
    Ok(())
}

/// The fewest bits of an RSA key.
const FEWEST_BITS: usize = 2048;

/// The first PEM block of a kind; other blocks before it are skipped.
fn block(text: &str, is_meant: impl Fn(&str) -> bool) -> Option<pem::Block> {
    let mut rest = text.as_bytes();
    while let Ok(Some(block)) = pem::next(&mut rest) {
        if is_meant(&block.kind) {
            return Some(block);
        }
    }
    None
}
