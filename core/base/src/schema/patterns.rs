//! Caches the compiled patterns of schemas.

use crate::re2::engine::Finder;
use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use core::cell::RefCell;

/// Compiled patterns by their source.
#[derive(Debug, Default)]
pub(super) struct Patterns(RefCell<BTreeMap<String, Option<Arc<Finder>>>>);

impl Patterns {
    /// Whether a string matches a pattern; `None` if the pattern is invalid.
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
