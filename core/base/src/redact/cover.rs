//! Finds the hidden ranges of a document: by its tree if it can be parsed, and in embedded texts.
//!
//! The spans of the tree decide, so values that the tree lost are hidden too, such as the first of two equal keys. Text between spans is hidden
//! unless it is punctuation.
//!
//! Does not create stand-ins; see `stand_in`.

use super::anchors::{Aliases, has_anchor};
use super::context::{Context, Fields, is_credential_field, is_name_of_next};
use super::embedded::{hidden_in_key, holds_text, is_all_within, may_hold_text, packs_credentials};
use super::has_duplicate_kind;
use super::lines;
use super::opaque;
use super::placement::{Placement, is_secret_type, items_of, may_be_secret, stray_sections};
use super::stand_in::{Form, Hidden};
use super::value::{decode, has_packed, is_credential};
use super::words::{holds_tokens, is_plain_key, is_sensitive_flag, mentions_secrets, names_location, split_key};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use chancery_text::{Document, Limits, Node, NodeId, NodeSpan, ProblemKind, Spans, Str, TextRange, Value, parse, places_in, split};

/// The hidden ranges of a document, sorted and disjoint, as positions in the whole text.
#[derive(Default)]
pub(super) struct Covered {
    pub hidden: Vec<Hidden>,
    /// Whether the whole document may be a Secret.
    pub is_secret: bool,
}

/// A path, and the condition for showing the string there.
type Own<'a> = (&'a [&'a str], &'a dyn Fn(&str) -> bool);

/// Whether the neighbouring documents may be Secrets.
#[derive(Clone, Copy, Default)]
pub(super) struct NeighbourSecrets {
    pub before: bool,
    pub next: bool,
}

/// Finds the hidden ranges of a document.
pub(super) fn cover(text: &str, offset: u32, beside: NeighbourSecrets, placement: Placement, depth: u32) -> Covered {
    let document = parse(text, &Limits::default());
    let unread = document.problems.iter().any(|problem| {
        use ProblemKind as P;
        matches!(
            problem.kind,
            P::Syntax | P::Ignored | P::NonStringKey | P::Tab | P::ControlCharacter | P::Template | P::TooDeep | P::TooLarge | P::AliasBomb
        )
    });
    let mut cover = Cover::new(text, &document, placement, depth);
    let mut is_secret = document.root.as_ref().is_some_and(|root| cover.document(root, beside.before));
    cover.comments_that_give();
    cover.lost_anchors();
    if beside.next {
        cover.comments_at_end();
    }
    let mut hidden = cover.hidden;
    if unread || has_duplicate_kind(&document, text) {
        is_secret |= beside.before || beside.next || is_secret_text(text, placement);
        let ranges = if is_secret { lines::all_but_keys(text) } else { lines::given(text) };
        hidden.extend(ranges.into_iter().map(|range| Hidden { range, form: Form::Loose }));
    }
    // A program's file that holds one credential may hold another one under an unknown key.
    let is_file_with_credentials = placement == Placement::Embedded && !hidden.is_empty() && !lines::declares_kind(text);
    if is_file_with_credentials || opaque::may_be_credentials(&document, text, is_secret || !hidden.is_empty()) {
        hidden.extend(opaque::words(text).map(|range| Hidden { range, form: Form::Loose }));
    }
    hidden.sort_by_key(|hidden| (hidden.range.start, core::cmp::Reverse(hidden.range.end)));
    let mut apart: Vec<Hidden> = Vec::with_capacity(hidden.len());
    for mut next in hidden {
        let end = apart.last().map_or(0, |last| last.range.end);
        next.range.start = next.range.start.max(end);
        if next.range.start < next.range.end {
            apart.push(next);
        }
    }
    for hidden in &mut apart {
        hidden.range = hidden.range.shifted(offset);
    }
    Covered { hidden: apart, is_secret }
}

