//! Recompiles the input without one object, to see what the gateways would then do. Does not compare the results.

use super::{Gateway, Ledger, Purpose, SideRef, Task};
use crate::diagnostic::Findings;
use crate::executor::Sequential;
use crate::resource::ObjectId;
use alloc::vec::Vec;

/// Larger inputs are not recompiled.
const MOST_COMPILED_AGAIN: usize = 64;

impl SideRef<'_> {
    /// Whether the input is small enough to be recompiled without an object.
    pub fn may_be_recompiled(self) -> bool {
        self.objects().len() <= MOST_COMPILED_AGAIN
    }

    /// The gateways of the same input without an object and the objects in its annotations. Nothing is assumed in their place. `None` if the input
    /// is too large.
    pub fn gateways_without(self, object: ObjectId) -> Option<Vec<Gateway>> {
        if !self.may_be_recompiled() {
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
