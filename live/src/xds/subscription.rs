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
///
/// Thousands of streams ask for the same thousands of resources, so a stream keeps the set that it was sent, which all share, and beside it only what
/// differs from that: an edit costs each stream what it changes.
#[derive(Debug, Default)]
pub struct Subscription {
    /// All resources are asked for.
    pub wildcard: bool,
    /// Resources that are asked for by name.
    pub names: BTreeSet<Arc<str>>,
    /// Names were given at some time: an empty list no longer means all.
    pub explicit: bool,
    /// A first answer was sent.
    pub answered: bool,
    /// These are sent although they have not changed: the client asked for them again.
    pub again: BTreeSet<Arc<str>>,
    /// The set that was sent last. With a wildcard, the client has all of it but for `told`.
    seen: Option<Arc<Resources>>,
    /// Versions that the client was sent and that `seen` does not give. Without a wildcard, this has every name that is asked for.
    told: BTreeMap<Arc<str>, SentVersion>,
    /// Names to look at besides those in which a set differs from `seen`.
    open: BTreeSet<Arc<str>>,
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

    /// What the client was sent of a resource.
    #[must_use]
    pub fn told(&self, name: &str) -> Option<SentVersion> {
        let of_set = || self.seen.as_ref().filter(|_| self.wildcard)?.version(name).map(SentVersion::Has);
        self.told.get(name).copied().or_else(of_set)
    }

    /// The client has this already.
    pub fn has(&mut self, name: Arc<str>, version: Fingerprint) {
        self.open.insert(name.clone());
        self.told.insert(name, SentVersion::Has(version));
    }

    /// Asks for a resource by name from now on.
    pub fn add(&mut self, name: Arc<str>) {
        self.open.insert(name.clone());
        self.names.insert(name);
    }

    /// Asks for all resources, or no longer.
    pub fn set_wildcard(&mut self, wildcard: bool) {
        if self.wildcard == wildcard {
            return;
        }
        // What was known by the set is known by name now; a set by which something may not be known is none.
        let by_set: Vec<(Arc<str>, SentVersion)> = self.names.iter().filter_map(|name| Some((name.clone(), self.told(name)?))).collect();
        self.told.extend(by_set);
        self.seen = None;
        self.wildcard = wildcard;
    }

    /// Takes exactly these names. What is no longer asked for is forgotten, so that it is sent again when it is asked for again.
    pub fn set_names(&mut self, names: impl Iterator<Item = Arc<str>>) {
        let mut names: BTreeSet<Arc<str>> = names.filter(|name| !name.is_empty()).collect();
        let wildcard = names.remove(WILDCARD);
        self.open.extend(names.difference(&self.names).cloned());
        self.names = names;
        self.set_wildcard(wildcard);
        self.explicit = true;
        self.forget_unwanted();
    }

    /// Forgets what was sent of resources that the client no longer asks for.
    pub fn forget_unwanted(&mut self) {
        if self.wildcard {
            return;
        }
        let names = &self.names;
        self.told.retain(|name, _| names.contains(name));
        self.again.retain(|name| names.contains(name));
        self.open.retain(|name| names.contains(name));
    }

    /// All that is there and asked for.
    pub fn wanted<'a>(&'a self, resources: &'a Resources) -> Box<dyn Iterator<Item = (&'a Arc<str>, &'a Arc<Encoded>)> + 'a> {
        if self.wildcard {
            Box::new(resources.by_name.iter())
        } else {
            Box::new(self.names.iter().filter_map(|name| resources.by_name.get_key_value(name)))
        }
    }

    /// The names of which the client may not know what there is.
    fn candidates(&self, resources: &Arc<Resources>) -> BTreeSet<Arc<str>> {
        let mut out: BTreeSet<Arc<str>> = self.again.iter().chain(&self.open).cloned().collect();
        match &self.seen {
            Some(seen) if Arc::ptr_eq(seen, resources) => {}
            Some(seen) => out.extend(resources.differing(seen).iter().filter(|name| self.wants(name)).cloned()),
            None => {
                out.extend(self.wanted(resources).map(|(name, _)| name.clone()));
                out.extend(self.names.iter().chain(self.told.keys()).cloned());
            }
        }
        out
    }

    /// What the client does not know yet.
    #[must_use]
    pub fn difference(&self, resources: &Arc<Resources>) -> Difference {
        let mut out = Difference::default();
        // A new client gets everything, which is not looked up one by one.
        if self.wildcard && self.seen.is_none() && self.told.is_empty() && self.names.is_empty() && self.again.is_empty() && self.open.is_empty() {
            out.changed.extend(resources.by_name.values().cloned());
            return out;
        }
        for name in self.candidates(resources) {
            let (told, is_again) = (self.told(&name), self.again.contains(&name));
            match resources.by_name.get(&name) {
                Some(of) if self.wants(&name) && (is_again || told != Some(SentVersion::Has(of.version))) => out.changed.push(of.clone()),
                Some(_) => {}
                None if matches!(told, Some(SentVersion::Has(_))) => {
                    out.gone.push(name);
                    out.removes = true;
                }
                None if self.names.contains(&name) && (is_again || told.is_none()) => out.gone.push(name),
                None => {}
            }
        }
        out
    }

    /// Notes that of these resources all that differs and is there is being sent, and of what is gone these names.
    pub fn note(&mut self, resources: &Arc<Resources>, changed: &[Arc<Encoded>], gone: &[Arc<str>]) {
        let gone: BTreeSet<&Arc<str>> = gone.iter().collect();
        let has = |name: &Arc<str>| matches!(self.told(name), Some(SentVersion::Has(_)));
        // What is gone and is not told yet, the client still has.
        let is_left = |name: &Arc<str>| !resources.by_name.contains_key(name) && !gone.contains(name) && has(name);
        let left: Vec<(Arc<str>, SentVersion)> =
            self.candidates(resources).into_iter().filter(is_left).filter_map(|name| self.told(&name).map(|told| (name, told))).collect();
        if self.wildcard {
            let names = &self.names;
            self.told.retain(|name, told| *told == SentVersion::Absent && names.contains(name) && !resources.by_name.contains_key(name));
        } else {
            for of in changed {
                let (name, _) = resources.by_name.get_key_value(of.name.as_str()).unzip();
                self.told.insert(name.cloned().unwrap_or_else(|| Arc::from(of.name.as_str())), SentVersion::Has(of.version));
            }
        }
        for name in gone {
            if self.names.contains(name) {
                self.told.insert(name.clone(), SentVersion::Absent);
            } else {
                self.told.remove(name);
            }
        }
        self.again.clear();
        self.open = left.iter().map(|(name, _)| name.clone()).collect();
        self.told.extend(left);
        self.seen = Some(resources.clone());
        self.answered = true;
    }
}