pub(super) struct Cover<'a> {
    pub(super) text: &'a str,
    document: &'a Document,
    hidden: Vec<Hidden>,
    /// The tree's strings by node.
    pub(super) strings: BTreeMap<NodeId, &'a Str>,
    aliases: Aliases<'a>,
    placement: Placement,
    /// The remaining depth for embedded texts.
    depth: u32,
}

impl<'a> Cover<'a> {
    fn new(text: &'a str, document: &'a Document, placement: Placement, depth: u32) -> Self {
        let mut strings = BTreeMap::new();
        if let Some(root) = &document.root {
            gather(root, &mut strings);
        }
        Self { text, document, hidden: Vec::new(), strings, aliases: Aliases::new(text, &document.spans), placement, depth }
    }

    pub(super) fn spans(&self) -> &'a Spans {
        &self.document.spans
    }

    pub(super) fn span(&self, id: NodeId) -> NodeSpan {
        self.spans().get(id).copied().unwrap_or(NodeSpan { key: TextRange::default(), value: TextRange::default(), parent: NodeId::NONE })
    }

    pub(super) fn key(&self, id: NodeId) -> &'a str {
        self.span(id).key.slice(self.text).trim_matches(['"', '\''])
    }

    fn hide(&mut self, range: TextRange, form: Form) {
        self.hidden.push(Hidden { range, form });
    }

    /// Whether the whole document may be a Secret.
    fn document(&mut self, root: &Node, after_secret: bool) -> bool {
        let whole = TextRange::new(0, self.text.len() as u32);
        let Some(object) = root.as_object() else {
            let items = root.as_array().filter(|items| !items.is_empty() && items.iter().all(|item| item.as_object().is_some()));
            return match items {
                Some(items) => self.items(items),
                None => {
                    self.secret(root, whole);
                    true
                }
            };
        };
        // The rest of a Secret after a stray `---` does not declare a kind.
        let rest_of_secret = !object.contains_key("kind") && (after_secret || self.has_packed_comment());
        if rest_of_secret || may_be_secret(object, self.placement) {
            self.secret(root, whole);
            return true;
        }
        match items_of(object) {
            Some(items) => self.items(items),
            None => {
                self.part(root);
                false
            }
        }
    }

    /// Handles list items: hides possible Secrets, and all comments if there is one.
    fn items(&mut self, items: &[Node]) -> bool {
        let mut any = false;
        for (at, item) in items.iter().enumerate() {
            match item.as_object().is_some_and(|object| may_be_secret(object, self.placement)) {
                true => {
                    any = true;
                    // Text that a typing error cut off follows the item.
                    let end = items.get(at + 1).map_or(self.text.len() as u32, |next| self.span(next.id).value.start);
                    let own = self.span(item.id).value;
                    self.secret(item, TextRange::new(own.start, own.end.max(end)));
                }
                false => self.part(item),
            }
        }
        if any {
            self.comments(TextRange::new(0, self.text.len() as u32));
            // The item may have been a comment or a value.
            items.iter().filter(|item| item.as_object().is_none()).for_each(|item| self.secret(item, self.span(item.id).value));
        }
        any
    }

    fn has_packed_comment(&self) -> bool {
        self.document.comments.iter().any(|comment| has_packed(comment.range.slice(self.text)))
    }

    fn comments(&mut self, within: TextRange) {
        let hidden = self.comments_within(within).map(|range| Hidden { range: TextRange::new(range.start + 1, range.end), form: Form::Loose });
        self.hidden.extend(hidden);
    }

    /// The comments that start in a range, in order.
    fn comments_within(&self, within: TextRange) -> impl Iterator<Item = TextRange> + use<'a> {
        let from = self.document.comments.partition_point(|comment| comment.range.start < within.start);
        let behind = self.document.comments.iter().skip(from).map(|comment| comment.range);
        behind.take_while(move |range| range.start < within.end)
    }

    /// Hides the values that comments assign to credential names, also across consecutive lines.
    fn comments_that_give(&mut self) {
        let gives = |text: &str| mentions_secrets(text) || is_credential(text) || has_packed(text) || lines::comments_are_secret(text);
        if !self.document.comments.iter().any(|comment| gives(comment.range.slice(self.text))) {
            return;
        }
        // Only the comments, at their positions.
        let mut alone: Vec<u8> = self.text.bytes().map(|byte| if byte == b'\n' { byte } else { b' ' }).collect();
        for TextRange { start, end } in self.document.comments.iter().map(|comment| comment.range) {
            let place = start as usize..end as usize;
            if let (Some(to), Some(from)) = (alone.get_mut(place.clone()), self.text.as_bytes().get(place)) {
                to.copy_from_slice(from);
            }
        }
        let alone = String::from_utf8(alone).unwrap_or_default();
        if lines::comments_are_secret(&alone) {
            return self.comments(TextRange::new(0, self.text.len() as u32));
        }
        lines::given(&alone).into_iter().for_each(|range| self.hide(range, Form::Loose));
    }

    /// Hides comments after the document's content, which may belong to the next document.
    fn comments_at_end(&mut self) {
        let end = self.spans().get(NodeId(0)).map_or(0, |root| root.value.end);
        self.comments(TextRange::new(end, self.text.len() as u32));
    }

    /// Hides everything in a range except its shape, its keys, and the Secret's identity.
    fn secret(&mut self, root: &Node, range: TextRange) {
        self.without_values(root, self.names(root), range);
    }

    /// Hides everything in a range except its shape, its keys, and the given nodes.
    fn without_values(&mut self, root: &Node, names: BTreeSet<NodeId>, range: TextRange) {
        // Ranges that may be shown, and ranges that are hidden elsewhere.
        let mut settled = BTreeSet::new();
        let (mut leaves, mut aliases) = (Vec::new(), Vec::new());
        let inside = |span: &NodeSpan| range.start <= span.whole().start && span.whole().end <= range.end;
        let below = |id: &NodeId| *id == root.id || self.span(*id).parent.0 >= root.id.0;
        for id in (root.id.0..self.spans().len() as u32).map(NodeId).take_while(below) {
            let span = self.span(id);
            if !inside(&span) {
                continue;
            }
            if is_plain_key(self.key(id)) {
                settled.insert((span.key.start, span.key.end));
            }
            if !self.is_leaf(id) || span.value.is_empty() {
                continue;
            }
            let written = span.value.slice(self.text);
            settled.insert((span.value.start, span.value.end));
            match written.strip_prefix('*') {
                _ if names.contains(&id) => {}
                Some(name) if has_anchor(self.text, name) => aliases.push(name),
                _ if matches!(written, "{}" | "[]") => {}
                _ => leaves.push((span.value, self.form(id, root))),
            }
        }
        let comments = self.comments_within(range);
        settled.extend(comments.map(|range| (range.start, range.end)));
        self.comments(range);
        leaves.into_iter().for_each(|(range, form)| self.hide(range, form));
        self.between(range, settled);
        aliases.into_iter().for_each(|name| self.anchored(name));
    }

    /// The nodes of the Secret's identity.
    fn names(&self, root: &Node) -> BTreeSet<NodeId> {
        let is_word = |text: &str| !text.is_empty() && text.len() <= 63 && text.bytes().all(|byte| byte.is_ascii_alphabetic());
        let is_version = |text: &str| text.len() <= 80 && text.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'/' | b'-'));
        // A name with a typing error is still a name.
        let is_name = |text: &str| text.len() <= 253 && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_'));
        let own: [Own<'_>; 5] = [
            (&["kind"], &is_word),
            (&["apiVersion"], &is_version),
            (&["type"], &is_secret_type),
            (&["metadata", "name"], &is_name),
            (&["metadata", "namespace"], &is_name),
        ];
        let said = own.into_iter().filter_map(|(path, is)| root.at(path).filter(|node| node.as_str().is_some_and(is)));
        let shared =
            ["labels", "annotations"].into_iter().filter_map(|section| root.at(&["metadata", section])).flat_map(|node| self.shared_labels(node));
        said.map(|node| node.id).chain(shared).collect()
    }

    /// The aliases in a Secret's labels that only copy labels: another object has these labels too, where they are public.
    fn shared_labels(&self, labels: &Node) -> Vec<NodeId> {
        let is_alias = |node: &&Node| self.span(node.id).value.slice(self.text).starts_with('*');
        let is_shared = |node: &&Node| node.as_str().is_some_and(is_label) && is_alias(node);
        let Some(object) = labels.as_object() else { return Vec::new() };
        let are_labels = object.iter().all(|entry| entry.value.as_str().is_some_and(is_label));
        let whole = Some(labels).filter(|_| are_labels).filter(is_alias);
        whole.into_iter().chain(object.iter().map(|entry| &entry.value).filter(is_shared)).map(|node| node.id).collect()
    }

    /// Hides text between spans, except punctuation, anchors and tags that have a meaning.
    fn between(&mut self, range: TextRange, settled: BTreeSet<(u32, u32)>) {
        let mut at = range.start;
        for (start, end) in settled.into_iter().chain([(range.end, range.end)]) {
            if at < start {
                self.gap(TextRange::new(at, start));
            }
            at = at.max(end);
        }
    }

    fn gap(&mut self, gap: TextRange) {
        let mut at = gap.start;
        for word in gap.slice(self.text).split_inclusive(|c: char| c.is_whitespace() || matches!(c, ',' | '[' | ']' | '{' | '}')) {
            let bare = word.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, ',' | '[' | ']' | '{' | '}'));
            let is_shape = bare.bytes().all(|byte| matches!(byte, b'-' | b':' | b'?' | b'"' | b'\'' | b'.'))
                || matches!(bare, "<<" | "<<:" | "!!binary" | "!!str" | "!!int" | "!!float" | "!!bool" | "!!null" | "!!map" | "!!seq" | "\u{feff}")
                || bare.strip_prefix('&').is_some_and(|name| self.aliases.has(name));
            if !is_shape {
                self.hide(TextRange::new(at, at + bare.len() as u32), Form::Loose);
            }
            at += word.len() as u32;
        }
    }

    /// Whether a node has no children.
    fn is_leaf(&self, id: NodeId) -> bool {
        self.spans().get(NodeId(id.0 + 1)).is_none_or(|next| next.parent != id)
    }

    /// Hides values whose anchor has no alias and that look like a Secret's: a Secret may have had the alias.
    fn lost_anchors(&mut self) {
        let lost = |(id, value): &(&NodeId, &&Str)| self.aliases.lost(self.span(**id).value, value) || self.aliases.behind_name(value);
        let lost: Vec<NodeId> = self.strings.iter().filter(lost).map(|(id, _)| *id).collect();
        lost.into_iter().for_each(|id| self.hide(self.span(id).value, self.of_string(id)));
        let keys = (0..self.spans().len() as u32).map(|id| self.span(NodeId(id))).filter(|span| span.value.is_empty() && !span.key.is_empty());
        let lost: Vec<TextRange> = keys.map(|span| span.key).filter(|key| self.aliases.lost(*key, key.slice(self.text))).collect();
        lost.into_iter().for_each(|key| self.hide(key, Form::Leaf));
    }

    /// Hides the value that an alias copies, wherever it is written.
    fn anchored(&mut self, name: &str) {
        let places = self.text.match_indices(name).filter(|(at, _)| self.text[..*at].ends_with('&')).map(|(at, _)| (at + name.len()) as u32);
        for place in places.collect::<Vec<u32>>() {
            let after = |id: &NodeId| self.span(*id).value.start >= place;
            let Some(first) = (0..self.spans().len() as u32).map(NodeId).find(after) else { continue };
            let whole = self.span(first).value;
            let below = (first.0..self.spans().len() as u32).map(NodeId).take_while(|id| self.span(*id).value.start < whole.end.max(whole.start + 1));
            for id in below.filter(|id| self.is_leaf(*id)).collect::<Vec<_>>() {
                let (value, form) = (self.span(id).value, self.of_string(id));
                if !value.slice(self.text).starts_with('*') {
                    self.hide(value, form);
                }
            }
        }
    }

    /// The form of a Secret's leaf.
    fn form(&self, id: NodeId, root: &Node) -> Form {
        let place = self.span(id).value;
        let before = self.text.get(..place.start as usize).unwrap_or_default().trim_end();
        if before.ends_with("!!binary") {
            let written = place.slice(self.text);
            let body = if written.starts_with(['|', '>']) { written.split_once('\n').map_or("", |(_, body)| body) } else { written };
            return Form::Base64(body.chars().filter(|c| !c.is_whitespace() && !matches!(c, '"' | '\'')).collect());
        }
        let is_data = root.get("data").is_some_and(|data| self.span(id).parent == data.id);
        match self.strings.get(&id) {
            Some(value) if is_data => Form::Base64((*value).clone()),
            Some(_) => self.of_string(id),
            None => Form::Leaf,
        }
    }

    fn of_string(&self, id: NodeId) -> Form {
        match self.strings.get(&id) {
            Some(value) if value.len() >= 8 && decode(value).is_some() => Form::Base64((*value).clone()),
            Some(value) => Form::Text((*value).clone()),
            None => Form::Leaf,
        }
    }

    /// Handles an object that is not a Secret: hides nested Secrets, credentials, and embedded text with either.
    fn part(&mut self, root: &Node) {
        let mut secrets = Vec::new();
        inner_secrets(root, &mut secrets);
        let stray: Vec<&Node> = stray_sections(root).collect();
        if !secrets.is_empty() || !stray.is_empty() {
            self.comments(TextRange::new(0, self.text.len() as u32));
        }
        for secret in secrets {
            let range = self.span(secret.id).value;
            self.secret(secret, range);
        }
        stray.into_iter().for_each(|section| self.without_values(section, BTreeSet::new(), self.span(section.id).value));
        let range = self.span(root.id).value;
        let contexts = self.contexts(root.id, range);
        for id in self.nodes(root.id, range) {
            let span = self.span(id);
            if holds_tokens(self.key(id)) {
                self.comments(span.value);
            }
            if self.is_leaf(id) && !span.whole().is_empty() {
                let (at, fields) = contexts.get(span.parent.0.wrapping_sub(root.id.0) as usize).copied().unwrap_or_default();
                self.leaf(id, &span, at, fields);
            }
        }
    }

    /// A node and all nodes that start in a following range; includes the last one, whose value may be missing.
    fn nodes(&self, root: NodeId, within: TextRange) -> impl Iterator<Item = NodeId> + use<'a> {
        let spans = self.spans();
        let is_within = move |id: &NodeId| *id == root || spans.get(*id).is_some_and(|span| span.whole().start < within.end);
        (root.0..spans.len() as u32).map(NodeId).take_while(is_within)
    }

    /// The context in each node from the root on, and what its fields say about each other.
    fn contexts(&self, root: NodeId, within: TextRange) -> Vec<(Context, Fields)> {
        let mut contexts: Vec<(Context, Fields)> = self.nodes(root, within).map(|_| Default::default()).collect();
        let place = |id: NodeId| id.0.wrapping_sub(root.0) as usize;
        // The fields of an object say something about its children, so they are gathered first.
        for is_last in [false, true] {
            for id in self.nodes(root, within).skip(1) {
                let span = self.span(id);
                let key = self.key(id);
                let Some((at, fields)) = contexts.get_mut(place(span.parent)) else { continue };
                let is_leaf = self.is_leaf(id);
                if !is_last {
                    fields.add(*at, key, is_leaf.then(|| span.value.slice(self.text)));
                }
                if !is_leaf {
                    let context = match key {
                        "" => at.in_list(),
                        _ => at.below(key, is_last && is_credential_field(*at, *fields, key, None)),
                    };
                    if let Some(own) = contexts.get_mut(place(id)) {
                        own.0 = context;
                    }
                }
            }
        }
        contexts
    }

    fn leaf(&mut self, id: NodeId, span: &NodeSpan, at: Context, fields: Fields) {
        let written = span.value.slice(self.text);
        let value = self.strings.get(&id).map_or(written, |value| value.as_str());
        let key = self.key(id);
        // Without a space after the colon, the value is part of the key.
        let (_, rest) = split_key(key);
        let by_line = self.key_that_says(id, span);
        let by_key = by_line
            || match key {
                "" => at.is_value || self.follows_name(id, span, at, value),
                _ => is_credential_field(at, fields, key, Some(value)),
            };
        // If a typing error removed a name, its value is the key.
        if (matches!(value, "" | "\"\"") || is_sensitive_flag(value)) && opaque::is_opaque(key) {
            return self.hide(span.key, Form::Leaf);
        }
        // A comment beside a credential may contain another one, or the value.
        if by_key || is_credential(value) {
            let line = self.text.get(span.value.end as usize..).and_then(|rest| rest.split('\n').next()).map_or(0, str::len);
            self.comments(TextRange::new(span.value.end, span.value.end + line as u32));
        }
        if let Some(rest) = rest.filter(|rest| by_key && !names_location(rest) || is_credential(rest)) {
            let start = span.key.start + span.key.slice(self.text).find(rest).unwrap_or_default() as u32;
            self.hide(TextRange::new(start, start + rest.len() as u32), Form::Loose);
        }
        // The value that an alias copies is hidden where it is written.
        if written.starts_with('*') {
            return;
        }
        // In an embedded object only the credential is hidden, if nothing else looks like one.
        if !by_key && holds_text(value) && is_credential(value) && is_all_within(value, &embedded(value, self.depth)) {
            return self.embedded(id, span.value, value);
        }
        if by_key && !names_location(value) || is_credential(value) || packs_credentials(value) {
            if let Some(joined) = word_behind_quoted(self.text, span.value) {
                self.hide(joined, Form::Loose);
            }
            return self.hide(span.value, self.of_string(id));
        }
        if may_hold_text(value) {
            self.embedded(id, span.value, value);
        }
    }

    /// Whether a list item is the value of the preceding item: of a flag, or of a header in a list without the keys `name` and `value`. A typing error
    /// may have turned the preceding item into something else than a string.
    fn follows_name(&self, id: NodeId, span: &NodeSpan, at: Context, value: &str) -> bool {
        let Some(before) = id.0.checked_sub(1).map(NodeId).filter(|before| *before != span.parent) else { return false };
        match self.strings.get(&before).filter(|name| !name.is_empty() && self.span(before).parent == span.parent) {
            Some(name) => is_name_of_next(at, name),
            None => opaque::is_opaque(value),
        }
    }

    /// Hides the value inside a key that contains a whole line. Returns whether the node's value continues it.
    fn key_that_says(&mut self, id: NodeId, span: &NodeSpan) -> bool {
        let key = self.key(id);
        if is_credential(key) {
            self.hide(span.key, Form::Leaf);
            return false;
        }
        let start = span.key.start + span.key.slice(self.text).find(key).unwrap_or_default() as u32;
        let hidden = hidden_in_key(key);
        hidden.iter().for_each(|range| self.hide(range.shifted(start), Form::Loose));
        !hidden.is_empty()
    }

    /// Hides secrets in an embedded text. A line without indentation may have become a comment after it.
    fn embedded(&mut self, id: NodeId, place: TextRange, content: &str) {
        let inner = embedded(content, self.depth);
        if !inner.is_empty() {
            let next = self.spans().get(NodeId(id.0 + 1)).map_or(self.text.len() as u32, |next| next.whole().start);
            self.comments(TextRange::new(place.end, next.max(place.end)));
            for found in places_in(self.text, place, content, inner) {
                self.hide(found, if found == place { Form::Text(content.into()) } else { Form::Inside });
            }
        }
    }
}

