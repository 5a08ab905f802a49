//! Sorts routes: the most specific first. Follows Go's stable sort, as the order of paths against no path is not transitive.

use super::super::model::{HttpRoute, StringMatch, StringMatchKind};
use alloc::sync::Arc;
use alloc::vec::Vec;

/// Runs that are sorted by insertion before they are merged.
const RUN: usize = 20;

/// Sorts routes, the most specific first; equally specific routes keep their order.
pub(crate) fn sort(routes: &mut [Arc<HttpRoute>]) {
    let keys: Vec<Key> = routes.iter().map(|route| Key::of(route)).collect();
    let mut places: Vec<usize> = (0..keys.len()).collect();
    // The order is reversed: a route comes first if the other one is less.
    let is_less = |a: usize, b: usize| keys[b].is_less(&keys[a]);
    stable(&mut places, &is_less);
    let sorted: Vec<Arc<HttpRoute>> = places.into_iter().map(|at| routes[at].clone()).collect();
    routes.clone_from_slice(&sorted);
}

/// The values that decide the position of a route.
struct Key {
    path: Option<StringMatchKind>,
    counts: [usize; 7],
}

impl Key {
    fn of(route: &HttpRoute) -> Self {
        let length = |path: &StringMatch| match path.kind {
            StringMatchKind::Prefix if *path.value.value == *"/" => 0,
            StringMatchKind::Suffix | StringMatchKind::Distinct => 0,
            _ => path.value.value.len(),
        };
        let exact = |of: &[StringMatch]| of.iter().filter(|one| one.kind == StringMatchKind::Exact).count();
        Self {
            path: route.path.as_ref().map(|path| path.kind),
            counts: [
                route.path.as_ref().map_or(0, length),
                route.headers.len(),
                exact(&route.headers),
                route.cookies.len(),
                exact(&route.cookies),
                route.query.len(),
                exact(&route.query),
            ],
        }
    }

    fn is_less(&self, other: &Self) -> bool {
        use StringMatchKind::{Exact, Prefix, Regex};
        match (self.path, other.path) {
            (Some(Exact), Some(Regex | Prefix)) | (Some(Regex), Some(Prefix)) => return false,
            (Some(Regex), Some(Exact)) | (Some(Prefix), Some(Exact | Regex)) => return true,
            _ => {}
        }
        self.counts < other.counts
    }
}

fn stable(places: &mut [usize], is_less: &impl Fn(usize, usize) -> bool) {
    let count = places.len();
    let mut size = RUN;
    let mut start = 0;
    while start < count {
        let end = (start + size).min(count);
        insertion(&mut places[start..end], is_less);
        start = end;
    }
    while size < count {
        let mut start = 0;
        while start + size < count {
            let end = (start + 2 * size).min(count);
            merge(&mut places[start..end], size, is_less);
            start += 2 * size;
        }
        size *= 2;
    }
}

fn insertion(places: &mut [usize], is_less: &impl Fn(usize, usize) -> bool) {
    for end in 1..places.len() {
        let mut at = end;
        while at > 0 && is_less(places[at], places[at - 1]) {
            places.swap(at, at - 1);
            at -= 1;
        }
    }
}

/// Merges two sorted halves; of equals the left one comes first.
fn merge(places: &mut [usize], middle: usize, is_less: &impl Fn(usize, usize) -> bool) {
    let left: Vec<usize> = places[..middle].to_vec();
    let right: Vec<usize> = places[middle..].to_vec();
    let (mut a, mut b) = (left.into_iter().peekable(), right.into_iter().peekable());
    for place in places.iter_mut() {
        let take_right = match (a.peek(), b.peek()) {
            (Some(left), Some(right)) => is_less(*right, *left),
            (None, _) => true,
            _ => false,
        };
        if let Some(next) = if take_right { b.next() } else { a.next() } {
            *place = next;
        }
    }
}
