//! The same input without an object: what the gateways would then do.
//!
//! What must not be here: what differs.

use super::{Gateway, Ledger, Purpose, SideRef, Task};
use crate::diagnostic::Findings;
use crate::executor::Sequential;
use crate::resource::ObjectId;
use alloc::vec::Vec;

/// Larger inputs are not compiled again for a question.
const MOST_COMPILED_AGAIN: usize = 64;

impl SideRef<'_> {
    /// Whether the input is small enough to be compiled again without an object.
    pub fn may_be_made_again(self) -> bool {
        self.objects().len() <= MOST_COMPILED_AGAIN
    }

    /// The gateways of the same input without an object and what its annotations hold. Nothing is assumed in its place. `None` where the input is too
    /// large to be compiled again.
    pub fn gateways_without(self, object: ObjectId) -> Option<Vec<Gateway>> {
        if !self.may_be_made_again() {
            return None;
        }
        let mut objects = self.objects().clone();
        objects.retain(|of| of.id != object && of.parent.is_none_or(|(holder, _)| holder != object));
        let found = self.compilation.diagnostics.iter().filter(|finding| finding.place.object() != Some(object));
        let mut sink: Findings = found.cloned().collect();
        let mut ledger = Ledger::new(&objects);
        let mut memory = (self.dialect().memory)();
        let task = Task {
            objects: &mut objects,
            options: &self.side.options,
            executor: &Sequential,
            memory: &mut *memory,
            remembers: false,
            purpose: Purpose::All,
            ledger: &mut ledger,
            sink: &mut sink,
        };
        Some((self.dialect().compile)(task).gateways)
    }
}
