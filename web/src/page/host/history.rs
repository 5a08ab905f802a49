//! Earlier versions of the inputs, stored as undo steps, so that the user can compare with any of them.

use chancery_web::protocol::SourceFile;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// The largest number of stored changes.
const MOST: usize = 200;
/// The largest size of the stored texts, in bytes.
const MOST_BYTES: usize = 32 << 20;

/// Undoes a change: contents by name, `None` for an input that did not exist.
pub type Undo = BTreeMap<String, Option<Arc<str>>>;

#[derive(Default)]
pub struct History {
    undos: VecDeque<(u32, Undo, usize)>,
    bytes: usize,
    last: u32,
}

impl History {
    /// Stores an undo step and returns its number.
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

    /// The files before the change with this number, if it is still stored.
    pub fn before(&self, number: u32, now: &[SourceFile]) -> Option<Vec<SourceFile>> {
        self.undos.iter().find(|(kept, ..)| *kept == number)?;
        let mut files: BTreeMap<&str, &str> = now.iter().map(|file| (file.name.as_str(), &*file.text)).collect();
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

    pub fn forget(&mut self) {
        *self = Self::default();
    }
}
