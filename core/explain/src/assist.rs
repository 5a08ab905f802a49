//! Help while writing: what a field is for, and what may stand at a place.
//!
//! Completion reads lines and indents and not the tree: while one is writing, there often is none.
//!
//! What must not be here: how a card or a list looks.

use super::{Positions, ResourceRef, Span};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::compilation::{AnnotationDoc, Compilation, Dialect};
use chancery_base::resource::{Object, SourceId};
use chancery_base::schema::{Field, KnownKind, Literal, Others, Schema, Shape, allowed_values, describe};
use chancery_text::{NodeId, Segment};

/// What there is to say of a place in an input.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Hover {
    /// What it is about.
    #[serde(flatten)]
    pub span: Span,
    /// The field, as `spec.timeout_ms`, or the kind.
    pub title: String,
    /// What sort of value belongs there.
    pub takes: String,
    /// What it is for.
    pub doc: String,
    /// What may stand there, where only some values may.
    pub values: Vec<String>,
    /// What counts where nothing stands there.
    pub default: Option<String>,
    /// The resource.
    pub resource: ResourceRef,
}

/// What may be written at a place.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Completions {
    /// Byte offset where what is written begins.
    pub from: u32,
    /// What would fit.
    pub items: Vec<Completion>,
}

/// One thing that may be written.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Completion {
    /// What to show.
    pub label: String,
    /// What to write.
    pub insert: String,
    /// `kind`, `field` or `value`.
    pub sort: &'static str,
    /// What sort of value it takes.
    pub detail: String,
    /// What it is for.
    pub doc: String,
}

/// What there is to say of the value or key at a byte offset.
pub fn hover(compilation: &Compilation, positions: &Positions<'_>, source: SourceId, offset: u32) -> Option<Hover> {
    let (object, node) = innermost(compilation, source, offset)?;
    let span = positions.span(source, object.key_range(node).filter(|key| !key.is_empty()).or_else(|| object.value_range(node))?)?;
    let path = object.path(node);
    let keys: Vec<&str> =
        path.segments.iter().filter_map(|segment| if let Segment::Key(key) = segment { Some(key.as_str()) } else { None }).collect();
    let kinds: Vec<KnownKind> = compilation.sides.iter().flat_map(|side| (side.dialect.kinds)()).collect();
    let kind = kinds.iter().find(|kind| kind.name == object.key.kind && kind.api_version == object.api_version)?;
    let resource = ResourceRef::from(&object.key);
    if matches!(keys[..], ["kind"]) {
        let (title, doc) = (kind.name.to_string(), kind.doc.to_string());
        return Some(Hover { span, title, takes: kind.api_version.clone(), doc, values: Vec::new(), default: None, resource });
    }
    if let ["metadata", "annotations", name] = keys[..] {
        let known = annotations_of(compilation.sides.iter().map(|side| side.dialect), kind.name).find(|known| known.name == name)?;
        let (title, takes, doc) = (name.to_string(), known.takes.to_string(), known.doc.to_string());
        let values = known.values.iter().map(ToString::to_string).collect();
        return Some(Hover { span, title, takes, doc, values, default: Some(known.default.to_string()), resource });
    }
    // Annotations hold objects whose fields stand at their top.
    let below = if object.parent.is_some() { &keys[..] } else { keys.strip_prefix(&["spec"])? };
    let field = describe(kind.spec, below)?;
    Some(Hover {
        span,
        title: path.to_string(),
        takes: takes(&field.schema),
        doc: field.doc.to_string(),
        values: allowed_values(&field.schema),
        default: field.schema.default.map(literal),
        resource,
    })
}

/// The annotations of a kind of which there is something to say.
fn annotations_of<'k>(dialects: impl Iterator<Item = &'static Dialect> + 'k, kind: &'k str) -> impl Iterator<Item = &'static AnnotationDoc> + 'k {
    dialects.flat_map(|dialect| dialect.annotations).filter(move |(of, _)| *of == kind).flat_map(|(_, known)| known.docs)
}

fn literal(of: Literal) -> String {
    match of {
        Literal::Bool(value) => value.to_string(),
        Literal::Int(value) => value.to_string(),
        Literal::Str(value) => value.to_string(),
        Literal::List(items) => format!("[{}]", items.iter().copied().map(literal).collect::<Vec<_>>().join(", ")),
        Literal::Object(entries) => {
            format!("{{{}}}", entries.iter().map(|(key, value)| format!("{key}: {}", literal(*value))).collect::<Vec<_>>().join(", "))
        }
    }
}

/// The object whose text holds an offset, and the innermost node there.
fn innermost(compilation: &Compilation, source: SourceId, offset: u32) -> Option<(&Object, NodeId)> {
    let here = |object: &&Object| {
        object.source.source == source && object.value_range(object.root.id).is_some_and(|range| range.start <= offset && offset <= range.end)
    };
    // What stands in an annotation comes after what holds it, and is nearer.
    compilation.objects.iter().filter(here).filter_map(|object| at(object, offset).map(|node| (object, node))).last()
}

