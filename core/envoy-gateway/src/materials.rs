//! Names equal key material alike: by the first name of all Secrets and ConfigMaps that hold the same text.
//!
//! Envoy's outputs then differ only where the material differs. Does not read material for Envoy; see `stages`.

use super::cluster::{Admitted, Cluster};
use super::kinds::Kind;
use super::translate::certificates;
use super::xds::Resources;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::ir::{Plain, Tree};
use chancery_text::Str;
use sha2::{Digest as _, Sha256};

/// The name to use instead of another.
#[derive(Debug, Default)]
pub(crate) struct FirstNames(BTreeMap<String, Str>);

impl FirstNames {
    /// Compares the content of all Secrets and ConfigMaps, if resources name key material.
    pub(crate) fn new(cluster: &Cluster<'_>) -> Self {
        let mut first: BTreeMap<[u8; 32], String> = BTreeMap::new();
        let mut all: Vec<([u8; 32], String)> = Vec::new();
        let mut add = |name: String, value: &[u8]| {
            let value = value.trim_ascii();
            if value.is_empty() {
                return;
            }
            let digest: [u8; 32] = Sha256::digest(value).into();
            let known = first.entry(digest).or_insert_with(|| name.clone());
            if name < *known {
                known.clone_from(&name);
            }
            all.push((digest, name));
        };
        for secret in cluster.all(Kind::Secret) {
            for key in certificates::keys(secret) {
                let value = certificates::value(secret, &key).unwrap_or_default();
                add(format!("secret:{}/{key}", secret.path()), &value);
            }
        }
        for map in cluster.all(Kind::ConfigMap) {
            let data: &Admitted<'_> = map;
            data.root().field("data").entries().for_each(|(key, value)| add(format!("configmap:{}/{key}", map.path()), value.str().as_bytes()));
        }
        let others =
            all.into_iter().filter_map(|(digest, name)| first.get(&digest).filter(|first| **first != name).map(|first| (name, Str::from(&**first))));
        Self(others.collect())
    }

    /// Renames the key material of resources.
    pub(crate) fn apply(&self, resources: &mut Resources) {
        if self.0.is_empty() {
            return;
        }
        let Resources { listeners, routes, clusters, endpoints: _, secrets } = resources;
        [listeners, routes, clusters, secrets].into_iter().flatten().for_each(|of| self.rename(of));
    }

    fn rename(&self, of: &mut Tree) {
        match &mut of.value {
            Plain::Material(names) => {
                let renamed: Vec<&str> = names.split('+').map(|name| self.0.get(name).map_or(name, |first| first.as_str())).collect();
                *names = Str::from(renamed.join("+"));
            }
            Plain::Object(fields) => fields.0.iter_mut().for_each(|(_, value)| self.rename(value)),
            Plain::List(items) => items.iter_mut().for_each(|item| self.rename(item)),
            _ => {}
        }
    }
}
