//! The resources of one gateway, by type and name, each with a version made from its content.
//!
//! Snapshots share resources: if two differ in one route, they share all bytes except the bytes of its table.

use super::encoded_list::{EncodedList, ListForm};
use crate::lock;
use chancery_core::backend::envoy::v3::{Encoded, Fingerprint, Service};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::Instant;

/// The resources of one type.
#[derive(Clone, Debug, Default)]
pub struct Resources {
    /// The version of the whole.
    pub version: String,
    pub by_name: BTreeMap<Arc<str>, Arc<Encoded>>,
    /// Its differences from earlier sets, for all streams that had them.
    differences: Differences,
    /// All of it as one list, for streams that get all of it.
    list: OnceLock<Arc<[Arc<Encoded>]>>,
    encodings: Encodings,
}

/// The whole list as bytes, in each form in which streams are sending it now.
#[derive(Debug, Default)]
struct Encodings(Mutex<Vec<(ListForm, Weak<EncodedList>)>>);

impl Clone for Encodings {
    /// The copy may get other resources.
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// The names that differ from other sets, by set; the newest last.
#[derive(Debug, Default)]
struct Differences(Mutex<Vec<Difference>>);

/// A set, and the names that differ from it.
type Difference = (Weak<Resources>, Arc<[Arc<str>]>);

/// The most sets that are remembered.
const MOST_DIFFERENCES: usize = 8;

impl Clone for Differences {
    /// The differences of a copy are not known.
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Resources {
    /// Creates a set. Its version is a hash of all names and contents.
    #[must_use]
    pub fn new(resources: impl IntoIterator<Item = Arc<Encoded>>) -> Self {
        let by_name: BTreeMap<Arc<str>, Arc<Encoded>> = resources.into_iter().map(|of| (Arc::from(of.name.as_str()), of)).collect();
        Self { version: version_of(&by_name), by_name, ..Self::default() }
    }

    /// Returns the names of resources that differ from the other set. They are computed once for all streams.
    #[must_use]
    pub fn differing(&self, before: &Arc<Resources>) -> Arc<[Arc<str>]> {
        let mut known = lock(&self.differences.0);
        known.retain(|(of, _)| of.strong_count() > 0);
        if let Some((_, names)) = known.iter().find(|(of, _)| std::ptr::eq(of.as_ptr(), Arc::as_ptr(before))) {
            return names.clone();
        }
        let names: Arc<[Arc<str>]> = changed_names(self, before).into();
        if known.len() >= MOST_DIFFERENCES {
            known.remove(0);
        }
        known.push((Arc::downgrade(before), names.clone()));
        names
    }

    /// Returns the list of all resources, if `resources` is equal to it.
    #[must_use]
    pub fn whole_list(&self, resources: &[Arc<Encoded>]) -> Option<Arc<[Arc<Encoded>]>> {
        let is_whole =
            resources.len() == self.by_name.len() && resources.iter().zip(self.by_name.values()).all(|(one, other)| Arc::ptr_eq(one, other));
        is_whole.then(|| self.list.get_or_init(|| resources.into()).clone())
    }

    /// Encodes the list of all resources once for all streams that send it at the same time.
    pub(super) fn encoded(&self, form: ListForm, encode: impl FnOnce() -> EncodedList) -> Arc<EncodedList> {
        // Others wait for the one that encodes, instead of encoding the same.
        let mut all = lock(&self.encodings.0);
        all.retain(|(_, of)| of.strong_count() > 0);
        if let Some(known) = all.iter().find(|(known, _)| *known == form).and_then(|(_, of)| of.upgrade()) {
            return known;
        }
        let made = Arc::new(encode());
        all.push((form, Arc::downgrade(&made)));
        made
    }

    /// Returns the version of a resource.
    #[must_use]
    pub fn version(&self, name: &str) -> Option<Fingerprint> {
        self.by_name.get(name).map(|of| of.version)
    }
}

/// Hashes names and versions. It sums up one hash for each resource, so that the order does not matter.
fn version_of(by_name: &BTreeMap<Arc<str>, Arc<Encoded>>) -> String {
    let mark = |of: &Encoded| u128::from_le_bytes(Fingerprint::of(&[of.name.as_bytes(), &of.version.0]).0);
    let sum = by_name.values().fold(0u128, |sum, of| sum.wrapping_add(mark(of)));
    format!("{:016x}", (sum ^ (sum >> 64)) as u64)
}

/// Returns the names that differ between two sets: first new and changed resources, then removed ones.
fn changed_names(new: &Resources, old: &Resources) -> Vec<Arc<str>> {
    let changed = new.by_name.iter().filter(|(name, of)| old.version(name) != Some(of.version)).map(|(name, _)| name.clone());
    let gone = old.by_name.keys().filter(|name| !new.by_name.contains_key(*name)).cloned();
    changed.chain(gone).collect()
}

/// Finds the places of the inputs that made a resource.
pub trait Blame: Send + Sync {
    /// Returns the places that made `field` of a resource, or the whole resource if that field has none.
    fn places(&self, type_url: &str, name: &str, field: Option<&str>) -> Vec<crate::event::Place>;

