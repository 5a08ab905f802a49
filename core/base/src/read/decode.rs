//! Decodes one chunk of text to its objects. The result does not depend on the chunk's position: ranges are relative to the chunk, and findings
//! name objects by their index in it.
//!
//! Does not assign numbers to objects; see `cache`.

use super::identity::{self, Identity};
use super::{ReadOptions, Shape, problem};
use crate::diagnostic::{Diagnostic, Place, codes};
use crate::redact::{self, Aliases, Quotes, TakenSecrets, take_secrets, take_secrets_within};
use crate::resource::{Content, ObjectId, ResourceKey, Secret};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_text::{Document, Node, NodeId, Str, Value, parse, parse_embedded};
use core::cell::OnceCell;

/// The content of a chunk.
pub(super) struct Decoded {
    pub(super) objects: Vec<Item>,
    /// Places are relative: ranges to the chunk, objects by [`local`].
    pub(super) findings: Vec<Diagnostic>,
}

pub(super) struct Item {
    pub(super) content: Arc<Content>,
    /// The item whose annotation holds this one.
    pub(super) parent: Option<(usize, NodeId)>,
}

/// The temporary number of an object in its chunk's findings.
pub(super) fn local(index: usize) -> ObjectId {
    ObjectId::from_index(index)
}

/// The maximum depth of nested lists.
const LIST_DEPTH: u32 = 8;

pub(super) fn decode(text: &Arc<str>, fingerprint: u64, options: &ReadOptions, stored: bool) -> Decoded {
    let mut document = parse(text, &options.limits);
    let broken = document.is_broken();
    let quotes = Quotes::new(text);
    let findings = problem::findings(&document, text, &quotes, Some(&options.limits));
    let root = document.root.take();
    let is_doubtful = broken || redact::has_duplicate_kind(&document, text);
    let secret = is_doubtful && (options.shape == Shape::Kubernetes || options.identify.is_some()) && redact::may_be_secret(text);
    let document = Arc::new(document);
    let marks = Marks::of(text);
    let (beside, objects) = (BTreeSet::new(), Vec::new());
    let mut decoder = Decoder { text, quotes, fingerprint, options, stored, broken, secret, beside, marks, document, objects, findings };
    match root {
        Some(root) => decoder.root(root),
        None if broken => decoder.push(Node::synthesised(Value::Null), Identity::unknown(), true),
        None => {}
    }
    // Problems of a document with one object belong to that object.
    if let [only] = &decoder.objects[..]
        && broken
        && !only.content.key.kind.is_empty()
    {
        decoder
            .findings
            .iter_mut()
            .filter(|finding| finding.resource.is_none())
            .for_each(|finding| finding.resource = Some(only.content.key.clone()));
    }
    Decoded { objects: decoder.objects, findings: decoder.findings }
}

/// The object for a tree without text.
pub(super) fn decode_tree(root: Node, document: Document, fingerprint: u64, options: &ReadOptions) -> Option<Content> {
    let (text, document) = (Arc::from(""), Arc::new(document));
    let quotes = Quotes::new(&text);
    let (text, objects, findings, beside, marks) = (&text, Vec::new(), Vec::new(), BTreeSet::new(), Marks::default());
    let mut decoder =
        Decoder { text, quotes, fingerprint, options, stored: false, broken: false, secret: false, beside, marks, document, objects, findings };
    decoder.root(root);
    let content = decoder.objects.into_iter().next()?.content;
    Some(Content { text: None, ..Arc::unwrap_or_clone(content) })
}

struct Decoder<'a> {
    text: &'a Arc<str>,
    quotes: Quotes<'a>,
    fingerprint: u64,
    options: &'a ReadOptions,
    stored: bool,
    broken: bool,
    /// Whether the text is broken and may be a Secret.
    secret: bool,
    /// Values next to a list's items that may belong to a Secret.
    beside: BTreeSet<Str>,
    marks: Marks<'a>,
    document: Arc<Document>,
    objects: Vec<Item>,
    findings: Vec<Diagnostic>,
}

/// Anchors, aliases and opaque words of a text, searched once per text instead of once per list item.
#[derive(Default)]
struct Marks<'a> {
    /// Whether the text may contain an alias.
    star: bool,
    /// Whether the text may contain an anchor.
    and: bool,
    aliases: OnceCell<Aliases<'a>>,
    /// Words that may be credentials in a broken text: first if it is not known to contain any, second if it is.
    opaque: [OnceCell<Vec<Str>>; 2],
}

impl Marks<'_> {
    fn of(text: &str) -> Self {
        Self { star: text.contains('*'), and: text.contains('&'), ..Self::default() }
    }
}

