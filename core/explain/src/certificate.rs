//! Describes certificates in a short phrase. Does not check them; see `check::certificate`.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::diagnostic::time;
use chancery_kubernetes::{der, pem};
use sha1::{Digest as _, Sha1};

/// This many bytes of a fingerprint are enough to distinguish two certificates.
const FINGERPRINT: usize = 4;

/// Describes the first certificate of a PEM: its names, its expiry, the start of its fingerprint, and how many certificates follow. Returns `None`
/// if the PEM contains no certificate.
#[must_use]
pub fn describe_certificate(text: &[u8]) -> Option<String> {
    let mut rest = text;
    let mut all = Vec::new();
    while let Ok(Some(block)) = pem::next(&mut rest) {
        if block.kind.ends_with("CERTIFICATE") {
            all.extend(der::certificate(&block.bytes).map(|certificate| (certificate, Sha1::digest(&block.bytes))));
        }
    }
    let (first, fingerprint) = all.first()?;
    let names = first.dns_names.iter().chain(&first.common_name).find(|name| !name.is_empty());
    let for_whom = names.map(|name| format!(" for {name}")).unwrap_or_default();
    let until = first.not_after.map(|end| format!(", until {}", time::date(end))).unwrap_or_default();
    let fingerprint: Vec<String> = fingerprint.iter().take(FINGERPRINT).map(|byte| format!("{byte:02X}")).collect();
    let more = if all.len() > 1 { format!(", and {} more", all.len() - 1) } else { String::new() };
    Some(format!("certificate{for_whom}{until}, SHA-1 {}...{more}", fingerprint.join(":")))
}
