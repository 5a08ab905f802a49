//! Keeps the sort order of named values from one compile to the next: only values with changed names are sorted again.
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::hash::Hash;
use core::ops::Range;
use hashbrown::HashMap;

/// A value, and whether it replaces an earlier one with its name.
type Thing<T> = (Arc<T>, bool);

/// The given values, each with whether it replaces an earlier one with its name; and the resulting order.
pub(super) struct KnownOrder<T> {
    things: Vec<Thing<T>>,
    places: Vec<u32>,
}

impl<T> Default for KnownOrder<T> {
    fn default() -> Self {
        Self { things: Vec::new(), places: Vec::new() }
    }
}

/// If more than this many values changed, everything is sorted again.
const FEW: usize = 64;

impl<T> KnownOrder<T> {
    /// Returns values sorted by name, one per name: the first, or the last of those that replace it.
    pub(super) fn winners<K: Ord + Hash>(&mut self, things: Vec<Thing<T>>, name: impl Fn(&T) -> &K) -> Vec<Arc<T>> {
        let (then, now) = self.others(&things, &name);
        if then.len() + now.len() > FEW {
            let mut found: HashMap<&K, u32> = HashMap::with_capacity(things.len());
            for (at, (thing, takes_its_place)) in things.iter().enumerate() {
                let place = found.entry(name(thing)).or_insert(at as u32);
                if *takes_its_place {
                    *place = at as u32;
                }
            }
            self.places = found.into_values().collect();
            order(&mut self.places, &things, &name);
        } else if !then.is_empty() || !now.is_empty() {
            // Only these names may have other winners now.
            let others = self.things[then.clone()].iter().chain(&things[now.clone()]);
            let mut names: Vec<&K> = Vec::new();
            for (thing, _) in others {
                if !names.contains(&name(thing)) {
                    names.push(name(thing));
                }
            }
            for wanted in &names {
                if let Ok(at) = self.places.binary_search_by(|place| name_at(&self.things, *place, &name).cmp(&Some(*wanted))) {
                    self.places.remove(at);
                }
            }
            follow(&mut self.places, &then, &now);
            let mut winners: Vec<Option<u32>> = alloc::vec![None; names.len()];
            for (place, (thing, takes_its_place)) in things.iter().enumerate() {
                if let Some(at) = names.iter().position(|wanted| *wanted == name(thing))
                    && (winners[at].is_none() || *takes_its_place)
                {
                    winners[at] = Some(place as u32);
                }
            }
            for winner in winners.into_iter().flatten() {
                put(&mut self.places, winner, &|a, b| name_at(&things, a, &name).cmp(&name_at(&things, b, &name)));
            }
        }
        self.things = things;
        self.in_order()
    }

    /// Returns values sorted by name; values with the same name keep their order.
    pub(super) fn sorted<K: Ord>(&mut self, things: Vec<Arc<T>>, name: impl Fn(&T) -> &K) -> Vec<Arc<T>> {
        let things: Vec<Thing<T>> = things.into_iter().map(|thing| (thing, false)).collect();
        self.sort(things, name);
        self.in_order()
    }

    /// Returns the indexes of values, sorted by name.
    pub(super) fn places<K: Ord>(&mut self, things: Vec<Arc<T>>, name: impl Fn(&T) -> &K) -> &[u32] {
        self.sort(things.into_iter().map(|thing| (thing, false)).collect(), name);
        &self.places
    }

    fn sort<K: Ord>(&mut self, things: Vec<Thing<T>>, name: impl Fn(&T) -> &K) {
        let (then, now) = self.others(&things, &name);
        if then.len() + now.len() > FEW {
            self.places = (0..things.len() as u32).collect();
            order(&mut self.places, &things, &name);
        } else if !then.is_empty() || !now.is_empty() {
            follow(&mut self.places, &then, &now);
            for place in now {
                put(&mut self.places, place as u32, &|a, b| (name_at(&things, a, &name), a).cmp(&(name_at(&things, b, &name), b)));
            }
        }
        self.things = things;
    }

    /// Returns the ranges of values with other names than in the previous compile: the old and the new range. All names before and after them are
    /// equal.
    fn others<K: PartialEq>(&self, things: &[Thing<T>], name: impl Fn(&T) -> &K) -> (Range<usize>, Range<usize>) {
        let is = |(now, then): &(&Thing<T>, &Thing<T>)| now.1 == then.1 && (Arc::ptr_eq(&now.0, &then.0) || name(&now.0) == name(&then.0));
        let before = things.iter().zip(&self.things).take_while(is).count();
        let rest = things.len().min(self.things.len()) - before;
        let behind = things.iter().rev().zip(self.things.iter().rev()).take(rest).take_while(is).count();
        (before..self.things.len() - behind, before..things.len() - behind)
    }

