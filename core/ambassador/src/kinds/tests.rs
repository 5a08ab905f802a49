//! Tests admission and the reference's errors.

extern crate std;

mod corpus;
mod forms;

use super::{Admission, AmbassadorKind, Via, admit, find};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::diagnostic::Findings;
use chancery_base::resource::{Content, Object, ObjectId, ResourceKey, Source, SourceId};
use chancery_text::{Document, Limits, Node, Value, parse, split, to_json};

/// An object of the first (or only) document of a text.
fn object(node: &Node, document: Arc<Document>) -> Object {
    let text = |path: &[&str]| node.at(path).and_then(Node::as_str).unwrap_or_default();
    let name = if text(&["metadata", "name"]).is_empty() { text(&["name"]) } else { text(&["metadata", "name"]) };
    let namespace = if text(&["metadata", "namespace"]).is_empty() { "default" } else { text(&["metadata", "namespace"]) };
    Object {
        id: ObjectId::from_index(0),
        source: Source { source: SourceId(0), offset: 0, number: 0 },
        parent: None,
        assumed: false,
        content: Arc::new(Content {
            root: Arc::new(node.clone()),
            document,
            api_version: text(&["apiVersion"]).into(),
            key: ResourceKey::new("getambassador.io", text(&["kind"]), namespace, name),
            broken: false,
            stored: false,
            secrets: Vec::new(),
            credentials: Vec::new(),
            text: None,
            fingerprint: 0,
        }),
    }
}

/// All objects of a text, items of lists and of annotations included.
fn objects(text: &str, found: &mut dyn FnMut(&'static AmbassadorKind, Object, Via)) {
    for chunk in split(text).into_iter().filter(|chunk| !chunk.is_empty) {
        let document = Arc::new(parse(chunk.range.slice(text), &Limits::default()));
        let Some(root) = &document.root else { continue };
        one(root, &document, found);
    }
}

fn one(node: &Node, document: &Arc<Document>, found: &mut dyn FnMut(&'static AmbassadorKind, Object, Via)) {
    let kind = node.get("kind").and_then(Node::as_str).unwrap_or_default();
    let group = node.get("apiVersion").and_then(Node::as_str).and_then(|version| version.split_once('/')).map_or("", |(group, _)| group);
    if let (Some(Value::Array(items)), true) = (node.get("items").map(|items| &items.value), kind.ends_with("List")) {
        items.iter().for_each(|item| one(item, document, found));
    }
    if let (Some(kind), "getambassador.io") = (find(kind), group) {
        found(kind, object(node, document.clone()), Via::ApiServer);
    }
    let annotation = node.at(&["metadata", "annotations", "getambassador.io/config"]).and_then(Node::as_str);
    if let (Some(annotation), "Service" | "Ingress") = (annotation, kind) {
        for chunk in split(annotation).into_iter().filter(|chunk| !chunk.is_empty) {
            let document = Arc::new(parse(chunk.range.slice(annotation), &Limits::default()));
            let Some(root) = &document.root else { continue };
            let kind = root.get("kind").and_then(Node::as_str).unwrap_or_default();
            if let Some(kind) = find(kind) {
                let mut object = object(root, document.clone());
                let own = root.at(&["metadata", "namespace"]).or_else(|| root.get("namespace")).and_then(Node::as_str);
                let namespace = own.or_else(|| node.at(&["metadata", "namespace"]).and_then(Node::as_str)).unwrap_or("default");
                Arc::make_mut(&mut object.content).key.namespace = Some(namespace.into());
                found(kind, object, Via::Annotation);
            }
        }
    }
}

/// Admits the only object of a text.
fn admitted(text: &str, via: Via) -> (Admission, Findings) {
    let document = Arc::new(parse(text, &Limits::default()));
    let root = document.root.clone().expect("a document");
    let kind = find(root.get("kind").and_then(Node::as_str).unwrap_or_default()).expect("a kind");
    let mut findings = Findings::default();
    let admission = admit(kind, &object(&root, document.clone()), via, &root, &mut findings);
    (admission, findings)
}

fn json(admission: &Admission) -> String {
    admission.spec.as_deref().map_or_else(String::new, |spec| to_json(spec, false))
}
