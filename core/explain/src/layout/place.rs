//! Computes coordinates: each column keeps its order, and every box is as close to its neighbours as possible. Does not order columns; see `order`.

use super::layers::Columns;
use super::{Item, Layout, Link, Point, Spacing};
use alloc::vec;
use alloc::vec::Vec;

/// The weight of a line between two boxes of the path. A box has fewer lines in most graphs.
const ON_PATH: i64 = 10_000;

/// Half of the height that a long line needs where it passes a column.
const HALF_LINE: i32 = 3;

pub(super) fn place(items: &[Item], links: &[Link], columns: &Columns, spacing: &Spacing) -> Layout {
    let (lefts, widths, width) = horizontal(items, columns, spacing);
    let (middles, bands, height) = vertical(items, columns, spacing);
    let corners = items
        .iter()
        .enumerate()
        .map(|(at, item)| Point { x: lefts[columns.vertices[at].column as usize], y: middles[at] - item.height / 2 })
        .collect();
    let lines = columns
        .paths
        .iter()
        .zip(links)
        .map(|(path, _)| {
            let Some((path, turned)) = path else { return Vec::new() };
            let mut points = Vec::with_capacity(path.len() * 2);
            for (step, vertex) in path.iter().enumerate() {
                let vertex = *vertex as usize;
                let column = columns.vertices[vertex].column as usize;
                let y = middles[vertex];
                let wide = items.get(vertex).map_or(widths[column], |item| item.width);
                if step > 0 {
                    points.push(Point { x: lefts[column], y });
                }
                if step + 1 < path.len() {
                    points.push(Point { x: lefts[column] + wide, y });
                    // The line passes wider boxes of the column before it bends.
                    if wide < widths[column] {
                        points.push(Point { x: lefts[column] + widths[column], y });
                    }
                }
            }
            if *turned {
                points.reverse();
            }
            points
        })
        .collect();
    Layout { items: corners, links: lines, bands, width, height }
}

/// Returns the start and width of each column, and the total width. Columns are further apart if more lines pass between them.
fn horizontal(items: &[Item], columns: &Columns, spacing: &Spacing) -> (Vec<i32>, Vec<i32>, i32) {
    let (mut lefts, mut widths, mut x) = (Vec::new(), Vec::new(), 0);
    for column in &columns.columns {
        let width = column.iter().filter_map(|at| items.get(*at as usize)).map(|item| item.width).max().unwrap_or(1);
        let lines: usize = column.iter().map(|at| columns.after[*at as usize].len()).sum();
        lefts.push(x);
        widths.push(width);
        x += width + spacing.column + (lines as i32 / 2).min(spacing.column);
    }
    let width = lefts.last().zip(widths.last()).map_or(0, |(left, width)| left + width);
    (lefts, widths, width)
}

/// Returns the middle of every vertex, the bands, and the total height.
fn vertical(items: &[Item], columns: &Columns, spacing: &Spacing) -> (Vec<i32>, Vec<(u8, i32, i32)>, i32) {
    let mut middles = vec![0i32; columns.vertices.len()];
    let mut bands: Vec<u8> = columns.vertices.iter().map(|vertex| vertex.band).collect();
    bands.sort();
    bands.dedup();
    let half = |vertex: u32| items.get(vertex as usize).map_or(HALF_LINE, |item| item.height / 2 + item.height % 2);
    let is_on_path = |vertex: u32| items.get(vertex as usize).is_some_and(|item| item.on_path);
    let (mut placed, mut top) = (Vec::new(), 0);
    for band in bands {
        let of_band: Vec<Vec<u32>> =
            columns.columns.iter().map(|column| column.iter().copied().filter(|at| columns.vertices[*at as usize].band == band).collect()).collect();
        settle(&of_band, columns, band, spacing, &half, &is_on_path, &mut middles);
        let ends = of_band.iter().flatten().map(|at| (middles[*at as usize] - half(*at), middles[*at as usize] + half(*at)));
        let (first, last) = ends.fold((i32::MAX, i32::MIN), |(first, last), (from, to)| (first.min(from), last.max(to)));
        for at in of_band.iter().flatten() {
            middles[*at as usize] += top - first;
        }
        let bottom = top + (last - first);
        placed.push((band, top, bottom));
        top = bottom + spacing.band;
    }
    let height = placed.last().map_or(0, |(.., bottom)| *bottom);
    (middles, placed, height)
}

