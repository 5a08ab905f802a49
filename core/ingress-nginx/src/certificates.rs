//! What a Secret gives as a certificate or CA: names and files, never keys.
//!
//! ingress-nginx `internal/ingress/controller/store/backend_ssl.go`, `internal/net/ssl`. Does not choose the Secret of a host; see `build::tls`.

use super::cluster::ReadableSecret;
use alloc::format;
use alloc::vec::Vec;
use chancery_base::ir::nginx::{Certificate, sorted_names};
use chancery_base::resource::Sourced;
use chancery_kubernetes::{der, pem};
use chancery_text::Str;

/// What a Secret gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Material {
    /// The names of its certificate; `None` if it has only a CA.
    pub leaf: Option<Leaf>,
    has_ca: bool,
    has_crl: bool,
}

/// A certificate with a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// The subject's common name.
    pub common_name: Str,
    /// The DNS names among its alternative names.
    pub dns_names: Vec<Str>,
    /// It has alternative names of any kind.
    pub has_alternative_names: bool,
}

const DIRECTORY: &str = "/etc/ingress-controller/ssl";

impl Material {
    /// What a Secret gives; `None` if the controller cannot use it.
    pub fn of(secret: &ReadableSecret<'_>) -> Option<Self> {
        if secret.object.assumed {
            return Some(Self { leaf: None, has_ca: true, has_crl: false });
        }
        let ca = secret.bytes("ca.crt").filter(|ca| !ca.is_empty());
        let crl = secret.bytes("ca.crl").filter(|crl| !crl.is_empty());
        let leaf = match (secret.bytes("tls.crt"), secret.bytes("tls.key")) {
            (Some(chain), Some(key)) => Some(leaf(&chain, &key)?),
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

    /// The file with the CA.
    pub fn ca_file(&self, key: &str) -> Option<Str> {
        let name = key.replace('/', "-");
        match (&self.leaf, self.has_ca) {
            (_, false) => None,
            (Some(_), true) => Some(Str::from(format!("{DIRECTORY}/{name}.pem"))),
            (None, true) => Some(Str::from(format!("{DIRECTORY}/ca-{name}.pem"))),
        }
    }

    /// The file with the list of revoked certificates.
    pub fn crl_file(&self, key: &str) -> Option<Str> {
        self.has_crl.then(|| Str::from(format!("{DIRECTORY}/crl-{}.pem", key.replace('/', "-"))))
    }

    /// The file with certificate and key, which is written if there is a CA beside them.
    pub fn pem_file(&self, key: &str) -> Option<Str> {
        self.leaf.as_ref().filter(|_| self.has_ca).map(|_| Str::from(format!("{DIRECTORY}/{}.pem", key.replace('/', "-"))))
    }
}

impl Leaf {
    /// Whether it is for a host: by its alternative names, or else by its common name.
    pub fn covers(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        if self.dns_names.is_empty() {
            return matches(&self.common_name.to_ascii_lowercase(), &host);
        }
        self.dns_names.iter().any(|name| matches(&name.to_ascii_lowercase(), &host))
    }

    /// Whether Go's own check finds it to be for a host: by its alternative names alone.
    pub fn is_valid_for(&self, host: &str) -> bool {
        !self.dns_names.is_empty() && self.covers(host)
    }

    /// As servers show it.
    pub fn certificate(&self, secret: Sourced<Str>) -> Certificate {
        let names = sorted_names(core::iter::once(self.common_name.clone()).chain(self.dns_names.iter().cloned()));
        let first = self.dns_names.first().cloned().unwrap_or_default();
        let shown_name = if self.common_name.is_empty() { first } else { self.common_name.clone() };
        Certificate { secret, names, shown_name }
    }
}

/// Whether a name, perhaps with a wildcard for its first label, is that of a host.
pub fn matches(pattern: &str, host: &str) -> bool {
    let (pattern, host) = (pattern.strip_suffix('.').unwrap_or(pattern), host.strip_suffix('.').unwrap_or(host));
    if pattern.is_empty() || host.is_empty() || pattern.split('.').count() != host.split('.').count() {
        return false;
    }
    let mut labels = pattern.split('.').zip(host.split('.')).enumerate();
    labels.all(|(at, (pattern, label))| at == 0 && pattern == "*" || pattern == label)
}

fn blocks(text: &[u8]) -> Vec<pem::Block> {
    let mut rest = text;
    core::iter::from_fn(|| pem::next(&mut rest).ok().flatten()).collect()
}

fn leaf(chain: &[u8], key: &[u8]) -> Option<Leaf> {
    let first = blocks(chain).into_iter().next().filter(|block| block.kind == "CERTIFICATE")?;
    let certificate = der::certificate(&first.bytes)?;
    let is_key = |block: &pem::Block| matches!(block.kind.as_str(), "PRIVATE KEY" | "RSA PRIVATE KEY" | "EC PRIVATE KEY");
    let key = blocks(key).into_iter().find(is_key).filter(|block| der::is_sequence(&block.bytes))?;
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

/// Whether a CA can be read: `None` if not.
fn has_certificates(ca: &[u8]) -> Option<bool> {
    let blocks = blocks(ca);
    let all = blocks.iter().all(|block| der::certificate(&block.bytes).is_some());
    (all && !blocks.is_empty()).then_some(true)
}

fn is_crl(crl: &[u8]) -> bool {
    blocks(crl).first().is_some_and(|block| block.kind == "X509 CRL" && der::is_sequence(&block.bytes))
}
