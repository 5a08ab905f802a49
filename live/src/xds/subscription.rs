//! Keeps the resources of one type that a stream requested, and the versions that it was sent. Does not wait or send;
//! see `stream`.
//!
//! Both protocols use it; `stream` reads their requests and writes their responses.

use super::snapshot::Resources;
use chancery_core::backend::envoy::v3::{Encoded, Fingerprint};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The name that requests all resources.
pub const WILDCARD: &str = "*";

/// The version of a resource that the client was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SentVersion {
    /// It has this version.
    Has(Fingerprint),
    /// The client knows that the resource does not exist.
    Absent,
}

/// A subscription.
///
/// Thousands of streams request the same thousands of resources. So a stream keeps the set that it was sent, which all streams share, and only its
/// differences from that set. An edit costs each stream as much as it changes.
#[derive(Debug, Default)]
pub struct Subscription {
    /// Whether all resources are requested.
    pub wildcard: bool,
    /// Resources that are requested by name.
    pub names: BTreeSet<Arc<str>>,
    /// Whether names were ever given: then an empty list does not mean all.
    pub explicit: bool,
    /// Whether a first answer was sent.
    pub answered: bool,
    /// Unchanged resources that are sent, because the client requested them again.
    pub again: BTreeSet<Arc<str>>,
    /// The last set that was sent. With a wildcard, the client has all of it except `sent`.
    seen: Option<Arc<Resources>>,
    /// Versions that the client was sent and that differ from `seen`. Without a wildcard, it has every requested name.
    sent: BTreeMap<Arc<str>, SentVersion>,
    /// Names to check, in addition to the differences from `seen`.
    open: BTreeSet<Arc<str>>,
}

/// The difference between a set and what the client was sent.
#[derive(Debug, Default)]
pub struct Difference {
    /// New or changed resources, by name.
    pub changed: Vec<Arc<Encoded>>,
    /// Names of requested resources that do not exist, unknown to the client.
    pub gone: Vec<Arc<str>>,
    /// Whether the client had one of them.
    pub removes: bool,
}

impl Difference {
    /// Whether nothing differs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changed.is_empty() && self.gone.is_empty()
    }
}

impl Subscription {
    /// Whether a resource is requested.
    #[must_use]
    pub fn wants(&self, name: &str) -> bool {
        self.wildcard || self.names.contains(name)
    }

    /// Whether anything is requested.
    #[must_use]
    pub fn wants_any(&self) -> bool {
        self.wildcard || !self.names.is_empty()
    }

    /// Returns the version of a resource that the client was sent.
    #[must_use]
    pub fn sent_version(&self, name: &str) -> Option<SentVersion> {
        let of_set = || self.seen.as_ref().filter(|_| self.wildcard)?.version(name).map(SentVersion::Has);
        self.sent.get(name).copied().or_else(of_set)
    }

    /// Notes a version that the client has already.
    pub fn has(&mut self, name: Arc<str>, version: Fingerprint) {
        self.open.insert(name.clone());
        self.sent.insert(name, SentVersion::Has(version));
    }

    /// Requests a resource by name.
    pub fn add(&mut self, name: Arc<str>) {
        self.open.insert(name.clone());
        self.names.insert(name);
    }

    /// Requests all resources, or stops that.
    pub fn set_wildcard(&mut self, wildcard: bool) {
        if self.wildcard == wildcard {
            return;
        }
        // Versions that followed from the set are kept by name.
        let by_set: Vec<(Arc<str>, SentVersion)> = self.names.iter().filter_map(|name| Some((name.clone(), self.sent_version(name)?))).collect();
        self.sent.extend(by_set);
        self.seen = None;
        self.wildcard = wildcard;
    }

    /// Requests exactly these names. Other resources are forgotten, so that a later request gets them again.
    pub fn set_names(&mut self, names: impl Iterator<Item = Arc<str>>) {
        let mut names: BTreeSet<Arc<str>> = names.filter(|name| !name.is_empty()).collect();
        let wildcard = names.remove(WILDCARD);
        self.open.extend(names.difference(&self.names).cloned());
        self.names = names;
        self.set_wildcard(wildcard);
        self.explicit = true;
        self.forget_unwanted();
    }

