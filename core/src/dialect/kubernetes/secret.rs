//! Secrets: what the API server checks and fills in, and whether what is in them looks like PEM.
//!
//! Source of behaviour: `k8s.io/kubernetes/pkg/apis/core/validation` (ValidateSecret) and Go's `encoding/pem`.

use super::refused;
use crate::diagnostic::{Findings, Reported, codes};
use crate::resource::{Object, Secret};
use crate::text::{Node, NodeId, Str};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// A Secret's `type`, `Opaque` where there is none.
pub fn secret_type(object: &Object) -> Str {
    let written = object.root.get("type").and_then(Node::as_str).filter(|written| !written.is_empty());
    written.map_or(Str::new_static("Opaque"), Str::new)
}

/// A Secret's values as base64, `stringData` put over `data`, with the nodes where they are written.
pub fn data(object: &Object) -> BTreeMap<Str, (NodeId, Secret<Str>)> {
    let mut data = BTreeMap::new();
    for (field, is_text) in [("data", false), ("stringData", true)] {
        for entry in object.root.get(field).and_then(Node::as_object).into_iter().flatten() {
            let Some(value) = object.secret(entry.value.id) else { continue };
            let value = if is_text { value.map(|text| Str::from(encode(text.as_bytes()))) } else { value.clone() };
            data.insert(entry.key.clone(), (entry.value.id, value));
        }
    }
    data
}

/// Checks a Secret beyond its metadata, as the API server does.
pub fn check(object: &Object, sink: &mut Findings) -> Result<(), Reported> {
    let before = sink.len();
    let root = &*object.root;
    for entry in root.get("data").and_then(Node::as_object).into_iter().flatten() {
        let node = entry.value.id;
        match object.secret(node) {
            Some(value) if decode(value.expose()).is_none() => {
                let message = format!("the value of `{}` is not base64", entry.key);
                let help = "write plain text under `stringData`, or encode it with `base64 -w0`";
                sink.report(refused(&codes::INVALID_SECRET, object, node, message).help(help));
            }
            Some(_) => {}
            None if entry.value.is_null() => {}
            None => {
                let message = format!("the value of `{}` must be a string, but this is a YAML {}", entry.key, entry.value.kind_name());
                sink.report(refused(&codes::INVALID_SECRET, object, node, message));
            }
        }
    }
    for entry in root.get("stringData").and_then(Node::as_object).into_iter().flatten() {
        if entry.value.as_str().is_none() && !entry.value.is_null() {
            let message = format!("the value of `{}` must be a string, but this is a YAML {}", entry.key, entry.value.kind_name());
            sink.report(refused(&codes::INVALID_SECRET, object, entry.value.id, message));
        }
    }
    let required: &[&str] = match &*secret_type(object) {
        "kubernetes.io/tls" => &["tls.crt", "tls.key"],
        "kubernetes.io/ssh-auth" => &["ssh-privatekey"],
        "kubernetes.io/dockerconfigjson" => &[".dockerconfigjson"],
        "kubernetes.io/dockercfg" => &[".dockercfg"],
        _ => &[],
    };
    for key in required {
        if !["data", "stringData"].iter().any(|field| root.at(&[field, key]).is_some()) {
            let message = format!("a Secret of type {} needs the key `{key}`", secret_type(object));
            let node = root.get("data").or_else(|| root.get("type")).map_or(root.id, |node| node.id);
            sink.report(refused(&codes::INVALID_SECRET, object, node, message));
        }
    }
    sink.since(before)
}

/// What a PEM text holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pem {
    /// A block whose content has the form of DER.
    Der,
    /// A block, but what is in it has no such form.
    NotDer,
    /// No block.
    Absent,
}

