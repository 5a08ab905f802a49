//! How Consul runs.

use crate::resource::Inputs;
use crate::text::Str;
use alloc::collections::BTreeMap;

/// How Consul runs.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Without an intention, everything is denied.
    pub default_deny: bool,
    /// The documents of peered clusters, by the names that this one has for them.
    pub peers: BTreeMap<Str, Inputs>,
}
