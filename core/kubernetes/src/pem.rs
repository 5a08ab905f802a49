//! Reads PEM blocks. Does not interpret their content.
//!
//! Source of behaviour: Go's `encoding/pem`, as Contour and the Kubernetes controllers use it.

use super::der;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use chancery_base::resource::Secret;
use chancery_text::{Str, base64};
use core::fmt;

pub struct Block {
    /// The block's label, such as `CERTIFICATE`.
    pub kind: String,
    /// The content.
    pub bytes: Vec<u8>,
}

/// A block starts but is malformed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PemError;

impl fmt::Display for PemError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("failed to parse PEM block")
    }
}

/// The next block and the rest of the text; `None` if no block starts, an error if one is malformed.
pub fn next(rest: &mut &[u8]) -> Result<Option<Block>, PemError> {
    let Some(found) = Written::find(rest)? else { return Ok(None) };
    let bytes = found.bytes().ok_or(PemError)?;
    *rest = found.rest;
    Ok(Some(Block { kind: found.kind(), bytes }))
}

/// A block as written.
struct Written<'t> {
    before: &'t [u8],
    kind: &'t [u8],
    body: &'t [u8],
    /// The whole block.
    whole: &'t [u8],
    rest: &'t [u8],
}

impl<'t> Written<'t> {
    fn find(text: &'t [u8]) -> Result<Option<Self>, PemError> {
        let Some((before, after)) = split(text, b"-----BEGIN") else { return Ok(None) };
        let Some((title, content)) = split(after, b"-----") else { return Ok(None) };
        if title.contains(&b'\n') {
            return Ok(None);
        }
        let (body, tail) = split(content, b"-----END ").ok_or(PemError)?;
        let (closing, rest) = split(tail, b"-----").ok_or(PemError)?;
        let kind = title.trim_ascii();
        if closing != kind {
            return Err(PemError);
        }
        let (_, from) = text.split_at(before.len());
        let (whole, _) = from.split_at(from.len() - rest.len());
        Ok(Some(Self { before, kind, body, whole, rest }))
    }

    fn kind(&self) -> String {
        String::from_utf8_lossy(self.kind).to_string()
    }

    /// The content without headers.
    fn bytes(&self) -> Option<Vec<u8>> {
        let body = String::from_utf8_lossy(self.body);
        let packed: String = body.lines().filter(|line| !line.contains(':')).flat_map(|line| line.trim().chars()).collect();
        base64::decode(&packed)
    }
}

/// The text before and after the first occurrence.
fn split<'t>(text: &'t [u8], needle: &[u8]) -> Option<(&'t [u8], &'t [u8])> {
    let at = memchr::memmem::find(text, needle)?;
    let (before, from) = text.split_at(at);
    Some((before, from.get(needle.len()..)?))
}

/// The content of a PEM text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A block with DER.
    Der,
    /// A block without DER.
    NotDer,
    /// No block.
    Absent,
}

/// The content of a base64-encoded PEM text. Only the form of the DER is checked.
pub fn form(packed: &Secret<Str>) -> Form {
    let Some(bytes) = base64::decode(packed.expose()) else { return Form::Absent };
    match next(&mut bytes.as_slice()) {
        Ok(Some(block)) if block.kind.is_empty() => Form::Absent,
        Ok(Some(block)) if der::is_sequence(&block.bytes) => Form::Der,
        Ok(Some(_)) => Form::NotDer,
        Ok(None) | Err(PemError) => Form::Absent,
    }
}

/// The public parts of a PEM text: certificates and revocation lists.
pub fn public(bytes: &[u8]) -> Option<String> {
    let text = core::str::from_utf8(bytes).ok()?;
    let (mut blocks, mut only, mut rest) = (Vec::new(), true, bytes);
    while let Some(block) = Written::find(rest).ok()? {
        // Any block may call itself a certificate.
        let is_public = matches!(block.kind, b"CERTIFICATE" | b"TRUSTED CERTIFICATE" | b"X509 CERTIFICATE" | b"X509 CRL")
            && block.bytes().is_some_and(|bytes| der::is_sequence(&bytes));
        only &= is_public && block.before.trim_ascii().is_empty();
        if is_public {
            blocks.push(core::str::from_utf8(block.whole).ok()?);
        }
        rest = block.rest;
    }
    only &= rest.trim_ascii().is_empty();
    match blocks.is_empty() {
        true => None,
        false if only => Some(text.into()),
        false => Some(blocks.into_iter().map(|block| format!("{block}\n")).collect()),
    }
}
