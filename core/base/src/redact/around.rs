//! Where a leaf stands: what is above it, and what is before it.
//!
//! What must not be here: what is hidden because of that.

use super::cover::Cover;
use super::words::{bare_key, is_sensitive_flag, is_sensitive_header, is_sensitive_key, is_value_of_header, names_headers};
use alloc::collections::BTreeSet;
use alloc::format;
use chancery_text::{NodeId, NodeSpan};

/// At most this many nodes above a node are looked at.
const MOST_ABOVE: usize = 6;

impl Cover<'_> {
    /// The nodes above a node, the nearest first.
    pub(super) fn above(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        core::iter::successors(Some(self.span(id).parent), |id| Some(self.span(*id).parent))
            .take_while(|id| self.spans().get(*id).is_some())
            .take(MOST_ABOVE)
    }

    /// Whether a node stands below a key that names a credential.
    pub(super) fn is_below_sensitive(&self, id: NodeId) -> bool {
        self.above(id).any(|above| is_sensitive_key(self.key(above)))
    }

    /// Whether a node is a field of a header, or of an item in a list of headers.
    pub(super) fn is_below_headers(&self, id: NodeId) -> bool {
        self.above(id).take(3).any(|above| names_headers(self.key(above)))
    }

    /// Whether a list is the value of a header by its name.
    pub(super) fn is_below_header_value(&self, list: NodeId, named: &BTreeSet<NodeId>) -> bool {
        let above = self.span(list).parent;
        let of_header = || named.contains(&above) || names_headers(self.key(self.span(above).parent)) && is_sensitive_header(self.key(above));
        is_value_of_header(self.key(list)) && of_header()
    }

    /// Whether an item of a list in a list of headers follows the name of one: both are there without their keys.
    pub(super) fn follows_header(&self, id: NodeId, span: &NodeSpan) -> bool {
        let before = id.0.checked_sub(1).map(NodeId).filter(|before| self.span(*before).parent == span.parent);
        let is_item = self.key(span.parent).is_empty() && self.is_below_headers(id);
        is_item && before.and_then(|before| self.strings.get(&before)).is_some_and(|name| is_sensitive_header(name))
    }

    /// Whether an object has a password.
    pub(super) fn has_password(&self, object: NodeId) -> bool {
        (object.0..self.spans().len() as u32)
            .map(NodeId)
            .skip(1)
            .take_while(|id| self.span(*id).value.start <= self.span(object).value.end)
            .any(|id| self.span(id).parent == object && self.key(id) == "password")
    }

    /// The nearest node with a key: this one, or one above it.
    pub(super) fn named_above(&self, mut id: NodeId) -> NodeId {
        while self.key(id).is_empty() && self.spans().get(self.span(id).parent).is_some() {
            id = self.span(id).parent;
        }
        id
    }

    /// Whether a key without a value follows another without one that names a credential: a slip parted the two, as in `{x-token:,VALUE}`, or in
    /// `x-token = ""VALUE""`.
    pub(super) fn follows_bare_key(&self, id: NodeId, span: &NodeSpan) -> bool {
        let Some(before) = id.0.checked_sub(1).map(NodeId).filter(|_| !self.key(id).is_empty()) else { return false };
        let value = self.span(before).value;
        let is_quoted = || value.slice(self.text) == "\"\"" && value.end == span.key.start;
        let (is_beside, is_bare) = (self.span(before).parent == span.parent, value.is_empty() || is_quoted());
        let name = bare_key(self.key(before));
        is_beside && is_bare && (is_sensitive_key(name) || names_headers(self.key(span.parent)) && is_sensitive_header(name))
    }

    /// Whether a key is the rest of a header's name, which a comma parted from it.
    pub(super) fn is_rest_of_header(&self, id: NodeId, span: &NodeSpan) -> bool {
        let before = id.0.checked_sub(1).map(|before| (NodeId(before), self.span(NodeId(before))));
        let before = before.filter(|(_, before)| before.parent == span.parent && before.value.is_empty());
        before.is_some_and(|(before, _)| is_sensitive_header(&format!("{}{}", self.key(before), self.key(id))))
    }

    /// Whether an item of a list follows a flag whose value it is.
    pub(super) fn follows_flag(&self, id: NodeId, span: &NodeSpan) -> bool {
        let Some(before) = id.0.checked_sub(1).map(NodeId) else { return false };
        // A slip may have made an object, or an alias, of the word before.
        let above = self.span(before).parent;
        let is_item = above == span.parent || self.span(above).parent == span.parent;
        let said = self.strings.get(&before).map_or_else(|| self.span(before).value.slice(self.text), |word| word.as_str());
        is_item && (is_sensitive_flag(said) || said.is_empty() && self.follows_flag_as_anchor(span))
    }

    /// Whether a slip made an anchor of the word before an item: `&-token, VALUE`.
    pub(super) fn follows_flag_as_anchor(&self, span: &NodeSpan) -> bool {
        let before = self.text.get(..span.value.start as usize).unwrap_or_default().trim_end().trim_end_matches(',').trim_end();
        let word = before.rsplit(|c: char| c.is_whitespace() || matches!(c, ',' | '[')).next().unwrap_or_default();
        word.starts_with(['&', '!']) && is_sensitive_flag(word)
    }
}
