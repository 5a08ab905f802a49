//! What one stream has asked for of one type, and what it has been sent.
//!
//! Both protocols keep the same books; they differ in how requests are read and how responses are written, which is `stream`'s. Nothing
//! here waits or sends.

use super::snapshot::Resources;
use chancery_core::backend::envoy::v3::{Encoded, Fingerprint};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The name that stands for all resources.
pub const WILDCARD: &str = "*";

/// What the client was sent of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SentVersion {
    /// It has this version.
    Has(Fingerprint),
    /// There is none.
    Absent,
}

/// A subscription.
#[derive(Debug, Default)]
pub struct Subscription {
    /// All resources are asked for.
    pub wildcard: bool,
    /// Resources that are asked for by name.
    pub names: BTreeSet<Arc<str>>,
    /// Names were given at some time: an empty list no longer means all.
    pub explicit: bool,
    /// What the client was sent, by name.
    pub told: BTreeMap<Arc<str>, SentVersion>,
    /// A first answer was sent.
    pub answered: bool,
    /// These are sent although they have not changed: the client asked for them again.
    pub again: BTreeSet<Arc<str>>,
}

/// What differs between what there is and what the client was sent.
#[derive(Debug, Default)]
pub struct Difference {
    /// New or changed, by name.
    pub changed: Vec<Arc<Encoded>>,
    /// Asked for, and there is none: new to the client.
    pub gone: Vec<Arc<str>>,
    /// Of what is gone, what the client had before.
    pub removes: bool,
}

impl Difference {
    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changed.is_empty() && self.gone.is_empty()
    }
}

impl Subscription {
    /// Whether a resource is asked for.
    #[must_use]
    pub fn wants(&self, name: &str) -> bool {
        self.wildcard || self.names.contains(name)
    }

    /// Whether anything is asked for.
    #[must_use]
    pub fn wants_any(&self) -> bool {
        self.wildcard || !self.names.is_empty()
    }

    /// Takes exactly these names. What is no longer asked for is forgotten, so that it is sent again when it is asked for again.
    pub fn set_names(&mut self, names: impl Iterator<Item = Arc<str>>) {
        let mut names: BTreeSet<Arc<str>> = names.filter(|name| !name.is_empty()).collect();
        self.wildcard = names.remove(WILDCARD);
        self.names = names;
        self.explicit = true;
        self.forget_unwanted();
    }

    /// Forgets what was sent of resources that the client no longer asks for.
    pub fn forget_unwanted(&mut self) {
        let (wildcard, names) = (self.wildcard, &self.names);
        self.told.retain(|name, _| wildcard || names.contains(name));
        self.again.retain(|name| wildcard || names.contains(name));
    }

    /// All that is there and asked for.
    pub fn wanted<'a>(&'a self, resources: &'a Resources) -> Box<dyn Iterator<Item = (&'a Arc<str>, &'a Arc<Encoded>)> + 'a> {
        if self.wildcard {
            Box::new(resources.by_name.iter())
        } else {
            Box::new(self.names.iter().filter_map(|name| resources.by_name.get_key_value(name)))
        }
    }

    /// What the client does not know yet.
    #[must_use]
    pub fn difference(&self, resources: &Resources) -> Difference {
        let told = |name: &Arc<str>| self.told.get(name).copied();
        let is_new = |name: &Arc<str>, of: &Encoded| told(name) != Some(SentVersion::Has(of.version)) || self.again.contains(name);
        let changed = self.wanted(resources).filter(|(name, of)| is_new(name, of)).map(|(_, of)| of.clone()).collect();
        let mut gone: Vec<Arc<str>> = Vec::new();
        let mut removes = false;
        for (name, told) in &self.told {
            if matches!(told, SentVersion::Has(_)) && !resources.by_name.contains_key(name) {
                gone.push(name.clone());
                removes = true;
            }
        }
        let never_told = |name: &&Arc<str>| !self.told.contains_key(*name) || self.again.contains(*name);
        let absent = self.names.iter().filter(|name| !resources.by_name.contains_key(*name)).filter(never_told);
        let absent: Vec<Arc<str>> = absent.filter(|name| !matches!(told(name), Some(SentVersion::Has(_)))).cloned().collect();
        gone.extend(absent);
        Difference { changed, gone, removes }
    }

    /// Notes that these are being sent.
    pub fn note(&mut self, changed: &[Arc<Encoded>], gone: &[Arc<str>]) {
        for of in changed {
            self.told.insert(Arc::from(of.name.as_str()), SentVersion::Has(of.version));
            self.again.remove(of.name.as_str());
        }
        for name in gone {
            self.again.remove(name);
            if self.names.contains(name) {
                self.told.insert(name.clone(), SentVersion::Absent);
            } else {
                self.told.remove(name);
            }
        }
        self.answered = true;
    }
}
