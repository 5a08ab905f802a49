//! Keeps lists of numbers sorted while a few are added and removed.
use alloc::vec::Vec;
use core::cmp::Ordering;

/// Merges a few more numbers into a sorted list.
pub(super) fn put_in_order(order: &mut Vec<u32>, more: Vec<u32>, compare: impl Fn(&u32, &u32) -> Ordering) {
    if more.len() > 16 + order.len() / 64 {
        order.extend(more);
        order.sort_by(compare);
        return;
    }
    for number in more {
        let at = order.partition_point(|known| compare(known, &number) == Ordering::Less);
        order.insert(at, number);
    }
}
