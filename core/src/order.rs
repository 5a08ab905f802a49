//! Sorting, stably, by code that is compiled once.
//!
//! The standard library's sort is compiled again for every type and comparison, two kilobytes each time, of which the playground would have to load
//! hundreds. So in WebAssembly one function sorts places, and asks by a call which comes first. Elsewhere this is the standard library's.
//!
//! Maps are filled from iterators one by one for the same reason: the standard library's `collect` sorts first.
//!
//! What must not be here: what comes before what.

use alloc::vec::Vec;
use core::cmp::Ordering;

/// Slices that can be put in order.
pub trait Order<T> {
    /// By the elements' own order.
    fn order(&mut self)
    where
        T: Ord;
    /// By a comparison.
    fn order_by(&mut self, compare: impl FnMut(&T, &T) -> Ordering);
    /// By something of each element, which is looked up as often as it is compared.
    fn order_by_key<K: Ord>(&mut self, key: impl FnMut(&T) -> K);
    /// By something that is made of each element, once.
    fn order_by_made_key<K: Ord>(&mut self, key: impl FnMut(&T) -> K);
}

/// Iterators whose elements become a map or a set.
pub trait Gather: Iterator + Sized {
    /// The elements in a map or a set; of several with one key, the last.
    fn gathered<C: Default + Extend<Self::Item>>(self) -> C {
        let mut all = C::default();
        all.extend(self);
        all
    }
}

impl<I: Iterator> Gather for I {}

impl<T> Order<T> for [T] {
    fn order(&mut self)
    where
        T: Ord,
    {
        self.order_by(T::cmp);
    }

    fn order_by_key<K: Ord>(&mut self, mut key: impl FnMut(&T) -> K) {
        self.order_by(|a, b| key(a).cmp(&key(b)));
    }

    fn order_by_made_key<K: Ord>(&mut self, key: impl FnMut(&T) -> K) {
        let keys: Vec<K> = self.iter().map(key).collect();
        let mut places = places(keys.len(), &mut |a, b| keys.get(a).cmp(&keys.get(b)));
        rearrange(&mut places, &mut |a, b| self.swap(a, b));
    }

    #[cfg(not(target_family = "wasm"))]
    fn order_by(&mut self, compare: impl FnMut(&T, &T) -> Ordering) {
        self.sort_by(compare);
    }

    #[cfg(target_family = "wasm")]
    fn order_by(&mut self, compare: impl FnMut(&T, &T) -> Ordering) {
        by_places(self, compare);
    }
}

#[cfg(any(target_family = "wasm", test))]
fn by_places<T>(all: &mut [T], mut compare: impl FnMut(&T, &T) -> Ordering) {
    if all.len() < 2 {
        return;
    }
    let mut places = places(all.len(), &mut |a, b| match (all.get(a), all.get(b)) {
        (Some(a), Some(b)) => compare(a, b),
        _ => Ordering::Equal,
    });
    rearrange(&mut places, &mut |a, b| all.swap(a, b));
}

/// For each place, where the element is that belongs there.
fn places(count: usize, compare: &mut dyn FnMut(usize, usize) -> Ordering) -> Vec<usize> {
    let mut places: Vec<usize> = (0..count).collect();
    places.sort_by(|a, b| compare(*a, *b));
    places
}

/// Goes round each circle of elements that change places.
fn rearrange(places: &mut [usize], swap: &mut dyn FnMut(usize, usize)) {
    for first in 0..places.len() {
        let mut at = first;
        while let Some(place) = places.get_mut(at) {
            let from = core::mem::replace(place, at);
            if from == first || from == at {
                break;
            }
            swap(at, from);
            at = from;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Order, by_places};
    use alloc::vec::Vec;

    #[test]
    fn equal_elements_keep_their_order_both_ways() {
        let mut state = 1u32;
        for count in 0..200 {
            let mut next = |bound: u32| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 16) % bound
            };
            let all: Vec<(u32, usize)> = (0..count).map(|at| (next(1 + count as u32 / 3), at)).collect();
            let (mut ours, mut usual, mut made, mut standard) = (all.clone(), all.clone(), all.clone(), all);
            by_places(&mut ours, |a, b| a.0.cmp(&b.0));
            usual.order_by_key(|element| element.0);
            made.order_by_made_key(|element| element.0);
            standard.sort_by_key(|element| element.0);
            assert_eq!(ours, standard);
            assert_eq!(usual, standard);
            assert_eq!(made, standard);
        }
    }
}
