//! Orders columns: sweeps by barycentre and exchanges of neighbours, while fewer lines cross. Does not compute coordinates; see `place`.

use super::layers::Columns;
use alloc::vec;
use alloc::vec::Vec;

/// Orders all columns.
pub(super) fn order(columns: &mut Columns) {
    let lines: usize = columns.after.iter().map(Vec::len).sum();
    let (rounds, exchanges) = match lines + columns.vertices.len() {
        0..4_000 => (12, 6),
        4_000..12_000 => (6, 2),
        12_000..60_000 => (3, 0),
        _ => (1, 0),
    };
    let mut place = vec![0u32; columns.vertices.len()];
    let mut best = columns.columns.clone();
    let mut fewest = crossings(columns, &mut place);
    let mut idle = 0;
    for round in 0..rounds {
        if fewest == 0 || idle > 2 {
            break;
        }
        sweep(columns, &mut place, round % 2 == 0);
        let now = crossings(columns, &mut place);
        if now < fewest {
            (fewest, idle) = (now, 0);
            best.clone_from(&columns.columns);
        } else {
            idle += 1;
        }
    }
    columns.columns = best;
    renumber(columns, &mut place);
    for _ in 0..exchanges {
        if !exchange(columns, &mut place) {
            break;
        }
    }
}

fn renumber(columns: &Columns, place: &mut [u32]) {
    for column in &columns.columns {
        for (at, vertex) in (0..).zip(column) {
            place[*vertex as usize] = at;
        }
    }
}

/// Orders every column by its neighbours' positions, in one direction.
fn sweep(columns: &mut Columns, place: &mut [u32], forward: bool) {
    renumber(columns, place);
    let count = columns.columns.len();
    for pass in 0..2 {
        let forward = forward == (pass == 0);
        for step in 1..count {
            let at = if forward { step } else { count - 1 - step };
            let (neighbours, other) = if forward { (&columns.before, at - 1) } else { (&columns.after, at + 1) };
            let scale = |place: u64, of: usize| (place << 20) / (of as u64).max(1);
            let (own, others) = (columns.columns[at].len(), columns.columns[other].len());
            let mut keyed: Vec<(u8, u64, u32, u32)> = columns.columns[at]
                .iter()
                .map(|vertex| {
                    let near = &neighbours[*vertex as usize];
                    let here = place[*vertex as usize];
                    // The mean position, counted in halves, so that a vertex with one neighbour is opposite to it.
                    let sum: u64 = near.iter().map(|near| 2 * u64::from(place[*near as usize]) + 1).sum();
                    let value = if near.is_empty() { scale(2 * u64::from(here) + 1, own) } else { scale(sum / near.len() as u64, others) };
                    (columns.vertices[*vertex as usize].band, value, here, *vertex)
                })
                .collect();
            // Known vertices keep their order: none comes before the known vertex that preceded it.
            let mut least = (0, 0);
            for (band, value, ..) in keyed.iter_mut().filter(|(.., vertex)| columns.vertices[*vertex as usize].known) {
                least = if least.0 == *band { (*band, least.1.max(*value)) } else { (*band, *value) };
                *value = least.1;
            }
            keyed.sort();
            let column: Vec<u32> = keyed.into_iter().map(|(.., vertex)| vertex).collect();
            for (here, vertex) in (0..).zip(&column) {
                place[*vertex as usize] = here;
            }
            columns.columns[at] = column;
        }
    }
}

/// Counts the crossings of lines.
fn crossings(columns: &Columns, place: &mut [u32]) -> u64 {
    renumber(columns, place);
    let mut crossings = 0;
    let mut tree: Vec<u32> = Vec::new();
    let mut ends: Vec<u32> = Vec::new();
    for pair in columns.columns.windows(2) {
        let (left, right) = (&pair[0], &pair[1]);
        tree.clear();
        tree.resize(right.len() + 1, 0);
        let mut before = 0;
        for vertex in left {
            ends.clear();
            ends.extend(columns.after[*vertex as usize].iter().map(|to| place[*to as usize]));
            ends.sort();
            // Lines of earlier vertices that end further down cross this one.
            for end in &ends {
                crossings += before - u64::from(sum(&tree, *end as usize + 1));
            }
            for end in &ends {
                add(&mut tree, *end as usize + 1);
            }
            before += ends.len() as u64;
        }
    }
    crossings
}

/// Returns the sum of the first `at` entries of a Fenwick tree.
fn sum(tree: &[u32], mut at: usize) -> u32 {
    let mut sum = 0;
    while at > 0 {
        sum += tree[at];
        at &= at - 1;
    }
    sum
}

fn add(tree: &mut [u32], mut at: usize) {
    while at < tree.len() {
        tree[at] += 1;
        at += at & at.wrapping_neg();
    }
}

/// Exchanges neighbours if that reduces crossings. Returns whether it exchanged any.
fn exchange(columns: &mut Columns, place: &mut [u32]) -> bool {
    /// Vertices with more lines do not move, so that a round stays linear.
    const MANY: usize = 64;
    let mut any = false;
    let (before, after, vertices) = (&columns.before, &columns.after, &columns.vertices);
    for column in &mut columns.columns {
        for at in 1..column.len() {
            let (a, b) = (column[at - 1] as usize, column[at] as usize);
            if vertices[a].band != vertices[b].band || (vertices[a].known && vertices[b].known) {
                continue;
            }
            let lines = [&before[a], &before[b], &after[a], &after[b]];
            if lines.iter().any(|lines| lines.len() > MANY) {
                continue;
            }
            let count = |first: &[u32], second: &[u32]| -> usize {
                first.iter().map(|x| second.iter().filter(|y| place[**y as usize] < place[*x as usize]).count()).sum()
            };
            let now = count(&before[a], &before[b]) + count(&after[a], &after[b]);
            let then = count(&before[b], &before[a]) + count(&after[b], &after[a]);
            if then < now {
                column.swap(at - 1, at);
                place.swap(a, b);
                any = true;
            }
        }
    }
    any
}
