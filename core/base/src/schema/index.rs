//! Builds hash tables over constant field names at compile time.

use super::Field;

/// The number of slots for this number of fields.
pub const fn slots(fields: usize) -> usize {
    let mut slots = 4;
    while slots < fields * 2 {
        slots *= 2;
    }
    slots
}

/// The table: maps a slot to the field's index + 1, or 0 if empty. At most 128 fields.
pub const fn build<const SLOTS: usize>(fields: &[Field]) -> [u8; SLOTS] {
    assert!(fields.len() <= 128, "an object has at most 128 fields");
    let mut table = [0; SLOTS];
    let mut at = 0;
    while at < fields.len() {
        let mut slot = super::hash::of(fields[at].name.as_bytes()) & (SLOTS - 1);
        while table[slot] != 0 {
            slot = (slot + 1) & (SLOTS - 1);
        }
        table[slot] = at as u8 + 1;
        at += 1;
    }
    table
}

/// A constant object schema: `object![field(...), ...]`.
#[macro_export]
macro_rules! object {
    ($($field:expr),* $(,)?) => {{
        const FIELDS: &[$crate::schema::Field] = &[$($field),*];
        const INDEX: [u8; $crate::schema::index::slots(FIELDS.len())] = $crate::schema::index::build(FIELDS);
        $crate::schema::object_of(FIELDS, &INDEX)
    }};
}
