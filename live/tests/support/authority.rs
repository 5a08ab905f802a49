//! Authorities, and the certificates that they sign.
//!
//! What must not be here: servers.

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose};
use std::fs;
use std::path::Path;

/// Signs certificates.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    /// Its own certificate.
    pub pem: String,
}

impl Authority {
    /// A new one.
    pub fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).expect("no names");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        params.distinguished_name.push(DnType::CommonName, "authority");
        let key = KeyPair::generate().expect("a key");
        let pem = params.self_signed(&key).expect("a certificate").pem();
        Self { issuer: Issuer::new(params, key), pem }
    }

    /// A certificate for a name of this machine, and its key.
    pub fn sign(&self, name: &str) -> (String, String) {
        self.sign_until(name, 2200)
    }

    /// The same, until a year.
    pub fn sign_until(&self, name: &str, year: i32) -> (String, String) {
        let mut params = CertificateParams::new(vec![name.to_owned(), "127.0.0.1".into()]).expect("names");
        params.not_after = rcgen::date_time_ymd(year, 1, 1);
        let key = KeyPair::generate().expect("a key");
        (params.signed_by(&key, &self.issuer).expect("a certificate").pem(), key.serialize_pem())
    }
}

/// Writes the files of a server, `server.crt` and `server.key`, and those of whom its clients are signed by, `clients.crt`.
pub fn write(folder: &Path, server: &Authority, clients: &Authority) {
    let (certificate, key) = server.sign("localhost");
    // As secrets are mounted: the new files are there at once.
    for (name, text) in [("server.crt", certificate), ("server.key", key), ("clients.crt", clients.pem.clone())] {
        fs::write(folder.join(format!(".{name}")), text).expect("a file");
        fs::rename(folder.join(format!(".{name}")), folder.join(name)).expect("a rename");
    }
}
