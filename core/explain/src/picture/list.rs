//! Places boxes in one lane from top to bottom: each box below its predecessor, indented by one step. Does not place columns; see `layout`.

use super::{EdgePath, Frame};
use crate::layout::{Layout, Point};
use alloc::vec;
use alloc::vec::Vec;

/// The indent of a box relative to its predecessor.
const STEP: i32 = 22;

/// Boxes are indented by at most this many steps.
const MOST_STEPS: i32 = 5;

/// Distances between boxes, and between the lane and the supporting boxes.
const ROW: i32 = 12;
const BAND: i32 = 48;

/// Places boxes. Lines run down to the left of their targets.
pub(super) fn place(frames: &[Frame], threads: &[EdgePath]) -> Layout {
    let order = order(frames, threads);
    let mut items = vec![Point::default(); frames.len()];
    let (mut y, mut bands, mut width) = (0, Vec::new(), 0);
    for band in [false, true] {
        let top = y;
        for (at, steps) in order.iter().filter(|(at, _)| frames[*at].supporting == band) {
            items[*at] = Point { x: steps * STEP, y };
            width = width.max(steps * STEP + frames[*at].width);
            y += frames[*at].height + ROW;
        }
        if y > top {
            bands.push((u8::from(band), top, y - ROW));
            y += BAND - ROW;
        }
    }
    let height = bands.last().map_or(0, |(.., bottom)| *bottom);
    let course = |thread: &EdgePath| {
        let (Some(from), Some(to)) = (frames.get(thread.from), frames.get(thread.to)) else { return Vec::new() };
        let (start, end) = (items[thread.from], items[thread.to]);
        let (bottom, middle) = (start.y + from.height, end.y + to.height / 2);
        // From the bottom of the start down to the side of the end; upwards from its side.
        let first = Point { x: start.x + STEP / 2, y: if bottom <= middle { bottom } else { start.y } };
        Vec::from([first, Point { x: first.x, y: middle }, Point { x: end.x, y: middle }])
    };
    Layout { links: threads.iter().map(course).collect(), items, bands, width, height }
}

/// Returns the boxes in the order in which a request meets them, each with its indent.
fn order(frames: &[Frame], threads: &[EdgePath]) -> Vec<(usize, i32)> {
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); frames.len()];
    let mut led = vec![false; frames.len()];
    for thread in threads.iter().filter(|thread| frames[thread.from].supporting == frames[thread.to].supporting) {
        after[thread.from].push(thread.to);
        led[thread.to] = true;
    }
    let mut seen = vec![false; frames.len()];
    let mut out = Vec::new();
    let (roots, others): (Vec<usize>, Vec<usize>) = (0..frames.len()).partition(|at| !led[*at]);
    for start in roots.into_iter().chain(others) {
        let mut open = Vec::from([(start, 0)]);
        while let Some((at, steps)) = open.pop() {
            if !core::mem::replace(&mut seen[at], true) {
                out.push((at, steps));
                open.extend(after[at].iter().rev().map(|to| (*to, (steps + 1).min(MOST_STEPS))));
            }
        }
    }
    out
}
