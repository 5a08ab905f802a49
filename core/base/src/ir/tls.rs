//! Defines TLS settings for both sides. Contains no key material: certificates are referenced.

use crate::resource::{Also, Sourced};
use alloc::vec::Vec;
use chancery_text::Str;

/// A part of a Kubernetes Secret or ConfigMap.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
pub struct SecretReference {
    pub holder: Holder,
    pub namespace: Str,
    pub name: Str,
    /// Which data it refers to.
    pub part: SecretPart,
}

/// The kind of object that holds certificates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
pub enum Holder {
    #[default]
    Secret,
    /// A ConfigMap with public data.
    ConfigMap,
    /// A ClusterTrustBundle. It has no namespace and one value.
    ClusterTrustBundle,
}

impl Holder {
    /// The word that begins a name of key material: `secret:NAMESPACE/NAME/KEY`.
    pub const fn word(self) -> &'static str {
        match self {
            Holder::Secret => "secret",
            Holder::ConfigMap => "configmap",
            Holder::ClusterTrustBundle => "clustertrustbundle",
        }
    }
}

impl SecretReference {
    /// Returns the reference that a name denotes: `secret:NAMESPACE/NAME/KEY`, `clustertrustbundle:NAME`.
    pub fn of_name(name: &str) -> Option<Self> {
        let (word, rest) = name.split_once(':')?;
        let holder = [Holder::Secret, Holder::ConfigMap, Holder::ClusterTrustBundle].into_iter().find(|holder| holder.word() == word)?;
        if holder == Holder::ClusterTrustBundle {
            return Some(Self { holder, namespace: Str::default(), name: Str::new(rest), part: SecretPart::Certificate });
        }
        let mut parts = rest.splitn(3, '/');
        let (namespace, name, key) = (parts.next()?, parts.next()?, parts.next()?);
        let part = match key {
            "tls.crt" => SecretPart::Certificate,
            "tls.key" => SecretPart::PrivateKey,
            key => SecretPart::Key(Str::new(key)),
        };
        Some(Self { holder, namespace: Str::new(namespace), name: Str::new(name), part })
    }
}

/// How the proxy receives a certificate.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub enum Delivery {
    /// By SDS, under a name built from the references to its parts; inline if the parts are files.
    #[default]
    ByReference,
    /// By SDS under this name.
    Named(Str),
    /// By SDS under this name. The controller serves it only if another resource requests it too.
    Awaited(Str),
    Inline,
}

/// Which data of a Secret is used, by purpose.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
pub enum SecretPart {
    /// `tls.crt`
    Certificate,
    /// `tls.key`
    PrivateKey,
    /// Another key of its data.
    Key(Str),
}

impl SecretPart {
    /// The key in the Secret's data.
    pub fn key(&self) -> &str {
        match self {
            SecretPart::Certificate => "tls.crt",
            SecretPart::PrivateKey => "tls.key",
            SecretPart::Key(key) => key,
        }
    }
}

/// The source of certificate data.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum CertificateSource {
    /// In a Secret or ConfigMap.
    Secret(SecretReference),
    /// In several of them, concatenated.
    Several(Vec<SecretReference>),
    /// In a file inside the proxy.
    File(Str),
}

impl CertificateSource {
    /// The referenced parts of Secrets and ConfigMaps.
    pub fn references(&self) -> &[SecretReference] {
        match self {
            CertificateSource::Secret(reference) => core::slice::from_ref(reference),
            CertificateSource::Several(references) => references,
            CertificateSource::File(_) => &[],
        }
    }
}

/// A certificate with its key.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Certificate {
    /// How the proxy receives it.
    pub delivery: Delivery,
    pub chain: Option<Sourced<CertificateSource>>,
    pub key: Option<Sourced<CertificateSource>>,
    /// Further origins of its name.
    #[serde(skip)]
    pub also: Also,
}

/// TLS towards clients.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct DownstreamTls {
    /// The presented certificates.
    pub certificates: Vec<Sourced<Certificate>>,
    /// How client certificates are verified.
    pub validation: Option<Sourced<ValidationContext>>,
    /// Clients must present a certificate.
    pub require_client_certificate: Option<Sourced<bool>>,
    pub parameters: TlsParameters,
    /// The offered protocols.
    pub alpn: Vec<Sourced<Str>>,
}

/// TLS towards upstreams.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct UpstreamTls {
    /// The presented certificates.
    pub certificates: Vec<Sourced<Certificate>>,
    /// How the upstream's certificate is verified; `None`: not verified.
    pub validation: Option<Sourced<ValidationContext>>,
    pub parameters: TlsParameters,
    /// The offered protocols.
    pub alpn: Vec<Sourced<Str>>,
    /// The SNI that is sent.
    pub sni: Option<Sourced<Str>>,
}

/// How a peer's certificate is verified.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct ValidationContext {
    /// How the proxy receives it.
    pub delivery: Delivery,
    /// The trusted CAs.
    pub trusted_ca: Option<Sourced<CertificateSource>>,
    /// The revoked certificates.
    pub crl: Option<Sourced<CertificateSource>>,
    /// Checks only the peer's own certificate against the list.
    pub only_leaf_crl: Option<Sourced<bool>>,
    /// Accepted DNS names in the certificate; empty: any.
    pub subject_names: Vec<Sourced<Str>>,
    /// Accepts certificates of unknown CAs.
    pub accept_untrusted: Option<Sourced<bool>>,
    /// Public data for documents that run alone.
    #[serde(skip)]
    pub public: PublicMaterial,
}

/// Data that need not be secret, if known: CA certificates and revocation lists.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PublicMaterial {
    /// The trusted CAs as PEM.
    pub authorities: Option<Str>,
    /// The revocation lists as PEM.
    pub revoked: Option<Str>,
}

/// Versions, ciphers, curves; unset values are BoringSSL's defaults.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct TlsParameters {
    /// The lowest version.
    pub minimum: Option<Sourced<TlsVersion>>,
    /// The highest version.
    pub maximum: Option<Sourced<TlsVersion>>,
    /// Cipher suites up to TLS 1.2.
    pub cipher_suites: Vec<Sourced<Str>>,
    pub ecdh_curves: Vec<Sourced<Str>>,
}

impl TlsParameters {
    /// Whether nothing is set.
    pub fn is_empty(&self) -> bool {
        self.minimum.is_none() && self.maximum.is_none() && self.cipher_suites.is_empty() && self.ecdh_curves.is_empty()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub enum TlsVersion {
    /// TLS 1.0
    V1_0,
    /// TLS 1.1
    V1_1,
    /// TLS 1.2
    V1_2,
    /// TLS 1.3
    V1_3,
}