fn at(object: &Object, offset: u32) -> Option<NodeId> {
    let spans = &object.document.spans;
    let within = |id: NodeId| core::iter::successors(Some(id), |at| spans.get(*at).map(|span| span.parent)).any(|at| at == object.root.id);
    let holds = |id: &NodeId| spans.get(*id).is_some_and(|span| span.whole().shifted(object.source.offset).contains(offset));
    (0..spans.len() as u32).map(NodeId).rfind(|id| holds(id) && within(*id))
}

/// What sort of value a schema takes, in a few words.
fn takes(schema: &Schema) -> String {
    match &schema.shape {
        Shape::Any => "any value".into(),
        Shape::Boolean => "true or false".into(),
        Shape::True => "true".into(),
        Shape::Integer(_) => "whole number".into(),
        Shape::Number(_) => "number".into(),
        Shape::String(strings) if strings.format == chancery_base::schema::Format::GoDuration => "duration, like 1m30s".into(),
        Shape::String(_) => "string".into(),
        Shape::IntOrString(_) => "whole number or string".into(),
        Shape::Array { items, .. } => format!("list of: {}", takes(items)),
        Shape::Object(_) => "object".into(),
        Shape::OneOf(choices) | Shape::AnyOf(choices) => {
            let mut words: Vec<String> = choices.iter().map(takes).collect();
            words.dedup();
            words.join(", or ")
        }
    }
}

/// What may be written at a byte offset of a text, in any of these dialects.
pub fn completions(dialects: &[&'static Dialect], text: &str, offset: u32) -> Completions {
    let Some(before) = text.get(..offset as usize) else { return Completions::default() };
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let written = &before[start..];
    let begin = before.rfind("\n---").map_or(0, |at| at + 1);
    let end = text.get(offset as usize..).and_then(|rest| rest.find("\n---")).map_or(text.len(), |at| offset as usize + at);
    let document = &text[begin..end];
    let kinds: Vec<KnownKind> = dialects.iter().flat_map(|dialect| (dialect.kinds)()).collect();
    let key = written.trim_start_matches([' ', '-']);
    let indent = written.len() - key.len();
    if let Some((name, value)) = key.split_once(':') {
        let typed = value.trim_start();
        let from = offset - typed.len() as u32;
        let items = match indent {
            0 => top_values(name, document, &kinds),
            _ if is_annotation(before, start, indent) => annotation_values(name, dialects, document),
            _ => field_values(name, indent, before, start, document, &kinds),
        };
        return Completions { from, items };
    }
    let from = offset - key.len() as u32;
    if indent == 0 {
        let items = ["apiVersion", "kind", "metadata", "spec"].iter().filter(|name| !has_line(document, name)).map(|name| top(name)).collect();
        return Completions { from, items };
    }
    let path = path_above(before, start, indent);
    let fields = match path.split_first() {
        Some((first, below)) if first == "metadata" && below == ["annotations"] => annotations(dialects, document),
        Some((first, [])) if first == "metadata" => Vec::from(["name", "namespace", "labels", "annotations"].map(top)),
        Some((first, below)) if first == "spec" => kind_of(document, &kinds).map(|kind| fields_at(kind.spec, below)).unwrap_or_default(),
        _ => Vec::new(),
    };
    Completions { from, items: fields }
}

/// Whether a line stands among the annotations of an object.
fn is_annotation(before: &str, start: usize, indent: usize) -> bool {
    path_above(before, start, indent) == ["metadata", "annotations"]
}

fn annotations(dialects: &[&'static Dialect], document: &str) -> Vec<Completion> {
    let item = |known: &AnnotationDoc| Completion {
        label: known.name.into(),
        insert: format!("{}: ", known.name),
        sort: "field",
        detail: known.takes.into(),
        doc: format!("{}. Default: {}", known.doc, known.default),
    };
    let kind = line_value(document, "kind").unwrap_or_default();
    annotations_of(dialects.iter().copied(), kind).map(item).collect()
}

fn annotation_values(name: &str, dialects: &[&'static Dialect], document: &str) -> Vec<Completion> {
    let kind = line_value(document, "kind").unwrap_or_default();
    let known = annotations_of(dialects.iter().copied(), kind).find(|known| known.name == name);
    let value =
        |label: &&str| Completion { label: label.to_string(), insert: label.to_string(), sort: "value", detail: String::new(), doc: String::new() };
    known.into_iter().flat_map(|known| known.values).map(value).collect()
}

fn has_line(document: &str, name: &str) -> bool {
    document.lines().any(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(':')))
}

fn top(name: &str) -> Completion {
    let opens = matches!(name, "metadata" | "spec" | "labels" | "annotations");
    Completion {
        label: name.into(),
        insert: format!("{name}:{}", if opens { "" } else { " " }),
        sort: "field",
        detail: String::new(),
        doc: String::new(),
    }
}

fn line_value<'t>(document: &'t str, name: &str) -> Option<&'t str> {
    let value = document.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    Some(value.split(" #").next().unwrap_or_default().trim().trim_matches(['"', '\'']))
}

