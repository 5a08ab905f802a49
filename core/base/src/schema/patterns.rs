//! Patterns of schemas as they were compiled.
//!
//! What must not be here: rules.

use crate::re2::engine::Finder;
use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use core::cell::RefCell;

/// Compiled patterns by their text.
#[derive(Debug, Default)]
pub(super) struct Patterns(RefCell<BTreeMap<String, Option<Arc<Finder>>>>);

impl Patterns {
    /// Whether a text matches a pattern; `None` where the pattern cannot be compiled.
    pub(super) fn matches(&self, pattern: &str, text: &str) -> Option<bool> {
        let cached = self.0.borrow().get(pattern).cloned();
        let regex = cached.unwrap_or_else(|| {
            let regex = Finder::new(pattern).ok().map(Arc::new);
            self.0.borrow_mut().insert(pattern.to_owned(), regex.clone());
            regex
        });
        regex.map(|regex| regex.is_match(text))
    }
}
