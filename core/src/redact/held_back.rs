//! Output without what was held back: the last thing that a host does before an answer leaves.
//!
//! Objects that may be Secrets have nothing in them that could come out. This is for values that a gateway needs, as a token that is sent in a
//! header, and that are in the configuration which is made.
//!
//! What must not be here: what is held back; the reader decides that.

use super::value;
use crate::order::Order as _;
use alloc::borrow::Cow;
use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Shorter parts are not looked for: they would be found everywhere.
const SHORTEST: usize = 6;

/// What takes the place of a part: it may stand in JSON, YAML, markup and the value of a header.
const STAND_IN: &str = "-redacted-";

/// What must not be in any output.
#[derive(Clone, Default)]
pub struct HeldBack {
    /// The longest first, so that a part of another is not taken out of it.
    parts: Vec<String>,
}

impl core::fmt::Debug for HeldBack {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(STAND_IN)
    }
}

impl HeldBack {
    /// Of these values.
    pub fn new<'v>(values: impl IntoIterator<Item = &'v str>) -> Self {
        let mut parts = BTreeSet::new();
        for value in values {
            value::parts(value, |part| {
                if part.len() < SHORTEST {
                    return;
                }
                parts.insert(part.to_string());
                let escaped = serde_json::to_string(part).unwrap_or_default();
                // The quotes around it, and not one with which it ends itself.
                let escaped = escaped.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or_default();
                if !escaped.is_empty() {
                    parts.insert(escaped.to_string());
                }
            });
        }
        let mut parts: Vec<String> = parts.into_iter().collect();
        parts.order_by_key(|part| core::cmp::Reverse(part.len()));
        Self { parts }
    }

    /// Whether there is nothing to hold back.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The length of the longest part, in bytes.
    #[must_use]
    pub fn longest(&self) -> usize {
        self.parts.first().map_or(0, String::len)
    }

    /// The last place up to `at`, in bytes, where a text may be cut so that no part lies across the cut.
    #[must_use]
    pub fn cut_up_to(&self, text: &str, at: usize) -> usize {
        let mut cut = text.floor_char_boundary(at);
        while let Some(start) = self.parts.iter().find_map(|part| across(text, cut, part)) {
            cut = start;
        }
        cut
    }

    /// The same text without it.
    pub fn scrub<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut text = Cow::Borrowed(text);
        for part in &self.parts {
            if memchr::memmem::find(text.as_bytes(), part.as_bytes()).is_some() {
                text = Cow::Owned(text.replace(part.as_str(), STAND_IN));
            }
        }
        text
    }
}

/// Where a part begins that lies across a place, if it does.
fn across(text: &str, cut: usize, part: &str) -> Option<usize> {
    let from = text.floor_char_boundary((cut + 1).saturating_sub(part.len()));
    let to = text.ceil_char_boundary((cut + part.len()).saturating_sub(1).min(text.len()));
    let at = from + memchr::memmem::find(text.get(from..to)?.as_bytes(), part.as_bytes())?;
    (at < cut && at + part.len() > cut).then_some(at)
}
