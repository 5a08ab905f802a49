//! Finding a field by its name at once: a hash table over constant names, built by the compiler.
//!
//! What must not be here: anything about values.

use super::Field;

/// How many slots the table for so many fields has.
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
        let mut slot = hash(fields[at].name.as_bytes()) & (SLOTS - 1);
        while table[slot] != 0 {
            slot = (slot + 1) & (SLOTS - 1);
        }
        table[slot] = at as u8 + 1;
        at += 1;
    }
    table
}

/// Where `name` stands in `fields`.
pub fn find(fields: &[Field], table: &[u8], name: &str) -> Option<usize> {
    if table.is_empty() {
        return None;
    }
    let mask = table.len() - 1;
    let mut slot = hash(name.as_bytes()) & mask;
    loop {
        let at = usize::from(*table.get(slot)?).checked_sub(1)?;
        if fields.get(at)?.name == name {
            return Some(at);
        }
        slot = (slot + 1) & mask;
    }
}

const fn hash(name: &[u8]) -> usize {
    let length = name.len();
    if length == 0 {
        return 0;
    }
    let (first, middle, last) = (name[0] as usize, name[length / 2] as usize, name[length - 1] as usize);
    let quarter = name[length / 4] as usize;
    let mixed = length.wrapping_mul(0x9E37_79B1) ^ first.wrapping_mul(0x85EB_CA6B) ^ middle.wrapping_mul(0xC2B2_AE35);
    let mixed = mixed ^ last.wrapping_mul(0x27D4_EB2F) ^ quarter.wrapping_mul(0x1656_67B1);
    (mixed ^ (mixed >> 15)) as u32 as usize
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
