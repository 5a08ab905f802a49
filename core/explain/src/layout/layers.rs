//! Assigns boxes to columns, and gives long lines a place in each column that they pass. Does not order columns; see `order`.

use super::{Item, Link};
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

/// Long lines get at most this many places; further lines are drawn straight from end to end.
const MOST_BENDS: usize = 200_000;

/// The last column that a caller may request.
const LAST_COLUMN: u32 = 1 << 20;

/// An element of a column: a box, or the place of a long line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vertex {
    /// Index of the box.
    pub item: Option<u32>,
    pub column: u32,
    pub band: u8,
    /// The key of the initial order.
    pub seed: i64,
    /// Whether it keeps its order relative to other known vertices.
    pub known: bool,
}

/// Boxes and lines, cut into columns.
pub(super) struct Columns {
    /// Boxes first, by their indexes.
    pub vertices: Vec<Vertex>,
    /// The vertices of each column, in their order.
    pub columns: Vec<Vec<u32>>,
    /// Neighbours of each vertex in the previous and the next column.
    pub before: Vec<Vec<u32>>,
    pub after: Vec<Vec<u32>>,
    /// The vertices of each line, from left to right, and whether the line points left.
    pub paths: Vec<Option<(Vec<u32>, bool)>>,
}

impl Columns {
    pub fn new(items: &[Item], links: &[Link]) -> Self {
        let count = items.len();
        let valid = |link: &Link| link.from < count && link.to < count && link.from != link.to;
        let turned = turned(items, links, &valid);
        // From left to right.
        let ends: Vec<Option<(usize, usize)>> = links
            .iter()
            .zip(&turned)
            .map(|(link, turned)| valid(link).then_some(if *turned { (link.to, link.from) } else { (link.from, link.to) }))
            .collect();
        let column = assign(items, &ends);
        let mut columns = Self {
            vertices: items
                .iter()
                .enumerate()
                .map(|(at, item)| Vertex {
                    item: Some(at as u32),
                    column: column[at],
                    band: item.band,
                    seed: at as i64 * 2,
                    known: item.before.is_some(),
                })
                .collect(),
            columns: vec![Vec::new(); column.iter().max().map_or(0, |last| *last as usize + 1)],
            before: vec![Vec::new(); count],
            after: vec![Vec::new(); count],
            paths: Vec::with_capacity(links.len()),
        };
        columns.cut(&ends, &turned);
        for at in 0..columns.vertices.len() {
            let column = columns.vertices[at].column as usize;
            columns.columns[column].push(at as u32);
        }
        for neighbours in columns.before.iter_mut().chain(&mut columns.after) {
            neighbours.sort();
            neighbours.dedup();
        }
        columns.start(items);
        columns
    }

    /// Gives long lines places in the columns that they pass. Lines from one box share places while they go the same way.
    fn cut(&mut self, ends: &[Option<(usize, usize)>], turned: &[bool]) {
        let mut trunks: BTreeMap<(u32, u32, u8), u32> = BTreeMap::new();
        for (ends, turned) in ends.iter().zip(turned) {
            let Some((left, right)) = *ends else {
                self.paths.push(None);
                continue;
            };
            let (first, last) = (self.vertices[left].column, self.vertices[right].column);
            let band = self.vertices[left].band.max(self.vertices[right].band);
            let fits = trunks.len() + (last - first) as usize <= MOST_BENDS;
            let mut path = vec![left as u32];
            for column in first + 1..if fits { last } else { 0 } {
                let vertex = *trunks.entry((left as u32, column, band)).or_insert_with(|| {
                    self.vertices.push(Vertex { item: None, column, band, seed: left as i64 * 2 + 1, known: false });
                    self.before.push(Vec::new());
                    self.after.push(Vec::new());
                    self.vertices.len() as u32 - 1
                });
                path.push(vertex);
            }
            path.push(right as u32);
            if fits {
                for pair in path.windows(2) {
                    self.after[pair[0] as usize].push(pair[1]);
                    self.before[pair[1] as usize].push(pair[0]);
                }
            }
            self.paths.push(Some((path, *turned)));
        }
    }

    /// Sets the initial order: the previous order, else the given order. New boxes come after their predecessor in the input.
    fn start(&mut self, items: &[Item]) {
        let mut known: Vec<(usize, i32)> = items.iter().enumerate().filter_map(|(at, item)| Some((at, item.before?))).collect();
        if !known.is_empty() {
            known.sort_by_key(|(at, before)| (*before, *at));
            let mut place = vec![None; items.len()];
            for (rank, (at, _)) in known.iter().enumerate() {
                place[*at] = Some(rank as i64 * 4);
            }
            // By column and band, since users see the order within them.
            let mut last: BTreeMap<(u32, u8), i64> = BTreeMap::new();
            for (vertex, place) in self.vertices.iter_mut().zip(&place) {
                let last = last.entry((vertex.column, vertex.band)).or_insert(-1);
                *last = place.unwrap_or(*last + 1);
                vertex.seed = *last;
            }
            for at in items.len()..self.vertices.len() {
                let mut source = at;
                while self.vertices[source].item.is_none() {
                    let Some(before) = self.before[source].first() else { break };
                    source = *before as usize;
                }
                self.vertices[at].seed = self.vertices[source].seed;
            }
        }
        let vertices = &self.vertices;
        for column in &mut self.columns {
            column.sort_by_key(|at| (vertices[*at as usize].band, vertices[*at as usize].seed, *at));
        }
    }
}

