//! Writes the certificates of Secrets as ARM expects them: PKCS#12 in base64, with the password that the controller
//! gives to each. Does not send them; see `client`.
//!
//! Key material appears in no string except the sent document.

use chancery_core::compilation::SideRef;
use chancery_core::ir::{Holder, SecretPart, SecretReference};
use chancery_core::text::base64;
use p12_keystore::{Certificate, EncryptionAlgorithm, KeyStore, KeyStoreEntry, MacAlgorithm, PrivateKey, PrivateKeyChain};
use serde_json::Value;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// The beginning of the data of a certificate that comes from a Secret.
const SECRET: &str = "secret:";

/// Returns the certificates in a gateway's document that come from Secrets, each with its namespace and name.
pub fn of_secrets(document: &mut Value) -> impl Iterator<Item = (&mut Value, String, String)> {
    let all = document["properties"]["sslCertificates"].as_array_mut().map(Vec::as_mut_slice).unwrap_or_default();
    all.iter_mut().filter_map(|certificate| {
        let (namespace, name) = certificate["properties"]["data"].as_str()?.strip_prefix(SECRET)?.split_once('/')?;
        let (namespace, name) = (namespace.to_owned(), name.to_owned());
        Some((certificate, namespace, name))
    })
}

/// Returns the certificates of a Secret in their order.
#[must_use]
pub fn chain(side: SideRef<'_>, namespace: &str, name: &str) -> Vec<CertificateDer<'static>> {
    let pem = material(side, namespace, name, SecretPart::Certificate).unwrap_or_default();
    CertificateDer::pem_slice_iter(&pem).filter_map(Result::ok).collect()
}

fn material(side: SideRef<'_>, namespace: &str, name: &str, part: SecretPart) -> Option<Vec<u8>> {
    side.key_material(&SecretReference { holder: Holder::Secret, namespace: namespace.into(), name: name.into(), part })
}

/// Puts the certificates of Secrets into a document.
///
/// # Errors
///
/// A certificate cannot be made. The message names it, and contains no part of it.
pub fn fill(document: &mut Value, side: SideRef<'_>) -> Result<(), String> {
    for (certificate, namespace, name) in of_secrets(document) {
        let password = certificate["properties"]["password"].as_str().unwrap_or_default().to_owned();
        let made = made(side, &namespace, &name, &password);
        let made = made.ok_or_else(|| format!("the Secret {namespace}/{name} cannot be made a certificate of the gateway"))?;
        certificate["properties"]["data"] = base64::encode(&made).into();
    }
    Ok(())
}

fn made(side: SideRef<'_>, namespace: &str, name: &str, password: &str) -> Option<Vec<u8>> {
    let key = material(side, namespace, name, SecretPart::PrivateKey)?;
    let key = in_pkcs8(&PrivateKeyDer::from_pem_slice(&key).ok()?)?;
    let chain: Vec<Certificate> = chain(side, namespace, name).iter().filter_map(|der| Certificate::from_der(der).ok()).collect();
    pack(PrivateKeyChain::new(vec![1_u8], PrivateKey::from_der(&key).ok()?, chain), password)
}

fn pack(chain: PrivateKeyChain, password: &str) -> Option<Vec<u8>> {
    let mut store = KeyStore::new();
    store.add_entry("certificate", KeyStoreEntry::PrivateKeyChain(chain));
    let writer = store.writer(password).encryption_algorithm(EncryptionAlgorithm::PbeWithHmacSha256AndAes256).encryption_iterations(2048);
    writer.mac_algorithm(MacAlgorithm::HmacSha256).mac_iterations(2048).write().ok()
}

/// `rsaEncryption` without parameters, as an algorithm of PKCS#8.
const RSA: &[u8] = &[0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00];
/// `id-ecPublicKey`.
const EC: &[u8] = &[0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];

/// Returns a key as PKCS#8, the only form that PKCS#12 holds.
fn in_pkcs8(key: &PrivateKeyDer<'_>) -> Option<Vec<u8>> {
    let algorithm = match key {
        PrivateKeyDer::Pkcs8(key) => return Some(key.secret_pkcs8_der().to_vec()),
        PrivateKeyDer::Pkcs1(_) => RSA.to_vec(),
        PrivateKeyDer::Sec1(key) => element(0x30, &[EC, curve(key.secret_sec1_der())?].concat()),
        _ => return None,
    };
    Some(element(0x30, &[&[0x02, 0x01, 0x00][..], &algorithm, &element(0x04, key.secret_der())].concat()))
}

/// Returns the name of the curve in a SEC 1 key: version, key, `[0]` with the name.
fn curve(key: &[u8]) -> Option<&[u8]> {
    let (_, fields, _) = first(key)?;
    let (_, _, rest) = first(fields)?;
    let (_, _, rest) = first(rest)?;
    let (tag, name, _) = first(rest)?;
    (tag == 0xa0).then_some(name)
}

/// Splits DER after its first element. Returns the element's tag, its content, and the rest.
fn first(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = der.split_first()?;
    let (&length, rest) = rest.split_first()?;
    let (length, rest) = match length {
        0..=0x7f => (usize::from(length), rest),
        0x81..=0x83 => {
            let (digits, rest) = rest.split_at_checked(usize::from(length & 0x7f))?;
            (digits.iter().fold(0, |sum, digit| sum << 8 | usize::from(*digit)), rest)
        }
        _ => return None,
    };
    let (inner, after) = rest.split_at_checked(length)?;
    Some((tag, inner, after))
}

/// Returns an element of DER.
fn element(tag: u8, inner: &[u8]) -> Vec<u8> {
    let length = inner.len();
    let bytes = length.to_be_bytes();
    let digits: Vec<u8> = bytes.into_iter().skip_while(|digit| *digit == 0).collect();
    let mut out = vec![tag];
    match length {
        0..=0x7f => out.push(length as u8),
        _ => {
            out.push(0x80 | digits.len() as u8);
            out.extend(digits);
        }
    }
    out.extend(inner);
    out
}
