//! Certificates by the names of their placeholders: those that Consul issues at runtime to services and as its CA, and those of
//! `inline-certificate` entries.
//!
//! A live source provides the former as documents of the kinds `consul-leaf` and `consul-roots`.

use super::documents::{self, What};
use super::entry::Kind;
use super::names::{self, PEER_TRUST_DOMAIN, TRUST_DOMAIN};
use super::state::State;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::compilation::Issued;
use chancery_base::ir::{SecretPart, SecretReference};
use chancery_base::resource::{ObjectId, Objects};
use chancery_text::Str;

/// The name of this cluster's CA, and the prefix for that of a peer.
const OWN_ROOTS: &str = "roots";

/// The documents with certificates, by the names in references.
pub(super) fn documents(objects: &Objects) -> BTreeMap<Str, ObjectId> {
    let mut found = BTreeMap::new();
    for object in objects.iter().filter(|object| !object.broken) {
        let name = match documents::what(&object.root).0 {
            What::Roots if object.key.name == OWN_ROOTS => Str::new_static(OWN_ROOTS),
            What::Leaf => Str::from(format!("leaf:{}", object.key.name)),
            _ => continue,
        };
        found.entry(name).or_insert(object.id);
    }
    found
}

/// The name of an `inline-certificate` in references.
pub(super) fn of_entry(name: &str) -> String {
    format!("{INLINE_CERTIFICATE}{name}")
}

/// The prefix of that name.
const INLINE_CERTIFICATE: &str = "inline-certificate:";

/// Returns the content of a reference that an entry or a live source provides.
pub(super) fn held(objects: &Objects, state: &State, reference: &SecretReference) -> Option<Vec<u8>> {
    if let Some(name) = reference.name.strip_prefix(INLINE_CERTIFICATE) {
        let entry = state.entries.get(&(Kind::InlineCertificate, Str::new(name)))?;
        let held = match reference.part {
            SecretPart::PrivateKey => entry.key.as_ref()?.expose(),
            _ => entry.tree.find("Certificate")?.text(),
        };
        return Some(held.as_bytes().to_vec());
    }
    let found = state.certificates.get(&reference.name).and_then(|id| objects.get(*id))?;
    if reference.name == OWN_ROOTS {
        return Some(found.root.get("Certificates")?.as_str()?.as_bytes().to_vec());
    }
    match reference.part {
        SecretPart::PrivateKey => found.secrets.first().map(|(_, key)| key.expose().as_bytes().to_vec()),
        _ => Some(found.root.get("CertPEM")?.as_str()?.as_bytes().to_vec()),
    }
}

/// Returns what Consul would issue for a reference.
pub(super) fn issued(state: &State, reference: &SecretReference) -> Option<Issued> {
    let domain = state.agent.as_ref().map_or_else(|| Str::new_static(TRUST_DOMAIN), |agent| agent.named(TRUST_DOMAIN));
    let name = reference.name.as_str();
    if let Some(service) = name.strip_prefix("leaf:") {
        let identity = match service {
            "gateway-mesh" => names::spiffe_gateway(&state.datacenter, &domain),
            _ => names::spiffe_service(service, &state.datacenter, &domain),
        };
        return Some(Issued { authority: domain, identity: Some(identity.into()) });
    }
    if name == OWN_ROOTS {
        return Some(Issued { authority: domain, identity: None });
    }
    name.starts_with("roots:").then(|| Issued { authority: Str::new_static(PEER_TRUST_DOMAIN), identity: None })
}
