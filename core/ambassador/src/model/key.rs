//! Computes the group of a Mapping, and the order of the group's routes.
//!
//! Source of the behaviour: Emissary `python/ambassador/ir/irhttpmapping.py` (`_group_id`, `_route_weight`).

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_text::Str;
use sha1::{Digest, Sha1};

/// The key that Mappings of one group share.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct GroupKey(Str);

impl GroupKey {
    pub(super) fn of(text: &str) -> Self {
        Self(text.into())
    }

    /// The reference's group id: 40 hexadecimal digits.
    pub fn id(&self) -> String {
        Sha1::digest(self.0.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// The order of a route: the greater comes first. Precedence, then lengths of prefix, headers and query parameters, then strings.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct RouteWeight {
    pub(super) numbers: Vec<i64>,
    pub(super) prefix: Str,
    pub(super) keys: Vec<Str>,
}
