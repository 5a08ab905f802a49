//! Tests the layout of small, large and malformed pictures.

use super::*;
use alloc::vec;

fn boxes(count: usize) -> Vec<Item> {
    vec![Item { width: 100, height: 20, ..Item::default() }; count]
}

fn links(pairs: &[(usize, usize)]) -> Vec<Link> {
    pairs.iter().map(|(from, to)| Link { from: *from, to: *to }).collect()
}

fn place(items: &[Item], pairs: &[(usize, usize)]) -> Layout {
    layout(items, &links(pairs), &Spacing::default())
}

/// Returns a pseudo-random number, for pictures without a pattern.
fn next(seed: &mut u64) -> usize {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 33) as usize
}

/// Returns a gateway-like picture: columns of boxes, each joined to one or two boxes of the previous column.
fn gateway(columns: &[usize]) -> (Vec<Item>, Vec<(usize, usize)>) {
    let (mut pairs, mut start, mut seed) = (Vec::new(), 0, 7);
    for pair in columns.windows(2) {
        for to in 0..pair[1] {
            pairs.push((start + to * pair[0] / pair[1], start + pair[0] + to));
            if to % 4 == 0 {
                pairs.push((start + next(&mut seed) % pair[0], start + pair[0] + to));
            }
        }
        start += pair[0];
    }
    (boxes(columns.iter().sum()), pairs)
}

fn overlaps(items: &[Item], layout: &Layout) -> bool {
    let mut all: Vec<(i32, i32, i32)> = layout.items.iter().zip(items).map(|(corner, item)| (corner.x, corner.y, corner.y + item.height)).collect();
    all.sort_unstable();
    all.windows(2).any(|pair| pair[0].0 == pair[1].0 && pair[1].1 < pair[0].2)
}

#[test]
fn lines_lead_to_the_right() {
    let placed = place(&boxes(4), &[(0, 1), (1, 2), (0, 2), (3, 2)]);
    let x: Vec<i32> = placed.items.iter().map(|corner| corner.x).collect();
    assert!(x[0] < x[1] && x[1] < x[2] && x[3] == x[1], "{x:?}");
    for (points, (from, to)) in placed.links.iter().zip([(0, 1), (1, 2), (0, 2), (3, 2)]) {
        let (first, last) = (points.first().expect("a start"), points.last().expect("an end"));
        assert_eq!((first.x, last.x), (x[from] + 100, x[to]));
        assert!(points.windows(2).all(|pair| pair[0].x <= pair[1].x));
    }
}

#[test]
fn a_chain_is_straight() {
    let placed = place(&boxes(5), &[(0, 1), (1, 2), (2, 3), (3, 4)]);
    assert!(placed.items.iter().all(|corner| corner.y == 0), "{:?}", placed.items);
    assert_eq!(curve(&placed.links[0]), "M100 10H148");
}

#[test]
fn boxes_of_the_path_are_level() {
    // One listener, forty hosts, one service.
    let pairs: Vec<(usize, usize)> = (1..41).flat_map(|host| [(0, host), (host, 41)]).collect();
    let mut items = boxes(42);
    let far = place(&items, &pairs);
    assert!(far.items[0].y.abs_diff(far.items[1].y) > 300, "{far:?}");
    [0, 1, 41].into_iter().for_each(|at| items[at].on_path = true);
    let near = place(&items, &pairs);
    for at in [0, 41] {
        assert!(near.items[at].y.abs_diff(near.items[1].y) < 30, "{at}: {near:?}");
    }
    assert!(!overlaps(&items, &near));
}

#[test]
fn layout_of_cycles_terminates() {
    let pairs = [(0, 1), (1, 2), (2, 0), (2, 2), (7, 1)];
    let placed = place(&boxes(3), &pairs);
    let back = &placed.links[2];
    assert!(back.first().expect("a start").x > back.last().expect("an end").x, "{back:?}");
    assert!(placed.links[3].is_empty() && placed.links[4].is_empty(), "a line needs two ends");
    assert!(!overlaps(&boxes(3), &placed));
}

