//! Certificates that Consul makes while it runs: those of services, and those of its authority.
//!
//! A live source gives them as documents of the kinds `consul-leaf` and `consul-roots`. What must not be here: where Envoy gets them.

use super::documents::{self, What};
use super::names::{self, PEER_TRUST_DOMAIN, TRUST_DOMAIN};
use super::state::State;
use crate::compilation::Issued;
use crate::ir::{SecretPart, SecretReference};
use crate::resource::{Object, Objects};
use crate::text::Str;
use alloc::vec::Vec;

/// The kind of a document with the certificate of a service.
pub(crate) const LEAF: &str = "consul-leaf";
/// The kind of the document with the certificates of the authority.
pub(crate) const ROOTS: &str = "consul-roots";
/// The name of the roots of this cluster, and what stands before that of a peer.
const OWN_ROOTS: &str = "roots";

/// What a live source gave for a reference.
pub(super) fn held(objects: &Objects, reference: &SecretReference) -> Option<Vec<u8>> {
    let find = |wanted: What, name: &str| {
        let is_it = |object: &&Object| object.key.name == name && documents::what(&object.root).0 == wanted;
        objects.iter().filter(|object| !object.broken).find(is_it)
    };
    if reference.name == OWN_ROOTS {
        let found = find(What::Roots, OWN_ROOTS)?;
        return Some(found.root.get("Certificates")?.as_str()?.as_bytes().to_vec());
    }
    let found = find(What::Leaf, reference.name.strip_prefix("leaf:")?)?;
    match reference.part {
        SecretPart::PrivateKey => found.secrets.first().map(|(_, key)| key.expose().as_bytes().to_vec()),
        _ => Some(found.root.get("CertPEM")?.as_str()?.as_bytes().to_vec()),
    }
}

/// What Consul would issue for a reference.
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
