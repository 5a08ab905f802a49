//! Answers questions about a leaf's position: its ancestors and its preceding nodes. Does not hide anything; see `cover`.

use super::cover::Cover;
use super::words::{bare_key, begins_rules, is_sensitive_flag, is_sensitive_header, is_sensitive_key, is_value_of_header, names_headers};
use alloc::collections::BTreeSet;
use alloc::format;
use chancery_text::{NodeId, NodeSpan};

/// The maximum number of ancestors that are examined.
const MOST_ABOVE: usize = 6;

impl Cover<'_> {
    /// The ancestors of a node, nearest first.
    pub(super) fn above(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        core::iter::successors(Some(self.span(id).parent), |id| Some(self.span(*id).parent))
            .take_while(|id| self.spans().get(*id).is_some())
            .take(MOST_ABOVE)
    }

    /// Whether a node is below a key that names a credential.
    pub(super) fn is_below_sensitive(&self, id: NodeId) -> bool {
        self.above(id).any(|above| is_sensitive_key(self.key(above)) && !self.holds_rules(above))
    }

    /// Whether a node is a policy's section of rules.
    fn holds_rules(&self, id: NodeId) -> bool {
        let first = NodeId(id.0 + 1);
        self.span(first).parent == id && begins_rules(self.key(id), self.key(first))
    }

    /// Whether a node is a field of a header, or of an item in a list of headers.
    pub(super) fn is_below_headers(&self, id: NodeId) -> bool {
        self.above(id).take(3).any(|above| names_headers(self.key(above)))
    }

    /// Whether a list is the value of a header with a sensitive name.
    pub(super) fn is_below_header_value(&self, list: NodeId, named: &BTreeSet<NodeId>) -> bool {
        let above = self.span(list).parent;
        let of_header = || named.contains(&above) || names_headers(self.key(self.span(above).parent)) && is_sensitive_header(self.key(above));
        is_value_of_header(self.key(list)) && of_header()
    }

    /// Whether a list item follows the name of a sensitive header: a list of headers without the keys `name` and `value`.
    pub(super) fn follows_header(&self, id: NodeId, span: &NodeSpan) -> bool {
        let before = id.0.checked_sub(1).map(NodeId).filter(|before| self.span(*before).parent == span.parent);
        let is_item = self.key(span.parent).is_empty() && self.is_below_headers(id);
        is_item && before.and_then(|before| self.strings.get(&before)).is_some_and(|name| is_sensitive_header(name))
    }

    pub(super) fn has_password(&self, object: NodeId) -> bool {
        (object.0..self.spans().len() as u32)
            .map(NodeId)
            .skip(1)
            .take_while(|id| self.span(*id).value.start <= self.span(object).value.end)
            .any(|id| self.span(id).parent == object && self.key(id) == "password")
    }

    /// The nearest node with a key: this one or an ancestor.
    pub(super) fn named_above(&self, mut id: NodeId) -> NodeId {
        while self.key(id).is_empty() && self.spans().get(self.span(id).parent).is_some() {
            id = self.span(id).parent;
        }
        id
    }

    /// Whether a key without a value follows a bare credential name: a typing error separated the two, as in `{x-token:,VALUE}` or `x-token =
    /// ""VALUE""`.
    pub(super) fn follows_bare_key(&self, id: NodeId, span: &NodeSpan) -> bool {
        let Some(before) = id.0.checked_sub(1).map(NodeId).filter(|_| !self.key(id).is_empty()) else { return false };
        let value = self.span(before).value;
        let is_quoted = || value.slice(self.text) == "\"\"" && value.end == span.key.start;
        let (is_beside, is_bare) = (self.span(before).parent == span.parent, value.is_empty() || is_quoted());
        let name = bare_key(self.key(before));
        is_beside && is_bare && (is_sensitive_key(name) || names_headers(self.key(span.parent)) && is_sensitive_header(name))
    }

    /// Whether a key is the rest of a header's name that a comma split.
    pub(super) fn is_rest_of_header(&self, id: NodeId, span: &NodeSpan) -> bool {
        let before = id.0.checked_sub(1).map(|before| (NodeId(before), self.span(NodeId(before))));
        let before = before.filter(|(_, before)| before.parent == span.parent && before.value.is_empty());
        before.is_some_and(|(before, _)| is_sensitive_header(&format!("{}{}", self.key(before), self.key(id))))
    }

    /// Whether a list item is the value of the preceding flag.
    pub(super) fn follows_flag(&self, id: NodeId, span: &NodeSpan) -> bool {
        let Some(before) = id.0.checked_sub(1).map(NodeId) else { return false };
        // A typing error may have turned the preceding word into an object or an alias.
        let above = self.span(before).parent;
        let is_item = above == span.parent || self.span(above).parent == span.parent;
        let said = self.strings.get(&before).map_or_else(|| self.span(before).value.slice(self.text), |word| word.as_str());
        is_item && (is_sensitive_flag(said) || said.is_empty() && self.follows_flag_as_anchor(span))
    }

    /// Whether a typing error turned the word before an item into an anchor: `&-token, VALUE`.
    pub(super) fn follows_flag_as_anchor(&self, span: &NodeSpan) -> bool {
        let before = self.text.get(..span.value.start as usize).unwrap_or_default().trim_end().trim_end_matches(',').trim_end();
        let word = before.rsplit(|c: char| c.is_whitespace() || matches!(c, ',' | '[')).next().unwrap_or_default();
        word.starts_with(['&', '!']) && is_sensitive_flag(word)
    }
}
