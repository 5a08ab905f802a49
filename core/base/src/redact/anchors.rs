//! Finds YAML anchors and aliases in a text. Does not hide text itself; see `cover`.

use super::value::is_packed;
use alloc::collections::BTreeSet;
use chancery_text::{NodeId, Spans, TextRange};

/// The names of the aliases in a document.
pub struct Aliases<'a> {
    text: &'a str,
    names: BTreeSet<&'a str>,
    /// Whether the text may contain a Secret.
    beside_secret: bool,
    /// Aliases, also in comments, whose anchor is missing. Only filled if the text may contain a Secret.
    dangling: BTreeSet<&'a str>,
}

impl<'a> Aliases<'a> {
    /// The aliases in the tree. Aliases in comments or strings are ignored.
    pub fn new(text: &'a str, spans: &Spans) -> Self {
        let mut names = BTreeSet::new();
        if text.contains('&') {
            let written = (0..spans.len() as u32).filter_map(|id| spans.get(NodeId(id))).map(|span| span.value.slice(text));
            names.extend(written.filter_map(|written| written.strip_prefix('*')));
        }
        let has = |word: &str| memchr::memmem::find(text.as_bytes(), word.as_bytes()).is_some();
        let beside_secret = text.contains(['&', '*']) && (has("Secret") || has("stringData"));
        let mut dangling = BTreeSet::new();
        if beside_secret {
            let anchors: BTreeSet<&str> = names_behind(text, '&').collect();
            dangling.extend(names_behind(text, '*').filter(|name| !anchors.contains(name)));
        }
        Self { text, names, beside_secret, dangling }
    }

    /// Whether a value starts with the name of an anchor that a typing error joined to it.
    pub fn behind_name(&self, value: &str) -> bool {
        value.split_once(' ').is_some_and(|(name, _)| self.dangling.contains(name.trim_start_matches(|c: char| !c.is_alphanumeric())))
    }

    /// Whether an alias of this name exists.
    pub(super) fn has(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// Whether a value has an anchor without an alias, and the text contains a Secret or the value looks like a Secret's: a Secret may have had the
    /// alias. If both hold, an existing alias proves nothing, because a typing error may have moved it out of the Secret.
    pub fn lost(&self, place: TextRange, value: &str) -> bool {
        if !self.beside_secret && !is_packed(value) {
            return false;
        }
        let before = self.text.get(..place.start as usize).unwrap_or_default().trim_end();
        let name = before.rsplit(|c: char| c.is_whitespace() || matches!(c, '{' | '[' | ',')).next().and_then(|word| word.strip_prefix('&'));
        name.is_some_and(|name| !name.is_empty() && (!self.has(name) || self.beside_secret && is_packed(value)))
    }
}

/// The names that follow a mark.
fn names_behind(text: &str, mark: char) -> impl Iterator<Item = &str> {
    text.match_indices(mark).filter_map(|(at, mark)| {
        let rest = &text[at + mark.len()..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '-')).unwrap_or(rest.len());
        rest.get(..end).filter(|name| !name.is_empty())
    })
}

/// Whether a text contains an anchor of this name, also in a comment.
pub(super) fn has_anchor(text: &str, name: &str) -> bool {
    let ends = |at: usize| text[at..].chars().next().is_none_or(|c| c.is_whitespace() || matches!(c, ',' | ']' | '}'));
    !name.is_empty() && text.match_indices(name).any(|(at, _)| text[..at].ends_with('&') && ends(at + name.len()))
}
