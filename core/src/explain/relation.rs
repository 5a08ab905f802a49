//! What refers to what, by field: the fields that a dialect knows, resolved against the input.
//!
//! What must not be here: what follows from matching, which the IR knows (`graph`).

use crate::compilation::{Absent, SideRef};
use crate::resource::{ObjectId, Origin, ResourceKey};
use crate::text::Str;
use alloc::string::String;
use alloc::vec::Vec;
use hashbrown::{HashMap, HashSet};

/// One object referring to another.
pub(crate) struct Reference {
    pub from: ObjectId,
    pub at: Option<Origin>,
    pub relation: &'static str,
    /// What it is called.
    pub key: ResourceKey,
    /// Nothing changes where it is not there.
    pub optional: bool,
    /// Whom it means, or why it is not there.
    pub to: Result<ObjectId, Absence>,
}

/// Why something is not there.
pub(crate) struct Absence {
    pub reason: String,
    /// Nothing is wrong with that: it is taken to be elsewhere.
    pub assumed: bool,
}

/// An object of a name, and its namespace.
type Candidate = (Option<Str>, ObjectId);

/// All references by field.
pub(crate) fn references(side: SideRef<'_>) -> Vec<Reference> {
    // By kind and name, then namespace: some references do not care for the namespace.
    let mut by_name: HashMap<(Str, Str), Vec<Candidate>> = HashMap::new();
    for object in side.objects().iter().filter(|object| !object.broken) {
        let kind = if object.key.kind.ends_with("Resolver") { Str::new_static("Resolver") } else { object.key.kind.clone() };
        by_name.entry((kind, object.key.name.clone())).or_default().push((object.key.namespace.clone(), object.id));
    }
    let assumed: HashSet<&ResourceKey> = side.objects().assumed().map(|object| &object.key).collect();
    let mut out = Vec::new();
    for relation in side.relations() {
        let candidates = by_name.get(&(relation.to.kind.clone(), relation.to.name.clone())).map_or(&[][..], Vec::as_slice);
        let same = candidates.iter().find(|(namespace, _)| *namespace == relation.to.namespace);
        let anywhere = candidates.first().filter(|_| relation.anywhere);
        let optional = relation.optional || !matches!(relation.absent, Absent::Hole(_));
        let is_assumed = || assumed.contains(&relation.to) || assumed.contains(&ResourceKey { namespace: None, ..relation.to.clone() });
        let to = match (same.or(anywhere), relation.absent) {
            (Some((_, id)), _) => Ok(*id),
            (None, _) if is_assumed() => Err(Absence { reason: "not in the input; it is assumed to exist".into(), assumed: true }),
            (None, Absent::Hole(reason)) => Err(Absence { reason, assumed: false }),
            (None, Absent::Assumed(reason)) => Err(Absence { reason, assumed: true }),
            (None, Absent::Nothing) => continue,
        };
        out.push(Reference { from: relation.from, at: relation.at, relation: relation.relation, key: relation.to, optional, to });
    }
    out
}
