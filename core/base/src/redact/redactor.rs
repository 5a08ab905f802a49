//! Removes known credentials from outputs: the last step of a host before output leaves.
//!
//! Possible Secrets are already empty in the tree. This removes values that a gateway needs in its configuration, such as a token that is sent in a
//! header. The reader decides which values are credentials. Names of files stay: users open the printed places.

use super::value;
use alloc::borrow::Cow;
use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_text::{Str, markup};

/// The replacement of a part; valid in JSON, YAML, markup and header values.
const STAND_IN: &str = "-redacted-";

/// Longer names of files are ignored.
const LONGEST_FILE: usize = 512;

/// At most this many words or folders are tried as the start or end of a file's name.
const MOST_WORDS: usize = 16;

/// Removes these values from outputs.
#[derive(Clone, Default)]
pub struct Redactor {
    /// The longest first, so that no part is removed from inside a longer one.
    parts: Vec<String>,
    /// The names of the input's files, which are shown even if they contain a part.
    files: BTreeSet<Str>,
}

/// Two redactors are equal if they remove the same values.
impl PartialEq for Redactor {
    fn eq(&self, other: &Self) -> bool {
        self.parts == other.parts
    }
}

impl Eq for Redactor {}

impl core::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(STAND_IN)
    }
}

impl Redactor {
    /// Shorter parts, in bytes, are ignored: they would match everywhere.
    pub const SHORTEST: usize = 6;

    /// Creates a redactor for these values.
    pub fn new<'v>(values: impl IntoIterator<Item = &'v str>) -> Self {
        let mut parts = BTreeSet::new();
        for value in values {
            value::parts(value, |part| {
                if part.len() < Self::SHORTEST {
                    return;
                }
                parts.insert(part.to_string());
                if part.contains('%') {
                    // Envoy's escape in a header.
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
                    // Removes the surrounding quotes, but not a quote at the value's own end.
                    escaped = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or_default().to_string();
                    if !escaped.is_empty() {
                        parts.insert(escaped.clone());
                    }
                }
            });
        }
        let mut parts: Vec<String> = parts.into_iter().collect();
        parts.sort_by_key(|part| core::cmp::Reverse(part.len()));
        Self { parts, files: BTreeSet::new() }
    }

    /// Shows the names of these files.
    #[must_use]
    pub fn with_files(mut self, files: impl IntoIterator<Item = Str>) -> Self {
        self.files.extend(files.into_iter().filter(|name| name.len() >= Self::SHORTEST && name.len() <= LONGEST_FILE));
        self
    }

    /// Also removes the values of another redactor, and shows its files.
    pub fn extend(&mut self, other: Self) {
        self.parts.extend(other.parts);
        self.parts.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        self.parts.dedup();
        self.files.extend(other.files);
    }

    /// Whether there is nothing to redact.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The length of the longest text that a cut must not split.
    #[must_use]
    pub fn longest(&self) -> usize {
        let files = self.files.iter().map(|name| name.len());
        self.parts.iter().map(String::len).take(1).chain(files).max().unwrap_or(0)
    }

    /// The last position up to `at`, in bytes, where the text may be cut without splitting a part.
    #[must_use]
    pub fn cut_up_to(&self, text: &str, at: usize) -> usize {
        let mut cut = text.floor_char_boundary(at);
        while let Some(start) = self.parts.iter().find_map(|part| across(text, cut, part)).or_else(|| self.start_of_file(text, cut, cut + 1)) {
            cut = start;
        }
        cut
    }

    /// The start of the file name that contains this range of a text, if it does not start there itself.
    fn start_of_file(&self, text: &str, from: usize, to: usize) -> Option<usize> {
        self.file_around(text, from, to).filter(|start| *start < from)
    }

    /// The start of the file name that contains this range of a text, if any.
    fn file_around(&self, text: &str, from: usize, to: usize) -> Option<usize> {
        if self.files.is_empty() {
            return None;
        }
        let goes_on = |c: char| c.is_alphanumeric() || matches!(c, '/' | '\\' | '.' | '-' | '_');
        let first = text.floor_char_boundary(from.saturating_sub(LONGEST_FILE));
        let last = text.ceil_char_boundary((to + LONGEST_FILE).min(text.len()));
        // A folder may precede the name.
        let starts_here = |at: &usize| text[..*at].chars().next_back().is_none_or(|before| !goes_on(before) || matches!(before, '/' | '\\'));
        let starts: Vec<usize> = (first..=from).rev().filter(|at| text.is_char_boundary(*at)).filter(starts_here).take(MOST_WORDS).collect();
        let ends_here = |at: &usize| text[*at..].chars().next().is_none_or(|behind| !goes_on(behind));
        let ends: Vec<usize> = (to..=last).filter(|at| text.is_char_boundary(*at)).filter(ends_here).take(MOST_WORDS).collect();
        starts.into_iter().find(|start| ends.iter().any(|end| self.files.contains(&text[*start..*end])))
    }

    /// Replaces the values in a text.
    pub fn scrub<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut text = Cow::Borrowed(text);
        for part in &self.parts {
            if let Some(without) = without(&text, part, &|from, to| self.file_around(&text, from, to).is_some()) {
                text = Cow::Owned(without);
            }
        }
        text
    }
}

