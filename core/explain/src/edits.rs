//! Proposes changes of a text: suppress a finding with a reason, permit a reference to another namespace.
//!
//! Does not fix findings; see `Finding::fix`. Does not apply changes; see `FixView::apply`.

use super::Positions;
use super::check::ANNOTATION;
use super::finding::{EditView, FixView};
use super::navigation::{NamePlace, Named};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::compilation::Compilation;
use chancery_base::resource::{Object, ObjectId, ResourceKey};
use chancery_text::{Node, NodeId, TextRange};

/// The group of the Gateway API.
const GATEWAY_API: &str = "gateway.networking.k8s.io";

/// Returns a change that suppresses the findings of a code for an object. `reason` says why.
///
/// Returns `None` if the object has no metadata, or its annotations cannot be changed for certain.
#[must_use]
pub fn suppression(compilation: &Compilation, positions: &Positions<'_>, object: ObjectId, code: &str, reason: &str) -> Option<FixView> {
    let mut object = compilation.objects.get(object).filter(|object| !object.broken)?;
    // Configuration in an annotation belongs to the annotated object.
    if let Some((holder, _)) = object.parent {
        object = compilation.objects.get(holder)?;
    }
    let entry = format!("{code}: {reason}");
    let editor = Editor { object, text: positions.text(object.source.source) };
    let metadata = object.root.get("metadata")?;
    let annotation = format!("{ANNOTATION}: \"{entry}\"");
    let quoted = format!("\"{ANNOTATION}\": \"{entry}\"");
    let (at, replacement) = match metadata.get("annotations") {
        Some(annotations) => match annotations.get(ANNOTATION) {
            Some(known) => (editor.end_of_quoted(known.id)?, format!("; {entry}")),
            None => editor.first_field(annotations, &annotation, &quoted)?,
        },
        None => {
            let line = editor.newline();
            let block = format!("annotations:{line}{}{annotation}", " ".repeat(editor.column_of_fields(metadata).unwrap_or_default() + 2));
            editor.first_field(metadata, &block, &format!("\"annotations\": {{{quoted}}}"))?
        }
    };
    let span = positions.span(object.source.source, TextRange::empty(at))?;
    let first = EditView { replacement, span };
    Some(FixView { message: format!("suppress `{code}` for this object"), first, more: Vec::new() })
}

struct Editor<'a> {
    object: &'a Object,
    text: &'a str,
}

impl Editor<'_> {
    fn newline(&self) -> &'static str {
        if self.text.contains("\r\n") { "\r\n" } else { "\n" }
    }

    /// Returns where an object's first field begins, if it is in block style.
    fn block_start(&self, of: &Node) -> Option<u32> {
        let first = of.as_object()?.iter().next()?;
        let start = self.object.key_range(first.value.id).filter(|key| !key.is_empty())?.start;
        let before = self.text.get(..start as usize)?;
        let indent = before.rsplit('\n').next()?;
        indent.chars().all(|c| c == ' ').then_some(start)
    }

    fn column_of_fields(&self, of: &Node) -> Option<usize> {
        let before = self.text.get(..self.block_start(of)? as usize)?;
        Some(before.len() - before.rfind('\n').map_or(0, |at| at + 1))
    }

    /// Returns where a field is inserted before all others, and its text there: in block style or in brackets.
    fn first_field(&self, of: &Node, block: &str, flow: &str) -> Option<(u32, String)> {
        if let (Some(start), Some(column)) = (self.block_start(of), self.column_of_fields(of)) {
            return Some((start, format!("{block}{}{}", self.newline(), " ".repeat(column))));
        }
        let range = self.object.value_range(of.id)?;
        let written = range.slice(self.text);
        let inner = written.strip_prefix('{')?;
        let comma = if inner.trim_start().starts_with('}') { "" } else { ", " };
        Some((range.start + 1, format!("{flow}{comma}")))
    }

    /// Returns the place before the closing quote of a value.
    fn end_of_quoted(&self, node: NodeId) -> Option<u32> {
        let range = self.object.value_range(node)?;
        let written = range.slice(self.text);
        let is_quoted =
            written.len() > 1 && (written.starts_with('"') && written.ends_with('"') || written.starts_with('\'') && written.ends_with('\''));
        is_quoted.then(|| range.end - 1)
    }
}

/// Returns the ReferenceGrant that a reference of the Gateway API to another namespace needs, as a YAML document. Returns `None` if the reference
/// needs none, or the input contains one.
#[must_use]
pub fn missing_grant(compilation: &Compilation, place: &NamePlace) -> Option<String> {
    let from = compilation.objects.get(place.holder)?;
    let to = match &place.named {
        Named::Object(id) => &compilation.objects.get(*id)?.key,
        Named::Absent(key) => key,
        Named::Part(..) => return None,
    };
    let (here, there) = (from.key.namespace.as_ref()?, to.namespace.as_ref()?);
    let needs_one = from.key.group == GATEWAY_API && here != there && matches!(&*to.kind, "Service" | "Secret" | "ConfigMap");
    if !needs_one || place.is_definition || is_granted(compilation, &from.key, to) {
        return None;
    }
    let kind = from.key.kind.to_lowercase();
    Some(format!(
        "apiVersion: {GATEWAY_API}/v1beta1\nkind: ReferenceGrant\nmetadata:\n  name: {kind}-from-{here}\n  namespace: {there}\nspec:\n  from:\n  - group: {GATEWAY_API}\n    kind: {}\n    namespace: {here}\n  to:\n  - group: \"\"\n    kind: {}\n    name: {}\n",
        from.key.kind, to.kind, to.name
    ))
}

fn is_granted(compilation: &Compilation, from: &ResourceKey, to: &ResourceKey) -> bool {
    let text = |node: &Node, field: &str| node.get(field).and_then(Node::as_str).unwrap_or_default().to_string();
    let items = |spec: &Node, field: &str| spec.get(field).and_then(Node::as_array).cloned().unwrap_or_default();
    let grants = compilation.objects.iter().filter(|object| object.key.kind == "ReferenceGrant" && object.key.namespace == to.namespace);
    grants.filter_map(|grant| grant.root.get("spec")).any(|spec| {
        let names_from = items(spec, "from")
            .iter()
            .any(|entry| text(entry, "kind") == from.kind.as_str() && Some(text(entry, "namespace")).as_deref() == from.namespace.as_deref());
        let names_to = items(spec, "to").iter().any(|entry| {
            let name = text(entry, "name");
            text(entry, "kind") == to.kind.as_str() && (name.is_empty() || name == to.name.as_str())
        });
        names_from && names_to
    })
}
