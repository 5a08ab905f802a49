//! Finds every place where a name is written: the name of an object, the fields that refer to it, and the names of its listeners, ports and
//! subsets. Renames them.
//!
//! Does not derive relations by matching, such as a route for a host; see `graph`.

use super::Positions;
use super::finding::EditView;
use super::relation::references;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::compilation::Compilation;
use chancery_base::positions::Span;
use chancery_base::resource::{Object, ObjectId, ResourceKey, SourceId};
use chancery_text::{Node, NodeId, Str, TextRange, Value};
use hashbrown::HashMap;

/// The thing that has a name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Named {
    /// An object of the input.
    Object(ObjectId),
    /// An object that the input lacks.
    Absent(ResourceKey),
    /// A listener, port or subset of an object.
    Part(ObjectId, PartKind, Str),
}

/// The parts of an object that other objects name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PartKind {
    /// A listener, which `sectionName` names.
    Listener,
    /// A port of a Service.
    Port,
    /// A subset of a Consul service.
    Subset,
}

/// A place where a name is written.
#[derive(Clone, Debug, PartialEq)]
pub struct NamePlace {
    pub named: Named,
    /// Only the name, without quotes, namespace or port.
    pub span: Span,
    /// Whether this place gives the name.
    pub is_definition: bool,
    /// The object that contains the place.
    pub holder: ObjectId,
    /// The purpose of the reference, such as `service`; empty for a definition.
    pub relation: &'static str,
}

/// All places of names in an input.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// By source and offset.
    places: Vec<NamePlace>,
    by_name: HashMap<Named, Vec<usize>>,
    /// Every object that a field refers to, with the referring object.
    links: BTreeSet<(ObjectId, ObjectId)>,
}

impl Names {
    /// Finds all names of an input.
    #[must_use]
    pub fn of(compilation: &Compilation, positions: &Positions<'_>) -> Self {
        let mut finder = Finder { compilation, positions, places: Vec::new(), links: BTreeSet::new() };
        compilation.objects.iter().for_each(|object| finder.definitions(object));
        for side in compilation.sides() {
            for reference in references(side) {
                let named = match &reference.to {
                    Ok(target) => Named::Object(*target),
                    Err(_) => Named::Absent(reference.key.clone()),
                };
                if let Ok(target) = reference.to {
                    finder.links.insert((reference.from, target));
                }
                let Some((object, at)) = compilation.objects.get(reference.from).zip(reference.at) else { continue };
                finder.reference(object, at.node(), &named, &reference.key.name, reference.relation);
            }
        }
        let Finder { mut places, links, .. } = finder;
        places.sort_by(|a, b| (a.span.source.0, a.span.offset, &a.named, a.relation).cmp(&(b.span.source.0, b.span.offset, &b.named, b.relation)));
        places.dedup_by(|a, b| a.span == b.span && a.named == b.named);
        let mut by_name: HashMap<Named, Vec<usize>> = HashMap::new();
        for (at, place) in places.iter().enumerate() {
            by_name.entry(place.named.clone()).or_default().push(at);
        }
        Self { places, by_name, links }
    }

    /// Returns the names at an offset: several if two controllers read a field differently.
    pub fn at(&self, source: SourceId, offset: u32) -> impl Iterator<Item = &NamePlace> {
        let first = self.places.partition_point(|place| (place.span.source.0, place.span.end_offset) < (source.0, offset));
        self.places.iter().skip(first).take_while(move |place| place.span.source == source && place.span.offset <= offset)
    }

