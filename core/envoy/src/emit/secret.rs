//! Names and lists SDS resources.
//!
//! A certificate with its key from one Secret is called `NAMESPACE/NAME`. Other resources name their data: `NAMESPACE/NAME/KEY`, and after `/crl/`
//! the revocation list of a CA. Key material appears only if a host provides it; otherwise a placeholder string names it.

use super::base::{data, file, inline};
use super::{Context, Lookup, pb};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::ir::{Certificate, CertificateSource, Delivery, Holder, Ir, SecretPart, SecretReference, ValidationContext};
use chancery_base::resource::{Origin, Sourced};
use chancery_text::Str;

/// The content of one SDS resource.
#[derive(Clone, Copy, Debug)]
pub(super) enum SecretContent<'a> {
    Certificate { name: Option<&'a Str>, chain: Option<&'a CertificateSource>, key: Option<&'a CertificateSource> },
    Validation { name: Option<&'a Str>, authority: &'a CertificateSource, crl: Option<&'a CertificateSource> },
}

fn value(source: Option<&Sourced<CertificateSource>>) -> Option<&CertificateSource> {
    source.map(|source| &source.value)
}

fn in_secret(source: Option<&CertificateSource>) -> Option<&SecretReference> {
    source.and_then(|source| source.references().first())
}

/// Whether SDS serves one of the sources, and its explicit name, if any.
fn served<'a>(delivery: &'a Delivery, mut sources: impl Iterator<Item = &'a CertificateSource>) -> Option<Option<&'a Str>> {
    match delivery {
        Delivery::ByReference => sources.any(|source| in_secret(Some(source)).is_some()).then_some(None),
        Delivery::Named(name) | Delivery::Awaited(name) => Some(Some(name)),
        Delivery::Inline => None,
    }
}

impl<'a> SecretContent<'a> {
    /// Returns `None` if SDS does not serve it.
    pub(super) fn certificate(certificate: &'a Certificate) -> Option<Self> {
        let (chain, key) = (value(certificate.chain.as_ref()), value(certificate.key.as_ref()));
        let name = served(&certificate.delivery, chain.into_iter().chain(key))?;
        Some(SecretContent::Certificate { name, chain, key })
    }

    /// Returns `None` if SDS does not serve it.
    pub(super) fn validation(context: &'a ValidationContext) -> Option<Self> {
        let authority = value(context.trusted_ca.as_ref())?;
        let name = served(&context.delivery, Some(authority).into_iter())?;
        Some(SecretContent::Validation { name, authority, crl: value(context.crl.as_ref()) })
    }

    /// The parts of Secrets in it.
    pub(super) fn references(&self) -> impl Iterator<Item = &'a SecretReference> {
        let (first, second) = match *self {
            SecretContent::Certificate { chain, key, .. } => (chain, key),
            SecretContent::Validation { authority, crl, .. } => (Some(authority), crl),
        };
        first.into_iter().chain(second).flat_map(CertificateSource::references)
    }

    /// The name of the resource.
    pub(super) fn name(&self) -> String {
        match *self {
            SecretContent::Certificate { name: Some(name), .. } | SecretContent::Validation { name: Some(name), .. } => String::from(name.as_str()),
            SecretContent::Certificate { chain, key, .. } => match (in_secret(chain), in_secret(key)) {
                (Some(chain), key) => {
                    let whole = chain.part == SecretPart::Certificate
                        && key.is_none_or(|key| key.part == SecretPart::PrivateKey && key.namespace == chain.namespace && key.name == chain.name);
                    match key {
                        _ if whole => format!("{}/{}", chain.namespace, chain.name),
                        Some(key) => format!("{}/key/{}", full_name(chain), full_name(key)),
                        None => full_name(chain),
                    }
                }
                (None, key) => key.map(full_name).unwrap_or_default(),
            },
            SecretContent::Validation { authority, crl, .. } => match (in_secret(Some(authority)), in_secret(crl)) {
                (Some(authority), None) => full_name(authority),
                (Some(authority), Some(crl)) => format!("{}/crl/{}", full_name(authority), full_name(crl)),
                (None, crl) => crl.map(full_name).unwrap_or_default(),
            },
        }
    }

    /// The resource.
    pub(super) fn secret(&self, secrets: Option<Lookup<'_>>) -> pb::tls::Secret {
        use pb::tls::secret::Type;
        let content = |from: &CertificateSource| match from {
            CertificateSource::File(path) => file(path),
            from => source(from.references(), secrets),
        };
        let held = match self {
            SecretContent::Certificate { chain, key, .. } => Type::TlsCertificate(pb::tls::TlsCertificate {
                certificate_chain: chain.map(content),
                private_key: key.map(content),
                ..Default::default()
            }),
            SecretContent::Validation { authority, crl, .. } => Type::ValidationContext(pb::tls::CertificateValidationContext {
                trusted_ca: Some(content(authority)),
                crl: crl.map(content),
                ..Default::default()
            }),
        };
        pb::tls::Secret { name: self.name(), r#type: Some(held) }
    }
}

fn full_name(reference: &SecretReference) -> String {
    format!("{}/{}/{}", reference.namespace, reference.name, reference.part.key())
}

/// Returns `secret:NAMESPACE/NAME/KEY` or `configmap:NAMESPACE/NAME/KEY`, which replaces the content.
fn placeholder(reference: &SecretReference) -> String {
    match reference.holder {
        Holder::ClusterTrustBundle => format!("{}:{}", reference.holder.word(), reference.name),
        holder => format!("{}:{}", holder.word(), full_name(reference)),
    }
}

/// Returns the content of all references if it is known, else placeholders.
pub(super) fn source(references: &[SecretReference], secrets: Option<Lookup<'_>>) -> pb::base::DataSource {
    match content(references, secrets) {
        Some(content) => data(content),
        None => inline(&placeholders(references)),
    }
}

/// Returns the concatenated contents; `None` if one is unknown.
pub(super) fn content(references: &[SecretReference], secrets: Option<Lookup<'_>>) -> Option<Vec<u8>> {
    let secrets = secrets?;
    let each: Option<Vec<Vec<u8>>> = references.iter().map(secrets).collect();
    Some(each?.concat())
}

pub(super) fn placeholders(references: &[SecretReference]) -> String {
    let each: Vec<String> = references.iter().map(placeholder).collect();
    each.join("\n")
}

/// Returns all resources that listeners and clusters request, by name, with the origins of the requests.
pub(super) fn all(ir: &Ir) -> BTreeMap<String, (SecretContent<'_>, Vec<Origin>)> {
    let mut all: BTreeMap<String, (SecretContent<'_>, Vec<Origin>)> = BTreeMap::new();
    let mut found: Vec<(SecretContent<'_>, Option<Origin>)> = Vec::new();
    for tls in ir.listeners.iter().flat_map(|listener| &listener.chains).filter_map(|chain| chain.tls.as_ref()) {
        found.extend(tls.certificates.iter().filter_map(|of| Some((SecretContent::certificate(of)?, of.origin))));
        found.extend(tls.validation.iter().filter_map(|of| Some((SecretContent::validation(of)?, of.origin))));
    }
    found.extend(ir.certificates.iter().filter_map(|of| Some((SecretContent::certificate(of)?, of.origin))));
    for tls in ir.clusters.iter().chain(&ir.delivery.bootstrap.clusters).filter_map(|cluster| cluster.tls.as_ref()) {
        let served = tls.certificates.iter().filter(|of| !matches!(of.delivery, Delivery::Awaited(_)));
        found.extend(served.filter_map(|of| Some((SecretContent::certificate(of)?, of.origin))));
        found.extend(tls.validation.iter().filter_map(|of| Some((SecretContent::validation(of)?, of.origin))));
    }
    for (held, origin) in found {
        let (_, origins) = all.entry(held.name()).or_insert((held, Vec::new()));
        origins.extend(origin.filter(|origin| !origins.contains(origin)));
    }
    all
}

/// Whether the host provides everything that listeners and clusters request.
pub(super) fn all_given(ir: &Ir, cx: &Context<'_>) -> bool {
    all(ir).values().all(|(held, _)| cx.gives(held))
}
