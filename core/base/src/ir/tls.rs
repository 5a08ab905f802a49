//! TLS of both sides. There is no key material in it: certificates are named.

use crate::resource::{Also, Sourced};
use alloc::vec::Vec;
use chancery_text::Str;

/// A part of a Kubernetes Secret or ConfigMap.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
pub struct SecretReference {
    /// What holds it.
    pub holder: Holder,
    /// Its namespace.
    pub namespace: Str,
    /// Its name.
    pub name: Str,
    /// Which of its data.
    pub part: SecretPart,
}

/// What holds certificates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
pub enum Holder {
    /// A Secret.
    #[default]
    Secret,
    /// A ConfigMap, of what need not be secret.
    ConfigMap,
}

/// How the proxy gets what certificates are made of.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub enum Delivery {
    /// By SDS, under a name made of the references to its parts; in place where these are files.
    #[default]
    ByReference,
    /// By SDS under this name.
    Named(Str),
    /// By SDS under this name, which the controller serves only where others ask for it as well.
    Awaited(Str),
    /// In place.
    Inline,
}

/// Which data of a Secret is meant, by what it is used for.
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
    /// The key of the data.
    pub fn key(&self) -> &str {
        match self {
            SecretPart::Certificate => "tls.crt",
            SecretPart::PrivateKey => "tls.key",
            SecretPart::Key(key) => key,
        }
    }
}

/// Where certificate material is.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum CertificateSource {
    /// In a Secret or ConfigMap.
    Secret(SecretReference),
    /// In several of them, one behind the other.
    Several(Vec<SecretReference>),
    /// In a file that the proxy sees.
    File(Str),
}

impl CertificateSource {
    /// The parts of Secrets and ConfigMaps that it is made of.
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
    /// How the proxy gets it.
    pub delivery: Delivery,
    /// The chain.
    pub chain: Option<Sourced<CertificateSource>>,
    /// The key.
    pub key: Option<Sourced<CertificateSource>>,
    /// What its name follows from besides.
    #[serde(skip)]
    pub also: Also,
}

/// TLS towards clients.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct DownstreamTls {
    /// Certificates shown.
    pub certificates: Vec<Sourced<Certificate>>,
    /// How client certificates are checked.
    pub validation: Option<Sourced<ValidationContext>>,
    /// Clients must show one.
    pub require_client_certificate: Option<Sourced<bool>>,
    /// Versions, ciphers, curves.
    pub parameters: TlsParameters,
    /// Protocols offered.
    pub alpn: Vec<Sourced<Str>>,
}

/// TLS towards upstreams.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct UpstreamTls {
    /// Certificates shown.
    pub certificates: Vec<Sourced<Certificate>>,
    /// How the upstream's certificate is checked; `None`: not at all.
    pub validation: Option<Sourced<ValidationContext>>,
    /// Versions, ciphers, curves.
    pub parameters: TlsParameters,
    /// Protocols offered.
    pub alpn: Vec<Sourced<Str>>,
    /// Server name sent.
    pub sni: Option<Sourced<Str>>,
}

/// How a peer's certificate is checked.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct ValidationContext {
    /// How the proxy gets it.
    pub delivery: Delivery,
    /// Authorities trusted.
    pub trusted_ca: Option<Sourced<CertificateSource>>,
    /// Revoked certificates.
    pub crl: Option<Sourced<CertificateSource>>,
    /// Only the peer's own certificate is looked up among them.
    pub only_leaf_crl: Option<Sourced<bool>>,
    /// DNS names of which the certificate must have one; empty: any will do.
    pub subject_names: Vec<Sourced<Str>>,
    /// Certificates of unknown authorities are taken too.
    pub accept_untrusted: Option<Sourced<bool>>,
    /// What stands in place where documents run alone.
    #[serde(skip)]
    pub public: PublicMaterial,
}

/// What need not be secret, as far as it is known: certificates of authorities, and lists of those revoked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PublicMaterial {
    /// Authorities trusted, as PEM.
    pub authorities: Option<Str>,
    /// Revoked certificates, as PEM.
    pub revoked: Option<Str>,
}

/// Versions, ciphers, curves; what is not set is BoringSSL's default.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct TlsParameters {
    /// Lowest version.
    pub minimum: Option<Sourced<TlsVersion>>,
    /// Highest version.
    pub maximum: Option<Sourced<TlsVersion>>,
    /// Cipher suites up to TLS 1.2.
    pub cipher_suites: Vec<Sourced<Str>>,
    /// Curves.
    pub ecdh_curves: Vec<Sourced<Str>>,
}

impl TlsParameters {
    /// Whether nothing is set.
    pub fn is_empty(&self) -> bool {
        self.minimum.is_none() && self.maximum.is_none() && self.cipher_suites.is_empty() && self.ecdh_curves.is_empty()
    }
}

/// TLS protocol version.
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
