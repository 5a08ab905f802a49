//! Stores the objects that the controller sees, by kind.

use super::role::Role;
use super::verdict::Applied;
use alloc::vec::Vec;
use chancery_base::compilation::{Ledger, State, Why};
use chancery_base::resource::ObjectId;

/// Everything that the controller sees, by kind, each kind in the order of the text.
pub(super) struct VisibleObjects<'a> {
    pub(super) kinds: Vec<(Role, Vec<Applied<'a>>)>,
}

impl<'a> VisibleObjects<'a> {
    pub(super) fn of(&self, role: Role) -> &[Applied<'a>] {
        self.kinds.iter().find(|(known, _)| *known == role).map_or(&[], |(_, applied)| applied)
    }
}

/// Writes down that an object was left alone.
pub(super) fn ignore(ledger: &mut Ledger, object: ObjectId, why: Why, detail: &str) {
    ledger.set(object, State::Ignored(why, detail.into()));
}
