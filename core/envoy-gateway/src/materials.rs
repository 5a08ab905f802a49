//! Names equal key material alike: by the first name of all Secrets and ConfigMaps that hold the same text. A certificate keeps its own Secret, and
//! is named by the first key there that holds the same text.
//!
//! Envoy's outputs then differ only where the material differs. Does not read material for Envoy; see `stages`.

use super::cluster::Cluster;
use super::kinds::Kind;
use super::translate::certificates;
use super::xds::Resources;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::{Plain, Tree};
use chancery_text::Str;
use sha2::{Digest as _, Sha256};

/// The names to use instead of others.
#[derive(Debug, Default)]
pub(crate) struct FirstNames {
    /// Among all objects.
    all: BTreeMap<String, Str>,
    /// Within one object.
    own: BTreeMap<String, Str>,
}

/// The digest of a text, the object that holds it, and its name.
type Holding = ([u8; 32], String, String);

impl FirstNames {
    /// Compares the content of all Secrets and ConfigMaps.
    pub(crate) fn new(cluster: &Cluster<'_>) -> Self {
        let mut held: Vec<Holding> = Vec::new();
        let mut add = |object: &str, key: &str, value: &[u8]| {
            let value = value.trim_ascii();
            if !value.is_empty() {
                held.push((Sha256::digest(value).into(), object.into(), format!("{object}/{key}")));
            }
        };
        for secret in cluster.all(Kind::Secret) {
            let object = format!("secret:{}", secret.path());
            certificates::keys(secret).iter().for_each(|key| add(&object, key, &certificates::value(secret, key).unwrap_or_default()));
        }
        for map in cluster.all(Kind::ConfigMap) {
            let object = format!("configmap:{}", map.path());
            map.root().field("data").entries().for_each(|(key, value)| add(&object, key, value.str().as_bytes()));
        }
        let own = first_names(&held, |(digest, object, _)| (*digest, object.clone()));
        Self { all: first_names(&held, |(digest, ..)| *digest), own }
    }

    /// Renames the key material of resources.
    pub(crate) fn apply(&self, resources: &mut Resources) {
        if self.all.is_empty() {
            return;
        }
        let Resources { listeners, routes, clusters, endpoints: _, secrets } = resources;
        for of in [listeners, routes, clusters, secrets].into_iter().flatten() {
            if let Some(renamed) = self.renamed(of, false) {
                *of = Arc::new(renamed);
            }
        }
    }

    /// Returns a value with other names; `None` if all names stay, so that it can be shared.
    fn renamed(&self, of: &Tree, is_certificate: bool) -> Option<Tree> {
        let known = if is_certificate { &self.own } else { &self.all };
        let value = match &of.value {
            Plain::Material(names) if names.split('+').any(|name| known.contains_key(name)) => {
                let renamed: Vec<&str> = names.split('+').map(|name| known.get(name).map_or(name, |first| first.as_str())).collect();
                Plain::Material(Str::from(renamed.join("+")))
            }
            Plain::Object(fields) => {
                let renamed = |(key, value): &(Str, Tree)| self.renamed(value, is_certificate || key == "tls_certificate");
                let changed: Vec<(usize, Tree)> = fields.0.iter().enumerate().filter_map(|(at, field)| Some((at, renamed(field)?))).collect();
                let mut fields = Some(fields.clone()).filter(|_| !changed.is_empty())?;
                changed.into_iter().for_each(|(at, value)| fields.0[at].1 = value);
                Plain::Object(fields)
            }
            Plain::List(items) => {
                let all = items.iter().enumerate();
                let changed: Vec<(usize, Tree)> = all.filter_map(|(at, item)| Some((at, self.renamed(item, is_certificate)?))).collect();
                let mut items = Some(items.clone()).filter(|_| !changed.is_empty())?;
                changed.into_iter().for_each(|(at, value)| items[at] = value);
                Plain::List(items)
            }
            _ => return None,
        };
        Some(Tree { value, origin: of.origin })
    }
}

/// The first name of each group, for its other names.
fn first_names<K: Ord>(held: &[Holding], group: impl Fn(&Holding) -> K) -> BTreeMap<String, Str> {
    let mut first: BTreeMap<K, &String> = BTreeMap::new();
    for holding in held {
        let known = first.entry(group(holding)).or_insert(&holding.2);
        *known = (*known).min(&holding.2);
    }
    let others = held.iter().filter_map(|holding| Some((&holding.2, *first.get(&group(holding))?))).filter(|(name, first)| name != first);
    others.map(|(name, first)| (name.clone(), Str::from(first.as_str()))).collect()
}
