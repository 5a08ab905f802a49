//! Selects everything that belongs together in all stages: from a line or a place in a document to the related lines, resources and places. Does
//! not show them.

use super::trace::choose_line;
use super::{Positions, ResourceRef, Span};
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::compilation::Compilation;
use chancery_base::output_map::OutputMap;
use chancery_base::output_map::and_ancestors;
use chancery_base::resource::{ObjectId, Origin, Rule, SourceId};
use chancery_text::NodeId;

/// Parts of input objects, and with them everything that was made from them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lineage {
    parts: Vec<Part>,
    /// Whether values inside the parts belong to it as well.
    deep: bool,
}

#[derive(Clone, Debug, PartialEq)]
struct Part {
    object: ObjectId,
    nodes: Vec<NodeId>,
}

impl Lineage {
    /// Selects a line, counted from 1; `None` if no resource is on it. A line that made nothing by itself (in none of `maps`) selects the whole
    /// resource.
    pub fn of_line(compilation: &Compilation, source: SourceId, line: u32, maps: &[&OutputMap]) -> Option<Self> {
        let of_fields = Self::of_fields(compilation, source, line)?;
        if maps.iter().any(|map| !of_fields.places(compilation, map).is_empty()) {
            return Some(of_fields);
        }
        of_fields.parts.first().map(|part| Self::of_object(compilation, part.object))
    }

    /// Selects the fields of a line, counted from 1, even if they made nothing; `None` if no resource is on it.
    pub fn of_fields(compilation: &Compilation, source: SourceId, line: u32) -> Option<Self> {
        let (object, nodes) = choose_line(compilation, source, line)?;
        Some(Self { parts: Vec::from([Part { object, nodes }]), deep: true })
    }

    /// Selects a whole resource.
    pub fn of_object(compilation: &Compilation, object: ObjectId) -> Self {
        let nodes = compilation.objects.get(object).map(|object| object.root.id).into_iter().collect();
        Self { parts: Vec::from([Part { object, nodes }]), deep: true }
    }

    /// Selects the makers of a place in a document, or of the nearest enclosing place.
    pub fn of_place(map: &OutputMap, pointer: &str) -> Self {
        let origins = map.lookup(pointer).map(|made| made.origins.to_vec()).unwrap_or_default();
        let mut parts: Vec<Part> = Vec::new();
        for origin in origins.iter().filter(|origin| origin.object() != ObjectId::BUILT_IN) {
            match parts.iter_mut().find(|part| part.object == origin.object()) {
                Some(part) => part.nodes.push(origin.node()),
                None => parts.push(Part { object: origin.object(), nodes: Vec::from([origin.node()]) }),
            }
        }
        Self { parts, deep: false }
    }

    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Returns the places of a document that the selection made, without places inside others.
    pub fn places(&self, compilation: &Compilation, map: &OutputMap) -> Vec<String> {
        let mut out: BTreeSet<String> = BTreeSet::new();
        for part in &self.parts {
            let Some(object) = compilation.objects.get(part.object) else { continue };
            let spans = &object.document.spans;
            let above = |node: NodeId| core::iter::successors(Some(node), |at| spans.get(*at).map(|span| span.parent));
            let stands_for = |origin: Origin| origin.is_whole() && part.nodes.iter().any(|node| above(*node).any(|at| at == origin.node()));
            let deep = |origin: Origin| above(origin.node()).any(|at| part.nodes.contains(&at));
            out.extend(
                map.made_by(part.object, |origin| stands_for(origin) || if self.deep { deep(origin) } else { part.nodes.contains(&origin.node()) }),
            );
        }
        let outer = |pointer: &String| and_ancestors(pointer).skip(1).any(|outer| out.contains(outer));
        out.iter().filter(|pointer| !outer(pointer)).cloned().collect()
    }

    /// Returns the lines of the selected parts.
    pub fn spans(&self, positions: &Positions<'_>) -> Vec<Span> {
        let of = |part: &Part| {
            let object = part.object;
            part.nodes.iter().map(move |node| Origin::new(object, *node, Rule::Field)).collect::<Vec<_>>()
        };
        let mut spans: Vec<Span> = self.parts.iter().flat_map(of).filter_map(|origin| positions.origin(origin)).collect();
        spans.sort_by_key(|span| (span.source.0, span.offset));
        spans.dedup();
        spans
    }

    /// Returns the selected resources.
    pub fn resources(&self, compilation: &Compilation) -> Vec<ResourceRef> {
        self.parts.iter().filter_map(|part| compilation.objects.get(part.object)).map(|object| ResourceRef::from(&object.key)).collect()
    }

    /// Returns the selected fields, as `spec.prefix`; none for whole resources.
    pub fn fields(&self, compilation: &Compilation) -> Vec<String> {
        let of = |part: &Part| {
            let object = compilation.objects.get(part.object)?;
            Some(part.nodes.iter().map(|node| alloc::string::ToString::to_string(&object.path(*node))).collect::<Vec<_>>())
        };
        let mut fields: Vec<String> = self.parts.iter().filter_map(of).flatten().filter(|field| !field.is_empty()).collect();
        fields.dedup();
        fields
    }
}
