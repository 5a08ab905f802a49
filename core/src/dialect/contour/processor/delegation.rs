//! The way from a root HTTPProxy to those that it includes.
//!
//! What must not be here: what is made on the way.

use super::header;
use crate::dialect::contour::cluster::Admitted;
use crate::dialect::kubernetes::cursor::Cursor;
use crate::resource::{ObjectId, Sourced};
use crate::text::Str;
use alloc::vec::Vec;
use hashbrown::HashSet;

/// How long a chain of includes may be; Contour knows no limit.
pub(super) const DEEPEST: usize = 64;

/// Where one is on the way from a root.
#[derive(Default)]
pub(super) struct Delegation<'a> {
    /// The HTTPProxies on the way.
    pub(super) visited: Vec<&'a Admitted<'a>>,
    /// How many includes have been followed.
    pub(super) followed: usize,
}

/// What is known of a root while its routes are made.
pub(super) struct Root<'p> {
    /// The HTTPProxy.
    pub proxy: &'p Admitted<'p>,
    /// `spec.virtualhost`.
    pub virtual_host: Cursor<'p>,
    /// Its host, as written.
    pub host: Sourced<Str>,
    /// Routes without TLS redirect to TLS.
    pub enforce_tls: bool,
    /// The provider of tokens for routes that name none.
    pub default_jwt_provider: Option<Sourced<Str>>,
}

/// HTTPProxies that were not visited yet.
pub(super) type Orphans = HashSet<ObjectId>;

/// Contour's variables within an HTTPProxy of this namespace.
pub(super) fn variables(namespace: &Str) -> header::Variables {
    header::Variables { namespace: namespace.clone(), service: None }
}
