//! Finds references to other namespaces that no ReferenceGrant allows.
//!
//! A controller reports them only for routes that it serves. This check covers all routes, so the error is found before a Gateway exists.

use super::GROUP;
use super::grant::Reference;
use crate::cursor::Cursor;
use alloc::format;
use alloc::vec::Vec;
use chancery_base::compilation::SideRef;
use chancery_base::diagnostic::{Diagnostic, Place, codes};
use chancery_base::resource::Object;
use chancery_text::Node;

/// The maximum depth of the search for references.
const DEEPEST: usize = 16;
/// Lists of references, with their default kinds.
const LISTS: [(&str, &str); 2] = [("backendRefs", "Service"), ("certificateRefs", "Secret")];

/// References to other namespaces that are not allowed and that the controller does not report itself.
pub fn references(side: SideRef<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let objects = || side.objects().iter().filter(|object| !object.broken && *object.key.group == *GROUP);
    if side.diagnostics().any(|finding| finding.code == &codes::REFERENCE_NOT_PERMITTED) {
        return found;
    }
    let is_grant = |object: &&Object| !object.broken && *object.key.group == *GROUP && *object.key.kind == *"ReferenceGrant";
    // Assumed grants apply too.
    let grants: Vec<&Object> = side.objects().all().filter(is_grant).collect();
    for object in objects() {
        let (Some(namespace), Some(spec)) = (object.key.namespace.as_deref(), object.root.get("spec")) else { continue };
        let mut nodes = Vec::from([(spec, 0)]);
        while let Some((node, depth)) = nodes.pop() {
            for (list, kind) in LISTS {
                let items = node.get(list).and_then(Node::as_array).into_iter().flatten();
                found.extend(items.filter_map(|item| refused(&grants, object, namespace, (item, kind))));
            }
            if depth < DEEPEST {
                nodes.extend(node.as_object().into_iter().flatten().map(|entry| (&entry.value, depth + 1)));
                nodes.extend(node.as_array().into_iter().flatten().map(|item| (item, depth + 1)));
            }
        }
    }
    found
}

fn refused(grants: &[&Object], object: &Object, namespace: &str, (item, kind): (&Node, &str)) -> Option<Diagnostic> {
    let text = |name: &str| item.get(name).and_then(Node::as_str).unwrap_or_default();
    let at = item.get("namespace").filter(|at| at.as_str().is_some_and(|other| !other.is_empty() && other != namespace))?;
    if !text("group").is_empty() {
        return None;
    }
    let kind = if text("kind").is_empty() { kind } else { text("kind") };
    let reference =
        Reference { from_kind: &object.key.kind, from_namespace: namespace, to_kind: kind, to_namespace: text("namespace"), to_name: text("name") };
    let allows = |grant: &&&Object| {
        let spec = Cursor::new(grant.id, &grant.root).field("spec");
        reference.is_allowed_by(grant.key.namespace.as_deref().unwrap_or_default(), spec)
    };
    if grants.iter().find(allows).is_some() {
        return None;
    }
    let message = format!("{kind} `{}` is in the namespace {}, and no ReferenceGrant there allows this reference", text("name"), text("namespace"));
    let finding = Diagnostic::new(&codes::REFERENCE_NOT_PERMITTED, message, Place::value(object.id, at.id)).about(object.key.clone());
    Some(finding.help(format!("a ReferenceGrant in {} must name {} of {namespace}", text("namespace"), object.key.kind)))
}
