//! The inputs as they were before each change: kept as what would undo it, so that any of the moments can be brought back to compare with.
//!
//! What must not be here: when a change came, and what it did.

use chancery_core::order::Gather;
use chancery_web::protocol::SourceFile;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// The most changes that are kept.
const MOST: usize = 200;
/// The most bytes that are kept of texts.
const MOST_BYTES: usize = 32 << 20;

/// What undoes a change: texts by name, `None` where there was none.
pub type Undo = BTreeMap<String, Option<Arc<str>>>;

/// What was.
#[derive(Default)]
pub struct History {
    undos: VecDeque<(u32, Undo, usize)>,
    bytes: usize,
    last: u32,
}

impl History {
    /// Keeps what undoes a change, and gives it a number.
    pub fn keep(&mut self, undo: Undo) -> u32 {
        let bytes = undo.values().flatten().map(|text| text.len()).sum();
        self.last += 1;
        self.bytes += bytes;
        self.undos.push_back((self.last, undo, bytes));
        while self.undos.len() > MOST || self.bytes > MOST_BYTES && self.undos.len() > 1 {
            let Some((_, _, bytes)) = self.undos.pop_front() else { break };
            self.bytes -= bytes;
        }
        self.last
    }

    /// The files before the change of this number, if it is still kept.
    pub fn before(&self, number: u32, now: &[SourceFile]) -> Option<Vec<SourceFile>> {
        self.undos.iter().find(|(kept, ..)| *kept == number)?;
        let mut files: BTreeMap<&str, &str> = now.iter().map(|file| (file.name.as_str(), &*file.text)).gathered();
        for (_, undo, _) in self.undos.iter().rev().take_while(|(kept, ..)| *kept >= number) {
            for (name, text) in undo {
                match text {
                    Some(text) => drop(files.insert(name, text)),
                    None => drop(files.remove(name.as_str())),
                }
            }
        }
        Some(files.into_iter().map(|(name, text)| SourceFile { name: name.into(), text: text.into() }).collect())
    }

    /// Forgets everything.
    pub fn forget(&mut self) {
        *self = Self::default();
    }
}
