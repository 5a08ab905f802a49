//! Expressions of schemas as they were compiled, so that each is compiled once for many objects.
//!
//! What must not be here: anything about objects.

use super::regex::Regex;
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use core::cell::RefCell;

/// Compiled expressions by their text.
#[derive(Debug, Default)]
pub struct Memo {
    patterns: RefCell<BTreeMap<&'static str, Option<Arc<Regex>>>>,
}

impl Memo {
    /// Whether a text matches a schema's pattern. One that cannot be compiled matches everything; a test says that there is none.
    pub fn matches(&self, pattern: &'static str, text: &str) -> bool {
        let regex = self.patterns.borrow_mut().entry(pattern).or_insert_with(|| Regex::new(pattern).map(Arc::new)).clone();
        regex.is_none_or(|regex| regex.is_match(text))
    }
}
