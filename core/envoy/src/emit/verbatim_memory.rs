//! Keeps what earlier emissions made of resources that are passed on verbatim: local forms for a bootstrap, and texts.
//!
//! A part is known by the address of its fields, which the entry keeps unique. Does not write anything; see `verbatim` and `compose`.

use crate::Layout;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::executor::{self, Executor};
use chancery_base::ir::{Plain, Tree};
use chancery_envoy_api::rules::Violation;
use chancery_text::Str;
use hashbrown::HashMap;

/// What earlier emissions made.
#[derive(Debug, Default)]
pub(super) struct VerbatimMemory {
    texts: HashMap<(usize, usize, bool), Text>,
    /// Clusters as a bootstrap contains them, by the addresses of the cluster and of its endpoints.
    clusters: HashMap<(usize, usize), LocalCluster>,
    /// Virtual hosts by the addresses of their fields.
    hosts: HashMap<usize, LocalHost>,
    broken: HashMap<usize, Judged>,
    /// The secrets that the bootstrap contains. Local forms depend on them.
    held: BTreeSet<Str>,
    round: u32,
}

#[derive(Debug)]
struct Text {
    #[expect(dead_code, reason = "keeps the address unique")]
    of: Tree,
    text: Arc<str>,
    round: u32,
}

/// What Envoy rejects of a part.
#[derive(Debug)]
struct Judged {
    #[expect(dead_code, reason = "keeps the address unique")]
    of: Tree,
    broken: Vec<Violation>,
    round: u32,
}

#[derive(Debug)]
struct LocalCluster {
    #[expect(dead_code, reason = "keeps the addresses unique")]
    of: (Arc<Tree>, Option<Arc<Tree>>),
    local: Tree,
    round: u32,
}

/// A virtual host as a bootstrap contains it.
#[derive(Debug)]
pub(super) struct LocalHost {
    #[expect(dead_code, reason = "keeps the address unique")]
    of: Tree,
    /// The clusters that its routes name.
    pub(super) clusters: Vec<Str>,
    /// The local form, if it differs.
    pub(super) local: Option<Tree>,
    round: u32,
}

impl VerbatimMemory {
    /// Begins an emission, and drops what the last few did not use: the views of a user interface alternate.
    pub(super) fn begin(&mut self) {
        const KEPT: u32 = 4;
        self.round = self.round.wrapping_add(1);
        let round = self.round;
        let is_used = |last: u32| round.wrapping_sub(last) <= KEPT;
        self.texts.retain(|_, text| is_used(text.round));
        self.clusters.retain(|_, cluster| is_used(cluster.round));
        self.hosts.retain(|_, host| is_used(host.round));
        self.broken.retain(|_, judged| is_used(judged.round));
    }

    /// Forgets local forms if the bootstrap contains other secrets.
    pub(super) fn use_secrets(&mut self, held: &BTreeSet<Str>) {
        if self.held != *held {
            self.held.clone_from(held);
            self.clusters.clear();
            self.hosts.clear();
        }
    }

    /// The text of a part at this level of indentation.
    pub(super) fn text(&mut self, of: &Tree, layout: Layout, level: usize) -> Arc<str> {
        let make = || {
            let mut text = String::new();
            of.write_json(&mut text, (layout == Layout::Pretty).then_some(level * 2));
            Arc::from(text)
        };
        let Plain::Object(fields) = &of.value else { return make() };
        let key = (fields.0.address(), level, layout == Layout::Pretty);
        let known = self.texts.entry(key).or_insert_with(|| Text { of: of.clone(), text: make(), round: 0 });
        known.round = self.round;
        known.text.clone()
    }

    /// Judges parts that are not judged yet, on all threads of the host.
    pub(super) fn judge<'t>(
        &mut self,
        parts: impl Iterator<Item = &'t Tree>,
        executor: &dyn Executor,
        broken: impl Fn(&Tree) -> Vec<Violation> + Sync,
    ) {
        let mut new: Vec<&Tree> = Vec::new();
        for part in parts {
            match self.broken.get_mut(&address(part)) {
                Some(known) => known.round = self.round,
                None => new.push(part),
            }
        }
        let found = executor::map(executor, &new, |part| broken(part));
        for (part, broken) in new.into_iter().zip(found) {
            self.broken.insert(address(part), Judged { of: part.clone(), broken, round: self.round });
        }
    }

    /// What Envoy rejects of a part that was judged.
    pub(super) fn broken(&self, of: &Tree) -> &[Violation] {
        self.broken.get(&address(of)).map(|judged| judged.broken.as_slice()).unwrap_or_default()
    }

    /// A cluster as a bootstrap contains it.
    pub(super) fn cluster(&mut self, of: &Arc<Tree>, endpoints: Option<&Arc<Tree>>, make: impl FnOnce() -> Tree) -> Tree {
        let address = |of: &Arc<Tree>| Arc::as_ptr(of).addr();
        let key = (address(of), endpoints.map_or(0, address));
        let known = self.clusters.entry(key).or_insert_with(|| LocalCluster { of: (of.clone(), endpoints.cloned()), local: make(), round: 0 });
        known.round = self.round;
        known.local.clone()
    }

    /// A virtual host as a bootstrap contains it: the clusters that it names, and its local form if it differs.
    pub(super) fn host(&mut self, of: &Tree, make: impl FnOnce() -> (Vec<Str>, Option<Tree>)) -> Option<&LocalHost> {
        let Plain::Object(fields) = &of.value else { return None };
        let known = self.hosts.entry(fields.0.address()).or_insert_with(|| {
            let (clusters, local) = make();
            LocalHost { of: of.clone(), clusters, local, round: 0 }
        });
        known.round = self.round;
        Some(known)
    }
}

/// The address of an object's fields; 0 for other values.
fn address(of: &Tree) -> usize {
    if let Plain::Object(fields) = &of.value { fields.0.address() } else { 0 }
}
