//! Adds to findings the fields that have no effect until the problem is fixed. The dialect names them.

use alloc::vec::Vec;
use chancery_base::compilation::{Compilation, Problem, SideRef};
use chancery_base::diagnostic::{Code, Diagnostic, Place, Related, Severity, codes};
use chancery_base::resource::{Object, ObjectId};
use chancery_text::NodeId;
use hashbrown::HashSet;

/// Findings about a field that is dropped with everything in it.
const DROPPED: [&Code; 3] = [&codes::FIELD_WITHOUT_EFFECT, &codes::UNKNOWN_FIELD, &codes::UNSUPPORTED_FEATURE];

/// At most this many fields are added to a finding.
const MOST_FIELDS: usize = 32;

/// The message at a disabled field.
const MESSAGE: &str = "this field has no effect until the problem is fixed";

/// Adds the disabled fields to the findings, each field to the first finding that disables it.
pub(super) fn attach(compilation: &mut Compilation) {
    for at in 0..compilation.sides.len() {
        let Some(side) = compilation.sides().nth(at) else { continue };
        let added = disabled_places(side);
        let Some(side) = compilation.sides.get_mut(at) else { continue };
        for (index, places) in added {
            let Some(finding) = side.diagnostics.get_mut(index) else { continue };
            finding.related.extend(places.into_iter().map(|place| Related { place, message: MESSAGE.into() }));
        }
    }
}

/// The disabled places, by the position of the finding.
fn disabled_places(side: SideRef<'_>) -> Vec<(usize, Vec<Place>)> {
    let served = side.served();
    let mut known = HashSet::new();
    let mut added = Vec::new();
    for (index, finding) in side.side.diagnostics.iter().enumerate() {
        let Place::Node { object, node, .. } = finding.place else { continue };
        let Some(object) = side.objects().get(object) else { continue };
        let shown = finding.related.iter().filter_map(|related| node_of(&related.place)).chain([(object.id, node)]);
        known.extend(shown);
        let fields = disabled_fields(side, finding, object, node, &served);
        let fields = fields.into_iter().filter(|field| known.insert((object.id, *field))).take(MOST_FIELDS);
        let places: Vec<Place> = fields.map(|field| Place::value(object.id, field)).collect();
        if !places.is_empty() {
            added.push((index, places));
        }
    }
    added
}

fn node_of(place: &Place) -> Option<(ObjectId, NodeId)> {
    if let Place::Node { object, node, .. } = place { Some((*object, *node)) } else { None }
}

fn disabled_fields(side: SideRef<'_>, finding: &Diagnostic, object: &Object, node: NodeId, served: &HashSet<ObjectId>) -> Vec<NodeId> {
    let is_part = object.document.spans.get(node).is_some_and(|span| node != object.root.id && span.parent != object.root.id);
    if DROPPED.contains(&finding.code) && is_part {
        object.leaves(node)
    } else if finding.severity == Severity::Notice {
        Vec::new()
    } else {
        (side.dialect().hints.disabled_fields)(&Problem { finding, object, served })
    }
}