/// The kind that a document says it is; where it does not say a version, the newest.
fn kind_of(document: &str, kinds: &[KnownKind]) -> Option<KnownKind> {
    let (name, version) = (line_value(document, "kind")?, line_value(document, "apiVersion"));
    let named = || kinds.iter().filter(|kind| kind.name == name);
    named().find(|kind| version == Some(kind.api_version.as_str())).or_else(|| named().next()).cloned()
}

fn top_values(name: &str, document: &str, kinds: &[KnownKind]) -> Vec<Completion> {
    let value = |label: &str, detail: &str, doc: &str| Completion {
        label: label.into(),
        insert: label.into(),
        sort: "kind",
        detail: detail.into(),
        doc: doc.into(),
    };
    let mut out: Vec<Completion> = Vec::new();
    match name {
        "kind" => {
            let version = line_value(document, "apiVersion").filter(|version| !version.is_empty());
            let fits = kinds.iter().filter(|kind| version.is_none_or(|version| version == kind.api_version));
            out.extend(fits.map(|kind| value(kind.name, &kind.api_version, kind.doc)));
        }
        "apiVersion" => {
            let name = line_value(document, "kind").filter(|name| !name.is_empty());
            let fits = kinds.iter().filter(|kind| name.is_none_or(|name| name == kind.name));
            out.extend(fits.map(|kind| value(&kind.api_version, "", "")));
        }
        _ => {}
    }
    let mut seen: Vec<String> = Vec::new();
    out.retain(|item| !seen.contains(&item.label) && (seen.push(item.label.clone()), true).1);
    out
}

/// The keys that lead to a line of this indent, from the document's top.
fn path_above(before: &str, start: usize, indent: usize) -> Vec<String> {
    let mut path = Vec::new();
    let mut indent = indent;
    for line in before[..start].lines().rev() {
        if line.starts_with("---") {
            break;
        }
        let content = line.trim_start();
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        // `- key:` stands where the key stands.
        let key = content.trim_start_matches(['-', ' ']);
        let its = line.len() - key.len();
        let dash = line.len() - content.len();
        let Some((name, rest)) = key.split_once(':') else { continue };
        let opens = rest.trim().is_empty() || rest.trim().starts_with('#');
        // A list may stand at the indent of the key that holds it.
        if opens && (its < indent) {
            path.push(name.trim_matches(['"', '\'']).to_string());
            indent = its;
        } else if dash < indent && its >= indent && content.starts_with('-') {
            indent = dash + 1;
        }
        if indent == 0 {
            break;
        }
    }
    path.reverse();
    path
}

/// The schema at a path, lists and maps followed.
fn schema_at(schema: &'static Schema, path: &[String]) -> Option<&'static Schema> {
    if path.is_empty() {
        return Some(schema);
    }
    let keys: Vec<&str> = path.iter().map(String::as_str).collect();
    describe(schema, &keys).map(|field| &field.schema)
}

fn fields_at(schema: &'static Schema, path: &[String]) -> Vec<Completion> {
    schema_at(schema, path).map(fields_of).unwrap_or_default()
}

fn fields_of(schema: &'static Schema) -> Vec<Completion> {
    match &schema.shape {
        Shape::Object(members) => {
            let inner = if let Others::Values(values) = members.others { fields_of(values) } else { Vec::new() };
            members.fields.iter().map(completion).chain(inner).collect()
        }
        Shape::Array { items, .. } => fields_of(items),
        Shape::OneOf(choices) | Shape::AnyOf(choices) => choices.iter().flat_map(fields_of).collect(),
        _ => Vec::new(),
    }
}

fn completion(field: &'static Field) -> Completion {
    let opens = matches!(field.schema.shape, Shape::Object(_) | Shape::Array { .. });
    Completion {
        label: field.name.into(),
        insert: format!("{}:{}", field.name, if opens { "" } else { " " }),
        sort: "field",
        detail: takes(&field.schema),
        doc: field.doc.into(),
    }
}

fn field_values(name: &str, indent: usize, before: &str, start: usize, document: &str, kinds: &[KnownKind]) -> Vec<Completion> {
    let path = path_above(before, start, indent);
    let Some((first, below)) = path.split_first().filter(|(first, _)| *first == "spec") else { return Vec::new() };
    let Some(kind) = kind_of(document, kinds).filter(|_| first == "spec") else { return Vec::new() };
    let mut keys: Vec<&str> = below.iter().map(String::as_str).collect();
    keys.push(name);
    let Some(field) = describe(kind.spec, &keys) else { return Vec::new() };
    let exact = matches!(&field.schema.shape, Shape::Integer(numbers) | Shape::Number(numbers) if numbers.among.is_empty());
    let values = if exact { Vec::new() } else { allowed_values(&field.schema) };
    let value = |label: String| Completion { insert: label.clone(), label, sort: "value", detail: String::new(), doc: String::new() };
    values.into_iter().map(value).collect()
}