    /// Returns all places of a name, in the order of the input.
    pub fn places<'n>(&'n self, named: &Named) -> impl Iterator<Item = &'n NamePlace> {
        self.by_name.get(named).into_iter().flatten().filter_map(|at| self.places.get(*at))
    }

    /// Returns the places in an input that refer to something.
    pub fn references_in(&self, source: SourceId) -> impl Iterator<Item = &NamePlace> {
        let first = self.places.partition_point(|place| place.span.source.0 < source.0);
        self.places.iter().skip(first).take_while(move |place| place.span.source == source).filter(|place| !place.is_definition)
    }

    /// Returns the objects that an object refers to.
    pub fn targets(&self, of: ObjectId) -> impl Iterator<Item = ObjectId> {
        self.links.range((of, ObjectId::BUILT_IN)..).take_while(move |(from, _)| *from == of).map(|(_, to)| *to)
    }

    /// Returns the objects that refer to an object.
    pub fn referring(&self, to: ObjectId) -> impl Iterator<Item = ObjectId> {
        self.links.iter().filter(move |(_, target)| *target == to).map(|(from, _)| *from)
    }

    /// Returns the edits that give something another name, by input and place.
    ///
    /// # Errors
    ///
    /// Why the name cannot be given, in one sentence.
    pub fn rename(&self, named: &Named, new: &str, compilation: &Compilation, positions: &Positions<'_>) -> Result<Vec<EditView>, String> {
        if !self.places(named).any(|place| place.is_definition) {
            return Err("The input does not contain the object with this name, so that a new name would leave its references wrong".into());
        }
        is_name(new)?;
        let is_taken = match named {
            Named::Object(id) => compilation.objects.get(*id).is_some_and(|object| {
                let key = ResourceKey { name: new.into(), ..object.key.clone() };
                compilation.objects.iter().any(|other| other.id != *id && other.key == key)
            }),
            Named::Part(object, kind, _) => self.by_name.contains_key(&Named::Part(*object, *kind, new.into())),
            Named::Absent(_) => false,
        };
        if is_taken {
            return Err(format!("`{new}` already exists"));
        }
        let shown = |place: &&NamePlace| !positions.hides(place.span.source, place.span.range());
        let edits = self.places(named).filter(shown).map(|place| EditView { replacement: new.to_string(), span: place.span.clone() });
        let mut edits: Vec<EditView> = edits.collect();
        edits.dedup_by(|a, b| a.span == b.span);
        Ok(edits)
    }
}

/// Checks that a text is a name of Kubernetes or Consul that YAML reads as a string.
fn is_name(text: &str) -> Result<(), String> {
    let is_inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    let has_ends = text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.ends_with(|c: char| c.is_ascii_alphanumeric());
    if !has_ends || text.len() > 253 || !text.chars().all(is_inner) {
        return Err(format!("`{text}` is not a name: use letters, digits, `-` and `.`, and begin and end with a letter or digit"));
    }
    let is_string =
        text.parse::<f64>().is_err() && !matches!(&*text.to_ascii_lowercase(), "true" | "false" | "null" | "yes" | "no" | "on" | "off" | "y" | "n");
    if is_string { Ok(()) } else { Err(format!("YAML does not read `{text}` as a string")) }
}

/// Returns where a name is in a text, as a whole word.
fn word(text: &str, name: &str) -> Option<usize> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let found = text.match_indices(name).map(|(at, _)| at);
    let is_whole = |at: &usize| {
        let (before, after) = (&text[..*at], &text[at + name.len()..]);
        !before.ends_with(is_part) && !after.starts_with(is_part)
    };
    if name.is_empty() { None } else { found.into_iter().find(is_whole) }
}

struct Finder<'a> {
    compilation: &'a Compilation,
    positions: &'a Positions<'a>,
    places: Vec<NamePlace>,
    links: BTreeSet<(ObjectId, ObjectId)>,
}