/// Returns the lines that must be reversed so that none points left: lines against the requested columns, and one line of every cycle.
fn turned(items: &[Item], links: &[Link], valid: &impl Fn(&Link) -> bool) -> Vec<bool> {
    let against = |link: &Link| match (items[link.from].column, items[link.to].column) {
        (Some(from), Some(to)) => from > to,
        _ => false,
    };
    let mut turned: Vec<bool> = links.iter().map(|link| valid(link) && against(link)).collect();
    let mut after: Vec<Vec<(usize, usize)>> = vec![Vec::new(); items.len()];
    for (at, link) in links.iter().enumerate().filter(|(_, link)| valid(link)) {
        let (left, right) = if turned[at] { (link.to, link.from) } else { (link.from, link.to) };
        after[left].push((right, at));
    }
    #[derive(Clone, Copy, PartialEq)]
    enum Visit {
        Not,
        Open,
        Done,
    }
    let mut seen = vec![Visit::Not; items.len()];
    let mut stack: Vec<(usize, usize)> = Vec::new();
    for start in 0..items.len() {
        if seen[start] != Visit::Not {
            continue;
        }
        seen[start] = Visit::Open;
        stack.push((start, 0));
        while let Some((node, next)) = stack.last_mut() {
            match after[*node].get(*next) {
                Some((to, link)) => {
                    *next += 1;
                    match seen[*to] {
                        Visit::Open => turned[*link] = !turned[*link],
                        Visit::Not => {
                            seen[*to] = Visit::Open;
                            stack.push((*to, 0));
                        }
                        Visit::Done => {}
                    }
                }
                None => {
                    seen[*node] = Visit::Done;
                    stack.pop();
                }
            }
        }
    }
    turned
}

/// Returns the column of each box: after all boxes that lead to it, not before the requested column, and close to its targets.
fn assign(items: &[Item], ends: &[Option<(usize, usize)>]) -> Vec<u32> {
    let (mut after, mut before) = (vec![Vec::new(); items.len()], vec![Vec::new(); items.len()]);
    for (left, right) in ends.iter().flatten() {
        after[*left].push(*right);
        before[*right].push(*left);
    }
    let mut column: Vec<u32> = items.iter().map(|item| item.column.unwrap_or(0).min(LAST_COLUMN)).collect();
    let mut open: Vec<usize> = before.iter().map(Vec::len).collect();
    let mut sorted: Vec<usize> = (0..items.len()).filter(|at| open[*at] == 0).collect();
    let mut done = 0;
    while let Some(at) = sorted.get(done).copied() {
        done += 1;
        for to in &after[at] {
            column[*to] = column[*to].max(column[at] + 1);
            open[*to] -= 1;
            if open[*to] == 0 {
                sorted.push(*to);
            }
        }
    }
    // A box goes just before its placed targets. A box without targets goes just after its predecessors.
    let mut held: Vec<bool> = items.iter().map(|item| item.column.is_some()).collect();
    for at in sorted.iter().rev().copied() {
        let nearest = after[at].iter().filter(|to| held[**to]).map(|to| column[*to]).min();
        let nearest = nearest.or_else(|| after[at].iter().map(|to| column[*to]).min().filter(|_| before[at].is_empty()));
        if let (false, Some(nearest)) = (held[at], nearest) {
            column[at] = column[at].max(nearest.saturating_sub(1));
            held[at] = true;
        }
    }
    for at in sorted.iter().copied() {
        let nearest = before[at].iter().map(|from| column[*from] + 1).max();
        column[at] = column[at].max(nearest.unwrap_or(0));
    }
    // Boxes without lines fill the columns in turn.
    let used: BTreeMap<u32, u32> = {
        let mut used: Vec<u32> = (0..items.len())
            .filter(|at| items[*at].column.is_some() || !after[*at].is_empty() || !before[*at].is_empty())
            .map(|at| column[at])
            .collect();
        used.sort();
        used.dedup();
        used.into_iter().zip(0..).collect()
    };
    let alone = items.len() - (0..items.len()).filter(|at| !after[*at].is_empty() || !before[*at].is_empty()).count();
    let width = if used.is_empty() { alone.isqrt().clamp(1, 8) as u32 } else { used.len() as u32 };
    let mut next: BTreeMap<u8, u32> = BTreeMap::new();
    (0..items.len())
        .map(|at| match used.get(&column[at]) {
            Some(place) if items[at].column.is_some() || !after[at].is_empty() || !before[at].is_empty() => *place,
            _ => {
                let next = next.entry(items[at].band).or_default();
                *next += 1;
                (*next - 1) % width
            }
        })
        .collect()
}
