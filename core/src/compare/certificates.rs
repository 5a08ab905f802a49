//! Certificates and keys that both sides give to Envoy from the same Secret, with another content. What Envoy gets names them alone.
//!
//! Keys are compared here and told nowhere. What must not be here: what else differs.

use super::{Change, ChangeKind, FieldChange, SideSource};
use crate::backend::envoy::v3;
use crate::diagnostic::time;
use crate::dialect::kubernetes::{der, pem};
use crate::explain::OriginView;
use crate::ir::{Holder, SecretPart, SecretReference};
use crate::order::Gather as _;
use crate::resource::{Origin, REDACTED};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use sha1::{Digest as _, Sha1};

/// A change for each Secret or ConfigMap.
pub(super) fn compare(before: &SideSource<'_>, after: &SideSource<'_>) -> Vec<Change> {
    let [old, new] = [before, after].map(|side| v3::references(side.gateway.ir));
    let mut changes: BTreeMap<(Holder, String), Change> = BTreeMap::new();
    for (reference, asked_before) in &old {
        let Some(asked_after) = new.get(reference) else { continue };
        let [was, is] = [before, after].map(|side| side.gateway.of().key_material(reference));
        if was == is {
            continue;
        }
        let views = |side: &SideSource<'_>, origins: &[Origin]| -> Vec<OriginView> {
            origins.iter().map(|origin| OriginView::of(*origin, side.gateway.of(), side.positions)).filter(|view| view.resource.is_some()).gathered()
        };
        let name = format!("{}/{}", reference.namespace, reference.name);
        let change = changes.entry((reference.holder, name.clone())).or_insert_with(|| Change {
            change: ChangeKind::Changed,
            kind: "secret".into(),
            name,
            was: None,
            note: None,
            fields: Vec::new(),
            before: views(before, asked_before),
            after: views(after, asked_after),
        });
        let [was, is] = [was, is].map(|content| content.map(|content| words(reference, &content)));
        let path = reference.part.key().to_string();
        change.fields.push(FieldChange { path, before: was, after: is, before_from: None, after_from: None });
    }
    changes.into_values().collect()
}

/// So many bytes of a fingerprint tell two certificates apart.
const FINGERPRINT: usize = 4;

/// What may be told of a content: of certificates, for whom and until when they are.
fn words(reference: &SecretReference, content: &[u8]) -> String {
    if reference.part == SecretPart::PrivateKey {
        return REDACTED.into();
    }
    let mut rest = content;
    let mut all = Vec::new();
    while let Ok(Some(block)) = pem::next(&mut rest) {
        if block.kind.ends_with("CERTIFICATE") {
            all.extend(der::certificate(&block.bytes).map(|certificate| (certificate, Sha1::digest(&block.bytes))));
        }
    }
    let Some((first, fingerprint)) = all.first() else { return REDACTED.into() };
    let fingerprint: Vec<String> = fingerprint.iter().take(FINGERPRINT).map(|byte| format!("{byte:02X}")).collect();
    let names: Vec<&str> =
        first.dns_names.iter().map(String::as_str).chain(first.common_name.as_deref()).filter(|name| !name.is_empty()).take(1).collect();
    let for_whom = names.first().map(|name| format!(" for {name}")).unwrap_or_default();
    let until = first.not_after.map(|end| format!(", until {}", time::date(end))).unwrap_or_default();
    let more = if all.len() > 1 { format!(", and {} more", all.len() - 1) } else { String::new() };
    format!("certificate{for_whom}{until}, SHA-1 {}...{more}", fingerprint.join(":"))
}