impl Identity {
    fn unknown() -> Self {
        let key = ResourceKey { group: Str::default(), kind: Str::default(), namespace: None, name: Str::default() };
        Self { api_version: Str::default(), key, problem: None }
    }
}

impl Decoder<'_> {
    fn root(&mut self, root: Node) {
        match root.value {
            Value::Null if !self.broken => {}
            Value::Array(items) if self.options.shape == Shape::Plain => {
                for item in items {
                    self.object(item, None, 0);
                }
            }
            _ => self.object(root, None, 0),
        }
    }

    fn object(&mut self, mut root: Node, list: Option<&ListKind>, depth: u32) {
        if root.as_object().is_none() {
            if !self.broken {
                self.findings.push(not_an_object(&root, self.objects.len()));
            }
            return self.push(root, Identity::unknown(), true);
        }
        if let Some(parts) = self.options.identify.and_then(|identify| (identify.parts)(&root)) {
            return parts.into_iter().for_each(|part| self.object(part, None, depth));
        }
        if self.is_plain(&root) {
            let mut identity = Identity::unknown();
            if let Some(identify) = self.options.identify {
                identity.key = (identify.key)(&root);
            }
            return self.push(root, identity, self.broken);
        }
        if let Some(list) = list {
            list.complete(&mut root);
        }
        if depth < LIST_DEPTH
            && let Some(kind) = ListKind::of(&root)
            && let Value::Object(object) = &mut root.value
            && let Some(Node { value: Value::Array(items), .. }) = object.remove("items")
        {
            // A typing error may have moved a Secret's fields from an item to the list.
            if redact::may_hold_secret(&root) {
                let kept = take_secrets(&mut root, true);
                self.beside.extend(kept.secrets.into_iter().map(|(_, value)| value).filter(|value| !value.is_empty()));
            }
            for item in items {
                self.object(item, Some(&kind), depth + 1);
            }
            return;
        }
        let written = if self.secret || redact::may_hold_secret(&root) { None } else { Some(&**self.text) };
        let identity = identity::of_object(&root, &self.document.spans, written);
        let broken = self.broken || identity.problem.is_some();
        if !self.broken
            && let Some(finding) = &identity.problem
        {
            let finding = if identity.key.kind.is_empty() { finding.clone() } else { finding.clone().about(identity.key.clone()) };
            self.findings.push(at_object(finding, self.objects.len()));
        }
        self.push(root, identity, broken);
    }

    fn push(&mut self, mut root: Node, mut identity: Identity, broken: bool) {
        let mut kept = self.kept_back(&mut root);
        // A value that cannot be the name of a possible Secret may be one of its values.
        if kept.is_secret && !redact::is_name(&identity.key.name) {
            identity.key.name = Str::new_static(redact::REDACTED);
        }
        if !self.beside.is_empty() {
            let mut same = BTreeSet::new();
            self.strings_repeated_outside(&root, &mut same);
            let known: BTreeSet<Str> = kept.credentials.iter().cloned().collect();
            kept.credentials.extend(same.into_iter().filter(|value| !known.contains(value)));
        }
        if let Some(identify) = self.options.identify {
            let own = (identify.secrets)(&mut root);
            kept.is_secret |= !own.is_empty();
            kept.secrets.extend(own);
        }
        let index = self.objects.len();
        let content = Content {
            root: Arc::new(root),
            document: self.document.clone(),
            api_version: identity.api_version,
            key: identity.key,
            broken,
            stored: self.stored,
            text: (!kept.is_secret).then(|| self.text.clone()),
            secrets: kept.secrets.into_iter().map(|(node, value)| (node, Secret::new(value))).collect(),
            credentials: kept.credentials.into_iter().map(Secret::new).collect(),
            fingerprint: self.fingerprint.wrapping_add(index as u64),
        };
        let content = Arc::new(content);
        self.objects.push(Item { content: content.clone(), parent: None });
        if !broken {
            self.embedded(&content, index);
            self.files(&content, index);
        }
    }

    /// Whether an object is not a Kubernetes object. If the dialect defines plain objects, an `apiVersion` still marks a Kubernetes object.
    fn is_plain(&self, root: &Node) -> bool {
        let is_plain = self.options.shape == Shape::Plain;
        match self.options.identify {
            Some(identify) => root.get("apiVersion").is_none() && (is_plain || !(identify.key)(root).kind.is_empty()),
            None => is_plain,
        }
    }

    /// Removes secret values from a tree.
    fn kept_back(&self, root: &mut Node) -> TakenSecrets {
        // An object without an identity is unusable and may be anything.
        let is_named = match self.options.identify.filter(|_| self.is_plain(root)) {
            Some(identify) => root.as_object().is_some() && !(identify.key)(root).kind.is_empty(),
            None => self.is_plain(root) || root.get("kind").and_then(Node::as_str).is_some(),
        };
        let unnamed = !is_named;
        // A service definition has no `kind` and may contain a token.
        let is_other = self.options.identify.is_some_and(|identify| !self.secret && !self.broken && self.is_plain(root) && (identify.is_own)(root));
        let mut aliased = Vec::new();
        if self.marks.star {
            self.aliased(root, false, &mut aliased);
        }
        let mut kept = if is_other { take_secrets_within(root) } else { take_secrets(root, self.secret || unnamed) };
        if kept.is_secret && !aliased.is_empty() {
            // An alias copies a value that is also written elsewhere, perhaps outside a Secret. The values that a Secret may show are still in the
            // tree, such as a name.
            let mut shown = Vec::new();
            self.aliased(root, true, &mut shown);
            let shown: BTreeSet<Str> = shown.into_iter().collect();
            kept.credentials.extend(aliased.into_iter().filter(|value| !shown.contains(value)));
        }
        if self.broken {
            let has_credentials = kept.is_secret || !kept.credentials.is_empty();
            let words = || redact::opaque_words(&self.document, self.text, has_credentials);
            kept.credentials.extend(self.marks.opaque[usize::from(has_credentials)].get_or_init(words).iter().cloned());
        }
        if !kept.is_secret && (self.marks.star || self.marks.and) {
            let aliases = self.marks.aliases.get_or_init(|| Aliases::new(self.text, &self.document.spans));
            self.lost_anchors(root, aliases, &mut kept.credentials);
        }
        kept
    }

    /// Strings of this node that also occur next to the list's items.
    fn strings_repeated_outside(&self, node: &Node, found: &mut BTreeSet<Str>) {
        match &node.value {
            Value::String(value) if self.beside.contains(value) => found.extend([value.clone()]),
            Value::Array(items) => items.iter().for_each(|item| self.strings_repeated_outside(item, found)),
            Value::Object(object) => object.iter().for_each(|entry| self.strings_repeated_outside(&entry.value, found)),
            _ => {}
        }
    }

    /// Strings that aliases copy, except names of a secret store's entries.
    fn aliased(&self, node: &Node, below: bool, found: &mut Vec<Str>) {
        let is_alias = || self.document.spans.get(node.id).is_some_and(|span| span.value.slice(self.text).starts_with('*'));
        let below = below || is_alias();
        match &node.value {
            Value::String(value) if below => found.push(value.clone()),
            Value::Array(items) => items.iter().for_each(|item| self.aliased(item, below, found)),
            Value::Object(object) => {
                let entries = object.iter().filter(|entry| !redact::refers_to_store(&entry.key));
                entries.for_each(|entry| self.aliased(&entry.value, below, found));
            }
            _ => {}
        }
    }

    /// Values that an alias in a Secret may have copied.
    fn lost_anchors(&self, node: &Node, aliases: &Aliases<'_>, found: &mut Vec<Str>) {
        let place = self.document.spans.get(node.id).map(|span| span.value);
        match &node.value {
            // A plain name with an unused anchor is still a name.
            Value::String(value) if redact::is_name(value) && !redact::may_be_value(value) => {}
            Value::String(value) if aliases.behind_name(value) || place.is_some_and(|place| aliases.lost(place, value)) => found.push(value.clone()),
            Value::Array(items) => items.iter().for_each(|item| self.lost_anchors(item, aliases, found)),
            Value::Object(object) => object.iter().for_each(|entry| self.lost_anchors(&entry.value, aliases, found)),
            // A typing error may have turned the value into a key.
            Value::Null => {
                let key = self.document.spans.get(node.id).map(|span| span.key).filter(|key| aliases.lost(*key, key.slice(self.text)));
                found.extend(key.map(|key| Str::new(key.slice(self.text))));
            }
            _ => {}
        }
    }

    /// Configuration files in the ConfigMap at `holder`. Their readers report problems in their text.
    fn files(&mut self, content: &Content, holder: usize) {
        if content.key.kind != "ConfigMap" || !content.key.group.is_empty() {
            return;
        }
        for name in &self.options.files {
            let Some(file) = content.root.at(&["data", name]) else { continue };
            let (Some(span), Some(inner)) = (self.document.spans.get(file.id), file.as_str()) else { continue };
            let Some(mut document) = parse_embedded(self.text, span.value, inner, &self.options.limits).into_iter().next() else { continue };
            let broken = document.is_broken();
            let mut root = document.root.take().unwrap_or_else(|| Node::synthesised(Value::Null));
            let credentials = redact::credentials_of(&mut root);
            let key = ResourceKey { kind: name.clone(), ..content.key.clone() };
            let index = self.objects.len();
            let content = Content {
                root: Arc::new(root),
                document: Arc::new(document),
                api_version: Str::default(),
                key,
                broken,
                stored: false,
                secrets: Vec::new(),
                credentials: credentials.into_iter().map(Secret::new).collect(),
                text: content.text.clone(),
                fingerprint: self.fingerprint.wrapping_add(index as u64),
            };
            self.objects.push(Item { content: Arc::new(content), parent: Some((holder, file.id)) });
        }
    }

    fn embedded(&mut self, content: &Content, holder: usize) {
        if self.options.embedded.is_empty() {
            return;
        }
        let Some(annotations) = content.root.at(&["metadata", "annotations"]) else { return };
        for name in &self.options.embedded {
            let Some(annotation) = annotations.get(name) else { continue };
            let Some(span) = self.document.spans.get(annotation.id) else { continue };
            let Some(inner) = annotation.as_str() else { continue };
            for mut document in parse_embedded(self.text, span.value, inner, &self.options.limits) {
                let broken = document.is_broken();
                self.findings.extend(problem::findings(&document, self.text, &self.quotes, None));
                let mut root = document.root.take().unwrap_or_else(|| Node::synthesised(Value::Null));
                let kept = self.kept_back(&mut root);
                let is_object = root.as_object().is_some();
                let index = self.objects.len();
                if !is_object && !broken {
                    self.findings.push(at_object(not_an_object(&root, index), index));
                }
                let Identity { api_version, key, .. } = identity::of_embedded(&root, &content.key);
                let content = Content {
                    root: Arc::new(root),
                    document: Arc::new(document),
                    api_version,
                    key,
                    broken: broken || !is_object,
                    stored: false,
                    secrets: kept.secrets.into_iter().map(|(node, value)| (node, Secret::new(value))).collect(),
                    credentials: kept.credentials.into_iter().map(Secret::new).collect(),
                    text: content.text.clone().filter(|_| !kept.is_secret),
                    fingerprint: self.fingerprint.wrapping_add(index as u64),
                };
                let parent = Some((holder, annotation.id));
                self.objects.push(Item { content: Arc::new(content), parent });
            }
        }
    }
}