/// Replaces a part, and also its start if a message truncates it with dots or a name with a number. `None` if the text contains neither.
fn without(text: &str, part: &str, is_in_file: &dyn Fn(usize, usize) -> bool) -> Option<String> {
    let head = part.get(..part.ceil_char_boundary(Redactor::SHORTEST))?;
    let mut out = String::new();
    let mut done = 0;
    for at in memchr::memmem::find_iter(text.as_bytes(), head.as_bytes()) {
        let Some(here) = text.get(at..).filter(|_| at >= done) else { continue };
        let same = here.bytes().zip(part.bytes()).take_while(|(a, b)| a == b).count();
        let same = here.floor_char_boundary(same);
        // A too long name is truncated and gets a number.
        let is_number = |rest: &str| rest.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        let is_cut = || here.get(same..).is_some_and(|rest| rest.starts_with("...") || rest.starts_with('…') || is_number(rest));
        if (same == part.len() && !is_within_word(text, at, part) || is_cut()) && !is_in_file(at, at + same) {
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

/// Whether an ordinary word is inside a longer one, as `public` in `publication`. This is not a credential.
fn is_within_word(text: &str, at: usize, part: &str) -> bool {
    let (before, behind) = (text.get(..at).unwrap_or_default(), text.get(at + part.len()..).unwrap_or_default());
    // In JSON the letter of `\n` belongs to no word.
    let goes_on_before =
        before.ends_with(char::is_alphanumeric) && !before.get(..before.len().saturating_sub(1)).is_some_and(|rest| rest.ends_with('\\'));
    part.bytes().all(|byte| byte.is_ascii_lowercase()) && (goes_on_before || behind.starts_with(char::is_alphanumeric))
}

/// The start of a part that spans a position, if any.
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
    fn truncated_values_are_removed_from_messages() {
        let redactor = Redactor::new(["hunter2-and-more"]);
        assert_eq!(redactor.scrub("not `hunter2-and-more`, nor `hunter2-an...`"), "not `-redacted-`, nor `-redacted-...`");
        assert_eq!(redactor.scrub("hunter2-and hunter2-and-more..."), "hunter2-and -redacted-...", "another word stays");
        assert_eq!(redactor.scrub("cluster_hunter2-and-mo-0"), "cluster_-redacted--0", "as names are cut");
        assert!(matches!(redactor.scrub("hunter3"), Cow::Borrowed(_)));
    }

    #[test]
    fn names_of_files_stay() {
        let redactor = Redactor::new(["operator"]).with_files(["apps/operator/a b.yaml".into(), "operator.yaml".into()]);
        let place = "--> apps/operator/a b.yaml:3:1, `/x/operator.yaml`";
        assert_eq!(redactor.scrub(place), place);
        assert_eq!(redactor.scrub("apps/operator/c.yaml operator"), "apps/-redacted-/c.yaml -redacted-");
        let text = "operator apps/operator/a b.yaml";
        assert_eq!(redactor.cut_up_to(text, 20), 9, "a cut would hide the name's start");
        assert_eq!(redactor.cut_up_to(text, 9), 9);
        assert_eq!(redactor, Redactor::new(["operator"]), "other files are no other values");
    }

    #[test]
    fn ordinary_words_are_removed_only_alone() {
        let redactor = Redactor::new(["public", "Zm9vYmFy"]);
        assert_eq!(
            redactor.scrub(r#"public, "\npublic", publication, republic, xZm9vYmFyx"#),
            r#"-redacted-, "\n-redacted-", publication, republic, x-redacted-x"#
        );
    }
}
