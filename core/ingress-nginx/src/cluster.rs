//! Finds the API server's objects of the kinds that the controller reads, and decodes their values.
//!
//! Does not decide how the controller uses them; see `source`.

use super::kinds::Kind;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use chancery_base::compilation::Ledger;
use chancery_base::diagnostic::Findings;
use chancery_base::executor::Executor;
use chancery_base::resource::{Object, Objects, Secret};
use chancery_kubernetes::cluster;
pub use chancery_kubernetes::cluster::AdmittedObject;
use chancery_kubernetes::secret;
use chancery_text::{Node, Str, base64};
use hashbrown::HashMap;
use sha1::{Digest as _, Sha1};

/// The admitted objects of earlier compiles.
pub type Memory = cluster::Memory<Kind>;

/// The objects that the API server stores.
#[derive(Debug, Default)]
pub struct Cluster<'a> {
    objects: cluster::Cluster<'a, Kind>,
    /// The names of EndpointSlices, by the namespace and name of their Service.
    slices: HashMap<(Str, Str), Vec<Str>>,
}

/// A Secret whose values can be decoded.
pub struct ReadableSecret<'a> {
    pub object: &'a Object,
}

impl ReadableSecret<'_> {
    /// Returns a decoded value.
    pub fn bytes(&self, key: &str) -> Option<Vec<u8>> {
        base64::decode(secret::data(self.object).get(key)?.1.expose())
    }

    /// Whether it has a key.
    pub fn has(&self, key: &str) -> bool {
        secret::data(self.object).contains_key(key)
    }

    /// Returns a decoded value as text.
    pub fn text(&self, key: &str) -> Option<Secret<Str>> {
        Some(Secret::new(Str::from(String::from_utf8_lossy(&self.bytes(key)?))))
    }

    /// Returns its keys and values as lines of `KEY:VALUE`.
    pub fn lines(&self) -> Secret<Str> {
        let mut lines = String::new();
        for (key, (_, value)) in secret::data(self.object) {
            let value = base64::decode(value.expose()).unwrap_or_default();
            lines.push_str(&alloc::format!("{key}:{}\n", String::from_utf8_lossy(&value)));
        }
        Secret::new(Str::from(lines))
    }
}

impl<'a> Cluster<'a> {
    /// Applies all documents in order.
    pub fn apply(objects: &'a Objects, executor: &dyn Executor, memory: &mut Memory, ledger: &mut Ledger, sink: &mut Findings) -> Self {
        let objects = cluster::Cluster::apply(objects, executor, memory, ledger, sink);
        let mut slices: HashMap<(Str, Str), Vec<Str>> = HashMap::new();
        for slice in objects.all(Kind::EndpointSlice) {
            if let Some(service) = slice.root.at(&["metadata", "labels", "kubernetes.io/service-name"]).and_then(Node::as_str) {
                slices.entry((slice.namespace().clone(), Str::new(service))).or_default().push(slice.name().clone());
            }
        }
        Self { objects, slices }
    }

    /// Returns all objects of a kind, by namespace and name.
    pub fn all(&self, kind: Kind) -> impl Iterator<Item = &AdmittedObject<'a>> {
        self.objects.all(kind)
    }

    pub fn get(&self, kind: Kind, namespace: &str, name: &str) -> Option<&AdmittedObject<'a>> {
        self.objects.get(kind, namespace, name)
    }

    pub fn service(&self, namespace: &str, name: &str) -> Option<&AdmittedObject<'a>> {
        self.get(Kind::Service, namespace, name)
    }

    pub fn secret(&self, namespace: &str, name: &str) -> Option<ReadableSecret<'a>> {
        self.get(Kind::Secret, namespace, name).map(|secret| ReadableSecret { object: secret.object })
    }

    /// Returns an object by `NAMESPACE/NAME`.
    pub fn by_key(&self, kind: Kind, key: &str) -> Option<&AdmittedObject<'a>> {
        let (namespace, name) = key.split_once('/')?;
        self.get(kind, namespace, name)
    }

    /// Returns the values of a ConfigMap, by `NAMESPACE/NAME`.
    pub fn config_map(&self, key: &str) -> Option<BTreeMap<Str, Str>> {
        let data = self.by_key(Kind::ConfigMap, key)?.root.get("data").and_then(Node::as_object);
        let entries = data.into_iter().flatten();
        Some(entries.filter_map(|entry| Some((entry.key.clone(), Str::new(entry.value.as_str()?)))).collect())
    }

    /// Returns the EndpointSlices of a Service, by name.
    pub fn slices(&self, namespace: &str, service: &str) -> impl Iterator<Item = &AdmittedObject<'a>> {
        let names = self.slices.get(&(Str::new(namespace), Str::new(service)));
        names.into_iter().flatten().filter_map(move |name| self.get(Kind::EndpointSlice, namespace, name))
    }
}

/// Returns the UID of an object. The default is derived from the name.
pub fn uid_of(object: &Object) -> Str {
    if let Some(uid) = object.root.at(&["metadata", "uid"]).and_then(Node::as_str).filter(|uid| !uid.is_empty()) {
        return Str::new(uid);
    }
    let kind = if object.key.kind == "Secret" { "*v1.Secret/" } else { "" };
    let name = alloc::format!("{kind}{}/{}", object.key.namespace.as_deref().unwrap_or_default(), object.key.name);
    let mut bytes: [u8; 16] = core::array::from_fn(|_| 0);
    bytes.iter_mut().zip(Sha1::digest(name.as_bytes())).for_each(|(slot, byte)| *slot = byte);
    bytes[6] = bytes[6] & 0x0f | 0x50;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex: Vec<String> = bytes.iter().map(|byte| alloc::format!("{byte:02x}")).collect();
    let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default().concat();
    [part(0, 4), part(4, 6), part(6, 8), part(8, 10), part(10, 16)].join("-").to_string().into()
}
