//! Creates CAs, and the certificates that they sign.
//!
//! Does not start servers; see `tls`.

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose};
use std::fs;
use std::path::Path;

/// A CA.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    /// The CA's own certificate.
    pub pem: String,
}

impl Authority {
    /// Creates a CA.
    pub fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).expect("no names");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        params.distinguished_name.push(DnType::CommonName, "authority");
        let key = KeyPair::generate().expect("a key");
        let pem = params.self_signed(&key).expect("a certificate").pem();
        Self { issuer: Issuer::new(params, key), pem }
    }

    /// Signs a certificate for a name of this machine. Returns it with its key.
    pub fn sign(&self, name: &str) -> (String, String) {
        self.sign_until(name, 2200)
    }

    /// Signs a certificate that expires in a year.
    pub fn sign_until(&self, name: &str, year: i32) -> (String, String) {
        let mut params = CertificateParams::new(vec![name.to_owned(), "127.0.0.1".into()]).expect("names");
        params.not_after = rcgen::date_time_ymd(year, 1, 1);
        let key = KeyPair::generate().expect("a key");
        (params.signed_by(&key, &self.issuer).expect("a certificate").pem(), key.serialize_pem())
    }
}

/// Writes the files of a server: `server.crt`, `server.key`, and the CA of its clients, `clients.crt`.
pub fn write(folder: &Path, server: &Authority, clients: &Authority) {
    let (certificate, key) = server.sign("localhost");
    // Mounted secrets exchange all files at once.
    for (name, text) in [("server.crt", certificate), ("server.key", key), ("clients.crt", clients.pem.clone())] {
        fs::write(folder.join(format!(".{name}")), text).expect("a file");
        fs::rename(folder.join(format!(".{name}")), folder.join(name)).expect("a rename");
    }
}
