//! Finds references in objects: fields by path, names in Kubernetes' forms. The dialects list the fields.

use alloc::vec::Vec;
use chancery_base::compilation::{Absent, Relation};
use chancery_base::resource::{Object, Objects, Origin, ResourceKey};
use chancery_text::{Node, Str};

/// How a field names an object.
#[derive(Clone, Copy, Debug)]
pub enum Form {
    /// A name in the object's own namespace.
    Name,
    /// `NAMESPACE/NAME`, or a name in the object's own namespace.
    Path,
    /// An object with `name` and an optional `namespace`.
    Reference,
    /// The same with optional `kind` and `group`, which default to the table's.
    AnyKind,
    /// The name of a cluster-scoped object.
    Cluster,
}

/// A reference field.
#[derive(Clone, Copy, Debug)]
pub struct Referring {
    /// The referring kind.
    pub kind: &'static str,
    /// The field's path; `*` matches every list item.
    pub path: &'static str,
    /// The purpose.
    pub relation: &'static str,
    /// Group and kind of the referenced object.
    pub to: (&'static str, &'static str),
    /// How it is named.
    pub form: Form,
}

/// All references of these fields, in the order of the objects.
pub fn relations(objects: &Objects, fields: &[&[Referring]]) -> Vec<Relation> {
    let mut out = Vec::new();
    for object in objects.iter().filter(|object| !object.broken) {
        for field in fields.iter().copied().flatten().filter(|field| field.kind == object.key.kind.as_str()) {
            walk(&object.root, &object.root, field.path, &mut |_, node| out.extend(relation(object, field, node)));
        }
    }
    out
}

/// Finds the values at a path with their parents.
pub(super) fn walk<'n>(holder: &'n Node, node: &'n Node, path: &str, found: &mut dyn FnMut(&'n Node, &'n Node)) {
    if path.is_empty() {
        return found(holder, node);
    }
    let (step, rest) = path.split_once('.').unwrap_or((path, ""));
    match step {
        "*" => node.as_array().into_iter().flatten().for_each(|item| walk(node, item, rest, found)),
        step => node.get(step).into_iter().for_each(|next| walk(node, next, rest, found)),
    }
}

fn relation(object: &Object, field: &Referring, node: &Node) -> Option<Relation> {
    let (to, at) = key_of(object, field, node)?;
    let written = Str::new(at.as_str().unwrap_or_default());
    let at = Some(Origin::field(object.id, at.id));
    Some(Relation {
        from: object.id,
        at,
        relation: field.relation,
        to,
        written,
        anywhere: matches!(field.form, Form::Cluster),
        optional: false,
        absent: Absent::Hole,
    })
}

/// The object that a field refers to, and the node that names it.
pub(super) fn key_of<'n>(object: &Object, field: &Referring, node: &'n Node) -> Option<(ResourceKey, &'n Node)> {
    let here = object.key.namespace.clone().unwrap_or_default();
    let text = |key: &str| node.get(key).and_then(Node::as_str).filter(|text| !text.is_empty());
    let (mut group, mut kind) = field.to;
    let (namespace, name, at) = match field.form {
        Form::Name => (here, Str::new(node.as_str()?), node),
        Form::Path => match node.as_str()?.split_once('/') {
            Some((namespace, name)) => (namespace.into(), name.into(), node),
            None => (here, Str::new(node.as_str()?), node),
        },
        Form::Reference | Form::AnyKind => {
            if let Form::AnyKind = field.form {
                kind = text("kind").unwrap_or(kind);
                group = node.get("group").and_then(Node::as_str).unwrap_or(group);
            }
            let at = node.get("name")?;
            (text("namespace").map_or(here, Str::new), Str::new(at.as_str()?), at)
        }
        Form::Cluster => (Str::default(), Str::new(node.as_str()?), node),
    };
    (!name.is_empty()).then(|| (ResourceKey::new(group, kind, namespace, name), at))
}
