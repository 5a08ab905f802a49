//! Finding a field by its name at once: a hash table over constant names, built by the compiler.
//!
//! What must not be here: anything about values.

use super::Field;

/// How many slots the table has for this number of fields.
pub const fn slots(fields: usize) -> usize {
    let mut slots = 4;
    while slots < fields * 2 {
        slots *= 2;
    }
    slots
}

/// The table: slot -> place of the field + 1, 0 where empty. At most 128 fields.
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
