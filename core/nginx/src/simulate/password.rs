//! Checks passwords against a user file, as nginx does.
//!
//! nginx `src/http/modules/ngx_http_auth_basic_module.c`, `src/core/ngx_crypt.c`.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_text::base64;
use md5::{Digest as _, Md5};
use sha1::Sha1;

/// The result of checking a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    Right,
    /// The user or the password is wrong.
    Wrong,
    /// The simulation does not support the stored form.
    Unknown,
}

/// Checks the credentials of an `Authorization` header.
pub fn check(file: &str, header: Option<&str>) -> Check {
    let Some(packed) = header.and_then(|header| header.get(..6).filter(|scheme| scheme.eq_ignore_ascii_case("basic ")).and(header.get(6..))) else {
        return Check::Wrong;
    };
    let Some(bytes) = base64::decode(packed.trim()) else { return Check::Wrong };
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let Some((user, password)) = text.split_once(':') else { return Check::Wrong };
    for line in file.lines() {
        let line = line.trim_end();
        let Some((name, rest)) = line.split_once(':').filter(|(name, _)| !name.starts_with('#')) else { continue };
        if name == user {
            return compare(rest.split(':').next().unwrap_or_default(), password);
        }
    }
    Check::Wrong
}

fn compare(stored: &str, password: &str) -> Check {
    let is = |same: bool| if same { Check::Right } else { Check::Wrong };
    if let Some(rest) = stored.strip_prefix("$apr1$") {
        let salt = rest.split('$').next().unwrap_or_default();
        return is(apr1(password.as_bytes(), salt.get(..salt.len().min(8)).unwrap_or_default()) == stored);
    }
    if let Some(plain) = stored.strip_prefix("{PLAIN}") {
        return is(plain == password);
    }
    if let Some(hash) = stored.strip_prefix("{SHA}") {
        return is(base64::encode(&Sha1::digest(password.as_bytes())) == hash);
    }
    if let Some(packed) = stored.strip_prefix("{SSHA}") {
        let Some((hash, salt)) = base64::decode(packed).and_then(|bytes| Some((bytes.get(..20)?.to_vec(), bytes.get(20..)?.to_vec()))) else {
            return Check::Wrong;
        };
        return is(Sha1::new().chain_update(password.as_bytes()).chain_update(&salt).finalize().as_slice() == hash.as_slice());
    }
    // DES, bcrypt, SHA-256 and SHA-512 depend on the system. A string that is too short for all of them matches no password.
    if stored.starts_with('$') || stored.len() >= 13 { Check::Unknown } else { Check::Wrong }
}

/// Computes Apache's variant of MD5, with a thousand rounds.
fn apr1(password: &[u8], salt: &str) -> String {
    let mut inner = Md5::new();
    inner.update(password);
    inner.update(salt.as_bytes());
    inner.update(password);
    let last: [u8; 16] = inner.finalize().into();
    let mut outer = Md5::new();
    outer.update(password);
    outer.update(b"$apr1$");
    outer.update(salt.as_bytes());
    let mut left = password.len();
    while left > 0 {
        outer.update(last.get(..left.min(16)).unwrap_or_default());
        left = left.saturating_sub(16);
    }
    let mut bits = password.len();
    while bits > 0 {
        match bits & 1 {
            1 => outer.update([0]),
            _ => outer.update(password.get(..1).unwrap_or_default()),
        }
        bits >>= 1;
    }
    let mut last: [u8; 16] = outer.finalize().into();
    for round in 0..1000 {
        let mut next = Md5::new();
        if round & 1 == 1 {
            next.update(password)
        } else {
            next.update(last)
        }
        if round % 3 != 0 {
            next.update(salt.as_bytes());
        }
        if round % 7 != 0 {
            next.update(password);
        }
        if round & 1 == 1 {
            next.update(last)
        } else {
            next.update(password)
        }
        last = next.finalize().into();
    }
    const DIGITS: &[u8] = b"./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut out: Vec<u8> = Vec::new();
    let mut put = |mut value: u32, count: usize| {
        for _ in 0..count {
            out.extend(DIGITS.get((value & 0x3f) as usize));
            value >>= 6;
        }
    };
    let byte = |at: usize| u32::from(last.get(at).copied().unwrap_or_default());
    for (a, b, c) in [(0, 6, 12), (1, 7, 13), (2, 8, 14), (3, 9, 15), (4, 10, 5)] {
        put(byte(a) << 16 | byte(b) << 8 | byte(c), 4);
    }
    put(byte(11), 2);
    format!("$apr1${salt}${}", String::from_utf8_lossy(&out))
}
