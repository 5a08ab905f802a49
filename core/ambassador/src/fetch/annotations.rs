//! Configuration in the annotation `getambassador.io/config` of Services and Ingresses.
//!
//! Source of behaviour: Emissary `pkg/snapshot/v1/annotations.go` and `pkg/kates/manifests.go`.

use super::super::Options;
use super::super::kinds::{self, Admission, Via};
use super::emit::{self, Emitter};
use super::role::{self, Role};
use super::verdict::{Applied, CachedByObject};
use super::visible::{VisibleObjects, ignore};
use super::{expand, findings};
use crate::config::{Labels, Payload, Resource};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::compilation::{Ledger, State, Why};
use chancery_base::diagnostic::Findings;
use chancery_base::resource::{Object, ObjectId, Objects, ResourceKey, Rule};
use chancery_text::{Node, NodeId, Str, Value};
use hashbrown::HashMap;

/// An annotation's object in the form of a Kubernetes object.
pub(super) struct Unfolded {
    pub(super) kind: Str,
    pub(super) key: ResourceKey,
    /// Its `spec` in the current version.
    pub(super) spec: Option<Arc<Node>>,
    pub(super) valid: bool,
    /// The resource without identifier; `None` if it has no name or belongs to another instance.
    pub(super) resource: Option<Resource>,
    /// Whether the identifiers of later objects count it.
    pub(super) counted: bool,
    pub(super) findings: Findings,
}

/// An annotation's object with its decoded form.
type Item<'a> = (&'a Object, &'a Unfolded);

/// The objects in annotations, by their holder.
pub(super) struct Annotations<'a> {
    by_holder: Vec<(ObjectId, Vec<Item<'a>>)>,
    index: HashMap<ObjectId, usize>,
}

impl<'a> Annotations<'a> {
    pub(super) fn of(&self, holder: ObjectId) -> &[Item<'a>] {
        self.index.get(&holder).and_then(|at| self.by_holder.get(*at)).map_or(&[], |(_, list)| list)
    }

    /// Adds the objects of a holder's annotation. Numbering starts at `count`, as the holder may have produced resources itself.
    pub(super) fn emit(&self, holder: &Applied<'_>, mut count: u32, emitter: &mut Emitter<'_>) {
        let base = format!("{}.{}", holder.object.key.name, holder.object.key.namespace.as_deref().unwrap_or_default());
        let base = expand::expand(&base, emitter.options).filter(|_| holder.object.text.is_some()).unwrap_or(base);
        for (object, unfolded) in self.of(holder.object.id) {
            emitter.sink.extend(unfolded.findings.iter().cloned());
            match &unfolded.resource {
                Some(resource) => {
                    let mut resource = resource.clone();
                    emit::number(&mut resource, &base, holder.object, count);
                    emitter.push(Arc::new(resource));
                }
                None if unfolded.counted => {
                    ignore(emitter.ledger, object.id, Why::OtherController, "another ambassador_id");
                }
                None => emitter.ledger.set(object.id, State::Invalid("it has no name".into())),
            }
            count += u32::from(unfolded.counted);
        }
    }

    /// All objects in annotations, in the order of the text.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Item<'a>> {
        self.by_holder.iter().flat_map(|(_, list)| list)
    }
}

