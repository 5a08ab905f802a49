//! Finds the parts of an Application Gateway by their ids. Does not interpret parts.

use alloc::string::String;
use chancery_base::ir::appgw::{Part, Parts, Reference};
use hashbrown::HashMap;

/// The parts of one kind by id, each with its position. Ids are compared without case; the first of equal ids counts.
#[derive(Debug)]
pub struct ById<'p, T>(HashMap<String, (usize, &'p Part<T>)>);

impl<T> Default for ById<'_, T> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<'p, T> ById<'p, T> {
    /// Indexes the parts of one kind.
    #[must_use]
    pub fn of(parts: &'p Option<Parts<T>>) -> Self {
        let mut found = HashMap::new();
        for (at, part) in parts.iter().flatten().enumerate() {
            found.entry(part.id.to_ascii_lowercase()).or_insert((at, &**part));
        }
        Self(found)
    }

    /// The part that a reference names.
    #[must_use]
    pub fn get(&self, reference: &Option<Reference>) -> Option<&'p Part<T>> {
        self.place(reference).map(|(_, part)| part)
    }

    /// The part that a reference names, with its position.
    #[must_use]
    pub fn place(&self, reference: &Option<Reference>) -> Option<(usize, &'p Part<T>)> {
        self.0.get(&reference.as_ref()?.id.value.to_ascii_lowercase()).copied()
    }
}
