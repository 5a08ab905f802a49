//! Models certificates, keys and revocation lists of Secrets and ConfigMaps. Does not validate them; see `material`.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use chancery_base::resource::{Origin, Secret};
use chancery_text::Str;

/// The kind of the object that holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MaterialKind {
    Secret,
    /// A ConfigMap with `ca.crt`.
    ConfigMap,
}

/// A Secret's or ConfigMap's data, decoded.
#[derive(Clone, Debug)]
pub struct Material {
    pub kind: MaterialKind,
    pub namespace: Str,
    pub name: Str,
    /// `kubernetes.io/tls`, `Opaque`...; empty for a ConfigMap.
    pub secret_type: Str,
    /// Values by key.
    pub data: BTreeMap<Str, Secret<Vec<u8>>>,
    /// The object.
    pub origin: Origin,
    /// It is assumed to exist and treated as valid.
    pub assumed: bool,
}

impl Material {
    /// The value of a key; empty if absent.
    pub fn get(&self, key: &str) -> &[u8] {
        self.data.get(key).map_or(&[], |value| value.expose())
    }
}
