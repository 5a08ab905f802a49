//! A layered layout: boxes in columns, lines between them from left to right.
//!
//! A pure function of sizes and lines, in whole numbers, so that the same input gives the same picture everywhere. After Sugiyama: lines
//! that lead back are turned ([`layers`]), boxes get columns, long lines get a place in every column that they pass, columns are ordered
//! so that few lines cross ([`order`]), and places are chosen so that lines are straight ([`place`]). What was there before keeps its
//! order. Work is bounded: the larger the input, the fewer the rounds.
//!
//! What must not be here: what a box or a line means, and how it is drawn.

mod layers;
mod order;
mod place;

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write as _;

/// A box to be placed. Lengths have the unit of the caller's picture, usually CSS pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Item {
    /// Its width.
    pub width: i32,
    /// Its height.
    pub height: i32,
    /// The first column that it may stand in; `None` where lines alone decide.
    pub column: Option<u32>,
    /// Boxes of a higher band stand below all those of a lower one.
    pub band: u8,
    /// Where it stood before (its top): boxes that have it keep their order.
    pub before: Option<i32>,
}

/// A line between two boxes, by their indexes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// Where it starts.
    pub from: usize,
    /// Where it ends.
    pub to: usize,
}

/// Distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spacing {
    /// Between columns, at least.
    pub column: i32,
    /// Between boxes of a column.
    pub row: i32,
    /// Between bands.
    pub band: i32,
}

impl Default for Spacing {
    fn default() -> Self {
        Self { column: 48, row: 14, band: 48 }
    }
}

/// A point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Point {
    /// To the right.
    pub x: i32,
    /// Down.
    pub y: i32,
}

/// Where everything goes.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Layout {
    /// The upper left corner of each box.
    pub items: Vec<Point>,
    /// The points of each line, from its start to its end; none where it has no two ends. [`curve`] draws through them.
    pub links: Vec<Vec<Point>>,
    /// The top and bottom of each band that has boxes, lowest band first.
    pub bands: Vec<(u8, i32, i32)>,
    /// Width of the whole.
    pub width: i32,
    /// Height of the whole.
    pub height: i32,
}

/// The largest length of a box's side; larger ones are cut to it.
const LONGEST: i32 = 4096;

/// Places boxes.
#[must_use]
pub fn layout(items: &[Item], links: &[Link], spacing: &Spacing) -> Layout {
    let items: Vec<Item> =
        items.iter().map(|item| Item { width: item.width.clamp(1, LONGEST), height: item.height.clamp(1, LONGEST), ..*item }).collect();
    let mut columns = layers::Columns::new(&items, links);
    order::order(&mut columns);
    place::place(&items, links, &columns, spacing)
}

/// A smooth curve through the points of a line, in the words of SVG's `d`.
#[must_use]
pub fn curve(points: &[Point]) -> String {
    let mut out = String::new();
    let Some((first, rest)) = points.split_first() else { return out };
    write!(out, "M{} {}", first.x, first.y).unwrap_or_default();
    let mut at = *first;
    for next in rest {
        if next.y == at.y {
            write!(out, "H{}", next.x).unwrap_or_default();
        } else {
            let middle = at.x + (next.x - at.x) / 2;
            write!(out, "C{middle} {} {middle} {} {} {}", at.y, next.y, next.x, next.y).unwrap_or_default();
        }
        at = *next;
    }
    out
}

#[cfg(test)]
mod tests;