#[test]
fn requested_columns_are_kept() {
    let mut items = boxes(3);
    (items[0].column, items[1].column, items[2].column) = (Some(1), Some(4), Some(1));
    let placed = place(&items, &[(0, 1), (1, 2)]);
    assert_eq!(placed.items[0].x, placed.items[2].x);
    assert!(placed.items[1].x > placed.items[0].x);
}

#[test]
fn bands_do_not_mix() {
    let mut items = boxes(6);
    items[1].band = 1;
    items[4].band = 1;
    let placed = place(&items, &[(0, 1), (0, 2), (0, 3), (3, 4), (3, 5)]);
    let (_, top, _) = placed.bands[1];
    for (corner, item) in placed.items.iter().zip(&items) {
        assert_eq!(corner.y >= top, item.band == 1);
    }
}

#[test]
fn lines_cross_only_where_they_must() {
    // Two trees, given in mixed order.
    let placed = place(&boxes(8), &[(0, 7), (0, 3), (1, 4), (1, 6), (0, 5), (1, 2)]);
    let y: Vec<i32> = placed.items.iter().map(|corner| corner.y).collect();
    let of = |all: [usize; 3]| (all.map(|at| y[at]).into_iter().min(), all.map(|at| y[at]).into_iter().max());
    let (first, second) = (of([3, 5, 7]), of([2, 4, 6]));
    assert!(first.1 < second.0 || second.1 < first.0, "{y:?}");
}

#[test]
fn layout_is_deterministic_and_has_no_overlaps() {
    let (items, pairs) = gateway(&[2, 10, 60, 120, 80]);
    let placed = place(&items, &pairs);
    assert_eq!(placed, place(&items, &pairs));
    assert!(!overlaps(&items, &placed));
}

/// Users recognise the order of the boxes after an addition.
#[test]
fn added_box_keeps_order_of_others() {
    let (items, pairs) = gateway(&[2, 6, 30, 60, 40]);
    let before = place(&items, &pairs);
    for at in [0, 9, 50, 120] {
        let mut more: Vec<Item> = items.iter().zip(&before.items).map(|(item, corner)| Item { before: Some(corner.y), ..*item }).collect();
        more.insert(at, boxes(1)[0]);
        let moved = |old: usize| old + usize::from(old >= at);
        let mut links: Vec<(usize, usize)> = pairs.iter().map(|(from, to)| (moved(*from), moved(*to))).collect();
        links.push((moved(2), at));
        let after = place(&more, &links);
        let mut exchanged = 0;
        for a in 0..items.len() {
            for b in 0..a {
                let (old_a, old_b) = (before.items[a], before.items[b]);
                let (new_a, new_b) = (after.items[moved(a)], after.items[moved(b)]);
                let same_column = old_a.x == old_b.x && new_a.x == new_b.x;
                exchanged += usize::from(same_column && (old_a.y < old_b.y) != (new_a.y < new_b.y));
            }
        }
        assert_eq!(exchanged, 0, "with one more at {at}");
    }
}

#[test]
fn fifty_thousand_boxes_are_placed() {
    let (items, pairs) = gateway(&[10, 990, 9_000, 20_000, 20_000]);
    let placed = place(&items, &pairs);
    assert!(!overlaps(&items, &placed));
    assert!(placed.height > 20_000 * 20 && placed.links.iter().all(|points| points.len() >= 2));
}

#[test]
fn layout_of_long_chain_terminates() {
    let count = 50_000;
    let mut pairs: Vec<(usize, usize)> = (1..count).map(|at| (at - 1, at)).collect();
    pairs.extend((0..count / 2).map(|at| (at, count - 1 - at)).filter(|(from, to)| from != to));
    let placed = place(&boxes(count), &pairs);
    assert_eq!(placed.links.len(), pairs.len());
}

#[test]
fn invalid_links_and_sizes_are_ignored() {
    assert_eq!(place(&[], &[(0, 1)]).links, [Vec::new()]);
    let odd = Item { width: -5, height: i32::MAX, column: Some(u32::MAX), band: 255, before: Some(i32::MIN), on_path: true };
    let placed = place(&[odd, odd, Item::default()], &[(0, 1), (1, 0)]);
    assert_eq!(placed.items.len(), 3);
}
