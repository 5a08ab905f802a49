//! Offers help while the user types: what a field is for, and which values fit.
//!
//! Completion reads lines and indents, not the tree: an unfinished document often has no tree. Does not draw anything.

use super::{Positions, ResourceRef, Span};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::compilation::{AnnotationDoc, Compilation, Dialect};
use chancery_base::resource::{Object, SourceId};
use chancery_base::schema::{Field, KnownKind, Literal, Others, Schema, Shape, allowed_values, describe};
use chancery_text::{NodeId, Segment};

/// Help for a place in an input.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Hover {
    #[serde(flatten)]
    pub span: Span,
    /// The field, as `spec.timeout_ms`, or the kind.
    pub title: String,
    /// The type of value that belongs there.
    pub takes: String,
    /// The field's documentation.
    pub doc: String,
    /// The valid values, if the field is an enumeration.
    pub values: Vec<String>,
    /// The default, used when the field is not set.
    pub default: Option<String>,
    pub resource: ResourceRef,
}

/// What the user may type at a place.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Completions {
    /// Byte offset where the typed word begins.
    pub from: u32,
    pub items: Vec<Completion>,
}

#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Completion {
    /// The string that the list shows.
    pub label: String,
    /// The string to insert.
    pub insert: String,
    /// `kind`, `field` or `value`.
    pub sort: &'static str,
    /// The type of value that it accepts.
    pub detail: String,
    pub doc: String,
}

/// Returns help for the key or value at a byte offset.
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
    // Objects in annotations have their fields at the top level.
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

/// Returns the annotations of a kind that have documentation.
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

/// Returns the object that contains an offset, and its innermost node there.
fn innermost(compilation: &Compilation, source: SourceId, offset: u32) -> Option<(&Object, NodeId)> {
    let here = |object: &&Object| {
        object.source.source == source && object.value_range(object.root.id).is_some_and(|range| range.start <= offset && offset <= range.end)
    };
    // An object in an annotation comes after its holder, and is the inner one.
    compilation.objects.iter().filter(here).filter_map(|object| at(object, offset).map(|node| (object, node))).last()
}

fn at(object: &Object, offset: u32) -> Option<NodeId> {
    let spans = &object.document.spans;
    let within = |id: NodeId| core::iter::successors(Some(id), |at| spans.get(*at).map(|span| span.parent)).any(|at| at == object.root.id);
    let holds = |id: &NodeId| spans.get(*id).is_some_and(|span| span.whole().shifted(object.source.offset).contains(offset));
    (0..spans.len() as u32).map(NodeId).rfind(|id| holds(id) && within(*id))
}

/// Describes the type of value that a schema accepts, briefly.
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

/// Returns what the user may type at a byte offset, in any of the given dialects.
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

/// Whether a line belongs to the annotations of an object.
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

/// Returns the kind that a document declares. A document without a version has the newest one.
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

/// Returns the keys that enclose a line of this indent, from the document's top.
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
        // In `- key:` the key's own column is its indent.
        let key = content.trim_start_matches(['-', ' ']);
        let its = line.len() - key.len();
        let dash = line.len() - content.len();
        let Some((name, rest)) = key.split_once(':') else { continue };
        let opens = rest.trim().is_empty() || rest.trim().starts_with('#');
        // A list may have the same indent as the key that holds it.
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

/// Returns the schema at a path, through lists and maps.
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
