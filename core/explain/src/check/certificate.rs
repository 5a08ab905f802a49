//! Checks certificates in use: whether they can be parsed, are currently valid, cover the served names, and match their keys.
//!
//! Keys are compared but never shown. Does not parse DER (see `kubernetes::der`) or verify signatures.

use super::whole::Whole;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::compilation::Outcome;
use chancery_base::diagnostic::{Code, Diagnostic, Place, codes, time};
use chancery_base::ir::appgw::{Listener, Part};
use chancery_base::ir::{CertificateSource, Holder, SecretPart, SecretReference};
use chancery_base::resource::{Object, Origin, Sourced};
use chancery_kubernetes::der;
use chancery_kubernetes::pem;
use chancery_text::Str;
use hashbrown::HashMap;

/// Certificates that expire in fewer days are reported: automatic renewal happens earlier.
const SOON: i64 = 14;

/// The minimum RSA key size, in bits, that Envoy accepts for its own certificates (`source/common/tls/context_impl.cc`).
const FEWEST_BITS: usize = 2048;

/// The content of one reference.
struct Read {
    /// The chain, starting with the leaf certificate.
    chain: Vec<der::Certificate>,
    /// Whether a block is not a certificate.
    unreadable: bool,
    /// Private keys, each with its public half if the file contains it.
    keys: Vec<Option<der::PublicKey>>,
    /// Whether the text contains no PEM block.
    is_empty: bool,
}

pub(super) fn check(whole: &mut Whole<'_>, at: Option<i64>) {
    let ir = whole.ir;
    let mut pairs: BTreeMap<&SecretReference, BTreeSet<&SecretReference>> = BTreeMap::new();
    let mut authorities: BTreeSet<&SecretReference> = BTreeSet::new();
    for certificate in ir.shown_certificates() {
        for chain in references(certificate.chain.as_ref()) {
            pairs.entry(chain).or_default().extend(references(certificate.key.as_ref()));
        }
    }
    let verbatim = ir.verbatim_references();
    for (key, _) in verbatim.iter().filter(|(of, _)| of.part == SecretPart::PrivateKey) {
        let chain = verbatim.iter().map(|(of, _)| of).find(|of| of.name == key.name && of.part == SecretPart::Certificate);
        pairs.entry(chain.unwrap_or(key)).or_default().insert(key);
    }
    authorities.extend(ir.validations().flat_map(|validation| references(validation.trusted_ca.as_ref())));
    if pairs.is_empty() && authorities.is_empty() {
        return;
    }
    let holders = Holders::new(whole);
    // Certificates that the cluster issues are not in the input, and are renewed automatically.
    pairs.retain(|chain, _| !chain.namespace.is_empty() || holders.find(chain).is_some());
    let mut read: BTreeMap<&SecretReference, Read> = BTreeMap::new();
    for reference in pairs.keys().chain(&authorities) {
        if !read.contains_key(reference)
            && let Some(found) = whole.side.key_material(reference)
        {
            read.insert(reference, read_pem(&found));
        }
    }
    for (reference, found) in &read {
        let place = holders.place(reference);
        // Envoy checks the key sizes of certificates that it presents, but not of CA certificates.
        let own = found.chain.first().filter(|_| pairs.contains_key(reference));
        if let Some((bits, name)) = own.and_then(|own| Some((own.key.as_ref()?.rsa_bits()?, called(own)))).filter(|(bits, _)| *bits < FEWEST_BITS) {
            let message = format!("{name} has an RSA key of {bits} bits, and Envoy rejects keys of fewer than {FEWEST_BITS} bits");
            whole.report(finding(&codes::WEAK_CERTIFICATE_KEY, &place, holders.find(reference), message));
        }
        one(whole, found, &place, holders.find(reference), at);
    }
    for (chain, keys) in &pairs {
        for key in keys {
            let leaf = read.get(chain).and_then(|read| read.chain.first());
            pair(whole, leaf, key, &holders);
        }
    }
    names(whole, &read, &holders);
}

/// Returns the Secrets and ConfigMaps that a source names.
fn references(source: Option<&Sourced<CertificateSource>>) -> &[SecretReference] {
    source.map(|source| source.value.references()).unwrap_or_default()
}

fn read_pem(text: &[u8]) -> Read {
    let mut read = Read { chain: Vec::new(), unreadable: false, keys: Vec::new(), is_empty: true };
    let mut rest = text;
    while let Ok(Some(block)) = pem::next(&mut rest) {
        read.is_empty = false;
        if block.kind.ends_with("PRIVATE KEY") {
            read.keys.push(der::public_half(&block.bytes));
        }
        if block.kind.ends_with("CERTIFICATE") {
            match der::certificate(&block.bytes) {
                Some(certificate) => read.chain.push(certificate),
                None => read.unreadable = true,
            }
        }
    }
    read
}

/// The objects that hold certificates, by name.
struct Holders<'a>(HashMap<(&'a str, &'a str, &'a str), &'a Object>);

