//! Finds parts of lists that keep their order.

use alloc::vec::Vec;

/// Counts the equal elements at the start of two lists, and of the rest at the end.
pub(super) fn common_ends<T>(one: &[T], two: &[T], mut same: impl FnMut(&T, &T) -> bool) -> (usize, usize) {
    let head = one.iter().zip(two).take_while(|(a, b)| same(a, b)).count();
    let rest = one.iter().skip(head).rev().zip(two.iter().skip(head).rev());
    (head, rest.take_while(|(a, b)| same(a, b)).count())
}

/// Returns the longest run of pairs whose second numbers rise, by patience sorting.
pub(super) fn rising(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let second = |at: usize| pairs.get(at).map_or(0, |pair| pair.1);
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (at, pair) in pairs.iter().enumerate() {
        let place = ends.partition_point(|end| second(*end) < pair.1);
        before.push(place.checked_sub(1).and_then(|place| ends.get(place).copied()));
        match ends.get_mut(place) {
            Some(end) => *end = at,
            None => ends.push(at),
        }
    }
    let run = core::iter::successors(ends.last().copied(), |at| before.get(*at).copied().flatten());
    run.filter_map(|at| pairs.get(at).copied()).collect()
}