/// Whether a string can be the value of a label and does not look like a Secret's value.
fn is_label(text: &str) -> bool {
    let can_be_one = text.len() <= 63 && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_'));
    can_be_one && !is_credential(text) && !opaque::is_opaque(text)
}

fn gather<'a>(node: &'a Node, strings: &mut BTreeMap<NodeId, &'a Str>) {
    match &node.value {
        Value::String(value) => {
            strings.insert(node.id, value);
        }
        Value::Array(items) => items.iter().for_each(|item| gather(item, strings)),
        Value::Object(object) => object.iter().for_each(|entry| gather(&entry.value, strings)),
        _ => {}
    }
}

fn inner_secrets<'a>(node: &'a Node, found: &mut Vec<&'a Node>) {
    match &node.value {
        Value::Object(object) if may_be_secret(object, Placement::Part) => found.push(node),
        Value::Object(object) => object.iter().for_each(|entry| inner_secrets(&entry.value, found)),
        Value::Array(items) => {
            items.iter().for_each(|item| inner_secrets(item, found));
        }
        _ => {}
    }
}

/// Whether text that cannot be parsed may be a Secret.
fn is_secret_text(text: &str, placement: Placement) -> bool {
    if placement == Placement::Embedded { lines::is_marked_secret(text) } else { lines::is_secret(text) }
}

