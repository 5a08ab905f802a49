//! The order of named things. It is kept from one compile to the next, as long as the names are the same.
//!
//! What must not be here: what the things are.

use crate::order::Order as _;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::hash::Hash;
use hashbrown::HashMap;

/// A thing, and whether it takes the place of an earlier one with its name.
type Thing<T> = (Arc<T>, bool);

/// Things as they were given, each with whether it takes the place of an earlier one with its name; and the places that followed from that.
pub(super) struct KnownOrder<T> {
    things: Vec<Thing<T>>,
    places: Vec<u32>,
}

impl<T> Default for KnownOrder<T> {
    fn default() -> Self {
        Self { things: Vec::new(), places: Vec::new() }
    }
}

impl<T> KnownOrder<T> {
    /// Things in the order of their names. Of several with one name one is left: the first, or the last of those that take its place.
    pub(super) fn winners<K: Ord + Hash>(&mut self, things: Vec<Thing<T>>, name: impl Fn(&T) -> &K) -> Vec<Arc<T>> {
        if !self.is(&things, &name) {
            let mut found: HashMap<&K, u32> = HashMap::with_capacity(things.len());
            for (at, (thing, takes_its_place)) in things.iter().enumerate() {
                let place = found.entry(name(thing)).or_insert(at as u32);
                if *takes_its_place {
                    *place = at as u32;
                }
            }
            self.places = found.into_values().collect();
            order(&mut self.places, &things, &name);
        }
        self.things = things;
        self.in_order()
    }

    /// Things in the order of their names; those with one name stay as they are.
    pub(super) fn sorted<K: Ord>(&mut self, things: Vec<Arc<T>>, name: impl Fn(&T) -> &K) -> Vec<Arc<T>> {
        let things: Vec<Thing<T>> = things.into_iter().map(|thing| (thing, false)).collect();
        self.sort(things, name);
        self.in_order()
    }

    /// The places of things in the order of their names.
    pub(super) fn places<K: Ord>(&mut self, things: Vec<Arc<T>>, name: impl Fn(&T) -> &K) -> &[u32] {
        self.sort(things.into_iter().map(|thing| (thing, false)).collect(), name);
        &self.places
    }

    fn sort<K: Ord>(&mut self, things: Vec<Thing<T>>, name: impl Fn(&T) -> &K) {
        if !self.is(&things, &name) {
            self.places = (0..things.len() as u32).collect();
            order(&mut self.places, &things, &name);
        }
        self.things = things;
    }

    /// Whether the names are those of the compile before.
    fn is<K: PartialEq>(&self, things: &[Thing<T>], name: impl Fn(&T) -> &K) -> bool {
        let is = |(now, then): (&Thing<T>, &Thing<T>)| now.1 == then.1 && (Arc::ptr_eq(&now.0, &then.0) || name(&now.0) == name(&then.0));
        things.len() == self.things.len() && things.iter().zip(&self.things).all(is)
    }

    fn in_order(&self) -> Vec<Arc<T>> {
        self.places.iter().filter_map(|place| self.things.get(*place as usize)).map(|(thing, _)| thing.clone()).collect()
    }
}

fn order<T, K: Ord>(places: &mut [u32], things: &[Thing<T>], name: impl Fn(&T) -> &K) {
    let name = |place: &u32| things.get(*place as usize).map(|(thing, _)| name(thing));
    places.order_by(|one, other| name(one).cmp(&name(other)));
}

#[cfg(test)]
mod tests {
    use super::KnownOrder;
    use alloc::string::String;
    use alloc::sync::Arc;
    use alloc::vec::Vec;

    #[test]
    fn the_first_of_a_name_stays_unless_another_takes_its_place() {
        let mut known = KnownOrder::<(char, u32)>::default();
        let things = |names: &[(char, bool)]| -> Vec<(Arc<(char, u32)>, bool)> {
            names.iter().zip(0..).map(|((name, takes), number)| (Arc::new((*name, number)), *takes)).collect()
        };
        let mut winners = |names: &[(char, bool)]| -> String {
            known.winners(things(names), |(name, _)| name).iter().map(|thing| alloc::format!("{}{} ", thing.0, thing.1)).collect()
        };
        assert_eq!(winners(&[('b', false), ('a', false), ('b', false), ('a', true)]), "a3 b0 ");
        assert_eq!(winners(&[('b', false), ('a', false), ('b', false), ('a', true)]), "a3 b0 ", "as it is known");
        assert_eq!(winners(&[('b', false), ('a', true), ('b', true), ('a', false)]), "a1 b2 ", "the names decide, not what was known");
        let sorted = KnownOrder::default().sorted(alloc::vec![Arc::new(('b', 0)), Arc::new(('a', 1)), Arc::new(('a', 2))], |(name, _)| name);
        assert_eq!(sorted.iter().map(|thing| thing.1).collect::<Vec<_>>(), [1, 2, 0]);
    }
}
