//! Creates the certificates that a provisioned Contour and its Envoys show each other. Contour's provisioner does the
//! same (projectcontour/contour, `pkg/certs` and `internal/provisioner/objects/secret`): a CA for each Gateway, and a
//! key pair for each side.
//!
//! If either Secret is missing, both are created again. Otherwise they stay.

use crate::runtime::Id;
use base64ct::{Base64, Encoding as _};
use rcgen::{BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose};
use serde_json::{Value, json};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The placeholder in a compiled Secret for a value that is generated at writing.
const GENERATED: &str = "GENERATED";

const DAY: Duration = Duration::from_hours(24);

/// The validity of the certificates, in days.
const LIFETIME: u32 = 365;

/// Whether an object is a Secret whose values must be generated.
#[must_use]
pub fn is_generated(object: &Value) -> bool {
    object["kind"] == "Secret" && object["data"]["tls.key"] == GENERATED
}

/// The CA of a Gateway.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate: String,
}

impl Authority {
    /// Creates a CA.
    ///
    /// # Errors
    ///
    /// The system has no random numbers, or a clock before 1970.
    pub fn new() -> Result<Self, String> {
        let failed = |error: rcgen::Error| format!("no authority for the certificates of Contour and Envoy: {error}");
        let key = KeyPair::generate().map_err(failed)?;
        let mut params = valid()?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        params.distinguished_name.push(DnType::CommonName, "Project Contour");
        let certificate = params.self_signed(&key).map_err(failed)?.pem();
        Ok(Self { issuer: Issuer::new(params, key), certificate })
    }

    /// Fills a Secret with a certificate, its key, and the CA certificate. The certificate is for the service that the
    /// Secret is named after: `contourcert-web` for `contour-web`.
    ///
    /// # Errors
    ///
    /// A certificate cannot contain the name of the Secret.
    pub fn fill(&self, id: &Id, secret: &mut Value) -> Result<(), String> {
        let failed = |error: rcgen::Error| format!("no certificate for {id}: {error}");
        let service = id.name.replacen("cert-", "-", 1);
        let namespace = &id.namespace;
        let names = ["", &format!(".{namespace}"), &format!(".{namespace}.svc"), &format!(".{namespace}.svc.cluster.local")];
        let mut params = valid()?;
        for name in names {
            let name = format!("{service}{name}").try_into().map_err(failed)?;
            params.subject_alt_names.push(rcgen::SanType::DnsName(name));
        }
        params.distinguished_name.push(DnType::CommonName, &service);
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyEncipherment, KeyUsagePurpose::DataEncipherment];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth, ExtendedKeyUsagePurpose::ServerAuth];
        let key = KeyPair::generate().map_err(failed)?;
        let certificate = params.signed_by(&key, &self.issuer).map_err(failed)?;
        secret["data"] = json!({
            "ca.crt": Base64::encode_string(self.certificate.as_bytes()),
            "tls.crt": Base64::encode_string(certificate.pem().as_bytes()),
            "tls.key": Base64::encode_string(key.serialize_pem().as_bytes()),
        });
        Ok(())
    }
}

/// Returns parameters of a certificate that is valid from yesterday on.
fn valid() -> Result<CertificateParams, String> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_err(|_| "the clock is before 1970".to_string())?;
    let mut params = CertificateParams::default();
    let today = rcgen::date_time_ymd(1970, 1, 1) + now;
    params.not_before = today - DAY;
    params.not_after = today + DAY * LIFETIME;
    Ok(params)
}