    /// Forgets the versions of resources that are no longer requested.
    pub fn forget_unwanted(&mut self) {
        if self.wildcard {
            return;
        }
        let names = &self.names;
        self.sent.retain(|name, _| names.contains(name));
        self.again.retain(|name| names.contains(name));
        self.open.retain(|name| names.contains(name));
    }

    /// Returns the requested resources that exist.
    pub fn wanted<'a>(&'a self, resources: &'a Resources) -> Box<dyn Iterator<Item = (&'a Arc<str>, &'a Arc<Encoded>)> + 'a> {
        if self.wildcard {
            Box::new(resources.by_name.iter())
        } else {
            Box::new(self.names.iter().filter_map(|name| resources.by_name.get_key_value(name)))
        }
    }

    /// Returns the names whose state the client may not know.
    fn candidates(&self, resources: &Arc<Resources>) -> BTreeSet<Arc<str>> {
        let mut out: BTreeSet<Arc<str>> = self.again.iter().chain(&self.open).cloned().collect();
        match &self.seen {
            Some(seen) if Arc::ptr_eq(seen, resources) => {}
            Some(seen) => out.extend(resources.differing(seen).iter().filter(|name| self.wants(name)).cloned()),
            None => {
                out.extend(self.wanted(resources).map(|(name, _)| name.clone()));
                out.extend(self.names.iter().chain(self.sent.keys()).cloned());
            }
        }
        out
    }

    /// Returns the changes that the client does not know yet.
    #[must_use]
    pub fn difference(&self, resources: &Arc<Resources>) -> Difference {
        let mut out = Difference::default();
        // A new client gets everything, without a check of each name.
        if self.wildcard && self.seen.is_none() && self.sent.is_empty() && self.names.is_empty() && self.again.is_empty() && self.open.is_empty() {
            out.changed.extend(resources.by_name.values().cloned());
            return out;
        }
        for name in self.candidates(resources) {
            let (sent, is_again) = (self.sent_version(&name), self.again.contains(&name));
            match resources.by_name.get(&name) {
                Some(of) if self.wants(&name) && (is_again || sent != Some(SentVersion::Has(of.version))) => out.changed.push(of.clone()),
                Some(_) => {}
                None if matches!(sent, Some(SentVersion::Has(_))) => {
                    out.gone.push(name);
                    out.removes = true;
                }
                None if self.names.contains(&name) && (is_again || sent.is_none()) => out.gone.push(name),
                None => {}
            }
        }
        out
    }

    /// Notes that all changed resources of a set are being sent, and these names of removed resources.
    pub fn note(&mut self, resources: &Arc<Resources>, changed: &[Arc<Encoded>], gone: &[Arc<str>]) {
        let gone: BTreeSet<&Arc<str>> = gone.iter().collect();
        let has = |name: &Arc<str>| matches!(self.sent_version(name), Some(SentVersion::Has(_)));
        // The client still has a removed resource, and does not know about the removal.
        let is_left = |name: &Arc<str>| !resources.by_name.contains_key(name) && !gone.contains(name) && has(name);
        // A client that was sent nothing has nothing that is left over.
        let is_new = self.seen.is_none() && self.sent.is_empty();
        let candidates = if is_new { BTreeSet::new() } else { self.candidates(resources) };
        let left: Vec<(Arc<str>, SentVersion)> =
            candidates.into_iter().filter(is_left).filter_map(|name| self.sent_version(&name).map(|sent| (name, sent))).collect();
        if self.wildcard {
            let names = &self.names;
            self.sent.retain(|name, sent| *sent == SentVersion::Absent && names.contains(name) && !resources.by_name.contains_key(name));
        } else {
            for of in changed {
                let (name, _) = resources.by_name.get_key_value(of.name.as_str()).unzip();
                self.sent.insert(name.cloned().unwrap_or_else(|| Arc::from(of.name.as_str())), SentVersion::Has(of.version));
            }
        }
        for name in gone {
            if self.names.contains(name) {
                self.sent.insert(name.clone(), SentVersion::Absent);
            } else {
                self.sent.remove(name);
            }
        }
        self.again.clear();
        self.open = left.iter().map(|(name, _)| name.clone()).collect();
        self.sent.extend(left);
        self.seen = Some(resources.clone());
        self.answered = true;
    }
}
