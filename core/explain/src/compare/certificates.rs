//! Compares certificates and keys that both sides read from the same Secret with different content. Envoy's configuration only contains their
//! names.
//!
//! Keys are compared but never shown.

use super::{Change, ChangeKind, FieldChange, SideSource};
use crate::{OriginView, describe_certificate};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::ir::{Holder, SecretPart, SecretReference};
use chancery_base::resource::{Origin, REDACTED};

/// Returns one change for each Secret or ConfigMap.
pub(in crate::compare) fn compare(before: &SideSource<'_>, after: &SideSource<'_>) -> Vec<Change> {
    let [old, new] = [before, after].map(|side| side.gateway.ir.secret_references());
    let mut changes: BTreeMap<(Holder, String), Change> = BTreeMap::new();
    for (reference, asked_before) in &old {
        let Some(asked_after) = new.get(reference) else { continue };
        let [was, is] = [before, after].map(|side| side.gateway.of().key_material(reference));
        if was == is {
            continue;
        }
        let views = |side: &SideSource<'_>, origins: &[Origin]| -> Vec<OriginView> {
            origins.iter().map(|origin| OriginView::of(*origin, side.gateway.of(), side.positions)).filter(|view| view.resource.is_some()).collect()
        };
        // Consul's names have no namespace: `inline-certificate:shop`.
        let name = match reference.namespace.as_str() {
            "" => reference.name.replace(':', " "),
            namespace => format!("{namespace}/{}", reference.name),
        };
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
        let path = match (reference.namespace.is_empty(), &reference.part) {
            (false, part) => part.key(),
            (true, SecretPart::PrivateKey) => "private_key",
            (true, _) => "certificate",
        };
        let path = path.to_string();
        change.fields.push(FieldChange { path, before: was, after: is, before_from: None, after_from: None });
    }
    changes.into_values().collect()
}

/// Describes a content without secrets: for certificates, their names and expiry.
fn words(reference: &SecretReference, content: &[u8]) -> String {
    let of_certificates = if reference.part == SecretPart::PrivateKey { None } else { describe_certificate(content) };
    of_certificates.unwrap_or_else(|| REDACTED.into())
}