    fn in_order(&self) -> Vec<Arc<T>> {
        self.places.iter().filter_map(|place| self.things.get(*place as usize)).map(|(thing, _)| thing.clone()).collect()
    }
}

fn name_at<'t, T, K>(things: &'t [Thing<T>], place: u32, name: impl Fn(&'t T) -> &'t K) -> Option<&'t K> {
    things.get(place as usize).map(|(thing, _)| name(thing))
}

fn order<T, K: Ord>(places: &mut [u32], things: &[Thing<T>], name: impl Fn(&T) -> &K) {
    places.sort_by(|one, other| name_at(things, *one, &name).cmp(&name_at(things, *other, &name)));
}

/// Shifts indexes after a range was replaced, and removes the indexes of the old range.
fn follow(places: &mut Vec<u32>, then: &Range<usize>, now: &Range<usize>) {
    places.retain_mut(|place| {
        let at = *place as usize;
        if at >= then.end {
            *place = (at - then.end + now.end) as u32;
        }
        !then.contains(&at)
    });
}

/// Inserts an index into a sorted list.
fn put(places: &mut Vec<u32>, place: u32, compare: &dyn Fn(u32, u32) -> Ordering) {
    let (Ok(at) | Err(at)) = places.binary_search_by(|known| compare(*known, place));
    places.insert(at, place);
}

#[cfg(test)]
mod tests {
    use super::KnownOrder;
    use alloc::string::String;
    use alloc::sync::Arc;
    use alloc::vec::Vec;

    #[test]
    fn first_of_name_wins_unless_replaced() {
        let mut known = KnownOrder::<(char, u32)>::default();
        let things = |names: &[(char, bool)]| -> Vec<(Arc<(char, u32)>, bool)> {
            names.iter().zip(0..).map(|((name, takes), number)| (Arc::new((*name, number)), *takes)).collect()
        };
        let mut winners = |names: &[(char, bool)]| -> String {
            known.winners(things(names), |(name, _)| name).iter().map(|thing| alloc::format!("{}{} ", thing.0, thing.1)).collect()
        };
        assert_eq!(winners(&[('b', false), ('a', false), ('b', false), ('a', true)]), "a3 b0 ");
        assert_eq!(winners(&[('b', false), ('a', false), ('b', false), ('a', true)]), "a3 b0 ", "from the cache");
        assert_eq!(winners(&[('b', false), ('a', true), ('b', true), ('a', false)]), "a1 b2 ", "the names decide, not the cache");
        let sorted = KnownOrder::default().sorted(alloc::vec![Arc::new(('b', 0)), Arc::new(('a', 1)), Arc::new(('a', 2))], |(name, _)| name);
        assert_eq!(sorted.iter().map(|thing| thing.1).collect::<Vec<_>>(), [1, 2, 0]);
    }

    #[test]
    fn incremental_order_equals_full_sort() {
        let mut chance = 7_u32;
        let mut number = |below: u32| {
            chance = chance.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (chance >> 8) % below
        };
        type Thing = (Arc<(u32, u32)>, bool);
        fn name(thing: &(u32, u32)) -> &u32 {
            &thing.0
        }
        let mut things: Vec<Thing> = Vec::new();
        let (mut winners, mut sorted) = (KnownOrder::default(), KnownOrder::default());
        for round in 0..400 {
            let at = number(things.len() as u32 + 1) as usize;
            let gone = (number(3) as usize).min(things.len() - at);
            let new: Vec<Thing> = (0..number(4)).map(|_| (Arc::new((number(16), round)), number(2) == 0)).collect();
            things.splice(at..at + gone, new);
            let all = || things.iter().map(|(thing, _)| thing.clone()).collect::<Vec<_>>();
            assert_eq!(winners.winners(things.clone(), name), KnownOrder::default().winners(things.clone(), name), "round {round}");
            assert_eq!(sorted.sorted(all(), name), KnownOrder::default().sorted(all(), name), "round {round}");
        }
        // The test needs more values than change at once.
        assert!(things.len() > 100);
    }
}
