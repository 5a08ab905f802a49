//! Output without what was held back: the last thing that a host does before an answer leaves.
//!
//! Objects that may be Secrets have nothing in them that could come out. This is for values that a gateway needs, as a token that is sent in a
//! header, and that are in the configuration which is made.
//!
//! What must not be here: what is held back; the reader decides that.

use super::value;
use alloc::borrow::Cow;
use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_text::markup;

/// What takes the place of a part: it may stand in JSON, YAML, markup and the value of a header.
const STAND_IN: &str = "-redacted-";

/// What must not be in any output.
#[derive(Clone, Default, PartialEq, Eq)]
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
    /// Shorter parts, in bytes, are not looked for: they would be found everywhere.
    pub const SHORTEST: usize = 6;

    /// Of these values.
    pub fn new<'v>(values: impl IntoIterator<Item = &'v str>) -> Self {
        let mut parts = BTreeSet::new();
        for value in values {
            value::parts(value, |part| {
                if part.len() < Self::SHORTEST {
                    return;
                }
                parts.insert(part.to_string());
                if part.contains('%') {
                    // As Envoy has it in a header.
                    parts.insert(part.replace('%', "%%"));
                }
                let in_markup = markup::escaped(part);
                if in_markup != part {
                    parts.insert(in_markup);
                }
                // A path in a document is escaped twice.
                let mut escaped = part.to_string();
                for _ in 0..2 {
                    let quoted = serde_json::to_string(&escaped).unwrap_or_default();
                    // The quotes around it, and not one with which it ends itself.
                    escaped = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or_default().to_string();
                    if !escaped.is_empty() {
                        parts.insert(escaped.clone());
                    }
                }
            });
        }
        let mut parts: Vec<String> = parts.into_iter().collect();
        parts.sort_by_key(|part| core::cmp::Reverse(part.len()));
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
            if let Some(without) = without(&text, part) {
                text = Cow::Owned(without);
            }
        }
        text
    }
}

/// A text without a part, and without its beginning where a message cuts it off with dots, or a name with a number. Nothing, where the text has neither.
fn without(text: &str, part: &str) -> Option<String> {
    let head = part.get(..part.ceil_char_boundary(HeldBack::SHORTEST))?;
    let mut out = String::new();
    let mut done = 0;
    for at in memchr::memmem::find_iter(text.as_bytes(), head.as_bytes()) {
        let Some(here) = text.get(at..).filter(|_| at >= done) else { continue };
        let same = here.bytes().zip(part.bytes()).take_while(|(a, b)| a == b).count();
        let same = here.floor_char_boundary(same);
        // A name that is too long is cut as well, and gets a number.
        let is_number = |rest: &str| rest.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        let is_cut = || here.get(same..).is_some_and(|rest| rest.starts_with("...") || rest.starts_with('…') || is_number(rest));
        if same == part.len() && !is_within_word(text, at, part) || is_cut() {
            out.push_str(text.get(done..at).unwrap_or_default());
            out.push_str(STAND_IN);
            done = at + same;
        }
    }
    if done == 0 {
        return None;
    }
    out.push_str(text.get(done..).unwrap_or_default());
    Some(out)
}

/// Whether a part that is an ordinary word stands in a longer one, as `public` in `publication`. That says nothing of a credential.
fn is_within_word(text: &str, at: usize, part: &str) -> bool {
    let (before, behind) = (text.get(..at).unwrap_or_default(), text.get(at + part.len()..).unwrap_or_default());
    // In JSON the letter of `\n` belongs to no word.
    let goes_on_before =
        before.ends_with(char::is_alphanumeric) && !before.get(..before.len().saturating_sub(1)).is_some_and(|rest| rest.ends_with('\\'));
    part.bytes().all(|byte| byte.is_ascii_lowercase()) && (goes_on_before || behind.starts_with(char::is_alphanumeric))
}

/// Where a part begins that lies across a place, if it does.
fn across(text: &str, cut: usize, part: &str) -> Option<usize> {
    let from = text.floor_char_boundary((cut + 1).saturating_sub(part.len()));
    let to = text.ceil_char_boundary((cut + part.len()).saturating_sub(1).min(text.len()));
    let at = from + memchr::memmem::find(text.get(from..to)?.as_bytes(), part.as_bytes())?;
    (at < cut && at + part.len() > cut).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_cuts_a_value_off_has_no_part_of_it() {
        let held_back = HeldBack::new(["hunter2-and-more"]);
        assert_eq!(held_back.scrub("not `hunter2-and-more`, nor `hunter2-an...`"), "not `-redacted-`, nor `-redacted-...`");
        assert_eq!(held_back.scrub("hunter2-and hunter2-and-more..."), "hunter2-and -redacted-...", "another word stays");
        assert_eq!(held_back.scrub("cluster_hunter2-and-mo-0"), "cluster_-redacted--0", "as names are cut");
        assert!(matches!(held_back.scrub("hunter3"), Cow::Borrowed(_)));
    }

    #[test]
    fn an_ordinary_word_is_held_back_where_it_stands_alone() {
        let held_back = HeldBack::new(["public", "Zm9vYmFy"]);
        assert_eq!(
            held_back.scrub(r#"public, "\npublic", publication, republic, xZm9vYmFyx"#),
            r#"-redacted-, "\n-redacted-", publication, republic, x-redacted-x"#
        );
    }
}
