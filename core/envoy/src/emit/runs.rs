//! Caches the pieces of several consecutive values. A long list is cut into runs, so that most runs of a changed list are found in the cache
//! without visiting every element.
//!
//! The cuts depend only on the elements, not on their positions: an insertion or removal changes one run.

use crate::Layout;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::output_map::Fragment;
use chancery_base::rope::Rope;
use core::hash::{BuildHasher, Hasher};
use hashbrown::HashMap;

/// Shorter lists are not cut.
pub(super) const LONG: usize = 16;
/// The longest run.
const LONGEST: usize = 256;
/// An unused run is kept for this many emissions: the views of a user interface alternate.
const KEPT: u32 = 4;

/// Cuts a list into runs.
pub(super) fn cut<T>(elements: &[Arc<T>]) -> impl Iterator<Item = &[Arc<T>]> {
    let mut length = 0;
    elements.chunk_by(move |element, _| {
        length += 1;
        // On average one element in 64 ends a run.
        let hash = (Arc::as_ptr(element).addr() as u64 >> 4).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let goes_on = hash >> 58 != 0 && length < LONGEST;
        if !goes_on {
            length = 0;
        }
        goes_on
    })
}

/// The cached runs.
#[derive(Debug)]
pub(super) struct Runs<T> {
    entries: HashMap<u64, Vec<RunEntry<T>>>,
    round: u32,
}

impl<T> Default for Runs<T> {
    fn default() -> Self {
        Self { entries: HashMap::default(), round: 0 }
    }
}

#[derive(Debug)]
struct RunEntry<T> {
    run: Vec<Arc<T>>,
    layout: Layout,
    level: usize,
    made: RunMade,
    used: u32,
}

/// The pieces of one run.
#[derive(Clone, Debug, Default)]
pub(super) struct RunMade {
    /// The elements with their separators.
    pub(super) text: Option<Arc<Rope>>,
    pub(super) fragments: Option<Arc<Vec<Arc<Fragment>>>>,
    /// Whether no element breaks a field rule, as far as known.
    pub(super) sound: bool,
}

impl<T> Runs<T> {
    pub(super) fn begin(&mut self, round: u32) {
        self.round = round;
        self.entries.retain(|_, entries| {
            entries.retain(|entry| round.wrapping_sub(entry.used) <= KEPT);
            !entries.is_empty()
        });
    }

    fn hash(run: &[Arc<T>], layout: Layout, level: usize) -> u64 {
        let mut hasher = foldhash::fast::FixedState::with_seed(0).build_hasher();
        hasher.write_usize(level * 2 + usize::from(layout == Layout::Pretty));
        run.iter().for_each(|of| hasher.write_usize(Arc::as_ptr(of).addr()));
        hasher.finish()
    }

    fn find(&mut self, run: &[Arc<T>], layout: Layout, level: usize) -> Option<&mut RunEntry<T>> {
        let same = |entry: &&mut RunEntry<T>| {
            entry.layout == layout
                && entry.level == level
                && entry.run.len() == run.len()
                && entry.run.iter().zip(run).all(|(a, b)| Arc::ptr_eq(a, b))
        };
        self.entries.get_mut(&Self::hash(run, layout, level))?.iter_mut().find(same)
    }

    /// Returns the cached pieces of a run.
    pub(super) fn take(&mut self, run: &[Arc<T>], layout: Layout, level: usize) -> RunMade {
        let round = self.round;
        let Some(entry) = self.find(run, layout, level) else { return RunMade::default() };
        entry.used = round;
        entry.made.clone()
    }

    /// Stores the pieces of a run.
    pub(super) fn keep(&mut self, run: &[Arc<T>], layout: Layout, level: usize, made: RunMade) {
        let round = self.round;
        match self.find(run, layout, level) {
            Some(entry) => entry.made = made,
            None => {
                let entry = RunEntry { run: run.to_vec(), layout, level, made, used: round };
                self.entries.entry(Self::hash(run, layout, level)).or_default().push(entry);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_insertion_changes_one_run() {
        let mut list: Vec<Arc<usize>> = (0..5000).map(Arc::new).collect();
        let before: Vec<Vec<Arc<usize>>> = cut(&list).map(<[_]>::to_vec).collect();
        assert_eq!(before.concat(), list, "nothing is lost");
        assert!(before.len() > 20 && before.iter().all(|run| run.len() <= LONGEST));
        let same =
            |run: &&[Arc<usize>]| before.iter().any(|known| known.len() == run.len() && known.iter().zip(*run).all(|(a, b)| Arc::ptr_eq(a, b)));
        list.insert(2500, Arc::new(5000));
        let after: Vec<_> = cut(&list).collect();
        assert!(after.iter().filter(|run| !same(run)).count() <= 3);
    }
}