impl<'a> Holders<'a> {
    fn new(whole: &Whole<'a>) -> Self {
        let holds = |object: &&Object| {
            matches!(&*object.key.kind, "Secret" | "ConfigMap" | "inline-certificate") && object.key.group.is_empty() && !object.broken
        };
        let by_name = |object: &'a Object| {
            let namespace = object.key.namespace.as_deref().filter(|namespace| !namespace.is_empty()).unwrap_or("default");
            ((&*object.key.kind, namespace, &*object.key.name), object)
        };
        Self(whole.side.objects().iter().filter(holds).map(by_name).collect())
    }

    fn find(&self, reference: &SecretReference) -> Option<&'a Object> {
        // A reference without a namespace has the kind in its name: `inline-certificate:shop`.
        if let Some((kind, name)) = reference.name.split_once(':').filter(|_| reference.namespace.is_empty()) {
            return self.0.get(&(kind, "default", name)).copied();
        }
        let kind = match reference.holder {
            Holder::Secret => "Secret",
            Holder::ConfigMap => "ConfigMap",
            Holder::ClusterTrustBundle => "ClusterTrustBundle",
        };
        self.0.get(&(kind, &*reference.namespace, &*reference.name)).copied()
    }

    /// Returns the place of the data.
    fn place(&self, reference: &SecretReference) -> Place {
        let Some(object) = self.find(reference) else { return Place::Whole };
        let key = reference.part.key();
        let own = if reference.part == SecretPart::PrivateKey { "PrivateKey" } else { "Certificate" };
        let mut nodes = ["stringData", "data", "binaryData"].iter().map(|data| object.root.at(&[data, key])).chain([object.root.get(own)]);
        let node = nodes.find_map(|node| node);
        Place::key(object.id, node.map_or(object.root.id, |node| node.id))
    }
}

fn finding(code: &'static Code, place: &Place, holder: Option<&Object>, message: String) -> Diagnostic {
    let mut finding = Diagnostic::new(code, message, place.clone());
    finding.resource = holder.map(|object| object.key.clone());
    finding
}

/// Names a certificate by its subject names.
fn called(certificate: &der::Certificate) -> String {
    let mut names = certificate.dns_names.iter().filter(|name| !name.is_empty());
    match (names.next(), &certificate.common_name) {
        (Some(first), _) if names.next().is_some() => format!("the certificate for `{first}` and others"),
        (Some(name), _) | (None, Some(name)) => format!("the certificate for `{name}`"),
        (None, None) => "the certificate".into(),
    }
}

/// Checks one chain.
fn one(whole: &mut Whole<'_>, read: &Read, place: &Place, holder: Option<&Object>, at: Option<i64>) {
    if read.unreadable {
        let message = "a block of the PEM says that it is a certificate, but it cannot be read as X.509".into();
        whole.report(finding(&codes::UNREADABLE_CERTIFICATE, place, holder, message).help("Envoy rejects it; look at it with `openssl x509 -text`"));
    }
    if read.chain.is_empty() && !read.unreadable && !read.is_empty {
        let (what, help) = match read.keys.is_empty() {
            true => ("something else", "Envoy rejects it"),
            false => ("a private key", "Envoy rejects it; are the certificate and the key swapped?"),
        };
        let message = format!("the PEM has no certificate, but {what}");
        whole.report(finding(&codes::UNREADABLE_CERTIFICATE, place, holder, message).help(help));
    }
    for certificate in &read.chain {
        let name = called(certificate);
        let Some(at) = at else { continue };
        match (certificate.not_before, certificate.not_after) {
            (_, Some(end)) if end < at => {
                let message = format!("{name} expired on {}", time::date(end));
                whole.report(finding(&codes::CERTIFICATE_EXPIRED, place, holder, message));
            }
            (Some(begin), _) if begin > at => {
                let message = format!("{name} is not valid before {}", time::date(begin));
                whole.report(finding(&codes::CERTIFICATE_NOT_YET_VALID, place, holder, message));
            }
            (_, Some(end)) if end - at < SOON * time::DAY => {
                let days = match (end - at) / time::DAY {
                    0 => "within a day".into(),
                    1 => "in one day".into(),
                    days => format!("in {days} days"),
                };
                let message = format!("{name} expires {days}, on {}", time::date(end));
                whole.report(finding(&codes::CERTIFICATE_EXPIRES_SOON, place, holder, message));
            }
            _ => {}
        }
    }
}

/// Checks whether a key matches its certificate.
fn pair(whole: &mut Whole<'_>, leaf: Option<&der::Certificate>, key: &SecretReference, holders: &Holders<'_>) {
    let Some(text) = whole.side.key_material(key) else { return };
    let Read { keys, is_empty, .. } = read_pem(&text);
    if !is_empty && keys.is_empty() {
        let message = "the PEM has no private key".into();
        let finding = finding(&codes::CERTIFICATE_KEY_MISMATCH, &holders.place(key), holders.find(key), message);
        whole.report(finding.help("Envoy rejects the pair; put the key here that the certificate was signed for"));
        return;
    }
    let Some(shown) = leaf.and_then(|leaf| leaf.key.as_ref()) else { return };
    if keys.first().is_some_and(|key| key.as_ref().is_some_and(|public| public.differs(shown))) {
        let message = format!("the private key does not belong to {}", leaf.map(called).unwrap_or_default());
        let finding = finding(&codes::CERTIFICATE_KEY_MISMATCH, &holders.place(key), holders.find(key), message);
        whole.report(
            finding.help("Envoy rejects the pair and keeps the one that it had; use the certificate and the key of the same signing request"),
        );
    }
}