/// The kind and version that a list declares for its items.
struct ListKind {
    api_version: Option<Node>,
    kind: Option<Str>,
}

impl ListKind {
    /// kubectl treats every object as a list if its kind ends in `List` and it has `items`.
    fn of(root: &Node) -> Option<Self> {
        let kind = root.get("kind")?.as_str()?;
        let of = kind.strip_suffix("List")?;
        root.get("items")?.as_array()?;
        Some(Self { api_version: root.get("apiVersion").cloned(), kind: (!of.is_empty()).then(|| Str::new(of)) })
    }

    /// Completes an item: the items of a `MappingList` need not declare their kind.
    fn complete(&self, item: &mut Node) {
        let (Some(kind), Value::Object(object)) = (&self.kind, &mut item.value) else { return };
        if !object.contains_key("kind") {
            object.insert("kind", Node { id: item.id, value: Value::String(kind.clone()) });
            if let (Some(version), false) = (&self.api_version, object.contains_key("apiVersion")) {
                object.insert("apiVersion", version.clone());
            }
        }
    }
}

fn not_an_object(root: &Node, index: usize) -> Diagnostic {
    let message = format!("this is {}, but Kubernetes takes only objects", identity::article(&root.value));
    let finding = Diagnostic::new(&codes::INCOMPLETE_OBJECT, message, Place::value(local(index), root.id));
    finding.help("every object needs `apiVersion`, `kind` and `metadata.name`")
}

/// Replaces the temporary object number in a finding.
fn at_object(mut finding: Diagnostic, index: usize) -> Diagnostic {
    for_each_place(&mut finding, |place| {
        if let Place::Node { object, .. } = place {
            *object = local(index);
        }
    });
    finding
}

/// Visits all places of a finding.
pub(super) fn for_each_place(finding: &mut Diagnostic, mut change: impl FnMut(&mut Place)) {
    change(&mut finding.place);
    finding.related.iter_mut().for_each(|related| change(&mut related.place));
    if let Some(fix) = &mut finding.fix {
        fix.edits.iter_mut().for_each(|edit| change(&mut edit.place));
    }
}