/// Moves the vertices of a band towards their neighbours, back and forth.
fn settle(
    of_band: &[Vec<u32>],
    columns: &Columns,
    band: u8,
    spacing: &Spacing,
    half: &impl Fn(u32) -> i32,
    is_on_path: &impl Fn(u32) -> bool,
    middles: &mut [i32],
) {
    let count: usize = of_band.iter().map(Vec::len).sum();
    let rounds = match count {
        0..4_000 => 8,
        4_000..20_000 => 4,
        _ => 2,
    };
    // The minimum distance between the middles of two consecutive vertices.
    let apart = |above: u32, below: u32| {
        let lines = columns.vertices[above as usize].item.is_none() && columns.vertices[below as usize].item.is_none();
        half(above) + half(below) + if lines { 0 } else { spacing.row }
    };
    for column in of_band {
        let mut y = 0;
        for (at, vertex) in column.iter().enumerate() {
            y += at.checked_sub(1).map_or(0, |above| apart(column[above], *vertex));
            middles[*vertex as usize] = y;
        }
    }
    let mut blocks = Vec::new();
    for round in 0..=rounds * 2 {
        let forward = round % 2 == 0;
        let indexes: Vec<usize> = if forward { (0..of_band.len()).collect() } else { (0..of_band.len()).rev().collect() };
        for at in indexes {
            let wish = |vertex: u32| -> (i64, i64) {
                let (mut sum, mut weight) = (0i64, 0i64);
                let own_line = columns.vertices[vertex as usize].item.is_none();
                // The last rounds use the neighbours on both sides.
                let both = round + 2 > rounds * 2;
                let near = [(&columns.before, forward || both), (&columns.after, !forward || both)];
                for other in near.iter().filter(|(_, used)| *used).flat_map(|(near, _)| &near[vertex as usize]) {
                    let other_of = &columns.vertices[*other as usize];
                    if other_of.band == band {
                        let heavy = match (own_line, other_of.item.is_none()) {
                            _ if is_on_path(vertex) && is_on_path(*other) => ON_PATH,
                            (true, true) => 8,
                            (true, false) | (false, true) => 2,
                            (false, false) => 1,
                        };
                        sum += i64::from(middles[*other as usize]) * heavy;
                        weight += heavy;
                    }
                }
                // A box without a neighbour on that side keeps its position, if there is room.
                if weight == 0 { (i64::from(middles[vertex as usize]), 1) } else { (sum / weight, weight * 16) }
            };
            let wishes: Vec<(i64, i64)> = of_band[at].iter().map(|vertex| wish(*vertex)).collect();
            fit(&of_band[at], &wishes, &apart, &mut blocks, middles);
        }
    }
}

/// Several touching vertices that move together.
struct Block {
    first: usize,
    /// The weighted sum of wishes, each less its distance from the column's top.
    sum: i64,
    weight: i64,
}

/// Moves a column's vertices as close to their wishes as order and distances allow (least squares), by isotonic regression: neighbours that violate
/// the order are merged.
fn fit(column: &[u32], wishes: &[(i64, i64)], apart: &impl Fn(u32, u32) -> i32, blocks: &mut Vec<Block>, middles: &mut [i32]) {
    blocks.clear();
    let mut depths = Vec::with_capacity(column.len());
    let mut depth = 0i64;
    for (at, (vertex, (target, weight))) in column.iter().zip(wishes.iter().copied()).enumerate() {
        depth += at.checked_sub(1).map_or(0, |above| i64::from(apart(column[above], *vertex)));
        depths.push(depth);
        let mut block = Block { first: at, sum: (target - depth) * weight, weight };
        while let Some(above) = blocks.pop_if(|above| above.sum.div_euclid(above.weight) >= block.sum.div_euclid(block.weight)) {
            block = Block { first: above.first, sum: above.sum + block.sum, weight: above.weight + block.weight };
        }
        blocks.push(block);
    }
    let mut end = column.len();
    for block in blocks.iter().rev() {
        let base = block.sum.div_euclid(block.weight);
        for at in block.first..end {
            middles[column[at] as usize] = (base + depths[at]).clamp(-(1 << 30), 1 << 30) as i32;
        }
        end = block.first;
    }
}
