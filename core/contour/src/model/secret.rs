//! Certificates, keys and lists as Secrets and ConfigMaps hold them.
//!
//! What must not be here: whether they are valid.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use chancery_base::resource::{Origin, Secret};
use chancery_text::Str;

/// What holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MaterialKind {
    /// A Secret.
    Secret,
    /// A ConfigMap with `ca.crt`.
    ConfigMap,
}

/// A Secret's or ConfigMap's data, decoded.
#[derive(Clone, Debug)]
pub struct Material {
    /// What holds it.
    pub kind: MaterialKind,
    /// Namespace.
    pub namespace: Str,
    /// Name.
    pub name: Str,
    /// `kubernetes.io/tls`, `Opaque`...; empty for a ConfigMap.
    pub secret_type: Str,
    /// Values by key.
    pub data: BTreeMap<Str, Secret<Vec<u8>>>,
    /// The object.
    pub origin: Origin,
    /// It is assumed to exist, and counts as valid.
    pub assumed: bool,
}

impl Material {
    /// The value of a key; empty where there is none.
    pub fn get(&self, key: &str) -> &[u8] {
        self.data.get(key).map_or(&[], |value| value.expose())
    }
}