/// What the base64 of a PEM text holds. Certificates and keys are not read further than the form of their DER.
pub fn pem(base64: &Secret<Str>) -> Pem {
    let Some(bytes) = decode(base64.expose()) else { return Pem::Absent };
    let text = String::from_utf8_lossy(&bytes);
    let Some((kind, body)) = pem_block(&text) else { return Pem::Absent };
    let body: String = body.lines().filter(|line| !line.contains(':')).flat_map(|line| line.trim().chars()).collect();
    match (kind.is_empty(), decode(&body)) {
        (false, Some(der)) => {
            if is_der_sequence(&der) {
                Pem::Der
            } else {
                Pem::NotDer
            }
        }
        _ => Pem::Absent,
    }
}

/// The type and body of the first block.
fn pem_block(text: &str) -> Option<(&str, &str)> {
    let begin = text.find("-----BEGIN ")?;
    let (kind, rest) = text[begin + 11..].split_once("-----")?;
    let end = rest.find("-----END ")?;
    rest[end + 9..].starts_with(kind).then_some((kind, &rest[..end]))
}

fn is_der_sequence(der: &[u8]) -> bool {
    let [0x30, length, rest @ ..] = der else { return false };
    let (length, header) = match *length {
        short @ 0..=0x7f => (usize::from(short), 0),
        long @ 0x81..=0x84 => {
            let count = usize::from(long & 0x7f);
            let Some(bytes) = rest.get(..count) else { return false };
            (bytes.iter().fold(0, |length, byte| (length << 8) | usize::from(*byte)), count)
        }
        _ => return false,
    };
    rest.len() == header + length
}

/// Whether a block holds what it says: anything may call itself a certificate.
fn has_der(block: &str) -> bool {
    let body = pem_block(block).map(|(_, body)| body.lines().flat_map(|line| line.trim().chars()).collect::<String>());
    body.and_then(|body| decode(&body)).is_some_and(|der| is_der_sequence(&der))
}

/// Standard base64 with padding; line breaks are skipped, as Go skips them.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count, mut padding) = (0_u32, 0_u32, 0_u32);
    for byte in text.bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            b'\r' | b'\n' => continue,
            b'=' => {
                padding += 1;
                continue;
            }
            _ => return None,
        };
        if padding > 0 {
            return None;
        }
        bits = (bits << 6) | u32::from(value);
        count += 1;
        if count % 4 == 0 {
            out.extend([(bits >> 16) as u8, (bits >> 8) as u8, bits as u8]);
            bits = 0;
        }
    }
    match (count % 4, padding) {
        (0, 0) => {}
        (2, 2) => out.push((bits >> 4) as u8),
        (3, 1) => out.extend([(bits >> 10) as u8, (bits >> 2) as u8]),
        _ => return None,
    }
    Some(out)
}

/// The certificates and lists of revoked ones in a PEM text, where there are any: they are public. What else stands there is left out.
pub fn public_pem(bytes: &[u8]) -> Option<String> {
    let text = core::str::from_utf8(bytes).ok()?;
    let mut blocks = Vec::new();
    let mut only = true;
    let mut rest = text;
    while let Some(begin) = rest.find("-----BEGIN ") {
        only &= rest.get(..begin)?.trim().is_empty();
        let block = rest.get(begin..)?;
        let (kind, _) = block.get(11..)?.split_once("-----")?;
        let mark = format!("-----END {kind}-----");
        let end = block.find(&mark)? + mark.len();
        let block = block.get(..end)?;
        match kind {
            "CERTIFICATE" | "TRUSTED CERTIFICATE" | "X509 CERTIFICATE" | "X509 CRL" if has_der(block) => blocks.push(block),
            _ => only = false,
        }
        rest = rest.get(begin + end..)?;
    }
    only &= rest.trim().is_empty();
    match blocks.is_empty() {
        true => None,
        false if only => Some(text.into()),
        false => Some(blocks.into_iter().map(|block| format!("{block}\n")).collect()),
    }
}

/// Standard base64 with padding.
pub fn encode(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let at = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let bits = (at(0) << 16) | (at(1) << 8) | at(2);
        for place in 0..4 {
            let shown = place <= chunk.len();
            out.push(if shown { char::from(ALPHABET[(bits >> (18 - 6 * place)) as usize & 63]) } else { '=' });
        }
    }
    out
}
