//! Reads the certificate and CA of a Secret: their names and files, never their keys.
//!
//! ingress-nginx `internal/ingress/controller/store/backend_ssl.go`, `internal/net/ssl`. Does not choose the Secret of a host; see `build::tls`.

use super::cluster::ReadableSecret;
use alloc::format;
use alloc::vec::Vec;
use chancery_base::ir::nginx::{Certificate, sorted_names};
use chancery_base::resource::Sourced;
use chancery_kubernetes::{der, pem};
use chancery_text::Str;

/// The certificate and CA of a Secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretCertificate {
    /// The names of the certificate; `None` if the Secret only has a CA.
    pub leaf: Option<Leaf>,
    has_ca: bool,
    has_crl: bool,
}

/// A certificate whose Secret also has its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// The subject's common name.
    pub common_name: Str,
    /// The DNS names among its alternative names.
    pub dns_names: Vec<Str>,
    /// Whether it has alternative names of any kind.
    pub has_alternative_names: bool,
}

const DIRECTORY: &str = "/etc/ingress-controller/ssl";

impl SecretCertificate {
    /// Reads a Secret. Returns `None` if the controller cannot use it.
    pub fn of(secret: &ReadableSecret<'_>) -> Option<Self> {
        if secret.object.assumed {
            return Some(Self { leaf: None, has_ca: true, has_crl: false });
        }
        let ca = secret.bytes("ca.crt").filter(|ca| !ca.is_empty());
        let crl = secret.bytes("ca.crl").filter(|crl| !crl.is_empty());
        let leaf = match (secret.bytes("tls.crt"), secret.bytes("tls.key")) {
            (Some(chain), Some(key)) => Some(read_leaf(&chain, &key)?),
            _ => None,
        };
        let has_ca = match &ca {
            Some(ca) => has_certificates(ca)?,
            None => false,
        };
        if leaf.is_none() && !has_ca {
            return None;
        }
        let has_crl = match crl.filter(|_| has_ca) {
            Some(crl) => is_crl(&crl).then_some(true)?,
            None => false,
        };
        Some(Self { leaf, has_ca, has_crl })
    }

    /// Returns the path of the file with the CA. `key` is `NAMESPACE/NAME` of the Secret.
    pub fn ca_file(&self, key: &str) -> Option<Str> {
        let name = key.replace('/', "-");
        match (&self.leaf, self.has_ca) {
            (_, false) => None,
            (Some(_), true) => Some(Str::from(format!("{DIRECTORY}/{name}.pem"))),
            (None, true) => Some(Str::from(format!("{DIRECTORY}/ca-{name}.pem"))),
        }
    }

    /// Returns the path of the file with the list of revoked certificates.
    pub fn crl_file(&self, key: &str) -> Option<Str> {
        self.has_crl.then(|| Str::from(format!("{DIRECTORY}/crl-{}.pem", key.replace('/', "-"))))
    }

    /// Returns the path of the file with certificate and key. The controller only writes the file if the Secret also has a CA.
    pub fn pem_file(&self, key: &str) -> Option<Str> {
        self.leaf.as_ref().filter(|_| self.has_ca).map(|_| Str::from(format!("{DIRECTORY}/{}.pem", key.replace('/', "-"))))
    }
}

impl Leaf {
    /// Whether the certificate is for a host: by its DNS names, or by its common name if it has no DNS names.
    pub fn covers(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        if self.dns_names.is_empty() {
            return matches(&self.common_name.to_ascii_lowercase(), &host);
        }
        self.dns_names.iter().any(|name| matches(&name.to_ascii_lowercase(), &host))
    }

    /// Whether Go accepts the certificate for a host. Go ignores the common name.
    pub fn is_valid_for(&self, host: &str) -> bool {
        !self.dns_names.is_empty() && self.covers(host)
    }

    /// Returns the certificate as servers show it. `secret` names its Secret.
    pub fn certificate(&self, secret: Sourced<Str>) -> Certificate {
        let names = sorted_names(core::iter::once(self.common_name.clone()).chain(self.dns_names.iter().cloned()));
        let first = self.dns_names.first().cloned().unwrap_or_default();
        let shown_name = if self.common_name.is_empty() { first } else { self.common_name.clone() };
        Certificate { secret, names, shown_name }
    }
}

/// Whether a certificate's name matches a host. The first label of the name may be a wildcard.
pub fn matches(pattern: &str, host: &str) -> bool {
    let (pattern, host) = (pattern.strip_suffix('.').unwrap_or(pattern), host.strip_suffix('.').unwrap_or(host));
    if pattern.is_empty() || host.is_empty() || pattern.split('.').count() != host.split('.').count() {
        return false;
    }
    let mut labels = pattern.split('.').zip(host.split('.')).enumerate();
    labels.all(|(at, (pattern, label))| at == 0 && pattern == "*" || pattern == label)
}

fn pem_blocks(text: &[u8]) -> Vec<pem::Block> {
    let mut rest = text;
    core::iter::from_fn(|| pem::next(&mut rest).ok().flatten()).collect()
}

fn read_leaf(chain: &[u8], key: &[u8]) -> Option<Leaf> {
    let first = pem_blocks(chain).into_iter().next().filter(|block| block.kind == "CERTIFICATE")?;
    let certificate = der::certificate(&first.bytes)?;
    let is_key = |block: &pem::Block| matches!(block.kind.as_str(), "PRIVATE KEY" | "RSA PRIVATE KEY" | "EC PRIVATE KEY");
    let key = pem_blocks(key).into_iter().find(is_key).filter(|block| der::is_sequence(&block.bytes))?;
    let pair = certificate.key.as_ref().zip(der::public_half(&key.bytes));
    if pair.is_some_and(|(public, half)| public.differs(&half)) {
        return None;
    }
    Some(Leaf {
        common_name: Str::new(certificate.common_name.unwrap_or_default()),
        dns_names: certificate.dns_names.iter().map(Str::new).collect(),
        has_alternative_names: certificate.has_alternative_names,
    })
}

/// Returns `Some(true)` if the controller can read every certificate of a CA, otherwise `None`.
fn has_certificates(ca: &[u8]) -> Option<bool> {
    let blocks = pem_blocks(ca);
    let all = blocks.iter().all(|block| der::certificate(&block.bytes).is_some());
    (all && !blocks.is_empty()).then_some(true)
}

fn is_crl(crl: &[u8]) -> bool {
    pem_blocks(crl).first().is_some_and(|block| block.kind == "X509 CRL" && der::is_sequence(&block.bytes))
}
