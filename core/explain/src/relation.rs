//! Resolves references by field: the fields that a dialect lists, resolved against the input. Does not derive relations by matching; those come
//! from the IR (see `graph`).

use alloc::borrow::Cow;
use alloc::format;
use alloc::vec::Vec;
use chancery_base::compilation::{Absent, SideRef};
use chancery_base::resource::{Object, ObjectId, Origin, ResourceKey};
use chancery_text::Str;
use hashbrown::{HashMap, HashSet};

/// One object referring to another.
pub(crate) struct Reference {
    pub from: ObjectId,
    pub at: Option<Origin>,
    pub relation: &'static str,
    /// The name that it refers to.
    pub key: ResourceKey,
    /// Whether the object works the same without the reference.
    pub optional: bool,
    /// The object, or why it is missing.
    pub to: Result<ObjectId, Absence>,
}

pub(crate) struct Absence {
    pub reason: Cow<'static, str>,
    /// Whether the object is assumed to exist, so that nothing is wrong.
    pub assumed: bool,
}

/// Returns all references by field.
pub(crate) fn references(side: SideRef<'_>) -> Vec<Reference> {
    let relations = side.relations();
    let kinds: HashSet<Str> = relations.iter().map(|relation| relation.to.kind.clone()).collect();
    // By kind and name, then namespace: some references ignore the namespace.
    let mut by_name: HashMap<(&str, &str), Vec<&Object>> = HashMap::new();
    for object in side.objects().iter().filter(|object| !object.broken) {
        // A Mapping names a resolver of any kind; an entry of Consul names its own kind.
        let any_resolver = object.key.kind.ends_with("Resolver").then_some("Resolver");
        for kind in any_resolver.into_iter().chain([object.key.kind.as_str()]).filter(|kind| kinds.contains(*kind)) {
            by_name.entry((kind, &object.key.name)).or_default().push(object);
        }
    }
    let assumed: HashSet<&ResourceKey> = side.objects().assumed().map(|object| &object.key).collect();
    let mut out = Vec::with_capacity(relations.len());
    for relation in relations {
        let candidates = by_name.get(&(relation.to.kind.as_str(), relation.to.name.as_str())).map_or(&[][..], Vec::as_slice);
        let same = candidates.iter().find(|object| object.key.namespace == relation.to.namespace);
        let anywhere = candidates.first().filter(|_| relation.anywhere);
        let optional = relation.optional || relation.absent != Absent::Hole;
        let is_assumed = || assumed.contains(&relation.to) || assumed.contains(&ResourceKey { namespace: None, ..relation.to.clone() });
        let to = match (anywhere.or(same), relation.absent) {
            (Some(object), _) => Ok(object.id),
            (None, _) if is_assumed() => Err(Absence { reason: "not in the input; it is assumed to exist".into(), assumed: true }),
            (None, Absent::Hole) => Err(Absence { reason: format!("no such {} in the input", relation.to.kind).into(), assumed: false }),
            (None, Absent::Assumed(reason)) => Err(Absence { reason: reason.into(), assumed: true }),
            (None, Absent::Nothing) => continue,
        };
        out.push(Reference { from: relation.from, at: relation.at, relation: relation.relation, key: relation.to, optional, to });
    }
    out
}
