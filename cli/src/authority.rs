//! A temporary CA: issues certificates instead of the cluster's CA, which issues them at run time.
//!
//! Creates a new CA for each call and stores nothing: only the output trusts it. Does not choose the certificates; see `compile`.

use chancery_core::compilation::{Issued, SideRef};
use chancery_core::ir::{SecretPart, SecretReference};
use rcgen::{BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose, SanType};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

/// The CAs, one for each trust domain, and their certificates.
#[derive(Default)]
pub struct TemporaryCas {
    made: Mutex<Made>,
}

#[derive(Default)]
struct Made {
    authorities: BTreeMap<String, Authority>,
    /// Chain and key, by identity.
    leaves: BTreeMap<String, (String, String)>,
}

struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate: String,
}

impl TemporaryCas {
    /// Returns the replacement for a reference, or `None` if the cluster issues nothing for it.
    pub fn material(&self, side: SideRef<'_>, reference: &SecretReference) -> Option<Vec<u8>> {
        let issued = side.issued(reference)?;
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        made.material(&issued, &reference.part).map(String::into_bytes)
    }

    /// Returns the notice to show, if it has issued certificates.
    pub fn notice(&self) -> Option<String> {
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let domains: BTreeSet<&str> = made.authorities.keys().map(String::as_str).collect();
        let domains = domains.into_iter().collect::<Vec<_>>().join(", ");
        let text = format!(
            "a temporary CA issued the certificates in the output, instead of the cluster's CA for {domains}: only proxies of the same output trust each other"
        );
        (!made.authorities.is_empty()).then_some(text)
    }
}

impl Made {
    fn material(&mut self, issued: &Issued, part: &SecretPart) -> Option<String> {
        let domain = issued.authority.to_string();
        if !self.authorities.contains_key(&domain) {
            self.authorities.insert(domain.clone(), Authority::new(&domain)?);
        }
        let authority = self.authorities.get(&domain)?;
        let Some(identity) = &issued.identity else { return Some(authority.certificate.clone()) };
        let key = identity.to_string();
        if !self.leaves.contains_key(&key) {
            self.leaves.insert(key.clone(), authority.issue(&key)?);
        }
        let (chain, private) = self.leaves.get(&key)?;
        Some(if *part == SecretPart::PrivateKey { private.clone() } else { chain.clone() })
    }
}

impl Authority {
    fn new(domain: &str) -> Option<Self> {
        let key = KeyPair::generate().ok()?;
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign, KeyUsagePurpose::DigitalSignature];
        params.distinguished_name.push(DnType::CommonName, "Throw-away authority of chancery");
        params.subject_alt_names = vec![SanType::URI(format!("spiffe://{domain}").try_into().ok()?)];
        let certificate = params.self_signed(&key).ok()?.pem();
        Some(Self { issuer: Issuer::new(params, key), certificate })
    }

    fn issue(&self, identity: &str) -> Option<(String, String)> {
        let key = KeyPair::generate().ok()?;
        let mut params = CertificateParams::default();
        params.subject_alt_names = vec![SanType::URI(identity.to_owned().try_into().ok()?)];
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyEncipherment];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        let certificate = params.signed_by(&key, &self.issuer).ok()?;
        Some((certificate.pem(), key.serialize_pem()))
    }
}
