//! Tracks the path from a root HTTPProxy to its includes.

use super::header;
use super::memory::{Dependency, Reached};
use crate::cluster::Admitted;
use alloc::vec::Vec;
use chancery_base::resource::{ObjectId, Sourced};
use chancery_kubernetes::cursor::Cursor;
use chancery_text::Str;

/// How long a chain of includes may be; Contour knows no limit.
pub(super) const DEEPEST: usize = 64;

/// The current position on the path from a root.
#[derive(Default)]
pub(super) struct Delegation<'a> {
    /// The HTTPProxies on the way.
    pub(super) visited: Vec<&'a Admitted<'a>>,
    /// How many includes have been followed.
    pub(super) followed: usize,
    /// The HTTPProxies that were included.
    pub(super) reached: Vec<Reached>,
    /// All dependencies of the result.
    pub(super) depends_on: Vec<Dependency>,
    /// Whether an included HTTPProxy has findings.
    pub(super) has_findings: bool,
}

/// The state of a root while its routes are built.
pub(super) struct Root<'p> {
    /// The HTTPProxy.
    pub proxy: &'p Admitted<'p>,
    /// `spec.virtualhost`.
    pub virtual_host: Cursor<'p>,
    /// Its host, as written.
    pub host: Sourced<Str>,
    /// Routes without TLS redirect to TLS.
    pub enforce_tls: bool,
    /// The token provider for routes that name none.
    pub default_jwt_provider: Option<Sourced<Str>>,
}

/// HTTPProxies that were not visited yet, by their numbers.
#[derive(Default)]
pub(super) struct Orphans {
    by_number: Vec<bool>,
    count: usize,
}

impl Orphans {
    /// Adds one.
    pub(super) fn insert(&mut self, id: ObjectId) {
        let Some(at) = id.index() else { return };
        if self.by_number.len() <= at {
            self.by_number.resize(at + 1, false);
        }
        self.set(id, true);
    }

    /// Removes an object, if present.
    pub(super) fn remove(&mut self, id: ObjectId) {
        self.set(id, false);
    }

    fn set(&mut self, id: ObjectId, orphan: bool) {
        let Some(place) = id.index().and_then(|at| self.by_number.get_mut(at)) else { return };
        self.count = self.count + usize::from(orphan) - usize::from(*place);
        *place = orphan;
    }

    /// Whether the set contains it.
    pub(super) fn contains(&self, id: ObjectId) -> bool {
        id.index().and_then(|at| self.by_number.get(at)).is_some_and(|orphan| *orphan)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }
}

/// Contour's variables within an HTTPProxy of this namespace.
pub(super) fn variables(namespace: &Str) -> header::Variables {
    header::Variables { namespace: namespace.clone(), service: None }
}