    /// Returns the place of a line, from 1, of the text that this field contains; `None` if the text is not written line by line.
    fn line_inside(&self, _field: &crate::event::Place, _line: u32) -> Option<crate::event::Place> {
        None
    }
}

/// The resources of a gateway.
#[derive(Clone, Default)]
pub struct Snapshot {
    /// The gateway's id.
    pub gateway: Arc<str>,
    /// By the URL of the type.
    types: BTreeMap<Arc<str>, Arc<Resources>>,
    /// Knows the places that made resources.
    pub blame: Option<Arc<dyn Blame>>,
    /// When the change behind it arrived.
    pub changed_at: Option<Instant>,
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let types: BTreeMap<&str, (usize, &str)> = self.types.iter().map(|(url, of)| (&**url, (of.by_name.len(), &*of.version))).collect();
        f.debug_struct("Snapshot").field("gateway", &self.gateway).field("types", &types).finish()
    }
}

impl Snapshot {
    /// Creates a snapshot without resources.
    #[must_use]
    pub fn new(gateway: impl Into<Arc<str>>) -> Self {
        Self { gateway: gateway.into(), types: BTreeMap::new(), blame: None, changed_at: None }
    }

    /// Sets the resources of a type.
    pub fn set(&mut self, type_url: impl Into<Arc<str>>, resources: Arc<Resources>) {
        self.types.insert(type_url.into(), resources);
    }

    /// The resources of a type.
    #[must_use]
    pub fn get(&self, type_url: &str) -> Option<&Arc<Resources>> {
        self.types.get(type_url)
    }

    /// Returns a copy without one type.
    #[must_use]
    pub fn without(&self, type_url: &str) -> Self {
        let mut out = self.clone();
        out.types.remove(type_url);
        out
    }

    /// Returns all types.
    pub fn types(&self) -> impl Iterator<Item = (&Arc<str>, &Arc<Resources>)> {
        self.types.iter()
    }

    /// The version of all of it.
    #[must_use]
    pub fn version(&self) -> String {
        let parts: Vec<&[u8]> = self.types.iter().flat_map(|(url, of)| [url.as_bytes(), of.version.as_bytes()]).collect();
        Fingerprint::of(&parts).to_string().chars().take(16).collect()
    }

    /// Returns the names of resources that differ from the other snapshot, by type.
    #[must_use]
    pub fn changed_from(&self, before: &Snapshot) -> BTreeMap<Arc<str>, Vec<Arc<str>>> {
        let none = Arc::new(Resources::default());
        let mut out = BTreeMap::new();
        let urls: std::collections::BTreeSet<&Arc<str>> = self.types.keys().chain(before.types.keys()).collect();
        for url in urls {
            let (new, old) = (self.get(url).unwrap_or(&none), before.get(url).unwrap_or(&none));
            if Arc::ptr_eq(new, old) || new.version == old.version {
                continue;
            }
            let names = changed_names(new, old);
            if !names.is_empty() {
                out.insert(url.clone(), names);
            }
        }
        out
    }
}

/// Returns the place of a type in the order of sending: a resource comes before resources that refer to it.
#[must_use]
pub fn place_in_order(type_url: &str) -> usize {
    Service::ALL.iter().position(|service| type_url.ends_with(service.message())).unwrap_or(Service::ALL.len())
}

/// Whether a response of this type, state of the world, implies that all other resources are removed.
#[must_use]
pub fn is_whole(type_url: &str) -> bool {
    [Service::Clusters, Service::Listeners].iter().any(|service| type_url.ends_with(service.message()))
}