/// The hidden ranges of an embedded text: objects are examined by their tree, other text by its lines.
pub(super) fn embedded(content: &str, depth: u32) -> Vec<TextRange> {
    let mut hidden = Vec::new();
    let Some(depth) = depth.checked_sub(1) else { return hidden };
    for chunk in split(content) {
        let text = chunk.range.slice(content);
        let document = parse(text, &Limits::default());
        let may_be_secret = is_secret_text(text, Placement::Embedded);
        // Readable parts of a broken text may have moved.
        if may_be_secret && (document.root.is_none() || !document.problems.is_empty()) {
            hidden.extend(lines::all_but_keys(text).into_iter().map(|range| range.shifted(chunk.range.start)));
        }
        if document.root.is_none() && may_be_secret {
            continue;
        }
        if document.root.as_ref().is_some_and(|root| root.as_object().is_some()) || may_be_secret {
            let covered = cover(text, chunk.range.start, NeighbourSecrets::default(), Placement::Embedded, depth);
            hidden.extend(covered.hidden.into_iter().map(|hidden| hidden.range));
        } else {
            hidden.extend(lines::given(text).into_iter().map(|range| range.shifted(chunk.range.start)));
        }
    }
    hidden
}

/// The word after a quoted value on the same line. No language has a key there, so a typing error joined the two. The word may have been a comment.
fn word_behind_quoted(text: &str, value: TextRange) -> Option<TextRange> {
    let rest = text.get(value.end as usize..).filter(|_| value.slice(text).ends_with('"'))?;
    let word = rest.trim_start_matches([' ', '\t']);
    let start = value.end + (rest.len() - word.len()) as u32;
    let length = word.find(|c: char| c.is_whitespace() || matches!(c, ',' | '}' | ']' | '#' | ':' | '=')).unwrap_or(word.len());
    word.starts_with(char::is_alphanumeric).then(|| TextRange::new(start, start + length as u32))
}
