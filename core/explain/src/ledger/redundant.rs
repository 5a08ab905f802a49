//! Describes objects that a dialect calls emitted, although Envoy gets the same without them. Does not rebuild gateways; see `rebuilt`.

use super::{Facts, LedgerRow, SAME_WITHOUT};
use crate::ResourceRef;
use alloc::vec::Vec;
use chancery_base::compilation::{SideRef, State};
use chancery_base::resource::{Object, ObjectId};
use chancery_text::Str;

/// Whether a row names no part of an Envoy, only Envoys. Several objects may give such an Envoy the same.
pub(super) fn is_unspecific(row: &LedgerRow) -> bool {
    row.state == State::EMITTED && row.into.iter().all(|part| part.starts_with("the Envoy "))
}

/// Turns the row of a redundant object into the row of an object that others read: those that refer to it, or else the owners of its gateways.
pub(super) fn describe_as_read(row: &mut LedgerRow, object: &Object, side: SideRef<'_>, facts: &Facts) {
    let mut readers: Vec<ObjectId> = facts.readers_in_effect(object, side);
    if readers.is_empty() {
        let is_named = |id: &str| row.into.iter().any(|part| part.strip_prefix("the Envoy ") == Some(id));
        let owners = side.side.gateways.iter().filter(|gateway| is_named(gateway.id.as_str())).filter_map(|gateway| gateway.owner);
        readers = owners.filter(|owner| *owner != object.id).collect();
    }
    let mut names = readers.iter().filter_map(|id| side.objects().get(*id)).map(|reader| ResourceRef::from(&reader.key));
    let Some(first) = names.next() else { return };
    row.state = State::READ;
    row.by = Some(first);
    row.name(names, readers.len().saturating_sub(1));
    row.into = Vec::new();
    row.detail = Some(Str::new_static(SAME_WITHOUT));
}