/// Checks whether certificates cover the names that they are served for.
fn names(whole: &mut Whole<'_>, read: &BTreeMap<&SecretReference, Read>, holders: &Holders<'_>) {
    for chain in whole.ir.listeners.iter().flat_map(|listener| &listener.chains) {
        let (Some(tls), Some(matcher)) = (&chain.tls, &chain.matcher) else { continue };
        let shown: Vec<&SecretReference> = tls.certificates.iter().flat_map(|certificate| references(certificate.chain.as_ref())).collect();
        let leaves: Vec<&der::Certificate> = shown.iter().filter_map(|reference| read.get(reference)?.chain.first()).collect();
        if leaves.is_empty() || leaves.len() < tls.certificates.len() {
            continue;
        }
        let of_chain = chain.origins.first().copied();
        for name in &matcher.server_names {
            covered(whole, &leaves, shown.first().copied(), (&name.value, name.origin.or(of_chain)), holders);
        }
    }
}

/// Checks whether one of the served certificates covers a name.
fn covered(
    whole: &mut Whole<'_>,
    leaves: &[&der::Certificate],
    shown: Option<&SecretReference>,
    (name, origin): (&Str, Option<Origin>),
    holders: &Holders<'_>,
) {
    if **name == *"*" || name.is_empty() || leaves.iter().any(|leaf| covers(leaf, name)) {
        return;
    }
    let for_whom: BTreeSet<&str> = leaves.iter().flat_map(|leaf| &leaf.dns_names).map(String::as_str).filter(|name| !name.is_empty()).collect();
    let for_whom: Vec<&str> = for_whom.into_iter().take(4).collect();
    let instead = match &for_whom[..] {
        [] => "it has no DNS name".into(),
        names => format!("it is for {}", names.join(", ")),
    };
    let message = format!("the certificate does not cover `{name}`: {instead}");
    let mut finding = whole.finding(&codes::CERTIFICATE_HOST_MISMATCH, origin, message);
    if let Some(reference) = shown.filter(|reference| holders.find(reference).is_some()) {
        finding = finding.related(holders.place(reference), "the certificate");
    }
    whole.report(finding.help("clients that check names refuse the connection"));
}

/// Checks certificates of Application Gateways: whether they are valid in time, and cover the hosts of their listeners. The dialect reports whether
/// the gateway can use them.
pub(super) fn of_app_gateways(whole: &mut Whole<'_>, at: Option<i64>) {
    let gateways = whole.side.side.gateways.iter().filter_map(|gateway| match &gateway.outcome {
        Outcome::AppGateway(parts) => Some(parts),
        Outcome::Runs(_) | Outcome::Nginx(_) | Outcome::Stopped(_) => None,
    });
    let holders = Holders::new(whole);
    for gateway in gateways.filter_map(|gateway| gateway.properties.as_ref()) {
        for certificate in gateway.certificates.iter().flatten() {
            // Other certificates are in a key vault, or were on the gateway before.
            let data = certificate.properties.data.as_ref().and_then(|data| data.value.strip_prefix("secret:"));
            let Some((namespace, name)) = data.and_then(|name| name.split_once('/')) else { continue };
            let reference = SecretReference { holder: Holder::Secret, namespace: namespace.into(), name: name.into(), part: SecretPart::Certificate };
            let Some(read) = whole.side.key_material(&reference).map(|text| read_pem(&text)) else { continue };
            let Some(leaf) = read.chain.first() else { continue };
            one(whole, &read, &holders.place(&reference), holders.find(&reference), at);
            let shows = |of: &&Arc<Part<Listener>>| of.properties.certificate.as_ref().is_some_and(|shown| shown.id.value == certificate.id);
            for listener in gateway.listeners.iter().flatten().filter(shows) {
                let hosts = listener.properties.host_names.iter().flatten().chain(&listener.properties.host_name);
                for host in hosts {
                    covered(whole, &[leaf], Some(&reference), (&host.value, host.origin.or(listener.origin)), &holders);
                }
            }
        }
    }
}

/// Whether a certificate covers a name, which may itself begin with `*.`; common names are ignored.
fn covers(certificate: &der::Certificate, name: &Str) -> bool {
    certificate.dns_names.iter().any(|given| {
        let one_label = given.strip_prefix("*.").zip(name.split_once('.'));
        given.eq_ignore_ascii_case(name) || one_label.is_some_and(|(given, (first, rest))| first != "*" && given.eq_ignore_ascii_case(rest))
    })
}
