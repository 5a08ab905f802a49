//! Computes a layered layout: boxes in columns, with lines between them from left to right.
//!
//! It is a pure function of sizes and lines, in whole numbers, so that the same input gives the same picture everywhere. It follows Sugiyama: lines
//! that point back are reversed ([`layers`]), boxes get columns, long lines get a place in every column that they pass, columns are ordered so that
//! few lines cross ([`order`]), and positions are chosen so that lines are straight ([`place`]). Boxes of the previous picture keep their order.
//! Work is bounded: the larger the input, the fewer the rounds.
//!
//! Does not know what boxes mean or how they are drawn; see `picture`.

mod layers;
mod order;
mod place;

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write as _;

/// A box to be placed. Lengths are in the caller's unit, usually CSS pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Item {
    pub width: i32,
    pub height: i32,
    /// The first column that the box may be in; `None` if only lines decide.
    pub column: Option<u32>,
    /// Boxes of a higher band are below all boxes of a lower band.
    pub band: u8,
    /// The box's top in the previous picture. Boxes that have one keep their order.
    pub before: Option<i32>,
    /// Whether the box is on a path whose boxes are placed next to each other, before all other wishes.
    pub on_path: bool,
}

/// A line between two boxes, by their indexes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    pub from: usize,
    pub to: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spacing {
    /// The minimum between columns.
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

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Point {
    /// Distance to the right.
    pub x: i32,
    /// Distance down.
    pub y: i32,
}

/// The positions of all boxes and lines.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Layout {
    /// The upper left corner of each box.
    pub items: Vec<Point>,
    /// The points of each line, from its start to its end; empty if an end is missing. [`curve`] draws through them.
    pub links: Vec<Vec<Point>>,
    /// The top and bottom of each band that has boxes, lowest band first.
    pub bands: Vec<(u8, i32, i32)>,
    pub width: i32,
    pub height: i32,
}

/// The longest side of a box; longer sides are cut to it.
const LONGEST: i32 = 4096;

#[must_use]
pub fn layout(items: &[Item], links: &[Link], spacing: &Spacing) -> Layout {
    let items: Vec<Item> =
        items.iter().map(|item| Item { width: item.width.clamp(1, LONGEST), height: item.height.clamp(1, LONGEST), ..*item }).collect();
    let mut columns = layers::Columns::new(&items, links);
    order::order(&mut columns);
    place::place(&items, links, &columns, spacing)
}

/// Returns a smooth curve through the points of a line, in the syntax of SVG's `d`.
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
