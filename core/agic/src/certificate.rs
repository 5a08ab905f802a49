//! Decides whether a Secret can become a certificate of the gateway: by its type, and by the result of `openssl pkcs12 -export`.
//!
//! AGIC `pkg/k8scontext/secretstore.go`. Key material is not passed on.

use alloc::vec::Vec;
use chancery_base::resource::Object;
use chancery_kubernetes::{der, pem, secret};
use chancery_text::base64;

/// Why a Secret cannot become a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unusable {
    /// It has another type.
    Type,
    /// `tls.crt` or `tls.key` is missing.
    Incomplete,
    /// `tls.crt` contains no readable certificate.
    Certificate,
    /// `tls.key` contains no readable private key.
    Key,
    /// The key belongs to none of the certificates.
    Mismatch,
}

impl Unusable {
    /// The problem, as the end of a sentence about the Secret.
    pub fn words(self) -> &'static str {
        match self {
            Unusable::Type => "is not of the type `kubernetes.io/tls`",
            Unusable::Incomplete => "lacks `tls.crt` or `tls.key`",
            Unusable::Certificate => "has no certificate in `tls.crt` that openssl can read",
            Unusable::Key => "has no private key in `tls.key` that openssl can read",
            Unusable::Mismatch => "has a private key that belongs to none of its certificates",
        }
    }
}

/// Checks whether a Secret can become a certificate.
///
/// # Errors
///
/// Why it cannot.
pub fn converts(object: &Object) -> Result<(), Unusable> {
    if object.assumed {
        return Ok(());
    }
    if secret::secret_type(object) != "kubernetes.io/tls" {
        return Err(Unusable::Type);
    }
    let data = secret::data(object);
    let bytes = |key: &str| data.get(key).and_then(|(_, value)| base64::decode(value.expose())).filter(|bytes| !bytes.is_empty());
    let (Some(chain), Some(key)) = (bytes("tls.crt"), bytes("tls.key")) else { return Err(Unusable::Incomplete) };
    let certificates: Vec<der::Certificate> = blocks(&chain)
        .into_iter()
        .filter(|block| matches!(block.kind.as_str(), "CERTIFICATE" | "X509 CERTIFICATE" | "TRUSTED CERTIFICATE"))
        .map(|block| der::certificate(&block.bytes).ok_or(Unusable::Certificate))
        .collect::<Result<_, _>>()?;
    if certificates.is_empty() {
        return Err(Unusable::Certificate);
    }
    let is_key = |block: &pem::Block| matches!(block.kind.as_str(), "PRIVATE KEY" | "RSA PRIVATE KEY" | "EC PRIVATE KEY");
    let key = blocks(&key).into_iter().find(is_key).filter(|block| der::is_sequence(&block.bytes)).ok_or(Unusable::Key)?;
    let Some(public) = der::public_half(&key.bytes) else { return Ok(()) };
    let belongs = |certificate: &der::Certificate| certificate.key.as_ref().is_none_or(|known| !known.differs(&public));
    if certificates.iter().any(belongs) { Ok(()) } else { Err(Unusable::Mismatch) }
}

fn blocks(text: &[u8]) -> Vec<pem::Block> {
    let mut rest = text;
    core::iter::from_fn(|| pem::next(&mut rest).ok().flatten()).collect()
}