impl Finder<'_> {
    /// Adds a name within a range of an object's input.
    fn add(&mut self, object: &Object, range: TextRange, name: &str, named: Named, relation: &'static str, is_definition: bool) -> bool {
        let source = object.source.source;
        let Some(at) = word(range.slice(self.positions.text(source)), name) else { return false };
        let start = range.start + at as u32;
        let Some(span) = self.positions.span(source, TextRange::new(start, start + name.len() as u32)) else { return false };
        self.places.push(NamePlace { named, span, is_definition, holder: object.id, relation });
        true
    }

    fn definitions(&mut self, object: &Object) {
        if object.broken || object.key.name.is_empty() {
            return;
        }
        let named = [&["metadata", "name"][..], &["name"], &["Name"]];
        for node in named.iter().filter_map(|path| object.root.at(path)) {
            let is_name = node.as_str() == Some(object.key.name.as_str());
            let Some(range) = object.value_range(node.id).filter(|_| is_name) else { continue };
            if self.add(object, range, &object.key.name, Named::Object(object.id), "", true) {
                break;
            }
        }
        let items = |path: &[&str]| object.root.at(path).and_then(Node::as_array).map(Vec::as_slice).unwrap_or_default();
        for (kind, list) in [(PartKind::Listener, items(&["spec", "listeners"])), (PartKind::Port, items(&["spec", "ports"]))] {
            for name in list.iter().filter_map(|item| item.get("name")) {
                let Some((text, range)) = name.as_str().zip(object.value_range(name.id)) else { continue };
                self.add(object, range, text, Named::Part(object.id, kind, text.into()), "", true);
            }
        }
        let subsets = [&["spec", "subsets"][..], &["subsets"], &["Subsets"]];
        for entry in subsets.iter().filter_map(|path| object.root.at(path)).filter_map(Node::as_object).flat_map(|all| all.iter()) {
            if let Some(range) = object.key_range(entry.value.id) {
                self.add(object, range, &entry.key, Named::Part(object.id, PartKind::Subset, entry.key.clone()), "", true);
            }
        }
    }

    fn reference(&mut self, object: &Object, node: NodeId, named: &Named, name: &str, relation: &'static str) {
        let Some(mut range) = object.value_range(node).filter(|range| !range.is_empty()) else { return };
        let mut holder = object.document.spans.get(node).map(|span| span.parent);
        // A field that holds an object names it inside.
        if let Some(inner) = self.name_within(object, node, name) {
            (range, holder) = (object.value_range(inner).unwrap_or(range), Some(node));
        }
        self.add(object, range, name, named.clone(), relation, false);
        if let (Named::Object(target), Some(holder)) = (named, holder) {
            self.parts(object, holder, *target, relation);
        }
    }

    /// Returns the field `name` or `serviceName` of a node with this value.
    fn name_within(&self, object: &Object, node: NodeId, name: &str) -> Option<NodeId> {
        let text = self.positions.text(object.source.source);
        children(object, node).into_iter().find(|child| {
            let key = object.key_range(*child).map(|range| range.slice(text).trim_matches(['"', '\''])).unwrap_or_default();
            let value = object.value_range(*child).map(|range| range.slice(text).trim_matches(['"', '\''])).unwrap_or_default();
            matches!(key, "name" | "Name" | "serviceName" | "secretName") && value == name
        })
    }

    /// Adds the names of the target's parts that are next to a reference.
    fn parts(&mut self, object: &Object, holder: NodeId, target: ObjectId, relation: &'static str) {
        let text = self.positions.text(object.source.source);
        let unquoted = |range: Option<TextRange>| range.map(|range| range.slice(text).trim_matches(['"', '\'']).to_string()).unwrap_or_default();
        for child in children(object, holder) {
            let kind = match unquoted(object.key_range(child)).as_str() {
                "sectionName" => PartKind::Listener,
                "port" | "servicePort" => PartKind::Port,
                "serviceSubset" | "ServiceSubset" => PartKind::Subset,
                _ => continue,
            };
            let inner = children(object, child).into_iter().find(|inner| unquoted(object.key_range(*inner)) == "name").unwrap_or(child);
            let name = unquoted(object.value_range(inner));
            // A number names a port without a name.
            let is_known = self.compilation.objects.get(target).is_some_and(|target| has_part(target, kind, &name));
            if let Some(range) = object.value_range(inner).filter(|_| is_known) {
                self.add(object, range, &name, Named::Part(target, kind, name.as_str().into()), relation, false);
            }
        }
    }
}

/// Returns the fields of a node.
fn children(object: &Object, node: NodeId) -> Vec<NodeId> {
    let spans = &object.document.spans;
    let first = node.0.saturating_add(1);
    // Nodes are numbered from the outside in.
    let inside = |id: &NodeId| core::iter::successors(Some(*id), |at| spans.get(*at).map(|span| span.parent)).take(64).any(|at| at == node);
    let ids = (first..spans.len() as u32).map(NodeId).take_while(inside);
    ids.filter(|id| spans.get(*id).is_some_and(|span| span.parent == node)).collect()
}

/// Whether an object has a part with this name.
fn has_part(object: &Object, kind: PartKind, name: &str) -> bool {
    let has_item = |path: &[&str]| {
        let items = object.root.at(path).and_then(Node::as_array).map(Vec::as_slice).unwrap_or_default();
        items.iter().any(|item| item.get("name").and_then(Node::as_str) == Some(name))
    };
    match kind {
        PartKind::Listener => has_item(&["spec", "listeners"]),
        PartKind::Port => has_item(&["spec", "ports"]),
        PartKind::Subset => [&["spec", "subsets"][..], &["subsets"], &["Subsets"]]
            .iter()
            .filter_map(|path| object.root.at(path))
            .any(|node| matches!(&node.value, Value::Object(all) if all.get(name).is_some())),
    }
}
