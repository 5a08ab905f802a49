//! One lane from top to bottom: each box below what leads to it, moved in by a step.
//!
//! What must not be here: columns; those are `layout`'s.

use super::{Frame, Thread};
use crate::layout::{Layout, Point};
use alloc::vec;
use alloc::vec::Vec;

/// How far a box is moved in from what leads to it.
const STEP: i32 = 22;

/// Boxes are moved in by at most this many steps.
const MOST_STEPS: i32 = 5;

/// Between boxes, and between the lane and what supports it.
const ROW: i32 = 12;
const BAND: i32 = 48;

/// Places boxes; the lines run down at the left of what they lead to.
pub(super) fn place(frames: &[Frame], threads: &[Thread]) -> Layout {
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
    let course = |thread: &Thread| {
        let (Some(from), Some(to)) = (frames.get(thread.from), frames.get(thread.to)) else { return Vec::new() };
        let (start, end) = (items[thread.from], items[thread.to]);
        let (bottom, middle) = (start.y + from.height, end.y + to.height / 2);
        // From the foot of the one down to the side of the other; upwards from its side.
        let first = Point { x: start.x + STEP / 2, y: if bottom <= middle { bottom } else { start.y } };
        Vec::from([first, Point { x: first.x, y: middle }, Point { x: end.x, y: middle }])
    };
    Layout { links: threads.iter().map(course).collect(), items, bands, width, height }
}

/// The boxes in the order in which a request meets them, each with how far it is moved in.
fn order(frames: &[Frame], threads: &[Thread]) -> Vec<(usize, i32)> {
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