/// Reads the annotations of all objects that are seen.
pub(super) fn collect<'a>(
    objects: &'a Objects,
    seen: &VisibleObjects<'_>,
    options: &Options,
    known: &'a mut CachedByObject<Unfolded>,
    ledger: &mut Ledger,
    sink: &mut Findings,
) -> Annotations<'a> {
    let mut annotations = Annotations { by_holder: Vec::new(), index: HashMap::new() };
    let mut groups: Vec<(ObjectId, NodeId, Vec<&'a Object>)> = Vec::new();
    let mut readable: Vec<(ObjectId, Vec<&'a Object>)> = Vec::new();
    for object in objects.iter() {
        let Some((holder, node)) = object.parent else { continue };
        match groups.last_mut() {
            Some((last, _, list)) if *last == holder => list.push(object),
            _ => groups.push((holder, node, alloc::vec![object])),
        }
    }
    if groups.is_empty() {
        return annotations;
    }
    let annotatable = seen.of(Role::Service).iter().chain(seen.of(Role::Ingress));
    let seen_ids: hashbrown::HashSet<ObjectId> = annotatable.map(|applied| applied.object.id).collect();
    for (holder, node, list) in groups {
        let Some(parent) = objects.get(holder) else { continue };
        if !seen_ids.contains(&holder) {
            let reads = matches!(role::of(&parent.key.group, &parent.key.kind), Role::Service | Role::Ingress);
            if !reads {
                sink.report(findings::annotation_not_read(parent, node));
            }
            for object in list {
                ignore(ledger, object.id, Why::NotWatched, "it is in the annotation of an object that is not read");
            }
            continue;
        }
        if list.iter().any(|object| object.broken || object.key.kind.is_empty()) {
            sink.report(findings::annotation_lost(parent, node));
            for object in list {
                let broken = object.broken || object.key.kind.is_empty();
                let lost = State::Ignored(Why::NothingInIt, "another document of its annotation cannot be read".into());
                ledger.set(object.id, if broken { State::Invalid("it cannot be read".into()) } else { lost });
            }
            continue;
        }
        for object in &list {
            if known.lacks(object) {
                known.insert(object, Box::new(unfold(object, parent, options)));
            }
        }
        readable.push((holder, list));
    }
    let known = &*known;
    for (holder, list) in readable {
        let unfolded = |object: &'a Object| Some((object, known.get(object)?));
        annotations.index.insert(holder, annotations.by_holder.len());
        annotations.by_holder.push((holder, list.into_iter().filter_map(unfolded).collect()));
    }
    annotations
}

fn unfold(object: &Object, parent: &Object, options: &Options) -> Unfolded {
    let mut sink = Findings::default();
    let root = normalise(&object.root, parent);
    let text = |path: &[&str]| root.at(path).and_then(Node::as_str).map(Str::new).unwrap_or_default();
    let api_version = text(&["apiVersion"]);
    let name = text(&["metadata", "name"]);
    let namespace = text(&["metadata", "namespace"]);
    let kind = object.key.kind.clone();
    let group = Str::new(api_version.split_once('/').map_or("", |(group, _)| group));
    let key = ResourceKey { group, kind: kind.clone(), namespace: Some(namespace.clone()), name: name.clone() };

    let admission = match kinds::find(&kind) {
        Some(known) => kinds::admit(known, object, Via::Annotation, &root, &mut sink),
        None => {
            sink.report(findings::unsupported_in_annotation(object, &key));
            let spec = root.get("spec").map(|spec| Arc::new(spec.clone()));
            let error = format!("unsupported GroupVersionKind \"{api_version}, Kind={kind}\", ignoring");
            Admission { spec, errors: alloc::vec![error], api_version: api_version.clone(), refused: false }
        }
    };
    let errors: Vec<String> = admission.errors;
    let valid = errors.is_empty() && !admission.refused;
    let mut unfolded = Unfolded { kind, key, spec: admission.spec, valid, resource: None, counted: false, findings: Findings::default() };
    if name.is_empty() {
        sink.report(findings::annotation_without_name(object));
    } else if unfolded.kind != "Pragma" {
        unfolded.counted = true;
        let parts = emit::Parts {
            kind: unfolded.kind.clone(),
            name,
            namespace,
            api_version: admission.api_version,
            labels: labels(&root),
            spec: unfolded.spec.clone().unwrap_or_else(|| Arc::new(emit::empty(object.root.id))),
            rule: Rule::Field,
            key: unfolded.key.clone(),
            payload: Payload::None,
            invalid: errors,
        };
        let resource = parts.resource(object, options);
        if emit::good_id(&resource, options) {
            unfolded.resource = Some(resource);
        } else {
            sink.report(findings::other_id(object.id, unfolded.key.clone(), object.root.id, options));
        }
    }
    unfolded.findings = sink;
    unfolded
}

fn labels(root: &Node) -> Arc<Labels> {
    let mut labels = crate::config::labels_of(root.at(&["metadata", "labels"]));
    labels.remove("ambassador_crd");
    Arc::new(labels)
}

/// Converts the flat form to a Kubernetes object; missing values come from the parent.
fn normalise(root: &Node, parent: &Object) -> Node {
    let mut root = kinds::unfold(root).into_owned();
    let id = root.id;
    let Value::Object(fields) = &mut root.value else { return root };
    if let Some(metadata) = fields.get_mut("metadata") {
        if metadata.get("namespace").and_then(Node::as_str).is_none_or(str::is_empty) {
            let namespace = parent.key.namespace.clone().unwrap_or_default();
            put(metadata, Str::new_static("namespace"), emit::made_text(id, namespace));
        }
        if metadata.get("labels").is_none_or(Node::is_null)
            && let Some(labels) = parent.root.at(&["metadata", "labels"])
        {
            put(metadata, Str::new_static("labels"), Node { id, value: labels.value.clone() });
        }
    }
    root
}

fn put(holder: &mut Node, key: Str, value: Node) {
    if let Value::Object(object) = &mut holder.value {
        object.insert(key, value);
    }
}
